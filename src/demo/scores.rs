//! Demos of “Attention and Transformer Imagined” about scores: queries and keys, the scale, and the weights that training starts from.

use super::builder::*;

const SENSES: [&str; 4] = ["animal", "cricket", "baseball", "batting"];
const ASPECTS: [&str; 2] = ["life", "game"];

/// A transformation from the four senses to two aspects.
fn transformation(rows: [[f64; 2]; 4]) -> Matrix {
    Matrix::of(rows).rows_named(&SENSES).cols_named(&ASPECTS)
}

/// `transforms`: why queries and keys are transformed, and why differently.
pub(super) fn transforms(demo: &mut Builder) -> Result<()> {
    let x = numbers("1 1 1 1; 2 0 0 0; 0 2 0 0; 0 0 2 0; 0 0 0 2");
    let words = ["bat", "cave", "wicket", "pitcher", "swung"];
    let x = demo.given("X", x.rows_named(&words).cols_named(&SENSES))?;
    demo.step(
        "Each row is a word. The columns are the four senses of “bat”: the flying animal, the cricket bat, the baseball bat \
         and the act of batting.",
    )
    .claim(
        all([
            less(0.0, "X[bat,animal]"),
            equal("X[bat,animal]", "X[bat,cricket]"),
            equal("X[bat,animal]", "X[bat,baseball]"),
            equal("X[bat,animal]", "X[bat,batting]"),
        ]),
        "“bat” alone could have any of the four senses. The words around it decide.",
    )
    .together(&[x]);
    one_transformation(demo, x)?;
    two_transformations(demo, x)?;
    relations(demo, x)?;
    pairs_in_use(demo)
}

fn one_transformation(demo: &mut Builder, x: NodeId) -> Result<()> {
    let w = demo.given("W", transformation([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]))?;
    let p = demo.product("P", x, w)?;
    let s = demo.compute("S_one", Op::ProductTransposed, &[p, p])?;
    demo.step(
        "One transformation for both sides: every word becomes a row of P, and the rows of P are compared with each other.",
    )
    .show(&[p, s]);
    let turned = demo.compute("S_one_turned", Op::Transpose, &[s])?;
    let [_, largest] = demo.difference(["difference_one", "asymmetry_one"], [s, turned])?;
    demo.step(
        "Such scores are always symmetric, S = Sᵀ: two words score the same in both directions. The largest difference \
         between S and Sᵀ:",
    )
    .claim(
        equal("S_one[swung,bat]", "S_one[bat,swung]"),
        "“swung” with “bat” scores {S_one[swung,bat]}, and “bat” with “swung” scores {S_one[bat,swung]}.",
    )
    .show(&[largest]);
    Ok(())
}

fn two_transformations(demo: &mut Builder, x: NodeId) -> Result<()> {
    let w_q = demo.given("W_Q", transformation([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 2.0]]))?;
    let w_k = demo.given("W_K", transformation([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))?;
    let q = demo.product("Q", x, w_q)?;
    let k = demo.product("K", x, w_k)?;
    demo.step("Two transformations: the query says what a word looks for, the key says what it offers.")
        .claim(
            own(&["W_Q", "W_K"]),
            "Batting asks twice for a game and offers nothing: it is an action, not a thing.",
        )
        .together(&[w_q, w_k])
        .show(&[q, k]);
    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let turned = demo.compute("S_turned", Op::Transpose, &[s])?;
    let difference = demo.compute("difference", Op::Subtract, &[s, turned])?;
    demo.step(
        "Now the scores need not be symmetric. One shared transformation can never give a difference S − Sᵀ other than 0.",
    )
    .claim(
        not(equal("S[swung,bat]", "S[bat,swung]")),
        "“swung” with “bat” scores {S[swung,bat]}, but “bat” with “swung” scores {S[bat,swung]}.",
    )
    .show(&[s, difference]);
    Ok(())
}

