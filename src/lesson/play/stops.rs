//! The stops of a lesson: each key press shows one.

use std::ops::Range;

use crate::lesson::{Block, Console, Lesson, Part, Question};

/// The text up to the next pause, shown at once if the screen is tall enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// The position of its step; `None` before the first step.
    pub step: Option<usize>,
    /// The position of its part within the step.
    pub part: usize,
    /// Its blocks within the part.
    pub blocks: Range<usize>,
    /// Why it stops.
    pub kind: StopKind,
}

/// Why a lesson stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopKind {
    /// The text pauses.
    Text,
    /// The last block asks.
    Asked,
    /// The first block is the question that is answered; notes may follow it.
    Answer,
}

impl Stop {
    /// Whether the heading of its part, and for the first part that of its step, is shown with it.
    pub(super) fn begins_part(&self) -> bool {
        self.blocks.start == 0 && self.kind != StopKind::Answer
    }

    /// The blocks of its part.
    fn part_blocks<'a>(&self, lesson: &'a Lesson) -> &'a [Block] {
        match self.step {
            None => &lesson.opening,
            Some(step) => &lesson.steps[step].parts[self.part].blocks,
        }
    }

    /// Its blocks.
    pub(super) fn shown<'a>(&self, lesson: &'a Lesson) -> &'a [Block] {
        &self.part_blocks(lesson)[self.blocks.clone()]
    }

    /// Its part; `None` before the first step.
    pub(super) fn in_part<'a>(&self, lesson: &'a Lesson) -> Option<&'a Part> {
        self.step.map(|step| &lesson.steps[step].parts[self.part])
    }

    /// The question that it asks, or answers.
    pub(super) fn question<'a>(&self, lesson: &'a Lesson) -> Option<&'a Question> {
        let blocks = self.shown(lesson);
        let block = match self.kind {
            StopKind::Text => None,
            StopKind::Asked => blocks.last(),
            StopKind::Answer => blocks.first(),
        };
        match block {
            Some(Block::Question(question)) => Some(question),
            _ => None,
        }
    }

    /// Whether it holds a text in lower case. Answers are not looked into, they would be given away.
    pub(super) fn holds(&self, text: &str, lesson: &Lesson) -> bool {
        if self.kind == StopKind::Answer {
            return false;
        }
        let mut texts: Vec<&str> = Vec::new();
        if self.step.is_none() {
            texts.push(&lesson.title);
        }
        if let (true, Some(part)) = (self.begins_part(), self.in_part(lesson)) {
            texts.extend(part.title.as_deref());
            texts.extend(self.step.filter(|_| self.part == 0).map(|step| lesson.steps[step].title.as_str()));
        }
        collect(self.shown(lesson), &mut texts);
        texts.iter().any(|shown| shown.to_lowercase().contains(text))
    }
}

/// All stops of a lesson, in order. There is at least one for every step.
pub(super) fn stops(lesson: &Lesson) -> Vec<Stop> {
    let mut stops = Vec::new();
    // The output of a command has nothing before its first step.
    if lesson.story.is_none() || lesson.steps.is_empty() {
        within(&lesson.opening, None, 0, &mut stops);
    }
    for (number, step) in lesson.steps.iter().enumerate() {
        for (part, content) in step.parts.iter().enumerate() {
            within(&content.blocks, Some(number), part, &mut stops);
        }
    }
    stops
}

fn within(blocks: &[Block], step: Option<usize>, part: usize, stops: &mut Vec<Stop>) {
    let mut start = 0;
    let mut stop = |blocks: Range<usize>, kind| stops.push(Stop { step, part, blocks, kind });
    for (position, _) in blocks.iter().enumerate().filter(|(_, block)| matches!(block, Block::Question(_))) {
        stop(start..position + 1, StopKind::Asked);
        // Notes directly after a question are about its answer, and no pause of their own.
        let notes = blocks[position + 1..].iter().take_while(|block| matches!(block, Block::Note(_))).count();
        start = position + 1 + notes;
        stop(position..start, StopKind::Answer);
    }
    if start < blocks.len() || start == 0 {
        stop(start..blocks.len(), StopKind::Text);
    }
}

/// The commands that a stop shows.
pub(super) fn commands<'a>(stop: &Stop, lesson: &'a Lesson) -> Vec<&'a str> {
    let consoles = match (stop.kind, stop.question(lesson)) {
        (StopKind::Answer, Some(question)) => consoles(&question.reveal),
        _ => consoles(stop.shown(lesson)),
    };
    let exchanges = consoles.into_iter().flat_map(|console| &console.exchanges);
    exchanges.map(|exchange| exchange.command.typed.as_str()).collect()
}

/// The consoles among blocks, also those that a question shows.
fn consoles(blocks: &[Block]) -> Vec<&Console> {
    let mut found = Vec::new();
    for block in blocks {
        match block {
            Block::Console(console) => found.push(console),
            Block::Question(question) => found.extend(consoles(&question.asked)),
            _ => {}
        }
    }
    found
}

/// The texts of blocks that a class may see.
fn collect<'a>(blocks: &'a [Block], texts: &mut Vec<&'a str>) {
    for block in blocks {
        match block {
            Block::Prose(prose) => texts.push(&prose.markdown),
            Block::Console(console) => {
                texts.extend(console.exchanges.iter().map(|exchange| exchange.command.typed.as_str()));
            }
            Block::Literal(literal) => texts.push(&literal.text),
            Block::Note(_) => {}
            Block::Question(question) => {
                collect(&question.asked, texts);
                texts.extend(
                    question
                        .choices
                        .iter()
                        .filter_map(|choice| Some(choice.text.as_ref()?.markdown.as_str())),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::play::sample;

    #[test]
    fn a_lesson_stops_at_pauses_at_questions_and_at_their_answers() {
        let lesson = sample::lesson();
        let stops: Vec<(Option<usize>, usize, StopKind)> =
            stops(&lesson).iter().map(|stop| (stop.step, stop.part, stop.kind)).collect();
        assert_eq!(
            stops,
            [
                (None, 0, StopKind::Text),
                (Some(0), 0, StopKind::Text),
                (Some(0), 1, StopKind::Text),
                (Some(1), 0, StopKind::Asked),
                (Some(1), 0, StopKind::Answer),
                (Some(1), 0, StopKind::Text),
                (Some(2), 0, StopKind::Asked),
                (Some(2), 0, StopKind::Answer),
                (Some(3), 0, StopKind::Asked),
                (Some(3), 0, StopKind::Answer),
                (Some(4), 0, StopKind::Text),
            ]
        );
    }

    #[test]
    fn notes_behind_an_answer_stay_with_it() {
        let lesson = sample::lesson();
        let stops = stops(&lesson);
        let answer = stops.iter().find(|stop| stop.kind == StopKind::Answer).unwrap();
        assert_eq!(answer.question(&lesson).unwrap().id, "zeros");
        assert_eq!(answer.shown(&lesson).len(), 2);
    }
}
