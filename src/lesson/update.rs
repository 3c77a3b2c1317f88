//! Rewriting the outputs of a lesson, and nothing else.

use crate::text::counted;

use super::check::{Report, check};
use super::read::read;
use super::run::Run;
use super::source::{Concern, Fault, Faults, Rewrite};

/// Why a lesson is not rewritten, and the faults that are to be fixed first.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The reason, as the end of a sentence.
    pub why: String,
    /// The faults.
    pub faults: Faults,
}

/// The text of a lesson with every output that differs rewritten, and what is left to find in it; wildcards that still match are
/// kept, and so are the ends of its lines. `report` is what a check of it has found.
///
/// # Errors
/// If a key, a command or a directive is wrong, or if the new outputs would break their lesson.
pub fn update(file: &str, text: &str, report: &Report, run: &Run<'_>) -> Result<(String, Report), Refusal> {
    let is_first = |finding: &&Fault| finding.concern == Concern::Structure;
    let faults = Faults(report.findings.iter().filter(is_first).cloned().collect());
    if !faults.0.is_empty() {
        return Err(Refusal { why: format!("{} to fix first", counted(faults.0.len(), "fault")), faults });
    }
    if report.findings.iter().all(|finding| finding.rewrite.is_none()) {
        return Ok((text.to_string(), report.clone()));
    }
    let text = rewritten(text, report);
    let breaks = |faults| Refusal { why: "the output would break the block around it".to_string(), faults };
    let lesson = read(file, &text).map_err(breaks)?;
    let report = check(&lesson, run);
    Ok((text, report))
}

fn rewritten(text: &str, report: &Report) -> String {
    let is_dos = text.lines().next().is_some_and(|first| text[first.len()..].starts_with("\r\n"));
    let ending = if is_dos { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
    let rewrites = report.findings.iter().filter_map(|finding| finding.rewrite.as_deref());
    let mut rewrites: Vec<&Rewrite> = rewrites.collect();
    // From the end, so that the places of those before stay what they are.
    rewrites.sort_by_key(|rewrite| std::cmp::Reverse(rewrite.lines.start));
    for rewrite in rewrites {
        let new = rewrite.text.lines().map(|line| format!("{line}{ending}"));
        lines.splice(rewrite.lines.clone(), new);
    }
    lines.concat()
}

// A new lesson, to begin with.

/// A small lesson with one of everything that a beginner needs; what its commands print is not in it yet.
const TEMPLATE: &str = include_str!("new_lesson.md");

/// The text of a small lesson under a title made of `name`, with what its commands print today.
///
/// # Errors
/// If the program no longer runs what the lesson has.
pub fn new_lesson(name: &str, run: &Run<'_>) -> Result<String, Faults> {
    let text = TEMPLATE.replace("{title}", &title(name));
    let report = check(&read(name, &text)?, run);
    update(name, &text, &report, run).map(|(text, _)| text).map_err(|refusal| refusal.faults)
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
