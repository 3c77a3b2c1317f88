//! The project itself: the README and `docs/` print what the program prints, and modules use only those above them.

#[path = "../common/mod.rs"]
mod common;

mod kinds;
mod player;
mod readme;
mod rooms;
