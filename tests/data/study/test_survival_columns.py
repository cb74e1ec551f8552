"""Times and events of data portals are read, or their reversed codes are warned of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from odd_tables import OddStudy, odd_study, table_text, write_matrix

__all__ = ["odd_study"]

N_SAMPLES = 40
SAMPLE_NAMES = [f"S{k:02}" for k in range(N_SAMPLES)]
RANDOM = np.random.default_rng(3)
HAS_EVENT = RANDOM.random(N_SAMPLES) < 0.5
# The event comes early, and who has none is followed long.
DAYS = [str(int(1 + t)) for t in RANDOM.exponential(np.where(HAS_EVENT, 200, 2000))]
N_EVENTS = f"{N_SAMPLES} samples ({int(HAS_EVENT.sum())} events), 30 genes"
SURVIVAL: dict[str, Any] = {"task": "survival"}


def _sheet(header: list[str], *columns: list[str]) -> str:
    rows = [list(row) for row in zip(SAMPLE_NAMES, *columns, strict=True)]
    return table_text([["sample", *header], *rows])


def _coded(yes: str, no: str) -> list[str]:
    return [yes if is_event else no for is_event in HAS_EVENT]


REVERSED = {
    "os_censored": ("os_days", "os_censored", "0", "1", "0"),
    "censored in words": ("days", "censored", "no", "yes", "no"),
    "alive": ("days", "alive", "0", "1", "0"),
    "ADaM's CNSR": ("months", "CNSR", "0", "1", "0"),
    "relapse_free": ("days", "relapse_free", "0", "1", "0"),
    "cens with longer times": ("days", "cens", "0", "1", "0"),
}


@pytest.mark.parametrize("name", REVERSED)
def test_column_of_censored_times_is_proposed_and_warned_of(odd_study: OddStudy, name: str) -> None:
    time, event, event_word, censored, word = REVERSED[name]
    odd_study.write(SAMPLE_NAMES, _sheet([time, event], DAYS, _coded(event_word, censored)))
    assert odd_study.init()["data"] == {"task": "survival", "event": word}
    label = {"time": time, "event": event}
    summary, problems = odd_study.validate(label, data={**SURVIVAL, "event": censored})
    assert f"warning: s.tsv, column '{event}': '{censored}' counts as the event" in problems
    setting = yaml.safe_dump({"event": word}, default_flow_style=True).strip()
    assert f"write data: {setting}" in problems
    assert "0 errors, 1 warning" in summary
    summary, problems = odd_study.validate(label, data={**SURVIVAL, "event": word})
    assert N_EVENTS in summary
    assert not problems


WORDS_OF_EVENTS = {
    "status": ("1", "0"),
    "cens": ("1", "0"),
    "uncensored": ("1", "0"),
    "not_censored": ("1", "0"),
    "death_censored_loss": ("1", "0"),
}


@pytest.mark.parametrize("event", WORDS_OF_EVENTS)
def test_column_of_events_is_not_warned_of(odd_study: OddStudy, event: str) -> None:
    """R's GBSG2 calls its column cens, and 1 is an event there: the shorter times say so."""
    odd_study.write(SAMPLE_NAMES, _sheet(["days", event], DAYS, _coded(*WORDS_OF_EVENTS[event])))
    summary, problems = odd_study.validate({"time": "days", "event": event}, data=SURVIVAL)
    assert N_EVENTS in summary
    assert not problems


def test_living_as_the_event_is_warned_of(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(["days", "vital_status"], DAYS, _coded("Dead", "Alive")))
    label = {"time": "days", "event": "vital_status"}
    _, problems = odd_study.validate(label, data={**SURVIVAL, "event": "Alive"})
    assert "'Alive' counts as the event" in problems
    assert "'Dead' sounds like the event; if so, write data: {event: Dead}" in problems


