//! `weights`: why numbers are exponentiated before they are divided by their sum, and why their maximum is subtracted.

use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{Condition, all, equal, less, max_of, min_of, not_a_number, own, top_of_row};

pub(super) const DEMO: Demo = Demo {
    name: "weights",
    source: Source::section(Document::Understanding, "Interaction matrices in practice"),
    title: "From numbers to weights: why the softmax",
    summary: "why softmax: dividing by the sum fails, exp works",
    place: crate::demo::Topic::Start.at(3),
    keywords: &["softmax", "normalisation", "normalization", "exp", "overflow", "probabilities"],
    digits: Digits::Places(4),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let positive = demo.given("S_positive", Matrix::of([[1.0, 2.0, 2.0, 3.0]]))?;
    let columns = shares(demo, "positive", positive)?;
    let positive_shares = columns[1];
    tell(
        demo,
        &columns,
        "Weights must sum to 1. Positive numbers only need dividing by their sum.",
        (own(&["S_positive"]), "1/8, 2/8, 2/8 and 3/8."),
    )?;

    let mixed = demo.given("S_mixed", Matrix::of([[1.0, -2.0, 2.0, 3.0]]))?;
    let columns = shares(demo, "mixed", mixed)?;
    tell(
        demo,
        &columns,
        "With both signs the shares may still sum to 1, but some can be negative.",
        (
            less("share_mixed[1,2]", 0.0),
            "A share of {share_mixed[1,2]} is not a weight: it takes a token away instead of mixing it in.",
        ),
    )?;

    let balanced = demo.given("S_balanced", Matrix::of([[-1.0, 2.0, 2.0, -3.0]]))?;
    let columns = shares(demo, "balanced", balanced)?;
    tell(
        demo,
        &columns,
        "Numbers can also sum to 0. Dividing by 0 gives no weights at all.",
        (
            not_a_number("sum_share_balanced[1,1]"),
            "The shares are {share_balanced[1,1]} and {share_balanced[1,2]}, so they have no sum either.",
        ),
    )?;

    exponentials_first(demo, [positive, mixed, balanced], positive_shares)?;
    overflow(demo)
}

/// A node and, where it makes sense, the node of its sum.
type Column = (NodeId, Option<NodeId>);

/// A step that shows numbers next to each other: each row as a column of one table, or, where the user put in more
/// than one row, the nodes one after the other.
fn tell(
    demo: &mut Builder,
    columns: &[Column],
    text: &str,
    (condition, notice): (Condition, &str),
) -> Result<()> {
    let mut one_row = true;
    for (id, _) in columns {
        one_row &= demo.matrix(*id)?.rows() == 1;
    }
    let step = demo.step(text).claim(condition, notice);
    if one_row {
        step.columns(columns);
    } else {
        let nodes: Vec<NodeId> = columns.iter().flat_map(|(id, sum)| [Some(*id), *sum]).flatten().collect();
        step.show(&nodes);
    }
    Ok(())
}

/// The sum of a row of numbers, and each divided by it.
fn shares(demo: &mut Builder, case: &str, numbers: NodeId) -> Result<[Column; 2]> {
    let sum = demo.compute(&format!("sum_{case}"), Op::Sums(Axis::Rows), &[numbers])?;
    let shares = divided(demo, &format!("share_{case}"), numbers)?;
    Ok([(numbers, Some(sum)), shares])
}

/// The exponentials of a row of numbers, and each divided by their sum.
fn weights(demo: &mut Builder, case: &str, numbers: NodeId) -> Result<[Column; 2]> {
    let powers = demo.compute(&format!("exp_{case}"), Op::Exponential(Base::E), &[numbers])?;
    let sum = demo.compute(&format!("sum_exp_{case}"), Op::Sums(Axis::Rows), &[powers])?;
    let weights = divided(demo, &format!("A_{case}"), powers)?;
    Ok([(powers, Some(sum)), weights])
}

/// Numbers divided by their sum, and the sum of the results.
fn divided(demo: &mut Builder, name: &str, numbers: NodeId) -> Result<Column> {
    let parts = demo.compute(name, Op::DivideBySum(Axis::Rows), &[numbers])?;
    let sum = demo.compute(&format!("sum_{name}"), Op::Sums(Axis::Rows), &[parts])?;
    Ok((parts, Some(sum)))
}

fn exponentials_first(demo: &mut Builder, cases: [NodeId; 3], positive_shares: Column) -> Result<()> {
    let [positive, mixed, balanced] = cases;
    let [powers, a] = weights(demo, "mixed", mixed)?;
    tell(
        demo,
        &[(mixed, None), powers, a],
        "exp(x) is always positive, and grows with x. So take exp first, then divide.",
        (
            all([
                equal("S_mixed[1,2]", -2.0),
                equal("S_mixed[1,4]", 3.0),
                equal("A_mixed[1,2]", min_of("A_mixed[1]")),
                top_of_row("A_mixed[1,4]"),
            ]),
            "Now −2 has the smallest weight, {A_mixed[1,2]}, and 3 the largest, {A_mixed[1,4]}.",
        ),
    )?;

    let [powers, a] = weights(demo, "balanced", balanced)?;
    tell(
        demo,
        &[(balanced, None), powers, a],
        "Even if numbers sum to 0, their exponentials do not.",
        (own(&["S_balanced"]), "−1, 2, 2 and −3 sum to 0, their exponentials to {sum_exp_balanced[1,1]}."),
    )?;

    let [powers, a] = weights(demo, "positive", positive)?;
    tell(
        demo,
        &[(positive, None), positive_shares, powers, a],
        "Where plain division works, exp gives other weights.",
        (
            all([equal("S_positive[1,3]", 2.0), equal("S_positive[1,4]", 3.0)]),
            "exp turns differences into ratios: 3 is 1 more than 2, so its weight is e times as large.",
        ),
    )?;
    Ok(())
}

fn overflow(demo: &mut Builder) -> Result<()> {
    let large = demo.given("S_large", Matrix::of([[1000.0, 1001.0]]))?;
    let [powers, a] = weights(demo, "overflow", large)?;
    tell(
        demo,
        &[(large, None), powers, a],
        "For x above 709.78, exp(x) no longer fits a 64-bit number and becomes ∞.",
        (not_a_number("A_overflow"), "∞ / ∞ is not a number: NaN."),
    )?;

    let shifted = demo.compute("S_shifted", Op::MinusMax(Axis::Rows), &[large])?;
    let [powers, a] = weights(demo, "shifted", shifted)?;
    tell(
        demo,
        &[(large, None), (shifted, None), powers, a],
        "So subtract the maximum first. This divides each exponential and their sum by the same number: no weight changes.",
        (
            all([equal("exp_shifted[1,2]", 1.0), equal(max_of("exp_shifted"), 1.0)]),
            "The largest exponential is now exactly {exp_shifted[1,2]}, so nothing can overflow.",
        ),
    )?;

    let softmax = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[large])?;
    demo.step("The softmax is these three steps: subtract the maximum, take exp, divide by the sum.")
        .show(&[softmax]);
    Ok(())
}
