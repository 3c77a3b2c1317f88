"""Small trainings by PyTorch, from the same weights and batches; writes learn.json.

    python learn.py [ATTN]        (PyTorch, transformers, NumPy)

The first part draws weights and batches from np.random, as `attn learn` documents them, takes the gradients of
models/attn-small/modeling_attn_small.py by autograd, and makes three steps with torch.optim.Adam. The second part opens folders that
a built ATTN (target/debug/attn) has trained and saved, as a user of transformers opens them, and keeps their logits.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers

import layout

PROJECT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("modeling", PROJECT / "models/attn-small/modeling_attn_small.py")
modeling = importlib.util.module_from_spec(spec)
spec.loader.exec_module(modeling)

HELD_OUT, WARM_UP = 1000, 20


def below(stream, count):
    return int(stream.random_sample() * count)


def digits(stream, length):
    return [below(stream, 10) for _ in range(length)]


def reverse(stream):
    tokens = digits(stream, 6)
    return tokens, tokens[::-1]


def sort(stream):
    tokens = digits(stream, 4)
    ordered = sorted(tokens)
    return tokens + ordered[:-1], [None] * 3 + ordered


def induction(stream):
    rest = list(range(16))

    def letter():
        at = below(stream, len(rest))
        rest[at], rest[-1] = rest[-1], rest[at]
        return rest.pop()

    words = [[letter() for _ in range(2 + below(stream, 3))] for _ in range(4)]
    there, whole, asks = set(), [], []
    while len(whole) < 25:
        at = below(stream, 4)
        whole += words[at]
        asks += [at in there and word < len(words[at]) for word in range(1, len(words[at]) + 1)]
        there.add(at)
    return whole[:24], [whole[i + 1] if asks[i] else None for i in range(24)]


CASES = {
    "reverse": (reverse, dict(vocab_size=10, max_position_embeddings=6, hidden_size=8, num_hidden_layers=1, causal=False), .02, 400, 32),
    "induction": (induction, dict(vocab_size=16, max_position_embeddings=24, hidden_size=32, num_hidden_layers=2), .01, 400, 32),
    "sort": (sort, dict(vocab_size=10, max_position_embeddings=7, hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=12, norm="rms", mlp="relu"), .5, 30, 5),
}


def names(config):
    layer = ["W_Q", "W_K", "W_V", "W_O"] + (["W_up", "W_down"] if config.mlp == "relu" else [])
    inner = [f"layers.{i}.{name}" for i in range(config.num_hidden_layers) for name in layer]
    return ["W_E", "W_P", *inner, "W_U"]


def first_weights(model, stream):
    """The embeddings with a deviation of 1/2, the matrices with one over the root of their rows."""
    named = dict(model.named_parameters())
    for name in names(model.config):
        rows, cols = named[name].shape
        deviation = .5 if name in ["W_E", "W_P"] else rows ** -.5
        named[name].data = torch.tensor(stream.randn(rows, cols) * deviation)
    return [named[name] for name in names(model.config)]


def batches(example, stream, seed, count):
    """Examples that are not held out; those have a stream of their own."""
    other = np.random.RandomState((seed + 0x9E3779B9) % 2**32)

    def length(stream):
        """A length for an example or a batch, which the words do not use; the other tasks have a single one here."""
        if example is induction:
            below(stream, 3)

    known = set()
    for _ in range(HELD_OUT):
        length(other)
        known.add(tuple(example(other)[0]))
    while True:
        length(stream)
        drawn = []
        while len(drawn) < count:
            one = example(stream)
            if tuple(one[0]) not in known:
                drawn.append(one)
        yield drawn


def training(name, seed):
    example, sizes, rate, steps, count = CASES[name]
    stream = np.random.RandomState(seed)
    model = modeling.AttnSmallForCausalLM(modeling.AttnSmallConfig(**sizes)).double()
    weights = first_weights(model, stream)
    adam = torch.optim.Adam(weights, betas=(.9, .98), eps=1e-8)
    told = []
    for step, drawn in zip(range(1, 4), batches(example, stream, seed, count)):
        tokens = torch.tensor([tokens for tokens, _ in drawn])
        targets = torch.tensor([[-100 if x is None else x for x in asked] for _, asked in drawn])
        logits = model(tokens).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        adam.zero_grad()
        loss.backward()
        gradients = [weight.grad.clone() for weight in weights]
        length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        for weight in weights:
            weight.grad *= min(1, 1 / length)
        adam.param_groups[0]["lr"] = rate * step / WARM_UP
        adam.step()
        asked = targets != -100
        told.append({"tokens": tokens[0].tolist(), "loss": loss.item(), "length": length.item(),
                     "accuracy": (logits.argmax(-1) == targets)[asked].double().mean().item(),
                     "gradients": [gradient[1].tolist() for gradient in gradients],
                     "weights": [weight[1].tolist() for weight in weights]})
    return {"seed": seed, "rate": rate, "steps_in_all": steps, "batch": count, "steps": told}


SAVED = [
    ("learn reverse --steps 60 --seed 4 --dtype f64", [3, 1, 4, 1, 5, 9]),
    ("learn induction --steps 30 --seed 2 --dtype f64", [0, 7, 3, 11, 0, 7, 3]),
    ("learn names --steps 20 --dtype f64", [0, 13, 1, 20]),
]


def saved(attn, command, ids):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([attn, *command.split(), "--save", folder], check=True, stdout=subprocess.DEVNULL)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
        assert model.dtype == torch.float64
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
    return {"command": command, "ids": ids, "logits": logits.tolist()}


if __name__ == "__main__":
    attn = sys.argv[1] if len(sys.argv) > 1 else PROJECT / "target/debug/attn"
    layout.write(__file__, {"trainings": {name: training(name, seed) for seed, name in enumerate(CASES, 5)},
                            "saved": [saved(attn, *case) for case in SAVED]})
