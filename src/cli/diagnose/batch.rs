//! `attn diagnose --batch`: a folder of submissions, a line each, or a table by mistake.

use std::collections::BTreeMap;

use super::lines::{Line, Lines};
use super::{answers, words};
use crate::cli::output::{FormatArg, LookArgs};
use crate::cli::{Env, Streams};
use crate::demo::Table;
use crate::diagnose::{self, Diagnosis, Examiner, Verdict};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result, counted};
use crate::input::FolderEntry;
use crate::render;

/// Judges a folder.
pub(super) struct Batch {
    /// One for all: what the mistakes give is computed once.
    pub examiner: Examiner,
    /// Whether only the table for the teacher is wanted.
    pub by_mistake: bool,
}

/// What became of one file.
struct Judged {
    file: String,
    outcome: std::result::Result<Diagnosis, String>,
    /// How exactly it is right: “to 2 decimals: the largest difference is 0.0041”.
    exactly: String,
}

impl Batch {
    /// Judges every file; the exit code is the worst of all.
    pub(super) fn run(
        &self,
        folder: &[FolderEntry],
        look: &LookArgs,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        let style = look.style(env);
        if look.format == FormatArg::Numpy {
            return Err(Error::new("a report on several files is not an array")
                .help("give --format json to get it as data"));
        }
        let mut lines = match look.format {
            FormatArg::Table if !self.by_mistake => {
                Some(Lines::of(folder, self.examiner.task().right(), &style))
            }
            _ => None,
        };
        let mut tally = Tally::default();
        let mut rows = Vec::new();
        if let Some(lines) = &lines {
            writeln!(streams.out, "{}", lines.head())?;
        }
        for entry in folder {
            let judged = self.judge(entry);
            if let Some(lines) = &mut lines {
                writeln!(streams.out, "{}", lines.line(&judged.line()))?;
                streams.out.flush()?;
            } else if !self.by_mistake && look.format == FormatArg::Json {
                self.json(&judged, streams)?;
            } else if !self.by_mistake {
                rows.push(judged.line());
            }
            tally.add(&judged);
        }
        match lines {
            Some(_) => writeln!(streams.out, "\n{}", style.charset.spelled(&tally.sentence()))?,
            None if self.by_mistake => {
                look.tables("diagnose", &[(tally.sentence(), tally.table())], env, streams)?;
            }
            None if look.format != FormatArg::Json => {
                let row =
                    |line: Line| vec![line.file, line.verdict.into(), line.node, line.said, line.remains];
                let table = Table::new(&HEADER, rows.into_iter().map(row));
                look.tables("diagnose", &[(tally.sentence(), table)], env, streams)?;
            }
            None => {}
        }
        Ok(tally.exit_code())
    }

    fn judge(&self, entry: &FolderEntry) -> Judged {
        let right = self.examiner.task().right();
        let mut answers = Vec::new();
        let outcome = entry.named(answers::limit(right)).and_then(|arrays| {
            let handed = answers::submission(arrays, right)?;
            answers.clone_from(&handed.answers);
            self.examiner.examine(&handed.answers)
        });
        // What to do about it is for the student, who is not here; the line has the name of the file already.
        let outcome = outcome.map_err(|error| {
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            let rest = first.strip_prefix(&entry.name).unwrap_or(first);
            let rest = rest.trim_start_matches([':', ',', ' ']);
            if rest.starts_with(|c: char| c.is_ascii_digit()) {
                format!("at {rest}")
            } else {
                rest.to_string()
            }
        });
        let exactly =
            outcome.as_ref().map_or(String::new(), |diagnosis| words::precision(diagnosis, &answers));
        Judged { file: entry.name.clone(), outcome, exactly }
    }

    fn json(&self, judged: &Judged, streams: &mut Streams<'_>) -> Result<()> {
        match &judged.outcome {
            Ok(diagnosis) => {
                let right = self.examiner.task().right();
                render::diagnosis(Some(&judged.file), diagnosis, right, streams.out)?;
            }
            Err(error) => render::unusable(&judged.file, error, streams.out)?,
        }
        streams.out.flush()?;
        Ok(())
    }
}

