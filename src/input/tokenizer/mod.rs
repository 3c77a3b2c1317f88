//! Text to the tokens of a model and back, by the rules of its `tokenizer.json`.
//!
//! The crate `tokenizers` applies the rules. What is in the file is checked first, because the crate panics on some files
//! that are broken; and [`Tokenizer::steps`] shows how a word became its tokens, by code of its own.

mod added;
mod bytes;
mod charsmap;
mod checks;
mod components;
mod encode;
mod file;
mod ids;
mod kind;
mod longest;
mod merges;
mod normalizing;
mod step;
mod steps;
mod token;
mod unknown;
mod words;

pub use added::{AddedToken, AddedTokens};
pub use bytes::{SPACE, marked};
pub use encode::Tokenizer;
pub use ids::parse_ids;
pub use kind::TokenizerKind;
pub use step::{Step, WordSteps};
pub use token::{Token, TokenSource, Tokens};
