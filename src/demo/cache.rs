//! Demos of papers on the key/value cache, and on a narrow row in its place.

use super::builder::*;
use crate::params::{self, Counts, named};

const WORDS: [&str; 4] = ["birds", "sing", "at", "dawn"];
/// At most this many words are followed one by one.
const MOST_WORDS: usize = 16;

/// `cache`: keys and values of earlier words are kept, so that a new word needs only its own query, key and value.
pub(super) fn cache(demo: &mut Builder) -> Result<()> {
    let model = OneHead::given(demo)?;
    let o = model.whole_text(demo)?;
    let words = model.word_by_word(demo)?;
    compare(demo, &words, o)?;
    rotated_keys(demo, &model, &words)?;
    multiplications(demo, model.x, model.weights)?;
    bytes(demo)
}

/// A text, and one head.
struct OneHead {
    x: NodeId,
    weights: [NodeId; 3],
    words: usize,
}

/// One word as it arrives.
struct NewWord {
    k: NodeId,
    o: NodeId,
}

impl OneHead {
    fn given(demo: &mut Builder) -> Result<OneHead> {
        let x = demo.given("X", numbers("1 0 1; 0 2 0; 1 1 0; 0 1 2").rows_named(&WORDS))?;
        let words = demo.matrix(x)?.rows();
        if words == 0 || words > MOST_WORDS {
            return Err(Error::new(format!(
                "X has {words} rows, and the demo follows 1 to {MOST_WORDS} words"
            )));
        }
        let weights = ["1 0; 0 1; 1 0", "0 1; 1 0; 0 1", "2 0; 0 3; 1 1"].map(numbers);
        Ok(OneHead { x, weights: demo.head_weights("", weights)?, words })
    }

    /// The whole text at once, under a causal mask.
    fn whole_text(&self, demo: &mut Builder) -> Result<NodeId> {
        let roles = demo.roles("", self.x, self.weights)?;
        let (weights, o) = demo.head("", roles, &Recipe::causal())?;
        demo.step("The whole text at once, under a causal mask: every word has a query, a key and a value. This is what we compare with.")
            .together(&[self.x])
            .folded(&self.weights)
            .together(&roles)
            .together(&[weights.weights, o]);
        Ok(o)
    }

    fn word_by_word(&self, demo: &mut Builder) -> Result<Vec<NewWord>> {
        let mut cache: Option<[NodeId; 2]> = None;
        let mut words = Vec::new();
        for number in 1..=self.words {
            let name = |name: &str| format!("{name}_{number}");
            let x = demo.row(&name("x"), self.x, number - 1)?;
            let mut new = Vec::new();
            for (letter, weights) in ["q", "k", "v"].into_iter().zip(self.weights) {
                new.push(demo.compute(&name(letter), Op::Product, &[x, weights])?);
            }
            let [q, k, v] = [new[0], new[1], new[2]];
            let [keys, values] = match cache {
                None => [vec![k], vec![v]],
                Some([keys, values]) => [vec![keys, k], vec![values, v]],
            };
            let keys = demo.compute(&name("K_cache"), Op::Stack(None), &keys)?;
            let values = demo.compute(&name("V_cache"), Op::Stack(None), &values)?;
            let (weights, o) = demo.head(&format!("_{number}"), [q, keys, values], &Recipe::default())?;
            let down = demo.compute(&name("weight"), Op::Transpose, &[weights.weights])?;
            tell_word(demo, number, &new, [keys, values, down, o]);
            cache = Some([keys, values]);
            words.push(NewWord { k, o });
        }
        Ok(words)
    }
}

