"""JSON and YAML of configs: values as they are defined, and no more than was written."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from genesig.errors import refuse
from genesig.words import size_of


def parse_json(text: str, where: str) -> Any:
    """Parse a text; `where` is its file.

    Raises
    ------
    InvalidInput
        It is no JSON, is nested too deeply, or has a number of thousands of digits.
    """
    if not text.strip():
        raise refuse(where, "is empty; name another file, or copy it again")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg.lower()}; name a JSON file, or copy it again if it is cut "
        what += "off"
        raise refuse(where, what, line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise refuse(where, f"is not JSON as a program writes it: {what}; copy it again") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key '{twice[:80]}' stands twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


# Of YAML's numbers those that everybody reads as YAML does; not 010, 0x10, 1_000, 1:30.
PLAIN_NUMBER = re.compile(
    r"[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|nan)", re.I
)


def check_numbers(node: Any, where: str) -> None:
    """Refuse the first number that is another one to YAML than to people.

    Parameters
    ----------
    node : yaml.Node
        As `yaml.compose` gives it.
    where : str
        Its file.
    """
    import yaml

    seen: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:  # an alias, perhaps of what it stands in
            continue
        seen.add(id(each))
        if each.id != "scalar":
            waiting += [
                part
                for pair in each.value
                for part in (pair if isinstance(pair, tuple) else (pair,))
            ]
        elif each.tag.endswith((":int", ":float")) and not PLAIN_NUMBER.fullmatch(each.value):
            what = f"'{each.value}' is {yaml.safe_load(each.value)} in YAML; write that, the number"
            what += " you mean, or quotes around a name"
            raise refuse(where, what, line=each.start_mark.line + 1)


MOST_BYTES = 100_000
MOST = 2000
DEEPEST = 20
"""Values of a config with its aliases written out, and how deep they may be nested."""


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    """Parse a config as it is, without defaults.

    Raises
    ------
    InvalidInput
        No YAML, no keys and values, a key twice, or more values than a config has.
    """
    import yaml

    if len(text) > MOST_BYTES:
        what = f"is larger than {size_of(MOST_BYTES)}, as no config is; is it the matrix?"
        raise refuse(where, f"{what} Name the file with the keys expression, samples and label")
    try:
        tree = yaml.compose(text, yaml.SafeLoader)
        if too_much(tree, _inside):
            raise refuse(where, TOO_MUCH)
        raw = yaml.SafeLoader("").construct_document(tree) if tree else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        _refuse_slips(text, where)
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        advice = f"is not YAML: {what}; look at indents (spaces, no tabs), colons and quotes"
        raise refuse(where, advice, line=mark.line + 1 if mark else None) from None
    except RecursionError:
        raise refuse(where, TOO_MUCH) from None
    except ValueError as error:  # the 30th of February, a number of thousands of digits
        what = f"holds a value that YAML cannot read ({str(error)[:80]}); put it in quotes"
        raise refuse(where, what) from None
    return _checked(raw, tree, where)


TOO_MUCH = (
    f"is nested deeper than {DEEPEST} levels or has more than {MOST} values, aliases (*name) "
    "written out, as no config has; write the keys of the study alone"
)


def too_much(value: Any, inside: Callable[[Any], Any]) -> bool:
    """Tell whether there is too much in a value that may hold others, or itself.

    Parameters
    ----------
    value : object
    inside : function (value) -> sized
        The values that it holds, or the text that it is.
    """
    seen = 0
    waiting = [(value, 0)]
    while waiting:
        value, depth = waiting.pop()
        held = inside(value)
        text = isinstance(held, str)
        seen += 1 + (len(held) * MOST // MOST_BYTES if text else 0)
        if seen > MOST or depth > DEEPEST:
            return True
        waiting += [] if text else [(each, depth + 1) for each in held]
    return False


def inside(value: Any) -> Any:
    """Return what a value of a config holds; of a text, the text."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list | str) else ()


def _inside(node: Any) -> Any:
    if node is None or node.id != "mapping":
        return () if node is None else node.value
    return [each for pair in node.value for each in pair]


def _checked(raw: Any, tree: Any, where: str) -> dict[str, Any]:
    if raw is None:
        raise refuse(
            where,
            "is empty; a study needs three keys: expression (a file), samples (a "
            "file) and label (a column of samples)",
        )
    if not isinstance(raw, dict):
        _refuse_slips(tree.value if isinstance(tree.value, str) else "", where)
        raise refuse(where, "needs lines 'key: value' such as 'label: diagnosis'")
    for key, first, again in _repeated(tree):
        what = f"the key '{key}' is already on line {first}; YAML would forget the first one"
        raise refuse(where, what, line=again)
    check_numbers(tree, where)
    if half := re.search("[\ud800-\udfff]", "".join(_texts(raw))):
        what = f"holds half a character (\\u{ord(half[0]):x}); write the whole one as it is"
        raise refuse(where, what)
    return raw


def _refuse_slips(text: str, where: str) -> None:
    """Name what is usually wrong with a config that is none."""
    for number, line in enumerate(text.splitlines(), 1):
        if glued := re.match(r"\s*([A-Za-z_]+):(?=[^\s/\\:])\S+", line):
            what = f"'{line.strip()[:60]}' needs a blank behind the colon: '{glued[1]}: …'"
            raise refuse(where, what, line=number)
        if re.search(r'"[^"]*\\[^"]*"', line):
            what = "a backslash between double quotes begins a code; write single quotes, or / for "
            raise refuse(where, what + "the folders", line=number)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value, which is not nested too deep."""
    if isinstance(value, str):
        yield value
    else:
        for each in inside(value):
            yield from _texts(each)


def _repeated(node: Any) -> Iterator[tuple[str, int, int]]:
    """Yield each key that a YAML mapping has twice, with its two lines."""
    lines: dict[str, int] = {}
    for key, value in node.value if node.id == "mapping" else ():
        line = key.start_mark.line + 1
        if key.value in lines:
            yield key.value, lines[key.value], line
        lines[key.value] = line
        yield from _repeated(value)


def on_top(first: Mapping[str, Any], *others: Mapping[str, Any]) -> dict[str, Any]:
    """Lay configs upon each other as Snakemake does: sections are merged, all else is replaced."""
    merged = dict(first)
    for other in others:
        for key, value in other.items():
            below = merged.get(key)
            if isinstance(below, dict) and isinstance(value, dict):
                merged[key] = on_top(below, value)
            else:
                merged[key] = value
    return merged
