//! The page of a text in a model: its tables, and a picture of every head, which opens with all of its numbers.
//!
//! The page holds each matrix once; its script draws the pictures and builds the tables of a head that is opened. It computes
//! nothing: which cells made a number is a rule of the page, read from the graph.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::Style;
use super::document::tables;
use super::heat::Heat;
use super::html::Html;
use super::html_page::{HtmlPage, PICTURES, WORDS, base64, encoded_length, escaped, is_single, numbers};
use crate::attention::key_value_head;
use crate::error::Result;
use crate::explore::sources;
use crate::foreign::visible;
use crate::graph::{CellId, Convention, Graph, NodeId, Stage, address_of, equation};
use crate::model::HeadMeasures;
use crate::story::{HeadStep, Table, head_in_words, head_letter, head_steps};

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
    /// The command that makes the page.
    pub command: &'a str,
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
    let title = format!("{} · attn {}", page.title, page.command);
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
            let inside = tables(std::slice::from_ref(part), &mut Html::new(&[], style));
            format!("<section>\n{inside}</section>\n")
        };
        let inside = |parts: &[(String, Table)]| {
            format!("<div class=\"parts\">\n{}</div>\n", parts.iter().map(section).collect::<String>())
        };
        let before = self.before.split_at_checked(1);
        let before = before.map_or_else(String::new, |(run, rest)| inside(run) + &inside(rest));
        format!(
            "<h1>{}</h1>\n{}{}{}<h2>{}</h2>\n{}<div id=\"heads\"></div>\n{}{}",
            escaped(self.title),
            self.words(),
            before,
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
        match detail {
            Detail::Steps => format!("{how}{without_script}"),
            Detail::Weights => format!(
                "{how}{without_script}<p class=\"notice\">The text is long: this page has the weights of every head, and leaves out its other steps. \
                 This shows all steps of one head: <code>{command}</code></p>\n"
            ),
            Detail::Nothing => format!(
                "<p class=\"notice\">This page leaves out the pictures and the numbers of the heads: the text has {} tokens, and \
                 there is room for {fitting}. Give a part of the text of at most {fitting} tokens, such as its end. This shows all steps of \
                 one head: <code>{command}</code></p>\n",
                self.tokens.len()
            ),
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

// The numbers of a layer's heads as the script of the page reads them: each matrix once, as base64, with the rules for operands.

/// A page with more bytes of numbers leaves some out.
const MOST_BYTES: usize = 30_000_000;

/// What a page has of the numbers of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// All steps of each head.
    Steps,
    /// The weights alone.
    Weights,
    /// Nothing: even the weights would be too much.
    Nothing,
}

/// A layer with its heads, as the graph of the layer has it.
struct LayerHeads<'a> {
    graph: &'a Graph,
    /// Its number, from 1.
    layer: usize,
    /// The numbers of query heads and of key/value heads.
    heads: [usize; 2],
    measures: &'a [HeadMeasures],
    heat: Heat,
}

impl Detail {
    /// The most that fits for a model with this number of layers, each with these steps.
    fn fitting(graph: &Graph, steps: &[HeadStep], layers: usize) -> Detail {
        let bytes = |is_in: &dyn Fn(&HeadStep) -> bool| -> usize {
            let nodes = steps.iter().filter(|step| is_in(step)).flat_map(|step| unique(&step.nodes));
            nodes.map(|node| size(graph, node)).fold(0, usize::saturating_add)
        };
        let all = [bytes(&|_| true), bytes(&is_weights)];
        Detail::within(MOST_BYTES, all.map(|layer| layer.saturating_mul(layers)))
    }

    fn within(most: usize, [steps, weights]: [usize; 2]) -> Detail {
        if steps <= most {
            Detail::Steps
        } else if weights <= most {
            Detail::Weights
        } else {
            Detail::Nothing
        }
    }

    /// The most tokens of a text whose weights fit, for a model with this many heads.
    fn most_tokens(graph: &Graph, steps: &[HeadStep], heads: usize) -> usize {
        let weights = steps.iter().find(|step| is_weights(step)).map(|step| step.nodes[0]);
        let is_short = weights.and_then(|node| graph[node].tensor()).is_some_and(is_single);
        let fits = |tokens: &usize| {
            encoded_length(tokens * tokens * if is_short { 4 } else { 8 }) * heads <= MOST_BYTES
        };
        (1..).take_while(fits).last().unwrap_or(1)
    }

    fn has(self, step: &HeadStep) -> bool {
        match self {
            Detail::Steps => true,
            Detail::Weights => is_weights(step),
            Detail::Nothing => false,
        }
    }
}

fn is_weights(step: &HeadStep) -> bool {
    step.stage == Stage::Weights
}

/// The bytes of a node's numbers in the page.
fn size(graph: &Graph, node: NodeId) -> usize {
    let shape = graph[node].shape();
    let one = graph[node].tensor().map_or(8, |tensor| if is_single(tensor) { 4 } else { 8 });
    encoded_length(shape.rows * shape.cols * one)
}