/// The word of the first row, asked about with two queries against two keys.
fn relations(demo: &mut Builder, x: NodeId) -> Result<()> {
    let queries =
        [[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]];
    let keys =
        [[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]];
    let mut weights = Vec::new();
    for (name, all) in [("Q", queries), ("K", keys)] {
        for (i, rows) in all.into_iter().enumerate() {
            weights.push(demo.given(&format!("W_{name}_{}", i + 1), transformation(rows))?);
        }
    }
    demo.step("Two query transformations and two key transformations.")
        .claim(
            own(&["W_Q_1", "W_Q_2", "W_K_1", "W_K_2"]),
            "W_Q_1 asks for animals, W_Q_2 for sport. W_K_1 describes things, W_K_2 actions: batting counts towards “game” \
             and against “life”.",
        )
        .together(&weights[..2])
        .together(&weights[2..]);

    let word = demo.row("x_bat", x, 0)?;
    let q = [demo.product("q_1", word, weights[0])?, demo.product("q_2", word, weights[1])?];
    let k = [demo.product("K_1", x, weights[2])?, demo.product("K_2", x, weights[3])?];
    let mut scores = Vec::new();
    for (i, query) in q.into_iter().enumerate() {
        for (j, key) in k.into_iter().enumerate() {
            let name = format!("s_{}{}", i + 1, j + 1);
            scores.push(demo.compute(&name, Op::ProductTransposed, &[query, key])?);
        }
    }
    let names = labels(&["q1 with k1", "q1 with k2", "q2 with k1", "q2 with k2"]);
    let relations = demo.compute("relations", Op::Stack(Some(names)), &scores)?;
    let a = demo.compute("A", SOFTMAX, &[relations])?;
    demo.step("The first word has two queries. Each is paired with each of the two keys: 2 · 2 relations.")
        .claim(top_of_row("A[1,cave]"), "Animals among things: “cave” gets most, {A[1,cave]:2}.")
        .claim(
            all([
                equal("A[3,wicket]", "A[3,pitcher]"),
                less("A[3,bat]", "A[3,wicket]"),
                less("A[3,cave]", "A[3,wicket]"),
                less("A[3,swung]", "A[3,wicket]"),
            ]),
            "Sport among things: “wicket” and “pitcher” get {A[3,wicket]:2} each.",
        )
        .claim(top_of_row("A[4,swung]"), "Sport among actions: “swung” gets most, {A[4,swung]:2}.")
        .show(&[relations, a]);
    Ok(())
}

fn pairs_in_use(demo: &mut Builder) -> Result<()> {
    let models = demo.own_labels(&["queries", "keys"], &["here", "8 heads", "Llama 3 8B"]);
    let queries = demo.given("queries", numbers("2 8 32").with_col_labels(models.clone()))?;
    let keys = demo.given("keys", numbers("2 8 8").with_col_labels(models))?;
    let possible = demo.compute("possible", Op::Multiply, &[queries, keys])?;
    demo.step(
        "With q query transformations and k key transformations, q · k pairs are possible. Real models use one pair for each \
         head, so they use q of them.",
    )
    .claim(
        own(&["queries", "keys"]),
        "Llama 3 8B could use {possible[1,3]} pairs in every layer, and it uses {queries[1,3]}.",
    )
    .together(&[queries, keys])
    .show(&[possible]);
    Ok(())
}

const WIDTHS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
const TOKENS: usize = 16;

/// The measurements for one width.
#[derive(Default)]
struct Measures {
    size: Vec<NodeId>,
    largest: Vec<NodeId>,
    slope: Vec<NodeId>,
}

