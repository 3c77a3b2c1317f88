//! Stories as LaTeX: headings, displayed equations, matrices; needs `amsmath` and `graphicx`, and says so at its top.

use super::document::{ComputedNode, Markup};
use super::explained::{ExplanationWriter, SymbolicCells};
use super::latex_escape::escaped;
use super::latex_math::{math, number};
use super::latex_terms;
use super::latex_width::{display, fitted, shown_width};
use super::latex_words::{cell, prose};
use super::plane::Drawing;
use super::view::{HATCH, View};
use crate::graph::Equation;
use crate::story::Table;

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

/// LaTeX written so far.
#[derive(Default)]
pub(super) struct Latex {
    text: String,
}

impl Latex {
    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A matrix with its labels in a row above and a column beside it.
    fn matrix(&mut self, view: &View) {
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
        self.paragraph(&display(&array, width_of(view)));
    }
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

/// The columns of a table of words: as wide as their words, or, if these do not fit the line, in proportion to them.
fn columns_of(table: &Table) -> Vec<ColumnSpec> {
    let width = |j: usize| {
        let cells = table.rows.iter().chain([&table.header]).filter_map(|row| row.get(j));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).min(60)
    };
    let widths: Vec<usize> = (0..table.header.len()).map(width).collect();
    let longest_word = |j: usize| {
        let cells = table.rows.iter().chain([&table.header]).filter_map(|row| row.get(j));
        cells.flat_map(|cell| cell.split_whitespace()).map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let is_narrow = |j: usize| widths[j] <= NARROW || table.numbers.contains(&j);
    let gaps = 2 * widths.len();
    let (mut narrow, mut wide) = (gaps, 0);
    for (j, width) in widths.iter().enumerate() {
        *if is_narrow(j) { &mut narrow } else { &mut wide } += width;
    }
    let column = |j: usize| match (is_narrow(j), narrow + wide > LINE_OF_WORDS) {
        _ if table.numbers.contains(&j) => ColumnSpec::Numbers,
        (false, true) => {
            let room = LINE_OF_WORDS.saturating_sub(narrow).max(LINE_OF_WORDS / 3);
            // A word that is wider than its column would run into the next; then the table is scaled down.
            ColumnSpec::Broken((room * widths[j]).div_ceil(wide).max(longest_word(j) + 1))
        }
        _ => ColumnSpec::Words,
    };
    (0..widths.len()).map(column).collect()
}

/// A column of a table of words.
enum ColumnSpec {
    /// At the right, on one line.
    Numbers,
    /// At the left, on one line.
    Words,
    /// At the left, broken into lines of about this many characters.
    Broken(usize),
}

impl ColumnSpec {
    /// The column's specification for `tabular`.
    fn text(&self) -> String {
        match self {
            ColumnSpec::Numbers => "r".to_string(),
            ColumnSpec::Words => "l".to_string(),
            ColumnSpec::Broken(width) => {
                format!("p{{{:.3}\\linewidth}}", *width as f64 / LINE_OF_WORDS as f64)
            }
        }
    }
}

/// The rows of a table, as many together as fit on a page.
fn pages<'a>(table: &'a Table, columns: &[ColumnSpec]) -> Vec<&'a [Vec<String>]> {
    let lines = |row: &Vec<String>| {
        let of_cell = |(cell, column): (&String, &ColumnSpec)| match column {
            ColumnSpec::Broken(width) => cell.chars().count().div_ceil(*width),
            _ => 1,
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
    fn title(&mut self, title: &str, source: Option<&str>) {
        self.paragraph(&format!("\\section*{{{}}}", prose(title)));
        if let Some(source) = source {
            self.paragraph(&format!("{{\\sloppy\\emph{{{}}}\\par}}", prose(source)));
        }
    }

    fn step(&mut self, number: usize, text: &str) {
        self.paragraph(&format!("{{\\sloppy\\textbf{{{number}.}} {}\\par}}", prose(text)));
    }

    fn computed(&mut self, nodes: &[ComputedNode]) {
        for node in nodes {
            self.paragraph(&equation(&node.equation));
            if let Some(value) = &node.value {
                self.matrix(value);
            }
        }
    }

    fn together(&mut self, equations: &[Equation], matrices: &[View]) {
        for each in equations {
            self.paragraph(&equation(each));
        }
        for view in matrices {
            self.matrix(view);
        }
    }

    fn columns(&mut self, equations: &[Equation], view: &View) {
        for each in equations {
            self.paragraph(&equation(each));
        }
        self.matrix(view);
    }

    fn drawing(&mut self, drawing: &Drawing) {
        let lines = drawing.lines_in_latex().join("\n");
        self.paragraph(&format!("{{\\footnotesize\n\\begin{{verbatim}}\n{lines}\n\\end{{verbatim}}\n}}"));
    }

    fn table(&mut self, table: &Table) {
        let row = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
            format!("{} \\\\", cells.join(" & "))
        };
        let columns = columns_of(table);
        let specification: String = columns.iter().map(ColumnSpec::text).collect();
        // A table does not break across pages, so a long one is written as several.
        for rows in pages(table, &columns) {
            let mut lines = vec![format!("{} \\hline", row(&table.header))];
            lines.extend(rows.iter().map(row));
            let tabular =
                format!("\\begin{{tabular}}{{{specification}}}\n{}\n\\end{{tabular}}", lines.join("\n"));
            self.paragraph(&fitted(&tabular));
        }
    }

    fn explained(&mut self, writer: &ExplanationWriter<'_>) {
        for paragraph in latex_terms::explanations(writer) {
            self.paragraph(&paragraph);
        }
    }

    fn symbolic(&mut self, symbolic: &SymbolicCells<'_>) {
        self.paragraph(&latex_terms::symbolic(symbolic));
    }

    fn notice(&mut self, text: &str) {
        self.paragraph(&format!("\\begin{{quote}}\\sloppy {}\\end{{quote}}", prose(text)));
    }

    fn note(&mut self, text: &str) {
        self.paragraph(&format!("{{\\sloppy\\emph{{Note.}} {}\\par}}", prose(text)));
    }

    fn pointer(&mut self, remarks: &str, command: &str) {
        self.paragraph(&format!("\\emph{{{}:}} \\texttt{{{}}}", prose(remarks), escaped(command)));
    }

    fn finish(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        format!("{}{text}", needs(&text))
    }
}
