//! `blocks`: which blocks of the score matrix a mask leaves empty, so that they are never computed.

use crate::attention::{Axis, Mask, MatrixRule};
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::{Labels, Matrix, labels};
use crate::story::condition::{Condition, equal, less, max_of, own};
use crate::story::{Digits, Table};

pub(super) const DEMO: Demo = Demo {
    name: "blocks",
    source: Source::Papers(&[Passage { paper: "dao-2023", place: "section 3.1.1" }]),
    title: "Blocks of scores that a mask lets a kernel skip",
    summary: "which blocks of scores a mask lets you skip",
    place: crate::demo::Topic::Cost.at(3),
    keywords: &["flash", "flashattention", "sparse", "causal", "kernel"],
    digits: Digits::Places(4),
    build,
};

/// More tokens than these make matrices too large to be read.
const MOST_TOKENS: usize = 256;
/// With more blocks on a side than these, only the numbers of the kinds are shown.
const MOST_IN_WORDS: usize = 7;
/// The meanings of the numbers 0, 1 and 2.
const KINDS: [&str; 3] = ["empty", "mixed", "full"];
/// The sum of all cells.
const SUM: Op = Op::Sums(Axis::Whole);

fn build(demo: &mut Builder) -> Result<()> {
    let (tokens, n) = demo.count("tokens", 8, MOST_TOKENS)?;
    let pairs = demo.compute("pairs", Op::Ones { rows: n, cols: n }, &[])?;
    let all = demo.compute("all", SUM, &[pairs])?;
    let causal = Mask { causal: true, ..Mask::default() };
    let m = demo.compute("M", Op::MaskPattern(causal), &[pairs])?;
    demo.step(
        "Each of n tokens is a query (row) and a key (column), so there are n · n pairs. The causal mask has a 1 where the query \
         may attend to the key.",
    )
    .together(&[tokens, all])
    .show(&[m]);

    let (block_queries, rows) = demo.count("block_queries", 2, MOST_TOKENS)?;
    let (block_keys, cols) = demo.count("block_keys", 2, MOST_TOKENS)?;
    let cut = Op::BlockSums { rows, cols };
    let size = demo.compute("size", cut.clone(), &[pairs])?;
    let grid = Grid { cut, size, all };
    let causal_blocks = grid.blocks(demo, "", m)?;
    demo.step("A kernel computes whole blocks. `size` is the number of pairs in each block, `useful` the number of pairs that are not masked.")
        .together(&[block_queries, block_keys])
        .together(&[size, causal_blocks.useful]);
    tell_kinds(
        demo,
        &causal_blocks,
        "A block without a useful pair is empty (0): it is skipped, and its scores are never computed. A full block (2) needs no \
         mask. Only in a mixed block (1) must the kernel check each pair.",
        own(&["tokens", "block_queries", "block_keys"]),
        "Mixed blocks are only on the diagonal. All blocks above it are empty, all below it are full.",
    )?;
    demo.step("These pairs are computed: all pairs of each block that is not empty.")
        .claim(
            less("total_useful[1,1]", "total_computed[1,1]"),
            "{total_computed[1,1]} of {all[1,1]} pairs are computed, and {total_useful[1,1]} of them are useful. The others are \
             masked pairs in mixed blocks.",
        )
        .show(&[causal_blocks.computed, causal_blocks.total_computed, causal_blocks.total_useful]);

    let (window, width) = demo.count("window", 3, MOST_TOKENS)?;
    let sliding = Mask { window: Some(width), ..causal };
    let m = demo.compute("M_window", Op::MaskPattern(sliding), &[pairs])?;
    let sliding_blocks = grid.blocks(demo, "_window", m)?;
    demo.step("A sliding window: a query may attend to `window` keys, its own included.")
        .together(&[window])
        .together(&[m, sliding_blocks.useful]);
    tell_kinds(
        demo,
        &sliding_blocks,
        "Blocks that lie before the window are empty as well.",
        equal(max_of("kind_window"), 1.0),
        "This window is so narrow that no block is full.",
    )?;
    totals(demo, [&causal_blocks, &sliding_blocks], all)
}

