//! Stories as LaTeX: headings, displayed equations, matrices; needs `amsmath`.

use super::document::{Computed, Markup};
use super::view::View;
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
        for (row, cells) in view.rows.iter().zip(&view.cells) {
            let cells: Vec<String> =
                cells.iter().map(|cell| number(cell.text.replace('░', "").trim())).collect();
            lines.push(format!("{} & {} \\\\", label(row), cells.join(" & ")));
        }
        let columns = "r".repeat(view.cols.len());
        self.paragraph(&format!(
            "\\[\n\\begin{{array}}{{l|{columns}}}\n{}\n\\end{{array}}\n\\]",
            lines.join("\n")
        ));
    }
}

/// A text in which nothing is taken for a command.
fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\textbackslash{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '«' => out.push_str("``"),
            '»' => out.push_str("''"),
            '−' | '∞' | '√' | '×' | '·' | '≤' | '≥' | '≠' | '→' | 'Δ' | 'Σ' | 'ᵀ' | '∘' | 'θ' | 'ε' | 'δ' =>
            {
                out.push_str(&format!("${}$", symbol(character).unwrap_or_default()));
            }
            'ⁿ' => out.push_str("$^n$"),
            '²' => out.push_str("$^2$"),
            '…' => out.push_str("\\dots{}"),
            other => out.push(other),
        }
    }
    out
}

fn symbol(character: char) -> Option<&'static str> {
    Some(match character {
        '−' => "-",
        '∞' => "\\infty",
        '√' => "\\surd",
        '×' => "\\times",
        '·' => "\\cdot",
        '∘' => "\\circ",
        '≤' => "\\le",
        '≥' => "\\ge",
        '≠' => "\\ne",
        '→' => "\\to",
        'Δ' => "\\Delta",
        'δ' => "\\delta",
        'Σ' => "\\Sigma",
        'θ' => "\\theta",
        'ε' => "\\varepsilon",
        'ᵀ' => "^{\\top}",
        '…' => "\\dots",
        _ => return None,
    })
}

/// The text of a cell: a power of ten where a number has an exponent.
fn number(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.parse::<f64>().is_ok() => {
            let exponent = exponent.parse::<i32>().unwrap_or_default();
            format!("{mantissa} \\cdot 10^{{{exponent}}}")
        }
        _ => math(text),
    }
}

/// An equation: names keep their subscripts, words become text.
fn math(equation: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for character in equation.chars() {
        if character.is_alphanumeric() && character != 'ᵀ' || character == '_' || character == '.' {
            word.push(character);
            continue;
        }
        out.push_str(&math_word(&word));
        word.clear();
        match (character, symbol(character)) {
            (_, Some(symbol)) => {
                out.push_str(symbol);
                if !symbol.ends_with(['}', '-']) {
                    out.push(' ');
                }
            }
            ('|', None) => out.push('|'),
            (' ', None) => out.push(' '),
            ('{' | '}' | '%' | '#' | '&' | '$', None) => {
                out.push('\\');
                out.push(character);
            }
            (other, None) => out.push(other),
        }
    }
    out.push_str(&math_word(&word));
    out
}

fn math_word(word: &str) -> String {
    let is_name = |text: &str| text.chars().count() == 1 || text.parse::<f64>().is_ok();
    match word.split_once('_') {
        _ if word.is_empty() => String::new(),
        Some((letter, index)) => {
            let subscript =
                if is_name(index) { index.to_string() } else { format!("\\text{{{}}}", prose(index)) };
            format!("{}_{{{subscript}}}", math_word(letter))
        }
        None if is_name(word) => word.to_string(),
        None => format!("\\text{{ {word} }}"),
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

    fn drawing(&mut self, lines: &[String]) {
        self.paragraph(&format!("\\begin{{verbatim}}\n{}\n\\end{{verbatim}}", lines.join("\n")));
    }

    fn table(&mut self, table: &Table) {
        let row = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| prose(cell)).collect();
            format!("{} \\\\", cells.join(" & "))
        };
        let mut lines = vec![format!("{} \\hline", row(&table.header))];
        lines.extend(table.rows.iter().map(row));
        let columns = "l".repeat(table.header.len());
        self.paragraph(&format!("\\begin{{tabular}}{{{columns}}}\n{}\n\\end{{tabular}}", lines.join("\n")));
    }

    fn notice(&mut self, text: &str) {
        self.paragraph(&format!("\\begin{{quote}}{}\\end{{quote}}", prose(text)));
    }

    fn note(&mut self, text: &str) {
        self.paragraph(&format!("\\emph{{Note.}} {}", prose(text)));
    }

    fn finish(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_keep_their_subscripts_and_their_signs() {
        assert_eq!(math("Q (4×5) = X · W_Q"), "Q (4\\times 5) = X \\cdot  W_{Q}");
        assert_eq!(math("Kᵀ"), "K^{\\top}");
        assert_eq!(number("-∞"), "-\\infty ");
        assert_eq!(number("8.7e-05"), "8.7 \\cdot 10^{-5}");
    }

    #[test]
    fn a_label_cannot_run_a_command() {
        assert_eq!(prose("\\input{x} 5% _"), "\\textbackslash{}input\\{x\\} 5\\% \\_");
    }
}
