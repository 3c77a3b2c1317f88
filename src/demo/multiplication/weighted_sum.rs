//! `weighted-sum`: a matrix product as weighted sums of rows.

use crate::attention::Axis;
use crate::demo::fit::rows_over_and_over;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less};

pub(super) const DEMO: Demo = Demo {
    name: "weighted-sum",
    source: Source::section(Document::Multiplication, "Computing the outputs"),
    title: "A B as weighted sums of the rows of B",
    summary: "A B as weighted sums: A holds the weights, B the rows",
    place: crate::demo::Topic::Products.at(2),
    keywords: &["matrix product", "matmul", "average", "mixture", "values", "multiplication"],
    digits: Digits::Places(4),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let a = Matrix::of([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]);
    let a = demo.given("A", a.rows_named(&["a1", "a2"]).cols_named(&["b1", "b2", "b3"]))?;
    let b = rows_over_and_over([[4.0, 0.0], [0.0, 8.0], [8.0, 4.0]], demo.matrix(a)?.cols());
    let b = demo.fitted("B", b.rows_named(&["b1", "b2", "b3"]), (3, 2))?;
    demo.step("Now the vectors are in the rows of B. Each row of A holds one weight for each of them.")
        .together(&[a, b]);

    let ab = demo.compute("AB", Op::Product, &[a, b])?;
    demo.step("A B in symbols. Along a row of A B the weights stay the same, and each weight multiplies its row of B.")
        .symbols(ab);

    one_row(demo, a, b, ab)?;
    demo.step("One product does this for every row of A at once.")
        .claim(
            all([equal("A[2,b1]", 0.0), equal("A[2,b2]", 0.5), equal("A[2,b3]", 0.5)]),
            "Row 2 leaves out b1 and takes half of b2 and half of b3.",
        )
        .show(&[ab]);

    let sums = demo.compute("sum", Op::Sums(Axis::Rows), &[a])?;
    demo.step("If the weights of a row are not negative and sum to 1, the result is an average: it lies between the vectors. In attention A comes from a softmax and B is V, so O = A V holds such averages.")
        .show(&[sums])
        .plane(&[b, ab], &[]);
    Ok(())
}

/// Row 1 of the product as a sum of scaled rows.
fn one_row(demo: &mut Builder, a: NodeId, b: NodeId, ab: NodeId) -> Result<()> {
    let weights = demo.compute("weights", Op::Rows { start: 0, count: 1 }, &[a])?;
    let mut scaled = Vec::new();
    for j in 0..demo.matrix(b)?.rows() {
        let weight = demo.compute(&format!("w_{}", j + 1), Op::Columns { start: j, count: 1 }, &[weights])?;
        let row = demo.compute(&format!("row_{}", j + 1), Op::Rows { start: j, count: 1 }, &[b])?;
        scaled.push(demo.compute(&format!("scaled_{}", j + 1), Op::Product, &[weight, row])?);
    }
    demo.step("Row 1 written out. Each row of B is multiplied by its weight from row 1 of A.")
        .claim(
            all([equal("A[1,b1]", 0.5), equal("A[1,b2]", 0.25), equal("A[1,b3]", 0.25)]),
            "Half of b1, a quarter of b2 and a quarter of b3.",
        )
        .show(&scaled);

    let sum = demo.compute("row_sum", Op::Add, &scaled)?;
    let row = demo.compute("AB_row", Op::Rows { start: 0, count: 1 }, &[ab])?;
    let difference = demo.compute("difference", Op::Subtract, &[sum, row])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step("Their sum is row 1 of A B.")
        .claim(equal("largest[1,1]", 0.0), "The largest difference is {largest[1,1]}.")
        .claim(less(0.0, "largest[1,1]"), "They differ only by rounding.")
        .show(&[sum, largest]);
    Ok(())
}
