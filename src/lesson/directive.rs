//! The closed list of directives: comments that tell the program what to do with the text around them.

use crate::text::{clip, nearest};

use super::source::{Fault, Faults};

/// One word that may begin a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The word.
    pub word: &'static str,
    /// Its form.
    pub form: &'static str,
    /// Its effect.
    pub does: &'static str,
}

/// All directives; besides them there is only the checked number `0.30<!-- = RUN:CELL -->` in prose.
pub const DIRECTIVES: [Directive; 10] = [
    Directive {
        word: "id",
        form: "id: zeros",
        does: "names the step, below its `##`; else the name comes from the heading",
    },
    Directive { word: "step", form: "step: minutes=3", does: "plans the step's time, below its `##`" },
    Directive { word: "note", form: "note: …", does: "is for the teacher" },
    Directive {
        word: "run",
        form: "run: plain = attn attend …",
        does: "names a command, for checked numbers and keys",
    },
    Directive { word: "ask", form: "ask: id=zeros kind=choice think=30s", does: "begins a question" },
    Directive {
        word: "opt",
        form: "opt B: unscaled:A[1,2]",
        does: "computes the number of an option, or of a wrong answer that you expect",
    },
    Directive {
        word: "key",
        form: "key: C iff count(causal:A[bat], == 0) == 2",
        does: "computes the right answer. A number needs a tolerance: `± 0.005`, or \
               `± 0.05 from 2 decimals` if students compute with numbers shown at two decimals",
    },
    Directive { word: "if", form: "if B: …", does: "is shown to those who choose the option" },
    Directive { word: "hint", form: "hint: …", does: "is shown when h is pressed, one hint at a time" },
    Directive {
        word: "tol",
        form: "tol: last-digit",
        does: "lets each number of the next block differ by one unit of its last printed place",
    },
];

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
    let head = comment.split(':').next().unwrap_or_default();
    let word: String = head.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
    let Some(found) = DIRECTIVES.iter().find(|directive| directive.word == word) else {
        let words: [&str; 10] = DIRECTIVES.map(|directive| directive.word);
        let help = match nearest(&word, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("the directives are {}; `attn lesson directives` explains them", words.join(", "))
            }
        };
        let shown: String = clip(comment.lines().next().unwrap_or_default());
        return Err(Fault::new(line, format!("`<!-- {shown} -->` is not a directive")).help(help));
    };
    if let Some((letter, condition)) = condition_of_option(found.word, comment) {
        return Ok(DirectiveText { word: found.word, of: letter, text: condition, iff: true });
    }
    let Some((head, text)) = comment.split_once(':') else {
        return Err(
            Fault::new(line, format!("`{word}` has no colon")).help(format!("write <!-- {} -->", found.form))
        );
    };
    let of = head[word.len()..].trim().to_string();
    let takes_letter = matches!(found.word, "opt" | "if");
    if takes_letter == of.is_empty() {
        return Err(Fault::new(line, format!("`{head}:` is not a valid `{word}`"))
            .help(format!("write <!-- {} -->", found.form)));
    }
    let text = in_one_line(text);
    if text.is_empty() {
        return Err(Fault::new(line, format!("nothing follows `{head}:`"))
            .help(format!("write <!-- {} -->", found.form)));
    }
    Ok(DirectiveText { word: found.word, of, text, iff: false })
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
        let pair = word.split_once('=');
        let known = pair.and_then(|(name, _)| names.iter().find(|known| **known == name));
        match (pair, known) {
            (Some(_), Some(name)) if found.iter().any(|(other, _)| other == name) => {
                faults.add(line, format!("a second `{name}=`"), "remove one of them")
            }
            (Some((_, value)), Some(name)) if !value.is_empty() => found.push((*name, value)),
            _ => {
                let near = nearest(pair.map_or(word, |(name, _)| name), names.iter().copied());
                faults.add(
                    line,
                    format!("`{word}` is not understood"),
                    match near {
                        Some(near) => format!("did you mean `{near}=…`?"),
                        None => format!("you can set {}=…", names.join("=… ")),
                    },
                );
            }
        }
    }
    found
}