/// `scale`: scores grow like √d, the softmax saturates, its gradient vanishes, and 1/√d_k prevents it.
pub(super) fn scale(demo: &mut Builder) -> Result<()> {
    let (mut plain, mut scaled) = (Measures::default(), Measures::default());
    let mut widths = Vec::new();
    let mut stream = LegacyStream::seeded(demo.seed());
    for width in WIDTHS {
        let (s, d_k) = drawn_scores(demo, &mut stream, TOKENS, width)?;
        widths.push(d_k);
        measure(demo, &mut plain, &format!("d{width}"), s)?;
        let s = demo.compute(&format!("S_scaled_d{width}"), Op::Scale(Factor::InverseRoot(d_k)), &[s])?;
        measure(demo, &mut scaled, &format!("scaled_d{width}"), s)?;
    }
    let names: Labels = widths.iter().map(|width| format!("d = {width}")).collect();
    let [size, largest, slope] = tables(demo, "", &plain, &names)?;
    let [size_scaled, largest_scaled, slope_scaled] = tables(demo, "_scaled", &scaled, &names)?;
    for (node, label) in [
        (size, "size of the scores"),
        (largest, "largest weight"),
        (slope, "slope"),
        (size_scaled, "size of the scaled scores"),
        (largest_scaled, "largest weight, scaled"),
        (slope_scaled, "slope, scaled"),
    ] {
        demo.label(node, label);
    }

    let own = of_their_width(&WIDTHS);
    demo.step(
        "Queries and keys of several widths d. For each width: how large are the scores, as a root mean square?",
    )
    .claim(
        all([own.clone(), about_one("size_scaled")]),
        "The scores grow like √d: {size[2,1]:1} at d = 4, where √d is 2, and {size[6,1]:1} at d = 1024, where √d is 32.",
    )
    .show(&[size]);
    one_query(demo)?;
    demo.step(
        "The largest weight of each row, averaged over the rows. When the scores are far apart, the softmax saturates: one \
         key gets nearly all the weight.",
    )
    .claim(
        all([
            own.clone(),
            less("largest[1,1]", "largest[6,1]"),
            equal(columns("S_d1"), TOKENS as f64),
            equal(columns("S_d1024"), TOKENS as f64),
        ]),
        "It grows from {largest[1,1]:2} at d = 1 to {largest[6,1]:2} at d = 1024. Equal weights would be 1/16 each.",
    )
    .show(&[largest]);
    demo.step(
        "If a score grows a little, its weight a grows a(1 − a) = a − a² times as much. This slope is averaged over all cells \
         here. It is close to 0 for weights near 0 or 1, and then the gradient is, too.",
    )
    .claim(
        all([own.clone(), less("slope[6,1]", "slope[2,1]")]),
        "At d = 4 it is {slope[2,1]}, at d = 1024 only {slope[6,1]}.",
    )
    .show(&[slope]);
    demo.step("The same scores, multiplied by 1/√d_k.")
        .claim(
            all([own.clone(), about_one("size_scaled")]),
            "Now their size is about 1 at every width: from {size_scaled[1,1]:2} at d = 1 to {size_scaled[6,1]:2} at d = 1024.",
        )
        .show(&[size_scaled]);
    demo.step("The largest weights and the slopes of the scaled scores.")
        .claim(
            all([
                own.clone(),
                less("largest_scaled[6,1]", "largest[6,1]"),
                less("slope[6,1]", "slope_scaled[6,1]"),
            ]),
            "At d = 1024 the largest weight falls from {largest[6,1]:2} to {largest_scaled[6,1]:2}, and the slope rises from \
             {slope[6,1]} to {slope_scaled[6,1]}.",
        )
        .show(&[largest_scaled, slope_scaled]);
    Ok(())
}

/// Sizes that are about 1 at every width, whatever the seed.
fn about_one(sizes: &str) -> Condition {
    all([within(0.6, max_of(sizes), 1.0), within(0.6, min_of(sizes), 1.0)])
}

/// The size of the scores, the largest weights and the slopes of the softmax.
fn measure(demo: &mut Builder, measures: &mut Measures, suffix: &str, s: NodeId) -> Result<()> {
    let mut compute =
        |name: &str, op, inputs: &[NodeId]| demo.compute(&format!("{name}_{suffix}"), op, inputs);
    measures.size.push(compute("size", Op::Summary(Statistic::RootMeanSquare), &[s])?);
    let a = compute("A", SOFTMAX, &[s])?;
    let largest = compute("row_largest", Op::Max(Axis::Rows), &[a])?;
    measures.largest.push(compute("largest", Op::Summary(Statistic::Mean), &[largest])?);
    let squares = compute("A_squared", Op::Multiply, &[a, a])?;
    let slopes = compute("slopes", Op::Subtract, &[a, squares])?;
    measures.slope.push(compute("slope", Op::Summary(Statistic::Mean), &[slopes])?);
    Ok(())
}

