//! The page of a text in a model: its tables, and a picture of every head, which opens with all of its numbers.
//!
//! The page holds each matrix once; its script draws the pictures and builds the tables of a head that is opened. It computes
//! nothing: which cells made a number is a rule of the page, read from the graph.

use std::io::Write;

use serde_json::{Value, json};

use super::Style;
use super::document::tables;
use super::html::Html;
use super::html_heads_data::{Detail, LayerHeads};
use super::html_page::{HtmlPage, PICTURES, WORDS, escaped};
use crate::error::Result;
use crate::foreign::visible;
use crate::graph::{CellId, Graph, NodeId, Stage, address_of};
use crate::model::HeadMeasures;
use crate::story::{HeadStep, Table};

const STYLE: &str = include_str!("html_heads.css");
/// One block, whose parts know what stands in those before them.
const SCRIPT: &str = concat!(
    "{\n",
    include_str!("html_numbers.js"),
    include_str!("html_heads.js"),
    include_str!("html_words.js"),
    include_str!("html_head.js"),
    "}\n"
);

/// The decimals of numbers, where the user does not set them.
const PLACES: usize = 4;

/// What the page is made of.
#[derive(Clone, Copy, Debug)]
pub struct ModelPage<'a> {
    /// The headline: what the model is called.
    pub title: &'a str,
    /// The tables above the pictures.
    pub before: &'a [(String, Table)],
    /// The headline of the pictures.
    pub heading: &'a str,
    /// The tables below them.
    pub after: &'a [(String, Table)],
    /// The tokens of the text, in reading order.
    pub tokens: &'a [PageToken],
    /// The numbers of query heads and of key/value heads of each layer.
    pub heads: &'a [[usize; 2]],
    /// What the heads of each layer attend to.
    pub measures: &'a [Vec<HeadMeasures>],
    /// The command that shows all steps of a head.
    pub command_of_head: &'a str,
    /// The command that explains a cell, as the texts before and after the cell's address.
    pub command_of_cell: [&'a str; 2],
}

/// A token of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct PageToken {
    /// As rows and columns are named after it.
    pub label: String,
    /// Its id.
    pub id: usize,
    /// The piece of the vocabulary, where there is a tokenizer.
    pub piece: Option<String>,
}

