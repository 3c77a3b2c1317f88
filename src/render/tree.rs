//! Explanations as indented trees of lines, for a terminal and for blocks of code.

use std::collections::HashSet;

use colored::Colorize;
use textwrap::core::Word;

use crate::explain::{Branch, Explanation, stored_weight};
use crate::graph::CellId;
use crate::text::ScreenWidth;

use super::explanation::{Derivation, ExplanationWriter, Operand, PlainTerms};
use super::table::{Block, Level};
use super::{Charset, Style, digits};

/// Formulas are not made wider, so that they are read at a glance.
const WIDEST: usize = 110;
/// The columns of a tree that stands next to another.
const HALF: usize = 44;
/// Between two trees next to each other.
const GAP: usize = 4;
/// No line is broken to less than this.
const LEAST: usize = 16;
/// A longer symbol stands on a line of its own before its formula.
const SYMBOL: usize = 18;
/// An origin with less room than this goes on a line of its own.
const ORIGIN: usize = 24;

/// The looks of a line.
#[derive(Clone, Copy, PartialEq)]
enum Ink {
    Plain,
    Bold,
    Dim,
}

/// A line of a tree: its branches, and its text.
struct TreeLine {
    before: String,
    text: String,
    ink: Ink,
}

/// All explanations, as wide as the room.
pub(super) fn blocks(
    writer: &ExplanationWriter<'_>,
    room: usize,
    charset: Charset,
    colour: bool,
) -> Vec<Block> {
    let half = room.saturating_sub(GAP) / 2;
    let beside = writer.side_by_side && writer.of.len() == 2 && half >= HALF;
    let width = if beside { half } else { room }.min(WIDEST);
    let mut teller = TreeWriter { writer, charset, seen: HashSet::new() };
    let blocks = writer.of.iter().map(|one| {
        let mut lines = Vec::new();
        if !one.caption.is_empty() {
            lines.extend(wrapped(&teller.spelled(&one.caption), "", "", width, Ink::Bold));
        }
        lines.extend(teller.root(&one.explanation, width));
        block(lines, colour)
    });
    let blocks: Vec<Block> = blocks.collect();
    if beside { vec![Block::beside(&blocks, GAP, Level::Tops)] } else { blocks }
}

fn block(lines: Vec<TreeLine>, colour: bool) -> Block {
    let width_of = |line: &TreeLine| line.before.width() + line.text.width();
    let width = lines.iter().map(width_of).max().unwrap_or(0);
    let line = |line: TreeLine| {
        let pad = " ".repeat(width - width_of(&line));
        let text = match line.ink {
            Ink::Bold if colour => line.text.bold().to_string(),
            Ink::Dim if colour => line.text.dimmed().to_string(),
            _ => line.text,
        };
        format!("{}{text}{pad}", line.before)
    };
    Block { lines: lines.into_iter().map(line).collect(), width }
}

struct TreeWriter<'a> {
    writer: &'a ExplanationWriter<'a>,
    charset: Charset,
    seen: HashSet<CellId>,
}

