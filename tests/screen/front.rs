//! The front door: what `attn` says of itself, what it makes of a command that is nearly right, and what can be looked up.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::common::{attn, one_in};
use attn::cli::Env;
use attn::demo::{demos, glossary};
use attn::lesson::BUILT_IN;
use serde_json::Value;

/// A line of a help text that shows a command: what is typed, without `attn`.
fn commands(help: &str) -> Vec<String> {
    let typed = help.lines().filter_map(|line| line.strip_prefix("  attn "));
    // What stands two spaces further to the right is said about it.
    typed.map(|line| line.split("  ").next().expect("a command").to_string()).collect()
}

/// The paths of all commands: `lesson play`, by their manual pages.
fn paths() -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    attn("help --man --write").arg(folder.path().to_str().expect("UTF-8")).ok();
    let files = fs::read_dir(folder.path()).expect("pages").map(|file| file.expect("a page").file_name());
    let names = files.map(|name| name.to_string_lossy().trim_end_matches(".1").replace('-', " "));
    let mut paths: Vec<String> = names
        .map(|name| name.trim_start_matches("attn").trim().to_string())
        .filter(|path| !path.is_empty())
        .collect();
    paths.sort();
    paths
}

#[test]
fn attn_alone_and_its_help_are_one_page_that_fits_a_small_terminal() {
    let page = attn("").ok();
    for same in ["-h", "--help", "help"] {
        assert_eq!(attn(same).ok().out, page.out, "attn {same}");
    }
    assert_eq!(page.err, "");
    let lines: Vec<&str> = page.out.lines().collect();
    assert!(lines.len() <= 23, "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{}", page.out);
    let shown = commands(&page.out);
    assert_eq!(shown.len(), 5, "{shown:?}");
    assert_eq!(shown[0], "lesson play 0-tour");
    for command in shown {
        attn(&command.replace('"', "'")).ok();
    }
    for path in paths().iter().filter(|path| !path.contains(' ')) {
        let named = |line: &&str| line.split([' ', ',']).any(|word| word == path);
        assert!(lines.iter().any(named), "`{path}` is not on the first page");
    }
}

#[test]
fn the_short_help_of_every_command_has_one_line_for_each_option() {
    let paths = paths();
    assert!(paths.len() >= 20, "{paths:?}");
    for path in &paths {
        let help = attn(&format!("{path} -h")).ok().out;
        for line in help.lines().take_while(|line| !line.starts_with("Example")) {
            assert!(!line.starts_with(&" ".repeat(15)), "attn {path} -h wraps: {line}");
        }
        assert!(help.lines().all(|line| line.chars().count() <= 80), "attn {path} -h");
        let whole = attn(&format!("{path} --help")).ok().out;
        assert!(whole.lines().count() >= help.lines().count(), "attn {path}");
    }
}

#[test]
fn examples_in_help_stand_whole_in_the_short_and_the_long_help() {
    for path in paths() {
        let (short, long) = (attn(&format!("{path} -h")).ok().out, attn(&format!("{path} --help")).ok().out);
        let (first, shown) = (commands(&short), commands(&long));
        assert!(first.iter().all(|command| shown.contains(command)), "attn {path}");
        assert_eq!(first.is_empty(), shown.is_empty(), "attn {path}");
        // A line that was broken would leave a command that ends within its quotation marks.
        for command in shown {
            assert!(command.matches(['"', '\'']).count() % 2 == 0, "attn {path} -h: {command}");
        }
    }
}

#[test]
fn the_long_help_has_every_option_and_a_line_for_each_of_the_screen() {
    for path in paths() {
        let (short, long) = (attn(&format!("{path} -h")).ok().out, attn(&format!("{path} --help")).ok().out);
        let page = attn(&format!("help --man {path}")).ok().out;
        let options = page.lines().filter_map(|line| {
            let at = line.find("\\fB\\-\\-").filter(|_| line.starts_with("\\fB"))?;
            line[at + 3..].split("\\fR").next().map(|option| option.replace('\\', ""))
        });
        let options: Vec<String> = options.collect();
        for option in &options {
            let has = |line: &str| line.split([' ', ',']).any(|word| word == option);
            assert!(long.lines().any(has) || path == "lesson", "attn {path} --help: {option}");
        }
        assert!(options.contains(&"--help".to_string()), "attn {path}: {options:?}");
        assert!(short.lines().count() <= 49 && long.lines().count() <= 130, "attn {path}");
        if options.contains(&"--theme".to_string()) && path != "lesson" {
            assert!(long.contains("  screen     ") && !long.contains("COLORFGBG"), "attn {path} --help");
        }
    }
    assert!(attn("attend -h").ok().out.lines().count() <= 40);
    assert!(attn("attend --help").ok().out.lines().count() <= 100);
    let screen = attn("help screen").ok().out;
    for word in
        ["--format", "--precision", "--heat", "--width", "--color", "--theme", "--charset", "COLORFGBG"]
    {
        assert!(screen.contains(word), "{word}: {screen}");
    }
}

