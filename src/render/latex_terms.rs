//! Terms and explanations as LaTeX: `o_{21} = a_{21} v_{11} + …`, `\frac`, `\sqrt`, `\max`.

use super::digits;
use super::explained::{Derivation, ExplanationWriter, Sign, SymbolicCells};
use super::latex_math::{indexed, math, number};
use super::latex_width::{fitted, shown_width};
use super::latex_words::prose;
use crate::explain::{Branch, Explanation};
use crate::graph::{CellId, Function, Notation, Symbols, written};
use crate::story::Digits;

/// Terms in LaTeX.
struct Terms<'a> {
    symbols: &'a Symbols,
    /// The digits of numbers; `None` for every digit.
    digits: Option<Digits>,
    in_numbers: bool,
    /// True for the numbers of one sum, which all get the same number of decimals.
    of_sum: bool,
}

impl Notation for Terms<'_> {
    fn cell(&self, cell: CellId) -> String {
        symbol(self.symbols, cell)
    }

    fn number(&self, x: f64) -> String {
        let written = if self.of_sum { digits::of_sum } else { digits::one };
        number(&self.digits.map_or(x.to_string(), |digits| written(x, digits)).replace('−', "-"))
    }

    fn of_sum(&self, numbers: &[f64]) -> Option<Box<dyn Notation + '_>> {
        let digits = self.digits.filter(|_| self.in_numbers)?;
        let mixed = digits::are_mixed(numbers, digits);
        mixed.then(|| Box::new(Terms { of_sum: true, ..*self }) as Box<dyn Notation + '_>)
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

    /// Symbols stand next to each other; a number has a sign before it.
    fn product(&self, factors: &[String]) -> String {
        let mut out = String::new();
        for factor in factors {
            if !out.is_empty() {
                let digits = factor.trim_start_matches(['(', '-']).starts_with(|c: char| c.is_ascii_digit());
                // KaTeX counts \, as a macro, and takes a thousand of them.
                out.push_str(if self.in_numbers || digits { " \\cdot " } else { " " });
            }
            out.push_str(factor);
        }
        out
    }

    fn minus(&self) -> &'static str {
        " - "
    }

    fn fraction(&self, above: &str, below: &str) -> Option<String> {
        Some(format!("\\frac{{{above}}}{{{below}}}"))
    }

    fn function(&self, function: Function, arguments: &str) -> String {
        format!("{}\\left({arguments}\\right)", command(function))
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

/// The command for a function. LaTeX has one for the most usual functions alone.
fn command(function: Function) -> String {
    let name = function.name();
    match function {
        Function::Exp | Function::Ln | Function::Tanh | Function::Max | Function::Sin | Function::Cos => {
            format!("\\{name}")
        }
        Function::Erf | Function::Round | Function::Cut => format!("\\operatorname{{{name}}}"),
    }
}

/// A cell as a letter with indices.
fn symbol(symbols: &Symbols, cell: CellId) -> String {
    let (letter, (row, col)) = (symbols.letter(cell.node), symbols.indices(cell));
    let indices = if letter.chars().count() == 1 && row < 10 && col < 10 {
        format!("{row}{col}")
    } else {
        format!("{row},{col}")
    };
    indexed(letter, &indices)
}

/// Cells in symbols, a line of one display each.
pub(super) fn symbolic(symbolic: &SymbolicCells<'_>) -> String {
    let terms = Terms { symbols: &symbolic.symbols, digits: None, in_numbers: false, of_sum: false };
    let line = |one: &Explanation| {
        format!("{} &= {}", symbol(&symbolic.symbols, one.cell), broken(&written(&one.term, &terms)))
    };
    let lines: Vec<String> = symbolic.of.iter().map(line).collect();
    if lines.iter().flat_map(|line| rows(line)).any(is_wide) {
        lines.into_iter().map(|line| aligned(vec![line])).collect::<Vec<_>>().join("\n\n")
    } else {
        aligned(lines)
    }
}

/// A sum of many or of long terms on several lines of its display.
fn broken(text: &str) -> String {
    const TERMS_IN_A_LINE: usize = 4;
    const WIDEST_LINE: usize = 52;
    let mut out = String::new();
    let (mut width, mut terms) = (0, 0);
    for term in terms_of(text) {
        let of_term = shown_width(&term);
        if terms > 0 && (terms == TERMS_IN_A_LINE || width + of_term > WIDEST_LINE) {
            out.truncate(out.trim_end().len());
            out.push_str(" \\\\\n  &\\phantom{=} ");
            (width, terms) = (0, 0);
        }
        out.push_str(&term);
        (width, terms) = (width + of_term, terms + 1);
    }
    out
}

/// The terms of a sum, each with the sign before it.
fn terms_of(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            '+' if depth == 0 && terms.last().is_some_and(|term| term.ends_with(' ')) => {
                terms.push(String::new())
            }
            _ => {}
        }
        if let Some(term) = terms.last_mut() {
            term.push(character);
        }
    }
    terms
}

