//! Stories as HTML: tables whose cells carry references to their sources.

use super::digits::number_alone;
use super::document::{ComputedNode, Markup, Part};
use super::explanation::{Derivation, ExplanationWriter, Sign, derivation_to};
use super::heat::Shade;
use super::html_page::{self, escaped};
use super::view::{Cell, HATCH, OPEN, View, Viewer};
use super::{Page, Style, html_plane};
use crate::explain::{Branch, Explanation, Note, SHOWN};
use crate::explore::{Sources, sources};
use crate::graph::{CellId, Equation, Graph, NodeId, Op, Origin, Precision, Symbols, address_of};
use crate::matrix::{Labels, Matrix, Shape};
use crate::story::{ExplainedCell, Table};

/// The inside of a story whose numbers are asked for their sources one by one, and can be changed.
pub fn live(page: &Page, style: &Style) -> String {
    let pages = std::slice::from_ref(page);
    let mut html = Html { is_live: true, ..Html::new(pages, style) };
    super::document::write_all(pages, style, &mut html)
}

/// HTML written so far: the inside of a page.
pub struct Html<'a> {
    pages: &'a [Page],
    style: &'a Style,
    /// The number of stories begun.
    begun: usize,
    sources: SourceFinder,
    /// Those of the story that has begun.
    symbols: Option<Symbols>,
    title: Option<String>,
    titles: usize,
    in_step: bool,
    /// Whether it is a story that a page writes again after each change.
    is_live: bool,
    /// The data of each story that can compute for itself, as JSON.
    openings: &'a [String],
    text: String,
}

impl<'a> Html<'a> {
    /// For these stories; none where nothing but tables of words is written.
    pub fn new(pages: &'a [Page], style: &'a Style) -> Html<'a> {
        Html {
            pages,
            style,
            begun: 0,
            sources: SourceFinder::default(),
            symbols: None,
            title: None,
            titles: 0,
            in_step: false,
            is_live: false,
            openings: &[],
            text: String::new(),
        }
    }

    /// For stories that compute for themselves: a page holds the data of each.
    pub fn computing(self, openings: &'a [String]) -> Html<'a> {
        Html { openings, ..self }
    }

    /// The page of a command with this inside, and with the program that stories run to compute for themselves.
    pub fn page(self, inside: &str, command: &str, program: Option<&str>) -> String {
        let command = format!("attn {command}");
        let title = self.title.map_or(command.clone(), |title| format!("{title} · {command}"));
        // A single headline is the page's own; several go below it.
        let how = html_page::how(inside);
        let main = match self.titles {
            0 => format!("{how}{inside}"),
            1 => {
                let inside = inside.replacen("<h2>", "<h1>", 1);
                inside.replacen("</h2>\n", &format!("</h1>\n{how}"), 1)
            }
            _ => format!("<h1>{}</h1>\n{how}{inside}", escaped(&command)),
        };
        let page = html_page::HtmlPage { title: &title, style: "", script: "", main: &main };
        program.map_or_else(|| page.to_string(), |program| html_page::live_page(page, program))
    }

    fn end_step(&mut self) {
        if std::mem::take(&mut self.in_step) {
            self.text.push_str("</section>\n");
        }
    }

    fn end_story(&mut self) {
        self.end_step();
        if self.begun > 0 {
            self.text.push_str("</article>\n");
        }
    }

    fn paragraph(&mut self, class: &str, text: &str) {
        self.text.push_str(&format!("<p class=\"{class}\">{}</p>\n", escaped(text)));
    }

    /// Matrices whose cells carry references to their sources, each after its operands, and below them room for a sum; in a story that
    /// is live, their cells have names and can be chosen.
    fn figure(&mut self, equations: &[Equation], parts: &[(&str, &View, bool)]) {
        let Some(page) = self.begun.checked_sub(1).and_then(|at| self.pages.get(at)) else { return };
        let viewer = Viewer { story: &page.story, style: self.style };
        let symbols =
            self.symbols.get_or_insert_with(|| Symbols::of(&page.story.graph, self.style.convention));
        let writer = ExplanationWriter::of_nothing(&viewer, symbols.clone());
        let (mut inside, mut any_made) = (String::new(), false);
        for (sign, view, is_result) in parts {
            let graph = &page.story.graph;
            let table = match (self.is_live, is_result) {
                (true, _) => live_table(view, graph),
                (false, false) => grid(view, &mut |_| String::new()),
                (false, true) => {
                    let (table, made) = result_table(view, &writer, &mut self.sources);
                    any_made |= made;
                    table
                }
            };
            let sign =
                if sign.is_empty() { String::new() } else { format!("<span class=\"sign\">{sign}</span>") };
            inside.push_str(&format!("<div class=\"part\">{sign}{table}</div>\n"));
        }
        let equations: Vec<String> =
            equations.iter().map(|equation| escaped(&equation.to_string())).collect();
        self.text.push_str("<figure>\n");
        if !equations.is_empty() {
            self.text.push_str(&format!("<figcaption>{}</figcaption>\n", equations.join("<br>\n")));
        }
        if self.is_live || !inside.is_empty() {
            self.text.push_str(&format!("<div class=\"row\">\n{inside}</div>\n"));
        }
        if any_made {
            self.text.push_str("<p class=\"sum\" role=\"status\"></p>\n");
        }
        self.text.push_str("</figure>\n");
    }

    fn together(&mut self, equations: &[Equation], matrices: &[View]) {
        let parts: Vec<(&str, &View, bool)> = matrices.iter().map(|view| ("", view, true)).collect();
        self.figure(equations, &parts);
    }

    fn computed(&mut self, nodes: &[ComputedNode]) {
        // Matrices by themselves stand next to each other where there is room.
        let flows = nodes.len() > 1 && nodes.iter().all(|node| node.operands.is_empty());
        if flows {
            self.text.push_str("<div class=\"flow\">\n");
        }
        for node in nodes {
            let mut parts: Vec<(&str, &View, bool)> =
                node.operands.iter().map(|(sign, view)| (*sign, view, false)).collect();
            parts.extend(node.value.iter().map(|value| (node.equals(), value, true)));
            self.figure(std::slice::from_ref(&node.equation), &parts);
        }
        if flows {
            self.text.push_str("</div>\n");
        }
    }
}

