"""The paragraphs of the first screen: prediction, genes, other patients; what comes next."""

from __future__ import annotations

from genesig.report.page.measure import covariate_names, measure, permutation_scope, subject_noun
from genesig.report.page.record import Evidence, FdrSelectedError, Study
from genesig.report.page.section import Paragraph
from genesig.report.page.tables import fdr_selected_only, table_rows
from genesig.report.page.verdict import LEVEL, Grade, grade, interval_and_chance
from genesig.report.page.words import (
    ABSENT,
    clean,
    confidence,
    counted,
    decimal,
    expected_number,
    genes_and_indicators,
    p_value,
    percent,
    significant,
)
from genesig.selection.assess.intervals import POWER, TARGET_AUC
from genesig.selection.genes.frequency import MIN_PERMUTATIONS

SETTLING_PERMUTATIONS = 99
"""Permutations with which p can be as small as 0.01."""
MAX_DIFFERING_SHARE = 0.5
"""Share of the genes that two halves have in common, below which most genes differ."""


def write_paragraphs(data: Study) -> list[Paragraph]:
    """Return the paragraphs of the first screen: prediction, genes and other patients.

    Without evidence for a signature, effects that the study could have detected and advice replace
    the other patients.
    """
    paragraphs = [Paragraph("Prediction.", _prediction(data)), Paragraph("Genes.", _genes(data))]
    if grade(data) is Grade.NONE:
        return [*paragraphs, *nothing_found(data)]
    stability_text = _other_patients(data)
    return [
        *paragraphs,
        *([Paragraph("In other patients,", stability_text)] if stability_text else ()),
    ]


def fdr_level(data: Study) -> str:
    """Return ``"FDR of 10%"``."""
    return f"FDR of {percent(data['config']['signature']['fdr'])}"


def _prediction(data: Study) -> str:
    if data["answer"]["error"]["value"] is None:
        return "The accuracy on held-out samples could not be measured."
    return f"{_accuracy(data)} {permutation_words(data)}"


def _accuracy(data: Study) -> str:
    """Return the accuracy in held-out samples as text, in counts if there are classes."""
    error = data["answer"]["error"]
    metric = measure(data)
    value = f"{metric.name} {metric.write(metric.value(error['value']))}"
    limits = confidence(*metric.interval(error), metric.write_limits)
    limits = f"{limits}; " if limits else ""
    if data["study"]["classes"]:
        return (
            f"In cross-validation, models built this way misclassified {misclassified(data)}"
            f" ({value}{', ' if limits else '; '}{limits}chance {percent(metric.chance)})."
        )
    tested = sum(bool(sample["tested"]) for sample in data["held_out"]["samples"])
    patients = counted(tested, f"held-out {subject_noun(data)}")
    meaning = f" {metric.meaning}" if metric.meaning else ""
    return (
        f"In cross-validation, models built this way reached {value} in {patients}"
        f" ({limits}chance {metric.chance:g}, perfect 1).{meaning}"
    )


def misclassified(data: Study) -> str:
    """Return ``"22 of 60 held-out patients"``, on average if each was tested repeatedly."""
    tested = [sample for sample in data["held_out"]["samples"] if sample["tested"]]
    wrong = sum((sample["wrong"] or 0) / sample["tested"] for sample in tested)
    count = decimal(wrong, 1).removesuffix(".0")
    on_average = " on average" if data["design"]["repeats"] > 1 else ""
    return f"{count} of {counted(len(tested), f'held-out {subject_noun(data)}')}{on_average}"


