//! `lowrank`: a value matrix as two narrow ones, the cost of the full one, and its best approximation of low rank.

use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Side, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, own, within};

pub(super) const DEMO: Demo = Demo {
    name: "lowrank",
    source: Source::section(Document::OneThird, "Values"),
    title: "W_V of low rank: down to a few numbers, and up again",
    summary: "W_V as two smaller factors: what it saves, what it loses",
    place: crate::demo::Topic::Cost.at(1),
    keywords: &["rank", "svd", "factor", "lora", "compression", "parameters"],
    digits: Digits::Places(4),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let factors = two_factors(demo)?;
    cost(demo)?;
    best(demo, factors)
}

/// W_V as a product, and the two orders of multiplying by it. Gives back the first factor.
fn two_factors(demo: &mut Builder) -> Result<NodeId> {
    let x = Matrix::of([[1.0, 0.0, 2.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0, 3.0]]);
    let x = demo.given("X", x.rows_named(&["fluffy", "blue"]))?;
    let down = Matrix::of([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [1.0, 1.0], [0.0, -1.0], [0.0, 2.0]]);
    let up = Matrix::of([[1.0, 2.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 3.0, -1.0, 0.0, 1.0]]);
    let down = demo.given("V_down", down)?;
    let up = demo.given("V_up", up)?;
    demo.step(
        "V_down turns a token into a few numbers, V_up takes these back to the full width. The text multiplies columns from \
         the left, so its V_u V_d is V_down · V_up here.",
    )
    .together(&[x, down])
    .together(&[up]);

    let w_v = demo.compute("W_V", Op::Product, &[down, up])?;
    demo.step("Their product is the whole W_V. Each row of it is a mixture of the rows of V_up.")
        .claim(
            own(&["V_down", "V_up"]),
            "Its rank is 2: row 3 is twice row 1, and row 4 is the sum of rows 1 and 2.",
        )
        .show(&[w_v]);

    let v = demo.compute("V", Op::Product, &[x, down])?;
    let lifted = demo.compute("V_lifted", Op::Product, &[v, up])?;
    let whole = demo.compute("V_whole", Op::Product, &[x, w_v])?;
    let apart = demo.compute("V_difference", Op::Subtract, &[lifted, whole])?;
    let largest = demo.compute("V_largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    demo.step("Going down and then up gives the same as W_V, up to rounding. The narrow V holds the values of a head.")
        .claim(equal("V_largest[1,1]", 0.0), "The largest difference is {V_largest[1,1]}.")
        .show(&[v, lifted, whole, largest]);
    Ok(down)
}

/// The counts of parameters at the document's sizes.
fn cost(demo: &mut Builder) -> Result<()> {
    let d = demo.given("d", Matrix::of([[12288.0]]))?;
    let d_k = demo.given("d_k", Matrix::of([[128.0]]))?;
    let copies = Matrix::of([[1.0], [96.0], [9216.0]]);
    let copies = demo.given("copies", copies.rows_named(&["head", "block", "model"]))?;
    demo.step("The sizes of the example: d, the width of a head d_k, and how many copies of W_V are needed for one head, one block and the whole model.")
        .claim(
            own(&["d", "d_k", "copies"]),
            "The text gives d, d_k and the 96 heads of a block of GPT-3. GPT-3 also has 96 blocks, so {copies[model,1]} heads.",
        )
        .together(&[d, d_k, copies]);

    let full = demo.compute("full", Op::Multiply, &[d, d])?;
    let factor = demo.compute("factor", Op::Multiply, &[d, d_k])?;
    let factored = demo.compute("factored", Op::Add, &[factor, factor])?;
    let all_full = demo.compute("all_full", Op::Product, &[copies, full])?;
    let all_factored = demo.compute("all_factored", Op::Product, &[copies, factored])?;
    let ratio = demo.compute("ratio", Op::Divide, &[full, factored])?;
    demo.step("A full W_V has d · d parameters, its two factors have 2 · d · d_k: in a head, in a block, in the model.")
        .claim(
            all([own(&["d", "d_k", "copies"]), less(175e9, "all_full[model,1]")]),
            "Full matrices would be {ratio[1,1]} times as large: {all_full[model,1]:1} parameters for the values alone. All of \
             GPT-3 has 1.75e11 (175 billion).",
        )
        .show(&[full, factored])
        .together(&[all_full, all_factored])
        .show(&[ratio]);
    Ok(())
}

/// The nearest matrix of the rank of the factors, by singular values.
fn best(demo: &mut Builder, down: NodeId) -> Result<()> {
    let full = Matrix::of([
        [1.0, 2.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 1.0, 4.0, -1.0, 0.0, 1.0],
        [3.0, 4.0, 0.0, 0.0, 2.0, 0.0],
        [1.0, 2.0, 3.0, -1.0, 1.0, 1.0],
        [0.0, -1.0, -3.0, 0.0, 0.0, -1.0],
        [0.0, 2.0, 6.0, -2.0, 0.0, 2.0],
    ]);
    let w = demo.given("W_full", full)?;
    let size = demo.matrix(w)?.rows().min(demo.matrix(w)?.cols());
    let rank = demo.matrix(down)?.cols().min(size);
    let sigma = demo.compute("sigma", Op::SingularValues, &[w])?;
    let u = demo.compute("U", Op::SingularVectors { side: Side::Left, rank: size }, &[w])?;
    let r = demo.compute("R", Op::SingularVectors { side: Side::Right, rank: size }, &[w])?;
    let diagonal = demo.compute("Sigma", Op::Diagonal, &[sigma])?;
    let stretched = demo.compute("U_Sigma", Op::Product, &[u, diagonal])?;
    let again = demo.compute("W_again", Op::ProductTransposed, &[stretched, r])?;
    let apart = demo.compute("W_difference", Op::Subtract, &[again, w])?;
    let largest = demo.compute("W_largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    let r_turned = demo.compute("R_turned", Op::Transpose, &[r])?;
    let r_r = demo.compute("R_R", Op::Product, &[r_turned, r])?;
    let one = demo.compute("ones", Op::Ones { rows: 1, cols: size }, &[])?;
    let one = demo.compute("identity", Op::Diagonal, &[one])?;
    let apart = demo.compute("turn_difference", Op::Subtract, &[r_r, one])?;
    let turn = demo.compute("turn_largest", Op::Summary(Statistic::MaxSize), &[apart])?;
    demo.step(
        "Now a W_V that was not built from two factors. Every matrix is a product U Σ Rᵀ: a rotation or reflection, then a \
         scaling of each axis by a singular value, then another rotation or reflection. The singular values are on the diagonal \
         of Σ, the largest first. (R is usually called V, but that name is taken here.)",
    )
    .claim(
        own(&["W_full", "V_down", "V_up"]),
        "W_full is W_V with four cells changed by 1. Two singular values are large.",
    )
    .claim(
        all([within(1e-9, "W_largest[1,1]", 0.0), within(1e-9, "turn_largest[1,1]", 0.0)]),
        "U Σ Rᵀ gives W_full again, and Rᵀ R is the identity, up to rounding: R only rotates or reflects.",
    )
    .together(&[w])
    .show(&[sigma, largest, turn]);

    let kept = Op::Columns { start: 0, count: rank };
    let [u, sigma, r] = [("U_kept", u), ("sigma_kept", sigma), ("R_kept", r)]
        .map(|(name, whole)| demo.compute(name, kept.clone(), &[whole]));
    let diagonal = demo.compute("Sigma_kept", Op::Diagonal, &[sigma?])?;
    let down = demo.compute("V_down_best", Op::Product, &[u?, diagonal])?;
    let up = demo.compute("V_up_best", Op::Transpose, &[r?])?;
    let best = demo.compute("W_best", Op::Product, &[down, up])?;
    demo.step(
        "Keep only the largest singular values, as many as V_down has columns: this is a projection, which drops the other \
         directions. It gives the best pair of factors: no matrix of that rank is closer to W_full.",
    )
    .show(&[down, up, best]);
    lost(demo, w, best)
}

/// The difference between W and its best approximation of low rank.
fn lost(demo: &mut Builder, w: NodeId, best: NodeId) -> Result<()> {
    let lost = demo.compute("W_lost", Op::Subtract, &[w, best])?;
    let values = demo.compute("sigma_lost", Op::SingularValues, &[lost])?;
    let spectral = demo.compute("sigma_largest", Op::Summary(Statistic::Max), &[values])?;
    let largest = demo.compute("lost_largest", Op::Summary(Statistic::MaxSize), &[lost])?;
    let typical = demo.compute("lost_typical", Op::Summary(Statistic::RootMeanSquare), &[lost])?;
    demo.step("The error is what the dropped singular values contributed. Its largest singular value is the first one that was dropped.")
        .claim(
            all([own(&["V_down"]), within(1e-9, "sigma[1,3]", "sigma_largest[1,1]")]),
            "The third singular value was {sigma[1,3]}, and the largest of the error is {sigma_largest[1,1]}. No cell is off by \
             more than {lost_largest[1,1]}.",
        )
        .show(&[lost, spectral, largest, typical]);
    Ok(())
}
