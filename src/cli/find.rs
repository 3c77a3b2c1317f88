//! `attn find`: demos, lessons, terms, mistakes, examples, commands and options by keyword.

use std::collections::HashSet;
use std::mem::take;

use serde::Deserialize;

use crate::demo::{demos_by_topic, glossary};
use crate::diagnose::catalogue;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::input::BUNDLED;
use crate::lesson::{BUILT_IN, Step, read};
use crate::params;
use crate::render::Format;
use crate::text::{near, one_of, quoted};

use super::output::{self, Group, LookArgs};
use super::program::{Env, Program, Streams};
use super::reference::{ErrataArgs, ExamplesArgs, write_notation, write_terms};
use super::texts::plain;

/// The options of `attn find`.
#[derive(Deserialize, Debug)]
pub(super) struct FindArgs {
    words: Vec<String>,
    all: bool,
    terms: bool,
    errata: bool,
    notation: bool,
    examples: bool,
    #[serde(flatten)]
    of_texts: ErrataArgs,
    #[serde(flatten)]
    data: ExamplesArgs,
    #[serde(flatten)]
    look: LookArgs,
}

/// The most entries of a kind on a first screen.
const SHOWN: usize = 5;

/// Something that can be found.
struct SearchEntry {
    /// Its name.
    name: String,
    /// The command that shows it.
    command: String,
    /// One line about it.
    line: String,
    /// All that is searched besides these two.
    more: String,
}

/// Everything of one kind.
struct SearchGroup {
    title: &'static str,
    entries: Vec<SearchEntry>,
}

impl FindArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let look = &self.look;
        match self {
            FindArgs { terms: true, .. } => return write_terms(&self.words, look, env, streams),
            FindArgs { errata: true, .. } => return self.of_texts.run(look, env, streams),
            FindArgs { notation: true, .. } => return write_notation(look, env, streams),
            FindArgs { examples: true, .. } => return self.data.run(&self.words, look, env, streams),
            _ => {}
        }
        let mut seen = HashSet::new();
        let words: Vec<String> = self
            .words
            .iter()
            .flat_map(|word| word.split_whitespace())
            .map(str::to_lowercase)
            .filter(|word| seen.insert(word.clone()))
            .collect();
        if words.is_empty() {
            return Err(Error::new("there is no word to search for").help("for example: attn find softmax"));
        }
        let kinds = everything(program);
        let mut groups: Vec<Group> = kinds.iter().filter_map(|kind| found(kind, &words)).collect();
        if groups.is_empty() {
            return Err(self.nothing(&kinds, &words));
        }
        let left_out: usize = groups.iter().map(|group| group.rows.len().saturating_sub(SHOWN)).sum();
        if self.all || left_out == 0 || look.format != Format::Table {
            return output::write(&groups, "", "find", look, env, streams);
        }
        groups.iter_mut().for_each(|group| group.rows.truncate(SHOWN));
        let closing = format!("{left_out} more: attn find {} --all", quoted(&words.join(" ")));
        output::write(&groups, &closing, "find", look, env, streams)
    }

    fn nothing(&self, kinds: &[SearchGroup], words: &[String]) -> Error {
        let shown = visible(&self.words.join(" ")).into_owned();
        let error = Error::new(format!("nothing here is about `{shown}`"));
        let all: Vec<String> =
            kinds.iter().flat_map(|kind| &kind.entries).flat_map(|entry| tokens(&entry.text())).collect();
        let known = |word: &String| all.iter().any(|token| token.starts_with(word.as_str()));
        match words.iter().find(|word| !known(word)) {
            None => error.help(format!("each word is there alone: attn find {}", quoted(&words[0]))),
            Some(one) => {
                let names =
                    all.iter().map(String::as_str).filter(|token| token.chars().all(char::is_alphabetic));
                let near: Vec<String> =
                    near(one, names).iter().map(|near| query(words, one, near, kinds)).collect();
                match &near[..] {
                    [_, ..] => error.help(format!("did you mean: {}", one_of(&near))),
                    [] => error.help(
                        "see the lists: attn demo, attn lesson, attn find --terms, attn diagnose --list",
                    ),
                }
            }
        }
    }
}

/// The search with a word in place of a mistyped one: for all words if that finds something, else for this word alone.
fn query(words: &[String], mistyped: &str, meant: &str, kinds: &[SearchGroup]) -> String {
    let replaced = |word: &String| if word == mistyped { meant.to_string() } else { word.clone() };
    let all: Vec<String> = words.iter().map(replaced).collect();
    if kinds.iter().any(|kind| found(kind, &all).is_some()) {
        format!("attn find {}", all.join(" "))
    } else {
        format!("attn find {meant}")
    }
}

impl SearchEntry {
    /// All that is searched.
    fn text(&self) -> String {
        format!("{} {} {}", self.command, self.line, self.more)
    }

