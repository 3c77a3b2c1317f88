"""Which slips of public threads `attn diagnose` names first: those of field_cases.json, which it once failed to name, and those
that tests/golden/field_slips.py rebuilds from their description.

    python tests/diagnose/field.py target/release/attn [NAME …]

prints a line for each result: whether its slip is named first, how long it took, and what was said.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent


def options(case):
    """The options of an exercise of field_slips.json."""
    o, given = case["options"], case["inputs"]
    args = ["--heads", str(o["heads"]), "--kv-heads", str(o["kv_heads"])]
    args += ["--causal"] * o["causal"] + ["--qk-norm"] * o["qk_norm"]
    for key, option in [("window", "--window"), ("position", "--position")]:
        args += [option, str(o[key])] if o[key] is not None else []
    args += ["--scale", "none"] if o["scale"] == "none" else []
    args += ["--mask-kind", "allow"] if "mask" in given else []
    names = {"R": "position-table"}
    for name in given:
        args += ["--" + names.get(name, name.lower().replace("_", "")), f"{name}.json"]
    return args


def cases():
    """The name of the group and of the result, the names that are right, the arguments, the inputs, and what was handed in."""
    for one in json.loads((HERE / "field_cases.json").read_text(encoding="utf-8"))["cases"]:
        yield "given", one["name"], one["first"], one["arguments"].split(), one["inputs"], one["yours"]
    for one in json.loads((HERE.parent / "golden/field_slips.json").read_text(encoding="utf-8"))["cases"]:
        for wrong in one["wrong"]:
            args = [*options(one), "--yours", wrong["node"] + "=yours.csv"]
            yours = {"decimals": None, "matrix": wrong["matrix"]}
            yield "rebuilt", wrong["variant"], wrong["mistakes"], args, one["inputs"], yours


def judged(attn, place, args, inputs, yours):
    """The names that are told first, or the verdict, and the seconds that it took."""
    for name, matrix in inputs.items():
        (place / f"{name}.json").write_text(json.dumps(matrix))
    decimals = yours["decimals"]
    text = [[x if decimals is None or isinstance(x, str) else f"{x:.{decimals}f}" for x in row] for row in yours["matrix"]]
    (place / "yours.csv").write_text("\n".join(",".join(map(str, row)) for row in text) + "\n")
    start = time.perf_counter()
    run = subprocess.run([attn, "diagnose", *args, "--format", "json"], cwd=place, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if not run.stdout:
        return run.stderr.splitlines()[0], seconds
    report = json.loads(run.stdout)
    first = next((node["mistakes"][0]["ids"] for node in report["nodes"] if node["mistakes"]), None)
    return "+".join(first) if first else report["verdict"], seconds


def main():
    attn, only = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    named, all_seconds = {}, []
    with tempfile.TemporaryDirectory() as place:
        for group, name, right, args, inputs, yours in cases():
            if only and name not in only:
                continue
            first, seconds = judged(attn, Path(place), args, inputs, yours)
            named.setdefault(group, []).append(first in right)
            all_seconds.append(seconds)
            print(f"{'named' if first in right else 'NOT':6} {seconds:6.2f} s  {name:28} {first}")
    for group, told in named.items():
        print(f"{group}: {sum(told)} of {len(told)} named first ({100 * sum(told) / len(told):.0f} %)")
    print(f"median {statistics.median(all_seconds):.2f} s, slowest {max(all_seconds):.2f} s")


if __name__ == "__main__":
    main()
