//! A graph as something to read: steps with sentences, the look of its numbers, and a page. Nothing here knows a command line,
//! colours of a terminal, or files; the program and its pages in a browser both use it.
#![forbid(unsafe_code)]

pub mod answer;
pub mod live;
pub mod render;
pub mod story;

pub use attn_core::{
    attention, data_file, diagnose, elementary, error, explain, explore, foreign, graph, json_number, kernel,
    matrix, memory, model, params, random, read, tensor, text,
};
