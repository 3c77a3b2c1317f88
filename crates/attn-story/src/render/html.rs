//! Stories as HTML: tables whose cells carry references to their sources.

use super::document::{ComputedNode, Markup};
use super::explained::{ExplanationWriter, SymbolicCells};
use super::html_page::escaped;
use super::html_sources::SourceFinder;
use super::plane::Drawing;
use super::view::View;
use super::viewer::Viewer;
use super::{Page, Style, html_explained, html_live, html_page, html_plane, html_table};
use crate::graph::{Equation, Symbols};
use crate::story::Table;

/// What surrounds HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A page of its own.
    Page,
    /// Tables of words that stand inside of a page.
    Tables,
    /// A story that a page writes again after each change.
    Live,
}

/// The inside of a story whose numbers are asked for their sources one by one, and can be changed.
pub fn live(page: &Page, style: &Style) -> String {
    let pages = std::slice::from_ref(page);
    let mut html = Html::part(Kind::Live, pages, style);
    super::document::write_all(pages, style, &mut html)
}

/// HTML written so far: the inside of a page.
pub struct Html<'a> {
    pages: &'a [Page],
    style: &'a Style,
    command: &'a str,
    /// The number of stories begun.
    begun: usize,
    sources: SourceFinder,
    /// Those of the story that has begun.
    symbols: Option<Symbols>,
    title: Option<String>,
    titles: usize,
    in_step: bool,
    /// What surrounds what is written.
    kind: Kind,
    /// Makes of the inside what is written. The program of a page has no use for whole pages, and so does not hold their styles and
    /// scripts.
    whole: fn(&mut Html<'a>, String) -> String,
    /// The data of each story that can compute for itself, as JSON.
    openings: &'a [String],
    /// The program that they run, as text.
    program: &'a str,
    text: String,
}

impl<'a> Html<'a> {
    /// For these stories; none where nothing but tables of words is written.
    pub fn new(pages: &'a [Page], command: &'a str, style: &'a Style) -> Html<'a> {
        Html { command, whole: Html::whole_page, ..Html::part(Kind::Page, pages, style) }
    }

    /// What stands inside of a page.
    fn part(kind: Kind, pages: &'a [Page], style: &'a Style) -> Html<'a> {
        Html {
            pages,
            style,
            command: "",
            begun: 0,
            sources: SourceFinder::default(),
            symbols: None,
            title: None,
            titles: 0,
            in_step: false,
            kind,
            whole: |_, inside| inside,
            openings: &[],
            program: "",
            text: String::new(),
        }
    }