/// Each node once, in its order.
fn unique(nodes: &[NodeId]) -> Vec<NodeId> {
    let mut seen = HashSet::new();
    nodes.iter().copied().filter(|node| seen.insert(*node)).collect()
}

impl LayerHeads<'_> {
    /// The steps of its heads.
    ///
    /// # Errors
    /// Those of [`head_steps`].
    fn steps(&self) -> Result<Vec<HeadStep>> {
        head_steps(self.graph, self.layer, self.heads)
    }

    /// The layer as JSON.
    fn value(&self, steps: &[HeadStep], detail: Detail) -> Value {
        let shown: Vec<&HeadStep> = steps.iter().filter(|step| detail.has(step)).collect();
        let of_first: Vec<NodeId> = shown.iter().map(|step| step.nodes[0]).collect();
        let step = |step: &&HeadStep| self.step(step, &of_first);
        json!({
            "layer": self.layer,
            "steps": shown.iter().map(step).collect::<Vec<_>>(),
            "heads": (0..self.heads[0]).map(|head| self.head(head, &shown)).collect::<Vec<_>>(),
            "hidden": self.hidden(steps),
        })
    }

    /// A step of all heads: what it does, which cells a number of it is made of, and its matrices.
    fn step(&self, step: &HeadStep, of_first: &[NodeId]) -> Value {
        let graph = self.graph;
        let first = step.nodes[0];
        let shape = graph[first].shape();
        let shade = match step.stage {
            _ if self.heat == Heat::Never => "",
            Stage::Weights => "weights",
            stage if stage.is_scores() => "scores",
            _ => "",
        };
        json!({
            "stage": step.stage.name(),
            "text": step.text,
            "op": graph[first].op.name(),
            "rows": shape.rows,
            "cols": shape.cols,
            "has_tokens": [graph[first].labels().0.is_some(), graph[first].labels().1.is_some()],
            "shade": shade,
            "type": if graph[first].tensor().is_some_and(is_single) { "f32" } else { "f64" },
            "from": operands(graph, first, of_first).unwrap_or_default(),
            "nodes": unique(&step.nodes).into_iter().map(|node| self.node(node)).collect::<Vec<_>>(),
        })
    }

    fn node(&self, node: NodeId) -> Value {
        let written = equation(self.graph, node, Convention::Rows, true);
        json!({
            "name": visible(&self.graph[node].name),
            "is": visible(&written.right),
            "numbers": self.graph[node].tensor().map_or_else(String::new, numbers),
        })
    }

    /// A head, counted from 0: its matrix in each step, what it attends to, and the key/value head that it reads.
    fn head(&self, head: usize, shown: &[&HeadStep]) -> Value {
        let place = |step: &&HeadStep| unique(&step.nodes).iter().position(|node| *node == step.nodes[head]);
        let nodes: Vec<Option<usize>> = shown.iter().map(place).collect();
        let [heads, groups] = self.heads;
        let group = (heads != groups).then(|| key_value_head(head, heads, groups) + 1);
        let measures = self.measures.get(head);
        // The result of a head that is taken out.
        let removed = if heads == 1 { "C_whole".to_string() } else { format!("O_removed_{}", head + 1) };
        let is_there = |name: &str| self.graph.find(&format!("L{}.{name}", self.layer)).is_some();
        json!({
            "nodes": nodes,
            "letter": measures.map(head_letter),
            "attends_to": measures.and_then(head_in_words),
            "entropy": measures.map(|measures| measures.entropy),
            "key_head": group,
            "is_removed": is_there(&removed) || is_there("O_removed"),
        })
    }

    /// The cells that the mask hides, a bit for each, the lowest first; empty without a mask. It is the same for all heads.
    fn hidden(&self, steps: &[HeadStep]) -> String {
        let masked = steps.iter().find(|step| step.stage == Stage::Masked);
        let tensor = masked.and_then(|step| self.graph[step.nodes[0]].tensor());
        let Some(tensor) = tensor else { return String::new() };
        let shape = tensor.shape();
        let mut bytes = vec![0_u8; (shape.rows * shape.cols).div_ceil(8)];
        for (at, x) in tensor.cells().enumerate() {
            if x == f64::NEG_INFINITY {
                bytes[at / 8] |= 1 << (at % 8);
            }
        }
        base64(&bytes)
    }
}

// Which cells of a head's other matrices a number was made of, as one rule for all cells of a matrix: the rule is read from the
// graph's own terms.

/// Rows or columns of an operand, for the cell in row i and column j, as the script of the page reads them.
#[derive(Clone, Debug, PartialEq, Serialize)]
enum Lines {
    /// Line i.
    #[serde(rename = "i")]
    OfRow,
    /// Line j.
    #[serde(rename = "j")]
    OfColumn,
    /// All lines.
    #[serde(rename = "*")]
    All,
    /// These, for each j.
    #[serde(untagged)]
    Listed(Vec<Vec<usize>>),
}

/// The cells of an operand that a number was made of: the place of the operand among the steps of the head, these rows, and of them
/// these columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Operand(usize, Lines, Lines);

