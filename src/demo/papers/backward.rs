//! `backward`: the softmax Jacobian on three numbers, then the gradients of a whole head, checked by moving one weight.

use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::{Error, Result};
use crate::graph::recipes::Recipe;
use crate::graph::{NodeId, Op, Start, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, max_of, max_size_of, min_of, not, own, within};

pub(super) const DEMO: Demo = Demo {
    name: "backward",
    source: Source::Papers(&[Passage { paper: "dao-2023", place: "section 2.2" }]),
    title: "Backward through attention: dV, dA, dS, dQ, dK, dW",
    summary: "gradients of a head: softmax Jacobian, then dQ, dK, dV, dW",
    place: crate::demo::Topic::Model.at(6),
    keywords: &["gradients", "jacobian", "derivative", "chain rule", "backprop"],
    digits: Digits::Places(4),
    build,
};

/// No more scores are taken: their Jacobian has the square of this many cells.
const MOST_SCORES: usize = 64;
/// Differences of rounding are smaller.
const ROUNDING: f64 = 1e-9;
/// How far one weight is moved to check its gradient.
const MOVE: f64 = 0.001;

fn build(demo: &mut Builder) -> Result<()> {
    jacobian(demo)?;
    let head = head(demo)?;
    gradients(demo, &head)?;
    demo.begin_at("dS[1,2]");
    check(demo, &head)
}

/// One row of scores: its softmax, the Jacobian, and what a gradient becomes on the way through it.
fn jacobian(demo: &mut Builder) -> Result<()> {
    let keys = ["bat", "cave", "racket"];
    let s = demo.given("s", Matrix::of([[2.0, 1.0, 0.0]]).cols_named(&keys))?;
    let shape = demo.matrix(s)?.shape();
    if shape.rows != 1 || shape.cols > MOST_SCORES {
        return Err(Error::new(format!(
            "s is {shape}, and the demo follows one row of at most {MOST_SCORES} scores"
        )));
    }
    let a = demo.compute("a", Op::Softmax(Axis::Rows, Base::E), &[s])?;
    demo.step(
        "One row of scores and its softmax. The weights sum to 1, so one can grow only if others shrink.",
    )
    .together(&[s, a]);
    let diagonal = demo.compute("a_diagonal", Op::Diagonal, &[a])?;
    let outer = demo.compute("a_outer", Op::TransposedProduct, &[a, a])?;
    let j = demo.compute("J", Op::Subtract, &[diagonal, outer])?;
    let sums = demo.compute("J_sum", Op::Sums(Axis::Rows), &[j])?;
    demo.step(
        "The Jacobian J of the softmax: row i says how fast every weight changes if score i grows. On the diagonal it is \
         a(1 − a), elsewhere minus the product of two weights.",
    )
    .claim(
        all([within(ROUNDING, max_of("J_sum"), 0.0), within(ROUNDING, min_of("J_sum"), 0.0)]),
        "Each row sums to 0 up to rounding: what one weight wins, the others lose.",
    )
    .folded(&[diagonal, outer, sums])
    .show(&[j]);
    through_jacobian(demo, [s, a, j])
}

fn through_jacobian(demo: &mut Builder, [s, a, j]: [NodeId; 3]) -> Result<()> {
    let keys = demo.matrix(s)?.cols();
    let wanted = Matrix::from_fn(1, keys, |_, j| [1.0, 3.0, 0.0][j % 3]);
    let d_a = demo.fitted("da", wanted, (1, 3))?;
    let by_jacobian = demo.compute("ds_by_J", Op::Product, &[d_a, j])?;
    demo.step(
        "A gradient da arrives: how fast the loss changes with each weight. Times J it says how fast the loss changes with \
         each score.",
    )
    .together(&[d_a])
    .show(&[by_jacobian]);
    let gradients = demo.gradients(a, Start::Node(d_a), &[s])?;
    let [weighted, mean, repeated, centred, d_s] = gradients.all[0].steps[..] else {
        return Err(Error::new("the softmax of one row has another way back"));
    };
    demo.compute("ds_apart", Op::Subtract, &[d_s, by_jacobian])?;
    demo.step(
        "The same without J: each gradient minus their mean, where each counts by its weight, and then times the weight. So \
         nobody stores a Jacobian.",
    )
    .claim(
        within(ROUNDING, max_size_of("ds_apart"), 0.0),
        "It is the same up to rounding.",
    )
    .claim(
        all([own(&["s", "da"]), less("ds[1,1]", 0.0), less(0.0, "da[1,1]")]),
        "“bat” has a positive gradient, {da[1,1]}, and still its score should fall if the loss is to grow: its gradient is below \
         the mean {da_mean[1,1]}.",
    )
    .folded(&[weighted, repeated])
    .show(&[mean, centred, d_s]);
    Ok(())
}

