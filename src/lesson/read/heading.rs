//! The headings of a lesson: its title, its steps, the pauses inside a step.

use crate::lesson::faults::Faults;
use crate::lesson::model::{Lesson, Part, Step};
use crate::lesson::names::slug;

/// A heading of a file.
pub(super) struct Heading<'a> {
    /// 1 for `#`.
    pub depth: usize,
    pub title: &'a str,
    pub line: usize,
}

/// Adds a heading to the lesson; `has_title` is whether its `#` was read already.
pub(super) fn heading(heading: &Heading<'_>, lesson: &mut Lesson, has_title: &mut bool, faults: &mut Faults) {
    let Heading { depth, title, line } = *heading;
    match depth {
        1 if *has_title || !lesson.steps.is_empty() => {
            faults.add(line, "a second title", "write ## if this begins a step");
        }
        1 => {
            *has_title = true;
            if lesson.title.is_empty() {
                lesson.title = title.to_string();
            } else if lesson.title != title {
                faults.add(
                    line,
                    format!("the title is “{title}” here and “{}” in the head", lesson.title),
                    "make both the same, or leave it out of the head",
                );
            }
        }
        2 => lesson.steps.push(Step {
            id: slug(title),
            title: title.to_string(),
            line,
            minutes: None,
            parts: vec![Part::default()],
        }),
        3 => match lesson.steps.last_mut() {
            Some(step) => step.parts.push(Part { title: Some(title.to_string()), blocks: Vec::new() }),
            None => faults.add(line, "a pause before the first step", "begin a step with ## above it"),
        },
        _ => faults.add(
            line,
            "a heading of the fourth level or deeper",
            "write it in bold; # is the title, ## a step, ### a pause",
        ),
    }
}
