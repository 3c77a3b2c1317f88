//! Every option that a command's help names works in that command: `options.txt` has a line for it, and without the option the
//! line gives something else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::{Outcome, attn, one_in};
use attn::cli::Env;

/// The options of the screen, which are tried on the lines of each command. Without a terminal the explorer has no colours.
const OF_THE_SCREEN: [(&str, &[&str], &[&str]); 5] = [
    ("--width", &[], &["--width", "40"]),
    ("--columns", &[], &["--columns", "40"]),
    ("--color", &[], &["--color", "always"]),
    ("--charset", &[], &["--charset", "ascii"]),
    ("--theme", &["--color", "always"], &["--color", "always", "--theme", "light"]),
];

/// Options whose effect is a file.
const WRITE: [&str; 8] =
    ["--cast", "--every", "--output", "--plot", "--record", "--save", "--suggest-input", "--write"];

/// A line of `options.txt` for one command.
struct Line {
    code: u8,
    /// Whether the effect of its options is asked for.
    has_effect: bool,
    words: Vec<String>,
}

impl Line {
    fn read(line: &str, folder: &Path) -> Line {
        let (mark, rest) = match line.split_once(' ') {
            Some((mark, rest)) if mark.trim_end_matches('~').parse::<u8>().is_ok() || mark == "~" => {
                (mark, rest)
            }
            _ => ("", line),
        };
        let words = attn(rest).args().into_iter();
        let words = words.map(|word| word.replace("TMP", folder.to_str().expect("UTF-8"))).collect();
        let code = mark.trim_end_matches('~').parse().unwrap_or(0);
        Line { code, has_effect: !mark.ends_with('~'), words }
    }

    fn command(&self) -> String {
        let is_inner = self.words[0] == "lesson" && !self.words[1].starts_with('-');
        if is_inner { self.words[..2].join(" ") } else { self.words[0].clone() }
    }
}

/// The lines, those of a group once for each of its commands.
fn lines(folder: &Path) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut group: Vec<&str> = Vec::new();
    for line in include_str!("options.txt").lines().filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            group.clear();
        } else if let Some(commands) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            group = commands.split('|').collect();
        } else if group.is_empty() {
            lines.push(Line::read(line, folder));
        }
        for command in group.iter().filter(|_| !line.starts_with('[')) {
            let (name, options) =
                command.split_once(" --").map_or((*command, ""), |(name, _)| (name, &command[name.len()..]));
            lines.push(Line::read(&format!("{name} {line}{options}"), folder));
        }
    }
    lines
}

/// The lines of some commands, or of all in the sweep.
fn sampled(lines: Vec<Line>) -> Vec<Line> {
    let commands: BTreeSet<String> = lines.iter().map(Line::command).collect();
    let chosen: BTreeSet<String> = commands.into_iter().step_by(one_in(16)).collect();
    lines.into_iter().filter(|line| chosen.contains(&line.command())).collect()
}

/// The files that lines read.
fn prepare(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("written");
    write("vectors.txt", "horse 1 2\ndog 2 1\n");
    write("keys.txt", "l\nj\nq\n");
    write("text.txt", &"the bat sleeps in the cave. ".repeat(20));
    write("pairs.txt", "ab → ba\nba → ab\n");
    write("table.csv", &(0..32).map(|at| format!("{}\n", f64::from(at) / 10.0)).collect::<String>());
    write(
        "weights.json",
        "[[[[1, 0], [0.25, 0.75]], [[1, 0], [0.5, 0.5]]], [[[1, 0], [0, 1]], [[1, 0], [0.5, 0.5]]]]",
    );
    write("many.json", &format!("[{}]", ["[[1, 0], [0, 1]]"; 49].join(", ")));
    write("nine.json", &format!("[{}]", ["[1, 0, 0, 0, 0, 0, 0, 0, 0]"; 9].join(", ")));
    write("values.json", "[[[[1], [2]], [[1], [3]]], [[[1], [0]], [[1], [0]]]]");
    write("lesson.md", include_str!("../../walkthroughs/0-tour.md"));
    write("graph.json", &attn("attend --x '1 2; 3 4' --format json").ok().out);
    attn("learn reverse --steps 3 --every 1 --save").arg(folder.join("model").to_str().unwrap()).ok();
    let names = ["q", "k", "v", "o"].map(|part| format!("self_attn.{part}_proj.weight"));
    let tensors = [1.0f32, 2.0].into_iter().enumerate().flat_map(|(layer, first)| {
        names.iter().map(move |name| (format!("layers.{layer}.{name}"), [first, 0.5, 0.0, 1.0]))
    });
    let (mut head, mut bytes) = (serde_json::Map::new(), Vec::new());
    for (name, numbers) in tensors {
        let data = [bytes.len(), bytes.len() + 16];
        head.insert(name, serde_json::json!({"dtype": "F32", "shape": [2, 2], "data_offsets": data}));
        bytes.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
    }
    let head = serde_json::Value::from(head).to_string();
    let file = [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &bytes].concat();
    fs::write(folder.join("two-layers.safetensors"), file).expect("written");
}