/// The matrices of the head.
struct Head {
    x: NodeId,
    weights: [NodeId; 3],
    d_o: NodeId,
    o: NodeId,
}

fn head(demo: &mut Builder) -> Result<Head> {
    let tokens = ["bat", "cave", "racket"];
    let x = demo.given("X", Matrix::of([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0]]).rows_named(&tokens))?;
    let w_q = demo.given("W_Q", Matrix::of([[1.0, 0.0], [0.5, 1.0]]))?;
    let w_k = demo.given("W_K", Matrix::of([[1.0, -0.5], [0.0, 1.0]]))?;
    let w_v = demo.given("W_V", Matrix::of([[1.0, 0.0], [0.0, 0.5]]))?;
    let q = demo.compute("Q", Op::Product, &[x, w_q])?;
    let k = demo.compute("K", Op::Product, &[x, w_k])?;
    let v = demo.compute("V", Op::Product, &[x, w_v])?;
    let (weights, o) = demo.head("", [q, k, v], &Recipe::default())?;
    demo.step("A whole head, forward: tokens, three weight matrices, and what they make.")
        .together(&[x, w_q, w_k, w_v])
        .folded(&[q, k, v])
        .show(&[weights.weights, o]);
    let shape = demo.matrix(o)?.shape();
    let d_o = Matrix::from_fn(shape.rows, shape.cols, |i, j| if (i + j) % 2 == 0 { 1.0 } else { -1.0 });
    let d_o = demo.fitted("dO", d_o, (3, 2))?;
    let products = demo.compute("loss_products", Op::Multiply, &[d_o, o])?;
    let loss = demo.compute("loss", Op::Sums(Axis::Whole), &[products])?;
    demo.step("The loss is one number made of O. Here it is the sum of O, each cell times its number in dO, so its gradient is dO.")
        .together(&[d_o])
        .show(&[loss]);
    Ok(Head { x, weights: [w_q, w_k, w_v], d_o, o })
}

fn gradients(demo: &mut Builder, head: &Head) -> Result<()> {
    let [w_q, w_k, w_v] = head.weights;
    demo.gradients(head.o, Start::Node(head.d_o), &[head.x, w_q, w_k, w_v])?;
    let node = |demo: &Builder, name: &str| demo.graph().require(name);
    let named = |demo: &Builder, names: &[&str]| -> Result<Vec<NodeId>> {
        names.iter().map(|name| demo.graph().require(name)).collect()
    };
    let (d_v, d_a) = (node(demo, "dV")?, node(demo, "dA")?);
    demo.step(
        "Back through O = A · V. Each value gets the gradients of the rows that it went into, by its weights. Each weight gets \
         the dot product of a row of dO with the value that it weighs.",
    )
    .show(&[d_v, d_a]);
    let steps = named(demo, &["dA_centred", "dS_scaled", "dS"])?;
    let sums = demo.compute("dS_sum", Op::Sums(Axis::Rows), &[steps[2]])?;
    demo.step(
        "Back through the softmax, row by row as above, and through the scale: the same factor once more.",
    )
    .claim(
        within(ROUNDING, max_size_of("dS_sum"), 0.0),
        "Each row of dS sums to 0 up to rounding: a number added to a whole row of scores changes nothing.",
    )
    .folded(&[sums])
    .show(&steps);
    let (d_q, d_k) = (node(demo, "dQ")?, node(demo, "dK")?);
    demo.step(
        "Back through S = Q · Kᵀ. Each query gets the keys, each times its dS; each key gets the queries.",
    )
    .show(&[d_q, d_k]);
    let weights = named(demo, &["dW_Q", "dW_K", "dW_V"])?;
    demo.step("Back to the weights that are learned: the tokens, transposed, times the gradient of what the weights make.")
        .show(&weights);
    let tokens = named(demo, &["dX_from_Q", "dX_from_K", "dX_from_V", "dX"])?;
    demo.step("Each token was read three times, for queries, keys and values. Its gradient is the sum of the three.")
        .folded(&tokens[..3])
        .show(&tokens[3..]);
    Ok(())
}

