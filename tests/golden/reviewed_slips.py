"""What students get who make slips that reviews of `attn diagnose` named and mistakes.py and more_mistakes.py have not: NumPy,
written without a look at src/.

    python reviewed_slips.py               writes reviewed_slips.json and prints what it covers

The pipeline and its steps are those of pipeline.py, the layout of a case is that of more_mistakes.py. An entry of `wrong` has one
id in `mistakes`, what was done in `variant`, and `blame`: false where no slip may be blamed for the numbers. What leaves the result
as it is, or has a number that is not finite, is left out.

    attention-twice       | The result goes through attention again.
    top-k-weights         | Only the k largest weights of each row are kept, divided by their sum again or not.
    range-slides          | A range of a spreadsheet has no $: it moves when the formula is filled down or to the right. Cells
                            beyond a table are empty, which is 0.
    numbers-sorted        | Scores, weights or results are sorted.
    activation-added      | An activation function is applied to the result, or to the heads before W_O.
    linear-attention      | φ(Q) φ(K)ᵀ over its sum in place of the softmax, with φ = elu + 1.
    softmax-wrong-sum     | The exponentials are divided by another sum than that of their row.
    softmax-base-10       | Powers of 10 in place of powers of e.
    tanh-weights          | tanh in place of the softmax.
    squares-normalised    | Squares of the scores in place of their exponentials.
    scores-divided        | The scores are divided by their number, or by the largest of the row.
    mask-unasked          | Each token sees itself alone, as where a batch is taken for the tokens (batch_first).
    mask-transposed       | The mask is transposed.
    mask-shifted          | The mask hides a key more, or shows one more.
    mask-part-missing     | Of two masks one is left out.
    hidden-weights-replaced | The mask is applied after the softmax and writes −1 or 1.
    mask-times-infinity   | 0 times −∞ in the visible places.
    projection-transposed | Two of the three projections are transposed.
    roles-exchanged       | Q, K and V are unpacked in another order.
    roles-unprojected     | Queries, keys or all three are X itself.
    keys-not-transposed   | Q K in place of Q Kᵀ, with as many keys as columns.
    score-function        | Another function of a query and a key than their dot product.
    scale-by-length       | The scores are divided by T, not by its root.
    scale-by-heads        | The scores are divided by H, not by its root.
    scale-precedence      | `S / d_k ** 1/2`: the scores are divided by 2 d_k.
    unit-rows             | Queries, keys or results are divided by their length.
    layer-norm            | “Add & Norm”: X is added, and the sum normalised.
    positions-added       | Sinusoidal positions are added to Q and K.
    rotary-positions      | Queries alone are rotated, or the values too.
    inputs-rounded        | X, or Q and K, are rounded before they are used.
    residual-of-another   | Q or V is added to the result.
    columns-reversed      | The columns of the result stand in reverse order.
    rows-pooled           | The rows of the result are averaged, or added up one after the other.
    wrong-factor          | The result is multiplied by 1.7.
    biases-missing        | The biases of some projections, or of all, are not added.
    projections-chained   | Keys or values are projected from the queries or keys, not from X.
    heads-by-reshape      | Some of queries, keys and values alone are split by reshape.
    heads-interleaved     | Some of queries, keys and values alone are split into every H-th column.
    heads-averaged        | The mean of all heads in place of each, of their results or their scores.
    score-distance        | Half the square of the distance, or the distance without its sign.
    residual-inside       | X is added before W_O and after it.
    result-left-zero      | Rows of the result are never filled.
    one-number-wrong      | One number of the result has the wrong sign, or is 1 too large.
    result-surplus        | A header or an index stands among the numbers.
    weights-elementwise   | A ∘ V in place of A V.
    weights-after-values  | V A in place of A V.
    dropout               | Dropout after W_O, before the residual, p = 0.2: blamed on nothing else.
"""

import layout
import numpy as np
import pipeline
from pipeline import DEFAULTS, DoesNotGoOn, allowed, equal, need, normal, qkv, run, slip, slips, tokens, written
from slips_of_reviews import of_chains, of_distances, of_functions, of_heads, of_masks, of_mixing, of_results, of_roles

MIXING = ["weights-elementwise", "weights-after-values"]


