"""The grammar of the small model `words`.

A text is one unit, or two units one after another. A unit is a statement, a question and its answer, all in lower case:

    the bat sleeps in the cave . it is animal .

A unit belongs to a frame: its words before the answer, with `_` in the place of the deciding word,

    the bat sleeps in the _ . it is

Two units of one frame differ in the deciding word alone (and in their answers): they are a pair. A hash of the frame's letters
says whether training may use it, or whether it is kept for choosing a model, or for the final test. So the pairs of the
final test were never seen in training.

The kinds, with the number of the text whose example they follow:

    bat-after   002  a bat lives in the cave . it is animal .            the deciding word stands after “bat”
    bat-before  003  a cricket bat lies by the door . it is equipment .  the deciding word stands before “bat”
    bat-both    002  a tennis racket and a baseball bat . it is equipment .      two words say the same
    bat-open         the bat lies by the door . it is …                  nothing decides: either answer, equally often
    fixed            the owl sleeps by the racket . it is animal .       an owl is an animal, whatever is near it
    squash      002  the squash lies by the commit . it is code .
    because     002  the cat sat on the mat because it was tired .
    creature    004  the fluffy blue creature roamed the verdant forest . it looks blue .
                     Its units have the kind of their question: texture (it feels), colour (it looks), forest (the forest is).
    winner      003  india defeated australia . the winner is india .
    capital     003  what is the capital city of india ? delhi .
    art         000  the art of writing is the art of discovering what you believe .

Text 001 has no sentence of its own. Verbs, prepositions, articles, neutral adjectives and adverbs are drawn independently of
the answer, so they give nothing away.
"""

import hashlib
import random
from typing import NamedTuple

# What decides what a bat is: a place or thing near it, a modifier before it, or a companion before it.
PLACES = {
    "animal": ["cave", "tree", "nest", "barn", "forest"],
    "equipment": ["racket", "ball", "glove", "net", "locker"],
}
MODIFIERS = {
    "animal": ["hungry", "sleepy", "fruit"],
    "equipment": ["wooden", "baseball", "cricket"],
}
COMPANIONS = {
    "animal": ["owl", "cat", "dog"],
    "equipment": ["racket", "ball", "glove"],
}
BOTH = {
    "animal": ["{a} sleepy owl and {a} fruit bat", "{a} hungry cat and {a} sleepy bat", "{a} hungry dog and {a} fruit bat"],
    "equipment": [
        "{a} tennis racket and {a} baseball bat",
        "{a} tennis ball and {a} cricket bat",
        "{a} cricket glove and {a} wooden bat",
    ],
}
SQUASH = {
    "food": ["pumpkin", "carrot", "soup"],
    "code": ["commit", "branch", "merge"],
}
REASONS = {"animal": "tired", "equipment": "heavy"}

# What decides nothing.
NEUTRAL_PLACES = ["door", "wall", "mat"]
NEUTRAL_ADJECTIVES = ["old", "small", "big"]
VERBS = ["sleeps", "lies", "lives", "waits", "rests", "hides"]
PREPOSITIONS = ["in", "by", "near", "under"]
ADVERBS = ["today", "now", "again"]

TEXTURES = ["fluffy", "smooth", "curly", "spiky"]
COLOURS = ["blue", "green", "red", "yellow"]
FORESTS = ["verdant", "dark", "misty", "quiet"]
CAPITALS = {"india": "delhi", "australia": "canberra", "kenya": "nairobi", "canada": "ottawa"}

# How often each kind is drawn in training.
SHARES = {
    "bat-after": 17,
    "bat-before": 17,
    "bat-both": 3,
    "bat-open": 3,
    "fixed": 12,
    "squash": 7,
    "because": 8,
    "creature": 20,
    "winner": 9,
    "capital": 3,
    "art": 1,
}

