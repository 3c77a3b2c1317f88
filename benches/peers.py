#!/usr/bin/env python3
"""`attn bench` beside the attention of PyTorch, ONNX Runtime, OpenVINO and NumPy, on the same shapes, in turns.

    cargo build --release
    python3 -m venv v && v/bin/pip install torch onnxruntime onnx openvino numpy
    v/bin/python benches/peers.py [options]

Prints a Markdown table: useful GFLOP/s (4 * heads * d * visible pairs) by the median of the rounds' medians, as a share of
the multiply-add peak, on as many threads as attn used, that `attn bench` takes around each of its own measurements; and attn over the best peer, by these
medians and by the best run of each: where others use the same cores, a median says how busy they were in one's turns.
A library that is not installed, or cannot do a shape, is “-”, and standard error says why.

One turn after the other (attn, peer, peer, ..., attn, ...), so that whatever slows the machine down for a while slows all.
Every peer lives in a process of its own, in which the number of threads is set before the library is loaded; between its turns
it waits for the next line on standard input. Inputs are drawn from N(0, 1); every result is compared with f64.

--attn FILE       the program [default: target/release/attn beside this folder].
--threads N,...   each of these numbers of threads in turn [default: 1,2].
--rounds N        so many turns for each peer [default: 3]; the table has the medians.
--seconds S       about so long each turn measures [default: 1].
--shapes S ...    these shapes [default: eleven, from 16 tokens to a cache of 8192].
--vendor-fair     adds peers (marked +) without the checks of the processor's vendor that hold libraries back: MKL's question
                  whether this is an Intel is answered with yes by a preloaded function (needs cc), and OpenBLAS is told to
                  use its AVX-512 kernels.
--lines FILE      also writes every measurement as a line of JSON.

A shape is h=8,n=1024,d=64[,kv=KEY_VALUE_HEADS][,q=QUERIES][,causal]; fewer queries than keys are the last ones.
"""
import argparse
import datetime
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = [
    "h=8,n=16,d=64", "h=8,n=16,d=64,causal",
    "h=8,n=128,d=64", "h=8,n=128,d=64,causal",
    "h=12,n=1024,d=64", "h=12,n=1024,d=64,causal",
    "h=8,n=4096,d=64", "h=8,n=4096,d=64,causal",
    "h=32,kv=8,n=2048,d=128", "h=32,kv=8,n=2048,d=128,causal",
    "h=32,kv=8,q=1,n=8192,d=128",
]
# The ways to ask each library; its column shows the fastest.
LIBRARIES = {
    "PyTorch": ["torch.sdpa", "torch.sdpa-expanded"],
    "PyTorch+": ["torch.sdpa+", "torch.sdpa-expanded+"],
    "ONNX Runtime": ["onnxruntime.mha", "onnxruntime.attention"],
    "OpenVINO": ["openvino.sdpa"],
    "NumPy": ["numpy.matrices"],
    "NumPy+": ["numpy.matrices+"],
}
THREAD_VARIABLES = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"]
SHIM = b"int mkl_serv_intel_cpu_true(void) { return 1; }"
MOST_SCORE_BYTES = 3 << 30
FEWEST_RUNS, MOST_RUNS = 3, 20_000
# Threads of a library look for more work for a while before they sleep: so long the next turn waits, in seconds.
REST = 0.3


class Cannot(Exception):
    """Why a peer cannot do a shape."""


def refuse(what, help):
    """Ends the script as the program ends where it cannot go on: one line, what to do about it, exit code 2."""
    print(f"error: {what}\n  help: {help}", file=sys.stderr)
    raise SystemExit(2)


