//! `transforms`: why queries and keys are transformed, and why differently.

use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::{Matrix, labels};
use crate::story::Digits;
use crate::story::condition::{all, equal, less, not, own, top_of_row};

pub(super) const DEMO: Demo = Demo {
    name: "transforms",
    source: Source::section(Document::Imagined, "The formulation"),
    title: "Query and key: what a word asks for, and what it offers",
    summary: "query and key: what a word asks for, and what it offers",
    place: crate::demo::Topic::Queries.at(3),
    keywords: &["query", "queries", "key", "keys", "asymmetry", "symmetric"],
    digits: Digits::Places(4),
    build,
};

const SENSES: [&str; 4] = ["animal", "cricket", "baseball", "batting"];
const ASPECTS: [&str; 2] = ["life", "game"];

/// A transformation from the four senses to two aspects.
fn transformation(rows: [[f64; 2]; 4]) -> Matrix {
    Matrix::of(rows).rows_named(&SENSES).cols_named(&ASPECTS)
}

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([
        [1.0, 1.0, 1.0, 1.0],
        [2.0, 0.0, 0.0, 0.0],
        [0.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 2.0, 0.0],
        [0.0, 0.0, 0.0, 2.0],
    ]);
    let words = ["bat", "cave", "wicket", "pitcher", "swung"];
    let x = demo.given("X", x.rows_named(&words).cols_named(&SENSES))?;
    demo.step(
        "Each row is a word. The columns are the four senses of “bat”: the flying animal, the cricket bat, the baseball bat \
         and the act of batting.",
    )
    .claim(
        all([
            less(0.0, "X[bat,animal]"),
            equal("X[bat,animal]", "X[bat,cricket]"),
            equal("X[bat,animal]", "X[bat,baseball]"),
            equal("X[bat,animal]", "X[bat,batting]"),
        ]),
        "“bat” alone could have any of the four senses. The words around it decide.",
    )
    .together(&[x]);
    one_transformation(demo, x)?;
    two_transformations(demo, x)?;
    relations(demo, x)?;
    pairs_in_use(demo)
}

