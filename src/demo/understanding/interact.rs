//! `interact`: Y = L X R, in symbols and in numbers, and that the order of the two products does not matter.

use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, columns, equal, rows, whole};

pub(super) const DEMO: Demo = Demo {
    name: "interact",
    source: Source::section(Document::Understanding, "Token interaction as matrix multiplication"),
    title: "Y = L X R: L mixes tokens, R mixes features",
    summary: "L X mixes tokens, X R mixes features, and the order is free",
    place: crate::demo::Topic::Products.at(3),
    keywords: &["interaction", "matrix product", "associative"],
    digits: Digits::Places(4),
    build,
};

/// The rows of R, repeated as needed: two features kept, and a third that is added to one and subtracted from the other.
const R_ROWS: [[f64; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]];

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([[1.0, 2.0, 0.0], [3.0, 1.0, 2.0]]).rows_named(&["art", "writing"]);
    let x = demo.given("X", x)?;
    demo.step("“The art of writing is the art of discovering what you believe”: meaning lies in the words and in how they are arranged, so tokens have to interact. In X each row is a token, each column a feature.")
        .symbols(x);

    let (tokens, features) = (demo.matrix(x)?.rows(), demo.matrix(x)?.cols());
    let names = demo.matrix(x)?.row_labels().cloned();
    let l = Matrix::from_fn(tokens, tokens, |i, j| if i == j { 2.0 + i as f64 } else { 1.0 });
    let l = demo.given("L", l.with_row_labels(names.clone()).with_col_labels(names))?;
    let r = demo.given("R", Matrix::from_fn(features, 2, |i, j| R_ROWS[i % R_ROWS.len()][j]))?;
    demo.step("Two matrices change X: L stands on its left, R on its right.").together(&[l, x, r]).claim(
        all([equal(rows("X"), 2.0), equal(columns("X"), 3.0), equal(columns("R"), 2.0)]),
        "Here are two tokens of three features; R makes two features of them.",
    );

    let lx = demo.compute("LX", Op::Product, &[l, x])?;
    demo.step("L X in symbols: each sum runs down one column of X. Tokens mix, features do not.").symbols(lx);
    demo.step("The same in numbers. The shape of X stays when L is square.").show(&[lx]);

    let xr = demo.compute("XR", Op::Product, &[x, r])?;
    demo.step("X R in symbols: each sum runs along one row of X. Features mix, tokens do not.").symbols(xr);
    demo.step("The same in numbers. R decides how many features come out.").show(&[xr]);
    both_orders(demo, [l, r], [lx, xr])
}

/// (L X) R and L (X R), compared.
fn both_orders(demo: &mut Builder, [l, r]: [NodeId; 2], [lx, xr]: [NodeId; 2]) -> Result<()> {
    let y = demo.compute("Y", Op::Product, &[lx, r])?;
    demo.step("Both together: mix the tokens first, then their features.").show(&[y]);

    let other = demo.compute("Y_features_first", Op::Product, &[l, xr])?;
    demo.step("Or mix the features first, then the tokens. In the demo qkv, X R is called V, and L is the weights A.")
        .show(&[other]);

    let difference = demo.compute("difference", Op::Subtract, &[y, other])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step("(L X) R = L (X R): the order of the two products does not matter, up to rounding.")
        .claim(
            all([whole("Y"), equal("largest[1,1]", 0.0)]),
            "Whole numbers are not rounded: the largest difference is exactly {largest[1,1]}.",
        )
        .show(&[difference, largest]);
    Ok(())
}
