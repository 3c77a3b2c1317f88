//! Stories as LaTeX: headings, displayed equations, matrices; needs `amsmath`.

use super::document::{Computed, Markup};
use super::explained::{Symbolic, Telling};
use super::latex_terms;
use super::latex_words::{math, number, prose};
use super::plane::Drawing;
use super::view::{HATCH, View};
use crate::demo::Table;

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
        self.paragraph(&format!(
            "\\[\n\\begin{{array}}{{l|{columns}}}\n{}\n\\end{{array}}\n\\]",
            lines.join("\n")
        ));
    }
}

impl Markup for Latex {
    fn title(&mut self, title: &str, source: Option<&str>) {
        self.paragraph(&format!("\\section*{{{}}}", prose(title)));
        if let Some(source) = source {
            self.paragraph(&format!("\\emph{{{}}}", prose(source)));
        }
    }

    fn step(&mut self, number: usize, text: &str) {
        self.paragraph(&format!("\\textbf{{{number}.}} {}", prose(text)));
    }

    fn computed(&mut self, nodes: &[Computed]) {
        for node in nodes {
            self.paragraph(&format!("\\[ {} \\]", math(&node.equation)));
            if let Some(value) = &node.value {
                self.matrix(value);
            }
        }
    }

    fn together(&mut self, equations: &[String], matrices: &[View]) {
        for equation in equations {
            self.paragraph(&format!("\\[ {} \\]", math(equation)));
        }
        for view in matrices {
            self.matrix(view);
        }
    }

    fn columns(&mut self, equations: &[String], view: &View) {
        for equation in equations {
            self.paragraph(&format!("\\[ {} \\]", math(equation)));
        }
        self.matrix(view);
    }

    fn drawing(&mut self, drawing: &Drawing) {
        let lines = drawing.lines_in_latex().join("\n");
        self.paragraph(&format!("\\begin{{verbatim}}\n{lines}\n\\end{{verbatim}}"));
    }

    fn table(&mut self, table: &Table) {
        let row = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| prose(cell)).collect();
            format!("{} \\\\", cells.join(" & "))
        };
        let mut lines = vec![format!("{} \\hline", row(&table.header))];
        lines.extend(table.rows.iter().map(row));
        let column = |j: usize| if table.numbers.contains(&j) { 'r' } else { 'l' };
        let columns: String = (0..table.header.len()).map(column).collect();
        self.paragraph(&format!("\\begin{{tabular}}{{{columns}}}\n{}\n\\end{{tabular}}", lines.join("\n")));
    }

    fn explained(&mut self, telling: &Telling<'_>) {
        for paragraph in latex_terms::explanations(telling) {
            self.paragraph(&paragraph);
        }
    }

    fn symbolic(&mut self, symbolic: &Symbolic<'_>) {
        self.paragraph(&latex_terms::symbolic(symbolic));
    }

    fn notice(&mut self, text: &str) {
        self.paragraph(&format!("\\begin{{quote}}{}\\end{{quote}}", prose(text)));
    }

    fn note(&mut self, text: &str) {
        self.paragraph(&format!("\\emph{{Note.}} {}", prose(text)));
    }

    fn pointer(&mut self, remarks: &str, command: &str) {
        self.paragraph(&format!("\\emph{{{}:}} \\texttt{{{}}}", prose(remarks), prose(command)));
    }

    fn finish(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}
