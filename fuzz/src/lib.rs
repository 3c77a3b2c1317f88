//! What is fuzzed: one function for each thing that reads foreign bytes. A function takes any bytes and returns; it panics
//! where the program would, or where something does not hold that always should.
//!
//! `fuzz/fuzz_targets/` hands them the bytes of libFuzzer, `tests/input/corpus.rs` the seeds in `fuzz/corpus/`. Both include this
//! file, so it uses what the library shows to everyone.

mod bytes;
mod commands;
mod files;
mod kernels;
mod lessons;
mod models;

pub use commands::{cli, through_the_program};
pub use files::{config, json, npy, npz, packed, safetensors, text, words};
pub use kernels::kernel;
pub use lessons::{demo, key, lesson, mistakes, prose};
pub use models::{model, tokenizer};

/// What takes any bytes.
pub type Target = fn(&[u8]);

/// Every target under the name of its program and of its folder of seeds.
pub const TARGETS: [(&str, Target); 17] = [
    ("npy", npy),
    ("npz", npz),
    ("packed", packed),
    ("safetensors", safetensors),
    ("json", json),
    ("text", text),
    ("words", words),
    ("config", config),
    ("lesson", lesson),
    ("demo", demo),
    ("mistakes", mistakes),
    ("key", key),
    ("prose", prose),
    ("cli", cli),
    ("kernel", kernel),
    ("model", model),
    ("tokenizer", tokenizer),
];

/// The value, if there is one. What an error says of foreign text is fit for a terminal.
fn checked<T>(result: attn::error::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert_fit_for_a_terminal(&error.to_string());
            None
        }
    }
}

/// Nothing in it moves the cursor, sets a title or turns the direction of writing.
#[track_caller]
fn assert_fit_for_a_terminal(text: &str) {
    let drives = |c: char| c.is_control() && c != '\n' && c != '\t';
    let turns = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if let Some(bad) = text.chars().find(|&c| drives(c) || turns(c)) {
        panic!("{bad:?} reaches the terminal in {text:?}");
    }
}
