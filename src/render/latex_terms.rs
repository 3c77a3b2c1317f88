//! Terms and explanations as LaTeX: `o_{21} = a_{21} v_{11} + …`, `\frac`, `\sqrt`, `\max`.

use super::digits;
use super::explained::{Sign, Symbolic, Telling, Worked};
use super::latex_words::{math, number, prose};
use crate::demo::Digits;
use crate::explain::{Branch, Explanation};
use crate::graph::{CellId, Notation, Symbols, written};

/// Terms in LaTeX.
struct Terms<'a> {
    symbols: &'a Symbols,
    /// How numbers are written; `None` for every digit.
    digits: Option<Digits>,
    in_numbers: bool,
}

impl Notation for Terms<'_> {
    fn cell(&self, cell: CellId) -> String {
        symbol(self.symbols, cell)
    }

    fn number(&self, x: f64) -> String {
        number(&self.digits.map_or(x.to_string(), |digits| digits::one(x, digits)).replace('−', "-"))
    }

    fn constant(&self, x: f64) -> String {
        if self.in_numbers { self.number(x) } else { number(&x.to_string()) }
    }

    fn rest(&self, count: usize, sum: Option<f64>) -> String {
        match sum.filter(|_| self.in_numbers) {
            Some(sum) => format!("\\underbrace{{\\cdots}}_{{{count}\\text{{ more: }}{}}}", self.number(sum)),
            None => format!("\\underbrace{{\\cdots}}_{{{count}\\text{{ more}}}}"),
        }
    }

    fn times(&self) -> &'static str {
        if self.in_numbers { " \\cdot " } else { " \\, " }
    }

    fn minus(&self) -> &'static str {
        " - "
    }

    fn fraction(&self, above: &str, below: &str) -> Option<String> {
        Some(format!("\\frac{{{above}}}{{{below}}}"))
    }

    fn function(&self, name: &'static str, arguments: &str) -> String {
        let name = match name {
            "round" => "\\operatorname{round}".to_string(),
            known => format!("\\{known}"),
        };
        format!("{name}\\left({arguments}\\right)")
    }

    fn power(&self, base: &str, exponent: &str) -> String {
        format!("{base}^{{{exponent}}}")
    }

    fn root(&self, radicand: &str) -> String {
        format!("\\sqrt{{{radicand}}}")
    }

    fn size(&self, term: &str) -> String {
        format!("\\left|{term}\\right|")
    }

    fn with(&self, within: &str, name: &str, is: &str) -> String {
        format!("{within}, \\quad {name} = {is}")
    }
}

/// `q_{12}`; a head or a suffix stands above: `q^{(1)}_{2,11}`, `s^{\text{scaled}}_{1,2}`.
fn symbol(symbols: &Symbols, cell: CellId) -> String {
    let (letter, (row, col)) = (symbols.letter(cell.node), symbols.indices(cell));
    let indices = match letter.chars().count() == 1 && row < 10 && col < 10 {
        true => format!("{row}{col}"),
        false => format!("{row},{col}"),
    };
    let named = |name: &str| match name.chars().count() {
        1 => name.to_string(),
        _ => format!("\\mathrm{{{}}}", prose(name)),
    };
    let head = letter.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &letter[head.len()..];
    match letter.split_once('_') {
        Some((name, suffix)) if !name.is_empty() => {
            format!("{}^{{\\text{{{}}}}}_{{{indices}}}", named(name), prose(suffix))
        }
        _ if !head.is_empty() && !number.is_empty() => {
            format!("{}^{{({number})}}_{{{indices}}}", named(head))
        }
        _ => format!("{}_{{{indices}}}", named(letter)),
    }
}

/// Cells in symbols, a line of one display each.
pub(super) fn symbolic(symbolic: &Symbolic<'_>) -> String {
    let terms = Terms { symbols: &symbolic.symbols, digits: None, in_numbers: false };
    let line = |one: &Explanation| {
        format!("{} &= {}", symbol(&symbolic.symbols, one.cell), broken(&written(&one.term, &terms)))
    };
    aligned(symbolic.of.iter().map(line).collect())
}

/// A sum of many terms on several lines of its display.
fn broken(text: &str) -> String {
    const IN_A_LINE: usize = 4;
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut signs) = (0_usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            '+' if depth == 0 && text[..at].ends_with(' ') => signs += 1,
            _ => {}
        }
        if character == '+' && depth == 0 && signs == IN_A_LINE {
            signs = 0;
            out.truncate(out.trim_end().len());
            out.push_str(" \\\\\n  &\\quad ");
        }
        out.push(character);
    }
    out
}

/// The sign before a line.
fn relation(sign: Sign) -> &'static str {
    match sign {
        Sign::Equal => "=",
        Sign::Rounded => "\\approx",
    }
}

fn aligned(lines: Vec<String>) -> String {
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}", lines.join(" \\\\\n"))
}

/// A tree as paragraphs: the cell, its formula, a table of its operands; then those of them that are explained.
pub(super) fn explanations(telling: &Telling<'_>) -> Vec<String> {
    let mut paragraphs = Vec::new();
    for one in telling.of {
        if !one.caption.is_empty() {
            paragraphs.push(format!("\\textbf{{{}}}", prose(&one.caption)));
        }
        tell(telling, &one.explanation, &mut paragraphs);
    }
    paragraphs
}

fn tell(telling: &Telling<'_>, explanation: &Explanation, paragraphs: &mut Vec<String>) {
    paragraphs.push(format!(
        "\\textbf{{{}}}, ${}$",
        prose(&explanation.address),
        math(&telling.equation(explanation.cell))
    ));
    let terms = |digits, in_numbers| Terms { symbols: &telling.symbols, digits: Some(digits), in_numbers };
    let symbols = terms(telling.digits(), false);
    let Worked { lines: texts, with, notes } =
        telling.worked(explanation, &symbols, |digits| terms(digits, true));
    let symbol_of = symbol(&telling.symbols, explanation.cell);
    let mut lines: Vec<String> =
        texts.iter().map(|(sign, text)| format!("  &{} {}", relation(*sign), broken(text))).collect();
    lines[0] = format!("{symbol_of} {}", lines[0].trim_start());
    if let Some((name, is, value)) = with {
        lines.push(format!("\\text{{with }} {name} &= {is} = {value}"));
    }
    paragraphs.push(aligned(lines));
    paragraphs.extend(notes.iter().map(|note| format!("\\emph{{{}}}", prose(note))));
    if !explanation.operands.is_empty() {
        paragraphs.push(operands(telling, &explanation.operands));
    }
    for branch in &explanation.operands {
        if let Branch::Explained(inner) = branch
            && !telling.is_leaf(inner.cell)
        {
            tell(telling, inner, paragraphs);
        }
    }
}

fn operands(telling: &Telling<'_>, branches: &[Branch]) -> String {
    let row = |branch: &Branch| {
        let operand = telling.operand(branch);
        let value = number(&operand.value.replace('−', "-"));
        let (symbol, origin) = (symbol(&telling.symbols, operand.cell), math(&operand.origin));
        format!("${symbol}$ & {} & ${value}$ & ${origin}$ \\\\", prose(&operand.address))
    };
    let rows: Vec<String> = branches.iter().map(row).collect();
    format!("\\begin{{tabular}}{{llrl}}\n{}\n\\end{{tabular}}", rows.join("\n"))
}
