//! All tests of the program but those of its memory, as one program: it links once. Each folder is a group of claims, each file in
//! it a smaller one: `cargo test --test all screen::theme` runs one.

mod browser;
mod cases;
mod common;
mod exercise;
mod golden;
mod mistakes;
#[path = "common/random.rs"]
mod random;
#[cfg(unix)]
mod terminal;

mod diagnose;
mod documents;
mod explore;
mod fast;
mod input;
mod language;
mod lesson;
mod model;
mod project;
mod saved;
mod screen;
mod site;