def permutation_words(data: Study) -> str:
    """Return the text on how many analyses of permuted labels did as well as the study."""
    p = data["answer"]["p"]
    errors = data["null"]["errors"]
    observed = data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "No permutation test was run, so chance is not ruled out."
    as_good = sum(error <= observed + 1e-9 for error in errors)
    covariates = covariate_names(data)
    permuted = (
        f"labels permuted{permutation_scope(data)}"
        if permutation_scope(data)
        else "permuted labels"
    )
    if covariates:
        permuted = f"expression permuted against outcome and {covariates}"
    n_repeats = counted(len(errors), "repeat")
    subject = "None" if not as_good else f"{as_good}"
    return (
        f"{subject} of {n_repeats} of the whole analysis with {permuted} did as well"
        f" ({p_value(p['value'])})."
    )


def _genes(data: Study) -> str:
    """Return the text on how many genes the final model uses, and how many of them pass the FDR."""
    answer = data["answer"]
    evidence = data["answer"]["evidence"]
    if grade(data) is Grade.NONE:
        if evidence is None:
            return UNLISTED
        return f"{_no_gene(data, evidence)} {UNLISTED}"
    if not answer["size"]:
        return "The final model selected no gene, so there is no signature."
    if evidence is None:
        return _core_genes(data)
    texts = [_final_model(evidence), _fdr_selected(data, evidence), _others(data, evidence)]
    return " ".join(sentence for sentence in (*texts, _price(data, evidence["price"])) if sentence)


UNLISTED = "No genes are listed; all values are in selection.tsv and univariate.tsv."


def _final_model(evidence: Evidence) -> str:
    if not evidence["model"]:
        return "The final model uses no gene."
    indicators = evidence["indicators"][1]
    genes = genes_and_indicators(evidence["model"] - indicators, indicators)
    return f"The final model uses {genes} (the signature)."


def selected_in_model(data: Study) -> int:
    """Count the FDR-selected genes of the final model."""
    rows = table_rows(data["tables"]["signature"])
    return sum(bool(row["fdr_selected"]) and row["weight"] != 0 for row in rows)


def _fdr_selected(data: Study, evidence: Evidence) -> str:
    """Return the text on the FDR-selected genes, and how many of these are expected to be false."""
    count = evidence["fdr_selected"]
    indicators = evidence["indicators"][0]
    if not count:
        return _no_gene(data, evidence)
    n_in_model = selected_in_model(data)
    verb = "passes" if count == 1 else "pass"
    passing = f"{genes_and_indicators(count - indicators, indicators)} {verb}"
    if n_in_model == count and not indicators:
        passing = f"{count} of them {verb}"
    rate = f"a false discovery rate (FDR) of {percent(data['config']['signature']['fdr'])}"
    in_model = "" if n_in_model == count else f" ({n_in_model or 'none'} of them in the signature)"
    if count == 1:
        q = significant(evidence["expected"], 2)
        return f"{passing} {rate}{in_model}, with q (selection)\u00a0=\u00a0{q}."
    return f"{passing} {rate}{in_model}: {expected_number(evidence['expected'], count)}."


def _no_gene(data: Study, evidence: Evidence) -> str:
    """Return the text on why no gene is FDR-selected."""
    permutations = data["config"]["signature"]["permutations"]
    level = fdr_level(data)
    if permutations < MIN_PERMUTATIONS:
        return (
            f"Genes were not tested: this needs at least {MIN_PERMUTATIONS} permutations"
            f" (signature.permutations); {permutations} {'was' if permutations == 1 else 'were'}"
            " run."
        )
    if evidence["passing"]:
        verb = "has" if evidence["passing"] == 1 else "have"
        limit = f"q (selection)\u00a0≤\u00a0{significant(data['config']['signature']['fdr'], 2)}"
        return (
            f"No gene passes the {level}: {counted(evidence['passing'], 'gene')} {verb} {limit},"
            " but permuted labels often give as many."
        )
    return f"No gene passes an {level}."


def _others(data: Study, evidence: Evidence) -> str:
    """Return the text on how to take the genes of the model that do not pass the FDR."""
    n_others = evidence["model"] - selected_in_model(data)
    if not n_others:
        return ""
    if not evidence["fdr_selected"]:
        return "No single gene is confirmed: do not follow single genes up without further data."
    subject = "The other one helps" if n_others == 1 else f"The other {n_others} help"
    return f"{subject} to predict but may be there by chance or stand in for a correlated gene."