fn tables(demo: &mut Builder, suffix: &str, measures: &Measures, names: &Labels) -> Result<[NodeId; 3]> {
    let mut table = |name: &str, parts: &[NodeId]| {
        demo.collect(&format!("{name}{suffix}"), "widths", Some(names.clone()), parts)
    };
    Ok([
        table("size", &measures.size)?,
        table("largest", &measures.largest)?,
        table("slope", &measures.slope)?,
    ])
}

/// The weights of the first query at a small width, at a large one, and at the large one scaled.
fn one_query(demo: &mut Builder) -> Result<()> {
    let mut shown = Vec::new();
    for name in ["d4", "d1024", "scaled_d1024"] {
        let a = demo.node(&format!("A_{name}"))?;
        let row = demo.row(&format!("row_{name}"), a, 0)?;
        shown.push(demo.compute(&format!("a_{name}"), Op::Transpose, &[row])?);
    }
    demo.step("The weights of the first query: at two widths, and at the larger one with scores divided by √d_k, as in step 5.")
        .heading_if(
            of_their_width(&WIDTHS),
            "The weights of the first query: at d = 4, at d = 1024, and at d = 1024 with scores divided by √d_k, as in step 5.",
        )
        .together(&shown);
    Ok(())
}

/// The cases: their names, and the factors that stretch the weights.
const CASES: [(&str, f64); 4] = [("zero", 0.0), ("small", 0.01), ("one", 1.0), ("large", 10.0)];

/// The inputs of every case.
#[derive(Clone, Copy)]
struct Inputs {
    x: NodeId,
    x_turned: NodeId,
    w_q: NodeId,
    w_k: NodeId,
    v: NodeId,
    ones: NodeId,
    d_o: NodeId,
}

/// `init`: the effect of weights at 0, near 0 and far from 0 on attention and on its gradient.
pub(super) fn init(demo: &mut Builder) -> Result<()> {
    let inputs = inputs(demo)?;
    for case in CASES {
        forward(demo, inputs, case)?;
    }
    let uniform = demo.compute("uniform", Op::DivideBySum(Axis::Rows), &[inputs.ones])?;
    let average = demo.product("average", uniform, inputs.v)?;
    near_zero(demo, average)?;
    exactly_zero(demo, average)?;
    gradients(demo, inputs)?;
    far_from_zero(demo)
}

fn inputs(demo: &mut Builder) -> Result<Inputs> {
    let x =
        demo.given("X", numbers("1 0 1; 0 1 1; 1 1 0; 2 0 1").rows_named(&["he", "swung", "the", "bat"]))?;
    let w_q = numbers("1 0 -1 1; 0 1 1 -1; 1 1 0 0");
    let w_k = numbers("0 1 1 0; 1 -1 0 1; 1 0 -1 1");
    let (w_q, w_k) = (demo.given("W_Q", w_q)?, demo.given("W_K", w_k)?);
    let w_v = demo.given("W_V", numbers("1 0; 0 2; 1 -1"))?;
    demo.step(
        "Words and weights. W_Q and W_K are multiplied by 0, by 0.01, by 1 and by 10. W_V, and with it the values, stays \
         the same.",
    )
    .together(&[x])
    .together(&[w_q, w_k, w_v]);
    let v = demo.product("V", x, w_v)?;
    let n = demo.matrix(x)?.rows();
    let ones = demo.compute("ones", Op::Ones { rows: n, cols: n }, &[])?;
    let d_o = rows_over_and_over(&numbers("1 0; 0 1; -1 0; 0 2"), n);
    let d_o = demo.fitted("dO", d_o, (4, 2))?;
    let x_turned = demo.compute("X_turned", Op::Transpose, &[x])?;
    Ok(Inputs { x, x_turned, w_q, w_k, v, ones, d_o })
}

