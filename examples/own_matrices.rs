//! Attention on your own matrices, in ten lines: `cargo run --example own_matrices`.

use attn_core::{AttendInputs, Matrix, Recipe, Result, attend};

fn main() -> Result<()> {
    let x = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]);
    let graph = attend(&Recipe::causal(), AttendInputs::of_tokens(x))?;

    let weights = graph.matrix(graph.require("A")?)?;
    assert_eq!(weights[(0, 1)], 0.0, "the first token sees no other");
    assert!((weights.row(2).sum::<f64>() - 1.0).abs() < 1e-12);
    Ok(())
}
