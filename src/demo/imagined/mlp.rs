//! `mlp`: two linear maps are one, ReLU stops that, and XOR falls apart in a wider space; the gated variant.

use crate::demo::fit::rows_over_and_over;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, own, within};

pub(super) const DEMO: Demo = Demo {
    name: "mlp",
    source: Source::section(Document::Imagined, "MLP or FFNN"),
    title: "The perceptron: why it needs more than linear maps",
    summary: "the perceptron: what ReLU and the SiLU gate make possible",
    place: crate::demo::Topic::Model.at(2),
    keywords: &["perceptron", "feed-forward", "ffn", "relu", "silu", "swiglu", "xor", "activation", "neuron"],
    digits: Digits::Places(4),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
    let x = demo.given("X", x.cols_named(&["x1", "x2"]))?;
    let rows = demo.matrix(x)?.rows();
    let xor = rows_over_and_over([[0.0], [1.0], [1.0], [0.0]], rows);
    let xor = demo.fitted("xor", xor, (4, 1))?;
    demo.step("The perceptron works on each row on its own. `xor` is what it should return for each row.")
        .claim(own(&["X", "xor"]), "XOR is 1 where exactly one of the two features is 1.")
        .together(&[x, xor]);

    let w_1 = demo.given("W_1", Matrix::of([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]))?;
    let w_2 = demo.given("W_2", Matrix::of([[-1.0], [1.0], [2.0]]))?;
    let wide = demo.compute("H_linear", Op::Product, &[x, w_1])?;
    let linear = demo.compute("Y_linear", Op::Product, &[wide, w_2])?;
    demo.step("Two linear maps: W_1 goes from width d to width i, W_2 goes back. (The text calls them M_i and M_o.)")
        .show(&[wide, linear]);
    collapse(demo, x, [w_1, w_2], linear)?;
    impossible(demo, xor, linear)?;
    with_relu(demo, wide, w_2, xor)?;
    silu(demo)?;
    gated(demo, x, xor)
}

fn collapse(demo: &mut Builder, x: NodeId, [w_1, w_2]: [NodeId; 2], linear: NodeId) -> Result<()> {
    let w = demo.compute("W", Op::Product, &[w_1, w_2])?;
    let one = demo.compute("Y_one", Op::Product, &[x, w])?;
    let change = demo.compute("change", Op::Subtract, &[one, linear])?;
    let difference = demo.compute("difference", Op::Summary(Statistic::MaxSize), &[change])?;
    demo.step(
        "With nothing between them, the two maps are one: (X W_1) W_2 = X (W_1 W_2). The wider space has no effect.",
    )
    .claim(equal("difference[1,1]", 0.0), "The largest difference is {difference[1,1]}.")
    .claim(less(0.0, "difference[1,1]"), "They differ only by rounding.")
    .show(&[w, one, difference]);
    Ok(())
}

/// A proof that no linear map computes XOR: its outputs for the two outer rows have the same sum as those for the two inner
/// rows.
fn impossible(demo: &mut Builder, xor: NodeId, linear: NodeId) -> Result<()> {
    let rows = demo.matrix(linear)?.rows();
    let signs = rows_over_and_over([[-1.0], [1.0], [1.0], [-1.0]], rows).transposed();
    let signs = demo.fitted("signs", signs, (1, 4))?;
    let of_linear = demo.compute("balance_linear", Op::Product, &[signs, linear])?;
    let of_xor = demo.compute("balance_xor", Op::Product, &[signs, xor])?;
    demo.step(
        "Can a linear map compute `xor`? Multiply its outputs by the signs and add, then do the same with the wanted numbers.",
    )
    .claim(
        all([own(&["X", "xor"]), within(1e-9, "balance_linear[1,1]", 0.0), equal("balance_xor[1,1]", 2.0)]),
        "The two middle outputs minus the two outer ones. Since (0,1) + (1,0) = (0,0) + (1,1), every linear map gives 0. \
         XOR needs {balance_xor[1,1]}, so no linear map can compute it.",
    )
    .together(&[signs])
    .show(&[of_linear, of_xor]);
    Ok(())
}

