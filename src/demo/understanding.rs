//! Demos of “Understanding the attention mechanism”, in the order of its sections.

use super::builder::*;

// Everything that the document draws: one stream of numbers, and where in it each matrix begins.

/// The place of a matrix in the document's stream of numbers: the count of numbers before it.
///
/// With seed 0 and the shape of the document these are the document's own numbers. A matrix that has to fit another
/// shape, because the user put in an X of their own, takes the numbers from the same place on.
#[derive(Clone, Copy)]
struct StreamOffset(usize);

/// The data matrix of the first half, (4, 5).
const X: StreamOffset = StreamOffset(0);
/// A left interaction matrix of plain draws, (4, 4).
const LEFT: StreamOffset = StreamOffset(20);
/// The one that is exponentiated and normalised, (4, 4).
const LEFT_SCORES: StreamOffset = StreamOffset(36);
/// The right interaction matrix, (5, 6).
const RIGHT: StreamOffset = StreamOffset(52);
/// Queries and keys of width 7, values of width 6.
const WIDE: ProjectedInputs = ProjectedInputs::after(82, 7, 6);
/// Everything of width 5.
const SQUARE: ProjectedInputs = ProjectedInputs::after(WIDE.end, 5, 5);
/// The same shapes again, for the mask.
const MASKED: ProjectedInputs = ProjectedInputs::after(SQUARE.end, 5, 5);

/// The tokens: the document's example sentence begins with these words.
const WORDS: [&str; TOKENS] = ["the", "art", "of", "writing"];
/// Other tokens: its next four words.
const FURTHER_WORDS: [&str; TOKENS] = ["is", "the", "art", "of"];

/// The document's data matrices all have this many rows, the tokens.
const TOKENS: usize = 4;
/// The document's data matrices all have this many columns, the features.
const FEATURES: usize = 5;

/// A data matrix and its three weight matrices.
struct ProjectedInputs {
    /// Four tokens of width 5.
    x: StreamOffset,
    /// (5, d_k).
    w_q: StreamOffset,
    /// (5, d_k).
    w_k: StreamOffset,
    /// (5, d_v).
    w_v: StreamOffset,
    end: usize,
}

impl ProjectedInputs {
    const fn after(start: usize, d_k: usize, d_v: usize) -> ProjectedInputs {
        let w_q = start + TOKENS * FEATURES;
        let w_k = w_q + FEATURES * d_k;
        let w_v = w_k + FEATURES * d_k;
        let end = w_v + FEATURES * d_v;
        ProjectedInputs {
            x: StreamOffset(start),
            w_q: StreamOffset(w_q),
            w_k: StreamOffset(w_k),
            w_v: StreamOffset(w_v),
            end,
        }
    }
}

impl StreamOffset {
    /// A data matrix of the document, its rows named after words.
    fn tokens(self, seed: u32) -> Matrix {
        self.draw(seed, TOKENS, FEATURES).rows_named(&WORDS)
    }

    /// The data matrix of another text, fitted to the shape of the first.
    fn other_tokens(self, seed: u32, rows: usize, cols: usize) -> Matrix {
        self.draw(seed, rows, cols).rows_named(&FURTHER_WORDS)
    }

    /// A matrix of numbers drawn from N(0, 1), from this place on.
    fn draw(self, seed: u32, rows: usize, cols: usize) -> Matrix {
        let mut stream = LegacyStream::seeded(seed);
        for _ in 0..self.0 {
            stream.standard_normal();
        }
        stream.standard_normal_matrix(rows, cols)
    }
}

// Q, K and V from X, as the demos of this document compute them.

/// X and its three weight matrices, in the graph.
#[derive(Clone, Copy)]
struct Inputs {
    /// (T, E).
    x: NodeId,
    /// W_Q, W_K and W_V: (E, d_k), (E, d_k) and (E, d_v).
    weights: [NodeId; 3],
}

/// The widths of queries and keys, and of values.
#[derive(Clone, Copy)]
enum Widths {
    /// The width of X.
    AsX,
    /// d_k and d_v.
    Of(usize, usize),
}

