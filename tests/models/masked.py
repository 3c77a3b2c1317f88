"""Makes `masked/`: a tokenizer with [MASK] for `bert-a`, and what `transformers` predicts for masked places of some texts.

    python masked.py

`figures.json` has, for each text: its ids, and for each masked position (from 1) the softmax of the logits in f64, of the model
itself and of the model's head on what each place of the residual stream holds (the logit lens).
"""

import json
import platform
import shutil
import tempfile
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import make_models
import reference
from families_other import OTHER

HERE = Path(__file__).parent
WORDS = """the a bat cave racket sleeps lies in by it is an animal piece of equipment dog cat runs sees and under over on
with from to at was were not but so then there here who what when where how why all some many few one two three four five six . ,
? ! ##s ##ing ##ed ##er sleep run see""".split()
TEXTS = ["the bat sleeps in the [MASK] .", "the [MASK] lies by the [MASK]", "the bat sleeps in the cave"]


def tokenizer():
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
    assert len(pieces) == len(set(pieces)) <= 71, len(pieces)
    # The model has 71 rows: some words stand for nothing.
    pieces += [f"[unused{i}]" for i in range(71 - len(pieces))]
    made = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(pieces[:5])
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair=None, special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return made


def probabilities(logits):
    return torch.softmax(logits, -1).tolist()


def figures(model, made, text):
    ids = made.encode(text).ids
    found = reference.run(model, ids, exact=True)
    places = sorted(int(name.split(".")[1]) for name in found if name.startswith("residual."))
    masked = {}
    for at, piece in enumerate(ids):
        if piece != made.token_to_id("[MASK]"):
            continue
        with torch.no_grad(), reference.everything_f64():
            lens = [model.cls(found[f"residual.{place}"][at]) for place in places]
        assert torch.allclose(lens[-1], found["logits"][at], rtol=0, atol=1e-12)
        masked[at + 1] = {"probabilities": probabilities(found["logits"][at]), "lens": [probabilities(x) for x in lens]}
    # Without a mask, the last token of the text: before [SEP].
    last = {} if masked else {"last": probabilities(found["logits"][-2])}
    return {"text": text, "ids": ids, "masked": masked, **last}


def main():
    folder, made = HERE / "masked", tokenizer()
    folder.mkdir(exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"mask_token": "[MASK]", "tokenizer_class": "BertTokenizer"}) + "\n")
    checkpoint = next(one for one in OTHER if one.name == "bert-a")
    with tempfile.TemporaryDirectory() as place:
        for name in ["config.json", "model.safetensors"]:
            shutil.copy(HERE / "bert-a" / name, place)
        model, _ = make_models.open_model(checkpoint, place)
    model.double()
    versions = {"python": platform.python_version(), "torch": torch.__version__,
                "transformers": transformers.__version__, "tokenizers": tokenizers.__version__}
    texts = [figures(model, made, text) for text in TEXTS]
    lines = ",\n".join(json.dumps(text) for text in texts)
    (folder / "figures.json").write_text(f'{{"versions": {json.dumps(versions)},\n"texts": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
