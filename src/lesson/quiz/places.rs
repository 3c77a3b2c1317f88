//! The questions of a lesson, with the text before each.

use crate::lesson::show::LessonView;
use crate::lesson::{Block, Question};

/// A question, and the blocks before it in its step.
pub(super) struct AskedQuestion<'l> {
    pub step: Option<usize>,
    /// The step again, where it is the first question of that.
    pub begins: Option<usize>,
    pub before: Vec<&'l Block>,
    pub question: &'l Question,
}

/// Every question with the blocks that a class has seen of its step.
pub(super) fn places<'l>(show: &LessonView<'l>) -> Vec<AskedQuestion<'l>> {
    let lesson = show.lesson;
    let opening = std::iter::once((None, lesson.opening.iter().collect::<Vec<&Block>>()));
    let steps = lesson.steps.iter().enumerate().map(|(at, step)| (Some(at), step.blocks().collect()));
    let mut places = Vec::new();
    for (step, blocks) in opening.chain(steps) {
        let (mut before, mut begins) = (Vec::new(), step);
        for block in blocks {
            match block {
                Block::Question(question) => {
                    let before = std::mem::take(&mut before);
                    places.push(AskedQuestion { step, begins: begins.take(), before, question });
                }
                other => before.push(other),
            }
        }
    }
    places
}
