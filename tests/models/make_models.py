"""Makes the folders of `tests/models`: small random checkpoints and the figures that
`transformers` computes from them. See README.md.

    python make_models.py              all checkpoints
    python make_models.py llama-b …    only these (figures.json keeps the others)
"""

import json
import os
import platform
import re
import shutil
import sys
import warnings
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import safetensors
import torch
import transformers
from safetensors.torch import save_file
from transformers import CONFIG_MAPPING

import reference
import weights
from families_gemma import GEMMA
from families_llama import LLAMA
from families_other import OTHER

HERE = Path(__file__).parent
TOLERANCE = 1e-5   # between the run as shipped and the exact run, of the largest value of a tensor
MATTERS = 1e-4     # least change of the logits by an edit that must matter, of the largest logit
LEAD = 1e-4        # least lead of a greedily chosen token, of the largest logit
NEXT = 5

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)


def config_of(values):
    """The configuration object for the keys of a `config.json`."""
    return CONFIG_MAPPING[values["model_type"]].from_dict(json.loads(json.dumps(values)))


def skeleton(checkpoint):
    """A model of the right shape, whose weights are not used."""
    config = config_of(checkpoint.config)
    config._attn_implementation = "eager"
    return getattr(transformers, checkpoint.model)(config)


def open_model(checkpoint, folder, config=None):
    """The model as `transformers` reads it from the folder in the file's dtype, then in f64."""
    model, report = getattr(transformers, checkpoint.model).from_pretrained(
        folder, config=config, dtype=weights.DTYPES[checkpoint.dtype],
        attn_implementation="eager", output_loading_info=True)
    model.eval()
    return model, report


def embedding_factor(model):
    """Gemma's factor √hidden as the model holds it, rounded to the file's dtype."""
    found = [module.embed_scale.item() for module in model.modules() if hasattr(module, "embed_scale")]
    return found[0] if found else None


def check_loaded(checkpoint, model, report, drawn):
    """The loaded model holds exactly what was drawn, and nothing else is asked for."""
    missing = [name for name in report["missing_keys"]
               if not any(re.search(pattern, name) for pattern in checkpoint.missing)]
    assert not missing, f"{checkpoint.name}: transformers misses {missing}"
    loaded = dict(model.named_parameters())
    for name, tensor in drawn.items():
        if not any(re.search(pattern, name) for pattern in checkpoint.missing):
            assert torch.equal(loaded[name], tensor), f"{checkpoint.name}: {name} is not what was written"
    return sorted(report["unexpected_keys"])


def relative(left, right):
    """Largest difference, of the largest value."""
    return ((left - right).abs().max() / right.abs().max()).item()


def edited(values, edit):
    """The keys of `config.json` after an edit; `...` removes a key."""
    values = json.loads(json.dumps(values))
    for path, value in edit.items():
        *steps, last = path.split(".")
        place = values
        for step in steps:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return values


def check_matters(checkpoint, folder, expected):
    """Every listed edit of the configuration changes what the model gives."""
    changes = {}
    for edit in checkpoint.matters:
        model, _ = open_model(checkpoint, folder, config_of(edited(checkpoint.config, edit)))
        model.double()
        largest = 0.0
        for text, ids in checkpoint.texts.items():
            found = reference.run(model, ids, exact=True)
            output = "logits" if "logits" in found else max(k for k in found if k.startswith("residual"))
            largest = max(largest, relative(found[output], expected[text][output]))
        shown = json.dumps({k: "absent" if v is ... else v for k, v in edit.items()})
        assert largest > MATTERS, f"{checkpoint.name}: {shown} changes only {largest:.1e}"
        changes[shown] = float(f"{largest:.2g}")
    return changes


def generated_with_cache(model, ids, next_ids):
    """Does the library's own cached generation give the same tokens as full passes?"""
    reference.new_rotary_modules(model)
    output = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                            max_new_tokens=NEXT, min_new_tokens=NEXT, do_sample=False, eos_token_id=None, pad_token_id=0)
    return output[0, len(ids):].tolist() == next_ids


