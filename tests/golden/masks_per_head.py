"""Attention with a mask or a bias for each head, as PyTorch and others hand it over: NumPy, without this program.

python3 masks_per_head.py writes masks_per_head.json.

torch.nn.MultiheadAttention takes an attn_mask (L, S) or (N·num_heads, L, S): True = may NOT attend. F.scaled_dot_product_attention
takes one that is broadcast to (N, H, L, S): True = may attend, as here. In both, numbers are added to the scaled scores. Both give NaN
for a query that may attend to nothing; here its row is 0.
"""
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
T, N, H, D = 3, 4, 2, 2
rng = np.random.default_rng(36)


def draw(*shape):
    return np.round(rng.standard_normal(shape), 2)


Q, K, V = draw(T, H * D), draw(N, H * D), draw(N, H * D)
GROUPED_K, GROUPED_V = draw(N, D), draw(N, D)


def attention(added, groups=H):
    """softmax(Q Kᵀ/√d + added) V for each head; added is broadcast to (H, T, N)."""
    k, v = (K, V) if groups == H else (GROUPED_K, GROUPED_V)
    added = np.broadcast_to(added, (H, T, N))
    mixed, all_weights = [], []
    for h in range(H):
        own, group = slice(h * D, (h + 1) * D), slice(h * groups // H * D, (h * groups // H + 1) * D)
        scores = Q[:, own] @ k[:, group].T / np.sqrt(D) + added[h]
        powers = np.where(np.isneginf(scores), 0.0, np.exp(scores - np.max(scores, initial=-1e9, axis=1, keepdims=True)))
        sums = powers.sum(axis=1, keepdims=True)
        weights = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
        mixed.append(weights @ v[:, group])
        all_weights.append(weights)
    return np.concatenate(mixed, axis=1), all_weights


def hidden(visible):
    return np.where(visible, 0.0, -np.inf)


# The first head sees the past, the second one no first key, and in one row nothing.
VISIBLE = np.array([np.tril(np.ones((T, N)), N - T), np.ones((T, N))], dtype=bool)
VISIBLE[1, :, 0] = False
EMPTY = VISIBLE.copy()
EMPTY[1, 1] = False
PADDED = np.array([[True, True, True, False], [False, True, True, True]])
NUMBERS = draw(H, T, N)
SLOPES = np.array([2.0**-4, 2.0**-8])
ALIBI = -SLOPES[:, None] * np.arange(N - 1, -1, -1)

CASES = [
    ("scaled_dot_product_attention, True may attend", "mask", VISIBLE, "", hidden(VISIBLE)),
    ("MultiheadAttention, True may not attend", "mask", ~VISIBLE, "--mask-kind block", hidden(VISIBLE)),
    ("a mask that is added", "mask", hidden(VISIBLE), "", hidden(VISIBLE)),
    ("a query that may attend to nothing", "mask", EMPTY, "", hidden(EMPTY)),
    ("a batch of one", "mask", VISIBLE[None], "", hidden(VISIBLE)),
    ("a row for each head", "mask", PADDED[:, None], "", hidden(PADDED[:, None])),
    ("a bias for each head", "bias", NUMBERS, "", NUMBERS),
    ("ALiBi", "bias", ALIBI[:, None], "", ALIBI[:, None]),
    ("one mask for all heads", "mask", VISIBLE[:1, None], "", hidden(VISIBLE[:1])),
    ("shared keys and values", "mask", VISIBLE, "--kv-heads 1", hidden(VISIBLE)),
]


def plain(number):
    return number if isinstance(number, bool) or np.isfinite(number) else "-inf"


cases = []
for of, role, given, options, added in CASES:
    o, weights = attention(added, 1 if "kv" in options else H)
    values = [plain(x) for x in given.ravel().tolist()]
    case = {"of": of, "role": role, "shape": list(given.shape), "values": values, "options": options, "O": o.tolist()}
    cases.append(case | {f"A_{h + 1}": own.tolist() for h, own in enumerate(weights)})
inputs = {name: array.tolist() for name, array in zip(["Q", "K", "V", "K_shared", "V_shared"], [Q, K, V, GROUPED_K, GROUPED_V])}
(HERE / "masks_per_head.json").write_text(json.dumps(inputs | {"cases": cases}) + "\n")
