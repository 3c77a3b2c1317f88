//! The end of `latent`: what is cached for each token, counted in the example and at the widths of a large model.

use crate::attention::Axis;
use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};
use crate::matrix::Matrix;
use crate::story::condition::{less, own};

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
pub(super) fn cached(demo: &mut Builder, latent: [NodeId; 2], full: [NodeId; 2]) -> Result<()> {
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
pub(super) fn of_deepseek(demo: &mut Builder) -> Result<()> {
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
