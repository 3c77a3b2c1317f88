//! Weights from the input: the last word of a question is compared with every word.

use super::pools::{constant, pooled, row_of, words};
use crate::attention::{Axis, Base};
use crate::demo::Builder;
use crate::demo::imagined::words::vectors;
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::story::condition::{all, equal, less, not, top_of_row};

/// The softmax of the similarities between the last word and all words, as weights.
fn asked_by_the_last(demo: &mut Builder, name: &str, x: NodeId) -> Result<NodeId> {
    let last = demo.matrix(x)?.rows().saturating_sub(1);
    let last = demo.compute(&format!("last_{name}"), Op::Rows { start: last, count: 1 }, &[x])?;
    let s = demo.compute(&format!("S_{name}"), Op::ProductTransposed, &[last, x])?;
    demo.compute(&format!("A_{name}"), Op::Softmax(Axis::Rows, Base::E), &[s])
}

pub(super) fn from_the_input(demo: &mut Builder, x: &[NodeId]) -> Result<NodeId> {
    let mut weights = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        weights.push(asked_by_the_last(demo, &(i + 1).to_string(), x)?);
    }
    let s = demo.graph().require("S_3")?;
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

pub(super) fn another_question(demo: &mut Builder) -> Result<()> {
    const QUESTION: &str = "What is a city";
    let x = demo.given("X_4", vectors(&words(QUESTION)))?;
    let c = demo.given("c_4", row_of(QUESTION, constant))?;
    let fixed = demo.compute("fixed_4", Op::DivideBySum(Axis::Rows), &[c])?;
    let a = asked_by_the_last(demo, "4", x)?;
    let s = demo.graph().require("S_4")?;
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
pub(super) fn properties(demo: &mut Builder) -> Result<()> {
    let mut row = |name: &str, of: &[(&str, &str)]| -> Result<NodeId> {
        let mut scores = Vec::new();
        for (question, word) in of {
            let s = demo.graph().require(&format!("S_{question}"))?;
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
