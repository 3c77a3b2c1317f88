"""Files in NumPy's formats, ordinary and odd, and what NumPy makes of each: writes numpy_reads.json.

    python3 tests/input/numpy_reads.py

Each case has the bytes of a file, and what `numpy.load` gives: the shape and the numbers (the bits of each as an f64); "other" where it
reads something but real numbers; or null where it refuses. A case with "stricter" is read by NumPy and refused by attn, for the reason
given there.
"""

import io
import itertools
import json
import pathlib
import random
import struct
import warnings
import zipfile

import numpy as np

warnings.simplefilter("ignore")
RANDOM = random.Random(14)
cases = []


def load(name, data):
    try:
        loaded = np.load(io.BytesIO(data))
        if name.endswith(".npz"):
            [only] = loaded.files
            loaded = loaded[only]
    except Exception:
        return None
    if not isinstance(loaded, np.ndarray) or loaded.dtype.kind not in "fiub" or loaded.dtype.itemsize > 8 or loaded.size == 0:
        return "other"
    numbers = [struct.pack(">d", x).hex() for x in loaded.astype(np.float64).ravel()]
    return {"dims": list(loaded.shape) or [1], "numbers": numbers}


def case(what, name, data, stricter=None):
    found = load(name, data)
    entry = {"what": what, "name": name, "bytes": data.hex(), "numpy": found}
    if stricter and found not in (None, "other"):
        entry["stricter"] = stricter
    cases.append(entry)


def npy(header, data, version=1):
    text = header.encode("utf-8" if version == 3 else "latin1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def header(descr="'<f8'", order="False", shape="(2, 3)", end=", }\n"):
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + end


def numbers(count, size):
    return bytes(RANDOM.choice([0, 0, 1, 2, 60, 64, 65]) for _ in range(count * size))


# Types by every name that numpy.dtype may know: letters, orders, sizes, words.
letters = "?bBhHiIlLqQpPnNefdgFDGOSUVMmcT"
names = set(letters) | {order + letter for order, letter in itertools.product("<>=|", letters)}
names |= {order + kind + str(size) for order, kind, size in itertools.product(["", "<", ">", "=", "|"], "biuf", [1, 2, 3, 4, 8, 16])}
words = "bool bool_ int8 byte int16 short int32 intc int64 int int_ long longlong intp uint8 ubyte uint16 ushort uint32 uintc uint64"
words += " uint ulong ulonglong uintp float16 half float32 single float64 float double longdouble complex64 str object Float64 float_"
words += " <float64 =int f08 2f8 (2,)f8 f8,f8 f8, F8 f i2 <"
names |= set(words.split()) | {"", " f8", "f8 ", "\u00e9"}
for name in sorted(names):
    try:
        size = np.dtype(name).itemsize
    except Exception:
        size = 8
    case(f"type {name}", "x.npy", npy(header(repr(name), shape="(3,)"), numbers(3, size)))

# Shapes, orders and the spelling of the header.
data = struct.pack("<6d", 1, -2, 0.5, 4, 5, 6)
for shape in ["(2, 3)", "(6,)", "(6, )", "(2,3,)", "(1, 2, 3)", "(2L, 3L)", "(2 L, 3)", "(0x2, 3)", "(0b10, 0o3)", "(02, 3)", "(+2, 3)",
              "(2_0, 3)", "(6_, )", "((2), 3)", "(2)", "[2, 3]", "(2, 3", "2, 3", "()", "(2.0, 3)", "(6, True)", "('2', 3)", "(2,, 3)",
              "(None, 3)", "(2, 3) # comment\n", "(2, # a )\n3)", "(1, 6)", "(3, 2)", "(4, 2)", "(2l, 3l)", "(2, 3L)", "(1, 1, 2, 3)"]:
    for version in [1, 2, 3]:
        stricter = "bytes stand behind the numbers" if shape == "()" else None
        case(f"shape {shape}, version {version}", "x.npy", npy(header(shape=shape), data, version), stricter)
