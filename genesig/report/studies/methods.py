"""What the Methods text says of several studies."""

from __future__ import annotations

from genesig.report.page.words import clean, in_words
from genesig.report.studies.record import Studies

REFERENCES = (
    "Paule RC, Mandel J (1982). Consensus values and weighting factors. J Res Natl Bur Stand 87.",
    "Hartung J, Knapp G (2001). A refined method for the meta-analysis of controlled clinical"
    " trials with binary outcome. Stat Med 20.",
    "Higgins JPT, Thompson SG, Spiegelhalter DJ (2009). A re-evaluation of random-effects"
    " meta-analysis. J R Stat Soc A 172.",
    "Patil P, Parmigiani G (2018). Training replicable predictors in multiple studies. Proc Natl"
    " Acad Sci 115.",
)
ALIGNED = {
    "none": "Values of different studies were taken as they are.",
    "centre": "Each gene was centred in each study by itself, without its labels.",
    "standardise": "Each gene was brought to mean 0 and variance 1 in each study by itself, without"
    " its labels.",
    "rank": "The values of each sample were replaced by the ranks of its genes.",
}


def study_sentences(data: Studies) -> list[str]:
    """Say how the studies were brought together and how they were summed up."""
    it = data["studies"]
    if it is None:
        return []
    across = data["config"]["across"]
    names = ", ".join(f"{clean(one['name'])} (n = {one['samples']})" for one in it["studies"])
    probe = {"max_mean": "with the largest mean", "max_iqr": "with the largest interquartile range"}
    rule = probe.get(across["probes"])
    of_gene = f"the probe {rule}" if rule else "the median of its probes"
    weights = " Every study had the same weight." if across["weights"] == "equal" else ""
    whole = (
        "Each study was left out whole in turn (Patil and Parmigiani 2018)." if it["whole"] else ""
    )
    return [
        f"{in_words(len(it['studies'])).capitalize()} studies took part: {names}; a"
        f" gene measured by several probes was represented by {of_gene} in each study, and genes"
        f" that all studies have were kept. {ALIGNED[across['align']]}{weights} {whole}".rstrip(),
        f"{it['measure']} of the studies was combined by a random-effects model (Paule and Mandel"
        " 1982; interval of Hartung and Knapp 2001), on the logit scale where it is a share; the"
        " prediction interval is that of Higgins et al. (2009). Effects of single genes were"
        " combined alike.",
    ]
