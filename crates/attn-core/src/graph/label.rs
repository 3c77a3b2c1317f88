//! Finding a row or a column by its label, as people type it.

use crate::foreign::visible;

/// The marks of a space before a word: on our screens, in the files of byte-level tokenizers, in those of SentencePiece, in ASCII,
/// and itself.
const SPACES: [char; 5] = ['␣', 'Ġ', '▁', '_', ' '];

/// What a typed label names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelMatch {
    /// The line at this place, counted from 0.
    One(usize),
    /// A label that several lines carry, at these places.
    Repeated(Vec<usize>),
    /// Several labels, at these places: each is the word behind another mark of a space.
    Different(Vec<usize>),
    /// No line.
    None,
}

/// Finds the lines that a typed label names: those that carry it as it is or as it is shown; else those that carry it behind
/// another mark of a space (`_cave` for `␣cave`); else those that carry it behind any (`cave`). `the#2` is the second of the
/// lines that `the` names.
pub fn find_label(labels: &[String], typed: &str) -> LabelMatch {
    let (word, which) = match typed.rsplit_once('#') {
        Some((word, which)) if !word.is_empty() => (word, which.parse::<usize>().ok()),
        _ => (typed, None),
    };
    for is in [is_exactly, is_marked_otherwise, is_without_mark] {
        let places = |text: &str| (0..labels.len()).filter(|&i| is(&labels[i], text)).collect::<Vec<_>>();
        let whole = places(typed);
        if !whole.is_empty() {
            return matched(labels, whole);
        }
        let Some(which) = which else { continue };
        let counted = places(word);
        if let different @ LabelMatch::Different(_) = matched(labels, counted.clone()) {
            return different;
        }
        if !counted.is_empty() {
            let at = which.checked_sub(1).and_then(|which| counted.get(which));
            return at.map_or(LabelMatch::None, |&at| LabelMatch::One(at));
        }
    }
    LabelMatch::None
}

fn matched(labels: &[String], places: Vec<usize>) -> LabelMatch {
    match places[..] {
        [] => LabelMatch::None,
        [one] => LabelMatch::One(one),
        [first, ..] if places.iter().all(|&place| labels[place] == labels[first]) => {
            LabelMatch::Repeated(places)
        }
        _ => LabelMatch::Different(places),
    }
}

/// As it is, or as it is shown: what is shown differs only where there are escapes.
fn is_exactly(label: &str, typed: &str) -> bool {
    label == typed || typed.contains('\\') && visible(label) == typed
}

fn is_marked_otherwise(label: &str, typed: &str) -> bool {
    matches!((word_behind_mark(label), word_behind_mark(typed)), (Some(own), Some(asked)) if is_exactly(own, asked))
}

fn is_without_mark(label: &str, typed: &str) -> bool {
    word_behind_mark(label).is_some_and(|own| is_exactly(own, typed))
}

/// The word behind a mark of a space; none where there is no mark, or nothing behind it.
fn word_behind_mark(label: &str) -> Option<&str> {
    label.strip_prefix(SPACES).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(labels: &[&str], typed: &str) -> LabelMatch {
        let labels: Vec<String> = labels.iter().map(|label| label.to_string()).collect();
        find_label(&labels, typed)
    }

    #[test]
    fn a_word_is_found_behind_every_mark_of_a_space() {
        for mark in ["␣", "Ġ", "▁", "_", " "] {
            let label = format!("{mark}cave");
            for typed in ["cave", "␣cave", "Ġcave", "▁cave", "_cave", " cave"] {
                assert_eq!(found(&["the", &label], typed), LabelMatch::One(1), "{label} as {typed}");
            }
        }
        assert_eq!(found(&["the", "␣cave"], "cav"), LabelMatch::None);
        assert_eq!(found(&["the", "cave"], "_cave"), LabelMatch::None, "there is no space before it");
        assert_eq!(found(&["␣", "the"], ""), LabelMatch::None);
    }

    #[test]
    fn the_exact_label_wins_and_repeated_ones_are_counted_alike() {
        let text = ["the", "␣bat", "␣the", "␣bat"];
        assert_eq!(found(&text, "the"), LabelMatch::One(0));
        assert_eq!(found(&text, "_the"), LabelMatch::One(2));
        assert_eq!(found(&text, "bat"), LabelMatch::Repeated(vec![1, 3]));
        for typed in ["bat#2", "␣bat#2", "_bat#2"] {
            assert_eq!(found(&text, typed), LabelMatch::One(3), "{typed}");
        }
        assert_eq!(found(&text, "bat#3"), LabelMatch::None);
        assert_eq!(found(&text, "the#2"), LabelMatch::None, "the other one has a space before it");
    }

    #[test]
    fn a_bare_word_of_several_labels_names_them_all() {
        assert_eq!(found(&["␣the", "_the", "x"], "the"), LabelMatch::Different(vec![0, 1]));
        assert_eq!(found(&["␣the", "_the", "␣the"], "the#2"), LabelMatch::Different(vec![0, 1, 2]));
    }

    #[test]
    fn a_label_is_found_as_it_is_shown() {
        assert_eq!(found(&["a", "\n"], "\\n"), LabelMatch::One(1));
        assert_eq!(found(&["a", "␣\t"], "\\t"), LabelMatch::One(1));
    }
}