def powers(S):
    return np.exp(S - np.where(np.isneginf(S).all(axis=-1, keepdims=True), 0.0, S.max(axis=-1, keepdims=True)))


# Attention twice.

def again(c, O):
    """The whole layer once more, with its result as the tokens."""
    need(c.tokens and O.shape == c.given["X"].shape)
    inputs = {**c.given, "X": O}
    return run(c.options, inputs if c.mask is None else {**inputs, "mask": c.raw_mask}, {})["O"]


def roles_again(c, O):
    """With the result as queries, keys and values."""
    need(not c.tokens and O.shape == c.Q.shape == c.K.shape == c.V.shape)
    return run(c.options, {**c.given, "Q": O, "K": O, "V": O}, {})["O"]


def of_twice():
    slip("attention-twice", "as tokens", final=again)
    slip("attention-twice", "as queries, keys and values", final=roles_again)
    slip("attention-twice", "the weights twice", mix=lambda c, A: A @ (need(c.T == c.N) or A @ c.v))


# Only the largest weights.

def largest(count, divided):
    def kept(c, A):
        need(count < A.shape[2])
        kept = np.where(A >= np.sort(A, axis=2)[:, :, -count, None], A, 0.0)
        return kept / kept.sum(axis=2, keepdims=True) if divided else kept
    return kept


def of_largest():
    for count in (1, 2, 3):
        slip("top-k-weights", f"{count}, not divided again", weights=largest(count, False))
        if count > 1:
            slip("top-k-weights", f"{count}, divided again", weights=largest(count, True))


# Ranges of a spreadsheet that slide.

def after(rows, start):
    """The rows from `start` on, with empty ones behind them."""
    return np.concatenate([rows[start:], np.zeros((min(start, len(rows)), rows.shape[1]))])


def sliding_keys(c):
    return np.stack([np.stack([q[i] @ after(k, i).T for i in range(c.T)]) for q, k in zip(c.q, c.k)])


def sliding_values(c, A):
    return np.stack([np.stack([a[i] @ after(v, i) for i in range(c.T)]) for a, v in zip(A, c.v)])


def sliding_weights(c, name):
    W = c.given[f"W_{name}"]
    return np.stack([c.X[i] @ after(W, i) for i in range(c.T)])


def from_here(a, axis, function):
    """The sum or maximum of what stands from each cell on."""
    return np.flip(function.accumulate(np.flip(a, axis), axis), axis)


def of_ranges():
    slip("range-slides", "K, down", score=sliding_keys)
    slip("range-slides", "V, down", mix=sliding_values)
    slip("range-slides", "W_Q, W_K and W_V, down",
         project=lambda c, name: need(c.tokens) or sliding_weights(c, name))
    slip("range-slides", "the sum, to the right", softmax=lambda c, S: powers(S) / from_here(powers(S), 2, np.add))
    slip("range-slides", "the sum of a column, down",
         softmax=lambda c, S: np.exp(S) / from_here(np.exp(S), 1, np.add))
    slip("range-slides", "the sum of all, down",
         softmax=lambda c, S: np.exp(S) / from_here(np.exp(S).sum(axis=2, keepdims=True), 1, np.add))

    def from_maximum(c, S):
        power = np.exp(S - from_here(S, 2, np.maximum))
        return power / power.sum(axis=2, keepdims=True)

    slip("range-slides", "the maximum, to the right", softmax=from_maximum)
    slip("range-slides", "the maximum, to the right, −1e9", softmax=from_maximum,
         hide=lambda c, S, sees: need(c.masked) or np.where(sees, S, -1e9))

    def both(c, S):
        power = np.exp(S - from_here(S, 2, np.maximum))
        return power / from_here(power, 2, np.add)

    slip("range-slides", "the maximum and the sum, to the right", softmax=both)
    slip("softmax-wrong-sum", "the sum of the first row",
         softmax=lambda c, S: np.exp(S) / np.exp(S).sum(axis=2, keepdims=True)[:, :1])


# Sorting.