def _price(data: Study, price: FdrSelectedError | None) -> str:
    """Return the text on what FDR-selected genes alone lose or gain, if the interval excludes 0."""
    if price is None or data["answer"]["error"]["value"] is None:
        return ""
    low = price["difference_low"]
    high = price["difference_high"]
    if low is None or high is None or low <= 0 <= high:
        return ""
    return f"{fdr_selected_only(data, price)}."


def _core_genes(data: Study) -> str:
    """Return the text on how many genes are core; a study without permutations tests no genes."""
    answer = data["answer"]
    share = percent(data["config"]["signature"]["cv_frequency"])
    models = counted(data["design"]["outer"], "cross-validated model")
    verb = "is" if answer["core"] == 1 else "are"
    return (
        f"The final model uses {counted(answer['size'], 'gene')} (the signature); {answer['core']}"
        f" {verb} core: selected in at least {share} of the {models}. Genes were not tested"
        " against chance."
    )


def shared_number(value: float | None) -> str:
    """Write a mean number of genes: ``"4"``, ``"0.6"``."""
    return ABSENT if value is None else f"{value:.0f}" if value >= 1 else decimal(value, 1)


def shared_of_size(data: Study) -> tuple[str, str, str] | None:
    """Return shared genes, size of the lists and shared genes by chance; None if not measured."""
    stability = data["answer"]["stability"]
    if stability is None or stability["shared"] is None or stability["shared_by_chance"] is None:
        return None
    values = (stability["shared"], stability["size"], stability["shared_by_chance"])
    if not stability["size"]:
        return None
    shared, size, by_chance = map(shared_number, values)
    return shared, size, by_chance


def _other_patients(data: Study) -> str:
    """Return the text on how many genes the signatures of two halves of the patients share."""
    numbers = shared_of_size(data)
    stability = data["answer"]["stability"]
    if numbers is None or stability is None:
        return ""
    shared, size, by_chance = numbers
    most_differ = (stability["shared"] or 0) < MAX_DIFFERING_SHARE * (stability["size"] or 0)
    expect = "many different genes" if most_differ else "mostly the same genes"
    chance = f" ({by_chance} by chance)"
    if (stability["shared"] or 0) <= (stability["shared_by_chance"] or 0):
        chance = f", no more than by chance ({by_chance})"
    sentence = (
        f"expect {expect}: signatures from two separate halves of these {subject_noun(data)}s"
        f" have {size} genes on average and share about {shared}{chance}."
    )
    if stability["blocks"] is not None and stability["blocks"] > stability["value"]:
        sentence += " They agree better on groups of correlated genes than on single genes."
    return sentence


def nothing_found(data: Study) -> list[Paragraph]:
    """Return the paragraphs on detectable effects and on what to do, if there is no evidence."""
    if grade(data) is not Grade.NONE:
        return []
    return [
        Paragraph("What this study could have found.", _detectable(data)),
        Paragraph("Next steps.", _next_steps(data)),
    ]


def _detectable(data: Study) -> str:
    """Return the text on which AUC and effect of a gene the study had the power to detect."""
    detectable = data["answer"]["detectable"]
    effects = []
    if detectable["auc"] is not None:
        effects.append(f"a score fixed in advance with AUC {decimal(detectable['auc'])}")
    if detectable["effect"] is not None and data["study"]["classes"]:
        size = decimal(detectable["effect"], 1)
        effects.append(f"a single gene that differs by {size} standard deviations")
    elif detectable["effect"] is not None:
        size = decimal(detectable["effect"])
        effects.append(f"a single gene with a correlation of {size}")
    if effects:
        learned = ""
        if detectable["auc"] is not None:
            learned = " A score learned from these samples must be more accurate to be detected."
        return (
            f"It had {percent(POWER)} power to detect {', or '.join(effects)}. Smaller effects may"
            f" exist.{learned}"
        )
    if detectable["error"] is None:
        return "This is not known: too few permutations were run."
    metric = measure(data)
    value = metric.write(metric.value(detectable["error"]))
    return f"It would have detected {metric.name} above {value}. Smaller effects may exist."


