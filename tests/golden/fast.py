"""Log-sum-exps of the scores that the softmax reads, from the steps of attend.json, by NumPy.

    python fast.py                       writes fast.json

The steps are those that attend.py computed and held against PyTorch. The softmax reads S_masked where there is a mask, else
the last of S, S_scaled and S_biased, over the temperature. A row that sees no key gives -inf. The fast path knows no cosine.
"""

import json
from pathlib import Path

import numpy as np

import layout

here = Path(__file__).parent
cases = json.loads((here / "attend.json").read_text())["cases"]


def read(case, suffix):
    """What the softmax of a head reads."""
    expected = case["expected"]
    for name in ("S_masked", "S_biased", "S_scaled", "S"):
        if name + suffix in expected:
            scores = np.array(expected[name + suffix], dtype=float)
            return scores if name == "S_masked" else scores / case["options"]["temperature"]


def log_sum_exp(case):
    """A column for each head."""
    heads = case["options"]["heads"]
    suffixes = [""] if heads == 1 else [f"_{head + 1}" for head in range(heads)]
    return np.stack([np.logaddexp.reduce(read(case, suffix), axis=1) for suffix in suffixes], axis=1)


def written(array):
    return [[value if np.isfinite(value) else str(value) for value in row] for row in array.tolist()]


records = [
    {"name": case["name"], "LSE": written(log_sum_exp(case))} for case in cases if case["options"]["score"] == "dot"
]
about = "Log-sum-exps of the cases of attend.json by NumPy; made by fast.py"
layout.write(__file__, {"about": about, **layout.versions(np), "cases": records})
