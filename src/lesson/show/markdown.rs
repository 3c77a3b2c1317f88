//! Markdown as lines of a terminal.

use std::ops::Range;

use colored::{ColoredString, Colorize};
use pulldown_cmark::{Alignment, Event, Parser, Tag, TagEnd};
use textwrap::WordSeparator;
use textwrap::core::{Word, break_words};
use textwrap::wrap_algorithms::wrap_first_fit;

use crate::foreign::visible;
use crate::lesson::blocks::OPTIONS;
use crate::render;
use crate::render::{Format, Screen, Style};
use crate::story::Table;
use crate::text::ScreenWidth;

/// A rule between blocks is shorter than those of headings.
const RULE: usize = 20;

/// The lines of blocks of Markdown.
pub(super) fn lines(markdown: &str, screen: Screen) -> Vec<String> {
    let mut writer = LineWriter::new(screen);
    for event in Parser::new_ext(markdown, OPTIONS) {
        writer.take(event);
    }
    writer.flush();
    writer.lines
}

/// One paragraph of Markdown, without line breaks.
pub(in crate::lesson) fn inline(markdown: &str, screen: Screen) -> Text {
    let mut writer = LineWriter::new(screen);
    for event in Parser::new_ext(markdown, OPTIONS) {
        match event {
            Event::HardBreak => writer.take(Event::SoftBreak),
            Event::Text(_)
            | Event::Code(_)
            | Event::SoftBreak
            | Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image) => {
                writer.take(event)
            }
            _ => {}
        }
    }
    writer.text
}

/// The prefixes of a block's lines: a mark for the first, and an indentation for the others.
struct Margin {
    first: Option<String>,
    rest: String,
}

struct LineWriter {
    screen: Screen,
    lines: Vec<String>,
    /// The words of the block that is being read.
    text: Text,
    inks: Vec<Ink>,
    margins: Vec<Margin>,
    /// The next number of each list that is open; bullets have none.
    lists: Vec<Option<u64>>,
    addresses: Vec<String>,
    /// The table that is being read, its head among the rows.
    table: Option<Table>,
}

