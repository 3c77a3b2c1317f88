"""The functions of single numbers and the layer norm, computed with NumPy; writes functions.json next to itself.

    python functions.py

Nothing is computed as the program does. erf is its Taylor series, the integral of that of e^(-t²), and tanh and the sigmoid are
quotients of exponentials, all with 60 digits; the norms use NumPy's own mean and variance.
"""

from decimal import Decimal, getcontext

import numpy as np

import layout

getcontext().prec = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
X = [-30.0, -6.0, -3.0, -1.5, -0.75, -1e-3, 0.0, 1e-9, 0.25, 0.5, 1.0, 2.0, 3.5, 5.0, 8.0, 40.0]


def erf(x):
    if abs(x) > 9:
        return Decimal(1 if x > 0 else -1)
    total, power, number = Decimal(0), x, 0
    while abs(power) > Decimal(10) ** -55:
        total += power / (2 * number + 1)
        number += 1
        power *= -x * x / number
    return 2 * total / PI.sqrt()


def tanh(x):
    up, down = x.exp(), (-x).exp()
    return (up - down) / (up + down)


def gelu_tanh(x):
    return x / 2 * (1 + tanh((2 / PI).sqrt() * (x + Decimal("0.044715") * x**3)))


FUNCTIONS = {
    "tanh": tanh,
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "gelu": lambda x: x / 2 * (1 + erf(x / Decimal(2).sqrt())),
    "gelu-tanh": gelu_tanh,
    "normal-share": lambda x: (1 + erf(x / Decimal(2).sqrt())) / 2,
    "elu-plus-one": lambda x: x + 1 if x > 0 else x.exp(),
    "soft-cap": lambda x: 2 * tanh(x / 2),
}

values = {name: [float(f(Decimal(x))) for x in X] for name, f in FUNCTIONS.items()}

rng = np.random.default_rng(15)
x, other = rng.normal(size=(4, 6)) * 3 + 1, rng.normal(size=(4, 6))
gain, bias, epsilon = rng.normal(size=(1, 6)), rng.normal(size=(1, 6)), 1e-5
layer = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + epsilon)
rms = x / np.sqrt(np.mean(np.square(x), axis=1, keepdims=True) + epsilon)
matrices = {
    "x": x, "other": other, "gain": gain, "bias": bias,
    "layer-norm": layer, "layer-norm, gain": layer * gain, "layer-norm, gain and bias": layer * gain + bias,
    "rms-norm": rms, "rms-norm, gain": rms * gain, "quotient": np.divide(x, other),
    "times": np.multiply(x, 0.3), "squares": np.square(x), "root": np.abs(x),
}
about = "Functions of one number by series of 60 digits, and norms by NumPy; made by functions.py"
figures = {"x": X, **values, "matrices": {name: value.tolist() for name, value in matrices.items()}}
layout.write(__file__, {"about": about, **layout.versions(np), **figures})
