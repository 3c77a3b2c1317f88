//! A Markdown text to a [`Lesson`].

mod heading;
mod labels;
mod options;
mod question;
mod reader;
mod settings;

use super::faults::{Fault, Faults};
use super::model::Lesson;
use super::names::{ids_are_unique, runs_are_unique};
use super::option_names::OptionNames;
use super::pieces::pieces;
use super::source::Source;
use reader::Reader;

/// Reads a lesson. `file` is its name in messages; its own name is that without folder and ending. `options` are the names of the
/// options in its commands.
///
/// # Errors
/// The faults that prevent playing it, in the order of the lines.
pub fn read(file: &str, text: &str, options: &'static OptionNames) -> Result<Lesson, Faults> {
    let source = Source::new(file, text).map_err(|error| Faults(vec![Fault::of(1, error)]))?;
    let mut misread = Faults::default();
    let pieces = pieces(&source, &mut misread);
    let mut faults = Faults::default();
    let mut reader = Reader::new(&source, file, options);
    for piece in &pieces {
        reader.take(piece, &mut faults);
    }
    let is_lesson = reader.has_head;
    let mut lesson = reader.finish(&mut faults);
    ids_are_unique(&lesson, &mut faults);
    runs_are_unique(&lesson, &mut faults);
    if is_lesson && !misread.0.is_empty() {
        // Other faults may be consequences of these.
        faults = misread;
    }
    for fault in &mut faults.0 {
        fault.step = lesson.step_at(fault.line).map(|step| step.title.clone());
    }
    faults.0.sort_by_key(|fault| fault.line);
    if !faults.0.is_empty() {
        return Err(faults);
    }
    lesson.faults = source.cleaning_faults().collect();
    lesson.text = source.text;
    Ok(lesson)
}

#[cfg(test)]
mod tests;