impl LineWriter {
    fn new(screen: Screen) -> LineWriter {
        LineWriter {
            screen,
            lines: Vec::new(),
            text: Text::default(),
            inks: vec![Ink::default()],
            margins: Vec::new(),
            lists: Vec::new(),
            addresses: Vec::new(),
            table: None,
        }
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or_default()
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            // A reference such as `&#27;` has become a character only now.
            Event::Text(text) => self.text.push(&visible(&text), self.ink(), self.screen),
            Event::Code(code) => self.code(&code),
            Event::SoftBreak => self.text.push(" ", self.ink(), self.screen),
            Event::HardBreak => self.text.push("\n", self.ink(), self.screen),
            Event::Rule => {
                self.gap();
                let width = RULE.min(self.screen.width.saturating_sub(self.margin_width()));
                self.raw(["─".repeat(width).as_str()], Ink::of(Tone::Quiet));
            }
            _ => {}
        }
    }

    /// A name: its colour tells “a” from the word, and without colour quotation marks do. What is no word, or stands in a table,
    /// is plain.
    fn code(&mut self, code: &str) {
        let is_word = code.chars().all(|c| c.is_lowercase() || c == ' ');
        let is_plain = self.screen.colour || !is_word || self.table.is_some();
        let [before, behind] = if is_plain { ["", ""] } else { ["“", "”"] };
        self.text.push(before, self.ink(), self.screen);
        self.text.push_bound(code, Ink { tone: Tone::Code, ..self.ink() }, self.screen);
        self.text.push(behind, self.ink(), self.screen);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                self.inks.push(Ink::bold());
            }
            Tag::Strong => self.inks.push(Ink { bold: true, ..self.ink() }),
            Tag::Emphasis => self.inks.push(Ink { italic: true, ..self.ink() }),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.addresses.push(self.screen.charset.spelled(&visible(&dest_url)).into_owned());
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_string(),
                };
                let rest = " ".repeat(mark.width());
                self.margins.push(Margin { first: Some(mark), rest });
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.gap();
                let bar = self.screen.charset.spelled("│ ").into_owned();
                self.margins.push(Margin { first: None, rest: bar });
            }
            Tag::Table(alignments) => {
                self.gap();
                let numbers = (0..alignments.len()).filter(|&j| alignments[j] == Alignment::Right).collect();
                self.table = Some(Table { numbers, ..Table::default() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(_) => {
                self.inks.pop();
                self.flush();
            }
            TagEnd::Strong | TagEnd::Emphasis => {
                self.inks.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                if let Some(address) = self.addresses.pop()
                    && !self.text.ends_with(&address)
                {
                    self.text.push(&format!(" ({address})"), Ink::of(Tone::Quiet), self.screen);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                self.flush();
                self.margins.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text).plain();
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.header = table.rows.pop().unwrap_or_default();
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let width = self.screen.width.saturating_sub(self.margin_width());
                    let style = Style::on(Screen { width, ..self.screen }, Format::Table);
                    let mut drawn = Vec::new();
                    // Writing to memory does not fail.
                    let _ = render::tables(&[(String::new(), table)], "lesson", &style, &mut drawn);
                    self.raw(String::from_utf8_lossy(&drawn).lines(), Ink::default());
                }
            }
            _ => {}
        }
    }

    fn margin_width(&self) -> usize {
        self.margins.iter().map(|margin| margin.rest.width()).sum()
    }

    /// The margin of the next line, and that of those below it.
    fn margin(&mut self) -> [String; 2] {
        let rest = self.margins.iter().map(|margin| margin.rest.as_str()).collect();
        let first = self.margins.iter_mut().map(|margin| margin.first.take().unwrap_or(margin.rest.clone()));
        [first.collect(), rest]
    }

    /// An empty line between blocks; within a quotation its bar goes on.
    fn gap(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let open = self.margins.iter().take_while(|margin| margin.first.is_none());
        let bar: String = open.map(|margin| margin.rest.as_str()).collect();
        self.lines.push(bar.trim_end().to_string());
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        let [first, rest] = self.margin();
        let width = self.screen.width.min(PROSE_WIDTH);
        self.lines.extend(text.wrapped(width, [&first, &rest], self.screen));
    }

    fn raw<'l>(&mut self, lines: impl IntoIterator<Item = &'l str>, ink: Ink) {
        let [mut margin, rest] = self.margin();
        for line in lines {
            let line = ink.on(&self.screen.charset.spelled(line), self.screen);
            self.lines.push(format!("{margin}{line}"));
            margin.clone_from(&rest);
        }
    }
}

// Styled text, wrapped by its visible width: colours do not influence line breaks.

/// A space that no line is broken at, until all is laid out.
const BOUND: char = '\u{a0}';
/// Sentences are no wider than this, however wide the screen is.
pub(super) const PROSE_WIDTH: usize = 90;
/// However deep a text is set in, at least this many columns are left to it.
const LEAST_ROOM: usize = 10;

/// The appearance of a text on a screen with colours; otherwise the text is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::lesson) struct Ink {
    pub bold: bool,
    pub italic: bool,
    pub tone: Tone,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::lesson) enum Tone {
    #[default]
    Plain,
    /// A name or a command within a sentence.
    Code,
    /// Less important text.
    Quiet,
    /// For the teacher.
    Note,
    /// Right answers.
    Right,
    /// Questions.
    Asked,
    /// A bar across the screen.
    Bar,
}

impl Ink {
    pub(in crate::lesson) fn bold() -> Ink {
        Ink { bold: true, ..Ink::default() }
    }

    pub(in crate::lesson) fn of(tone: Tone) -> Ink {
        Ink { tone, ..Ink::default() }
    }

