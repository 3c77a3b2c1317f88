//! `unembed`: from a vector back to a word, and the effect of the temperature on the choice.

use super::words::{FEATURES, vectors};
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::{Matrix, labels};
use crate::story::Digits;
use crate::story::condition::{all, equal, less, own, top_of_row, within};

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
    demo.step("x is the vector that the model has computed for the last word. W_E has one row for each word that the model knows.")
        .claim(own(&["x"]), "x asks for something that has to do with a nation and with its government.")
        .together(&[x, w_e]);

    let logits = demo.compute("logits", Op::ProductTransposed, &[x, w_e])?;
    demo.step(
        "The logits are the dot products of x with every word: d numbers become V numbers, one for each word. (Some models, \
         such as Llama 3 8B, have a second matrix for this.)",
    )
    .show(&[logits]);
    let p = demo.compute("p", Op::Softmax(Axis::Rows, Base::E), &[logits])?;
    demo.step(
        "The softmax turns them into probabilities. The next word is the most probable one, or it is drawn at random from p.",
    )
    .claim(top_of_row("p[1,Delhi]"), "“Delhi” is the most probable word, with {p[1,Delhi]:2}.")
    .claim(
        all([
            equal("p[1,India]", "p[1,capital]"),
            less("p[1,India]", "p[1,Delhi]"),
            less("p[1,Mumbai]", "p[1,India]"),
            less("p[1,city]", "p[1,India]"),
            less("p[1,the]", "p[1,India]"),
        ]),
        "“India” and “capital” come next, with {p[1,India]:2} each.",
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
    let all = demo.collect("temperatures", "temperatures", Some(names), &rows)?;
    demo.step(
        "The logits can be divided by a temperature T first. T below 1 sharpens the probabilities, T above 1 levels them. \
         The order of the words stays the same.",
    )
    .claim(
        less("temperatures[5,Delhi]", "temperatures[1,Delhi]"),
        "“Delhi” falls from {temperatures[1,Delhi]:2} to {temperatures[5,Delhi]:2}. Equal probabilities would be 1/6 each.",
    )
    .show(&[all]);
    Ok(())
}

fn word_to_word(demo: &mut Builder, w_e: NodeId) -> Result<()> {
    let back = demo.compute("back", Op::ProductTransposed, &[w_e, w_e])?;
    demo.step(
        "Does every word find itself? Each row of this table holds the logits of one word against all words.",
    )
    .claim(
        less("back[capital,capital]", "back[capital,Delhi]"),
        "“capital” scores {back[capital,capital]} with itself but {back[capital,Delhi]} with “Delhi”: the dot product \
         favours long vectors.",
    )
    .show(&[back]);
    let unit = demo.compute("W_E_unit", Op::UnitRows, &[w_e])?;
    let cosines = demo.compute("back_unit", Op::ProductTransposed, &[unit, unit])?;
    demo.step("If all rows have length 1, no word scores higher with another word than with itself.")
        .claim(
            all([
                within(1e-9, "back_unit[Delhi,Delhi]", 1.0),
                within(1e-9, "back_unit[Mumbai,Mumbai]", 1.0),
                within(1e-9, "back_unit[India,India]", 1.0),
                within(1e-9, "back_unit[capital,capital]", 1.0),
                within(1e-9, "back_unit[city,city]", 1.0),
                within(1e-9, "back_unit[the,the]", 1.0),
            ]),
            "Every word now scores 1 with itself.",
        )
        .show(&[cosines]);
    Ok(())
}
