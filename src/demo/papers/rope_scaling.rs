//! The last step of `rope`: one query and one key further and further apart, before and after linear scaling.

use super::gap::ROUNDING;
use crate::attention::{Pairing, RopeScaling, Rotation};
use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Labels;
use crate::story::condition::{Condition, all, equal, less, not, within};

/// The largest distance in the texts of training.
const TRAINED: usize = 3;
/// No factor is larger: the table has a row for each distance.
const MOST_FACTOR: usize = 16;

/// The frequencies before and after the scaling, and the scores with both; queries and keys are not rotated yet.
pub(super) fn scaling(demo: &mut Builder, words: [NodeId; 2], f: NodeId) -> Result<()> {
    let (factor, number) = demo.count("factor", 3, MOST_FACTOR)?;
    let linear = RopeScaling::Linear { factor: number as f64 };
    let f_linear = demo.compute("F_linear", Op::ScaledFrequencies(linear), &[f])?;
    let names: Labels = ["unscaled", "linear"].map(String::from).to_vec().into();
    let both = demo.collect("frequencies", "rows", Some(names), &[f, f_linear])?;
    demo.step(
        &format!(
            "For longer texts than in training, linear scaling divides every frequency by a factor. Suppose that training had \
             distances up to {TRAINED}."
        ),
    )
    .heading_if(
        less(1.0, "factor[1,1]"),
        &format!(
            "For longer texts than in training, linear scaling divides every frequency by a factor: all pairs turn more \
             slowly. Suppose that training had distances up to {TRAINED}."
        ),
    )
    .claim(equal("factor[1,1]", 1.0), "With the factor 1 every frequency stays as it is.")
    .together(&[factor])
    .show(&[both]);

    let far = TRAINED * number;
    let scores = by_distance(demo, words, [f, f_linear], far)?;
    demo.step(
        "One query and one key, further and further apart. Row t is the score of the last word's query at position t and the \
         first word's key at position 0.",
    )
    .claim(
        all([less(1.0, "factor[1,1]"), squeezed(number)]),
        &format!(
            "With scaled frequencies the score at distance {far} is the old one at distance {TRAINED}: no angle is larger than in \
             training, but most are new."
        ),
    )
    .claim(
        not(within(1e-3, "scores[1,1]", "scores[1,2]")),
        "Near words move closer too: the score at distance 1 changes from {scores[1,1]} to {scores[1,2]}.",
    )
    .show(&[scores]);
    Ok(())
}

/// The scores of the last word's query and the first word's key at the distances from 1 on: a column for each of the
/// frequencies.
fn by_distance(
    demo: &mut Builder,
    [q, k]: [NodeId; 2],
    frequencies: [NodeId; 2],
    far: usize,
) -> Result<NodeId> {
    let last = demo.matrix(q)?.rows().saturating_sub(1);
    let q = demo.compute("q_last", Op::Rows { start: last, count: 1 }, &[q])?;
    let k = demo.compute("k_first", Op::Rows { start: 0, count: 1 }, &[k])?;
    let ones = demo.compute("ones", Op::Ones { rows: far, cols: 1 }, &[])?;
    let everywhere = demo.compute("q_everywhere", Op::Product, &[ones, q])?;
    let rotary = Op::Rotary(Rotation { first: 1, pairing: Pairing::Halves, magnitude: 1.0 });
    let mut rows = Vec::new();
    for (name, f) in ["unscaled", "linear"].into_iter().zip(frequencies) {
        let q = demo.compute(&format!("q_{name}"), rotary.clone(), &[everywhere, f])?;
        rows.push(demo.compute(&format!("scores_{name}"), Op::ProductTransposed, &[k, q])?);
    }
    let names: Labels = ["unscaled", "linear"].map(String::from).to_vec().into();
    let rows = demo.compute("scores_across", Op::Stack(Some(names)), &rows)?;
    demo.compute("scores", Op::Transpose, &[rows])
}

/// At the distance i times the factor, the scaled score is the unscaled one at the distance i.
fn squeezed(factor: usize) -> Condition {
    let at = |i: usize| within(ROUNDING, &*format!("scores[{},2]", i * factor), &*format!("scores[{i},1]"));
    Condition::All((1..=TRAINED).map(at).collect())
}
