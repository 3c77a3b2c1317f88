"""The nodes of the demos of document 002, computed with NumPy; writes similarity.json next to itself.

    python similarity.py

Where the document has code, this follows it (similarities and weights rounded to two decimals on the way); the figures that
it prints are checked here. Names become vectors by counting characters, and are normalised as text, not by a matrix. The
heads of `multihead` are computed at once, by reshaping to (heads, tokens, width).
"""

import string

import numpy as np
from numpy.linalg import norm

import layout


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def cosine(x):
    return x @ x.T / np.outer(norm(x, axis=1), norm(x, axis=1))


def distance(x):
    return norm(x[:, None, :] - x[None, :, :], axis=2)


bat, cave, racket = np.array([3.0, 3]), np.array([4.0, 0]), np.array([0.0, 5])


def similarity():
    x = np.array([bat, cave, racket])
    unit = x / norm(x, axis=1, keepdims=True)
    squash = np.array([[2.0, 2], [4, 1], [1, 4]])
    assert (np.round(cosine(x), 2) == [[1, 0.71, 0.71], [0.71, 1, 0], [0.71, 0, 1]]).all(), "002:52"
    return {
        "X": x, "dot": x @ x.T, "scaled": x @ x.T / np.sqrt(2), "cosine": cosine(x), "euclidean": distance(x),
        "X_unit": unit, "dot_unit": unit @ unit.T, "euclidean_unit": distance(unit),
        "X_squash": squash, "dot_squash": squash @ squash.T, "cosine_squash": cosine(squash),
        "euclidean_squash": distance(squash),
    } | in_two_sentences(squash)


def in_two_sentences(squash):
    """One query, squash, that attends to itself and to the other word of its sentence, by a plain sum over both."""
    nodes = {}
    for name, other in [("git", squash[1]), ("kitchen", squash[2])]:
        powers = np.array([np.exp(squash[0] @ key / np.sqrt(2)) for key in (squash[0], other)])
        share = powers / powers.sum()
        nodes |= {f"A_{name}": share[None, :], f"O_{name}": (share[0] * squash[0] + share[1] * other)[None, :]}
    return nodes


def introduction():
    """The document's introduction: a pronoun, the steps of an RNN, a picture in patches."""
    words = "The cat sat on the mat because it was tired".split()
    living, thing = {"cat": 2, "it": 1}, {"mat": 2, "it": 1}
    scores = np.array([3 * living.get(word, 0) + 0 * thing.get(word, 0) for word in words])
    kept, carried = [], 1.0
    for step in range(10):
        if step + 1 in (2, 3, 5, 10):
            kept.append(carried)
        carried /= 2
    image = np.kron(np.eye(2), np.ones((2, 2)))
    patches = image.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(4, 4)
    return {
        "A_it": softmax(scores / np.sqrt(2))[None, :],
        "rnn_steps": np.array([[1, 2, 4, 9]]), "rnn_kept": np.array([kept]),
        "X_patches": patches, "A_patches": softmax(patches @ patches.T / 2),
    }


def context():
    nodes = {}
    for name, x in [("cave", np.array([bat, cave])), ("racket", np.array([bat, racket]))]:
        s = cosine(x)
        scaled = x @ x.T / np.sqrt(2)
        nodes |= {
            f"X_{name}": x, f"S_{name}": s, f"A_{name}": softmax(s), f"O_{name}": softmax(s) @ x,
            f"scaled_{name}": scaled, f"A_scaled_{name}": softmax(scaled), f"O_scaled_{name}": softmax(scaled) @ x,
        }
    s = nodes["S_cave"]
    early = np.round(softmax(np.round(s, 2)), 2)
    assert (early[0] == [0.57, 0.43]).all(), "002:54"
    x = nodes["X_cave"]
    # 002:36 and 38, both rows of both sentences, as the document adds them up.
    tie = 1 / np.sqrt(2)
    by_hand = {
        "mixture_cave": np.array([bat + tie * cave, tie * bat + cave]),
        "mixture_racket": np.array([bat + tie * racket, tie * bat + racket]),
    }
    assert (np.round(softmax(np.round(nodes["S_racket"], 2)), 2) == [[0.57, 0.43], [0.43, 0.57]]).all(), "002:42, 43"
    return introduction() | nodes | by_hand | {
         "S_rounded_cave": np.round(s, 2), "A_rounded_cave": early, "O_rounded_cave": early @ x,
        "difference_cave": early @ x - softmax(s) @ x,
    }


