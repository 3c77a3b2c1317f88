//! `pooling`: counting, adding, averaging, fixed weights, weights from the input, and where each of them breaks.

use super::words::vectors;
use crate::attention::{Axis, Base, Mask, MatrixRule};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::{Matrix, labels};
use crate::story::Digits;
use crate::story::condition::{all, equal, less, not, own, top_of_row};

mod from_input;
mod pools;

use from_input::{another_question, from_the_input, properties};
use pools::{constant, pooled, row_of, words};

pub(super) const DEMO: Demo = Demo {
    name: "pooling",
    source: Source::section(Document::Imagined, "The word vectors"),
    title: "From counting words to weights that depend on the input",
    summary: "from counting words to weights that depend on the input",
    place: crate::demo::Topic::Queries.at(2),
    keywords: &["average", "n-gram", "bag of words", "bigram", "history"],
    digits: Digits::Places(3),
    build,
};

const VOCABULARY: [&str; 7] = ["What", "is", "the", "capital", "city", "of", "India"];
const QUESTIONS: [&str; 3] = [
    "What is the capital of India",
    "What is the capital city of India",
    "What city is the capital city of India",
];
/// The tokens of Llama 3, whose parts the document lists.
const TOKENS: f64 = 128_256.0;

fn build(demo: &mut Builder) -> Result<()> {
    counting(demo)?;
    predicting(demo)?;
    let mut x = Vec::new();
    for (i, question) in QUESTIONS.iter().enumerate() {
        x.push(demo.given(&format!("X_{}", i + 1), vectors(&words(question)))?);
    }
    demo.step(
        "Now each word is a row of numbers. All rows of a question have to be pooled into a single vector w.",
    )
    .claim(
        own(&["X_1", "X_2", "X_3"]),
        "The three questions have the same answer. “city” occurs in them 0, 1 and 2 times.",
    )
    .together(&x[2..])
    .folded(&x[..2]);
    let sum = summed(demo, &x)?;
    let average = averaged(demo, &x)?;
    said_twice(demo, x[0])?;
    let fixed = fixed(demo, &x)?;
    let attention = from_the_input(demo, &x)?;
    another_question(demo)?;
    properties(demo)?;
    directions(demo, [sum, average, fixed, attention])
}

fn counting(demo: &mut Builder) -> Result<()> {
    let pairs: Vec<(&str, &str)> = QUESTIONS
        .iter()
        .flat_map(|question| words(question).windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>())
        .collect();
    let is = |a: &str, b: &str| if a == b { 1.0 } else { 0.0 };
    let first = Matrix::from_fn(VOCABULARY.len(), pairs.len(), |i, p| is(VOCABULARY[i], pairs[p].0));
    let second = Matrix::from_fn(pairs.len(), VOCABULARY.len(), |p, j| is(VOCABULARY[j], pairs[p].1));
    let first = demo.given("first", first.rows_named(&VOCABULARY))?;
    let second = demo.given("second", second.cols_named(&VOCABULARY))?;
    let counts = demo.compute("counts", Op::Product, &[first, second])?;
    let names = demo.own_labels(&["n"], &["1 word", "2 words", "3 words", "4 words", "5 words"]);
    let n = demo.given("n", Matrix::of([[1.0, 2.0, 3.0, 4.0, 5.0]]).with_col_labels(names))?;
    let vocabulary = demo.matrix(counts)?.rows() as f64;
    let sequences = demo.compute("sequences", Op::Exponential(Base::Number(vocabulary)), &[n])?;
    let sequences_llama = demo.compute("sequences_llama", Op::Exponential(Base::Number(TOKENS)), &[n])?;

    demo.step(
        "A model could simply count which word (column) follows which (row). But with V words there are Vⁿ sequences of n \
         words. Llama 3 has V = 128256 tokens.",
    )
    .claim(
        equal("counts[the,capital]", 3.0),
        "“the” is followed by “capital” {counts[the,capital]} times, and most cells are 0.",
    )
    .claim(
        equal("n[1,5 words]", 5.0),
        "Even {n[1,5 words]} words from this small table can form {sequences[1,5 words]} sequences.",
    )
    .show(&[counts])
    .columns(&[(n, None), (sequences, None), (sequences_llama, None)]);
    Ok(())
}

/// The counts as probabilities, and the most probable next word: the document's arg max.
fn predicting(demo: &mut Builder) -> Result<()> {
    let counts = demo.graph().require("counts")?;
    let shape = demo.matrix(counts)?.shape();
    // The last word of the vocabulary ends every question: nothing follows it.
    let followed = Op::Rows { start: 0, count: shape.rows.saturating_sub(1).max(1) };
    let followed = demo.compute("counts_followed", followed, &[counts])?;
    let p = demo.compute("P", Op::DivideBySum(Axis::Rows), &[followed])?;
    let largest = demo.compute("P_largest", Op::Max(Axis::Rows), &[p])?;
    let ones = demo.compute("ones_across", Op::Ones { rows: 1, cols: shape.cols }, &[])?;
    let across = demo.compute("P_largest_across", Op::Product, &[largest, ones])?;
    let below = demo.compute("P_below_largest", Op::Subtract, &[across, p])?;
    let is_zero = Mask { matrix: Some(MatrixRule::Block), ..Mask::default() };
    let arg_max = demo.compute("arg_max", Op::MaskPattern(is_zero), &[below, below])?;
    demo.label(p, "P of the next word");
    demo.label(below, "distance to the row maximum");
    demo.label(arg_max, "arg max");
    demo.step(
        "Each row of counts divided by its sum is a distribution: P(next word | word). The prediction is the word with the \
         largest probability, the arg max. A model that always predicts the next word correctly would have understood the \
         text, says the text.",
    )
    .claim(
        top_of_row("P[capital,city]"),
        "After “capital” comes “city” with the probability {P[capital,city]:2} and “of” with {P[capital,of]:2}, so the model \
         predicts “city”.",
    )
    .show(&[p])
    .folded(&[arg_max]);
    Ok(())
}

