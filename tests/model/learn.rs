//! `attn learn`: small models learn, with the same numbers as PyTorch, and are kept, shown and refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use attn::graph::Precision;
use attn::learn::{AdamSettings, Defaults, Learner, Line, Settings, Step, Task, Trainer, defaults};
use serde_json::Value;
use tempfile::TempDir;

use crate::browser::{browser, window};
use crate::common::{attn, one_in};
use crate::model::attn_small::logits;
use crate::terminal::Terminal;

/// What `golden/learn.py` had from PyTorch and `transformers`.
static GOLDEN: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../golden/learn.json")).unwrap());

/// A task that is built in, with its defaults.
fn built_in(name: &str) -> (Task, Defaults) {
    let usual = defaults(name);
    let lengths = usual.lengths.unwrap_or((1, 1));
    let task = match name {
        "reverse" => Task::reverse(lengths),
        "sort" => Task::sort(lengths),
        "induction" => Task::induction(lengths).unwrap(),
        "addition" => Task::addition(),
        _ => {
            let names = include_str!("../../models/names/names.txt").lines().enumerate();
            let lines: Vec<Line<'_>> = names.map(|(at, name)| Line { text: name, number: at + 1 }).collect();
            Task::lines("names", &lines, usual.context).unwrap()
        }
    };
    (task, usual)
}

fn trainer<T: Learner>(name: &str, seed: u32) -> Trainer<T> {
    let (task, usual) = built_in(name);
    Trainer::new(usual.settings(&task, seed), task.examples(seed)).unwrap()
}

#[test]
fn names_are_told_better_than_by_the_frequencies_of_letters() {
    let mut trainer = trainer::<f32>("names", 1);
    let guess = trainer.examples().loss_of_frequencies();
    // 27 symbols at most, and letters are far from equally frequent.
    assert!((2.5..3.0).contains(&guess), "{guess}");
    (0..250).for_each(|_| drop(trainer.step().unwrap()));
    let (loss, _) = trainer.test().unwrap();
    assert!(loss < guess - 0.25, "{loss} is not clearly below {guess}");
}

/// The settings of a training in the golden file.
fn golden_settings(name: &str, golden: &Value) -> (Task, Settings) {
    let number = |key: &str| golden[key].as_u64().unwrap() as usize;
    let task = if name == "sort" { Task::sort((4, 4)) } else { built_in(name).0 };
    let mut settings = defaults(name).settings(&task, number("seed") as u32);
    settings.adam = AdamSettings::new(number("steps_in_all"), golden["rate"].as_f64().unwrap());
    settings.batch = number("batch");
    if name == "sort" {
        let size = &mut settings.size;
        (size.width, size.layers, size.heads, size.mlp, size.normed) = (8, 2, 4, Some(12), true);
    }
    (task, settings)
}

fn near(ours: &[f64], theirs: &Value, what: &str) {
    let theirs: Vec<f64> = serde_json::from_value(theirs.clone()).unwrap();
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() < 1e-9, "{what}: {a:e} is not {b:e}");
    }
}

#[test]
fn three_steps_have_the_gradients_and_the_weights_of_pytorch() {
    for (name, golden) in GOLDEN["trainings"].as_object().unwrap() {
        let (task, settings) = golden_settings(name, golden);
        let seed = settings.seed;
        let mut trainer = Trainer::<f64>::new(settings, task.examples(seed)).unwrap();
        for theirs in golden["steps"].as_array().unwrap() {
            let what = format!("{name}, step {}", trainer.steps() + 1);
            assert_eq!(serde_json::json!(trainer.next_batch().example(0).tokens), theirs["tokens"], "{what}");
            let computed = trainer.next_step().unwrap();
            for (at, id) in computed.gradients.iter().enumerate() {
                let row: Vec<f64> = computed.graph.matrix(*id).unwrap().row(1).collect();
                near(&row, &theirs["gradients"][at], &format!("{what}, gradient {at}"));
            }
            let Step { loss, accuracy, gradient, .. } = trainer.step().unwrap();
            for (ours, key) in [(loss, "loss"), (accuracy, "accuracy"), (gradient, "length")] {
                near(&[ours], &Value::from(vec![theirs[key].clone()]), &format!("{what}, {key}"));
            }
            let shapes = trainer.settings().size.weights();
            for (at, (weights, named)) in trainer.weights().iter().zip(shapes).enumerate() {
                let row = &weights[named.shape.cols..2 * named.shape.cols];
                near(row, &theirs["weights"][at], &format!("{what}, {}", named.name));
            }
        }
    }
}

