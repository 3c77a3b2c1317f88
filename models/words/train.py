"""Trains the small model `words` on sentences of `grammar.py`, tests it, and writes its files into this folder.

    python train.py              trains seed after seed until one meets the rule below; writes all files
    python train.py --seed 3     trains this seed only
    python train.py --test       trains nothing: tests the files as they are, and writes figures.json

One thread and fixed seeds: the same machine and versions give the same figures again.

The rule for a seed, on pairs that are kept for this choice and are not in the final test:
every kind is at least 99 % right; every kind has a head that looks at the deciding word, and without this head it is less than
55 % right (the final test asks for 60 %); for both kinds of questions about the bat it is the same head, a head of the first layer
that gives the deciding word at least 0.8 of the attention of the last token on average; and without any other head these two kinds
stay at least 99 % right. A head looks at a word if some later token gives it at least half of its attention, on average over the texts.
"""

import argparse
import contextlib
import json
import math
import pathlib
import platform
import random
import shutil
import tempfile
import time

import safetensors
import tokenizers
import torch
import transformers
from tokenizers import models, normalizers, pre_tokenizers

import grammar

FOLDER = pathlib.Path(__file__).parent
LAYERS, HEADS, WIDTH, INNER, CONTEXT = 2, 4, 32, 64, 32
# Training has two parts, each with an optimiser and random sentences of its own: (steps, largest rate).
PARTS = [(5000, 3e-3), (4000, 1.5e-3)]
WARM_UP = 100
# Texts of one unit and of two units in a step.
SINGLE, DOUBLE = 45, 15
# The loss has two terms more than usual, each as (weight, first step, step from which it is in full force): they start when the
# model has learned most of the grammar. The mean entropy of the attention weights makes patterns sharp enough to project. The
# overlap, how much two heads look at the same word from the same token, makes a second look at a word cost something: so one head
# carries a decision, and not two that say the same.
ENTROPY = (0.005, 1400, 2600)
OVERLAP = (0.1, 2500, 8000)
PAIRS = {
    "bat-after": 60,
    "bat-before": 60,
    "fixed": 20,
    "squash": 20,
    "because": 20,
    "texture": 40,
    "colour": 40,
    "forest": 40,
    "winner": 10,
}
BAT = ("bat-after", "bat-before")
# What the rule asks for.
RIGHT, WRONG, LOOKS, LOOKS_AT_BAT = 0.99, 0.55, 0.5, 0.8
WORDS = grammar.vocabulary()
IDS = {word: i for i, word in enumerate(WORDS)}
# Sentences whose probabilities and attention figures.json records.
SENTENCES = [
    "the bat sleeps in the cave . it is",
    "the bat lies by the racket . it is",
    "a bat lives in the cave . it is",
    "a tennis racket and a baseball bat . it is",
    "the bat lies by the door . it is",
    "the wooden bat sleeps by the door . it is",
    "by the racket the bat lies . it is",
    "the owl lies by the racket . it is",
    "the ball lies in the locker . it is equipment . the bat sleeps in the cave . it is",
    "the cat sat on the mat because it was",
    "the fluffy blue creature roamed the verdant forest . it looks",
    "the fluffy blue creature roamed the verdant forest . it feels",
    "the fluffy blue creature roamed the verdant forest . the forest is",
    "australia and india played the final . india defeated australia . the winner is",
    "australia and india played the final . australia defeated india . the winner is",
    "what city is the capital city of india ?",
    "the art of writing is the art of discovering what you",
]


def new_model(seed):
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=len(WORDS),
        n_positions=CONTEXT,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        n_inner=INNER,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        use_cache=False,
        attn_implementation="eager",
    )
    return transformers.GPT2LMHeadModel(config)


def optimiser(model):
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98))


def rate(step, steps, largest):
    """A linear rise, then half a cosine down to a hundredth."""
    return largest * min(1.0, (step + 1) / WARM_UP) * (0.505 + 0.495 * math.cos(math.pi * step / steps))


def weight(term, step):
    """The weight of a term of the loss at this step."""
    full, first, last = term
    return min(1.0, max(0.0, (step - first) / (last - first))) * full


def ids(words):
    return torch.tensor([IDS[word] for word in words])


def batch(rng, count, units):
    """Random texts of this many units, cut after `CONTEXT` words, as (inputs, targets); a target of -100 does not count."""
    texts = [ids(grammar.training_text(rng, units)[: CONTEXT + 1]) for _ in range(count)]
    tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=-100)
    return tokens[:, :-1].clamp(min=0), tokens[:, 1:]


def cross_entropy(logits, targets):
    """The sum over the targets that count."""
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")


