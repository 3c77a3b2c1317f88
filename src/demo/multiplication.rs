//! Demos of “Multi-Headed attention as matrix multiplication”, in the order of its sections.

use super::builder::*;

/// `pairwise`: a matrix product as the table of all dot products.
pub(super) fn pairwise(demo: &mut Builder) -> Result<()> {
    let a = demo.given("A", numbers("2 0; 1 1; 0 3; -1 2").rows_named(&["a1", "a2", "a3", "a4"]))?;
    let b = rows_over_and_over(&numbers("1 1 -2; 0 2 1"), demo.matrix(a)?.cols());
    let b = demo.fitted("B", b.cols_named(&["b1", "b2", "b3"]), (2, 3))?;
    demo.step("Two sets of vectors. One set is in the rows of A, the other in the columns of B.")
        .claim(
            all([equal(rows("A"), 4.0), equal(columns("A"), 2.0), equal(columns("B"), 3.0)]),
            "A holds four vectors and B three. All have two coordinates.",
        )
        .together(&[a, b]);

    let ab = demo.product("AB", a, b)?;
    demo.step(
        "Cell (i, j) of A B is the dot product of row i of A with column j of B: multiply number by number, then add.",
    )
    .symbols(ab);
    demo.step("So A B holds all dot products. It has a row for each vector of A and a column for each vector of B.")
        .claim(
            all([
                equal("AB[a3,b1]", 0.0),
                less(0.0, max_size_of("A[a3]")),
                less(0.0, max_size_of("B[*,b1]")),
            ]),
            "a3 and b1 are at a right angle, so their dot product is {AB[a3,b1]}.",
        )
        .claim(
            less("AB[a1,b3]", 0.0),
            "The angle between a1 and b3 is more than a right angle, so their dot product is negative: {AB[a1,b3]}.",
        )
        .show(&[ab]);
    one_pair(demo, a, b)?;

    let k = demo.compute("K", Op::Transpose, &[b])?;
    let s = demo.compute("S", Op::ProductTransposed, &[a, k])?;
    let [_, largest] = demo.difference(["difference", "largest"], [s, ab])?;
    demo.step("Attention keeps its keys in rows, so K is the transpose of B. The product with Kᵀ gives the same table: every query with every key.")
        .claim(equal("largest[1,1]", 0.0), "The two tables are equal: the largest difference is {largest[1,1]}.")
        .show(&[k, s, largest]);
    Ok(())
}

/// The last vector of each set, on their own.
fn one_pair(demo: &mut Builder, a: NodeId, b: NodeId) -> Result<()> {
    let (last_row, last_col) = (demo.matrix(a)?.rows(), demo.matrix(b)?.cols());
    let row = Op::Rows { start: last_row.saturating_sub(1), count: 1 };
    let col = Op::Columns { start: last_col.saturating_sub(1), count: 1 };
    let row = demo.compute("a_last", row, &[a])?;
    let col = demo.compute("b_last", col, &[b])?;
    let dot = demo.product("dot", row, col)?;
    demo.step(
        "One pair on its own, the last vector of each set. Its dot product is the last cell of the table.",
    )
    .together(&[row, col])
    .show(&[dot]);
    Ok(())
}

/// `weighted-sum`: a matrix product as weighted sums of rows.
pub(super) fn weighted_sum(demo: &mut Builder) -> Result<()> {
    let a = demo.given(
        "A",
        numbers("0.5 0.25 0.25; 0 0.5 0.5").rows_named(&["a1", "a2"]).cols_named(&["b1", "b2", "b3"]),
    )?;
    let b = rows_over_and_over(&numbers("4 0; 0 8; 8 4"), demo.matrix(a)?.cols());
    let b = demo.fitted("B", b.rows_named(&["b1", "b2", "b3"]), (3, 2))?;
    demo.step("Now the vectors are in the rows of B. Each row of A holds one weight for each of them.")
        .together(&[a, b]);

    let ab = demo.product("AB", a, b)?;
    demo.step("A B in symbols. Along a row of A B the weights stay the same, and each weight multiplies its row of B.")
        .symbols(ab);

    one_row(demo, a, b, ab)?;
    demo.step("One product does this for every row of A at once.")
        .claim(
            all([equal("A[2,b1]", 0.0), equal("A[2,b2]", 0.5), equal("A[2,b3]", 0.5)]),
            "Row 2 leaves out b1 and takes half of b2 and half of b3.",
        )
        .show(&[ab]);

    let sums = demo.compute("sum", Op::Sums(Axis::Rows), &[a])?;
    demo.step("If the weights of a row are not negative and sum to 1, the result is an average: it lies between the vectors. In attention A comes from a softmax and B is V, so O = A V holds such averages.")
        .show(&[sums])
        .plane(&[b, ab], &[]);
    Ok(())
}

