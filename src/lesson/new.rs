//! A new lesson, to begin with.

use super::check::check;
use super::faults::Faults;
use super::option_names::OptionNames;
use super::read::read;
use super::run::Run;
use super::update::{UpdateOutcome, update};

/// A small lesson with one of everything that a beginner needs; what its commands print is not in it yet.
const TEMPLATE: &str = include_str!("new_lesson.md");

/// The text of a small lesson under a title made of `name`, with what its commands print today.
///
/// # Errors
/// If the program no longer runs what the lesson has.
pub fn new_lesson(name: &str, run: &Run<'_>, options: &'static OptionNames) -> Result<String, Faults> {
    let text = TEMPLATE.replace("{title}", &title(name));
    let report = check(&read(name, &text, options)?, run);
    match update(name, &text, &report, run, options)? {
        UpdateOutcome::Rewritten(text, _) => Ok(text),
        UpdateOutcome::Current => Ok(text),
        UpdateOutcome::Refused => {
            Err(Faults(report.findings.into_iter().map(|finding| finding.fault).collect()))
        }
    }
}

/// A file's name as a title: `why-the_mask.md` is “Why the mask”.
fn title(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let words: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let words = words.join(" ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "A lesson".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_made_of_the_words_of_a_name() {
        for (name, expected) in [
            ("folder/why-the_mask.md", "Why the mask"),
            ("mask", "Mask"),
            ("*x*<b>.md", "X b"),
            ("...", "A lesson"),
            ("über-uns", "Über uns"),
        ] {
            assert_eq!(title(name), expected, "{name}");
        }
    }
}
