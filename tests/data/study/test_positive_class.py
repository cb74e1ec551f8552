"""The positive of two classes is not the control class if a label names controls."""

from pathlib import Path

import pytest
from small_study import Study

from genesig.cli import main
from genesig.words import control_first

CONTROL_AND_OTHER = [
    ("control", "case"),
    ("Ctrl", "AD"),
    ("normal", "cancer"),
    ("Healthy", "RA"),
    ("WT", "KO"),
    ("untreated", "treated"),
    ("untreated cells", "treated cells"),
    ("negative", "amplified"),
    ("0", "-1"),
    ("no", "ja"),
    ("No relapse", "relapse"),
    ("healthy control", "arthritis"),
    ("Normal tissue", "Cancer tissue"),
    ("adjacent_normal", "Cancer"),
    ("healthy donor", "ALL patient"),
    ("wild-type", "knock-out"),
    ("wildtype", "knockout"),
    ("ER-", "ER+"),
    ("ER negative", "ER positive"),
    ("non-responder", "Responder"),
    ("without metastasis", "with metastasis"),
    ("0 h", "-6 h"),
    ("benign", "adenocarcinoma"),
    ("normal karyotype", "complex karyotype"),
    ("vehicle", "drug"),
    ("remission", "relapse"),
    ("stable disease", "progressive disease"),
    ("survivor", "deceased"),
    ("FALSE", "AND"),
]
NO_CONTROLS = [
    ("ALL", "AML"),
    ("abnormal", "bright"),
    ("control", "untreated"),
    ("controlled disease", "free disease"),
    ("No 1", "No 2"),
    ("nocturnal", "diurnal"),
    ("healthy control", "healthy normal"),
    ("normalised", "a"),
    ("treated with no drug A", "treated with no drug B"),
]


@pytest.mark.parametrize(("control", "case"), CONTROL_AND_OTHER)
def test_controls_stand_first(control: str, case: str) -> None:
    assert control_first([case, control]) == [control, case]
    assert control_first([control, case]) == [control, case]


@pytest.mark.parametrize("names", NO_CONTROLS)
def test_other_names_stay_in_their_order(names: tuple[str, str]) -> None:
    assert control_first(names) == list(names)
    assert control_first(names[::-1]) == list(names[::-1])


def _validated(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    study.write()
    monkeypatch.chdir(study.root)
    assert main(["validate", "config.yaml"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("negative", "positive"), [*CONTROL_AND_OTHER[:4], *NO_CONTROLS[:2], ("0", "1")]
)
def test_validation_says_which_class_is_positive(
    negative: str,
    positive: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = Study(tmp_path)
    study.column("diagnosis", [positive, negative] * 6)
    out = _validated(study, monkeypatch, capsys)
    message = f"12 samples (6 {negative}, 6 {positive}; positive: {positive}), 8 genes"
    assert message in out


def test_the_config_has_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(tmp_path)
    study.column("diagnosis", ["control", "case"] * 6)
    study.set("data.classes", ["case", "control"])
    out = _validated(study, monkeypatch, capsys)
    assert "(6 case, 6 control; positive: control)" in out
