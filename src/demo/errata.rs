//! Mistakes and contradictions in the five texts: the text's statement, the correct one, and the demo that shows it.
//!
//! Every entry quotes its text, and a test compares the quotation with the text; most have a test that computes them
//! (tests/documents/errata). They stand in `data/errata.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Document;
use attn_core::data_file::entries;

/// A place where a text is wrong, or leaves out a fact that a reader needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// A short name for it, used once.
    pub id: &'static str,
    /// The text.
    pub document: Document,
    /// The section.
    pub place: &'static str,
    /// The line of the text, from 1.
    pub line: usize,
    /// The text's own words, at most 25; its LaTeX in plain characters, quotation marks in it as ‘ ’.
    pub text: &'static str,
    /// The correct statement, in whole sentences.
    pub holds: &'static str,
    /// The demo that shows it.
    pub demo: Option<&'static str>,
}

impl Erratum {
    /// Document and line: `000, line 59`.
    pub fn reference(&self) -> String {
        format!("{}, line {}", self.document.number(), self.line)
    }

    /// The text's words as such: `The text: “…”`.
    pub fn quotation(&self) -> String {
        format!("The text: “{}”", self.text)
    }

    /// The correct statement, set against the quotation: `But: …`.
    pub fn correction(&self) -> String {
        format!("But: {}", self.holds)
    }
}

/// All of them, in the order of the documents and of their lines.
pub fn errata() -> impl Iterator<Item = &'static Erratum> {
    static ENTRIES: LazyLock<Vec<Erratum>> =
        LazyLock::new(|| entries(include_str!("../../data/errata.toml")));
    ENTRIES.iter()
}

/// Those that a demo shows.
pub fn for_demo(name: &str) -> impl Iterator<Item = &'static Erratum> {
    errata().filter(move |erratum| erratum.demo == Some(name))
}

/// The notes at the end of a demo: the place, the text's statement, and the correct one.
pub(super) fn notes(demo: &str) -> Vec<String> {
    for_demo(demo)
        .map(|erratum| format!("{}. {}  {}", erratum.reference(), erratum.quotation(), erratum.correction()))
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
    fn errata_are_sentences_and_quotations_have_no_quotation_marks() {
        for erratum in errata() {
            assert!(erratum.holds.ends_with('.'), "{}: {}", erratum.id, erratum.holds);
            assert!(!erratum.text.contains(['“', '”']), "{}: {}", erratum.id, erratum.text);
        }
    }

    #[test]
    fn a_demo_gets_its_notes_with_document_line_quotation_and_correction() {
        let notes = notes("mask");
        let start =
            "003, line 141. The text: “It is a lower triangular matrix of shape (n, n).”  But: The mask ";
        assert!(notes.iter().any(|note| note.starts_with(start)), "{notes:?}");
    }
}
