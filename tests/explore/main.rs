//! Exploring: the laws of the state, the keys line by line, a real terminal, and pages that compute in a
//! real browser.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
#[cfg(unix)]
#[path = "../terminal/mod.rs"]
mod terminal;

#[cfg(unix)]
mod both;
mod laws;
mod pages;
mod plain;
mod program;
#[cfg(unix)]
mod sessions;
mod written;
