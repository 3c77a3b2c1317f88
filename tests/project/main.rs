//! The project itself: the README and `docs/` print what the program prints, modules use only those above them, import
//! circles are counted.

#[path = "../common/mod.rs"]
mod common;

mod cycles;
mod examples;
mod imports;
mod kinds;
mod modules;
mod player;
mod readme;
