"""Results that several slips give alike, by NumPy, written without a look at src/.

    python coincidences.py                 writes coincidences.json and prints what it covers

The pipeline and its steps are those of pipeline.py, the layout of a case is that of reviewed_slips.py. An entry of `wrong` has in
`mistakes` the slip that was made, and in `same_as` those that give its numbers by algebra: all of them are to be named. A shift along a
softmax row: a number added to the visible scores, or taken from the hidden ones. A permutation of keys: of keys and values, or of
the columns of the mask. A scale that happens to be another number of the exercise. `says` is what a sentence has to say, `never`
what may not be named: a cause that the numbers rule out.

Where another slip can be made as a step of its own, it is checked here to give the same numbers.
"""

import layout
import numpy as np
import pipeline
from pipeline import DEFAULTS, allowed, equal, normal, qkv, run, tokens, visible, written

PERMUTATIONS = {
    "reversed": lambda a, axis: np.flip(a, axis),
    "one later": lambda a, axis: np.roll(a, 1, axis),
    "one earlier": lambda a, axis: np.roll(a, -1, axis),
}


def hide_by(function):
    return {"hide": lambda c, S, sees: function(S, sees)}


def permuted_mask(how):
    return {"visible": lambda c: PERMUTATIONS[how](visible(c), 1)}


def permuted_keys(how):
    # The key that stood at j stands where the mask's column j is: the mask moves one way, or the keys the other.
    back = {"reversed": "reversed", "one later": "one earlier", "one earlier": "one later"}[how]

    def heads(c):
        c.k, c.v = PERMUTATIONS[back](c.k, 1), PERMUTATIONS[back](c.v, 1)
    return {"heads": heads}


def times(factor):
    return {"scale": lambda c, S: S * factor(c)}


MASKED = [
    # A shift along a row: all of these are the same but for rows that see nothing or everything.
    (["mask-inverted", "mask-positive"], "mask * -1e9 added, 1 where visible", hide_by(lambda S, sees: S + sees * -1e9),
     [hide_by(lambda S, sees: S + ~sees * 1e9)], {"rough": True}),
    (["mask-added", "mask-weak"], "1 added to what is visible", hide_by(lambda S, sees: S + sees),
     [hide_by(lambda S, sees: S - ~sees)], {}),
    # A permutation of keys.
    (["mask-reversed", "rows-shifted"], "columns reversed", permuted_mask("reversed"), [permuted_keys("reversed")], {}),
    (["mask-shifted", "rows-shifted"], "columns one later", permuted_mask("one later"), [permuted_keys("one later")], {}),
    (["mask-shifted", "rows-shifted"], "columns one earlier", permuted_mask("one earlier"),
     [permuted_keys("one earlier")], {}),
    # A number for -inf that is on no list.
    (["mask-weak"], "-6.5 in place", hide_by(lambda S, sees: np.where(sees, S, -6.5)), [], {"says": ["−6.5 in their place"]}),
    (["mask-weak"], "-2.718 added", hide_by(lambda S, sees: np.where(sees, S, S - 2.718)), [], {"says": ["−2.718 added"]}),
]

EMPTY_ROWS = [
    (["mask-finite-empty-row"], "-1e9 in place", hide_by(lambda S, sees: np.where(sees, S, -1e9)), [], {"never": ["mask-weak"]}),
    (["mask-finite-empty-row"], "-100 in place", hide_by(lambda S, sees: np.where(sees, S, -100.0)), [],
     {"never": ["mask-weak"]}),
    (["mask-finite-empty-row"], "-1e9 added", hide_by(lambda S, sees: np.where(sees, S, S - 1e9)), [],
     {"never": ["mask-weak"], "rough": True}),
]


def root(number):
    return lambda c: 1 / np.sqrt(number(c))


def layer(number):
    return times(lambda c: c.S_factor / number)


def more_keys(count):
    """Keys of zeros that fill up the length and are not masked."""
    def softmax(c, S, axis=2):
        wide = np.concatenate([S, np.zeros((*S.shape[:2], count))], axis=2)
        power = np.exp(wide - wide.max(axis=2, keepdims=True))
        return (power / power.sum(axis=2, keepdims=True))[:, :, :S.shape[2]]
    return {"softmax": softmax}


def dropout(rate, seed):
    def weights(c, A):
        return A * (np.random.default_rng(seed).random(A.shape) >= rate) / (1 - rate)
    return {"weights": weights}


def exchanged(a, b):
    def final(c, O):
        O = O.copy()
        O[a], O[b] = O[b], O[a]
        return O
    return {"final": final}


def case(name, inputs, entries, **changed):
    options = {**DEFAULTS, **changed}
    right = run(options, inputs, {})
    wrong = []
    for ids, variant, hooks, others, more in entries:
        O = run(options, inputs, hooks)["O"]
        assert not equal(O, right["O"], 1e-6), (name, variant)
        for other in others:
            near = 1e-5 if more.get("rough") else 1e-9
            assert equal(O, run(options, inputs, other)["O"], near), (name, variant)
        more = {key: value for key, value in more.items() if key != "rough"}
        same = {"same_as": ids[1:]} if len(ids) > 1 else {}
        wrong.append({"mistakes": ids[:1], "variant": variant, **same, **more, "O": written(O)})
    figures = {name: written(value) for name, value in inputs.items()}
    steps = {"O": written(right["O"])}
    if options["heads"] > 1:
        steps |= {"A": [written(block) for block in right["A"]]}
    return {"name": name, "options": options, "inputs": figures, "right": steps, "wrong": wrong}


