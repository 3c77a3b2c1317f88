//! `attn`: an explorer of the attention mechanism.
#![deny(unsafe_code)]

pub mod attention;
pub mod cli;
pub mod demo;
pub mod elementary;
pub mod error;
pub mod graph;
pub mod input;
pub mod kernel;
pub mod matrix;
pub mod params;
pub mod render;
