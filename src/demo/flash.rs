//! Demos of papers on how kernels compute attention: never all scores at once.

use super::builder::*;

/// In blocks of two the maximum moves in the second block and in the last, and stays in the third.
const SCORES: [f64; KEYS.len()] = [1.0, 2.0, 4.0, 1.0, 3.0, 0.0, 5.0, 2.0];
const VALUES: &str = "4 0; 0 2; 2 2; 8 0; 0 4; 6 2; 2 6; 0 8";
const KEYS: [&str; 8] = ["key 1", "key 2", "key 3", "key 4", "key 5", "key 6", "key 7", "key 8"];

/// At most this many blocks are described one by one.
const MOST_BLOCKS: usize = 64;
/// No row of scores is longer, and so no block.
const LONGEST: usize = 2048;

/// `online`: the softmax of a row of scores that is read block by block, with a running maximum, sum and mixture.
pub(super) fn online(demo: &mut Builder) -> Result<()> {
    let s = demo.given("S", Matrix::of([SCORES]).cols_named(&KEYS))?;
    let keys = row_of_scores(demo.matrix(s)?)?;
    let v = rows_over_and_over(&numbers(VALUES), keys).rows_named(&KEYS);
    let v = demo.fitted("V", v, (KEYS.len(), 2))?;
    let (block, length) = demo.count("block", 2, LONGEST)?;
    if keys.div_ceil(length) > MOST_BLOCKS {
        return Err(Error::new(format!(
            "{keys} keys in blocks of {length} are more than {MOST_BLOCKS} blocks"
        ))
        .help("take longer blocks: --set block=64"));
    }
    demo.step("One query with its scores S, and V with a value for each key. The keys come in blocks, and only one block is held at a time.")
        .together(&[block])
        .together(&[s, v]);

    let mut blocks: Vec<RunningValues> = Vec::new();
    for start in (0..keys).step_by(length) {
        let number = blocks.len() + 1;
        let count = length.min(keys - start);
        let s = demo.compute(&format!("S_{number}"), Op::Columns { start, count }, &[s])?;
        let v = demo.compute(&format!("V_{number}"), Op::Rows { start, count }, &[v])?;
        let block = match blocks.last() {
            None => first(demo, s, v)?,
            Some(before) => next(demo, number, before, [s, v])?,
        };
        blocks.push(block);
    }
    trace(demo, &blocks)?;
    match blocks.last() {
        Some(last) => answer(demo, last, [s, v]),
        None => Ok(()),
    }
}

/// The number of scores, if they are one row with a maximum.
fn row_of_scores(s: &Matrix) -> Result<usize> {
    if s.rows() != 1 {
        return Err(Error::new(format!("S is {}, and the demo follows one row of scores", s.shape())));
    }
    if s.cells().all(|score| score == f64::NEG_INFINITY) {
        Err(Error::new("S has no finite score, and so no maximum").help("give at least one"))
    } else {
        Ok(s.cols())
    }
}

/// The running values after a block.
struct RunningValues {
    max: NodeId,
    sum: NodeId,
    mix: NodeId,
}

const MINUS_MAX: Op = Op::MinusMax(Axis::Rows);
const EXP: Op = Op::Exponential(Base::E);
const SUM: Op = Op::Sums(Axis::Rows);
const MAX: Op = Op::Max(Axis::Rows);

fn first(demo: &mut Builder, s: NodeId, v: NodeId) -> Result<RunningValues> {
    let max = demo.compute("max_1", MAX, &[s])?;
    let shifted = demo.compute("shifted_1", MINUS_MAX, &[s])?;
    let p = demo.compute("P_1", EXP, &[shifted])?;
    let sum = demo.compute("sum_1", SUM, &[p])?;
    let mix = demo.product("mix_1", p, v)?;
    demo.step("Block 1: its maximum, the scores minus the maximum, their exponentials and the sum of these, and the values mixed with them.")
        .claim(
            equal(max_of("P_1"), 1.0),
            "The largest exponential is exactly 1. The mixture is not yet divided by the sum.",
        )
        .show(&[max])
        .columns(&[(s, None), (shifted, None), (p, Some(sum))])
        .show(&[mix]);
    Ok(RunningValues { max, sum, mix })
}

