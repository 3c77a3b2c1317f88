#!/usr/bin/env python3
"""Writes the command lines of the record, one on each line, to standard output. They run in a shell, in a folder with copies of what
main.rs names under READ, and with the results of the golden files below golden/."""
import json
import os
import pathlib
import random
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SENTENCE = "the bat sleeps in the cave . it is"
commands = {}


def add(*lines):
    for line in lines:
        commands.setdefault(" ".join(line.split("\n")).strip())


def attn(*args):
    return subprocess.run([os.environ.get("ATTN", ROOT / "target/debug/attn"), *args], capture_output=True, text=True).stdout


# What documents and lessons show.
LONG = ("attn bench", "attn learn", "attn site", "attn lesson follow", "cargo ", "sudo ")
for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "walkthroughs").glob("*.md")),
             *sorted((ROOT / "tests/lessons").glob("*.md"))]:
    fenced = False
    for line in path.read_text().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        found = re.findall(r"^(?:\$ |> )?(attn .*)$", line) if fenced else re.findall(r"`(attn [^`]*)`", line)
        for command in found:
            command = re.sub(r"\s{3,}.*$|\s#.*$", "", command)
            if not re.search(r"…|\.\.\.|[A-Z]{4,}|\\$|<", command) and not command.startswith(LONG):
                add(command)

# Each help, at two widths; completions and man pages.
names = "lesson site demo glossary attend explore softmax similarity params bench tokens model learn diagnose find examples errata notation help man completions".split()
names += ["lesson " + x for x in "list play follow quiz check update new directives export".split()]
names += ["explore " + x for x in "attend demo model".split()]
for name in ["", *names]:
    for width in (80, 120):
        for flag in ("-h", "--help"):
            add(f"COLUMNS={width} attn {name} {flag}")
add("attn", "attn man --write man", "attn help variables", "attn help screen", "COLUMNS=60 attn --help")
add(*(f"attn completions {shell}" for shell in "bash zsh fish elvish powershell".split()))
add(*(f"attn help {name}" for name in names))