impl Lines {
    /// The lines for a cell, of `count`.
    fn of(&self, (i, j): (usize, usize), count: usize) -> Vec<usize> {
        match self {
            Lines::OfRow => vec![i],
            Lines::OfColumn => vec![j],
            Lines::All => (0..count).collect(),
            Lines::Listed(lists) => lists.get(j).cloned().unwrap_or_default(),
        }
    }
}

/// The cells that some sampled cells were made of, for each operand.
type Samples = Vec<((usize, usize), BTreeMap<NodeId, Vec<(usize, usize)>>)>;

/// The operands of a node among the nodes of its head, as rules; `None` where no rule gives the cells in the terms.
fn operands(graph: &Graph, node: NodeId, of_head: &[NodeId]) -> Option<Vec<Operand>> {
    let shape = graph[node].shape();
    let mut order: Vec<NodeId> = Vec::new();
    let mut samples: Samples = Vec::new();
    let mut rows = vec![0, shape.rows / 2, shape.rows.saturating_sub(1)];
    rows.dedup();
    for row in rows.into_iter().filter(|row| *row < shape.rows) {
        for col in 0..shape.cols {
            let found = sources(graph, CellId { node, row, col }).cells;
            // A fully masked row is made of nothing.
            if found.is_empty() {
                continue;
            }
            for (operand, _) in &found {
                if !order.contains(operand) {
                    order.push(*operand);
                }
            }
            samples.push(((row, col), found.into_iter().collect()));
        }
    }
    let place = |operand| of_head.iter().position(|&other| other == operand);
    let shown = order.into_iter().filter_map(|operand| Some((operand, place(operand)?)));
    shown.map(|(operand, step)| rule(graph, operand, step, &samples)).collect()
}

/// The rule that gives the cells of an operand in all samples.
fn rule(graph: &Graph, operand: NodeId, step: usize, samples: &Samples) -> Option<Operand> {
    let shape = graph[operand].shape();
    let none = Vec::new();
    let is_right = |rows: &Lines, cols: &Lines| {
        samples.iter().all(|(at, found)| {
            let rows = rows.of(*at, shape.rows);
            let cols = cols.of(*at, shape.cols);
            let cells = rows.iter().flat_map(|&row| cols.iter().map(move |&col| (row, col)));
            cells.eq(found.get(&operand).unwrap_or(&none).iter().copied())
        })
    };
    let columns = [Lines::OfColumn, Lines::OfRow, Lines::All, listed(operand, samples)];
    let rows = [Lines::OfRow, Lines::OfColumn, Lines::All].into_iter();
    let mut pairs = rows.flat_map(|rows| columns.iter().map(move |cols| (rows.clone(), cols.clone())));
    let (rows, cols) = pairs.find(|(rows, cols)| is_right(rows, cols))?;
    Some(Operand(step, rows, cols))
}

/// The columns of an operand that each column reads, where they do not depend on the row.
fn listed(operand: NodeId, samples: &Samples) -> Lines {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for ((_, col), found) in samples {
        if lists.len() <= *col {
            lists.resize(col + 1, Vec::new());
        }
        if let Some(places) = found.get(&operand) {
            lists[*col] = places.iter().map(|place| place.1).collect();
            lists[*col].dedup();
        }
    }
    Lines::Listed(lists)
}

#[cfg(test)]
mod tests {
    use crate::attention::{Axis, Base, Pairing, Rotation};
    use crate::graph::{Op, Origin};
    use crate::matrix::Matrix;

    use super::*;

    #[test]
    fn what_is_too_much_is_left_out() {
        assert_eq!(Detail::within(10, [10, 4]), Detail::Steps);
        assert_eq!(Detail::within(10, [11, 10]), Detail::Weights);
        assert_eq!(Detail::within(10, [30, 11]), Detail::Nothing);
    }

    #[test]
    fn each_step_has_a_rule_for_its_operands() {
        let mut graph = Graph::new();
        let q = graph.given("Q", Matrix::filled(3, 4, 1.0), Origin::Stated).unwrap();
        let f = graph.given("F", Matrix::filled(1, 2, 1.0), Origin::Stated).unwrap();
        let turn = Rotation { first: 0, pairing: Pairing::Halves, magnitude: 1.0 };
        let r = graph.add("Q_rotated", Op::Rotary(turn), &[q, f]).unwrap();
        let s = graph.add("S", Op::ProductTransposed, &[r, q]).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
        let o = graph.add("O", Op::Product, &[a, q]).unwrap();
        let of_head = [q, f, r, s, a, o];
        let rules = |node: NodeId| json!(operands(&graph, node, &of_head).unwrap());
        let pairs = json!([[0, 2], [1, 3], [0, 2], [1, 3]]);
        assert_eq!(rules(r), json!([[0, "i", pairs], [1, "*", [[0], [1], [0], [1]]]]));
        assert_eq!(rules(s), json!([[2, "i", "*"], [0, "j", "*"]]));
        assert_eq!(rules(a), json!([[3, "i", "*"]]));
        assert_eq!(rules(o), json!([[4, "i", "*"], [0, "*", "j"]]));
        assert_eq!(rules(q), json!([]));
    }
}
