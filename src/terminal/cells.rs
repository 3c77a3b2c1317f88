//! A screen of cells, of which only those are written that have changed.

use std::io::{self, Write};

use unicode_segmentation::UnicodeSegmentation;

use crate::text::ScreenWidth;

/// The look of a cell. Laid over another one, it adds to it what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// The colour of the text, by its number; without one the terminal's own.
    pub ink: Option<u8>,
    /// The colour of the ground.
    pub ground: Option<u8>,
    pub bold: bool,
    pub reversed: bool,
    pub underlined: bool,
}

impl Style {
    /// The terminal's own look.
    pub const PLAIN: Style =
        Style { ink: None, ground: None, bold: false, reversed: false, underlined: false };

    /// Text in the colour of a number.
    pub const fn of(ink: u8) -> Style {
        Style { ink: Some(ink), ..Style::PLAIN }
    }

    /// This style with another one laid over it.
    pub fn with(self, over: Style) -> Style {
        Style {
            ink: over.ink.or(self.ink),
            ground: over.ground.or(self.ground),
            bold: self.bold || over.bold,
            reversed: self.reversed || over.reversed,
            underlined: self.underlined || over.underlined,
        }
    }

    /// The codes that lead from this style to the one of the next cell.
    fn codes_to(self, next: Style) -> String {
        let switches = [
            (self.reversed, next.reversed, 7, 27),
            (self.bold, next.bold, 1, 22),
            (self.underlined, next.underlined, 4, 24),
        ];
        let ends = switches.iter().filter(|(is, will_be, ..)| *is && !will_be).map(|(.., end)| end);
        let begins = switches.iter().filter(|(is, will_be, ..)| !is && *will_be).map(|(.., begin, _)| begin);
        let mut codes: String = ends.chain(begins).map(|code| format!("\x1b[{code}m")).collect();
        if (self.ink, self.ground) != (next.ink, next.ground) {
            let colour = |number: Option<u8>, plane: u8| match number {
                Some(number) => format!("{plane}8;5;{number}"),
                None => format!("{plane}9"),
            };
            codes += &format!("\x1b[{};{}m", colour(next.ink, 3), colour(next.ground, 4));
        }
        codes
    }
}

/// One place of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// What stands there; without one it is blank.
    symbol: Option<Box<str>>,
    pub style: Style,
}

impl Cell {
    /// What stands there.
    pub fn symbol(&self) -> &str {
        self.symbol.as_deref().unwrap_or(" ")
    }
}

/// A part of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

impl Rect {
    /// Whether a place is in it.
    pub fn contains(self, (x, y): (u16, u16)) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }
}

/// The most columns and rows that are drawn: each cell takes memory, and a terminal may say that it has 65,535 of both.
const MOST_SIZE: (u16, u16) = (1000, 500);

/// The cells of a screen.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    pub width: u16,
    pub height: u16,
    /// Row by row.
    pub all: Vec<Cell>,
}

impl Cells {
    /// Blank cells, as many as are drawn of a screen of this size.
    pub fn blank((width, height): (u16, u16)) -> Cells {
        let (width, height) = (width.min(MOST_SIZE.0), height.min(MOST_SIZE.1));
        Cells { width, height, all: vec![Cell::default(); usize::from(width) * usize::from(height)] }
    }

    /// Writes as much of a text as this room and the screen have columns.
    pub fn put(&mut self, (x, y): (u16, u16), text: &str, room: u16, style: Style) {
        if x >= self.width || y >= self.height {
            return;
        }
        let start = usize::from(y) * usize::from(self.width) + usize::from(x);
        let row = &mut self.all[start..start + usize::from(room.min(self.width - x))];
        let mut at = 0;
        for symbol in text.graphemes(true).filter(|symbol| !symbol.contains(char::is_control)) {
            let Some(cells) = row.get_mut(at..at + symbol.width()) else { break };
            at += cells.len();
            let Some((first, behind)) = cells.split_first_mut() else { continue };
            *first = Cell { symbol: (symbol != " ").then(|| symbol.into()), style: first.style.with(style) };
            // When a letter of two columns gives way, of the second one only what can be seen on a blank is left.
            behind.fill(Cell { symbol: None, style: Style { ink: None, bold: false, ..style } });
        }
    }
}

/// The screen of a terminal, or of a recording. It writes nothing when it is dropped: the terminal may be gone.
pub(crate) struct Display<W: Write> {
    pub out: W,
    /// What stands on the screen.
    shown: Cells,
}

impl<W: Write> Display<W> {
    /// An empty screen of this size.
    pub fn new(out: W, size: (u16, u16)) -> Display<W> {
        Display { out, shown: Cells::blank(size) }
    }

