//! The graph as JSON: every digit, `"-inf"`, `"inf"` and `"nan"` as strings, and the parameters of every op, so that
//! [`crate::graph::saved`] can read it back.

use std::io::{BufWriter, Write};
use std::sync::OnceLock;

use attn_story::live::Opening;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::ser::Formatter;
use serde_json::{Map, Value, json};

use crate::attention::Base;
use crate::diagnose::{
    CloseNumbers, Diagnosis, Distance, Evidence, JudgedNode, NamedMistake, Resemblance, Verdict,
};
use crate::error::{Error, Result};
use crate::explain::{Branch, Explanation};
use crate::foreign::hidden;
use crate::graph::{
    CellId, Convention, Function, Graph, NodeId, Op, Origin, PlainSymbols, Precision, Symbols, Term,
    address_of, formula, written,
};
use crate::input::{self, Rows};
use crate::json_number::value as number;
use crate::model::porting::{Difference, Found, PortingMistake, PortingReport};
use crate::read::{GRAPH_SCHEMA, GRAPH_VERSION};
use crate::story::{Plane, Step, StepItem, Table};
use crate::tensor::Tensor;

use super::document::numbered;
use super::{Page, Style, base64, document, html};

/// The version of tables.
const TABLE_VERSION: u64 = 1;

/// The graphs of all pages, piece by piece: they may hold more numbers than one would want to have in memory twice.
pub(super) fn write(pages: &[Page], command: &str, out: &mut dyn Write) -> Result<()> {
    let graphs = pages.iter().map(PageObject).collect();
    finish(&Document { schema: GRAPH_SCHEMA, version: GRAPH_VERSION, command, graphs }, out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    version: u64,
    command: &'a str,
    graphs: Vec<PageObject<'a>>,
}

struct PageObject<'a>(&'a Page);

impl Serialize for PageObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Page { story, nodes, headed, .. } = self.0;
        let node = |&id: &NodeId| NodeObject { graph: &story.graph, id, whole: !headed };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", &story.title)?;
        let precision = match story.graph.precision() {
            Precision::Exact => "f64",
            Precision::Single(_) => "f32",
        };
        map.serialize_entry("precision", precision)?;
        optional(&mut map, "of_model", story.graph.is_of_model().then_some(true))?;
        // A demo has the same sentences under every convention; the story of a command on a user's numbers has not.
        let is_demo = *headed && story.source.is_some();
        optional(&mut map, "steps", is_demo.then(|| steps(self.0)))?;
        map.serialize_entry("nodes", &nodes.iter().map(node).collect::<Vec<_>>())?;
        let planes: Vec<Value> = story.planes().map(|plane| plane_object(plane, &story.graph)).collect();
        optional(&mut map, "planes", Some(planes).filter(|planes| !planes.is_empty()))?;
        map.end()
    }
}

/// An entry that is there only where it has a value.
fn optional<M: SerializeMap>(
    map: &mut M,
    key: &str,
    value: Option<impl Serialize>,
) -> std::result::Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, &value))
}

/// The steps that have a sentence: their number, the sentence, the notice, and the nodes that are shown.
fn steps(page: &Page) -> Vec<Value> {
    let object = |(number, step): &(Option<usize>, &Step)| {
        let nodes = step.shown.iter().flat_map(StepItem::nodes);
        let nodes: Vec<&str> = nodes.map(|id| page.story.graph[id].name.as_str()).collect();
        Some(json!({ "step": (*number)?, "text": step.text, "notice": step.notice, "nodes": nodes }))
    };
    numbered(page).iter().filter_map(object).collect()
}

/// A picture of the plane: whose rows are its points, and from which to which its arrows go.
fn plane_object(plane: &Plane, graph: &Graph) -> Value {
    let name = |id: &NodeId| graph[*id].name.as_str();
    let points: Vec<&str> = plane.points.iter().map(name).collect();
    let arrows: Vec<[&str; 2]> = plane.arrows.iter().map(|(from, to)| [name(from), name(to)]).collect();
    json!({ "name": plane.name, "points": points, "arrows": arrows })
}

/// A node; `whole` with all of its numbers, also where they are too many to be looked at.
struct NodeObject<'a> {
    graph: &'a Graph,
    id: NodeId,
    whole: bool,
}