/// The sign before a line.
fn relation(sign: Sign) -> &'static str {
    match sign {
        Sign::Equal => "=",
        Sign::Rounded => "\\approx",
    }
}

/// The rows of a formula that is broken.
fn rows(line: &str) -> std::str::Split<'_, &'static str> {
    line.split(" \\\\\n")
}

/// Returns true if a row may be wider than the line of an article.
fn is_wide(row: &str) -> bool {
    shown_width(row) > 58
}

/// Lines that are aligned at their signs, in one display; a few that are wider than the line are scaled down to it.
fn aligned(lines: Vec<String>) -> String {
    const MOST_ROWS: usize = 40;
    let mut all = lines.iter().flat_map(|line| rows(line));
    if all.clone().count() <= MOST_ROWS && all.any(is_wide) {
        let lines = lines.join(" \\\\\n");
        return format!("\\[\n\\attnfit{{$\\begin{{aligned}}\n{lines}\n\\end{{aligned}}$}}\n\\]");
    }
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}", lines.join(" \\\\\n"))
}

/// A tree as paragraphs: the cell, its formula, a table of its operands; then those of them that are explained.
pub(super) fn explanations(writer: &ExplanationWriter<'_>) -> Vec<String> {
    let mut paragraphs = Vec::new();
    for one in writer.of {
        if !one.caption.is_empty() {
            paragraphs.push(format!("\\textbf{{{}}}", prose(&one.caption)));
        }
        tell(writer, &one.explanation, &mut paragraphs);
    }
    paragraphs
}

fn tell(writer: &ExplanationWriter<'_>, explanation: &Explanation, paragraphs: &mut Vec<String>) {
    paragraphs.push(format!(
        "\\textbf{{{}}}, ${}$",
        prose(&explanation.address),
        math(&writer.equation(explanation.cell).to_string())
    ));
    let terms = |digits, in_numbers| {
        let digits = Some(digits);
        Terms { symbols: &writer.symbols, digits, in_numbers, of_sum: false }
    };
    let symbols = terms(writer.digits(), false);
    let Derivation { lines: texts, with, notes } =
        writer.worked(explanation, &symbols, |digits| terms(digits, true));
    let symbol_of = symbol(&writer.symbols, explanation.cell);
    let mut lines: Vec<String> =
        texts.iter().map(|(sign, text)| format!("  &{} {}", relation(*sign), broken(text))).collect();
    lines[0] = format!("{symbol_of} {}", lines[0].trim_start());
    if let Some((name, is, value)) = with {
        lines.push(format!("\\text{{with }} {name} &= {is} = {value}"));
    }
    paragraphs.push(aligned(lines));
    paragraphs.extend(notes.iter().map(|note| format!("\\emph{{{}}}", prose(note))));
    if !explanation.operands.is_empty() {
        paragraphs.push(operands(writer, &explanation.operands));
    }
    for branch in &explanation.operands {
        if let Branch::Explained(inner) = branch
            && !writer.is_leaf(inner.cell)
        {
            tell(writer, inner, paragraphs);
        }
    }
}

fn operands(writer: &ExplanationWriter<'_>, branches: &[Branch]) -> String {
    let row = |branch: &Branch| {
        let operand = writer.operand(branch);
        let value = number(&operand.value.replace('−', "-"));
        let (symbol, origin) = (symbol(&writer.symbols, operand.cell), math(&operand.origin));
        format!("${symbol}$ & {} & ${value}$ & ${origin}$ \\\\", prose(&operand.address))
    };
    let rows: Vec<String> = branches.iter().map(row).collect();
    fitted(&format!("\\begin{{tabular}}{{llrl}}\n{}\n\\end{{tabular}}", rows.join("\n")))
}
