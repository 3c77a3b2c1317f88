//! A wrong result, and the report on it as text: `cargo run --example diagnose_a_result`.

use std::io::Write;

use attn::diagnose::{Answer, Examiner, Task, Tolerance};
use attn::render::{Format, Page, Screen, Style, stories};
use attn::story::diagnosis::report;
use attn_core::{AttendInputs, Matrix, Recipe, Result};

fn main() -> Result<()> {
    write(&mut std::io::stdout().lock())
}

/// Diagnoses a result that was computed without the scale and rounded to three decimals, and writes the report.
pub fn write(out: &mut dyn Write) -> Result<()> {
    let given = |matrix: Matrix| Some(matrix.into());
    let inputs = AttendInputs {
        q: given(Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])),
        k: given(Matrix::of([[1.0, 2.0], [0.0, 1.0], [2.0, 1.0]])),
        v: given(Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 0.5]])),
        ..AttendInputs::default()
    };
    let examiner = Examiner::new(Task::new(Recipe::default(), inputs)?, Tolerance::default());
    let o = Matrix::of([[3.841, 1.182], [2.272, 2.106], [3.000, 1.424]]);
    let answers =
        [Answer { name: "O".into(), matrices: vec![o], decimals: Some(3), digits: None, roundoff: 0.0 }];

    let diagnosis = examiner.examine(&answers)?;
    let page = Page::whole(report(&diagnosis, examiner.task(), &answers));
    let style = Style::on(Screen::plain(80), Format::Table);
    stories(&[page], "diagnose", &style, out)
}