fn forward(demo: &mut Builder, inputs: Inputs, (name, factor): (&str, f64)) -> Result<()> {
    let mut compute = |node: &str, op, from: &[NodeId]| demo.compute(&format!("{node}_{name}"), op, from);
    let w_q = compute("W_Q", Op::Scale(Factor::Number(factor)), &[inputs.w_q])?;
    let w_k = compute("W_K", Op::Scale(Factor::Number(factor)), &[inputs.w_k])?;
    let q = compute("Q", Op::Product, &[inputs.x, w_q])?;
    let k = compute("K", Op::Product, &[inputs.x, w_k])?;
    demo.head(&format!("_{name}"), [q, k, inputs.v], &Recipe::default())?;
    Ok(())
}

/// The nodes of these names.
fn nodes<const COUNT: usize>(demo: &Builder, names: [&str; COUNT]) -> Result<Vec<NodeId>> {
    names.into_iter().map(|name| demo.node(name)).collect()
}

/// The largest difference between a result and the plain average of the values.
fn from_average(demo: &mut Builder, name: &str, average: NodeId) -> Result<NodeId> {
    let o = demo.node(&format!("O_{name}"))?;
    let change = demo.compute(&format!("change_{name}"), Op::Subtract, &[o, average])?;
    let largest = LARGEST;
    let distance = demo.compute(&format!("from_average_{name}"), largest, &[change])?;
    demo.label(distance, "largest difference from the average");
    Ok(distance)
}

fn near_zero(demo: &mut Builder, average: NodeId) -> Result<()> {
    let shown = nodes(demo, ["S_scaled_small", "A_small"])?;
    demo.step(
        "W_Q and W_K times 0.01. Each score then has the factor 0.01 · 0.01 = 0.0001. If the scores are nearly equal, the \
         softmax gives nearly equal weights.",
    )
    .claim(
        all([equal(rows("X"), 4.0), less(max_of("A_small"), 0.26), less(0.24, min_of("A_small"))]),
        "All weights are close to 1/4.",
    )
    .show(&shown);
    let o = demo.node("O_small")?;
    let difference = from_average(demo, "small", average)?;
    demo.step(
        "With equal weights, every word receives the average of all values. How far is the result from that average?",
    )
    .claim(
        less("from_average_small[1,1]", 0.01),
        "At most {from_average_small[1,1]}: attention starts as plain averaging.",
    )
    .show(&[o, average, difference]);
    Ok(())
}

fn exactly_zero(demo: &mut Builder, average: NodeId) -> Result<()> {
    let a = demo.node("A_zero")?;
    let difference = from_average(demo, "zero", average)?;
    demo.step(
        "W_Q and W_K times 0. All scores are 0, each weight is exactly 1/n, and the result is the average itself.",
    )
    .claim(equal("from_average_zero[1,1]", 0.0), "The difference is {from_average_zero[1,1]}.")
    .claim(less(0.0, "from_average_zero[1,1]"), "The difference is only rounding.")
    .show(&[a, difference]);
    Ok(())
}

/// From a gradient at O back to W_Q, by the chain rule.
fn backward(demo: &mut Builder, inputs: Inputs, name: &str, d_a: NodeId) -> Result<NodeId> {
    let [a, k] = [demo.node(&format!("A_{name}"))?, demo.node(&format!("K_{name}"))?];
    let d_k = demo.matrix(k)?.cols();
    let ones = inputs.ones;
    let mut compute = |node: &str, op, from: &[NodeId]| demo.compute(&format!("{node}_{name}"), op, from);
    let weighted = compute("A_dA", Op::Multiply, &[a, d_a])?;
    let mean = compute("mean_dA", Op::Product, &[weighted, ones])?;
    let centred = compute("centred_dA", Op::Subtract, &[d_a, mean])?;
    let d_scaled = compute("dS_scaled", Op::Multiply, &[a, centred])?;
    let d_s = compute("dS", Op::Scale(Factor::InverseRoot(d_k)), &[d_scaled])?;
    let d_q = compute("dQ", Op::Product, &[d_s, k])?;
    compute("dW_Q", Op::Product, &[inputs.x_turned, d_q])
}

