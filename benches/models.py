#!/usr/bin/env python3
"""`attn model` beside Python with PyTorch and transformers, on a random model of GPT-2's size, in turns.

    cargo build --release
    python3 -m venv v && v/bin/pip install torch transformers
    v/bin/python benches/models.py [options]

Prints a Markdown table. The model has GPT-2's 124 million parameters, drawn at random, in f32: the time does not depend on
their values. It is made once, in a folder that --folder keeps.

The whole task, from the start of the process to its end: attn prints the tokens, the next token, the logit lens and what each
head looks at; Python loads the model and prints the next tokens from its logits, with the attentions of all heads. Both read the
same file, which the system holds in memory by then.

The forward pass alone, all logits and no attentions: `attn bench --model` beside a model that is loaded already, in
`inference_mode`, by the faster of the attentions that transformers calls `sdpa` and `eager`.

One more token: attn beside the rate at which attn itself reads the same weights and does nothing with them.

--attn FILE       the program [default: target/release/attn beside this folder].
--folder FOLDER   the model, made if it is not there [default: made anew and removed].
--threads N       threads of all [default: 2].
--tokens N,...    lengths of the forward pass [default: 64,512].
--rounds N        so many turns for each peer [default: 3]; the table has the medians.
--seconds S       about so long each turn of the forward pass measures [default: 2].
--vendor-fair     adds PyTorch with MKL's question whether this is an Intel answered with yes (needs cc).
--lines FILE      also writes every measurement as a line of JSON.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from peers import REST, THREAD_VARIABLES, processor, refuse, shim, timed

TASK_TOKENS = 64
ATTENTIONS = ["sdpa", "eager"]


# ---- in processes of their own ----

def make(folder):
    """A random model of GPT-2's size."""
    import torch
    import transformers
    torch.manual_seed(1)
    transformers.GPT2LMHeadModel(transformers.GPT2Config()).save_pretrained(folder)


def whole_task(folder, ids):
    """What a short script in Python does: the next tokens, and the attentions of all heads."""
    import torch
    import transformers
    model = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        output = model(torch.tensor([ids]), output_attentions=True)
    chances, tokens = output.logits[0, -1].softmax(-1).topk(10)
    print(list(zip(tokens.tolist(), chances.tolist())))
    print([layer[0, :, -1].argmax(-1).tolist() for layer in output.attentions])


