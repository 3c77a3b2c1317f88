//! A story in the language of demos, every digit: reading it again makes the same matrices, steps and notes.

use std::fmt::Write as _;

use serde_json::Value;

use crate::attention::WeightLayout;
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, Node, NodeId, Op, Origin};
use crate::json_number;
use crate::language::{KEYWORDS, LINE_WORDS, LONGEST, function_of};
use crate::matrix::Matrix;
use crate::story::{Digits, Step, StepItem, Story, Table};

/// The story as a demo.
///
/// # Errors
/// If a matrix of it was never formed: then there are no steps that could be written.
pub fn write(story: &Story) -> Result<String> {
    let mut text = head(story);
    let mut again = Graph::new();
    let mut told = story.steps.iter().peekable();
    let ids: Vec<NodeId> = story.graph.nodes().map(|(id, _)| id).collect();
    let mut written = 0;
    // A step follows the last of the matrices that it shows.
    while let Some(step) = told.next() {
        let needed = step.shown.iter().chain(&step.in_brief).flat_map(StepItem::nodes).max();
        let until = match told.peek() {
            Some(_) => needed.map_or(written, |last| ids.iter().take_while(|id| **id <= last).count()),
            None => ids.len(),
        };
        for &id in &ids[written..until.max(written)] {
            definition(&mut text, &story.graph, id, &mut again)?;
        }
        written = until.max(written);
        step_of(&mut text, &story.graph, step)?;
    }
    for &id in &ids[written..] {
        definition(&mut text, &story.graph, id, &mut again)?;
    }
    if text.len() > LONGEST {
        let error = format!(
            "this would be a demo of {} KiB, and a demo has at most {} KiB",
            text.len() >> 10,
            LONGEST >> 10
        );
        return Err(Error::new(error).help("--format json has no such limit"));
    }
    Ok(text)
}

