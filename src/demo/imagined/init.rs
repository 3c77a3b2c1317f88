//! `init`: the effect of weights at 0, near 0 and far from 0 on attention and on its gradient.

use crate::attention::Axis;
use crate::demo::fit::rows_over_and_over;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::recipes::Recipe;
use crate::graph::{Factor, NodeId, Op, Statistic};
use crate::matrix::{Matrix, labels};
use crate::story::Digits;
use crate::story::condition::{all, at_most, equal, every, less, max_of, max_size_of, min_of, rows};

pub(super) const DEMO: Demo = Demo {
    name: "init",
    source: Source::section(Document::Imagined, "Finishing notes"),
    title: "Where the weights start: at 0, near 0, far from 0",
    summary: "initial weights: near 0 attention is uniform, at 0 no gradient",
    place: crate::demo::Topic::Scores.at(4),
    keywords: &["initialisation", "initialization", "gradient", "training", "backpropagation"],
    digits: Digits::Places(4),
    build,
};

/// The cases: their names, and the factors that stretch the weights.
const CASES: [(&str, f64); 4] = [("zero", 0.0), ("small", 0.01), ("one", 1.0), ("large", 10.0)];

/// The inputs of every case.
#[derive(Clone, Copy)]
struct Inputs {
    x: NodeId,
    x_turned: NodeId,
    w_q: NodeId,
    w_k: NodeId,
    v: NodeId,
    ones: NodeId,
    d_o: NodeId,
}

fn build(demo: &mut Builder) -> Result<()> {
    let inputs = inputs(demo)?;
    for case in CASES {
        forward(demo, inputs, case)?;
    }
    let uniform = demo.compute("uniform", Op::DivideBySum(Axis::Rows), &[inputs.ones])?;
    let average = demo.compute("average", Op::Product, &[uniform, inputs.v])?;
    near_zero(demo, average)?;
    exactly_zero(demo, average)?;
    gradients(demo, inputs)?;
    far_from_zero(demo)
}

fn inputs(demo: &mut Builder) -> Result<Inputs> {
    let x = Matrix::of([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]);
    let x = demo.given("X", x.rows_named(&["he", "swung", "the", "bat"]))?;
    let w_q = Matrix::of([[1.0, 0.0, -1.0, 1.0], [0.0, 1.0, 1.0, -1.0], [1.0, 1.0, 0.0, 0.0]]);
    let w_k = Matrix::of([[0.0, 1.0, 1.0, 0.0], [1.0, -1.0, 0.0, 1.0], [1.0, 0.0, -1.0, 1.0]]);
    let (w_q, w_k) = (demo.given("W_Q", w_q)?, demo.given("W_K", w_k)?);
    let w_v = demo.given("W_V", Matrix::of([[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]]))?;
    demo.step(
        "Words and weights. W_Q and W_K are multiplied by 0, by 0.01, by 1 and by 10. W_V, and with it the values, stays \
         the same.",
    )
    .together(&[x])
    .together(&[w_q, w_k, w_v]);
    let v = demo.compute("V", Op::Product, &[x, w_v])?;
    let n = demo.matrix(x)?.rows();
    let ones = demo.compute("ones", Op::Ones { rows: n, cols: n }, &[])?;
    let d_o = rows_over_and_over([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 2.0]], n);
    let d_o = demo.fitted("dO", d_o, (4, 2))?;
    let x_turned = demo.compute("X_turned", Op::Transpose, &[x])?;
    Ok(Inputs { x, x_turned, w_q, w_k, v, ones, d_o })
}

fn forward(demo: &mut Builder, inputs: Inputs, (name, factor): (&str, f64)) -> Result<()> {
    let mut compute = |node: &str, op, from: &[NodeId]| demo.compute(&format!("{node}_{name}"), op, from);
    let w_q = compute("W_Q", Op::Scale(Factor::Number(factor)), &[inputs.w_q])?;
    let w_k = compute("W_K", Op::Scale(Factor::Number(factor)), &[inputs.w_k])?;
    let q = compute("Q", Op::Product, &[inputs.x, w_q])?;
    let k = compute("K", Op::Product, &[inputs.x, w_k])?;
    demo.head(&format!("_{name}"), [q, k, inputs.v], &Recipe::default())?;
    Ok(())
}

/// The nodes of these names.
fn nodes<const COUNT: usize>(demo: &Builder, names: [&str; COUNT]) -> Result<Vec<NodeId>> {
    names.into_iter().map(|name| demo.graph().require(name)).collect()
}

/// The largest difference between a result and the plain average of the values.
fn from_average(demo: &mut Builder, name: &str, average: NodeId) -> Result<NodeId> {
    let o = demo.graph().require(&format!("O_{name}"))?;
    let change = demo.compute(&format!("change_{name}"), Op::Subtract, &[o, average])?;
    let largest = Op::Summary(Statistic::MaxSize);
    let distance = demo.compute(&format!("from_average_{name}"), largest, &[change])?;
    demo.label(distance, "largest difference from the average");
    Ok(distance)
}

