//! The head of a lesson: the pairs between the `---` at its start.

use crate::text::nearest;

use super::faults::{Fault, Faults};
use super::model::{Lesson, Size};

/// The names that a head may have.
const NAMES: [&str; 4] = ["attn-lesson", "title", "minutes", "screen"];

/// The longest that anything is planned for: a day.
const LONGEST_MINUTES: f64 = 1440.0;

/// Reads a head that begins at a line. Says whether it is one of a lesson.
pub(super) fn head(text: &str, line: usize, lesson: &mut Lesson, faults: &mut Faults) -> bool {
    let mut is_lesson = false;
    for (number, pair) in text.lines().enumerate() {
        let line = line + number;
        if pair.trim().is_empty() || pair.trim_end() == "---" || pair.starts_with('#') {
            continue;
        }
        let Some((name, value)) = pair.split_once(':') else {
            let fault = Fault::new(line, format!("`{}` in the head has no colon", pair.trim()));
            faults.push(fault.help("write a name, a colon and a value: minutes: 12"));
            continue;
        };
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        is_lesson |= name == NAMES[0];
        if let Err(fault) = set(lesson, name, value, line) {
            faults.push(fault);
        }
    }
    is_lesson
}

fn set(lesson: &mut Lesson, name: &str, value: &str, line: usize) -> Result<(), Fault> {
    match name {
        "attn-lesson" if value == "1" => {}
        "attn-lesson" => {
            return Err(Fault::new(line, format!("unknown lesson format `{value}`"))
                .help("write format 1: attn-lesson: 1"));
        }
        "title" => lesson.title = value.to_string(),
        "minutes" => lesson.minutes = Some(minutes(value, line)?),
        "screen" => {
            lesson.size = size(value).ok_or_else(|| {
                Fault::new(line, format!("`{value}` is not a screen size"))
                    .help("write columns x rows, from 40x10 to 400x200: screen: 100x30")
            })?;
        }
        other => {
            let fault = Fault::new(line, format!("`{other}` in the head is not understood"));
            return Err(match nearest(other, NAMES) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help(format!("it has {}", NAMES.join(", "))),
            });
        }
    }
    Ok(())
}

/// A plan in minutes.
pub(super) fn minutes(value: &str, line: usize) -> Result<f64, Fault> {
    match value.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= LONGEST_MINUTES => Ok(minutes),
        _ => Err(Fault::new(line, format!("`{value}` is not a number of minutes"))
            .help("write a number, such as 12 or 1.5")),
    }
}

/// `100x30`
fn size(text: &str) -> Option<Size> {
    let (columns, rows) = text.split_once(['x', '×'])?;
    let (columns, rows) = (columns.trim().parse().ok()?, rows.trim().parse().ok()?);
    ((40..=400).contains(&columns) && (10..=200).contains(&rows)).then_some(Size { columns, rows })
}