impl Markup for Html<'_> {
    fn write(&mut self, part: Part<'_>) {
        match part {
            Part::Story => {
                self.end_story();
                self.begun += 1;
                self.symbols = None;
                self.text.push_str("<article class=\"story\">\n");
                if let Some(opening) = self.openings.get(self.begun - 1) {
                    self.text.push_str(&html_page::live_data(html_page::OPENING, opening));
                }
            }
            Part::Title(title, source) => {
                self.end_step();
                self.titles += 1;
                self.title.get_or_insert_with(|| title.to_string());
                self.text.push_str(&format!("<h2>{}</h2>\n", escaped(title)));
                if let Some(source) = source {
                    self.paragraph("source", source);
                }
            }
            Part::Step(number, text) => {
                self.end_step();
                self.in_step = true;
                self.text.push_str(&format!(
                    "<section class=\"step\">\n<p class=\"said\"><span class=\"count\">{number}</span> {}</p>\n",
                    escaped(text)
                ));
            }
            Part::Computed(nodes) => self.computed(nodes),
            Part::Together(equations, matrices) => self.together(equations, matrices),
            Part::Folded(equations, _) => self.together(equations, &[]),
            Part::Columns(equations, view) => self.together(equations, std::slice::from_ref(view)),
            Part::Drawing(drawing) => self.text.push_str(&html_plane::picture(drawing)),
            Part::Table(table) => self.text.push_str(&table_of_words(table)),
            Part::Picture(svg) => {
                self.text.push_str(&format!("<figure class=\"curves\">{svg}</figure>\n"));
            }
            Part::Explained(writer) => self.text.push_str(&explanations(writer)),
            Part::Symbolic(symbolic) => {
                self.text.push_str(&format!("<pre>{}</pre>\n", escaped(&symbolic.lines().join("\n"))));
            }
            Part::Notice(text) => self.paragraph("notice", text),
            Part::Note(text) => {
                self.end_step();
                self.paragraph("note", &format!("Note: {text}"));
            }
            Part::Pointer(remarks, command) => {
                self.end_step();
                self.paragraph("note", &format!("{remarks}: {command}"));
            }
        }
    }

    fn finish(&mut self) -> String {
        self.end_story();
        std::mem::take(&mut self.text)
    }
}

