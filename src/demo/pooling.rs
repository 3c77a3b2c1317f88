//! `pooling`, of “Attention and Transformer Imagined”: words counted, averaged, weighted; and the word vectors that its demos share.

use super::builder::*;

const VOCABULARY: [&str; 7] = ["What", "is", "the", "capital", "city", "of", "India"];
const QUESTIONS: [&str; 3] = [
    "What is the capital of India",
    "What is the capital city of India",
    "What city is the capital city of India",
];
/// The tokens of Llama 3, whose parts the document lists.
const TOKENS: f64 = 128_256.0;

/// `pooling`: counting, adding, averaging, fixed weights, weights from the input, and where each of them breaks.
pub(super) fn pooling(demo: &mut Builder) -> Result<()> {
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
    let counts = demo.product("counts", first, second)?;
    let names = demo.own_labels(&["n"], &["1 word", "2 words", "3 words", "4 words", "5 words"]);
    let n = demo.given("n", numbers("1 2 3 4 5").with_col_labels(names))?;
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
    let counts = demo.node("counts")?;
    let shape = demo.matrix(counts)?.shape();
    // The last word of the vocabulary ends every question: nothing follows it.
    let followed = Op::Rows { start: 0, count: shape.rows.saturating_sub(1).max(1) };
    let followed = demo.compute("counts_followed", followed, &[counts])?;
    let p = demo.compute("P", Op::DivideBySum(Axis::Rows), &[followed])?;
    let largest = demo.compute("P_largest", Op::Max(Axis::Rows), &[p])?;
    let ones = demo.compute("ones_across", Op::Ones { rows: 1, cols: shape.cols }, &[])?;
    let across = demo.product("P_largest_across", largest, ones)?;
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
        let ones = demo.node(&format!("ones_{i}"))?;
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
    let sum = demo.product("w_sum_twice", ones, twice)?;
    let average = demo.product("w_average_twice", equal, twice)?;
    let once = [demo.node("w_sum_1")?, demo.node("w_average_1")?];
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
        third.push(demo.row(&format!("third_{name}"), pool, 2)?);
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

// One vector for each question: words as rows of numbers, weighted and summed.

const NAMES: [&str; 3] = ["question 1", "question 2", "question 3"];
fn words(sentence: &str) -> Vec<&str> {
    sentence.split(' ').collect()
}

/// A row with one number for each word.
fn row_of(sentence: &str, weight: fn(&str) -> f64) -> Matrix {
    let words = words(sentence);
    Matrix::from_fn(1, words.len(), |_, j| weight(words[j])).cols_named(&words)
}

/// One pooled row for each question, and the distance of each from the first.
fn pooled(demo: &mut Builder, name: &str, weights: &[NodeId], x: &[NodeId]) -> Result<[NodeId; 2]> {
    let mut rows = Vec::new();
    for (i, (&weights, &x)) in weights.iter().zip(x).enumerate() {
        rows.push(demo.product(&format!("w_{name}_{}", i + 1), weights, x)?);
    }
    let all = demo.collect(&format!("w_{name}"), "questions", Some(labels(&NAMES)), &rows)?;
    let first = demo.row(&format!("first_{name}"), all, 0)?;
    Ok([all, demo.compute(&format!("moved_{name}"), Op::Euclidean, &[all, first])?])
}

/// Constants of ours: a word that carries the question counts four times.
fn constant(word: &str) -> f64 {
    match word {
        "capital" | "India" => 4.0,
        _ => 1.0,
    }
}

// Weights from the input: the last word of a question is compared with every word.

/// The softmax of the similarities between the last word and all words, as weights.
fn asked_by_the_last(demo: &mut Builder, name: &str, x: NodeId) -> Result<NodeId> {
    let last = demo.matrix(x)?.rows().saturating_sub(1);
    let last = demo.row(&format!("last_{name}"), x, last)?;
    let s = demo.compute(&format!("S_{name}"), Op::ProductTransposed, &[last, x])?;
    demo.compute(&format!("A_{name}"), SOFTMAX, &[s])
}

fn from_the_input(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let mut weights = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        weights.push(asked_by_the_last(demo, &(i + 1).to_string(), x)?);
    }
    let s = demo.node("S_3")?;
    let [attention, moved] = pooled(demo, "attention", &weights, x)?;
    demo.step(
        "Attention takes the weights from the input: the last word is compared with every word, and the softmax turns the \
         scores into weights.",
    )
    .claim(
        all([
            less(0.0, "A_3[1,city#2]"),
            less("A_3[1,city#2]", "A_3[1,capital]"),
            less("A_3[1,city#1]", "A_3[1,capital]"),
            top_of_row("A_3[1,India]"),
        ]),
        "“India” gives {A_3[1,India]:3} to itself, {A_3[1,capital]:3} to “capital” and {A_3[1,city#2]:3} to the second “city”.",
    )
    .claim(
        less("moved_attention[3,1]", "moved_fixed[3,1]"),
        "Question 3 now moves the result by only {moved_attention[3,1]:2}.",
    )
    .columns(&[(s, None), (weights[2], None)])
    .show(&[attention, moved]);
    Ok(attention)
}