impl Serialize for NodeObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let NodeObject { graph, id, whole } = *self;
        let node = &graph[id];
        let inputs: Vec<&str> = node.inputs.iter().map(|&input| graph[input].name.as_str()).collect();
        let (rows, cols) = node.labels();
        let stays_in_file = node.typed().is_some_and(Tensor::is_stored);
        let is_left_out = stays_in_file || node.matrix().is_none() && !whole;
        let table = input::table(graph, id).ok().filter(|_| !is_left_out);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &node.name)?;
        optional(&mut map, "label", node.label.as_ref())?;
        optional(&mut map, "step", node.step.as_ref())?;
        map.serialize_entry("op", node.op.name())?;
        map.serialize_entry("params", &node.op.params())?;
        map.serialize_entry("inputs", &inputs)?;
        optional(&mut map, "collects", node.collects.as_ref())?;
        map.serialize_entry("formula", &formula(graph, id, Convention::Rows, false))?;
        map.serialize_entry("shape", &[node.shape().rows, node.shape().cols])?;
        map.serialize_entry("rows", &rows.map(|labels| &labels[..]))?;
        map.serialize_entry("cols", &cols.map(|labels| &labels[..]))?;
        map.serialize_entry("values", &table.map(Rows))?;
        // Rows that come from different places say from where.
        if let Op::Given(origin @ Origin::Rows(rows)) = &node.op {
            let rows: Vec<String> = (0..rows.len()).map(|row| origin.of_row(row).to_string()).collect();
            map.serialize_entry("origins", &rows)?;
        }
        // A node of the fast path has further keys: the reason why there are no values, or the type of its values.
        optional(&mut map, "never_formed", node.is_never_formed().then_some(true))?;
        optional(&mut map, "dtype", node.typed().map(|numbers| numbers.dtype().name()))?;
        let left_out = node.typed().filter(|_| is_left_out).map(|_| match stays_in_file {
            true => format!("{} numbers, in the model's file", node.shape()),
            false => {
                format!("{} numbers; --only {} writes them here, --save to a file", node.shape(), node.name)
            }
        });
        optional(&mut map, "left_out", left_out)?;
        map.end()
    }
}

pub(super) fn write_tables(parts: &[(String, Table)], command: &str, out: &mut dyn Write) -> Result<()> {
    let cell = |table: &Table, j: usize, cell: &str| {
        if table.numbers.contains(&j) {
            // A number column has null where there is no number.
            serde_json::from_str::<serde_json::Number>(cell).map_or(Value::Null, Value::Number)
        } else {
            cell.into()
        }
    };
    let row = |table: &Table, cells: &[String]| -> Value {
        let pairs = cells.iter().enumerate().zip(&table.header);
        Value::Object(
            pairs.map(|((j, text), head)| (head.clone(), cell(table, j, text))).collect::<Map<_, _>>(),
        )
    };
    let rows = |table: &Table| -> Vec<Value> { table.rows.iter().map(|cells| row(table, cells)).collect() };
    let tables: Vec<Value> =
        parts.iter().map(|(title, table)| json!({ "title": title, "rows": rows(table) })).collect();
    finish(
        &json!({ "schema": "attn-table", "version": TABLE_VERSION, "command": command, "tables": tables }),
        out,
    )
}

pub(super) fn finish(value: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    let mut out = BufWriter::new(out);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, EscapingFormatter);
    value.serialize(&mut serializer).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// JSON in one line; invisible characters in its texts become escapes of JSON's own: `\u202e`. It is read as the same text.
struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, text: &str) -> std::io::Result<()> {
        let mut end = 0;
        for (at, c) in hidden(text) {
            out.write_all(&text.as_bytes()[end..at])?;
            end = at + c.len_utf8();
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        out.write_all(&text.as_bytes()[end..])
    }
}

// The tree of an explanation as JSON, every digit, so that a program can evaluate it.

const EXPLANATION_SCHEMA: &str = "attn-explanation";
const EXPLANATION_VERSION: u32 = 1;

/// All explanations on the pages.
pub(super) fn explanations(pages: &[Page], command: &str, style: &Style) -> Value {
    let mut explanations: Vec<Value> = Vec::new();
    for page in pages {
        let graph = &page.story.graph;
        let writer = ExplanationJson { graph, symbols: Symbols::of(graph, style.convention) };
        for shown in page.story.steps.iter().flat_map(|step| &step.shown) {
            if let StepItem::Explained { of, .. } = shown {
                explanations.extend(of.iter().map(|one| writer.explanation(&one.explanation)));
            }
        }
    }
    json!({ "schema": EXPLANATION_SCHEMA, "version": EXPLANATION_VERSION, "command": command, "explanations": explanations })
}

struct ExplanationJson<'a> {
    graph: &'a Graph,
    symbols: Symbols,
}

