//! `differential`, of a paper on one softmax minus another.

use super::builder::*;

const WORDS: [&str; 4] = ["the", "cat", "um", "sat"];
const FEATURES: [&str; 3] = ["filler", "noun", "verb"];
const HALVES: [&str; 4] = ["1st half", "1st half", "2nd half", "2nd half"];
/// No layer is later.
const LAST_LAYER: usize = 1000;
/// As in the paper's code.
const EPSILON: f64 = 1e-5;

/// From here on a number is 0.8 when it is rounded to four places.
const HIDES_THE_REST: f64 = 0.79995;

const EXP: Op = Op::Exponential(Base::E);
const SUM: Op = Op::Sums(Axis::Rows);

/// `differential`: two softmaxes of one head, the second subtracted from the first, so that shared noise cancels.
pub(super) fn differential(demo: &mut Builder) -> Result<()> {
    let halves = halves(demo)?;
    let maps = maps(demo, &halves)?;
    let [start, lambda] = lambda(demo)?;
    of_other_layers(demo)?;
    let weights = subtracted(demo, maps, lambda)?;
    last_word(demo, maps, weights, lambda)?;
    without_second(demo, maps[0])?;
    output(demo, weights, halves.v, start)
}

/// Queries and keys, each cut in two, and the values.
struct Halves {
    q: Vec<NodeId>,
    k: Vec<NodeId>,
    v: NodeId,
}

fn halves(demo: &mut Builder) -> Result<Halves> {
    let x =
        demo.given("X", numbers("1 0 0; 0 1 0; 1 0 0; 0 0 1").rows_named(&WORDS).cols_named(&FEATURES))?;
    let w_q = numbers("1 0 1 0; 1 1 1 0; 2 2 2 0");
    let w_k = numbers("1 0 1 0; 0 2 0 0; 0 0 0 0");
    let w_v = numbers("0 0 3 1; 4 0 0 1; 0 2 0 1");
    let w_q = demo.given("W_Q", w_q.cols_named(&HALVES))?;
    let w_k = demo.given("W_K", w_k.cols_named(&HALVES))?;
    let w_v = demo.given("W_V", w_v)?;
    for (name, weights) in [("W_Q", w_q), ("W_K", w_k)] {
        demo.even_columns(name, weights, "cut into two halves")?;
    }
    let [q, k, v] = demo.roles("", x, [w_q, w_k, w_v])?;
    let halves = Halves { q: demo.split("Q", q, 2)?, k: demo.split("K", k, 2)?, v };
    demo.step(
        "One head. Its queries and keys are cut into two halves, and each half will make weights of its own. The values are not \
         cut.",
    )
    .claim(own(&["X"]), "“the” and “um” are filler words: noise that a model should not attend to.")
    .together(&[x, v])
    .folded(&[w_q, w_k, w_v])
    .together(&[q, k]);
    Ok(halves)
}

/// The weights of both halves.
fn maps(demo: &mut Builder, halves: &Halves) -> Result<[NodeId; 2]> {
    let mut weights = Vec::new();
    for (half, (&q, &k)) in (1..).zip(halves.q.iter().zip(&halves.k)) {
        let width = demo.matrix(q)?.cols();
        let s = demo.compute(&format!("S_{half}"), Op::ProductTransposed, &[q, k])?;
        let scaled = Op::Scale(Factor::InverseRoot(width));
        let scaled = demo.compute(&format!("S_scaled_{half}"), scaled, &[s])?;
        weights.push(demo.compute(&format!("A_{half}"), SOFTMAX, &[scaled])?);
    }
    let maps = [weights[0], weights[1]];
    demo.step("Two softmaxes over the same words, one for each half. Every row of both sums to 1.")
        .claim(
            all([
                top_of_row("A_1[sat,cat]"),
                less(0.5, plus("A_2[sat,the]", "A_2[sat,um]")),
            ]),
            "In the first, “sat” finds its subject and gives {A_1[sat,cat]:2} to “cat”, but also {A_1[sat,the]:2} to “the” and \
             {A_1[sat,um]:2} to “um”. The second puts most of its weight on these two.",
        )
        .together(&maps);
    Ok(maps)
}

