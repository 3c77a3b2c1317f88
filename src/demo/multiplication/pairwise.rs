//! `pairwise`: a matrix product as the table of all dot products.

use crate::demo::fit::rows_over_and_over;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, columns, equal, less, max_size_of, rows};

pub(super) const DEMO: Demo = Demo {
    name: "pairwise",
    source: Source::section(Document::Multiplication, "Computing the attention weights"),
    title: "A B as a table of all dot products",
    summary: "A B as all dot products of rows of A and columns of B",
    place: crate::demo::Topic::Products.at(1),
    keywords: &["matrix product", "matmul", "dot product", "multiplication"],
    digits: Digits::Places(4),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let a = Matrix::of([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0], [-1.0, 2.0]]);
    let a = demo.given("A", a.rows_named(&["a1", "a2", "a3", "a4"]))?;
    let b = rows_over_and_over([[1.0, 1.0, -2.0], [0.0, 2.0, 1.0]], demo.matrix(a)?.cols());
    let b = demo.fitted("B", b.cols_named(&["b1", "b2", "b3"]), (2, 3))?;
    demo.step("Two sets of vectors. One set is in the rows of A, the other in the columns of B.")
        .claim(
            all([equal(rows("A"), 4.0), equal(columns("A"), 2.0), equal(columns("B"), 3.0)]),
            "A holds four vectors and B three. All have two coordinates.",
        )
        .together(&[a, b]);

    let ab = demo.compute("AB", Op::Product, &[a, b])?;
    demo.step(
        "Cell (i, j) of A B is the dot product of row i of A with column j of B: multiply number by number, then add.",
    )
    .symbols(ab);
    demo.step("So A B holds all dot products. It has a row for each vector of A and a column for each vector of B.")
        .claim(
            all([
                equal("AB[a3,b1]", 0.0),
                less(0.0, max_size_of("A[a3]")),
                less(0.0, max_size_of("B[*,b1]")),
            ]),
            "a3 and b1 are at a right angle, so their dot product is {AB[a3,b1]}.",
        )
        .claim(
            less("AB[a1,b3]", 0.0),
            "The angle between a1 and b3 is more than a right angle, so their dot product is negative: {AB[a1,b3]}.",
        )
        .show(&[ab]);
    one_pair(demo, a, b)?;

    let k = demo.compute("K", Op::Transpose, &[b])?;
    let s = demo.compute("S", Op::ProductTransposed, &[a, k])?;
    let difference = demo.compute("difference", Op::Subtract, &[s, ab])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step("Attention keeps its keys in rows, so K is the transpose of B. The product with Kᵀ gives the same table: every query with every key.")
        .claim(equal("largest[1,1]", 0.0), "The two tables are equal: the largest difference is {largest[1,1]}.")
        .show(&[k, s, largest]);
    Ok(())
}

/// The last vector of each set, on their own.
fn one_pair(demo: &mut Builder, a: NodeId, b: NodeId) -> Result<()> {
    let (last_row, last_col) = (demo.matrix(a)?.rows(), demo.matrix(b)?.cols());
    let row = Op::Rows { start: last_row.saturating_sub(1), count: 1 };
    let col = Op::Columns { start: last_col.saturating_sub(1), count: 1 };
    let row = demo.compute("a_last", row, &[a])?;
    let col = demo.compute("b_last", col, &[b])?;
    let dot = demo.compute("dot", Op::Product, &[row, col])?;
    demo.step(
        "One pair on its own, the last vector of each set. Its dot product is the last cell of the table.",
    )
    .together(&[row, col])
    .show(&[dot]);
    Ok(())
}
