#!/usr/bin/env python3
"""Two builds of the program in turns: python3 benches/profiles.py target/dist/attn-dist target/release/attn [--pairs 20] [--model FOLDER]

Prints for each task the median seconds of CPU of both and the median of their ratios. The kernel, and with --model a forward pass,
are measured by `attn bench` on one thread; with NumPy the kernel is also a share of its SGEMM in the same turns. A profile that
builds the kernel badly shows there first (without a unit of its own it fell to less than half)."""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ["bench", "--threads", "1", "--seconds", "0.4", "--format", "json"]


def tasks(folder):
    """Commands whose seconds of CPU are measured."""
    for i in range(1000):
        (folder / f"{i}.csv").write_text(f"{1 + i % 7},2\n3,4\n")
    return {
        "learn induction": ["learn", "induction"],
        "learn addition": ["learn", "addition"],
        "diagnose --batch": ["diagnose", "--batch", str(folder), "--x", "1 2; 3 4"],
        "lesson check": ["lesson", "check", "walkthroughs"],
        "table, 100 tokens": ["attend", "--random", "100,64"],
        "HTML, 100 tokens": ["attend", "--random", "100,64", "--format", "html"],
        "demo --all": ["demo", "--all"],
    }


def run(program, arguments):
    """Seconds of CPU, and what was printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        sys.exit(f"{program} {' '.join(arguments)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def seconds(program, arguments):
    return run(program, arguments)[0]


def kernel(program, _):
    """Seconds of CPU for 10⁹ operations, 8 heads of 128 tokens."""
    return 1 / json.loads(run(program, [*BENCH, "--n", "128"])[1].splitlines()[-1])["gflops_best"]


def forward(program, model):
    return json.loads(run(program, [*BENCH, "--model", model])[1].splitlines()[-1])["forward_min_s"]


def sgemm():
    """Seconds for 10⁹ operations of NumPy's product in f32, the best of some."""
    import numpy

    a, b = (numpy.random.rand(1024, 1024).astype(numpy.float32) for _ in range(2))
    times = []
    for _ in range(8):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return min(times) / (2 * 1.024**3)


def median(numbers):
    return statistics.median(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--model", help="the folder of a model, for the forward pass")
    options = parser.parse_args()
    # NumPy on one thread, as the kernel.
    os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    both = [os.path.abspath(program) for program in options.programs]
    with tempfile.TemporaryDirectory() as folder:
        measured = {"kernel": (kernel, None)} | ({"forward pass": (forward, options.model)} if options.model else {})
        measured |= {name: (seconds, arguments) for name, arguments in tasks(pathlib.Path(folder)).items()}
        times = {name: [] for name in measured}
        products = []
        for _ in range(options.pairs):
            for name, (measure, argument) in measured.items():
                times[name].append([measure(program, argument) for program in both])
            try:
                products.append(sgemm())
            except ImportError:
                pass
    for name, pairs in times.items():
        first, second = (median(column) for column in zip(*pairs))
        print(f"{name:20} {first:9.4f} {second:9.4f} s  {median(b / a for a, b in pairs):.3f}")
    if products:
        shares = [median(product / pair[i] for product, pair in zip(products, times["kernel"])) for i in (0, 1)]
        print(f"the kernel's share of SGEMM ({1 / median(products):.0f} GFLOP/s): {shares[0]:.2f} and {shares[1]:.2f}")


if __name__ == "__main__":
    main()
