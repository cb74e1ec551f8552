"""Settings against each other and against the files: what no single key of the config can say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from genesig.data.files.content import missing_file_message
from genesig.data.files.names import is_fetched, named_files, series_file
from genesig.data.splits.given import too_many
from genesig.data.steps.missing_indicators import MISSING_INDICATORS
from genesig.data.steps.normalise import (
    IMPUTATION_STEPS,
    LOW_VALUE_STEPS,
    MOMENT_STEPS,
    NORMALISERS,
)
from genesig.data.steps.scale import LEARNED_DEPTH_STEPS
from genesig.data.steps.zeros import ZEROS_AS_MISSING as ZEROS
from genesig.data.study.covariates_check import fixed_settings, unquoted
from genesig.data.study.gene_columns import omic_settings, place_settings
from genesig.data.study.labels.known import LABELS, kind_settings
from genesig.data.study.labels.record import Config, Found
from genesig.data.study.pool.record import study_settings
from genesig.errors import InvalidInput, Problem
from genesig.plugins import entry_points_of, load_plugin
from genesig.response.design import Design, label_columns
from genesig.words import counted, listing

GROUPED = {
    "stratified_kfold": "stratified_group_kfold",
    "leave_one_out": "leave_one_group_out",
}
K_FOLD = ("stratified_kfold", "stratified_group_kfold")
MOST_JOBS = 10_000
"""Of label permutations; Snakemake plans for minutes where there are more."""


def check_settings(config: Config, source: str) -> list[Problem]:
    """Check a resolved config by itself, without looking at any file.

    Parameters
    ----------
    config : dict
        As `resolve_config` gives it.
    source : str
        Name of the config in messages.
    """
    found = [item for rule in RULES for item in rule(config)]
    return [Problem(f"{source}, {key}", *words) for key, *words in found]  # type: ignore[arg-type]


def _geo(config: Config) -> Found:
    if config["geo"] is not None and config["expression"] != series_file(config["geo"]):
        yield "geo", f"names the matrix, and so does expression, {config['expression']}; keep one"


def _plugins(config: Config) -> Found:
    """Load what other packages add and the settings name, before anything runs."""
    penalty = config["nonlinear"]["penalty"]
    baselines = config["controls"]["baselines"]
    used = [("nonlinear.penalty", "penalties", penalty)]
    used += [("controls.baselines", "baselines", name) for name in baselines]
    for key, group, name in used:
        if name in entry_points_of(group):
            try:
                load_plugin(group, name)
            except InvalidInput as error:
                yield key, f"{error.problems[0].location}: {error.problems[0].message}"


def _braces(config: Config) -> Found:
    for place, name in named_files(config):
        if set("{}") & set(name):
            message = f"'{name}' has braces, a wildcard to Snakemake; rename the file or its folder"
            yield place, message


def _wrong_place(config: Config) -> Found:
    for number, step in enumerate(config["normalise"]["samples"], 1):
        if NORMALISERS[step["step"]].kind != "sample":
            yield (
                f"normalise.samples, item {number}",
                f"'{step['step']}' learns from several "
                "samples, so before the splits it would see the test samples; move it to "
                "normalise.folds",
            )
    for number, step in enumerate(config["normalise"]["folds"], 1):
        if NORMALISERS[step["step"]].kind != "sample":
            break  # after a learned step, a row-wise one has nowhere else to go
        yield (
            f"normalise.folds, item {number}",
            f"'{step['step']}' looks at one sample at a "
            "time and needs no training samples; move it to normalise.samples",
        )


def _wrong_order(config: Config) -> Found:
    names = [step["step"] for step in config["normalise"]["folds"]]
    for number, name in enumerate(names, 1):
        after = [other for other in names[number:] if other not in MOMENT_STEPS]
        if name in MOMENT_STEPS and after:
            yield (
                f"normalise.folds, item {number}",
                f"'{name}' stands before '{after[-1]}'; centre and unit_variance come last",
            )


def _counts(config: Config) -> Found:
    samples = config["normalise"]["samples"]
    for number, step in enumerate(config["normalise"]["folds"], 1):
        if step["step"] not in LEARNED_DEPTH_STEPS:
            continue
        at = f"normalise.folds, item {number}"
        name = step["step"]
        if number > 1 or samples:
            before = (samples or config["normalise"]["folds"])[0]["step"]
            yield (
                at,
                (
                    f"'{name}' needs counts as they were read, and '{before}' comes before it; "
                    "put it first, and nothing into normalise.samples"
                ),
            )
        if config.get("studies"):
            yield (
                at,
                (
                    f"'{name}' is for the counts of one study; set normalise: "
                    "[{step: log_cpm}] for each study instead"
                ),
            )


def _repeated(config: Config) -> Found:
    for place in ("samples", "folds"):
        names = [step["step"] for step in config["normalise"][place]]
        for number, name in enumerate(names, 1):
            if name in names[: number - 1]:
                message = f"'{name}' is already item {names.index(name) + 1}; keep one of them"
                yield f"normalise.{place}, item {number}", message


def _floors(config: Config) -> Found:
    for place in ("samples", "folds"):
        for number, step in enumerate(config["normalise"][place], 1):
            if step["step"] == "log2" and step["floor"] >= step["ceiling"]:
                message = f"floor {step['floor']:g} must be below ceiling {step['ceiling']:g}"
                yield f"normalise.{place}, item {number}", message


def _missing(config: Config) -> Found:
    samples, folds = ([s["step"] for s in config["normalise"][k]] for k in ("samples", "folds"))
    if not config["data"]["missing"]:
        for name in set(IMPUTATION_STEPS) & set(folds):
            message = f"'{name}' has nothing to do: missing values are refused; set data.missing"
            yield "normalise.folds", message, "warning"
        return
    if config.get("studies"):
        return  # where it is not offered at all
    if not set(IMPUTATION_STEPS) & set(folds[:1]):
        message = (
            "needs {step: knn_impute} as the first step of normalise.folds, {step: mean_impute} "
            "where samples lack an omic, or "
            "{step: left_censored} or {step: half_minimum}, for values too small to be measured"
        )
        yield "data.missing", message
    for number, name in enumerate(folds[1:], 2):
        if name in IMPUTATION_STEPS and folds[0] in IMPUTATION_STEPS:
            message = f"'{name}' has nothing to do after '{folds[0]}'; keep one of them"
            yield f"normalise.folds, item {number}", message
    for number, name in enumerate(samples, 1):
        if name not in ("log2", ZEROS, MISSING_INDICATORS):
            yield (
                f"normalise.samples, item {number}",
                f"'{name}' needs every value of a sample; "
                "with data.missing only log2 and zeros_as_missing may stand in "
                "normalise.samples",
            )


def _zeros(config: Config) -> Found:
    """Yield that the step which takes zeros for missing values comes too late, or alone."""
    names = [step["step"] for step in config["normalise"]["samples"]]
    if ZEROS in names and not config["data"]["missing"]:
        yield "data.missing", f"must be true: '{ZEROS}' of normalise.samples makes missing values"
    if ZEROS in names[1:]:
        at = f"normalise.samples, item {names.index(ZEROS, 1) + 1}"
        yield at, f"'{ZEROS}' must come first: no zero is left after '{names[0]}'"


def _indicators(config: Config) -> Found:
    """Yield what would look at indicators as if they were levels of genes."""
    samples, folds = ([s["step"] for s in config["normalise"][k]] for k in ("samples", "folds"))
    if MISSING_INDICATORS not in samples:
        return
    at = f"normalise.samples, item {samples.index(MISSING_INDICATORS) + 1}"
    if not config["data"]["missing"]:
        yield (
            at,
            f"'{MISSING_INDICATORS}' has nothing to do: missing values are refused; set "
            "data.missing",
        )
    if samples[-1] != MISSING_INDICATORS:
        yield (
            at,
            f"'{samples[-1]}' would change what '{MISSING_INDICATORS}' adds; put "
            f"'{MISSING_INDICATORS}' last",
        )
    by_omic = (
        config["normalise"]["samples"][samples.index(MISSING_INDICATORS)].get("each") == "omic"
    )
    if by_omic and config["data"]["omics"] is None:
        yield at, "is to look at omics, and there are none; set data.omics"
    others = [
        name for name in folds if name not in (*LOW_VALUE_STEPS, "mean_impute", *MOMENT_STEPS)
    ]
    if others:
        yield (
            at,
            (
                f"'{others[0]}' would take what '{MISSING_INDICATORS}' adds for levels of genes; "
                "beside it only mean_impute, left_censored or half_minimum, centre and "
                "unit_variance"
            ),
        )


def _mu(config: Config) -> Found:
    linear = config["linear"]
    mu = config["linear"]["mu"]
    chosen = config["signature"]["mu"]
    for number, (before, value) in enumerate(pairwise(mu), 2):
        if value <= before:
            message = f"{value:g} follows {before:g}; mu must grow: {sorted(mu)}"
            yield f"linear.mu, item {number}", message
            break
    stable = linear["list"] == "stable"
    if chosen is not None and (stable or chosen not in mu):
        near = min(mu, key=lambda value: abs(value - chosen))
        message = f"{chosen:g} is not in linear.mu {mu}; the nearest is {near:g}"
        if stable:
            message = f"is for linear.list: minimal; set linear.mu_choice: [{near:g}] instead"
        yield "signature.mu", message
    for value in (linear["mu_choice"] or ()) if stable else ():
        if value not in mu:
            message = f"{value:g} is not in linear.mu {mu}; add it there, or take it out here"
            yield "linear.mu_choice", message


def _lengths(config: Config) -> Found:
    most = config["signature"]["most"]
    longest = config["linear"]["longest"]
    if config["linear"]["list"] == "stable" and longest is not None and longest < 2 * most:
        message = f"{longest} is below 2 × signature.most = {2 * most}; set at least that, or null"
        yield "linear.longest", message


def _columns(config: Config) -> Found:
    data = config["data"]
    label = label_columns(config["label"])
    for key, plural in (("group", "groups"), ("pair", "pairs"), ("batch", "batches")):
        if data[key] in label:
            message = f"'{data[key]}' is the label itself; name the column of the {plural}"
            yield f"data.{key}", message
    if data["group"] and data["pair"] and data["group"] != data["pair"]:
        yield "data.group", "a pair is a group, too; set data.pair alone"
    for key in ("symbol", "prior_weights", "chromosome", "position", "omic"):
        if data[key] is not None and data["annotation"] is None:
            yield f"data.{key}", "names a column of the gene table; set data.annotation to its file"


def _batches(config: Config) -> Found:
    batch = config["data"]["batch"]
    label = label_columns(config["label"])
    alone = config["splits"]["scheme"] == "leave_one_batch_out" and not config["splits"]["file"]
    lacks = "needs data.batch, the column that says which samples were processed together"
    if alone and batch is None:
        yield "splits.scheme", f"'leave_one_batch_out' {lacks}"
    for number, step in enumerate(config["normalise"]["folds"], 1):
        if step["step"] != "combat":
            continue
        at = f"normalise.folds, item {number}"
        if batch is None:
            yield at, f"'combat' {lacks}"
        for name in sorted({*label, batch} & set(step["covariates"])):
            who = "label, which no step may see" if name in label else "batch itself"
            yield at, f"covariate '{name}' of 'combat' is the {who}; take it out"
        if alone:
            message = (
                "'combat' has seen no sample of the batch that is left out, and corrects only "
                "training samples; take it away, or choose another splits.scheme"
            )
            yield at, message, "warning"


def _scheme(config: Config) -> Found:
    splits = config["splits"]
    scheme = splits["scheme"]
    group = config["data"]["pair"] or config["data"]["group"]
    if splits["column"] is not None and scheme != "predefined":
        message = f"is not used by the scheme '{scheme}'; set splits.scheme: predefined to use it"
        yield "splits.column", message, "warning"
    if splits["file"] is not None or _useless(config):
        return
    if group is not None and scheme in GROUPED:
        yield (
            "splits.scheme",
            f"'{scheme}' tears the samples of one '{group}' apart; use '{GROUPED[scheme]}'",
        )
    if group is None and scheme in GROUPED.values():
        yield (
            "splits.scheme",
            f"'{scheme}' needs data.group, the column that says who belongs to it",
        )
    if scheme == "predefined" and not splits["column"]:
        yield "splits.column", "the scheme 'predefined' needs a column that says train or test"


def _useless(config: Config) -> bool:
    """Tell whether the kind of response has no use for the scheme, and says so itself."""
    own = LABELS[config["data"]["task"]].settings(config)
    return any(key == "splits.scheme" for key, *_ in own)


def _sizes(config: Config) -> Found:
    # one job is not told of these
    splits = config["splits"]
    controls = config.get("controls")
    if splits["file"] is None and splits["scheme"] in K_FOLD:
        outer = splits["folds"] * splits["repeats"]
        batches = splits["batches"]
        if batches > outer:
            message = f"{batches} jobs, but {outer} outer splits to share; at most {outer}"
            yield "splits.batches", message
        inner = 1 if splits["inner_scheme"] == "leave_one_out" else splits["inner_folds"]
        if many := too_many(outer, inner):
            yield "splits.repeats", many
    if controls is not None:
        jobs = -(-controls["permutations"] // controls["permutations_per_job"]) * splits["batches"]
        if jobs > MOST_JOBS:
            message = (
                f"makes {jobs} jobs, at most {MOST_JOBS}; take more for each, or fewer "
                "splits.batches"
            )
            yield "controls.permutations_per_job", message


def _leave_one_out(config: Config) -> Found:
    splits = config["splits"]
    data = config["data"]
    if splits["scheme"] != "leave_one_out" or splits["file"] or data["pair"] or data["group"]:
        return
    if _useless(config):
        return
    found = LABELS[data["task"]].alone
    yield (
        "splits.scheme",
        "'leave_one_out' is pessimistic where there is little to find: without "
        f"any signal {found}; stratified_kfold is less so",
        "warning",
    )


def _permutations(config: Config) -> Found:
    count = config["controls"]["permutations"]
    if 0 < count < 19:
        message = (
            f"with {count} permutations no p-value can be below {1 / (count + 1):.2f}; 19 are "
            "needed for 0.05, 99 for 0.01"
        )
        yield "controls.permutations", message, "warning"


def _external(config: Config) -> Found:
    names = [cohort["name"] for cohort in config["external"]]
    for number, cohort in enumerate(config["external"], 1):
        at = f"external, item {number}"
        # Folders on some disks do not tell upper from lower case.
        if cohort["name"].lower() in [name.lower() for name in names[: number - 1]]:
            yield f"{at}, name", f"'{cohort['name']}' is already taken; each needs its own folder"
        yield from _of_kind(cohort, at, config["data"]["task"])
        for message in unquoted(cohort["covariate_words"]):
            yield f"{at}, covariate_words", message
        if cohort["batch"] is not None and not cohort["combat"]:
            yield f"{at}, batch", "is used by combat only; set combat: true or take it away"
        if cohort["symbol"] is not None and cohort["annotation"] is None:
            yield f"{at}, symbol", "names a column of the gene table; set annotation to its file"


def _of_kind(cohort: Config, at: str, task: str) -> Found:
    """Hold what a data set's settings say of its labels against the kind of response."""
    kind = LABELS[task]
    if cohort["classes"] and not kind.named:
        yield f"{at}, classes", "is for classification; take it away"
    if cohort["event"] is not None and not kind.columns:
        yield f"{at}, event", "is for survival; take it away"
    mapped = isinstance(cohort["label"], dict)
    if mapped and not kind.columns:
        yield f"{at}, label", f"names columns of time and event; for {task} name one column"
    elif cohort["label"] is not None and kind.columns and not mapped:
        columns = ", ".join(f"{key}: COLUMN" for key in kind.columns)
        yield f"{at}, label", f"{task} needs columns of its own; write label: {{{columns}}}"