def test_death_coded_as_no_event_is_warned_of(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(["days", "death"], DAYS, _coded("1", "0")))
    label = {"time": "days", "event": "death"}
    _, problems = odd_study.validate(label, data={**SURVIVAL, "event": "0"})
    assert "'0' counts as the event" in problems
    assert "if so, write data: {event: '1'}" in problems


TO_DEATH = [day if came else "NA" for day, came in zip(DAYS, HAS_EVENT, strict=True)]
TO_VISIT = ["'--" if came else day for day, came in zip(DAYS, HAS_EVENT, strict=True)]
JOINED = {"time": ["days_to_death", "days_to_last_follow_up"], "event": "vital_status"}


def test_times_of_the_dead_alone_are_refused(odd_study: OddStudy) -> None:
    header = ["vital_status", "days_to_death", "days_to_last_follow_up"]
    odd_study.write(SAMPLE_NAMES, _sheet(header, _coded("Dead", "Alive"), TO_DEATH, TO_VISIT))
    data = {**SURVIVAL, "event": "Dead"}
    n_alive = int((~HAS_EVENT).sum())
    summary, problems = odd_study.validate({**JOINED, "time": "days_to_death"}, data=data)
    assert summary == "c.yaml: 1 error, 0 warnings\n"
    assert (
        f"error: s.tsv, column 'days_to_death': no time for {n_alive} of the {n_alive} samples "
        "without the event (column 'vital_status'), who would all be left out; "
        "'days_to_last_follow_up' has their times: write label: {time: [days_to_death, "
        "days_to_last_follow_up], event: vital_status}" in problems
    )
    _, problems = odd_study.validate({**JOINED, "time": "days_to_last_follow_up"}, data=data)
    assert (
        f"no time for {int(HAS_EVENT.sum())} of the {int(HAS_EVENT.sum())} samples with the event"
        in problems
    )
    summary, problems = odd_study.validate(JOINED, data=data)
    assert N_EVENTS in summary
    assert not problems
    assert odd_study.init()["label"] == JOINED


def test_times_of_the_dead_alone_ask_for_a_second_column(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(["status", "days_to_death"], _coded("1", "0"), TO_DEATH))
    _, problems = odd_study.validate({"time": "days_to_death", "event": "status"}, data=SURVIVAL)
    assert (
        "add the times of their last follow-up as a COLUMN, and write label: {time: "
        "[days_to_death, COLUMN], event: status}" in problems
    )


def test_joined_times_name_a_column_that_is_absent(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(["status", "days"], _coded("1", "0"), DAYS))
    label = {"time": ["days", "day"], "event": "status"}
    _, problems = odd_study.validate(label, data=SURVIVAL)
    assert "error: s.tsv: label 'day' is not a column of s.tsv; did you mean 'days'?" in problems


def test_joined_times_are_read_in_external_cohorts_and_studies(odd_study: OddStudy) -> None:
    header = ["vital_status", "days_to_death", "days_to_last_follow_up"]
    sheet = _sheet(header, _coded("Dead", "Alive"), TO_DEATH, TO_VISIT)
    odd_study.write(SAMPLE_NAMES, sheet)
    write_matrix(Path("other.tsv"), [f"T{name}" for name in SAMPLE_NAMES], seed=2)
    Path("t.tsv").write_text(sheet.replace("\nS", "\nTS"))
    data = {**SURVIVAL, "event": "Dead"}
    files = {"name": "other", "expression": "other.tsv", "samples": "t.tsv"}
    summary, problems = odd_study.validate(JOINED, data=data, external=[{**files, "label": JOINED}])
    assert N_EVENTS in summary
    assert "t.tsv" not in problems
    _, problems = odd_study.validate(JOINED, data=data, external=[files])
    assert "error: t.tsv, column 'days_to_death': no time for" in problems
    several = {
        "studies": [{"name": "first", "expression": "e.tsv", "samples": "s.tsv"}, files],
        "label": JOINED,
        "data": data,
    }
    summary, _ = odd_study.validate_config(several)
    assert f"{2 * N_SAMPLES} samples ({2 * int(HAS_EVENT.sum())} events)" in summary


