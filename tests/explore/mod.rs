//! Exploring: the laws of the state, the keys line by line, a real terminal, and pages that compute in a
//! real browser.

#[cfg(unix)]
mod both;
mod laws;
mod pages;
mod plain;
mod program;
#[cfg(unix)]
mod sessions;
mod written;
