//! `rope`: queries and keys rotated by their positions; the two pairings of columns, and how to get from one to the other.

use super::gap::{ROUNDING, gap};
use super::rope_scaling::scaling;
use crate::attention::{Pairing, Rotation};
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::condition::{all, equal, less, not, own, same, top_of_row, within};
use crate::story::{Digits, Table};

pub(super) const DEMO: Demo = Demo {
    name: "rope",
    source: Source::Papers(&[
        Passage { paper: "su-2021", place: "section 3.2" },
        Passage { paper: "chen-2023", place: "section 2.3" },
    ]),
    title: "Rotary positions: turning queries and keys",
    summary: "rotary positions: two pairings, distance, longer texts",
    place: crate::demo::Topic::Scores.at(5),
    keywords: &[
        "rope",
        "rotary",
        "position",
        "positional",
        "encoding",
        "pairing",
        "interleaved",
        "rotate_half",
    ],
    digits: Digits::Places(4),
    build,
};

/// Each word stands there twice, so that the same pair of words has more than one distance.
const WORDS: [&str; 4] = ["tick", "tock", "tick", "tock"];
/// No base is larger.
const MOST_BASE: usize = 1_000_000_000;
/// No first position is larger.
const MOST_FIRST: usize = 1_000_000;

fn build(demo: &mut Builder) -> Result<()> {
    let file = words(demo)?;
    let f = frequencies(demo, file.width)?;
    two_pairings(demo, &file, f)?;
    let right = wrong_pairing(demo, &file, f)?;
    let moved = moved_columns(demo, &file, f, &right)?;
    shifted(demo, &moved, f)?;
    scaling(demo, [moved.q, moved.k], f)
}

/// The words, and the weights of a file.
struct Words {
    x: NodeId,
    w_q: NodeId,
    w_k: NodeId,
    /// Their queries.
    q: NodeId,
    /// Their keys.
    k: NodeId,
    /// The number of columns of a query.
    width: usize,
}

fn words(demo: &mut Builder) -> Result<Words> {
    let x = Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
    let x = demo.given("X", x.rows_named(&WORDS))?;
    let w_q = demo.given("W_Q", Matrix::of([[2.0, 0.0, 1.0, 1.0], [1.0, 2.0, 0.0, 1.0]]))?;
    let w_k = demo.given("W_K", Matrix::of([[1.0, 1.0, 0.0, 2.0], [2.0, 0.0, 1.0, 1.0]]))?;
    let width = demo.matrix(w_q)?.cols();
    if width == 0 || !width.is_multiple_of(2) {
        let shape = demo.matrix(w_q)?.shape();
        return Err(Error::new(format!("W_Q is {shape}, but rotary positions rotate pairs of columns"))
            .help("give W_Q and W_K an even number of columns"));
    }
    let q = demo.compute("Q", Op::Product, &[x, w_q])?;
    let k = demo.compute("K", Op::Product, &[x, w_k])?;
    demo.step("Words in X, and the weights that make queries and keys of them. Nothing here knows yet where a word stands.")
        .claim(own(&["X"]), "Each word stands there twice, and both times it has the same query and the same key.")
        .together(&[x, w_q, w_k])
        .together(&[q, k]);
    Ok(Words { x, w_q, w_k, q, k, width })
}

fn frequencies(demo: &mut Builder, width: usize) -> Result<NodeId> {
    let (base, number) = demo.count("base", 100, MOST_BASE)?;
    let f = demo.compute("F", Op::Frequencies { width, base: number as f64 }, &[])?;
    demo.step(
        "Columns rotate in pairs, and each pair has a frequency F: the angle in radians from one position to the next. \
         Position t, counted from 0, turns the pair by t times this angle.",
    )
    .claim(
        top_of_row("F[1,1]"),
        "The first pair turns fastest, by an angle of {F[1,1]}, and the second by {F[1,2]}.",
    )
    .claim(own(&["base"]), "The paper has the base 10000, and a small one shows more in a short text.")
    .together(&[base, f]);
    Ok(f)
}

/// Rows rotated from a first position on.
fn rotated(
    demo: &mut Builder,
    name: &str,
    [x, f]: [NodeId; 2],
    pairing: Pairing,
    first: usize,
) -> Result<NodeId> {
    demo.compute(name, Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), &[x, f])
}

/// Queries and keys rotated, and their scores.
struct RotatedHead {
    q: NodeId,
    k: NodeId,
    s: NodeId,
}

fn rotated_head(
    demo: &mut Builder,
    suffix: &str,
    [q, k, f]: [NodeId; 3],
    pairing: Pairing,
    first: usize,
) -> Result<RotatedHead> {
    let q = rotated(demo, &format!("Q_{suffix}"), [q, f], pairing, first)?;
    let k = rotated(demo, &format!("K_{suffix}"), [k, f], pairing, first)?;
    let s = demo.compute(&format!("S_{suffix}"), Op::ProductTransposed, &[q, k])?;
    Ok(RotatedHead { q, k, s })
}

/// The columns of the first two pairs, and the models that have the pairing.
fn pairings(width: usize) -> Table {
    let pairs = width / 2;
    let shown = pairs.min(2);
    let columns = |first: usize, second: usize| format!("columns {first}, {second}");
    let row = |name: &str, of: fn(usize, usize) -> (usize, usize), files: &str| {
        let pairs = (0..shown).map(|pair| of(pair, pairs)).map(|(first, second)| columns(first, second));
        std::iter::once(name.to_string()).chain(pairs).chain([files.to_string()]).collect()
    };
    let header = ["pairing", "pair 1", "pair 2"].into_iter().take(1 + shown).chain(["found in"]);
    let header: Vec<&str> = header.collect();
    let halves = row("halves", |p, pairs| (p + 1, p + pairs + 1), "Llama and Qwen on the hub");
    let neighbours = row("neighbours", |p, _| (2 * p + 1, 2 * p + 2), "the paper, Meta's files");
    Table::new(&header, [halves, neighbours])
}

