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
    dropout                      | Dropout of the weights or of the result, p = 0.1: blamed on nothing else.
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
from collections import Counter, defaultdict

import layout
import numpy as np
from pipeline import allowed, normal, qkv, slips, tokens
from right_forms import of_right
from slip_cases import case, cases, record
from slips_of_heads import of_heads, of_masks, of_projections
from slips_of_tokens import of_more, of_tokens
from slips_of_weights import of_scale, of_scores, of_softmax


SENTENCES = {line.split("|")[0].strip(): line.split("|")[1].strip()
             for line in __doc__.splitlines() if line.startswith("    ") and " | " in line}


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


def prepare():
    for group in (of_softmax, of_scale, of_scores, of_projections, of_heads, of_masks, of_tokens, of_more, of_right):
        group()
    assert {entry["name"] for entry in slips} == set(SENTENCES), {entry["name"] for entry in slips} ^ set(SENTENCES)


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


if __name__ == "__main__":
    np.seterr(all="ignore")
    prepare()
    all_cases()
    main()