def _groups(config: Config) -> Found:
    section = config.get("nonlinear", {})  # the job that checks files is not told of it
    if section.get("groups") is not None and section["penalty"] != "group":
        yield (
            "nonlinear.groups",
            f"is not used with nonlinear.penalty: {section['penalty']}; set"
            " nonlinear.penalty: group",
            "warning",
        )


def _sets(config: Config) -> Found:
    section = config.get("structured", {})
    if section.get("sets") is None and section.get("column") is not None:
        message = "names a column of a gene table; set structured.sets to its file"
        yield "structured.column", message
    for name in ("structured", "enrichment"):
        section = config.get(name, {})
        if section.get("sets") is not None and section["smallest"] > section["largest"]:
            message = (
                f"{section['smallest']} is above {name}.largest, {section['largest']}; no set "
                "can have both sizes, lower it"
            )
            yield f"{name}.smallest", message


RULES: Sequence[Callable[[Config], Found]] = (
    _plugins,
    _geo,
    study_settings,
    _braces,
    _wrong_place,
    _wrong_order,
    _counts,
    _repeated,
    _floors,
    _missing,
    _zeros,
    _indicators,
    _mu,
    _lengths,
    kind_settings,
    _columns,
    place_settings,
    omic_settings,
    _batches,
    _scheme,
    _sizes,
    _leave_one_out,
    _permutations,
    _external,
    _groups,
    _sets,
    fixed_settings,
)


