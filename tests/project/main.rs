//! The project itself: the README and `docs/` print what the program prints, modules use only those above them, import
//! circles and matches on a bool are counted.

#[path = "../common/mod.rs"]
mod common;

mod bool_matches;
mod cycles;
mod examples;
mod imports;
mod kinds;
mod modules;
mod options;
mod player;
mod readme;
