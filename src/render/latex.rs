//! Stories as LaTeX: headings, displayed equations, matrices; needs `amsmath` and `graphicx`, and says so at its top.

use crate::explain::{Branch, Explanation};
use crate::graph::{CellId, Equation, Notation, Symbols, written};
use crate::story::{Digits, Table};

use super::document::{Markup, Part};
use super::explanation::{Derivation, ExplanationWriter, Sign, SymbolicCells};
use super::latex_math::{escaped, indexed, is_name, math, number};
use super::style::is_in_name;
use super::view::{HATCH, View};
use super::{digits, paragraphs};

/// The characters of a table of words that fill the line of an article, about.
const LINE_OF_WORDS: usize = 66;
/// This many lines of a table fit on a page.
const LINES_OF_A_PAGE: usize = 36;
/// A column of words that is not wider than this is not broken.
const NARROW: usize = 10;

/// The command that scales a box wider than the line to the width of the line.
const FIT: &str = "\\providecommand{\\attnfit}[1]{\\resizebox\
{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{#1}}\n";

/// The packages that the text needs, as a comment.
fn needs(text: &str) -> String {
    if text.contains("\\attnfit{") {
        format!(
            "% Needs, before \\begin{{document}}: \\usepackage{{amsmath}} \\usepackage{{graphicx}}\n{FIT}\n"
        )
    } else {
        "% Needs, before \\begin{document}: \\usepackage{amsmath}\n".to_string()
    }
}

/// An equation on a line of its own.
fn equation(equation: &Equation) -> String {
    let formula = math(&equation.to_string());
    display(&formula, shown_width(&formula))
}

/// The paragraphs of LaTeX written so far.
#[derive(Default)]
pub(super) struct Latex(Vec<String>);

impl Latex {
    fn together(&mut self, equations: &[Equation], matrices: &[View]) {
        self.0.extend(equations.iter().map(equation).chain(matrices.iter().map(matrix)));
    }
}

/// A matrix with its labels in a row above and a column beside it.
fn matrix(view: &View) -> String {
    let label = |text: &String| format!("\\text{{{}}}", prose(text));
    let header: Vec<String> = view.cols.iter().map(label).collect();
    let mut lines = vec![format!("{} & {} \\\\ \\hline", math(&view.name), header.join(" & "))];
    for (i, (row, cells)) in view.rows.iter().zip(&view.cells).enumerate() {
        let note = view.notes.get(i).filter(|note| !note.is_empty());
        let note = note.map_or(String::new(), |note| format!(" & {}", label(note)));
        let cells: Vec<String> =
            cells.iter().map(|cell| number(cell.text.replace(HATCH, "").trim())).collect();
        lines.push(format!("{} & {}{note} \\\\", label(row), cells.join(" & ")));
    }
    let columns = "r".repeat(view.cols.len()) + if view.notes.is_empty() { "" } else { "l" };
    let array = format!("\\begin{{array}}{{l|{columns}}}\n{}\n\\end{{array}}", lines.join("\n"));
    display(&array, width_of(view))
}

/// The approximate width of a matrix in characters, with its labels and the space between its columns.
fn width_of(view: &View) -> usize {
    let widest = |texts: &mut dyn Iterator<Item = &str>| {
        texts.map(|text| shown_width(&number(text.trim()))).max().unwrap_or(0)
    };
    let labels = widest(&mut view.rows.iter().map(String::as_str)).max(view.name.chars().count());
    let column = |j: usize| {
        let cells = view.cells.iter().filter_map(|row| row.get(j)).map(|cell| cell.text.as_str());
        widest(&mut cells.chain([view.cols[j].as_str()])) + 2
    };
    let notes = view.notes.iter().map(|note| note.chars().count()).max().unwrap_or(0);
    labels + (0..view.cols.len()).map(column).sum::<usize>() + notes
}

