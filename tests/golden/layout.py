"""How the golden files are laid out: JSON with one record a line, so that a changed record is a changed line.

A value stands on one line if its text has at most `line` characters; a longer one has a line for each of its parts. In a list,
neighbouring records whose first values are equal, as all results of one mistake, share a line.
"""

import json
import platform
from pathlib import Path


def text(value, line=2000, indent=""):
    """The JSON text of a value, laid out."""
    whole = json.dumps(value, allow_nan=False, ensure_ascii=False)
    if len(whole) <= line or not isinstance(value, (dict, list)):
        return whole
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {text(part, line, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + part for part in records(value, line, inner)) + f"\n{indent}]"


def records(values, line, indent):
    """The lines of a list; a record that needs several lines has them for itself."""
    lines, last = [], None
    for value in values:
        first = next(iter(value.values()), None) if isinstance(value, dict) else None
        part = text(value, line, indent)
        if first is not None and first == last and "\n" not in part + lines[-1]:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
        last = first
    return lines


def write(script, value, line=2000):
    """Writes the figures of a script beside it: `x.py` makes `x.json`. Returns how many bytes that are."""
    path = Path(script).with_suffix(".json")
    path.write_text(text(value, line) + "\n", encoding="utf-8")
    return path.stat().st_size


def write_cases(script, about, cases, *modules):
    """Writes cases, each with its wrong results; prints how many these are, and the size of the file."""
    size = write(script, {"about": about} | versions(*modules) | {"cases": cases})
    for one in cases:
        print(f"{len(one['wrong']):4} {one['name']}")
    print(size, "bytes")


def versions(*modules):
    """What the figures were made with."""
    return {module.__name__: module.__version__ for module in modules} | {"python": platform.python_version()}
