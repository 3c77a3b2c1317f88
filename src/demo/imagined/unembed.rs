//! `unembed`: from a vector back to a word, and what the temperature does to the choice.

use super::words::{FEATURES, vectors};
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::{Matrix, labels};

pub(super) const DEMO: Demo = Demo {
    name: "unembed",
    source: Source::section(Document::Imagined, "Finishing notes"),
    title: "From a vector back to a word",
    summary: "from a vector back to a word: logits, softmax, temperature",
    place: crate::demo::Topic::Model.at(4),
    keywords: &["logits", "softmax", "prediction", "vocabulary", "sampling", "temperature"],
    digits: Digits::Places(4),
    build,
};

const VOCABULARY: [&str; 6] = ["Delhi", "Mumbai", "India", "capital", "city", "the"];

fn build(demo: &mut Builder) -> Result<()> {
    let x = demo.given("x", Matrix::of([[1.0, 0.0, 1.0, 0.0]]).cols_named(&FEATURES))?;
    let w_e = demo.given("W_E", vectors(&VOCABULARY))?;
    demo.step("x is what the model has made of the last word. W_E holds one row for each word it knows.")
        .notice("x asks for something of a nation and of its government.")
        .together(&[x, w_e]);

    let logits = demo.compute("logits", Op::ProductTransposed, &[x, w_e])?;
    demo.step(
        "The logits compare x with every word by a dot product: d numbers become V. (Some models, such as \
         Llama 3 8B, have a second matrix for this.)",
    )
    .show(&[logits]);
    let p = demo.compute("p", Op::Softmax(Axis::Rows, Base::E), &[logits])?;
    demo.step(
        "The softmax makes probabilities of them. The next word is the most probable one, or it is drawn \
         from p.",
    )
    .notice(
        "“Delhi” gets {p[1,Delhi]:2}; “India” and “capital” share the second place with {p[1,India]:2} \
             each.",
    )
    .show(&[p]);
    temperature(demo, logits, p)?;
    word_to_word(demo, w_e)
}

fn temperature(demo: &mut Builder, logits: NodeId, p: NodeId) -> Result<()> {
    let mut rows = Vec::new();
    for (name, temperature) in [("cold", 0.25), ("cool", 0.5), ("", 1.0), ("warm", 2.0), ("hot", 10.0)] {
        if name.is_empty() {
            rows.push(p);
            continue;
        }
        let divided = demo.compute(&format!("logits_{name}"), Op::Temperature(temperature), &[logits])?;
        rows.push(demo.compute(&format!("p_{name}"), Op::Softmax(Axis::Rows, Base::E), &[divided])?);
    }
    let names = labels(&["T = 0.25", "T = 0.5", "T = 1", "T = 2", "T = 10"]);
    let all = demo.compute("temperatures", Op::Stack(Some(names)), &rows)?;
    demo.step(
        "A temperature T divides the logits first. Below 1 it sharpens the choice, above 1 it levels it; \
         the order of the words stays.",
    )
    .notice(
        "“Delhi” falls from {temperatures[1,Delhi]:2} to {temperatures[5,Delhi]:2}; an even share would \
             be 1/6.",
    )
    .show(&[all]);
    Ok(())
}

fn word_to_word(demo: &mut Builder, w_e: NodeId) -> Result<()> {
    let back = demo.compute("back", Op::ProductTransposed, &[w_e, w_e])?;
    demo.step(
        "Does every word find itself? A row of this table holds the logits of a word against all words.",
    )
    .notice(
        "“capital” scores {back[capital,capital]} with itself and {back[capital,Delhi]} with “Delhi”: a \
             dot product favours long vectors.",
    )
    .show(&[back]);
    let unit = demo.compute("W_E_unit", Op::UnitRows, &[w_e])?;
    let cosines = demo.compute("back_unit", Op::ProductTransposed, &[unit, unit])?;
    demo.step("With rows of length 1 no word can beat a word's own score with itself.")
        .notice("Every row now has its 1 on the diagonal.")
        .show(&[cosines]);
    Ok(())
}
