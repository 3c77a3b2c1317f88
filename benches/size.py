#!/usr/bin/env python3
"""Prints how large the program is: files and lines of code, crates, seconds of CPU of a build from nothing, bytes of the program.

    benches/size.py            files, lines and crates
    benches/size.py release    also builds with that profile in an empty folder

A line of code is no blank line, no comment and no part of a module of tests. Nothing is enforced: it is a picture to look at."""
import collections
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def lines_of_code(text):
    code = text.split("#[cfg(test)]\nmod tests {")[0]
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in code.splitlines())


def table():
    rooms = collections.defaultdict(lambda: [0, 0])
    for path in sorted(ROOT.glob("src/**/*.rs")) + sorted(ROOT.glob("crates/*/src/**/*.rs")):
        folders = path.relative_to(ROOT).parts[:-1]
        lines = 0 if "tests" in folders or path.name == "tests.rs" else lines_of_code(path.read_text())
        if lines:
            room = rooms["/".join(folders[: 2 if folders[0] == "src" else 4])]
            room[0] += 1
            room[1] += lines
    for room, (files, lines) in rooms.items():
        print(f"{room:34} {files:5} files {lines:7} lines")
    print(f"{'all':34} {sum(f for f, _ in rooms.values()):5} files {sum(n for _, n in rooms.values()):7} lines")
    tests = [path.read_text() for path in ROOT.glob("tests/**/*.rs")]
    print(f"{'tests':34} {len(tests):5} files {sum(map(lines_of_code, tests)):7} lines")


def crates():
    tree = ["cargo", "tree", "-e", "normal,build", "--prefix", "none"]
    printed = subprocess.run(tree, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    print(f"{len(set(printed.splitlines()))} lines of cargo tree, a crate with a mark (*) beside the same crate")


def build(profile):
    with tempfile.TemporaryDirectory() as target:
        subprocess.run(["cargo", "build", "--locked", "--profile", profile, "--target-dir", target], cwd=ROOT, check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        program = os.path.join(target, "debug" if profile == "dev" else profile, "attn")
        print(f"{profile}: {used.ru_utime + used.ru_stime:.0f} s of CPU, {os.path.getsize(program)} bytes")


table()
crates()
for profile in sys.argv[1:]:
    build(profile)