/// Weights are moved a little: the loss moves by their gradients times as much.
fn check(demo: &mut Builder, head: &Head) -> Result<()> {
    let [w_q, w_k, w_v] = head.weights;
    let shape = demo.matrix(w_q)?.shape();
    let one = Matrix::from_fn(shape.rows, shape.cols, |i, j| if (i, j) == (0, 0) { MOVE } else { 0.0 });
    let nudge = demo.fitted("nudge", one, (2, 2))?;
    let moved = demo.compute("W_Q_moved", Op::Add, &[w_q, nudge])?;
    let q = demo.compute("Q_moved", Op::Product, &[head.x, moved])?;
    let k = demo.compute("K_moved", Op::Product, &[head.x, w_k])?;
    let v = demo.compute("V_moved", Op::Product, &[head.x, w_v])?;
    let (_, o) = demo.head("_moved", [q, k, v], &Recipe::default())?;
    let products = demo.compute("loss_products_moved", Op::Multiply, &[head.d_o, o])?;
    let after = demo.compute("loss_moved", Op::Sums(Axis::Whole), &[products])?;
    let before = demo.graph().require("loss")?;
    let change = demo.compute("loss_change", Op::Change, &[before, after])?;
    let largest = demo.compute("nudge_size", Op::Summary(Statistic::MaxSize), &[nudge])?;
    let slope = demo.compute("slope", Op::Divide, &[change, largest])?;
    let d_w_q = demo.graph().require("dW_Q")?;
    let products = demo.compute("dW_Q_by_nudge", Op::Multiply, &[d_w_q, nudge])?;
    let expected = demo.compute("expected", Op::Sums(Axis::Whole), &[products])?;
    let by_rules = demo.compute("slope_by_rules", Op::Divide, &[expected, largest])?;
    demo.step("A check without any rule: nudge W_Q, run the head again, compare the losses.")
        .claim(
            all([own(&[]), equal("nudge_size[1,1]", MOVE), within(0.001, "slope[1,1]", "dW_Q[1,1]")]),
            "Only W_Q[1,1] moves. The slope is {slope[1,1]}, the gradient {dW_Q[1,1]}.",
        )
        .claim(
            all([not(own(&["nudge"])), less(0.0, "nudge_size[1,1]")]),
            "For each 1 of the largest move the loss changes by {slope[1,1]:6}. The rules expect {slope_by_rules[1,1]:6}: each move \
             times its gradient.",
        )
        .claim(
            equal("nudge_size[1,1]", 0.0),
            "Nothing moves, so nothing changes: 0 divided by 0 is no slope.",
        )
        .claim(
            all([less(0.0, "nudge_size[1,1]"), less("nudge_size[1,1]", 5e-5)]),
            "The move is not 0, though with four decimals it is 0.0000.",
        )
        .claim(
            all([less(0.0, "nudge_size[1,1]"), less("nudge_size[1,1]", 1e-9), less(0.01, max_size_of("loss"))]),
            "With so small a move the loss changes in its last digits alone, and they are rounded.",
        )
        .together(&[nudge, largest])
        .show(&[after, change, expected, slope, by_rules]);
    Ok(())
}