    /// Shows what is drawn on a screen of this size; the cursor stands where the drawing says, or is hidden.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(
        &mut self,
        size: (u16, u16),
        draw: impl FnOnce(&mut Cells) -> Option<(u16, u16)>,
    ) -> io::Result<()> {
        let mut next = Cells::blank(size);
        if (next.width, next.height) != (self.shown.width, self.shown.height) {
            self.clear(size)?;
        }
        let cursor = draw(&mut next);
        let cursor = cursor.map_or(HIDE.to_string(), |place| format!("{SHOW}{}", move_to(place)));
        self.out.write_all((self.changed_to(&next) + &cursor).as_bytes())?;
        self.shown = next;
        self.out.flush()
    }

    /// What writes the cells that are otherwise on the next screen.
    fn changed_to(&self, next: &Cells) -> String {
        let (mut text, mut style, mut follows) = (String::new(), Style::PLAIN, None);
        let (width, mut covered) = (usize::from(next.width), 0);
        for (at, (cell, shown)) in next.all.iter().zip(&self.shown.all).enumerate() {
            // A letter of two columns covers the cell behind it.
            let is_covered = at < covered;
            covered = covered.max(at + cell.symbol().width());
            if cell == shown || is_covered {
                continue;
            }
            let (x, y) = ((at % width) as u16, (at / width) as u16);
            if follows != Some((x, y)) {
                text += &move_to((x, y));
            }
            follows = Some((x + 1, y));
            text += &style.codes_to(cell.style);
            text += cell.symbol();
            style = cell.style;
        }
        text + RESET
    }

    /// Clears the screen, whatever stands there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn clear(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.shown = Cells::blank(size);
        self.out.write_all(CLEAR.as_bytes())
    }
}

/// What a terminal does before the first screen: another screen, without a cursor.
pub(crate) const BEGIN: &str = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l";
/// And after the last one.
pub(crate) const END: &str = "\x1b[?1049l\x1b[?25h";
const CLEAR: &str = "\x1b[2J";
const HIDE: &str = "\x1b[?25l";
const SHOW: &str = "\x1b[?25h";
/// The terminal's own colours and look.
const RESET: &str = "\x1b[39m\x1b[49m\x1b[59m\x1b[0m";

/// Writes codes to the terminal at once.
pub(super) fn write(codes: &str) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(codes.as_bytes())?;
    out.flush()
}

fn move_to((x, y): (u16, u16)) -> String {
    format!("\x1b[{};{}H", y + 1, x + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_screen_is_drawn_in_part_and_what_has_not_changed_is_not_written_again() {
        let mut out = Vec::new();
        let mut display = Display::new(&mut out, (u16::MAX, u16::MAX));
        assert_eq!((display.shown.width, display.shown.height), MOST_SIZE);
        for _ in 0..2 {
            let draw = |cells: &mut Cells| {
                cells.put((3, 4), "x", 1, Style::PLAIN);
                None
            };
            display.show((u16::MAX, u16::MAX), draw).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        assert!(text.matches('x').count() == 1 && text.len() < 100, "{text:?}");
    }

    #[test]
    fn behind_an_emoji_that_is_wide_in_some_terminals_alone_the_row_keeps_its_columns() {
        let mut display = Display::new(Vec::new(), (6, 2));
        for text in ["abcdef", "a\u{2764}\u{fe0f}b"] {
            let draw = |cells: &mut Cells| {
                cells.put((0, 1), text, 6, Style::PLAIN);
                None
            };
            display.show((6, 2), draw).unwrap();
        }
        let text = String::from_utf8(display.out).unwrap();
        assert!(text.contains("\u{2764}\u{fe0f}\x1b[2;4Hb"), "{text:?}");
    }

    #[test]
    fn a_letter_of_two_columns_is_one_cell_and_gives_way_whole() {
        let mut screen = vt100::Parser::new(2.try_into().unwrap(), 6.try_into().unwrap(), 0);
        let mut display = Display::new(Vec::new(), (6, 2));
        for (text, shown) in
            [("a洞b", "a洞b"), ("洞洞", "洞洞"), ("xyz", "xyz"), ("e\u{301}洞洞洞", "e\u{301}洞洞")]
        {
            let draw = |cells: &mut Cells| {
                cells.put((0, 1), text, 6, Style::PLAIN);
                None
            };
            display.show((6, 2), draw).unwrap();
            screen.process(&std::mem::take(&mut display.out));
            assert_eq!(screen.screen().contents().trim(), shown);
        }
    }
}
