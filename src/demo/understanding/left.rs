//! `left`: the effect of a matrix on the left of X on the tokens, from the identity to weights that sum to 1.

use super::stream::{LEFT, LEFT_SCORES, X};
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};
use crate::matrix::{Matrix, labels};
use crate::story::Digits;
use crate::story::condition::{all, every, identity, not, own, symmetric, top_of_row, zeros_above_diagonal};

pub(super) const DEMO: Demo = Demo {
    name: "left",
    source: Source::section(Document::Understanding, "Interaction matrices in practice"),
    title: "L X: a matrix on the left mixes the tokens",
    summary: "a matrix on the left mixes tokens: five kinds of L",
    place: crate::demo::Topic::Products.at(4),
    keywords: &["interaction", "mixing", "tokens", "average"],
    digits: Digits::Places(2),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let seed = demo.seed();
    let x = demo.drawn("X", X.tokens(seed))?;
    demo.step("Each row of X is a token. In L X, row i of L says how much each token gives to new token i.")
        .folded(&[x]);
    identity_and_ones(demo, x)?;
    triangle(demo, x)?;

    let tokens = demo.matrix(x)?.rows();
    let l = labelled(demo, x, LEFT.draw(seed, tokens, tokens))?;
    let l = demo.drawn("L_random", l)?;
    let y = demo.compute("Y_random", Op::Product, &[l, x])?;
    demo.step("L can hold any numbers, negative ones too.")
        .heading_if(own(&["L_random"]), "A random L mixes the tokens with no visible pattern.")
        .together(&[l, y]);

    sums_and_averages(demo, x)?;
    let [l, y] = weights(demo, x)?;
    columns_never_mix(demo, x, l, y)
}

/// A heading that describes L is shown if it is true of the numbers in use.
fn identity_and_ones(demo: &mut Builder, x: NodeId) -> Result<()> {
    let tokens = demo.matrix(x)?.rows();
    let shown = left_product(demo, "identity", x, Matrix::identity(tokens))?;
    demo.step("A first L, and what it makes of the tokens.")
        .heading_if(
            all([zeros_above_diagonal("L_identity"), symmetric("L_identity"), not(identity("L_identity"))]),
            "With zeros off the diagonal, each token is only multiplied by its own number.",
        )
        .heading_if(
            identity("L_identity"),
            "With ones on the diagonal and zeros elsewhere, every token stays as it is.",
        )
        .together(&shown);

    let shown = left_product(demo, "ones", x, Matrix::filled(tokens, tokens, 1.0))?;
    demo.step("A second L.")
        .heading_if(
            every("L_ones", 1.0),
            "With ones everywhere, every new token is the same: the sum of all tokens.",
        )
        .together(&shown);
    Ok(())
}

fn triangle(demo: &mut Builder, x: NodeId) -> Result<()> {
    let tokens = demo.matrix(x)?.rows();
    let ones = Matrix::from_fn(tokens, tokens, |i, j| if j <= i { 1.0 } else { 0.0 });
    let shown = left_product(demo, "triangle", x, ones)?;
    demo.step("A third L.")
        .heading_if(
            all([zeros_above_diagonal("L_triangle"), not(own(&["L_triangle"]))]),
            "With zeros above the diagonal, no token takes anything from a later one.",
        )
        .heading_if(
            own(&["L_triangle"]),
            "Zeros above the diagonal: a token takes from itself and earlier ones only.",
        )
        .together(&shown);
    Ok(())
}

/// The sum of ever more tokens, and their average.
fn sums_and_averages(demo: &mut Builder, x: NodeId) -> Result<()> {
    let tokens = demo.matrix(x)?.rows();
    let (mut text, mut sums, mut averages) = (x, Vec::new(), Vec::new());
    for (name, times) in [("once", 1), ("twice", 2), ("four_times", 4), ("eight_times", 8)] {
        if times > 1 {
            text = demo.compute(&format!("X_{name}"), Op::Stack(None), &[text, text])?;
        }
        let sum = demo.compute(&format!("sum_{name}"), Op::Sums(Axis::Columns), &[text])?;
        let scale = Op::Scale(Factor::Inverse(tokens * times));
        averages.push(demo.compute(&format!("average_{name}"), scale, &[sum])?);
        sums.push(sum);
    }
    let names = labels(&["X once", "twice", "4 times", "8 times"]);
    let sums = demo.collect("sums", "sums", Some(names.clone()), &sums)?;
    let averages = demo.collect("averages", "averages", Some(names), &averages)?;
    demo.step("A longer text has more tokens to add, so sums can grow with it. Averages cannot.")
        .together(&[sums, averages]);
    Ok(())
}

/// L as weights, exponentials divided by the sum of their row; and the tokens averaged by them.
fn weights(demo: &mut Builder, x: NodeId) -> Result<[NodeId; 2]> {
    let (seed, tokens) = (demo.seed(), demo.matrix(x)?.rows());
    let s = labelled(demo, x, LEFT_SCORES.draw(seed, tokens, tokens))?;
    let s = demo.drawn("S", s)?;
    let exponentials = demo.compute("exp_S", Op::Exponential(Base::E), &[s])?;
    let l = demo.compute("L_softmax", Op::DivideBySum(Axis::Rows), &[exponentials])?;
    let y = demo.compute("Y_softmax", Op::Product, &[l, x])?;
    demo.step(
        "So each row of L is made into weights that sum to 1: take exp, then divide by the sum of the row. Each new \
         token is then an average of the old ones.",
    )
    .folded(&[s, exponentials])
    .together(&[l, y])
    .claim(
        top_of_row("L_softmax[2,4]"),
        "New token 2 takes most from old token 4, with weight {L_softmax[2,4]:2}.",
    );
    Ok([l, y])
}

fn columns_never_mix(demo: &mut Builder, x: NodeId, l: NodeId, y: NodeId) -> Result<()> {
    let before = demo.matrix(x)?;
    let change = Matrix::from_fn(before.rows(), before.cols(), |_, j| if j == 0 { 1.0 } else { 0.0 });
    let change = change.with_row_labels(before.row_labels().cloned());
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let output = demo.compute("Y_changed", Op::Product, &[l, changed])?;
    let difference = demo.compute("difference", Op::Subtract, &[output, y])?;
    demo.step("Columns never mix: L (X + change) differs from L X only in the changed columns.")
        .together(&[change, difference])
        .claim(
            own(&["change"]),
            "The rows of L sum to 1, so adding 1 to column 1 of X adds 1 to column 1 of L X.",
        );
    Ok(())
}

/// A given L, its rows and columns named like the tokens, and L X.
fn left_product(demo: &mut Builder, case: &str, x: NodeId, l: Matrix) -> Result<[NodeId; 2]> {
    let l = labelled(demo, x, l)?;
    let l = demo.given(&format!("L_{case}"), l)?;
    Ok([l, demo.compute(&format!("Y_{case}"), Op::Product, &[l, x])?])
}

fn labelled(demo: &Builder, x: NodeId, l: Matrix) -> Result<Matrix> {
    let names = demo.matrix(x)?.row_labels().cloned();
    Ok(l.with_row_labels(names.clone()).with_col_labels(names))
}
