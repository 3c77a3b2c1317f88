//! Styled text, wrapped by its visible width: colours do not influence line breaks.

use std::ops::Range;

use crate::text::ScreenWidth;
use colored::{ColoredString, Colorize};
use textwrap::WordSeparator;
use textwrap::core::{Word, break_words};
use textwrap::wrap_algorithms::wrap_first_fit;

use crate::render::Screen;

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
        let is_short = text.width() <= screen.width / 2;
        self.push(
            &if is_short { text.replace(' ', &BOUND.to_string()) } else { text.to_string() },
            ink,
            screen,
        );
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
    use super::*;
    use crate::render::Charset;

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