/// The step of one word.
fn tell_word(demo: &mut Builder, number: usize, new: &[NodeId], [keys, values, weight, o]: [NodeId; 4]) {
    let text = match number {
        1 => "Now word by word. The first word computes its query, key and value, and the cache keeps key and value.".to_string(),
        2 => "The second word: only its own row is computed. Its key and value join the cache, and its query reads all keys there."
            .to_string(),
        number => format!("Word {number}: the same steps. The rows above the last come from the cache as they are."),
    };
    let step = demo.step(&text);
    match (number, new) {
        (1, new) => step.together(new).together(&[keys, values]).folded(&[weight, o]),
        (_, [q, ..]) => step.together(&[keys, values, weight, *q, o]),
        (_, []) => step,
    };
}

/// What an equation calls this number of words.
fn word_for_words(count: usize) -> &'static str {
    if count == 1 { "word" } else { "words" }
}

/// The rows of both ways.
fn compare(demo: &mut Builder, words: &[NewWord], whole: NodeId) -> Result<()> {
    let rows: Vec<NodeId> = words.iter().map(|word| word.o).collect();
    let cached = demo.collect("O_cached", word_for_words(words.len()), None, &rows)?;
    let gap = demo.gap("rows", [cached, whole])?;
    demo.step("Both ways compared. Each word has used one query, its own: no later word reads it, so queries are not kept.")
        .claim(
            equal("gap_rows[1,1]", 0.0),
            "Every row is the row of the whole text, to the last bit. The mask hides later keys there, and here they do not \
             exist yet.",
        )
        .together(&[cached, whole])
        .show(&[gap]);
    Ok(())
}

/// Keys rotated once, when they enter the cache.
fn rotated_keys(demo: &mut Builder, model: &OneHead, words: &[NewWord]) -> Result<()> {
    let width = demo.matrix(model.weights[1])?.cols() / 2 * 2;
    if width == 0 {
        return Ok(());
    }
    let f = demo.compute("F", Op::Frequencies { width, base: 10_000.0 }, &[])?;
    let rotate = |first| Op::Rotary(Rotation { first, pairing: Pairing::Halves, magnitude: 1.0 });
    let mut rows = Vec::new();
    for (position, word) in words.iter().enumerate() {
        let name = format!("k_rotated_{}", position + 1);
        rows.push(demo.compute(&name, rotate(position), &[word.k, f])?);
    }
    let cached = demo.collect("K_cache_rotated", word_for_words(words.len()), None, &rows)?;
    let k = demo.node("K")?;
    let whole = demo.compute("K_rotated", rotate(0), &[k, f])?;
    let gap = demo.gap("rotated", [cached, whole])?;
    demo.step(
        "With rotary positions the cache keeps rotated keys. A key is turned by its own position, so it is turned once, when it \
         comes in.",
    )
    .claim(equal("gap_rotated[1,1]", 0.0), "They are the rotated keys of the whole text, to the last bit.")
    .folded(&[f])
    .together(&[cached, whole])
    .show(&[gap]);
    Ok(())
}

// What the cache of `cache` saves in multiplications, and what it costs in bytes.

const SUM: Op = Op::Sums(Axis::Whole);

/// A matrix of ones, and the number of its cells.
fn cells(demo: &mut Builder, name: &str, rows: usize, cols: usize) -> Result<NodeId> {
    let ones = demo.compute(&format!("ones_{name}"), Op::Ones { rows, cols }, &[])?;
    demo.compute(name, SUM, &[ones])
}