/// A row of ones, as long as the question.
fn ones(demo: &mut Builder, name: &str, x: NodeId) -> Result<NodeId> {
    let cols = demo.matrix(x)?.rows();
    demo.compute(name, Op::Ones { rows: 1, cols }, &[])
}

fn summed(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let mut weights = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        weights.push(ones(demo, &format!("ones_{}", i + 1), x)?);
    }
    let [sum, moved] = pooled(demo, "sum", &weights, x)?;
    demo.step(
        "The sum gives every word the weight 1. `moved_sum` is the distance of each sum from the sum of question 1.",
    )
    .claim(
        all([own(&["X_1", "X_2", "X_3"]), equal("moved_sum[2,1]", 2.0), not(equal("moved_sum[3,1]", 0.0))]),
        "One “city” moves the sum by {moved_sum[2,1]}, although the answer stays the same.",
    )
    .show(&[sum, moved]);
    Ok(sum)
}

fn averaged(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let mut weights = Vec::new();
    for i in 1..=x.len() {
        let ones = demo.graph().require(&format!("ones_{i}"))?;
        weights.push(demo.compute(&format!("equal_{i}"), Op::DivideBySum(Axis::Rows), &[ones])?);
    }
    let [average, moved] = pooled(demo, "average", &weights, x)?;
    demo.step("The average divides these weights by their sum: each of n words gets 1/n.")
        .claim(
            less("moved_average[3,1]", "moved_sum[3,1]"),
            "Question 3 now moves the result by {moved_average[3,1]:2} instead of {moved_sum[3,1]:2}.",
        )
        .show(&[average, moved]);
    Ok(average)
}

fn said_twice(demo: &mut Builder, x: NodeId) -> Result<()> {
    let twice = demo.compute("X_twice", Op::Stack(None), &[x, x])?;
    let ones = ones(demo, "ones_twice", twice)?;
    let equal = demo.compute("equal_twice", Op::DivideBySum(Axis::Rows), &[ones])?;
    let sum = demo.compute("w_sum_twice", Op::Product, &[ones, twice])?;
    let average = demo.compute("w_average_twice", Op::Product, &[equal, twice])?;
    let once = [demo.graph().require("w_sum_1")?, demo.graph().require("w_average_1")?];
    let names = labels(&["sum once", "sum twice", "average once", "average twice"]);
    let both = [once[0], sum, once[1], average];
    let repeated = demo.collect("repeated", "results", Some(names), &both)?;
    demo.step("Question 1 repeated: how the sum and the average change if every word comes twice.")
        .claim(own(&["X_1"]), "The sum doubles, the average stays the same. That is what the average is for.")
        .show(&[repeated]);
    Ok(())
}

fn fixed(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let (mut constants, mut weights) = (Vec::new(), Vec::new());
    for (i, question) in QUESTIONS.iter().enumerate() {
        let c = demo.given(&format!("c_{}", i + 1), row_of(question, constant))?;
        constants.push(c);
        weights.push(demo.compute(&format!("fixed_{}", i + 1), Op::DivideBySum(Axis::Rows), &[c])?);
    }
    let [fixed, moved] = pooled(demo, "fixed", &weights, x)?;
    demo.step(
        "An average treats all words alike. Constants c, one for each word, say which words matter more: Σ c·w / Σ c.",
    )
    .claim(
        own(&["c_1", "c_2", "c_3"]),
        "With c = 4 for “capital” and “India”, question 3 moves the result by {moved_fixed[3,1]:2}.",
    )
    .folded(&constants[2..])
    .show(&[fixed, moved]);
    Ok(fixed)
}

fn directions(demo: &mut Builder, pools: [NodeId; 4]) -> Result<()> {
    let mut third = Vec::new();
    for (pool, name) in pools.into_iter().zip(["sum", "average", "fixed", "attention"]) {
        third.push(demo.compute(&format!("third_{name}"), Op::Rows { start: 2, count: 1 }, &[pool])?);
    }
    let names = labels(&["sum", "average", "fixed weights", "attention"]);
    let third = demo.collect("w", "ways of pooling", Some(names), &third)?;
    let answers = demo.given("answers", vectors(&["Delhi", "city"]))?;
    let toward = demo.compute("toward", Op::Cosine, &[third, answers])?;
    demo.step(
        "In which direction does question 3 point? The cosines with two answers. Sum and average point the same way: \
         dividing by n changes the length, not the direction. Attention has limits, too: one similarity gives one relation \
         (see `transforms`), and the order of the words does not matter (see `order`).",
    )
    .claim(
        all([
            less("toward[attention,city]", "toward[sum,city]"),
            less("toward[sum,Delhi]", "toward[attention,Delhi]"),
        ]),
        "With attention the cosine with “Delhi” rises from {toward[sum,Delhi]:2} to {toward[attention,Delhi]:2}, and with \
         “city” it falls from {toward[sum,city]:2} to {toward[attention,city]:2}.",
    )
    .show(&[third, toward]);
    Ok(())
}