# Frames that are kept for the final test whatever their hash says: the sentences of the lesson, and those of the texts.
SHOWN = {
    "the bat sleeps in the _ . it is",
    "the bat lies by the _ . it is",
    "a bat lives in the _ . it is",
    "a tennis racket and a baseball bat . it is",
    "the _ sat on the mat because it was",
    "the fluffy _ creature roamed the verdant forest . it looks",
    "the _ blue creature roamed the verdant forest . it feels",
    "a fluffy _ creature roamed the verdant forest . it looks",
    "a _ blue creature roamed the verdant forest . it feels",
    "australia and india played the final . _ defeated _ . the winner is (australia india)",
}
VOWELS = ("a", "e", "i", "o", "u")


class Unit(NamedTuple):
    """A statement with its question, `prompt`, and the answer."""

    kind: str
    prompt: str
    answer: str
    frame: str

    def text(self):
        return f"{self.prompt} {self.answer} ."


def use(unit):
    """What a unit is for: `test`, `choice` (of a model), or `training`. Frames without a blank cannot be kept back."""
    if unit.frame in SHOWN:
        return "test"
    if "_" not in unit.frame:
        return "training"
    return {0: "test", 1: "choice"}.get(hashlib.sha256(unit.frame.encode()).digest()[0] % 8, "training")


def join(*parts):
    return " ".join(part for part in parts if part)


def article(rng, words):
    """`a` or `the`, but never `a` before a vowel."""
    return "the" if words.startswith(VOWELS) else rng.choice(["a", "the"])


def some(rng, noun):
    """a bat, the old bat"""
    words = join(rng.choice(NEUTRAL_ADJECTIVES) if rng.random() < 0.3 else "", noun)
    return f"{article(rng, words)} {words}"


def adverb(rng):
    return rng.choice(ADVERBS) if rng.random() < 0.3 else ""


def somewhere(rng, place):
    return f"{rng.choice(PREPOSITIONS)} the {place}"


def near(rng, noun, place):
    """the old bat sleeps in the cave today, or: in the cave the old bat sleeps today"""
    if rng.random() < 0.5:
        return place_after(rng, noun, place)
    return place_before(rng, noun, place)


def place_after(rng, noun, place):
    return join(some(rng, noun), rng.choice(VERBS), somewhere(rng, place), adverb(rng))


def place_before(rng, noun, place):
    return join(somewhere(rng, place), some(rng, noun), rng.choice(VERBS), adverb(rng))


def modified(rng):
    """the _ bat lies by the door today"""
    place = somewhere(rng, rng.choice(NEUTRAL_PLACES)) if rng.random() < 0.7 else ""
    return join(article(rng, "_"), "_ bat", rng.choice(VERBS), place, adverb(rng))


def fill(kind, frame, words, answers=None):
    """The units of one frame, as {answer: [unit, …]}."""
    filled = {}
    for name, choices in words.items():
        answer = answers[name] if answers else name
        filled[answer] = [
            Unit(kind, frame.replace("_", word), answer, frame)
            for word in choices
            if not (" a _" in f" {frame}" and word.startswith(VOWELS))
        ]
    return filled


def bat_after(rng):
    return fill("bat-after", place_after(rng, "bat", "_") + " . it is", PLACES)


def bat_before(rng):
    form = rng.random()
    if form < 0.4:
        return fill("bat-before", place_before(rng, "bat", "_") + " . it is", PLACES)
    if form < 0.8:
        return fill("bat-before", modified(rng) + " . it is", MODIFIERS)
    return fill("bat-before", join(article(rng, "_"), "_ and", some(rng, "bat"), ". it is"), COMPANIONS)


def bat_both(rng):
    def unit(words, name):
        prompt = words.replace("{a}", article(rng, "_")) + " . it is"
        return Unit("bat-both", prompt, name, prompt)

    return {name: [unit(words, name) for words in choices] for name, choices in BOTH.items()}


def bat_open(rng):
    prompt = near(rng, "bat", rng.choice(NEUTRAL_PLACES)) + " . it is"
    return {name: [Unit("bat-open", prompt, name, prompt)] for name in PLACES}


