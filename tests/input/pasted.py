"""Writes further files like those that people have into pasted/, and pasted.json with what each holds.

The files named in FROM_PROGRAMS were written by the programs whose names they bear (PyTorch 2, SciPy, openpyxl, pandas, h5py, NumPy 2)
from the matrix in pasted/q_true.npy; this script only says what NumPy holds for them. All others it writes itself, in the layout
that each program's manual shows.

Run with: python tests/input/pasted.py
Made with Python 3.11 and NumPy 2.4.6.
"""

import gzip
import json
import pathlib
import struct
import zlib

import numpy as np

HERE = pathlib.Path(__file__).parent
PLACE = HERE / "pasted"
Q = np.load(PLACE / "q_true.npy")
FRACTIONS = np.array([[1 / 2, 1 / 4, -1 / 3, 2], [0, 1, 1 / 2, 3], [1, 1, 1, 1]])
HEADS = np.stack([Q[:, :2], Q[:, 2:]])
WORDS = ["bat", "cave", "owl"]
expected = {}


def read(name, array=Q, told=None, rtol=0.0):
    """`told`: words of the line that the screen shows, or nothing where the form leaves no doubt."""
    array = np.asarray(array, float)
    expected[name] = {"dims": list(array.shape), "values": array.ravel().tolist(), "told": told, "rtol": rtol}


def refused(name, said, help):
    expected[name] = {"refused": said, "help": help}


def write(name, text, *arguments, **more):
    data = text.encode() if isinstance(text, str) else text
    (PLACE / name).write_bytes(data)
    read(name, *arguments, **more)


def write_refused(name, text, said, help):
    (PLACE / name).write_bytes(text.encode() if isinstance(text, str) else text)
    refused(name, said, help)


# What programs wrote.
PLAIN = """torch_print.txt torch_cuda.txt torch_cuda_grad.txt torch_f64.txt torch_named.txt torch_size_line.txt numpy_print.txt
    numpy_name.txt numpy_f32_repr.txt np_prefix.txt np_assign.txt jax.txt jax_device.txt tf_repr.txt mlx.txt julia_lit.txt julia_adj.txt matlab_lit.txt
    matlab_lit2.txt mathematica.txt c_array.txt excel_quoted.csv nbsp.csv trailing.csv utf16.csv cr_only.csv json_obj.json json_Q.json
    jsonl.jsonl glove.txt fortran.npy comp.npz arr0.npz csv.gz dict.pt q.pkl list.pkl q.mat q_v4.mat q.mtx"""
for name in PLAIN.split():
    read(name)
read("torch_batch1.txt", Q[None])
read("torch_heads.txt", HEADS)
read("torch_sci.txt", [[float(f"{x:.4f}e-05") for x in row] for row in Q])
read("matlab_factor.txt", [[float(f"{x:.4f}e3") for x in row] for row in Q], told="numbers times 1000")
read("torch_old.txt", told="without its line `[torch.FloatTensor of size 3x4]`")
read("r.txt", told="names of the rows")
read("r_tibble.txt", told="names of the rows")
read("r_wrapped.txt", told="columns in 2 blocks")
read("excel_de.csv", told="decimal commas")
read("excel_de_head.csv", told="decimal commas")
read("excel_quoted_de.csv", told="decimal commas")
read("fractions.txt", FRACTIONS)
read("md_rows.md", told="a table in Markdown")
read("latex_b.tex", told="a table in LaTeX")
read("latex_frac.tex", [[1 / 2, 0, 1, 2], [1, 1, 1, 1], [0, 0, 1, 3]], told="a table in LaTeX")
read("html.html", told="a table in HTML")
read("json_records.json", told="records, each a row")
read("json_dict_words.json", told="names with a row of numbers each")
read("yaml.yaml", told="lists below one another")
read("q.xlsx", told="the sheet Sheet1", rtol=1e-15)
read("be4.npy", Q.astype("f4"))
read("f16.npy", Q.astype("f2"))
read("bf16.pt", rtol=2.0**-8)
read("i8.npy", np.load(PLACE / "i8.npy"))
read("onedim.npy", np.load(PLACE / "onedim.npy"))
read("batch1.npy", np.load(PLACE / "batch1.npy"))
read("batch2.npy", np.load(PLACE / "batch2.npy"))
read("heads2.npy", np.load(PLACE / "heads2.npy"))
for name in ["all.npz", "all_words.npz", "all_qproj.npz"]:
    read(name, told="is read; it has 3 arrays")