def of_sorting():
    slip("numbers-sorted", "weights, ascending", weights=lambda c, A: np.sort(A, axis=2))
    slip("numbers-sorted", "weights, descending", weights=lambda c, A: np.sort(A, axis=2)[:, :, ::-1])
    slip("numbers-sorted", "scores, ascending", scale=lambda c, S: np.sort(S, axis=2) * c.S_factor)
    slip("numbers-sorted", "scores, descending", scale=lambda c, S: np.sort(S, axis=2)[:, :, ::-1] * c.S_factor)
    slip("numbers-sorted", "rows of the result", final=lambda c, O: np.sort(O, axis=1))
    slip("numbers-sorted", "rows of the result, descending", final=lambda c, O: np.sort(O, axis=1)[:, ::-1])
    slip("numbers-sorted", "columns of the result", final=lambda c, O: np.sort(O, axis=0))
    slip("numbers-sorted", "columns of the result, descending", final=lambda c, O: np.sort(O, axis=0)[::-1])


def case(name, inputs, only=None, **changed):
    options = {**DEFAULTS, **changed}
    right = run(options, inputs, {})
    wrong = []
    for entry in slips:
        if only and entry["name"] not in only:
            continue
        id_, variant, blame = (entry[key] for key in ("name", "variant", "blame"))
        start = {"start": lambda c: setattr(c, "raw_mask", inputs.get("mask"))}
        try:
            O = run(options, inputs, {**start, **entry["hooks"]})["O"]
        except (DoesNotGoOn, ValueError, IndexError, KeyError):
            continue
        says_nothing = not np.isfinite(O).all() and id_ != "mask-times-infinity"
        if says_nothing or equal(O, right["O"], 1e-6):
            continue
        record = {"mistakes": [id_], "variant": variant} if variant else {"mistakes": [id_]}
        wrong.append((record if blame else record | {"blame": False}) | {"O": written(O)})
    figures = {name: written(value) for name, value in inputs.items()}
    return {"name": name, "options": options, "inputs": figures, "right": {"O": written(right["O"])}, "wrong": wrong}


def biases(**widths):
    return {f"b_{name}": normal(1, width) for name, width in widths.items()}


def main():
    np.seterr(all="ignore")
    pipeline.random = np.random.default_rng(47)
    for group in (of_twice, of_largest, of_ranges, of_sorting, of_functions, of_masks, of_roles, of_results, of_chains,
                  of_heads, of_distances, of_mixing):
        group()
    cases = [
        case("one head from Q, K, V", qkv(5, 5, 4, 4)),
        case("as many tokens as columns", qkv(4, 4, 4, 3)),
        case("one head, square weights", tokens(5, 4, 4, 4)),
        case("one head, causal, output projection", tokens(5, 4, 4, 4, out=4), causal=True),
        case("padding and causal", tokens(6, 4, 4, 3, mask=np.tile(allowed("111100"), (6, 1))), causal=True,
             mask_kind="allow"),
        case("2 heads, output projection", tokens(5, 4, 2, 2, H=2, G=2, out=4), heads=2, kv_heads=2),
        case("2 heads, causal, residual", tokens(6, 4, 2, 2, H=2, G=2, out=4), heads=2, kv_heads=2, causal=True,
             residual=True),
        # Other slips with projections of their own leave the biases out, too.
        case("biases, causal", tokens(5, 4, 3, 3, **biases(Q=3, K=3, V=3)), only=["biases-missing"], causal=True),
        case("biases, 2 heads, output projection", tokens(5, 4, 2, 2, H=2, G=2, out=4, **biases(Q=4, K=4, V=4, O=4)),
             only=["biases-missing"], heads=2, kv_heads=2),
        case("as many tokens as columns of V", qkv(4, 4, 3, 4), only=MIXING),
        case("as many tokens as columns of V, 2 heads, causal", tokens(4, 4, 2, 4, H=2, G=2, out=4), only=MIXING, causal=True,
             heads=2, kv_heads=2),
    ]
    about = {"about": "Attention with slips that reviews named, by NumPy; made by reviewed_slips.py"}
    size = layout.write(__file__, about | layout.versions(np) | {"cases": cases})
    for one in cases:
        print(f"{len(one['wrong']):4} {one['name']}")
    missing = {name for name in (entry["name"] for entry in slips)} - {entry["mistakes"][0] for one in cases for entry in one["wrong"]}
    assert not missing, missing
    print(size, "bytes")


if __name__ == "__main__":
    main()
