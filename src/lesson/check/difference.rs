//! A unified diff between what a lesson says and what belongs there.

use crate::foreign::visible;
use similar::{ChangeTag, TextDiff};

/// Lines around a change.
const CONTEXT: usize = 3;

/// The kind of a line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `@@ -12,3 +12,4 @@`, in lines of the file.
    Hunk,
    /// In both.
    Same,
    /// Only in the lesson.
    Lesson,
    /// Only in the printed text.
    Printed,
}

impl Tag {
    /// The mark before the line.
    pub fn sign(self) -> &'static str {
        match self {
            Tag::Hunk => "",
            Tag::Same => " ",
            Tag::Lesson => "-",
            Tag::Printed => "+",
        }
    }
}

/// The lines of a unified diff of two texts, of which the first begins at a line of a file.
pub fn unified(lesson: &str, printed: &str, first_line: usize) -> Vec<(Tag, String)> {
    let diff = TextDiff::from_lines(lesson, printed);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let place = |range: &std::ops::Range<usize>| format!("{},{}", range.start + first_line, range.len());
        lines.push((Tag::Hunk, format!("@@ -{} +{} @@", place(&old), place(&new))));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let tag = match change.tag() {
                ChangeTag::Equal => Tag::Same,
                ChangeTag::Delete => Tag::Lesson,
                ChangeTag::Insert => Tag::Printed,
            };
            lines.push((tag, visible(change.value().trim_end_matches('\n')).into_owned()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_counts_in_lines_of_the_file() {
        let lines = unified("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nX\nf\n", 10);
        let shown: Vec<String> = lines.iter().map(|(tag, text)| format!("{}{text}", tag.sign())).collect();
        assert_eq!(shown, ["@@ -11,5 +11,5 @@", " b", " c", " d", "-e", "+X", " f"]);
    }
}
