//! `pooling`: counting, adding, averaging, fixed weights, weights from the input, and where each of them breaks.

use super::words::vectors;
use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::{Matrix, labels};

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
const NAMES: [&str; 3] = ["question 1", "question 2", "question 3"];
/// The tokens of Llama 3, whose parts the document lists.
const TOKENS: f64 = 128_256.0;

fn build(demo: &mut Builder) -> Result<()> {
    counting(demo)?;
    let mut x = Vec::new();
    for (i, question) in QUESTIONS.iter().enumerate() {
        x.push(demo.given(&format!("X_{}", i + 1), vectors(&words(question)))?);
    }
    demo.step(
        "Each word becomes a row of numbers. All rows of a question are now to be pooled into a single \
         vector w.",
    )
    .notice("The three questions have one answer. “city” stands in them 0, 1 and 2 times.")
    .together(&x);
    let sum = summed(demo, &x)?;
    let average = averaged(demo, &x)?;
    said_twice(demo, x[0])?;
    let fixed = fixed(demo, &x)?;
    let attention = from_the_input(demo, &x)?;
    another_question(demo)?;
    directions(demo, [sum, average, fixed, attention])
}

fn words(sentence: &str) -> Vec<&str> {
    sentence.split(' ').collect()
}

/// A row with one number for each word.
fn row_of(sentence: &str, weight: fn(&str) -> f64) -> Matrix {
    let words = words(sentence);
    Matrix::from_fn(1, words.len(), |_, j| weight(words[j])).cols_named(&words)
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
    let words = Matrix::of([[1.0, 2.0, 3.0, 4.0, 5.0]]);
    let n = demo.given("n", words.cols_named(&["1 word", "2 words", "3 words", "4 words", "5 words"]))?;
    let vocabulary = demo.matrix(counts)?.rows() as f64;
    let sequences = demo.compute("sequences", Op::Exponential(Base::Number(vocabulary)), &[n])?;
    let sequences_llama = demo.compute("sequences_llama", Op::Exponential(Base::Number(TOKENS)), &[n])?;

    demo.step(
        "A model may just count which word (column) follows which (row). But of V words there are Vⁿ \
         sequences of n, and V is 128256 in Llama 3.",
    )
    .notice(
        "“the” is followed by “capital” {counts[the,capital]} times, and most cells are 0. Already \
             seven words make {sequences[1,5]} sequences of five.",
    )
    .show(&[counts, sequences, sequences_llama]);
    Ok(())
}

/// One pooled row for each question, and how far each lies from the first.
fn pooled(demo: &mut Builder, name: &str, weights: &[NodeId], x: &[NodeId]) -> Result<[NodeId; 2]> {
    let mut rows = Vec::new();
    for (i, (&weights, &x)) in weights.iter().zip(x).enumerate() {
        rows.push(demo.compute(&format!("w_{name}_{}", i + 1), Op::Product, &[weights, x])?);
    }
    let all = demo.compute(&format!("w_{name}"), Op::Stack(Some(labels(&NAMES))), &rows)?;
    let first = demo.compute(&format!("first_{name}"), Op::Rows { start: 0, count: 1 }, &[all])?;
    Ok([all, demo.compute(&format!("moved_{name}"), Op::Euclidean, &[first, all])?])
}

/// A row of ones for each question, as long as the question.
fn ones(demo: &mut Builder, name: &str, x: NodeId) -> Result<NodeId> {
    let words = demo.matrix(x)?;
    let ones = Matrix::filled(1, words.rows(), 1.0).with_col_labels(words.row_labels().cloned());
    demo.given(name, ones)
}

