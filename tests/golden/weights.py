"""What is made of attention weights that a framework returned: NumPy, without this program.

python3 weights.py writes weights.json.

The rollout is that of Abnar and Zuidema, "Quantifying Attention Flow in Transformers", section 3; weights times the lengths of values
those of Kobayashi et al., "Attention is Not Only a Weight", section 3.
"""
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
L, H, T, D = 3, 2, 4, 3
rng = np.random.default_rng(38)
scores = rng.normal(0, 2, (L, H, T, T)) + np.where(np.tril(np.ones((T, T))), 0, -np.inf)
powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
A = powers / powers.sum(axis=-1, keepdims=True)
V = np.round(rng.standard_normal((L, H, T, D)), 2)

rollouts = [np.eye(T)]
for layer in A:
    rollouts.append(0.5 * (layer.mean(axis=0) + np.eye(T)) @ rollouts[-1])
entropy = -np.sum(np.where(A > 0, A * np.log2(np.where(A > 0, A, 1)), 0), axis=-1).mean(axis=-1)
figures = {
    "A": A.tolist(),
    "V": V.tolist(),
    "mean": A.mean(axis=1).tolist(),
    "rollout": [r.tolist() for r in rollouts[1:]],
    "by_length": (A * np.linalg.norm(V, axis=-1)[:, :, None, :]).tolist(),
    "first_and_last_query": (A[:, :, 0] + A[:, :, 3]).tolist(),
    "entropy": entropy.tolist(),
    "previous": np.array([[np.mean([a[i, i - 1] for i in range(1, T)]) for a in layer] for layer in A]).tolist(),
}
(HERE / "weights.json").write_text(json.dumps(figures) + "\n")

# A tuple of tensors, as `torch.save(outputs.attentions, file)` writes it.
try:
    import torch
    torch.save(tuple(torch.from_numpy(layer[None].copy()) for layer in A), HERE / "attentions.pt")
except ImportError:
    print("PyTorch is not here: attentions.pt stays as it is")
