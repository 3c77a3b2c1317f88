"""What students get who make other slips than those of mistakes.py, each alone: NumPy, written without a look at src/.

    python more_mistakes.py                writes more_mistakes.json and prints what it covers

Steps, options, names, the guard for rows without a visible score and the layout of the file are those of mistakes.py,
and the right pipeline is compared with the one of attend.py. An entry of `wrong` has one id in `mistakes`, and

    variant    where a slip can be made in several ways; digits for results rounded or truncated
    guard      true: a row (or whatever the softmax runs along) without any visible score has weights 0; absent: there is
               none, or its weights are NaN. Where the right mask leaves a row empty, only slips of visibility or hiding
               are recorded both ways
    O, steps   as in mistakes.py, but of the steps only those that differ from the right ones, and only in some cases
    blame      false: no slip may be blamed for these numbers (at most they are "consistent with" one)
    right      true: the verdict must be right, given the precision of the numbers
    same_as    other ids, here or in mistakes.py, that give these numbers in this case: computed, to 1e-9 (NaN equals
               NaN, so results without any number are all the same; pairs of slips are not looked at)

`unchanged` lists, per case, the slips (id, or id and variant) that can be made there and leave the result as it is.

Where a choice had to be made:

    layer-norm, rms-norm   of X before: the projections read the normalised X, the residual is X itself; of the result
                           after: after W_O and residual
    positions-added        X is replaced, so the residual has the positions too
    rotary-positions       keys count from 0, queries from their position among the keys
    bias-of-…              the vectors are drawn once (NumPy's default_rng, seeds in the code), 0.7 times standard normal
    …-negated, rows-…      what `final` does, it does after W_O and residual
    temperature            in addition to that of the options, before the mask

The ids, with `|` between id and sentence; those of right implementations and of what is never blamed come last:

    softmax-overflow             | exp of the raw scores, without the row's maximum: ∞/∞ is NaN where exp overflows.
    softmax-keepdims             | A row's sum or maximum without keepdims is spread along the wrong axis.
    softmax-unnormalised         | The exponentials are never divided by their sum.
    softmax-heads                | The softmax runs over the heads and not over the keys.
    softmax-twice                | The weights go through a second softmax.
    log-softmax                  | The logarithms of the weights mix the values.
    softmax-features             | A softmax over the features of the values or of the result.
    sigmoid-weights              | A sigmoid in place of the softmax.
    relu-weights                 | ReLU (over its sum) in place of the softmax.
    l2-normalised                | Rows of the scores, or of their exponentials, are divided by their Euclidean length.
    absolute-normalised          | Scores, or their absolute values, are divided by the sum of the absolute values.
    hard-maximum                 | The largest score of a row takes all the weight.
    uniform-weights              | Every key weighs the same.
    column-maximum               | The maximum of each column is subtracted before exp, and the rows are normalised.
    temperature                  | The scores are divided by a temperature that was not asked for.
    scale-by-length              | The scores are divided by √T or √N in place of √d_k.
    scale-by-heads               | The scores are divided by √H in place of √d_k.
    scale-by-model-width         | The scores are divided by d_model or √d_model in place of √d_k.
    scale-by-value-width         | The scores are divided by d_v or √d_v in place of √d_k.
    scale-late                   | The weights are divided by √d_k, after the softmax, in place of the scores or as well.
    scale-twice                  | Q and K are both divided by √d_k (and the scores once more).
    values-scaled                | The values are divided by √d_k, in place of the scores or as well.
    score-elementwise            | The score is Σ q_i∘k_i of equal rows, a column of numbers spread over the table.
    score-distance               | The score is the negative distance, or its square, of query and key.
    scores-negated               | The scores have the wrong sign.
    output-negated               | The result has the wrong sign.
    weights-turned               | Aᵀ V in place of A V.
    projection-transposed        | One of W_Q, W_K, W_V alone is transposed.
    output-projection-transposed | W_O is transposed.
    output-projection-twice      | W_O is applied twice.
    output-projection-per-head   | Each head is multiplied with its own diagonal block of W_O alone.
    keys-are-queries             | The keys are made with W_Q, or are the queries.
    queries-are-keys             | The queries are made with W_K, or are the keys.
    values-are-queries           | The values are made with W_Q, or are the queries.
    keys-are-values              | The keys are made with W_V, or are the values.
    keys-values-exchanged        | Keys and values are exchanged.
    heads-by-reshape             | Heads are split by reshape(H, T, d) without a transpose, and perhaps joined so as well.
    heads-interleaved-both       | Head h takes every H-th column from h on, at the split and at the join.
    columns-interleaved          | The split is right, and the join puts column 1 of all heads first, then column 2.
    heads-full-width             | One head over the full width, still divided by the √d_k of a head.
    heads-share-first            | All heads use what belongs to head 1.
    heads-averaged               | The heads' results, or their weights, are averaged.
    heads-wrong-number           | Another number of heads that divides the width.
    heads-unjoined               | The heads' results are not joined: they stand below each other.
    result-flattened             | The result is one long row or column.
    kv-head-first-only           | All query heads read the first key/value head.
    kv-heads-reversed            | The key/value heads are shared in reverse order.
    causal-off-by-one            | The causal mask is one diagonal too high or too low.
    causal-misaligned            | With T ≠ N the causal mask starts at the wrong corner.
    window-off-by-one            | The window is one wider or one narrower.
    mask-weak                    | −1 or −10 stands for −∞.
    mask-positive                | +1e9 or +∞ stands for −∞.
    mask-finite-empty-row        | −1e9 stands for −∞, and a row that sees nothing gets weights all the same.
    mask-on-queries              | The padding mask hides queries, as (T, 1), in place of keys or as well.
    mask-one-row                 | One row of the mask, or what all its rows have in common, stands for all rows.
    mask-one-column              | One column of the mask stands for all columns.
    mask-twice                   | A mask that does not hide (times 0, plus 0 or 1) is applied again to the weights.
    mask-unasked                 | A causal mask or a window that nobody asked for.
    padding-zeroed               | Padded rows of X, K or V are set to 0, and no mask is used.
    padded-outputs-zeroed        | The result's rows of padded tokens are set to 0.
    layer-norm                   | Layer norm (eps 1e-5, no weights) of X before or of the result after.
    rms-norm                     | RMS norm (eps 1e-5, no weights) of X before or of the result after.
    positions-added              | Sinusoidal positions are added to X, once or twice.
    rotary-positions             | Queries and keys are rotated by their positions (RoPE), in either pairing.
    residual-doubled             | The residual is added twice.
    residual-inside              | The residual is added before W_O.
    residual-normalised          | The residual is the normalised X.
    residual-subtracted          | Result minus residual, or residual minus result.
    residual-multiplied          | Result times residual.
    rows-reversed                | The rows of the result stand in reverse order.
    rows-off-by-one              | A loop over the rows is off by one: a row is missing, another stands twice.
    bias-of-values               | A bias (nn.Linear) of the values: the same vector added to each row of V.
    bias-of-output               | A bias of the result: the same vector added to each row.
    result-truncated             | The result is cut off after some decimals and not rounded.
    keys-reshaped                | K is reshaped to (d_k, N) in place of being transposed.
    dot-scores                   | Dot products in place of cosines.
    bias-misused                 | The bias is left out, subtracted, added twice, before the scale or to the weights.
    linear-attention             | φ(Q) φ(K)ᵀ over its sum in place of the softmax.
    tokens-scaled                | X is multiplied by √d_model, or by another number, before the projections.
    rows-shifted                 | The rows of Q, K or V are rolled by one, or stand in reverse order.
    columns-standardised         | The columns of X or of the result are standardised.
    residual-scaled              | X is added half, or three times.
    heads-weighted               | A head is missing, or counts twice.
    rows-scaled                  | Each row of the weights is divided by another number of its own.
    rows-reordered               | The rows of the result are rolled.
    columns-reordered            | The columns of the result are rolled.
    result-incomplete            | Rows or columns of the result are missing.

    bias-of-queries              | A bias of the queries: never blamed.
    bias-of-keys                 | A bias of the keys, which changes S but, as it shifts whole rows of S, not O: right.
    biases-left-in               | nn.Linear with its biases, in all projections at once: never blamed.
    dropout                      | Dropout of the weights or of the result, p = 0.1: never blamed.
    noise                        | Gaussian noise of size 1e-3: never blamed.
    half-precision               | float16 at every step, or a result stored as float16 or bfloat16: right, at half precision.
    result-rounded               | The right result to 1, 2, 3 or 4 decimals: right.
    right-float32                | Computed in float32.
    right-order                  | (Vᵀ Aᵀ)ᵀ, and the products in another order.
    right-minus-1e9              | −1e9 for −∞, where every row sees something.
    right-minus-1e4              | −1e4 for −∞, with small scores.
    right-late-renormalised      | Softmax without the mask, then weights times mask over their sum.
    right-mask-twice             | The mask before the softmax, and its 0 and 1 again after it.
    right-no-maximum             | exp of small scores without their maximum.
    right-global-maximum         | The largest of all scores is subtracted in every row.
    right-scaled-queries         | Q is divided by √d_k, or Q and K by the fourth root of d_k.
    right-base-2                 | Powers of 2 of scores times log2 e.
    right-blocks                 | Two keys at a time with a running maximum and sum, as FlashAttention does.
    right-einsum                 | All heads at once by reshape, transpose and einsum.
    right-loops                  | Loops over Python numbers, with math.fsum.
    right-log-sum-exp            | exp(S − log Σ exp S).
    right-divided-late           | The mixture is divided by the sum of the exponentials, after it.
    right-heads-summed           | Σ over the heads of O_h times its rows of W_O.
    right-folded                 | Scores as X (W_Q W_Kᵀ) Xᵀ, values as X (W_V W_O).
"""