fn summed(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let mut weights = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        weights.push(ones(demo, &format!("ones_{}", i + 1), x)?);
    }
    let [sum, moved] = pooled(demo, "sum", &weights, x)?;
    demo.step(
        "The sum gives every word the weight 1. Below it: how far each sum lies from that of question 1.",
    )
    .notice("Each further “city” pushes the sum by {moved_sum[1,2]}, though the answer stays the same.")
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
    demo.step("The average divides those weights by their sum: 1/n for each of n words.")
        .notice(
            "The repeated word now moves the result by {moved_average[1,3]:2} instead of {moved_sum[1,3]}.",
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
    let repeated = demo.compute("repeated", Op::Stack(Some(names)), &both)?;
    demo.step("Question 1 said twice: the sum doubles, the average stays. That is what the average is for.")
        .show(&[repeated]);
    Ok(())
}

/// Constants of ours: a word that carries the question counts four times.
fn constant(word: &str) -> f64 {
    match word {
        "capital" | "India" => 4.0,
        _ => 1.0,
    }
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
        "To an average all words are equal. Constants c, one for each word, say which matter more: Σ c·w / \
         Σ c.",
    )
    .notice("With 4 for “capital” and “India” the result moves by {moved_fixed[1,3]:2}.")
    .together(&constants)
    .show(&[fixed, moved]);
    Ok(fixed)
}

/// The softmax of the similarities between the last word and all words, as weights.
fn asked_by_the_last(demo: &mut Builder, name: &str, x: NodeId) -> Result<NodeId> {
    let last = demo.matrix(x)?.rows().saturating_sub(1);
    let last = demo.compute(&format!("last_{name}"), Op::Rows { start: last, count: 1 }, &[x])?;
    let s = demo.compute(&format!("S_{name}"), Op::ProductTransposed, &[last, x])?;
    demo.compute(&format!("A_{name}"), Op::Softmax(Axis::Rows, Base::E), &[s])
}

fn from_the_input(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let mut weights = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        weights.push(asked_by_the_last(demo, &(i + 1).to_string(), x)?);
    }
    let s = demo.graph().require("S_3")?;
    let [attention, moved] = pooled(demo, "attention", &weights, x)?;
    demo.step(
        "Attention takes the weights from the input: the last word is compared with every word, and a \
         softmax makes weights of the scores.",
    )
    .notice(
        "“India” finds itself and “capital”; each “city” gets {A_3[1,city#2]:3}. The repeated word \
             moves the result by only {moved_attention[1,3]:2}.",
    )
    .show(&[s, weights[2], attention, moved]);
    Ok(attention)
}

fn another_question(demo: &mut Builder) -> Result<()> {
    const QUESTION: &str = "What is a city";
    let x = demo.given("X_4", vectors(&words(QUESTION)))?;
    let c = demo.given("c_4", row_of(QUESTION, constant))?;
    let fixed = demo.compute("fixed_4", Op::DivideBySum(Axis::Rows), &[c])?;
    let a = asked_by_the_last(demo, "4", x)?;
    demo.step("Constants cannot depend on the question. Weights from the input follow its last word.")
        .notice(
            "A fourth question, ours, in which only “city” matters: its fixed weight is {fixed_4[1,city]}, \
             the one from the input {A_4[1,city]:2}.",
        )
        .show(&[fixed, a]);
    Ok(())
}

fn directions(demo: &mut Builder, pools: [NodeId; 4]) -> Result<()> {
    let mut third = Vec::new();
    for (pool, name) in pools.into_iter().zip(["sum", "average", "fixed", "attention"]) {
        third.push(demo.compute(&format!("third_{name}"), Op::Rows { start: 2, count: 1 }, &[pool])?);
    }
    let names = labels(&["sum", "average", "fixed weights", "attention"]);
    let third = demo.compute("w", Op::Stack(Some(names)), &third)?;
    let answers = demo.given("answers", vectors(&["Delhi", "city"]))?;
    let toward = demo.compute("toward", Op::Cosine, &[third, answers])?;
    demo.step(
        "Where question 3 points, as a cosine. The average points where the sum points: it repairs the \
         length, not the direction.",
    )
    .notice(
        "Attention breaks too: one similarity is one relation (see `transforms`), and it is blind to \
             order (see `order`).",
    )
    .show(&[third, toward]);
    Ok(())
}
