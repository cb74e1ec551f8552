"""The kind of response that a config asks for, and the settings that follow where it is silent."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from genesig.data.files.columns import cells_of
from genesig.data.files.names import is_fetched, with_file_names
from genesig.data.files.readers import read_samples
from genesig.data.study.labels.known import LABELS
from genesig.data.study.labels.record import Config
from genesig.data.study.pool.record import STUDY, WEIGHT
from genesig.errors import Problem, attempt
from genesig.response.design import SEVERAL


def kind_of(raw: Config, classes: int | None = None) -> str | None:
    """Return the name of the kind that a config asks for, None for none that there is.

    Parameters
    ----------
    raw : dict
        As it was written: whatever a user may have meant.
    classes : int or None
        How many there are in the sample table, as far as that is known.
    """
    data, label = _section(raw, "data"), raw.get("label")
    task = data.get("task")
    if task is None:
        mapped = isinstance(label, dict)
        task = next(kind for kind, each in LABELS.items() if bool(each.columns) == mapped)
    if not isinstance(task, str) or task not in LABELS:
        return None
    named = data.get("classes")
    count = len(named) if isinstance(named, list) else classes
    return SEVERAL if LABELS[task].named and count is not None and count > 2 else task


def silent(raw: Config, classes: int | None = None) -> Config:
    """Return settings that hold where the config names none: those of its kind, as `kind_of`.

    Two columns as label ask for survival. What cannot be had beside covariates or weights is off.
    """
    kind, data = kind_of(raw, classes), _section(raw, "data")
    found = {} if kind is None else deepcopy(LABELS[kind].defaults)
    if kind is not None and LABELS[kind].columns and data.get("task") is None:
        found["data"] = {"task": kind}
    if raw.get("studies"):
        for section, settings in _of_studies(raw).items():
            found[section] = {**found.get(section, {}), **settings}
        data = {**found["data"], **data}
    if data.get("covariates") or data.get("weights"):
        found["nonlinear"] = {"enabled": False}
    return found


def _of_studies(raw: Config) -> Config:
    """Return the settings that several studies ask for: each is a batch, and held out whole."""
    alike = _section(raw, "across").get("weights", "equal") == "equal"
    scheme = {key: "leave_one_study_out" for key in ("scheme", "inner_scheme")}
    return {"data": {"batch": STUDY, **({"weights": WEIGHT} if alike else {})}, "splits": scheme}


def classes_shown(raw: Config) -> int | None:
    """Count the classes of the sample table; None where nothing depends on it, or it has no such.

    Whatever is wrong with that file is said by those who need it.
    """
    kind = kind_of(raw)
    if kind is None or not LABELS[kind].named or _section(raw, "data").get("classes") is not None:
        return None
    if _section(raw, "nonlinear").get("enabled") is not None:
        return None
    config, data = with_file_names(deepcopy(raw)), _section(raw, "data")
    samples, label, part = config.get("samples"), config.get("label"), data.get("part")
    if not isinstance(samples, str) or not isinstance(part, str | None):
        return None
    own = part if samples == config.get("expression") else None
    table = attempt(lambda: read_samples(samples, None, own), [])
    if table is None or not isinstance(label, str):
        return None
    return len(set(cells_of(table, label))) or None


def check_kind(config: Config, kind: str, source: str) -> list[Problem]:
    """Check what the settings ask for that is not offered for the kind the sample table shows."""
    if kind == config["data"]["task"]:
        return []
    late = ""
    if is_fetched(config["samples"]):  # after the settings were filled in
        late = "; if the series has only just come, run the same command again: where the config "
        late += "says nothing, its labels decide"
    return [
        Problem(f"{source}, {key}", f"{what}{late}", *level)  # type: ignore[arg-type]
        for key, what, *level in LABELS[kind].settings(config)
    ]


def not_offered(kind: str, data: Config) -> str:
    """Say what every study has, and this one has not; '' where nothing is left out.

    Parameters
    ----------
    kind : str
        A name in `LABELS`.
    data : dict
        The section ``data`` of the config.
    """
    if "nonlinear" in LABELS[kind].defaults:
        what = f"for {kind.replace('_', ' ')}"
    elif data.get("covariates") or data.get("weights") is not None:
        what = f"beside {'covariates' if data.get('covariates') else 'sample weights'}"
    else:
        return ""
    return f"nonlinear selection is not offered {what}"


def _section(raw: Config, name: str) -> dict[str, Any]:
    section = raw.get(name)
    return section if isinstance(section, dict) else {}
