//! The source of a demo: a section of one of the five documents, passages of papers, or a model of the program.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Document;
use attn_core::data_file::entries;

/// The source of a demo.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A section of a document.
    Section {
        /// The document.
        document: Document,
        /// Its section.
        section: &'static str,
        /// Further documents that the demo belongs to.
        also: &'static [Document],
    },
    /// Passages of papers, the one with the idea first.
    Papers(&'static [Passage]),
    /// A model that travels with the program, in words.
    Model(&'static str),
}

/// A place in a paper.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// The paper's key in `data/papers.toml`.
    pub paper: &'static str,
    /// The algorithm or the section.
    pub place: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    key: &'static str,
    authors: &'static str,
    year: u16,
    title: &'static str,
}

impl Source {
    /// A section of one document alone.
    pub const fn section(document: Document, section: &'static str) -> Source {
        Source::Section { document, section, also: &[] }
    }

    /// The document, if it is a section of one.
    pub fn document(&self) -> Option<Document> {
        match self {
            Source::Section { document, .. } => Some(*document),
            Source::Papers(_) | Source::Model(_) => None,
        }
    }

    /// Returns true if the demo follows this document, or belongs to it.
    pub fn is_of(&self, document: Document) -> bool {
        match self {
            Source::Section { document: first, also, .. } => *first == document || also.contains(&document),
            Source::Papers(_) | Source::Model(_) => false,
        }
    }
}

impl Passage {
    /// The citation for a text whose title is known: “Dao 2023, section 3.1.1”.
    pub fn short(&self) -> String {
        let Paper { authors, year, .. } = self.paper();
        format!("{authors} {year}, {}", self.place)
    }

    fn paper(&self) -> &'static Paper {
        let is_it = |paper: &&Paper| paper.key == self.paper;
        papers().iter().find(is_it).expect("a test looks up the papers of all demos")
    }
}

fn papers() -> &'static [Paper] {
    static ENTRIES: LazyLock<Vec<Paper>> = LazyLock::new(|| entries(include_str!("../../data/papers.toml")));
    &ENTRIES
}

/// The line below a headline.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Section { document, section, also } => {
                write!(f, "{}, “{section}”", document.title())?;
                also.iter().try_for_each(|other| write!(f, "; {}", other.title()))
            }
            Source::Model(model) => f.write_str(model),
            Source::Papers(passages) => passages.iter().enumerate().try_for_each(|(i, passage)| {
                let between = if i == 0 { "" } else { "; " };
                let Paper { authors, year, title, .. } = passage.paper();
                write!(f, "{between}{authors} {year}, “{title}”, {}", passage.place)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{demos, find};

    #[test]
    fn a_demo_of_papers_belongs_to_no_document_and_names_them_with_their_titles() {
        let source = find("online").unwrap().source;
        assert_eq!(source.document(), None);
        assert!(Document::ALL.into_iter().all(|document| !source.is_of(document)));
        let said = source.to_string();
        assert!(
            said.contains("2018, “Online normalizer calculation for softmax”, Algorithm 3; Dao"),
            "{said}"
        );
    }

    #[test]
    fn a_demo_of_two_documents_belongs_to_both_and_follows_the_first() {
        let source = find("block").unwrap().source;
        assert_eq!(source.document(), Some(Document::OneThird));
        assert!(source.is_of(Document::Imagined) && !source.is_of(Document::Similarity));
        assert!(source.to_string().ends_with("; Attention and Transformer Imagined"), "{source}");
    }

    #[test]
    fn every_paper_is_read_and_every_paper_that_a_demo_names_is_there_and_the_other_way_round() {
        let mut cited: Vec<&str> = Vec::new();
        for demo in demos() {
            if let Source::Papers(passages) = demo.source {
                cited.extend(passages.iter().map(|passage| passage.paper));
            }
        }
        cited.sort_unstable();
        cited.dedup();
        assert_eq!(cited, papers().iter().map(|paper| paper.key).collect::<Vec<_>>());
    }
}