impl TreeWriter<'_> {
    fn spelled(&self, text: &str) -> String {
        self.charset.spelled(text).into_owned()
    }

    /// A cell that was asked for: its address, its formula, its operands.
    fn root(&mut self, explanation: &Explanation, width: usize) -> Vec<TreeLine> {
        self.seen.insert(explanation.cell);
        let head = format!("{}   {}", explanation.address, self.writer.equation(explanation.cell));
        let mut lines = wrapped(&self.spelled(&head), "", "   ", width, Ink::Bold);
        lines.push(empty(""));
        let symbol = self.writer.symbols.cell(explanation.cell);
        lines.extend(self.body(explanation, &symbol, "   ", width));
        if !explanation.operands.is_empty() {
            lines.push(empty(""));
            lines.extend(self.operands(&explanation.operands, "   ", width));
        }
        lines
    }

    /// The formula, in symbols and worked out; `symbol` is written before the first sign of equality.
    fn body(&self, explanation: &Explanation, symbol: &str, before: &str, width: usize) -> Vec<TreeLine> {
        let symbols = PlainTerms::symbols(self.writer);
        let numbers = |digits| PlainTerms::numbers(self.writer, digits);
        let Derivation { lines: texts, with, notes } = self.writer.worked(explanation, &symbols, numbers);
        let symbol = self.spelled(symbol);
        if symbol.width() > SYMBOL {
            let mut lines = vec![TreeLine { before: before.to_string(), text: symbol, ink: Ink::Plain }];
            lines.extend(self.body(explanation, "", &format!("{before}  "), width));
            return lines;
        }
        let further = " ".repeat(symbol.width());
        let mut lines = Vec::new();
        for (i, (sign, text)) in texts.iter().enumerate() {
            let start = if i == 0 { &symbol } else { &further };
            let space = if symbol.is_empty() { "" } else { " " };
            let sign = self.spelled(sign.text());
            let (first, rest) = (format!("{start}{space}{sign} "), format!("{further}{space}    "));
            let ink = if i + 1 == texts.len() { Ink::Bold } else { Ink::Plain };
            lines.extend(self.text(&breakable(text), before, &first, &rest, width, ink));
        }
        if let Some((name, is, value)) = with {
            let text = breakable(&format!("with {name} = {is} =\u{a0}{value}"));
            lines.extend(self.text(&text, before, "", "     ", width, Ink::Plain));
        }
        for note in notes {
            lines.extend(self.text(&note, before, "", "  ", width, Ink::Dim));
        }
        lines
    }

    fn text(
        &self,
        text: &str,
        before: &str,
        first: &str,
        rest: &str,
        width: usize,
        ink: Ink,
    ) -> Vec<TreeLine> {
        let room = width.saturating_sub(before.width());
        let mut lines = wrapped(&self.spelled(text), first, rest, room, ink);
        for line in &mut lines {
            line.before.insert_str(0, before);
        }
        lines
    }

    /// The operands, a branch each: symbol, address, value, origin, in columns.
    fn operands(&mut self, branches: &[Branch], before: &str, width: usize) -> Vec<TreeLine> {
        let rows: Vec<Operand> = branches.iter().map(|branch| self.writer.operand(branch)).collect();
        let heads = self.heads(&rows);
        let (branch, last, bar) = (self.spelled("├─ "), self.spelled("└─ "), self.spelled("│"));
        let mut lines: Vec<TreeLine> = Vec::new();
        for (i, (operand, head)) in branches.iter().zip(heads).enumerate() {
            let is_last = i + 1 == branches.len();
            let further = format!("{before}{}", if is_last { "   ".into() } else { format!("{bar}  ") });
            let start = format!("{before}{}", if is_last { &last } else { &branch });
            lines.extend(self.headline(operand, &rows[i].origin, head, &start, &further, width));
            let Branch::Explained(explanation) = operand else { continue };
            self.seen.insert(explanation.cell);
            if self.writer.is_leaf(explanation.cell) {
                continue;
            }
            lines.extend(self.body(explanation, "", &format!("{further}  "), width));
            if !explanation.operands.is_empty() {
                lines.push(empty(&further));
                lines.extend(self.operands(&explanation.operands, &further, width));
            }
            if !is_last {
                lines.push(empty(&further));
            }
        }
        lines
    }

    /// Symbol, address and value of each operand, in columns.
    fn heads(&self, rows: &[Operand]) -> Vec<String> {
        let column = |text: &dyn Fn(&Operand) -> String| {
            Block::plain(rows.iter().map(|row| self.spelled(&text(row))).collect()).lines
        };
        let symbols = column(&|row| self.writer.symbols.cell(row.cell));
        let addresses = column(&|row| row.address.clone());
        let values = digits::aligned(rows.iter().map(|row| self.spelled(&row.value)).collect());
        let head = |((symbol, address), value)| format!("{symbol}  {address}  {value}");
        symbols.into_iter().zip(addresses).zip(values).map(head).collect()
    }

    /// The line that an operand begins with; an origin without room goes below it.
    fn headline(
        &self,
        operand: &Branch,
        origin: &str,
        head: String,
        start: &str,
        further: &str,
        width: usize,
    ) -> Vec<TreeLine> {
        let origin = match operand {
            Branch::Repeated(cell) if !self.writer.is_leaf(*cell) => {
                let place = if self.seen.contains(cell) { "above" } else { "below" };
                format!("{origin}, {place}")
            }
            _ => origin.to_string(),
        };
        let is_weight = stored_weight(self.writer.graph(), operand.cell()).is_some();
        let separator = if is_weight { name_words } else { factor_words };
        let (origin, indent) = (self.spelled(&origin), head.width() + 2);
        let room = width.saturating_sub(start.width() + indent);
        if room < ORIGIN.min(origin.width()) {
            let compact = head.split_whitespace().collect::<Vec<_>>().join("  ");
            let head = if start.width() + head.width() <= width { head.trim_end() } else { &compact };
            let mut lines = wrapped(head, start, &format!("{further}    "), width, Ink::Plain);
            let indent = format!("{further}    ");
            lines.extend(wrapped_at(separator, &origin, (&indent, &indent), width, Ink::Dim));
            return lines;
        }
        let mut lines = wrapped_at(separator, &origin, ("", ""), room, Ink::Dim);
        for (i, line) in lines.iter_mut().enumerate() {
            line.before = match i {
                0 => format!("{start}{head}  "),
                _ => format!("{further}{}", " ".repeat(indent)),
            };
        }
        lines
    }
}