/// λ_init of a row of layers: `0.8 − 0.6 · exp(−0.3 (l − 1))`.
fn starts(demo: &mut Builder, suffix: &str, layers: NodeId) -> Result<NodeId> {
    let cols = demo.matrix(layers)?.cols();
    let rows = demo.matrix(layers)?.rows();
    let mut add =
        |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}{suffix}"), op, inputs);
    let one = add("one", Op::Ones { rows, cols }, &[])?;
    let before = add("layers_before", Op::Subtract, &[layers, one])?;
    let exponent = add("exponent", Op::Scale(Factor::Number(-0.3)), &[before])?;
    let power = add("power", EXP, &[exponent])?;
    let drop = add("drop", Op::Scale(Factor::Number(0.6)), &[power])?;
    let limit = add("limit", Op::Scale(Factor::Number(0.8)), &[one])?;
    let start = add("lambda_init", Op::Subtract, &[limit, drop])?;
    demo.label(start, "λ_init");
    Ok(start)
}

/// λ_init of this layer, and λ.
fn lambda(demo: &mut Builder) -> Result<[NodeId; 2]> {
    let (layer, _) = demo.count("layer", 1, LAST_LAYER)?;
    let start = starts(demo, "", layer)?;
    let mut vectors = Vec::new();
    for (name, cells) in [
        ("lambda_q1", [0.4, 0.0]),
        ("lambda_k1", [0.5, 0.0]),
        ("lambda_q2", [0.0, 0.4]),
        ("lambda_k2", [0.5, 0.0]),
    ] {
        let id = demo.given(name, Matrix::of([cells]))?;
        demo.label(id, &name.replace("lambda", "λ"));
        vectors.push(id);
    }
    let mut powers = Vec::new();
    for (number, pair) in (1..).zip(vectors.chunks(2)) {
        let dot = demo.compute(&format!("lambda_dot_{number}"), Op::ProductTransposed, pair)?;
        powers.push(demo.compute(&format!("lambda_exp_{number}"), EXP, &[dot])?);
    }
    let learned = demo.compute("lambda_learned", Op::Subtract, &powers)?;
    let lambda = demo.compute("lambda", Op::Add, &[learned, start])?;
    demo.label(learned, "λ_learned");
    demo.label(lambda, "λ");
    demo.step(
        "How much of the second is subtracted, λ, is learned: λ = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init. The four vectors \
         belong to the layer, and λ_init is 0.8 − 0.6 · exp(−0.3 (l − 1)) in layer l.",
    )
    .claim(
        equal("layer[1,1]", 1.0),
        "In the first layer the power is exp(0) = 1, so λ_init is {lambda_init[1,1]:2}. What is learned adds \
         {lambda_learned[1,1]:4}.",
    )
    .together(&vectors)
    .together(&[layer])
    .show(&[start, powers[0], powers[1], learned, lambda]);
    Ok([start, lambda])
}

/// λ_init of a few layers.
fn of_other_layers(demo: &mut Builder) -> Result<()> {
    let layers = demo.given("layers", numbers("1 2 4 8 16 32"))?;
    let is_layer = |number: f64| (1.0..=LAST_LAYER as f64).contains(&number) && number.fract() == 0.0;
    if !demo.matrix(layers)?.cells().all(is_layer) {
        return Err(Error::new(format!("layers must be whole numbers from 1 to {LAST_LAYER}")));
    }
    let start = starts(demo, "_layers", layers)?;
    demo.step("λ_init in other layers. Later layers begin with a larger share of the second softmax.")
        .claim(
            all([own(&["layers"]), less(max_of("lambda_init_layers"), 0.8)]),
            "It grows from {lambda_init_layers[1,1]:2} in the first layer to {lambda_init_layers[1,6]:4}, and never reaches 0.8.",
        )
        .claim(
            less(HIDES_THE_REST, max_of("lambda_init_layers")),
            "λ_init is below 0.8 in every layer. Where the table has 0.8, it is rounded: the power exp(−0.3 (l − 1)) is small \
             there, but not 0.",
        )
        .columns(&[(layers, None), (start, None)]);
    Ok(())
}