/// One more block: the max so far is put before its scores, so that its exponential is the factor.
fn next(
    demo: &mut Builder,
    number: usize,
    before: &RunningValues,
    [s, v]: [NodeId; 2],
) -> Result<RunningValues> {
    let name = |name: &str| format!("{name}_{number}");
    let seen = demo.compute(&name("seen"), Op::Concatenate, &[before.max, s])?;
    let max = demo.compute(&name("max"), MAX, &[seen])?;
    let shifted = demo.compute(&name("shifted"), MINUS_MAX, &[seen])?;
    let exp = demo.compute(&name("exp"), EXP, &[shifted])?;
    let count = demo.matrix(s)?.cols();
    let factor = demo.compute(&name("factor"), Op::Columns { start: 0, count: 1 }, &[exp])?;
    let p = demo.compute(&name("P"), Op::Columns { start: 1, count }, &[exp])?;
    let kept = demo.product(&name("sum_kept"), factor, before.sum)?;
    let parts = demo.compute(&name("parts"), Op::Concatenate, &[kept, p])?;
    let sum = demo.compute(&name("sum"), SUM, &[parts])?;
    let mix_kept = demo.product(&name("mix_kept"), factor, before.mix)?;
    let mix_new = demo.product(&name("mix_new"), p, v)?;
    let mix = demo.compute(&name("mix"), Op::Add, &[mix_kept, mix_new])?;

    let (old, new) = (number - 1, number);
    let text = match number {
        2 => format!(
            "Block 2: the maximum may change. Sum and mixture belong to the old maximum, so factor_{new} = exp(max_{old} − \
             max_{new}) rescales both, and then the new keys are added. If the maximum stays, the factor is 1."
        ),
        _ => format!("Block {new}: the same steps, with factor_{new} = exp(max_{old} − max_{new})."),
    };
    let cell = |name: &str, number: usize| format!("{name}_{number}[1,1]");
    demo.step(&text)
        .claim(
            less(&*cell("max", old), &*cell("max", new)),
            &format!(
                "The maximum moves from {{max_{old}[1,1]}} to {{max_{new}[1,1]}}: what the blocks before contributed, sum and \
                 mixture, is scaled by {{factor_{new}[1,1]}}. None of their keys is read again."
            ),
        )
        .claim(
            equal(&*cell("max", old), &*cell("max", new)),
            &format!("The maximum stays {{max_{new}[1,1]}}. The factor is exp(0) = 1, so nothing is rescaled."),
        )
        .show(&[max, factor, kept])
        .columns(&[(seen, None), (shifted, None), (exp, None), (parts, Some(sum))])
        .columns(&[(before.mix, None), (mix_kept, None), (mix_new, None), (mix, None)]);
    Ok(RunningValues { max, sum, mix })
}

/// The running values after each block, one row each.
fn trace(demo: &mut Builder, blocks: &[RunningValues]) -> Result<()> {
    let names: Vec<String> = (1..=blocks.len()).map(|number| format!("block {number}")).collect();
    let mut stack = |name: &str, part: fn(&RunningValues) -> NodeId| {
        let parts: Vec<NodeId> = blocks.iter().map(part).collect();
        demo.collect(name, "blocks", Some(names.as_slice().into()), &parts)
    };
    let kept = [
        stack("max", |block| block.max)?,
        stack("sum", |block| block.sum)?,
        stack("mix", |block| block.mix)?,
    ];
    demo.step(
        "What is kept after each block: one maximum, one sum and one mixture, however many keys there are.",
    )
    .together(&kept);
    Ok(())
}

/// The end of the run, and the plain softmax beside it.
fn answer(demo: &mut Builder, last: &RunningValues, [s, v]: [NodeId; 2]) -> Result<()> {
    let o_online = demo.compute("O_online", Op::Divide, &[last.mix, last.sum])?;
    demo.step(
        "One division at the end: the mixture by the sum. (Algorithm 1 of FlashAttention divides after every block and undoes \
         this in the next. The result is the same.)",
    )
    .show(&[o_online]);

    let cols = demo.matrix(s)?.cols();
    let ones = demo.compute("ones", Op::Ones { rows: 1, cols }, &[])?;
    let max = demo.product("max_everywhere", last.max, ones)?;
    let below = demo.compute("below_max", Op::Subtract, &[s, max])?;
    let exp = demo.compute("exp_all", EXP, &[below])?;
    let a_online = demo.compute("A_online", Op::Divide, &[exp, last.sum])?;
    demo.step(
        "The weights themselves need a second pass over the scores, with the last maximum and sum. Algorithm 3 of Milakov and \
         Gimelshein ends with it. FlashAttention needs only the output.",
    )
    .columns(&[(s, None), (below, None), (exp, None), (a_online, None)]);

    let a = demo.compute("A", SOFTMAX, &[s])?;
    let o = demo.product("O", a, v)?;
    demo.step("The plain softmax: the whole row at once, then the values mixed by the weights.")
        .show(&[a, o]);

    let of_a = demo.compute("A_apart", Op::Subtract, &[a_online, a])?;
    let of_o = demo.compute("O_apart", Op::Subtract, &[o_online, o])?;
    let both = demo.compute("apart", Op::Concatenate, &[of_a, of_o])?;
    let largest = demo.compute("largest", LARGEST, &[both])?;
    demo.step("Both ways compared. They can differ only by rounding: the online way also rounds at every rescaling.")
        .claim(
            all([less(0.0, "largest[1,1]"), less("largest[1,1]", 1e-15)]),
            "The largest difference is below 1e-15: only the last digits of a 64-bit number differ.",
        )
        .claim(equal("largest[1,1]", 0.0), "Here they do not differ at all.")
        .show(&[of_a, of_o, largest]);
    Ok(())
}

/// More tokens than these make matrices too large to be read.
const MOST_TOKENS: usize = 256;
/// With more blocks on a side than these, only the numbers of the kinds are shown.
const MOST_IN_WORDS: usize = 7;
/// The meanings of the numbers 0, 1 and 2.
const KINDS: [&str; 3] = ["empty", "mixed", "full"];
/// The sum of all cells.
const TOTAL: Op = Op::Sums(Axis::Whole);

/// `blocks`: which blocks of the score matrix a mask leaves empty, so that they are never computed.
pub(super) fn blocks(demo: &mut Builder) -> Result<()> {
    let (tokens, n) = demo.count("tokens", 8, MOST_TOKENS)?;
    let pairs = demo.compute("pairs", Op::Ones { rows: n, cols: n }, &[])?;
    let all = demo.compute("all", TOTAL, &[pairs])?;
    let causal = CAUSAL;
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
        let total_computed = add("total_computed", TOTAL, &[computed])?;
        let total_useful = add("total_useful", TOTAL, &[useful])?;
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
