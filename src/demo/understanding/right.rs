//! `right`: the effect of a matrix on the right of X on the features, and of weights in its columns.

use super::stream::{RIGHT, X};
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, columns, equal, less, max_of, min_of, own, rows};

pub(super) const DEMO: Demo = Demo {
    name: "right",
    source: Source::section(Document::Understanding, "Interaction matrices in practice"),
    title: "X R: a matrix on the right mixes the features",
    summary: "a matrix on the right mixes features, each token by itself",
    place: crate::demo::Topic::Products.at(5),
    keywords: &["features", "projection", "linear", "width"],
    digits: Digits::Places(2),
    build,
};

/// The number of features of the result: H1 in the document.
const NEW_FEATURES: usize = 6;

fn build(demo: &mut Builder) -> Result<()> {
    let seed = demo.seed();
    let x = demo.drawn("X", X.tokens(seed))?;
    let features = demo.matrix(x)?.cols();
    let r = demo.drawn("R", RIGHT.draw(seed, features, NEW_FEATURES))?;
    demo.step(
        "X has a row for each token. R has a row for each feature of X, and a column for each new one.",
    )
    .together(&[x])
    .together(&[r]);

    let y = demo.compute("Y", Op::Product, &[x, r])?;
    demo.step("Column j of R says how much of each feature goes into new feature j. X R is as wide as R.")
        .together(&[y])
        .claim(
            all([equal(columns("X"), 5.0), equal(columns("R"), 6.0), equal(rows("X"), 4.0)]),
            "Five features become six; the tokens are still four.",
        );
    rows_never_mix(demo, x, r, y)?;
    softmaxed(demo, x, r)
}

fn rows_never_mix(demo: &mut Builder, x: NodeId, r: NodeId, y: NodeId) -> Result<()> {
    let before = demo.matrix(x)?;
    let change = Matrix::from_fn(before.rows(), before.cols(), |i, _| if i == 0 { 1.0 } else { 0.0 });
    let change = change.with_row_labels(before.row_labels().cloned());
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let output = demo.compute("Y_changed", Op::Product, &[changed, r])?;
    let difference = demo.compute("difference", Op::Subtract, &[output, y])?;
    demo.step("Rows never mix: (X + change) R differs from X R only in the changed rows.")
        .together(&[change, difference])
        .claim(
            own(&["change"]),
            "Every number of token 1 grows by 1. The other rows of X R stay exactly as they were.",
        );
    Ok(())
}

/// R as weights, which no model uses: an average of features cannot subtract.
fn softmaxed(demo: &mut Builder, x: NodeId, r: NodeId) -> Result<()> {
    let weights = demo.compute("R_softmax", Op::Softmax(Axis::Columns, Base::E), &[r])?;
    let sums = demo.compute("sum", Op::Sums(Axis::Columns), &[weights])?;
    demo.step("R could hold weights, too: with a softmax down each column, every column sums to 1.")
        .together(&[weights, sums]);

    let y = demo.compute("Y_softmax", Op::Product, &[x, weights])?;
    demo.step(
        "Each new feature is now an average of the token's own features. It cannot be a difference of two features, \
         or lie outside their range. So models leave R free.",
    )
    .together(&[y])
    .claim(
        all([
            equal(min_of("X[1]"), "X[1,2]"),
            equal(max_of("X[1]"), "X[1,4]"),
            less("Y[1,2]", min_of("X[1]")),
        ]),
        "Token 1 has features from {X[1,2]:2} to {X[1,4]:2}. Its new feature 2 was {Y[1,2]:2}; now it is \
         {Y_softmax[1,2]:2}.",
    );
    Ok(())
}