def f32_difference(model, checkpoint, expected):
    """Largest difference of the library's own f32 run: what a good f32 program may differ by."""
    model.float()
    largest = 0.0
    for text, ids in checkpoint.texts.items():
        found = reference.run(model, ids, exact=False)
        largest = max([largest] + [relative(found[name], expected[text][name]) for name in found])
    return largest


def make(checkpoint):
    """Makes one folder; returns its entry of `figures.json`."""
    folder = HERE / checkpoint.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(checkpoint.config, indent=2) + "\n")
    drawn = weights.draw(checkpoint, skeleton(checkpoint))
    weights.write(checkpoint, drawn, folder)
    model, report = open_model(checkpoint, folder)
    ignored = check_loaded(checkpoint, model, report, drawn)
    factor = embedding_factor(model)
    model.double()

    expected, differences, texts = {}, {}, {}
    for text, ids in checkpoint.texts.items():
        shipped = reference.run(model, ids, exact=False)
        exact = reference.run(model, ids, exact=True)
        for name in exact:
            kind = name.split(".")[0]
            differences[kind] = max(differences.get(kind, 0.0), relative(shipped[name], exact[name]))
        expected[text] = exact
        stored = dict(exact, ids=torch.tensor(ids))
        entry = {"tokens": len(ids)}
        patterns = [exact[name] for name in exact if name.startswith("attentions")]
        entry["mean_largest_weight"] = round(torch.cat([p[:, 3:].amax(-1).flatten() for p in patterns]).mean().item(), 2)
        if "logits" in exact and checkpoint.config["model_type"] not in ("bert", "distilbert"):
            next_ids, lead = reference.greedy(model, ids, NEXT)
            assert lead > LEAD, f"{checkpoint.name}: greedy choice is too close ({lead:.1e})"
            stored["next"] = torch.tensor(next_ids)
            entry.update(smallest_lead=float(f"{lead:.2g}"), same_with_cache=generated_with_cache(model, ids, next_ids))
        save_file(stored, folder / f"{text}.safetensors", metadata={"format": "pt"})
        texts[text] = entry
    changes = check_matters(checkpoint, folder, expected)
    differences = {kind: float(f"{value:.2g}") for kind, value in differences.items()}
    narrow = float(f"{f32_difference(model, checkpoint, expected):.2g}")
    print(f"{checkpoint.name:10} as shipped against exact:",
          "  ".join(f"{kind} {value:.1e}" for kind, value in differences.items()),
          f" | f32 {narrow:.1e} | {texts} | ignored {ignored} | {changes}", flush=True)
    assert max(differences.values()) < TOLERANCE, f"{checkpoint.name}: the two runs differ: {differences}"
    entry = {"covers": checkpoint.covers, "seed": checkpoint.seed, "dtype": checkpoint.dtype,
             "texts": texts, "as_shipped_against_exact": differences,
             "f32_against_exact": narrow, "edits_that_matter": changes}
    if factor is not None:
        entry["embedding_factor"] = factor
    return entry


def main():
    versions = {"python": platform.python_version(), "torch": torch.__version__,
                "transformers": transformers.__version__, "safetensors": safetensors.__version__}
    print(versions)
    checkpoints = {checkpoint.name: checkpoint for checkpoint in OTHER + LLAMA + GEMMA}
    wanted = sys.argv[1:] or list(checkpoints)
    file = HERE / "figures.json"
    entries = json.loads(file.read_text())["checkpoints"] if sys.argv[1:] and file.exists() else {}
    for name in wanted:
        entries[name] = make(checkpoints[name])
    lines = [f"{json.dumps(name)}: {json.dumps(entries[name])}" for name in checkpoints if name in entries]
    head = f'"versions": {json.dumps(versions)},\n"tolerance": {TOLERANCE},\n"checkpoints": {{\n'
    file.write_text("{\n" + head + ",\n".join(lines) + "\n}\n}\n")
    size = sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file())
    print(f"{len(lines)} checkpoints, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
