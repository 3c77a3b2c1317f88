//! A whole lesson from its title to its end.

use super::Show;
use crate::lesson::{Block, Part};

impl Show<'_> {
    /// The whole lesson as it is shown when nobody sits at the keys: every question followed by its answer, or by a line to
    /// write one on.
    pub fn transcript(&self, answers: bool) -> String {
        let mut lines = self.title();
        self.add(&mut lines, &self.lesson.opening, answers);
        for (number, step) in self.lesson.steps.iter().enumerate() {
            lines.extend([String::new(), String::new()]);
            lines.extend(self.step_heading(number));
            for Part { title, blocks } in &step.parts {
                if let Some(title) = title {
                    lines.push(String::new());
                    lines.extend(self.pause_heading(title));
                }
                self.add(&mut lines, blocks, answers);
            }
        }
        lines.join("\n") + "\n"
    }

    /// Adds blocks, an empty line before each.
    fn add(&self, lines: &mut Vec<String>, blocks: &[Block], answers: bool) {
        let mut put = |block: Vec<String>| {
            if !block.is_empty() {
                lines.push(String::new());
                lines.extend(block);
            }
        };
        for block in blocks {
            put(self.block(block));
            if let Block::Question(question) = block {
                put(if answers { self.reveal(question) } else { self.blank() });
            }
        }
    }
}
