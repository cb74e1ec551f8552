"""Enrichment by GSEApy, of seeded genes: score of the order, p of a list against the background.

    python tests/references/enrichment_by_gseapy.py > tests/references/enrichment_by_gseapy.tsv

Made with GSEApy 1.3.1, which the project does not need otherwise.
"""

import numpy as np

GENES, SETS, LISTED = 500, 30, 40


def drawn():
    """Return t (GENES,), the sets as lists of numbers, and a list of LISTED genes."""
    rng = np.random.default_rng(11)
    t = rng.normal(size=GENES)
    sets = [np.sort(rng.choice(GENES, size, replace=False)) for size in rng.integers(5, 80, SETS)]
    t[sets[0]] += 1.0
    t[sets[1]] -= 1.0
    return t, sets, np.sort(np.argsort(-t)[:LISTED])


def main():
    import gseapy
    import pandas as pd

    t, sets, listed = drawn()
    names = [f"g{j}" for j in range(GENES)]
    given = {f"set{k}": [names[j] for j in some] for k, some in enumerate(sets)}
    ranked = pd.Series(t, index=names).sort_values(ascending=False)
    how = {"min_size": 1, "max_size": GENES, "outdir": None, "no_plot": True, "verbose": False}
    order = gseapy.prerank(ranked, given, permutation_num=10, seed=1, **how).res2d
    score = order.set_index("Term")["ES"].astype(float)
    over = gseapy.enrich([names[j] for j in listed], given, background=names, outdir=None,
                         no_plot=True).results  # fmt: skip
    p = over.set_index("Term")["P-value"].astype(float)
    print("set\tscore\tp_value")
    for name in given:
        print(f"{name}\t{score[name]!r}\t{p.get(name, 1.0)!r}".replace("np.float64(", "")
              .replace(")", ""))  # fmt: skip


if __name__ == "__main__":
    main()
