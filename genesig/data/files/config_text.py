"""Parse configs (YAML, JSON) strictly: no repeated keys, no surprising numbers, bounded size."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import isinf
from typing import Any

from genesig.errors import input_error
from genesig.words import size_of


def parse_json(text: str, file_name: str) -> Any:
    """Return the value of a JSON text; `file_name` is for messages.

    Raises InvalidInput: it is no JSON, is nested too deeply, repeats a key, or has a number too
        large for a float or an integer of thousands of digits.
    """
    if not text.strip():
        raise input_error(file_name, "is empty; name another file, or copy it again")
    try:
        return json.loads(
            text,
            object_pairs_hook=_refuse_repeated_keys,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg.lower()}; name a JSON file, or copy it again if it is "
        raise input_error(file_name, f"{message}cut off", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        message = f"is not JSON as a program writes it: {reason}; copy it again"
        raise input_error(file_name, message) from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; raise ValueError if a key is repeated."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        (repeated_key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key '{repeated_key[:80]}' stands twice in one object")
    return mapping


def _parse_float(text: str) -> float:
    """Return the value of a decimal number; raise ValueError for 1e400, which would be infinite."""
    value = float(text)
    if isinf(value):
        raise ValueError(f"{text[:80]} is larger than any number of a program")
    return value


def _refuse_constant(name: str) -> None:
    """Raise the error of a constant such as NaN, which JSON does not have."""
    raise ValueError(f"{name} is no number of JSON")


# Of YAML's numbers those that everybody reads as YAML does; not 010, 0x10, 1_000, 1:30.
PLAIN_NUMBER = re.compile(
    r"[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|nan)", re.I
)


def check_numbers(root: Any, file_name: str) -> None:
    """Raise InvalidInput for the first number that YAML and people read differently (010, 1:30).

    root: the tree of nodes that `yaml.compose` returns.
    """
    import yaml

    visited: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in visited:  # an alias, which may even contain itself
            continue
        visited.add(id(node))
        if node.id != "scalar":
            pending += [
                part
                for pair in node.value
                for part in (pair if isinstance(pair, tuple) else (pair,))
            ]
        elif node.tag.endswith((":int", ":float")) and not PLAIN_NUMBER.fullmatch(node.value):
            message = (
                f"'{node.value}' is {yaml.safe_load(node.value)} in YAML; write that, the number "
                "you mean, or quotes around a name"
            )
            raise input_error(file_name, message, line=node.start_mark.line + 1)


MAX_CONFIG_BYTES = 100_000
MAX_CONFIG_VALUES = 2000  # largest number of values of a config with its aliases written out
MAX_CONFIG_DEPTH = 20  # largest depth to which these are nested


def parse_yaml(text: str, file_name: str) -> dict[str, Any]:
    """Return the keys and values of a YAML config as they are written, without defaults.

    Raises InvalidInput: no YAML, no keys and values, a key twice, or more values than a config has.
    """
    import yaml

    if len(text.encode()) > MAX_CONFIG_BYTES:
        message = f"is larger than {size_of(MAX_CONFIG_BYTES)}, as no config is; is it the matrix?"
        raise input_error(
            file_name, f"{message} Name the file with the keys expression, samples and label"
        )
    try:
        tree = yaml.compose(text, yaml.SafeLoader)
        if exceeds_config_size(tree, _yaml_children):
            raise input_error(file_name, TOO_LARGE)
        raw = yaml.safe_load(text)  # not from `tree`: it would write merged keys (<<) into it
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        _refuse_slips(text, file_name)
        message = " ".join(str(getattr(error, "problem", None) or error).split())
        advice = f"is not YAML: {message}; look at indents (spaces, no tabs), colons and quotes"
        raise input_error(file_name, advice, line=mark.line + 1 if mark else None) from None
    except RecursionError:
        raise input_error(file_name, TOO_LARGE) from None
    except (ValueError, LookupError, AttributeError) as error:
        # The 30th of February, a number of thousands of digits, ``!!bool maybe``.
        message = f"holds a value that YAML cannot read ({str(error)[:80]}); put it in quotes"
        raise input_error(file_name, message) from None
    return _check_config(raw, tree, file_name)


TOO_LARGE = (
    f"is nested deeper than {MAX_CONFIG_DEPTH} levels or has more than {MAX_CONFIG_VALUES} values, "
    "aliases (*name) written out, as no config has; write the keys of the study alone"
)


def exceeds_config_size(value: Any, children_of: Callable[[Any], Any]) -> bool:
    """Tell whether a nested value, aliases written out, is larger or deeper than any config.

    value: it may hold itself, as the counts of values and of levels end the search.
    children_of: returns the values within a value; of a text the text itself.
    """
    n_values = 0
    pending = [(value, 0)]
    while pending:
        value, depth = pending.pop()
        children = children_of(value)
        is_text = isinstance(children, str)
        # A long text counts as several values.
        n_values += 1 + (len(children) * MAX_CONFIG_VALUES // MAX_CONFIG_BYTES if is_text else 0)
        if n_values > MAX_CONFIG_VALUES or depth > MAX_CONFIG_DEPTH:
            return True
        pending += [] if is_text else [(child, depth + 1) for child in children]
    return False


def config_children(value: Any) -> Any:
    """Return the values within a value of a config; of a text the text itself."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list | str) else ()


