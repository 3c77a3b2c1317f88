"""The nodes of the demos `backward`, `saturated` and `descent` by PyTorch's autograd in float64; writes gradient_demos.json.

    python gradient_demos.py

Nothing is differentiated by hand: the Jacobian is torch.autograd.functional.jacobian, every gradient torch.autograd.grad.
"""

import math

import numpy as np
import torch

import layout

torch.set_default_dtype(torch.float64)


def leaf(rows):
    return torch.tensor(rows, dtype=torch.float64, requires_grad=True)


def backward():
    s, da = leaf([2.0, 1.0, 0.0]), torch.tensor([1.0, 3.0, 0.0])
    a = s.softmax(0)
    ds = torch.autograd.grad(a @ da, s)[0]
    nodes = {"a": a[None], "J": torch.autograd.functional.jacobian(lambda s: s.softmax(0), s), "ds": ds[None], "ds_by_J": ds[None]}
    x = leaf([[1, 1], [2, 0], [0, 2]])
    w_q, w_k, w_v = leaf([[1, 0], [0.5, 1]]), leaf([[1, -0.5], [0, 1]]), leaf([[1, 0], [0, 0.5]])
    d_o = torch.tensor([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.T
    scaled = scores / math.sqrt(2)
    weights = scaled.softmax(1)
    o = weights @ v
    loss = (d_o * o).sum()
    steps = {"V": v, "A": weights, "S_scaled": scaled, "S": scores, "Q": q, "K": k, "W_Q": w_q, "W_K": w_k, "W_V": w_v, "X": x}
    gradients = torch.autograd.grad(loss, list(steps.values()))
    nodes |= {f"d{name}": gradient for name, gradient in zip(steps, gradients)}
    return nodes | {"A": weights, "O": o, "loss": loss.reshape(1, 1)}


def size(matrix):
    return matrix.square().mean().sqrt()


def saturated():
    s, da = leaf([0.2, 0.1, 0.0]), torch.tensor([0.0, 1.0, 0.0])
    weights, slopes = [], []
    for factor in (1, 4, 16, 64):
        stretched = (s * factor).detach().requires_grad_()
        a = stretched.softmax(0)
        weights.append(a)
        slopes.append(torch.autograd.grad(a @ da, stretched)[0])
    nodes = {"weights": torch.stack(weights), "slopes": torch.stack(slopes)}
    drawn = np.random.RandomState(0)
    d_a = torch.tensor(drawn.randn(16, 16))
    sizes = {"score_size": [], "gradient_size": [], "score_size_scaled": [], "gradient_size_scaled": []}
    for width in (4, 64, 256, 1024):
        q, k = torch.tensor(drawn.randn(16, width)), torch.tensor(drawn.randn(16, width))
        for suffix, factor in (("", 1), ("_scaled", 1 / math.sqrt(width))):
            scores = (q @ k.T * factor).requires_grad_()
            gradient = torch.autograd.grad((scores.softmax(1) * d_a).sum(), scores)[0]
            sizes[f"score_size{suffix}"].append([size(scores.detach())])
            sizes[f"gradient_size{suffix}"].append([size(gradient)])
    return nodes | {name: torch.tensor(numbers) for name, numbers in sizes.items()}


def descent():
    keys, wanted = torch.tensor([[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]]), torch.tensor([0.2, 0.7, 0.1])
    nodes = {}
    for suffix, rate in (("", 0.5), ("_far", 3.0)):
        w = leaf([-1.0, 1.0])
        optimizer = torch.optim.SGD([w], lr=rate)
        path, attention, losses, slopes = [], [], [], []
        for _ in range(11):
            optimizer.zero_grad()
            scores = keys @ w
            loss = torch.nn.functional.cross_entropy(scores[None], wanted[None])
            loss.backward()
            path.append(w.detach().clone())
            attention.append(scores.detach().softmax(0))
            losses.append(loss.detach()[None])
            slopes.append(w.grad.clone())
            optimizer.step()
        tables = {"path": path, "attention": attention, "losses": losses, "slopes": slopes}
        nodes |= {f"{name}{suffix}": torch.stack(rows) for name, rows in tables.items()}
    return nodes


demos = {"backward": backward(), "saturated": saturated(), "descent": descent()}
cases = [{"demo": demo, "nodes": {name: node.tolist() for name, node in nodes.items()}} for demo, nodes in demos.items()]
about = "Nodes of the demos about gradients by PyTorch's autograd; made by gradient_demos.py"
layout.write(__file__, {"about": about, **layout.versions(torch, np), "cases": cases})
