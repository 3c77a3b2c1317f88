//! `saturated`: large scores make a softmax that no gradient gets through, and 1/√d_k keeps them small.

use crate::attention::{Axis, Base};
use crate::demo::drawn_scores::{drawn_scores, of_their_width};
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op, Start, Statistic};
use crate::matrix::{Labels, Matrix, labels};
use crate::random::LegacyStream;
use crate::story::Digits;
use crate::story::condition::{all, less, max_of, min_of, own, within};

pub(super) const DEMO: Demo = Demo {
    name: "saturated",
    source: Source::Papers(&[Passage { paper: "vaswani-2017", place: "section 3.2.1" }]),
    title: "Saturated: why 1/√d_k keeps the gradient alive",
    summary: "large scores stop the gradient; 1/√d_k keeps it alive",
    place: crate::demo::Topic::Scores.at(8),
    keywords: &["vanishing", "gradient", "saturation", "saturate", "sqrt"],
    digits: Digits::Places(4),
    build,
};

const SOFTMAX: Op = Op::Softmax(Axis::Rows, Base::E);
const FACTORS: [f64; 4] = [1.0, 4.0, 16.0, 64.0];
const WIDTHS: [usize; 4] = [4, 64, 256, 1024];
const TOKENS: usize = 16;

fn build(demo: &mut Builder) -> Result<()> {
    one_row(demo)?;
    every_width(demo)
}

/// The same three scores, stretched: the weights and the gradient that arrives at the scores.
fn one_row(demo: &mut Builder) -> Result<()> {
    let s = demo.given("s", Matrix::of([[0.2, 0.1, 0.0]]).cols_named(&["bat", "cave", "racket"]))?;
    let shape = demo.matrix(s)?.shape();
    if shape.rows != 1 {
        return Err(Error::new(format!("s is {shape}, and the demo follows one row of scores")));
    }
    let d_a = Matrix::from_fn(1, shape.cols, |_, j| if j == 1 { 1.0 } else { 0.0 });
    let d_a = demo.fitted("da", d_a, (1, 3))?;
    let (mut weights, mut slopes) = (Vec::new(), Vec::new());
    for factor in FACTORS {
        let of = |name: &str| format!("{name}_x{factor}");
        let s = demo.compute(&of("s"), Op::Scale(Factor::Number(factor)), &[s])?;
        let a = demo.compute(&of("a"), SOFTMAX, &[s])?;
        let back = demo.gradients(a, Start::Node(d_a), &[s])?;
        weights.push(a);
        slopes.extend(back.of(s));
    }
    let names: Labels = FACTORS.iter().map(|factor| format!("times {factor}")).collect();
    let weights = demo.collect("weights", "softmaxes", Some(names.clone()), &weights)?;
    let slopes = demo.collect("slopes", "gradients", Some(names), &slopes)?;
    demo.step("One row of scores, multiplied by 1, 4, 16 and 64: the softmax of each.")
        .claim(
            all([own(&["s"]), less(0.99, "weights[4,1]")]),
            "Times 64, “bat” has a weight of {weights[4,1]}: the softmax is saturated.",
        )
        .together(&[s])
        .show(&[weights]);
    demo.step(
        "A gradient da arrives at the weights: how fast the loss changes with each. At the scores it is each weight times how \
         far its da lies above the mean of the row.",
    )
    .claim(
        all([own(&[]), less("slopes[4,2]", "slopes[1,2]")]),
        "At first the score of “cave” has a gradient of {slopes[1,2]}. Saturated, it has {slopes[4,2]}: the loss still wants \
         the change, but hardly any of it arrives.",
    )
    .together(&[d_a])
    .show(&[slopes]);
    Ok(())
}

/// The sizes for one width.
#[derive(Default)]
struct Sizes {
    scores: Vec<NodeId>,
    gradients: Vec<NodeId>,
}

/// Drawn queries and keys of several widths, with scores as they are and scaled.
fn every_width(demo: &mut Builder) -> Result<()> {
    let mut stream = LegacyStream::seeded(demo.seed());
    let d_a = demo.drawn("dA", stream.standard_normal_matrix(TOKENS, TOKENS))?;
    let (mut plain, mut scaled) = (Sizes::default(), Sizes::default());
    let mut widths = Vec::new();
    for width in WIDTHS {
        let (s, d_k) = drawn_scores(demo, &mut stream, TOKENS, width)?;
        widths.push(d_k);
        measure(demo, &mut plain, &format!("d{width}"), [s, d_a])?;
        let scale = Op::Scale(Factor::InverseRoot(d_k));
        let s = demo.compute(&format!("S_scaled_d{width}"), scale, &[s])?;
        measure(demo, &mut scaled, &format!("scaled_d{width}"), [s, d_a])?;
    }
    let names: Labels = widths.iter().map(|width| format!("d = {width}")).collect();
    let mut tables = Vec::new();
    for (name, parts) in [
        ("score_size", &plain.scores),
        ("gradient_size", &plain.gradients),
        ("score_size_scaled", &scaled.scores),
        ("gradient_size_scaled", &scaled.gradients),
    ] {
        let table = demo.collect(name, "widths", Some(names.clone()), parts)?;
        demo.name_lines(table, Some(names.clone()), Some(labels(&["size"])));
        tables.push(table);
    }
    let own = of_their_width(&WIDTHS);
    demo.step(
        "Queries and keys of several widths d, and one gradient dA that arrives at the weights. How large are the scores, and \
         how large is the gradient that the softmax lets through to them, as a root mean square?",
    )
    .claim(
        all([
            own.clone(),
            less("score_size[1,1]", "score_size[4,1]"),
            less("gradient_size[4,1]", "gradient_size[1,1]"),
        ]),
        "From d = 4 to d = 1024 the scores grow from {score_size[1,1]:2} to {score_size[4,1]:2}, and the gradient shrinks from \
         {gradient_size[1,1]} to {gradient_size[4,1]}.",
    )
    .together(&tables[..2]);
    demo.step("The same with scores times 1/√d_k, before the softmax.")
        .claim(
            all([
                own,
                within(0.3, max_of("score_size_scaled"), 1.0),
                within(0.3, min_of("score_size_scaled"), 1.0),
                less("gradient_size[4,1]", "gradient_size_scaled[4,1]"),
            ]),
            "Now the size of the scores is about 1 at every width. At d = 1024 the size of the gradient is \
             {gradient_size_scaled[4,1]} in place of {gradient_size[4,1]}.",
        )
        .together(&tables[2..]);
    Ok(())
}

/// The size of the scores that a softmax reads, and of their gradient.
fn measure(demo: &mut Builder, sizes: &mut Sizes, suffix: &str, [s, d_a]: [NodeId; 2]) -> Result<()> {
    let size = Op::Summary(Statistic::RootMeanSquare);
    sizes.scores.push(demo.compute(&format!("score_size_{suffix}"), size.clone(), &[s])?);
    let a = demo.compute(&format!("A_{suffix}"), SOFTMAX, &[s])?;
    let back = demo.gradients(a, Start::Node(d_a), &[s])?;
    if let Some(of_scores) = back.of(s) {
        sizes.gradients.push(demo.compute(&format!("gradient_size_{suffix}"), size.clone(), &[of_scores])?);
    }
    Ok(())
}