    /// For stories that compute for themselves: a page holds the data of each.
    pub fn computing(self, openings: &'a [String], program: &'a str) -> Html<'a> {
        Html { openings, program, ..self }
    }

    /// For tables of words that stand inside of a page.
    pub fn inside_of_a_page(style: &'a Style) -> Html<'a> {
        Html::part(Kind::Tables, &[], style)
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

    /// Matrices whose cells have names, and can be chosen.
    fn live_figure(&mut self, equations: &[Equation], parts: &[(&str, &View, bool)]) {
        let Some(page) = self.pages.get(self.begun - 1) else { return };
        let mut inside = String::new();
        for (sign, view, _) in parts {
            let table = html_table::live(view, &page.story.graph);
            let sign =
                if sign.is_empty() { String::new() } else { format!("<span class=\"sign\">{sign}</span>") };
            inside.push_str(&format!("<div class=\"part\">{sign}{table}</div>\n"));
        }
        self.text.push_str(&format!(
            "<figure>\n{}<div class=\"row\">\n{inside}</div>\n</figure>\n",
            caption(equations)
        ));
    }

    fn paragraph(&mut self, class: &str, text: &str) {
        self.text.push_str(&format!("<p class=\"{class}\">{}</p>\n", escaped(text)));
    }

    /// Matrices whose cells carry references to their sources, each after its operands; below them is room for a sum.
    fn figure(&mut self, equations: &[Equation], parts: &[(&str, &View, bool)]) {
        let Some(page) = self.begun.checked_sub(1).and_then(|at| self.pages.get(at)) else { return };
        let viewer = Viewer { story: &page.story, style: self.style };
        let symbols =
            self.symbols.get_or_insert_with(|| Symbols::of(&page.story.graph, self.style.convention));
        let writer = ExplanationWriter::of_nothing(&viewer, symbols.clone());
        let mut any_made = false;
        if self.kind == Kind::Live {
            return self.live_figure(equations, parts);
        }
        let mut inside = String::new();
        for (sign, view, is_result) in parts {
            let table = if *is_result {
                let (table, made) = html_table::result(view, &page.story.graph, &writer, &mut self.sources);
                any_made |= made;
                table
            } else {
                html_table::matrix(view)
            };
            let sign =
                if sign.is_empty() { String::new() } else { format!("<span class=\"sign\">{sign}</span>") };
            inside.push_str(&format!("<div class=\"part\">{sign}{table}</div>\n"));
        }
        self.text.push_str("<figure>\n");
        self.text.push_str(&caption(equations));
        if !inside.is_empty() {
            self.text.push_str(&format!("<div class=\"row\">\n{inside}</div>\n"));
        }
        if any_made {
            self.text.push_str("<p class=\"sum\" role=\"status\"></p>\n");
        }
        self.text.push_str("</figure>\n");
    }
}

/// The equations above the matrices of a figure.
fn caption(equations: &[Equation]) -> String {
    if equations.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = equations.iter().map(|equation| escaped(&equation.to_string())).collect();
    format!("<figcaption>{}</figcaption>\n", lines.join("<br>\n"))
}

impl Markup for Html<'_> {
    fn begin(&mut self) {
        self.end_story();
        self.begun += 1;
        self.symbols = None;
        self.text.push_str("<article class=\"story\">\n");
        if let Some(opening) = self.openings.get(self.begun - 1) {
            self.text.push_str(&html_live::opening(opening));
        }
    }

    fn title(&mut self, title: &str, source: Option<&str>) {
        self.end_step();
        self.titles += 1;
        self.title.get_or_insert_with(|| title.to_string());
        self.text.push_str(&format!("<h2>{}</h2>\n", escaped(title)));
        if let Some(source) = source {
            self.paragraph("source", source);
        }
    }

    fn step(&mut self, number: usize, text: &str) {
        self.end_step();
        self.in_step = true;
        self.text.push_str(&format!(
            "<section class=\"step\">\n<p class=\"said\"><span class=\"count\">{number}</span> {}</p>\n",
            escaped(text)
        ));
    }

    fn computed(&mut self, nodes: &[ComputedNode]) {
        // Matrices by themselves stand next to each other where there is room.
        let flows = nodes.len() > 1 && nodes.iter().all(|node| node.operands.is_empty());
        if flows {
            self.text.push_str("<div class=\"flow\">\n");
        }
        for node in nodes {
            let Some(value) = &node.value else {
                self.figure(std::slice::from_ref(&node.equation), &[]);
                continue;
            };
            let mut parts: Vec<(&str, &View, bool)> =
                node.operands.iter().map(|(sign, view)| (*sign, view, false)).collect();
            let equals = match node.operands.len() {
                0 => "",
                1 => "→",
                _ => "=",
            };
            parts.push((equals, value, true));
            self.figure(std::slice::from_ref(&node.equation), &parts);
        }
        if flows {
            self.text.push_str("</div>\n");
        }
    }

    fn together(&mut self, equations: &[Equation], matrices: &[View]) {
        let parts: Vec<(&str, &View, bool)> = matrices.iter().map(|view| ("", view, true)).collect();
        self.figure(equations, &parts);
    }

    fn columns(&mut self, equations: &[Equation], view: &View) {
        self.figure(equations, &[("", view, true)]);
    }

    fn drawing(&mut self, drawing: &Drawing) {
        self.text.push_str(&html_plane::picture(drawing));
    }

    fn table(&mut self, table: &Table) {
        self.text.push_str(&html_table::words(table));
    }

    fn picture(&mut self, svg: &str) {
        self.text.push_str(&format!("<figure class=\"curves\">{svg}</figure>\n"));
    }

    fn explained(&mut self, writer: &ExplanationWriter<'_>) {
        self.text.push_str(&html_explained::explanations(writer));
    }

    fn symbolic(&mut self, symbolic: &SymbolicCells<'_>) {
        self.text.push_str(&format!("<pre>{}</pre>\n", escaped(&symbolic.lines().join("\n"))));
    }

    fn notice(&mut self, text: &str) {
        self.paragraph("notice", text);
    }

    fn note(&mut self, text: &str) {
        self.end_step();
        self.paragraph("note", &format!("Note: {text}"));
    }

    fn pointer(&mut self, remarks: &str, command: &str) {
        self.end_step();
        self.paragraph("note", &format!("{remarks}: {command}"));
    }

    fn finish(&mut self) -> String {
        self.end_story();
        let inside = std::mem::take(&mut self.text);
        (self.whole)(self, inside)
    }
}

impl Html<'_> {
    /// A page with this inside.
    fn whole_page(&mut self, inside: String) -> String {
        let command = format!("attn {}", self.command);
        let title = self.title.take().map_or(command.clone(), |title| format!("{title} · {command}"));
        // A single headline is the page's own; several go below it.
        let how = html_page::how(&inside);
        let main = match self.titles {
            0 => format!("{how}{inside}"),
            1 => {
                let inside = inside.replacen("<h2>", "<h1>", 1);
                inside.replacen("</h2>\n", &format!("</h1>\n{how}"), 1)
            }
            _ => format!("<h1>{}</h1>\n{how}{inside}", escaped(&command)),
        };
        let page = html_page::HtmlPage { title: &title, style: "", script: "", main: &main };
        if self.openings.is_empty() { page.to_string() } else { html_live::page(page, self.program) }
    }
}