fn gradients(demo: &mut Builder, inputs: Inputs) -> Result<()> {
    let d_a = demo.compute("dA", Op::ProductTransposed, &[inputs.d_o, inputs.v])?;
    for (name, _) in CASES {
        backward(demo, inputs, name, d_a)?;
    }
    let shown = nodes(demo, ["dS_scaled_zero", "dS_zero", "dQ_zero", "dW_Q_zero"])?;
    demo.step(
        "Backpropagate a gradient dO: dS = A ∘ (dA − row mean of dA weighted by A) / √d_k. Then dQ = dS · K and \
         dW_Q = Xᵀ · dQ. So the gradient of W_Q has K as a factor, and with weights of 0, K is 0.",
    )
    .claim(
        all([every("dW_Q_zero", 0.0), less(0.0, max_size_of("dS_zero"))]),
        "dS is not 0, but every gradient of W_Q is {dW_Q_zero[1,1]}. The same is true of W_K, because Q is 0. If both start \
         at 0, neither of them ever learns.",
    )
    .together(&[inputs.d_o, shown[1]])
    .show(&[shown[2], shown[3]]);
    let small = demo.node("dW_Q_small")?;
    demo.step("The same gradient with W_Q and W_K times 0.01.")
        .claim(
            all([less(0.0, max_size_of("dW_Q_small")), less(min_of("dW_Q_small"), max_of("dW_Q_small"))]),
            "It is at most {gradient_size[small,1]}, but it is not 0, and it differs from cell to cell: training can begin.",
        )
        .show(&[small]);
    Ok(())
}

fn far_from_zero(demo: &mut Builder) -> Result<()> {
    let a = demo.node("A_large")?;
    demo.step("W_Q and W_K times 10. The scores become 10 · 10 = 100 times as large as with W_Q and W_K themselves.")
        .claim(less(0.99, max_of("A_large")), "The softmax saturates: the largest weight is more than 0.99.")
        .show(&[a]);
    let names = labels(&CASES.map(|(name, _)| name));
    let mut tables = Vec::new();
    for (table, from, statistic) in
        [("largest_weight", "A", Statistic::Max), ("gradient_size", "dW_Q", Statistic::MaxSize)]
    {
        let mut parts = Vec::new();
        for (name, _) in CASES {
            let node = demo.node(&format!("{from}_{name}"))?;
            parts.push(demo.compute(&format!("{table}_{name}"), Op::Summary(statistic), &[node])?);
        }
        tables.push(demo.collect(table, "cases", Some(names.clone()), &parts)?);
    }
    demo.step("The largest weight and the largest gradient of W_Q, case by case.")
        .claim(
            all([
                less("gradient_size[zero,1]", "gradient_size[small,1]"),
                less("gradient_size[large,1]", "gradient_size[one,1]"),
                at_most("gradient_size[zero,1]", 0.0),
            ]),
            "At 0 there is no gradient, and far from 0 it is smaller again than at 1. So weights start near 0, but not at 0.",
        )
        .show(&tables);
    Ok(())
}

/// The keys have the widths of the demo's own: sentences may name them.
pub(super) fn of_their_width(widths: &[usize]) -> Condition {
    let own = |width: &usize| equal(columns(&format!("K_d{width}")), *width as f64);
    Condition::All(widths.iter().map(own).collect())
}

/// Draws queries and keys of this width, `Q_d4` and `K_d4`; returns their scores `S_d4`, and the width of the keys, which may be given
/// in place of the drawn ones.
///
/// # Errors
/// If given queries and keys do not fit.
pub(super) fn drawn_scores(
    demo: &mut Builder,
    stream: &mut LegacyStream,
    tokens: usize,
    width: usize,
) -> Result<(NodeId, usize)> {
    let q = demo.drawn(&format!("Q_d{width}"), stream.standard_normal_matrix(tokens, width))?;
    let k = demo.drawn(&format!("K_d{width}"), stream.standard_normal_matrix(tokens, width))?;
    let d_k = demo.matrix(k)?.cols();
    let s = demo.compute(&format!("S_d{width}"), Op::ProductTransposed, &[q, k])?;
    Ok((s, d_k))
}