fn head(story: &Story) -> String {
    let mut text = format!("attn-demo: 1\ntitle: {}\n", one_line(&story.title));
    let mut say = |key: &str, value: &str| {
        let _ = writeln!(text, "{key}: {}", one_line(value));
    };
    if let Some(source) = &story.source {
        say("source", source);
    }
    match story.digits {
        Digits::Places(places) => say("digits", &places.to_string()),
        Digits::AsNumPy => say("digits", "numpy"),
    }
    if let Some(begin) = &story.begin {
        say("begin", begin);
    }
    story.notes.iter().for_each(|note| say("note", note));
    story.remarks.iter().for_each(|remark| say("remark", remark));
    text + "# Sentences and remarks tell these numbers. Who changes a number reads them again.\n\n"
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name as the language reads it: in quotes where it would be something else.
fn name(name: &str) -> String {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let is_plain = |c: char| c.is_alphanumeric() || c == '_';
    let parts = name.split('.').all(|part| part.chars().next().is_some_and(char::is_alphabetic));
    let is_word = begins && parts && name.chars().all(|c| is_plain(c) || c == '.') && !name.contains('ᵀ');
    let others = ["inf", "nan", "max", "last", "causal", "like", "T"];
    let is_taken = KEYWORDS.contains(&name) || LINE_WORDS.contains(&name) || others.contains(&name);
    let ends_turned = name.split('.').skip(1).any(|part| part == "T");
    if is_word && !is_taken && !ends_turned { name.to_string() } else { text(name) }
}

fn text(text: &str) -> String {
    format!("\"{}\"", text.replace(['\n', '\r'], " ").replace('"', "\"\""))
}

/// A sentence: what stands in it for braces is written in quotes, in braces.
fn sentence(text: &str) -> String {
    let braces = |c: char| match c {
        '{' | '}' => format!("{{\"{c}\"}}"),
        c => c.to_string(),
    };
    one_line(text).chars().map(braces).collect()
}

/// A line that defines a node, and the node in a graph of what a reader would make of it.
fn definition(out: &mut String, graph: &Graph, id: NodeId, again: &mut Graph) -> Result<()> {
    let node = &graph[id];
    let Some(matrix) = node.matrix() else {
        return Err(Error::new(format!("{} is never formed, so no step of it can be written", node.name))
            .help("leave out --fast: then every step has its numbers"));
    };
    let inputs: Vec<String> = node.inputs.iter().map(|&input| name(&graph[input].name)).collect();
    let (right, read) = match &node.op {
        Op::Given(origin) => {
            let read = again.given(&node.name, matrix.clone(), origin.clone())?;
            (given(matrix), read)
        }
        op => {
            let made: Vec<NodeId> =
                node.inputs.iter().map(|&input| again.require(&graph[input].name)).collect::<Result<_>>()?;
            (computed(graph, node, &inputs), again.add(&node.name, op.clone(), &made)?)
        }
    };
    let _ = write!(out, "{} = {right}", name(&node.name));
    let derived = again.matrix(read)?;
    let is_given = node.op.is_given();
    for (what, own, made) in [
        ("rows", matrix.row_labels(), derived.row_labels()),
        ("cols", matrix.col_labels(), derived.col_labels()),
    ] {
        let names_rows = what == "rows" && matches!(&node.op, Op::Stack(Some(_)));
        match own {
            Some(own) if is_given || names_rows || Some(own) != made => {
                let names: Vec<String> = own.iter().map(|label| name(label)).collect();
                let _ = write!(out, " {what} {}", names.join(", "));
            }
            None if made.is_some() => {
                let _ = write!(out, " {what} ()");
            }
            _ => {}
        }
    }
    if let Some(label) = &node.label {
        let _ = write!(out, " label {}", text(label));
    }
    if let Some(of) = &node.collects {
        let _ = write!(out, " of {}", text(of));
    }
    if let Some(step) = node.step {
        let _ = write!(out, " stage {}", json(&serde_json::to_value(step).unwrap_or_default()));
    }
    if let Op::Given(origin) = &node.op
        && *origin != Origin::Stated
    {
        let _ = write!(out, " origin {}", json(&serde_json::to_value(origin).unwrap_or_default()));
    }
    out.push('\n');
    again.name_lines(read, matrix.row_labels().cloned(), matrix.col_labels().cloned());
    Ok(())
}

fn given(matrix: &Matrix) -> String {
    let row = |i: usize| matrix.row(i).map(number).collect::<Vec<_>>().join(" ");
    format!("[{}]", (0..matrix.rows()).map(row).collect::<Vec<_>>().join("; "))
}

/// A number with all of its digits.
fn number(x: f64) -> String {
    let plain = format!("{x}");
    let text = if plain.len() > 24 { format!("{x:e}") } else { plain };
    text.replace("NaN", "nan")
}

/// The right-hand side: as the screen prints it where that is read as the same op, and in full elsewhere.
fn computed(graph: &Graph, node: &Node, inputs: &[String]) -> String {
    if node.collects.is_some() || matches!(node.op, Op::Stack(None) | Op::Concatenate) {
        return in_full(&node.op, inputs);
    }
    match (&node.op, inputs) {
        (Op::Product, [a, b]) => format!("{a} · {b}"),
        (Op::ProductTransposed, [a, b]) => format!("{a} · {b}ᵀ"),
        (Op::TransposedProduct, [a, b]) => format!("{a}ᵀ · {b}"),
        (Op::Transpose, [a]) => format!("{a}ᵀ"),
        (Op::Add, [_, _, ..]) => inputs.join(" + "),
        (Op::Subtract, [a, b]) => format!("{a} − {b}"),
        (Op::Multiply, [a, b]) => format!("{a} ∘ {b}"),
        (Op::Divide, [a, b]) => format!("{a} / {b}"),
        (Op::Linear(WeightLayout::InOut), [x, w, b]) => format!("{x} · {w} + {b}"),
        (Op::Linear(WeightLayout::OutIn), [x, w, b]) => format!("{x} · {w}ᵀ + {b}"),
        (Op::Scale(Factor::InverseRoot(width)), [a]) => format!("{a} / √{width}"),
        (Op::Scale(Factor::Inverse(width)), [a]) => format!("{a} · 1/{width}"),
        (Op::Scale(Factor::Number(factor)), [a]) if factor.is_finite() => format!("{} {a}", number(*factor)),
        (Op::Temperature(temperature), [a]) => format!("{a} / {}", number(*temperature)),
        (Op::Stack(Some(_)), _) => format!("stack({})", inputs.join(", ")),
        (op, _) => match function_of(op, inputs.len()) {
            // A sink's column is not in the name of the function.
            Some(function)
                if !matches!(op, Op::SoftmaxWithSink { .. }) || graph[node.inputs[1]].shape().cols == 1 =>
            {
                format!("{function}({})", inputs.join(", "))
            }
            _ => in_full(op, inputs),
        },
    }
}

/// `op.scale(S, factor = ("inverse-root" = 64))`
fn in_full(op: &Op, inputs: &[String]) -> String {
    let params = op.params();
    let params = params.as_object().into_iter().flatten();
    let params = params.map(|(key, value)| format!("{} = {}", key_of(key), json(value)));
    let all: Vec<String> = inputs.iter().cloned().chain(params).collect();
    format!("op.{}({})", op.name().replace('-', "_"), all.join(", "))
}

fn key_of(key: &str) -> String {
    if key.contains('-') { text(key) } else { key.to_string() }
}

/// A value of JSON in the language.
fn json(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(_) => json_number::number(value).map_or_else(|| value.to_string(), number),
        Value::String(string) => text(string),
        Value::Array(items) => format!("list({})", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| format!("{} = {}", key_of(key), json(value));
            format!("({})", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The sentence of a step, and what it shows.
fn step_of(out: &mut String, graph: &Graph, step: &Step) -> Result<()> {
    let one = |id: &NodeId| name(&graph[*id].name);
    let names = |ids: &[NodeId], between: &str| ids.iter().map(one).collect::<Vec<_>>().join(between);
    let _ = writeln!(out, ": {}", sentence(&step.text));
    for item in &step.shown {
        let line = match item {
            StepItem::Node(id) => format!("show {}", one(id)),
            StepItem::Together(ids) => format!("show | {}", names(ids, " | ")),
            StepItem::Folded(ids) => format!("fold {}", names(ids, ", ")),
            StepItem::Symbols(id) => format!("symbols {}", one(id)),
            StepItem::Columns(columns) => {
                let column = |(id, sum): &(NodeId, Option<NodeId>)| match sum {
                    Some(sum) => format!("{} sum {}", one(id), one(sum)),
                    None => one(id),
                };
                format!("columns {}", columns.iter().map(column).collect::<Vec<_>>().join(" | "))
            }
            StepItem::Plane(plane) => {
                let arrows = plane.arrows.iter().map(|(from, to)| format!("{} → {}", one(from), one(to)));
                let parts: Vec<String> = plane.points.iter().map(one).chain(arrows).collect();
                format!("plane {}", parts.join(", "))
            }
            StepItem::Table(table) => table_of(table),
            StepItem::Open(_) | StepItem::Picture(_) | StepItem::Explained { .. } | StepItem::Symbolic(_) => {
                return Err(Error::new("a demo shows matrices, and no explanations, symbols of cells, pictures or open questions")
                    .help("--format markdown or html has them"));
            }
        };
        let _ = writeln!(out, "{line}");
    }
    if let Some(StepItem::Together(ids)) = &step.in_brief
        && let [id] = ids[..]
    {
        let _ = writeln!(out, "brief {}", one(&id));
    }
    if let Some(notice) = &step.notice {
        let _ = writeln!(out, "if own(): {}", sentence(notice));
    }
    out.push('\n');
    Ok(())
}

fn table_of(table: &Table) -> String {
    let row = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.map(|cell| sentence(&cell).replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let head = |(at, head): (usize, &String)| {
        if table.numbers.contains(&at) { format!("# {head}") } else { head.clone() }
    };
    let mut lines = vec![row(&mut table.header.iter().enumerate().map(head))];
    lines.extend(table.rows.iter().map(|cells| row(&mut cells.iter().cloned())));
    lines.join("\n")
}
