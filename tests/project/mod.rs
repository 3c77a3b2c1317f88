//! The project itself: the README and `docs/` print what the program prints, modules use only those above them, import
//! circles are counted.

mod cycles;
mod examples;
mod imports;
mod modules;
mod readme;
