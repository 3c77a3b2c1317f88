//! `left`: what a matrix on the left of X does to the tokens, from the identity to weights that sum to 1.

use super::stream::{FEATURES, LEFT, LEFT_SCORES, TOKENS, X};
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;

pub(super) const DEMO: Demo = Demo {
    name: "left",
    source: Source::section(Document::Understanding, "Interaction matrices in practice"),
    title: "L X: a matrix on the left mixes the tokens",
    summary: "a matrix on the left mixes tokens: five kinds of L",
    place: crate::demo::Topic::Products.at(4),
    keywords: &["interaction", "mixing", "tokens", "average"],
    digits: Digits::AsNumPy,
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let seed = demo.seed();
    let x = demo.drawn("X", X.draw(seed, TOKENS, FEATURES))?;
    demo.step(
        "Each row of X is one token. In L X, row i of L says how much of each token goes into new token i.",
    )
    .notice("Four tokens of five numbers, drawn at random.")
    .together(&[x]);

    let tokens = demo.matrix(x)?.rows();
    let l = given_left(demo, "identity", x, Matrix::identity(tokens))?;
    let y = demo.compute("Y_identity", Op::Product, &[l, x])?;
    demo.step("With ones on the diagonal and zeros elsewhere, every token keeps to itself: L X is X.")
        .together(&[l])
        .show(&[y]);

    let l = given_left(demo, "ones", x, Matrix::filled(tokens, tokens, 1.0))?;
    let y = demo.compute("Y_ones", Op::Product, &[l, x])?;
    demo.step("With ones everywhere, every new token is the same: the sum of all tokens.")
        .together(&[l])
        .show(&[y]);

    let triangle = Matrix::from_fn(tokens, tokens, |i, j| if j <= i { 1.0 } else { 0.0 });
    let l = given_left(demo, "triangle", x, triangle)?;
    let y = demo.compute("Y_triangle", Op::Product, &[l, x])?;
    demo.step(
        "Zeros above the diagonal: a token takes from itself and from earlier ones, never from later ones.",
    )
    .notice("Token 1 stays as it is; the last one is the sum of all four.")
    .together(&[l])
    .show(&[y]);

    let l = labelled(demo, x, LEFT.draw(seed, tokens, tokens))?;
    let l = demo.drawn("L_random", l)?;
    let y = demo.compute("Y_random", Op::Product, &[l, x])?;
    demo.step("L may hold any numbers, negative ones too.")
        .notice("Drawn at random, they mix the tokens without any order to see.")
        .together(&[l])
        .show(&[y]);
    weighted(demo, x)
}

/// L as weights: exponentials divided by the sum of their row.
fn weighted(demo: &mut Builder, x: NodeId) -> Result<()> {
    let (seed, tokens) = (demo.seed(), demo.matrix(x)?.rows());
    let s = labelled(demo, x, LEFT_SCORES.draw(seed, tokens, tokens))?;
    let s = demo.drawn("S", s)?;
    let exponentials = demo.compute("exp_S", Op::Exponential(Base::E), &[s])?;
    let l = demo.compute("L_softmax", Op::DivideBySum(Axis::Rows), &[exponentials])?;
    demo.step("A sum grows with the number of tokens, an average does not. So each row becomes weights: exp, then divided by its sum.")
        .together(&[s])
        .show(&[exponentials, l]);

    let y = demo.compute("Y_softmax", Op::Product, &[l, x])?;
    demo.step("Each new token is now an average of the old ones, weighted by a row of L.")
        .notice("New token 2 is mostly old token 4, with weight {L_softmax[2,4]:2}.")
        .show(&[y]);

    let before = demo.matrix(x)?;
    let change = Matrix::from_fn(before.rows(), before.cols(), |_, j| if j == 0 { 1.0 } else { 0.0 });
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let output = demo.compute("Y_changed", Op::Product, &[l, changed])?;
    let difference = demo.compute("difference", Op::Subtract, &[output, y])?;
    demo.step(
        "Columns never mix: L (X + change) differs from L X only in the columns that the change touches.",
    )
    .notice("Column 1 of X grows by 1. The rows of L sum to 1, so column 1 of L X grows by 1, too.")
    .together(&[change])
    .show(&[difference]);
    Ok(())
}

/// A given L, its rows and columns named like the tokens.
fn given_left(demo: &mut Builder, case: &str, x: NodeId, l: Matrix) -> Result<NodeId> {
    let l = labelled(demo, x, l)?;
    demo.given(&format!("L_{case}"), l)
}

fn labelled(demo: &Builder, x: NodeId, l: Matrix) -> Result<Matrix> {
    let names = demo.matrix(x)?.row_labels().cloned();
    Ok(l.with_row_labels(names.clone()).with_col_labels(names))
}