/// Draws X and the weights, each with the suffix to its name; matrices after one of the user's fit its shape.
fn inputs(demo: &mut Builder, suffix: &str, places: &ProjectedInputs, widths: Widths) -> Result<Inputs> {
    let seed = demo.seed();
    let x = demo.drawn(&format!("X{suffix}"), places.x.tokens(seed))?;
    let features = demo.matrix(x)?.cols();
    let (d_k, d_v) = match widths {
        Widths::AsX => (features, features),
        Widths::Of(d_k, d_v) => (d_k, d_v),
    };
    let w_q = demo.drawn(&format!("W_Q{suffix}"), places.w_q.draw(seed, features, d_k))?;
    let d_k = demo.matrix(w_q)?.cols();
    let w_k = demo.drawn(&format!("W_K{suffix}"), places.w_k.draw(seed, features, d_k))?;
    let w_v = demo.drawn(&format!("W_V{suffix}"), places.w_v.draw(seed, features, d_v))?;
    Ok(Inputs { x, weights: [w_q, w_k, w_v] })
}

/// The rows of R, repeated as needed: two features kept, and a third that is added to one and subtracted from the other.
const R_ROWS: [[f64; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]];

/// `interact`: Y = L X R, in symbols and in numbers, and that the order of the two products does not matter.
pub(super) fn interact(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", numbers("1 2 0; 3 1 2").rows_named(&["art", "writing"]))?;
    demo.step("“The art of writing is the art of discovering what you believe”: meaning lies in the words and in how they are arranged, so tokens have to interact. In X each row is a token, each column a feature.")
        .symbols(x);

    let (tokens, features) = (demo.matrix(x)?.rows(), demo.matrix(x)?.cols());
    let names = demo.matrix(x)?.row_labels().cloned();
    let l = Matrix::from_fn(tokens, tokens, |i, j| if i == j { 2.0 + i as f64 } else { 1.0 });
    let l = demo.given("L", l.with_row_labels(names.clone()).with_col_labels(names))?;
    let r = demo.given("R", Matrix::from_fn(features, 2, |i, j| R_ROWS[i % R_ROWS.len()][j]))?;
    demo.step("Two matrices change X: L stands on its left, R on its right.").together(&[l, x, r]).claim(
        all([equal(rows("X"), 2.0), equal(columns("X"), 3.0), equal(columns("R"), 2.0)]),
        "Here are two tokens of three features; R makes two features of them.",
    );

    let lx = demo.product("LX", l, x)?;
    demo.step("L X in symbols: each sum runs down one column of X. Tokens mix, features do not.").symbols(lx);
    demo.step("The same in numbers. The shape of X stays when L is square.").show(&[lx]);

    let xr = demo.product("XR", x, r)?;
    demo.step("X R in symbols: each sum runs along one row of X. Features mix, tokens do not.").symbols(xr);
    demo.step("The same in numbers. R decides how many features come out.").show(&[xr]);
    both_orders(demo, [l, r], [lx, xr])
}

/// (L X) R and L (X R), compared.
fn both_orders(demo: &mut Builder, [l, r]: [NodeId; 2], [lx, xr]: [NodeId; 2]) -> Result<()> {
    let y = demo.product("Y", lx, r)?;
    demo.step("Both together: mix the tokens first, then their features.").show(&[y]);

    let other = demo.product("Y_features_first", l, xr)?;
    demo.step("Or mix the features first, then the tokens. In the demo qkv, X R is called V, and L is the weights A.")
        .show(&[other]);

    let [difference, largest] = demo.difference(["difference", "largest"], [y, other])?;
    demo.step("(L X) R = L (X R): the order of the two products does not matter, up to rounding.")
        .claim(
            all([whole("Y"), equal("largest[1,1]", 0.0)]),
            "Whole numbers are not rounded: the largest difference is exactly {largest[1,1]}.",
        )
        .show(&[difference, largest]);
    Ok(())
}