// The sources of a cell: the cells in its terms, in a short form, and its sum in symbols.

/// The most numbers that are read for the cells of one page; later cells have no marks.
const MOST_READ: usize = 2_000_000;
/// A table of more cells shows no formulas.
const MOST_WITH_FORMULA: usize = 144;

/// Finds the sources of cells, up to a limit on the numbers read.
#[derive(Default)]
pub struct SourceFinder {
    read: usize,
}

impl SourceFinder {
    /// The cells that a cell was made of: `3:r2` for the second row of node 3, `5:c1` for the first column of node 5,
    /// `4:1,2` for a single cell, `4:*` for all; separated by spaces. `None` where there are none, or too many.
    pub fn from(&mut self, graph: &Graph, cell: CellId) -> Option<String> {
        let node = &graph[cell.node];
        // Terms can be read of a model in single precision, whatever its size.
        let is_single = graph.precision() != Precision::Exact && node.tensor().is_some();
        if self.read > MOST_READ || node.op.is_given() || !(is_single || node.matrix().is_some()) {
            return None;
        }
        let Sources { cells, read } = sources(graph, cell);
        self.read += read;
        let part = |(node, places): &(NodeId, Vec<(usize, usize)>)| {
            format!("{}:{}", node.position(), shortest(places, graph[*node].shape()))
        };
        let parts: Vec<String> = cells.iter().map(part).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// Places of a matrix, sorted: a row, a column, everything, or one after the other.
fn shortest(places: &[(usize, usize)], shape: Shape) -> String {
    let (first, last) = (places[0], places[places.len() - 1]);
    let (row, column) = (first.0 + 1, first.1 + 1);
    match places.len() {
        count if first.0 == last.0 && count == shape.cols => format!("r{row}"),
        count if count == shape.rows && places.iter().all(|place| place.1 == first.1) => format!("c{column}"),
        count if count == shape.rows * shape.cols => "*".to_string(),
        _ => places.iter().map(|(row, col)| format!("{},{}", row + 1, col + 1)).collect::<Vec<_>>().join(";"),
    }
}

/// The sum of a cell in symbols, in numbers, and its value: `o12 = a11·v12 + a12·v22 = 0.5·1 + 0.5·2 = 1.5`. `None` for a
/// number that is not derived, and in tables of many cells.
fn sum(writer: &ExplanationWriter<'_>, cell: CellId, in_table: usize) -> Option<String> {
    let graph = writer.graph();
    if in_table > MOST_WITH_FORMULA || graph[cell.node].matrix().is_none() {
        return None;
    }
    let (explanation, Derivation { lines, with, .. }) = derivation_to(writer, cell, SHOWN)?;
    let mut sum = writer.symbols.cell(cell);
    for (sign, line) in lines {
        sum.push_str(&format!(" {} {line}", sign.text()));
    }
    if let Some((name, is, value)) = with {
        sum.push_str(&format!(", with {name} = {is} = {value}"));
    }
    for note in explanation.notes {
        let sign = match note {
            Note::Because(_) => ",",
            Note::Decided(_) => ";",
            _ => continue,
        };
        sum.push_str(&format!("{sign} {}", note.text(graph, |x| writer.number(x))));
    }
    Some(sum)
}

// Explanations in HTML: a cell's formula, worked out line by line, and its operands as a list that folds.

/// All explanations; two of them stand next to each other where there is room.
pub fn explanations(writer: &ExplanationWriter<'_>) -> String {
    let class = if writer.side_by_side { "told beside" } else { "told" };
    let one = |one: &ExplainedCell| {
        let caption = if one.caption.is_empty() {
            String::new()
        } else {
            format!("<p class=\"caption\">{}</p>\n", escaped(&one.caption))
        };
        let explanation = &one.explanation;
        format!(
            "<section>\n{caption}<h3>{} <span class=\"dim\">{}</span></h3>\n{}{}</section>\n",
            escaped(&explanation.address),
            escaped(&writer.equation(explanation.cell).to_string()),
            body(writer, explanation),
            operands(writer, &explanation.operands)
        )
    };
    format!("<div class=\"{class}\">\n{}</div>\n", writer.of.iter().map(one).collect::<String>())
}

/// The formula in symbols and in numbers, one line below the other, with its notes.
fn body(writer: &ExplanationWriter<'_>, explanation: &Explanation) -> String {
    let Derivation { lines, with, notes } = writer.worked_in_plain(explanation);
    let symbol = escaped(&writer.symbols.cell(explanation.cell));
    let line = |(i, (sign, line)): (usize, &(Sign, String))| {
        let (left, last) = (if i == 0 { &symbol[..] } else { "" }, i + 1 == lines.len());
        let right = if last { format!("<b>{}</b>", escaped(line)) } else { escaped(line) };
        format!("<tr><td>{left}</td><td>{}</td><td>{right}</td></tr>\n", sign.text())
    };
    let rows: String = lines.iter().enumerate().map(line).collect();
    let with = with.map_or(String::new(), |(name, is, value)| {
        format!("<p class=\"with\">with {name} = {} = {}</p>\n", escaped(&is), escaped(&value))
    });
    let notes: String =
        notes.iter().map(|note| format!("<p class=\"dim\">{}</p>\n", escaped(note))).collect();
    format!("<table class=\"worked\" role=\"presentation\">\n{rows}</table>\n{with}{notes}")
}

fn operands(writer: &ExplanationWriter<'_>, branches: &[Branch]) -> String {
    if branches.is_empty() {
        return String::new();
    }
    let items: String =
        branches.iter().map(|branch| format!("<li>{}</li>\n", operand(writer, branch))).collect();
    format!("<ul class=\"operands\">\n{items}</ul>\n")
}

/// An operand: symbol, address, value, origin; one that is explained unfolds.
fn operand(writer: &ExplanationWriter<'_>, branch: &Branch) -> String {
    let row = writer.operand(branch);
    let head = format!(
        "<code>{}</code> {} = <b>{}</b> <span class=\"dim\">{}</span>",
        escaped(&writer.symbols.cell(row.cell)),
        escaped(&row.address),
        escaped(&row.value),
        escaped(&row.origin)
    );
    match branch {
        Branch::Explained(explanation) if !writer.is_leaf(explanation.cell) => format!(
            "<details open><summary>{head}</summary>\n{}{}</details>",
            body(writer, explanation),
            operands(writer, &explanation.operands)
        ),
        _ => head,
    }
}

// Tables in HTML: matrices with their labels, and tables of words.

/// A matrix whose cells carry references to their sources, and true if any cell does.
fn result_table(view: &View, writer: &ExplanationWriter<'_>, sources: &mut SourceFinder) -> (String, bool) {
    let size = view.rows.len() * view.cols.len();
    let mut any = false;
    let table = grid(view, &mut |cell| {
        let Some(of) = cell.of else { return String::new() };
        let Some(from) = sources.from(writer.graph(), of) else { return String::new() };
        any = true;
        let sum = sum(writer, of, size).filter(|_| cell.text.trim() != OPEN);
        let sum = sum.map_or(String::new(), |sum| format!(" data-sum=\"{}\"", escaped(&sum)));
        format!(" data-from=\"{from}\"{sum}")
    });
    (table, any)
}

/// A matrix whose cells have their addresses as names; given ones are marked.
fn live_table(view: &View, graph: &Graph) -> String {
    grid(view, &mut |cell| {
        let Some(of) = cell.of else { return String::new() };
        let is_given = matches!(&graph[of.node].op, Op::Given(origin) if *origin != Origin::Removed);
        let given = if is_given { " data-given" } else { "" };
        let name = format!("{} = {}", address_of(graph, of), cell.text.trim().trim_start_matches(HATCH));
        format!(" aria-label=\"{}\"{given}", escaped(&name))
    })
}

fn grid(view: &View, more: &mut dyn FnMut(&Cell) -> String) -> String {
    let node = shown_node(view);
    let place = match node {
        Some((node, false)) => format!(" data-node=\"{}\"", node.position()),
        Some((node, true)) => format!(" data-node=\"{}\" data-turned", node.position()),
        None => String::new(),
    };
    let place_of = |cell: &Cell| match cell.of {
        Some(CellId { node: of, row, col }) if node.is_none() => {
            format!(" data-at=\"{}:{},{}\"", of.position(), row + 1, col + 1)
        }
        _ => String::new(),
    };
    let name = if view.name.is_empty() {
        "<td></td>".to_string()
    } else {
        format!("<th scope=\"col\" class=\"name\">{}</th>", escaped(&view.name))
    };
    let heads: String =
        view.cols.iter().map(|label| format!("<th scope=\"col\">{}</th>", escaped(label))).collect();
    let mut rows = String::new();
    for (i, (label, cells)) in view.rows.iter().zip(&view.cells).enumerate() {
        let note = view.notes.get(i).filter(|note| !note.is_empty());
        let note = note.map_or(String::new(), |note| format!(" <small>{}</small>", escaped(note)));
        rows.push_str(&format!("<tr><th scope=\"row\">{}{note}</th>", escaped(label)));
        for cell in cells {
            let (look, place, more) = (look(cell.shade), place_of(cell), more(cell));
            rows.push_str(&format!("<td{look}{place}{more}>{}</td>", text(cell)));
        }
        rows.push_str("</tr>\n");
    }
    table(&format!("class=\"matrix\"{place}"), &format!("{name}{heads}"), &rows)
}

/// The node whose rows and columns a table shows, and whether it shows them turned; `None` where each cell says it itself.
fn shown_node(view: &View) -> Option<(NodeId, bool)> {
    let CellId { node, .. } = view.cells.first()?.first()?.of?;
    let all = |at: &dyn Fn(usize, usize) -> CellId| {
        let mut rows = view.cells.iter().enumerate();
        rows.all(|(i, row)| row.iter().enumerate().all(|(j, cell)| cell.of == Some(at(i, j))))
    };
    if all(&|row, col| CellId { node, row, col }) {
        Some((node, false))
    } else {
        all(&|col, row| CellId { node, row, col }).then_some((node, true))
    }
}

fn look(shade: Shade) -> String {
    match shade {
        Shade::Positive(0) | Shade::Negative(0) | Shade::None => String::new(),
        Shade::Positive(level) => format!(" class=\"more-{level}\""),
        Shade::Negative(level) => format!(" class=\"less-{level}\""),
        Shade::Masked => " class=\"masked\"".to_string(),
    }
}

/// The text with the spaces behind it, which keep points under each other; hatching is for the eye alone.
fn text(cell: &Cell) -> String {
    let text = cell.text.trim_start();
    let number = text.trim_start_matches(HATCH);
    match &text[..text.len() - number.len()] {
        "" => escaped(number),
        hatch => format!("<span aria-hidden=\"true\">{hatch}</span>{}", escaped(number)),
    }
}

/// A matrix under a caption, with names for rows and columns where there are some; the cells that differ from others are marked.
pub fn matrix_table(
    caption: &str,
    matrix: &Matrix,
    [rows, cols]: [Option<&Labels>; 2],
    decimals: usize,
    differing: &[(usize, usize)],
) -> String {
    let name = |labels: Option<&Labels>, at: usize| {
        labels.map_or_else(|| (at + 1).to_string(), |labels| escaped(&labels[at]))
    };
    let cell = |at: (usize, usize)| {
        let number = escaped(&number_alone(matrix[at], decimals));
        if differing.contains(&at) {
            format!("<td class=\"differs\">{number}</td>")
        } else {
            format!("<td>{number}</td>")
        }
    };
    let row = |i: usize| {
        let cells: String = (0..matrix.cols()).map(|j| cell((i, j))).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", name(rows, i))
    };
    let head: String =
        (0..matrix.cols()).map(|j| format!("<th scope=\"col\">{}</th>", name(cols, j))).collect();
    let rows: String = (0..matrix.rows()).map(row).collect();
    table(
        &format!("class=\"matrix\">\n<caption>{}</caption", escaped(caption)),
        &format!("<td></td>{head}"),
        &rows,
    )
}

/// A table of this head and these rows; `attributes` may have a caption behind them.
fn table(attributes: &str, head: &str, rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table {attributes}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// A table of words; columns of numbers stand on the right.
pub fn table_of_words(table: &Table) -> String {
    let number = |j: usize| if table.numbers.contains(&j) { " class=\"number\"" } else { "" };
    let lines = |text: &str| escaped(text).replace('\n', "<br>");
    let heads = table.header.iter().enumerate();
    let heads: String =
        heads.map(|(j, head)| format!("<th scope=\"col\"{}>{}</th>", number(j), lines(head))).collect();
    let row = |cells: &Vec<String>| {
        let cells = cells.iter().enumerate().map(|(j, cell)| match j {
            0 => format!("<th scope=\"row\"{}>{}</th>", number(0), lines(cell)),
            _ => format!("<td{}>{}</td>", number(j), lines(cell)),
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    self::table("class=\"words\"", &heads, &table.rows.iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use crate::attention::{Axis, Base, Pairing, Rotation};
    use crate::graph::{Op, Origin};
    use crate::kernel::{Layout, Machine};
    use crate::matrix::Matrix;
    use crate::tensor::Tensor;

    use super::*;

    fn made(graph: &Graph, name: &str, row: usize, col: usize) -> Option<String> {
        SourceFinder::default().from(graph, CellId { node: graph.find(name).unwrap(), row, col })
    }

    #[test]
    fn a_large_matrix_of_a_model_in_single_precision_has_sources_too() {
        let mut graph = Graph::new().in_precision(Precision::Single(Machine::here()));
        let tensor = |rows: usize, cols: usize| {
            Tensor::new(vec![0.5_f32; rows * cols], Layout::stacked(1, rows, cols)).unwrap()
        };
        let x = graph.weights("X", tensor(400, 3), Origin::Stated).unwrap();
        let w = graph.weights("W", tensor(3, 300), Origin::Stated).unwrap();
        let p = graph.add("P", Op::Product, &[x, w]).unwrap();
        graph.add("relu", Op::Relu, &[p]).unwrap();
        assert_eq!(made(&graph, "P", 399, 299).as_deref(), Some("0:r400 1:c300"));
        assert_eq!(made(&graph, "relu", 398, 0).as_deref(), Some("2:399,1"));
    }

    #[test]
    fn rows_columns_and_single_cells_are_written_short() {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::filled(3, 2, 1.0), Origin::Stated).unwrap();
        let w = graph.given("W", Matrix::filled(2, 4, 1.0), Origin::Stated).unwrap();
        let p = graph.add("P", Op::Product, &[x, w]).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[p]).unwrap();
        let whole = graph.add("whole", Op::Sums(Axis::Whole), &[a]).unwrap();
        let turn = Rotation { first: 0, pairing: Pairing::Halves, magnitude: 1.0 };
        let f = graph.given("F", Matrix::filled(1, 2, 1.0), Origin::Stated).unwrap();
        graph.add("rotated", Op::Rotary(turn), &[a, f]).unwrap();
        graph.add("taken", Op::Columns { start: 1, count: 2 }, &[p]).unwrap();
        graph.add("sum", Op::Add, &[whole, whole]).unwrap();
        assert_eq!(made(&graph, "X", 0, 0), None);
        assert_eq!(made(&graph, "P", 1, 2).as_deref(), Some("0:r2 1:c3"));
        assert_eq!(made(&graph, "A", 2, 0).as_deref(), Some("2:r3"));
        assert_eq!(made(&graph, "whole", 0, 0).as_deref(), Some("3:*"));
        assert_eq!(made(&graph, "rotated", 1, 2).as_deref(), Some("3:2,1;2,3 5:c1"));
        assert_eq!(made(&graph, "taken", 1, 1).as_deref(), Some("2:2,3"));
        assert_eq!(made(&graph, "sum", 0, 0).as_deref(), Some("4:r1"));
    }
}