def entropy(attentions, targets):
    """The entropy of the attention weights, mean over heads and layers, summed over the tokens that count."""
    counts = (targets >= 0)[:, None]
    return sum((-(a * (a + 1e-9).log()).sum(-1) * counts).sum() for a in attentions) / (LAYERS * HEADS)


def overlap(attentions, targets):
    """For each two heads of the model, the products of their weights for the same other word, summed like `entropy`."""
    heads = torch.cat(attentions, 1)
    heads = heads - torch.diag_embed(heads.diagonal(dim1=-2, dim2=-1))
    products = (heads.sum(1) ** 2 - (heads**2).sum(1)).sum(-1) / 2
    return (products * (targets >= 0)).sum() / (LAYERS * HEADS)


def train(seed):
    model, done = new_model(seed), 0
    for part in range(len(PARTS)):
        train_part(model, seed, part, done)
        done += PARTS[part][0]
    return model


def train_part(model, seed, part, done):
    """One part of the training; `done` is the number of steps before it."""
    (steps, largest), rng = PARTS[part], random.Random(1000 * (part + 1) + seed)
    adam, start = optimiser(model), time.time()
    for step in range(steps):
        loss, spread, shared, count = 0.0, 0.0, 0.0, 0
        for inputs, targets in (batch(rng, SINGLE, 1), batch(rng, DOUBLE, 2)):
            result = model(inputs, output_attentions=True)
            loss += cross_entropy(result.logits, targets)
            spread += entropy(result.attentions, targets)
            shared += overlap(result.attentions, targets)
            count += (targets >= 0).sum().item()
        terms = weight(ENTROPY, done + step) * spread / count + weight(OVERLAP, done + step) * shared / count
        loss = loss / count
        adam.zero_grad()
        (loss + LAYERS * terms).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in adam.param_groups:
            group["lr"] = rate(step, steps, largest)
        adam.step()
        if step % 250 == 0 or step == steps - 1:
            print(
                f"seed {seed} part {part + 1} step {step} loss {loss.item():.4f} entropy {spread.item() / count:.3f} "
                f"overlap {shared.item() / count:.3f} {time.time() - start:.0f} s",
                flush=True,
            )