# Each demo in each format, and its parts.
demos = sorted(path.stem.split("-", 1)[1] for path in (ROOT / "data/demos").glob("*/*.attn"))
formats = "table json numpy markdown latex csv html".split()
for demo in demos:
    for form in formats:
        for width in (80, 120):
            add(f"COLUMNS={width} attn demo {demo} --format {form}")
    graph = json.loads(attn("demo", demo, "--format", "json"))
    if attn("demo", demo, "--seed", "3"):
        add(f"attn demo {demo} --seed 3", f"attn demo {demo} --versus '--seed 1'")
    nodes = [node["name"] for node in graph.get("nodes", []) if "name" in node]
    add(f"attn demo {demo} --full --color always", f"attn demo {demo} --brief --charset ascii", f"COLUMNS=50 attn demo {demo}",
        f"attn demo {demo} --format html --live", f"attn demo {demo} --as-printed",
        f"attn demo {demo} --theme light --color always --heat always --precision 2", f"attn errata --demo {demo}",
        f"attn demo {demo} --step 2", f"attn explore demo {demo} --plain")
    for node in nodes[-1:] + nodes[len(nodes) // 2:len(nodes) // 2 + 1]:
        add(f"attn demo {demo} --until {node}", f"attn demo {demo} --only {node} --format latex",
            f"attn demo {demo} --explain '{node}[1,1]' --depth all", f"attn demo {demo} --symbolic '{node}[1,1]'",
            *(f"attn demo {demo} --explain '{node}[1,1]' --format {form}" for form in formats[1:]))
add("attn demo --list", "attn demo --by-document", "attn demo --all --brief", *(f"attn demo --document 00{n}" for n in range(5)))

# Attention over mechanisms, masks, heads, gradients.
WORDS, X = "--words 'bat cave racket'", "--x '1 2 0 1; 3 4 1 0; 0 1 1 2; 2 0 1 1'"
inputs = [WORDS, X, "--random 5,8", "--q '1 0; 0 1' --k '1 1; 0 2; 1 0' --v '3 0; 0 5; 1 1'", "examples/data/creature.json"]
changes = ["", "--causal", "--causal --causal-from start", "--window 2", "--causal --window 2 --keep-first 1", "--score cosine",
           "--scale none", "--scale 0.3", "--temperature 2", "--temperature 0.1 --causal", "--softcap 1.5",
           "--sink 0.5", "--qk-norm", "--qk-norm --qk-norm-eps 0.5", "--position rope", "--position rope --rope-base 100 --first-position 3",
           "--position rope --rope-width 2", "--position rope --rope-scaling linear:factor=4",
           "--position rope --rope-scaling yarn:factor=4,original=8", "--position alibi --causal", "--position sinusoidal",
           "--position t5 --position-table '1; 2; 0; 1; 0'", "--residual", "--residual --causal --sink 1 --softcap 3", "--convention columns", "--dtype f32", "--fast",
           "--fast --threads 1 --causal", "--fast --dtype f64 --window 2"]
shapes = ["", "--heads 2", "--heads 2 --precision 6", "--heads 2 --kv-heads 1"]
outputs = ["--brief", "--format json", "--explain 'O[1,1]' --depth all", "--explain 'A[2,1]'", "--only A --precision 3", "--full"]
picked = random.Random(1)
for given in inputs:
    for change in changes:
        add(f"attn attend {given} {change}")
        for output in outputs:
            if picked.random() < 0.6:
                add(f"attn attend {given} {change} {picked.choice(shapes)} {output}")
gradients = ["--gradient ones", "--gradient 'O[1,1]'", "--loss cross-entropy --targets 1,2,1"]
for gradient in gradients:
    for change in changes[:26]:
        add(f"attn attend {WORDS} {change} {gradient} --brief", f"attn attend {X} {change} {gradient.replace('2,1', '2,1,-')} --format json")
    for output in ["", "--format html", "--format latex", "--format markdown", "--explain 'dA[1,1]'", "--versus '--causal'", "--heads 2"]:
        add(f"attn attend {WORDS} {gradient} {output}")
for form in formats:
    for given in inputs:
        add(f"attn attend {given} --causal --format {form}", f"COLUMNS=120 attn attend {given} --format {form} --heads 2")
    add(f"attn attend {WORDS} --causal --explain 'O[cave,animals]' --depth 3 --format {form}",
        f"attn softmax 1 -2 -inf 1000 --temperature 2 --format {form}", f"attn similarity bat cave racket --format {form}",
        f"attn attend {WORDS} --symbolic 'O[cave]' --format {form}", f"attn model words '{SENTENCE}' --format {form}")
SETUP = {"keys.txt": "printf 'Down\\nEnter\\nq\\n' > tmp-keys.txt; ", "vectors.txt": "printf 'horse 1 2\\ndog 2 1\\n' > tmp-vectors.txt; ",
         "table.csv": "printf '1\\n2\\n3\\n' > tmp-table.csv; ", "text.txt": "printf 'a text to learn, a text to read' > tmp-text.txt; ",
         "graph.json": "attn attend --x '1 2; 3 4' --format json > tmp-graph.json; ", "pairs.txt": "printf 'ab\\tba\\ncd\\tdc\\n' > tmp-pairs.txt; ",
         "lesson.md": "attn lesson new tmp-lesson.md; ", "model ": "attn learn reverse --steps 4 --every 2 --save tmp-model; "}
for line in (ROOT / "tests/screen/options.txt").read_text().splitlines():
    heads = re.match(r"\[(.*)\]$", line)
    if heads:
        prefix = heads[1].split("|")
    elif not line:
        prefix = [""]
    elif not line.startswith("#"):
        line = re.sub(r"^[012]?~? ", "", line)
        if "follow" not in line and "--auto" not in line and not line.startswith("bench"):
            setup = "".join(text for name, text in SETUP.items() if f"TMP/{name}" in line)
            add(*(setup + re.sub(r"TMP/", "tmp-", f"attn {head} {line}".replace("  ", " ")) for head in prefix))
add(*(f"attn attend {WORDS} --causal --set '{change}'" for change in ["X[1,2]=6", "X[cave,sport]=-inf", "W_Q=1 0; 0 2", "Y[1,1]=2", "X[9,9]=1"]),
    *(f"attn attend {X} --versus '{change}'" for change in ["--causal", "--heads 2", "--scale none", "--position rope", "--nonsense"]),
    *(f"attn attend {X} --save {node}=out.{end}" for node in "SAO" for end in ("npy", "npz", "csv", "json", "safetensors", "txt")),
    *(f"attn attend {X} --heads 2 --save O=o.npy --save A_1=a.npy --save W_Q=w.csv" for _ in "1"),
    f"attn attend {X} --format html --live", f"attn attend {WORDS} --format html --live --gradient ones",
    f"attn attend {X} --heads 2 --causal --format json > graph.json && attn explore graph.json --plain --at 'A_1[2,1]'",
    "attn attend --embeddings examples/data/animals.txt --words 'cat dog owl'", "attn attend --words 'cat dog' --define cat=1,2,3 --define dog=2,1,0")

# Every result of the golden files: as a batch, and alone.
OPTIONS = {"heads": "--heads", "kv_heads": "--kv-heads", "score": "--score", "scale": "--scale", "temperature": "--temperature",
           "window": "--window", "mask_kind": "--mask-kind", "keep_first": "--keep-first", "position": "--position",
           "rope_base": "--rope-base", "rope_width": "--rope-width", "first_position": "--first-position",
           "qk_norm_eps": "--qk-norm-eps", "softcap": "--softcap", "rope_scaling": "--rope-scaling"}
for name in re.findall(r'"(\w+)"', re.search(r"const GOLDEN.*?\];", (ROOT / "tests/corpus/main.rs").read_text(), re.S)[0]):
    seen = {}
    for at, case in enumerate(json.loads((ROOT / f"tests/golden/{name}.json").read_text())["cases"], 1):
        options = case["options"]
        words = [f"{option} {options[key]}" for key, option in OPTIONS.items()
                 if options.get(key) is not None and isinstance(options[key], (int, float, str)) and not isinstance(options[key], bool)
                 and (key, options[key]) not in (("keep_first", 0), ("first_position", 0), ("temperature", 1.0))
                 and not (key.startswith("rope_b") and options.get("position") != "rope") and not (key == "qk_norm_eps" and not options.get("qk_norm"))]
        words += ["--causal"] * bool(options.get("causal")) + ["--residual"] * bool(options.get("residual"))
        words += ["--qk-norm"] * bool(options.get("qk_norm")) + ["--causal-from start"] * (options.get("causal_from") == "start")
        folder = f"golden/{name}/{at:02}"
        base = f"attn diagnose {folder}/inputs.json {' '.join(words)}" + (f" --gradient dO={folder}/dO.json" if "dO" in case else "")
        add(f"{base} --batch {folder}/results --format json", f"{base} --batch {folder}/results",
            f"COLUMNS=120 {base} --batch {folder}/results --by-mistake --format csv")
        for number, wrong in enumerate(case["wrong"], 1):
            known = seen.setdefault((tuple(wrong["mistakes"]), wrong.get("variant") if len(wrong["mistakes"]) == 1 else None), 0)
            seen[(tuple(wrong["mistakes"]), wrong.get("variant") if len(wrong["mistakes"]) == 1 else None)] += 1
            every = 25 if len(wrong["mistakes"]) > 1 else 4 if name in ("operators", "gradient_slips") else 1
            if known < 1 and number % every == 0:
                add(f"{base} --yours {folder}/results/{number:04}.json " + picked.choice(["", "--details", "--format json", "--format html", "--format markdown --details"]))
mistakes = re.findall(r"^ *([a-z0-9-]+) {2,}", attn("diagnose", "--list"), re.M)
add("attn diagnose --list", "COLUMNS=120 attn diagnose --list", "attn diagnose --list --format json", *(f"attn diagnose --list {m}" for m in mistakes))
for form in ("table", "json", "csv", "markdown", "latex", "html"):
    add(f"attn diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers --format {form}",
        *(f"attn diagnose --random 6,4 --seed 1 --causal --yours examples/data/answers/0{n}.csv --details --format {form}" for n in range(1, 8)))
add("attn diagnose --x '1 2; 3 4' --suggest-input better.npz", "attn diagnose --x '1 2; 3 4' --heads 2 --suggest-input better.json")

# Models: the built-in one and tiny checkpoints.
TEXT = f"'{SENTENCE}'"
views = ["", "--survey", "--survey --all", "--all", "--layer 1", "--layer 2", "--layer 1 --head 3", "--layer 2 --brief", "--layer 1 --rows 2-3 --cols 1-2", "--next 5",
         "--next 8 --seed 3 --temperature 2", "--without L1.A_3", "--without L1", "--without mlp:1", "--without L1.A_3 --mean", "--without-first", "--dtype f32",
         "--top 3", "--only L1.A_3", "--explain 'L1.A_3[2,1]' --depth 2", "--explain 'logits[9,2]'", "--symbolic 'L1.A_3[1,1]'", "--versus '--without L1.A_3'",
         "--layer 1 --format html --live", "--layer 1 --until L1.A_3", "--layer 1 --around bat", "--layer 9", "--head 2", "--save L1.A_2=a.npy"]
for view in views:
    add(f"attn model words {TEXT} {view}", f"attn model words {TEXT} {view} --format json", f"COLUMNS=120 attn model words 'the cat sleeps in the cave' {view} --color always")
folders = sorted(p.name for p in (ROOT / "tests/models").iterdir() if p.is_dir() and (p / "config.json").exists())
for name in folders:
    for view in ["", "--layer 1", "--layer 1 --brief --dtype f64", "--survey", "--next 3", "--format json", "--layer 1 --head 2 --format latex", "--all --top 2",
                 "--without L1.A_1", "--explain 'L1.A_1[2,1]'"]:
        add(f"attn model tests/models/{name} --ids 3,5,2,7,1 {view}")
    add(f"attn params tests/models/{name}", f"attn params tests/models/{name} --format json", f"attn explore model tests/models/{name} --ids 3,5,2 --plain")
for entry in ["model.safetensors", "scores.npy", "heads.npy", "stored.npz", "deflated.npz", "stacked.safetensors", "f16.safetensors", "bf16.safetensors", "fortran.npy", "complex.npy",
              "objects.npy", "records.npy", "with_nan.npy", "scalar.npy", "row.npy", "bool.npy", "words.txt", "big_i8.npy", "little_f2.npy", "u1.npy"]:
    add(f"attn attend --x tests/input/{entry}", f"attn attend tests/input/{entry} --format json", f"attn diagnose --x '1 2; 3 4' --yours tests/input/{entry}")
for name in re.findall(r"^ +([\w.-]+) {2,}", attn("params"), re.M):
    add(f"attn params {name}", f"attn params {name} --format json", f"attn params {name} --format markdown --context 1000 --bytes 1")
add("attn params", "attn params --format csv", *(f"attn params examples/data/{name}" for name in ("gpt2-config.json", "gemma2-2b-config.json", "llama3-8b-config.json")))
texts = ["the bat", "The  Bat's caves, 42!", "naïve café ﬁne", "日本語 text 🦇🦇", "", "<s>the</s> <pad>", "a\tb  c", "ÀÉî ① ﷺ"]
for path in sorted((ROOT / "tests/tokenizers").glob("*.json")):
    if path.name != "expected.json":
        for text in texts:
            for option in ["", "--merges", "--format json"]:
                add(f"attn tokens tests/tokenizers/{path.name} {shlex.quote(text)} {option}")
for text in texts:
    add(*(f"attn tokens words {shlex.quote(text)} {option}" for option in ["", "--merges", "--format json", "--format html"]))
add(*(f"attn tokens {shlex.quote(str(folder))} 'the bat'" for folder in ["models/words", "tests/tokenizers", "tests/models/gpt2-a"]))
for task in "reverse sort induction addition names".split():
    add(f"attn learn {task} --steps 20", f"attn learn {task} --steps 12 --layers 2 --heads 2 --seed 4 --format json",
        f"attn learn {task} --steps 6 --at 4 --explain 'dL1.W_Q[1,1]' --depth 2", f"attn learn {task} --steps 4 --save model --every 2 && attn model model --ids 1,2,3 --at 2 && attn params model")
add("attn learn reverse --steps 10 --plot curves.svg", "attn learn reverse --steps 10 --dtype f32 --format html", "attn learn sort --lr 50 --steps 30")

# The explorer: lines of keys, and keys on a screen.
keys = ["Down", "Up", "Left", "Right", "Enter", "Tab", "S-Tab", "Esc", "u", "C-r", "<", ">", "z", "b", "l", "h", "j", "k", "?", "g", "G", "n", "N", "s", "m", "v", "f", "x", "e", "5", "w", "c", "d", "i", "t", "o"]
doors = ["demo mask", "demo gqa", "demo rope", "demo cache", "demo backward", "demo multihead --seed 2", f"attend {WORDS} --causal", f"attend {X} --heads 2 --position rope",
         f"attend {WORDS} --gradient ones", "attend --random 6,8 --heads 4 --kv-heads 2 --window 3", f"model words {TEXT}", "model words 'the bat' --layers 1"]
for seed in range(60):
    draw = random.Random(seed)
    door = doors[seed % len(doors)]
    script = [draw.choice(keys) for _ in range(40)]
    if seed % 3 == 0:
        script[10:10] = ["e", "7", "Enter"]
    if seed % 4 == 0:
        script[20:20] = ["/", "A", "Enter"]
    text = "\\n".join(script)
    add(f"printf '{text}\\nq\\n' > keys.txt; attn explore {door} --play keys.txt --cast out.cast",
        f"printf '{text}\\nq\\n' > keys.txt; attn explore {door} --plain --play keys.txt",
        f"printf '{text}\\nq\\n' > keys.txt; COLUMNS=120 LC_ALL=C attn explore {door} --play keys.txt --cast out.cast --color never")
add(*(f"printf 'Down Down\\n/A\\n7\\n[2,1]\\nu\\nv\\nq\\n' | attn explore {door} --plain" for door in doors))

# Lessons.
lessons = sorted(p.stem for p in (ROOT / "walkthroughs").glob("[0-9]*.md"))
for name in lessons:
    for form in ("html", "md", "txt", "cast"):
        add(f"attn lesson export {name} --to {form}")
    for option in ["--to md --answers hidden --seed 7", "--to md --notes --answers end", "--to html --notes --live", "--to txt --seed 3"]:
        add(f"attn lesson export {name} {option}")
    add(f"attn lesson check walkthroughs/{name}.md", f"attn lesson play {name} --no-input --notes", f"COLUMNS=120 attn lesson play {name} --no-input --color always",
        f"attn lesson quiz {name} --seed 2 --name Ana < /dev/null", f"yes A | head -60 | attn lesson quiz {name} --seed 2 --name Ana --format json", f"attn lesson play '{name}#2' --no-input",
        f"cp walkthroughs/{name.replace('9-one-layer-two-layers', '8-where-weights-come-from')}.md copy.md; sed -i 's/0\\.3/0.4/' copy.md; attn lesson check copy.md; attn lesson update copy.md")
add("attn lesson", "attn lesson list", "attn lesson directives", "attn lesson new first.md && attn lesson check first.md", "attn lesson play nothing", "attn lesson check walkthroughs",
    "attn lesson play 0-tour --answer nonsense=1", "attn lesson export 0-tour --to pdf")

# Words to look up.
for word in "softmax mask head query cache rope gradient norm logits token layernorm gqa temperature bat nothing Sofmax scale cosine mlp 001".split():
    add(f"attn find {word}", f"attn glossary {word}", f"attn find {word} --all")
add("attn glossary", "attn errata", *(f"attn errata --document 00{n}" for n in range(5)), "attn notation", "attn notation --format json", "attn examples", "attn examples --write data",
    *(f"attn {name} --format {form}" for name in ("glossary", "errata") for form in ("json", "markdown", "csv", "html", "latex")))

# Wrong input.
add(*("attn " + line for line in r"""atend
attend
attend --word 'a b'
attend --words
attend --words ''
attend --words 'unknownword cave'
attend --x '1 2; 3'
attend --x '1 a; 3 4'
attend --x '1 nan; 3 4'
attend --x '1 inf; 3 4'
attend --x '1 2; 3 4' --wq '1 2 3'
attend --x '1 2; 3 4' --heads 3
attend --x '1 2; 3 4' --heads 0
attend --x '1 2; 3 4' --heads 2 --kv-heads 3
attend --x '1 2; 3 4' --mask '1 0'
attend --x '1 2; 3 4' --mask '0 0; 1 1'
attend --x '1 2; 3 4' --only Z
attend --x '1 2; 3 4' --explain Z[1,1]
attend --x '1 2; 3 4' --explain A[9,1]
attend --x '1 2; 3 4' --explain A
attend --x '1 2; 3 4' --format yaml
attend --x '1 2; 3 4' --precision 99
attend --x '1 2; 3 4' --width 3
attend --x '1 2; 3 4' --temperature 0
attend --x '1 2; 3 4' --scale 0
attend --x '1e200 1; 1e200 3'
attend --x '1e-299 1; 3 4' --score cosine
attend --x '1 2; 3 4' --window 0
attend --x '1 2; 3 4' --position rope --rope-base -1
attend --x '1 2 3; 4 5 6' --position rope
attend --x '1 2; 3 4' --position nowhere
attend --x '1 2; 3 4' --rope-scaling strange
attend --x '1 2; 3 4' --save O
attend --x '1 2; 3 4' --save ' '
attend --x '1 2; 3 4' --save O=no/such/folder/o.npy
attend --x '1 2; 3 4' --charset ascii --format html
attend --x missing.csv
attend missing.npz
attend docs/reference.md
attend models/words/model.safetensors
attend models/words/model.safetensors --layer 99
attend --random 4
attend --random 4,0
attend --random 100000,100000
attend --random 40,40 --memory 1K
attend --q '1 0; 0 1'
attend --q '1 0; 0 1' --k '1 0 0; 0 1 0' --v '1; 2'
attend --q '1 0' --x '1 0'
attend --x '1 2; 3 4' --gradient
attend --x '1 2; 3 4' --gradient Z
attend --x '1 2; 3 4' --loss cross-entropy
attend --x '1 2; 3 4' --loss cross-entropy --targets 1,9
attend --x '1 2; 3 4' --step 99
attend --x '1 2; 3 4' --steps 3-1
attend --x '1 2; 3 4' --until Q --brief
attend --x '1 2; 3 4' --live
attend --x '1 2; 3 4' --tokens a
attend --x '1 2; 3 4' --tokens a,a --explain 'A[a,a]'
demo nothing
demo maks
demo mask extra
demo mask --step 0
demo mask --set X=1
demo mask --versus '--format json'
softmax
softmax a
softmax 1 2 3 --temperature -1
softmax -inf -inf
softmax 1e308 1e308
similarity
similarity bat
similarity bat unknownword
similarity bat cave --measure none
model
model missing 'text'
model words
model words ''
model words 'unknown zebra'
model words 'the bat' --ids 1
model words --ids 9999
model words --ids a
model words 'the bat' --limit 10
model tests/models/gpt2-a 'text'
params nothing
params gpt3
params examples/data/bat.json
tokens
tokens words
tokens docs 'the'
learn
learn nothing
learn reverse --steps 0
learn reverse --lr 1e9 --steps 5
learn --text missing.txt
diagnose
diagnose --x '1 2; 3 4'
diagnose --x '1 2; 3 4' --yours '1 2 3'
diagnose --x '1 2; 3 4' --yours 'nan nan; nan nan'
diagnose --x '1 2; 3 4' --yours '0 0; 0 0'
diagnose --x '1 2; 3 4' --yours Z='1 2; 3 4'
diagnose --x '1 2; 3 4' --yours missing.csv
diagnose --x '1 2; 3 4' --batch missing
diagnose --list nothing
explore
explore missing.json
explore docs/reference.md
explore demo nothing
explore demo mask
explore demo mask --play missing.txt
explore demo mask --plain --at Z
lesson check missing.md
lesson check README.md
lesson quiz
lesson export
find
errata --document 9
glossary nothing
examples nothing
completions tcsh
bench --n 0
--nonsense
--color sometimes demo mask""".splitlines()))

# Readers of files: text in the ways that people have it.
files = {
    "a.csv": "1,2\\n3,4\\n", "b.csv": "x,y\\n1,2\\n3,4\\n", "c.csv": ",x,y\\nbat,1,2\\ncave,3,4\\n", "d.tsv": "1\\t2\\n3\\t4\\n", "e.csv": "1;2\\n3;4\\n", "f.csv": "1,5;2\\n3;4,5\\n",
    "g.txt": "[[1. 2.]\\n [3. 4.]]\\n", "h.txt": "tensor([[1., 2.],\\n        [3., 4.]])\\n", "i.txt": "array([[1, 2], [3, 4]])", "j.json": "[[1,2],[3,4]]", "k.json": '{"X":[[1,2],[3,4]]}',
    "l.json": '{"X":[[1,2],[3]]}', "m.csv": "1,2\\n3\\n", "n.csv": "", "o.csv": "a\\n", "p.csv": "1,2\\n# note\\n3,4\\n", "q.txt": "X\\n1 2\\n3 4\\n\\nW_Q\\n1 0\\n0 1\\n", "r.txt": "1 2 \\\\\\n3 4",
    "s.txt": "$\\\\begin{bmatrix} 1 & 2 \\\\\\\\ 3 & 4 \\\\end{bmatrix}$", "t.txt": "     [,1] [,2]\\n[1,]    1    2\\n[2,]    3    4\\n", "u.txt": "| 1 | 2 |\\n|---|---|\\n| 3 | 4 |\\n", "v.txt": "5x2 Matrix\\n1 2\\n3 4\\n",
    "w.csv": "1,2\\n3,x\\n", "x.csv": "1,2\\n3,nan\\n", "y.csv": "sep=;\\n1;2\\n3;4\\n", "z.txt": "1 nan\\n2 3\\n"}
for name, text in files.items():
    add(f"printf '{text}' > {name}; attn attend --x {name} --brief", f"printf '{text}' > {name}; attn attend {name} --format json", f"printf '{text}' > {name}; attn diagnose --x '1 2; 3 4' --yours {name}",
        f"printf '{text}' | attn attend --x - --only A")

print("\n".join(commands))