impl ExplanationJson<'_> {
    /// The keys that every cell has, explained or not.
    fn cell(&self, cell: CellId) -> Value {
        json!({
            "address": address_of(self.graph, cell),
            "node": self.graph[cell.node].name,
            "row": cell.row + 1,
            "col": cell.col + 1,
            "symbol": self.symbols.cell(cell),
            "value": number(Term::Cell(cell).evaluate(self.graph)),
            "equation": formula(self.graph, cell.node, Convention::Rows, false),
        })
    }

    fn explanation(&self, explanation: &Explanation) -> Value {
        let notation = PlainSymbols { symbols: &self.symbols };
        let notes = explanation.notes.iter().map(|note| note.text(self.graph, |x| x.to_string()));
        let more = json!({
            "symbolic": written(&explanation.term, &notation),
            "term": self.term(&explanation.term),
            "notes": notes.collect::<Vec<_>>(),
            "operands": explanation.operands.iter().map(|one| self.branch(one)).collect::<Vec<_>>(),
        });
        merged([self.cell(explanation.cell), more])
    }

    fn branch(&self, branch: &Branch) -> Value {
        let (state, entry) = match branch {
            Branch::Explained(explanation) => ("explained", self.explanation(explanation)),
            Branch::Repeated(cell) => ("repeated", self.cell(*cell)),
            Branch::Further(cell) => ("further", self.cell(*cell)),
        };
        merged([entry, json!({ "state": state })])
    }

    /// A term as one key, its operation, with its parts.
    fn term(&self, term: &Term) -> Value {
        let all = |terms: &[Term]| -> Value { terms.iter().map(|term| self.term(term)).collect() };
        match term {
            Term::Cell(cell) => json!({ "cell": address_of(self.graph, *cell) }),
            Term::Number(x) => json!({ "number": number(*x) }),
            Term::Sum(terms) => json!({ "sum": all(terms) }),
            Term::Product(terms) => json!({ "product": all(terms) }),
            Term::Max(terms) => json!({ "max": all(terms) }),
            Term::Difference(a, b) => json!({ "difference": [self.term(a), self.term(b)] }),
            Term::Quotient(a, b) => json!({ "quotient": [self.term(a), self.term(b)] }),
            Term::Function(Function::Power(base), exponent) => {
                let base = match base {
                    Base::E => "e".into(),
                    Base::Number(base) => number(*base),
                };
                json!({ "power": { "base": base, "exponent": self.term(exponent) } })
            }
            Term::Function(Function::Logarithm, term) => json!({ "logarithm": self.term(term) }),
            Term::Function(Function::Tanh, term) => json!({ "tanh": self.term(term) }),
            Term::Function(Function::Erf, term) => json!({ "erf": self.term(term) }),
            Term::Function(Function::Root, term) => json!({ "root": self.term(term) }),
            Term::Function(Function::Size, term) => json!({ "size": self.term(term) }),
            Term::Function(Function::Sine, angle) => json!({ "sine": self.term(angle) }),
            Term::Function(Function::Cosine, angle) => json!({ "cosine": self.term(angle) }),
            Term::Function(Function::Rounded(decimals), term) => {
                json!({ "rounded": self.term(term), "decimals": decimals })
            }
            Term::Function(Function::Truncated(decimals), term) => {
                json!({ "truncated": self.term(term), "decimals": decimals })
            }
            Term::Choice { taken, because } => json!({ "choice": self.term(taken), "because": because }),
            Term::Leaf(x, phrase) => json!({ "leaf": number(*x), "is": phrase }),
            Term::With { name, is, within } => {
                json!({ "with": name, "is": self.term(is), "within": self.term(within) })
            }
            Term::Named(name) => json!({ "name": name }),
            Term::Rest { count, value } => json!({ "rest": number(*value), "count": count }),
        }
    }
}

// Diagnoses as JSON, one object a line.

/// The value of `schema`.
const DIAGNOSIS_SCHEMA: &str = "attn-diagnosis";
/// The value of `version`.
const DIAGNOSIS_VERSION: u64 = 1;

/// Writes a diagnosis as one object; `file` is the file that was judged, where there are several.
///
/// # Errors
/// If `out` cannot be written.
pub fn diagnosis(file: Option<&str>, of: &Diagnosis, right: &Graph, out: &mut dyn Write) -> Result<()> {
    let wrong = of.first_wrong();
    let rest = json!({
        "verdict": of.verdict(),
        "first_wrong": wrong.map(|node| &node.name),
        "mistakes": wrong.map_or(json!([]), |node| mistakes(&node.mistakes)),
        "nodes": of.nodes.iter().map(|judged| node(judged, right)).collect::<Vec<_>>(),
        "undetectable": of.undetectable.iter().map(|mistake| &*mistake.id).collect::<Vec<_>>(),
        "too_coarse": of.too_coarse.iter().map(|mistake| &*mistake.id).collect::<Vec<_>>(),
        "pairs_tried": of.pairs_tried,
    });
    finish(&merged([headed(file), rest]), out)
}