COMMENTS = [
    ["#Patient Identifier", "Overall Survival Status", "Overall Survival (Months)"],
    ["#Patient id", "Status", "Months"],
    ["#STRING", "STRING", "NUMBER"],
    ["#1", "1", "1"],
]


@pytest.mark.parametrize("n_comments", [0, 2, 4])
def test_portal_clinical_file_is_read_below_its_comments(
    odd_study: OddStudy, n_comments: int
) -> None:
    rows = zip(SAMPLE_NAMES, _coded("1:DECEASED", "0:LIVING"), DAYS, strict=True)
    header = ["PATIENT_ID", "OS_STATUS", "OS_MONTHS"]
    sheet = table_text([*COMMENTS[:n_comments], header, *map(list, rows)])
    odd_study.write([f"{name}-01" for name in SAMPLE_NAMES], sheet, "data_clinical_patient.txt")
    assert odd_study.init()["label"] == {"time": "OS_MONTHS", "event": "OS_STATUS"}
    label = {"time": "OS_MONTHS", "event": "OS_STATUS"}
    summary, _ = odd_study.validate(label, data={**SURVIVAL, "event": "1:DECEASED"})
    assert N_EVENTS in summary


def test_header_that_begins_with_a_hash_stays_the_header(odd_study: OddStudy) -> None:
    rows = [
        [name, "case" if is_event else "control"]
        for name, is_event in zip(SAMPLE_NAMES, HAS_EVENT, strict=True)
    ]
    sheet = table_text([["# exported"], ["#sample", "diagnosis"], *rows])
    odd_study.write(SAMPLE_NAMES, sheet)
    summary, problems = odd_study.validate()
    assert "40 samples" in summary
    assert not problems


def test_censored_time_with_plus_sign_is_refused_with_advice(odd_study: OddStudy) -> None:
    times = [
        f"{day}{'' if is_event else '+'}" for day, is_event in zip(DAYS, HAS_EVENT, strict=True)
    ]
    odd_study.write(SAMPLE_NAMES, _sheet(["days", "event"], times, _coded("1", "0")))
    label = {"time": "days", "event": "event"}
    _, problems = odd_study.validate(label, data=SURVIVAL)
    day = DAYS[list(HAS_EVENT).index(False)]
    assert f"such as '{day}+', censored; write {day} there" in problems
    assert "no time for" not in problems


def test_words_of_tumour_registries_propose_death_of_disease(odd_study: OddStudy) -> None:
    free_words = ["NED", "AWD", "DOC", "LTF"] * N_SAMPLES
    words = [
        "DOD" if is_event else word for word, is_event in zip(free_words, HAS_EVENT, strict=False)
    ]
    odd_study.write(SAMPLE_NAMES, _sheet(["days", "status"], DAYS, words))
    assert odd_study.init()["data"] == {"task": "survival", "event": "DOD"}
    label = {"time": "days", "event": "status"}
    summary, problems = odd_study.validate(label, data={**SURVIVAL, "event": "DOD"})
    assert N_EVENTS in summary
    assert "all count as censored, only 'DOD' as the event" in problems


def _tissue_names(n_normals: int) -> list[str]:
    codes = ["11"] * n_normals + ["01"] * (N_SAMPLES - n_normals)
    return [f"TCGA-AB-{1000 + k}-{code}" for k, code in enumerate(codes)]


def test_normal_tissue_among_tumours_is_warned_of(odd_study: OddStudy) -> None:
    for n_normals, is_warned in ((6, True), (0, False)):
        names = _tissue_names(n_normals)
        rows = [list(row) for row in zip(names, DAYS, _coded("1", "0"), strict=True)]
        odd_study.write(names, table_text([["sample", "days", "event"], *rows]))
        summary, problems = odd_study.validate({"time": "days", "event": "event"}, data=SURVIVAL)
        assert ("6 samples of normal tissue by the TCGA barcode" in problems) == is_warned
        assert N_EVENTS in summary