/// The division of the matrix of pairs into blocks.
struct Grid {
    cut: Op,
    size: NodeId,
    all: NodeId,
}

/// The blocks under one mask.
struct Blocks {
    useful: NodeId,
    any: NodeId,
    every: NodeId,
    kind: NodeId,
    computed: NodeId,
    total_computed: NodeId,
    total_useful: NodeId,
    counts: NodeId,
}

impl Grid {
    /// The visible pairs of each block under a mask; the name of each node has the suffix.
    fn blocks(&self, demo: &mut Builder, suffix: &str, mask: NodeId) -> Result<Blocks> {
        let mut add =
            |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}{suffix}"), op, inputs);
        let one_where = |rule| Op::MaskPattern(Mask { matrix: Some(rule), ..Mask::default() });
        let useful = add("useful", self.cut.clone(), &[mask])?;
        let hidden = add("hidden", Op::Subtract, &[self.size, useful])?;
        let any = add("any", one_where(MatrixRule::Allow), &[useful, useful])?;
        let every = add("every", one_where(MatrixRule::Block), &[hidden, hidden])?;
        let kind = add("kind", Op::Add, &[any, every])?;
        let computed = add("computed", Op::Multiply, &[any, self.size])?;
        let total_computed = add("total_computed", SUM, &[computed])?;
        let total_useful = add("total_useful", SUM, &[useful])?;
        let names = labels(&["all", "computed", "useful"]);
        let column = add("counts_down", Op::Stack(Some(names)), &[self.all, total_computed, total_useful])?;
        let counts = add("counts", Op::Transpose, &[column])?;
        Ok(Blocks { useful, any, every, kind, computed, total_computed, total_useful, counts })
    }
}

/// A step about the kinds of blocks: as numbers, and in words where there is room.
fn tell_kinds(demo: &mut Builder, blocks: &Blocks, text: &str, when: Condition, claim: &str) -> Result<()> {
    let kinds = demo.matrix(blocks.kind)?;
    let few = kinds.rows().max(kinds.cols()) <= MOST_IN_WORDS;
    let table = few.then(|| words(kinds));
    let step = demo.step(text).claim(when, claim).together(&[blocks.any, blocks.every, blocks.kind]);
    if let Some(table) = table {
        step.table(table);
    }
    Ok(())
}

/// The kinds in words, under the names of the blocks.
fn words(kinds: &Matrix) -> Table {
    let names = |labels: Option<&Labels>| labels.map_or_else(Vec::new, |labels| labels.to_vec());
    let header = [vec!["block".to_string()], names(kinds.col_labels())].concat();
    let word = |kind: f64| KINDS[(kind as usize).min(2)].to_string();
    let rows = names(kinds.row_labels()).into_iter().enumerate();
    let rows = rows.map(|(i, name)| std::iter::once(name).chain(kinds.row(i).map(word)).collect());
    Table { header, rows: rows.collect(), ..Table::default() }
}

/// The pairs that both masks compute, of all pairs.
fn totals(demo: &mut Builder, masks: [&Blocks; 2], all: NodeId) -> Result<()> {
    let names = labels(&["causal", "with window"]);
    let totals = demo.collect("totals", "masks", Some(names), &masks.map(|blocks| blocks.counts))?;
    let shares = demo.compute("shares", Op::Divide, &[totals, all])?;
    demo.step(
        "Both masks, as counts and as shares of all pairs. A causal mask leaves n · (n + 1)/2 useful pairs: about half, if there \
         are many tokens. A window leaves at most window · n, a small part of n · n if there are many tokens. Larger blocks \
         compute more masked pairs, but kernels use them because they keep the processor busy.",
    )
    .claim(
        less("shares[with window,computed]", "shares[causal,computed]"),
        "With the window {shares[with window,computed]:2} of all pairs are computed, without it {shares[causal,computed]:2}.",
    )
    .show(&[totals, shares]);
    Ok(())
}
