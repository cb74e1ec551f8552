"""Enrichment by GSEApy, of seeded genes: p of a list against the background.

    python tests/references/enrichment_by_gseapy.py > tests/references/enrichment_by_gseapy.tsv

Made with GSEApy 1.3.1, which the project does not need otherwise.
"""

import numpy as np

N_GENES = 500
SETS = 30
LISTED = 40


def drawn():
    """Return t (GENES,), the sets as lists of numbers, and a list of LISTED genes."""
    rng = np.random.default_rng(11)
    t = rng.normal(size=N_GENES)
    sets = [np.sort(rng.choice(N_GENES, size, replace=False)) for size in rng.integers(5, 80, SETS)]
    t[sets[0]] += 1.0
    t[sets[1]] -= 1.0
    return t, sets, np.sort(np.argsort(-t)[:LISTED])


def main():
    import gseapy

    _, sets, listed = drawn()
    names = [f"g{j}" for j in range(N_GENES)]
    set_members = {f"set{k}": [names[j] for j in members] for k, members in enumerate(sets)}
    over = gseapy.enrich(
        [names[j] for j in listed], set_members, background=names, outdir=None, no_plot=True
    ).results
    p = over.set_index("Term")["P-value"].astype(float)
    print("set\tp_value")
    for name in set_members:
        print(f"{name}\t{float(p.get(name, 1.0))!r}")


if __name__ == "__main__":
    main()
