//! Boxes drawn with comfy-table: the one file that uses it.

use comfy_table::{
    Attribute, Cell as TableCell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table as Grid,
};
use comfy_table::{ContentLineStyle, LineStyle, TableStyle};

use crate::render::Style;
use crate::render::block::{Block, visible};
use crate::render::heat::Shade;

/// A box with a rule under its head, and air instead of lines between the columns.
const BOX: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('╭', '─', '─', '╮'))
    .header_lines(ContentLineStyle::new('│', ' ', '│'))
    .header_separator(LineStyle::new('├', '─', '─', '┤'))
    .content_lines(ContentLineStyle::new('│', ' ', '│'))
    .bottom_border(LineStyle::new('╰', '─', '─', '╯'));

pub(super) fn new_grid(style: &Style) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(BOX).force_no_tty().set_content_arrangement(ContentArrangement::Dynamic);
    if style.colour {
        grid.enforce_styling();
    }
    grid
}

/// The width of a column: its text, and the air on both sides of it.
#[derive(Clone, Copy)]
pub(super) struct ColumnWidth {
    /// The text.
    pub text: usize,
    /// The space before it.
    pub left: usize,
    /// The space after it.
    pub right: usize,
}

/// The grid's lines, each column at its width: comfy-table decides nothing about widths itself.
pub(super) fn fixed(mut grid: Grid, widths: &[ColumnWidth]) -> Block {
    let total = widths.iter().map(|width| width.left + width.text + width.right + 1).sum::<usize>() + 1;
    let narrow = |width: usize| width.min(u16::MAX as usize) as u16;
    grid.set_width(narrow(total));
    let constraint = |width: &ColumnWidth| {
        ColumnConstraint::Absolute(comfy_table::Width::Fixed(narrow(width.left + width.text + width.right)))
    };
    grid.set_constraints(widths.iter().map(constraint));
    for (column, width) in grid.column_iter_mut().zip(widths) {
        column.set_padding((narrow(width.left), narrow(width.right)));
    }
    Block { lines: grid.lines().map(|line| bold_first(&line)).collect(), width: total }
}

pub(super) fn text(content: &str) -> TableCell {
    TableCell::new(content)
}

pub(super) fn right(content: &str) -> TableCell {
    TableCell::new(content).set_alignment(CellAlignment::Right)
}

pub(super) fn shaded(cell: TableCell, shade: Shade, style: &Style) -> TableCell {
    match shade.look(style.theme) {
        Some(look) if style.colour => {
            let cell = cell.fg(Color::AnsiValue(look.ink)).bg(Color::AnsiValue(look.ground));
            if look.bold { cell.add_attribute(Attribute::Bold) } else { cell }
        }
        _ => cell,
    }
}

/// The line with the escape for bold type before those for colours: a shaded cell is its ground, its ink and then its text.
fn bold_first(line: &str) -> String {
    let (bold, ground) = ("\x1b[1m", "\x1b[48;5;");
    let mut out = String::with_capacity(line.len());
    for piece in line.split_inclusive(bold) {
        match piece.strip_suffix(bold).and_then(|before| before.rfind(ground)) {
            Some(at) => {
                let colours = piece[at..].trim_end_matches(bold);
                out.extend([&piece[..at], bold, colours]);
            }
            None => out.push_str(piece),
        }
    }
    out
}

/// The line with a rule at each of these places, counted in columns of the screen. Escapes for colours have no width.
pub(super) fn ruled(line: &str, places: &[usize]) -> String {
    let mut places = places.iter().copied().peekable();
    let (mut out, mut copied) = (String::with_capacity(line.len() + 2 * places.len()), 0);
    let (mut in_escape, mut too_few) = (false, 0);
    for (at, character) in line.char_indices() {
        in_escape |= character == '\x1b';
        if in_escape {
            in_escape = character != 'm';
            continue;
        }
        if too_few > 0 {
            too_few -= 1;
            continue;
        }
        let Some(&place) = places.peek() else { break };
        // The width of a text is not the sum of the widths of its characters: 👩‍👩‍👧 is two columns wide.
        let missing = place.saturating_sub(visible(&line[..at]));
        if missing > 0 {
            // A character adds two columns at most, so that the next ones need not be measured.
            too_few = missing.div_ceil(2) - 1;
            continue;
        }
        out.push_str(&line[copied..at]);
        out.push(rule_of(line));
        copied = at + character.len_utf8();
        places.next();
    }
    out.push_str(&line[copied..]);
    out
}

/// The vertical rule for a line of a box.
fn rule_of(line: &str) -> char {
    match line.chars().next() {
        Some('╭') => '┬',
        Some('├') => '┼',
        Some('╰') => '┴',
        _ => '│',
    }
}
