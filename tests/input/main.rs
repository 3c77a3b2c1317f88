//! What the program reads: files, standard input, words and configurations, good and bad.

#[path = "../common/mod.rs"]
mod common;

mod bad;
mod binary;
mod formats;
mod own_words;
mod params;
mod refusals;
mod round_trips;
mod saving;
