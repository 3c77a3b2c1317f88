//! A whole lesson from its title to its end.

use super::LessonView;
use crate::lesson::{Block, Part, Question};

impl LessonView<'_> {
    /// The whole lesson as text: every question followed by its answer, or by a line for a handwritten one.
    pub fn transcript(&self, answers: bool) -> String {
        self.transcript_with(None, &|question| if answers { self.reveal(question) } else { self.blank() })
    }

    /// The whole lesson, or its part from a step on, with some lines after every question.
    pub fn transcript_with(&self, first: Option<usize>, behind: &dyn Fn(&Question) -> Vec<String>) -> String {
        let mut lines = Vec::new();
        if first.is_none() {
            lines = self.title();
            self.add(&mut lines, &self.lesson.opening, behind);
        }
        for (number, step) in self.lesson.steps.iter().enumerate().skip(first.unwrap_or(0)) {
            if !lines.is_empty() {
                lines.extend([String::new(), String::new()]);
            }
            lines.extend(self.step_heading(number));
            for Part { title, blocks } in &step.parts {
                if let Some(title) = title {
                    lines.push(String::new());
                    lines.extend(self.pause_heading(title));
                }
                self.add(&mut lines, blocks, behind);
            }
        }
        lines.join("\n") + "\n"
    }

    /// Adds blocks, an empty line before each.
    fn add(&self, lines: &mut Vec<String>, blocks: &[Block], behind: &dyn Fn(&Question) -> Vec<String>) {
        let mut put = |block: Vec<String>| {
            if !block.is_empty() {
                lines.push(String::new());
                lines.extend(block);
            }
        };
        for block in blocks {
            put(self.block(block));
            if let Block::Question(question) = block {
                put(behind(question));
            }
        }
    }
}
