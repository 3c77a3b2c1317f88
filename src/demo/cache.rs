//! Demos of papers on the key/value cache, and on a narrow row in its place.

use super::builder::*;

const LATENT_WORDS: [&str; 3] = ["a", "red", "bat"];
/// Query heads, and the columns of each: two that compare contents, two that compare positions.
const HEADS: usize = 2;
const OF_A_QUERY: [&str; 8] =
    ["content", "content", "position", "position", "content", "content", "position", "position"];
const OF_TWO_HEADS: [&str; 4] = ["head 1", "head 1", "head 2", "head 2"];
const SHARED: &str = "shared by two heads";
/// As in the code of DeepSeek-V2.
const EPSILON: f64 = 1e-6;
/// As in DeepSeek-V2. Its keys have wider position parts, and so more frequencies.
const BASE: f64 = 10_000.0;

/// `latent`: keys and values of all heads from one narrow row, which is all that the cache holds; expanded and absorbed.
pub(super) fn latent(demo: &mut Builder) -> Result<()> {
    let (x, c) = down(demo)?;
    let [k, v, up_k, up_v] = up(demo, c)?;
    let positions = positions(demo, x)?;
    let expanded = expanded(demo, &positions, [k, v])?;
    let absorbed = absorbed(demo, &positions, c, [up_k, up_v])?;
    compared(demo, &expanded, &absorbed)?;
    cached(demo, [c, positions.k], [k, v])?;
    of_deepseek(demo)
}

/// The words, and the row that each of them puts into the cache.
fn down(demo: &mut Builder) -> Result<(NodeId, NodeId)> {
    let x = demo.given("X", numbers("1 0 1 0; 0 1 0 1; 1 1 0 0").rows_named(&LATENT_WORDS))?;
    let w = demo.given("W_DKV", numbers("3 -1; 4 0; -1 3; -3 7"))?;
    let gain = demo.given("g_KV", numbers("1 2"))?;
    let narrow = demo.product("C_down", x, w)?;
    let c = demo.compute("c_KV", Op::RmsNorm(EPSILON), &[narrow, gain])?;
    demo.step(
        "Multi-head attention caches a key and a value of every head for each token. Latent attention (MLA) projects the token \
         down to one row, c_KV: W_DKV makes it narrow, and an RMS norm with a gain follows.",
    )
    .claim(less(columns("c_KV"), columns("X")), "c_KV is narrower than X. Every head gets its keys and values from it.")
    .folded(&[w])
    .together(&[x, narrow, c])
    .show(&[gain]);
    Ok((x, c))
}

/// Keys and values of all heads from the row of the cache, and the weights that make them.
fn up(demo: &mut Builder, c: NodeId) -> Result<[NodeId; 4]> {
    let up_k = numbers("1 1 0 1; 0 1 1 0").cols_named(&OF_TWO_HEADS);
    let up_v = numbers("2 0 0 1; 0 1 1 0").cols_named(&OF_TWO_HEADS);
    let (up_k, up_v) = (demo.given("W_UK", up_k)?, demo.given("W_UV", up_v)?);
    for (name, weights) in [("W_UK", up_k), ("W_UV", up_v)] {
        demo.even_columns(name, weights, SHARED)?;
    }
    let k = demo.product("K_C", c, up_k)?;
    let v = demo.product("V", c, up_v)?;
    demo.step("Two more matrices project it up again: W_UK to the keys of all heads, W_UV to their values.")
        .claim(
            all([equal(columns("K_C"), 4.0), equal(columns("V"), 4.0)]),
            "Both heads have keys and values of their own, two columns each, and all come from the same row.",
        )
        .together(&[up_k, up_v])
        .together(&[k, v]);
    Ok([k, v, up_k, up_v])
}

/// What queries and keys know of positions, and the content of the queries.
struct Positions {
    /// The rotated key that all heads share.
    k: NodeId,
    /// The rotated part of each head's queries.
    q: Vec<NodeId>,
    /// The other part of each head's queries.
    content: Vec<NodeId>,
}

