"""What Python and PyTorch say to three slips in the code of document 002; writes errata.json next to itself.

    python errata.py

array_called        a name that holds an array is called like a function (lines 54 and 93)
d_out               a class sets output_dim and reads d_out (lines 126 and 144)
parameters          how many numbers PyTorch finds to train: heads in a plain list (line 152), and in nn.ModuleList
C                   what the heads give once both are mended, on the matrices of the demo `multihead`
"""

import platform

import numpy as np
import torch
from torch import nn

import layout

torch.set_default_dtype(torch.float64)


def said(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise SystemExit("nothing went wrong")


class SelfAttention(nn.Module):
    def __init__(self, input_dim, output_dim, width_of):
        super().__init__()
        self.output_dim = output_dim
        self.width_of = width_of
        self.query, self.key, self.value = (nn.Linear(input_dim, output_dim, bias=False) for _ in range(3))

    def forward(self, x):
        scores = self.query(x) @ self.key(x).T
        return torch.softmax(scores / self.width_of(self) ** 0.5, dim=-1) @ self.value(x)


class Heads(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


x = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
weights = [
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[2, 0], [0, 1]]],
    [[[1, 1], [0, 1]], [[1, 0], [-1, 1]], [[0, 1], [3, 0]]],
]
heads = [SelfAttention(2, 2, lambda head: head.output_dim) for _ in weights]
for head, matrices in zip(heads, weights):
    for linear, matrix in zip((head.query, head.key, head.value), matrices):
        linear.weight = nn.Parameter(torch.tensor(matrix, dtype=torch.float64).T)

softmax = np.round(np.array([[0.57, 0.43]]), 2)
count = lambda module: sum(parameter.numel() for parameter in module.parameters())
mended = Heads(nn.ModuleList(heads))
result = {
    "about": "What Python and PyTorch say to three slips in document 002; made by errata.py",
    "numpy": np.__version__,
    "python": platform.python_version(),
    "torch": torch.__version__,
    "array_called": said(lambda: softmax(np.array([1.0, -0.71]))),
    "d_out": said(lambda: SelfAttention(2, 2, lambda head: head.d_out)(x)),
    "parameters": {"list": count(Heads(heads)), "module_list": count(mended)},
    "C": mended(x).tolist(),
}
layout.write(__file__, result)
