//! The text of a lesson, made fit for a screen, and its lines.

use std::ops::Range;

use crate::error::{Error, Place, Result};
use crate::foreign::visible;
use crate::text::{clip, counted, quoted};

/// The most bytes of a lesson: more than a week of teaching has.
pub const LONGEST: u64 = 1 << 20;

/// Whether a text is meant as a lesson: it begins with a head, and that with the format or at least its name.
pub fn is_lesson(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_end);
    lines.next() == Some("---")
        && lines.take_while(|line| *line != "---").any(|line| line.trim_start().starts_with("attn-lesson"))
}

/// A text and where its lines begin.
pub(super) struct Source {
    /// The text, lines ending in `\n`, with escapes for what cannot be seen.
    pub text: String,
    /// The lines that held characters which could drive a terminal; in the text they are escapes.
    pub cleaned: Vec<usize>,
    starts: Vec<usize>,
}

impl Source {
    /// Takes a text, with escapes for what could drive a terminal.
    ///
    /// # Errors
    /// If it holds a zero byte, and thus is no text, or is longer than [`LONGEST`].
    pub(super) fn new(file: &str, text: &str) -> Result<Source> {
        if text.len() as u64 > LONGEST {
            return Err(Error::new(format!("a lesson may have at most {} MiB", LONGEST >> 20))
                .in_source(file)
                .help("split it into several lessons"));
        }
        if text.contains('\0') {
            return Err(Error::new("this is not text: it contains a zero byte")
                .in_source(file)
                .help("give a Markdown file; attn lesson new NAME writes one"));
        }
        let mut source =
            Source { text: String::with_capacity(text.len()), cleaned: Vec::new(), starts: vec![0] };
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let ends = line.ends_with('\n');
            let line = line.strip_suffix('\n').unwrap_or(line);
            let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', "    ");
            let clean = visible(&line);
            if clean != line {
                source.cleaned.push(number + 1);
            }
            source.text.push_str(&clean);
            if ends {
                source.text.push('\n');
                source.starts.push(source.text.len());
            }
        }
        Ok(source)
    }

    /// The line of a byte of the text; lines count from 1.
    pub(super) fn line(&self, position: usize) -> usize {
        self.starts.partition_point(|&start| start <= position)
    }

    /// The position at which a line begins; lines count from 1.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// A fault for each line that had to be cleaned.
    pub(super) fn cleaning_faults(&self) -> impl Iterator<Item = Fault> + '_ {
        self.cleaned.iter().map(|&line| {
            Fault::new(
                line,
                "this contains characters that cannot be seen, which could control a terminal or hide a text",
            )
            .help("remove them; the player and the pages show them as escapes such as \\u{200B}")
        })
    }
}

// The faults of a lesson, for its author.

/// One fault or remark: its line, its step, what is wrong, and how to fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The title of its step, if it is in one.
    pub step: Option<String>,
    /// The error, as a sentence without a full stop.
    pub what: String,
    /// The fix.
    pub help: Option<String>,
    /// The subject.
    pub concern: Concern,
    /// The correct text, for an output that differs.
    pub rewrite: Option<Box<Rewrite>>,
}

/// The subject of a fault, which decides who fixes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// A key, a command, a directive or a forbidden character: an author fixes it before outputs are rewritten.
    Structure,
    /// A number in the text, a table on the screen, the plan: an author fixes it.
    Text,
    /// The output of a command: `update` fixes it.
    Output,
    /// A remark: nothing is wrong.
    Remark,
}

/// The lines of a block that an output takes the place of.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// The lines of the file, from 0.
    pub lines: Range<usize>,
    /// Their text.
    pub old: String,
    /// The correct text, with the empty line that closes it.
    pub text: String,
}

impl Fault {
    /// A fault at a line, without a step yet.
    pub fn new(line: usize, what: impl Into<String>) -> Fault {
        let (what, concern) = (what.into(), Concern::Structure);
        Fault { line, step: None, what, help: None, concern, rewrite: None }
    }

    /// The same fault with its help.
    pub fn help(mut self, help: impl Into<String>) -> Fault {
        self.help.get_or_insert(help.into());
        self
    }

    /// The fault at a line for an error.
    pub fn of(line: usize, error: Error) -> Fault {
        match error {
            Error::Unusable(problem) => {
                let place = problem.place.map(|place| format!("{place}: ")).unwrap_or_default();
                let what = format!("{place}{}", problem.what);
                Fault { help: problem.help, ..Fault::new(line, what) }
            }
            other => Fault::new(line, other.to_string()),
        }
    }

    /// The fault at a line for an error in a key, with its column in the key.
    pub(super) fn in_key(line: usize, key: &str, error: Error) -> Fault {
        let Error::Unusable(problem) = error else { return Fault::of(line, error) };
        let place = match problem.place {
            Some(Place::Text(_, _, column)) => format!(", at column {column} of `{}`", clip(key)),
            _ => String::new(),
        };
        Fault { help: problem.help, ..Fault::new(line, problem.what + &place) }
    }

    /// The fault as it is printed: `file:line: what`, the step and the remedy below it.
    pub fn in_file(&self, file: &str) -> String {
        let below = [("step", &self.step), ("help", &self.help)];
        let below = below.map(|(name, text)| text.as_ref().map(|text| format!("\n  {name}: {text}")));
        let [step, help] = below.map(Option::unwrap_or_default);
        format!("{}:{}: {}{step}{help}", visible(file), self.line, self.what)
    }
}

/// The faults of a file, in the order of its lines; at least one if it is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// The first fault of a file as an error, with the number of the others.
    pub fn error(&self, file: &str) -> Error {
        let Some(first) = self.0.first() else { return Error::new("this is not a lesson").in_source(file) };
        let more = match self.0.len() - 1 {
            0 => String::new(),
            more => format!("; {} more: attn lesson check {}", counted(more, "fault"), quoted(file)),
        };
        let help = first.help.clone().unwrap_or_default() + &more;
        Error::new(first.what.clone()).at(Place::Line(file.to_string(), first.line)).help(help)
    }

    /// Adds a fault at a line, with its help.
    pub(super) fn add(&mut self, line: usize, what: impl Into<String>, help: impl Into<String>) {
        self.report(Concern::Structure, line, what, help);
    }

    /// Adds a fault of this concern.
    pub(super) fn report(
        &mut self,
        concern: Concern,
        line: usize,
        what: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Fault { concern, ..Fault::new(line, what).help(help) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_drive_a_terminal_becomes_an_escape_and_its_line_is_known() {
        let source = Source::new("x.md", "one\r\n\u{1b}[31mtwo\u{7}\n\tthree").unwrap();
        assert_eq!(source.text, "one\n\\u{1B}[31mtwo\\u{7}\n    three");
        assert_eq!(source.cleaned, [2]);
    }

    #[test]
    fn a_position_knows_its_line() {
        let source = Source::new("x.md", "a\nbc\n\nd").unwrap();
        assert_eq!([0, 1, 2, 4, 5, 6].map(|position| source.line(position)), [1, 1, 2, 2, 3, 4]);
        assert_eq!([1, 2, 3, 4].map(|line| source.start(line)), [0, 2, 5, 6]);
    }

    #[test]
    fn a_binary_file_and_a_huge_one_are_refused() {
        assert!(Source::new("x.md", "a\0b").is_err());
        assert!(Source::new("x.md", &"a".repeat(LONGEST as usize + 1)).is_err());
    }
}