NEAR = 1e-6
"""Largest distance of the sum of shares from 1."""


def check_shares(asked: str | Sequence[float], design: Design, source: str) -> Iterator[Problem]:
    """Yield what is wrong with the shares that a config asks for.

    Parameters
    ----------
    asked : str or list of float
        ``probabilities`` of the config.
    design : Design
    source : str
        Name of the config in messages.
    """
    place = f"{source}, probabilities"
    if design.classes is None:
        if asked != "study":
            yield Problem(place, f"is for classes, and {design.task} has none; take it away")
    elif not isinstance(asked, str):
        if len(asked) != len(design.classes):
            message = (
                f"{counted(len(asked), 'share')} for {len(design.classes)} classes: give one of "
                f"each, in this order: {listing(design.classes, 20)}"
            )
            yield Problem(place, message)
        elif abs(sum(asked) - 1) > NEAR:
            yield Problem(place, f"the shares add up to {sum(asked):g}; they must add up to 1")


def check_files(config: Config) -> None:
    """Refuse names of files that are not there, but for a series that the study downloads.

    Snakemake leaves out a rule whose inputs are missing where its outputs are still there: after a
    wrong name, an earlier study's results were reported as this one's.

    Raises
    ------
    InvalidInput
    """
    names = dict.fromkeys(name for _, name in named_files(config))
    gone = [Path(name) for name in names if not Path(name).exists() and not is_fetched(name)]
    if gone:
        raise InvalidInput([Problem(str(path), missing_file_message(path)) for path in gone])