def stretch():
    v12, v34 = np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 1], [-1, 0]])
    a = np.array([[3.0, 0], [0, 1]])
    turn, shear = np.array([[0.6, -0.8], [0.8, 0.6]]), np.array([[1.0, 1], [0, 1]])
    mirror, shadow = np.diag([1.0, -1]), np.diag([1.0, 0])
    assert np.linalg.det(mirror) < 0 and np.linalg.matrix_rank(shadow) == 1

    def moved(matrix, rows):  # as the document does it: the matrix times each vector as a column
        return np.array([(matrix @ row.reshape(2, 1)).squeeze() for row in rows])

    stretched = moved(a, v34)
    assert np.round(cosine(v34), 2)[0, 1] == -0.71 and np.round(cosine(stretched), 2)[0, 1] == -0.95, "002:91, 108"
    assert (np.round(softmax(np.round(cosine(v34), 2)), 2)[0] == [0.85, 0.15]).all(), "002:96"
    assert (np.round(softmax(np.round(cosine(stretched), 2)), 2)[0] == [0.88, 0.12]).all(), "002:113"
    return {
        "X_12": v12, "X_34": v34, "X_12_stretched": moved(a, v12), "X_34_stretched": stretched,
        "S_12": cosine(v12), "S_12_stretched": cosine(moved(a, v12)), "S_34": cosine(v34),
        "S_34_stretched": cosine(stretched), "A_34": softmax(cosine(v34)), "A_34_stretched": softmax(cosine(stretched)),
        "X_34_rotated": moved(turn, v34), "S_34_rotated": cosine(moved(turn, v34)),
        "X_34_reflected": moved(mirror, v34), "S_34_reflected": cosine(moved(mirror, v34)),
        "X_34_projected": moved(shadow, v34), "S_34_projected": cosine(moved(shadow, v34)),
        "X_12_sheared": moved(shear, v12), "S_12_sheared": cosine(moved(shear, v12)),
    }


def lookup():
    queries, keys = ["Alex", "Bob"], ["alex.", "Alec", "Bob"]
    values = np.array([[30, 5550101], [40, 5550199], [60, 5550123]], dtype=float)

    def counts(names, characters):
        return np.array([[name.count(c) for c in characters] for name in names], dtype=float)

    def plain(name):
        return name.lower().translate(str.maketrans("", "", string.punctuation))

    table = dict(zip(keys, values))
    exact = np.array([table.get(name, np.zeros(2)) for name in queries])
    characters, letters = "AalexcBbo.", "alexcbo"
    q, k = (counts([plain(name) for name in names], letters) for names in (queries, keys))
    weights, sharp = softmax(q @ k.T), softmax(q @ k.T * 8)
    return {
        "V": values, "O_exact": exact, "X_Q": counts(queries, characters), "X_K": counts(keys, characters),
        "S_as_written": counts(queries, characters) @ counts(keys, characters).T,
        "Q": q, "K": k, "S": q @ k.T, "A": weights, "O": weights @ values, "A_sharp": sharp, "O_sharp": sharp @ values,
    }


def multihead():
    x = np.array([[1.0, 0], [0, 1], [1, 1]])
    heads = [
        [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[2, 0], [0, 1]]],
        [[[1, 1], [0, 1]], [[1, 0], [-1, 1]], [[0, 1], [3, 0]]],
    ]
    q, k, v = (np.concatenate([np.array(head[role], dtype=float) for head in heads], axis=1) for role in range(3))

    def split(projected):  # (tokens, heads · width) to (heads, tokens, width)
        return projected.reshape(3, 2, 2).transpose(1, 0, 2)

    def joined(outputs):
        return outputs.transpose(1, 0, 2).reshape(3, 4)

    queries, keys, values = split(x @ q), split(x @ k), split(x @ v)
    scaled = queries @ keys.transpose(0, 2, 1) / np.sqrt(2)
    masked = np.where(np.tril(np.ones((3, 3))) == 1, scaled, -np.inf)
    weights, causal = softmax(scaled), softmax(masked)
    c, c_causal = joined(weights @ values), joined(causal @ values)
    nodes = {"X": x, "C": c, "C_blocks": c, "C_causal": c_causal, "O": c_causal[:, :2] + c_causal[:, 2:]}
    for head in range(2):
        nodes |= {f"Q_{head + 1}": queries[head], f"K_{head + 1}": keys[head], f"V_{head + 1}": values[head]}
        nodes |= {f"S_scaled_{head + 1}": scaled[head], f"A_{head + 1}": weights[head], f"A_causal_{head + 1}": causal[head]}
    return nodes


demos = {demo.__name__: demo() for demo in (similarity, context, stretch, lookup, multihead)}
about = "Nodes of the demos of document 002 by NumPy; made by similarity.py"
nodes = {name: {node: matrix.tolist() for node, matrix in demo.items()} for name, demo in demos.items()}
layout.write(__file__, {"about": about, **layout.versions(np), **nodes})