/// `left`: the effect of a matrix on the left of X on the tokens, from the identity to weights that sum to 1.
pub(super) fn left(demo: &mut Builder) -> Result<()> {
    let seed = demo.seed();
    let x = demo.drawn("X", X.tokens(seed))?;
    demo.step("Each row of X is a token. In L X, row i of L says how much each token gives to new token i.")
        .folded(&[x]);
    identity_and_ones(demo, x)?;
    triangle(demo, x)?;

    let tokens = demo.matrix(x)?.rows();
    let l = labelled(demo, x, LEFT.draw(seed, tokens, tokens))?;
    let l = demo.drawn("L_random", l)?;
    let y = demo.product("Y_random", l, x)?;
    demo.step("L can hold any numbers, negative ones too.")
        .heading_if(own(&["L_random"]), "A random L mixes the tokens with no visible pattern.")
        .together(&[l, y]);

    sums_and_averages(demo, x)?;
    let [l, y] = softmax_weights(demo, x)?;
    columns_never_mix(demo, x, l, y)
}

/// A heading that describes L is shown if it is true of the numbers in use.
fn identity_and_ones(demo: &mut Builder, x: NodeId) -> Result<()> {
    let tokens = demo.matrix(x)?.rows();
    let shown = left_product(demo, "identity", x, Matrix::identity(tokens))?;
    demo.step("A first L, and what it makes of the tokens.")
        .heading_if(
            all([zeros_above_diagonal("L_identity"), symmetric("L_identity"), not(identity("L_identity"))]),
            "With zeros off the diagonal, each token is only multiplied by its own number.",
        )
        .heading_if(
            identity("L_identity"),
            "With ones on the diagonal and zeros elsewhere, every token stays as it is.",
        )
        .together(&shown);

    let shown = left_product(demo, "ones", x, Matrix::filled(tokens, tokens, 1.0))?;
    demo.step("A second L.")
        .heading_if(
            every("L_ones", 1.0),
            "With ones everywhere, every new token is the same: the sum of all tokens.",
        )
        .together(&shown);
    Ok(())
}

fn triangle(demo: &mut Builder, x: NodeId) -> Result<()> {
    let tokens = demo.matrix(x)?.rows();
    let ones = Matrix::from_fn(tokens, tokens, |i, j| if j <= i { 1.0 } else { 0.0 });
    let shown = left_product(demo, "triangle", x, ones)?;
    demo.step("A third L.")
        .heading_if(
            all([zeros_above_diagonal("L_triangle"), not(own(&["L_triangle"]))]),
            "With zeros above the diagonal, no token takes anything from a later one.",
        )
        .heading_if(
            own(&["L_triangle"]),
            "Zeros above the diagonal: a token takes from itself and earlier ones only.",
        )
        .together(&shown);
    Ok(())
}

/// The sum of ever more tokens, and their average.
fn sums_and_averages(demo: &mut Builder, x: NodeId) -> Result<()> {
    let tokens = demo.matrix(x)?.rows();
    let (mut text, mut sums, mut averages) = (x, Vec::new(), Vec::new());
    for (name, times) in [("once", 1), ("twice", 2), ("four_times", 4), ("eight_times", 8)] {
        if times > 1 {
            text = demo.compute(&format!("X_{name}"), Op::Stack(None), &[text, text])?;
        }
        let sum = demo.compute(&format!("sum_{name}"), Op::Sums(Axis::Columns), &[text])?;
        let scale = Op::Scale(Factor::Inverse(tokens * times));
        averages.push(demo.compute(&format!("average_{name}"), scale, &[sum])?);
        sums.push(sum);
    }
    let names = labels(&["X once", "twice", "4 times", "8 times"]);
    let sums = demo.collect("sums", "sums", Some(names.clone()), &sums)?;
    let averages = demo.collect("averages", "averages", Some(names), &averages)?;
    demo.step("A longer text has more tokens to add, so sums can grow with it. Averages cannot.")
        .together(&[sums, averages]);
    Ok(())
}

