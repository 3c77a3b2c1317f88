//! Folders of models, and tokenizers.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::Path;

use attn::tokenizer::Tokenizer;
use tempfile::TempDir;

use super::bytes::{first_line, pieces};
use super::checked;
use super::commands::output;

/// The text for a tokenizer that comes without one.
const TEXT: &str = "The bat didn't sleep  in the cave, 42 times. Größe 👍🏽 蝙蝠 [MASK]";
/// The most bytes of numbers in a file of tensors.
const MOST_NUMBERS: usize = 1 << 20;

thread_local! {
    /// The one folder of a model that is written.
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// A tokenizer, and behind a line of `--` the text that it splits: every token is a part of the text, and its id has a piece.
pub fn tokenizer(bytes: &[u8]) {
    let parts = pieces(bytes);
    let text = parts.get(1).map_or_else(|| TEXT.into(), |text| String::from_utf8_lossy(text));
    let Some(tokenizer) = checked(Tokenizer::from_bytes("tokenizer.json", parts[0])) else { return };
    if let Some(tokens) = checked(tokenizer.encode(&text)) {
        for token in &tokens.tokens {
            assert!(text.get(token.range.clone()).is_some(), "{:?} is no part of the text", token.range);
        }
        let ids = tokens.ids();
        checked(tokenizer.tokens_of(&ids));
        let _ = tokenizer.text_of_ids(&ids);
    }
    checked(tokenizer.steps(&text));
}

/// A model's folder, its files between lines of `--`: the configuration; the header of the tensors in one line, with the number of
/// bytes behind it; the tokenizer, if there is one.
pub fn model(bytes: &[u8]) {
    let parts = pieces(bytes);
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path();
        write(folder, &parts);
        let run = |more: &[&str]| {
            let args = ["model".into(), folder.into()];
            let args: Vec<OsString> = args.into_iter().chain(more.iter().map(OsString::from)).collect();
            output(&args, b"");
        };
        run(&[]);
        run(&["--ids", "0,1,0", "--limit", "100000"]);
        run(&["--ids", "0,1", "--layer", "1", "--limit", "100000"]);
        run(&["the bat", "--next", "2", "--limit", "100000"]);
    });
}

fn write(folder: &Path, parts: &[&[u8]]) {
    let put =
        |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("a file can be written");
    put("config.json", parts[0]);
    let (header, count) = first_line(parts.get(1).copied().unwrap_or_default());
    let count = String::from_utf8_lossy(count).trim().parse().unwrap_or(0_usize).min(MOST_NUMBERS);
    // As f32, 0.009; as f16 and bf16 small numbers, too.
    let numbers: Vec<u8> = [0x11, 0x3c].into_iter().cycle().take(count).collect();
    put("model.safetensors", &[&(header.len() as u64).to_le_bytes()[..], header, &numbers].concat());
    let tokenizer = folder.join("tokenizer.json");
    match parts.get(2) {
        Some(text) => put("tokenizer.json", text),
        None if tokenizer.exists() => std::fs::remove_file(tokenizer).expect("a file can be removed"),
        None => {}
    }
}