/// Row 1 of the product as a sum of scaled rows.
fn one_row(demo: &mut Builder, a: NodeId, b: NodeId, ab: NodeId) -> Result<()> {
    let weights = demo.row("weights", a, 0)?;
    let mut scaled = Vec::new();
    for j in 0..demo.matrix(b)?.rows() {
        let weight = demo.compute(&format!("w_{}", j + 1), Op::Columns { start: j, count: 1 }, &[weights])?;
        let row = demo.row(&format!("row_{}", j + 1), b, j)?;
        scaled.push(demo.product(&format!("scaled_{}", j + 1), weight, row)?);
    }
    demo.step("Row 1 written out. Each row of B is multiplied by its weight from row 1 of A.")
        .claim(
            all([equal("A[1,b1]", 0.5), equal("A[1,b2]", 0.25), equal("A[1,b3]", 0.25)]),
            "Half of b1, a quarter of b2 and a quarter of b3.",
        )
        .show(&scaled);

    let sum = demo.compute("row_sum", Op::Add, &scaled)?;
    let row = demo.row("AB_row", ab, 0)?;
    let [_, largest] = demo.difference(["difference", "largest"], [sum, row])?;
    demo.step("Their sum is row 1 of A B.")
        .claim(equal("largest[1,1]", 0.0), "The largest difference is {largest[1,1]}.")
        .claim(less(0.0, "largest[1,1]"), "They differ only by rounding.")
        .show(&[sum, largest]);
    Ok(())
}

/// Queries of the given tokens look for keys like themselves.
const W_Q: &str = "1 0 1 0; 0 1 0 1";
const W_K: &str = "2 1 0 -1; 1 0 -1 2";
const W_V: &str = "1 1; 0 2";
/// The second head: each query looks for the other feature, and the values are others.
const W_Q_2: &str = "2 0 0 0; 0 2 0 0";
const W_K_2: &str = "0 1 1 0; 1 0 0 1";
const W_V_2: &str = "3 0; 0 1";

/// Q, K and V of one head.
type Projections = [NodeId; 3];

/// `vectorize`: one query after the other beside all of them in one product, and a second head.
pub(super) fn vectorize(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", numbers("2 0; 0 2; 1 1").rows_named(&["v1", "v2", "v3"]))?;
    let features = demo.matrix(x)?.cols();
    let weights = head_weights(demo, "", features, [W_Q, W_K, W_V])?;
    demo.step("Each row of X is an input vector. (The text calls this matrix I.) One product with each weight matrix transforms all of them.")
        .together(&[x])
        .together(&weights);

    let head = demo.roles("", x, weights)?;
    demo.step("Each input vector gets a row of Q, a row of K and a row of V.").show(&head);

    let by_loop = queries_one_by_one(demo, head)?;
    let o = all_at_once(demo, head)?;

    let [difference, largest] = demo.difference(["difference", "largest"], [by_loop, o])?;
    demo.step(
        "The loop and the products add the same numbers in the same order. So the outputs of the loop, stacked, are O.",
    )
    .claim(equal("largest[1,1]", 0.0), "The largest difference is exactly {largest[1,1]}.")
    .show(&[by_loop, difference, largest]);
    second_head(demo, x, o)
}

