"""The cases of more_mistakes.py: every slip in an exercise, beside the right pipeline of attend.py and the slips of mistakes.py."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from pipeline import DEFAULTS, DoesNotGoOn, equal, facts, named, run, slips, written

HERE = Path(__file__).parent
cases = []


def close_enough(entry, ours, right):
    """Whether what counts as right is: to the precision of its type or its decimals."""
    if entry["name"] == "result-rounded":
        return np.abs(ours - right).max() <= 0.5000001 * 10.0 ** -entry["variant"]
    half = entry["name"] == "half-precision"
    return ours.shape == right.shape and np.allclose(ours, right, rtol=1e-2 if half else 1e-5, atol=1e-2 if half else 1e-5)


def results(options, inputs, entry, right):
    """The ways one slip comes out in one case: (guard, steps), none where it cannot be made; None where it does nothing."""
    c = facts(options, dict(inputs))
    c.largest = np.abs(right["S"]).max()
    if not entry["when"](c):
        return []
    try:
        bare, kept = (run(options, inputs, entry["hooks"], guard) for guard in (False, True))
    except (DoesNotGoOn, ValueError, IndexError):
        return []
    if c.empty and not entry["sight"] or np.array_equal(bare["A"], kept["A"], equal_nan=True):
        found = [(False, kept)]
        if c.empty and not np.array_equal(bare["A"], kept["A"], equal_nan=True):
            found = [(True, kept)]
    else:
        found = [(False, bare), (True, kept)]
    if entry["right"]:
        assert all(close_enough(entry, steps["O"], right["O"]) for _, steps in found), entry["name"]
        return found
    changed = [(guard, steps) for guard, steps in found if not equal(steps["O"], right["O"], 1e-6)]
    return changed or None


def older(options, inputs):
    """The ids of mistakes.py and what they give here, by its own functions; only pairs of it need PyTorch."""
    for name, form in ((name, form) for name in past["FIELD_OF"] for form in past["FORMS"].get(name, [None])):
        if not past["applies"](name, form, options, inputs, [name]):
            continue
        for guard in (False, True):
            try:
                steps = past["with_numpy"](options, inputs, {past["FIELD_OF"][name]: (name, form)}, guard)
            except past["DoesNotGoOn"]:
                continue
            if "O" in steps:
                yield name, steps["O"]


def case(name, inputs, steps=False, only=None, **changed):
    """Adds a case, on the options that differ from the defaults; `only`: the slips to make there."""
    options = {**DEFAULTS, **changed}
    right = run(options, inputs, {})
    theirs = reference["attend"](options, inputs)[0]
    assert theirs.keys() == right.keys(), name
    assert all(equal(right[step], value, 1e-12) for step, value in theirs.items()), name
    known = [pair for pair in older(options, inputs)]
    found, unchanged = [], []
    for entry in slips:
        if only is not None and entry["name"] not in only:
            continue
        there = results(options, inputs, entry, right)
        if there is None:
            label = [entry["name"]] if entry["variant"] is None else [entry["name"], entry["variant"]]
            unchanged.append(label)
            continue
        found += [(entry, guard, result) for guard, result in there]
    everything = known + [(entry["name"], result["O"]) for entry, _, result in found if not entry["right"]]
    wrong = []
    for entry, guard, result in found:
        record = {"mistakes": [entry["name"]]}
        if entry["variant"] is not None:
            record["digits" if isinstance(entry["variant"], int) else "variant"] = entry["variant"]
        if guard:
            record["guard"] = True
        if not entry["blame"]:
            record["blame"] = False
        if entry["right"]:
            record["right"] = True
        else:
            same = sorted({other for other, O in everything if other != entry["name"] and equal(O, result["O"])})
            if same:
                record["same_as"] = same
        record["O"] = written(result["O"])
        if steps and not (entry["right"] and entry["name"] != "bias-of-keys"):
            expected = named(right)
            differing = {step: rows for step, rows in named(result).items()
                         if step[0] in "SA" and rows != expected.get(step)}
            if differing:
                record["steps"] = differing
        wrong.append(record)
    cases.append({"name": name, "options": options, "inputs": inputs, "right": right, "unchanged": unchanged, "wrong": wrong})


def module(name, end):
    """The functions of another script here; without PyTorch too, which none of those used here calls."""
    added = []
    try:
        import torch  # noqa: F401
    except ImportError:
        for path in ("torch", "torch.nn", "torch.nn.functional", "torch.nn.attention", "torch.nn.attention.bias"):
            sys.modules[path] = ModuleType(path)
            added.append(path)
            parent, _, last = path.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, sys.modules[path])
        sys.modules["torch.nn.attention.bias"].causal_lower_right = None
    source = (HERE / name).read_text(encoding="utf-8").split(end)
    assert len(source) > 1, name
    functions = {"__name__": name, "__file__": str(HERE / name)}
    exec(compile(source[0], name, "exec"), functions)
    for path in added:
        del sys.modules[path]
    return functions


def record(entry):
    inputs = {name: written(value) for name, value in entry["inputs"].items()}
    return {**entry, "inputs": inputs, "right": named(entry["right"])}


reference, past = module("attend.py", "\nfor section in "), module("mistakes.py", "\nnp.seterr(")