/// The multiplications for each word, with the cache and without.
fn multiplications(demo: &mut Builder, x: NodeId, weights: [NodeId; 3]) -> Result<()> {
    let mut widths = Vec::new();
    for weights in weights {
        widths.push(demo.matrix(weights)?.cols());
    }
    let (d, all_widths) = (demo.matrix(x)?.cols(), widths.iter().sum());
    let own_row = cells(demo, "own_row", d, all_widths)?;
    let each_key = cells(demo, "each_key", 1, widths[1] + widths[2])?;
    let o = demo.node("S")?;
    let visible = demo.compute("visible", Op::MaskPattern(CAUSAL), &[o])?;
    let rows = demo.matrix(x)?.rows();
    let ones = demo.compute("ones_words", Op::Ones { rows, cols: 1 }, &[])?;
    let keys = demo.product("keys", visible, ones)?;
    let projected = demo.product("projected", ones, own_row)?;
    let read = demo.product("read", keys, each_key)?;
    let with = demo.compute("with_cache", Op::Add, &[projected, read])?;
    let without = demo.compute("without_cache", Op::Multiply, &[keys, with])?;
    let both = demo.side_by_side("multiplications", "counts", &[with, without])?;
    let total = demo.compute("total", Op::Sums(Axis::Columns), &[both])?;
    demo.step(
        "Multiplications for each new word. With the cache: d · (2 d_k + d_v) for its own query, key and value, and d_k + d_v \
         for each key that it reads.",
    )
    .claim(
        less("total[1,1]", "total[1,2]"),
        "Without it, all t rows are computed again, and each reads all t keys, also those that the mask hides, as a plain \
         matrix product does. So word t costs t times as much. For the whole text that is {total[1,2]} in place of \
         {total[1,1]}.",
    )
    .together(&[own_row, each_key])
    .together(&[keys, with, without])
    .together(&[total]);
    Ok(())
}

/// The model whose cache is counted.
const MODEL: &str = "qwen3-0.6b";
/// Bytes of a number in half precision.
const HALF: f64 = 2.0;

/// 2^20.
const BYTES_OF_A_MEBIBYTE: f64 = 1_048_576.0;

/// The sizes of a model, each with its symbol.
const SIZES: [&str; 6] = ["L", "G", "d_k", "context", "bytes", "parameters"];

/// The cache of a real model, and its weights.
fn bytes(demo: &mut Builder) -> Result<()> {
    let model = named(MODEL)?.into_iter().next().ok_or_else(|| Error::new(format!("there is no {MODEL}")))?;
    let count = Counts::of(&params::weights(&model)?)?.total();
    let context = model.positions.longest().unwrap_or_default();
    let sizes = [model.layers, model.key_value_heads, model.head_width, context].map(|size| size as f64);
    let mut given = Vec::new();
    for (name, size) in SIZES.into_iter().zip(sizes.into_iter().chain([HALF, count as f64])) {
        given.push(demo.given(name, Matrix::filled(1, 1, size))?);
    }
    let [layers, heads, width, context, bytes, parameters] = given[..] else { return Ok(()) };
    let both = demo.compute("per_head", Op::Add, &[width, width])?;
    let layer = demo.compute("per_layer", Op::Multiply, &[both, heads])?;
    let numbers = demo.compute("per_token", Op::Multiply, &[layer, layers])?;
    let token = demo.compute("token_bytes", Op::Multiply, &[numbers, bytes])?;
    let cache = demo.compute("cache_bytes", Op::Multiply, &[token, context])?;
    let weights = demo.compute("weight_bytes", Op::Multiply, &[parameters, bytes])?;
    let one = demo.compute("one_byte", Op::Ones { rows: 1, cols: 1 }, &[])?;
    let mebi = demo.compute("MiB", Op::Scale(Factor::Number(BYTES_OF_A_MEBIBYTE)), &[one])?;
    let column =
        demo.collect("both_bytes", "parts", Some(labels(&["cache", "weights"])), &[cache, weights])?;
    let in_mebi = demo.compute("in_MiB", Op::Divide, &[column, mebi])?;
    demo.step(
        "The price is memory: L layers keep G keys and G values of width d_k for every token of the context.",
    )
    .claim(
        own(&SIZES),
        "These are the sizes of Qwen3 0.6B in half precision, and a token takes {token_bytes[1,1]} bytes.",
    )
    .claim(
        less("weight_bytes[1,1]", "cache_bytes[1,1]"),
        "At its full context of {context[1,1]} tokens the cache has {in_MiB[cache,1]:0} MiB, more than the weights with \
         {in_MiB[weights,1]:0} MiB.",
    )
    .together(&given)
    .show(&[token, in_mebi]);
    Ok(())
}

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
