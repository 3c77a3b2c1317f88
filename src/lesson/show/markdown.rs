//! Markdown as lines of a terminal.

use crate::foreign::visible;
use crate::text::ScreenWidth;
use pulldown_cmark::{Alignment, CowStr, Event, Parser, Tag, TagEnd};

use super::grid::Grid;
use super::spans::{Ink, PROSE_WIDTH, Text, Tone};
use crate::lesson::pieces::OPTIONS;
use crate::render::Screen;

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
            Event::Text(_) | Event::Code(_) | Event::SoftBreak => writer.take(event),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. }) => {
                writer.take(event);
            }
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image) => {
                writer.take(event);
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
    table: Option<Grid>,
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
                self.raw(vec!["─".repeat(width)], Ink::of(Tone::Quiet));
            }
            _ => {}
        }
    }

    /// A name: its colour tells “a” from the word, and without colour quotation marks do. What is no word, or stands in a table,
    /// is plain.
    fn code(&mut self, code: &str) {
        let is_word = code.chars().all(|c| c.is_lowercase() || c == ' ');
        let marks =
            if self.screen.colour || !is_word || self.table.is_some() { ["", ""] } else { ["“", "”"] };
        self.text.push(marks[0], self.ink(), self.screen);
        self.text.push_bound(code, Ink { tone: Tone::Code, ..self.ink() }, self.screen);
        self.text.push(marks[1], self.ink(), self.screen);
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
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.address(dest_url),
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
                let right = alignments.iter().map(|side| *side == Alignment::Right).collect();
                self.table = Some(Grid { right, rows: Vec::new() });
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
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let width = self.screen.width.saturating_sub(self.margin_width());
                    self.raw(table.drawn(Screen { width, ..self.screen }), Ink::default());
                }
            }
            _ => {}
        }
    }

    fn address(&mut self, address: CowStr<'_>) {
        let shown = self.screen.charset.spelled(&visible(&address)).into_owned();
        self.addresses.push(shown);
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

    fn raw(&mut self, lines: Vec<String>, ink: Ink) {
        let [mut margin, rest] = self.margin();
        for line in lines {
            let line = ink.on(&self.screen.charset.spelled(&line), self.screen);
            self.lines.push(format!("{margin}{line}"));
            margin.clone_from(&rest);
        }
    }
}

#[cfg(test)]
mod tests {
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
}