fn near_zero(demo: &mut Builder, average: NodeId) -> Result<()> {
    let shown = nodes(demo, ["S_scaled_small", "A_small"])?;
    demo.step(
        "W_Q and W_K times 0.01. Each score then has the factor 0.01 · 0.01 = 0.0001. If the scores are nearly equal, the \
         softmax gives nearly equal weights.",
    )
    .claim(
        all([equal(rows("X"), 4.0), less(max_of("A_small"), 0.26), less(0.24, min_of("A_small"))]),
        "All weights are close to 1/4.",
    )
    .show(&shown);
    let o = demo.graph().require("O_small")?;
    let difference = from_average(demo, "small", average)?;
    demo.step(
        "With equal weights, every word receives the average of all values. How far is the result from that average?",
    )
    .claim(
        less("from_average_small[1,1]", 0.01),
        "At most {from_average_small[1,1]}: attention starts as plain averaging.",
    )
    .show(&[o, average, difference]);
    Ok(())
}

fn exactly_zero(demo: &mut Builder, average: NodeId) -> Result<()> {
    let a = demo.graph().require("A_zero")?;
    let difference = from_average(demo, "zero", average)?;
    demo.step(
        "W_Q and W_K times 0. All scores are 0, each weight is exactly 1/n, and the result is the average itself.",
    )
    .claim(equal("from_average_zero[1,1]", 0.0), "The difference is {from_average_zero[1,1]}.")
    .claim(less(0.0, "from_average_zero[1,1]"), "The difference is only rounding.")
    .show(&[a, difference]);
    Ok(())
}

/// From a gradient at O back to W_Q, by the chain rule.
fn backward(demo: &mut Builder, inputs: Inputs, name: &str, d_a: NodeId) -> Result<NodeId> {
    let [a, k] = [demo.graph().require(&format!("A_{name}"))?, demo.graph().require(&format!("K_{name}"))?];
    let d_k = demo.matrix(k)?.cols();
    let ones = inputs.ones;
    let mut compute = |node: &str, op, from: &[NodeId]| demo.compute(&format!("{node}_{name}"), op, from);
    let weighted = compute("A_dA", Op::Multiply, &[a, d_a])?;
    let mean = compute("mean_dA", Op::Product, &[weighted, ones])?;
    let centred = compute("centred_dA", Op::Subtract, &[d_a, mean])?;
    let d_scaled = compute("dS_scaled", Op::Multiply, &[a, centred])?;
    let d_s = compute("dS", Op::Scale(Factor::InverseRoot(d_k)), &[d_scaled])?;
    let d_q = compute("dQ", Op::Product, &[d_s, k])?;
    compute("dW_Q", Op::Product, &[inputs.x_turned, d_q])
}

fn gradients(demo: &mut Builder, inputs: Inputs) -> Result<()> {
    let d_a = demo.compute("dA", Op::ProductTransposed, &[inputs.d_o, inputs.v])?;
    for (name, _) in CASES {
        backward(demo, inputs, name, d_a)?;
    }
    let shown = nodes(demo, ["dS_scaled_zero", "dS_zero", "dQ_zero", "dW_Q_zero"])?;
    demo.step(
        "Backpropagate a gradient dO: dS = A ∘ (dA − row mean of dA weighted by A) / √d_k. Then dQ = dS · K and \
         dW_Q = Xᵀ · dQ. So the gradient of W_Q has K as a factor, and with weights of 0, K is 0.",
    )
    .claim(
        all([every("dW_Q_zero", 0.0), less(0.0, max_size_of("dS_zero"))]),
        "dS is not 0, but every gradient of W_Q is {dW_Q_zero[1,1]}. The same is true of W_K, because Q is 0. If both start \
         at 0, neither of them ever learns.",
    )
    .together(&[inputs.d_o, shown[1]])
    .show(&[shown[2], shown[3]]);
    let small = demo.graph().require("dW_Q_small")?;
    demo.step("The same gradient with W_Q and W_K times 0.01.")
        .claim(
            all([less(0.0, max_size_of("dW_Q_small")), less(min_of("dW_Q_small"), max_of("dW_Q_small"))]),
            "It is at most {gradient_size[small,1]}, but it is not 0, and it differs from cell to cell: training can begin.",
        )
        .show(&[small]);
    Ok(())
}

fn far_from_zero(demo: &mut Builder) -> Result<()> {
    let a = demo.graph().require("A_large")?;
    demo.step("W_Q and W_K times 10. The scores become 10 · 10 = 100 times as large as with W_Q and W_K themselves.")
        .claim(less(0.99, max_of("A_large")), "The softmax saturates: the largest weight is more than 0.99.")
        .show(&[a]);
    let names = labels(&CASES.map(|(name, _)| name));
    let mut tables = Vec::new();
    for (table, from, statistic) in
        [("largest_weight", "A", Statistic::Max), ("gradient_size", "dW_Q", Statistic::MaxSize)]
    {
        let mut parts = Vec::new();
        for (name, _) in CASES {
            let node = demo.graph().require(&format!("{from}_{name}"))?;
            parts.push(demo.compute(&format!("{table}_{name}"), Op::Summary(statistic), &[node])?);
        }
        tables.push(demo.collect(table, "cases", Some(names.clone()), &parts)?);
    }
    demo.step("The largest weight and the largest gradient of W_Q, case by case.")
        .claim(
            all([
                less("gradient_size[zero,1]", "gradient_size[small,1]"),
                less("gradient_size[large,1]", "gradient_size[one,1]"),
                at_most("gradient_size[zero,1]", 0.0),
            ]),
            "At 0 there is no gradient, and far from 0 it is smaller again than at 1. So weights start near 0, but not at 0.",
        )
        .show(&tables);
    Ok(())
}
