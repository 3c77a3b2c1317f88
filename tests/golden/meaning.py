"""The nodes of the demo `meaning`, computed by transformers from models/words; writes meaning.json next to itself.

    python meaning.py

Python 3.11, torch 2.15.0, transformers 5.24.0, in f64 with eager attention. Head 3 of layer 1 is taken out by setting its eight
columns of the input of `c_proj` to 0.
"""

import json
from pathlib import Path

import torch
import transformers

HERE = Path(__file__).parent
FOLDER = HERE.parent.parent / "models" / "words"
TEXTS = {"cave": "the bat sleeps in the cave . it is", "racket": "the bat lies by the racket . it is"}
HEAD = slice(16, 24)

model = transformers.GPT2LMHeadModel.from_pretrained(FOLDER, attn_implementation="eager").double().eval()
tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"))
table, norm = model.transformer.wte.weight, model.transformer.ln_f
projection = model.transformer.h[0].attn.c_proj
answers = [tokenizer.convert_tokens_to_ids(word) for word in ("animal", "equipment")]
joined = []


def keep(_, inputs):
    joined.append(inputs[0][0, -1].clone())


def take_out(_, inputs):
    changed = inputs[0].clone()
    changed[..., HEAD] = 0
    return (changed,)


def run(text, hook):
    handle = projection.register_forward_pre_hook(hook)
    out = model(torch.tensor([tokenizer(text)["input_ids"]]), output_hidden_states=True, output_attentions=True)
    handle.remove()
    return out


def of_answers(logits):
    return logits.softmax(-1)[..., answers].tolist()


figures = {"versions": {"torch": torch.__version__, "transformers": transformers.__version__}, "cases": {}}
with torch.no_grad():
    for name, text in TEXTS.items():
        out = run(text, keep)
        added = joined.pop()[HEAD] @ projection.weight[HEAD]
        # The last hidden state has been through the final norm.
        streams = [*(norm(x[0, -1]) for x in out.hidden_states[:-1]), out.hidden_states[-1][0, -1]]
        figures["cases"][name] = {
            "weights": out.attentions[0][0, 2, -1].tolist(),
            "toward": float(added @ (table[answers[0]] - table[answers[1]])),
            "next": [of_answers(x @ table.T) for x in streams],
            "without": of_answers(run(text, take_out).logits[0, -1]),
        }
(HERE / "meaning.json").write_text(json.dumps(figures, indent=1) + "\n")