def serve(folder, attention, threads):
    """Answers lines (tokens, seconds) with the time of a forward pass, until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch
    import transformers
    torch.set_num_threads(threads)
    model = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation=attention).eval()
    for question in sys.stdin:
        tokens, seconds = json.loads(question)
        ids = torch.arange(tokens)[None]
        with torch.inference_mode():
            median, least, runs, others = timed(lambda: model(ids, use_cache=False).logits, seconds)
        print(json.dumps({"median_s": median, "min_s": least, "runs": runs, "other_busy": others}), file=answers, flush=True)


# ---- in the process that asks ----

class Torch:
    """PyTorch in its process."""

    def __init__(self, name, attention, options, preloaded):
        self.name = name
        environment = dict(os.environ, OMP_DYNAMIC="FALSE", **{name: str(options.threads) for name in THREAD_VARIABLES})
        if preloaded:
            environment["LD_PRELOAD"] = preloaded
        command = [sys.executable, __file__, "--serve", attention, "--folder", options.folder, "--threads", str(options.threads)]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def forward(self, tokens, seconds):
        print(json.dumps([tokens, seconds]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            refuse(f"{self.name} ended with {self.process.wait()}", "see its error above: are torch and transformers installed?")
        return json.loads(answer) | {"peer": self.name, "tokens": tokens}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def run(command, environment=None):
    """The seconds of a process, and the most memory it had at once."""
    start = time.perf_counter()
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    except OSError as problem:
        refuse(f"{command[0]}: {problem.strerror}", "build it with cargo build --release, or name it with --attn")
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        refuse(f"{' '.join(command[:3])} … ended with {os.waitstatus_to_exitcode(status)}", errors.decode()[-500:].strip())
    return output, {"seconds": seconds, "memory": used.ru_maxrss * 1024}


def attn_forward(options, tokens):
    command = [options.attn, "bench", "--model", options.folder, "--n", str(tokens), "--threads", str(options.threads),
               "--seconds", str(options.seconds), "--format", "json"]
    line = json.loads(run(command)[0])
    return line | {"median_s": line["forward_s"], "min_s": line["forward_min_s"]}


def median(lines, field, **wanted):
    return statistics.median(line[field] for line in lines if all(line.get(key) == value for key, value in wanted.items()))


def measured(options, preloaded):
    """All lines, in turns."""
    lines = []
    ids = [(7919 * at + 11) % 50257 for at in range(TASK_TOKENS)]
    one_thread_each = dict(os.environ, **{name: str(options.threads) for name in THREAD_VARIABLES})
    tasks = {
        "attn": [options.attn, "model", options.folder, "--ids", ",".join(map(str, ids))],
        "Python": [sys.executable, __file__, "--task", ",".join(map(str, ids)), "--folder", options.folder],
    }
    for command in tasks.values():
        run(command, one_thread_each)  # once, so that the files are in the system's memory
    for number in range(options.rounds):
        for peer, command in tasks.items():
            lines.append(run(command, one_thread_each)[1] | {"what": "task", "peer": peer, "round": number})
            time.sleep(REST)
    kinds = [("PyTorch", None)] + ([("PyTorch+", preloaded)] if preloaded else [])
    peers = [Torch(name, attention, options, library) for name, library in kinds for attention in ATTENTIONS]
    for tokens in options.lengths:
        for number in range(options.rounds):
            lines.append(attn_forward(options, tokens) | {"what": "forward", "round": number})
            for peer, attention in zip(peers, ATTENTIONS * len(kinds)):
                time.sleep(REST)
                line = peer.forward(tokens, options.seconds)
                lines.append(line | {"what": "forward", "attention": attention, "round": number})
            time.sleep(REST)
    for peer in peers:
        peer.close()
    return lines


def time_text(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms" if seconds >= 0.1 else f"{1000 * seconds:.1f} ms"


def rows(options, lines):
    """The table: what, attn, the other, their ratio, and the ratio that is asked for."""
    task = {peer: [median(lines, field, what="task", peer=peer) for field in ("seconds", "memory")] for peer in ("attn", "Python")}
    yield (f"whole task, {TASK_TOKENS} tokens", time_text(task["attn"][0]), f"Python {time_text(task['Python'][0])}",
           f"{task['Python'][0] / task['attn'][0]:.1f} ×", "10 ×")
    size = os.path.getsize(os.path.join(options.folder, "model.safetensors"))
    yield ("most memory in it", f"{task['attn'][1] / 1e6:.0f} MB", f"Python {task['Python'][1] / 1e6:.0f} MB",
           f"file + {(task['attn'][1] - size) / 1e6:.0f} MB", "file + 200 MB")
    for tokens in options.lengths:
        own = median(lines, "median_s", what="forward", peer="attn", tokens=tokens)
        for peer, least in (("PyTorch", "1 ×"), ("PyTorch+", "0.9 ×")):
            found = [(median(lines, "median_s", peer=peer, tokens=tokens, attention=attention), attention)
                     for attention in ATTENTIONS if any(line["peer"] == peer for line in lines)]
            if found:
                seconds, attention = min(found)
                yield (f"forward pass, {tokens} tokens", time_text(own), f"{peer} ({attention}) {time_text(seconds)}",
                       f"{seconds / own:.2f} ×", least)
    for tokens in options.lengths:
        own = median(lines, "decode_s", what="forward", peer="attn", tokens=tokens)
        rate = median(lines, "read_gb_s", what="forward", peer="attn", tokens=tokens)
        share = median(lines, "decode_share_of_reading", what="forward", peer="attn", tokens=tokens)
        size = next(line["weight_bytes"] for line in lines if line.get("weight_bytes"))
        yield (f"one more token after {tokens}", time_text(own), f"reading {size / 1e6:.0f} MB at {rate:.1f} GB/s, {time_text(size / rate / 1e9)}",
               f"{share:.2f} ×", "0.8 ×")


def heading(options, lines):
    import importlib.metadata
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "transformers"))
    first = next(line for line in lines if line.get("simd"))
    others = [line["other_busy"] for line in lines if line.get("other_busy") is not None]
    busy = f"; others kept at most {max(others):.1f} processors busy" if others else ""
    return (f"{processor()}, {datetime.date.today():%d %B %Y}. attn {first['version']} with {first['simd']}, {versions}; "
            f"f32, {options.threads} threads, medians of {options.rounds} rounds{busy}.")


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--attn", metavar="FILE", default=os.path.join(os.path.dirname(__file__), "../target/release/attn"))
    parser.add_argument("--folder", metavar="FOLDER")
    parser.add_argument("--threads", metavar="N", type=int, default=2)
    parser.add_argument("--tokens", metavar="N,...", default="64,512")
    parser.add_argument("--rounds", metavar="N", type=int, default=3)
    parser.add_argument("--seconds", metavar="S", type=float, default=2.0)
    parser.add_argument("--vendor-fair", action="store_true")
    parser.add_argument("--lines", metavar="FILE")
    for of_a_process in ("--make", "--task", "--serve"):
        parser.add_argument(of_a_process, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        return make(options.make)
    if options.task:
        return whole_task(options.folder, [int(id) for id in options.task.split(",")])
    if options.serve:
        return serve(options.folder, options.serve, options.threads)
    if not all(count.isdecimal() and 1 <= int(count) <= 1023 for count in options.tokens.split(",")):
        refuse(f"--tokens {options.tokens}", "write numbers from 1 to 1023: --tokens 64,512")
    if options.rounds < 1 or not 0 < options.seconds <= 3600 or not 1 <= options.threads <= 256:
        refuse(f"--rounds {options.rounds} --seconds {options.seconds:g} --threads {options.threads}",
               "take 1 round or more, up to 3600 seconds, and 1 to 256 threads")
    options.lengths = [int(count) for count in options.tokens.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or os.path.join(temporary, "gpt2")
        if not os.path.exists(os.path.join(options.folder, "model.safetensors")):
            subprocess.run([sys.executable, __file__, "--make", options.folder], check=True)
        lines = measured(options, shim(temporary) if options.vendor_fair else None)
        table = list(rows(options, lines))
    if options.lines:
        with open(options.lines, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    print(heading(options, lines) + "\n")
    head = ["what", "attn", "beside it", "measured", "asked"]
    for cells in (head, ["---"] * len(head), *table):
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