/// The files that examples name, in a folder: what they are made by.
const MADE: [&str; 7] = [
    "model words \"the bat sleeps\" --save L1.A_3=a.npy",
    "attend --random 4,8 --save X=x.npy --save Q=q.npy --save K=k.npy --save V=v.npy",
    "attend --random 4,8 --save W_Q=wq.npy --save W_K=wk.npy --save W_V=wv.npy",
    "attend --random 4,8 --save Q=q.csv --save K=k.csv --save V=v.csv --save O=out.npy",
    "attend --random 4,8 --gradient ones --save dQ=dq.csv",
    "find --examples --write data",
    "lesson new my-lesson",
];

#[test]
fn the_examples_in_every_help_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |line: &str| {
        let words = shlex::split(line).unwrap_or_else(|| panic!("{line}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
        command.args(&words).current_dir(folder.path()).env("ATTN_STATE_DIR", folder.path());
        let done = command.stdin(std::process::Stdio::null()).output().expect("it starts");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for line in MADE {
        assert_eq!(run(line), (Some(0), String::new()), "attn {line}");
    }
    for name in ["gpt2", "bert"] {
        let model = folder.path().join(name);
        std::fs::create_dir(&model).expect("a folder");
        let file = format!("tests/tokenizers/{name}.json");
        std::fs::copy(file, model.join("tokenizer.json")).expect("a tokenizer");
    }
    // A file of the user's own that is not made here, what takes as long as a measurement, or what needs a terminal.
    let foreign = [
        "site class",
        "glove",
        "config.json",
        "submissions",
        "my-lessons",
        "bench",
        "follow",
        "lessons/",
        "~",
        ">",
        "|",
        "layer.npz",
        "mails.txt",
        "explore ",
        " -x",
        "mask.json",
        "DIR",
    ];
    let (mut count, mut failed) = (0, Vec::new());
    for path in paths().into_iter().step_by(one_in(4)) {
        for line in commands(&attn(&format!("{path} --help")).ok().out) {
            if MADE.contains(&&*line) || foreign.iter().any(|part| line.contains(part)) {
                continue;
            }
            let (code, err) = run(&line);
            // A diagnosis that finds a mistake, and questions without answers, end in 1.
            let is_judged = line.starts_with("diagnose") || line.starts_with("lesson quiz");
            if !(code == Some(0) || (code == Some(1) && is_judged)) {
                failed.push(format!("attn {line} ends in {code:?}: {err}"));
            }
            count += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(count > 60 / one_in(4), "{count} examples");
}

#[test]
fn options_without_a_meaning_are_not_offered() {
    for command in ["lesson", "lesson report", "find"] {
        let help = attn(&format!("{command} --help")).ok().out;
        for absent in ["--heat", "--convention", "--precision", "numpy"] {
            assert!(!help.contains(absent), "attn {command} --help offers {absent}");
        }
    }
}

#[test]
fn the_list_of_demos_has_each_on_one_line_and_the_easy_ones_first() {
    let list = attn("demo").ok().out;
    for same in ["demo --list", "demo list"] {
        assert_eq!(attn(same).ok().out, list, "attn {same}");
    }
    // Seven headings, a blank line below each part, and the advice at the end.
    let others = list.lines().count() - demos().count();
    assert!(others <= 15, "{others} lines without a demo");
    assert!(list.starts_with("Start here\n"), "{list}");
    for demo in demos() {
        let lines: Vec<&str> =
            list.lines().filter(|line| line.split_whitespace().next() == Some(demo.name)).collect();
        assert_eq!(lines.len(), 1, "{}", demo.name);
        assert!(lines[0].ends_with(demo.summary), "{}", lines[0]);
    }
    let listed: Value = serde_json::from_str(&attn("demo --format json").ok().out).expect("JSON");
    assert!(listed.to_string().contains("weighted-sum"), "{listed}");
}

#[test]
fn a_command_that_is_nearly_right_names_the_right_one() {
    for (typed, words) in [
        ("demo softmax", "attn demo weights"),
        ("demo attention", "attn demo qkv"),
        ("demo heads", "attn demo multihead"),
        ("quiz", "attn lesson quiz 0-tour"),
        ("play", "attn lesson play 0-tour"),
        ("explain", "--explain"),
        ("tour", "attn lesson play 0-tour"),
        ("gpt2", "attn model gpt2 --params"),
        ("3-self-attention", "attn lesson play 3-self-attention"),
        ("xyzzy", "attn find xyzzy"),
        ("attend bat cave", "attn attend --words 'bat cave'"),
        ("attend bat", "--words"),
        ("attend --causal", "attn attend --words"),
        ("softmax --base 2", "attn softmax 1 2 3"),
        ("similarity --measure dot", "attn similarity bat cave racket"),
        ("weights", "attn weights weights.pt"),
        ("lesson quiz", "attn lesson quiz 0-tour"),
        ("lesson 0-tuor", "attn lesson"),
        ("help dmo", "attn help demo"),
        ("man dmo", "attn help --man demo"),
        ("lesson paly", "attn lesson play"),
        ("lesson quizz", "attn lesson quiz"),
        ("lesson turo", "attn lesson play 0-tour"),
        ("quizz", "attn lesson quiz"),
        ("gtp2", "attn model --params gpt2"),
        ("find atention heads", "attn find attention heads"),
        ("attend --words 'bat cave' --step 99", "attn attend --words 'bat cave' --step 7"),
        ("examples --write /dev/null/x", "name a folder that you may write to"),
        ("find sofmax", "attn find softmax"),
        ("explore mask", "attn demo mask -x"),
        ("lesson export 0 --to pdf", "make a page with --to html"),
        ("demo weights --format svg", "make a page with --format html"),
    ] {
        attn(typed).refused(&[words]);
    }
}

#[test]
fn an_option_that_needs_another_one_is_refused_without_it() {
    for (typed, needed) in [
        ("model words 'the bat' --context 5", "--params"),
        ("model words 'the bat' --merges --layer 1", "--tokens"),
        ("model words 'the bat' --layer 1 --seed 3", "--next"),
        ("attend --words 'bat cave' -x --plain --threads 2", "--fast"),
        ("attend --words 'bat cave' --full --cell S", "--explore"),
        ("find --terms --document 000", "--errata"),
    ] {
        attn(typed).refused(&["has no effect without", needed]);
    }
    attn("demo --brief").refused(&["--brief needs a demo"]);
    attn("model words 'the bat' -x --plain --top 3").refused(&["cannot be used with"]);
}

#[test]
fn an_old_spelling_says_on_a_terminal_what_it_is_now_and_prints_the_same() {
    let now = attn("find --terms softmax").ok();
    let old = attn("glossary softmax").ok();
    assert_eq!((&old.out, &*old.err), (&now.out, ""), "no word in a pipe or a lesson");
    let on_terminal = Env { shows_progress: true, ..Env::default() };
    let said = attn("glossary softmax").env(on_terminal.clone()).ok();
    assert_eq!(said.out, now.out);
    assert_eq!(said.err, "note: `attn glossary` is `attn find --terms` now\n");
    assert_eq!(attn("find --terms softmax").env(on_terminal).ok().err, "");
}

#[test]
fn no_message_advises_two_dashes() {
    for typed in
        ["errata --until A", "similarity a --versus", "attend --words bat --untl A", "--list", "demo --listt"]
    {
        let outcome = attn(typed).run();
        assert_eq!(outcome.code, 2, "attn {typed}");
        assert!(!outcome.err.contains("as a value"), "attn {typed}: {}", outcome.err);
    }
}

#[test]
fn a_lesson_plays_without_play_and_play_without_a_lesson_lists_them() {
    assert_eq!(attn("lesson 0-tour").ok().out, attn("lesson play 0-tour").ok().out);
    assert_eq!(attn("lesson 0-tour#rows").ok().out, attn("lesson play 0-tour#rows").ok().out);
    assert_eq!(attn("lesson play").ok().out, attn("lesson").ok().out);
}

#[test]
fn a_command_without_its_input_shows_an_example() {
    for (typed, example) in [
        ("softmax", "softmax 1 2 3"),
        ("similarity", "similarity bat cave racket"),
        ("attend", "attend --words 'bat cave racket'"),
    ] {
        let shown = attn(typed).ok().out;
        let (said, rest) = shown.split_once("\n\n").expect("a sentence, then the example");
        assert!(said.ends_with(&format!("attn {example}")), "{said}");
        assert_eq!(rest, attn(example).ok().out, "attn {typed}");
    }
}

/// Everything that `attn find` lists for a word, as commands.
fn found(word: &str) -> Vec<String> {
    let out = attn("find").arg(word).arg("--format").arg("json").ok().out;
    let value: Value = serde_json::from_str(&out).expect("JSON");
    let mut found = Vec::new();
    collect(&value, &mut found);
    found
}

/// Every text below a value that is a command.
fn collect(value: &Value, commands: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("attn ") => commands.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, commands)),
        Value::Object(values) => values.values().for_each(|value| collect(value, commands)),
        _ => {}
    }
}

#[test]
fn a_search_finds_demos_lessons_terms_mistakes_and_options() {
    let about = found("softmax");
    for command in ["attn demo weights", "attn find --terms softmax", "attn diagnose --list softmax-axis"] {
        assert!(about.iter().any(|found| found == command), "{command} is not among {about:?}");
    }
    assert!(about.iter().any(|found| found.starts_with("attn lesson play ")), "{about:?}");
    assert!(found("temperature").iter().any(|found| found == "attn softmax --temperature"));
    assert!(found("causal mask").iter().all(|found| !found.contains("gpt2")));
    attn("find xyzzy").refused(&["nothing here is about `xyzzy`"]);
    for format in ["markdown", "csv", "html", "latex"] {
        attn(&format!("find mask --format {format}")).ok();
    }
}

#[test]
fn the_commands_of_the_glossary_work_and_its_nodes_exist() {
    assert!(glossary().len() >= 40, "{} terms", glossary().len());
    let nodes = |line: &str| -> BTreeSet<String> {
        attn(line).nodes().names().into_iter().map(str::to_string).collect()
    };
    let mut known = nodes("similarity bat cave");
    let line =
        "attend --random 3,4 --heads 2 --causal --temperature 2 --wo '1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1'";
    known.extend(nodes(&format!("{line} --bias '0 0 0; 0 0 0; 0 0 0'")));
    known.extend(nodes("attend --words 'bat cave' --temperature 2 --causal"));
    for term in glossary().iter().step_by(one_in(10)) {
        let card = attn("glossary").arg(term.name).ok().out;
        assert!(term.see.iter().all(|see| card.contains(see)), "{card}");
        if let Some(node) = term.node {
            assert!(known.contains(node), "{}: no node {node} among {known:?}", term.name);
        }
        for see in &term.see {
            attn(see.strip_prefix("attn ").expect("a command")).ok();
        }
    }
    let all: Value = serde_json::from_str(&attn("glossary --format json").ok().out).expect("JSON");
    assert!(all.to_string().contains("softmax(x)_i"), "{all}");
    attn("find --terms sofmax").refused(&["attn find --terms softmax"]);
}

#[test]
fn examples_are_listed_printed_and_written_but_not_over_other_files() {
    let list = attn("examples").ok().out;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    for (inner, within) in [(folder.clone(), ""), (folder.join("answers"), "answers/")] {
        for entry in fs::read_dir(inner).expect("the data") {
            let entry = entry.expect("a file");
            let name = format!("{within}{}", entry.file_name().into_string().expect("UTF-8"));
            assert!(entry.path().is_dir() || list.contains(&name), "{name} is not listed");
        }
    }
    let bat = fs::read_to_string(folder.join("bat.json")).expect("UTF-8");
    assert_eq!(attn("examples bat.json").ok().out, bat);
    attn("find --examples bta.json").refused(&["attn find --examples bat.json"]);
    let first = fs::read_to_string(folder.join("answers/01.csv")).expect("UTF-8");
    for name in ["answers/01.csv", "examples/data/answers/01.csv", "01.csv"] {
        assert_eq!(attn(&format!("examples {name}")).ok().out, first, "{name}");
    }
    attn("find --examples answers").refused(&["is a folder", "attn find --examples answers/01.csv"]);

    let own = tempfile::tempdir().expect("a folder");
    let path = own.path().join("data");
    let write = || attn("examples --write").arg(path.to_str().expect("UTF-8"));
    assert!(write().ok().out.starts_with("18 files written"));
    assert_eq!(fs::read_to_string(path.join("bat.json")).expect("UTF-8"), bat);
    assert_eq!(fs::read_to_string(path.join("answers/01.csv")).expect("UTF-8"), first);
    assert!(write().ok().out.contains("18 there already"));
    fs::write(path.join("bat.json"), "{}").expect("writable");
    write().refused(&["bat.json", "--overwrite"]);
    assert_eq!(fs::read_to_string(path.join("bat.json")).expect("UTF-8"), "{}");
    write().arg("--overwrite").ok();
    assert_eq!(fs::read_to_string(path.join("bat.json")).expect("UTF-8"), bat);

    let fresh = own.path().join("lesson").display().to_string();
    for command in [["examples", "--write"], ["man", "--write"]] {
        let args: Vec<String> = command.iter().map(|word| word.to_string()).chain([fresh.clone()]).collect();
        let refused = crate::common::in_process(&args, attn::render::Screen::plain(80));
        assert_eq!(refused.code, 2, "{command:?} wrote from a lesson");
        assert!(!Path::new(&fresh).exists());
    }
}

#[test]
fn every_command_has_a_manual_page_and_no_page_names_one_that_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    attn("help --man --write").arg(folder.path().to_str().expect("UTF-8")).ok();
    for name in ["attn", "attn-demo", "attn-lesson", "attn-lesson-play", "attn-lesson-export", "attn-find"] {
        assert!(folder.path().join(format!("{name}.1")).exists(), "{name}");
    }
    for entry in fs::read_dir(folder.path()).expect("pages") {
        let path = entry.expect("a page").path();
        let page = fs::read_to_string(&path).expect("UTF-8").replace('\\', "");
        for (at, _) in page.match_indices("(1)") {
            let before = page[..at].trim_end_matches("fR");
            let name =
                &before[before.rfind(|c: char| !c.is_alphanumeric() && c != '-').map_or(0, |at| at + 1)..];
            // `fB` and `fR` are the font.
            let name = name.trim_start_matches("fB").trim_start_matches("fR");
            assert!(folder.path().join(format!("{name}.1")).exists(), "{}: no {name}(1)", path.display());
        }
    }
    let one = attn("man lesson play").ok().out;
    assert!(one.contains("attn\\-lesson\\-play") && one.contains("SEE ALSO"), "{one}");
    assert!(attn("man demo").ok().out.contains("EXAMPLES"));
}

