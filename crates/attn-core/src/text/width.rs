//! The width of a text on a screen.

use unicode_width::UnicodeWidthStr;

/// Texts that a screen shows in columns. The table of characters is read here and not by each caller: this crate is optimised
/// in tests as well, and layouts ask for thousands of widths.
pub trait ScreenWidth {
    /// The number of columns of a text in one line.
    fn width(&self) -> usize;

    /// The number of columns of the widest of its lines.
    fn widest_line(&self) -> usize;
}

impl ScreenWidth for str {
    fn width(&self) -> usize {
        UnicodeWidthStr::width(self)
    }

    fn widest_line(&self) -> usize {
        self.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_character_takes_two_columns_and_of_several_lines_the_widest_counts() {
        assert_eq!(["", "cave", "洞穴", "e\u{301}", "👩‍👩‍👧"].map(ScreenWidth::width), [0, 4, 4, 1, 2]);
        assert_eq!(["", "a\n洞穴\nbat"].map(ScreenWidth::widest_line), [0, 4]);
    }
}
