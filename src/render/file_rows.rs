//! The rows of a batch on the screen: each can be written before the next file is read.

use crate::text::ScreenWidth;
use colored::{Color, Colorize};
use unicode_width::UnicodeWidthChar;

use crate::foreign::visible;
use crate::graph::{CellId, Graph, address_of};
use crate::story::diagnosis::FileRow;

use super::{Charset, Style};

/// The heads of the columns.
const HEAD: [&str; 5] = ["file", "result", "where", "mistake", "how sure"];
/// Blanks between two columns.
const GAP: usize = 2;
/// The width of the longest verdict.
const VERDICT: usize = "unusable".len();
/// The width of the longest text in the last column.
const CONFIDENCE: usize = "to all digits".len();
/// Names of files are cut to no less than this.
const LEAST_FILE: usize = 12;
/// Addresses are cut to this, and to the less where there is no room.
const MOST_PLACE: usize = 16;
const LEAST_PLACE: usize = 8;
/// The least width of the column of mistakes; where there is less room, they have lines of their own.
const LEAST_MISTAKE: usize = 24;
/// The maximum width of the column of mistakes.
const MOST_MISTAKE: usize = 56;
/// The indentation of the lines below a file's first one.
const INDENT: usize = 4;

/// The widths of the columns.
pub struct FileRows {
    file: usize,
    place: usize,
    /// The width of the mistakes; `None` where they have lines of their own.
    mistake: Option<usize>,
    width: usize,
    colour: bool,
    charset: Charset,
}

impl FileRows {
    /// Columns for files of these names and the nodes of the right answer: names are shortened before the mistakes are.
    pub fn of<'n>(names: impl Iterator<Item = &'n str>, right: &Graph, style: &Style) -> FileRows {
        let longest = names.map(|name| style.charset.spelled(&visible(name)).width()).max().unwrap_or(0);
        let longest_place = longest_address(right, style.charset).clamp(HEAD[2].len(), MOST_PLACE);
        let wanted = longest.clamp(HEAD[0].len(), (style.width / 3).max(LEAST_FILE));
        let least = wanted.min(LEAST_FILE);
        let room = |file: usize, place: usize| {
            let others = file + VERDICT + place + CONFIDENCE + 4 * GAP;
            style.width.checked_sub(others).filter(|&room| room >= LEAST_MISTAKE)
        };
        let files = (least..=wanted).rev().map(|file| (file, longest_place));
        let places = (LEAST_PLACE.min(longest_place)..longest_place).rev().map(|place| (least, place));
        let fitting = files.chain(places).find(|&(file, place)| room(file, place).is_some());
        let (file, place) = fitting.unwrap_or((least, longest_place));
        FileRows {
            file,
            place,
            mistake: room(file, place).map(|room| room.min(MOST_MISTAKE)),
            width: style.width,
            colour: style.colour,
            charset: style.charset,
        }
    }

    /// The head of all rows.
    pub fn head(&self) -> String {
        let [file, _, place, mistake, confidence] = HEAD.map(String::from);
        let row = FileRow { file, verdict: HEAD[1], place, ..FileRow::default() };
        let row = if self.mistake.is_some() { FileRow { mistake, confidence, ..row } } else { row };
        self.written(&row, None)
    }

    /// The lines of one file: one, or several where the mistakes are too long for it.
    pub fn row(&self, row: &FileRow) -> String {
        let colour = match row.verdict {
            "right" => Color::Green,
            "wrong" => Color::Red,
            _ => Color::Yellow,
        };
        self.written(row, Some(colour))
    }

    fn written(&self, row: &FileRow, colour: Option<Color>) -> String {
        let spelled = |cell: &str| self.charset.spelled(cell).into_owned();
        let word = padded(row.verdict, VERDICT);
        let word = match colour {
            Some(colour) if self.colour => word.color(colour).to_string(),
            _ => word,
        };
        let gap = " ".repeat(GAP);
        let [file, place] =
            [padded(&spelled(&visible(&row.file)), self.file), padded(&spelled(&row.place), self.place)];
        let head = format!("{file}{gap}{word}{gap}{place}{gap}");
        let (mistake, confidence) = (spelled(&row.mistake), spelled(&row.confidence));
        let Some(room) = self.mistake else {
            let confidence = if mistake.is_empty() || confidence.is_empty() {
                confidence
            } else {
                format!(" ({confidence})")
            };
            let indent = INDENT.min(self.width / 4);
            let below = wrapped_text(&format!("{mistake}{confidence}"), self.width - indent);
            let below = below.iter().filter(|part| !part.is_empty());
            let below = below.map(|part| format!("\n{}{part}", " ".repeat(indent)));
            return format!("{}{}", head.trim_end(), below.collect::<String>());
        };
        let column = self.file + VERDICT + self.place + 3 * GAP;
        let mut parts = wrapped_text(&mistake, room).into_iter();
        let first = padded(&parts.next().unwrap_or_default(), room);
        let mut text = format!("{head}{first}{gap}{confidence}").trim_end().to_string();
        for part in parts {
            text.push_str(&format!("\n{}{part}", " ".repeat(column)));
        }
        text
    }
}

/// The width of the longest address of a computed cell: that of a last row and a last column, with the longest label.
fn longest_address(right: &Graph, charset: Charset) -> usize {
    let of_node = |(node, value): (_, &crate::graph::Node)| {
        let (rows, cols) = (value.shape().rows, value.shape().cols);
        let addresses =
            (0..rows).map(move |row| address_of(right, CellId { node, row, col: cols.saturating_sub(1) }));
        addresses.map(|address| charset.spelled(&address).width()).max().unwrap_or(0)
    };
    right.nodes().filter(|(_, node)| !node.op.is_given()).map(of_node).max().unwrap_or(0)
}

/// A text in lines of at most this many columns, words left whole.
pub fn wrapped_text(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1))
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

/// A text in exactly this many columns.
fn padded(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let space = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(space))
}

/// A text in at most this many columns; two dots stand for what is left out.
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
