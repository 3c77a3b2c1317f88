//! `weights`: why numbers are exponentiated before they are divided by their sum, and why their maximum is subtracted.

use crate::attention::{Axis, Base};
use crate::demo::{Builder, Demo, Digits, Document};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;

pub(super) const DEMO: Demo = Demo {
    name: "weights",
    document: Document::Understanding,
    section: "Interaction matrices in practice",
    title: "From numbers to weights: why the softmax",
    summary: "dividing by the sum works, misleads, fails; exp first, and before it minus the maximum",
    digits: Digits::AsNumPy,
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let positive = demo.given("S_positive", Matrix::of([[1.0, 2.0, 2.0, 3.0]]))?;
    let share = shares(demo, "positive", positive)?;
    demo.step("Weights should sum to 1. Positive numbers only have to be divided by their sum.")
        .notice("1/8, 2/8, 2/8 and 3/8.")
        .together(&[positive])
        .show(&share);

    let mixed = demo.given("S_mixed", Matrix::of([[1.0, -2.0, 2.0, 3.0]]))?;
    let mixed_share = shares(demo, "mixed", mixed)?;
    demo.step("With numbers of both signs the shares still sum to 1, but some can be negative or above 1.")
        .notice("A share of {share_mixed[1,2]:2} is no weight: that token would be taken away, not mixed in.")
        .together(&[mixed])
        .show(&mixed_share);

    let balanced = demo.given("S_balanced", Matrix::of([[-1.0, 2.0, 2.0, -3.0]]))?;
    let balanced_share = shares(demo, "balanced", balanced)?;
    demo.step("Numbers can also sum to 0. Then the division is by 0, and there are no weights at all.")
        .notice("The shares are {share_balanced[1,1]} and {share_balanced[1,2]}.")
        .together(&[balanced])
        .show(&balanced_share);
    exponentials_first(demo, [positive, mixed, balanced], share[1])?;
    overflow(demo)
}

/// The sum of a row of numbers, and each divided by it.
fn shares(demo: &mut Builder, case: &str, numbers: NodeId) -> Result<[NodeId; 2]> {
    Ok([
        demo.compute(&format!("sum_{case}"), Op::Sums(Axis::Rows), &[numbers])?,
        demo.compute(&format!("share_{case}"), Op::DivideBySum(Axis::Rows), &[numbers])?,
    ])
}

/// The exponentials of a row of numbers, and each divided by their sum.
fn weights(demo: &mut Builder, case: &str, numbers: NodeId) -> Result<[NodeId; 2]> {
    let powers = demo.compute(&format!("exp_{case}"), Op::Exponential(Base::E), &[numbers])?;
    Ok([powers, demo.compute(&format!("A_{case}"), Op::DivideBySum(Axis::Rows), &[powers])?])
}

fn exponentials_first(demo: &mut Builder, cases: [NodeId; 3], share: NodeId) -> Result<()> {
    let [positive, mixed, balanced] = cases;
    let a = weights(demo, "mixed", mixed)?;
    demo.step(
        "exp(x) is positive for every x, and larger for a larger x. So exponentiate first, then divide.",
    )
    .notice("−2 now has the smallest weight, {A_mixed[1,2]:3}, and 3 the largest, {A_mixed[1,4]:3}.")
    .show(&a);

    let a = weights(demo, "balanced", balanced)?;
    demo.step("Numbers that sum to 0 have exponentials that do not.").show(&a);

    let [_, a] = weights(demo, "positive", positive)?;
    demo.step("Where plain division works, exp gives other weights: it looks at differences, not at ratios.")
        .notice("3 is 1 more than 2, so its weight is e times as large: {A_positive[1,4]:3}, not {A_positive[1,2]:3}.")
        .together(&[share, a]);
    Ok(())
}

fn overflow(demo: &mut Builder) -> Result<()> {
    let large = demo.given("S_large", Matrix::of([[1000.0, 1001.0]]))?;
    let a = weights(demo, "overflow", large)?;
    demo.step("exp grows fast: above 709.78 it is more than a 64-bit number can hold, and becomes ∞.")
        .notice("∞ / ∞ is not a number: NaN.")
        .together(&[large])
        .show(&a);

    let shifted = demo.compute("S_shifted", Op::MinusMax(Axis::Rows), &[large])?;
    let [powers, a] = weights(demo, "shifted", shifted)?;
    demo.step("So the maximum is subtracted first. This divides each exponential and their sum by the same exp(max): no weight changes.")
        .notice("The largest exponential is now exactly {exp_shifted[1,2]}; the weights are {A_shifted[1,1]:3} and {A_shifted[1,2]:3}.")
        .show(&[shifted, powers, a]);

    let softmax = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[large])?;
    demo.step("The softmax is these three steps: minus the maximum, exp, divided by the sum.")
        .show(&[softmax]);
    Ok(())
}