read("low.safetensors", told="is read; it has 3 arrays", rtol=2.0**-24)
read("one.safetensors", rtol=2.0**-24)
refused("numpy_truncated.txt", "stands for numbers that were not printed", "np.set_printoptions(threshold=np.inf)")
refused("empty_cell.csv", "empty_cell.csv:1:5: a number is missing", "write a number in every cell")
refused("longdouble.npy", "the elements have the type <f16", "array.astype(float)")
refused("object.npy", "the elements have the type |O", "array.astype(float)")
refused("raw.bin", "binary, and of no known kind", "numpy.fromfile('")
refused("df.pkl", "a pickle with `pandas.DataFrame`", "numpy.savez(\"q.npz\"")
refused("sparse.npz", "a sparse matrix of SciPy", "scipy.sparse.load_npz(")
refused("q.feather", "a Feather file", "pandas.read_feather(")
refused("q.h5", "an HDF5 file", "h5py.File(")

# Prints and literals in other layouts.
numpy_text = np.array2string(Q)
rows = [[f"{x:.4f}" for x in row] for row in Q]


def lines(separator, before="", behind=""):
    return "\n".join(before + separator.join(row) + behind for row in rows) + "\n"


def nested(open, close, suffix=""):
    inner = [open + ", ".join(x + suffix for x in row) + close for row in rows]
    return open + ", ".join(inner) + close


