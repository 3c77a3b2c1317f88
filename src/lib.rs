//! `attn` explores the attention mechanism: every number, and where it came from.
//!
//! One idea carries the crate: a lesson is a small computation [`graph`] whose every number can say where it came from.
//! Demos and `attn attend` build such a graph; everything that is shown is read from it.
//!
//! ```
//! use attn::graph::recipes::{AttendInputs, Recipe, attend};
//! use attn::graph::{CellId, symbolic};
//! use attn::matrix::Matrix;
//!
//! let x = Matrix::of([[3.0, 3.0], [4.0, 0.0]]).rows_named(&["bat", "cave"]);
//! let graph = attend(&Recipe::default(), AttendInputs::of_tokens(x))?;
//!
//! let scores = graph.require("S")?;
//! assert_eq!(graph.matrix(scores)?[(0, 1)], 12.0);
//! let terms = graph.terms(CellId { node: scores, row: 0, col: 1 });
//! assert_eq!(symbolic(&graph, &terms), "q11·k21 + q12·k22");
//! # Ok::<(), attn::error::Error>(())
//! ```
//!
//! [`attn_core`] explains the words of the field and the names of nodes.
//!
#![doc = include_str!("../docs/architecture.md")]
#![forbid(unsafe_code)]

pub mod bench;
pub mod cli;
pub mod demo;
pub mod error;
mod explorer;
pub mod input;
pub mod lesson;
pub mod render;
pub mod site;
mod terminal;

pub use attn_core::{
    attention, diagnose, elementary, explain, explore, foreign, graph, json_number, json_tree, kernel,
    language, learn, matrix, memory, model, params, random, read, tensor, text, tokenizer,
};
pub use attn_story::{answer, story};