/// What is said of every file.
const HEADER: [&str; 5] = ["file", "verdict", "first wrong", "mistake", "remains"];

impl Judged {
    fn line(&self) -> Line {
        let line = Line { file: self.file.clone(), ..Line::default() };
        let diagnosis = match &self.outcome {
            Err(error) => return Line { verdict: "unusable", said: error.clone(), ..line },
            Ok(diagnosis) => diagnosis,
        };
        let Some(wrong) = diagnosis.first_wrong() else {
            return Line { verdict: "right", said: self.exactly.clone(), ..line };
        };
        let remains = wrong.mistakes.first().map_or(String::new(), |named| words::size(named.residual));
        Line { verdict: "wrong", node: wrong.name.clone(), said: mistakes(diagnosis), remains, ..line }
    }
}

/// The mistakes of a wrong submission in one cell.
fn mistakes(diagnosis: &Diagnosis) -> String {
    match diagnosis.first_wrong() {
        Some(wrong) if !wrong.mistakes.is_empty() => words::alternatives(&wrong.mistakes),
        Some(wrong) if wrong.too_few_digits => "too few digits to tell".into(),
        Some(diagnose::Judged { verdict: Verdict::OtherShape(yours, expected), .. }) => {
            format!("{yours}, not {expected}")
        }
        Some(diagnose::Judged { verdict: Verdict::OtherCount(yours, expected), .. }) => {
            format!(
                "{}, not {expected}",
                match yours {
                    1 => "1 matrix".to_string(),
                    _ => format!("{yours} matrices"),
                }
            )
        }
        _ if diagnosis.pairs_tried => "no known mistake".into(),
        _ => "no single known mistake".into(),
    }
}

/// The names of files, a class's worth of them.
fn first(files: &[String]) -> String {
    const MOST: usize = 40;
    let names = files[..files.len().min(MOST)].join(", ");
    match files.len().saturating_sub(MOST) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// What the files come to.
#[derive(Default)]
struct Tally {
    right: Vec<String>,
    unnamed: Vec<String>,
    unusable: Vec<String>,
    /// By mistake, or mistakes that fit equally.
    named: BTreeMap<String, Vec<String>>,
}

impl Tally {
    fn add(&mut self, judged: &Judged) {
        let files = match &judged.outcome {
            Err(_) => &mut self.unusable,
            Ok(diagnosis) => match diagnosis.first_wrong() {
                None => &mut self.right,
                Some(wrong) if wrong.mistakes.is_empty() => &mut self.unnamed,
                Some(wrong) => self.named.entry(words::alternatives(&wrong.mistakes)).or_default(),
            },
        };
        files.push(judged.file.clone());
    }

    fn exit_code(&self) -> u8 {
        match () {
            _ if !self.unusable.is_empty() => EXIT_UNUSABLE,
            _ if !self.unnamed.is_empty() || !self.named.is_empty() => EXIT_CHECK_FAILED,
            _ => EXIT_DONE,
        }
    }

    fn sentence(&self) -> String {
        let wrong: usize = self.named.values().map(Vec::len).sum::<usize>() + self.unnamed.len();
        let (right, unusable) = (self.right.len(), self.unusable.len());
        let all = counted(right + wrong + unusable, "file");
        format!("{all}: {right} right, {wrong} wrong, {unusable} unusable")
    }

    /// The most frequent mistake first.
    fn table(&self) -> Table {
        let mut named: Vec<(&str, &Vec<String>)> =
            self.named.iter().map(|(mistakes, files)| (mistakes.as_str(), files)).collect();
        named.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
        let others =
            [("no known mistake", &self.unnamed), ("right", &self.right), ("unusable", &self.unusable)];
        let all = named.into_iter().chain(others).filter(|(_, files)| !files.is_empty());
        let rows = all.map(|(what, files)| vec![what.to_string(), files.len().to_string(), first(files)]);
        Table::new(&["mistake", "files", "which"], rows).with_numbers(&["files"])
    }
}
