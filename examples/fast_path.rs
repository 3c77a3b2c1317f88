//! The fused kernel on your own matrices, and an error by its kind: `cargo run --example fast_path`.

use attn_core::error::ErrorKind;
use attn_core::kernel::Machine;
use attn_core::tensor::Dtype;
use attn_core::{AttendInputs, Matrix, Recipe, Result, attend, attend_fused};

fn main() -> Result<()> {
    let x = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]);
    let (recipe, inputs) = (Recipe::causal(), AttendInputs::of_tokens(x));
    let exact = attend(&recipe, inputs.clone())?;
    let (fused, used) = attend_fused(&recipe, inputs, Dtype::F64, Machine::here())?;

    let [exact, of_kernel] = [&exact, &fused].map(|graph| graph.matrix(graph.require("O")?));
    let distance = exact?.cells().zip(of_kernel?.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(distance < 1e-12 && used.threads >= 1);

    let error = fused.require("O_total").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown);
    Ok(())
}
