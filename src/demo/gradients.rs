//! Demos of papers on gradients: backward through attention, saturated softmaxes, and descent.

use super::builder::*;
use super::scores::{drawn_scores, of_their_width};

/// No more scores are taken: their Jacobian has the square of this many cells.
const MOST_SCORES: usize = 64;
/// How far one weight is moved to check its gradient.
const MOVE: f64 = 0.001;

/// `backward`: the softmax Jacobian on three numbers, then the gradients of a whole head, checked by moving one weight.
pub(super) fn backward(demo: &mut Builder) -> Result<()> {
    jacobian(demo)?;
    let head = head(demo)?;
    gradients(demo, &head)?;
    demo.begin_at("dS[1,2]");
    check(demo, &head)
}

/// One row of scores: its softmax, the Jacobian, and what a gradient becomes on the way through it.
fn jacobian(demo: &mut Builder) -> Result<()> {
    let keys = ["bat", "cave", "racket"];
    let s = demo.given("s", numbers("2 1 0").cols_named(&keys))?;
    let shape = demo.matrix(s)?.shape();
    if shape.rows != 1 || shape.cols > MOST_SCORES {
        return Err(Error::new(format!(
            "s is {shape}, and the demo follows one row of at most {MOST_SCORES} scores"
        )));
    }
    let a = demo.compute("a", SOFTMAX, &[s])?;
    demo.step(
        "One row of scores and its softmax. The weights sum to 1, so one can grow only if others shrink.",
    )
    .together(&[s, a]);
    let diagonal = demo.compute("a_diagonal", Op::Diagonal, &[a])?;
    let outer = demo.compute("a_outer", Op::TransposedProduct, &[a, a])?;
    let j = demo.compute("J", Op::Subtract, &[diagonal, outer])?;
    let sums = demo.compute("J_sum", Op::Sums(Axis::Rows), &[j])?;
    demo.step(
        "The Jacobian J of the softmax: row i says how fast every weight changes if score i grows. On the diagonal it is \
         a(1 − a), elsewhere minus the product of two weights.",
    )
    .claim(
        all([within(ROUNDING, max_of("J_sum"), 0.0), within(ROUNDING, min_of("J_sum"), 0.0)]),
        "Each row sums to 0 up to rounding: what one weight wins, the others lose.",
    )
    .folded(&[diagonal, outer, sums])
    .show(&[j]);
    through_jacobian(demo, [s, a, j])
}

fn through_jacobian(demo: &mut Builder, [s, a, j]: [NodeId; 3]) -> Result<()> {
    let keys = demo.matrix(s)?.cols();
    let wanted = Matrix::from_fn(1, keys, |_, j| [1.0, 3.0, 0.0][j % 3]);
    let d_a = demo.fitted("da", wanted, (1, 3))?;
    let by_jacobian = demo.product("ds_by_J", d_a, j)?;
    demo.step(
        "A gradient da arrives: how fast the loss changes with each weight. Times J it says how fast the loss changes with \
         each score.",
    )
    .together(&[d_a])
    .show(&[by_jacobian]);
    let gradients = demo.gradients(a, Start::Node(d_a), &[s])?;
    let [weighted, mean, repeated, centred, d_s] = gradients.all[0].steps[..] else {
        return Err(Error::new("the softmax of one row has another way back"));
    };
    demo.compute("ds_apart", Op::Subtract, &[d_s, by_jacobian])?;
    demo.step(
        "The same without J: each gradient minus their mean, where each counts by its weight, and then times the weight. So \
         nobody stores a Jacobian.",
    )
    .claim(
        within(ROUNDING, max_size_of("ds_apart"), 0.0),
        "It is the same up to rounding.",
    )
    .claim(
        all([own(&["s", "da"]), less("ds[1,1]", 0.0), less(0.0, "da[1,1]")]),
        "“bat” has a positive gradient, {da[1,1]}, and still its score should fall if the loss is to grow: its gradient is below \
         the mean {da_mean[1,1]}.",
    )
    .folded(&[weighted, repeated])
    .show(&[mean, centred, d_s]);
    Ok(())
}

/// The matrices of the head.
struct Head {
    x: NodeId,
    weights: [NodeId; 3],
    d_o: NodeId,
    o: NodeId,
}

fn head(demo: &mut Builder) -> Result<Head> {
    let tokens = ["bat", "cave", "racket"];
    let x = demo.given("X", numbers("1 1; 2 0; 0 2").rows_named(&tokens))?;
    let weights = ["1 0; 0.5 1", "1 -0.5; 0 1", "1 0; 0 0.5"].map(numbers);
    let [w_q, w_k, w_v] = demo.head_weights("", weights)?;
    let [q, k, v] = demo.roles("", x, [w_q, w_k, w_v])?;
    let (weights, o) = demo.head("", [q, k, v], &Recipe::default())?;
    demo.step("A whole head, forward: tokens, three weight matrices, and what they make.")
        .together(&[x, w_q, w_k, w_v])
        .folded(&[q, k, v])
        .show(&[weights.weights, o]);
    let shape = demo.matrix(o)?.shape();
    let d_o = Matrix::from_fn(shape.rows, shape.cols, |i, j| if (i + j) % 2 == 0 { 1.0 } else { -1.0 });
    let d_o = demo.fitted("dO", d_o, (3, 2))?;
    let products = demo.compute("loss_products", Op::Multiply, &[d_o, o])?;
    let loss = demo.compute("loss", Op::Sums(Axis::Whole), &[products])?;
    demo.step("The loss is one number made of O. Here it is the sum of O, each cell times its number in dO, so its gradient is dO.")
        .together(&[d_o])
        .show(&[loss]);
    Ok(Head { x, weights: [w_q, w_k, w_v], d_o, o })
}

