#!/usr/bin/env python3
"""The polynomials of crates/attn-kernel/src/real.rs: p(f) = 1 + c1 f + c2 f^2 + ... close to 2^f on [-1/2, 1/2].

Prints the coefficients of both, from the highest power down, as they stand in `Real::EXP2`, and how far p is from 2^f.
Needs mpmath:  python3 -m venv v && v/bin/pip install mpmath && v/bin/python benches/exp2.py

Minimax in the relative error e(f) = p(f) / 2^f - 1, with the constant term held at 1, so that 2^0 is exact. Since e(0) = 0,
what the theorem of Chebyshev says of polynomials holds for e(f) / f: among all p of degree n, that one is best whose e has
n + 1 extrema of equal size at which e(f) / f changes its sign. Remez finds it: solve for the coefficients and the size on
n + 1 points, move each point to the extremum beside it, repeat until all are equally large.
"""
import struct

import mpmath as mp

mp.mp.prec = 200
HALF = mp.mpf(1) / 2
GRID = 4000
ROUNDS = 30
EQUAL = mp.mpf("1.0001")


def relative_error(coefficients, f):
    return mp.polyval(coefficients[::-1], f) / mp.power(2, f) - 1


def solved(points):
    """The coefficients, from the constant term up, whose error on the points is of one size."""
    n = len(points) - 1
    matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
    for row, f in enumerate(points):
        for power in range(1, n + 1):
            matrix[row, power - 1] = f**power / mp.power(2, f)
        # The sign of e / f alternates; that of e therefore too, but for the one step over 0.
        matrix[row, n] = -((-1) ** row) * (1 if f > 0 else -1)
        right[row] = 1 - mp.power(2, -f)
    return [mp.mpf(1)] + list(mp.lu_solve(matrix, right))[:n]


def extrema(coefficients):
    """Where |e| is largest between two changes of the sign of e / f, from left to right: (f, |e(f)|)."""
    found, sign = [], None
    for step in range(GRID + 1):
        f = -HALF + mp.mpf(step) / GRID
        if f == 0:
            continue
        error = relative_error(coefficients, f)
        if mp.sign(error / f) != sign:
            sign = mp.sign(error / f)
            found.append((f, abs(error)))
        elif abs(error) > found[-1][1]:
            found[-1] = (f, abs(error))
    return found


def minimax(n):
    """The best p of degree n, and its largest relative error."""
    points = sorted(HALF * mp.cos(mp.pi * (2 * i + 1) / (2 * (n + 1))) for i in range(n + 1))
    for _ in range(ROUNDS):
        coefficients = solved(points)
        found = extrema(coefficients)
        while len(found) > n + 1:
            found.pop(0 if found[0][1] < found[-1][1] else -1)
        assert len(found) == n + 1, f"{len(found)} extrema of a polynomial of degree {n}"
        sizes = [size for _, size in found]
        if max(sizes) < EQUAL * min(sizes):
            return coefficients, max(sizes)
        points = [f for f, _ in found]
    raise SystemExit(f"degree {n}: no end after {ROUNDS} rounds")


def as_f32(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def shortest_f32(x):
    """The shortest decimal that reads back as this f32."""
    return next(text for digits in range(1, 18) if as_f32(text := f"{x:.{digits}g}") == x)


def main():
    for name, degree, precision, nearest, text in (
        ("f32", 6, 24, as_f32, shortest_f32),
        ("f64", 11, 53, float, repr),
    ):
        coefficients, size = minimax(degree)
        rounded = [nearest(c) for c in coefficients]
        after = max(size for _, size in extrema([mp.mpf(c) for c in rounded]))
        ulp = mp.mpf(2) ** (1 - precision)
        print(f"{name}, degree {degree}: relative error {mp.nstr(size, 3)} ({mp.nstr(size / ulp, 3)} ulp of 1), "
              f"{mp.nstr(after, 3)} with rounded coefficients")
        for c in reversed(rounded):
            print(f"    {text(c)}")


if __name__ == "__main__":
    main()
