"""Arrays of float64 and what NumPy prints for them, one rule of its printing after the other.

    python array_printing.py               writes array_printing.json

The numbers are chosen, or drawn with a fixed seed, so that every rule is met at its edges and in combination.
"""

import sys

import numpy as np

import layout

np.set_printoptions(threshold=sys.maxsize)
random = np.random.default_rng(20240601)
nan, inf = np.nan, np.inf
cases = []


def add(rule, values, shape=None):
    array = np.array(values, dtype=np.float64)
    if shape is not None:
        array = array.reshape(shape)
    cases.append({
        "rule": rule,
        "shape": list(array.shape),
        "values": [value if np.isfinite(value) else str(value) for value in array.ravel().tolist()],
        "text": str(array),
    })


def normal(*shape):
    return random.standard_normal(shape)


def digits():
    rule = "at most eight digits follow the point, zeros trimmed to the longest"
    for rows in [
        [[1]], [[0]], [[-0.0]], [[0.5]], [[-1, 1]], [[1, 0.25], [0, 10]], [[1.1, 22.22], [333.333, 4]],
        [[1.999999999, 1]], [[0.99999999, 1]], [[0.999999999, 0.5]], [[9.9999999999, 1.5]], [[-9.9999999999]],
        [[1 / 3, 2 / 3]], [[1 / 3, 0.5, 1]], [[0.1 + 0.2]], [[np.pi, np.e]], [[100.125, -0.0]], [[-0.0, 1], [0, -1]],
        [[1000, 1]], [[12345678.5]], [[99999999.99999999]], [[99999999]], [[0.30000000000000004, 0.3]],
    ]:
        add(rule, rows)
    for places in range(10):
        add(rule, np.round(normal(3, 3) * 3, places))
    for _ in range(10):
        add(rule, normal(*random.integers(1, 6, 2)))


def ties():
    rule = "what is cut is rounded from the exact binary value, ties to even"
    for rows in [
        [[2.0**-9]], [[3 * 2.0**-9]], [[5 * 2.0**-9, 7 * 2.0**-9]], [[1 + 2.0**-9, 1 - 2.0**-9]], [[-(2.0**-9)]],
        [[1.000000005, 1.000000015]], [[1.000000025, 1.000000035]], [[0.123456785, 0.123456795]], [[0.000500005]],
        [[0.000100005, 0.000100015]], [[5e-9]], [[2.5e-9, 1]], [[1.000000005e-5, 1.000000015e-5]], [[1.5e-9, 2.5e-9]],
        [[2.0**-14, 1]], [[2.0**27 + 0.5]], [[1.1234567850e10, 1]], [[2.0**33 + 1, 2.0**33 + 3]],
        [[16777216.5, 16777217.5]], [[67108864.00000001, 100000.1]], [[90071992.54740993, 90071992.54740992]],
    ]:
        add(rule, rows)
    for exponent in range(9, 13):
        add(rule, (2 * random.integers(0, 2**exponent, (3, 3)) + 1) / 2.0**exponent)
    for _ in range(6):
        add(rule, (10 * random.integers(10**5, 10**9, (2, 3)) + 5) / 1e9)


def notation():
    rule = "scientific from 1e8 on, below 1e-4, and beyond a ratio of 1000"
    edges = [1e8, 1e-4, 100.0, 1000.0]
    for edge in edges:
        for value in [np.nextafter(edge, 0), edge, np.nextafter(edge, inf)]:
            add(rule, [[value]])
            add(rule, [[value, -value], [0, value]])
    for small, large in [(0.1, 100), (0.1, 100.00000000000001), (0.1, 99.99999999999999), (1, 1000), (1, 1000.0000000000001),
                         (-1, 1001), (0.0001, 0.1), (0.0001, 0.11), (1e-300, 1e300), (5e-324, 1.7976931348623157e308)]:
        add(rule, [[small, large]])
    for rows in [[[0, 1e8]], [[0, 1e-5]], [[inf, 1]], [[inf, 1e8]], [[nan, 1e-5]], [[-inf, 0.5, 600]], [[0, 0, 1001, 1]],
                 [[1, 2, 3, 1e10]], [[-1e8, 1]], [[-1e-5, 1]], [[1e-5, inf, nan]]]:
        add(rule, rows)
    for exponent in range(-12, 13, 2):
        add(rule, normal(2, 3) * 10.0**exponent)