/// For each column of a table of words the characters in a line, about, if its words do not fit the line, in proportion to them; `None`
/// for one that is not broken.
fn broken_columns(table: &Table) -> Vec<Option<usize>> {
    let cells = |j: usize| table.rows.iter().chain([&table.header]).filter_map(move |row| row.get(j));
    let width = |j: usize| cells(j).map(|cell| cell.chars().count()).max().unwrap_or(0).min(60);
    let widths: Vec<usize> = (0..table.header.len()).map(width).collect();
    let longest_word = |j: usize| {
        let words = cells(j).flat_map(|cell| cell.split_whitespace());
        words.map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let is_narrow = |j: usize| widths[j] <= NARROW || table.numbers.contains(&j);
    let gaps = 2 * widths.len();
    let (mut narrow, mut wide) = (gaps, 0);
    for (j, width) in widths.iter().enumerate() {
        *if is_narrow(j) { &mut narrow } else { &mut wide } += width;
    }
    let room = LINE_OF_WORDS.saturating_sub(narrow).max(LINE_OF_WORDS / 3);
    let column = |j: usize| {
        // A word that is wider than its column would run into the next; then the table is scaled down.
        let width = || (room * widths[j]).div_ceil(wide).max(longest_word(j) + 1);
        (!is_narrow(j) && narrow + wide > LINE_OF_WORDS).then(width)
    };
    (0..widths.len()).map(column).collect()
}

/// The rows of a table, as many together as fit on a page.
fn pages<'a>(table: &'a Table, columns: &[Option<usize>]) -> Vec<&'a [Vec<String>]> {
    let lines = |row: &Vec<String>| {
        let of_cell = |(cell, column): (&String, &Option<usize>)| {
            column.map_or(1, |width| cell.chars().count().div_ceil(width))
        };
        row.iter().zip(columns).map(of_cell).max().unwrap_or(1).max(1)
    };
    let (mut pages, mut start, mut height) = (Vec::new(), 0, 0);
    for (at, row) in table.rows.iter().enumerate() {
        height += lines(row);
        if height > LINES_OF_A_PAGE && at > start {
            pages.push(&table.rows[start..at]);
            (start, height) = (at, lines(row));
        }
    }
    pages.push(&table.rows[start..]);
    pages
}

impl Markup for Latex {
    fn write(&mut self, part: Part<'_>) {
        let paragraph = match part {
            Part::Title(title, source) => {
                self.0.push(format!("\\section*{{{}}}", prose(title)));
                let emphasised = |source| format!("{{\\sloppy\\emph{{{}}}\\par}}", prose(source));
                return self.0.extend(source.map(emphasised));
            }
            Part::Computed(nodes) => {
                return nodes.iter().for_each(|node| {
                    self.together(std::slice::from_ref(&node.equation), node.value.as_slice());
                });
            }
            Part::Together(equations, matrices) => return self.together(equations, matrices),
            Part::Folded(equations, _) => return self.together(equations, &[]),
            Part::Columns(equations, view) => return self.together(equations, std::slice::from_ref(view)),
            Part::Table(table) => return self.0.extend(tables(table)),
            Part::Explained(writer) => return self.0.extend(explanations(writer)),
            Part::Story | Part::Picture(_) => return,
            Part::Step(number, text) => format!("{{\\sloppy\\textbf{{{number}.}} {}\\par}}", prose(text)),
            Part::Drawing(drawing) => {
                let lines = drawing.lines_in_latex().join("\n");
                format!("{{\\footnotesize\n\\begin{{verbatim}}\n{lines}\n\\end{{verbatim}}\n}}")
            }
            Part::Symbolic(cells) => symbolic(cells),
            Part::Notice(text) => format!("\\begin{{quote}}\\sloppy {}\\end{{quote}}", prose(text)),
            Part::Note(text) => format!("{{\\sloppy\\emph{{Note.}} {}\\par}}", prose(text)),
            Part::Pointer(remarks, command) => {
                format!("\\emph{{{}:}} \\texttt{{{}}}", prose(remarks), escaped(command))
            }
        };
        self.0.push(paragraph);
    }

    fn finish(&mut self) -> String {
        let text = paragraphs(&self.0);
        format!("{}{text}", needs(&text))
    }
}

/// A table of words. A table does not break across pages, so a long one is written as several.
fn tables(table: &Table) -> Vec<String> {
    let row = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        format!("{} \\\\", cells.join(" & "))
    };
    let columns = broken_columns(table);
    let specification = columns.iter().enumerate().map(|(j, broken)| match broken {
        Some(width) => format!("p{{{:.3}\\linewidth}}", *width as f64 / LINE_OF_WORDS as f64),
        None if table.numbers.contains(&j) => "r".to_string(),
        None => "l".to_string(),
    });
    let specification: String = specification.collect();
    let tabular = |rows: &[Vec<String>]| {
        let mut lines = vec![format!("{} \\hline", row(&table.header))];
        lines.extend(rows.iter().map(row));
        fitted(&format!("\\begin{{tabular}}{{{specification}}}\n{}\n\\end{{tabular}}", lines.join("\n")))
    };
    pages(table, &columns).into_iter().map(tabular).collect()
}

// The width of formulas in LaTeX, and displays that are scaled down to the width of the line.

/// The approximate number of characters of a display that fill the line of an article.
const LINE: usize = 56;

/// A text that may be wider than the line, scaled down to it.
pub(super) fn fitted(text: &str) -> String {
    format!("\\noindent\\attnfit{{%\n{text}%\n}}")
}