def test_normal_tissue_as_class_is_not_warned_of(odd_study: OddStudy) -> None:
    names = _tissue_names(20)
    rows = [[name, "normal" if name.endswith("11") else "tumour"] for name in names]
    odd_study.write(names, table_text([["sample", "tissue"], *rows]))
    _, problems = odd_study.validate("tissue")
    assert "TCGA" not in problems


def test_adjusted_tissue_is_not_warned_of(odd_study: OddStudy) -> None:
    names = _tissue_names(20)
    tissues = ["normal" if name.endswith("11") else "tumour" for name in names]
    rows = [list(row) for row in zip(names, DAYS, _coded("1", "0"), tissues, strict=True)]
    odd_study.write(names, table_text([["sample", "days", "event", "tissue"], *rows]))
    label = {"time": "days", "event": "event"}
    for covariates, is_warned in ((["tissue"], False), ([], True)):
        data = {**SURVIVAL, "covariates": covariates}
        _, problems = odd_study.validate(label, data=data)
        assert ("normal tissue by the TCGA barcode" in problems) == is_warned


UNITS = ["years" if k % 4 == 3 else "days" for k in range(N_SAMPLES)]
MARKED_TIMES = {
    "a unit in each cell": (
        [f"{day} days" for day in DAYS],
        [],
        f"{N_SAMPLES} times with a unit, such as '{DAYS[0]} days'; write {DAYS[0]} there, and all "
        "times in one unit",
        f"'{DAYS[0]} days' is no number: write {DAYS[0]}",
    ),
    "a plus for censored": (
        [day if came else f"{day}+" for day, came in zip(DAYS, HAS_EVENT, strict=True)],
        [],
        "times with a plus sign",
        "is no number: write",
    ),
    "two units in a column": (
        DAYS,
        UNITS,
        "times in several units: column 'os_unit' has 'days' (30), 'years' (10); bring all times",
        "column 'os_unit' has several units: bring all times to one",
    ),
}


@pytest.mark.parametrize("name", MARKED_TIMES)
def test_times_with_units_are_refused_and_named_by_init(odd_study: OddStudy, name: str) -> None:
    times, units, error, line = MARKED_TIMES[name]
    columns = [times, _coded("1", "0"), *([units] if units else [])]
    header = ["os_time", "os_status", "os_unit"][: len(columns)]
    odd_study.write(SAMPLE_NAMES, _sheet(header, *columns))
    label = {"time": "os_time", "event": "os_status"}
    assert odd_study.init()["label"] == label
    assert line in Path("new/config.yaml").read_text()
    summary, problems = odd_study.validate(label, data=SURVIVAL)
    assert summary == "c.yaml: 1 error, 0 warnings\n"
    assert f"error: s.tsv, column 'os_time': {error}" in problems or error in problems


@pytest.mark.parametrize(
    ("column", "cells"), [("os_unit", ["days"] * N_SAMPLES), ("age_unit", UNITS)]
)
def test_one_unit_or_that_of_ages_is_not_warned_of(
    odd_study: OddStudy, column: str, cells: list[str]
) -> None:
    header = ["os_time", "os_status", column]
    odd_study.write(SAMPLE_NAMES, _sheet(header, DAYS, _coded("1", "0"), cells))
    label = {"time": "os_time", "event": "os_status"}
    summary, problems = odd_study.validate(label, data=SURVIVAL)
    assert N_EVENTS in summary
    assert not problems