    /// A score of the match: 0 if a word is missing; higher if words are in the command or in the line.
    fn fits(&self, words: &[String]) -> usize {
        let text = self.text();
        let parts = [tokens(&self.command), tokens(&self.line), tokens(&text)];
        let lower = text.to_lowercase();
        let fit = |word: &String| {
            let begins = |part: &Vec<String>| part.iter().any(|token| token.starts_with(word.as_str()));
            // A word with a hyphen or another mark in it.
            let is_within = word.contains(|c: char| !c.is_alphanumeric()) && lower.contains(word.as_str());
            parts.iter().position(begins).map_or(usize::from(is_within), |part| 4 - part)
        };
        // What has just this name comes first.
        let is_name = self.name.to_lowercase() == words.join(" ");
        // It ends at the first word that is missing: there may be many.
        let sum: Option<usize> = words.iter().map(|word| Some(fit(word)).filter(|fit| *fit > 0)).sum();
        sum.map_or(0, |sum| sum + usize::from(is_name))
    }
}

/// The words of a text in lower case.
fn tokens(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_string).collect()
}

/// The matching entries of one kind, the best first.
fn found(kind: &SearchGroup, words: &[String]) -> Option<Group> {
    let mut fitting: Vec<(usize, &SearchEntry)> =
        kind.entries.iter().map(|entry| (entry.fits(words), entry)).filter(|(fit, _)| *fit > 0).collect();
    fitting.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
    let rows: Vec<(String, String)> =
        fitting.into_iter().map(|(_, entry)| (entry.command.clone(), entry.line.clone())).collect();
    (!rows.is_empty()).then(|| Group { title: kind.title.to_string(), head: ["command", "about"], rows })
}

/// Something that a command shows by its name.
pub(super) struct Named {
    /// The name.
    pub name: String,
    /// One line about it.
    pub line: String,
    /// All that is searched besides these two.
    more: String,
}

impl Named {
    fn new(name: &str, line: &str, more: String) -> Named {
        Named { name: name.to_string(), line: line.to_string(), more }
    }
}

/// Everything that has a name: the title of each kind, the command that shows it, and the entries.
pub(super) fn named() -> [(&'static str, &'static str, Vec<Named>); 6] {
    let demos = demos_by_topic().into_iter().map(|demo| {
        let more = format!("{} {} {}", demo.title, demo.place.topic.title(), demo.keywords.join(" "));
        Named::new(demo.name, demo.summary, more)
    });
    let terms = glossary().iter().map(|term| {
        let line = term.means.split_once(". ").map_or(term.means, |(first, _)| first);
        let more = format!("{} {} {}", term.means, term.also.join(" "), term.see.join(" "));
        Named::new(term.name, line, more)
    });
    let mistakes = catalogue().map(|mistake| {
        let more =
            format!("{} {} {}", mistake.why, mistake.symptom, mistake.demo.as_deref().unwrap_or_default());
        Named::new(&mistake.id, &mistake.slip, more)
    });
    let models = params::built_in().iter().map(|model| Named::new(model.name, model.title, "model".into()));
    let examples = BUNDLED.iter().map(|file| Named::new(file.name, file.about, String::new()));
    [
        ("Terms", "find --terms", terms.collect()),
        ("Demos", "demo", demos.collect()),
        ("Lessons", "lesson play", lessons()),
        ("Mistakes", "diagnose --list", mistakes.collect()),
        ("Models", "model --params", models.collect()),
        ("Example data", "find --examples", examples.collect()),
    ]
}

/// Each lesson, and each of its steps: `0-tour`, `0-tour#softmax`.
fn lessons() -> Vec<Named> {
    let mut entries = Vec::new();
    for (file, text) in BUILT_IN {
        let Ok(lesson) = read(file, text) else { continue };
        let name = file.trim_end_matches(".md");
        entries.push(Named::new(name, &lesson.title, "lesson".to_string()));
        let step = |step: &Step| Named::new(&format!("{name}#{}", step.id), &step.title, String::new());
        entries.extend(lesson.steps.iter().map(step));
    }
    entries
}

fn everything(program: &Program<'_>) -> Vec<SearchGroup> {
    let mut options = Vec::new();
    collect(program.definitions, "attn", &mut options);
    let mut groups: Vec<SearchGroup> = Vec::new();
    for (title, command, all) in named() {
        if title == "Models" {
            groups.push(SearchGroup { title: "Commands and options", entries: take(&mut options) });
        }
        let entry = |Named { name, line, more }: Named| {
            // A definition of one sentence is a line like the others.
            let line = if title == "Terms" { line.trim_end_matches('.').to_string() } else { line };
            SearchEntry { command: format!("attn {command} {name}"), name, line, more }
        };
        groups.push(SearchGroup { title, entries: all.into_iter().map(entry).collect() });
    }
    groups
}

/// Each command below one, and each of its options, without those of how the output looks: they would come again with each command.
fn collect(above: &clap::Command, name: &str, entries: &mut Vec<SearchEntry>) {
    for command in above.get_subcommands() {
        let name = format!("{name} {}", command.get_name());
        let line = plain(command.get_about());
        let own = command.get_name().to_string();
        entries.push(SearchEntry { name: own, command: format!("{name} -h"), line, more: String::new() });
        let common = ["format", "width", "color", "charset", "theme", "precision", "heat", "help"];
        for arg in command.get_arguments() {
            let Some(long) = arg.get_long() else { continue };
            if !common.contains(&long) || command.get_name() == "demo" {
                let (line, more) = (plain(arg.get_help()), plain(arg.get_long_help()));
                let option = format!("--{long}");
                entries.push(SearchEntry { command: format!("{name} {option}"), name: option, line, more });
            }
        }
        collect(command, &name, entries);
    }
}