/// A display; one that may be wider than the line is scaled down to it.
pub(super) fn display(formula: &str, width: usize) -> String {
    if width > LINE {
        format!("\\[\n\\attnfit{{$\\displaystyle\n{formula}\n$}}\n\\]")
    } else if formula.contains('\n') {
        format!("\\[\n{formula}\n\\]")
    } else {
        format!("\\[ {formula} \\]")
    }
}

/// The approximate width of a formula, in characters: a command counts as one, and of a fraction only the wider part.
pub(super) fn shown_width(formula: &str) -> usize {
    if let Some(at) = formula.find("\\frac{") {
        let (above, rest) = group(&formula[at + 5..]);
        let (below, rest) = group(rest);
        return shown_width(&formula[..at]) + shown_width(above).max(shown_width(below)) + shown_width(rest);
    }
    let (mut width, mut in_command) = (0, false);
    for character in formula.chars() {
        in_command = match character {
            '\\' => {
                width += 1;
                true
            }
            letter if in_command && letter.is_ascii_alphabetic() => true,
            '{' | '}' | '_' | '^' | ' ' | '&' | '\n' => false,
            _ => {
                width += 1;
                false
            }
        };
    }
    width
}

/// The content of the braces that a text begins with, and the rest of the text.
fn group(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (text.get(1..at).unwrap_or(""), text.get(at + 1..).unwrap_or(""));
        }
    }
    (text, "")
}

// Sentences and the cells of tables in LaTeX.

/// The text escaped for LaTeX, with subscripts in the names of matrices.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    let mut plain = 0;
    while let Some(character) = rest.chars().next() {
        let at = text.len() - rest.len();
        let stands_alone = !is_in_name(before) && !matches!(before, '/' | '\\' | '-' | '√');
        let length = if stands_alone { length_of_name(rest) } else { None };
        if let Some(length) = length {
            out.push_str(&escaped(&text[plain..at]));
            out.push_str(&format!("${}$", math(&rest[..length])));
            plain = at + length;
        }
        let length = length.unwrap_or(character.len_utf8());
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    out.push_str(&escaped(&text[plain..]));
    out
}

/// The length in bytes of the name with a subscript or exponent that a text begins with: all of `W_Q`, `W^V`, `V_u^(1)`.
fn length_of_name(text: &str) -> Option<usize> {
    let mut characters =
        text.char_indices().skip_while(|(at, c)| *at == 0 && c.is_ascii_alphabetic()).peekable();
    let (1, sign @ ('_' | '^')) = characters.next()? else { return None };
    let of_index = |c: char| c.is_ascii_alphanumeric() || (c == '_' && sign == '_');
    let mut end = 2 + text[2..].find(|c| !of_index(c)).unwrap_or(text.len() - 2);
    if end == 2 || text[..end].ends_with('_') {
        return None;
    }
    if let Some(exponent) = text[end..].strip_prefix("^(") {
        end += exponent.find(')').map_or(0, |length| length + 3);
    }
    // `a_b.json` is the name of a file.
    let mut behind = text[end..].chars();
    let goes_on = behind.next() == Some('.') && behind.next().is_some_and(|c| c.is_ascii_alphanumeric());
    (!goes_on).then_some(end)
}

/// The text of a cell of a table of words: a cell of names and numbers alone becomes mathematics. A line may break after a
/// comma, which it may not inside mathematics.
pub(super) fn cell(text: &str) -> String {
    let is_formula = |part: &str| {
        let mut words = part.split(|c: char| !is_in_name(c)).filter(|word| !word.is_empty());
        let has_a_name = words.clone().any(|word| word.parse::<f64>().is_err());
        has_a_name && words.all(is_name) && !matches!(part, "a" | "I") && !part.contains(['"', '“', '’'])
    };
    let parts: Vec<&str> = text.split_inclusive([',', ';']).collect();
    let is_balanced = |part: &&str| part.matches(['(', '[']).count() == part.matches([')', ']']).count();
    if !parts.iter().all(is_balanced) {
        return if is_formula(text) { format!("${}$", math(text)) } else { prose(text) };
    }
    let written = |part: &&str| {
        let (before, inner) = part.split_at(part.len() - part.trim_start().len());
        let inner = inner.trim_end_matches([',', ';']);
        let behind = &part[before.len() + inner.len()..];
        if !is_formula(inner) {
            format!("{before}{}{behind}", prose(inner))
        } else if inner.chars().all(|c| is_in_name(c) || c == ' ') {
            // Names that stand next to each other, such as W_Q W_K W_V, may go on in the next line.
            let names: Vec<String> =
                inner.split_whitespace().map(|name| format!("${}$", math(name))).collect();
            format!("{before}{}{behind}", names.join(" "))
        } else {
            format!("{before}${}${behind}", math(inner))
        }
    };
    parts.iter().map(written).collect()
}

