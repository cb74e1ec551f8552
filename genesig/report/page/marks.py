"""Marks of a picture as few paths: a page of many dots stays light for the browser.

matplotlib writes each dot and tick as a copy (``<use>``) of a shape in ``<defs>``, often in a group
of its own. Here each copy becomes a path where it stands, and copies that look alike one path.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}"
_HREF = f"{_LINK}href"
_STEP = re.compile(r"([MLCQZmlcqz])|(-?[\d.]+(?:e-?\d+)?)")
MARK = "data-mark"
"""Set on what `unfold` made, until `merge` takes it away."""


def written(root: ET.Element) -> str:
    """Return an SVG as a page takes it, without prefixes."""
    ET.register_namespace("", SVG[1:-1])
    ET.register_namespace("xlink", _LINK[1:-1])
    return ET.tostring(root, encoding="unicode")


def unfold(root: ET.Element) -> None:
    """Put a path in place of every copy of a path; shapes that are then unused go."""
    shapes = {e.get("id", ""): e for d in root.iter(f"{SVG}defs") for e in d.iter(f"{SVG}path")}
    for use in list(root.iter(f"{SVG}use")):
        shape = shapes.get(use.get(_HREF, "")[1:])
        if shape is not None and "transform" not in use.attrib:
            _become_path(use, shape)
    left = {use.get(_HREF, "")[1:] for use in root.iter(f"{SVG}use")}
    for defs in root.iter(f"{SVG}defs"):
        for shape in [e for e in defs if e.get("id") in shapes.keys() - left]:
            if shape.tag == f"{SVG}path":
                defs.remove(shape)


def _become_path(use: ET.Element, shape: ET.Element) -> None:
    x, y = float(use.attrib.pop("x", 0)), float(use.attrib.pop("y", 0))
    use.attrib.pop(_HREF)
    use.tag = f"{SVG}path"
    # What the shape says of itself goes before what its copy says.
    use.set("style", f"{use.get('style', '')}; {shape.get('style', '')}")
    use.set("d", moved(shape.get("d", ""), x, y))
    use.set(MARK, "")


def moved(d: str, x: float, y: float) -> str:
    """Return a path (absolute commands in pairs of coordinates) moved by (x, y)."""
    if r := _radius(d):
        return circle(x, y, r)
    out, first = [], True
    for command, number in _STEP.findall(d):
        if command:
            out.append(command)
        else:
            out.append(f"{float(number) + (x if first else y):.2f} ")
            first = not first
    return "".join(out)


def circle(x: float, y: float, r: float) -> str:
    """Return the path of a circle around (x, y)."""
    arc = f"a{r:.2f} {r:.2f} 0 1 0"
    return f"M{x - r:.2f} {y:.2f}{arc} {2 * r:.2f} 0{arc} {-2 * r:.2f} 0"


def _radius(d: str) -> float:
    """Return the radius of a circle around the origin as matplotlib draws one; else 0."""
    if d.count("C") != 8 or "L" in d:
        return 0.0
    ends = [float(n) for part in re.split("[MC]", d) for n in part.strip(" \nz").split()[-2:]]
    radii = [math.hypot(*pair) for pair in zip(ends[::2], ends[1::2], strict=True)]
    return radii[0] if max(radii) - min(radii) < 1e-3 * max(radii) else 0.0


def merge(root: ET.Element) -> None:
    """Make one path of marks that look alike, text between them or not, and of lines in a row."""
    for parent in root.iter():
        alike: dict[tuple[tuple[str, str], ...], ET.Element] = {}
        kept: list[ET.Element] = []
        for child in parent:
            look = _look(child)
            if MARK not in child.attrib:
                if kept and _is_line(child) and look == _look(kept[-1]):
                    kept[-1].set("d", f"{kept[-1].get('d', '')} {child.get('d', '')}")
                    continue
                if child.tag != f"{SVG}text":
                    alike.clear()
                kept.append(child)
                continue
            if look in alike:
                alike[look].set("d", alike[look].get("d", "") + child.get("d", ""))
            else:
                alike[look] = child
                kept.append(child)
        if len(kept) != len(parent):
            parent[:] = kept
    for element in root.iter(f"{SVG}path"):
        element.attrib.pop(MARK, None)


def _look(element: ET.Element) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((k, v) for k, v in element.attrib.items() if k != "d"))


def _is_line(element: ET.Element) -> bool:
    """Whether it is drawn by its stroke alone, so that lines that cross do not shine through."""
    solid = not any("opacity" in key for key in element.attrib)
    return element.tag == f"{SVG}path" and element.get("fill") == "none" and solid


def hand_down_clips(root: ET.Element) -> None:
    """Give what a group does for its only child to the child, so that the group can go."""
    for group in root.iter(f"{SVG}g"):
        if set(group.attrib) != {"clip-path"} or len(group) != 1:
            continue
        if "clip-path" not in group[0].attrib and "transform" not in group[0].attrib:
            group[0].set("clip-path", group.attrib.pop("clip-path"))