    /// The text in this ink, on a screen with colours.
    pub(in crate::lesson) fn on(self, text: &str, screen: Screen) -> String {
        if !screen.colour || self == Ink::default() || text.is_empty() {
            return text.to_string();
        }
        let mut painted: ColoredString = match self.tone {
            Tone::Plain => text.normal(),
            Tone::Code => text.cyan(),
            Tone::Quiet => text.dimmed(),
            Tone::Note => text.yellow(),
            Tone::Right => text.green(),
            Tone::Asked => text.magenta(),
            Tone::Bar => text.reversed(),
        };
        if self.bold {
            painted = painted.bold();
        }
        if self.italic {
            painted = painted.italic();
        }
        painted.to_string()
    }
}

/// A text in spans of one ink each; `\n` breaks a line.
#[derive(Clone, Debug, Default)]
pub(in crate::lesson) struct Text {
    text: String,
    spans: Vec<(usize, Ink)>,
}

impl Text {
    /// A text of one ink.
    pub(in crate::lesson) fn of(text: &str, ink: Ink, screen: Screen) -> Text {
        let mut whole = Text::default();
        whole.push(text, ink, screen);
        whole
    }

    /// Adds a text, in the characters of the screen.
    pub(in crate::lesson) fn push(&mut self, text: &str, ink: Ink, screen: Screen) {
        self.text.push_str(&screen.charset.spelled(text));
        self.spans.push((self.text.len(), ink));
    }

    /// Adds a text that stays on one line where it is short enough for that.
    pub(in crate::lesson) fn push_bound(&mut self, text: &str, ink: Ink, screen: Screen) {
        if text.width() <= screen.width / 2 {
            return self.push(&text.replace(' ', &BOUND.to_string()), ink, screen);
        }
        self.push(text, ink, screen);
    }

    pub(in crate::lesson) fn extend(&mut self, other: &Text) {
        let before = self.text.len();
        self.text.push_str(&other.text);
        self.spans.extend(other.spans.iter().map(|(end, ink)| (before + end, *ink)));
    }

    pub(in crate::lesson) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether it ends in these words.
    pub(in crate::lesson) fn ends_with(&self, words: &str) -> bool {
        let same = |a: char, b: char| a == b || [a, b].iter().all(|c| [BOUND, ' '].contains(c));
        let mut text = self.text.chars().rev();
        words.chars().rev().all(|word| text.next().is_some_and(|own| same(own, word)))
    }

    /// The text without looks.
    pub(in crate::lesson) fn plain(&self) -> String {
        self.text.replace(BOUND, " ")
    }

    /// The lines, none wider than `width` with its margin, which is the first of `margins` before the first line, and the
    /// second before the others. A word that is too long for a line is cut.
    pub(in crate::lesson) fn wrapped(&self, width: usize, margins: [&str; 2], screen: Screen) -> Vec<String> {
        let room = |margin: &str| width.saturating_sub(margin.width()).max(LEAST_ROOM);
        let rooms = margins.map(room);
        let mut lines: Vec<String> = Vec::new();
        let mut start = 0;
        for paragraph in self.text.split('\n') {
            let words = WordSeparator::AsciiSpace.find_words(paragraph);
            let words = break_words(words, rooms[0].min(rooms[1]));
            let is_first = usize::from(!lines.is_empty());
            let rooms = [rooms[is_first] as f64, rooms[1] as f64];
            let mut at = start;
            for line in wrap_first_fit(&words, &rooms) {
                let length = |word: &Word<'_>| word.word.len() + word.whitespace.len();
                let trailing = line.last().map_or(0, |word| word.whitespace.len());
                let end = at + line.iter().map(length).sum::<usize>();
                let margin = margins[usize::from(!lines.is_empty())];
                let painted = self.painted(at..end - trailing, screen);
                lines.push(format!("{margin}{painted}").replace(BOUND, " ").trim_end().to_string());
                at = end;
            }
            start += paragraph.len() + 1;
        }
        lines
    }

