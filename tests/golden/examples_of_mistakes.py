"""Writes data/mistake_examples.json: results with a mistake that the program does not make by itself, from the golden files beside this one
(NumPy made them), and a few that are a right result spoilt by hand. The page of mistakes of `attn site` shows them."""
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
OPTIONS = {"heads": "--heads", "kv_heads": "--kv-heads", "score": "--score", "scale": "--scale", "temperature": "--temperature", "window": "--window",
           "mask_kind": "--mask-kind", "keep_first": "--keep-first", "position": "--position", "softcap": "--softcap"}
USUAL = {"heads": 1, "kv_heads": 1, "score": "dot", "scale": "auto", "temperature": 1.0, "keep_first": 0}
FILES = ["more_mistakes", "mistakes", "mechanism_slips", "coincidences", "reviewed_slips", "gradient_slips", "operators"]
WANTED = """padding-zeroed rope-scaling-linear rope-divisors rope-magnitude positions-misaligned t5-direction qk-norm-late scale-unasked softcap-late
biases-missing causal-misaligned mask-on-queries softmax-overflow heads-summed heads-unjoined column-convention output-projection-per-head
padded-outputs-zeroed gate-missing gate-without-sigmoid gradient-temperature-missing gradient-cap-missing gradient-rotation
gradient-group-sum-missing gradient-group-mean temperature wrong-factor residual-scaled heads-weighted rows-scaled rows-reordered
columns-reordered result-incomplete result-left-zero one-number-wrong numbers-exchanged dropout result-surplus""".split()


def typed(options):
    words = [f"{name} {options[key]}" for key, name in OPTIONS.items()
             if options.get(key) is not None and options[key] != USUAL.get(key) and not (key == "kv_heads" and options[key] == options["heads"])]
    words += [f"--{name.replace('_', '-')}" for name in ("causal", "residual", "qk_norm") if options.get(name)]
    if options.get("causal_from") == "start":
        words.append("--causal-from start")
    if scaling := options.get("rope_scaling"):
        words.append("--rope-scaling " + scaling["kind"] + ":" + ",".join(f"{key}={value:g}" for key, value in scaling.items() if key != "kind"))
    return " ".join(words)


def rows(matrix):
    return "; ".join(" ".join(f"{x:.6g}" for x in row) for row in np.atleast_2d(matrix))


def examples():
    best = {}
    for name in FILES:
        for case in json.loads((HERE / f"{name}.json").read_text())["cases"]:
            for wrong in case["wrong"]:
                if len(wrong["mistakes"]) != 1 or wrong["mistakes"][0] not in WANTED:
                    continue
                numbers = wrong.get("O", wrong.get("matrix"))
                flat = np.asarray(numbers, dtype=object).ravel()
                is_named_otherwise = "blame" in wrong or wrong.get("same_as") and wrong["mistakes"] != ["padded-outputs-zeroed"] or wrong["mistakes"] == ["heads-weighted"] and 0 in flat
                if any(isinstance(x, list) for x in flat) or np.ndim(numbers) != 2 or is_named_otherwise:
                    continue
                start = f"'dO={rows(case['dO'])}'" if "dO" in case else "ones"
                options = typed(case["options"]) + (f" --gradient {start}" if name == "gradient_slips" else "")
                example = {"id": wrong["mistakes"][0], "options": options.strip(), "inputs": case["inputs"], "step": wrong.get("node", "O"),
                           "numbers": [[x if isinstance(x, str) else round(float(x), 6) for x in row] for row in numbers]}
                size = len(json.dumps(example))
                if size < best.get(example["id"], (1 << 30,))[0]:
                    best[example["id"]] = (size, example)
    return {name: example for name, (_, example) in best.items()}


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def spoilt():
    """Right results of two heads over four tokens, spoilt."""
    x = np.array([[1.0, 0.5, -1.0, 2.0], [0.0, 1.5, 1.0, -0.5], [2.0, -1.0, 0.5, 1.0], [-1.5, 1.0, 0.0, 0.5]])
    right, unscaled = (np.hstack([softmax(q @ q.T / divisor) @ q for q in (x[:, :2], x[:, 2:])]) for divisor in (np.sqrt(2), 1))
    one_head, some_rows = right.copy(), right.copy()
    one_head[:, 2:] = unscaled[:, 2:]
    some_rows[2:] = unscaled[2:]
    wrong = {"bias-added": right + np.array([0.5, -0.25, 0.125, 1.0]), "result-reshaped": right.reshape(2, 8), "only-some-rows": some_rows,
             "only-one-head": one_head}
    return {name: {"id": name, "options": "--heads 2", "inputs": {"X": x.tolist()}, "step": "O", "numbers": np.round(matrix, 6).tolist()}
            for name, matrix in wrong.items()}


found = examples() | spoilt()
lines = ",\n".join(json.dumps(found[name]) for name in sorted(found))
(HERE.parent.parent / "data/mistake_examples.json").write_text(f"[\n{lines}\n]\n")
print(len(found), "examples; none of", sorted(set(WANTED) - set(found)))