fn positions(demo: &mut Builder, x: NodeId) -> Result<Positions> {
    let w_q = demo.given(
        "W_Q",
        numbers("1 0 1 0 0 1 0 1; 0 1 0 1 1 0 1 0; 1 0 0 1 1 0 0 1; 0 1 1 0 0 1 1 0").cols_named(&OF_A_QUERY),
    )?;
    let w_kr = demo.given("W_KR", numbers("1 0; 0 1; 1 0; 0 1"))?;
    demo.even_columns("W_Q", w_q, SHARED)?;
    let k = demo.product("K_R", x, w_kr)?;
    let width = demo.matrix(k)?.cols();
    let f = demo.compute("F", Op::Frequencies { width, base: BASE }, &[])?;
    let turn = Op::Rotary(Rotation { first: 0, pairing: Pairing::Neighbours, magnitude: 1.0 });
    let k_turned = demo.compute("K_R_rotated", turn.clone(), &[k, f])?;

    let q = demo.product("Q", x, w_q)?;
    let heads = demo.split("Q", q, HEADS)?;
    let mut parts = Positions { k: k_turned, q: Vec::new(), content: Vec::new() };
    for (head, q) in (1..).zip(heads) {
        let start = demo.matrix(q)?.cols().saturating_sub(width);
        let content = Op::Columns { start: 0, count: start };
        parts.content.push(demo.compute(&format!("Q_C_{head}"), content, &[q])?);
        let position = Op::Columns { start, count: width };
        let position = demo.compute(&format!("Q_R_{head}"), position, &[q])?;
        parts.q.push(demo.compute(&format!("Q_R_{head}_rotated"), turn.clone(), &[position, f])?);
    }
    demo.step(
        "Positions come in separately, by a small key that is rotated: it is made from X, and all heads share it. Each query has \
         two parts, one for the content and one that is rotated in the same way.",
    )
    .claim(
        all([not(equal("K_R[bat,1]", "K_R_rotated[bat,1]")), equal(columns("K_R"), 2.0)]),
        "The first word stands at position 0 and is not turned. “bat” is turned, so these two columns hold its position.",
    )
    .folded(&[w_q, w_kr, q])
    .show(&[f])
    .together(&[k, k_turned])
    .together(&[parts.content[0], parts.q[0]]);
    Ok(parts)
}

/// What both ways arrive at: the weights of each head, and the heads' results side by side.
struct Results {
    weights: Vec<NodeId>,
    o: NodeId,
}

/// Scores of contents and positions added, scaled, masked, and their softmax.
fn weights(
    demo: &mut Builder,
    suffix: &str,
    [content, position]: [NodeId; 2],
    width: usize,
) -> Result<NodeId> {
    let name = |name: &str| format!("{name}{suffix}");
    let s = demo.compute(&name("S"), Op::Add, &[content, position])?;
    let scaled = demo.compute(&name("S_scaled"), Op::Scale(Factor::InverseRoot(width)), &[s])?;
    let causal = Op::Mask(CAUSAL);
    let masked = demo.compute(&name("S_masked"), causal, &[scaled])?;
    demo.compute(&name("A"), SOFTMAX, &[masked])
}

impl Positions {
    /// The scores of positions in a head, and the number of columns of a whole query.
    fn scores(&self, demo: &mut Builder, head: usize) -> Result<(NodeId, usize)> {
        let (content, q) = (self.content[head], self.q[head]);
        let width = demo.matrix(content)?.cols() + demo.matrix(q)?.cols();
        let name = format!("S_R_{}", head + 1);
        Ok((demo.compute(&name, Op::ProductTransposed, &[q, self.k])?, width))
    }
}

fn expanded(demo: &mut Builder, positions: &Positions, [k, v]: [NodeId; 2]) -> Result<Results> {
    let (keys, values) = (demo.split("K_C", k, HEADS)?, demo.split("V", v, HEADS)?);
    let (mut all_weights, mut mixed, mut first) = (Vec::new(), Vec::new(), Vec::new());
    for head in 0..HEADS {
        let name = |name: &str| format!("{name}_{}", head + 1);
        let inputs = [positions.content[head], keys[head]];
        let content = demo.compute(&name("S_C"), Op::ProductTransposed, &inputs)?;
        let (position, width) = positions.scores(demo, head)?;
        let a = weights(demo, &name(""), [content, position], width)?;
        mixed.push(demo.compute(&name("O"), Op::Product, &[a, values[head]])?);
        all_weights.push(a);
        first.extend([content, position]);
    }
    let scaled = demo.node("S_scaled_1")?;
    let o = demo.side_by_side("O", "heads", &mixed)?;
    demo.step(
        "The expanded way, as in training: a score is the dot product of the contents plus that of the positions, divided by the \
         root of both widths together. Then a causal mask, the softmax and the mixture of the values; head 1 is shown.",
    )
    .claim(
        all([top_of_row("A_1[bat,red]"), less("A_1[bat,a]", "A_1[bat,red]")]),
        "In head 1 “bat” gives {A_1[bat,red]:2} of its attention to “red”.",
    )
    .together(&[first[0], first[1], scaled])
    .together(&[all_weights[0], mixed[0]])
    .show(&[o]);
    Ok(Results { weights: all_weights, o })
}

