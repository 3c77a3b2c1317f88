//! A story whose numbers can be changed: what a page holds of it, and what it shows after each event.
//!
//! An [`Opening`] is all that a page needs to compute for itself: the graph, its recipe where it has one, and the steps of its
//! story. [`Pages`] answers requests in JSON, one after the other. The state behind them is that of [`crate::explore`], and
//! the tables are those of the page that needs no computing.

mod open_story;
mod opening;
mod pages;
mod request;
pub mod sentences;
mod story;
mod view;
mod what_if;

pub use opening::Opening;
pub use pages::Pages;
pub use what_if::{ChangedField, changed_fields};