fn run(words: &[String], env: &Env) -> Outcome {
    for place in words.iter().filter(|word| word.ends_with("/examples") || word.ends_with("/man")) {
        let _ = fs::remove_dir_all(place);
    }
    let run = words.iter().fold(attn(""), |run, word| run.arg(word.clone()));
    run.env(env.clone()).input("q\n").run()
}

/// The options of a command's manual page, each with whether a value follows it.
fn advertised(command: &str) -> BTreeMap<String, bool> {
    let page = attn(&format!("help --man {command}")).ok().out.replace('\\', "");
    let options = page.lines().filter(|line| line.starts_with("fB-"));
    let options = options.filter_map(|line| line.split_once("fB--").map(|(_, rest)| rest.to_string()));
    let name = |rest: String| {
        let (name, value) = rest.split_once("fR").expect("an end");
        (format!("--{name}"), value.contains('<'))
    };
    options.map(name).filter(|(name, _)| name != "--help").collect()
}

/// The formats that a command's help names.
fn formats(command: &str) -> Vec<&'static str> {
    let page = attn(&format!("help --man {command}")).ok().out.replace('\\', "");
    let Some((_, rest)) = page.split_once("fB--formatfR fI<FORMAT>") else { return Vec::new() };
    let end = rest.find(".TP").unwrap_or(rest.len());
    let words: BTreeSet<&str> = rest[..end].split(|c: char| !c.is_alphanumeric()).collect();
    let known = ["table", "json", "numpy", "markdown", "latex", "csv", "html"];
    known.into_iter().filter(|format| words.contains(format)).collect()
}

fn differs(one: &Outcome, other: &Outcome) -> bool {
    (one.code, &one.out, &one.err) != (other.code, &other.out, &other.err)
}

#[test]
fn every_option_in_a_help_works_in_its_command() {
    let folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let env = Env { writing: attn::input::WritePermission::Allowed, ..Env::default() };
    let mut proven: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut faults = Vec::new();
    for line in sampled(lines(folder.path())) {
        let command = line.command();
        let proven = proven.entry(command.clone()).or_default();
        let known = advertised(&command);
        let typed = line.words.join(" ");
        let whole = run(&line.words, &env);
        if whole.code != line.code && !(command == "diagnose" && whole.code < 2) {
            faults.push(format!("attn {typed}: exit code {}: {}", whole.code, whole.err));
            continue;
        }
        for (at, option) in line.words.iter().enumerate() {
            let Some(takes_value) = known.get(option).filter(|_| !proven.contains(option)) else { continue };
            let value = line.words.get(at + 1).filter(|next| *takes_value && !next.starts_with("--"));
            let written = value.map(|value| value.rsplit('=').next().unwrap_or(value));
            let works = if WRITE.contains(&&**option) && option != "--every" {
                written.is_some_and(|file| Path::new(file).exists())
            } else {
                let end = at + 1 + usize::from(value.is_some());
                let without = [&line.words[..at], &line.words[end..]].concat();
                !line.has_effect || option == "--every" || differs(&whole, &run(&without, &env))
            };
            if works {
                proven.insert(option.clone());
            } else {
                faults.push(format!("attn {typed}: {option} changes nothing"));
            }
        }
    }
    for (command, proven) in &proven {
        let unseen = advertised(command).into_keys().filter(|option| !proven.contains(option));
        let is_tried =
            |option: &String| option == "--format" || OF_THE_SCREEN.iter().any(|(name, ..)| name == option);
        let unseen: Vec<String> = unseen.filter(|option| !is_tried(option)).collect();
        if !unseen.is_empty() {
            faults.push(format!("attn {command}: no line of options.txt shows {unseen:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(proven.len() > 16 / one_in(16), "only {} commands were run", proven.len());
}

#[test]
fn every_format_and_option_of_the_screen_works_in_its_command() {
    let folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let env = Env { writing: attn::input::WritePermission::Allowed, ..Env::default() };
    let mut of_command: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for line in sampled(lines(folder.path())) {
        let fixed = ["--format", "--memory", "--cast"];
        if line.code < 2 && !line.words.iter().any(|word| fixed.contains(&&**word)) {
            of_command.entry(line.command()).or_default().push(line.words);
        }
    }
    let mut faults = Vec::new();
    for (command, lines) in &of_command {
        let with = |line: &Vec<String>, more: &[&str]| {
            run(&line.iter().cloned().chain(more.iter().map(ToString::to_string)).collect::<Vec<_>>(), &env)
        };
        let changes = |before: &[&str], after: &[&str]| {
            lines.iter().any(|line| {
                let (before, after) = (with(line, before), with(line, after));
                before.code == after.code && differs(&before, &after)
            })
        };
        let known = advertised(command);
        let is_full_screen =
            |option: &str| command.starts_with("explore") && ["--color", "--theme"].contains(&option);
        for (option, before, after) in OF_THE_SCREEN {
            if known.contains_key(option) && !is_full_screen(option) && !changes(before, after) {
                faults.push(format!("attn {command}: {option} changes nothing"));
            }
        }
        for format in formats(command) {
            if format != "table" && !changes(&[], &["--format", format]) {
                faults.push(format!("attn {command}: --format {format} does not work"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