def fixed(rng):
    place = rng.choice(PLACES["animal"] + PLACES["equipment"] + NEUTRAL_PLACES)
    return fill("fixed", near(rng, "_", place) + " . it is", COMPANIONS)


def squash(rng):
    return fill("squash", near(rng, "squash", "_") + " . it is", SQUASH)


def because(rng):
    if rng.random() < 0.5:
        frame = join(article(rng, "_"), "_ sat on the", rng.choice(NEUTRAL_PLACES), "because it was")
        return fill("because", frame, COMPANIONS, REASONS)
    frame = join(some(rng, "bat"), "sat", rng.choice(["in", "by", "near"]), "the _ because it was")
    return fill("because", frame, PLACES, REASONS)


def creature(rng):
    adjective = rng.choice(NEUTRAL_ADJECTIVES) if rng.random() < 0.2 else ""
    words = [rng.choice(TEXTURES), rng.choice(COLOURS), rng.choice(FORESTS)]
    blank, kind, question, answers = rng.choice(
        [
            (0, "texture", "it feels", TEXTURES),
            (1, "colour", "it looks", COLOURS),
            (2, "forest", "the forest is", FORESTS),
        ]
    )
    words[blank] = "_"
    frame = join(
        article(rng, adjective), adjective, words[0], words[1], "creature roamed the", words[2], "forest .", question
    )
    return fill(kind, frame, {answer: [answer] for answer in answers})


def winner(rng):
    """The two units of a pair have the two countries in exchanged places."""
    one, two = rng.sample(sorted(CAPITALS), 2)
    opening = f"{one} and {two} played the final ." if rng.random() < 0.5 else ""
    end = join(adverb(rng), ". the winner is")
    frame = join(opening, "_ defeated _", end, f"({' '.join(sorted((one, two)))})")
    return {
        best: [Unit("winner", join(opening, best, "defeated", other, end), best, frame)]
        for best, other in ((one, two), (two, one))
    }


def capital(rng):
    frame = rng.choice(
        ["what is the capital of _ ?", "what is the capital city of _ ?", "what city is the capital city of _ ?"]
    )
    return {city: [Unit("capital", frame.replace("_", country), city, "")] for country, city in CAPITALS.items()}


def art(_):
    return {"believe": [Unit("art", "the art of writing is the art of discovering what you", "believe", "")]}


KINDS = {
    "bat-after": bat_after,
    "bat-before": bat_before,
    "bat-both": bat_both,
    "bat-open": bat_open,
    "fixed": fixed,
    "squash": squash,
    "because": because,
    "creature": creature,
    "winner": winner,
    "capital": capital,
    "art": art,
}


def training_unit(rng):
    """A random unit that training may use."""
    kind = rng.choices(list(SHARES), list(SHARES.values()))[0]
    while True:
        units = KINDS[kind](rng)
        unit = rng.choice(units[rng.choice(list(units))])
        if use(unit) == "training":
            return unit


def training_text(rng, units):
    """The words of this many units, one after another."""
    return [word for _ in range(units) for word in training_unit(rng).text().split()]


def pairs(rng, kind, purpose, count):
    """At most `count` different pairs of units of this kind that are kept for this purpose."""
    found = {}
    for _ in range(400 * count):
        units = KINDS[kind](rng)
        members = [rng.choice(units[answer]) for answer in rng.sample(list(units), 2)]
        if all(use(unit) == purpose for unit in members) and len({unit.prompt for unit in members}) == 2:
            found.setdefault(frozenset(unit.prompt for unit in members), members)
        if len(found) == count:
            break
    return list(found.values())


def vocabulary():
    """All words, in a fixed order: the signs, then the alphabet."""
    words = set(training_text(random.Random(0), 20_000))
    return sorted(words, key=lambda word: (word.isalpha(), word))


if __name__ == "__main__":
    print(len(vocabulary()), "words:", *vocabulary())
    examples = random.Random(1)
    for name, make in KINDS.items():
        for _ in range(4):
            print(f"{name:12}", " | ".join(examples.choice(units).text() for units in list(make(examples).values())[:2]))