fn absorbed(
    demo: &mut Builder,
    positions: &Positions,
    c: NodeId,
    [up_k, up_v]: [NodeId; 2],
) -> Result<Results> {
    let (ups_k, ups_v) = (demo.split("W_UK", up_k, HEADS)?, demo.split("W_UV", up_v, HEADS)?);
    let (mut all_weights, mut heads, mut first) = (Vec::new(), Vec::new(), Vec::new());
    for head in 0..HEADS {
        let name = |name: &str| format!("{name}_{}", head + 1);
        let inputs = [positions.content[head], ups_k[head]];
        let q = demo.compute(&name("Q_absorbed"), Op::ProductTransposed, &inputs)?;
        let content = demo.compute(&name("S_C_absorbed"), Op::ProductTransposed, &[q, c])?;
        let position = demo.node(&name("S_R"))?;
        let width = demo.matrix(positions.content[head])?.cols() + demo.matrix(positions.q[head])?.cols();
        let a = weights(demo, &name("_absorbed"), [content, position], width)?;
        let mixed = demo.product(&name("mixed_c"), a, c)?;
        heads.push(demo.compute(&name("O_absorbed"), Op::Product, &[mixed, ups_v[head]])?);
        all_weights.push(a);
        first.extend([q, content, mixed]);
    }
    let o = demo.side_by_side("O_absorbed", "heads", &heads)?;
    demo.step(
        "The absorbed way, as when a text is written: q·(c W_UK) = (q W_UKᵀ)·c, so W_UK goes into the query, which is compared \
         with the cached row itself. The weights mix cached rows, and W_UV comes last: no key and no value of a head is computed.",
    )
    .together(&[first[0], first[1]])
    .together(&[all_weights[0], first[2], heads[0]])
    .show(&[o]);
    Ok(Results { weights: all_weights, o })
}

fn compared(demo: &mut Builder, expanded: &Results, absorbed: &Results) -> Result<()> {
    let mut pairs: Vec<(NodeId, NodeId)> =
        absorbed.weights.iter().copied().zip(expanded.weights.iter().copied()).collect();
    pairs.push((absorbed.o, expanded.o));
    let mut parts = Vec::new();
    for (number, (ours, theirs)) in (1..).zip(pairs) {
        parts.push(demo.compute(&format!("difference_{number}"), Op::Subtract, &[ours, theirs])?);
    }
    let all_parts = demo.side_by_side("differences", "differences", &parts)?;
    let largest = demo.compute("largest_difference", LARGEST, &[all_parts])?;
    demo.step(
        "Both ways compared: the weights of both heads and the results. They can differ only by rounding.",
    )
    .claim(
        all([less(0.0, "largest_difference[1,1]"), less("largest_difference[1,1]", 1e-13)]),
        "They are equal: the largest difference is below 1e-13, which is rounding.",
    )
    .claim(equal("largest_difference[1,1]", 0.0), "They are equal to the last digit.")
    .show(&[largest]);
    Ok(())
}

// The end of `latent`: what is cached for each token, counted in the example and at the widths of a large model.

/// The number of columns that are cached for each token, counted.
fn count(demo: &mut Builder, name: &str, parts: [NodeId; 2]) -> Result<NodeId> {
    let mut cols = 0;
    for part in parts {
        cols += demo.matrix(part)?.cols();
    }
    let ones = demo.compute(&format!("each_{name}"), Op::Ones { rows: 1, cols }, &[])?;
    demo.compute(name, Op::Sums(Axis::Whole), &[ones])
}

/// The cache of the example.
fn cached(demo: &mut Builder, latent: [NodeId; 2], full: [NodeId; 2]) -> Result<()> {
    let cache = demo.side_by_side("cache", "parts", &latent)?;
    let would_be = demo.side_by_side("cache_of_heads", "parts", &full)?;
    let narrow = count(demo, "numbers", latent)?;
    let wide = count(demo, "numbers_of_heads", full)?;
    demo.step(
        "What is cached: c_KV and the rotated key. Heads that cache keys and values of their own would need all columns of K_C \
         and V.",
    )
    .claim(
        less("numbers[1,1]", "numbers_of_heads[1,1]"),
        "Each token has {numbers[1,1]} cached numbers instead of {numbers_of_heads[1,1]}.",
    )
    .together(&[cache, would_be])
    .show(&[narrow, wide]);
    Ok(())
}

/// The widths of DeepSeek-V3.
fn of_deepseek(demo: &mut Builder) -> Result<()> {
    let model = demo.own_labels(&["d_c", "d_r", "H", "d"], &["DeepSeek-V3"]);
    let mut given =
        |name: &str, value: f64| demo.given(name, Matrix::filled(1, 1, value).with_row_labels(model.clone()));
    let [d_c, d_r, heads, d] =
        [given("d_c", 512.0)?, given("d_r", 64.0)?, given("H", 128.0)?, given("d", 128.0)?];
    let latent = demo.compute("cached_latent", Op::Add, &[d_c, d_r])?;
    let width = demo.compute("width_of_heads", Op::Times, &[d, heads])?;
    let full = demo.compute("cached_heads", Op::Scale(Factor::Number(2.0)), &[width])?;
    let ratio = demo.compute("ratio", Op::Divide, &[full, latent])?;
    demo.step(
        "The same count for a large model: d_c + d_r numbers for each token and layer, against 2 · H · d if each of H heads \
         cached a key as wide as its value, d.",
    )
    .claim(
        own(&["d_c", "d_r", "H", "d"]),
        "These are the widths of DeepSeek-V3: {cached_latent[1,1]} numbers instead of {cached_heads[1,1]}, {ratio[1,1]:0} times \
         fewer.",
    )
    .together(&[d_c, d_r, heads, d])
    .together(&[latent, full, ratio]);
    Ok(())
}