/// L as weights, exponentials divided by the sum of their row; and the tokens averaged by them.
fn softmax_weights(demo: &mut Builder, x: NodeId) -> Result<[NodeId; 2]> {
    let (seed, tokens) = (demo.seed(), demo.matrix(x)?.rows());
    let s = labelled(demo, x, LEFT_SCORES.draw(seed, tokens, tokens))?;
    let s = demo.drawn("S", s)?;
    let exponentials = demo.compute("exp_S", Op::Exponential(Base::E), &[s])?;
    let l = demo.compute("L_softmax", Op::DivideBySum(Axis::Rows), &[exponentials])?;
    let y = demo.product("Y_softmax", l, x)?;
    demo.step(
        "So each row of L is made into weights that sum to 1: take exp, then divide by the sum of the row. Each new \
         token is then an average of the old ones.",
    )
    .folded(&[s, exponentials])
    .together(&[l, y])
    .claim(
        top_of_row("L_softmax[2,4]"),
        "New token 2 takes most from old token 4, with weight {L_softmax[2,4]:2}.",
    );
    Ok([l, y])
}

fn columns_never_mix(demo: &mut Builder, x: NodeId, l: NodeId, y: NodeId) -> Result<()> {
    let before = demo.matrix(x)?;
    let change = Matrix::from_fn(before.rows(), before.cols(), |_, j| if j == 0 { 1.0 } else { 0.0 });
    let change = change.with_row_labels(before.row_labels().cloned());
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let output = demo.product("Y_changed", l, changed)?;
    let difference = demo.compute("difference", Op::Subtract, &[output, y])?;
    demo.step("Columns never mix: L (X + change) differs from L X only in the changed columns.")
        .together(&[change, difference])
        .claim(
            own(&["change"]),
            "The rows of L sum to 1, so adding 1 to column 1 of X adds 1 to column 1 of L X.",
        );
    Ok(())
}

/// A given L, its rows and columns named like the tokens, and L X.
fn left_product(demo: &mut Builder, case: &str, x: NodeId, l: Matrix) -> Result<[NodeId; 2]> {
    let l = labelled(demo, x, l)?;
    let l = demo.given(&format!("L_{case}"), l)?;
    Ok([l, demo.product(&format!("Y_{case}"), l, x)?])
}

fn labelled(demo: &Builder, x: NodeId, l: Matrix) -> Result<Matrix> {
    let names = demo.matrix(x)?.row_labels().cloned();
    Ok(l.with_row_labels(names.clone()).with_col_labels(names))
}

