//! `--seed`: a lesson with other random numbers.

use crate::cli::Streams;
use crate::lesson::{DrawResult, Lesson, Runner, draw};

/// The lesson, with its questions drawn again if there is a seed. Questions that keep their numbers are listed on standard
/// error.
pub(super) fn with_seed(
    lesson: Lesson,
    seed: Option<u32>,
    runner: &Runner<'_>,
    streams: &mut Streams<'_>,
) -> Lesson {
    let Some(seed) = seed else { return lesson };
    let DrawResult { lesson, redrawn, kept } = draw(&lesson, runner, seed);
    let mut remarks: Vec<String> = kept
        .iter()
        .map(|id| {
            format!("`{id}` keeps its numbers: no other numbers were found with exactly one right answer")
        })
        .collect();
    if redrawn.is_empty() && kept.is_empty() {
        remarks
            .push(format!("no question of `{}` can have other numbers; all stay as they are", lesson.name));
    }
    for remark in remarks {
        // An error of writing to standard error is ignored.
        let _ = writeln!(streams.err, "remark: {remark}");
    }
    lesson
}
