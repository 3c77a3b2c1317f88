//! `columns`: the document's table of keys against queries is the transpose of the row view; a literal reading of its compact
//! form gives another result.

use crate::attention::{Axis, Base, Mask, MatrixRule};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, not, rows, within};

pub(super) const DEMO: Demo = Demo {
    name: "columns",
    source: Source::section(Document::OneThird, "Compact form"),
    title: "Columns or rows: one table, seen from two sides",
    summary: "tokens as columns or as rows: the same scores, transposed",
    place: crate::demo::Topic::Queries.at(5),
    keywords: &["convention", "transpose", "grid", "scores"],
    digits: Digits::Places(4),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let [q, k, v] = inputs(demo)?;
    demo.step(
        "Each token has a query, a key and a value, each in a row. The text writes each of them as a column.",
    )
    .together(&[q, k, v]);

    let grid = demo.compute("grid", Op::ProductTransposed, &[k, q])?;
    demo.step(
        "The text's table, `grid`, holds k_i · q_j in row i and column j: a row for each key, a column for each query.",
    )
    .claim(
        all([equal(rows("Q"), 3.0), equal(rows("K"), 3.0)]),
        "The scores of creature, the third query, are in the third column: {grid[1,3]}, {grid[2,3]}, {grid[3,3]}.",
    )
    .show(&[grid]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    demo.step("Q Kᵀ has a row for each query. It is the transpose of `grid`, although the text says that it is the same.")
        .claim(
            all([equal(rows("Q"), 3.0), equal(rows("K"), 3.0)]),
            "The scores of creature are now in the third row: {S[3,1]}, {S[3,2]}, {S[3,3]}.",
        )
        .show(&[s]);

    let weights = by_columns(demo, s, grid)?;
    let (s_scaled, a) = by_rows(demo, s)?;
    compare(demo, v, weights, a)?;
    demo.begin_at("A[3,1]");
    literally(demo, v, s_scaled)
}

fn inputs(demo: &mut Builder) -> Result<[NodeId; 3]> {
    let named = |role: &str, matrix: Matrix| {
        let names = ["fluffy", "blue", "creature"].map(|token| format!("{role} {token}"));
        matrix.with_row_labels(Some(names.into_iter().collect()))
    };
    let q = Matrix::of([[0.0, 0.0, 2.0, 2.0], [2.0, 0.0, 0.0, -2.0], [2.0, 2.0, 0.0, 0.0]]);
    let k = Matrix::of([[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]);
    let v = Matrix::of([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]]);
    Ok([demo.given("Q", named("q", q))?, demo.given("K", named("k", k))?, demo.given("V", named("v", v))?])
}

/// Scale, mask and softmax in the grid, where they act down the columns.
fn by_columns(demo: &mut Builder, s: NodeId, grid: NodeId) -> Result<NodeId> {
    let width = demo.matrix(demo.graph().require("Q")?)?.cols();
    let scaled = demo.compute("grid_scaled", Op::Scale(Factor::InverseRoot(width)), &[grid])?;
    let pattern = demo.compute("M", Op::MaskPattern(Mask { causal: true, ..Mask::default() }), &[s])?;
    let turned = demo.compute("M_grid", Op::Transpose, &[pattern])?;
    let allowed = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
    let masked = demo.compute("grid_masked", Op::Mask(allowed), &[scaled, turned])?;
    demo.step(
        "No query may attend to a later key. In `grid` the later keys are below the diagonal, so these cells become −∞.",
    )
    .show(&[scaled, masked]);
    let weights = demo.compute("A_grid", Op::Softmax(Axis::Columns, Base::E), &[masked])?;
    let sums = demo.compute("A_grid_sums", Op::Sums(Axis::Columns), &[weights])?;
    demo.step("The softmax of each column gives the weights of one query over its keys.")
        .together(&[weights, sums]);
    Ok(weights)
}

/// The scaled scores and the weights, computed by rows.
fn by_rows(demo: &mut Builder, s: NodeId) -> Result<(NodeId, NodeId)> {
    let width = demo.matrix(demo.graph().require("Q")?)?.cols();
    let scaled = demo.compute("S_scaled", Op::Scale(Factor::InverseRoot(width)), &[s])?;
    let causal = Mask { causal: true, ..Mask::default() };
    let masked = demo.compute("S_masked", Op::Mask(causal), &[scaled])?;
    let a = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[masked])?;
    demo.step("The row view: later keys are above the diagonal, and the softmax runs along each row.")
        .show(&[masked, a]);
    Ok((scaled, a))
}

/// Weights and outputs of both views, and the distance between them.
fn compare(demo: &mut Builder, v: NodeId, a_grid: NodeId, a: NodeId) -> Result<()> {
    let a_turned = demo.compute("A_turned", Op::Transpose, &[a])?;
    let apart = demo.compute("A_difference", Op::Subtract, &[a_grid, a_turned])?;
    let a_largest = demo.compute("A_largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    let o = demo.compute("O", Op::Product, &[a, v])?;
    let v_turned = demo.compute("V_turned", Op::Transpose, &[v])?;
    let o_grid = demo.compute("O_grid", Op::Product, &[v_turned, a_grid])?;
    let o_turned = demo.compute("O_turned", Op::Transpose, &[o])?;
    let apart = demo.compute("O_difference", Op::Subtract, &[o_grid, o_turned])?;
    let o_largest = demo.compute("O_largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    demo.step(
        "In rows the mix of the values is A V. In columns it is Vᵀ times the weights of `grid`: the same products, added in the \
         same order. Column j of the result is the text's Δe_j.",
    )
    .claim(
        all([equal("A_largest[1,1]", 0.0), equal("O_largest[1,1]", 0.0)]),
        "The largest difference is {A_largest[1,1]} in the weights and {O_largest[1,1]} in the outputs.",
    )
    .show(&[o, o_grid, a_largest, o_largest]);
    Ok(())
}

/// “softmax(Q Kᵀ) V”, with the softmax down the columns of Q Kᵀ as it is written.
fn literally(demo: &mut Builder, v: NodeId, s_scaled: NodeId) -> Result<()> {
    let a = demo.compute("A_literal", Op::Softmax(Axis::Columns, Base::E), &[s_scaled])?;
    let sums = demo.compute("A_literal_sums", Op::Sums(Axis::Rows), &[a])?;
    demo.step(
        "Read literally, the compact form is a softmax of the columns of Q Kᵀ: the weights of each key sum to 1, and the \
         weights of a query need not.",
    )
    .claim(
        not(within(0.005, "A_literal_sums[3,1]", 1.0)),
        "The weights of creature, the third query, sum to {A_literal_sums[3,1]:2}.",
    )
    .together(&[a, sums]);

    let o = demo.compute("O_literal", Op::Product, &[a, v])?;
    let a = demo.compute("A_unmasked", Op::Softmax(Axis::Rows, Base::E), &[s_scaled])?;
    let rows = demo.compute("O_unmasked", Op::Product, &[a, v])?;
    let apart = demo.compute("literal_difference", Op::Subtract, &[o, rows])?;
    let largest = demo.compute("literal_largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    demo.step("The result of the literal reading, and the result in rows. Both are without a mask.")
        .claim(
            less(0.005, "literal_largest[1,1]"),
            "They differ by up to {literal_largest[1,1]:2}: this is another result, not another notation.",
        )
        .show(&[o, rows, largest]);
    Ok(())
}
