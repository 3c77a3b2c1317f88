//! The core of `attn`: attention as a computation graph in which every number can say where it came from.
//!
//! No files, no terminal, no command line: recipes build a [`graph`]; its user can ask each cell for its terms, run it again
//! with one step changed, or compare it with other numbers.
//!
//! ```
//! use attn_core::explain::{Depth, LongSums};
//! use attn_core::{AttendInputs, CellId, Matrix, Recipe, attend, explain, symbolic};
//!
//! let x = Matrix::of([[3.0, 3.0], [4.0, 0.0]]).rows_named(&["bat", "cave"]);
//! let graph = attend(&Recipe::default(), AttendInputs::of_tokens(x))?;
//!
//! let scores = graph.require("S")?;
//! assert_eq!(graph.matrix(scores)?[(0, 1)], 12.0);
//! let cell = CellId { node: scores, row: 0, col: 1 };
//! assert_eq!(symbolic(&graph, &graph.terms(cell)), "q11·k21 + q12·k22");
//! let tree = explain(&graph, &[cell], Depth::Levels(1), LongSums::Shortened)?;
//! assert_eq!((tree[0].address.as_str(), tree[0].operands.len()), ("S[bat,cave]", 4));
//! # Ok::<(), attn_core::error::Error>(())
//! ```
//!
//! # The modules, from the bottom up
//!
//! A module uses those above it in this list, never those below; a test checks that order.
//!
//! - [`foreign`]: text from outside: invisible characters are escaped before it is shown
//! - [`text`]: counts, lists, clipped quotations, quantities, likely meanings of a mistyped word
//! - [`error`]: errors with a kind, a place and a remedy
//! - [`memory`]: one budget of memory for a command
//! - [`json_tree`]: JSON as a tree whose memory is counted, and without repeated names
//! - [`json_number`]: a number as JSON, every bit of it
//! - [`data_file`]: data files that are part of the program
//! - [`elementary`]: exp, ln, sin … with the same bits on every machine
//! - [`matrix`]: a matrix of `f64` with labels
//! - [`random`]: the random numbers of NumPy's legacy generator
//! - [`tensor`]: numbers of any type, in memory or in a file; a matrix is its view in `f64`
//! - [`attention`]: the mathematics, one step, one function; [`attend_fused`] runs it in [`attn_kernel`]
//! - [`graph`]: nodes, ops, the terms of a cell; recipes that build whole pipelines
//! - [`mod@explain`]: one cell, its terms, and theirs
//! - [`params`]: from a model's configuration to its weight matrices and their counts
//! - [`model`]: a model from its files: which tensors, and the graph of its layers
//! - [`learn`]: small models that learn: tasks, a batch of examples as a plan, Adam
//! - [`explore`]: a state over a graph: a cursor, edits, and what depends on them
//! - [`read`]: texts of numbers: tables, matrices that are typed or printed, JSON
//! - [`tokenizer`]: text and the ids of its tokens, step by step
//! - [`diagnose`]: a student's numbers beside the right ones, and the mistakes that give them
//!
//! # The words of the field
//!
//! Rows are tokens throughout: `Q = X W_Q`, and the softmax runs along a row.
//!
//! | name | shape | is |
//! |---|---|---|
//! | T, N | | query tokens, source tokens (keys and values) |
//! | H, G | | query heads, key/value heads; query head h reads key/value head ⌈h·G/H⌉, both from 1 |
//! | d_k, d_v | | width of a key (and a query), width of a value |
//! | `X` | (T, d) | tokens |
//! | `W_Q` `W_K` `W_V` `W_O` | | weights of the projections |
//! | `Q` `K` `V` | (T, d_k) (N, d_k) (N, d_v) | queries, keys, values |
//! | `S` | (T, N) | scores: the dot products of queries and keys, or another measure |
//! | `S_scaled` `S_biased` `S_tempered` `S_masked` | (T, N) | the scores after scale, bias, temperature, mask, in this order |
//! | `A` | (T, N) | weights, the attention pattern: the softmax of each row |
//! | `LSE` | (T, H) | ln Σ exp of each row that a softmax reads, a column for each head; the fast path has it in place of `A` |
//! | `C` | (T, H·d_v) | the heads' outputs side by side |
//! | `P` | (T, d) | `C W_O`, where a residual follows |
//! | `O` | (T, d) | the result |
//!
//! `scale` *multiplies*; its default is 1/√d_k. A boolean mask says `true = may attend`; a numeric one is added. Under the
//! causal mask T queries are the last T of the N tokens. A fully masked row has weights 0 and output 0.
#![forbid(unsafe_code)]

pub mod attention;
pub mod data_file;
pub mod diagnose;
pub mod elementary;
pub mod error;
pub mod explain;
pub mod explore;
pub mod foreign;
pub mod graph;
pub mod json_number;
pub mod json_tree;
pub mod language;
pub mod learn;
pub mod matrix;
pub mod memory;
pub mod model;
pub mod params;
pub mod random;
pub mod read;
pub mod tensor;
pub mod text;
pub mod tokenizer;

pub use attn_kernel as kernel;

pub use error::{Error, Result};
pub use explain::explain;
pub use graph::recipes::{AttendInputs, Recipe, attend, attend_fused};
pub use graph::{CellId, Graph, Op, Origin, symbolic};
pub use matrix::Matrix;
