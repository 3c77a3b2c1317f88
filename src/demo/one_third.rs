//! Demos of “Attention is about 1/3 of what you need”, in the order of its sections.

use super::builder::*;
use crate::graph::Side;
use crate::graph::recipes::Weights;

/// `columns`: the document's table of keys against queries is the transpose of the row view; a literal reading of its compact
/// form gives another result.
pub(super) fn columns(demo: &mut Builder) -> Result<()> {
    let [q, k, v] = inputs(demo)?;
    demo.step(
        "Each token has a query, a key and a value, each in a row. The text writes each of them as a column.",
    )
    .together(&[q, k, v]);

    let grid = demo.compute("grid", Op::ProductTransposed, &[k, q])?;
    demo.step(
        "The text's table, `grid`, holds k_i · q_j in row i and column j: a row for each key, a column for each query.",
    )
    .claim(
        all([equal(rows("Q"), 3.0), equal(rows("K"), 3.0)]),
        "The scores of creature, the third query, are in the third column: {grid[1,3]}, {grid[2,3]}, {grid[3,3]}.",
    )
    .show(&[grid]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    demo.step("Q Kᵀ has a row for each query. It is the transpose of `grid`, although the text says that it is the same.")
        .claim(
            all([equal(rows("Q"), 3.0), equal(rows("K"), 3.0)]),
            "The scores of creature are now in the third row: {S[3,1]}, {S[3,2]}, {S[3,3]}.",
        )
        .show(&[s]);

    let weights = by_columns(demo, s, grid)?;
    let (s_scaled, a) = by_rows(demo, s)?;
    compare(demo, v, weights, a)?;
    demo.begin_at("A[3,1]");
    literally(demo, v, s_scaled)
}

fn inputs(demo: &mut Builder) -> Result<[NodeId; 3]> {
    let named = |role: &str, matrix: Matrix| {
        let names = ["fluffy", "blue", "creature"].map(|token| format!("{role} {token}"));
        matrix.with_row_labels(Some(names.into_iter().collect()))
    };
    let q = numbers("0 0 2 2; 2 0 0 -2; 2 2 0 0");
    let k = numbers("1 0 1 0; 1 1 0 0; 0 0 1 1");
    let v = numbers("4 0; 0 4; 2 2");
    Ok([demo.given("Q", named("q", q))?, demo.given("K", named("k", k))?, demo.given("V", named("v", v))?])
}

/// Scale, mask and softmax in the grid, where they act down the columns.
fn by_columns(demo: &mut Builder, s: NodeId, grid: NodeId) -> Result<NodeId> {
    let width = demo.matrix(demo.node("Q")?)?.cols();
    let scaled = demo.compute("grid_scaled", Op::Scale(Factor::InverseRoot(width)), &[grid])?;
    let pattern = demo.compute("M", Op::MaskPattern(CAUSAL), &[s])?;
    let turned = demo.compute("M_grid", Op::Transpose, &[pattern])?;
    let allowed = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
    let masked = demo.compute("grid_masked", Op::Mask(allowed), &[scaled, turned])?;
    demo.step(
        "No query may attend to a later key. In `grid` the later keys are below the diagonal, so these cells become −∞.",
    )
    .show(&[scaled, masked]);
    let weights = demo.compute("A_grid", Op::Softmax(Axis::Columns, Base::E), &[masked])?;
    let sums = demo.compute("A_grid_sums", Op::Sums(Axis::Columns), &[weights])?;
    demo.step("The softmax of each column gives the weights of one query over its keys.")
        .together(&[weights, sums]);
    Ok(weights)
}

/// The scaled scores and the weights, computed by rows.
fn by_rows(demo: &mut Builder, s: NodeId) -> Result<(NodeId, NodeId)> {
    let width = demo.matrix(demo.node("Q")?)?.cols();
    let scaled = demo.compute("S_scaled", Op::Scale(Factor::InverseRoot(width)), &[s])?;
    let causal = CAUSAL;
    let masked = demo.compute("S_masked", Op::Mask(causal), &[scaled])?;
    let a = demo.compute("A", SOFTMAX, &[masked])?;
    demo.step("The row view: later keys are above the diagonal, and the softmax runs along each row.")
        .show(&[masked, a]);
    Ok((scaled, a))
}

/// Weights and outputs of both views, and the distance between them.
fn compare(demo: &mut Builder, v: NodeId, a_grid: NodeId, a: NodeId) -> Result<()> {
    let a_turned = demo.compute("A_turned", Op::Transpose, &[a])?;
    let [_, a_largest] = demo.difference(["A_difference", "A_largest"], [a_grid, a_turned])?;
    let o = demo.product("O", a, v)?;
    let v_turned = demo.compute("V_turned", Op::Transpose, &[v])?;
    let o_grid = demo.product("O_grid", v_turned, a_grid)?;
    let o_turned = demo.compute("O_turned", Op::Transpose, &[o])?;
    let [_, o_largest] = demo.difference(["O_difference", "O_largest"], [o_grid, o_turned])?;
    demo.step(
        "In rows the mix of the values is A V. In columns it is Vᵀ times the weights of `grid`: the same products, added in the \
         same order. Column j of the result is the text's Δe_j.",
    )
    .claim(
        all([equal("A_largest[1,1]", 0.0), equal("O_largest[1,1]", 0.0)]),
        "The largest difference is {A_largest[1,1]} in the weights and {O_largest[1,1]} in the outputs.",
    )
    .show(&[o, o_grid, a_largest, o_largest]);
    Ok(())
}

/// “softmax(Q Kᵀ) V”, with the softmax down the columns of Q Kᵀ as it is written.
fn literally(demo: &mut Builder, v: NodeId, s_scaled: NodeId) -> Result<()> {
    let a = demo.compute("A_literal", Op::Softmax(Axis::Columns, Base::E), &[s_scaled])?;
    let sums = demo.compute("A_literal_sums", Op::Sums(Axis::Rows), &[a])?;
    demo.step(
        "Read literally, the compact form is a softmax of the columns of Q Kᵀ: the weights of each key sum to 1, and the \
         weights of a query need not.",
    )
    .claim(
        not(within(0.005, "A_literal_sums[3,1]", 1.0)),
        "The weights of creature, the third query, sum to {A_literal_sums[3,1]:2}.",
    )
    .together(&[a, sums]);

    let o = demo.product("O_literal", a, v)?;
    let a = demo.compute("A_unmasked", SOFTMAX, &[s_scaled])?;
    let rows = demo.product("O_unmasked", a, v)?;
    let [_, largest] = demo.difference(["literal_difference", "literal_largest"], [o, rows])?;
    demo.step("The result of the literal reading, and the result in rows. Both are without a mask.")
        .claim(
            less(0.005, "literal_largest[1,1]"),
            "They differ by up to {literal_largest[1,1]:2}: this is another result, not another notation.",
        )
        .show(&[o, rows, largest]);
    Ok(())
}

const TOKENS: [&str; 8] = ["a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest"];
const FEATURES: [&str; 5] = ["animal", "place", "fluffy", "blue", "green"];

/// `update`: Δe and e + Δe on the document's sentence: creature reads fluffy and blue, forest reads verdant.
pub(super) fn update(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", embeddings())?;
    tokens(demo);
    demo.step("Row i of X is the text's e_i, the embedding of token i.")
        .claim(own(&["X"]), "The five features and their names are ours. A real model has thousands of features without names.")
        .together(&[x]);

    let [w_q, w_k, w_v] = update_weights(demo)?;
    demo.step("W_Q says what a token looks for, W_K what it offers, and W_V what it passes on.")
        .claim(
            own(&["W_Q", "W_K", "W_V"]),
            "Animals look for words about animals, places for words about places.",
        )
        .together(&[w_q, w_k])
        .together(&[w_v]);

    let q = demo.product("Q", x, w_q)?;
    let k = demo.product("K", x, w_k)?;
    let silent = [
        "Q[a]",
        "Q[fluffy]",
        "Q[blue]",
        "Q[roamed]",
        "Q[the]",
        "Q[verdant]",
        "K[a]",
        "K[creature]",
        "K[roamed]",
        "K[the]",
        "K[forest]",
    ];
    let silent = silent.into_iter().map(|row| every(row, 0.0));
    let speaking = ["Q[creature]", "Q[forest]", "K[fluffy]", "K[blue]", "K[verdant]"];
    let speaking = speaking.into_iter().map(|row| not(every(row, 0.0)));
    demo.step("One query and one key for each token.")
        .claim(
            Condition::All(silent.chain(speaking).collect()),
            "Only creature and forest look for something. Only fluffy, blue and verdant offer something. The other rows are 0.",
        )
        .show(&[q, k]);

    let a = attention(demo, q, k)?;

    let v = demo.product("V", x, w_v)?;
    weighted_values(demo, a, v)?;
    let o = demo.product("O", a, v)?;
    demo.step("The same for all tokens at once: A V. Row i of O is the change that the text calls Δe_i.")
        .claim(
            all([less(0.0, "O[creature,fluffy]"), less(0.0, "O[creature,blue]")]),
            "For creature it is {O[creature,fluffy]:2} of fluffy and {O[creature,blue]:2} of blue.",
        )
        .show(&[o]);

    let updated = demo.compute("X_updated", Op::Add, &[x, o])?;
    demo.step("e + Δe: the change is added to the embedding. It does not replace it.")
        .claim(
            all(["creature,animal", "creature,fluffy", "creature,blue", "forest,green"]
                .map(|cell| less(0.5, &*format!("X_updated[{cell}]")))),
            "Creature is still an animal ({X_updated[creature,animal]:2}), and now it is also fluffy \
             ({X_updated[creature,fluffy]:2}) and blue ({X_updated[creature,blue]:2}). Forest is now green \
             ({X_updated[forest,green]:2}).",
        )
        .show(&[updated]);
    Ok(())
}

/// A token is not always a word.
fn tokens(demo: &mut Builder) {
    let rows = [["creature", "creature", "1"], ["tokenisation", "token + isation", "2"]];
    let rows = rows.map(|row| row.map(str::to_string).to_vec());
    demo.step("A tokeniser cuts the text into tokens. A common word is one token, a longer word may be several. In this demo every word is one token.")
        .table(Table::new(&["word", "tokens", "how many"], rows).with_numbers(&["how many"]));
}

/// The weighted values of one token before they are summed: one column of the document's table of σ(k_i · q_j) v_i.
fn weighted_values(demo: &mut Builder, a: NodeId, v: NodeId) -> Result<()> {
    let at = TOKENS.iter().position(|token| *token == "creature").unwrap_or(0);
    let at = at.min(demo.matrix(a)?.rows().saturating_sub(1));
    let row = demo.row("a_creature", a, at)?;
    let spread = demo.compute("a_creature_diagonal", Op::Diagonal, &[row])?;
    let weighted = demo.product("weighted_creature", spread, v)?;
    let sums = demo.compute("delta_creature", Op::Sums(Axis::Columns), &[weighted])?;
    demo.label(weighted, "weighted values");
    demo.label(sums, "sum of the weighted values");
    demo.step(
        "For every query j, each value is multiplied by its weight: σ(k_i · q_j) · v_i, for all tokens i. The text has one \
         column of these for each j. Here is one of them, row by row: their sum is Δe_j.",
    )
    .claim(own(&["X"]), "It is that of creature, token 4.")
    .claim(
        within(1e-9, "delta_creature[1,fluffy]", "weighted_creature[fluffy,fluffy]"),
        "All of the fluffy part, {delta_creature[1,fluffy]:2}, comes from the token fluffy.",
    )
    .show(&[v])
    .together(&[weighted, sums]);
    Ok(())
}

fn embeddings() -> Matrix {
    let feature_of = |token: &str| match token {
        "creature" => Some("animal"),
        "forest" => Some("place"),
        "fluffy" => Some("fluffy"),
        "blue" => Some("blue"),
        "verdant" => Some("green"),
        _ => None,
    };
    let has = |i: usize, j: usize| if feature_of(TOKENS[i]) == Some(FEATURES[j]) { 1.0 } else { 0.0 };
    Matrix::from_fn(TOKENS.len(), FEATURES.len(), has).rows_named(&TOKENS).cols_named(&FEATURES)
}

fn update_weights(demo: &mut Builder) -> Result<[NodeId; 3]> {
    let topics = ["of animals", "of places"];
    let named = |matrix: Matrix, cols: &[&str]| matrix.rows_named(&FEATURES).cols_named(cols);
    let w_q = numbers("3 0; 0 3; 0 0; 0 0; 0 0");
    let w_k = numbers("0 0; 0 0; 2 0; 2 0; 0 2");
    let w_v = numbers("0 0 0 0 0; 0 0 0 0 0; 0 0 2 0 0; 0 0 0 2 0; 0 0 0 0 1");
    demo.head_weights("", [named(w_q, &topics), named(w_k, &topics), named(w_v, &FEATURES)])
}

/// Scores, scale, mask and weights.
fn attention(demo: &mut Builder, q: NodeId, k: NodeId) -> Result<NodeId> {
    let Weights { scores, read, weights, .. } = demo.weights("", q, k, &Recipe::causal())?;
    demo.step("Row i of the scores belongs to the query of token i, column j to the key of token j.")
        .claim(
            all([
                equal("S[creature,fluffy]", 6.0),
                equal("S[creature,blue]", 6.0),
                equal("S[forest,verdant]", 6.0),
                equal(sum("S"), 18.0),
                equal(min_of("S"), 0.0),
            ]),
            "Creature matches fluffy and blue, forest matches verdant: {S[creature,fluffy]} each. All other scores are 0.",
        )
        .show(&[scores]);
    demo.step("The scores divided by the square root of the width of a key. Later tokens are hidden.")
        .show(&[read]);
    demo.step("Row i of the weights says how much token i attends to each token. (The text turns this around: it says that “fluffy” attends to “creature”.)")
        .claim(
            all(["A[creature,fluffy]", "A[creature,blue]", "A[forest,verdant]"].map(|cell| less(0.4, cell))),
            "Creature attends to fluffy ({A[creature,fluffy]:2}) and blue ({A[creature,blue]:2}), forest to verdant \
             ({A[forest,verdant]:2}).",
        )
        .show(&[weights]);
    demo.step(
        "If the query of a token is 0, all its scores are 0. Then it attends equally to every token that it may attend to.",
    )
    .claim(
        all([every("Q[roamed]", 0.0), equal("A[roamed,a]", "A[roamed,roamed]"), less(0.0, "A[roamed,a]")]),
        "Roamed gives {A[roamed,a]:2} to each token up to itself.",
    )
    .in_brief(weights);
    Ok(weights)
}

/// `lowrank`: a value matrix as two narrow ones, the cost of the full one, and its best approximation of low rank.
pub(super) fn lowrank(demo: &mut Builder) -> Result<()> {
    let factors = two_factors(demo)?;
    cost(demo)?;
    best(demo, factors)
}

/// W_V as a product, and the two orders of multiplying by it. Gives back the first factor.
fn two_factors(demo: &mut Builder) -> Result<NodeId> {
    let x = demo.given("X", numbers("1 0 2 0 1 0; 0 1 0 1 0 3").rows_named(&["fluffy", "blue"]))?;
    let down = numbers("1 0; 0 1; 2 0; 1 1; 0 -1; 0 2");
    let up = numbers("1 2 0 0 1 0; 0 1 3 -1 0 1");
    let down = demo.given("V_down", down)?;
    let up = demo.given("V_up", up)?;
    demo.step(
        "V_down turns a token into a few numbers, V_up takes these back to the full width. The text multiplies columns from \
         the left, so its V_u V_d is V_down · V_up here.",
    )
    .together(&[x, down])
    .together(&[up]);

    let w_v = demo.product("W_V", down, up)?;
    demo.step("Their product is the whole W_V. Each row of it is a mixture of the rows of V_up.")
        .claim(
            own(&["V_down", "V_up"]),
            "Its rank is 2: row 3 is twice row 1, and row 4 is the sum of rows 1 and 2.",
        )
        .show(&[w_v]);

    let v = demo.product("V", x, down)?;
    let lifted = demo.product("V_lifted", v, up)?;
    let whole = demo.product("V_whole", x, w_v)?;
    let [_, largest] = demo.difference(["V_difference", "V_largest"], [lifted, whole])?;
    demo.step("Going down and then up gives the same as W_V, up to rounding. The narrow V holds the values of a head.")
        .claim(equal("V_largest[1,1]", 0.0), "The largest difference is {V_largest[1,1]}.")
        .show(&[v, lifted, whole, largest]);
    Ok(down)
}

/// The counts of parameters at the document's sizes.
fn cost(demo: &mut Builder) -> Result<()> {
    let d = demo.given("d", numbers("12288"))?;
    let d_k = demo.given("d_k", numbers("128"))?;
    let copies = demo.given("copies", numbers("1; 96; 9216").rows_named(&["head", "block", "model"]))?;
    demo.step("The sizes of the example: d, the width of a head d_k, and how many copies of W_V are needed for one head, one block and the whole model.")
        .claim(
            own(&["d", "d_k", "copies"]),
            "The text gives d, d_k and the 96 heads of a block of GPT-3. GPT-3 also has 96 blocks, so {copies[model,1]} heads.",
        )
        .together(&[d, d_k, copies]);

    let full = demo.compute("full", Op::Multiply, &[d, d])?;
    let factor = demo.compute("factor", Op::Multiply, &[d, d_k])?;
    let factored = demo.compute("factored", Op::Add, &[factor, factor])?;
    let all_full = demo.product("all_full", copies, full)?;
    let all_factored = demo.product("all_factored", copies, factored)?;
    let ratio = demo.compute("ratio", Op::Divide, &[full, factored])?;
    demo.step("A full W_V has d · d parameters, its two factors have 2 · d · d_k: in a head, in a block, in the model.")
        .claim(
            all([own(&["d", "d_k", "copies"]), less(175e9, "all_full[model,1]")]),
            "Full matrices would be {ratio[1,1]} times as large: {all_full[model,1]:1} parameters for the values alone. All of \
             GPT-3 has 1.75e11 (175 billion).",
        )
        .show(&[full, factored])
        .together(&[all_full, all_factored])
        .show(&[ratio]);
    Ok(())
}

/// The nearest matrix of the rank of the factors, by singular values.
fn best(demo: &mut Builder, down: NodeId) -> Result<()> {
    let w = demo.given(
        "W_full",
        numbers("1 2 0 0 1 0; 0 1 4 -1 0 1; 3 4 0 0 2 0; 1 2 3 -1 1 1; 0 -1 -3 0 0 -1; 0 2 6 -2 0 2"),
    )?;
    let size = demo.matrix(w)?.rows().min(demo.matrix(w)?.cols());
    let rank = demo.matrix(down)?.cols().min(size);
    let sigma = demo.compute("sigma", Op::SingularValues, &[w])?;
    let u = demo.compute("U", Op::SingularVectors { side: Side::Left, rank: size }, &[w])?;
    let r = demo.compute("R", Op::SingularVectors { side: Side::Right, rank: size }, &[w])?;
    let diagonal = demo.compute("Sigma", Op::Diagonal, &[sigma])?;
    let stretched = demo.product("U_Sigma", u, diagonal)?;
    let again = demo.compute("W_again", Op::ProductTransposed, &[stretched, r])?;
    let [_, largest] = demo.difference(["W_difference", "W_largest"], [again, w])?;
    let r_turned = demo.compute("R_turned", Op::Transpose, &[r])?;
    let r_r = demo.product("R_R", r_turned, r)?;
    let one = demo.compute("ones", Op::Ones { rows: 1, cols: size }, &[])?;
    let one = demo.compute("identity", Op::Diagonal, &[one])?;
    let [_, turn] = demo.difference(["turn_difference", "turn_largest"], [r_r, one])?;
    demo.step(
        "Now a W_V that was not built from two factors. Every matrix is a product U Σ Rᵀ: a rotation or reflection, then a \
         scaling of each axis by a singular value, then another rotation or reflection. The singular values are on the diagonal \
         of Σ, the largest first. (R is usually called V, but that name is taken here.)",
    )
    .claim(
        own(&["W_full", "V_down", "V_up"]),
        "W_full is W_V with four cells changed by 1. Two singular values are large.",
    )
    .claim(
        all([within(1e-9, "W_largest[1,1]", 0.0), within(1e-9, "turn_largest[1,1]", 0.0)]),
        "U Σ Rᵀ gives W_full again, and Rᵀ R is the identity, up to rounding: R only rotates or reflects.",
    )
    .together(&[w])
    .show(&[sigma, largest, turn]);

    let kept = Op::Columns { start: 0, count: rank };
    let [u, sigma, r] = [("U_kept", u), ("sigma_kept", sigma), ("R_kept", r)]
        .map(|(name, whole)| demo.compute(name, kept.clone(), &[whole]));
    let diagonal = demo.compute("Sigma_kept", Op::Diagonal, &[sigma?])?;
    let down = demo.product("V_down_best", u?, diagonal)?;
    let up = demo.compute("V_up_best", Op::Transpose, &[r?])?;
    let best = demo.product("W_best", down, up)?;
    demo.step(
        "Keep only the largest singular values, as many as V_down has columns: this is a projection, which drops the other \
         directions. It gives the best pair of factors: no matrix of that rank is closer to W_full.",
    )
    .show(&[down, up, best]);
    lost(demo, w, best)
}

/// The difference between W and its best approximation of low rank.
fn lost(demo: &mut Builder, w: NodeId, best: NodeId) -> Result<()> {
    let lost = demo.compute("W_lost", Op::Subtract, &[w, best])?;
    let values = demo.compute("sigma_lost", Op::SingularValues, &[lost])?;
    let spectral = demo.compute("sigma_largest", Op::Summary(Statistic::Max), &[values])?;
    let largest = demo.compute("lost_largest", LARGEST, &[lost])?;
    let typical = demo.compute("lost_typical", Op::Summary(Statistic::RootMeanSquare), &[lost])?;
    demo.step("The error is what the dropped singular values contributed. Its largest singular value is the first one that was dropped.")
        .claim(
            all([own(&["V_down"]), within(1e-9, "sigma[1,3]", "sigma_largest[1,1]")]),
            "The third singular value was {sigma[1,3]}, and the largest of the error is {sigma_largest[1,1]}. No cell is off by \
             more than {lost_largest[1,1]}.",
        )
        .show(&[lost, spectral, largest, typical]);
    Ok(())
}

const PHRASE: [&str; 3] = ["fluffy", "blue", "creature"];

/// A head's scores and the two factors of its W_V.
struct Head {
    scores: NodeId,
    down: NodeId,
    up: NodeId,
}

/// `sum-heads`: adding the heads' Δe is one product of their concatenation with the stacked V_up.
pub(super) fn sum_heads(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", numbers("2 0 1 0; 0 2 0 1; 1 1 0 0").rows_named(&PHRASE))?;
    let heads = [first_head(demo)?, second_head(demo)?];
    demo.step("Tokens and two heads. Each head has its own scores, and its own W_V as two factors: V_down, then V_up.")
        .together(&[x, heads[0].scores, heads[1].scores])
        .together(&[heads[0].down, heads[0].up])
        .together(&[heads[1].down, heads[1].up]);

    let weights = [head_weights(demo, "1", &heads[0])?, head_weights(demo, "2", &heads[1])?];
    demo.step("The weights of each head, after the causal mask.")
        .claim(
            all([top_of_row("A_1[creature,blue]"), top_of_row("A_2[creature,fluffy]")]),
            "In head 1 creature attends most to blue, in head 2 to fluffy.",
        )
        .show(&weights);

    let mixes = [mix(demo, "1", x, weights[0], &heads[0])?, mix(demo, "2", x, weights[1], &heads[1])?];
    demo.step("Each head mixes its own narrow values X V_down.").show(&mixes);

    let sum = separately(demo, &heads, mixes)?;
    let output = at_once(demo, &heads, mixes)?;
    both_ways(demo, x, sum, output)
}

fn first_head(demo: &mut Builder) -> Result<Head> {
    let scores = numbers("1 0 0; 0 1 0; 1 3 0");
    let down = numbers("1 0; 0 1; 0 1; 1 0");
    let up = numbers("1 0 2 0; 0 1 0 -1");
    head(demo, "1", scores, down, up)
}

fn second_head(demo: &mut Builder) -> Result<Head> {
    let scores = numbers("0 0 0; 2 0 0; 2 0 1");
    let down = numbers("0 1; 1 0; 1 1; 0 0");
    let up = numbers("0 3 0 1; 1 0 -1 0");
    head(demo, "2", scores, down, up)
}

fn head(demo: &mut Builder, number: &str, scores: Matrix, down: Matrix, up: Matrix) -> Result<Head> {
    Ok(Head {
        scores: demo.given(&format!("S_{number}"), scores.rows_named(&PHRASE).cols_named(&PHRASE))?,
        down: demo.given(&format!("V_down_{number}"), down)?,
        up: demo.given(&format!("V_up_{number}"), up)?,
    })
}

fn head_weights(demo: &mut Builder, number: &str, head: &Head) -> Result<NodeId> {
    let causal = Op::Mask(CAUSAL);
    let masked = demo.compute(&format!("S_masked_{number}"), causal, &[head.scores])?;
    demo.compute(&format!("A_{number}"), SOFTMAX, &[masked])
}

/// The weights times the head's narrow values.
fn mix(demo: &mut Builder, number: &str, x: NodeId, weights: NodeId, head: &Head) -> Result<NodeId> {
    let values = demo.product(&format!("V_{number}"), x, head.down)?;
    demo.product(&format!("O_{number}"), weights, values)
}

/// The document's way: every head takes its mix up to the full width, and the proposals are added.
fn separately(demo: &mut Builder, heads: &[Head; 2], mixes: [NodeId; 2]) -> Result<NodeId> {
    let first = demo.compute("delta_1", Op::Product, &[mixes[0], heads[0].up])?;
    let second = demo.compute("delta_2", Op::Product, &[mixes[1], heads[1].up])?;
    let sum = demo.compute("delta_sum", Op::Add, &[first, second])?;
    demo.step(
        "One way: each V_up takes the mix of its head to the full width. This is the head's Δe. All of them are added.",
    )
    .show(&[first, second, sum]);
    Ok(sum)
}

/// The way it is built: one concatenation, one matrix.
fn at_once(demo: &mut Builder, heads: &[Head; 2], mixes: [NodeId; 2]) -> Result<NodeId> {
    let first = demo.compute("V_u_1", Op::Transpose, &[heads[0].up])?;
    let second = demo.compute("V_u_2", Op::Transpose, &[heads[1].up])?;
    let side_by_side = demo.compute("V_u", Op::Concatenate, &[first, second])?;
    let w_o = demo.compute("W_O", Op::Transpose, &[side_by_side])?;
    demo.step(
        "The output matrix W_O holds all V_up, one below the other. (The text has them side by side, as columns.) The V_down \
         are not in it: they stay with the heads and make the values.",
    )
    .together(&[side_by_side, w_o]);

    let c = demo.compute("C", Op::Concatenate, &mixes)?;
    let output = demo.product("O", c, w_o)?;
    demo.step("The other way: the mixes of all heads side by side, times W_O.").show(&[c, output]);
    Ok(output)
}

fn both_ways(demo: &mut Builder, x: NodeId, sum: NodeId, output: NodeId) -> Result<()> {
    let [apart, largest] = demo.difference(["difference", "largest"], [output, sum])?;
    demo.step("Both ways add the same products in a different order, so they can differ only by rounding.")
        .claim(
            equal("largest[1,1]", 0.0),
            "Here they do not differ at all: the largest difference is {largest[1,1]}.",
        )
        .claim(less(0.0, "largest[1,1]"), "The largest difference is {largest[1,1]:16}.")
        .show(&[apart, largest]);

    let updated = demo.compute("X_updated", Op::Add, &[x, output])?;
    demo.step("Each token plus the sum of what its heads add: the text's e_i + Σ Δe_i.").show(&[updated]);
    Ok(())
}

/// The ε that Llama 3 adds to the mean of the squares.
const EPSILON: f64 = 1e-5;

/// A token sees itself and the one before it, so that the way of the information can be followed.
const WINDOW: usize = 2;

/// The matrices of a block.
struct BlockWeights {
    w_q: NodeId,
    w_k: NodeId,
    w_v: NodeId,
    w_o: NodeId,
    w_up: NodeId,
    w_down: NodeId,
}

/// The stations of one block.
struct Block {
    normed: NodeId,
    a: NodeId,
    o: NodeId,
    attended: NodeId,
    normed_again: NodeId,
    hidden: NodeId,
    mlp: NodeId,
    out: NodeId,
}

/// `block`: one whole block of a transformer, and the information that a second one on top gives a token.
pub(super) fn block(demo: &mut Builder) -> Result<()> {
    let x =
        demo.given("X", numbers("1 1; 7 1; 1 7; 3 -3").rows_named(&["a", "fluffy", "blue", "creature"]))?;
    let weights = block_weights(demo)?;
    demo.step(
        "Each row of X is a token. A block has four weight matrices for attention and two for the MLP.",
    )
    .together(&[x, weights.w_q, weights.w_k])
    .together(&[weights.w_v, weights.w_o])
    .together(&[weights.w_up, weights.w_down]);

    let first = one_block(demo, "_block1", x, &weights)?;
    tell(demo, &first);

    let second = one_block(demo, "_block2", first.out, &weights)?;
    demo.step("A second block reads the output of the first. Here it has the same weights. In a model it has its own.")
        .show(&[second.out]);
    another_first_token(demo, x, &weights, [first.out, second.out])
}

fn block_weights(demo: &mut Builder) -> Result<BlockWeights> {
    Ok(BlockWeights {
        w_q: demo.given("W_Q", numbers("1 0; 0 1"))?,
        w_k: demo.given("W_K", numbers("0 1; 1 0"))?,
        w_v: demo.given("W_V", numbers("0 1; 1 0"))?,
        w_o: demo.given("W_O", numbers("1 0; 0 2"))?,
        w_up: demo.given("W_up", numbers("1 -1 0 1; 0 1 1 -1"))?,
        w_down: demo.given("W_down", numbers("1 0; 0 1; 0 2; -1 0"))?,
    })
}

/// Norm, attention, residual, norm, MLP, residual.
fn one_block(demo: &mut Builder, suffix: &str, x: NodeId, weights: &BlockWeights) -> Result<Block> {
    let mut add =
        |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}{suffix}"), op, inputs);
    let normed = add("X_normed", Op::RmsNorm(EPSILON), &[x])?;
    let q = add("Q", Op::Product, &[normed, weights.w_q])?;
    let k = add("K", Op::Product, &[normed, weights.w_k])?;
    let v = add("V", Op::Product, &[normed, weights.w_v])?;
    let near = Mask { causal: true, window: Some(WINDOW), ..Mask::default() };
    let a = demo.weights(suffix, q, k, &Recipe { mask: near, ..Recipe::default() })?.weights;
    let mut add =
        |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}{suffix}"), op, inputs);
    let c = add("C", Op::Product, &[a, v])?;
    let o = add("O", Op::Product, &[c, weights.w_o])?;
    let attended = add("X_attended", Op::Add, &[x, o])?;
    let normed_again = add("X_attended_normed", Op::RmsNorm(EPSILON), &[attended])?;
    let wide = add("hidden", Op::Product, &[normed_again, weights.w_up])?;
    let hidden = add("hidden_relu", Op::Relu, &[wide])?;
    let mlp = add("mlp", Op::Product, &[hidden, weights.w_down])?;
    let out = add("X_out", Op::Add, &[attended, mlp])?;
    Ok(Block { normed, a, o, attended, normed_again, hidden, mlp, out })
}

