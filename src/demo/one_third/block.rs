//! `block`: one whole block of a transformer, and the information that a second one on top gives a token.

use crate::attention::Mask;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::recipes::Recipe;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, every, own, rows};

pub(super) const DEMO: Demo = Demo {
    name: "block",
    source: Source::Section {
        document: Document::OneThird,
        section: "Architecture",
        also: &[Document::Imagined],
    },
    title: "One whole block, and a second on top of it",
    summary: "one whole block: attention, norms, residuals, MLP; then two",
    place: crate::demo::Topic::Model.at(3),
    keywords: &["transformer", "layer", "layernorm", "norm", "residual", "stack", "stacking"],
    digits: Digits::Places(4),
    build,
};

/// The ε that Llama 3 adds to the mean of the squares.
const EPSILON: f64 = 1e-5;

/// A token sees itself and the one before it, so that the way of the information can be followed.
const WINDOW: usize = 2;

/// The matrices of a block.
struct Weights {
    w_q: NodeId,
    w_k: NodeId,
    w_v: NodeId,
    w_o: NodeId,
    w_up: NodeId,
    w_down: NodeId,
}

/// The stations of one block.
struct Block {
    normed: NodeId,
    a: NodeId,
    o: NodeId,
    attended: NodeId,
    normed_again: NodeId,
    hidden: NodeId,
    mlp: NodeId,
    out: NodeId,
}

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([[1.0, 1.0], [7.0, 1.0], [1.0, 7.0], [3.0, -3.0]]);
    let x = demo.given("X", x.rows_named(&["a", "fluffy", "blue", "creature"]))?;
    let weights = weights(demo)?;
    demo.step(
        "Each row of X is a token. A block has four weight matrices for attention and two for the MLP.",
    )
    .together(&[x, weights.w_q, weights.w_k])
    .together(&[weights.w_v, weights.w_o])
    .together(&[weights.w_up, weights.w_down]);

    let first = block(demo, "_block1", x, &weights)?;
    tell(demo, &first);

    let second = block(demo, "_block2", first.out, &weights)?;
    demo.step("A second block reads the output of the first. Here it has the same weights. In a model it has its own.")
        .show(&[second.out]);
    another_first_token(demo, x, &weights, [first.out, second.out])
}

fn weights(demo: &mut Builder) -> Result<Weights> {
    Ok(Weights {
        w_q: demo.given("W_Q", Matrix::of([[1.0, 0.0], [0.0, 1.0]]))?,
        w_k: demo.given("W_K", Matrix::of([[0.0, 1.0], [1.0, 0.0]]))?,
        w_v: demo.given("W_V", Matrix::of([[0.0, 1.0], [1.0, 0.0]]))?,
        w_o: demo.given("W_O", Matrix::of([[1.0, 0.0], [0.0, 2.0]]))?,
        w_up: demo.given("W_up", Matrix::of([[1.0, -1.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0]]))?,
        w_down: demo.given("W_down", Matrix::of([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [-1.0, 0.0]]))?,
    })
}

/// Norm, attention, residual, norm, MLP, residual.
fn block(demo: &mut Builder, suffix: &str, x: NodeId, weights: &Weights) -> Result<Block> {
    let mut add =
        |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}{suffix}"), op, inputs);
    let normed = add("X_normed", Op::RmsNorm(EPSILON), &[x])?;
    let q = add("Q", Op::Product, &[normed, weights.w_q])?;
    let k = add("K", Op::Product, &[normed, weights.w_k])?;
    let v = add("V", Op::Product, &[normed, weights.w_v])?;
    let near = Mask { causal: true, window: Some(WINDOW), ..Mask::default() };
    let a = demo.weights(suffix, q, k, &Recipe { mask: near, ..Recipe::default() })?.weights;
    let mut add =
        |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}{suffix}"), op, inputs);
    let c = add("C", Op::Product, &[a, v])?;
    let o = add("O", Op::Product, &[c, weights.w_o])?;
    let attended = add("X_attended", Op::Add, &[x, o])?;
    let normed_again = add("X_attended_normed", Op::RmsNorm(EPSILON), &[attended])?;
    let wide = add("hidden", Op::Product, &[normed_again, weights.w_up])?;
    let hidden = add("hidden_relu", Op::Relu, &[wide])?;
    let mlp = add("mlp", Op::Product, &[hidden, weights.w_down])?;
    let out = add("X_out", Op::Add, &[attended, mlp])?;
    Ok(Block { normed, a, o, attended, normed_again, hidden, mlp, out })
}

/// The sentences of the first block.
fn tell(demo: &mut Builder, block: &Block) {
    demo.step(
        "The norm: each row is divided by its root mean square, so that all tokens have the same scale.",
    )
    .show(&[block.normed]);
    demo.step("Attention over the normed rows. Here each token may attend only to itself and to the token before it, so that we can \
         follow how information travels.")
        .show(&[block.a, block.o]);
    demo.step("The residual: the output of attention is added to the token as it was before the norm.")
        .show(&[block.attended]);
    demo.step(
        "Another norm, then the MLP: to a wider space, ReLU, and back. Each row goes through it on its own.",
    )
    .show(&[block.normed_again, block.hidden, block.mlp]);
    demo.step(
        "The second residual. The output of the block has the shape of its input, so blocks can be stacked.",
    )
    .show(&[block.out]);
}

/// The two blocks again after a change of token 1, and the rows that have moved.
fn another_first_token(demo: &mut Builder, x: NodeId, weights: &Weights, before: [NodeId; 2]) -> Result<()> {
    let shape = demo.matrix(x)?.shape();
    let first = |i, j| if i == 0 && j == 0 { 1.0 } else { 0.0 };
    let change = demo.given("change", Matrix::from_fn(shape.rows, shape.cols, first))?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let first = block(demo, "_block1_changed", changed, weights)?;
    let second = block(demo, "_block2_changed", first.out, weights)?;
    let one = demo.compute("difference_block1", Op::Subtract, &[first.out, before[0]])?;
    let two = demo.compute("difference_block2", Op::Subtract, &[second.out, before[1]])?;
    demo.step("The same block for X + change. With a change of token 1, the difference can reach token 2 after one block, but not further.")
        .claim(
            all([equal(rows("X"), 4.0), every("difference_block1[3]", 0.0), every("difference_block1[4]", 0.0)]),
            "Tokens 3 and 4 have not changed at all.",
        )
        .show(&[changed, one]);
    demo.step(
        "After two blocks it can reach token 3, which reads token 2, which has read token 1. Each further block lets information \
         travel one token further.",
    )
    .claim(
        all([equal(rows("X"), 4.0), every("difference_block2[creature]", 0.0), own(&[])]),
        "Creature, the fourth token, would need a third block.",
    )
    .show(&[two]);
    Ok(())
}
