//! The lines of a batch on the screen, each written before the next file is read.

use colored::{Color, Colorize};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::graph::Graph;
use crate::input::FolderEntry;
use crate::render::{Charset, Style};

/// What is said of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its name.
    pub file: String,
    /// `right`, `wrong` or `unusable`.
    pub verdict: &'static str,
    /// The first node that is wrong.
    pub node: String,
    /// The mistakes; of a file that is not wrong, what else there is to say.
    pub said: String,
    /// The difference that remains with the mistakes put in.
    pub remains: String,
}

/// The heads of the columns; in data the third is `first wrong`.
const HEAD: [&str; 5] = ["file", "verdict", "node", "mistake", "remains"];
/// What stands between two columns.
const GAP: usize = 2;
/// As wide as the longest word of a verdict.
const VERDICT: usize = "unusable".len();
/// As wide as a difference.
const REMAINS: usize = HEAD[4].len() + 1;
/// Names of files are cut to no less than this.
const LEAST_FILE: usize = 12;
/// The column of the mistakes holds the longest of their ids with what follows it, or they stand on lines of their own.
const LEAST_SAID: usize = 24;
/// On wide screens the differences do not move further from the mistakes than this.
const MOST_SAID: usize = 56;
/// How far lines are indented that stand under a file's.
const INDENT: usize = 4;

/// Columns under each other.
pub(super) struct Lines {
    file: usize,
    node: usize,
    /// Room for the mistakes beside the rest, where there is enough.
    said: Option<usize>,
    /// Whether the difference that remains has a column.
    remains: bool,
    width: usize,
    colour: bool,
    charset: Charset,
}

impl Lines {
    /// Columns for the files of a folder and the nodes of the right answer: names are shortened before the mistakes are.
    pub(super) fn of(folder: &[FolderEntry], right: &Graph, style: &Style) -> Lines {
        let longest =
            folder.iter().map(|entry| style.charset.spelled(&entry.name).width()).max().unwrap_or(0);
        let computed = right.nodes().filter(|(_, node)| !node.op.is_given());
        let node = computed.map(|(_, node)| node.name.width()).max().unwrap_or(0).clamp(HEAD[2].len(), 12);
        let wanted = longest.clamp(HEAD[0].len(), (style.width / 3).max(LEAST_FILE));
        let room = |file: usize, remains: usize| {
            style
                .width
                .checked_sub(file + VERDICT + node + 3 * GAP + remains)
                .filter(|&room| room >= LEAST_SAID)
        };
        let least = wanted.min(LEAST_FILE);
        let file = (least..=wanted).rev().find(|&file| room(file, GAP + REMAINS).is_some()).unwrap_or(least);
        let beside = room(file, GAP + REMAINS);
        Lines {
            file,
            node,
            said: beside.or_else(|| room(file, 0)).map(|room| room.min(MOST_SAID)),
            remains: beside.is_some(),
            width: style.width,
            colour: style.colour,
            charset: style.charset,
        }
    }

    /// The head of all lines.
    pub(super) fn head(&self) -> String {
        let [file, _, node, said, remains] = HEAD.map(String::from);
        let said = if self.said.is_some() { said } else { String::new() };
        self.written(&Line { file, verdict: HEAD[1], node, said, remains }, None)
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
        let mut head = format!("{}{gap}{word}{gap}", padded(&spelled(&line.file), self.file));
        let mut column = self.file + VERDICT + 2 * GAP;
        // Where no node is wrong, what is said begins in its column.
        let (said, remains) = (spelled(&line.said), spelled(&line.remains));
        let mut room = self.width.saturating_sub(column);
        if !line.node.is_empty() {
            head.push_str(&padded(&line.node, self.node));
            head.push_str(&gap);
            column += self.node + GAP;
            room = self.said.unwrap_or(0);
        }
        if room < LEAST_SAID {
            let indent = INDENT.min(self.width / 4);
            let below = wrapped(&said, self.width - indent);
            let below = below.iter().filter(|part| !part.is_empty());
            let below = below.map(|part| format!("\n{}{part}", " ".repeat(indent)));
            return format!("{}{}", head.trim_end(), below.collect::<String>());
        }
        let mut parts = wrapped(&said, room).into_iter();
        let first = parts.next().unwrap_or_default();
        let text = match self.remains && !remains.is_empty() {
            true => format!("{head}{}{gap}{remains:>REMAINS$}", padded(&first, room)),
            false => head + &first,
        };
        let mut text = text.trim_end().to_string();
        for part in parts {
            text.push_str(&format!("\n{}{part}", " ".repeat(column)));
        }
        text
    }
}

/// A text in lines of at most so many columns.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1))
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
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
