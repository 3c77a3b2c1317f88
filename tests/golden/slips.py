"""What NumPy makes of two mistakes in the code of document 002; writes slips.json next to itself.

    python slips.py

sums_without_keepdims   the sums of the rows if line 54 is used on the whole table of line 52, and not on one row only
sums_with_keepdims      the same with keepdims=True
of_one_row              what line 54 gives for the one row of the text, rounded as there
printed                 what print shows at lines 94 and 111, where nothing rounds
"""

import numpy as np
from numpy.linalg import norm

import layout


def cos_sim_matrix(vectors):
    norms = norm(vectors, axis=1)
    return np.round(np.dot(vectors, vectors.T) / np.outer(norms, norms), 2)


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


table = np.exp(cos_sim_matrix(np.array([[3, 3], [4, 0], [0, 5]])))
row = table[:1, :2]
a = np.array([[3, 0], [0, 1]])
pair = np.array([[1, 1], [-1, 0]])
result = {
    "about": "What NumPy makes of two mistakes in document 002; made by slips.py",
    "numpy": np.__version__,
    "sums_without_keepdims": (table / np.sum(table, axis=1)).sum(axis=1).tolist(),
    "sums_with_keepdims": (table / np.sum(table, axis=1, keepdims=True)).sum(axis=1).tolist(),
    "of_one_row": np.round(row / np.sum(row, axis=1), 2).tolist(),
    "printed": [str(softmax(cos_sim_matrix(x)[0])) for x in (pair, pair @ a.T)],
}
layout.write(__file__, result)
