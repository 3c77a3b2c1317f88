//! `vectorize`: one query after the other beside all of them in one product, and a second head.

use crate::attention::{Axis, Base};
use crate::demo::fit::rows_over_and_over;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::recipes::Recipe;
use crate::graph::{Factor, NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, top_of_row};

pub(super) const DEMO: Demo = Demo {
    name: "vectorize",
    source: Source::section(Document::Multiplication, "Finishing thoughts"),
    title: "From a loop over the queries to matrix products, and a second head",
    summary: "from a loop over queries to matrix products; a second head",
    place: crate::demo::Topic::Heads.at(1),
    keywords: &["loop", "head", "heads", "batch", "vectorise"],
    digits: Digits::Places(4),
    build,
};

/// Queries of the given tokens look for keys like themselves.
const W_Q: [[f64; 4]; 2] = [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]];
const W_K: [[f64; 4]; 2] = [[2.0, 1.0, 0.0, -1.0], [1.0, 0.0, -1.0, 2.0]];
const W_V: [[f64; 2]; 2] = [[1.0, 1.0], [0.0, 2.0]];
/// The second head: each query looks for the other feature, and the values are others.
const W_Q_2: [[f64; 4]; 2] = [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]];
const W_K_2: [[f64; 4]; 2] = [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]];
const W_V_2: [[f64; 2]; 2] = [[3.0, 0.0], [0.0, 1.0]];

/// Q, K and V of one head.
type Projections = [NodeId; 3];

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]).rows_named(&["v1", "v2", "v3"]);
    let x = demo.given("X", x)?;
    let features = demo.matrix(x)?.cols();
    let weights = [
        demo.fitted("W_Q", rows_over_and_over(W_Q, features), (W_Q.len(), W_Q[0].len()))?,
        demo.fitted("W_K", rows_over_and_over(W_K, features), (W_K.len(), W_K[0].len()))?,
        demo.fitted("W_V", rows_over_and_over(W_V, features), (W_V.len(), W_V[0].len()))?,
    ];
    demo.step("Each row of X is an input vector. (The text calls this matrix I.) One product with each weight matrix transforms all of them.")
        .together(&[x])
        .together(&weights);

    let head = projections(demo, "", x, weights)?;
    demo.step("Each input vector gets a row of Q, a row of K and a row of V.").show(&head);

    let by_loop = queries_one_by_one(demo, head)?;
    let o = all_at_once(demo, head)?;

    let difference = demo.compute("difference", Op::Subtract, &[by_loop, o])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step(
        "The loop and the products add the same numbers in the same order. So the outputs of the loop, stacked, are O.",
    )
    .claim(equal("largest[1,1]", 0.0), "The largest difference is exactly {largest[1,1]}.")
    .show(&[by_loop, difference, largest]);
    second_head(demo, x, o)
}

fn projections(demo: &mut Builder, suffix: &str, x: NodeId, weights: [NodeId; 3]) -> Result<Projections> {
    let mut project = |name: &str, w: NodeId| demo.compute(&format!("{name}{suffix}"), Op::Product, &[x, w]);
    Ok([project("Q", weights[0])?, project("K", weights[1])?, project("V", weights[2])?])
}

/// The factor 1/√d for queries of width d.
fn scale(demo: &Builder, q: NodeId) -> Result<Op> {
    Ok(Op::Scale(Factor::InverseRoot(demo.matrix(q)?.cols())))
}

/// Scores, weights and output of each query on its own; the outputs on top of each other.
fn queries_one_by_one(demo: &mut Builder, [q, k, v]: Projections) -> Result<NodeId> {
    let scale = scale(demo, q)?;
    let mut passes = Vec::new();
    for i in 0..demo.matrix(q)?.rows() {
        let name = |what: &str| format!("{what}_{}", i + 1);
        let query = demo.compute(&name("query"), Op::Rows { start: i, count: 1 }, &[q])?;
        let scores = demo.compute(&name("scores"), Op::ProductTransposed, &[query, k])?;
        let scaled = demo.compute(&name("scaled"), scale.clone(), &[scores])?;
        let weights = demo.compute(&name("weights"), Op::Softmax(Axis::Rows, Base::E), &[scaled])?;
        let output = demo.compute(&name("output"), Op::Product, &[weights, v])?;
        passes.push([query, scores, scaled, weights, output]);
    }
    demo.step("The loop takes one query at a time: its scores with all keys, divided by √d, their softmax, and the weighted sum of all values. The token's own key and value are included.")
        .show(passes.first().map_or(&[], |pass| &pass[..]));
    let outputs: Vec<NodeId> = passes.iter().map(|[.., output]| *output).collect();
    demo.step("The loop repeats these steps for the other queries, one at a time.")
        .show(outputs.get(1..).unwrap_or_default());
    demo.compute("O_loop", Op::Stack(None), &outputs)
}

/// Scores, weights and outputs of all queries, each in one product.
fn all_at_once(demo: &mut Builder, [q, k, v]: Projections) -> Result<NodeId> {
    let [s, scaled, a, o] = attention(demo, "", [q, k, v])?;
    demo.step("Q Kᵀ holds the scores of every query with every key. Divided by √d they are the S of the text. The softmax of each row gives A.")
        .show(&[s, scaled, a]);
    demo.step("O = A V: each output is a weighted sum of the rows of V.").show(&[o]);
    Ok(o)
}

/// S, S_scaled, A and O of one head.
fn attention(demo: &mut Builder, suffix: &str, roles: Projections) -> Result<[NodeId; 4]> {
    let (head, o) = demo.head(suffix, roles, &Recipe::default())?;
    Ok([head.scores, head.scaled, head.weights, o])
}

/// Another head with weights of its own, and both outputs side by side.
fn second_head(demo: &mut Builder, x: NodeId, o: NodeId) -> Result<()> {
    let features = demo.matrix(x)?.cols();
    let weights = [
        demo.fitted("W_Q_2", rows_over_and_over(W_Q_2, features), (W_Q_2.len(), W_Q_2[0].len()))?,
        demo.fitted("W_K_2", rows_over_and_over(W_K_2, features), (W_K_2.len(), W_K_2[0].len()))?,
        demo.fitted("W_V_2", rows_over_and_over(W_V_2, features), (W_V_2.len(), W_V_2[0].len()))?,
    ];
    let head = projections(demo, "_2", x, weights)?;
    let [s, _, a, o_2] = attention(demo, "_2", head)?;
    demo.step("One head gives each token one row of weights. A second head does the same steps with its own weight matrices and gives another row.")
        .claim(
            all([top_of_row("A[v1,v1]"), top_of_row("A_2[v1,v2]")]),
            "In head 1, v1 attends most to itself ({A[v1,v1]:2}). In head 2 it attends most to v2 ({A_2[v1,v2]:2}).",
        )
        .together(&weights)
        .show(&[s, a]);

    let c = demo.compute("C", Op::Concatenate, &[o, o_2])?;
    demo.step("The outputs of the heads stand side by side in C. The demo `multihead` replaces the loop over heads by one product as well.")
        .show(&[o_2, c]);
    Ok(())
}
