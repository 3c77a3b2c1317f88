//! A unified diff between what a lesson says and what belongs there.

use crate::foreign::visible;

/// Lines around a change.
const CONTEXT: usize = 3;
/// The most pairs of lines that are compared; beyond them all lines between equal ones count as changed.
const MOST_COMPARED: usize = 1 << 22;

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
    let lines = compared(lesson, printed);
    let mut changed = (0..lines.len()).filter(|&at| lines[at].0 != Tag::Same).peekable();
    let mut diff = Vec::new();
    while let Some(first) = changed.next() {
        let mut last = first;
        while let Some(next) = changed.next_if(|next| next - last <= 2 * CONTEXT + 1) {
            last = next;
        }
        let hunk = first.saturating_sub(CONTEXT)..(last + CONTEXT + 1).min(lines.len());
        let place = |not_in_it: Tag| {
            let count = |lines: &[(Tag, &str)]| lines.iter().filter(|(tag, _)| *tag != not_in_it).count();
            format!("{},{}", first_line + count(&lines[..hunk.start]), count(&lines[hunk.clone()]))
        };
        diff.push((Tag::Hunk, format!("@@ -{} +{} @@", place(Tag::Printed), place(Tag::Lesson))));
        let shown = |&(tag, line): &(Tag, &str)| (tag, visible(line.trim_end_matches('\n')).into_owned());
        diff.extend(lines[hunk.clone()].iter().map(shown));
    }
    diff
}

/// The lines of both texts: a longest common subsequence stays, and what is removed stands before what is added.
fn compared<'t>(lesson: &'t str, printed: &'t str) -> Vec<(Tag, &'t str)> {
    let [lesson, printed] = [lesson, printed].map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let before = lesson.iter().zip(&printed).take_while(|(old, new)| old == new).count();
    let ends = lesson[before..].iter().rev().zip(printed[before..].iter().rev());
    let after = ends.take_while(|(old, new)| old == new).count();
    let (old, new) = (&lesson[before..lesson.len() - after], &printed[before..printed.len() - after]);
    let width = new.len() + 1;
    let is_small = old.len() * new.len() <= MOST_COMPARED;
    // `common[row * width + col]`: the lines that the first `row` of one and the first `col` of the other have in common.
    let mut common = vec![0_u32; if is_small { (old.len() + 1) * width } else { 0 }];
    let is_same = |row: usize, col: usize| is_small && old[row] == new[col];
    for at in (width..common.len()).filter(|at| at % width > 0) {
        common[at] = match is_same(at / width - 1, at % width - 1) {
            true => common[at - width - 1] + 1,
            false => common[at - 1].max(common[at - width]),
        };
    }
    // From the last line to the first.
    let mut lines: Vec<(Tag, &str)> = Vec::new();
    let all =
        |tag: Tag, lines: &[&'t str]| lines.iter().rev().map(move |line| (tag, *line)).collect::<Vec<_>>();
    lines.extend(all(Tag::Same, &lesson[lesson.len() - after..]));
    let (mut row, mut col, mut removed) = (old.len(), new.len(), 0);
    while row + col > 0 {
        if row > 0 && col > 0 && is_same(row - 1, col - 1) {
            lines.extend(all(Tag::Lesson, &old[row..row + removed]));
            (row, col, removed) = (row - 1, col - 1, 0);
            lines.push((Tag::Same, old[row]));
            continue;
        }
        let at = row * width + col;
        if row == 0 || col > 0 && (!is_small || common[at - 1] >= common[at - width]) {
            col -= 1;
            lines.push((Tag::Printed, new[col]));
        } else {
            row -= 1;
            removed += 1;
        }
    }
    lines.extend(all(Tag::Lesson, &old[..removed]));
    lines.extend(all(Tag::Same, &lesson[..before]));
    lines.reverse();
    // Of equal lines the last ones count as added.
    for at in 0..lines.len() {
        let end = at + lines[at..].iter().take_while(|(tag, _)| *tag == Tag::Printed).count();
        if end > at && lines.get(end) == Some(&(Tag::Same, lines[at].1)) {
            (lines[at].0, lines[end].0) = (Tag::Same, Tag::Printed);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_diff_counts_in_lines_of_the_file() {
        let lines = unified("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nX\nf\n", 10);
        let shown: Vec<String> = lines.iter().map(|(tag, text)| format!("{}{text}", tag.sign())).collect();
        assert_eq!(shown, ["@@ -11,5 +11,5 @@", " b", " c", " d", "-e", "+X", " f"]);
    }

    #[test]
    fn removed_lines_stand_before_added_ones_and_of_equal_lines_the_last_is_added() {
        let signs = |lesson: &str, printed: &str| -> String {
            compared(lesson, printed).iter().map(|(tag, _)| tag.sign()).collect()
        };
        assert_eq!(signs("a\nb\nc\n", "a\nx\ny\nc\n"), " -++ ");
        assert_eq!(signs("a\nb\nd\n", "a\nb\nb\nc\n"), "  -++");
        assert_eq!(signs("a\nb\n\n\nc\n", "b\n\n\n\nc\n"), "-   + ");
        assert_eq!(signs("", ""), "");
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_off(lesson in "([a-d]\n){0,12}", printed in "([a-d]\n){0,12}") {
            let lines = compared(&lesson, &printed);
            let side = |not_in_it: Tag| -> String {
                lines.iter().filter(|(tag, _)| *tag != not_in_it).map(|(_, line)| *line).collect()
            };
            prop_assert_eq!((side(Tag::Printed), side(Tag::Lesson)), (lesson, printed));
        }
    }
}
