#!/usr/bin/env python3
"""Made what lies here, with the program of commit 509c107f: graphs, recordings, a model in training, a quiz that was stopped, lessons.

    tests/saved/make.py PROGRAM

Later programs must open all of it and give the same numbers; so it is not made again."""
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ATTN = str(pathlib.Path(sys.argv[1]).resolve())
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "80", "ATTN_STATE_DIR": str(HERE / "state")}


def attn(*args, file=None):
    run = subprocess.run([ATTN, *args], cwd=HERE, env=ENV, capture_output=True, check=True)
    if file:
        (HERE / file).write_bytes(run.stdout)


GRAPHS = {
    "mask": ["demo", "mask"], "gqa": ["demo", "gqa"], "rope": ["demo", "rope"], "cache": ["demo", "cache"], "backward": ["demo", "backward"],
    "words": ["attend", "--words", "bat cave racket", "--causal"],
    "mechanisms": ["attend", "--random", "5,16", "--heads", "4", "--position", "rope", "--qk-norm", "--softcap", "2", "--sink", "0.5", "--window", "3",
                   "--residual"],
    "hidden": ["attend", "--x", "1 2; 3 4", "--mask", "0 0; 1 1", "--mask-kind", "allow"],
    "gradients": ["attend", "--words", "bat cave racket", "--loss", "cross-entropy", "--targets", "1,2,1"],
    "infinite": ["attend", "--x", "1e200 1; 1e200 3"],
    "layer": ["model", "words", "the bat sleeps", "--layer", "1"],
}
KEYS = {
    "mask": ["demo", "mask"], "words": ["attend", "--words", "bat cave racket", "--causal"],
}
for folder in ("graphs", "recordings", "learned", "state"):
    shutil.rmtree(HERE / folder, ignore_errors=True)
    (HERE / folder).mkdir()
for name, args in GRAPHS.items():
    attn(*args, "--format", "json", file=f"graphs/{name}.json")
for name, args in KEYS.items():
    keys = "Down\nRight\nEnter\nTab\nEnter\ne\n7\nEnter\nu\nC-r\n/\nA\nEnter\nLeft\nDown\nq\n"
    (HERE / f"recordings/{name}.keys.txt").write_text(keys)
    attn("explore", *args, "--play", f"recordings/{name}.keys.txt", "--cast", f"recordings/{name}.cast")
    attn("explore", *args, "--play", f"recordings/{name}.keys.txt", "--plain", file=f"recordings/{name}.said.txt")
attn("learn", "reverse", "--steps", "20", "--save", "learned/reverse", "--every", "10", "--seed", "3")
attn("model", "learned/reverse", "--ids", "1,2,3,4", "--format", "json", file="learned/reverse.json")
attn("model", "learned/reverse", "--ids", "1,2,3,4", "--at", "10", "--format", "json", file="learned/reverse-at-10.json")
(HERE / "lesson.md").unlink(missing_ok=True)
attn("lesson", "new", "lesson.md")
shutil.copy(ROOT / "tests/lessons/mask.md", HERE / "lesson-of-a-mask.md")

# A quiz that was stopped with Ctrl-C.
pid, terminal = pty.fork()
if not pid:
    os.chdir(HERE)
    os.execve(ATTN, [ATTN, "lesson", "quiz", "0-tour", "--seed", "31"], ENV)
for keys in (b"12\r", b"9\r", b"h\r", b"\x03"):
    time.sleep(1.5)
    os.write(terminal, keys)
time.sleep(1)
os.close(terminal)
os.waitpid(pid, 0)