/// Writes an object for a file that cannot be judged, with its verdict (`unusable` or `ignored`) and the reason.
///
/// # Errors
/// If `out` cannot be written.
pub fn unusable(file: &str, verdict: &str, why: &str, out: &mut dyn Write) -> Result<()> {
    finish(&merged([headed(Some(file)), json!({ "verdict": verdict, "error": why })]), out)
}

fn headed(file: Option<&str>) -> Value {
    let head = json!({ "schema": DIAGNOSIS_SCHEMA, "version": DIAGNOSIS_VERSION });
    merged([Some(head), file.map(|file| json!({ "file": file }))].into_iter().flatten())
}

/// The entries of some objects, one after the other, as one object.
fn merged(objects: impl IntoIterator<Item = Value>) -> Value {
    let entries = |object| if let Value::Object(entries) = object { entries } else { Map::new() };
    Value::Object(objects.into_iter().flat_map(entries).collect())
}

fn mistakes(named: &[NamedMistake]) -> Value {
    let one = |at: usize| {
        let others = named.iter().enumerate().filter(|(other, _)| *other != at);
        let details: Vec<Option<&str>> = named[at].slips.iter().map(|slip| slip.detail.as_deref()).collect();
        json!({
            "ids": named[at].ids(),
            "details": details,
            "residual": number(named[at].residual),
            "chance": number(named[at].chance),
            "sentences": named[at].slips.iter().map(|slip| slip.sentence()).collect::<Vec<_>>(),
            "ambiguous_with": others.map(|(_, other)| other.ids()).collect::<Vec<_>>(),
        })
    };
    (0..named.len()).map(one).collect()
}

fn node(judged: &JudgedNode, right: &Graph) -> Value {
    let (verdict, details) = match &judged.verdict {
        Verdict::Right(distance) => ("right", measured(distance, right)),
        Verdict::AnotherForm(form) => ("another-form", json!({ "form": form.id })),
        Verdict::Close(CloseNumbers { distance, beyond, half }) => {
            let allowed = json!({ "allowed": number(beyond.difference.allowed) });
            let beyond = merged([measured(beyond, right), allowed]);
            let head = json!({ "stored_as": half.name, "beyond": beyond });
            ("close", merged([head, measured(distance, right)]))
        }
        Verdict::Follows => ("follows", json!({})),
        Verdict::Wrong(distance) => ("wrong", measured(distance, right)),
        Verdict::OtherShape(yours, expected) => {
            let shapes = [yours, expected].map(|shape| [shape.rows, shape.cols]);
            ("other-shape", json!({ "shape": shapes[0], "expected_shape": shapes[1] }))
        }
        Verdict::OtherCount(yours, expected) => {
            ("other-count", json!({ "matrices": yours, "expected_matrices": expected }))
        }
        Verdict::Unjudged => ("unjudged", json!({})),
    };
    let resembles = judged.resembles.as_ref().map(|resemblance| match resemblance {
        Resemblance::Zeros => json!("zeros"),
        Resemblance::NotANumber => json!("nan"),
        Resemblance::EvenWeights => json!("even-weights"),
        Resemblance::Node(name) => json!({ "node": name }),
    });
    let rest = json!({
        "mistakes": mistakes(&judged.mistakes),
        "read_as": judged.read_as,
        "resembles": resembles,
        "clues": judged.clues.iter().map(|clue| &clue.sentence).collect::<Vec<_>>(),
        "evidence": judged.evidence.iter().map(|cell| evidence(cell, right)).collect::<Vec<_>>(),
        "half_precision": judged.half.map(|half| half.name),
        "too_few_digits": judged.too_few_digits,
        "may_be_chance": judged.may_be_chance,
    });
    merged([json!({ "name": judged.name, "verdict": verdict }), details, rest])
}

/// A cell: the number found, the right number, and the number that the closest mistake gives.
fn evidence(cell: &Evidence, right: &Graph) -> Value {
    json!({
        "at": cell.address(right),
        "yours": number(cell.yours),
        "right": cell.right.map_or(Value::Null, number),
        "mistaken": cell.mistaken.map_or(Value::Null, number),
    })
}