/// The sentences of the first block.
fn tell(demo: &mut Builder, block: &Block) {
    demo.step(
        "The norm: each row is divided by its root mean square, so that all tokens have the same scale.",
    )
    .show(&[block.normed]);
    demo.step("Attention over the normed rows. Here each token may attend only to itself and to the token before it, so that we can \
         follow how information travels.")
        .show(&[block.a, block.o]);
    demo.step("The residual: the output of attention is added to the token as it was before the norm.")
        .show(&[block.attended]);
    demo.step(
        "Another norm, then the MLP: to a wider space, ReLU, and back. Each row goes through it on its own.",
    )
    .show(&[block.normed_again, block.hidden, block.mlp]);
    demo.step(
        "The second residual. The output of the block has the shape of its input, so blocks can be stacked.",
    )
    .show(&[block.out]);
}

/// The two blocks again after a change of token 1, and the rows that have moved.
fn another_first_token(
    demo: &mut Builder,
    x: NodeId,
    weights: &BlockWeights,
    before: [NodeId; 2],
) -> Result<()> {
    let shape = demo.matrix(x)?.shape();
    let first = |i, j| if i == 0 && j == 0 { 1.0 } else { 0.0 };
    let change = demo.given("change", Matrix::from_fn(shape.rows, shape.cols, first))?;
    let changed = demo.compute("X_changed", Op::Add, &[x, change])?;
    let first = one_block(demo, "_block1_changed", changed, weights)?;
    let second = one_block(demo, "_block2_changed", first.out, weights)?;
    let one = demo.compute("difference_block1", Op::Subtract, &[first.out, before[0]])?;
    let two = demo.compute("difference_block2", Op::Subtract, &[second.out, before[1]])?;
    demo.step("The same block for X + change. With a change of token 1, the difference can reach token 2 after one block, but not further.")
        .claim(
            all([equal(rows("X"), 4.0), every("difference_block1[3]", 0.0), every("difference_block1[4]", 0.0)]),
            "Tokens 3 and 4 have not changed at all.",
        )
        .show(&[changed, one]);
    demo.step(
        "After two blocks it can reach token 3, which reads token 2, which has read token 1. Each further block lets information \
         travel one token further.",
    )
    .claim(
        all([equal(rows("X"), 4.0), every("difference_block2[creature]", 0.0), own(&[])]),
        "Creature, the fourth token, would need a third block.",
    )
    .show(&[two]);
    Ok(())
}
