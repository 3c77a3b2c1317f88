//! `update`: Δe and e + Δe on the document's sentence: creature reads fluffy and blue, forest reads verdant.

use crate::attention::Axis;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::recipes::{Recipe, Weights};
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::condition::{all, equal, every, less, min_of, not, own, sum, within};
use crate::story::{Digits, Table};

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
    tokens(demo);
    demo.step("Row i of X is the text's e_i, the embedding of token i.")
        .claim(own(&["X"]), "The five features and their names are ours. A real model has thousands of features without names.")
        .together(&[x]);

    let [w_q, w_k, w_v] = weights(demo)?;
    demo.step("W_Q says what a token looks for, W_K what it offers, and W_V what it passes on.")
        .claim(
            own(&["W_Q", "W_K", "W_V"]),
            "Animals look for words about animals, places for words about places.",
        )
        .together(&[w_q, w_k])
        .together(&[w_v]);

    let q = demo.compute("Q", Op::Product, &[x, w_q])?;
    let k = demo.compute("K", Op::Product, &[x, w_k])?;
    demo.step("One query and one key for each token.")
        .claim(
            all([
                every("Q[a]", 0.0),
                every("Q[fluffy]", 0.0),
                every("Q[blue]", 0.0),
                every("Q[roamed]", 0.0),
                every("Q[the]", 0.0),
                every("Q[verdant]", 0.0),
                every("K[a]", 0.0),
                every("K[creature]", 0.0),
                every("K[roamed]", 0.0),
                every("K[the]", 0.0),
                every("K[forest]", 0.0),
                not(every("Q[creature]", 0.0)),
                not(every("Q[forest]", 0.0)),
                not(every("K[fluffy]", 0.0)),
                not(every("K[blue]", 0.0)),
                not(every("K[verdant]", 0.0)),
            ]),
            "Only creature and forest look for something. Only fluffy, blue and verdant offer something. The other rows are 0.",
        )
        .show(&[q, k]);

    let a = attention(demo, q, k)?;

    let v = demo.compute("V", Op::Product, &[x, w_v])?;
    weighted_values(demo, a, v)?;
    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step("The same for all tokens at once: A V. Row i of O is the change that the text calls Δe_i.")
        .claim(
            all([less(0.0, "O[creature,fluffy]"), less(0.0, "O[creature,blue]")]),
            "For creature it is {O[creature,fluffy]:2} of fluffy and {O[creature,blue]:2} of blue.",
        )
        .show(&[o]);

    let updated = demo.compute("X_updated", Op::Add, &[x, o])?;
    demo.step("e + Δe: the change is added to the embedding. It does not replace it.")
        .claim(
            all([
                less(0.5, "X_updated[creature,animal]"),
                less(0.5, "X_updated[creature,fluffy]"),
                less(0.5, "X_updated[creature,blue]"),
                less(0.5, "X_updated[forest,green]"),
            ]),
            "Creature is still an animal ({X_updated[creature,animal]:2}), and now it is also fluffy \
             ({X_updated[creature,fluffy]:2}) and blue ({X_updated[creature,blue]:2}). Forest is now green \
             ({X_updated[forest,green]:2}).",
        )
        .show(&[updated]);
    Ok(())
}

/// A token is not always a word.
fn tokens(demo: &mut Builder) {
    let rows = [["creature", "creature", "1"], ["tokenisation", "token + isation", "2"]];
    let rows = rows.map(|row| row.map(str::to_string).to_vec());
    demo.step("A tokeniser cuts the text into tokens. A common word is one token, a longer word may be several. In this demo every word is one token.")
        .table(Table::new(&["word", "tokens", "how many"], rows).with_numbers(&["how many"]));
}

/// The weighted values of one token before they are summed: one column of the document's table of σ(k_i · q_j) v_i.
fn weighted_values(demo: &mut Builder, a: NodeId, v: NodeId) -> Result<()> {
    let at = TOKENS.iter().position(|token| *token == "creature").unwrap_or(0);
    let at = at.min(demo.matrix(a)?.rows().saturating_sub(1));
    let row = demo.compute("a_creature", Op::Rows { start: at, count: 1 }, &[a])?;
    let spread = demo.compute("a_creature_diagonal", Op::Diagonal, &[row])?;
    let weighted = demo.compute("weighted_creature", Op::Product, &[spread, v])?;
    let sums = demo.compute("delta_creature", Op::Sums(Axis::Columns), &[weighted])?;
    demo.label(weighted, "weighted values");
    demo.label(sums, "sum of the weighted values");
    demo.step(
        "For every query j, each value is multiplied by its weight: σ(k_i · q_j) · v_i, for all tokens i. The text has one \
         column of these for each j. Here is one of them, row by row: their sum is Δe_j.",
    )
    .claim(own(&["X"]), "It is that of creature, token 4.")
    .claim(
        within(1e-9, "delta_creature[1,fluffy]", "weighted_creature[fluffy,fluffy]"),
        "All of the fluffy part, {delta_creature[1,fluffy]:2}, comes from the token fluffy.",
    )
    .show(&[v])
    .together(&[weighted, sums]);
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
        .claim(
            all([
                equal("S[creature,fluffy]", 6.0),
                equal("S[creature,blue]", 6.0),
                equal("S[forest,verdant]", 6.0),
                equal(sum("S"), 18.0),
                equal(min_of("S"), 0.0),
            ]),
            "Creature matches fluffy and blue, forest matches verdant: {S[creature,fluffy]} each. All other scores are 0.",
        )
        .show(&[scores]);
    demo.step("The scores divided by the square root of the width of a key. Later tokens are hidden.")
        .show(&[read]);
    demo.step("Row i of the weights says how much token i attends to each token. (The text turns this around: it says that “fluffy” attends to “creature”.)")
        .claim(
            all([
                less(0.4, "A[creature,fluffy]"),
                less(0.4, "A[creature,blue]"),
                less(0.4, "A[forest,verdant]"),
            ]),
            "Creature attends to fluffy ({A[creature,fluffy]:2}) and blue ({A[creature,blue]:2}), forest to verdant \
             ({A[forest,verdant]:2}).",
        )
        .show(&[weights]);
    demo.step(
        "If the query of a token is 0, all its scores are 0. Then it attends equally to every token that it may attend to.",
    )
    .claim(
        all([every("Q[roamed]", 0.0), equal("A[roamed,a]", "A[roamed,roamed]"), less(0.0, "A[roamed,a]")]),
        "Roamed gives {A[roamed,a]:2} to each token up to itself.",
    )
    .in_brief(weights);
    Ok(weights)
}
