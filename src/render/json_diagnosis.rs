//! Diagnoses as JSON, one object a line.

use std::io::Write;

use serde_json::{Value, json};

use super::json::finish;
use crate::diagnose::{
    CloseNumbers, Clue, Diagnosis, Distance, Evidence, JudgedNode, NamedMistake, Resemblance, Verdict,
};
use crate::error::Result;
use crate::graph::{CellId, Graph, address_of};
use crate::json_number::value as number;

/// The value of `schema`.
const SCHEMA: &str = "attn-diagnosis";
/// The value of `version`.
const VERSION: u64 = 1;

/// Writes a diagnosis as one object; `file` is the file that was judged, where there are several.
///
/// # Errors
/// If `out` cannot be written.
pub fn diagnosis(file: Option<&str>, of: &Diagnosis, right: &Graph, out: &mut dyn Write) -> Result<()> {
    let wrong = of.first_wrong();
    let mut object = headed(file);
    let rest = [
        ("verdict", Value::from(of.verdict())),
        ("first_wrong", wrong.map_or(Value::Null, |node| node.name.as_str().into())),
        ("mistakes", wrong.map_or(json!([]), |node| mistakes(&node.mistakes))),
        ("nodes", of.nodes.iter().map(|judged| node(judged, right)).collect()),
        ("undetectable", of.undetectable.iter().map(|mistake| mistake.id).collect()),
        ("too_coarse", of.too_coarse.iter().map(|mistake| mistake.id).collect()),
        ("pairs_tried", of.pairs_tried.into()),
    ];
    object.extend(rest.map(|(key, value)| (key.to_string(), value)));
    finish(&Value::Object(object), out)
}

/// Writes an object for a file that cannot be judged, with its verdict (`unusable` or `ignored`) and the reason.
///
/// # Errors
/// If `out` cannot be written.
pub fn unusable(file: &str, verdict: &str, why: &str, out: &mut dyn Write) -> Result<()> {
    let mut object = headed(Some(file));
    object.insert("verdict".into(), verdict.into());
    object.insert("error".into(), why.into());
    finish(&Value::Object(object), out)
}

fn headed(file: Option<&str>) -> serde_json::Map<String, Value> {
    let mut object = serde_json::Map::new();
    object.insert("schema".into(), SCHEMA.into());
    object.insert("version".into(), VERSION.into());
    if let Some(file) = file {
        object.insert("file".into(), file.into());
    }
    object
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
    let mut object = json!({ "name": judged.name });
    match &judged.verdict {
        Verdict::Right(distance) => {
            object["verdict"] = "right".into();
            measured(&mut object, distance, right);
        }
        Verdict::AnotherForm(form) => {
            object["verdict"] = "another-form".into();
            object["form"] = form.id.into();
        }
        Verdict::Close(CloseNumbers { distance, beyond, half }) => {
            object["verdict"] = "close".into();
            object["stored_as"] = half.name.into();
            object["beyond"] = json!({});
            measured(&mut object["beyond"], beyond, right);
            object["beyond"]["allowed"] = number(beyond.difference.allowed);
            measured(&mut object, distance, right);
        }
        Verdict::Follows => object["verdict"] = "follows".into(),
        Verdict::Wrong(distance) => {
            object["verdict"] = "wrong".into();
            measured(&mut object, distance, right);
        }
        Verdict::OtherShape(yours, expected) => {
            object["verdict"] = "other-shape".into();
            object["shape"] = json!([yours.rows, yours.cols]);
            object["expected_shape"] = json!([expected.rows, expected.cols]);
        }
        Verdict::OtherCount(yours, expected) => {
            object["verdict"] = "other-count".into();
            object["matrices"] = (*yours).into();
            object["expected_matrices"] = (*expected).into();
        }
        Verdict::Unjudged => object["verdict"] = "unjudged".into(),
    }
    object["mistakes"] = mistakes(&judged.mistakes);
    object["read_as"] = json!(judged.read_as);
    object["resembles"] = match &judged.resembles {
        None => Value::Null,
        Some(Resemblance::Zeros) => "zeros".into(),
        Some(Resemblance::NotANumber) => "nan".into(),
        Some(Resemblance::EvenWeights) => "even-weights".into(),
        Some(Resemblance::Node(name)) => json!({ "node": name }),
    };
    object["clues"] = judged.clues.iter().map(Clue::sentence).collect();
    object["evidence"] = judged.evidence.iter().map(|cell| evidence(cell, right)).collect();
    object["half_precision"] = judged.half.map_or(Value::Null, |half| half.name.into());
    object["too_few_digits"] = judged.too_few_digits.into();
    object["may_be_chance"] = judged.may_be_chance.into();
    object
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
fn measured(object: &mut Value, Distance { node, difference }: &Distance, right: &Graph) {
    let address = |(row, col): (usize, usize)| {
        right.find(node).map(|node| address_of(right, CellId { node, row, col }))
    };
    object["largest"] = number(difference.max);
    object["yours"] = number(difference.yours);
    object["right"] = number(difference.expected);
    object["at"] = json!(address(difference.at));
    object["first"] = json!(address(difference.first));
    object["cells"] = difference.cells.into();
    object["of"] = difference.of.into();
}
