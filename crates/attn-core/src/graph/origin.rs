//! The origin of given numbers.

use serde::{Deserialize, Serialize};

use super::named::named;
use crate::foreign::visible;

named!(Drawn { seed: u32 });
named!(User { source: String });
named!(Weights { name: String });
named!(Stream { layer: usize });
named!(Config { field: String });
named!(RowsFrom { origins: Vec<Origin> });

/// The origin of the numbers of a leaf. In JSON: `{"kind": "drawn", "seed": 0}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Stated by the demo or the document.
    Stated,
    /// The identity, because nothing else was given.
    Identity,
    /// Stated by the demo, cut or repeated to fit the user's matrices.
    Fitted,
    /// Drawn from NumPy's legacy stream of this seed.
    #[serde(with = "Drawn")]
    Drawn(u32),
    /// Given by the user: the file or the argument.
    #[serde(with = "User")]
    User(String),
    /// A tensor of a model's files, by its name there.
    #[serde(with = "Weights")]
    Weights(String),
    /// The residual stream that enters a layer, counted from 1, as it was recorded.
    #[serde(with = "Stream")]
    Stream(usize),
    /// Keys or values of earlier tokens.
    Cache,
    /// A field of a model's configuration.
    #[serde(with = "Config")]
    Config(String),
    /// A word's vector, invented from its letters.
    Letters,
    /// Zeros, in place of a part that is taken out.
    Removed,
    /// Each row comes from somewhere else.
    #[serde(with = "RowsFrom")]
    Rows(Vec<Origin>),
    /// A saved file has the numbers, but not what they were computed from.
    Saved,
}

impl Origin {
    /// The origin of a row.
    pub fn of_row(&self, row: usize) -> &Origin {
        match self {
            Origin::Rows(rows) => rows.get(row).unwrap_or(self),
            _ => self,
        }
    }

    /// The origin with its words made visible, as a screen shows them: a file may have anything in them.
    pub(super) fn visible(self) -> Origin {
        let shown = |text: String| visible(&text).into_owned();
        match self {
            Origin::User(source) => Origin::User(shown(source)),
            Origin::Weights(name) => Origin::Weights(shown(name)),
            Origin::Config(field) => Origin::Config(shown(field)),
            Origin::Rows(rows) => Origin::Rows(rows.into_iter().map(Origin::visible).collect()),
            other => other,
        }
    }

    /// Returns true if the numbers are those of a model, or were recorded while it ran.
    pub fn is_of_model(&self) -> bool {
        matches!(self, Origin::Weights(_) | Origin::Stream(_) | Origin::Cache | Origin::Config(_))
    }

    /// A remark about the origin of a row, shown beside its numbers; `None` for the expected origin.
    pub fn row_note(&self, row: usize) -> Option<String> {
        matches!(self.of_row(row), Origin::Letters).then(|| self.of_row(row).to_string())
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Stated => write!(f, "given"),
            Origin::Fitted => write!(f, "the demo's own rows, adjusted to fit"),
            Origin::Identity => write!(f, "identity, because none is given"),
            Origin::Drawn(seed) => write!(f, "randn, seed {seed}"),
            Origin::User(source) => write!(f, "given by {source}"),
            Origin::Weights(name) => write!(f, "{name} of the model's file"),
            // What leaves the last layer enters none.
            Origin::Stream(0 | 1) => write!(f, "the residual stream that enters layer 1, recorded"),
            Origin::Stream(layer) => write!(f, "the residual stream after layer {}, recorded", layer - 1),
            Origin::Cache => write!(f, "the key/value cache"),
            Origin::Config(field) => write!(f, "`{field}` of config.json"),
            Origin::Letters => write!(f, "invented from its letters"),
            Origin::Removed => write!(f, "0, because it is taken out"),
            Origin::Saved => write!(f, "recorded in the file"),
            Origin::Rows(_) => write!(f, "one vector per word"),
        }
    }
}
