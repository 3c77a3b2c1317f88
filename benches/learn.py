"""The step of a training beside PyTorch: the same model, batch and optimiser, eager, one thread, in turns.

    cargo bench --bench learn --no-run
    python3 benches/learn.py target/release/deps/learn-… [--rounds 3]

It prints a table: the median time of a step of `attn` and of PyTorch, and their ratio, for each round.
"""

import argparse
import json
import math
import statistics
import subprocess
import time

import numpy
import torch

SHAPES = {  # symbols, tokens, width, layers, causal, learning rate
    "reverse": (10, 6, 8, 1, False, 0.02),
    "induction": (16, 24, 32, 2, True, 0.01),
}
BATCH, STEPS = 32, 300


def batch(task, stream, symbols, tokens):
    if task == "reverse":
        inputs = stream.randint(0, symbols, (BATCH, tokens))
        return torch.tensor(inputs), torch.tensor(inputs[:, ::-1].copy()), torch.ones(BATCH, tokens, dtype=torch.bool)
    whole = numpy.zeros((BATCH, tokens + 1), int)
    asked = numpy.zeros((BATCH, tokens), bool)
    for row in range(BATCH):
        letters, there, at = list(stream.permutation(symbols)), set(), 0
        words = [[letters.pop() for _ in range(stream.randint(2, 5))] for _ in range(4)]
        while at <= tokens:
            number = stream.randint(4)
            word = words[number][: tokens + 1 - at]
            whole[row, at : at + len(word)] = word
            asked[row, at : at + len(word) - 1] = number in there
            at += len(word)
            there.add(number)
    return torch.tensor(whole[:, :-1]), torch.tensor(whole[:, 1:]), torch.tensor(asked)


def step_seconds(task, dtype):
    """The median time of a step: forward, backward, clipping and Adam, on a batch that is there already."""
    symbols, tokens, d, layers, causal, rate = SHAPES[task]
    torch.manual_seed(1)
    draw = lambda *shape, size: (torch.randn(*shape, dtype=dtype) * size).requires_grad_()
    e, p = draw(symbols, d, size=0.5), draw(tokens, d, size=0.5)
    w = [[draw(d, d, size=d**-0.5) for _ in "QKVO"] for _ in range(layers)]
    u = draw(d, symbols, size=d**-0.5)
    parameters = [e, p, *sum(w, []), u]
    optimiser = torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.98))
    hidden = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    stream = numpy.random.RandomState(1)
    seconds = []
    for _ in range(STEPS):
        inputs, targets, asked = batch(task, stream, symbols, tokens)
        begun = time.perf_counter()
        x = e[inputs] + p
        for q, k, v, o in w:
            scores = (x @ q) @ (x @ k).transpose(1, 2) / math.sqrt(d)
            if causal:
                scores = scores.masked_fill(hidden, -math.inf)
            x = x + scores.softmax(-1) @ (x @ v) @ o
        logits = (x @ u)[asked]
        loss = torch.nn.functional.cross_entropy(logits, targets[asked])
        right = (logits.argmax(-1) == targets[asked]).double().mean().item()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        seconds.append(time.perf_counter() - begun)
        assert 0 <= right <= 1
    return statistics.median(seconds)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, batches of {BATCH}; attn scores its heads in every step, PyTorch does not")
    for number in range(1, options.rounds + 1):
        lines = subprocess.run([options.program, "--json"], capture_output=True, text=True, check=True).stdout
        for line in map(json.loads, lines.splitlines()):
            dtype = {"f32": torch.float32, "f64": torch.float64}[line["dtype"]]
            theirs, ours = step_seconds(line["task"], dtype), line["step_seconds"]
            print(
                f"round {number}  {line['task']:<10} {line['dtype']}  step: attn {1000 * ours:.3f} ms, "
                f"PyTorch {1000 * theirs:.3f} ms: {theirs / ours:.2f} ×   99 % after {line['seconds_to_99']:.3f} s"
            )


main()