fn one_transformation(demo: &mut Builder, x: NodeId) -> Result<()> {
    let w = demo.given("W", transformation([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]))?;
    let p = demo.compute("P", Op::Product, &[x, w])?;
    let s = demo.compute("S_one", Op::ProductTransposed, &[p, p])?;
    demo.step(
        "One transformation for both sides: every word becomes a row of P, and the rows of P are compared with each other.",
    )
    .show(&[p, s]);
    let turned = demo.compute("S_one_turned", Op::Transpose, &[s])?;
    let difference = demo.compute("difference_one", Op::Subtract, &[s, turned])?;
    let largest = demo.compute("asymmetry_one", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step(
        "Such scores are always symmetric, S = Sᵀ: two words score the same in both directions. The largest difference \
         between S and Sᵀ:",
    )
    .claim(
        equal("S_one[swung,bat]", "S_one[bat,swung]"),
        "“swung” with “bat” scores {S_one[swung,bat]}, and “bat” with “swung” scores {S_one[bat,swung]}.",
    )
    .show(&[largest]);
    Ok(())
}

fn two_transformations(demo: &mut Builder, x: NodeId) -> Result<()> {
    let w_q = demo.given("W_Q", transformation([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 2.0]]))?;
    let w_k = demo.given("W_K", transformation([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))?;
    let q = demo.compute("Q", Op::Product, &[x, w_q])?;
    let k = demo.compute("K", Op::Product, &[x, w_k])?;
    demo.step("Two transformations: the query says what a word looks for, the key says what it offers.")
        .claim(
            own(&["W_Q", "W_K"]),
            "Batting asks twice for a game and offers nothing: it is an action, not a thing.",
        )
        .together(&[w_q, w_k])
        .show(&[q, k]);
    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let turned = demo.compute("S_turned", Op::Transpose, &[s])?;
    let difference = demo.compute("difference", Op::Subtract, &[s, turned])?;
    demo.step(
        "Now the scores need not be symmetric. One shared transformation can never give a difference S − Sᵀ other than 0.",
    )
    .claim(
        not(equal("S[swung,bat]", "S[bat,swung]")),
        "“swung” with “bat” scores {S[swung,bat]}, but “bat” with “swung” scores {S[bat,swung]}.",
    )
    .show(&[s, difference]);
    Ok(())
}

/// The word of the first row, asked about with two queries against two keys.
fn relations(demo: &mut Builder, x: NodeId) -> Result<()> {
    let queries =
        [[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]];
    let keys =
        [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]];
    let mut weights = Vec::new();
    for (name, all) in [("Q", queries), ("K", keys)] {
        for (i, rows) in all.into_iter().enumerate() {
            weights.push(demo.given(&format!("W_{name}_{}", i + 1), transformation(rows))?);
        }
    }
    demo.step("Two query transformations and two key transformations.")
        .claim(
            own(&["W_Q_1", "W_Q_2", "W_K_1", "W_K_2"]),
            "W_Q_1 asks for animals, W_Q_2 for sport. W_K_1 describes things, W_K_2 actions: batting counts towards “game” \
             and against “life”.",
        )
        .together(&weights[..2])
        .together(&weights[2..]);

    let word = demo.compute("x_bat", Op::Rows { start: 0, count: 1 }, &[x])?;
    let q = [
        demo.compute("q_1", Op::Product, &[word, weights[0]])?,
        demo.compute("q_2", Op::Product, &[word, weights[1]])?,
    ];
    let k = [
        demo.compute("K_1", Op::Product, &[x, weights[2]])?,
        demo.compute("K_2", Op::Product, &[x, weights[3]])?,
    ];
    let mut scores = Vec::new();
    for (i, query) in q.into_iter().enumerate() {
        for (j, key) in k.into_iter().enumerate() {
            let name = format!("s_{}{}", i + 1, j + 1);
            scores.push(demo.compute(&name, Op::ProductTransposed, &[query, key])?);
        }
    }
    let names = labels(&["q1 with k1", "q1 with k2", "q2 with k1", "q2 with k2"]);
    let relations = demo.compute("relations", Op::Stack(Some(names)), &scores)?;
    let a = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[relations])?;
    demo.step("The first word has two queries. Each is paired with each of the two keys: 2 · 2 relations.")
        .claim(top_of_row("A[1,cave]"), "Animals among things: “cave” gets most, {A[1,cave]:2}.")
        .claim(
            all([
                equal("A[3,wicket]", "A[3,pitcher]"),
                less("A[3,bat]", "A[3,wicket]"),
                less("A[3,cave]", "A[3,wicket]"),
                less("A[3,swung]", "A[3,wicket]"),
            ]),
            "Sport among things: “wicket” and “pitcher” get {A[3,wicket]:2} each.",
        )
        .claim(top_of_row("A[4,swung]"), "Sport among actions: “swung” gets most, {A[4,swung]:2}.")
        .show(&[relations, a]);
    Ok(())
}

fn pairs_in_use(demo: &mut Builder) -> Result<()> {
    let models = demo.own_labels(&["queries", "keys"], &["here", "8 heads", "Llama 3 8B"]);
    let queries = Matrix::of([[2.0, 8.0, 32.0]]).with_col_labels(models.clone());
    let queries = demo.given("queries", queries)?;
    let keys = demo.given("keys", Matrix::of([[2.0, 8.0, 8.0]]).with_col_labels(models))?;
    let possible = demo.compute("possible", Op::Multiply, &[queries, keys])?;
    demo.step(
        "With q query transformations and k key transformations, q · k pairs are possible. Real models use one pair for each \
         head, so they use q of them.",
    )
    .claim(
        own(&["queries", "keys"]),
        "Llama 3 8B could use {possible[1,3]} pairs in every layer, and it uses {queries[1,3]}.",
    )
    .together(&[queries, keys])
    .show(&[possible]);
    Ok(())
}
