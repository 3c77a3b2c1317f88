//! A diagnosis of a port as JSON.

use std::io::Write;

use serde_json::{Value, json};

use super::json::finish;
use crate::error::Result;
use crate::json_number::value as number;
use crate::model::porting::{Difference, Found, PortingMistake, PortingReport};

/// The value of `schema`.
const SCHEMA: &str = "attn-porting";
/// The value of `version`.
const VERSION: u64 = 1;

/// Writes a report on the tensors of a port as one object.
///
/// # Errors
/// If `out` cannot be written.
pub fn porting(report: &PortingReport, out: &mut dyn Write) -> Result<()> {
    let names: serde_json::Map<String, Value> =
        report.namings.iter().map(|(naming, count)| (naming.name().to_string(), (*count).into())).collect();
    let shapes: Vec<Value> =
        report.other_shapes.iter().map(|(name, dims)| json!({ "name": name, "shape": dims })).collect();
    let object = json!({
        "schema": SCHEMA,
        "version": VERSION,
        "verdict": if report.is_right() { "right" } else { "wrong" },
        "compared": report.compared(),
        "agreeing": report.agreeing,
        "names": names,
        "precision": report.precision.name(),
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
