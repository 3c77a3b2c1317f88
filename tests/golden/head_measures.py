"""What heads attend to, as means and as shares without key 1: the figures of tests/model/measured.rs.

transformers (eager attention, float64) gives every pattern; NumPy takes the means as the tutorials of TransformerLens do, from
diagonals and columns. The first query is left out: it has no choice.

    python tests/golden/head_measures.py > tests/golden/head_measures.json

Made with transformers 5.24.0, torch 2.15.0, NumPy 2.4.6.
"""
import json
import os
import sys

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
words = Tokenizer.from_file(os.path.join(ROOT, "models/words/tokenizer.json"))
half = [int(x) for x in np.random.default_rng(7).choice(50, 14, replace=False)]
CASES = [
    ("models/words", words.encode("the bat sleeps in the cave . it is").ids),
    ("models/words", words.encode("the bat sleeps in the cave . the bat").ids),
    ("models/words", half + half),
    ("tests/models/gpt2-a", half[:8] + half[:8]),
    ("tests/models/qwen3-a", half + half),
]


def means(a, ids):
    """For each place the mean weight and the share without key 1, or None."""
    n = len(ids)
    keys = {"previous token": {i: [i - 1] for i in range(1, n)}}
    keys["first token"] = {i: [0] for i in range(1, n)}
    keys["itself"] = {i: [i] for i in range(1, n)}
    keys["same token"] = {i: [j for j in range(i) if ids[j] == ids[i]] for i in range(1, n)}
    keys["induction"] = {i: [j + 1 for j in keys["same token"][i]] for i in range(1, n)}
    found = {}
    for name, of in keys.items():
        rows = [(i, js) for i, js in of.items() if js]
        mean = np.mean([a[i, js].sum() for i, js in rows]) if rows else None
        rest = [(i, [j for j in js if j]) for i, js in rows if name != "first token" and any(js)]
        there, others = sum(a[i, js].sum() for i, js in rest), sum(1 - a[i, 0] for i, _ in rest)
        found[name] = [mean, there / others if rest and others > 0 else None]
    # The same as the usual diagonals and columns.
    assert np.isclose(found["previous token"][0], np.diagonal(a, -1).mean())
    assert np.isclose(found["itself"][0], np.diagonal(a)[1:].mean())
    assert np.isclose(found["first token"][0], a[1:, 0].mean())
    if len(set(ids)) * 2 == n and ids[: n // 2] == ids[n // 2 :]:
        assert np.isclose(found["induction"][0], np.diagonal(a, 1 - n // 2)[1:].mean())
    return found


out = []
for folder, ids in CASES:
    model = AutoModelForCausalLM.from_pretrained(
        os.path.join(ROOT, folder), dtype=torch.float64, attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        patterns = model(torch.tensor([ids]), output_attentions=True).attentions
    heads = [[means(head.double().numpy(), ids) for head in layer[0]] for layer in patterns]
    out.append({"model": folder, "ids": ids, "heads": heads})
json.dump(out, sys.stdout, indent=1, default=float)
print()
