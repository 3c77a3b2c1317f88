//! `attn diagnose --batch`: a folder of results, a row each, and who made which mistake.

use super::answers;
use crate::cli::output::{FormatArg, LookArgs};
use crate::cli::{Env, Streams};
use crate::diagnose::Examiner;
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::visible;
use crate::graph::Graph;
use crate::input::FolderEntry;
use crate::memory;
use crate::render::{self, FileRows, Style, wrapped_text};
use crate::story::Table;
use crate::story::diagnosis::{FileResult, Tally};
use crate::text::counted;

/// A folder to be judged.
pub(super) struct Batch {
    /// One for all files, so that each mistake is computed once.
    pub examiner: Examiner,
    /// Whether only the table of mistakes is shown.
    pub by_mistake: bool,
}

/// The heading of the summary.
const SUMMARY: &str = "How many made which mistake";
/// The columns of the rows as data.
const HEADER: [&str; 6] = ["file", "result", "where", "mistake", "how sure", "note"];

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
            return Ok(exit_code(&tally));
        }
        match look.format {
            FormatArg::Table => {
                self.screen(folder, &style, &mut tally, streams)?;
                if let Some(table) = tally.mistakes() {
                    writeln!(streams.out)?;
                    look.tables("diagnose", &[(SUMMARY.into(), table)], env, streams)?;
                }
                write_notes(&tally, &style, streams)?;
            }
            FormatArg::Json => {
                for entry in folder {
                    let result = self.judge(entry);
                    self.json(&result, streams)?;
                    tally.add(result);
                }
            }
            _ => {
                let mut rows = Vec::new();
                for entry in folder {
                    let result = self.judge(entry);
                    rows.push(result.cells(self.right()));
                    tally.add(result);
                }
                let mut parts = vec![(tally.sentence(), Table::new(&HEADER, rows))];
                let summary = tally.mistakes().filter(|_| look.format != FormatArg::Csv);
                parts.extend(summary.map(|table| (SUMMARY.into(), table)));
                look.tables("diagnose", &parts, env, streams)?;
            }
        }
        Ok(exit_code(&tally))
    }

    /// The graph of the right answer.
    fn right(&self) -> &Graph {
        self.examiner.task().right()
    }

    /// Writes a row for each file, before the next file is read.
    fn screen(
        &self,
        folder: &[FolderEntry],
        style: &Style,
        tally: &mut Tally,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        let names = folder.iter().filter(|entry| entry.is_readable()).map(|entry| entry.name.as_str());
        let rows = FileRows::of(names, self.right(), style);
        writeln!(streams.out, "{}", rows.head())?;
        for entry in folder {
            let result = self.judge(entry);
            if !result.is_ignored {
                writeln!(streams.out, "{}", rows.row(&result.row(self.right())))?;
                streams.out.flush()?;
            }
            tally.add(result);
        }
        writeln!(streams.out, "\n{}", style.charset.spelled(&tally.sentence()))?;
        Ok(())
    }

    fn judge(&self, entry: &FolderEntry) -> FileResult {
        // The memory that a file takes is free again for the next one.
        let _of_the_file = memory::part();
        let judged = entry.named(answers::limit(self.right())).and_then(|arrays| {
            let submission = answers::submission(arrays, self.right())?;
            let diagnosis = self.examiner.examine(&submission.answers)?;
            Ok(FileResult::judged(&entry.name, diagnosis, &submission.answers))
        });
        judged.unwrap_or_else(|error| {
            FileResult::not_judged(&entry.name, reason(&error, &entry.name), !entry.is_readable())
        })
    }

    fn json(&self, result: &FileResult, streams: &mut Streams<'_>) -> Result<()> {
        match &result.outcome {
            Ok(diagnosis) => render::diagnosis(Some(&result.file), diagnosis, self.right(), streams.out)?,
            Err(reason) => render::unusable(&result.file, result.verdict(), reason, streams.out)?,
        }
        streams.out.flush()?;
        Ok(())
    }
}

/// The first line of an error, without the name of the file, which the row has already. Its help is for the student, who does not
/// read this.
fn reason(error: &Error, file: &str) -> String {
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    let rest = first.strip_prefix(&*visible(file)).unwrap_or(first);
    let rest = rest.trim_start_matches([':', ',', ' ']);
    if rest.starts_with(|c: char| c.is_ascii_digit()) { format!("at {rest}") } else { rest.to_string() }
}

fn exit_code(tally: &Tally) -> u8 {
    if !tally.all_judged() {
        EXIT_UNUSABLE
    } else if !tally.all_right() {
        EXIT_CHECK_FAILED
    } else {
        EXIT_DONE
    }
}

/// Writes below the tables why files are unusable, which are ignored, and what a column means.
fn write_notes(tally: &Tally, style: &Style, streams: &mut Streams<'_>) -> Result<()> {
    let mut notes: Vec<String> =
        tally.unusable.iter().map(|(file, reason)| format!("{file}: {reason}.")).collect();
    if !tally.ignored.is_empty() {
        let names = tally.ignored.join(", ");
        notes.push(format!("Ignored ({}): {names}.", counted(tally.ignored.len(), "file")));
    }
    if tally.has_rows() {
        notes.push(
            "How sure: to how many decimals the file agrees with the right result, or with the named mistake."
                .into(),
        );
    }
    for note in notes {
        let text = style.charset.spelled(&visible(&note)).into_owned();
        writeln!(streams.out, "\n{}", wrapped_text(&text, style.width).join("\n"))?;
    }
    Ok(())
}