/// Writes the page; `layer` computes the graph of a layer, counted from 1, and is asked for one layer after the other.
///
/// # Errors
/// If a layer cannot be computed, or `out` cannot be written.
pub fn model_page(
    page: &ModelPage<'_>,
    layer: &mut dyn FnMut(usize) -> Result<Graph>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<()> {
    let style = &style.of_document();
    let mut graph = layer(1)?;
    let steps = page.layer(&graph, 1, style).steps()?;
    let detail = Detail::fitting(&graph, &steps, page.heads.len());
    let count = page.heads.iter().map(|heads| heads[0]).sum();
    let fitting = Detail::most_tokens(&graph, &steps, count);
    let main = page.main((detail, fitting), style);
    let title = format!("{} · attn {}", page.title, "model");
    let whole = HtmlPage { title: &title, style: STYLE, script: SCRIPT, main: &main };
    style.write(&whole.opening(), out)?;
    write_data(out, "sentence", &page.sentence(&graph, &steps, style))?;
    for number in 1..=page.heads.len() {
        if detail == Detail::Nothing {
            break;
        }
        if number > 1 {
            graph = layer(number)?;
        }
        let heads = page.layer(&graph, number, style);
        write_data(out, &format!("layer-{number}"), &heads.value(&heads.steps()?, detail))?;
    }
    out.write_all(whole.closing().as_bytes())?;
    Ok(())
}

/// Data for the script. No text in it can end the element: `<` is escaped.
fn write_data(out: &mut dyn Write, id: &str, value: &Value) -> Result<()> {
    let text = value.to_string().replace('<', "\\u003c");
    writeln!(out, "<script type=\"application/json\" id=\"{id}\">{text}</script>")?;
    Ok(())
}

impl ModelPage<'_> {
    fn layer<'g>(&'g self, graph: &'g Graph, layer: usize, style: &Style) -> LayerHeads<'g> {
        let heads = self.heads.get(layer - 1).copied().unwrap_or([1, 1]);
        let measures = self.measures.get(layer - 1).map_or(&[][..], Vec::as_slice);
        LayerHeads { graph, layer, heads, measures, heat: style.heat }
    }

    /// The inside of the page, without the numbers of the heads.
    fn main(&self, detail: (Detail, usize), style: &Style) -> String {
        let section = |part: &(String, Table)| {
            let inside = tables(std::slice::from_ref(part), &mut Html::inside_of_a_page(style));
            format!("<section>\n{inside}</section>\n")
        };
        let inside = |parts: &[(String, Table)]| {
            format!("<div class=\"parts\">\n{}</div>\n", parts.iter().map(section).collect::<String>())
        };
        format!(
            "<h1>{}</h1>\n{}{}{}<h2>{}</h2>\n{}<div id=\"heads\"></div>\n{}{}",
            escaped(self.title),
            self.words(),
            self.before
                .split_at_checked(1)
                .map_or_else(String::new, |(run, rest)| inside(run) + &inside(rest)),
            PICTURES[0],
            escaped(self.heading),
            self.remarks(detail),
            PICTURES[1],
            inside(self.after)
        )
    }

    /// The text as a line of words.
    fn words(&self) -> String {
        let word = |(at, token): (usize, &PageToken)| {
            let piece = token.piece.as_ref().map_or_else(String::new, |piece| format!(", piece {piece}"));
            format!(
                "<li data-token=\"{at}\" title=\"{}\">{}</li>",
                escaped(&format!("token {}, id {}{piece}", at + 1, token.id)),
                escaped(&token.label)
            )
        };
        let words: String = self.tokens.iter().enumerate().map(word).collect();
        format!(
            "{}<ol aria-label=\"the text, token by token\">{words}</ol><p id=\"of-token\" role=\"status\"></p>{}",
            WORDS[0], WORDS[1]
        )
    }

    /// What can be done with the pictures, and what is left out of the page; a text with at most this many tokens has pictures.
    fn remarks(&self, (detail, fitting): (Detail, usize)) -> String {
        let how = "<p class=\"how script\">A picture for each head: rows are queries, columns are keys, and the stronger the colour of \
                   a cell, the larger the weight. Point at a word above to find its row and its column. Open a head to see its numbers.</p>\n";
        let without_script = "<noscript><style>.script { display: none; }</style><p class=\"notice\">The pictures and the numbers of a head need the script of this page. \
                              The tables do not.</p></noscript>\n";
        let command = escaped(self.command_of_head);
        let left_out = match detail {
            Detail::Steps => String::new(),
            Detail::Weights => format!(
                "<p class=\"notice\">The text is long: this page has the weights of every head, and leaves out its other steps. \
                 This shows all steps of one head: <code>{command}</code></p>\n"
            ),
            Detail::Nothing => format!(
                "<p class=\"notice\">This page leaves out the pictures and the numbers of the heads: the text has {} tokens, and \
                 there is room for {fitting}. Give a part of the text of at most {fitting} tokens, such as its end. This shows all steps of \
                 one head: <code>{command}</code></p>\n",
                self.tokens.len()
            ),
        };
        match detail {
            Detail::Nothing => left_out,
            _ => format!("{how}{without_script}{left_out}"),
        }
    }

    /// What the script needs to know of the text.
    fn sentence(&self, graph: &Graph, steps: &[HeadStep], style: &Style) -> Value {
        let weights = steps.iter().find(|step| step.stage == Stage::Weights).map(|step| step.nodes[0]);
        let address = |row: usize| weights.map_or_else(String::new, |node| row_address(graph, node, row));
        let tokens = self.tokens.iter().enumerate();
        json!({
            "tokens": self.tokens.iter().map(|token| visible(&token.label)).collect::<Vec<_>>(),
            "addresses": tokens.map(|(row, _)| address(row)).collect::<Vec<_>>(),
            "places": style.places.unwrap_or(PLACES),
            "explain": self.command_of_cell,
        })
    }
}

/// The name of a row in the addresses of its cells: `bat`, `the#2`, or a number.
fn row_address(graph: &Graph, node: NodeId, row: usize) -> String {
    let address = address_of(graph, CellId { node, row, col: 0 });
    let inside = address.split_once('[').map_or("", |(_, inside)| inside);
    visible(inside.split(',').next().unwrap_or("")).into_owned()
}