/// The weights of a head, fitted to the width of the tokens.
fn head_weights(demo: &mut Builder, suffix: &str, width: usize, own: [&str; 3]) -> Result<[NodeId; 3]> {
    let mut fit = |name: &str, own: &str| {
        let own = numbers(own);
        let rows = rows_over_and_over(&own, width);
        demo.fitted(&format!("{name}{suffix}"), rows, (own.rows(), own.cols()))
    };
    Ok([fit("W_Q", own[0])?, fit("W_K", own[1])?, fit("W_V", own[2])?])
}

/// The factor 1/√d for queries of width d.
fn scale(demo: &Builder, q: NodeId) -> Result<Op> {
    Ok(Op::Scale(Factor::InverseRoot(demo.matrix(q)?.cols())))
}

/// Scores, weights and output of each query on its own; the outputs on top of each other.
fn queries_one_by_one(demo: &mut Builder, [q, k, v]: Projections) -> Result<NodeId> {
    let scale = scale(demo, q)?;
    let mut passes = Vec::new();
    for i in 0..demo.matrix(q)?.rows() {
        let name = |what: &str| format!("{what}_{}", i + 1);
        let query = demo.row(&name("query"), q, i)?;
        let scores = demo.compute(&name("scores"), Op::ProductTransposed, &[query, k])?;
        let scaled = demo.compute(&name("scaled"), scale.clone(), &[scores])?;
        let weights = demo.compute(&name("weights"), SOFTMAX, &[scaled])?;
        let output = demo.product(&name("output"), weights, v)?;
        passes.push([query, scores, scaled, weights, output]);
    }
    demo.step("The loop takes one query at a time: its scores with all keys, divided by √d, their softmax, and the weighted sum of all values. The token's own key and value are included.")
        .show(passes.first().map_or(&[], |pass| &pass[..]));
    let outputs: Vec<NodeId> = passes.iter().map(|[.., output]| *output).collect();
    demo.step("The loop repeats these steps for the other queries, one at a time.")
        .show(outputs.get(1..).unwrap_or_default());
    demo.compute("O_loop", Op::Stack(None), &outputs)
}

/// Scores, weights and outputs of all queries, each in one product.
fn all_at_once(demo: &mut Builder, [q, k, v]: Projections) -> Result<NodeId> {
    let [s, scaled, a, o] = attention(demo, "", [q, k, v])?;
    demo.step("Q Kᵀ holds the scores of every query with every key. Divided by √d they are the S of the text. The softmax of each row gives A.")
        .show(&[s, scaled, a]);
    demo.step("O = A V: each output is a weighted sum of the rows of V.").show(&[o]);
    Ok(o)
}

/// S, S_scaled, A and O of one head.
fn attention(demo: &mut Builder, suffix: &str, roles: Projections) -> Result<[NodeId; 4]> {
    let (head, o) = demo.head(suffix, roles, &Recipe::default())?;
    Ok([head.scores, head.scaled, head.weights, o])
}

/// Another head with weights of its own, and both outputs side by side.
fn second_head(demo: &mut Builder, x: NodeId, o: NodeId) -> Result<()> {
    let features = demo.matrix(x)?.cols();
    let weights = head_weights(demo, "_2", features, [W_Q_2, W_K_2, W_V_2])?;
    let head = demo.roles("_2", x, weights)?;
    let [s, _, a, o_2] = attention(demo, "_2", head)?;
    demo.step("One head gives each token one row of weights. A second head does the same steps with its own weight matrices and gives another row.")
        .claim(
            all([top_of_row("A[v1,v1]"), top_of_row("A_2[v1,v2]")]),
            "In head 1, v1 attends most to itself ({A[v1,v1]:2}). In head 2 it attends most to v2 ({A_2[v1,v2]:2}).",
        )
        .together(&weights)
        .show(&[s, a]);

    let c = demo.compute("C", Op::Concatenate, &[o, o_2])?;
    demo.step("The outputs of the heads stand side by side in C. The demo `multihead` replaces the loop over heads by one product as well.")
        .show(&[o_2, c]);
    Ok(())
}
