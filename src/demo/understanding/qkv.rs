//! `qkv`: queries, keys and values from X, the weights that follow from them, and why the weights must depend on X.

use super::projections::{Inputs, Widths, inputs, projections};
use super::stream::{MASKED, SQUARE, WIDE};
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::story::Digits;
use crate::story::condition::less;

pub(super) const DEMO: Demo = Demo {
    name: "qkv",
    source: Source::section(Document::Understanding, "Parameterizing query, key, and value"),
    title: "Queries, keys and values: the tokens decide how they mix",
    summary: "Q, K and V from X, then softmax(Q Kᵀ) V, step by step",
    place: crate::demo::Topic::Queries.at(4),
    keywords: &[
        "attention",
        "self-attention",
        "query",
        "queries",
        "key",
        "keys",
        "value",
        "values",
        "projection",
    ],
    digits: Digits::Places(2),
    build,
};

/// The widths of queries and keys, and of values: H2 and H1 in the document.
const D_K: usize = 7;
const D_V: usize = 6;

fn build(demo: &mut Builder) -> Result<()> {
    let wide = inputs(demo, "", &WIDE, Widths::Of(D_K, D_V))?;
    let [w_q, w_k, w_v] = wide.weights;
    demo.step(
        "Each row of X is a token. The other three matrices are parameters; W_V may have a width of its own.",
    )
    .together(&[wide.x])
    .folded(&[w_q, w_k, w_v]);

    let [q, k, v] = projections(demo, "", wide)?;
    demo.step("Each matrix multiplies X from the right, so no token has been mixed with another yet.")
        .together(&[q, k, v]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let a = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[s])?;
    demo.step("Row i of the scores S holds the dot products of query i with every key. Like the text, we do not divide by √d_k.")
        .together(&[s]);
    demo.step("The softmax of each row gives the weights A, which the text calls L.").together(&[a]).claim(
        less(0.99, "A[1,1]"),
        "With unscaled scores this large, token 1 gives {A[1,1]:6} of its attention to itself.",
    );

    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step("A V is L X R: W_V changes the features of each token, A mixes the tokens.").together(&[o]);

    one_matrix(demo, wide, s)?;
    other_tokens(demo, wide, a)?;
    square(demo)
}

/// The scores through W_Q W_Kᵀ, without Q and K.
fn one_matrix(demo: &mut Builder, wide: Inputs, s: NodeId) -> Result<()> {
    let [w_q, w_k, _] = wide.weights;
    let w_qk = demo.compute("W_QK", Op::ProductTransposed, &[w_q, w_k])?;
    let half = demo.compute("X_W_QK", Op::Product, &[wide.x, w_qk])?;
    let direct = demo.compute("S_direct", Op::ProductTransposed, &[half, wide.x])?;
    let difference = demo.compute("difference", Op::Subtract, &[direct, s])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step("Q Kᵀ = X (W_Q W_Kᵀ) Xᵀ up to rounding: only the product of the two weight matrices counts, and X stands on both sides of it.")
        .together(&[w_qk])
        .together(&[direct, largest]);
    Ok(())
}

/// The same weight matrices on other tokens.
fn other_tokens(demo: &mut Builder, wide: Inputs, a: NodeId) -> Result<()> {
    let (rows, cols) = (demo.matrix(wide.x)?.rows(), demo.matrix(wide.x)?.cols());
    let other = MASKED.x.other_tokens(demo.seed(), rows, cols);
    let x = demo.drawn("X_other", other)?;
    let [q, k, _] = projections(demo, "_other", Inputs { x, ..wide })?;
    let s = demo.compute("S_other", Op::ProductTransposed, &[q, k])?;
    let a_other = demo.compute("A_other", Op::Softmax(Axis::Rows, Base::E), &[s])?;
    demo.step("Another X with the same W_Q and W_K gives other weights. An L that is itself a parameter would mix every text in the same way.")
        .folded(&[x])
        .together(&[a, a_other])
        .claim(
            less("A_other[1,1]", "A[1,1]"),
            "In the first text token 1 gives itself {A[1,1]:6}, in the second {A_other[1,1]:6}.",
        );
    Ok(())
}

/// The document's second case: queries, keys and values as wide as X.
fn square(demo: &mut Builder) -> Result<()> {
    let square = inputs(demo, "_square", &SQUARE, Widths::AsX)?;
    let [q, k, v] = projections(demo, "_square", square)?;
    let s = demo.compute("S_square", Op::ProductTransposed, &[q, k])?;
    let a = demo.compute("A_square", Op::Softmax(Axis::Rows, Base::E), &[s])?;
    let o = demo.compute("O_square", Op::Product, &[a, v])?;
    let [w_q, w_k, w_v] = square.weights;
    demo.step("The same steps with Q, K and V as wide as X, so that the result can be added to X. With several heads, this is the width of all of them together.")
        .folded(&[square.x, w_q, w_k, w_v])
        .together(&[a, v])
        .together(&[o]);
    Ok(())
}
