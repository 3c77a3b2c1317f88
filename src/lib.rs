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
//! # The way through
//!
//! ```text
//! argv ──▶ cli ──▶ input ──▶ graph (built by a demo, or by `attend`) ──▶ story ──▶ render ──▶ bytes
//!                              ▲       │
//!                              │       ├──▶ explain   one cell: its terms, and theirs
//!                  attention ──┘       ├──▶ diagnose  the same with one step taken wrongly, run again and compared
//!              (the mathematics)       └──▶ lesson    plays and checks commands, through the same `cli::run`
//! ```
//!
//! # The crates and their modules, from the bottom up
//!
//! A crate uses those above it in this list, and so does a module within a crate; a test checks the order of modules.
//!
//! - [`attn_kernel`](kernel): the fast path: fused attention in the widest registers the processor has, to the same bits everywhere
//! - [`attn_core`]: the mathematics, the graph, explanations, counts of parameters, diagnosis; its modules are here too
//! - [`attn_story`]: [`answer`], the answers to questions and their judge; [`story`], a graph to steps and sentences; and the looks that
//!   formats share, with those of a page in HTML
//! - `attn`, this crate:
//!   - [`error`]: the errors of the core, and the exit codes of commands
//!   - `terminal`: the background colour of the terminal, and signals
//!   - [`input`]: files, typed matrices, word vectors
//!   - [`mod@bench`]: the speed of the paths, the memory they need, and the limits of the machine
//!   - [`demo`]: the steps of the five documents, and algorithms of papers, each a graph with its sentences
//!   - [`render`]: a graph to a terminal, JSON, NumPy's text, Markdown, LaTeX, CSV, HTML
//!   - `explorer`: walking through a graph in the terminal
//!   - [`lesson`]: Markdown to steps that are played, checked and exported
//!   - [`cli`]: the command line
//!
//! [`attn_core`] explains the words of the field and the names of nodes.
#![forbid(unsafe_code)]

pub mod bench;
pub mod cli;
pub mod demo;
pub mod error;
mod explorer;
pub mod input;
pub mod lesson;
pub mod render;
mod terminal;

pub use attn_core::{
    attention, diagnose, elementary, explain, explore, foreign, graph, hint, json_number, json_tree, kernel,
    learn, matrix, memory, model, params, random, tensor, text, unique,
};
pub use attn_story::{answer, story};
