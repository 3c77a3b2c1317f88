//! Stories as Markdown: headings, equations in code, tables with pipes.

use super::document::{Markup, Part};
use super::view::{HATCH, View};
use super::{Charset, paragraphs, tree};
use crate::graph::Equation;

/// Blocks of code are drawn at this width, whatever the screen.
const WIDTH: usize = 90;

/// The paragraphs of Markdown written so far.
#[derive(Default)]
pub(super) struct Markdown(Vec<String>);

impl Markdown {
    fn grid(&mut self, header: &[String], rows: &[Vec<String>], numbers: bool) {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell.trim())).collect();
            format!("| {} |", cells.join(" | "))
        };
        let rule: Vec<&str> =
            (0..header.len()).map(|i| if numbers && i > 0 { "---:" } else { "---" }).collect();
        let mut lines = vec![line(header), format!("| {} |", rule.join(" | "))];
        lines.extend(rows.iter().map(|row| line(row)));
        self.0.push(lines.join("\n"));
    }

    fn matrix(&mut self, view: &View) {
        let mut header = [std::slice::from_ref(&view.name), &view.cols[..]].concat();
        let row = |(label, cells): (&String, &Vec<super::view::Cell>)| {
            [label.clone()].into_iter().chain(cells.iter().map(|cell| cell.text.replace(HATCH, ""))).collect()
        };
        let mut rows: Vec<Vec<String>> = view.rows.iter().zip(&view.cells).map(row).collect();
        if !view.notes.is_empty() {
            header.push(String::new());
            rows.iter_mut().zip(&view.notes).for_each(|(row, note)| row.push(note.clone()));
        }
        self.grid(&header, &rows, true);
    }

    fn together(&mut self, equations: &[Equation], matrices: &[View]) {
        self.0.extend(equations.iter().map(|equation| code(&equation.to_string())));
        matrices.iter().for_each(|view| self.matrix(view));
    }
}

/// The text escaped for Markdown: no marks, links, pictures or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\\' | '|' | '*' | '[' | ']' | '`' => out.extend(['\\', c]),
            // Within a word, as in S_scaled, it is no mark.
            '_' if !is_within_word(text, at) => out.push_str("\\_"),
            '<' => out.push_str("&lt;"),
            // An `&` that would begin a reference such as `&lt;` is escaped.
            '&' if text[at + 1..].starts_with(|c: char| c == '#' || c.is_ascii_alphabetic()) => {
                out.push_str("&amp;")
            }
            '\n' => out.push_str("<br>"),
            c => out.push(c),
        }
    }
    out
}

fn is_within_word(text: &str, at: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text[..at].ends_with(is_word) && text[at + 1..].starts_with(is_word)
}

/// A text as code in a line.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let mark = "`".repeat(longest + 1);
    let air = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{mark}{air}{text}{air}{mark}")
}

/// Lines as a block of code that none of them closes.
fn fenced(lines: &str) -> String {
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}text\n{lines}\n{fence}")
}

impl Markup for Markdown {
    fn write(&mut self, part: Part<'_>) {
        let paragraph = match part {
            Part::Title(title, source) => {
                self.0.push(format!("## {}", escaped(title)));
                self.0.extend(source.map(|source| format!("*{}*", escaped(source))));
                return;
            }
            Part::Computed(nodes) => {
                return nodes.iter().for_each(|node| {
                    self.together(std::slice::from_ref(&node.equation), node.value.as_slice());
                });
            }
            Part::Together(equations, matrices) => return self.together(equations, matrices),
            Part::Folded(equations, _) => return self.together(equations, &[]),
            Part::Columns(equations, view) => return self.together(equations, std::slice::from_ref(view)),
            Part::Table(table) => return self.grid(&table.header, &table.rows, false),
            Part::Explained(writer) => {
                return self.0.extend(tree::blocks(writer, WIDTH, Charset::Utf8, false).iter().map(
                    |block| {
                        let lines: Vec<&str> = block.lines.iter().map(|line| line.trim_end()).collect();
                        fenced(&lines.join("\n"))
                    },
                ));
            }
            Part::Story | Part::Picture(_) => return,
            Part::Step(number, text) => format!("**{number}.** {}", escaped(text)),
            Part::Drawing(drawing) => fenced(&drawing.lines().join("\n")),
            Part::Symbolic(symbolic) => fenced(&symbolic.lines().join("\n")),
            Part::Notice(text) => format!("> {}", escaped(text)),
            Part::Note(text) => format!("*Note.* {}", escaped(text)),
            Part::Pointer(remarks, command) => format!("*{}:* {}", escaped(remarks), code(command)),
        };
        self.0.push(paragraph);
    }

    fn finish(&mut self) -> String {
        paragraphs(&self.0)
    }
}