class Shape:
    def __init__(self, text):
        fields = dict(part.partition("=")[::2] for part in text.split(","))
        self.causal = "causal" in fields
        try:
            self.h, self.n, self.d = (int(fields[name]) for name in "hnd")
            self.q, self.kv = int(fields.get("q", self.n)), int(fields.get("kv", self.h))
        except (KeyError, ValueError):
            refuse(f"`{text}` is no shape", "write h=8,n=1024,d=64[,kv=2][,q=1][,causal]")
        if min(self.h, self.n, self.d, self.q, self.kv) < 1 or self.h % self.kv or self.q > self.n:
            refuse(f"`{text}` is no shape", "sizes are 1 or more, kv divides h, and q is at most n")

    def __str__(self):
        mask = "causal" if self.causal else "full"
        return f"h={self.h},kv={self.kv},q={self.q},n={self.n},d={self.d},{mask}"

    @property
    def first_row(self):
        """How many keys the first query sees."""
        return self.n - self.q + 1 if self.causal else self.n

    @property
    def flop(self):
        pairs = self.q * (self.first_row + self.n) // 2
        return 4 * self.h * self.d * pairs

    @property
    def is_masked(self):
        return self.first_row < self.n

    def options(self):
        options = ["--heads", self.h, "--kv-heads", self.kv, "--n-q", self.q, "--n", self.n, "--dim", self.d]
        return [str(option) for option in options] + ["--causal"] * self.causal


# ---- in the process of a peer ----

def inputs(shape):
    import numpy as np
    random = np.random.default_rng(1234)
    draw = lambda heads, rows: random.standard_normal((1, heads, rows, shape.d), dtype=np.float32)
    return draw(shape.h, shape.q), draw(shape.kv, shape.n), draw(shape.kv, shape.n)


