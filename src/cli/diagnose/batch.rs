//! `attn diagnose --batch`: a folder of submissions, a line each, or a table by mistake.

use std::collections::BTreeMap;

use colored::{Color, Colorize};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{answers, words};
use crate::cli::output::{FormatArg, LookArgs};
use crate::cli::{Env, Streams};
use crate::demo::Table;
use crate::diagnose::{Diagnosis, Examiner};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result, counted};
use crate::input::FolderEntry;
use crate::render::{self, Charset, Style};

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
            return Err(Error::new("a list of files is no array").help("--format json has it as data"));
        }
        let mut lines = match look.format {
            FormatArg::Table if !self.by_mistake => Some(Lines::of(folder, &style)),
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
                writeln!(streams.out, "{}", lines.line(&judged))?;
                streams.out.flush()?;
            } else if !self.by_mistake && look.format == FormatArg::Json {
                self.json(&judged, streams)?;
            } else if !self.by_mistake {
                rows.push(judged.row());
            }
            tally.add(&judged);
        }
        match lines {
            Some(_) => writeln!(streams.out, "\n{}", style.charset.spelled(&tally.sentence()))?,
            None if self.by_mistake => {
                look.tables("diagnose", &[(tally.sentence(), tally.table())], env, streams)?;
            }
            None if look.format != FormatArg::Json => {
                let table = Table::new(&HEADER, rows.into_iter().map(Vec::from));
                look.tables("diagnose", &[(tally.sentence(), table)], env, streams)?;
            }
            None => {}
        }
        Ok(tally.exit_code())
    }

    fn judge(&self, entry: &FolderEntry) -> Judged {
        let outcome = entry.named().and_then(|arrays| {
            let handed = answers::submission(arrays, self.examiner.task().right())?;
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
        Judged { file: entry.name.clone(), outcome }
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
    fn row(&self) -> [String; 5] {
        let file = self.file.clone();
        let diagnosis = match &self.outcome {
            Err(error) => return [file, "unusable".into(), String::new(), error.clone(), String::new()],
            Ok(diagnosis) => diagnosis,
        };
        let Some(wrong) = diagnosis.first_wrong() else {
            return [file, "right".into(), String::new(), String::new(), String::new()];
        };
        let remains = wrong.mistakes.first().map_or(String::new(), |named| words::size(named.residual));
        [file, "wrong".into(), wrong.name.clone(), mistakes(diagnosis), remains]
    }
}

/// The mistakes of a wrong submission in one cell.
fn mistakes(diagnosis: &Diagnosis) -> String {
    match diagnosis.first_wrong() {
        Some(wrong) if !wrong.mistakes.is_empty() => words::alternatives(&wrong.mistakes),
        Some(wrong) if wrong.too_few_digits => "too few digits to tell".into(),
        _ if diagnosis.pairs_tried => "no classic mistake".into(),
        _ => "no single classic mistake".into(),
    }
}

/// On wide screens the numbers do not move further from the mistakes than this.
const WIDEST_MISTAKE: usize = 56;

/// Lines under each other, each written before the next file is read.
struct Lines {
    /// Columns of file, verdict and node.
    widths: [usize; 3],
    width: usize,
    colour: bool,
    charset: Charset,
}

impl Lines {
    fn of(folder: &[FolderEntry], style: &Style) -> Lines {
        let longest =
            folder.iter().map(|entry| style.charset.spelled(&entry.name).width()).max().unwrap_or(0);
        let file = longest.clamp(HEADER[0].len(), (style.width / 3).max(12));
        let widths = [file, "unusable".len(), HEADER[2].len()];
        Lines { widths, width: style.width, colour: style.colour, charset: style.charset }
    }

    fn head(&self) -> String {
        let cells = HEADER.map(String::from);
        self.written(&cells, None)
    }

    fn line(&self, judged: &Judged) -> String {
        let row = judged.row();
        let colour = match row[1].as_str() {
            "right" => Color::Green,
            "wrong" => Color::Red,
            _ => Color::Yellow,
        };
        self.written(&row, Some(colour))
    }

    /// Cells side by side. An error, which stands in place of node and mistake, and the last cells share the rest of the line.
    fn written(&self, row: &[String; 5], colour: Option<Color>) -> String {
        let row = row.each_ref().map(|cell| self.charset.spelled(cell).into_owned());
        let [file, verdict, node, mistake, remains] = &row;
        let mut line = padded(file, self.widths[0]);
        let word = padded(verdict, self.widths[1]);
        let used = self.widths[0] + self.widths[1] + 4;
        line.push_str("  ");
        match colour {
            Some(colour) if self.colour => line.push_str(&word.color(colour).to_string()),
            _ => line.push_str(&word),
        }
        line.push_str("  ");
        let room = self.width.saturating_sub(used);
        if verdict == "unusable" {
            line.push_str(&cut(mistake, room));
            return line;
        }
        line.push_str(&padded(node, self.widths[2]));
        let room = room.saturating_sub(self.widths[2] + 2);
        let number = HEADER[4].len() + 1;
        let mistake = match room > number + 2 {
            true => padded(mistake, (room - number - 2).min(WIDEST_MISTAKE)),
            false => String::new(),
        };
        line.push_str(&format!("  {mistake}  {remains:>number$}"));
        line.trim_end().to_string()
    }
}

/// A text in exactly so many columns.
fn padded(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let space = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(space))
}

/// A text in at most so many columns; two points stand for what is left out.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut short = String::new();
    let mut used = 2;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        short.push(character);
    }
    format!("{short}..")
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
            [("no classic mistake", &self.unnamed), ("right", &self.right), ("unusable", &self.unusable)];
        let all = named.into_iter().chain(others).filter(|(_, files)| !files.is_empty());
        let rows = all.map(|(what, files)| vec![what.to_string(), files.len().to_string(), first(files)]);
        Table::new(&["mistake", "files", "which"], rows).with_numbers(&["files"])
    }
}
