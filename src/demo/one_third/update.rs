//! `update`: Δe and e + Δe on the document's sentence: creature reads fluffy and blue, forest reads verdant.

use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::build::{Recipe, Weights};
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;

pub(super) const DEMO: Demo = Demo {
    name: "update",
    source: Source::section(Document::OneThird, "Values"),
    title: "Δe: what the context adds to a token",
    summary: "Δe: what attention adds to a token",
    place: crate::demo::Topic::Model.at(1),
    keywords: &["residual", "delta", "adjective", "embedding"],
    digits: Digits::Places(2),
    build,
};

const TOKENS: [&str; 8] = ["a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest"];
const FEATURES: [&str; 5] = ["animal", "place", "fluffy", "blue", "green"];

fn build(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", embeddings())?;
    demo.step("Row i of X is the document's e_i, the embedding of token i.")
        .notice("Five features of ours, with names. A real model has thousands, and they have none.")
        .together(&[x]);

    let [w_q, w_k, w_v] = weights(demo)?;
    demo.step("W_Q says what a token asks for, W_K what it offers, W_V what it hands over.")
        .notice("Animals ask for words about animals, places for words about places.")
        .together(&[w_q, w_k])
        .together(&[w_v]);

    let q = demo.compute("Q", Op::Product, &[x, w_q])?;
    let k = demo.compute("K", Op::Product, &[x, w_k])?;
    demo.step("One query and one key for each token.")
        .notice("Only creature and forest ask; only fluffy, blue and verdant offer. The other rows are 0.")
        .show(&[q, k]);

    let a = attention(demo, q, k)?;

    let v = demo.compute("V", Op::Product, &[x, w_v])?;
    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step(
        "The values, mixed with these weights: row i of O is the displacement that the document calls Δe_i.",
    )
    .notice("For creature it is {O[creature,fluffy]:2} of fluffy and {O[creature,blue]:2} of blue.")
    .show(&[v, o]);

    let updated = demo.compute("X_updated", Op::Add, &[x, o])?;
    demo.step("e + Δe: the displacement is added to the embedding and does not replace it.")
        .notice(
            "Creature is still an animal ({X_updated[creature,animal]:0}), now fluffy ({X_updated[creature,fluffy]:2}) \
             and blue ({X_updated[creature,blue]:2}). Forest has become green ({X_updated[forest,green]:2}).",
        )
        .show(&[updated]);
    Ok(())
}

fn embeddings() -> Matrix {
    let feature_of = |token: &str| match token {
        "creature" => Some("animal"),
        "forest" => Some("place"),
        "fluffy" => Some("fluffy"),
        "blue" => Some("blue"),
        "verdant" => Some("green"),
        _ => None,
    };
    let has = |i: usize, j: usize| if feature_of(TOKENS[i]) == Some(FEATURES[j]) { 1.0 } else { 0.0 };
    Matrix::from_fn(TOKENS.len(), FEATURES.len(), has).rows_named(&TOKENS).cols_named(&FEATURES)
}

fn weights(demo: &mut Builder) -> Result<[NodeId; 3]> {
    let topics = ["of animals", "of places"];
    let named = |matrix: Matrix, cols: &[&str]| matrix.rows_named(&FEATURES).cols_named(cols);
    let w_q = Matrix::of([[3.0, 0.0], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
    let w_k = Matrix::of([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [2.0, 0.0], [0.0, 2.0]]);
    let w_v = Matrix::of([
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 2.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0],
    ]);
    Ok([
        demo.given("W_Q", named(w_q, &topics))?,
        demo.given("W_K", named(w_k, &topics))?,
        demo.given("W_V", named(w_v, &FEATURES))?,
    ])
}

/// Scores, scale, mask and weights.
fn attention(demo: &mut Builder, q: NodeId, k: NodeId) -> Result<NodeId> {
    let Weights { scores, read, weights, .. } = demo.weights("", q, k, &Recipe::causal())?;
    demo.step("Row i of the scores belongs to the query of token i, column j to the key of token j.")
        .notice("Creature meets fluffy and blue, forest meets verdant; everything else is 0.")
        .show(&[scores]);
    demo.step("Scaled by the root of the width of a key; what comes later in the sentence is hidden.")
        .show(&[read]);
    demo.step("Row i of the weights is what token i reads. The query reads; the key is read.")
        .notice(
            "Creature reads fluffy ({A[creature,fluffy]:2}) and blue ({A[creature,blue]:2}); forest reads verdant \
             ({A[forest,verdant]:2}). The document says it the other way round: that fluffy attends to creature.",
        )
        .show(&[weights]);
    demo.step(
        "A token whose query is 0 asks for nothing. It still reads: all that it may see, in equal parts.",
    )
    .notice("Roamed gives {A[roamed,a]:2} to each of its five tokens.");
    Ok(weights)
}