write("parameter.txt", "Parameter containing:\ntensor(" + nested("[", "]") + ", requires_grad=True)\n")
write("tf_tensor.txt", f"tf.Tensor(\n{numpy_text}, shape=(3, 4), dtype=float64)\n")
write("tf_variable.txt", f"<tf.Variable 'Variable:0' shape=(3, 4) dtype=float64, numpy=\narray({nested('[', ']')})>\n")
write("mxnet.txt", f"\n{numpy_text}\n<NDArray 3x4 @cpu(0)>\n")
write("prose.txt", f"The weights of layer 3, head 1, look like this:\n\n{numpy_text}\n")
write("notebook.txt", f"In [3]: q\nOut[3]: \narray({nested('[', ']')})\n")
write("sympy.txt", "Matrix([[1/2, 1/4, -1/3, 2], [0, 1, 1/2, 3], [1, 1, 1, 1]])", FRACTIONS)
write("paddle.txt", "Tensor(shape=[3, 4], dtype=float64, place=Place(cpu), stop_gradient=True,\n       " + nested("[", "]") + ")\n")
write("ndarray.rs.txt", nested("[", "]") + ", shape=[3, 4], strides=[4, 1], layout=Cc (0x5), const ndim=2\n")
write("vec.rs", f"let q = vec![{', '.join('vec![' + ', '.join(row) + ']' for row in rows)}];\n")
write("array.rs", f"let q: [[f32; 4]; 3] = {nested('[', ']', '_f32')};\n")
write("double.c", f"static const double Q[3][4] = {nested('{', '}')};\n")
write("vector.cpp", f"std::vector<std::vector<float>> q = {nested('{', '}', 'f')};\n")
write("literal.jl", "Q = [" + "\n     ".join(" ".join(row) for row in rows) + "]\n", told="rows on lines of their own")
write("float32.jl", "Float32[" + "; ".join(" ".join(x + "f0" for x in row) for row in rows) + "]\n")
write("julia.txt", "3×4 Matrix{Float64}:\n" + lines("  ", " "))
write("exponents.m.txt", "{{" + "}, {".join(", ".join(f"{x}*^0" for x in row) for row in rows) + "}}")
write("octave.txt", "Q =\n\n" + lines("  ", "  ") + "\n")
blocks = lambda titles: "\n".join(
    f"{title}\n\n" + "\n".join("   " + "   ".join(row[a:b]) for row in rows) + "\n" for title, a, b in titles
)
write("matlab_blocks.txt", "\nQ =\n\n" + blocks([("  Columns 1 through 3", 0, 3), ("  Column 4", 3, 4)]), told="columns in 2 blocks")
write("octave_blocks.txt", "Q =\n\n" + blocks([(" Columns 1 and 2:", 0, 2), (" Columns 3 and 4:", 2, 4)]), told="columns in 2 blocks")
stack = "\n".join(f"ans(:,:,{h + 1}) =\n\n" + "\n".join("   " + "   ".join(f"{x:.4f}" for x in row) for row in head) + "\n" for h, head in enumerate(HEADS))
write("matlab_stack.txt", stack, HEADS, told="a stack of 2")
old = "1.00000e-03 *\n" + lines("  ", " ") + "[torch.FloatTensor of size 3x4]\n"
write("torch_old_factor.txt", old, [[float(x + "e-3") for x in row] for row in rows], told="numbers times 0.001")
write("libtorch.txt", lines("  ", " ") + "[ CPUFloatType{3,4} ]\n", told="without its line")
header = lambda names: " ".join(f"{name:>8}" for name in names)
numbered = lambda first, columns: "".join(
    f"{i + first} " + " ".join(f"{row[j]:>8}" for j in columns) + "\n" for i, row in enumerate(rows)
)
write("pandas.txt", "  " + header("abcd") + "\n" + numbered(0, range(4)) + "\n[3 rows x 4 columns]\n", told="names of the rows")
write("pandas_numbers.txt", "  " + header("0123") + "\n" + numbered(0, range(4)), told="names of the rows")
wrapped = "  " + header("ab") + "  \\\n" + numbered(0, [0, 1]) + "\n  " + header("cd") + "\n" + numbered(0, [2, 3])
write("pandas_wrapped.txt", wrapped, told="columns in 2 blocks")
write("r_frame.txt", "  " + header(["V1", "V2", "V3", "V4"]) + "\n" + numbered(1, range(4)), told="names of the rows")
write("r_vector.txt", " [1] " + " ".join(rows[0][:3]) + "\n [4] " + rows[0][3] + "\n", Q[:1], told="one row on 2 lines")
box = "┌─────┬─────┬─────┬─────┐\n│ a   ┆ b   ┆ c   ┆ d   │\n│ --- ┆ --- ┆ --- ┆ --- │\n│ f64 ┆ f64 ┆ f64 ┆ f64 │\n╞═════╪═════╪═════╪═════╡\n"
write("polars.txt", "shape: (3, 4)\n" + box + lines(" ┆ ", "│ ", " │") + "└─────┴─────┴─────┴─────┘\n", told="a table in lines")
grid = "+---+---+---+---+\n"
write("grid.txt", grid + "| a | b | c | d |\n" + grid.replace("-", "=") + lines(" | ", "| ", " |") + grid, told="a table in lines")
write("pipes.md", "| " + " | ".join(rows[0]) + " |\n|---|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows[1:]) , Q[1:], told="a table in Markdown")
write("ruled.txt", "  a        b        c        d\n-------  -------  -------  -------\n" + lines("  "))
table = "\\begin{tabular}{lrrrr}\n\\toprule\n & a & b & c & d \\\\\n\\midrule\n"
table += "".join(f"{word} & {' & '.join(row)} \\\\\n" for word, row in zip(WORDS, rows)) + "\\bottomrule\n\\end{tabular}\n"
write("booktabs.tex", table, told="a table in LaTeX")
comma = "\\\\ ".join(" & ".join(x.replace(".", "{,}") for x in row) for row in rows)
write("comma.tex", "\\[ Q = \\begin{pmatrix}" + comma + "\\end{pmatrix} \\]\n", told="numbers with decimal commas")
write("power.tex", "$\\begin{matrix} 1.5 \\cdot 10^{-3} & -\\infty \\\\ 2 & \\tfrac{1}{4} \\end{matrix}$".replace("-\\infty", "-7"), [[0.0015, -7], [2, 0.25]], told="a table in LaTeX")
heads = "<tr><th></th>" + "".join(f"<th>{c}</th>" for c in "abcd") + "</tr>"
body = "".join(f"<tr><th>{i}</th>" + "".join(f"<td>{x.replace('-', '&minus;')}</td>" for x in row) + "</tr>\n" for i, row in enumerate(rows))
write("pandas.html", f'<table border="1" class="dataframe">\n<thead>{heads}</thead>\n<tbody>{body}</tbody>\n</table>\n', told="a table in HTML")
write("tabs_de.tsv", lines("\t").replace(".", ","), told="decimal commas, and tabs")
write("percent.csv", "10%,25 %\n-5%,100%\n", [[0.1, 0.25], [-0.05, 1]], told="percentages as hundredths")
write("utf16_be.csv", b"\xfe\xff" + lines(",").encode("utf-16-be"))
write("numbers.npy.gz", gzip.compress((PLACE / "fortran.npy").read_bytes(), mtime=0))
columns = {c: {str(i): float(rows[i][j]) for i in range(3)} for j, c in enumerate("abcd")}
write("pandas.json", json.dumps(columns), told="columns by their names")
write("split.json", json.dumps({"columns": list("abcd"), "index": [0, 1, 2], "data": Q.tolist()}), told="pandas has split")
write("shape.json", json.dumps({"shape": [3, 4], "data": Q.ravel().tolist()}), told="numbers with their shape")
write("records.jsonl", "".join(json.dumps({"word": w, "vector": row}) + "\n" for w, row in zip(WORDS, Q.tolist())), told="records, each a row")
write("block.yaml", "q:\n" + "".join("- - " + "\n  - ".join(row) + "\n" for row in rows))
sparse = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2\n"
write("sparse.mtx", sparse, [[0, 1.5, 0], [0, 0, -2]], told="a sparse matrix")
graph = {"schema": "attn-graph", "version": 2, "graphs": [{"nodes": [{"name": "O", "op": "product", "values": Q.tolist()}]}]}
write("graph.json", json.dumps(graph))


# MATLAB, version 5: compressed, and with integers in place of doubles where they fit.
def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(name, array):
    array = np.asarray(array, float)
    small = array.size and (array == array.astype("u1")).all()
    data = element(2, array.astype("u1").tobytes("F")) if small else element(9, array.tobytes("F"))
    flags = element(6, struct.pack("<II", 6, 0))
    return element(14, flags + element(5, struct.pack(f"<{array.ndim}i", *array.shape)) + element(1, name) + data)


head = b"MATLAB 5.0 MAT-file, by tests/input/pasted.py".ljust(124) + b"\x00\x01IM"
packed = zlib.compress(matrix(b"Q", Q))
write("compressed.mat", head + struct.pack("<II", 15, len(packed)) + packed)
write("integers.mat", head + matrix(b"Q", [[1, 2, 3], [4, 5, 6]]), [[1, 2, 3], [4, 5, 6]])
write_refused("v73.mat", b"\x89HDF\r\n\x1a\n" + bytes(600), "a MATLAB file of version 7.3", 'save("q.mat", "Q", "-v7")')

scalars = ", ".join("[" + ", ".join(f"np.float64({x})" for x in row) + "]" for row in rows)
write("np_scalars.txt", f"[{scalars}]\n")
write("list_of_arrays.txt", "[" + ", ".join(f"array([{', '.join(row)}], dtype=float32)" for row in rows) + "]\n")
write("list_of_tensors.txt", "[" + ",\n ".join(f"tensor([{', '.join(row)}])" for row in rows) + "]\n")
write("comment.txt", nested("[", "]") + "  # the queries\n")
write("rational.jl.txt", "3×4 Matrix{Rational{Int64}}:\n 1//2  1//4  -1//3  2//1\n 0//1  1//1  1//2  3//1\n 1//1  1//1  1//1  1//1\n", FRACTIONS)
julia = lambda h: f"[:, :, {h + 1}] =\n" + "\n".join(" " + "  ".join(f"{x:.4f}" for x in row) for row in HEADS[h]) + "\n"
write("julia_stack.txt", f"3×2×2 Array{{Float64, 3}}:\n{julia(0)}\n{julia(1)}", HEADS, told="a stack of 2")
write("julia_vector.txt", "4-element Vector{Float64}:\n" + "\n".join(f" {x}" for x in rows[0]), Q[:1].T)
write("matlab_single.txt", "\nQ =\n\n  3×4 single matrix\n\n" + lines("    ", "    ") + "\n")
old = blocks([("Columns 0 to 1 ", 0, 2), ("Columns 2 to 3 ", 2, 4)]) + "[torch.FloatTensor of size 3x4]\n"
write("torch_old_blocks.txt", old, told="columns in 2 blocks")
write("matlab_table.txt", "      a          b          c          d   \n    ______     ______     ______     ______\n\n" + lines("     ", "    "))
write("fortran.txt", "".join("  " + "  ".join(x + "D+00" for x in row) + "\n" for row in rows))
write("sage.txt", "".join("[" + " ".join(row) + "]\n" for row in rows), told="lists below one another")
write("sympy_pretty.txt", "⎡" + "  ".join(rows[0]) + "⎤\n⎢    ⎥\n⎢" + "  ".join(rows[1]) + "⎥\n⎢    ⎥\n⎣" + "  ".join(rows[2]) + "⎦\n", told="a table in lines")
write("bars.txt", lines("|"))
write("array_in_tex.tex", "\\[ A = \\left[\\begin{array}{cc} 0.5 & 0.25 \\\\ 1 & 2 \\end{array}\\right] \\]\n", [[0.5, 0.25], [1, 2]], told="a table in LaTeX")

# What is asked for, or refused with its remedy.
write_refused("commas_or_decimals.txt", "0,5 1,25\n1,5 2,5\n", "`0,5` may be one number or two", "write a decimal point")
write_refused("commas_and_points.csv", "0,5;1.25\n", "`0,5` has a decimal comma, but `1.25` has a decimal point", "write a decimal point")
write_refused("twice.txt", f"2 * np.array({nested('[', ']')})", "`2 * np.array(` stands before the numbers", "print the result")
write_refused("exp.txt", f"np.exp(np.array({nested('[', ']')}))", "stands before the numbers", "print the result")
write_refused("transposed.jl", "[1 2; 3 4]'", "`'` stands after the last bracket", "give one array")
write("columns.R", "q <- matrix(c(1, 2, 3, 4), nrow = 2)", [[1, 3], [2, 4]], told="column by column")
write_refused("factor.tex", "$A = 2\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}$", "`2` stands beside the matrix", "write the numbers")
write_refused("transposed.tex", "$A = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}^T$", "`^T$` stands beside the matrix", "write the numbers")
write_refused("tibble_cut.txt", "# A tibble: 2 × 2\n      a\n  <dbl>\n1   0.1\n2   0.3\n# ℹ 1 more variable: b <dbl>\n", "not all rows or columns were printed", "print all of it")
write_refused("r_cut.txt", "     [,1] [,2]\n[1,]  0.1  0.2\n [ reached getOption(\"max.print\") -- omitted 5 rows ]\n", "not all rows", "print all of it")
write_refused("title.txt", "head 1\n0.1 0.2\n0.3 0.4\n", "a word in its first row, and numbers below", "begin a title with #")
write_refused("notebook.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4}', "this is a notebook", "copy what a cell has printed")
write_refused("packed.bz2", b"BZh91AY&SY", "packed by another program than gzip", "bunzip2")
write_refused("cut.jl.txt", "2×5 Matrix{Float64}:\n 0.1  …  0.5\n 1.1  …  1.5\n", "stands for numbers that were not printed", "print all of it")
write_refused("q.parquet", b"PAR1" + bytes(40), "a Parquet file", "pandas.read_parquet(")
write_refused("q.rds.bin", b"X\n\x00\x00\x00\x03", "a file of R", "write.csv(")
write_refused("q.png", b"\x89PNG\r\n\x1a\n\x00\x00", "a picture", "copy its numbers")
write_refused("code.pkl", b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00trueq\x00\x85R.", "a pickle with `posix.system`", "numpy.savez(")
write_refused("old.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "a pickle with", "numpy.savez(")

(HERE / "pasted.json").write_text(json.dumps(expected, indent=None).replace("}, ", "},\n") + "\n")
print(len(expected), "files")