// Terms and explanations as LaTeX: `o_{21} = a_{21} v_{11} + …`, `\frac`, `\sqrt`, `\max`.

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
        cell_symbol(self.symbols, cell)
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

    /// LaTeX has a command for the most usual functions alone.
    fn function(&self, name: &str, arguments: &str) -> String {
        let command = match name {
            "erf" | "round" | "cut" => format!("\\operatorname{{{name}}}"),
            _ => format!("\\{name}"),
        };
        format!("{command}\\left({arguments}\\right)")
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

/// A cell as a letter with indices.
fn cell_symbol(symbols: &Symbols, cell: CellId) -> String {
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
        format!("{} &= {}", cell_symbol(&symbolic.symbols, one.cell), broken(&written(&one.term, &terms)))
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
    let symbol_of = cell_symbol(&writer.symbols, explanation.cell);
    let line = |(sign, text): &(Sign, String)| {
        let sign = if *sign == Sign::Equal { "=" } else { "\\approx" };
        format!("  &{sign} {}", broken(text))
    };
    let mut lines: Vec<String> = texts.iter().map(line).collect();
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
        let (symbol, origin) = (cell_symbol(&writer.symbols, operand.cell), math(&operand.origin));
        format!("${symbol}$ & {} & ${value}$ & ${origin}$ \\\\", prose(&operand.address))
    };
    let rows: Vec<String> = branches.iter().map(row).collect();
    fitted(&format!("\\begin{{tabular}}{{llrl}}\n{}\n\\end{{tabular}}", rows.join("\n")))
}

#[cfg(test)]
mod tests {
    use crate::render::latex_math::number;

    use super::*;

    #[test]
    fn equations_keep_their_subscripts_and_their_signs() {
        assert_eq!(math("Q (4×5) = X · W_Q"), "Q (4\\times 5) = X \\cdot  W_{Q}");
        assert_eq!(math("Kᵀ"), "K^{\\top}");
        assert_eq!(math("λ_init = φ(K) · β"), "\\lambda_{\\text{init}} = \\varphi (K) \\cdot  \\beta");
        assert_eq!(math("S_scaled / √d_k"), "S_{\\text{scaled}} / \\sqrt{d_{k}}");
        assert_eq!(math("X = given by the file"), "X = \\text{given by the file}");
        assert_eq!(math("−2^−8 · 3"), "-2^{-8} \\cdot  3");
        assert_eq!(math("1 / 100^(2p/4): columns 2p"), "1 / 100^{2p/4}: \\text{ columns }2p");
        assert_eq!(number("-∞"), "-\\infty");
        assert_eq!(number("-inf"), "-\\infty");
        assert_eq!(number("8.7e-05"), "8.7 \\cdot 10^{-5}");
        assert_eq!(math("l11·x11 + l12·x21"), "l_{11}\\cdot x_{11} + l_{12}\\cdot x_{21}");
        assert_eq!(math("s_scaled[2,1] − q2[1,12]"), "s^{\\text{scaled}}_{2,1} - q^{(2)}_{1,12}");
        assert_eq!(math("X[1] and [2,3]"), "X[1] \\text{ and }[2,3]");
        assert_eq!(prose("“the token’s ‘own’ value”"), "``the token's `own' value''");
        assert_eq!(prose("1/√d_k"), "1/$\\sqrt{d_{k}}$");
        assert_eq!(prose("W_Q, W_K_gqa: K^T."), "$W_{Q}$, $W_{\\text{K\\_gqa}}$: $K^{T}$.");
        assert_eq!(prose("V_u^(1) and num_heads"), "$V_{u}^{(1)}$ and num\\_heads");
        assert_eq!(prose("a_b.json of d/a_b, x_"), "a\\_b.json of d/a\\_b, x\\_");
        assert_eq!(cell("L · G · (d × d_k)"), "$L \\cdot  G \\cdot  (d \\times  d_{k})$");
        assert_eq!(cell("value (V_d)"), "value ($V_{d}$)");
        assert_eq!(cell("X W_Q"), "$X$ $W_{Q}$");
        assert_eq!(cell("M_g, M_u; q_proj"), "$M_{g}$, $M_{u}$; $q_{\\text{proj}}$");
        assert_eq!((cell("a"), cell("96 %"), cell("H")), ("a".into(), "96 \\%".into(), "$H$".into()));
    }

    #[test]
    fn a_label_cannot_run_a_command() {
        assert_eq!(prose("\\input{x} 5% _"), "\\textbackslash{}input\\{x\\} 5\\% \\_");
    }
}
