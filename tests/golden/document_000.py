"""The figures of document 000, computed again with NumPy.

    python document_000.py                 writes document_000.json, checked against document_000_printed.txt
    python document_000.py DOCUMENT.txt    first takes the printed arrays out of the document's text

The document draws every random matrix from one stream, seed 0, in the order in which they stand below. Its left
interaction matrix L is called A here where it is the softmax of scores S; its softmax subtracts no maximum.
"""

import re
import sys
from pathlib import Path

import numpy as np

import layout

HERE = Path(__file__).parent
PRINTED = HERE / "document_000_printed.txt"
SEPARATOR = "\n---\n"

records = []


def record(demo, case, name, array, drawn=False, printed=False):
    """Keeps a matrix with its place in the document."""
    records.append({
        "demo": demo,
        "case": case,
        "name": name,
        "drawn": drawn,
        "printed": printed,
        "text": str(array),
        "values": [[value if np.isfinite(value) else str(value) for value in row] for row in array.tolist()],
    })
    return array


def draw(demo, case, name, rows, cols, printed=False):
    return record(demo, case, name, np.random.randn(rows, cols), drawn=True, printed=printed)


def shares(scores):
    """eˣ, each row divided by its sum."""
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def left_and_right():
    T, E, H1 = 4, 5, 6
    x = draw("left", None, "X", T, E, printed=True)

    def mix(case, L, drawn=False):
        record("left", case, "L", L, drawn=drawn, printed=True)
        record("left", case, "L X", L @ x, printed=True)

    mix("identity", np.eye(T))
    mix("ones", np.ones((T, T)))
    mix("triangle", np.tril(np.ones((T, T))))
    mix("random", np.random.randn(T, T), drawn=True)
    mix("softmax", shares(draw("left", "softmax", "S", T, T)))

    R = draw("right", None, "R", E, H1, printed=True)
    record("right", None, "X R", x @ R, printed=True)


def attention(demo, case, T, E, H1, H2, causal=False):
    X = draw(demo, case, "X", T, E)
    W_Q = draw(demo, case, "W_Q", E, H2)
    W_K = draw(demo, case, "W_K", E, H2)
    W_V = draw(demo, case, "W_V", E, H1)
    Q = record(demo, case, "Q", X @ W_Q)
    K = record(demo, case, "K", X @ W_K)
    V = X @ W_V
    S = record(demo, case, "S", Q @ K.T)
    if causal:
        S = record(demo, case, "S_masked", np.where(np.tril(np.ones(S.shape)) == 1, S, -np.inf))
    A = record(demo, case, "A", shares(S), printed=True)
    record(demo, case, "V", V, printed=True)
    record(demo, case, "O", A @ V, printed=True)


def main():
    if len(sys.argv) > 1:
        text = Path(sys.argv[1]).read_text(encoding="utf-8")
        arrays = re.findall(r"^\[\[.*?\]\]$", text, flags=re.MULTILINE | re.DOTALL)
        PRINTED.write_text(SEPARATOR.join(arrays) + "\n", encoding="utf-8")

    np.random.seed(0)
    left_and_right()
    attention("qkv", "wide", T=4, E=5, H1=6, H2=7)
    attention("qkv", "square", T=4, E=5, H1=5, H2=5)
    attention("mask", None, T=4, E=5, H1=5, H2=5, causal=True)

    document = PRINTED.read_text(encoding="utf-8").removesuffix("\n").split(SEPARATOR)
    computed = [entry["text"] for entry in records if entry["printed"]]
    assert computed == document, "NumPy prints something else than the document"
    numbers = sum(len(re.findall(r"\d\.\d", text)) for text in document)
    every = sum(len(re.findall(r"\d\.", text)) for text in document)
    print(f"{len(document)} arrays, {every} numbers, {numbers} of them with decimals: all as the document prints them")

    about = "Document 000 computed again; made by document_000.py"
    layout.write(__file__, {"about": about, **layout.versions(np), "seed": 0, "matrices": records})


main()
