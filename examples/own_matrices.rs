//! Attention on one's own matrices, in ten lines: `cargo run --example own_matrices`.

use attn::attention::Mask;
use attn::graph::Origin;
use attn::graph::recipes::{AttendInputs, Recipe, attend};
use attn::matrix::Matrix;

fn main() -> attn::error::Result<()> {
    let x = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]);
    let inputs = AttendInputs { x: Some((x, Origin::Stated)), ..AttendInputs::default() };
    let recipe = Recipe { mask: Mask { causal: true, ..Mask::default() }, ..Recipe::default() };
    let graph = attend(&recipe, inputs)?;

    let weights = graph.matrix(graph.require("A")?)?;
    assert_eq!(weights[(0, 1)], 0.0, "the first token sees no other");
    assert!((weights.row(2).sum::<f64>() - 1.0).abs() < 1e-12);
    Ok(())
}