/// `weights`: why numbers are exponentiated before they are divided by their sum, and why their maximum is subtracted.
pub(super) fn weights(demo: &mut Builder) -> Result<()> {
    let positive = demo.given("S_positive", numbers("1 2 2 3"))?;
    let columns = shares(demo, "positive", positive)?;
    let positive_shares = columns[1];
    tell(
        demo,
        &columns,
        "Weights must sum to 1. Positive numbers only need dividing by their sum.",
        (own(&["S_positive"]), "1/8, 2/8, 2/8 and 3/8."),
    )?;

    let mixed = demo.given("S_mixed", numbers("1 -2 2 3"))?;
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

    let balanced = demo.given("S_balanced", numbers("-1 2 2 -3"))?;
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
fn weights_of(demo: &mut Builder, case: &str, numbers: NodeId) -> Result<[Column; 2]> {
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
    let [powers, a] = weights_of(demo, "mixed", mixed)?;
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

    let [powers, a] = weights_of(demo, "balanced", balanced)?;
    tell(
        demo,
        &[(balanced, None), powers, a],
        "Even if numbers sum to 0, their exponentials do not.",
        (own(&["S_balanced"]), "−1, 2, 2 and −3 sum to 0, their exponentials to {sum_exp_balanced[1,1]}."),
    )?;

    let [powers, a] = weights_of(demo, "positive", positive)?;
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
    let large = demo.given("S_large", numbers("1000 1001"))?;
    let [powers, a] = weights_of(demo, "overflow", large)?;
    tell(
        demo,
        &[(large, None), powers, a],
        "For x above 709.78, exp(x) no longer fits a 64-bit number and becomes ∞.",
        (not_a_number("A_overflow"), "∞ / ∞ is not a number: NaN."),
    )?;

    let shifted = demo.compute("S_shifted", Op::MinusMax(Axis::Rows), &[large])?;
    let [powers, a] = weights_of(demo, "shifted", shifted)?;
    tell(
        demo,
        &[(large, None), (shifted, None), powers, a],
        "So subtract the maximum first. This divides each exponential and their sum by the same number: no weight changes.",
        (
            all([equal("exp_shifted[1,2]", 1.0), equal(max_of("exp_shifted"), 1.0)]),
            "The largest exponential is now exactly {exp_shifted[1,2]}, so nothing can overflow.",
        ),
    )?;

    let softmax = demo.compute("A", SOFTMAX, &[large])?;
    demo.step("The softmax is these three steps: subtract the maximum, take exp, divide by the sum.")
        .show(&[softmax]);
    Ok(())
}

/// The number of features of the result: H1 in the document.
const NEW_FEATURES: usize = 6;

/// `right`: the effect of a matrix on the right of X on the features, and of weights in its columns.
pub(super) fn right(demo: &mut Builder) -> Result<()> {
    let seed = demo.seed();
    let x = demo.drawn("X", X.tokens(seed))?;
    let features = demo.matrix(x)?.cols();
    let r = demo.drawn("R", RIGHT.draw(seed, features, NEW_FEATURES))?;
    demo.step(
        "X has a row for each token. R has a row for each feature of X, and a column for each new one.",
    )
    .together(&[x])
    .together(&[r]);

    let y = demo.product("Y", x, r)?;
    demo.step("Column j of R says how much of each feature goes into new feature j. X R is as wide as R.")
        .together(&[y])
        .claim(
            all([equal(columns("X"), 5.0), equal(columns("R"), 6.0), equal(rows("X"), 4.0)]),
            "Five features become six; the tokens are still four.",
        );
    rows_never_mix(demo, x, r, y)?;
    softmaxed(demo, x, r)
}

fn rows_never_mix(demo: &mut Builder, x: NodeId, r: NodeId, y: NodeId) -> Result<()> {
    let before = demo.matrix(x)?;
    let change = Matrix::from_fn(before.rows(), before.cols(), |i, _| if i == 0 { 1.0 } else { 0.0 });
    let change = change.with_row_labels(before.row_labels().cloned());
    let change = demo.given("change", change)?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let output = demo.product("Y_changed", changed, r)?;
    let difference = demo.compute("difference", Op::Subtract, &[output, y])?;
    demo.step("Rows never mix: (X + change) R differs from X R only in the changed rows.")
        .together(&[change, difference])
        .claim(
            own(&["change"]),
            "Every number of token 1 grows by 1. The other rows of X R stay exactly as they were.",
        );
    Ok(())
}

/// R as weights, which no model uses: an average of features cannot subtract.
fn softmaxed(demo: &mut Builder, x: NodeId, r: NodeId) -> Result<()> {
    let weights = demo.compute("R_softmax", Op::Softmax(Axis::Columns, Base::E), &[r])?;
    let sums = demo.compute("sum", Op::Sums(Axis::Columns), &[weights])?;
    demo.step("R could hold weights, too: with a softmax down each column, every column sums to 1.")
        .together(&[weights, sums]);

    let y = demo.product("Y_softmax", x, weights)?;
    demo.step(
        "Each new feature is now an average of the token's own features. It cannot be a difference of two features, \
         or lie outside their range. So models leave R free.",
    )
    .together(&[y])
    .claim(
        all([
            equal(min_of("X[1]"), "X[1,2]"),
            equal(max_of("X[1]"), "X[1,4]"),
            less("Y[1,2]", min_of("X[1]")),
        ]),
        "Token 1 has features from {X[1,2]:2} to {X[1,4]:2}. Its new feature 2 was {Y[1,2]:2}; now it is \
         {Y_softmax[1,2]:2}.",
    );
    Ok(())
}

/// The widths of queries and keys, and of values: H2 and H1 in the document.
const D_K: usize = 7;
const D_V: usize = 6;

/// `qkv`: queries, keys and values from X, the weights that follow from them, and why the weights must depend on X.
pub(super) fn qkv(demo: &mut Builder) -> Result<()> {
    let wide = inputs(demo, "", &WIDE, Widths::Of(D_K, D_V))?;
    let [w_q, w_k, w_v] = wide.weights;
    demo.step(
        "Each row of X is a token. The other three matrices are parameters; W_V may have a width of its own.",
    )
    .together(&[wide.x])
    .folded(&[w_q, w_k, w_v]);

    let [q, k, v] = demo.roles("", wide.x, wide.weights)?;
    demo.step("Each matrix multiplies X from the right, so no token has been mixed with another yet.")
        .together(&[q, k, v]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let a = demo.compute("A", SOFTMAX, &[s])?;
    demo.step("Row i of the scores S holds the dot products of query i with every key. Like the text, we do not divide by √d_k.")
        .together(&[s]);
    demo.step("The softmax of each row gives the weights A, which the text calls L.").together(&[a]).claim(
        less(0.99, "A[1,1]"),
        "With unscaled scores this large, token 1 gives {A[1,1]:6} of its attention to itself.",
    );

    let o = demo.product("O", a, v)?;
    demo.step("A V is L X R: W_V changes the features of each token, A mixes the tokens.").together(&[o]);

    one_matrix(demo, wide, s)?;
    other_tokens(demo, wide, a)?;
    square(demo)
}

/// The scores through W_Q W_Kᵀ, without Q and K.
fn one_matrix(demo: &mut Builder, wide: Inputs, s: NodeId) -> Result<()> {
    let [w_q, w_k, _] = wide.weights;
    let w_qk = demo.compute("W_QK", Op::ProductTransposed, &[w_q, w_k])?;
    let half = demo.product("X_W_QK", wide.x, w_qk)?;
    let direct = demo.compute("S_direct", Op::ProductTransposed, &[half, wide.x])?;
    let [_, largest] = demo.difference(["difference", "largest"], [direct, s])?;
    demo.step("Q Kᵀ = X (W_Q W_Kᵀ) Xᵀ up to rounding: only the product of the two weight matrices counts, and X stands on both sides of it.")
        .together(&[w_qk])
        .together(&[direct, largest]);
    Ok(())
}

/// The same weight matrices on other tokens.
fn other_tokens(demo: &mut Builder, wide: Inputs, a: NodeId) -> Result<()> {
    let (rows, cols) = (demo.matrix(wide.x)?.rows(), demo.matrix(wide.x)?.cols());
    let other = MASKED.x.other_tokens(demo.seed(), rows, cols);
    let x = demo.drawn("X_other", other)?;
    let [q, k, _] = demo.roles("_other", x, wide.weights)?;
    let s = demo.compute("S_other", Op::ProductTransposed, &[q, k])?;
    let a_other = demo.compute("A_other", SOFTMAX, &[s])?;
    demo.step("Another X with the same W_Q and W_K gives other weights. An L that is itself a parameter would mix every text in the same way.")
        .folded(&[x])
        .together(&[a, a_other])
        .claim(
            less("A_other[1,1]", "A[1,1]"),
            "In the first text token 1 gives itself {A[1,1]:6}, in the second {A_other[1,1]:6}.",
        );
    Ok(())
}

/// The document's second case: queries, keys and values as wide as X.
fn square(demo: &mut Builder) -> Result<()> {
    let square = inputs(demo, "_square", &SQUARE, Widths::AsX)?;
    let [q, k, v] = demo.roles("_square", square.x, square.weights)?;
    let s = demo.compute("S_square", Op::ProductTransposed, &[q, k])?;
    let a = demo.compute("A_square", SOFTMAX, &[s])?;
    let o = demo.product("O_square", a, v)?;
    let [w_q, w_k, w_v] = square.weights;
    demo.step("The same steps with Q, K and V as wide as X, so that the result can be added to X. With several heads, this is the width of all of them together.")
        .folded(&[square.x, w_q, w_k, w_v])
        .together(&[a, v])
        .together(&[o]);
    Ok(())
}
