//! `sum-heads`: adding the heads' Δe is one product of their concatenation with the stacked V_up.

use crate::attention::{Axis, Base, Mask};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, top_of_row};

pub(super) const DEMO: Demo = Demo {
    name: "sum-heads",
    source: Source::section(Document::OneThird, "Output"),
    title: "The sum of the heads is one output matrix",
    summary: "adding up the heads equals concatenation times W_O",
    place: crate::demo::Topic::Heads.at(4),
    keywords: &["head", "heads", "residual", "concatenation"],
    digits: Digits::Places(4),
    build,
};

const TOKENS: [&str; 3] = ["fluffy", "blue", "creature"];

/// A head's scores and the two factors of its W_V.
struct Head {
    scores: NodeId,
    down: NodeId,
    up: NodeId,
}

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([[2.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]]);
    let x = demo.given("X", x.rows_named(&TOKENS))?;
    let heads = [first_head(demo)?, second_head(demo)?];
    demo.step("Tokens and two heads. Each head has its own scores, and its own W_V as two factors: V_down, then V_up.")
        .together(&[x, heads[0].scores, heads[1].scores])
        .together(&[heads[0].down, heads[0].up])
        .together(&[heads[1].down, heads[1].up]);

    let weights = [weights(demo, "1", &heads[0])?, weights(demo, "2", &heads[1])?];
    demo.step("The weights of each head, after the causal mask.")
        .claim(
            all([top_of_row("A_1[creature,blue]"), top_of_row("A_2[creature,fluffy]")]),
            "In head 1 creature attends most to blue, in head 2 to fluffy.",
        )
        .show(&weights);

    let mixes = [mix(demo, "1", x, weights[0], &heads[0])?, mix(demo, "2", x, weights[1], &heads[1])?];
    demo.step("Each head mixes its own narrow values X V_down.").show(&mixes);

    let sum = separately(demo, &heads, mixes)?;
    let output = at_once(demo, &heads, mixes)?;
    compare(demo, x, sum, output)
}

fn first_head(demo: &mut Builder) -> Result<Head> {
    let scores = Matrix::of([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 3.0, 0.0]]);
    let down = Matrix::of([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]);
    let up = Matrix::of([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, -1.0]]);
    head(demo, "1", scores, down, up)
}

fn second_head(demo: &mut Builder) -> Result<Head> {
    let scores = Matrix::of([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 1.0]]);
    let down = Matrix::of([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]);
    let up = Matrix::of([[0.0, 3.0, 0.0, 1.0], [1.0, 0.0, -1.0, 0.0]]);
    head(demo, "2", scores, down, up)
}

fn head(demo: &mut Builder, number: &str, scores: Matrix, down: Matrix, up: Matrix) -> Result<Head> {
    Ok(Head {
        scores: demo.given(&format!("S_{number}"), scores.rows_named(&TOKENS).cols_named(&TOKENS))?,
        down: demo.given(&format!("V_down_{number}"), down)?,
        up: demo.given(&format!("V_up_{number}"), up)?,
    })
}

fn weights(demo: &mut Builder, number: &str, head: &Head) -> Result<NodeId> {
    let causal = Op::Mask(Mask { causal: true, ..Mask::default() });
    let masked = demo.compute(&format!("S_masked_{number}"), causal, &[head.scores])?;
    demo.compute(&format!("A_{number}"), Op::Softmax(Axis::Rows, Base::E), &[masked])
}

/// The weights times the head's narrow values.
fn mix(demo: &mut Builder, number: &str, x: NodeId, weights: NodeId, head: &Head) -> Result<NodeId> {
    let values = demo.compute(&format!("V_{number}"), Op::Product, &[x, head.down])?;
    demo.compute(&format!("O_{number}"), Op::Product, &[weights, values])
}

/// The document's way: every head takes its mix up to the full width, and the proposals are added.
fn separately(demo: &mut Builder, heads: &[Head; 2], mixes: [NodeId; 2]) -> Result<NodeId> {
    let first = demo.compute("delta_1", Op::Product, &[mixes[0], heads[0].up])?;
    let second = demo.compute("delta_2", Op::Product, &[mixes[1], heads[1].up])?;
    let sum = demo.compute("delta_sum", Op::Add, &[first, second])?;
    demo.step(
        "One way: each V_up takes the mix of its head to the full width. This is the head's Δe. All of them are added.",
    )
    .show(&[first, second, sum]);
    Ok(sum)
}

/// The way it is built: one concatenation, one matrix.
fn at_once(demo: &mut Builder, heads: &[Head; 2], mixes: [NodeId; 2]) -> Result<NodeId> {
    let first = demo.compute("V_u_1", Op::Transpose, &[heads[0].up])?;
    let second = demo.compute("V_u_2", Op::Transpose, &[heads[1].up])?;
    let side_by_side = demo.compute("V_u", Op::Concatenate, &[first, second])?;
    let w_o = demo.compute("W_O", Op::Transpose, &[side_by_side])?;
    demo.step(
        "The output matrix W_O holds all V_up, one below the other. (The text has them side by side, as columns.) The V_down \
         are not in it: they stay with the heads and make the values.",
    )
    .together(&[side_by_side, w_o]);

    let c = demo.compute("C", Op::Concatenate, &mixes)?;
    let output = demo.compute("O", Op::Product, &[c, w_o])?;
    demo.step("The other way: the mixes of all heads side by side, times W_O.").show(&[c, output]);
    Ok(output)
}

fn compare(demo: &mut Builder, x: NodeId, sum: NodeId, output: NodeId) -> Result<()> {
    let apart = demo.compute("difference", Op::Subtract, &[output, sum])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    demo.step("Both ways add the same products in a different order, so they can differ only by rounding.")
        .claim(
            equal("largest[1,1]", 0.0),
            "Here they do not differ at all: the largest difference is {largest[1,1]}.",
        )
        .claim(less(0.0, "largest[1,1]"), "The largest difference is {largest[1,1]:16}.")
        .show(&[apart, largest]);

    let updated = demo.compute("X_updated", Op::Add, &[x, output])?;
    demo.step("Each token plus the sum of what its heads add: the text's e_i + Σ Δe_i.").show(&[updated]);
    Ok(())
}