import math
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType, SimpleNamespace

import layout
import numpy as np

HERE = Path(__file__).parent
DEFAULTS = {
    "heads": 1, "kv_heads": 1, "score": "dot", "scale": "auto", "temperature": 1.0, "causal": False, "causal_from": "end",
    "window": None, "mask_kind": None, "residual": False,
}
SENTENCES = {line.split("|")[0].strip(): line.split("|")[1].strip()
             for line in __doc__.splitlines() if line.startswith("    ") and " | " in line}
random = np.random.default_rng(23)
cases = []
slips = []


class DoesNotGoOn(Exception):
    """The shapes of this slip do not fit the rest of the pipeline."""


def need(condition):
    if not condition:
        raise DoesNotGoOn


# The pipeline: each step is a function of the context `c` that a slip may replace.

def keep(c, value=None):
    return value


def project(c, name):
    return c.X @ c.given[f"W_{name}"] if "X" in c.given else c.given[name]


def split(c, matrix, count):
    need(matrix.shape[1] % count == 0)
    return np.stack(np.split(matrix, count, axis=1))


def share(c):
    return [h * c.G // c.H for h in range(c.H)]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def score(c):
    q, k = (unit(c.q), unit(c.k)) if c.options["score"] == "cosine" else (c.q, c.k)
    return q @ k.swapaxes(1, 2)


def scale(c, S):
    return S * c.S_factor


def visible(c, later=0, causal=None, window=0, start=None, mask=True):
    """What each query may read; the arguments say what differs from the options."""
    start = c.options["causal_from"] == "start" if start is None else start
    window = c.options["window"] if window == 0 else window
    p = np.arange(c.T)[:, None] + (0 if start else c.N - c.T)
    j = np.arange(c.N)[None, :]
    sees = np.ones((c.T, c.N), dtype=bool)
    if c.options["causal"] if causal is None else causal:
        sees &= j <= p + later
    if window is not None:
        sees &= abs(p - j) < window
    if mask and c.options["mask_kind"] is not None:
        sees &= c.mask
    return sees


def hide(c, S, sees):
    return np.where(sees, S, -np.inf)


def guarded(c, S, A, axis=2):
    return np.where(np.isneginf(S).all(axis=axis, keepdims=True), 0.0, A).astype(A.dtype) if c.guard else A


def softmax(c, S, axis=2):
    power = np.exp(S - S.max(axis=axis, keepdims=True))
    return guarded(c, S, power / power.sum(axis=axis, keepdims=True), axis)


def mix(c, A):
    return A @ c.v


def merge(c, mixed):
    return np.concatenate(list(mixed), axis=1)


def out(c, C):
    if "W_O" not in c.given:
        return C
    need(C.shape[1] == len(c.given["W_O"]))
    return C @ c.given["W_O"]


def residual(c, O):
    if not c.options["residual"]:
        return O
    need(O.shape == c.given["X"].shape)
    return O + c.given["X"]


STEPS = {
    "start": keep, "project": project, "projected": keep, "split": split, "share": share, "heads": keep, "score": score,
    "scale": scale, "bias": lambda c, S: S + c.given["bias"], "visible": visible, "hide": hide, "scores": keep, "softmax": softmax, "weights": keep, "mix": mix,
    "mixed": keep, "merge": merge, "out": out, "residual": residual, "final": keep,
}


def facts(options, inputs):
    """What a slip may need to know about the exercise."""
    given = {name: value for name, value in inputs.items() if name != "mask"}
    H, G = options["heads"], options["kv_heads"]
    q = given["W_Q"] if "X" in given else given["Q"]
    v = given["W_V"] if "X" in given else given["V"]
    mask = inputs.get("mask")
    if mask is not None and options["mask_kind"] == "block":
        mask = ~mask
    c = SimpleNamespace(
        options=options, given=given, mask=mask, H=H, G=G, d_k=q.shape[1] // H, d_v=v.shape[1] // G,
        T=len(given["X" if "X" in given else "Q"]), N=len(given["X" if "X" in given else "K"]),
        tokens="X" in given, E=given["X"].shape[1] if "X" in given else q.shape[1], X=given.get("X"),
        auto=options["scale"] == "auto", causal=options["causal"], guard=True, split_done=False)
    c.masked = options["causal"] or options["window"] is not None or mask is not None
    c.sees = visible(c)
    c.empty = not c.sees.any(axis=1).all()
    c.keys = mask[0] if mask is not None and (mask == mask[0]).all() else None
    return c


def run(options, inputs, hooks, guard=True):
    """Every step by name; the steps of several heads as one array with the heads in front."""
    step = {**STEPS, **hooks}
    c = facts(options, dict(inputs))
    c.guard = guard
    step["start"](c)
    c.Q, c.K, c.V = (step["project"](c, name) for name in "QKV")
    step["projected"](c)
    c.q, c.k, c.v = step["split"](c, c.Q, c.H), step["split"](c, c.K, c.G), step["split"](c, c.V, c.G)
    source = step["share"](c)
    c.k, c.v = c.k[source], c.v[source]
    step["heads"](c)
    c.S_factor = {"none": 1.0, "auto": 1 / math.sqrt(c.q.shape[2])}.get(options["scale"], options["scale"])
    steps = {}
    S = steps["S"] = step["score"](c)
    if options["scale"] != "none":
        S = steps["S_scaled"] = step["scale"](c, S)
    if "bias" in c.given:
        S = steps["S_biased"] = step["bias"](c, S)
    S = S / options["temperature"]
    c.unmasked = S
    c.sees = np.broadcast_to(step["visible"](c), S.shape)
    S = step["hide"](c, S, c.sees)
    S = step["scores"](c, S)
    if c.masked:
        steps["S_masked"] = S
    A = step["softmax"](c, S)
    A = steps["A"] = step["weights"](c, A)
    mixed = step["mix"](c, A)
    mixed = steps["O_h"] = step["mixed"](c, mixed)
    C = steps["C"] = step["merge"](c, mixed)
    O = step["out"](c, C)
    O = step["residual"](c, O)
    steps["O"] = np.atleast_2d(step["final"](c, O))
    need(steps["O"].ndim == 2)
    return steps


# The slips.

def slip(name, variant=None, when=lambda c: True, **more):
    """`sight`: about visibility; `blame`, `right`: see the file's head; the rest replaces steps of the pipeline."""
    assert name in SENTENCES, name
    entry = {"name": name, "variant": variant, "when": when, "blame": True, "right": False, "sight": False}
    entry |= {key: more.pop(key) for key in ("blame", "right", "sight") if key in more}
    assert not set(more) - set(STEPS), more.keys()
    slips.append({**entry, "hooks": more})


def by_head(function):
    """A step written for one head, for each head."""
    return lambda c, S: np.stack([function(c, block) for block in S])


def times(factor):
    return lambda c, S: S * factor(c)


def change(name, function):
    """A start that replaces one of the inputs."""
    def start(c):
        need(name in c.given)
        c.given = {**c.given, name: function(c, c.given[name])}
    return start


def see(function):
    return lambda c: function(c)


def normed(rows, kind="layer"):
    centred = rows - rows.mean(axis=-1, keepdims=True) if kind == "layer" else rows
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + 1e-5)


