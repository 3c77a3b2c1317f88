"""Makes `tied.safetensors`: the logits of checkpoints that store the embedding and the head in several ways, in f64.

    python tied.py

Each is one of the models beside this file with `tie_word_embeddings` true, and

    differs     a head with numbers of its own
    copy        a head with the numbers of the embedding
    swap        the head alone: there is no embedding
    bias        of BERT, two biases of the head that differ
    bias_only   of BERT, the bias under its newer name alone

Made with transformers 5.24.0 and torch 2.15.0. `tests/model/tied.rs` builds the same folders.
"""

import json
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, BertForMaskedLM

import reference

HERE = Path(__file__).parent
MODELS = ["llama-a", "gpt2-c", "gemma2-a", "qwen3-b", "neox-a", "bert-a", "bert-c"]
IDS = [5, 9, 3, 17, 4, 40]
EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight")
BIASES = ("cls.predictions.bias", "cls.predictions.decoder.bias")


def numbers(like):
    """Numbers that every type has exactly."""
    rows, cols = like.shape if like.dim() == 2 else (1, like.shape[0])
    made = torch.tensor([[((7 * i + 13 * j) % 17 - 8) / 8 for j in range(cols)] for i in range(rows)])
    return made.reshape(like.shape).to(like.dtype)


def changed(name, kind):
    tensors = {}
    for file in (HERE / name).glob("model*.safetensors"):
        tensors.update(load_file(file))
    embedding = next(key for key in tensors if key.endswith(EMBEDDINGS))
    is_bert = name.startswith("bert")
    head = "cls.predictions.decoder.weight" if is_bert else "embed_out.weight" if name == "neox-a" else "lm_head.weight"
    table = tensors[embedding]
    tensors.pop(head, None)
    if kind == "differs":
        tensors[head] = numbers(table)
    elif kind == "copy":
        tensors[head] = table.clone()
    elif kind == "swap":
        tensors[head] = tensors.pop(embedding)
    else:
        bias = next(tensors.pop(key) for key in BIASES if key in tensors)
        for key in BIASES:
            tensors.pop(key, None)
        tensors[BIASES[1]] = numbers(bias)
        if kind == "bias":
            tensors[BIASES[0]] = bias
    return tensors


made = {}
for name in MODELS:
    for kind in ["differs", "copy", "swap"] + ["bias", "bias_only"] * name.startswith("bert"):
        config = json.loads((HERE / name / "config.json").read_text())
        config["tie_word_embeddings"] = True
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "config.json").write_text(json.dumps(config))
            save_file(changed(name, kind), f"{folder}/model.safetensors", metadata={"format": "pt"})
            family = BertForMaskedLM if name.startswith("bert") else AutoModelForCausalLM
            model = family.from_pretrained(folder, attn_implementation="eager").eval().double()
            made[f"{name} {kind}"] = reference.run(model, IDS, exact=True)["logits"].contiguous()
save_file(made, HERE / "tied.safetensors")
print(len(made), "checkpoints")
