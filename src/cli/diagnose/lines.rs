//! The rows of a batch on the screen, each written before the next file is read.

use colored::{Color, Colorize};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::foreign::visible;
use crate::graph::{CellId, Graph, address_of};
use crate::input::FolderEntry;
use crate::render::{Charset, Style};

/// What is said of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its name.
    pub file: String,
    /// `right`, `close`, `wrong`, `unusable` or `ignored`.
    pub verdict: &'static str,
    /// The first cell that is wrong, or the node.
    pub place: String,
    /// The mistakes, or what else there is to say.
    pub mistake: String,
    /// How sure that is.
    pub sure: String,
}

/// The heads of the columns.
const HEAD: [&str; 5] = ["file", "result", "where", "mistake", "how sure"];
/// What stands between two columns.
const GAP: usize = 2;
/// As wide as the longest word of a result.
const VERDICT: usize = "unusable".len();
/// As wide as the longest word on how sure a mistake is.
const SURE: usize = "to all digits".len();
/// Names of files are cut to no less than this.
const LEAST_FILE: usize = 12;
/// Addresses are cut to this, and to the less where there is no room.
const MOST_PLACE: usize = 16;
const LEAST_PLACE: usize = 8;
/// The column of the mistakes holds the longest of their ids with what follows it, or they stand on lines of their own.
const LEAST_MISTAKE: usize = 24;
/// On wide screens the last column does not move further from the mistakes than this.
const MOST_MISTAKE: usize = 56;
/// How far lines are indented that stand under a file's.
const INDENT: usize = 4;

/// Columns under each other.
pub(super) struct Lines {
    file: usize,
    place: usize,
    /// Room for the mistakes next to the rest, where there is enough.
    mistake: Option<usize>,
    width: usize,
    colour: bool,
    charset: Charset,
}

impl Lines {
    /// Columns for the files of a folder and the nodes of the right answer: names are shortened before the mistakes are.
    pub(super) fn of(folder: &[FolderEntry], right: &Graph, style: &Style) -> Lines {
        let names = folder.iter().filter(|entry| entry.is_readable());
        let longest =
            names.map(|entry| style.charset.spelled(&visible(&entry.name)).width()).max().unwrap_or(0);
        let longest_place = longest_address(right, style.charset).clamp(HEAD[2].len(), MOST_PLACE);
        let wanted = longest.clamp(HEAD[0].len(), (style.width / 3).max(LEAST_FILE));
        let least = wanted.min(LEAST_FILE);
        let room = |file: usize, place: usize| {
            let others = file + VERDICT + place + SURE + 4 * GAP;
            style.width.checked_sub(others).filter(|&room| room >= LEAST_MISTAKE)
        };
        let files = (least..=wanted).rev().map(|file| (file, longest_place));
        let places = (LEAST_PLACE.min(longest_place)..longest_place).rev().map(|place| (least, place));
        let fitting = files.chain(places).find(|&(file, place)| room(file, place).is_some());
        let (file, place) = fitting.unwrap_or((least, longest_place));
        Lines {
            file,
            place,
            mistake: room(file, place).map(|room| room.min(MOST_MISTAKE)),
            width: style.width,
            colour: style.colour,
            charset: style.charset,
        }
    }

    /// The head of all rows.
    pub(super) fn head(&self) -> String {
        let [file, _, place, mistake, sure] = HEAD.map(String::from);
        let (mistake, sure) = if self.mistake.is_some() { (mistake, sure) } else { Default::default() };
        self.written(&Line { file, verdict: HEAD[1], place, mistake, sure }, None)
    }

    /// What is written of one file: one line, and more where the mistakes are too long for one.
    pub(super) fn line(&self, line: &Line) -> String {
        let colour = match line.verdict {
            "right" => Color::Green,
            "wrong" => Color::Red,
            _ => Color::Yellow,
        };
        self.written(line, Some(colour))
    }

    fn written(&self, line: &Line, colour: Option<Color>) -> String {
        let spelled = |cell: &str| self.charset.spelled(cell).into_owned();
        let word = padded(line.verdict, VERDICT);
        let word = match colour {
            Some(colour) if self.colour => word.color(colour).to_string(),
            _ => word,
        };
        let gap = " ".repeat(GAP);
        let [file, place] =
            [padded(&spelled(&visible(&line.file)), self.file), padded(&spelled(&line.place), self.place)];
        let head = format!("{file}{gap}{word}{gap}{place}{gap}");
        let (mistake, sure) = (spelled(&line.mistake), spelled(&line.sure));
        let Some(room) = self.mistake else {
            let sure = if mistake.is_empty() || sure.is_empty() { sure } else { format!(" ({sure})") };
            let indent = INDENT.min(self.width / 4);
            let below = wrapped(&format!("{mistake}{sure}"), self.width - indent);
            let below = below.iter().filter(|part| !part.is_empty());
            let below = below.map(|part| format!("\n{}{part}", " ".repeat(indent)));
            return format!("{}{}", head.trim_end(), below.collect::<String>());
        };
        let column = self.file + VERDICT + self.place + 3 * GAP;
        let mut parts = wrapped(&mistake, room).into_iter();
        let first = padded(&parts.next().unwrap_or_default(), room);
        let mut text = format!("{head}{first}{gap}{sure}").trim_end().to_string();
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

/// A text in lines of at most this many columns.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
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