fn two_pairings(demo: &mut Builder, words: &Words, f: NodeId) -> Result<()> {
    let halves = rotated(demo, "Q_halves", [words.q, f], Pairing::Halves, 0)?;
    let neighbours = rotated(demo, "Q_neighbours", [words.q, f], Pairing::Neighbours, 0)?;
    demo.step("There are two conventions on which columns form a pair, and both are in use.")
        .claim(
            not(same("Q_halves", "Q_neighbours")),
            "The two give different vectors. The first word is at position 0, so neither turns it.",
        )
        .table(pairings(words.width))
        .together(&[halves, neighbours]);
    Ok(())
}

/// A file made for neighbours, read in both ways. Gives back the right way.
fn wrong_pairing(demo: &mut Builder, words: &Words, f: NodeId) -> Result<RotatedHead> {
    let (first, right, wrong) = (0, Pairing::Neighbours, Pairing::Halves);
    let q = demo.graph().require("Q_neighbours")?;
    let k = rotated(demo, "K_neighbours", [words.k, f], right, first)?;
    let s = demo.compute("S_neighbours", Op::ProductTransposed, &[q, k])?;
    let q_wrong = demo.graph().require("Q_halves")?;
    let k_wrong = rotated(demo, "K_halves", [words.k, f], wrong, first)?;
    let s_wrong = demo.compute("S_halves", Op::ProductTransposed, &[q_wrong, k_wrong])?;
    let gap = gap(demo, "pairing", [s_wrong, s])?;
    demo.step(
        "Suppose that the model was trained with neighbours, and a program reads its file with halves. All shapes fit, so no \
         error appears.",
    )
    .claim(
        all([
            less(ROUNDING, "gap_pairing[1,1]"),
            not(within(1e-3, "S_halves[2,1]", "S_neighbours[2,1]")),
        ]),
        "But the scores are wrong: that of the second word for the first is {S_halves[2,1]} in place of \
         {S_neighbours[2,1]}. The largest error is {gap_pairing[1,1]}.",
    )
    .together(&[s, s_wrong])
    .show(&[gap]);
    Ok(RotatedHead { q, k, s })
}

/// The permutation of columns that puts the first columns of all pairs before the second ones.
fn firsts_before_seconds(width: usize) -> Matrix {
    let pairs = width / 2;
    let source = |j: usize| if j < pairs { 2 * j } else { 2 * (j - pairs) + 1 };
    Matrix::from_fn(width, width, |i, j| if i == source(j) { 1.0 } else { 0.0 })
}

/// The file with moved columns, which halves read right. Gives back its queries and keys.
fn moved_columns(demo: &mut Builder, words: &Words, f: NodeId, right: &RotatedHead) -> Result<Words> {
    let width = words.width;
    let order = demo.fitted("order", firsts_before_seconds(width), (4, 4))?;
    let w_q = demo.compute("W_Q_moved", Op::Product, &[words.w_q, order])?;
    let w_k = demo.compute("W_K_moved", Op::Product, &[words.w_k, order])?;
    let q = demo.compute("Q_moved", Op::Product, &[words.x, w_q])?;
    let k = demo.compute("K_moved", Op::Product, &[words.x, w_k])?;
    let head = rotated_head(demo, "fixed", [q, k, f], Pairing::Halves, 0)?;
    let reordered = demo.compute("Q_reordered", Op::Product, &[right.q, order])?;
    gap(demo, "order", [head.q, reordered])?;
    let gap = gap(demo, "fixed", [head.s, right.s])?;
    demo.step(
        "The fix: move the columns of W_Q and W_K once, the first columns of all pairs to the left, the second ones to the \
         right. Then read the file with halves.",
    )
    .claim(
        all([equal("gap_order[1,1]", 0.0), within(ROUNDING, "gap_fixed[1,1]", 0.0)]),
        "The rotated vectors hold exactly the same numbers in another order, so the scores are right but for rounding. \
         Converters of Meta's files do the same.",
    )
    .folded(&[order])
    .together(&[w_q, w_k])
    .together(&[right.q, head.q])
    .folded(&[head.s])
    .show(&[gap]);
    Ok(Words { x: words.x, w_q, w_k, q, k, width })
}

/// All positions shifted by the same number.
fn shifted(demo: &mut Builder, words: &Words, f: NodeId) -> Result<()> {
    let (shift, first) = demo.count("shift", 50, MOST_FIRST)?;
    let head = rotated_head(demo, "shifted", [words.q, words.k, f], Pairing::Halves, first)?;
    let s = demo.graph().require("S_fixed")?;
    let gap = gap(demo, "shifted", [head.s, s])?;
    demo.step("Now the text starts at a later position. Every query and every key turns further, all by the same angles.")
        .claim(
            within(ROUNDING, "gap_shifted[1,1]", 0.0),
            "The scores stay the same but for rounding: they depend on the distance of two words, not on where these stand.",
        )
        .claim(
            all([own(&["X"]), within(ROUNDING, "S_shifted[2,1]", "S_shifted[4,3]")]),
            "So the second word scores the first as the fourth scores the third: {S_shifted[2,1]}.",
        )
        .folded(&[head.q, head.k])
        .together(&[shift, head.s])
        .show(&[gap]);
    Ok(())
}
