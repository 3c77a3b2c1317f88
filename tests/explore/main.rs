//! Exploring: the laws of the state, the keys line by line, and a real terminal.

#[cfg(unix)]
#[path = "../terminal/mod.rs"]
mod terminal;

#[cfg(unix)]
mod both;
mod laws;
mod plain;
#[cfg(unix)]
mod sessions;
mod written;