fn empty(before: &str) -> TreeLine {
    TreeLine { before: before.trim_end().to_string(), text: String::new(), ink: Ink::Plain }
}

/// A text in lines of at most `width` columns; words are broken where one alone is wider.
fn wrapped(text: &str, first: &str, rest: &str, width: usize, ink: Ink) -> Vec<TreeLine> {
    wrapped_at(factor_words, text, (first, rest), width, ink)
}

/// Likewise, with lines broken between the words that a separator finds.
fn wrapped_at(
    separator: for<'a> fn(&'a str) -> Box<dyn Iterator<Item = Word<'a>> + 'a>,
    text: &str,
    (first, rest): (&str, &str),
    width: usize,
    ink: Ink,
) -> Vec<TreeLine> {
    let width = width.max(LEAST + first.width().max(rest.width()));
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(textwrap::WordSeparator::Custom(separator));
    let lines = textwrap::wrap(text, options);
    let line = |(i, text): (usize, &std::borrow::Cow<'_, str>)| {
        let before = if i == 0 { first } else { rest };
        let text = text.strip_prefix(before).unwrap_or(text).to_string();
        TreeLine { before: before.to_string(), text, ink }
    };
    lines.iter().enumerate().map(line).collect()
}

// Breaking sentences and formulas into lines.

/// Words in lines of this width, with something before the first line and before the others.
pub(super) fn wrapped_prose(
    style: &Style,
    width: usize,
    (first, rest): (&str, &str),
    text: &str,
) -> Vec<String> {
    let first = style.charset.spelled(first).into_owned();
    let rest = format!("{rest}{}", " ".repeat(first.width().saturating_sub(rest.width())));
    let options = textwrap::Options::new(width)
        .initial_indent(&first)
        .subsequent_indent(&rest)
        .break_words(false)
        // Names such as `no-scale` and `--only` stay whole.
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&style.charset.spelled(text), options).into_iter().map(|line| line.into_owned()).collect()
}

/// The words of a line; a product that is longer than most screens may be broken behind its sign.
pub(super) fn factor_words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    Box::new(textwrap::WordSeparator::new().find_words(line).flat_map(pieces))
}

