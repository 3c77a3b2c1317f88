//! Explanations as indented trees of lines, for a terminal and for blocks of code.

use std::borrow::Cow;
use std::collections::HashSet;

use colored::Colorize;
use textwrap::core::Word;

use crate::explain::{Branch, Explanation, stored_weight};
use crate::graph::CellId;
use crate::text::ScreenWidth;

use super::explanation::{Derivation, ExplanationWriter, Operand};
use super::table::{Block, Level, visible_width};
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
    let mut teller = TreeWriter { writer, charset, colour, seen: HashSet::new() };
    let blocks = writer.of.iter().map(|one| {
        let caption = Some(&one.caption).filter(|caption| !caption.is_empty());
        let mut lines = caption.map_or(Vec::new(), |text| teller.wrapped(text, ("", ""), width, Ink::Bold));
        lines.extend(teller.root(&one.explanation, width));
        let widest = lines.iter().map(|line| visible_width(line)).max().unwrap_or(0);
        Block::coloured(lines, widest)
    });
    let blocks: Vec<Block> = blocks.collect();
    if beside { vec![Block::beside(&blocks, GAP, Level::Tops)] } else { blocks }
}

struct TreeWriter<'a> {
    writer: &'a ExplanationWriter<'a>,
    charset: Charset,
    colour: bool,
    seen: HashSet<CellId>,
}

impl TreeWriter<'_> {
    fn spelled(&self, text: &str) -> String {
        self.charset.spelled(text).into_owned()
    }

    /// A text in lines of this width, with something before the first line and before the others.
    fn wrapped(&self, text: &str, starts: (&str, &str), width: usize, ink: Ink) -> Vec<String> {
        self.wrapped_at(factor_words, &self.spelled(text), starts, width, ink)
    }

    /// A cell that was asked for: its address, its formula, its operands.
    fn root(&mut self, explanation: &Explanation, width: usize) -> Vec<String> {
        self.seen.insert(explanation.cell);
        let head = format!("{}   {}", explanation.address, self.writer.equation(explanation.cell));
        let mut lines = self.wrapped(&head, ("", "   "), width, Ink::Bold);
        lines.push(String::new());
        let symbol = self.spelled(&self.writer.symbols.cell(explanation.cell));
        let inside = self.body_and_operands(explanation, &symbol, width.saturating_sub(3));
        lines.extend(hung("   ", "   ", inside));
        lines
    }

    /// The formula, behind an indent where it has no symbol before it, and below it the operands.
    fn body_and_operands(&mut self, explanation: &Explanation, symbol: &str, width: usize) -> Vec<String> {
        let indent = if symbol.is_empty() { "  " } else { "" };
        let mut lines =
            hung(indent, indent, self.body(explanation, symbol, width.saturating_sub(indent.len())));
        if !explanation.operands.is_empty() {
            lines.push(String::new());
            lines.extend(self.operands(&explanation.operands, width));
        }
        lines
    }

    /// The formula, in symbols and worked out; `symbol` is written before the first sign of equality.
    fn body(&self, explanation: &Explanation, symbol: &str, width: usize) -> Vec<String> {
        if symbol.width() > SYMBOL {
            let line = symbol.to_string();
            let formula = hung("  ", "  ", self.body(explanation, "", width.saturating_sub(2)));
            return std::iter::once(line).chain(formula).collect();
        }
        let Derivation { lines: texts, with, notes } = self.writer.worked_in_plain(explanation);
        let further = " ".repeat(symbol.width());
        let space = if symbol.is_empty() { "" } else { " " };
        let mut lines = Vec::new();
        for (i, (sign, text)) in texts.iter().enumerate() {
            let start = if i == 0 { symbol } else { &further };
            let sign = self.spelled(sign.text());
            let (first, rest) = (format!("{start}{space}{sign} "), format!("{further}{space}    "));
            let ink = if i + 1 == texts.len() { Ink::Bold } else { Ink::Plain };
            lines.extend(self.wrapped(&breakable(text), (&first, &rest), width, ink));
        }
        if let Some((name, is, value)) = with {
            let text = breakable(&format!("with {name} = {is} =\u{a0}{value}"));
            lines.extend(self.wrapped(&text, ("", "     "), width, Ink::Plain));
        }
        lines.extend(notes.iter().flat_map(|note| self.wrapped(note, ("", "  "), width, Ink::Dim)));
        lines
    }

    /// The operands, a branch each: symbol, address, value, origin, in columns.
    fn operands(&mut self, branches: &[Branch], width: usize) -> Vec<String> {
        let rows: Vec<Operand> = branches.iter().map(|branch| self.writer.operand(branch)).collect();
        let heads = self.heads(&rows);
        let width = width.saturating_sub(3);
        let mut lines: Vec<String> = Vec::new();
        for (i, (operand, head)) in branches.iter().zip(heads).enumerate() {
            let is_last = i + 1 == branches.len();
            let mut own = self.headline(operand, &rows[i].origin, &head, width);
            if let Branch::Explained(explanation) = operand {
                self.seen.insert(explanation.cell);
                if !self.writer.is_leaf(explanation.cell) {
                    own.extend(self.body_and_operands(explanation, "", width));
                    own.extend((!is_last).then(String::new));
                }
            }
            let (start, further) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            lines.extend(hung(&self.spelled(start), &self.spelled(further), own));
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
    fn headline(&self, operand: &Branch, origin: &str, head: &str, width: usize) -> Vec<String> {
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
        let room = width.saturating_sub(indent);
        if room < ORIGIN.min(origin.width()) {
            let compact = head.split_whitespace().collect::<Vec<_>>().join("  ");
            let head = if head.width() <= width { head.trim_end() } else { &compact };
            let mut lines = self.wrapped(head, ("", "    "), width, Ink::Plain);
            lines.extend(self.wrapped_at(separator, &origin, ("    ", "    "), width, Ink::Dim));
            return lines;
        }
        let lines = self.wrapped_at(separator, &origin, ("", ""), room, Ink::Dim);
        hung(&format!("{head}  "), &" ".repeat(indent), lines)
    }

    /// A text in lines of at most `width` columns, broken between the words that a separator finds; a word is broken where it alone is
    /// wider.
    fn wrapped_at(
        &self,
        separator: for<'a> fn(&'a str) -> Box<dyn Iterator<Item = Word<'a>> + 'a>,
        text: &str,
        (first, rest): (&str, &str),
        width: usize,
        ink: Ink,
    ) -> Vec<String> {
        let width = width.max(LEAST + first.width().max(rest.width()));
        let options = textwrap::Options::new(width)
            .initial_indent(first)
            .subsequent_indent(rest)
            .word_separator(textwrap::WordSeparator::Custom(separator));
        let line = |(i, line): (usize, Cow<'_, str>)| {
            let before = if i == 0 { first } else { rest };
            let text = line.strip_prefix(before).unwrap_or(&line);
            match ink {
                Ink::Bold if self.colour => format!("{before}{}", text.bold()),
                Ink::Dim if self.colour => format!("{before}{}", text.dimmed()),
                _ => format!("{before}{text}"),
            }
        };
        textwrap::wrap(text, options).into_iter().enumerate().map(line).collect()
    }
}