def scientific():
    rule = "mantissas as long as the longest, exponents as long as the longest"
    for rows in [
        [[1e10, 1]], [[1e100, 1]], [[1e-100, 1]], [[1e100, 1e-100]], [[1e99, 1e100]], [[9.9999999996e99, 1]],
        [[9.9999999994e99, 1]], [[9.99999999996e9, 1]], [[1.5e10, 1.25]], [[-1.5e10, 1.25]], [[1e300, -1e-300, 0, -0.0]],
        [[5e-324, 1.5]], [[5e-324]], [[5e-324, 1.23456789]], [[1e-310, 1.23456789012]], [[1e-323, 1]], [[5e-324, 1e300, inf]],
        [[2.2250738585072014e-308, 1.7976931348623157e308]], [[1e23, 1]], [[9007199254740993, 1e-300]], [[1e22, 1e21]],
        [[123456789, 1]], [[123456789.123, 1]], [[1.99999999999e10, 1]], [[0.00001234567891, 0]], [[1e5, 1e-5]], [[4e15, 3.5]],
    ]:
        add(rule, rows)
    for _ in range(12):
        add(rule, normal(2, 3) * 10.0 ** random.integers(-120, 120, (2, 3)))
    for _ in range(6):
        add(rule, random.integers(0, 2**20, (2, 3)).astype(np.uint64).view(np.float64))
    for _ in range(6):
        add(rule, 2.0 ** random.integers(-1074, 1024, (2, 3)))
    for _ in range(6):
        scores = np.exp(normal(4, 4) * 9)
        add(rule, scores / scores.sum(axis=1, keepdims=True))


def not_finite():
    rule = "nan and inf stand at the right edge and may widen the cells"
    for values in [[nan], [inf], [-inf], [nan, inf], [nan, -inf], [inf, -inf, nan], [inf, 0], [-inf, 0], [nan, 0], [nan, -0.0],
                   [-inf, -1], [inf, 10], [-inf, 10], [inf, 100], [-inf, 100], [nan, 1.5], [inf, 1.5], [-inf, 1.5], [-inf, -1.5],
                   [-inf, 0.25], [nan, 1e10], [-inf, 1e10], [inf, 1.5e-10], [-inf, 1e100], [nan, -1e100, 2], [-inf, 12.5, 0]]:
        add(rule, [values])
        add(rule, [[value] for value in values])
    for _ in range(10):
        array = normal(3, 4)
        array[random.random((3, 4)) < 0.3] = random.choice([nan, inf, -inf])
        add(rule, array)
    for n in range(2, 7):
        add(rule, np.where(np.tril(np.ones((n, n))) == 1, normal(n, n), -inf))


def lines():
    rule = "lines hold 75 characters, brackets included; the rest is indented"
    for columns in [5, 6, 7, 12, 13, 14, 17, 18, 24, 25, 35, 36, 37, 38, 40, 60]:
        add(rule, np.ones((2, columns)))
        add(rule, [range(columns)])
    for columns in [5, 6, 7, 10, 12, 13, 18, 30]:
        add(rule, normal(2, columns))
    for columns in [4, 5, 6, 9, 11]:
        add(rule, normal(2, columns) * 10.0 ** random.integers(-9, 9, (2, columns)))
    add(rule, np.where(np.arange(48) % 11 == 10, 1.0, 0.125 * np.arange(48)), (2, 24))
    add(rule, np.where(np.arange(48) % 3 == 2, 1.0, 0.125), (2, 24))
    add(rule, np.where(np.arange(60) % 7 == 6, nan, 0.5), (2, 30))
    add(rule, np.where(np.arange(30) % 4 == 3, -inf, 1e-7 * np.arange(30)), (2, 15))


def shapes():
    rule = "shapes: none, one row, one column, one dimension"
    for shape in [(0, 0), (0, 3), (3, 0), (0,)]:
        add(rule, np.zeros(shape))
    for shape in [(1, 1), (1, 9), (9, 1), (5,), (6,), (40,), (1,), (2, 2)]:
        add(rule, normal(*shape))
        add(rule, np.round(normal(*shape) * 5))
    for values in [[1, 2, 2, 3], [0.125, 0.25, 0.25, 0.375], [1, -2, 2, 3], [nan, inf], [inf], np.ones(37), np.ones(24), range(25),
                   np.exp(np.arange(12.0)), np.exp(-np.arange(24.0)), [-inf, 0.5]]:
        add(rule, values)


def rounded():
    """What `np.round` makes of arrays, and how they print."""
    made = []
    arrays = [normal(3, 3) * 3, normal(2, 4) * 100, normal(3, 2) / 1000, np.array([[0.5, 1.5, 2.5, -0.5]]),
              np.array([[0.125, 0.375, -0.125]]), np.array([[2.675, 1.005, 0.285]]), np.array([[1e8, 0.123456], [1e-7, 5]]),
              np.array([[nan, inf, -inf, 1.23456]]), np.array([[1e300, 12345.678]]), np.eye(3) / 3]
    words = np.array([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]])
    norms = np.linalg.norm(words, axis=1)
    arrays.append(words @ words.T / np.outer(norms, norms))
    for array in arrays:
        for decimals in range(9):
            made.append({
                "decimals": decimals,
                "shape": list(array.shape),
                "values": [value if np.isfinite(value) else str(value) for value in array.ravel().tolist()],
                "text": str(np.round(array, decimals)),
            })
    return made


for section in [digits, ties, notation, scientific, not_finite, lines, shapes]:
    with np.errstate(all="ignore"):
        section()

about = "Arrays and what NumPy prints for them; made by array_printing.py"
with np.errstate(all="ignore"):
    size = layout.write(__file__, {"about": about, **layout.versions(np), "arrays": cases, "rounded": list(rounded())})
print(f"{len(cases)} arrays, {size} bytes")