def _next_steps(data: Study) -> str:
    """Return the text on what to check, on the size of a larger study and on further tests."""
    detectable = data["answer"]["detectable"]
    units = data["study"]["units"]
    steps = ["Check sample quality and batches."]
    if detectable["auc"] is not None and units is not None and len(units) == 2:
        if min(units) < detectable["per_class"]:
            steps.append(
                f"Include more patients: a fixed score of AUC {TARGET_AUC:.2f} needs about"
                f" {detectable['per_class']} per group (this study has {units[0]} and {units[1]})."
            )
    elif data["study"]["classes"] is None:
        steps.append("Include more patients: half the effect needs about four times as many.")
    if data["config"].get("structured", {}).get("sets") is None:
        steps.append("Test gene sets, which can detect many weak genes together.")
    steps.append("Do not retry with other settings: that would invalidate the test.")
    return " ".join(steps)


def next_steps(data: Study) -> list[Paragraph]:
    """Return what to do next with a signature; empty without evidence (see `nothing_found`)."""
    steps = {
        Grade.NONE: "",
        Grade.WEAK: _inconclusive_step(data),
        Grade.HERE: _validation_step(data),
        Grade.ELSEWHERE: "Test the final model in a prospective study before any clinical use.",
        Grade.AGAINST: "Compare patients, platform and processing of the external cohorts with this"
        " study before you use the model.",
    }
    step = steps[grade(data)]
    return [Paragraph("Next steps.", step)] if step else []


def _inconclusive_step(data: Study) -> str:
    """Return the step that can settle an inconclusive result."""
    if data["verdict"]["small"] is None:
        return f"Run at least {SETTLING_PERMUTATIONS} permutations (controls.permutations)."
    return f"Include more patients, or test the final model in {_name_next_cohort(data)}."


def _validation_step(data: Study) -> str:
    """Return the advice to validate, with the number of patients that the study suggests."""
    rows = [row for row in table_rows(data["tables"]["next_study"]) if row["samples"]]
    size = ""
    if rows:
        largest = max(rows, key=lambda row: row["samples"])
        size = (
            f"; plan {counted(largest['samples'], 'patient')} for"
            f" {clean(largest['measure'])} ±0.05 (95% CI)"
        )
    return f"Test the final model in {_name_next_cohort(data)} before any clinical use{size}."


def _name_next_cohort(data: Study) -> str:
    """Return "a further cohort" if an external cohort was tested, else "an independent cohort"."""
    return "a further cohort" if data["answer"]["cohorts"]["tested"] else "an independent cohort"


def rules(data: Study) -> str:
    """Return the rules of the conclusion, in the words of the study's measure.

    Below each grade stands its rule; "them" are the external cohorts that the grade names.
    """
    name, chance = interval_and_chance(data)
    text = f"""\
{Grade.HERE.value}
  permutation p ≤ {LEVEL:g}, and the 95% CI of the {name} excludes {chance}
{Grade.WEAK.value}
  only p is small; or only the interval excludes {chance} and p is not known; or genes pass the FDR
{Grade.NONE.value}
  none of these
"""
    if not data["answer"]["cohorts"]["rows"]:
        return text
    _, external_name, external_chance = measure(data).external_measure
    return f"""\
{text}{Grade.ELSEWHERE.value}
  at least half of them are (95% CI of {external_name} above {external_chance:g}), and none is worse
{Grade.AGAINST.value}
  no external cohort is better than chance, and one is worse or excludes the accuracy of this study
"""
