//! `online`: the softmax of a row of scores that is read block by block, with a running maximum, sum and mixture.

use crate::attention::{Axis, Base};
use crate::demo::fit::rows_over_and_over;
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, max_of};

pub(super) const DEMO: Demo = Demo {
    name: "online",
    source: Source::Papers(&[
        Passage { paper: "milakov-2018", place: "Algorithm 3" },
        Passage { paper: "dao-2022", place: "Algorithm 1" },
    ]),
    title: "The online softmax: never all scores at once",
    summary: "softmax in blocks, as in FlashAttention",
    place: crate::demo::Topic::Cost.at(2),
    keywords: &["flash", "flashattention", "softmax", "streaming", "memory"],
    digits: Digits::Places(4),
    build,
};

/// In blocks of two the maximum moves in the second block and in the last, and stays in the third.
const SCORES: [f64; KEYS.len()] = [1.0, 2.0, 4.0, 1.0, 3.0, 0.0, 5.0, 2.0];
const VALUES: [[f64; 2]; KEYS.len()] =
    [[4.0, 0.0], [0.0, 2.0], [2.0, 2.0], [8.0, 0.0], [0.0, 4.0], [6.0, 2.0], [2.0, 6.0], [0.0, 8.0]];
const KEYS: [&str; 8] = ["key 1", "key 2", "key 3", "key 4", "key 5", "key 6", "key 7", "key 8"];

/// At most this many blocks are described one by one.
const MOST_BLOCKS: usize = 64;
/// No row of scores is longer, and so no block.
const LONGEST: usize = 2048;

fn build(demo: &mut Builder) -> Result<()> {
    let s = demo.given("S", Matrix::of([SCORES]).cols_named(&KEYS))?;
    let keys = row_of_scores(demo.matrix(s)?)?;
    let v = rows_over_and_over(VALUES, keys).rows_named(&KEYS);
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
    let mix = demo.compute("mix_1", Op::Product, &[p, v])?;
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
    let kept = demo.compute(&name("sum_kept"), Op::Product, &[factor, before.sum])?;
    let parts = demo.compute(&name("parts"), Op::Concatenate, &[kept, p])?;
    let sum = demo.compute(&name("sum"), SUM, &[parts])?;
    let mix_kept = demo.compute(&name("mix_kept"), Op::Product, &[factor, before.mix])?;
    let mix_new = demo.compute(&name("mix_new"), Op::Product, &[p, v])?;
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
    let max = demo.compute("max_everywhere", Op::Product, &[last.max, ones])?;
    let below = demo.compute("below_max", Op::Subtract, &[s, max])?;
    let exp = demo.compute("exp_all", EXP, &[below])?;
    let a_online = demo.compute("A_online", Op::Divide, &[exp, last.sum])?;
    demo.step(
        "The weights themselves need a second pass over the scores, with the last maximum and sum. Algorithm 3 of Milakov and \
         Gimelshein ends with it. FlashAttention needs only the output.",
    )
    .columns(&[(s, None), (below, None), (exp, None), (a_online, None)]);

    let a = demo.compute("A", Op::Softmax(Axis::Rows, Base::E), &[s])?;
    let o = demo.compute("O", Op::Product, &[a, v])?;
    demo.step("The plain softmax: the whole row at once, then the values mixed by the weights.")
        .show(&[a, o]);

    let of_a = demo.compute("A_apart", Op::Subtract, &[a_online, a])?;
    let of_o = demo.compute("O_apart", Op::Subtract, &[o_online, o])?;
    let both = demo.compute("apart", Op::Concatenate, &[of_a, of_o])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[both])?;
    demo.step("Both ways compared. They can differ only by rounding: the online way also rounds at every rescaling.")
        .claim(
            all([less(0.0, "largest[1,1]"), less("largest[1,1]", 1e-15)]),
            "The largest difference is below 1e-15: only the last digits of a 64-bit number differ.",
        )
        .claim(equal("largest[1,1]", 0.0), "Here they do not differ at all.")
        .show(&[of_a, of_o, largest]);
    Ok(())
}
