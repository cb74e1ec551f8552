"""Check the settings of a config against each other, and that the files it names exist.

Each rule below takes the resolved config and yields its faults as (setting, message) or
(setting, message, level); `check_settings` makes problems of them. Some callers check a config
without the sections that do not concern them: their rules use ``config.get``. `source` is the name
of the config in messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from genesig.data.files.content import missing_file_message
from genesig.data.files.names import Config, is_fetched, named_files, series_file
from genesig.data.splits.draw import GROUPED_SCHEME_OF
from genesig.data.splits.given import excess_message
from genesig.data.steps.missing_indicators import MISSING_INDICATORS
from genesig.data.steps.normalise import (
    IMPUTATION_STEPS,
    LOW_VALUE_STEPS,
    MOMENT_STEPS,
    NORMALISERS,
)
from genesig.data.steps.scale import LEARNED_DEPTH_STEPS
from genesig.data.steps.transforms import ZEROS_AS_MISSING as ZEROS
from genesig.data.study.config_check import setting_problem
from genesig.data.study.covariates_check import check_covariate_settings, unquoted_word_faults
from genesig.data.study.gene_columns import check_omic_settings, check_place_settings
from genesig.data.study.label_rules import (
    LABEL_RULES,
    SettingFaults,
    check_kind_settings,
    misplaced_words,
)
from genesig.data.study.pool_record import check_study_settings
from genesig.errors import InvalidInput, Problem
from genesig.plugins import entry_points_of, load_plugin
from genesig.response.design import DECISION_RULES, Design, decision_rules_in, label_columns
from genesig.words import counted, listing

K_FOLD_SCHEMES = ("stratified_kfold", "stratified_group_kfold")
MIN_PERMUTATIONS = 19  # smallest number with which p = 1/(1 + B) reaches 0.05
MAX_PERMUTATION_JOBS = 10_000
"""Largest number of jobs of label permutations; Snakemake plans for minutes if there are more."""


def check_settings(config: Config, source: str) -> list[Problem]:
    """Return the problems of a resolved config, without opening any file."""
    faults = [item for rule in SETTING_RULES for item in rule(config)]
    return [setting_problem(source, *fault) for fault in faults]


def _geo_faults(config: Config) -> SettingFaults:
    """Yield that both ``geo`` and ``expression`` name a matrix."""
    if config["geo"] is not None and config["expression"] != series_file(config["geo"]):
        yield "geo", f"names the matrix, and so does expression, {config['expression']}; keep one"


def _plugin_faults(config: Config) -> SettingFaults:
    """Load the plug-ins that settings name, and yield the errors, before anything runs."""
    penalty = config["nonlinear"]["penalty"]
    baselines = config["controls"]["baselines"]
    plugin_uses = [("nonlinear.penalty", "penalties", penalty)]
    plugin_uses += [("controls.baselines", "baselines", name) for name in baselines]
    for key, plugin_kind, name in plugin_uses:
        if name in entry_points_of(plugin_kind):
            try:
                load_plugin(plugin_kind, name)
            except InvalidInput as error:
                yield key, f"{error.problems[0].location}: {error.problems[0].message}"


def _wildcard_faults(config: Config) -> SettingFaults:
    """Yield file names with braces, which are wildcards to Snakemake."""
    for setting, name in named_files(config):
        if set("{}") & set(name):
            message = f"'{name}' has braces, a wildcard to Snakemake; rename the file or its folder"
            yield setting, message


def _step_section_faults(config: Config) -> SettingFaults:
    """Yield steps that are in the wrong section: before or after the splits.

    Steps of the kind "sample" look at one sample at a time; all others learn from samples.
    """
    for item_number, step in enumerate(config["normalise"]["samples"], 1):
        if NORMALISERS[step["step"]].kind != "sample":
            yield (
                f"normalise.samples, item {item_number}",
                f"'{step['step']}' learns from several samples, so before the splits it would see "
                "the test samples; move it to normalise.folds",
            )
    for item_number, step in enumerate(config["normalise"]["folds"], 1):
        if NORMALISERS[step["step"]].kind != "sample":
            break  # after a learned step, a row-wise one has nowhere else to go
        yield (
            f"normalise.folds, item {item_number}",
            f"'{step['step']}' looks at one sample at a "
            "time and needs no training samples; move it to normalise.samples",
        )


def _step_order_faults(config: Config) -> SettingFaults:
    """Yield centring and scaling steps that are not last."""
    names = [step["step"] for step in config["normalise"]["folds"]]
    for item_number, name in enumerate(names, 1):
        later_steps = [
            later_name for later_name in names[item_number:] if later_name not in MOMENT_STEPS
        ]
        if name in MOMENT_STEPS and later_steps:
            yield (
                f"normalise.folds, item {item_number}",
                f"'{name}' stands before '{later_steps[-1]}'; centre and unit_variance come last",
            )


def _count_step_faults(config: Config) -> SettingFaults:
    """Yield count steps that do not come first, or that several studies cannot have."""
    samples = config["normalise"]["samples"]
    for item_number, step in enumerate(config["normalise"]["folds"], 1):
        if step["step"] not in LEARNED_DEPTH_STEPS:
            continue
        setting = f"normalise.folds, item {item_number}"
        name = step["step"]
        if item_number > 1 or samples:
            first_step = [*samples, *config["normalise"]["folds"]][0]["step"]
            yield (
                setting,
                f"'{name}' needs counts as they were read, and '{first_step}' comes before it; "
                "put it first, and nothing into normalise.samples",
            )
        if config.get("studies"):
            yield (
                setting,
                f"'{name}' is for the counts of one study; set normalise: "
                "[{step: log_cpm}] for each study instead",
            )


def _repeated_step_faults(config: Config) -> SettingFaults:
    """Yield steps that a section lists twice."""
    for section in ("samples", "folds"):
        names = [step["step"] for step in config["normalise"][section]]
        for item_number, name in enumerate(names, 1):
            if name in names[: item_number - 1]:
                message = f"'{name}' is already item {names.index(name) + 1}; keep one of them"
                yield f"normalise.{section}, item {item_number}", message


def _floor_faults(config: Config) -> SettingFaults:
    """Yield log2 steps whose floor is not below the ceiling."""
    for section in ("samples", "folds"):
        for item_number, step in enumerate(config["normalise"][section], 1):
            if step["step"] == "log2" and step["floor"] >= step["ceiling"]:
                message = f"floor {step['floor']:g} must be below ceiling {step['ceiling']:g}"
                yield f"normalise.{section}, item {item_number}", message


def _missing_value_faults(config: Config) -> SettingFaults:
    """Yield contradictions between ``data.missing`` and the imputation steps."""
    sample_steps, fold_steps = (
        [step["step"] for step in config["normalise"][section]] for section in ("samples", "folds")
    )
    if not config["data"]["missing"]:
        for name in (step for step in fold_steps if step in IMPUTATION_STEPS):
            message = f"'{name}' has nothing to do: missing values are refused; set data.missing"
            yield "normalise.folds", message, "warning"
        return
    if config.get("studies"):
        return  # `check_study_settings` refuses data.missing
    if not set(IMPUTATION_STEPS) & set(fold_steps[:1]):
        message = (
            "needs {step: knn_impute} as the first step of normalise.folds, {step: mean_impute} "
            "where samples lack an omic, or {step: left_censored} or {step: half_minimum}, for "
            "values too small to be measured"
        )
        yield "data.missing", message
    for item_number, name in enumerate(fold_steps[1:], 2):
        if name in IMPUTATION_STEPS and fold_steps[0] in IMPUTATION_STEPS:
            message = f"'{name}' has nothing to do after '{fold_steps[0]}'; keep one of them"
            yield f"normalise.folds, item {item_number}", message
    for item_number, name in enumerate(sample_steps, 1):
        if name not in ("log2", ZEROS, MISSING_INDICATORS):
            yield (
                f"normalise.samples, item {item_number}",
                f"'{name}' needs every value of a sample; with data.missing only log2 and "
                "zeros_as_missing may stand in normalise.samples",
            )


def _zero_step_faults(config: Config) -> SettingFaults:
    """Yield that zeros_as_missing is not the first step, or that missing values are refused."""
    names = [step["step"] for step in config["normalise"]["samples"]]
    if ZEROS in names and not config["data"]["missing"]:
        yield "data.missing", f"must be true: '{ZEROS}' of normalise.samples makes missing values"
    if ZEROS in names[1:]:
        setting = f"normalise.samples, item {names.index(ZEROS, 1) + 1}"
        yield setting, f"'{ZEROS}' must come first: no zero is left after '{names[0]}'"


def _indicator_faults(config: Config) -> SettingFaults:
    """Yield steps that would treat missing-value indicators as levels of genes."""
    sample_steps, fold_steps = (
        [step["step"] for step in config["normalise"][section]] for section in ("samples", "folds")
    )
    if MISSING_INDICATORS not in sample_steps:
        return
    setting = f"normalise.samples, item {sample_steps.index(MISSING_INDICATORS) + 1}"
    if not config["data"]["missing"]:
        yield (
            setting,
            f"'{MISSING_INDICATORS}' has nothing to do: missing values are refused; set "
            "data.missing",
        )
    if sample_steps[-1] != MISSING_INDICATORS:
        yield (
            setting,
            f"'{sample_steps[-1]}' would change what '{MISSING_INDICATORS}' adds; put "
            f"'{MISSING_INDICATORS}' last",
        )
    indicator_step = config["normalise"]["samples"][sample_steps.index(MISSING_INDICATORS)]
    if indicator_step.get("each") == "omic" and config["data"]["omics"] is None:
        yield setting, "is to look at omics, and there are none; set data.omics"
    unsuitable_steps = [
        name for name in fold_steps if name not in (*LOW_VALUE_STEPS, "mean_impute", *MOMENT_STEPS)
    ]
    if unsuitable_steps:
        yield (
            setting,
            f"'{unsuitable_steps[0]}' would take what '{MISSING_INDICATORS}' adds for levels "
            "of genes; beside it only mean_impute, left_censored or half_minimum, centre and "
            "unit_variance",
        )


def _mu_faults(config: Config) -> SettingFaults:
    """Yield values of mu that are not ascending, or that are chosen but not in the grid.

    mu weighs the squared l2 term of a nested list. List minimal has that of ``signature.mu``, list
    stable chooses among those of ``linear.mu_choice``.
    """
    linear = config["linear"]
    mu = config["linear"]["mu"]
    chosen_mu = config["signature"]["mu"]
    for item_number, (previous, value) in enumerate(pairwise(mu), 2):
        if value <= previous:
            message = f"{value:g} follows {previous:g}; mu must grow: {sorted(mu)}"
            yield f"linear.mu, item {item_number}", message
            break
    is_stable = linear["list"] == "stable"
    if chosen_mu is not None and (is_stable or chosen_mu not in mu):
        nearest_mu = min(mu, key=lambda value: abs(value - chosen_mu))
        message = f"{chosen_mu:g} is not in linear.mu {mu}; the nearest is {nearest_mu:g}"
        if is_stable:
            message = f"is for linear.list: minimal; set linear.mu_choice: [{nearest_mu:g}] instead"
        yield "signature.mu", message
    for value in (linear["mu_choice"] or ()) if is_stable else ():
        if value not in mu:
            message = f"{value:g} is not in linear.mu {mu}; add it there, or take it out here"
            yield "linear.mu_choice", message


def _list_length_faults(config: Config) -> SettingFaults:
    """Yield that lists of half samples would be too short for ``signature.most``.

    A stable list of so many genes needs lists of twice as many on the halves.
    """
    max_genes = config["signature"]["most"]  # of the signature
    max_half_genes = config["linear"]["longest"]  # of a half-sample list; None is no limit
    if (
        config["linear"]["list"] == "stable"
        and max_half_genes is not None
        and max_half_genes < 2 * max_genes
    ):
        message = (
            f"{max_half_genes} is below 2 × signature.most = {2 * max_genes}; set at least "
            "that, or null"
        )
        yield "linear.longest", message


def _column_faults(config: Config) -> SettingFaults:
    """Yield columns with two roles, and columns of a gene table that the config does not name."""
    data = config["data"]
    label = label_columns(config["label"])
    for key, units in (("group", "groups"), ("pair", "pairs"), ("batch", "batches")):
        if data[key] in label:
            message = f"'{data[key]}' is the label itself; name the column of the {units}"
            yield f"data.{key}", message
    if data["group"] and data["pair"] and data["group"] != data["pair"]:
        yield "data.group", "a pair is a group, too; set data.pair alone"
    for key in ("symbol", "prior_weights", "chromosome", "position", "omic"):
        if data[key] is not None and data["annotation"] is None:
            yield f"data.{key}", "names a column of the gene table; set data.annotation to its file"


def _batch_faults(config: Config) -> SettingFaults:
    """Yield a missing ``data.batch``, and combat with a covariate that leaks, or of no effect."""
    batch = config["data"]["batch"]
    label = label_columns(config["label"])
    leaves_out_batches = (
        config["splits"]["scheme"] == "leave_one_batch_out" and not config["splits"]["file"]
    )
    requirement = "needs data.batch, the column that says which samples were processed together"
    if leaves_out_batches and batch is None:
        yield "splits.scheme", f"'leave_one_batch_out' {requirement}"
    for item_number, step in enumerate(config["normalise"]["folds"], 1):
        if step["step"] != "combat":
            continue
        setting = f"normalise.folds, item {item_number}"
        if batch is None:
            yield setting, f"'combat' {requirement}"
        for name in sorted({*label, batch} & set(step["covariates"])):
            role = "label, which no step may see" if name in label else "batch itself"
            yield setting, f"covariate '{name}' of 'combat' is the {role}; take it out"
        if leaves_out_batches:
            message = (
                "'combat' has seen no sample of the batch that is left out, and corrects only "
                "training samples; take it away, or choose another splits.scheme"
            )
            yield setting, message, "warning"


def _scheme_faults(config: Config) -> SettingFaults:
    """Yield that the splitting scheme does not fit the groups or the other split settings."""
    splits = config["splits"]
    scheme = splits["scheme"]
    group = config["data"]["pair"] or config["data"]["group"]
    if splits["column"] is not None and scheme != "predefined":
        message = f"is not used by the scheme '{scheme}'; set splits.scheme: predefined to use it"
        yield "splits.column", message, "warning"
    if splits["file"] is not None or _kind_refuses_scheme(config):
        return
    if group is not None and scheme in GROUPED_SCHEME_OF:
        yield (
            "splits.scheme",
            f"'{scheme}' tears the samples of one '{group}' apart; use "
            f"'{GROUPED_SCHEME_OF[scheme]}'",
        )
    if group is None and scheme in GROUPED_SCHEME_OF.values():
        yield (
            "splits.scheme",
            f"'{scheme}' needs data.group, the column that says who belongs to it",
        )
    if scheme == "predefined" and not splits["column"]:
        yield "splits.column", "the scheme 'predefined' needs a column that says train or test"


def _kind_refuses_scheme(config: Config) -> bool:
    """Tell whether `LABEL_RULES` yields a fault of ``splits.scheme`` for the kind of outcome."""
    faults = LABEL_RULES[config["data"]["task"]].setting_faults(config)
    return any(key == "splits.scheme" for key, *_ in faults)


def _size_faults(config: Config) -> SettingFaults:
    """Yield that more jobs than outer splits, or too many splits, folds or jobs, are asked for."""
    splits = config["splits"]
    controls = config.get("controls")
    if splits["file"] is None and splits["scheme"] in K_FOLD_SCHEMES:
        n_outer = splits["folds"] * splits["repeats"]
        n_batches = splits["batches"]
        if n_batches > n_outer:
            message = f"{n_batches} jobs, but {n_outer} outer splits to share; at most {n_outer}"
            yield "splits.batches", message
        # Leave-one-out has a fold for each sample, whose number is not known before files are read.
        n_inner = 1 if splits["inner_scheme"] == "leave_one_out" else splits["inner_folds"]
        if message_of_excess := excess_message(n_outer, n_inner):
            yield "splits.repeats", message_of_excess
    if controls is not None:
        n_jobs = (
            -(-controls["permutations"] // controls["permutations_per_job"]) * splits["batches"]
        )
        if n_jobs > MAX_PERMUTATION_JOBS:
            message = (
                f"makes {n_jobs} jobs, at most {MAX_PERMUTATION_JOBS}; take more for each, or "
                "fewer splits.batches"
            )
            yield "controls.permutations_per_job", message


def _leave_one_out_warnings(config: Config) -> SettingFaults:
    """Yield a warning that leave-one-out is biased, in the words of this kind of outcome."""
    splits = config["splits"]
    data = config["data"]
    if splits["scheme"] != "leave_one_out" or splits["file"] or data["pair"] or data["group"]:
        return
    if _kind_refuses_scheme(config):
        return
    chance_result = LABEL_RULES[data["task"]].leave_one_out_result
    yield (
        "splits.scheme",
        "'leave_one_out' is pessimistic where there is little to find: without "
        f"any signal {chance_result}; stratified_kfold is less so",
        "warning",
    )


def _permutation_warnings(config: Config) -> SettingFaults:
    """Yield that so few permutations cannot give a p-value below 0.05."""
    n_permutations = config["controls"]["permutations"]
    if 0 < n_permutations < MIN_PERMUTATIONS:
        message = (
            f"with {n_permutations} permutations no p-value can be below "
            f"{1 / (n_permutations + 1):.2f}; {MIN_PERMUTATIONS} are needed for 0.05, 99 for 0.01"
        )
        yield "controls.permutations", message, "warning"


def _cohort_faults(config: Config) -> SettingFaults:
    """Yield the faults of external cohorts: names used twice, settings that have no effect."""
    names = [cohort["name"] for cohort in config["external"]]
    for item_number, cohort in enumerate(config["external"], 1):
        item_setting = f"external, item {item_number}"
        # Folders on some disks do not tell upper from lower case.
        if cohort["name"].lower() in [name.lower() for name in names[: item_number - 1]]:
            yield (
                f"{item_setting}, name",
                f"'{cohort['name']}' is already taken; each needs its own folder",
            )
        yield from _cohort_label_faults(cohort, item_setting, config["data"]["task"])
        for message in unquoted_word_faults(cohort["covariate_words"]):
            yield f"{item_setting}, covariate_words", message
        if cohort["batch"] is not None and not cohort["combat"]:
            yield (
                f"{item_setting}, batch",
                "is used by combat only; set combat: true or take it away",
            )
        if cohort["symbol"] is not None and cohort["annotation"] is None:
            yield (
                f"{item_setting}, symbol",
                "names a column of the gene table; set annotation to its file",
            )


def _cohort_label_faults(cohort: Config, item_setting: str, task: str) -> SettingFaults:
    """Yield label settings of a cohort that do not fit the kind of outcome.

    item_setting: ``"external, item 2"``. task: a key of `LABEL_RULES`.
    """
    rules = LABEL_RULES[task]
    yield from misplaced_words(cohort, item_setting, rules)
    label_has_columns = isinstance(cohort["label"], dict)
    if label_has_columns and not rules.label_columns:
        yield (
            f"{item_setting}, label",
            f"names columns of time and event; for {task} name one column",
        )
    elif cohort["label"] is not None and rules.label_columns and not label_has_columns:
        columns = ", ".join(f"{key}: COLUMN" for key in rules.label_columns)
        yield (
            f"{item_setting}, label",
            f"{task} needs columns of its own; write label: {{{columns}}}",
        )


def _gene_group_warnings(config: Config) -> SettingFaults:
    """Yield that gene groups are set without the group penalty."""
    section = config.get("nonlinear", {})
    if section.get("groups") is not None and section["penalty"] != "group":
        yield (
            "nonlinear.groups",
            f"is not used with nonlinear.penalty: {section['penalty']}; set"
            " nonlinear.penalty: group",
            "warning",
        )


def _gene_set_faults(config: Config) -> SettingFaults:
    """Yield a gene-set column without its table, and size ranges that are empty."""
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


SETTING_RULES: Sequence[Callable[[Config], SettingFaults]] = (
    _plugin_faults,
    _geo_faults,
    check_study_settings,
    _wildcard_faults,
    _step_section_faults,
    _step_order_faults,
    _count_step_faults,
    _repeated_step_faults,
    _floor_faults,
    _missing_value_faults,
    _zero_step_faults,
    _indicator_faults,
    _mu_faults,
    _list_length_faults,
    check_kind_settings,
    _column_faults,
    check_place_settings,
    check_omic_settings,
    _batch_faults,
    _scheme_faults,
    _size_faults,
    _leave_one_out_warnings,
    _permutation_warnings,
    _cohort_faults,
    _gene_group_warnings,
    _gene_set_faults,
    check_covariate_settings,
)


SHARE_ROUNDING = 1e-6  # largest distance of the sum of shares from 1


def check_shares(
    probabilities: str | Sequence[float], design: Design, source: str
) -> Iterator[Problem]:
    """Yield the faults of the class shares that the setting ``probabilities`` states."""
    setting = f"{source}, probabilities"
    if design.classes is None:
        if probabilities != "study":
            yield Problem(setting, f"is for classes, and {design.task} has none; take it away")
    elif not isinstance(probabilities, str):
        if len(probabilities) != len(design.classes):
            message = (
                f"{counted(len(probabilities), 'share')} for {len(design.classes)} classes: give "
                f"one of each, in this order: {listing(design.classes, max_names=20)}"
            )
            yield Problem(setting, message)
        elif abs(sum(probabilities) - 1) > SHARE_ROUNDING:
            yield Problem(
                setting, f"the shares add up to {sum(probabilities):g}; they must add up to 1"
            )


def check_decision(decision: Config, design: Design, source: str) -> Iterator[Problem]:
    """Yield the faults of the section ``decision``."""
    setting = f"{source}, decision"
    rules = decision_rules_in(decision)
    if not rules and decision["prevalence"] is None:
        return
    classes = design.classes or ()
    if len(classes) != 2:
        outcome = f"an outcome of {len(classes)} classes" if classes else design.task
        yield Problem(setting, f"is for two classes; {outcome} has no threshold; take it away")
        return
    if len(rules) != 1:
        finding = f"states {listing(rules)}" if rules else "states no rule"
        yield Problem(setting, f"{finding}; state one of {listing(DECISION_RULES, max_names=4)}")


def check_files(config: Config) -> None:
    """Raise if a file that the config names does not exist, unless the study downloads it.

    Snakemake ignores a rule whose inputs are missing if its outputs are still there: after a wrong
    name, results of an earlier study would be reported as those of this one.

    Raises InvalidInput.
    """
    names = dict.fromkeys(name for _, name in named_files(config))
    absent_files = [
        Path(name) for name in names if not Path(name).exists() and not is_fetched(name)
    ]
    if absent_files:
        raise InvalidInput(
            [Problem(str(path), missing_file_message(path)) for path in absent_files]
        )
