//! `mask`: scores, mask, −∞, softmax, triangular weights; and that a later token changes nothing before it.

use super::projections::{Inputs, Widths, inputs, projections};
use super::stream::MASKED;
use crate::attention::{Axis, Base, Mask, MatrixRule};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, every, less, own, rows, sum};

pub(super) const DEMO: Demo = Demo {
    name: "mask",
    source: Source::section(Document::Understanding, "Masked attention"),
    title: "The causal mask: no token reads the future",
    summary: "the causal mask: no token attends to a later one",
    place: crate::demo::Topic::Start.at(4),
    keywords: &[
        "attention",
        "causal",
        "decoder",
        "future",
        "hidden",
        "masking",
        "triangle",
        "autoregressive",
    ],
    digits: Digits::Places(2),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let inputs = inputs(demo, "", &MASKED, Widths::AsX)?;
    let [w_q, w_k, w_v] = inputs.weights;
    demo.step("Each row of X is a token. The three weight matrices are the parameters.")
        .folded(&[inputs.x, w_q, w_k, w_v]);

    let [q, k, v] = projections(demo, "", inputs)?;
    demo.step("Each token gets a query, a key and a value: three products with the same X.")
        .folded(&[q, k, v]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let m = demo.compute("M", Op::MaskPattern(Mask { causal: true, ..Mask::default() }), &[s])?;
    demo.step(
        "Row i of the scores S compares query i with every key, later ones too. The mask M has a 1 where a token \
         may attend: to itself and to earlier tokens.",
    )
    .together(&[s, m])
    .in_brief(s);

    let allowed = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
    let masked = demo.compute("S_masked", Op::Mask(allowed), &[s, m])?;
    let a = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[masked])?;
    demo.step(
        "Where M is 0 the score becomes −∞. (A score of 0 would not hide it.) exp(−∞) is exactly 0, and each row \
         of the weights A still sums to 1.",
    )
    .together(&[masked, a])
    .claim(
        equal("A[1,1]", 1.0),
        "The first token attends to itself alone, with weight {A[1,1]}, whatever its score.",
    );

    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step("Each row of the output O mixes the values of its own token and earlier ones.")
        .together(&[v, o])
        .claim(
            all([equal("A[1,1]", 1.0), equal("O[1,1]", "V[1,1]"), equal(sum("O[1]"), sum("V[1]"))]),
            "Row 1 of O is row 1 of V, digit for digit.",
        );
    another_future(demo, inputs, o)
}

/// The same computation with another last token.
fn another_future(demo: &mut Builder, inputs: Inputs, o: NodeId) -> Result<()> {
    let before = demo.matrix(inputs.x)?;
    let last = before.rows().saturating_sub(1);
    let change = Matrix::from_fn(before.rows(), before.cols(), |i, _| if i == last { 1.0 } else { 0.0 });
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[inputs.x, change])?;
    let [q, k, v] = projections(demo, "_changed", Inputs { x: changed, ..inputs })?;
    let s = demo.compute("S_changed", Op::ProductTransposed, &[q, k])?;
    let masked =
        demo.compute("S_masked_changed", Op::Mask(Mask { causal: true, ..Mask::default() }), &[s])?;
    let a = demo.compute("A_changed", Op::Softmax(Axis::Rows, Base::E), &[masked])?;
    let output = demo.compute("O_changed", Op::Product, &[a, v])?;
    demo.step("Now change X, and take the same steps for X + change.")
        .heading_if(
            all([own(&["change"]), less(1.0, rows("X"))]),
            "Now change the future: the same steps, with 1 added to the last token.",
        )
        .folded(&[change]);

    let difference = demo.compute("difference", Op::Subtract, &[output, o])?;
    if last > 0 {
        let rows = demo.compute("earlier_rows", Op::Rows { start: 0, count: last }, &[difference])?;
        demo.compute("largest", Op::Summary(Statistic::MaxSize), &[rows])?;
    }
    demo.step("In the output only rows from the first changed token on can change.")
        .together(&[difference])
        .claim(
            every("earlier_rows", 0.0),
            "The earlier rows do not change at all: the largest difference is exactly {largest[1,1]}.",
        );
    Ok(())
}
