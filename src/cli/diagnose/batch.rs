//! `attn diagnose --batch`: a folder of results, a row each, and who made which mistake.

use super::lines::{Line, Lines};
use super::tally::Tally;
use super::{answers, words};
use crate::cli::output::{FormatArg, LookArgs};
use crate::cli::{Env, Streams};
use crate::diagnose::{self, Diagnosis, Examiner, Verdict};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::input::FolderEntry;
use crate::memory;
use crate::render::{self, Style};
use crate::story::Table;
use crate::text::counted;

/// Judges a folder.
pub(super) struct Batch {
    /// One for all: what the mistakes give is computed once.
    pub examiner: Examiner,
    /// Whether only the table for the teacher is wanted.
    pub by_mistake: bool,
}

/// What became of one file.
pub(super) struct Judged {
    pub file: String,
    /// The diagnosis, or why there is none.
    pub outcome: std::result::Result<Diagnosis, String>,
    /// Whether the file is none that is read: a folder, a link, or an unknown ending.
    pub ignored: bool,
    /// How exactly it is right: “to 2 decimals: the largest difference is 0.0041”.
    exactly: String,
    /// How sure the named mistake is: “to 5 decimals”, “one of 2”.
    sure: String,
}

impl Judged {
    /// What a file is called that was not judged.
    fn unread(&self) -> &'static str {
        if self.ignored { "ignored" } else { "unusable" }
    }
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
        let mut tally = Tally::default();
        if self.by_mistake {
            folder.iter().for_each(|entry| tally.add(self.judge(entry)));
            look.tables("diagnose", &[(tally.sentence(), tally.by_mistake())], env, streams)?;
            return Ok(tally.exit_code());
        }
        match look.format {
            FormatArg::Table => {
                self.screen(folder, &style, &mut tally, streams)?;
                if let Some(table) = tally.mistakes() {
                    writeln!(streams.out)?;
                    look.tables("diagnose", &[(HOW_MANY.into(), table)], env, streams)?;
                }
                self.below(&tally, &style, streams)?;
            }
            FormatArg::Json => {
                for entry in folder {
                    let judged = self.judge(entry);
                    self.json(&judged, streams)?;
                    tally.add(judged);
                }
            }
            _ => {
                let mut rows = Vec::new();
                for entry in folder {
                    let judged = self.judge(entry);
                    rows.push(self.row(&judged));
                    tally.add(judged);
                }
                let mut parts = vec![(tally.sentence(), Table::new(&HEADER, rows))];
                let summary = tally.mistakes().filter(|_| look.format != FormatArg::Csv);
                parts.extend(summary.map(|table| (HOW_MANY.into(), table)));
                look.tables("diagnose", &parts, env, streams)?;
            }
        }
        Ok(tally.exit_code())
    }

    /// A row for each file on the screen, each written before the next file is read.
    fn screen(
        &self,
        folder: &[FolderEntry],
        style: &Style,
        tally: &mut Tally,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        let lines = Lines::of(folder, self.examiner.task().right(), style);
        writeln!(streams.out, "{}", lines.head())?;
        for entry in folder {
            let judged = self.judge(entry);
            if !judged.ignored {
                writeln!(streams.out, "{}", lines.line(&self.line(&judged)))?;
                streams.out.flush()?;
            }
            tally.add(judged);
        }
        writeln!(streams.out, "\n{}", style.charset.spelled(&tally.sentence()))?;
        Ok(())
    }

    /// What is said below the tables: why some files are unusable, which are ignored, and what a column means.
    fn below(&self, tally: &Tally, style: &Style, streams: &mut Streams<'_>) -> Result<()> {
        let mut notes: Vec<String> =
            tally.unusable.iter().map(|(file, why)| format!("{file}: {why}.")).collect();
        if !tally.ignored.is_empty() {
            let names = tally.ignored.join(", ");
            notes.push(format!("Ignored ({}): {names}.", counted(tally.ignored.len(), "file")));
        }
        if tally.has_rows() {
            notes.push(
                "How sure: how far the numbers agree with the right ones or, where a mistake is named, with what that mistake gives."
                    .into(),
            );
        }
        for note in notes {
            let said = style.charset.spelled(&visible(&note)).into_owned();
            writeln!(streams.out, "\n{}", super::lines::wrapped(&said, style.width).join("\n"))?;
        }
        Ok(())
    }

    fn judge(&self, entry: &FolderEntry) -> Judged {
        // What a file has taken is free again for the next one.
        let _of_the_file = memory::part();
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
            let rest = first.strip_prefix(&*visible(&entry.name)).unwrap_or(first);
            let rest = rest.trim_start_matches([':', ',', ' ']);
            if rest.starts_with(|c: char| c.is_ascii_digit()) {
                format!("at {rest}")
            } else {
                rest.to_string()
            }
        });
        let said = |say: fn(&Diagnosis, &[diagnose::Answer]) -> String| {
            outcome.as_ref().map_or(String::new(), |diagnosis| say(diagnosis, &answers))
        };
        let (exactly, sure) = (said(words::precision), said(words::how_sure));
        Judged { file: entry.name.clone(), ignored: !entry.is_readable(), outcome, exactly, sure }
    }

    fn json(&self, judged: &Judged, streams: &mut Streams<'_>) -> Result<()> {
        match &judged.outcome {
            Ok(diagnosis) => {
                let right = self.examiner.task().right();
                render::diagnosis(Some(&judged.file), diagnosis, right, streams.out)?;
            }
            Err(error) => render::unusable(&judged.file, judged.unread(), error, streams.out)?,
        }
        streams.out.flush()?;
        Ok(())
    }

    /// A file as a row of data: the line of the screen, and what there is no room for there.
    fn row(&self, judged: &Judged) -> Vec<String> {
        let note = match &judged.outcome {
            Err(why) => why.clone(),
            Ok(_) => judged.exactly.clone(),
        };
        let Line { file, verdict, place, mistake, sure } = self.line(judged);
        vec![file, verdict.into(), place, mistake, sure, note]
    }

    fn line(&self, judged: &Judged) -> Line {
        let line = Line { file: judged.file.clone(), sure: judged.sure.clone(), ..Line::default() };
        let diagnosis = match &judged.outcome {
            Err(_) => return Line { verdict: judged.unread(), ..line },
            Ok(diagnosis) => diagnosis,
        };
        let verdict = diagnosis.verdict();
        let Some(wrong) = diagnosis.first_wrong() else { return Line { verdict, ..line } };
        let right = self.examiner.task().right();
        let place = match &wrong.verdict {
            Verdict::Wrong(distance) => words::first_cell(distance, right),
            Verdict::Close(close) => words::worst_cell(&close.beyond, right),
            _ => wrong.name.clone(),
        };
        Line { verdict, place, mistake: mistakes(diagnosis, wrong), ..line }
    }
}

/// The heading of the summary.
const HOW_MANY: &str = "How many made which mistake";
/// What is said of every file.
const HEADER: [&str; 6] = ["file", "result", "where", "mistake", "how sure", "note"];

/// The mistakes of a file that is not right, in one cell.
fn mistakes(diagnosis: &Diagnosis, wrong: &diagnose::Judged) -> String {
    match &wrong.verdict {
        _ if !wrong.mistakes.is_empty() => words::alternatives(&wrong.mistakes),
        _ if wrong.too_few_digits => "too few digits to tell".into(),
        Verdict::Close(close) => format!("off by {}", words::size(close.beyond.difference.largest)),
        Verdict::OtherShape(yours, expected) => format!("{yours}, not {expected}"),
        Verdict::OtherCount(yours, expected) => format!("{}, not {expected}", counted(*yours, "matrix")),
        _ if diagnosis.pairs_tried => "no known mistake".into(),
        _ => "no single known mistake".into(),
    }
}