fn with_relu(demo: &mut Builder, wide: NodeId, w_2: NodeId, xor: NodeId) -> Result<()> {
    let hidden = demo.compute("H", Op::Relu, &[wide])?;
    demo.step("ReLU between the maps: negative numbers become 0.")
        .claim(
            all([
                equal("H[1,3]", 0.0),
                equal("H[2,3]", 0.0),
                equal("H[3,3]", 1.0),
                equal("H[4,3]", 0.0),
                own(&["X"]),
            ]),
            "The third column is now 1 only for “x1 without x2”. In three dimensions a plane can separate the two classes.",
        )
        .show(&[hidden]);
    let y = demo.compute("Y", Op::Product, &[hidden, w_2])?;
    let miss = demo.compute("miss", Op::Subtract, &[y, xor])?;
    let largest = demo.compute("largest_miss", Op::Summary(Statistic::MaxSize), &[miss])?;
    demo.step("The same W_2 as before, after the ReLU.")
        .claim(
            all([own(&["xor"]), equal("largest_miss[1,1]", 0.0)]),
            "0, 1, 1, 0: this is XOR, and the largest error is {largest_miss[1,1]}.",
        )
        .show(&[y, largest]);
    Ok(())
}

fn silu(demo: &mut Builder) -> Result<()> {
    let z = demo.given("z", Matrix::of([[-8.0, -1.0, 0.0, 1.0, 2.0, 8.0]]))?;
    let hard = demo.compute("relu", Op::Relu, &[z])?;
    let soft = demo.compute("silu", Op::Silu, &[z])?;
    demo.step(
        "SiLU(z) = z / (1 + exp(−z)) is a smooth version of ReLU: far from 0 the two nearly agree, and SiLU has no corner.",
    )
    .claim(less("silu[1,2]", 0.0), "Just below 0 it is negative: SiLU({z[1,2]}) = {silu[1,2]}.")
    .show(&[hard, soft]);
    Ok(())
}

fn gated(demo: &mut Builder, x: NodeId, xor: NodeId) -> Result<()> {
    let w_gate = demo.given("W_gate", Matrix::of([[1.0, -1.0], [-1.0, 1.0]]))?;
    let w_up = demo.given("W_up", Matrix::of([[1.0, -1.0], [-1.0, 1.0]]))?;
    let w_down = demo.given("W_down", Matrix::of([[1.0], [1.0]]))?;
    let (gate, up) =
        (demo.compute("O_gate", Op::Product, &[x, w_gate])?, demo.compute("O_up", Op::Product, &[x, w_up])?);
    let open = demo.compute("gate", Op::Silu, &[gate])?;
    demo.step(
        "A gated variant comes from Noam Shazeer, “GLU Variants Improve Transformer”. The text quotes him: “We offer no \
         explanation as to why these architectures seem to work; we attribute their success, as all else, to divine \
         benevolence.” It has two parallel maps, the gate and the up-projection, and then W_down. (The text calls them \
         M_g, M_u and M_d.)",
    )
    .together(&[w_gate, w_up, w_down])
    .show(&[open, up]);
    let hidden = demo.compute("H_gated", Op::Multiply, &[open, up])?;
    let y = demo.compute("Y_gated", Op::Product, &[hidden, w_down])?;
    let miss = demo.compute("miss_gated", Op::Subtract, &[y, xor])?;
    let largest = demo.compute("largest_miss_gated", Op::Summary(Statistic::MaxSize), &[miss])?;
    demo.step(
        "The gate multiplies the up-projection cell by cell: (SiLU(X W_gate) ∘ (X W_up)) W_down. A product of two maps of X \
         is not linear either.",
    )
    .claim(
        all([own(&["X", "xor", "W_gate", "W_up", "W_down"]), within(1e-9, "largest_miss_gated[1,1]", 0.0)]),
        "XOR again, with two hidden columns instead of three, because SiLU(z) · z + SiLU(−z) · (−z) = z².",
    )
    .show(&[hidden, y, largest]);
    Ok(())
}
