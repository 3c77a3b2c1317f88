//! The five texts that the demos follow.

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