def causal_cases():
    """Masks of every kind, with one head and several; each with a seed of its own."""
    for seed in (1, 2, 3):
        pipeline.random = np.random.default_rng(seed)
        yield case(f"causal, one head, {seed}", qkv(5, 5, 4, 4), MASKED, causal=True)
        yield case(f"causal, 4 heads, 2 of keys, {seed}", tokens(6, 16, 4, 4, H=4, G=2, out=16), MASKED, heads=4, kv_heads=2,
                   causal=True)
        padded = tokens(6, 8, 4, 4, H=2, G=2, out=8, mask=np.tile(allowed("111100"), (6, 1)))
        # Where every query sees the same keys, 1 added to them, or rolled keys, have further names.
        yield case(f"padding, 2 heads, {seed}", padded, MASKED, heads=2, kv_heads=2, mask_kind="allow")


def other_cases():
    pipeline.random = np.random.default_rng(4)
    yield case("left padding and causal: rows that see nothing",
               tokens(5, 8, 4, 4, H=2, G=2, out=8, mask=np.tile(allowed("00111"), (5, 1)) & np.tri(5, dtype=bool)), EMPTY_ROWS,
               heads=2, kv_heads=2, mask_kind="allow")
    yield case("6 tokens of heads of 4: 6 is T and 3 √d_k", tokens(6, 8, 4, 4, H=2, G=2, out=8), [
        (["scale-by-length"], "and by the number of the layer, 3", layer(3), [times(lambda c: 1 / c.T)],
         {"says": ["Here 6 is T and 3 · √d_k."]}),
        (["temperature"], "and by the number of the layer, 5", layer(5), [], {"says": ["Here 10 is 5 · √d_k."]}),
    ], heads=2, kv_heads=2)
    yield case("2 heads of 6 in tokens of 8: 2 is H and the root of E/H", tokens(5, 8, 6, 6, H=2, G=2, out=8), [
        (["scale-by-heads"], "the root of E/H", times(root(lambda c: c.E / c.H)), [times(lambda c: 1 / c.H)],
         {"says": ["Here 2 is H and √(d_model/H)."]}),
    ], heads=2, kv_heads=2)
    yield case("no scale, a bias of the scores", qkv(5, 5, 4, 3, bias=normal(5, 5)), [
        (["scale-unasked"], "divided by the root of d_k all the same",
         {"score": lambda c: c.q @ c.k.swapaxes(1, 2) / np.sqrt(c.d_k)}, [], {}),
    ], scale="none")
    rows = qkv(5, 5, 4, 3)
    # Values whose columns grow give rows in order, so that sorting is what exchanging two cells of one row is undone by.
    rows["V"] = np.sort(rows["V"], axis=1) + np.array([-3.0, 0.0, 3.0])
    entry = [(["numbers-exchanged"], "two cells of a row", exchanged((2, 0), (2, 2)), [], {}),
             (["numbers-exchanged"], "two cells of a column", exchanged((0, 1), (3, 1)), [], {})]
    yield case("rows in order", rows, entry)
    yield case_sorted()
    yield case("keys that fill up the length", qkv(5, 5, 4, 8), [
        (["rows-scaled"], "2 keys of zeros", more_keys(2), [], {"says": ["2 more keys with the score 0"]}),
        (["rows-scaled"], "3 keys of zeros", more_keys(3), [], {"says": ["3 more keys with the score 0"]}),
    ])
    yield case("2 heads, keys that fill up the length", tokens(6, 12, 4, 4, H=2, G=2, out=12), [
        (["rows-scaled"], "2 keys of zeros", more_keys(2), [], {"says": ["2 more keys with the score 0"]}),
    ], heads=2, kv_heads=2)
    plain = qkv(5, 5, 4, 5)
    # With V = 1 the result is the weights.
    plain["V"] = np.eye(5)
    yield case("dropout, the result is the weights", plain, [
        (["dropout"], "p = 0.1", dropout(0.1, 1), [], {"says": ["Dropout was on (p = 0.1)"]}),
        (["dropout"], "p = 0.5", dropout(0.5, 2), [], {"says": ["Dropout was on (p = 0.5)"]}),
    ])


def case_sorted():
    """A result in which one row alone is out of order, by two cells."""
    for seed in range(100):
        pipeline.random = np.random.default_rng(seed)
        inputs = qkv(5, 5, 4, 3)
        inputs["V"] = np.sort(inputs["V"], axis=1)
        inputs["V"][0] = inputs["V"][0, [2, 1, 0]] * 3
        O = run(DEFAULTS, inputs, {})["O"]
        off = [i for i in range(5) if (np.sort(O[i]) != O[i]).any()]
        if len(off) == 1 and (O[off[0], [2, 1, 0]] == np.sort(O[off[0]])).all():
            i = off[0]
            return case("one row out of order, by two cells", inputs, [
                (["numbers-exchanged", "numbers-sorted"], "these two exchanged", exchanged((i, 0), (i, 2)),
                 [{"final": lambda c, O: np.sort(O, axis=1)}], {}),
            ])
    raise AssertionError("no such result")


def main():
    np.seterr(all="ignore")
    cases = [*causal_cases(), *other_cases()]
    layout.write_cases(__file__, "Results that several slips give alike, by NumPy; made by coincidences.py", cases, np)


if __name__ == "__main__":
    main()