fn another_question(demo: &mut Builder) -> Result<()> {
    const QUESTION: &str = "What is a city";
    let x = demo.given("X_4", vectors(&words(QUESTION)))?;
    let c = demo.given("c_4", row_of(QUESTION, constant))?;
    let fixed = demo.compute("fixed_4", Op::DivideBySum(Axis::Rows), &[c])?;
    let a = asked_by_the_last(demo, "4", x)?;
    let s = demo.node("S_4")?;
    demo.step("Constants are the same in every question. Weights from the input depend on its last word.")
        .claim(
            less("fixed_4[1,city]", "A_4[1,city]"),
            "In a fourth question, which is ours, “city” has the fixed weight {fixed_4[1,city]}, but from the input it gets \
             {A_4[1,city]:2}.",
        )
        .columns(&[(c, None), (fixed, None), (s, None), (a, None)]);
    Ok(())
}

/// The properties that the document asks of the function that gives the weights, checked on the scores before their softmax.
fn properties(demo: &mut Builder) -> Result<()> {
    let mut row = |name: &str, of: &[(&str, &str)]| -> Result<NodeId> {
        let mut scores = Vec::new();
        for (question, word) in of {
            let s = demo.node(&format!("S_{question}"))?;
            let matrix = demo.matrix(s)?;
            let named = matrix.col_labels().and_then(|words| words.iter().position(|other| other == word));
            let start = named.unwrap_or_else(|| matrix.cols().saturating_sub(1));
            let one = Op::Columns { start, count: 1 };
            scores.push(demo.compute(&format!("{name}_{question}"), one, &[s])?);
        }
        let names: Vec<String> = of.iter().map(|(question, _)| format!("question {question}")).collect();
        demo.collect(name, "questions", Some(names.as_slice().into()), &scores)
    };
    let capital = row("f_capital", &[("1", "capital"), ("2", "capital"), ("3", "capital")])?;
    let city = row("f_city", &[("2", "city"), ("3", "city"), ("4", "city")])?;
    demo.label(capital, "score of capital");
    demo.label(city, "score of city");
    demo.step(
        "The function f that gives the weights should have three properties. It depends on the input. It does not depend on \
         the length of the input. It returns one number for each word. The dot product with the last word has all three, \
         before the softmax. (The softmax then makes the weights sum to 1.)",
    )
    .claim(
        all([equal("f_capital[1,1]", "f_capital[2,1]"), equal("f_capital[2,1]", "f_capital[3,1]")]),
        "“capital” scores {f_capital[1,1]} in questions of different length.",
    )
    .claim(
        not(equal("f_city[2,1]", "f_city[3,1]")),
        "“city” scores {f_city[2,1]} in question 3 and {f_city[3,1]} in question 4, because their last words differ.",
    )
    .together(&[capital, city]);
    Ok(())
}

/// The meanings of the four numbers of a word.
pub(super) const WORD_FEATURES: [&str; 4] = ["nation", "town", "rule", "filler"];

/// One row for each word. Every word without a vector of its own is a filler word: (0, 0, 0, 1).
pub(super) fn vectors(words: &[&str]) -> Matrix {
    Matrix::from_fn(words.len(), WORD_FEATURES.len(), |i, j| vector(words[i])[j])
        .rows_named(words)
        .cols_named(&WORD_FEATURES)
}

fn vector(word: &str) -> [f64; 4] {
    match word {
        "India" => [2.0, 0.0, 1.0, 0.0],
        "capital" => [1.0, 0.0, 2.0, 0.0],
        "city" => [0.0, 2.0, 0.0, 0.0],
        "Delhi" => [2.0, 1.0, 2.0, 0.0],
        "Mumbai" => [1.0, 3.0, 0.0, 0.0],
        _ => [0.0, 0.0, 0.0, 1.0],
    }
}
