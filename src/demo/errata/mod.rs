//! Where the five texts slip or contradict each other: what is written, what holds, and the demo that shows it.
//!
//! Every entry has a test that computes it (tests/errata). Lines are those of the texts as plain files.

mod imagined;
mod multiplication;
mod one_third;
mod similarity;
mod understanding;

use super::Document;

/// A place where a text says something that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erratum {
    /// A short name for it, used once.
    pub id: &'static str,
    /// The text.
    pub document: Document,
    /// The section.
    pub place: &'static str,
    /// The line of the text, from 1.
    pub line: usize,
    /// What is written there, in our words.
    pub written: &'static str,
    /// What holds; it can be read without `written`.
    pub holds: &'static str,
    /// The demo that shows it.
    pub demo: Option<&'static str>,
}

impl Erratum {
    /// Document and line: `000:59`.
    pub fn reference(&self) -> String {
        format!("{}:{}", self.document.number(), self.line)
    }
}

/// All of them, in the order of the documents and of their lines.
pub fn errata() -> impl Iterator<Item = &'static Erratum> {
    [understanding::ERRATA, multiplication::ERRATA, similarity::ERRATA, imagined::ERRATA, one_third::ERRATA]
        .into_iter()
        .flatten()
}

/// Those that a demo shows.
pub fn for_demo(name: &str) -> impl Iterator<Item = &'static Erratum> {
    errata().filter(move |erratum| erratum.demo == Some(name))
}

/// The notes at the end of a demo: the place, what is written there, and what holds.
pub(super) fn notes(demo: &str) -> Vec<String> {
    for_demo(demo)
        .map(|erratum| {
            format!("{}, where the text says: {}. {}", erratum.reference(), erratum.written, erratum.holds)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_stand_in_the_order_of_documents_and_lines_and_every_id_is_used_once() {
        let places: Vec<(Document, usize)> =
            errata().map(|erratum| (erratum.document, erratum.line)).collect();
        assert!(places.is_sorted(), "{places:?}");
        let mut ids: Vec<&str> = errata().map(|erratum| erratum.id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    }

    #[test]
    fn what_holds_is_a_sentence_and_what_is_written_a_clause() {
        for erratum in errata() {
            assert!(erratum.holds.ends_with('.'), "{}: {}", erratum.id, erratum.holds);
            assert!(!erratum.written.ends_with('.'), "{}: {}", erratum.id, erratum.written);
        }
    }

    #[test]
    fn a_demo_gets_its_notes_with_document_and_line() {
        let notes = notes("mask");
        assert!(notes.iter().any(|note| note.starts_with("000:247, where the text says: ")), "{notes:?}");
        assert!(notes.iter().any(|note| note.starts_with("003:141, where the text says: ")), "{notes:?}");
    }
}