def test_units_are_named_in_external_cohorts_and_studies(odd_study: OddStudy) -> None:
    table = _sheet(["os_time", "os_status", "os_unit"], DAYS, _coded("1", "0"), UNITS)
    odd_study.write(SAMPLE_NAMES, _sheet(["os_time", "os_status"], DAYS, _coded("1", "0")))
    Path("units.tsv").write_text(table)
    label = {"time": "os_time", "event": "os_status"}
    cohort = {"name": "oslo", "expression": "e.tsv", "samples": "units.tsv"}
    _, problems = odd_study.validate(label, data=SURVIVAL, external=[cohort])
    assert "error: units.tsv, column 'os_time': times in several units" in problems
    items = [{**cohort, "name": "a", "samples": "s.tsv"}, cohort]
    config = {"studies": items, "label": label, "data": SURVIVAL}
    _, problems = odd_study.validate_config(config)
    assert "error: units.tsv, column 'os_time': times in several units" in problems


ZERO_TIMES = {
    "with events": (HAS_EVENT, 1, "note", "1 time of 0 (1 with the event, counted as the first)"),
    "censored": (~HAS_EVENT, 2, "note", "2 times of 0 (without the event, at risk at no event)"),
    "many": (~HAS_EVENT, 3, "warning", "3 times of 0 (without the event, at risk at no event)"),
}


@pytest.mark.parametrize("name", ZERO_TIMES)
def test_times_of_zero_are_counted(odd_study: OddStudy, name: str) -> None:
    is_chosen, n_times, level, message = ZERO_TIMES[name]
    rows = np.flatnonzero(is_chosen)[:n_times]
    times = ["0" if k in rows else day for k, day in enumerate(DAYS)]
    odd_study.write(SAMPLE_NAMES, _sheet(["days", "event"], times, _coded("1", "0")))
    summary, problems = odd_study.validate({"time": "days", "event": "event"}, data=SURVIVAL)
    assert f"{level}: s.tsv, column 'days': {message}" in problems
    assert "leave a time blank if it is unknown" in problems
    assert N_EVENTS in summary


def test_two_words_without_an_event_are_no_outcome(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(["days", "status"], DAYS, _coded("AWD", "NED")))
    assert odd_study.init()["data"].get("task") != "survival"


@pytest.mark.parametrize("codes", [["1", "2"], ["1", "2", "3"]])
def test_codes_of_competing_events_are_asked_about(odd_study: OddStudy, codes: list[str]) -> None:
    status = [codes[k % len(codes)] if came else "0" for k, came in enumerate(HAS_EVENT)]
    odd_study.write(SAMPLE_NAMES, _sheet(["time", "status"], DAYS, status))
    config = odd_study.init()
    assert config["label"] == {"time": "time", "event": "status"}
    assert config["data"] == {"task": "survival"}
    question = f"say which of {', '.join(map(repr, codes))} is the event: data.event"
    assert question in Path("new/config.yaml").read_text()
    _, problems = odd_study.validate(config["label"], data=config["data"])
    assert "data.event must say which word is the event, found" in problems


def test_the_larger_of_two_codes_is_the_event(odd_study: OddStudy) -> None:
    header = ["inst", "time", "status", "age", "sex", "ph.ecog"]
    columns = [["3"] * N_SAMPLES, DAYS, _coded("2", "1"), DAYS, ["1", "2"] * 20, ["0", "1"] * 20]
    odd_study.write(SAMPLE_NAMES, _sheet(header, *columns))
    config = odd_study.init()
    assert config["label"] == {"time": "time", "event": "status"}
    assert config["data"] == {"task": "survival", "event": "2"}


@pytest.mark.parametrize(("name", "is_time"), [("status", False), ("disease", True)])
def test_three_codes_that_are_no_events_stay_classes(
    odd_study: OddStudy, name: str, is_time: bool
) -> None:
    header = ["time" if is_time else "ferritin", name]
    odd_study.write(SAMPLE_NAMES, _sheet(header, DAYS, [*"01201201"] * 5))
    assert odd_study.init()["label"] == name
