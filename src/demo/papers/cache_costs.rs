//! What the cache of `cache` saves in multiplications, and what it costs in bytes.

use crate::attention::{Axis, Mask};
use crate::demo::Builder;
use crate::error::{Error, Result};
use crate::graph::{Factor, NodeId, Op};
use crate::matrix::{Matrix, labels};
use crate::params::{Counts, named, weights};
use crate::story::condition::{less, own};

const SUM: Op = Op::Sums(Axis::Whole);

/// A matrix of ones, and the number of its cells.
fn cells(demo: &mut Builder, name: &str, rows: usize, cols: usize) -> Result<NodeId> {
    let ones = demo.compute(&format!("ones_{name}"), Op::Ones { rows, cols }, &[])?;
    demo.compute(name, SUM, &[ones])
}

/// The multiplications for each word, with the cache and without.
pub(super) fn multiplications(demo: &mut Builder, x: NodeId, weights: [NodeId; 3]) -> Result<()> {
    let mut widths = Vec::new();
    for weights in weights {
        widths.push(demo.matrix(weights)?.cols());
    }
    let (d, all_widths) = (demo.matrix(x)?.cols(), widths.iter().sum());
    let own_row = cells(demo, "own_row", d, all_widths)?;
    let each_key = cells(demo, "each_key", 1, widths[1] + widths[2])?;
    let o = demo.graph().require("S")?;
    let visible = demo.compute("visible", Op::MaskPattern(Mask { causal: true, ..Mask::default() }), &[o])?;
    let rows = demo.matrix(x)?.rows();
    let ones = demo.compute("ones_words", Op::Ones { rows, cols: 1 }, &[])?;
    let keys = demo.compute("keys", Op::Product, &[visible, ones])?;
    let projected = demo.compute("projected", Op::Product, &[ones, own_row])?;
    let read = demo.compute("read", Op::Product, &[keys, each_key])?;
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
pub(super) fn bytes(demo: &mut Builder) -> Result<()> {
    let model = named(MODEL)?.into_iter().next().ok_or_else(|| Error::new(format!("there is no {MODEL}")))?;
    let count = Counts::of(&weights(&model)?)?.total();
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
