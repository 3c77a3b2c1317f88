//! How numbers are shown.

pub mod numpy;