/// A folder for models.
fn place() -> (TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model").display().to_string();
    (place, folder)
}

#[test]
fn transformers_has_the_logits_of_a_model_that_was_saved() {
    for golden in GOLDEN["saved"].as_array().unwrap().iter().step_by(one_in(2)) {
        let (_place, folder) = place();
        let command = golden["command"].as_str().unwrap();
        attn(&format!("{command} --save {folder}")).ok();
        let ids: Vec<usize> = serde_json::from_value(golden["ids"].clone()).unwrap();
        let ours = logits(Path::new(&folder), Precision::Exact, ids);
        for (ours, theirs) in ours.iter().zip(golden["logits"].as_array().unwrap()) {
            near(ours, theirs, command);
        }
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_saved_model_has_the_bits_that_the_training_had() {
    for (name, steps, tokens) in
        [("reverse", 40, vec![1, 2, 3, 4, 5, 6]), ("induction", 15, vec![3, 1, 3, 1, 4])]
    {
        let (_place, folder) = place();
        attn(&format!("learn {name} --seed 7 --dtype f64 --steps {steps} --save {folder}")).ok();
        let (task, usual) = built_in(name);
        let mut settings = usual.settings(&task, 7);
        settings.adam = AdamSettings::new(steps, usual.rate);
        let mut trainer = Trainer::<f64>::new(settings, task.examples(7)).unwrap();
        (0..steps).for_each(|_| drop(trainer.step().unwrap()));
        let of_training = trainer.logits(&tokens).unwrap();
        let of_folder = logits(Path::new(&folder), Precision::Exact, tokens).concat();
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&of_training), bits(&of_folder), "{name}");
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn json_has_the_documented_keys_and_the_same_bytes_in_every_run() {
    for dtype in ["f32", "f64"] {
        let count = 12;
        let command = format!("learn induction --steps {count} --format json --dtype {dtype}");
        let said = attn(&command).ok().out;
        let (_place, folder) = place();
        assert_eq!(said, attn(&format!("{command} --save {folder} --every 3")).ok().out);
        let value: Value = serde_json::from_str(&said).unwrap();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
        let documented = [
            "task",
            "seed",
            "parameters",
            "steps",
            "heldout_examples",
            "heldout_loss",
            "heldout_accuracy",
            "learned",
            "instead",
        ];
        assert_eq!(keys(&value), documented);
        assert_eq!((&value["task"], &value["parameters"]), (&"induction".into(), &9984.into()));
        let steps = value["steps"].as_array().unwrap();
        assert_eq!(
            (steps.len(), keys(&steps[3])),
            (count, ["step", "loss", "accuracy", "heads"].map(String::from).to_vec())
        );
        assert_eq!(keys(&steps[3]["heads"][1]), ["layer", "head", "previous token", "induction"]);
        assert_eq!(steps[3]["heads"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn another_seed_is_another_training() {
    let said = |seed: u32| attn(&format!("learn reverse --steps 3 --format csv --seed {seed}")).ok().out;
    assert_ne!(said(1), said(2));
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn kept_steps_are_opened_compared_and_explored() {
    let (_place, folder) = place();
    attn(&format!("learn induction --steps 20 --save {folder} --every 10")).ok();
    let model = |options: &str| attn(&format!("model {folder} abcabc {options}")).ok().out;
    assert!(model("").starts_with(&format!("{folder}: “abcabc”\n→ attn-small, 2 layers of 1 head")));
    assert!(model("--at 10").starts_with(&format!("{folder}, step 10: “abcabc”")));
    assert!(model("--at 10 --versus '--at 20'").contains("--at 20"));
    // The last kept step is the end of the training.
    let last = model("--only logits --format csv");
    assert_eq!(last, model("--at 20 --only logits --format csv"));
    assert_ne!(last, model("--at 10 --only logits --format csv"));
    let cell = "--checkpoint 10 --at 'L2.A[4,2]' --plain";
    attn(&format!("explore model {folder} abcabc {cell}")).ok();
    // Another training takes its place.
    attn(&format!("learn reverse --steps 5 --save {folder}")).ok();
    attn(&format!("model {folder} 123456 --at 50")).refused(&["there are no checkpoints in this folder"]);
}

#[test]
fn a_blank_name_is_no_folder_for_a_model() {
    attn("learn reverse --steps 1 --save").arg(" ").refused(&["the name of the folder is blank"]);
}

#[test]
fn sizes_that_make_no_model_are_refused() {
    for (options, words) in [
        ("--steps 0", "0 is not between 1 and 1000000"),
        ("--batch 0", "0 is not between 1 and 4096"),
        ("--width 0", "at least one column"),
        ("--layers 0", "at least one layer"),
        ("--heads 0", "at least one head"),
        ("--heads 3", "3 heads do not divide a width of 8"),
        ("--width 100000000", "a weight would have 100,000,000 × 100,000,000 numbers"),
        ("--mlp 100000000", "a weight would have 100,000,000 × 8 numbers"),
        ("--layers 1000000000", "at most 64 layers"),
        ("--heads 1000000000", "at most 64 heads"),
        ("--steps 100000000000", "is not between 1 and 1000000"),
        ("--length 0", "a length of 0 leaves nothing to learn"),
        ("--length 5-2", "5 is more than 2"),
        ("--length 513", "the longest is 512"),
        ("--length x", "such as 8-12"),
        ("--lr 0", "--lr 0 is not a positive number"),
        ("--lr nan", "is not a positive number"),
        ("--every 5", "--save <FOLDER>"),
        ("--every 1 --steps 1000000 --save nowhere", "keep fewer steps, such as --every 5"),
        ("--at 401 --only L1.dW_Q", "there is no step 401: the training has 400"),
        ("--at 5", "add --explain 'L1.dW_Q[2,1]'"),
        ("--explain 'L1.dW_Q[2,1]'", "--explain needs the step that it looks into"),
        ("--at 3 --explain 'L1.dX_Q[2,1]'", "there is no node `L1.dX_Q`"),
        (
            "--at 3 --only dX_Q",
            "the gradients of the weights are dW_E dW_P L1.dW_Q L1.dW_K L1.dW_V L1.dW_O dW_U;",
        ),
        ("--at 3 --explain 'L1.dW_Q[2,9]'", "has no column 9"),
        ("--format numpy", "a training cannot be written as NumPy arrays"),
        ("--live --format html", "unexpected argument '--live'"),
    ] {
        attn(&format!("learn reverse {options}")).refused(&[words]);
    }
    attn("learn induction --length 20-30").refused(&["--length", "30 different letters", "take at most 16"]);
    attn("learn induction --length 1-3").refused(&["--length", "no next letter", "take at least 2"]);
    attn("learn addition --length 3").refused(&["lengths of their own", "leave out --length"]);
    attn("learn").refused(&[
        "what is to be learned",
        "reverse, sort, induction, addition or names",
        "--pairs",
    ]);
    attn("learn induction --at 3 --explain 'dW_Q[2,1]'").refused(&["is in 2 layers", "L1.dW_Q or L2.dW_Q"]);
}

#[test]
fn data_that_teach_nothing_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let refused = |option: &str, contents: &str, words: &[&str]| {
        let file = place.path().join("data.txt");
        fs::write(&file, contents).unwrap();
        attn(&format!("learn {option} {}", file.display())).refused(words);
    };
    refused("--text", &"a".repeat(500), &["only one symbol", "at least two different symbols"]);
    refused("--text", "", &["the file is empty"]);
    refused("--text", "abc", &["the text has 3 characters, too few for pieces of 32", "at least 330"]);
    refused("--pairs", "ab ba\n", &["line 1 has no arrow", "input → output"]);
    refused("--pairs", "ab → ba\n\ncd →\n", &["line 3 has nothing on one side"]);
    refused("--pairs", "ab → ba\n", &["one pair alone", "at least two pairs"]);
    refused("--pairs", "ab → ba\nab → ba\n", &["one pair alone"]);
    refused("--pairs", "a → b → c\nb → c\n", &["line 1 has more than one arrow"]);
    refused("--pairs", "\n\n", &["there are no data"]);
    refused(
        "--pairs",
        &format!("a → b\n{} → b\n", "x".repeat(600)),
        &["line 2 has 602 tokens", "at most 512"],
    );
    attn("learn --text nothing/here.txt").refused(&["nothing/here.txt", "no such file"]);
}

#[test]
fn pairs_are_read_with_every_arrow_and_with_the_marks_of_other_systems() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("pairs.txt");
    let csv = |contents: &str| {
        fs::write(&file, contents).unwrap();
        attn(&format!("learn --pairs {} --steps 2 --format csv", file.display())).ok().out
    };
    let plain = csv("ab → ba\ncd → dc\nef → fe\n");
    assert_eq!(plain, csv("\u{feff}ab → ba\r\ncd → dc\r\nef → fe\r\n"));
    assert_eq!(plain, csv("ab->ba\ncd\tdc\n\n  ef -> fe"));
}

#[test]
fn what_cannot_be_kept_is_said_before_the_training_starts() {
    let (place, _) = place();
    let path = |name: &str| place.path().join(name).display().to_string();
    fs::write(path("notes.txt"), "mine").unwrap();
    let long = "learn names --steps 1000000";
    attn(&format!("{long} --save {}", place.path().display()))
        .refused(&["this folder has other files in it"]);
    attn(&format!("{long} --save {}", path("notes.txt"))).refused(&["this is a file, not a folder"]);
    attn(&format!("{long} --save {}", path("notes.txt/model"))).refused(&["a part of its path is a file"]);
    attn(&format!("{long} --save /proc/model")).refused(&["the folder cannot be made"]);
    attn(&format!("{long} --save ''")).refused(&["the name of the folder for --save is empty"]);
    attn(&format!("{long} --plot {}", place.path().display())).refused(&["not a regular file"]);
    attn(&format!("{long} --plot {}", path("none/curves.svg"))).refused(&["there is no folder"]);
    attn(&format!("{long} --plot {}", path("curves.png"))).refused(&["is an SVG", "end its name in .svg"]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn a_learning_rate_that_is_too_large_ends_with_1_and_keeps_the_last_good_weights() {
    let (_place, folder) = place();
    let outcome = attn(&format!("learn reverse --lr 50 --save {folder}")).run();
    assert_eq!(outcome.code, 1, "{}", outcome.err);
    let words = [
        "error: training stops at step 2: the loss is",
        "the learning rate of this step is 5\n",
        "  help: take a smaller",
    ];
    assert!(words.iter().all(|words| outcome.err.contains(words)), "{}", outcome.err);
    assert!(outcome.out.contains("After 1 step, before it failed: not learned"), "{}", outcome.out);
    attn(&format!("model {folder} 123456")).ok();
}

#[test]
fn too_few_steps_are_not_learned_and_no_error() {
    let said = attn("learn reverse --steps 20").ok().out;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("After 20 steps: not learned.") && words.contains("learned means 99 % or more"),
        "{said}"
    );
    let said = attn("learn reverse").ok().out;
    assert!(said.contains("After 400 steps: learned."), "{said}");
    assert!(said.contains("mirror: the weight of key"), "{said}");
}

/// The words of a page, whatever its lines.
fn words(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_line_says_how_far_it_is_and_is_gone_at_the_end() {
    for (columns, part) in [(40, "left"), (80, "L1.A 0."), (200, "L1.A_4 ")] {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("said.txt");
        let learn =
            format!("{} learn names --steps 100000 > '{}'", env!("CARGO_BIN_EXE_attn"), file.display());
        let state = place.path().join("state");
        let mut terminal = Terminal::start(&state, "sh", &["-c", &learn], columns, 24);
        let line = terminal.wait_for(part);
        assert!(line.contains("/100000  loss "), "{columns} columns: {line}");
        assert_eq!(line.trim_end().lines().count(), 1, "{columns} columns: {line}");
        // A later one stands in its place.
        let later =
            terminal.wait_until("another line", |screen| screen.contains("/100000  loss ") && screen != line);
        assert_eq!(
            (later.trim_end().lines().count(), terminal.cursor().0),
            (1, 0),
            "{columns} columns: {later}"
        );
        if columns == 200 {
            terminal.resize(80, 24);
            let is_short = |screen: &str| !screen.contains("L1.A_") && screen.contains("L1.A 0.");
            terminal.wait_until("a line for the smaller terminal", is_short);
        }
        terminal.press("\x03");
        terminal.ended();
        assert!(!terminal.all().contains("loss"), "{}", terminal.all());
    }
}

#[test]
fn an_interruption_keeps_and_shows_what_has_been_learned() {
    let (place, folder) = place();
    let args = ["learn", "names", "--steps", "20000", "--save", &folder, "--every", "1"];
    let mut terminal =
        Terminal::start(&place.path().join("state"), env!("CARGO_BIN_EXE_attn"), &args, 80, 24);
    terminal.wait_for("L1.A 0.");
    terminal.press("\x03");
    assert_eq!(terminal.ended(), 130);
    let all = terminal.all();
    assert!(words(&all).contains("Stopped after ") && all.contains("What it writes now:"), "{all}");
    assert!(!all.contains("s left"), "{all}");
    assert!(words(&all).contains("attn model"), "{all}");
    attn(&format!("model {folder} anna --at 1")).ok();
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn the_picture_of_a_training_is_light_and_cuts_no_label() {
    let Some(mut browser) = browser() else { return };
    let tasks = [("names --heads 4", 4), ("induction", 4), ("reverse", 3)];
    for (task, curves) in tasks.into_iter().rev().step_by(one_in(3)) {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("curves.svg");
        attn(&format!("learn {task} --steps 30 --plot {}", file.display())).ok();
        let mut page = browser.open(&fs::read_to_string(&file).unwrap(), window(900, 700));
        let drawn = |what: &str| format!("document.querySelectorAll('svg {what}').length");
        assert_eq!(page.eval(&drawn("polyline")), curves, "{task}");
        assert_eq!(page.eval("document.querySelector('svg rect').getAttribute('fill')"), "white");
        let cut = page.eval(
            "(() => { const all = document.querySelector('svg').getBoundingClientRect();
               return [...document.querySelectorAll('svg text')].filter((text) => {
                 const box = text.getBoundingClientRect();
                 return box.left < all.left || box.right > all.right || box.bottom > all.bottom;
               }).map((text) => text.textContent); })()",
        );
        assert_eq!(cut, serde_json::json!([]), "{task}");
    }
}

#[test]
fn documents_tell_a_training_in_sentences_and_data_have_every_step() {
    let said = |format: &str| attn(&format!("learn reverse --steps 100 --format {format}")).ok().out;
    let markdown = said("markdown");
    assert!(markdown.starts_with("## attn learn reverse\n"), "{markdown}");
    assert_eq!(markdown.lines().filter(|line| line.starts_with('#')).count(), 1, "{markdown}");
    assert!(markdown.contains("\n| 95 |") && markdown.contains("\n| 100 |"), "{markdown}");
    assert!(markdown.lines().filter(|line| line.starts_with("| ")).count() < 60, "{markdown}");
    assert!(
        markdown.contains("learned means 99 % or more") && markdown.contains("| predicted |"),
        "{markdown}"
    );
    assert_eq!(said("csv").lines().count(), 101);
    assert!(said("latex").contains("begin{tabular}"));
    // A page has the picture in its own colours, and a column for each symbol, so that they stand under each other.
    let html = said("html");
    assert!(html.contains("<figure class=\"curves\"><svg") && html.contains("stroke=\"var(--link)\""));
    let cells = |row: &str| {
        let (_, row) = html.split_once(&format!("<th scope=\"row\">{row}</th>")).unwrap();
        row.split("</tr>").next().unwrap().matches("<td>").count()
    };
    assert_eq!(["tokens", "asked", "predicted"].map(cells), [6; 3]);
}

#[test]
fn a_model_that_takes_the_place_of_another_says_so() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    let learn =
        |task: &str| words(&attn(&format!("learn {task} --steps 5 --save {}", folder.display())).ok().out);
    let replaced = ", in place of the model that was there. attn model";
    assert!(!learn("reverse").contains(replaced));
    let said = learn("sort --layers 1");
    assert!(said.contains(replaced), "{said}");
}

#[test]
fn a_step_names_the_examples_that_changed_a_weight() {
    let said = words(&attn("learn induction --at 5 --explain 'L2.dW_Q[2,1]'").ok().out);
    assert!(said.contains("L2.W_Q[2,1] is") && said.contains("before step 5, and"), "{said}");
    assert!(said.contains("The examples with the largest parts of the gradient:"), "{said}");
    assert!(said.contains("With the learning rate η = 2.50e−3 the change is −η·m/√v = "), "{said}");
    let one_layer = "learn induction --layers 1 --at 5 --format json --explain";
    let with = |address: &str| attn(&format!("{one_layer} '{address}'")).ok().out;
    assert_eq!(with("dW_Q[2,1]"), with("L1.dW_Q[2,1]"));
    // The largest parts and the weights before and after are those of the training itself.
    let (task, usual) = built_in("induction");
    let mut trainer = Trainer::<f32>::new(usual.settings(&task, 1), task.examples(1)).unwrap();
    (0..4).for_each(|_| drop(trainer.step().unwrap()));
    let weight = |trainer: &Trainer<f32>| {
        let names = trainer.settings().size.weights();
        let at = names.iter().position(|weight| weight.name == "layers.1.W_Q").unwrap();
        f64::from(trainer.weights()[at][32])
    };
    let before = weight(&trainer);
    trainer.step().unwrap();
    let shown = |number: f64| attn::story::in_sentence(number, 6);
    let expected = format!("is {} before step 5, and {} after it", shown(before), shown(weight(&trainer)));
    assert!(said.contains(&expected), "{said}: {expected}");
}

#[test]
fn examples_are_shown_without_what_fills_them_up_and_texts_line_by_line() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("data.txt");
    fs::write(&file, "a → b\nb → a\nab → ba\nabab → baba\n").unwrap();
    let learn = format!("learn --pairs {} --batch 6 --at 2 --explain 'L1.dW_Q[2,1]'", file.display());
    let said = attn(&learn).ok().out;
    let mut lengths = BTreeSet::new();
    for line in said.lines().filter(|line| line.contains("→") && line.contains("│ e")) {
        let tokens = line.split('│').nth(1).unwrap().split_whitespace().nth(1).unwrap();
        let (input, output) = tokens.split_once('→').unwrap();
        assert_eq!(input.len(), output.len(), "{said}");
        lengths.insert(input.len());
    }
    assert!(lengths.len() > 1, "examples of one length alone need no filling: {said}");
    fs::write(&file, "abc\n".repeat(100)).unwrap();
    let said = attn(&format!("learn --text {} --steps 3", file.display())).ok().out;
    assert!(!said.contains("\\n"), "{said}");
}
