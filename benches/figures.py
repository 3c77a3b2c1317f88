"""The figures that README.md and docs/ state of the program, measured on a binary: python3 benches/figures.py target/release/attn

Times are medians of 40 runs on a quiet machine, memory is the peak that GNU time reports (package `time`); the comparison needs NumPy.
The rest of the memory is the file of the program and of its libraries, which processes share: Private_Dirty is the program's own."""

import fcntl
import json
import os
import statistics
import subprocess
import sys
import time

RUNS = 40
# The arithmetic of `attn demo mask`, printed.
NUMPY = r"""
import numpy as np
np.random.seed(0)
X, W_Q, W_K, W_V = np.random.randn(4, 5), *(np.random.randn(5, 5) for _ in range(3))
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
S = np.where(np.tril(np.ones((4, 4))) == 1, Q @ K.T, -np.inf)
A = np.exp(S - S.max(axis=1, keepdims=True))
A /= A.sum(axis=1, keepdims=True)
print(Q, K, V, S, A, A @ V, sep='\n')
"""


def ran(command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def measured(command):
    """Milliseconds of wall time and megabytes at most."""
    ran(command)  # The first run finds nothing in the cache.
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        ran(command)
        times.append(time.perf_counter() - start)
    peak = int(ran(["/usr/bin/time", "-f", "%M", *command]).stderr.split()[-1])
    return f"{1e3 * statistics.median(times):.0f} ms and {peak / 1e3:.0f} MB"


def private(command):
    """Private_Dirty in megabytes, while the pipe that the program writes to is full: all is computed then (Linux)."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(command, stdout=writes, stderr=subprocess.DEVNULL) as process:
        os.close(writes)
        time.sleep(1)
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            dirty = next(line for line in file if line.startswith("Private_Dirty"))
        while os.read(reads, 1 << 16):
            pass
    os.close(reads)
    return f"{int(dirty.split()[1]) / 1e3:.1f} MB"


def listed(attn, *command):
    """The rows of all tables of a list."""
    tables = json.loads(ran([attn, *command, "--format", "json"]).stdout)["tables"]
    return sum(len(table["rows"]) for table in tables)


def main():
    attn = os.path.abspath(sys.argv[1])
    print(f"README.md and docs/speed.md: `attn demo mask` takes {measured([attn, 'demo', 'mask'])}")
    print(f"README.md and docs/speed.md: {private([attn, 'demo', 'mask'])} of its memory are its own")
    print(f"README.md and docs/speed.md: Python with NumPy takes {measured([sys.executable, '-c', NUMPY])}")
    print(f"`attn demo --all` takes {measured([attn, 'demo', '--all'])}")
    print(f"the program is a file of {os.path.getsize(attn) / 1e6:.0f} MB")
    print(f"the lessons: {ran([attn, 'lesson', 'check', 'walkthroughs']).stdout.splitlines()[-1]}")
    for command in ["demo", "glossary", "errata", "diagnose --list", "params"]:
        print(f"`attn {command}` lists {listed(attn, *command.split())}")


if __name__ == "__main__":
    main()