fn gradients(demo: &mut Builder, head: &Head) -> Result<()> {
    let [w_q, w_k, w_v] = head.weights;
    demo.gradients(head.o, Start::Node(head.d_o), &[head.x, w_q, w_k, w_v])?;
    let node = |demo: &Builder, name: &str| demo.node(name);
    let named = |demo: &Builder, names: &[&str]| -> Result<Vec<NodeId>> {
        names.iter().map(|name| demo.node(name)).collect()
    };
    let (d_v, d_a) = (node(demo, "dV")?, node(demo, "dA")?);
    demo.step(
        "Back through O = A · V. Each value gets the gradients of the rows that it went into, by its weights. Each weight gets \
         the dot product of a row of dO with the value that it weighs.",
    )
    .show(&[d_v, d_a]);
    let steps = named(demo, &["dA_centred", "dS_scaled", "dS"])?;
    let sums = demo.compute("dS_sum", Op::Sums(Axis::Rows), &[steps[2]])?;
    demo.step(
        "Back through the softmax, row by row as above, and through the scale: the same factor once more.",
    )
    .claim(
        within(ROUNDING, max_size_of("dS_sum"), 0.0),
        "Each row of dS sums to 0 up to rounding: a number added to a whole row of scores changes nothing.",
    )
    .folded(&[sums])
    .show(&steps);
    let (d_q, d_k) = (node(demo, "dQ")?, node(demo, "dK")?);
    demo.step(
        "Back through S = Q · Kᵀ. Each query gets the keys, each times its dS; each key gets the queries.",
    )
    .show(&[d_q, d_k]);
    let weights = named(demo, &["dW_Q", "dW_K", "dW_V"])?;
    demo.step("Back to the weights that are learned: the tokens, transposed, times the gradient of what the weights make.")
        .show(&weights);
    let tokens = named(demo, &["dX_from_Q", "dX_from_K", "dX_from_V", "dX"])?;
    demo.step("Each token was read three times, for queries, keys and values. Its gradient is the sum of the three.")
        .folded(&tokens[..3])
        .show(&tokens[3..]);
    Ok(())
}

/// Weights are moved a little: the loss moves by their gradients times as much.
fn check(demo: &mut Builder, head: &Head) -> Result<()> {
    let [w_q, w_k, w_v] = head.weights;
    let shape = demo.matrix(w_q)?.shape();
    let one = Matrix::from_fn(shape.rows, shape.cols, |i, j| if (i, j) == (0, 0) { MOVE } else { 0.0 });
    let nudge = demo.fitted("nudge", one, (2, 2))?;
    let moved = demo.compute("W_Q_moved", Op::Add, &[w_q, nudge])?;
    let q = demo.product("Q_moved", head.x, moved)?;
    let k = demo.product("K_moved", head.x, w_k)?;
    let v = demo.product("V_moved", head.x, w_v)?;
    let (_, o) = demo.head("_moved", [q, k, v], &Recipe::default())?;
    let products = demo.compute("loss_products_moved", Op::Multiply, &[head.d_o, o])?;
    let after = demo.compute("loss_moved", Op::Sums(Axis::Whole), &[products])?;
    let before = demo.node("loss")?;
    let change = demo.compute("loss_change", Op::Change, &[before, after])?;
    let largest = demo.compute("nudge_size", LARGEST, &[nudge])?;
    let slope = demo.compute("slope", Op::Divide, &[change, largest])?;
    let d_w_q = demo.node("dW_Q")?;
    let products = demo.compute("dW_Q_by_nudge", Op::Multiply, &[d_w_q, nudge])?;
    let expected = demo.compute("expected", Op::Sums(Axis::Whole), &[products])?;
    let by_rules = demo.compute("slope_by_rules", Op::Divide, &[expected, largest])?;
    demo.step("A check without any rule: nudge W_Q, run the head again, compare the losses.")
        .claim(
            all([own(&[]), equal("nudge_size[1,1]", MOVE), within(0.001, "slope[1,1]", "dW_Q[1,1]")]),
            "Only W_Q[1,1] moves. The slope is {slope[1,1]}, the gradient {dW_Q[1,1]}.",
        )
        .claim(
            all([not(own(&["nudge"])), less(0.0, "nudge_size[1,1]")]),
            "For each 1 of the largest move the loss changes by {slope[1,1]:6}. The rules expect {slope_by_rules[1,1]:6}: each move \
             times its gradient.",
        )
        .claim(
            equal("nudge_size[1,1]", 0.0),
            "Nothing moves, so nothing changes: 0 divided by 0 is no slope.",
        )
        .claim(
            all([less(0.0, "nudge_size[1,1]"), less("nudge_size[1,1]", 5e-5)]),
            "The move is not 0, though with four decimals it is 0.0000.",
        )
        .claim(
            all([less(0.0, "nudge_size[1,1]"), less("nudge_size[1,1]", 1e-9), less(0.01, max_size_of("loss"))]),
            "With so small a move the loss changes in its last digits alone, and they are rounded.",
        )
        .together(&[nudge, largest])
        .show(&[after, change, expected, slope, by_rules]);
    Ok(())
}

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
