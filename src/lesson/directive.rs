//! The closed list of directives: comments that tell the program what to do with the text around them.

use std::sync::LazyLock;

use attn_core::data_file::entries;
use serde::Deserialize;

use crate::text::{clip, did_you_mean, nearest};

use super::source::{Fault, Faults};

/// A part of what a lesson's file can contain, as `attn lesson new --directives` lists it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatPart {
    /// What its rows are.
    pub title: &'static str,
    /// The heads of its columns.
    pub head: Vec<&'static str>,
    /// Its rows: a form, and what it does.
    pub rows: Vec<Vec<&'static str>>,
}

/// Everything that a lesson's file can contain: `data/lesson_format.toml`.
pub fn lesson_format() -> &'static [FormatPart] {
    static PARTS: LazyLock<Vec<FormatPart>> =
        LazyLock::new(|| entries(include_str!("../../data/lesson_format.toml")));
    &PARTS
}

/// All directives: the first word of each, and its form. Besides them there is only the checked number
/// `0.30<!-- = RUN:CELL -->` in prose.
pub fn directives() -> impl Iterator<Item = (&'static str, &'static str)> {
    let forms = lesson_format().iter().flat_map(|part| &part.rows).map(|row| row[0]);
    forms.filter_map(|form| Some((first_word(form.strip_prefix("<!-- ")?), form)))
}

/// The word that a directive begins with.
fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '-');
    &text[..end.unwrap_or(text.len())]
}

/// A directive as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DirectiveText {
    /// The word.
    pub word: &'static str,
    /// The text between the word and the colon: the letter of `opt B:`.
    pub of: String,
    /// The text after the colon, or after the `iff` of `opt B iff …`.
    pub text: String,
    /// Whether it is written with `iff`.
    pub iff: bool,
}

/// Reads a comment.
///
/// # Errors
/// If it is none of the directives.
pub(super) fn directive(comment: &str, line: usize) -> Result<DirectiveText, Fault> {
    let written = first_word(comment.split(':').next().unwrap_or_default());
    let Some((word, form)) = directives().find(|(word, _)| *word == written) else {
        let mut words: Vec<&str> = directives().map(|(word, _)| word).collect();
        words.dedup();
        let help = did_you_mean(written, words.iter().copied()).unwrap_or_else(|| {
            format!("the directives are {}; `attn lesson new --directives` explains them", words.join(", "))
        });
        let shown: String = clip(comment.lines().next().unwrap_or_default());
        return Err(Fault::new(line, format!("`<!-- {shown} -->` is not a directive")).help(help));
    };
    if let Some((letter, condition)) = condition_of_option(word, comment) {
        return Ok(DirectiveText { word, of: letter, text: condition, iff: true });
    }
    let wrong = |what: String| Err(Fault::new(line, what).help(format!("write {form}")));
    let Some((head, text)) = comment.split_once(':') else {
        return wrong(format!("`{word}` has no colon"));
    };
    let of = head[word.len()..].trim().to_string();
    if matches!(word, "opt" | "if") == of.is_empty() {
        return wrong(format!("`{head}:` is not a valid `{word}`"));
    }
    let text = in_one_line(text);
    if text.is_empty() {
        return wrong(format!("nothing follows `{head}:`"));
    }
    Ok(DirectiveText { word, of, text, iff: false })
}

/// The letter and the condition of `opt B iff CONDITION`.
fn condition_of_option(word: &str, comment: &str) -> Option<(String, String)> {
    let rest = comment.strip_prefix(word).filter(|_| word == "opt")?.trim_start();
    let (letter, rest) = rest.split_once(char::is_whitespace)?;
    let condition =
        rest.trim_start().strip_prefix("iff").filter(|rest| rest.starts_with(char::is_whitespace))?;
    Some((letter.to_string(), in_one_line(condition)))
}

fn in_one_line(text: &str) -> String {
    text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ").trim().to_string()
}

// The settings of a directive: `ask: id=zeros kind=choice think=30s`.

/// The `name=value` pairs of a directive.
pub(crate) fn settings<'a>(
    text: &'a str,
    line: usize,
    names: &[&'static str],
    faults: &mut Faults,
) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match names.iter().find(|known| **known == name).filter(|_| !value.is_empty()) {
            Some(name) if found.iter().any(|(other, _)| other == name) => {
                faults.add(line, format!("a second `{name}=`"), "remove one of them")
            }
            Some(name) => found.push((*name, value)),
            None => {
                let help = match nearest(name, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}=…`?"),
                    None => format!("you can set {}=…", names.join("=… ")),
                };
                faults.add(line, format!("`{word}` is not understood"), help);
            }
        }
    }
    found
}
