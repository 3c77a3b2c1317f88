//! `mask`: scores, mask, −∞, softmax, triangular weights; and that a later token changes nothing before it.

use super::projections::{Inputs, Widths, inputs, projections};
use super::stream::MASKED;
use crate::attention::{Axis, Base, Mask, MatrixRule};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;

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
    digits: Digits::AsNumPy,
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let inputs = inputs(demo, "", &MASKED, Widths::AsX)?;
    demo.step("Each row of X is one token. Three weight matrices, drawn like X, are the parameters.")
        .together(&[inputs.x])
        .together(&inputs.weights);

    let [q, k, v] = projections(demo, "", inputs)?;
    demo.step("Every token gets a query, a key and a value: three products with the same X.")
        .show(&[q, k, v]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    demo.step("Row i of the scores compares the query of token i with every key, later tokens included.")
        .show(&[s]);

    let m = demo.compute("M", Op::MaskPattern(Mask { causal: true, ..Mask::default() }), &[s])?;
    demo.step("The mask has a 1 where a token may look: at itself and at what came before.").show(&[m]);

    let allowed = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
    let masked = demo.compute("S_masked", Op::Mask(allowed), &[s, m])?;
    demo.step("Where the mask has a 0 the score becomes −∞. (A 0 would not do: it is an ordinary score.)")
        .show(&[masked]);

    let a = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[masked])?;
    demo.step("The softmax of each row. exp(−∞) is exactly 0, and the other weights still sum to 1.")
        .notice("Token 1 has only itself to look at, so its weight is {A[1,1]}, whatever its score was.")
        .show(&[a]);

    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step("Each output row mixes the values of the tokens up to its own.")
        .notice("Row 1 of O is row 1 of V, digit for digit.")
        .show(&[o]);
    another_future(demo, inputs, o)
}

/// The same computation with another last token.
fn another_future(demo: &mut Builder, inputs: Inputs, o: NodeId) -> Result<()> {
    let before = demo.matrix(inputs.x)?;
    let last = before.rows().saturating_sub(1);
    let change = Matrix::from_fn(before.rows(), before.cols(), |i, _| if i == last { 1.0 } else { 0.0 });
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[inputs.x, change])?;
    demo.step("Now another future: the same steps for X + change.")
        .notice("Every number of token 4 grows by 1. Tokens 1 to 3 stay as they are.")
        .together(&[change]);

    let [q, k, v] = projections(demo, "_changed", Inputs { x: changed, ..inputs })?;
    let s = demo.compute("S_changed", Op::ProductTransposed, &[q, k])?;
    let masked =
        demo.compute("S_masked_changed", Op::Mask(Mask { causal: true, ..Mask::default() }), &[s])?;
    let a = demo.compute("A_changed", Op::Softmax(Axis::Rows, Base::E), &[masked])?;
    let output = demo.compute("O_changed", Op::Product, &[a, v])?;
    let difference = demo.compute("difference", Op::Subtract, &[output, o])?;
    let mut shown = vec![difference];
    if last > 0 {
        let rows = demo.compute("earlier_rows", Op::Rows { start: 0, count: last }, &[difference])?;
        shown.push(demo.compute("largest", Op::Summary(Statistic::LargestSize), &[rows])?);
    }
    demo.step("What has moved in the output: no row above the first token that changed.")
        .notice("The largest difference in the earlier rows is {largest[1,1]}: not small, but none at all.")
        .show(&shown);
    Ok(())
}