fn subtracted(demo: &mut Builder, [first, second]: [NodeId; 2], lambda: NodeId) -> Result<NodeId> {
    let second = demo.compute("A_2_lambda", Op::Times, &[second, lambda])?;
    demo.label(second, "λ A_2");
    let weights = demo.compute("A", Op::Subtract, &[first, second])?;
    let sums = demo.compute("row_sums", SUM, &[weights])?;
    let one = demo.node("one")?;
    let rest = demo.compute("one_minus_lambda", Op::Subtract, &[one, lambda])?;
    demo.step("The weights of the head: the first softmax minus λ times the second.")
        .claim(
            less(min_of("A"), 0.0),
            "Some weights are negative, which no softmax can give: the head subtracts these values.",
        )
        .claim(
            all([
                within(1e-12, max_of("row_sums"), "one_minus_lambda[1,1]"),
                within(1e-12, min_of("row_sums"), "one_minus_lambda[1,1]"),
            ]),
            "Each row sums to 1 − λ = {one_minus_lambda[1,1]:4}.",
        )
        .together(&[weights, sums])
        .show(&[rest]);
    Ok(weights)
}

/// The row of the last word in both softmaxes and in their difference.
fn last_word(demo: &mut Builder, maps: [NodeId; 2], weights: NodeId, lambda: NodeId) -> Result<()> {
    let start = demo.matrix(weights)?.rows().saturating_sub(1);
    let row = Op::Rows { start, count: 1 };
    let of_first = demo.compute("first", row.clone(), &[maps[0]])?;
    let of_second = demo.compute("second", row.clone(), &[maps[1]])?;
    let taken = demo.compute("subtracted", Op::Times, &[of_second, lambda])?;
    let left = demo.compute("left", row, &[weights])?;
    let mut sums = Vec::new();
    for (name, of) in [("first_sum", of_first), ("subtracted_sum", taken), ("left_sum", left)] {
        sums.push(demo.compute(name, SUM, &[of])?);
    }
    demo.step("The last word alone: its row in the first softmax, λ times its row in the second, and what is left of the first.")
        .claim(
            all([
                less(times(10.0, max_size_of("left[*,the]")), "first[sat,the]"),
                less(times(10.0, max_size_of("left[*,um]")), "first[sat,um]"),
                top_of_row("left[sat,cat]"),
            ]),
            "Both softmaxes hold the noise, so it cancels: “the” falls from {first[sat,the]:2} to {left[sat,the]:2}, “um” from \
             {first[sat,um]:2} to {left[sat,um]:2}. “cat” keeps {left[sat,cat]:2} of {first[sat,cat]:2}.",
        )
        .columns(&[(of_first, Some(sums[0])), (taken, Some(sums[1])), (left, Some(sums[2]))]);
    Ok(())
}

fn without_second(demo: &mut Builder, first: NodeId) -> Result<()> {
    let second = demo.node("A_2")?;
    let none = demo.compute("A_2_zero", Op::Scale(Factor::Number(0.0)), &[second])?;
    let weights = demo.compute("A_ordinary", Op::Subtract, &[first, none])?;
    let [_, largest] = demo.difference(["change", "largest_change"], [weights, first])?;
    demo.step("With λ = 0 nothing is subtracted.")
        .claim(
            equal("largest_change[1,1]", 0.0),
            "The weights are then exactly those of the first softmax: ordinary attention.",
        )
        .folded(&[weights])
        .show(&[largest]);
    Ok(())
}

fn output(demo: &mut Builder, weights: NodeId, v: NodeId, start: NodeId) -> Result<()> {
    let o = demo.product("O", weights, v)?;
    let normed = demo.compute("O_normed", Op::RmsNorm(EPSILON), &[o])?;
    let one = demo.node("one")?;
    let factor = demo.compute("factor", Op::Subtract, &[one, start])?;
    let scaled = demo.compute("O_scaled", Op::Times, &[normed, factor])?;
    let size = demo.compute("size", Op::Summary(Statistic::RootMeanSquare), &[scaled])?;
    demo.step(
        "The weights mix the values. Then every head is normed by itself, because heads subtract different amounts, and \
         multiplied by the factor 1 − λ_init.",
    )
    .claim(
        all([
            within(1e-3, "size[1,1]", "factor[1,1]"),
            less(0.01, "factor[1,1]"),
        ]),
        "The root mean square is now {size[1,1]:2}, which is 1 − λ_init, whatever λ has become in training.",
    )
    .together(&[o, normed])
    .show(&[factor, scaled, size]);
    Ok(())
}
