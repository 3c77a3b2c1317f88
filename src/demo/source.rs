//! The source of a demo: a section of one of the five documents, passages of papers, or a model of the program.

use std::fmt;
use std::sync::LazyLock;

use attn_core::data_file::entries;
use serde::Deserialize;

use crate::error::{Error, Result};

/// One of the five texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Document {
    /// Interaction matrices, softmax, Q/K/V and the mask in NumPy.
    #[serde(rename = "000")]
    Understanding,
    /// Attention as a series of matrix products.
    #[serde(rename = "001")]
    Multiplication,
    /// Similarity, context vectors, and the effect of the matrices on them.
    #[serde(rename = "002")]
    Similarity,
    /// From averages to attention, heads, the perceptron.
    #[serde(rename = "003")]
    Imagined,
    /// The column convention, Δe, low rank, and where the parameters are.
    #[serde(rename = "004")]
    OneThird,
}

impl Document {
    /// All five, in order.
    pub const ALL: [Document; 5] = [
        Document::Understanding,
        Document::Multiplication,
        Document::Similarity,
        Document::Imagined,
        Document::OneThird,
    ];

    /// The document of this number.
    ///
    /// # Errors
    /// If there is none; the error lists them.
    pub fn numbered(number: &str) -> Result<Document> {
        let padded = format!("{number:0>3}");
        Document::ALL.into_iter().find(|document| document.number() == padded).ok_or_else(|| {
            let known: Vec<String> =
                Document::ALL.iter().map(|d| format!("{} “{}”", d.number(), d.title())).collect();
            Error::new(format!("there is no document `{number}`"))
                .help(format!("the documents are {}", known.join(", ")))
        })
    }

    /// Its number on the command line: `000` to `004`.
    pub fn number(self) -> &'static str {
        ["000", "001", "002", "003", "004"][self as usize]
    }

    /// What it says of itself, or its address, so that a reader can find it.
    pub fn found(self) -> &'static str {
        [
            "“All about matrix multiplications.”, published June 19, 2023",
            "to be found at joshbelanich.com",
            "adapted from “The math behind Attention: Keys, Queries, and Values matrices”, a video by Luis Serrano",
            "“An intuitive build up to Attention and Transformer”, licensed under CC BY 4.0",
            "by ElMan23, following 3Blue1Brown, July 27, 2024",
        ][self as usize]
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        [
            "Understanding the attention mechanism",
            "Multi-Headed attention as matrix multiplication",
            "Mathematical details behind self-attention",
            "Attention and Transformer Imagined",
            "Attention is about 1/3 of what you need",
        ][self as usize]
    }
}

/// The source of a demo.
#[derive(Debug)]
pub enum Source {
    /// A section of a document.
    Section {
        /// The document.
        document: Document,
        /// Its section.
        section: String,
        /// Further documents that the demo belongs to.
        also: Vec<Document>,
    },
    /// Passages of papers, the one with the idea first.
    Papers {
        /// In this order.
        papers: Vec<Passage>,
    },
    /// A model that travels with the program.
    Model {
        /// In words.
        model: String,
    },
}

/// A place in a paper.
#[derive(Debug)]
pub struct Passage {
    /// The paper's key in `data/papers.toml`.
    pub paper: String,
    /// The algorithm or the section.
    pub place: String,
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
    /// The source that a demo's file names: `000, “Masked attention”`, a document and its section, `; 003` if it belongs to another one
    /// too; `su-2021, section 3.2; chen-2023,
    /// section 2.3`, papers and places in them; or anything else in words.
    pub fn of_text(text: &str) -> Source {
        let document = |number: &str| Document::numbered(number).ok().filter(|_| number.len() == 3);
        let (first, others) = text.split_once("; ").unwrap_or((text, ""));
        let also: Option<Vec<Document>> =
            others.split(", ").filter(|other| !other.is_empty()).map(document).collect();
        if let (Some((number, section)), Some(also)) = (first.split_once(", "), also)
            && let Some(document) = document(number)
        {
            let section = section.trim_matches(['“', '”']).to_string();
            return Source::Section { document, section, also };
        }
        let parts: Option<Vec<(&str, &str)>> = text.split("; ").map(|part| part.split_once(", ")).collect();
        let is_paper = |key: &str| papers().iter().any(|paper| paper.key == key);
        match parts.as_deref() {
            Some(parts) if parts.iter().all(|(key, _)| is_paper(key)) => {
                let passage = |(key, place): &(&str, &str)| Passage {
                    paper: key.to_string(),
                    place: place.to_string(),
                };
                Source::Papers { papers: parts.iter().map(passage).collect() }
            }
            _ => Source::Model { model: text.to_string() },
        }
    }

    /// The document, if it is a section of one.
    pub fn document(&self) -> Option<Document> {
        match self {
            Source::Section { document, .. } => Some(*document),
            Source::Papers { .. } | Source::Model { .. } => None,
        }
    }

    /// Returns true if the demo follows this document, or belongs to it.
    pub fn is_of(&self, document: Document) -> bool {
        match self {
            Source::Section { document: first, also, .. } => *first == document || also.contains(&document),
            Source::Papers { .. } | Source::Model { .. } => false,
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
            Source::Model { model } => f.write_str(model),
            Source::Papers { papers } => papers.iter().enumerate().try_for_each(|(i, passage)| {
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
        let source = &find("online").unwrap().source;
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
        let source = &find("block").unwrap().source;
        assert_eq!(source.document(), Some(Document::OneThird));
        assert!(source.is_of(Document::Imagined) && !source.is_of(Document::Similarity));
        assert!(source.to_string().ends_with("; Attention and Transformer Imagined"), "{source}");
    }

    #[test]
    fn every_paper_is_read_and_every_paper_that_a_demo_names_is_there_and_the_other_way_round() {
        let mut cited: Vec<&str> = Vec::new();
        for demo in demos() {
            if let Source::Papers { papers } = &demo.source {
                cited.extend(papers.iter().map(|passage| &*passage.paper));
            }
        }
        cited.sort_unstable();
        cited.dedup();
        assert_eq!(cited, papers().iter().map(|paper| paper.key).collect::<Vec<_>>());
    }
}