/// The lines with something before the first one and before the others.
fn hung(first: &str, rest: &str, mut lines: Vec<String>) -> Vec<String> {
    for (i, line) in lines.iter_mut().enumerate() {
        line.insert_str(0, if i == 0 { first } else { rest });
    }
    lines
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
fn factor_words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    const LONG: usize = 60;
    Box::new(textwrap::WordSeparator::new().find_words(line).flat_map(|word| {
        if word.word.width() > LONG { in_parts(word, word.word.split_inclusive('·')) } else { vec![word] }
    }))
}

/// The words of a line in which the name of a weight may be broken behind its points and before its place:
/// `transformer.h.4.attn.c_attn.weight[2, 5]`.
fn name_words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    Box::new(textwrap::WordSeparator::new().find_words(line).flat_map(|word| {
        let parts = word.word.split_inclusive('.').flat_map(|part| match part.find('[') {
            Some(place) if place > 0 => vec![&part[..place], &part[place..]],
            _ => vec![part],
        });
        in_parts(word, parts)
    }))
}

/// A word in parts, between which a line may be broken.
fn in_parts<'a>(word: Word<'a>, parts: impl Iterator<Item = &'a str>) -> Vec<Word<'a>> {
    let mut parts: Vec<Word<'a>> = parts.map(Word::from).collect();
    if let Some(last) = parts.last_mut() {
        last.whitespace = word.whitespace;
    }
    parts
}

/// A formula whose spaces may be broken at before its signs and behind its commas, but not inside exp(…) and the like, nor
/// before the minus or the slash of an inner difference or quotient.
fn breakable(formula: &str) -> String {
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
    use crate::explain::{Depth, LongSums, explain};
    use crate::graph::{Graph, Op, Origin};
    use crate::matrix::Matrix;
    use crate::render::view::Viewer;
    use crate::render::{Format, Screen};
    use crate::story::{Digits, ExplainedCell, Story};

    use super::*;

    #[test]
    fn what_rounded_means_is_said_below_a_formula_whose_symbol_has_a_line_of_its_own() {
        let mut graph = Graph::new();
        let a = graph.given("A", Matrix::of([[1.0 / 3.0]]), Origin::Stated).unwrap();
        let b = graph.given("B", Matrix::of([[1e6 / 3.0]]), Origin::Stated).unwrap();
        let node = graph.add("a_product_of_two_numbers", Op::Product, &[a, b]).unwrap();
        let cells = [CellId { node, row: 0, col: 0 }];
        let explanation = explain(&graph, &cells, Depth::Levels(1), LongSums::Shortened).unwrap().remove(0);
        let of = [ExplainedCell { caption: String::new(), explanation }];
        let story = Story::of_graph("", graph, Digits::Places(4));
        let style = Style::on(Screen::plain(80), Format::Table);
        let viewer = Viewer { story: &story, style: &style };
        let lines =
            blocks(&ExplanationWriter::new(&viewer, &of, false), 80, Charset::Utf8, false).remove(0).lines;
        let text = lines.join("\n");
        assert!(text.contains("     ≈ 111111.1111") && text.contains("≈: rounded; the result"), "{text}");
    }

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
