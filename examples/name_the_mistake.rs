//! A wrong result, and the mistake that gives it: `cargo run --example name_the_mistake`.

use std::io::Write;

use attn::diagnose::{Answer, Examiner, Task, Tolerance};
use attn_core::{AttendInputs, Matrix, Recipe};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = |matrix: Matrix| Some(matrix.into());
    let inputs = AttendInputs {
        q: given(Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])),
        k: given(Matrix::of([[1.0, 2.0], [0.0, 1.0], [2.0, 1.0]])),
        v: given(Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 0.5]])),
        ..AttendInputs::default()
    };
    let examiner = Examiner::new(Task::new(Recipe::default(), inputs)?, Tolerance::default());

    // A student's result, rounded to three decimals: the scale was forgotten.
    let o = Matrix::of([[3.841, 1.182], [2.272, 2.106], [3.000, 1.424]]);
    let answer = Answer { name: "O".into(), matrices: vec![o], decimals: Some(3), roundoff: 0.0 };
    let diagnosis = examiner.examine(&[answer])?;

    let mut out = std::io::stdout().lock();
    for named in diagnosis.first_wrong().into_iter().flat_map(|wrong| &wrong.mistakes) {
        for slip in &named.slips {
            writeln!(out, "{}: {}", slip.mistake.id, slip.mistake.slip)?;
        }
    }
    Ok(())
}