def expanded(array, shape):
    """Key/value heads repeated for every query head, for peers that cannot share them; not part of what is timed."""
    import numpy as np
    return np.ascontiguousarray(np.repeat(array, shape.h // shape.kv, axis=1))


def same_length(shape):
    if shape.is_masked and shape.q != shape.n:
        raise Cannot("its causal mask aligns the first query with the first key")


def torch_peer(way, shape, threads):
    import torch
    from torch.nn.functional import scaled_dot_product_attention
    torch.set_num_threads(threads)
    same_length(shape)
    q, k, v = inputs(shape)
    shares = shape.kv != shape.h
    if way == "sdpa-expanded":
        if not shares:
            raise Cannot("there are no shared heads to repeat")
        k, v, shares = expanded(k, shape), expanded(v, shape), False
    q, k, v = (torch.from_numpy(array) for array in (q, k, v))

    def run():
        with torch.inference_mode():
            return scaled_dot_product_attention(q, k, v, is_causal=shape.is_masked, enable_gqa=shares)

    return torch.__version__, run, lambda: run().numpy()


def numpy_peer(way, shape, threads):
    import numpy as np
    if 4 * shape.h * shape.q * shape.n > MOST_SCORE_BYTES:
        raise Cannot("its n x n scores take more than 3 GiB")
    q, k, v = inputs(shape)
    k, v = expanded(k, shape), expanded(v, shape)
    scale = np.float32(1 / math.sqrt(shape.d))
    hidden = np.triu(np.full((shape.q, shape.n), -np.inf, np.float32), shape.first_row) if shape.is_masked else None

    def run():
        scores = (q * scale) @ k.swapaxes(-1, -2)
        if hidden is not None:
            scores += hidden
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        return scores @ v

    return np.__version__, run, run


def onnxruntime_peer(way, shape, threads):
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper
    same_length(shape)
    arrays = dict(zip("qkv", inputs(shape)))
    if way == "mha":
        if shape.kv != shape.h:
            raise Cannot("MultiHeadAttention shares no heads")
        side_by_side = lambda array: array.transpose(0, 2, 1, 3).reshape(1, array.shape[2], -1)
        arrays = {name: np.ascontiguousarray(side_by_side(array)) for name, array in arrays.items()}
        node = helper.make_node("MultiHeadAttention", list("qkv"), ["o"], domain="com.microsoft",
                                num_heads=shape.h, unidirectional=int(shape.is_masked))
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    else:
        if 4 * shape.h * shape.q * shape.n > MOST_SCORE_BYTES:
            raise Cannot("its n x n scores take more than 3 GiB")
        node = helper.make_node("Attention", list("qkv"), ["o"], is_causal=int(shape.is_masked))
        opsets = [helper.make_opsetid("", 23)]
    value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    graph = helper.make_graph([node], "attention", [value(name, array.shape) for name, array in arrays.items()],
                              [value("o", None)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    dims = (1, shape.q, shape.h * shape.d) if way == "mha" else (1, shape.h, shape.q, shape.d)
    result = onnxruntime.OrtValue.ortvalue_from_numpy(np.empty(dims, np.float32))
    binding = session.io_binding()
    for name, array in arrays.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output("o", result)

    def output():
        session.run_with_iobinding(binding)
        if way != "mha":
            return result.numpy()
        return result.numpy().reshape(1, shape.q, shape.h, shape.d).transpose(0, 2, 1, 3)

    return onnxruntime.__version__, lambda: session.run_with_iobinding(binding), output


def openvino_peer(way, shape, threads):
    import numpy as np
    import openvino
    from openvino import opset13
    same_length(shape)
    q, k, v = inputs(shape)
    if shape.kv != shape.h:
        k, v = expanded(k, shape), expanded(v, shape)
    parameters = [opset13.parameter(list(array.shape), openvino.Type.f32) for array in (q, k, v)]
    node = opset13.scaled_dot_product_attention(*parameters, causal=shape.is_masked)
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
                "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(openvino.Model([node], parameters), "CPU", settings)
    request = compiled.create_infer_request()
    # The request does not keep them alive.
    held = [openvino.Tensor(array, shared_memory=True) for array in (q, k, v)]
    for place, tensor in enumerate(held):
        request.set_input_tensor(place, tensor)

    def output(held=held, arrays=(q, k, v)):
        request.infer()
        return np.array(request.get_output_tensor(0).data)

    return openvino.__version__.split("-")[0], request.infer, output


def largest_error(shape, output):
    """max |O - exact| over some rows of three heads."""
    import numpy as np
    q, k, v = inputs(shape)
    rows = sorted({0, shape.q - 1, *np.random.default_rng(7).integers(0, shape.q, 14).tolist()})
    worst = 0.0
    for head in sorted({0, shape.h // 2, shape.h - 1}):
        keys, values = (array[0, head * shape.kv // shape.h].astype(np.float64) for array in (k, v))
        for row in rows:
            seen = min(shape.first_row + row, shape.n)
            scores = keys[:seen] @ q[0, head, row].astype(np.float64) / math.sqrt(shape.d)
            weights = np.exp(scores - scores.max())
            exact = weights / weights.sum() @ values[:seen]
            worst = max(worst, float(np.abs(output[0, head, row] - exact).max()))
    return worst


def ticks():
    """(busy, all) of all processors, and what this process has used, in the system's ticks."""
    with open("/proc/stat") as file:
        counts = [int(word) for word in file.readline().split()[1:9]]
    own = sum(os.times()[:2]) * os.sysconf("SC_CLK_TCK")
    return sum(counts) - counts[3] - counts[4], sum(counts), own


def timed(run, seconds):
    """Median, least, number of runs, and the processors kept busy by others: by the same rules as `attn bench`."""
    def once():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    begin = time.perf_counter()
    first = once()
    if first > 4 * seconds:
        return first, first, 1, None
    while time.perf_counter() - begin < min(seconds / 4, 0.5):
        run()
    before, begin, times = ticks() if os.path.exists("/proc/stat") else None, time.perf_counter(), []
    fewest = 1 if first > seconds else FEWEST_RUNS
    while len(times) < fewest or (time.perf_counter() - begin < seconds and len(times) < MOST_RUNS):
        times.append(once())
    others = None
    if before and time.perf_counter() - begin > 0.2:
        busy, everything, own = (now - then for now, then in zip(ticks(), before))
        others = max(0.0, busy - own) / max(everything, 1) * (os.cpu_count() or 1)
    return statistics.median(times), min(times), len(times), others


def measured(peer, text, threads, seconds):
    """One line of what a peer does on a shape."""
    shape = Shape(text)
    line = {"peer": peer, "version": None, "shape": str(shape), "threads": threads}
    library, _, way = peer.rstrip("+").partition(".")
    build = {"torch": torch_peer, "numpy": numpy_peer, "onnxruntime": onnxruntime_peer, "openvino": openvino_peer}
    try:
        line["version"], run, output = build[library](way, shape, threads)
        error = largest_error(shape, output())
        median, least, runs, others = timed(run, seconds)
    except Exception as problem:  # whatever a library throws is its answer to this shape
        line["error"] = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
        return line
    return line | {"median_s": median, "min_s": least, "runs": runs, "gflops": shape.flop / median / 1e9,
                   "gflops_best": shape.flop / least / 1e9, "max_err": error, "other_busy": others}


def serve(peer, threads):
    """Answers lines (shape, seconds) until there are no more. What libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for question in sys.stdin:
        text, seconds = json.loads(question)
        print(json.dumps(measured(peer, text, threads, seconds)), file=answers, flush=True)


# ---- in the process that asks ----

class Peer:
    """A peer in its process, which is started when it is first asked."""

    def __init__(self, name, threads, shim):
        self.name, self.threads, self.process = name, threads, None
        self.environment = dict(os.environ, OMP_DYNAMIC="FALSE", **{name: str(threads) for name in THREAD_VARIABLES})
        if name.endswith("+"):
            self.environment |= {"LD_PRELOAD": shim} if name.startswith("torch") else {"OPENBLAS_CORETYPE": "SkylakeX"}

    def ask(self, shape, seconds):
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, __file__, "--serve", self.name, "--threads", str(self.threads)]
            self.process = subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)
        print(json.dumps([shape, seconds]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if answer:
            return json.loads(answer)
        return {"peer": self.name, "shape": str(Shape(shape)), "threads": self.threads,
                "error": f"its process ended with {self.process.wait()}"}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def ask_attn(program, shape, threads, seconds):
    command = [program, "bench", "--format", "json", "--threads", str(threads), "--seconds", str(seconds)]
    command += Shape(shape).options()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except OSError as problem:
        refuse(f"{program}: {problem.strerror}", "build it with cargo build --release, or name it with --attn")
    if done.returncode:
        # The program has said why.
        raise SystemExit(2)
    return json.loads(done.stdout)


def rounds(options, peers, threads, shape):
    """All lines of one shape, in turns."""
    lines = []
    for number in range(options.rounds):
        lines.append(ask_attn(options.attn, shape, threads, options.seconds) | {"round": number})
        for peer in peers:
            # Who cannot do it cannot do it in the next round either.
            if not any(line["peer"] == peer.name and "error" in line for line in lines):
                time.sleep(REST)
                lines.append(peer.ask(shape, options.seconds) | {"round": number})
        time.sleep(REST)
    return lines


def middle(lines, peer, field="gflops"):
    """The median over the rounds, or None."""
    values = [line[field] for line in lines if line["peer"] == peer and line.get(field) is not None]
    return statistics.median(values) if values else None


def highest(lines, peer):
    """The best run of all rounds, which nobody disturbed if any was not, or None."""
    return max((line["gflops_best"] for line in lines if line["peer"] == peer and line.get("gflops_best")), default=None)


def three_digits(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def row(shape, threads, lines, libraries):
    """A row of the table."""
    own, peak = middle(lines, "attn"), middle(lines, "attn", "peak_gflops")
    best = {name: max((rate for peer in ways if (rate := middle(lines, peer))), default=None)
            for name, ways in libraries.items()}
    share = lambda rate: f"{three_digits(rate)} ({100 * rate / peak:.0f} %)" if rate else "-"
    read, memory = middle(lines, "attn", "read_gb_s"), middle(lines, "attn", "read_memory_gb_s")
    of_memory = f", {100 * read / memory:.0f} % of memory's {three_digits(memory)} GB/s" if read and memory else ""
    peers = {line["peer"] for line in lines} - {"attn"}
    ratio = "; ".join(f"{of(lines, 'attn') / fastest:.2f}" for of in (middle, highest)
                      if (fastest := max((rate for peer in peers if (rate := of(lines, peer))), default=None)))
    return [str(Shape(shape)), str(threads), share(own) + of_memory, *(share(rate) for rate in best.values()), ratio or "-"]


def processor():
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
            if names:
                return f"{names[0]}, {len(names)} processors"
    return platform.processor() or platform.machine()


def heading(lines, options):
    """The machine, the day, the versions, how far from exact, and who else was at work."""
    first = {}
    for line in lines:
        library = "attn" if line["peer"] == "attn" else line["peer"].partition(".")[0]
        if line.get("version"):
            first.setdefault(library, line["version"])
    versions = ", ".join(f"{library} {version}" for library, version in first.items())
    simd = next((line["simd"] for line in lines if line["peer"] == "attn"), "")
    errors = [line["max_err"] for line in lines if line.get("max_err") is not None]
    others = [line["other_busy"] for line in lines if line.get("other_busy") is not None]
    busy = f"; others kept at most {max(others):.1f} processors busy" if others else ""
    return (f"{processor()}, {datetime.date.today():%d %B %Y}. {versions}; attn with {simd}. f32; GFLOP/s and share of the "
            f"multiply-add peak, medians of {options.rounds} rounds of {options.seconds:g} s. Largest difference from f64: "
            f"{max(errors):.1e}{busy}.")


def shim(folder):
    """The function that answers MKL's question, or None."""
    if shutil.which("cc") is None:
        print("no cc: PyTorch+ is left out", file=sys.stderr)
        return None
    path = os.path.join(folder, "shim.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path], input=SHIM, check=True)
    return path


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--attn", metavar="FILE", default=os.path.join(os.path.dirname(__file__), "../target/release/attn"))
    parser.add_argument("--threads", metavar="N,...", default="1,2")
    parser.add_argument("--rounds", metavar="N", type=int, default=3)
    parser.add_argument("--seconds", metavar="S", type=float, default=1.0)
    parser.add_argument("--shapes", metavar="S", nargs="+", default=SHAPES)
    parser.add_argument("--vendor-fair", action="store_true")
    parser.add_argument("--lines", metavar="FILE")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve, int(options.threads))
    for shape in options.shapes:
        Shape(shape)
    threads = options.threads.split(",")
    if not all(count.isdecimal() and 1 <= int(count) <= 256 for count in threads):
        refuse(f"--threads {options.threads}", "write numbers from 1 to 256: --threads 1,2")
    if options.lines:
        try:
            open(options.lines, "a").close()
        except OSError as problem:
            refuse(f"{options.lines}: {problem.strerror}", "name a file that can be written")
    if options.rounds < 1 or not 0 < options.seconds <= 3600:
        refuse(f"--rounds {options.rounds} --seconds {options.seconds:g}", "take 1 round or more, and up to 3600 seconds")
    libraries = {name: ways for name, ways in LIBRARIES.items() if options.vendor_fair or not name.endswith("+")}
    everything, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        preloaded = shim(folder) if options.vendor_fair else None
        for threads in map(int, threads):
            names = [peer for ways in libraries.values() for peer in ways]
            names = [peer for peer in names if preloaded or not (peer.startswith("torch") and peer.endswith("+"))]
            peers = [Peer(name, threads, preloaded) for name in names]
            for shape in options.shapes:
                lines = rounds(options, peers, threads, shape)
                everything += lines
                rows.append(row(shape, threads, lines, libraries))
                print(" | ".join(rows[-1]), file=sys.stderr)
            for peer in peers:
                peer.close()
    for reason in sorted({f"{line['peer']}, {line['shape']}: {line['error']}" for line in everything if "error" in line}):
        print(reason, file=sys.stderr)
    if options.lines:
        with open(options.lines, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in everything)
    head = ["shape", "threads", "attn", *libraries, "attn / best peer: medians; best runs"]
    print(heading(everything, options) + "\n")
    for cells in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