def _yaml_children(node: Any) -> Any:
    """Return the nodes within a YAML node; the text of a scalar."""
    if node is None or node.id != "mapping":
        return () if node is None else node.value
    return [child for pair in node.value for child in pair]


def _check_config(raw: Any, tree: Any, file_name: str) -> dict[str, Any]:
    """Return `raw`; raise InvalidInput if it is no mapping, repeats a key or has odd values.

    raw, tree: the values of the config, and the nodes that `yaml.compose` makes of the same text.
    """
    if raw is None:
        raise input_error(
            file_name,
            "is empty; a study needs three keys: expression (a file), samples (a file) and label "
            "(a column of samples)",
        )
    if not isinstance(raw, dict):
        _refuse_slips(tree.value if isinstance(tree.value, str) else "", file_name)
        raise input_error(file_name, "needs lines 'key: value' such as 'label: diagnosis'")
    for key, first_line, second_line in _repeated_keys(tree):
        message = (
            f"the key '{key}' is already on line {first_line}; YAML would forget the first one"
        )
        raise input_error(file_name, message, line=second_line)
    check_numbers(tree, file_name)
    if surrogate := re.search("[\ud800-\udfff]", "".join(_texts_in(raw))):
        message = f"holds half a character (\\u{ord(surrogate[0]):x}); write the whole one as it is"
        raise input_error(file_name, message)
    return raw


def _refuse_slips(text: str, file_name: str) -> None:
    """Raise InvalidInput for a usual slip: no blank behind a colon, a backslash in quotes."""
    for number, line in enumerate(text.splitlines(), 1):
        # As in "label:diagnosis", but not in "https://..." or "C:\data".
        if glued := re.match(r"\s*([A-Za-z_]+):(?=[^\s/\\:])\S+", line):
            message = f"'{line.strip()[:60]}' needs a blank behind the colon: '{glued[1]}: …'"
            raise input_error(file_name, message, line=number)
        if re.search(r'"[^"]*\\[^"]*"', line):
            message = "a backslash between double quotes begins a code; write single quotes, or / "
            raise input_error(file_name, f"{message}for the folders", line=number)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every text within a value of a config, whose depth was checked before."""
    if isinstance(value, str):
        yield value
    else:
        for child in config_children(value):
            yield from _texts_in(child)


def _repeated_keys(node: Any) -> Iterator[tuple[str, int, int]]:
    """Yield each key that a mapping within a YAML node repeats, with its first and second line."""
    lines: dict[str, int] = {}
    keys = [key for key, _ in node.value] if node.id == "mapping" else []
    for key in (key for key in keys if key.id == "scalar"):  # a list as a key has no hash
        line = key.start_mark.line + 1
        if key.value in lines:
            yield key.value, lines[key.value], line
        lines[key.value] = line
    for child in _yaml_children(node) if node.id != "scalar" else ():
        yield from _repeated_keys(child)


def merge_configs(base: Mapping[str, Any], *overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return configs merged as Snakemake does: mappings key by key; of other values the last."""
    merged = dict(base)
    for override in overrides:
        for key, value in override.items():
            base_value = merged.get(key)
            if isinstance(base_value, dict) and isinstance(value, dict):
                merged[key] = merge_configs(base_value, value)
            else:
                merged[key] = value
    return merged
