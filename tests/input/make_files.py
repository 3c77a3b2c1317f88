"""Makes the files beside it, and expected.json with what NumPy itself reads from them.

Run with: python tests/input/make_files.py
Made with Python 3.11, NumPy 2.4.6 and safetensors 0.8.0.
"""

import json
import pathlib

import numpy as np
import safetensors.numpy

HERE = pathlib.Path(__file__).parent
expected = {}


def decimals(array):
    """The most decimals of any number in the shortest text of the array's own type; None for truth values."""
    if array.dtype == bool:
        return None
    if array.dtype.kind in "iu":
        return 0
    texts = [np.format_float_positional(x, unique=True, trim="-") for x in array.ravel() if np.isfinite(x)]
    return min(17, max(len(text.partition(".")[2]) for text in texts))


def written(values):
    """Nested lists with the numbers that JSON lacks as strings."""
    if isinstance(values, list):
        return [written(value) for value in values]
    return values if np.isfinite(values) else str(values)


def expect(name, array):
    values = np.ascontiguousarray(array).astype(np.float64).ravel().tolist()
    expected[name] = {
        "dims": list(array.shape) or [1],
        "values": written(values),
        "boolean": bool(array.dtype == bool),
        "decimals": decimals(array),
    }


def npy(name, array):
    np.save(HERE / name, array)
    expect(name, array)


grid = np.array([[0.43, -1.5, 2.0], [1e-3, 100.25, -0.0]])
for dtype in ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2"]:
    name = dtype.replace("<", "little_").replace(">", "big_") + ".npy"
    npy(name, grid.astype(dtype))
for dtype in ["i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"]:
    name = dtype.replace("<", "little_").replace(">", "big_") + ".npy"
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    npy(name, np.array([[low, high, 7]], dtype=dtype))
npy("bool.npy", np.array([[True, False], [True, True]]))
npy("fortran.npy", np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)))
npy("row.npy", np.array([1.0, 2.5, 4.0]))
npy("scalar.npy", np.array(2.5))
npy("heads.npy", np.arange(12.0).reshape(2, 3, 2) / 8)
npy("heads_in_a_batch.npy", np.arange(12.0).reshape(1, 2, 3, 2) / 8)
npy("scores.npy", np.array([[0.5, -np.inf], [np.inf, 5e-324]]))

np.save(HERE / "with_nan.npy", np.array([[1.0, 2.0], [3.0, np.nan]]))
np.save(HERE / "complex.npy", np.array([1j]))
np.save(HERE / "records.npy", np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")]))
np.save(HERE / "objects.npy", np.array([1, "two"], dtype=object), allow_pickle=True)

matrices = {
    "X": np.array([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]),
    "wq": np.eye(2, dtype=np.float32),
    "W_K": np.array([[1, 2], [3, 4]]),
    "W_V": np.array([[0.5, 0.25], [0.125, -1.0]], dtype=np.float16),
}
tokens = np.array(["bat", "cave", "racket"])
mask = np.tril(np.ones((3, 3), dtype=bool))
np.savez(HERE / "stored.npz", tokens=tokens, mask=mask, **matrices)
np.savez_compressed(HERE / "deflated.npz", tokens=tokens, mask=mask, **matrices)
for name, array in matrices.items():
    expect("npz/" + name, array)
expect("npz/mask", mask)


def projections(layer, width):
    rng = np.random.default_rng(layer)
    prefix = f"model.layers.{layer}.self_attn."
    return {
        prefix + letter + "_proj.weight": rng.integers(-8, 8, (width, 4)).astype(np.float32) / 4
        for letter in "qkvo"
    }


model = {
    "model.embed_tokens.weight": np.ones((5, 4), dtype=np.float32),
    "model.layers.0.self_attn.q_proj.bias": np.zeros(4, dtype=np.float32),
    **projections(0, 4),
    **projections(1, 4),
}
safetensors.numpy.save_file(model, HERE / "model.safetensors")
for name, array in model.items():
    expect("model/" + name, array)

stacked = np.arange(12.0).reshape(6, 2)
safetensors.numpy.save_file(
    {"in_proj_weight": stacked, "out_proj.weight": np.eye(2), "in_proj_bias": np.zeros(6)}, HERE / "stacked.safetensors"
)
for third, name in enumerate(["W_Q", "W_K", "W_V"]):
    expect("stacked/" + name, stacked[2 * third : 2 * third + 2])


def bf16(array):
    """The upper halves of float32 numbers, to the nearest, ties to even: the bits of bfloat16."""
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


# NumPy has no bfloat16, so that the files of single tensors are put together here: length, header, bytes.
halves = bf16(grid)
for kind, data, read in [
    ("F64", grid, grid),
    ("F32", grid.astype("<f4"), grid.astype("<f4")),
    ("F16", grid.astype("<f2"), grid.astype("<f2")),
    ("BF16", halves, from_bf16(halves)),
    ("BOOL", grid > 0, grid > 0),
    ("I32", np.array([[1, -2, 3], [4, 5, 6]], dtype="<i4"), np.array([[1, -2, 3], [4, 5, 6]], dtype="<i4")),
]:
    info = {"X": {"dtype": kind, "shape": [2, 3], "data_offsets": [0, data.nbytes]}}
    header = json.dumps(info).encode()
    name = f"{kind.lower()}.safetensors"
    (HERE / name).write_bytes(len(header).to_bytes(8, "little") + header + data.tobytes())
    expect(name, read)

# Decimals in bfloat16: the fewest digits that round back to the same bits.
expected["bf16.safetensors"]["decimals"] = max(
    next(
        len(np.format_float_positional(np.float64(text), trim="-").partition(".")[2])
        for text in (f"{value:.{digits}e}" for digits in range(12))
        if bf16(np.array([float(text)]))[0] == bits
    )
    for value, bits in zip(from_bf16(halves).ravel(), halves.ravel())
)

(HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
