//! Demos of papers on gradients: backward through attention, saturated softmaxes, and descent.

use super::builder::*;
use super::scores::{drawn_scores, of_their_width};

const FACTORS: [f64; 4] = [1.0, 4.0, 16.0, 64.0];
const WIDTHS: [usize; 4] = [4, 64, 256, 1024];
const TOKENS: usize = 16;

/// `saturated`: large scores make a softmax that no gradient gets through, and 1/√d_k keeps them small.
pub(super) fn saturated(demo: &mut Builder) -> Result<()> {
    one_row(demo)?;
    every_width(demo)
}

/// The same three scores, stretched: the weights and the gradient that arrives at the scores.
fn one_row(demo: &mut Builder) -> Result<()> {
    let s = demo.given("s", numbers("0.2 0.1 0").cols_named(&["bat", "cave", "racket"]))?;
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

const STEPS: usize = 10;

/// `descent`: ten steps of gradient descent on a query of two weights, drawn on a plane; and a rate that is too large.
pub(super) fn descent(demo: &mut Builder) -> Result<()> {
    let lesson = given(demo)?;
    let first = first_step(demo, &lesson)?;
    let near = Descent::follow(demo, &lesson, &first, "", lesson.rate)?;
    ten_steps(demo, &near)?;
    let rate = one_number(demo, "rate_far", 3.0)?;
    let far = Descent::follow(demo, &lesson, &first, "_far", rate)?;
    too_far(demo, rate, &far)
}

/// What is given: the keys, the weights that are wanted, the query to begin with, and the learning rate.
struct Lesson {
    k: NodeId,
    y: NodeId,
    start: NodeId,
    rate: NodeId,
}

fn given(demo: &mut Builder) -> Result<Lesson> {
    let keys = ["bat", "cave", "racket"];
    let k = demo.given("K", numbers("1 1; 3 1; 1 3").rows_named(&keys))?;
    let count = demo.matrix(k)?.rows();
    let share = |j: usize| [0.2, 0.7, 0.1][j % 3];
    let whole: f64 = (0..count).map(share).sum();
    let y = Matrix::from_fn(1, count, |_, j| if count == 3 { share(j) } else { share(j) / whole });
    let y = demo.fitted(
        "y",
        y.rows_named(&["wanted"]).with_col_labels(demo.matrix(k)?.row_labels().cloned()),
        (1, 3),
    )?;
    let start = demo.given("w_0", numbers("-1 1").rows_named(&["bat"]))?;
    let shape = demo.matrix(start)?.shape();
    if (shape.rows, shape.cols) != (1, 2) {
        return Err(Error::new(format!(
            "w_0 is {shape}, and the demo draws the path of one row of two weights"
        )));
    }
    let rate = one_number(demo, "rate", 0.5)?;
    Ok(Lesson { k, y, start, rate })
}

/// A number that the user may replace by another.
fn one_number(demo: &mut Builder, name: &str, own: f64) -> Result<NodeId> {
    let id = demo.given(name, Matrix::filled(1, 1, own))?;
    let shape = demo.matrix(id)?.shape();
    match (shape.rows, shape.cols) {
        (1, 1) => Ok(id),
        _ => Err(Error::new(format!("{name} is {shape}, but it is one number"))),
    }
}

/// Two weights, and everything from them to their loss and back.
#[derive(Clone, Copy)]
struct Point {
    w: NodeId,
    scores: NodeId,
    weights: NodeId,
    surprise: NodeId,
    parts: NodeId,
    loss: NodeId,
    of_scores: NodeId,
    slope: NodeId,
}

impl Point {
    /// `s = w Kᵀ`, `a = softmax(s)`, the loss `−Σ y ln a`, and the gradients of s and w. The name of each node has `of` at its end.
    fn at(demo: &mut Builder, lesson: &Lesson, of: &str, w: NodeId) -> Result<Point> {
        let scores = demo.compute(&format!("s{of}"), Op::ProductTransposed, &[w, lesson.k])?;
        let weights = demo.compute(&format!("a{of}"), SOFTMAX, &[scores])?;
        let surprise = demo.compute(&format!("surprise{of}"), Op::NegativeLogSoftmax, &[scores])?;
        let parts = demo.compute(&format!("parts{of}"), Op::Multiply, &[lesson.y, surprise])?;
        let loss = demo.compute(&format!("loss{of}"), Op::Sums(Axis::Whole), &[parts])?;
        let back = demo.gradients(loss, Start::Ones, &[w])?;
        let missing = || Error::new("the loss does not depend on its weights");
        let of_scores = back.of(scores).ok_or_else(missing)?;
        let slope = back.of(w).ok_or_else(missing)?;
        Ok(Point { w, scores, weights, surprise, parts, loss, of_scores, slope })
    }
}

/// The first step by itself: forward, backward, and down.
fn first_step(demo: &mut Builder, lesson: &Lesson) -> Result<Point> {
    let Lesson { k, y, start, rate } = *lesson;
    demo.step(
        "Two weights are learned, the query w of “bat”. There are three keys K, and y says how much of the attention each key should \
         get.",
    )
    .together(&[k, y, start]);
    let there = Point::at(demo, lesson, "_0", start)?;
    demo.step(
        "Forward: the scores s are the dot products with the keys, a is their softmax. The loss is the surprise −ln a of each key, \
         where each key counts by y.",
    )
    .claim(
        all([own(&["rate", "rate_far"]), less("a_0[1,2]", "a_0[1,3]")]),
        "At the start “racket” gets {a_0[1,3]} of the attention, and “cave” only {a_0[1,2]}. The loss is {loss_0[1,1]}.",
    )
    .show(&[there.scores, there.weights, there.surprise, there.parts, there.loss]);
    let gap = demo.compute("gap_0", Op::Subtract, &[there.weights, y])?;
    demo.step(
        "Backward: the gradient ds of the scores says how fast the loss grows with each. Times the keys it is dw, the gradient of the \
         two weights: the direction in which the loss grows fastest.",
    )
    .claim(
        all([
            within(ROUNDING, "gap_0[1,1]", "ds_0[1,1]"),
            within(ROUNDING, "gap_0[1,2]", "ds_0[1,2]"),
            within(ROUNDING, "gap_0[1,3]", "ds_0[1,3]"),
        ]),
        "ds is just a − y, what each key gets minus what it should get.",
    )
    .folded(&[gap])
    .show(&[there.of_scores, there.slope]);
    demo.step("One step of gradient descent goes the other way, down: the new w is w − rate · dw.")
        .together(&[rate]);
    Ok(there)
}

/// The tables of ten steps.
struct Descent {
    path: NodeId,
    weights: NodeId,
    losses: NodeId,
    slopes: NodeId,
    arrows: (NodeId, NodeId),
}

impl Descent {
    /// Ten steps at a rate, each computed from the one before.
    fn follow(
        demo: &mut Builder,
        lesson: &Lesson,
        first: &Point,
        suffix: &str,
        rate: NodeId,
    ) -> Result<Descent> {
        let mut points = vec![*first];
        for number in 1..=STEPS {
            let of = format!("{suffix}_{number}");
            let Point { w, slope, .. } = points[number - 1];
            let step = demo.compute(&format!("step{of}"), Op::Times, &[slope, rate])?;
            let w = demo.compute(&format!("w{of}"), Op::Subtract, &[w, step])?;
            points.push(Point::at(demo, lesson, &of, w)?);
        }
        let rows: Labels = (0..=STEPS).map(|number| format!("w_{number}")).collect();
        let mut table = |name: &str, of: fn(&Point) -> NodeId| {
            let parts: Vec<NodeId> = points.iter().map(of).collect();
            demo.collect(&format!("{name}{suffix}"), "steps", Some(rows.clone()), &parts)
        };
        let (path, weights) = (table("path", |point| point.w)?, table("attention", |point| point.weights)?);
        let (losses, slopes) = (table("losses", |point| point.loss)?, table("slopes", |point| point.slope)?);
        for (id, cols) in [(path, ["w1", "w2"].as_slice()), (losses, &["loss"]), (slopes, &["dw1", "dw2"])] {
            demo.name_lines(id, Some(rows.clone()), Some(labels(cols)));
        }
        let from = demo.compute(&format!("from{suffix}"), Op::Rows { start: 0, count: STEPS }, &[path])?;
        let to = demo.compute(&format!("to{suffix}"), Op::Rows { start: 1, count: STEPS }, &[path])?;
        Ok(Descent { path, weights, losses, slopes, arrows: (from, to) })
    }
}

fn ten_steps(demo: &mut Builder, near: &Descent) -> Result<()> {
    let Descent { path, weights, losses, slopes, arrows } = *near;
    let arrives = less(times(10.0, max_size_of("slopes[11]")), max_size_of("slopes[1]"));
    demo.step("Ten such steps: the two weights, their gradient, and the loss.")
        .heading_if(
            arrives.clone(),
            "Ten such steps: the two weights, their gradient, and the loss. Near the goal the gradient shrinks, and so do the steps.",
        )
        .claim(
            less("losses[11,1]", "losses[1,1]"),
            "The loss falls from {losses[1,1]} to {losses[11,1]}.",
        )
        .claim(
            all([own(&["rate_far", "w_0"]), within(0.02, "attention[11,2]", "y[1,2]")]),
            "“cave” now gets {attention[11,2]:2} of the attention, as it should.",
        )
        .folded(&[weights])
        .together(&[path, slopes, losses]);
    demo.step("The path of the two weights on the plane.")
        .heading_if(
            arrives,
            "The path of the two weights on the plane: the first steps are long, the last ones hardly move.",
        )
        .folded(&[arrows.0, arrows.1])
        .plane(&[path], &[arrows]);
    Ok(())
}

fn too_far(demo: &mut Builder, rate: NodeId, far: &Descent) -> Result<()> {
    let Descent { path, weights, losses, slopes, arrows } = *far;
    let rises = |number: usize| {
        less(format!("losses_far[{number},1]").as_str(), format!("losses_far[{},1]", number + 1).as_str())
    };
    // Down the gradient the loss can only rise where the step went past the lowest place on its way.
    let jumps = all([less(0.0, "rate_far[1,1]"), any([rises(7), rises(8), rises(9), rises(10)])]);
    demo.step("The same start with another learning rate, rate_far.")
        .heading_if(
            less("rate[1,1]", "rate_far[1,1]"),
            "The same start with a larger learning rate, rate_far.",
        )
        .claim(
            all([own(&["y", "w_0"]), less(0.0, "rate_far[1,1]"), rises(4)]),
            "The gradient has the right direction, but the step is too long: it jumps over the goal. After the fourth step the loss \
             is {losses_far[5,1]}, more than the {losses_far[4,1]} before it.",
        )
        .claim(
            all([jumps.clone(), less("losses[11,1]", "losses_far[11,1]")]),
            "After ten steps it still jumps to and fro: the loss is {losses_far[11,1]}, in place of {losses[11,1]}.",
        )
        .folded(&[weights, slopes])
        .together(&[rate, path, losses]);
    demo.step("The path on the plane.")
        .heading_if(jumps, "On the plane the path jumps from one side to the other.")
        .folded(&[arrows.0, arrows.1])
        .plane(&[path], &[arrows]);
    Ok(())
}
