"""Seven results for one exercise, causal attention over 6 random tokens: two right ones, and five with a mistake.

    python3 examples/answers.py
    attn diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data" / "answers"
np.random.seed(1)
X = np.random.randn(6, 4)
W_Q, W_K, W_V = (np.random.randn(4, 4) for _ in range(3))


def attention(scale=True, mask=True, hide=-np.inf, axis=1):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ K.T
    if scale:
        S = S / np.sqrt(K.shape[1])
    if mask:
        S = np.where(np.tri(len(X), dtype=bool), S, hide)
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True) @ V


answers = {
    "01": attention(),
    "02": attention(scale=False),
    "03": attention(mask=False),
    "04": attention().round(3),
    "05": attention(hide=0.0),
    "06": attention(axis=0),
    "07": attention(scale=False, mask=False),
}
FOLDER.mkdir(exist_ok=True)
for name, O in answers.items():
    np.savetxt(FOLDER / f"{name}.csv", O, delimiter=",", fmt="%.6g")