def sinusoids(T, E):
    angle = np.arange(T)[:, None] / 10000 ** (2 * (np.arange(E) // 2) / E)
    return np.where(np.arange(E) % 2 == 0, np.sin(angle), np.cos(angle))


def rotated(c, rows, halves, offset):
    d = rows.shape[2]
    need(d % 2 == 0)
    angle = (np.arange(rows.shape[1]) + offset)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = (slice(0, d // 2), slice(d // 2, d)) if halves else (slice(0, d, 2), slice(1, d, 2))
    turned = np.empty_like(rows)
    turned[:, :, first] = rows[:, :, first] * cos - rows[:, :, second] * sin
    turned[:, :, second] = rows[:, :, first] * sin + rows[:, :, second] * cos
    return turned


def constant(width, seed):
    return np.round(np.random.default_rng(seed).standard_normal(width) * 0.7, 2)


def of_softmax():
    def naive(c, S, kind=np.float64):
        power = np.exp(S.astype(kind))
        return guarded(c, S, power / power.sum(axis=2, keepdims=True))

    slip("softmax-overflow", "float64", softmax=naive)
    slip("softmax-overflow", "float32", softmax=lambda c, S: naive(c, S, np.float32))

    def spread(sums, maxima):
        def function(c, S):
            need(S.shape[0] == S.shape[1])
            shift = {"right": S.max(axis=1, keepdims=True), "spread": S.max(axis=1), "none": 0.0}[maxima]
            power = np.exp(S - shift)
            return power / (power.sum(axis=1) if sums else power.sum(axis=1, keepdims=True))
        return by_head(function)

    slip("softmax-keepdims", "sum", softmax=spread(True, "right"))
    slip("softmax-keepdims", "sum, without maximum", softmax=spread(True, "none"))
    slip("softmax-keepdims", "maximum", softmax=spread(False, "spread"))
    slip("softmax-keepdims", "both", softmax=spread(True, "spread"))
    slip("softmax-unnormalised", "without maximum", softmax=lambda c, S: np.exp(S))
    slip("softmax-unnormalised", "after the maximum",
         softmax=lambda c, S: guarded(c, S, np.exp(S - S.max(axis=2, keepdims=True))))
    slip("softmax-heads", when=lambda c: c.H > 1, softmax=lambda c, S: softmax(c, S, axis=0))
    slip("softmax-twice", softmax=lambda c, S: softmax(c, softmax(c, S)))
    slip("softmax-twice", "masked again", when=lambda c: c.masked,
         softmax=lambda c, S: softmax(c, np.where(c.sees, softmax(c, S), -np.inf)))

    def logs(c, S):
        shifted = S - S.max(axis=2, keepdims=True)
        return guarded(c, S, shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True)))

    slip("log-softmax", softmax=logs)
    slip("log-softmax", "hidden as 0", when=lambda c: c.masked,
         softmax=lambda c, S: np.where(c.sees, logs(c, S), 0.0))

    def of_features(rows):
        power = np.exp(rows - rows.max(axis=-1, keepdims=True))
        return power / power.sum(axis=-1, keepdims=True)

    def soft_values(c):
        c.v = of_features(c.v)

    slip("softmax-features", "of the values", heads=soft_values)
    slip("softmax-features", "of the result", final=lambda c, O: of_features(O))
    slip("softmax-features", "of the result, in place of the weights",
         softmax=lambda c, S: np.where(c.sees, S, 0.0), final=lambda c, O: of_features(O))

    def plain(name, variant, function):
        """In place of the softmax, with −∞ in hidden places as they stand or, if the student saw the NaN, with 0."""
        slip(name, variant, softmax=lambda c, S: function(c, S))
        slip(name, f"{variant}, hidden as 0" if variant else "hidden as 0", when=lambda c: c.masked,
             softmax=lambda c, S: function(c, np.where(c.sees, S, 0.0)))

    def sigmoid(c, S):
        return 1 / (1 + np.exp(-S))

    slip("sigmoid-weights", softmax=sigmoid)
    slip("sigmoid-weights", "over its sum",
         softmax=lambda c, S: guarded(c, S, sigmoid(c, S) / sigmoid(c, S).sum(axis=2, keepdims=True)))
    slip("relu-weights", "over its sum",
         softmax=lambda c, S: np.maximum(S, 0) / np.maximum(S, 0).sum(axis=2, keepdims=True))
    slip("relu-weights", "over its sum plus 1e-9",
         softmax=lambda c, S: np.maximum(S, 0) / (np.maximum(S, 0).sum(axis=2, keepdims=True) + 1e-9))
    slip("relu-weights", "not divided", softmax=lambda c, S: np.maximum(S, 0))
    plain("l2-normalised", "scores", lambda c, S: S / np.sqrt((S ** 2).sum(axis=2, keepdims=True)))

    def length(c, S):
        power = np.exp(S - S.max(axis=2, keepdims=True))
        return guarded(c, S, power / np.sqrt((power ** 2).sum(axis=2, keepdims=True)))

    slip("l2-normalised", "exponentials", softmax=length)
    plain("absolute-normalised", "absolute values", lambda c, S: np.abs(S) / np.abs(S).sum(axis=2, keepdims=True))
    plain("absolute-normalised", "scores", lambda c, S: S / np.abs(S).sum(axis=2, keepdims=True))
    slip("hard-maximum",
         softmax=lambda c, S: guarded(c, S, np.eye(c.N)[S.argmax(axis=2)]))
    slip("uniform-weights", sight=True, softmax=lambda c, S: guarded(c, S, c.sees / c.sees.sum(axis=2, keepdims=True)))
    slip("uniform-weights", "over hidden keys too", when=lambda c: c.masked,
         softmax=lambda c, S: np.full(S.shape, 1 / c.N))

    def columns(c, S):
        power = np.exp(S - S.max(axis=1, keepdims=True))
        return guarded(c, S, power / power.sum(axis=2, keepdims=True))

    slip("column-maximum", softmax=columns)
    for value in (0.5, 2, 0.1, 0.73):
        slip("temperature", str(value), scores=lambda c, S, value=value: S / value)


def of_scale():
    def instead(name, variant, size, when=lambda c: True):
        slip(name, variant, when=lambda c: c.auto and when(c), scale=lambda c, S: S / size(c))

    instead("scale-by-length", "sqrt(T)", lambda c: math.sqrt(c.T))
    instead("scale-by-length", "sqrt(N)", lambda c: math.sqrt(c.N), lambda c: c.T != c.N)
    instead("scale-by-heads", "sqrt(H)", lambda c: math.sqrt(c.H), lambda c: c.H > 1)
    instead("scale-by-model-width", "d_model", lambda c: c.E, lambda c: c.tokens or c.H > 1)
    instead("scale-by-model-width", "sqrt(d_model)", lambda c: math.sqrt(c.E), lambda c: c.tokens or c.H > 1)
    instead("scale-by-value-width", "sqrt(d_v)", lambda c: math.sqrt(c.d_v))
    instead("scale-by-value-width", "d_v", lambda c: c.d_v)
    slip("scale-late", "in place of the scores", when=lambda c: c.auto, scale=keep, weights=times(lambda c: c.S_factor))
    slip("scale-late", "as well", when=lambda c: c.auto, weights=times(lambda c: c.S_factor))

    def both(c):
        c.q, c.k = c.q / math.sqrt(c.q.shape[2]), c.k / math.sqrt(c.k.shape[2])

    slip("scale-twice", "Q and K", when=lambda c: c.auto, heads=both, scale=keep)
    slip("scale-twice", "Q, K and the scores", when=lambda c: c.auto, heads=both)

    def values(c):
        c.v = c.v / math.sqrt(c.q.shape[2])

    slip("values-scaled", "in place of the scores", when=lambda c: c.auto, heads=values, scale=keep)
    slip("values-scaled", "as well", when=lambda c: c.auto, heads=values)


def of_scores():
    def equal_rows(c):
        need(c.T == c.N)
        return (c.q * c.k).sum(axis=2)

    slip("score-elementwise", "as a column", score=lambda c: np.repeat(equal_rows(c)[:, :, None], c.N, axis=2))
    slip("score-elementwise", "as a row", score=lambda c: np.repeat(equal_rows(c)[:, None, :], c.T, axis=1))

    def squares(c):
        return ((c.q[:, :, None] - c.k[:, None]) ** 2).sum(axis=3)

    slip("score-distance", "squared", score=lambda c: -squares(c))
    slip("score-distance", "distance", score=lambda c: -np.sqrt(squares(c)))
    slip("scores-negated", score=lambda c: -score(c))
    slip("output-negated", final=lambda c, O: -O)

    def turned(c, A):
        need(c.T == c.N)
        return A.swapaxes(1, 2) @ c.v

    slip("weights-turned", mix=turned)


def of_projections():
    for name in "QKV":
        slip("projection-transposed", f"W_{name}", start=change(f"W_{name}", lambda c, W: W.T))

    def other_out(function):
        def step(c, C):
            need("W_O" in c.given and C.shape[1] == len(c.given["W_O"]))
            return function(c, C, c.given["W_O"])
        return step

    slip("output-projection-transposed", out=other_out(lambda c, C, W: C @ W.T))
    slip("output-projection-twice", out=other_out(lambda c, C, W: C @ W @ W))

    def diagonal(c, C, W):
        need(c.H > 1)
        return np.concatenate([part @ np.split(rows, c.H, axis=1)[h] for h, (part, rows) in
                               enumerate(zip(np.split(C, c.H, axis=1), np.split(W, c.H, axis=0)))], axis=1)

    slip("output-projection-per-head", out=other_out(diagonal))

    def taken(**instead):
        def projected(c):
            new = {name: getattr(c, other) for name, other in instead.items()}
            for name, value in new.items():
                need(len(value) == len(getattr(c, name)))
                if name == "Q" or name == "K":
                    need(value.shape[1] == getattr(c, name).shape[1])
                setattr(c, name, value)
        return projected

    slip("keys-are-queries", projected=taken(K="Q"))
    slip("queries-are-keys", projected=taken(Q="K"))
    slip("values-are-queries", projected=taken(V="Q"), when=lambda c: c.G == c.H)
    slip("keys-are-values", projected=taken(K="V"))
    slip("keys-values-exchanged", projected=taken(K="V", V="K"))


def of_heads():
    several = {"when": lambda c: c.H > 1}

    def reshaped(c, matrix, count):
        need(matrix.shape[1] % count == 0)
        return matrix.reshape(count, len(matrix), -1)

    slip("heads-by-reshape", "split", **several, split=reshaped)
    slip("heads-by-reshape", "split and join", **several, split=reshaped,
         merge=lambda c, mixed: mixed.reshape(c.T, -1))

    def every(c, matrix, count):
        need(matrix.shape[1] % count == 0)
        return np.stack([matrix[:, h::count] for h in range(count)])

    def by_column(c, mixed):
        return mixed.transpose(1, 2, 0).reshape(c.T, -1)

    slip("heads-interleaved-both", **several, split=every, merge=by_column)
    slip("columns-interleaved", **several, merge=by_column)

    def counts(H, G):
        def start(c):
            c.H, c.G = H, G
        return start

    slip("heads-full-width", when=lambda c: c.H > 1 and c.G == c.H, start=counts(1, 1),
         scale=lambda c, S: S / math.sqrt(c.d_k))

    def first(*names):
        def heads(c):
            for name in names:
                setattr(c, name, np.repeat(getattr(c, name)[:1], c.H, axis=0))
        return heads

    slip("heads-share-first", "all three", **several, heads=first("q", "k", "v"))
    slip("heads-share-first", "queries", **several, heads=first("q"))
    slip("heads-share-first", "keys", **several, heads=first("k"))
    slip("heads-share-first", "values", **several, heads=first("v"))
    slip("heads-share-first", "weights", **several, weights=lambda c, A: np.repeat(A[:1], c.H, axis=0))
    slip("heads-averaged", "results", **several, merge=lambda c, mixed: mixed.mean(axis=0))
    slip("heads-averaged", "weights", **several, weights=lambda c, A: np.repeat(A.mean(axis=0, keepdims=True), c.H, axis=0))
    for H in (1, 2, 3, 4, 6, 8):
        slip("heads-wrong-number", f"{H}", when=lambda c, H=H: c.H > 1 and c.H != H and c.G == c.H, start=counts(H, H))
    for H, G in ((2, 1), (4, 1), (4, 4), (2, 2), (8, 4)):
        slip("heads-wrong-number", f"{H} over {G}",
             when=lambda c, H=H, G=G: 1 <= c.G < c.H and (c.H, c.G) != (H, G), start=counts(H, G))

    unjoined = {"out": keep, "residual": keep}
    slip("heads-unjoined", "head by head", **several, **unjoined, merge=lambda c, mixed: np.concatenate(list(mixed)))
    slip("heads-unjoined", "token by token", **several, **unjoined,
         merge=lambda c, mixed: mixed.transpose(1, 0, 2).reshape(c.T * c.H, -1))
    slip("heads-unjoined", "head by head, transposed", **several, **unjoined,
         merge=lambda c, mixed: np.concatenate(list(mixed)).T)
    slip("result-flattened", "one row", final=lambda c, O: O.reshape(1, -1))
    slip("result-flattened", "one column", final=lambda c, O: O.reshape(-1, 1))
    grouped = {"when": lambda c: 1 < c.G < c.H}
    slip("kv-head-first-only", **grouped, share=lambda c: [0] * c.H)
    slip("kv-heads-reversed", **grouped, share=lambda c: share(c)[::-1])


def of_masks():
    sight = {"sight": True}
    causal = {"when": lambda c: c.causal, **sight}
    slip("causal-off-by-one", "one later key", **causal, visible=see(lambda c: visible(c, later=1)))
    slip("causal-off-by-one", "one key less", **causal, visible=see(lambda c: visible(c, later=-1)))
    slip("causal-misaligned", when=lambda c: c.causal and c.T != c.N, **sight,
         visible=see(lambda c: visible(c, start=c.options["causal_from"] == "end")))
    windowed = {"when": lambda c: c.options["window"] is not None, **sight}
    slip("window-off-by-one", "one wider", **windowed, visible=see(lambda c: visible(c, window=c.options["window"] + 1)))
    slip("window-off-by-one", "one narrower", **windowed, visible=see(lambda c: visible(c, window=c.options["window"] - 1)))

    masked = {"when": lambda c: c.masked}

    def put(value):
        return lambda c, S, sees: np.where(sees, S, value)

    def add(value):
        return lambda c, S, sees: np.where(sees, S, S + value)

    for value in (-1, -10):
        slip("mask-weak", f"{value} in place", **masked, hide=put(value))
        slip("mask-weak", f"{value} added", **masked, hide=add(value))
    slip("mask-positive", "1e9 in place", **masked, hide=put(1e9))
    slip("mask-positive", "1e9 added", **masked, hide=add(1e9))
    slip("mask-positive", "inf", **masked, hide=put(np.inf))
    empty = {"when": lambda c: c.empty}
    slip("mask-finite-empty-row", "in place", **empty, hide=put(-1e9))
    slip("mask-finite-empty-row", "added", **empty, hide=add(-1e9))

    padded = {"when": lambda c: c.keys is not None and c.T == c.N, **sight}
    slip("mask-on-queries", "queries", **padded, visible=see(lambda c: visible(c, mask=False) & c.keys[:, None]))
    slip("mask-on-queries", "queries and keys", **padded, visible=see(lambda c: visible(c) & c.keys[:, None]))
    slip("mask-on-queries", "queries, -1e9", **padded, visible=see(lambda c: visible(c, mask=False) & c.keys[:, None]),
         hide=put(-1e9))
    table = {"when": lambda c: c.mask is not None and c.keys is None, **sight}

    def instead(function):
        return lambda c: visible(c, mask=False) & function(c)

    slip("mask-one-row", "first row", **table, visible=instead(lambda c: c.mask[:1]))
    slip("mask-one-row", "last row", **table, visible=instead(lambda c: c.mask[-1:]))
    slip("mask-one-row", "any row", **table, visible=instead(lambda c: c.mask.any(axis=0, keepdims=True)))
    slip("mask-one-column", "first column", **table, visible=instead(lambda c: c.mask[:, :1]))
    slip("mask-one-column", "last column", **table, visible=instead(lambda c: c.mask[:, -1:]))
    slip("mask-one-column", "any column", **table, visible=instead(lambda c: c.mask.any(axis=1, keepdims=True)))
    again = {"weights": lambda c, A: np.where(c.sees, A, 0.0)}
    slip("mask-twice", "times 0, then weights", **masked, hide=put(0.0), **again)
    slip("mask-twice", "plus 0 or 1, then weights", **masked, hide=lambda c, S, sees: S + sees, **again)

    free = {"when": lambda c: not c.causal, **sight}
    slip("mask-unasked", "causal", **free, visible=see(lambda c: visible(c, causal=True)))
    slip("mask-unasked", "causal from the start", when=lambda c: not c.causal and c.T != c.N, **sight,
         visible=see(lambda c: visible(c, causal=True, start=True)))
    open_ = {"when": lambda c: c.options["window"] is None, **sight}
    for width in (2, 3):
        slip("mask-unasked", f"window {width}", **open_, visible=lambda c, width=width: visible(c, window=width))
    slip("mask-unasked", "causal, window 2", when=lambda c: c.options["window"] is None and not c.causal, **sight,
         visible=lambda c: visible(c, causal=True, window=2))

    unmasked = {"visible": see(lambda c: visible(c, mask=False))}

    def zeroed(rows, c):
        return np.where(c.keys[:, None], rows, 0.0)

    def zero_tokens(c):
        c.X = zeroed(c.X, c)

    def zero_rows(*names):
        def projected(c):
            for name in names:
                setattr(c, name, zeroed(getattr(c, name), c))
        return projected

    key_mask = {"when": lambda c: c.keys is not None, **sight}
    slip("padding-zeroed", "X", when=lambda c: c.keys is not None and c.tokens, **sight, start=zero_tokens, **unmasked)
    slip("padding-zeroed", "K", **key_mask, projected=zero_rows("K"), **unmasked)
    slip("padding-zeroed", "V", **key_mask, projected=zero_rows("V"), **unmasked)
    slip("padding-zeroed", "K and V", **key_mask, projected=zero_rows("K", "V"), **unmasked)
    slip("padded-outputs-zeroed", **padded, final=lambda c, O: np.where(c.keys[:, None], O, 0.0))
    slip("padded-outputs-zeroed", "without a mask", **padded, **unmasked,
         final=lambda c, O: np.where(c.keys[:, None], O, 0.0))


def of_tokens():
    tokens = {"when": lambda c: c.tokens}

    def norm_tokens(kind):
        def start(c):
            c.X = normed(c.X, kind)
        return start

    for name, kind in (("layer-norm", "layer"), ("rms-norm", "rms")):
        slip(name, "X, before", **tokens, start=norm_tokens(kind))
        slip(name, "result, after", final=lambda c, O, kind=kind: normed(O, kind))

    def positions(count):
        def start(c):
            c.given = {**c.given, "X": c.X + count * sinusoids(c.T, c.E)}
            c.X = c.given["X"]
        return start

    slip("positions-added", "once", **tokens, start=positions(1))
    slip("positions-added", "twice", **tokens, start=positions(2))

    def rotary(halves):
        def heads(c):
            c.q = rotated(c, c.q, halves, 0 if c.options["causal_from"] == "start" else c.N - c.T)
            c.k = rotated(c, c.k, halves, 0)
        return heads

    slip("rotary-positions", "neighbours", heads=rotary(False))
    slip("rotary-positions", "halves", heads=rotary(True), when=lambda c: c.d_k > 2)

    def kept(function, when=lambda c: True):
        return {"when": lambda c: c.options["residual"] and when(c), "residual": lambda c, O: function(O, c.given["X"])}

    slip("residual-doubled", **kept(lambda O, X: O + 2 * X))

    def inside(c, C):
        need(C.shape == c.given["X"].shape)
        return (C + c.given["X"]) @ c.given["W_O"]

    slip("residual-inside", **kept(lambda O, X: O, lambda c: "W_O" in c.given), out=inside)
    slip("residual-normalised", "layer norm", **kept(lambda O, X: O + normed(X)))
    slip("residual-normalised", "RMS norm", **kept(lambda O, X: O + normed(X, "rms")))
    slip("residual-subtracted", "result minus residual", **kept(lambda O, X: O - X))
    slip("residual-subtracted", "residual minus result", **kept(lambda O, X: X - O))
    slip("residual-multiplied", **kept(lambda O, X: O * X))
    slip("rows-reversed", final=lambda c, O: O[::-1])
    slip("rows-off-by-one", "first row missing", final=lambda c, O: np.concatenate([O[1:], O[-1:]]))
    slip("rows-off-by-one", "last row not reached", final=lambda c, O: np.concatenate([O[:-1], O[-2:-1]]))
    slip("rows-off-by-one", "first row twice", final=lambda c, O: np.concatenate([O[:1], O[:-1]]))

    def biased(name, seed):
        def projected(c):
            matrix = getattr(c, name)
            setattr(c, name, matrix + constant(matrix.shape[1], seed))
        return projected

    slip("bias-of-values", projected=biased("V", 1))
    slip("bias-of-output", final=lambda c, O: O + constant(O.shape[1], 2))
    for digits in (1, 2, 3, 4):
        slip("result-truncated", digits, final=lambda c, O, digits=digits: np.trunc(O * 10 ** digits) / 10 ** digits)

    never = {"blame": False}
    slip("bias-of-queries", **never, projected=biased("Q", 3))
    slip("bias-of-keys", **never, right=True, projected=biased("K", 4))

    def all_biased(c):
        for name, seed in (("Q", 3), ("K", 4), ("V", 1)):
            biased(name, seed)(c)

    slip("biases-left-in", "Q, K, V", **never, projected=all_biased)
    slip("biases-left-in", "Q, K, V and output", **never, projected=all_biased,
         final=lambda c, O: O + constant(O.shape[1], 2))

    def dropped(array, seed):
        return array * (np.random.default_rng(seed).random(array.shape) >= 0.1) / 0.9

    slip("dropout", "weights", **never, weights=lambda c, A: dropped(A, 6))
    slip("dropout", "result", **never, final=lambda c, O: dropped(O, 7))
    slip("noise", **never, final=lambda c, O: O + 1e-3 * np.random.default_rng(8).standard_normal(O.shape))


def of_more():
    def reshaped(c):
        need(c.options["score"] == "dot")
        return c.q @ c.k.reshape(len(c.k), c.k.shape[2], c.k.shape[1])

    slip("keys-reshaped", score=reshaped, when=lambda c: c.N > 1 and c.d_k > 1)
    slip("dot-scores", score=lambda c: c.q @ c.k.swapaxes(1, 2), when=lambda c: c.options["score"] == "cosine")

    biased = {"when": lambda c: "bias" in c.given}
    slip("bias-misused", "left out", **biased, bias=keep)
    slip("bias-misused", "subtracted", **biased, bias=lambda c, S: S - c.given["bias"])
    slip("bias-misused", "twice", **biased, bias=lambda c, S: S + 2 * c.given["bias"])
    slip("bias-misused", "before the scale", **biased, bias=lambda c, S: S + c.S_factor * c.given["bias"])
    slip("bias-misused", "to the weights", **biased, bias=keep, weights=lambda c, A: A + c.given["bias"])

    def linear(function, divided=True):
        def weights(c, S):
            A = np.where(c.sees, S, 0.0)
            return A / A.sum(axis=2, keepdims=True) if divided else A
        return {"score": lambda c: function(c.q) @ function(c.k).swapaxes(1, 2), "scale": keep, "softmax": weights,
                "when": lambda c: c.auto and c.options["score"] == "dot" and "bias" not in c.given and not c.empty}

    def features(rows):
        power = np.exp(rows - rows.max(axis=-1, keepdims=True))
        return power / power.sum(axis=-1, keepdims=True)

    slip("linear-attention", "softmax of the features", **linear(features))
    slip("linear-attention", "exp", **linear(np.exp))
    slip("linear-attention", "softmax of the features, not divided", **linear(features, False))

    def scaled_tokens(factor):
        def start(c):
            c.X = c.X * factor(c)
        return start

    tokens = {"when": lambda c: c.tokens}
    slip("tokens-scaled", "times the root of d_model", **tokens, start=scaled_tokens(lambda c: math.sqrt(c.E)))
    slip("tokens-scaled", "by the root of d_model", **tokens, start=scaled_tokens(lambda c: 1 / math.sqrt(c.E)))
    slip("tokens-scaled", "times 2", **tokens, start=scaled_tokens(lambda c: 2.0))

    def rolled(step, *names):
        def projected(c):
            for name in names:
                rows = getattr(c, name)
                setattr(c, name, rows[::-1] if step is None else np.roll(rows, step, axis=0))
        return projected

    for names in ("Q", "K", "V", "KV"):
        slip("rows-shifted", f"{names} one later", projected=rolled(1, *names))
        slip("rows-shifted", f"{names} one earlier", projected=rolled(-1, *names))
    slip("rows-shifted", "K reversed", projected=rolled(None, "K"))
    slip("rows-shifted", "V reversed", projected=rolled(None, "V"))

    def standardised(rows):
        centred = rows - rows.mean(axis=0)
        return centred / np.sqrt((centred ** 2).mean(axis=0) + 1e-5)

    def start(c):
        c.X = standardised(c.X)

    slip("columns-standardised", "X", **tokens, start=start)
    slip("columns-standardised", "result", final=lambda c, O: standardised(O))

    for factor in (0.5, 3.0):
        slip("residual-scaled", f"{factor:g} times", when=lambda c: c.options["residual"],
             residual=lambda c, O, factor=factor: O + factor * c.given["X"])

    def weighted(head, factor):
        return lambda c, mixed: np.stack([block * (factor if h == head else 1.0) for h, block in enumerate(mixed)])

    several = {"when": lambda c: c.H > 1}
    slip("heads-weighted", "head 2 missing", **several, mixed=weighted(1, 0.0))
    slip("heads-weighted", "head 1 twice", **several, mixed=weighted(0, 2.0))

    def wide(c):
        width = c.given["W_O"].shape[1] if "W_O" in c.given else c.H * c.d_v
        return (width > c.H and (c.d_v > 1 or "W_O" in c.given) and not c.empty and c.options["score"] == "dot"
                and (c.causal or c.options["window"] is not None or "bias" in c.given))

    slip("rows-scaled", "divided again by the number of visible keys", when=wide,
         weights=lambda c, A: A / c.sees.sum(axis=-1, keepdims=True))

    def mismatched(c, S):
        power = np.exp(S - S.max(axis=2, keepdims=True))
        return power / np.exp(S).sum(axis=2, keepdims=True)

    slip("rows-scaled", "a maximum above and none below", when=wide, softmax=mismatched)
    slip("rows-reordered", "rolled", final=lambda c, O: np.roll(O, 1, axis=0))
    slip("columns-reordered", "rolled", final=lambda c, O: np.roll(O, 1, axis=1), when=lambda c: c.d_v * c.H > 2)
    slip("result-incomplete", "without the first row", final=lambda c, O: O[1:])
    slip("result-incomplete", "without the last column", final=lambda c, O: O[:, :-1], when=lambda c: c.H == 1)
    slip("result-incomplete", "the last row", final=lambda c, O: O[-1:])


def all_as(kind):
    """A start that casts the inputs, so that every step is rounded to that type."""
    def start(c):
        c.given = {name: value.astype(kind) for name, value in c.given.items()}
        c.X = c.given.get("X")
    return {"start": start, "scale": lambda c, S: S * kind(c.S_factor)}


def brain(O):
    """To the nearest bfloat16."""
    bits = O.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def of_right():
    def right(name, variant=None, when=lambda c: True, **hooks):
        slip(name, variant, when=when, blame=False, right=True, **hooks)

    small = lambda c: small_scores(c)
    right("half-precision", "float16 at every step", small, **all_as(np.float16))
    right("half-precision", "float16 result", final=lambda c, O: O.astype(np.float16).astype(np.float64))
    right("half-precision", "bfloat16 result", final=lambda c, O: brain(O))
    for digits in (1, 2, 3, 4):
        right("result-rounded", digits, final=lambda c, O, digits=digits: np.round(O, digits))
    right("right-float32", None, small, **all_as(np.float32))
    right("right-order", mix=lambda c, A: (c.v.swapaxes(1, 2) @ A.swapaxes(1, 2)).swapaxes(1, 2),
          score=lambda c: (c.k @ c.q.swapaxes(1, 2)).swapaxes(1, 2))

    def finite(value):
        return lambda c, S, sees: np.where(sees, S, value)

    masked = lambda c: c.masked and not c.empty
    right("right-minus-1e9", None, masked, hide=finite(-1e9))
    right("right-minus-1e9", "added", masked, hide=lambda c, S, sees: np.where(sees, S, S - 1e9))
    right("right-minus-1e4", None, lambda c: masked(c) and small(c), hide=finite(-1e4))

    def renormalised(c, A):
        A = A * c.sees
        return A / A.sum(axis=2, keepdims=True)

    right("right-late-renormalised", None, lambda c: masked(c) and small(c),
          hide=lambda c, S, sees: S, weights=renormalised)
    right("right-mask-twice", None, lambda c: c.masked, weights=lambda c, A: A * c.sees)

    def powers(shift, base=np.exp):
        def function(c, S):
            power = base(S - shift(S))
            return guarded(c, S, power / power.sum(axis=2, keepdims=True))
        return function

    right("right-no-maximum", None, small, softmax=powers(lambda S: 0.0))
    right("right-global-maximum", None, small, softmax=powers(lambda S: S.max()))
    right("right-base-2", None, softmax=lambda c, S: powers(lambda S: S.max(axis=2, keepdims=True), np.exp2)(
        c, S * math.log2(math.e)))

    def scaled(power, keys):
        def heads(c):
            c.q = c.q * c.q.shape[2] ** -power
            c.k = c.k * c.k.shape[2] ** -power if keys else c.k
        return heads

    right("right-scaled-queries", "Q", lambda c: c.auto, heads=scaled(0.5, False), scale=keep)
    right("right-scaled-queries", "Q and K by the fourth root", lambda c: c.auto, heads=scaled(0.25, True), scale=keep)

    def blocks(c, S):
        """Two keys at a time; the weights, so that the mixture can be checked, from the final maximum and sum."""
        c.blocks = np.zeros((len(S), c.T, c.v.shape[2]))
        largest = np.full(S.shape[:2] + (1,), -np.inf)
        total = np.zeros_like(largest)
        for start in range(0, c.N, 2):
            part = S[:, :, start:start + 2]
            grown = np.maximum(largest, part.max(axis=2, keepdims=True))
            base = np.where(np.isneginf(grown), 0.0, grown)
            power = np.exp(part - base)
            shrink = np.exp(np.where(np.isneginf(largest), -np.inf, largest - base))
            total = total * shrink + power.sum(axis=2, keepdims=True)
            c.blocks = c.blocks * shrink + power @ c.v[:, start:start + 2]
            largest = grown
        c.blocks = c.blocks / np.where(total == 0, 1, total)
        return softmax(c, S)

    right("right-blocks", softmax=blocks, mix=lambda c, A: c.blocks)

    def reshaped(c, matrix, count):
        return matrix.reshape(len(matrix), count, -1).transpose(1, 0, 2)

    right("right-einsum", split=reshaped, score=lambda c: np.einsum("htd,hnd->htn", c.q, c.k),
          mix=lambda c, A: np.einsum("htn,hnv->htv", A, c.v),
          merge=lambda c, mixed: mixed.transpose(1, 0, 2).reshape(c.T, -1))

    def looped(c, S):
        rows = []
        for head in S.tolist():
            for row in head:
                top = max(row)
                power = [0.0 if x == -math.inf else math.exp(x - top) for x in row]
                rows.append([x / (math.fsum(power) or 1.0) for x in power])
        return np.array(rows).reshape(S.shape)

    def sums(left, right_):
        return np.array([[[math.fsum(a * b for a, b in zip(row, column)) for column in zip(*y)] for row in x]
                         for x, y in zip(left.tolist(), right_.tolist())])

    right("right-loops", score=lambda c: sums(c.q, c.k.swapaxes(1, 2)), softmax=looped, mix=lambda c, A: sums(A, c.v))

    def log_sum(c, S):
        top = S.max(axis=2, keepdims=True)
        return guarded(c, S, np.exp(S - (top + np.log(np.exp(S - top).sum(axis=2, keepdims=True)))))

    right("right-log-sum-exp", softmax=log_sum)

    def divided(c, A):
        top = np.where(np.isneginf(c.last.max(axis=2, keepdims=True)), 0.0, c.last.max(axis=2, keepdims=True))
        power = np.exp(c.last - top)
        total = power.sum(axis=2, keepdims=True)
        return (power @ c.v) / np.where(total == 0, 1, total)

    def remember(c, S):
        c.last = S
        return S

    right("right-divided-late", scores=remember, mix=divided)

    def summed(c, C):
        return sum(part @ rows for part, rows in zip(np.split(C, c.H, axis=1), np.split(c.given["W_O"], c.H)))

    right("right-heads-summed", None, lambda c: c.H > 1 and "W_O" in c.given, out=summed)

    def folded(c):
        return (c.X @ (c.given["W_Q"] @ c.given["W_K"].T) @ c.X.T)[None]

    right("right-folded", None, lambda c: c.tokens and c.H == 1 and "W_O" in c.given, score=folded,
          mix=lambda c, A: (A @ (c.X @ (c.given["W_V"] @ c.given["W_O"]))), out=keep)


def small_scores(c):
    """Whether no score of the exercise exceeds 20."""
    return c.largest < 20


# The cases.

def normal(rows, cols, size=1.0, digits=3):
    return np.round(random.standard_normal((rows, cols)) * size, digits)


def qkv(T, N, d_k, d_v, H=1, G=1, size=1.2, digits=3, **more):
    return {"Q": normal(T, H * d_k, size, digits), "K": normal(N, G * d_k, size, digits),
            "V": normal(N, G * d_v, 1.0, digits), **more}


def tokens(T, E, d_k, d_v, H=1, G=1, out=None, size=0.75, **more):
    size = 2 * size / math.sqrt(E)
    given = {"X": normal(T, E), "W_Q": normal(E, H * d_k, size), "W_K": normal(E, G * d_k, size),
             "W_V": normal(E, G * d_v, size)}
    if out is not None:
        given["W_O"] = normal(H * d_v, out, 1 / math.sqrt(H * d_v))
    return {**given, **more}


def allowed(rows):
    return np.array([[mark == "1" for mark in row] for row in rows.split()])


def written(array):
    if array.dtype == bool:
        return array.tolist()
    return [[float(f"{value:.12g}") if np.isfinite(value) else str(value) for value in row]
            for row in array.astype(np.float64).tolist()]


def named(steps):
    """The steps under the names of attend.py."""
    several = len(steps["S"]) > 1
    names = {}
    for step, value in steps.items():
        if step in ("C", "O"):
            names[step] = written(value)
        elif several:
            names |= {f"{step.removesuffix('_h')}_{h}": written(block) for h, block in enumerate(value, start=1)}
        elif step != "O_h":
            names[step] = written(value[0])
    return names


def equal(left, right, tolerance=1e-9):
    return left.shape == right.shape and np.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)


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


def all_cases():
    case("one decimal", qkv(4, 4, 3, 2, digits=1), steps=True)
    case("as many tokens as columns", qkv(4, 4, 4, 4))
    case("fewer queries than keys", qkv(3, 5, 2, 3))
    case("causal", qkv(5, 5, 3, 2), causal=True, steps=True)
    case("fewer queries than keys, causal", qkv(3, 5, 2, 3), causal=True)
    case("causal, window", qkv(5, 5, 2, 3), causal=True, window=3)
    case("padding of two keys", tokens(5, 4, 2, 3, mask=np.tile(allowed("11100"), (5, 1))), mask_kind="allow",
         steps=True)
    case("padding and causal, 2 heads", tokens(4, 4, 2, 2, H=2, G=2, out=4, mask=np.tile(allowed("0001"), (4, 1))),
         heads=2, kv_heads=2, causal=True, mask_kind="block")
    case("a row that sees nothing", qkv(4, 4, 3, 3, mask=allowed("1101 0111 0000 1011")), mask_kind="allow")
    case("bias and temperature", qkv(4, 4, 3, 2, bias=normal(4, 4)), temperature=1.5)
    case("tokens, square weights", tokens(5, 3, 3, 3))
    case("tokens, rectangular weights and output", tokens(4, 3, 4, 2, out=4))
    case("residual, one head", tokens(4, 3, 2, 3, out=3), residual=True)
    case("2 heads without output projection", tokens(5, 4, 2, 2, H=2, G=2), heads=2, kv_heads=2)
    case("2 heads, causal, output projection", tokens(5, 4, 2, 2, H=2, G=2, out=4), heads=2, kv_heads=2, causal=True,
         steps=True)
    case("2 heads, causal, output projection, residual", tokens(5, 4, 2, 2, H=2, G=2, out=4),
         heads=2, kv_heads=2, causal=True, residual=True)
    case("4 heads, rectangular", tokens(5, 6, 2, 1, H=4, G=4, out=4), heads=4, kv_heads=4)
    case("4 heads from Q, K, V", qkv(5, 4, 2, 1, H=4, G=4), heads=4, kv_heads=4)
    case("4 heads over 2 key/value heads", tokens(5, 6, 2, 2, H=4, G=2, out=6), heads=4, kv_heads=2)
    case("4 heads over 2 key/value heads, causal, from Q, K, V", qkv(5, 5, 2, 1, H=4, G=2),
         heads=4, kv_heads=2, causal=True)
    case("causal from the start, fewer queries than keys", qkv(4, 6, 2, 2), causal=True, causal_from="start")
    case("window on both sides", qkv(5, 5, 3, 2), window=2)
    case("large scores", large(qkv(5, 5, 3, 2, size=22.0, digits=1)), only=LARGE, steps=True)
    case("large scores, 2 heads, causal, residual", tokens(5, 4, 2, 2, H=2, G=2, out=4, size=7.5),
         heads=2, kv_heads=2, causal=True, residual=True, only=LARGE)
    case("boolean mask, 2 heads, residual, no output projection",
         tokens(5, 4, 3, 2, H=2, G=2, mask=allowed("11010 01101 10110 11001 01111")),
         heads=2, kv_heads=2, residual=True, mask_kind="allow")
    case("residual, 4 heads over 2 key/value heads, causal", tokens(5, 8, 2, 2, H=4, G=2, out=8),
         heads=4, kv_heads=2, causal=True, residual=True)
    case("cosines without a scale", qkv(4, 5, 3, 3), score="cosine", scale="none", only={
        "dot-scores", "softmax-twice", "hard-maximum", "uniform-weights", "rows-shifted", "values-scaled", "layer-norm"})


def large(inputs):
    """Rows whose exponentials overflow in float64, others that do so only in float32."""
    top = (inputs["Q"] @ inputs["K"].T / math.sqrt(inputs["Q"].shape[1])).max(axis=1)
    assert (top > 710).any() and ((top > 89) & (top < 709)).any(), top
    return inputs


LARGE = {"softmax-overflow", "softmax-keepdims", "softmax-unnormalised", "softmax-twice", "log-softmax", "hard-maximum",
         "uniform-weights", "column-maximum", "temperature", "scale-late", "values-scaled", "scores-negated",
         "score-distance", "weights-turned", "l2-normalised", "sigmoid-weights", "mask-unasked", "half-precision",
         "result-rounded", "right-order", "right-blocks", "right-einsum", "right-loops", "right-log-sum-exp",
         "right-divided-late", "right-scaled-queries", "right-base-2"}


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


def prepare():
    np.seterr(all="ignore")
    for group in (of_softmax, of_scale, of_scores, of_projections, of_heads, of_masks, of_tokens, of_more, of_right):
        group()
    assert {entry["name"] for entry in slips} == set(SENTENCES), {entry["name"] for entry in slips} ^ set(SENTENCES)
    return module("attend.py", "\nfor section in "), module("mistakes.py", "\nnp.seterr(")


def main():
    about = {"about": "Attention with other slips by NumPy; made by more_mistakes.py, which defines each"}
    size = layout.write(__file__, about | layout.versions(np) | {"cases": [record(entry) for entry in cases]}, line=20_000)
    assert size < 2_300_000, size
    count = Counter(entry["mistakes"][0] for one in cases for entry in one["wrong"])
    total = sum(count.values())
    silent = sum(not entry.get("blame", True) for one in cases for entry in one["wrong"])
    print(f"{len(cases)} cases, {len(count)} ids, {total} entries, {silent} of them not to be blamed, {size} bytes")
    for one in cases:
        print(f"  {len(one['wrong']):4} entries {len(one['unchanged']):3} unchanged  {one['name']}")
    for name, sentence in SENTENCES.items():
        print(f"  {count[name]:4} {name:28} {sentence}")
    together = defaultdict(set)
    for one in cases:
        for entry in one["wrong"]:
            for other in entry.get("same_as", []):
                together[tuple(sorted((entry["mistakes"][0], other)))].add(one["name"])
    print("equal numbers:")
    for (first, second), where in sorted(together.items(), key=lambda pair: -len(pair[1])):
        print(f"  {len(where):3} {first} = {second}" + (f"  ({', '.join(sorted(where))})" if len(where) < 3 else ""))
    missing = [name for name in SENTENCES if not count[name]]
    assert not missing, missing


reference, past = prepare()
if __name__ == "__main__":
    all_cases()
    main()