/// The distance of a node from the reference, and its cell.
fn measured(Distance { node, difference }: &Distance, right: &Graph) -> Value {
    let address = |(row, col): (usize, usize)| {
        right.find(node).map(|node| address_of(right, CellId { node, row, col }))
    };
    json!({
        "largest": number(difference.max),
        "yours": number(difference.yours),
        "right": number(difference.expected),
        "at": address(difference.at),
        "first": address(difference.first),
        "cells": difference.cells,
        "of": difference.of,
    })
}

// A diagnosis of a port as JSON.

/// The value of `schema`.
const PORTING_SCHEMA: &str = "attn-porting";
/// The value of `version`.
const PORTING_VERSION: u64 = 1;

/// Writes a report on the tensors of a port as one object.
///
/// # Errors
/// If `out` cannot be written.
pub fn porting(report: &PortingReport, out: &mut dyn Write) -> Result<()> {
    let names: Map<String, Value> =
        report.namings.iter().map(|(naming, count)| (naming.name().to_string(), (*count).into())).collect();
    let shapes: Vec<Value> =
        report.other_shapes.iter().map(|(name, dims)| json!({ "name": name, "shape": dims })).collect();
    let object = json!({
        "schema": PORTING_SCHEMA,
        "version": PORTING_VERSION,
        "verdict": if report.is_right() { "right" } else { "wrong" },
        "compared": report.compared(),
        "agreeing": report.agreeing,
        "names": names,
        "precision": report.precision.name,
        "rounding": number(report.rounding),
        "conventions": report.conventions,
        "text": report.of_text.as_ref().map(mistake),
        "first_wrong": report.first.as_ref().map(difference),
        "mistakes": report.found.iter().map(found).collect::<Vec<_>>(),
        "unexplained": report.rest.iter().map(difference).collect::<Vec<_>>(),
        "not_compared": report.not_compared,
        "unknown": report.unknown,
        "other_shapes": shapes,
    });
    finish(&object, out)
}

fn mistake(mistake: &PortingMistake) -> Value {
    json!({ "id": mistake.id, "sentence": mistake.sentence, "change": mistake.change })
}

fn found(found: &Found) -> Value {
    json!({
        "at": found.difference.name,
        "any_of": found.mistakes.iter().map(mistake).collect::<Vec<_>>(),
        "with_the_one_before": found.is_second,
        "explained": found.explained,
        "relative": number(found.relative),
    })
}

fn difference(difference: &Difference) -> Value {
    json!({
        "name": difference.name,
        "node": difference.node,
        "step": difference.step,
        "layer": difference.layer,
        "head": difference.head,
        "row": difference.at.0,
        "column": difference.at.1,
        "yours": number(difference.yours),
        "right": number(difference.right),
        "largest": number(difference.largest),
        "relative": number(difference.relative),
    })
}

// Pages that compute for themselves: the data of each story, and the program as WebAssembly.

/// The crate `attn-page` as WebAssembly, compressed as zlib does. The command that builds it is in `docs/formats.md`.
const PROGRAM: &[u8] = include_bytes!("attn_page.zlib");

/// The program as a page holds it: in base64.
pub(crate) fn page_program() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| base64(PROGRAM))
}

/// Writes pages that compute for themselves.
///
/// # Errors
/// If a story cannot be computed again, or `out` not be written.
pub(super) fn write_live(pages: &[Page], command: &str, style: &Style, out: &mut dyn Write) -> Result<()> {
    let openings: Vec<String> =
        pages.iter().map(|page| opening(page, command, style)).collect::<Result<_>>()?;
    let mut html = html::Html::new(pages, style).computing(&openings);
    let inside = document::write_all(pages, style, &mut html);
    style.write(&html.page(&inside, command, Some(page_program())), out)
}

/// The data of a story, as JSON.
fn opening(page: &Page, command: &str, style: &Style) -> Result<String> {
    let without = "leave out --live: the page then shows where each number came from";
    let story = page.computing.as_deref().unwrap_or(&page.story).clone();
    let page = &Page { story, ..page.clone() };
    // All of its numbers, whatever the page shows.
    let whole = Page { headed: false, ..Page::whole(page.story.clone()) };
    let mut graph = Vec::new();
    write(&[whole], command, &mut graph)?;
    let unreadable = |error: serde_json::Error| Error::new(format!("the page cannot be written: {error}"));
    let graph = serde_json::from_slice(&graph).map_err(unreadable)?;
    let opening = Opening::new(page, style, graph).map_err(|error| error.help(without))?;
    serde_json::to_string(&opening).map_err(unreadable)
}