for order in ["True", "False", "1", "0", "'False'", "None", "true", "(True)", "not True"]:
    case(f"order {order}", "x.npy", npy(header(order=order), data))
for text in [
    "{'shape': (2, 3), 'descr': '<f8', 'fortran_order': False}",
    '{"descr": "<f8", "fortran_order": False, "shape": (2, 3)}',
    "{'descr':'<f8','fortran_order':False,'shape':(2,3)}",
    "{'descr': u'<f8', 'fortran_order': False, 'shape': (2, 3)}",
    "{'descr': '<' 'f8', 'fortran_order': False, 'shape': (2, 3)}",
    "{'descr': '''<f8''', 'fortran_order': False, 'shape': (2, 3)}",
    "({'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)})",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)},",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} x",
    "  \t{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
    "{'descr': '<f8',\n 'fortran_order': False,\n 'shape': (2, 3)}\n\n",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}",
    "{'descr': '<f8', 'fortran_order': False}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3),, }",
    "{'descr': ('<f8', (1,)), 'fortran_order': False, 'shape': (2, 3)}",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,)}",
    "['descr', '<f8', 'fortran_order', False, 'shape', (2, 3)]",
    "dict(descr='<f8', fortran_order=False, shape=(2, 3))",
    "",
    "{",
    "# only a comment",
]:
    stricter = "the type has a shape of its own" if "(1,)" in text else None
    case(f"header {text}", "x.npy", npy(text, data), stricter)
case("field twice", "x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'shape': (3, 2)}", data),
     "a field is given twice")
case("bytes behind", "x.npy", npy(header(), data + b"\0"), "bytes stand behind the numbers")
case("too short", "x.npy", npy(header(), data[:-1]))
case("long header", "x.npy", npy(header() + " " * 9000, data, 2))
case("too long a header", "x.npy", npy(header() + " " * 11000, data, 2))

# Archives: what stands before, behind and between, and what the list of entries says.
for compress in [np.savez, np.savez_compressed]:
    file = io.BytesIO()
    compress(file, X=np.array([[1.0, 2.0], [3.0, -4.5]]))
    whole = file.getvalue()
    case("archive", "x.npz", whole)
    end = whole.rindex(b"PK\x05\x06")
    for junk in [b"\0", b"junk" * 10, whole]:
        case("bytes before", "x.npz", junk + whole, "bytes stand before the archive")
        case("bytes behind", "x.npz", whole + junk, "bytes stand behind the archive")
    case("comment", "x.npz", whole[:-2] + b"\x05\0hello")
    case("comment cut off", "x.npz", whole[:-2] + b"\x06\0hello", "the comment is not whole")
    for field, size in [(8, 2), (10, 2), (12, 4), (16, 4)]:
        for change in [1, 7, 0x7000]:
            [value] = struct.unpack("<I", whole[end + field:end + field + size].ljust(4, b"\0"))
            changed = (value + change) % (1 << 8 * size)
            lie = whole[:end + field] + struct.pack("<I", changed)[:size] + whole[end + field + size:]
            case(f"end of the archive, field {field} + {change}", "x.npz", lie, "the archive contradicts itself")
    for length in range(0, len(whole), 41):
        case(f"cut off at {length}", "x.npz", whole[:length])
file = io.BytesIO()
with zipfile.ZipFile(file, "w") as archive:
    for value in [1.0, 2.0]:
        archive.writestr("X.npy", npy(header(shape="(1,)"), struct.pack("<d", value)))
entry = {"what": "name twice", "name": "x.npz", "bytes": file.getvalue().hex(), "numpy": "other"}
cases.append(entry)

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text("[\n" + ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases) + "\n]\n")
read = sum(isinstance(case["numpy"], dict) for case in cases)
print(f"{len(cases)} files, {read} of numbers, {sum('stricter' in case for case in cases)} refused by attn alone")