fn pieces(word: Word<'_>) -> Vec<Word<'_>> {
    const LONG: usize = 60;
    if word.word.width() <= LONG || !word.word.contains('·') {
        return vec![word];
    }
    in_parts(word, word.word.split_inclusive('·'))
}

/// A word in parts, between which a line may be broken.
fn in_parts<'a>(word: Word<'a>, parts: impl Iterator<Item = &'a str>) -> Vec<Word<'a>> {
    let mut parts: Vec<Word<'a>> = parts.map(Word::from).collect();
    if let Some(last) = parts.last_mut() {
        last.whitespace = word.whitespace;
    }
    parts
}

/// The words of a line in which the name of a weight may be broken behind its points and before its place:
/// `transformer.h.4.attn.c_attn.weight[2, 5]`.
pub(super) fn name_words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    Box::new(textwrap::WordSeparator::new().find_words(line).flat_map(parts_of_name))
}

fn parts_of_name(word: Word<'_>) -> Vec<Word<'_>> {
    let behind_points = word.word.split_inclusive('.');
    let parts = behind_points.flat_map(|part| match part.find('[') {
        Some(place) if place > 0 => vec![&part[..place], &part[place..]],
        _ => vec![part],
    });
    in_parts(word, parts)
}

/// A formula whose spaces may be broken at before its signs and behind its commas, but not inside exp(…) and the like, nor
/// before the minus or the slash of an inner difference or quotient.
pub(super) fn breakable(formula: &str) -> String {
    let mut out = String::with_capacity(formula.len());
    let mut characters = formula.chars().peekable();
    // For every open parenthesis: true if it holds the argument of a function.
    let mut open: Vec<bool> = Vec::new();
    let mut behind_sign = false;
    while let Some(character) = characters.next() {
        match character {
            '(' => open.push(["exp", "sin", "cos", "^"].iter().any(|name| out.ends_with(name))),
            ')' => drop(open.pop()),
            _ => {}
        }
        let in_function = open.contains(&true);
        let may_break = match characters.peek() {
            _ if behind_sign || in_function => false,
            Some('−' | '/') => open.is_empty(),
            _ => true,
        };
        match character {
            ' ' if !may_break => out.push('\u{a0}'),
            other => out.push(other),
        }
        behind_sign = matches!(character, '+' | '−' | '/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_weight_is_broken_behind_points_and_before_its_place() {
        let lines = |text: &str, width| -> Vec<String> {
            let options =
                textwrap::Options::new(width).word_separator(textwrap::WordSeparator::Custom(name_words));
            textwrap::wrap(text, options).into_iter().map(String::from).collect()
        };
        let name = "transformer.h.4.attn.c_attn.weight[2,\u{a0}5]";
        assert_eq!(lines(name, 60), [name]);
        assert_eq!(lines(name, 24), ["transformer.h.4.attn.", "c_attn.weight[2,\u{a0}5]"]);
        assert_eq!(lines(name, 16), ["transformer.h.4.", "attn.c_attn.", "weight[2,\u{a0}5]"]);
        assert_eq!(lines(name, 13), ["transformer.", "h.4.attn.", "c_attn.weight", "[2,\u{a0}5]"]);
    }

    #[test]
    fn formulas_are_broken_before_outer_signs_and_behind_commas() {
        let visible = |text: &str| breakable(text).replace('\u{a0}', "_");
        assert_eq!(visible("a11·v11 + a12·v21"), "a11·v11 +_a12·v21");
        assert_eq!(
            visible("exp(a − m) / (exp(a − m) + exp(b − m))"),
            "exp(a_−_m) /_(exp(a_−_m) +_exp(b_−_m))"
        );
        assert_eq!(visible("max(a, b)"), "max(a, b)");
        assert_eq!(visible("√((a − b)·(a − b) + c)"), "√((a_−_b)·(a_−_b) +_c)");
        assert_eq!(visible("(6 more: −1) + b"), "(6 more:_−1) +_b");
    }
}