def write_model(model):
    """`config.json` and `model.safetensors` with the names and keys of `transformers`."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        for name in ("config.json", "model.safetensors"):
            shutil.copyfile(pathlib.Path(folder, name), FOLDER / name)


def write_tokenizer():
    """Words and signs, whatever the case of the letters. A word that is not in the vocabulary is an error."""
    tokenizer = tokenizers.Tokenizer(models.WordLevel(IDS, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(FOLDER / "tokenizer.json"))


def written_model():
    """The model as the files have it, in f64."""
    return transformers.GPT2LMHeadModel.from_pretrained(FOLDER, dtype=torch.float64, attn_implementation="eager").eval()


@contextlib.contextmanager
def without(model, head):
    """Sets the output of one head, (layer, head) from 0, to 0 before the output projection; the bias stays."""
    if head is None:
        yield
        return
    layer, number = head
    size = WIDTH // HEADS

    def zero(_, arguments):
        z = arguments[0].clone()
        z[..., number * size : (number + 1) * size] = 0
        return (z,)

    hook = model.transformer.h[layer].attn.c_proj.register_forward_pre_hook(zero)
    try:
        yield
    finally:
        hook.remove()


@torch.no_grad()
def answers(model, prompts):
    """The most probable next word after each text."""
    found = [None] * len(prompts)
    by_length = {}
    for i, text in enumerate(prompts):
        by_length.setdefault(len(text.split()), []).append(i)
    for members in by_length.values():
        best = model(torch.stack([ids(prompts[i].split()) for i in members])).logits[:, -1].argmax(-1)
        for i, word in zip(members, best.tolist()):
            found[i] = WORDS[word]
    return found


def kept(purpose):
    """Pairs that are kept for the test or for the choice, as a list of units; a pair are neighbours."""
    rng = random.Random({"test": 1, "choice": 2}[purpose])
    creature = [kind for kind in PAIRS if kind not in grammar.KINDS]
    found = []
    for kind in dict.fromkeys("creature" if kind in creature else kind for kind in PAIRS):
        if kind == "creature":
            pairs = grammar.pairs(rng, kind, purpose, 4 * max(PAIRS[each] for each in creature))
            found += [pair for each in creature for pair in [p for p in pairs if p[0].kind == each][: PAIRS[each]]]
        else:
            found += grammar.pairs(rng, kind, purpose, PAIRS[kind])
    assert all(one.answer != other.answer for one, other in found)
    assert all(sum(one.kind == kind for one, _ in found) == count for kind, count in PAIRS.items())
    return [unit for pair in found for unit in pair]


def accuracy(model, units, head=None):
    """The share of right answers, by kind."""
    with without(model, head):
        said = answers(model, [unit.prompt for unit in units])
    right = {}
    for unit, word in zip(units, said):
        right.setdefault(unit.kind, []).append(word == unit.answer)
    return {kind: sum(marks) / len(marks) for kind, marks in right.items()}


def all_heads():
    return [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


def name(head):
    """The usual name of a head, (layer, head) from 0."""
    return f"L{head[0]}H{head[1]}"


def deciding_words(one, other):
    """Where two texts of a pair differ, counted from 0: one place, but two names in exchanged places for `winner`."""
    places = [i for i, (a, b) in enumerate(zip(one.prompt.split(), other.prompt.split())) if a != b]
    assert len(places) == (2 if one.kind == "winner" else 1)
    return places


@torch.no_grad()
def attention_to_deciding_word(model, units):
    """For each kind and each head, mean over the texts: (the attention of the last token to the deciding word, the largest that any
    later token gives it)."""
    found = {}
    for pair in zip(units[::2], units[1::2]):
        places = deciding_words(*pair)
        for unit in pair:
            attentions = model(ids(unit.prompt.split())[None], output_attentions=True).attentions
            looks = torch.stack([a[0][..., places].sum(-1) for a in attentions])
            found.setdefault(unit.kind, []).append(torch.stack([looks[..., -1], looks[..., places[-1] + 1 :].amax(-1)]))
    return {kind: tuple(torch.stack(tables).mean(0)) for kind, tables in found.items()}


def judge(model, units):
    """What the rule asks for, on these pairs: for each kind the head that looks at the deciding word, and whether the rule is met."""
    whole, attention = accuracy(model, units), attention_to_deciding_word(model, units)
    marks = {head: accuracy(model, units, head) for head in all_heads()}
    deciding = {}
    for kind, (_, largest) in attention.items():
        looking = [head for head in all_heads() if largest[head] >= LOOKS]
        if looking:
            deciding[kind] = min(looking, key=lambda head: (marks[head][kind], -largest[head]))
    bat = {deciding.get(kind) for kind in BAT}
    others = min(marks[head][kind] for head in all_heads() if head not in bat for kind in BAT)
    at_bat = min(attention[kind][0][deciding[kind]].item() if kind in deciding else 0.0 for kind in BAT)
    without_it = {kind: marks[head][kind] for kind, head in deciding.items()}
    return {
        "lowest": round(min(whole.values()), 4),
        "heads": {kind: name(head) for kind, head in deciding.items()},
        "without_them": rounded(without_it, 4),
        "attention": {kind: round(attention[kind][1][head].item(), 4) for kind, head in deciding.items()},
        "bat_without_another": round(others, 4),
        "attention_at_bat": round(at_bat, 4),
        "met": min(whole.values()) >= RIGHT
        and all(without_it.get(kind, 1.0) < WRONG for kind in PAIRS)
        and len(bat) == 1
        and {head[0] for head in bat} == {0}
        and others >= RIGHT
        and at_bat >= LOOKS_AT_BAT,
    }


def rounded(value, digits=6):
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    return round(value, digits) if isinstance(value, float) else value


@torch.no_grad()
def sentence_figures(model, text):
    """Probabilities of the next word, after each layer too, and where each head looks from the last token."""
    words = text.split()
    result = model(ids(words)[None], output_attentions=True, output_hidden_states=True)
    chances = result.logits[0, -1].softmax(-1)
    best = chances.topk(3)
    states = [model.transformer.ln_f(x) for x in result.hidden_states[:-1]] + [result.hidden_states[-1]]
    lens = [model.lm_head(x[0, -1]).softmax(-1) for x in states]
    return {
        "text": text,
        "next": {WORDS[i]: p for p, i in zip(best.values.tolist(), best.indices.tolist())},
        "lens": [{WORDS[i]: chance[i].item() for i in best.indices.tolist()} for chance in lens],
        "attention": {
            f"L{layer}H{head}": [
                [words[i], i, weight]
                for weight, i in zip(*(part.tolist() for part in a[0, head, -1].topk(min(3, len(words)))))
            ]
            for layer, a in enumerate(result.attentions)
            for head in range(HEADS)
        },
    }


@torch.no_grad()
def places_of_attention(model, units):
    """For each head, mean over all tokens but the first of the pairs: attention to itself, the token before it, the first token."""
    sums, count = torch.zeros(3, LAYERS, HEADS, dtype=torch.float64), 0
    for unit in units:
        attentions = torch.stack([a[0] for a in model(ids(unit.prompt.split())[None], output_attentions=True).attentions])
        sums[0] += attentions.diagonal(dim1=-2, dim2=-1)[..., 1:].sum(-1)
        sums[1] += attentions.diagonal(-1, dim1=-2, dim2=-1).sum(-1)
        sums[2] += attentions[..., 1:, 0].sum(-1)
        count += attentions.shape[-1] - 1
    itself, previous, first = (sums / count).tolist()
    return {"itself": itself, "previous": previous, "first": first}


@torch.no_grad()
def mean_loss(model):
    inputs, targets = batch(random.Random(3), 1000, 1)
    return cross_entropy(model(inputs).logits, targets).item() / (targets >= 0).sum().item()


def check_never_seen(units, texts=50_000):
    """Draws many training units and finds none of these texts among them."""
    rng, tested = random.Random(4), {unit.prompt for unit in units}
    assert not any(grammar.training_unit(rng).prompt in tested for _ in range(texts))


def as_lines(figures):
    """JSON with one line for each key, and for each entry of a list of objects."""
    lines = []
    for key, value in figures.items():
        is_list = isinstance(value, list) and value and isinstance(value[0], dict)
        text = "[\n  " + ",\n  ".join(json.dumps(entry) for entry in value) + "\n ]" if is_list else json.dumps(value)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_figures(tried):
    model, units = written_model(), kept("test")
    check_never_seen(units)
    entries = [{"kind": unit.kind, "text": unit.prompt, "answer": unit.answer} for unit in units]
    (FOLDER / "heldout.json").write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")
    attention = attention_to_deciding_word(model, units)
    figures = {
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
            "safetensors": safetensors.__version__,
        },
        "how": "the files of this folder, computed in f64 by transformers (eager attention)",
        "seeds": tried,
        "parameters": sum(p.numel() for p in model.parameters()),
        "words": len(WORDS),
        "bytes": {name: (FOLDER / name).stat().st_size for name in ("config.json", "model.safetensors", "tokenizer.json")},
        "loss": mean_loss(model),
        "deciding_heads": tried[-1]["heads"],
        "units": {kind: sum(unit.kind == kind for unit in units) for kind in PAIRS},
        "accuracy": accuracy(model, units),
        "accuracy_without": {name(head): accuracy(model, units, head) for head in all_heads()},
        "attention_to_deciding_word": {
            kind: {"last": last.tolist(), "largest": largest.tolist()} for kind, (last, largest) in attention.items()
        },
        "places_of_attention": places_of_attention(model, units),
        "sentences": [sentence_figures(model, text) for text in SENTENCES],
    }
    (FOLDER / "figures.json").write_text(as_lines(rounded(figures)))
    show(figures)


def show(figures):
    kinds = list(PAIRS)
    print(f"{figures['parameters']} parameters, {figures['bytes']}, loss {figures['loss']:.4f}")
    print(f"{'right':10}", *(f"{kind:>10}" for kind in kinds))
    rows = {"all heads": figures["accuracy"]} | {f"no {k}": v for k, v in figures["accuracy_without"].items()}
    for title, marks in rows.items():
        print(f"{title:10}", *(f"{marks[kind]:10.3f}" for kind in kinds))
    print("the heads that look at the deciding word:", figures["deciding_heads"])
    print("attention to the deciding word: of the last token, and the largest of a later token; layers by heads")
    tables = {
        f"{kind}, {which}": table
        for kind, both in figures["attention_to_deciding_word"].items()
        for which, table in both.items()
    }
    for title, table in (tables | figures["places_of_attention"]).items():
        print(f"{title:24}", " | ".join(" ".join(f"{x:.3f}" for x in row) for row in table))
    for entry in figures["sentences"]:
        print(entry["text"], "->", {word: round(p, 4) for word, p in entry["next"].items()})
        print("    after each layer:", *({w: round(p, 3) for w, p in lens.items()} for lens in entry["lens"]))
        for head, looks in entry["attention"].items():
            print(f"    {head}", *(f"{word}{i}:{weight:.3f}" for word, i, weight in looks))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--test", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if options.test:
        tried = json.loads((FOLDER / "figures.json").read_text())["seeds"]
    else:
        tried = []
        for seed in [options.seed] if options.seed is not None else range(20):
            write_model(train(seed))
            tried.append({"seed": seed} | judge(written_model(), kept("choice")))
            print(tried[-1], flush=True)
            if tried[-1]["met"]:
                break
        write_tokenizer()
    write_figures(tried)


if __name__ == "__main__":
    main()