#[test]
fn completions_know_the_names_that_a_user_can_type() {
    for shell in ["bash", "zsh", "fish"] {
        let script = attn(&format!("completions {shell}")).ok().out;
        for name in ["weighted-sum", "0-tour", "llama3-8b", "softmax-axis", "S_masked"] {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
}

/// What bash offers where the cursor stands behind a line; nothing without a bash.
fn completed(line: &str) -> Option<Vec<String>> {
    let script = attn("completions bash").ok().out;
    let words: Vec<&str> = line.split(' ').collect();
    let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
    let ask = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _attn attn '{last}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words.len() - 1,
    );
    let output = Command::new("bash").args(["--norc", "-c", &ask]).output().ok()?;
    Some(String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_string).collect())
}

#[test]
fn bash_completes_names_after_the_first_letters() {
    for (line, name) in [
        ("attn demo wei", "weighted-sum"),
        ("attn lesson play 0", "0-tour"),
        ("attn params gpt", "gpt2"),
        ("attn diagnose --list softmax-a", "softmax-axis"),
        ("attn attend --only S_m", "S_masked"),
    ] {
        match completed(line) {
            Some(offered) => assert!(offered.iter().any(|one| one == name), "{line}: {offered:?}"),
            None => {
                let _ = writeln!(std::io::stderr(), "NOT RUN: there is no bash");
            }
        }
    }
}

#[test]
fn every_lesson_can_be_found_by_its_title() {
    for (file, text) in BUILT_IN {
        let lesson = attn::lesson::read(file, text).expect("a lesson");
        let command = format!("attn lesson play {}", file.trim_end_matches(".md"));
        assert!(found(&lesson.title).contains(&command), "{command}");
    }
}

#[test]
fn find_shows_the_term_of_just_this_name_first() {
    for word in ["softmax", "attention", "query", "head"] {
        let out = attn(&format!("find {word}")).ok().out;
        let first = out.lines().find(|line| line.contains("attn ")).expect("an entry");
        assert!(first.contains(&format!("attn find --terms {word} ")), "{first}");
    }
}
