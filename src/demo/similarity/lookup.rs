//! `lookup`: an exact and a soft look-up in a dictionary; the comparison of keys; the values that can be mixed.

use super::SOFTMAX;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, not, own, whole, within};

pub(super) const DEMO: Demo = Demo {
    name: "lookup",
    source: Source::section(Document::Similarity, "Intuition behind K, Q and V matrices"),
    title: "Attention as a soft dictionary lookup",
    summary: "attention as a soft dictionary lookup",
    place: crate::demo::Topic::Queries.at(1),
    keywords: &["dictionary", "query", "queries", "key", "keys", "value", "values", "retrieval"],
    digits: Digits::Places(2),
    build,
};

/// The names under which the dictionary keeps its entries.
const KEYS: [&str; 3] = ["alex.", "Alec", "Bob"];
/// The names that are looked up.
const QUERIES: [&str; 2] = ["Alex", "Bob"];
/// The characters of these names, and the letters they become when case and punctuation are taken away.
const CHARACTERS: [&str; 10] = ["A", "a", "l", "e", "x", "c", "B", "b", "o", "."];
const LETTERS: [&str; 7] = ["a", "l", "e", "x", "c", "b", "o"];

fn build(demo: &mut Builder) -> Result<()> {
    let v = Matrix::of([[30.0, 5_550_101.0], [40.0, 5_550_199.0], [60.0, 5_550_123.0]]);
    let v = demo.given("V", v.rows_named(&KEYS).cols_named(&["age", "phone"]))?;
    demo.step("A dictionary. Each row is an entry: its name is the key, its numbers are the values.")
        .together(&[v]);

    exactly(demo, v)?;
    let keys = demo.given("X_K", key_characters())?;
    let queries = demo.given("X_Q", query_characters())?;
    demo.step("For a soft lookup, each name becomes a vector with one column for each character.")
        .claim(own(&["X_Q", "X_K"]), "The numbers say how often the character occurs.")
        .together(&[queries])
        .together(&[keys]);
    let s = demo.compute("S_as_written", Op::ProductTransposed, &[queries, keys])?;
    demo.step("The scores of the names as they are spelled.")
        .claim(
            all([equal("S_as_written[Alex,alex.]", "S_as_written[Alex,Alec]"), own(&["X_Q", "X_K"])]),
            "They count shared characters. “Alex” shares {S_as_written[Alex,alex.]} with “alex.” and also \
             {S_as_written[Alex,Alec]} with “Alec”: a tie, because A and a are different columns.",
        )
        .show(&[s]);
    softly(demo, [queries, keys, v])
}

/// Each spelling is a direction of its own: a key matches or it does not.
fn exactly(demo: &mut Builder, v: NodeId) -> Result<()> {
    let spellings = ["Alex", "alex.", "Alec", "Bob"];
    let queries = Matrix::of([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
    let keys = Matrix::of([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
    let queries = demo.given("Q_exact", queries.rows_named(&QUERIES).cols_named(&spellings))?;
    let keys = demo.given("K_exact", keys.rows_named(&KEYS).cols_named(&spellings))?;
    let a = demo.compute("A_exact", Op::ProductTransposed, &[queries, keys])?;
    let o = demo.compute("O_exact", Op::Product, &[a, v])?;
    demo.step("An exact lookup: if every spelling has its own column, a query matches the key with the same spelling, or no key.")
        .claim(
            all([equal("A_exact[Bob,Bob]", 1.0), equal("O_exact[Bob,age]", "V[Bob,age]")]),
            "“Bob” finds his age, {O_exact[Bob,age]}.",
        )
        .claim(
            all([
                equal("A_exact[Alex,alex.]", 0.0),
                equal("A_exact[Alex,Alec]", 0.0),
                equal("A_exact[Alex,Bob]", 0.0),
                own(&["Q_exact", "K_exact"]),
            ]),
            "“Alex” finds nothing, because the key is spelled “alex.”.",
        )
        .together(&[queries, keys])
        .show(&[a, o]);
    Ok(())
}

/// Normalised names, weights, mixed values; and a sharper softmax, which comes near to the exact look-up.
fn softly(demo: &mut Builder, [queries, keys, v]: [NodeId; 3]) -> Result<()> {
    let normalise = demo.given("W", normalising())?;
    let q = demo.compute("Q", Op::Product, &[queries, normalise])?;
    let k = demo.compute("K", Op::Product, &[keys, normalise])?;
    demo.step("One matrix makes the names comparable. Here it is both W_Q and W_K.")
        .claim(own(&["W"]), "It counts capitals as small letters and leaves out the full stop.")
        .together(&[normalise])
        .show(&[q, k]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let a = demo.compute("A", SOFTMAX, &[s])?;
    demo.step(
        "The scores of the transformed names, and the softmax of each row.",
    )
    .claim(
        less("S[Alex,Alec]", "S[Alex,alex.]"),
        "For “Alex”, “alex.” now scores {S[Alex,alex.]} and “Alec” {S[Alex,Alec]}. The weights are {A[Alex,alex.]:2} and \
         {A[Alex,Alec]:2}.",
    )
    .show(&[s, a]);

    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step(
        "The weights mix the values. This makes sense only for values that can be averaged.",
    )
    .claim(
        all([
            own(&["V"]),
            not(whole("O")),
            not(within(0.05, "O[Alex,phone]", "V[alex.,phone]")),
            not(within(0.05, "O[Alex,phone]", "V[Alec,phone]")),
            not(within(0.05, "O[Alex,phone]", "V[Bob,phone]")),
        ]),
        "The mixed age, {O[Alex,age]:2}, is an estimate. The mixed phone number, {O[Alex,phone]:1}, belongs to nobody.",
    )
    .show(&[o]);

    let sharper = demo.compute("S_sharp", Op::Temperature(0.125), &[s])?;
    let a = demo.compute("A_sharp", SOFTMAX, &[sharper])?;
    let o = demo.compute("O_sharp", Op::Product, &[a, v])?;
    demo.step("Dividing the scores by a small number makes the softmax sharper. The smaller the number, the more the best key dominates.")
        .claim(
            less(0.99, "A_sharp[Alex,alex.]"),
            "“alex.” now has {A_sharp[Alex,alex.]:4} of the weight. This is nearly an exact lookup, with an age of \
             {O_sharp[Alex,age]:3}.",
        )
        .show(&[sharper, a, o]);
    Ok(())
}

/// The count of each character (column) in each name that is looked up.
fn query_characters() -> Matrix {
    Matrix::of([
        [1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
    ])
    .rows_named(&QUERIES)
    .cols_named(&CHARACTERS)
}

/// The count of each character (column) in each key.
fn key_characters() -> Matrix {
    Matrix::of([
        [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
    ])
    .rows_named(&KEYS)
    .cols_named(&CHARACTERS)
}

/// 1 where a character (row) becomes a letter (column).
fn normalising() -> Matrix {
    Matrix::of([
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ])
    .rows_named(&CHARACTERS)
    .cols_named(&LETTERS)
}
