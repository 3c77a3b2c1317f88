"""What students get who make the mistakes of tests/diagnose/own_mistakes.toml: NumPy, written without a look at src/.

    python own_mistakes.py               writes own_mistakes.json and prints what it covers

The pipeline and its steps are those of pipeline.py, the layout of a case is that of more_mistakes.py. An entry of `wrong` has all its
ids in `mistakes`, those of the file and of the program.

    own-clipped       | The scores are clipped to −1 … 1 before they are scaled; alone, and without the scale.
    own-root          | The root of the size of each scaled score takes its place.
    own-normed        | The queries of each head are normalised, and the scores are not scaled: one mistake of two changes.
    own-short-values  | The values are clipped to ±1/n.
    own-late-residual | X is left out, and the result is squared; only where the exercise has a residual.
"""

import layout
import numpy as np
import pipeline
from pipeline import DEFAULTS, normed, run, score, tokens, written


def of_queries(c):
    c.q = normed(c.q)


def clipped_values(n):
    def heads(c):
        c.v = np.clip(c.v, -1 / n, 1 / n)
    return {"heads": heads}


CLIPPED = {"score": lambda c: np.clip(score(c), -1, 1)}
UNSCALED = {"scale": lambda c, S: S}
SLIPS = [
    (["own-clipped"], None, CLIPPED),
    (["own-clipped", "no-scale"], None, CLIPPED | UNSCALED),
    (["own-root"], None, {"scale": lambda c, S: np.sqrt(np.abs(S * c.S_factor))}),
    (["own-normed"], None, {"heads": of_queries} | UNSCALED),
    (["own-short-values"], "to ±1/2", clipped_values(2)),
    (["own-short-values"], "to ±1/3", clipped_values(3)),
    (["no-scale"], None, UNSCALED),
]
SQUARED = (["own-late-residual"], None, {"residual": lambda c, O: O, "final": lambda c, O: O * O})


def case(name, inputs, slips, **changed):
    options = {**DEFAULTS, **changed}
    right = run(options, inputs, {})["O"]
    wrong = []
    for ids, variant, hooks in slips:
        record = {"mistakes": ids, "variant": variant} if variant else {"mistakes": ids}
        wrong.append(record | {"O": written(run(options, inputs, hooks)["O"])})
    figures = {name: written(value) for name, value in inputs.items()}
    return {"name": name, "options": options, "inputs": figures, "right": {"O": written(right)}, "wrong": wrong}


def main():
    pipeline.random = np.random.default_rng(61)
    cases = [
        case("one head, causal", tokens(5, 4, 3, 3), SLIPS, causal=True),
        case("2 heads, causal, residual", tokens(5, 4, 3, 3, H=2, G=2, out=4), [*SLIPS, SQUARED], heads=2, kv_heads=2,
             causal=True, residual=True),
    ]
    layout.write_cases(__file__, "Attention with mistakes of a teacher's own, by NumPy; made by own_mistakes.py", cases, np)


if __name__ == "__main__":
    main()
