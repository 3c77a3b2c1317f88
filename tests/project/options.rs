//! Only the command line knows how an option is typed. Below it sentences name a [`Hint`](attn::hint::Hint), and lessons are
//! given the names of the options that they read.

use std::fs;
use std::path::{Path, PathBuf};

/// What is below the command line.
const BELOW: [&str; 5] = [
    "crates/attn-kernel/src",
    "crates/attn-core/src",
    "crates/attn-story/src",
    "crates/attn-page/src",
    "src",
];
/// The command line.
const COMMAND_LINE: &str = "src/cli";
/// An option of the program that runs Rust's tests.
const OF_THE_TESTS: &str = "--exact";

/// The contents of the string literals of a text in Rust, as they are written there.
fn literals(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        let begins = |with: &str| with.chars().enumerate().all(|(i, c)| rest.get(i) == Some(&c));
        let is_in_name = at > 0 && (characters[at - 1].is_alphanumeric() || characters[at - 1] == '_');
        let hashes = rest.iter().skip(1).take_while(|c| **c == '#').count();
        at += if begins("//") {
            rest.iter().take_while(|c| **c != '\n').count()
        } else if rest[0] == 'r' && !is_in_name && rest.get(1 + hashes) == Some(&'"') {
            let end: String = std::iter::once('"').chain("#".repeat(hashes).chars()).collect();
            let inside: String = rest[2 + hashes..].iter().collect();
            let literal = inside.split(&end).next().unwrap_or_default().to_string();
            let length = 2 + hashes + literal.chars().count() + end.len();
            found.push(literal);
            length
        } else if rest[0] == '"' {
            let mut length = 1;
            while rest.get(length).is_some_and(|c| *c != '"') {
                length += if rest[length] == '\\' { 2 } else { 1 };
            }
            found.push(rest[1..length.min(rest.len())].iter().collect());
            length + 1
        } else if begins("'\\") {
            // A character such as `'\''` or `'\u{1b}'`.
            3 + rest[3..].iter().take_while(|c| **c != '\'').count() + 1
        } else if rest[0] == '\'' && rest.get(2) == Some(&'\'') {
            3
        } else {
            1
        };
    }
    found
}

/// Whether a text has an option in it: two hyphens and a letter that nothing stands right before.
fn has_option(text: &str) -> bool {
    let mut places = text.match_indices("--");
    places.any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let is_begin = before.is_none_or(|c| !c.is_alphanumeric() && c != '-');
        is_begin && text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// All files below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn no_text_below_the_command_line_says_how_an_option_is_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for path in BELOW.into_iter().flat_map(|folder| sources(&root.join(folder))) {
        let is_rust = path.extension().is_some_and(|ending| ending == "rs");
        if !is_rust || path.starts_with(root.join(COMMAND_LINE)) {
            continue;
        }
        for literal in literals(&fs::read_to_string(&path).expect("UTF-8")) {
            let is_free = !has_option(&literal) || literal == OF_THE_TESTS;
            assert!(is_free, "{}: name a `Hint` instead: {literal}", path.display());
            read += 1;
        }
    }
    assert!(read > 5000, "only {read} texts were read");
}

#[test]
fn an_option_in_a_literal_is_found_and_none_in_a_comment() {
    let text = "// \"--a\"\nlet c = '\"'; let d = '\\''; f(\"leave out --fast\", r#\"a \"--b\" c\"#, \"<!-- x -->\", \"\\\"--e\")";
    let found: Vec<String> = literals(text).into_iter().filter(|literal| has_option(literal)).collect();
    assert_eq!(found, ["leave out --fast", "a \"--b\" c", "\\\"--e"]);
}