    fn painted(&self, at: Range<usize>, screen: Screen) -> String {
        let mut painted = String::new();
        let first = self.spans.partition_point(|&(end, _)| end <= at.start);
        let mut start = at.start;
        for &(end, ink) in &self.spans[first..] {
            if start >= at.end {
                break;
            }
            let end = end.min(at.end);
            painted.push_str(&ink.on(&self.text[start..end], screen));
            start = end;
        }
        painted
    }
}

/// Groups of lines, an empty one between any two.
pub(super) fn joined(groups: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let mut lines = Vec::new();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(group);
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::render::Charset;

    use super::*;

    fn shown(markdown: &str, width: usize) -> Vec<String> {
        lines(markdown, Screen::plain(width))
    }

    #[test]
    fn lists_hang_and_nest() {
        assert_eq!(
            shown("1. one two three\n2. four\n   - five six seven\n\n   eight\n", 14),
            ["1. one two", "   three", "", "2. four", "   - five six", "     seven", "", "   eight"]
        );
        assert_eq!(shown("- a\n- b\n  - c\n- d\n", 20), ["- a", "- b", "  - c", "- d"]);
    }

    #[test]
    fn quotations_keep_their_bar_on_every_line() {
        assert_eq!(shown("> one two\n> three\n>\n> - four\n", 9), ["│ one two", "│ three", "│", "│ - four"]);
    }

    #[test]
    fn names_and_addresses_stay_and_marks_go() {
        assert_eq!(
            shown("**A** *b* `c d` [e](https://f.org) <https://g.org> h  \ni", 80),
            ["A b “c d” e (https://f.org) https://g.org h", "i"]
        );
    }

    #[test]
    fn what_references_stand_for_cannot_drive_a_terminal() {
        let text = "a&#27;[31mb &#x9b;2Jc&#8238; [d](&#27;]0;e&#7;)";
        assert_eq!(shown(text, 80), ["a\\u{1B}[31mb \\u{9B}2Jc\\u{202E} d (\\u{1B}]0;e\\u{7})"]);
    }

    #[test]
    fn tables_are_drawn_and_numbers_stand_on_the_right() {
        let lines = shown("| a | n |\n|---|--:|\n| `x` | 1 |\n| y | 12 |\n", 40);
        assert_eq!(lines[3], "│ x    1 │", "{lines:#?}");
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn one_paragraph_is_all_that_stays_of_a_remark() {
        let text = inline("see **A**,\nthen `attn demo`", Screen::plain(80));
        assert_eq!(text.plain(), "see A, then “attn demo”");
    }

    fn screen(colour: bool) -> Screen {
        Screen { colour, ..Screen::plain(40) }
    }

    #[test]
    fn a_look_that_runs_over_a_line_end_is_closed_and_opened_again() {
        colored::control::set_override(true);
        let mut text = Text::of("one ", Ink::default(), screen(true));
        text.push("two three", Ink::bold(), screen(true));
        assert_eq!(
            text.wrapped(10, ["", ""], screen(true)),
            ["one \u{1b}[1mtwo\u{1b}[0m", "\u{1b}[1mthree\u{1b}[0m"]
        );
    }

    #[test]
    fn a_long_word_is_cut_and_a_short_name_is_kept_whole() {
        let mut text = Text::of("see ", Ink::default(), screen(false));
        text.push_bound("A[bat, cave]", Ink::default(), screen(false));
        text.push(" abcdefghijklmnopqrstuvwxyz", Ink::default(), screen(false));
        assert_eq!(
            text.wrapped(14, ["- ", "  "], screen(false)),
            ["- see", "  A[bat, cave]", "  abcdefghijkl", "  mnopqrstuvwx", "  yz"]
        );
    }

    #[test]
    fn characters_beyond_ascii_are_spelled_before_lines_are_measured() {
        let ascii = Screen { charset: Charset::Ascii, ..screen(false) };
        let text = Text::of("a ≤ b ≤ c ≤ d", Ink::default(), ascii);
        assert_eq!(text.wrapped(10, ["", ""], ascii), ["a <= b <=", "c <= d"]);
    }
}
