"""The nodes of the demos `online` and `blocks`, computed with NumPy; writes papers.json next to itself.

    python papers.py

Nothing here runs block by block. What `online` has after a block is computed from all keys up to there, straight from the
definition and in extended precision; what `blocks` counts is counted pair by pair, from the sentence that says who sees whom.
"""

import numpy as np

import layout

S = np.array([1, 2, 4, 1, 3, 0, 5, 2], dtype=np.longdouble)
V = np.array([[4, 0], [0, 2], [2, 2], [8, 0], [0, 4], [6, 2], [2, 6], [0, 8]], dtype=np.longdouble)


def online(s, v, length):
    nodes, maxima, sums, mixtures = {}, [], [], []
    for number, start in enumerate(range(0, len(s), length), 1):
        end = min(start + length, len(s))
        weights = np.exp(s[:end] - s[:end].max())
        maxima.append([s[:end].max()])
        sums.append([weights.sum()])
        mixtures.append(weights @ v[:end])
        nodes |= {
            f"max_{number}": [maxima[-1]], f"sum_{number}": [sums[-1]], f"mix_{number}": [mixtures[-1]],
            f"P_{number}": [weights[start:end]],
        }
        if start > 0:
            before = np.exp(s[:start] - s[:end].max())
            nodes |= {
                f"factor_{number}": [[np.exp(maxima[-2][0] - maxima[-1][0])]],
                f"sum_kept_{number}": [[before.sum()]], f"mix_kept_{number}": [before @ v[:start]],
                f"mix_new_{number}": [weights[start:end] @ v[start:end]],
            }
    weights = np.exp(s) / np.exp(s).sum()
    return nodes | {
        "max": maxima, "sum": sums, "mix": mixtures, "A": [weights], "A_online": [weights],
        "O": [weights @ v], "O_online": [weights @ v],
    }


def blocks(tokens, block_queries, block_keys, window):
    tops, lefts = range(0, tokens, block_queries), range(0, tokens, block_keys)

    def cells(top, left):
        return [(i, j) for i in range(top, min(top + block_queries, tokens)) for j in range(left, min(left + block_keys, tokens))]

    def under(sees):
        useful = [[sum(sees(i, j) for i, j in cells(top, left)) for left in lefts] for top in tops]
        size = [[len(cells(top, left)) for left in lefts] for top in tops]
        kind = [[0 if u == 0 else 2 if u == n else 1 for u, n in zip(*row)] for row in zip(useful, size)]
        computed = [[n if k else 0 for k, n in zip(*row)] for row in zip(kind, size)]
        return useful, kind, computed

    nodes, totals = {"all": [[tokens**2]]}, []
    for suffix, sees in [("", lambda i, j: j <= i), ("_window", lambda i, j: i - window < j <= i)]:
        useful, kind, computed = under(sees)
        nodes |= {f"useful{suffix}": useful, f"kind{suffix}": kind, f"computed{suffix}": computed}
        totals.append([tokens**2, sum(map(sum, computed)), sum(map(sum, useful))])
    return nodes | {"totals": totals, "shares": np.array(totals) / tokens**2}


def plain(value):
    return [[float(x) for x in row] for row in value]


cases = []
for length in [1, 2, 3, 4, 8]:
    cases.append(("online", {"block": length}, online(S, V, length)))
for tokens, block_queries, block_keys, window in [(8, 2, 2, 3), (8, 2, 2, 4), (9, 4, 2, 5), (16, 4, 4, 6), (5, 7, 1, 9)]:
    numbers = {"tokens": tokens, "block_queries": block_queries, "block_keys": block_keys, "window": window}
    cases.append(("blocks", numbers, blocks(**numbers)))

records = [
    {"demo": demo, "set": numbers, "nodes": {name: plain(value) for name, value in nodes.items()}}
    for demo, numbers, nodes in cases
]
about = "Nodes of the demos online and blocks by NumPy; made by papers.py"
layout.write(__file__, {"about": about, **layout.versions(np), "cases": records})
