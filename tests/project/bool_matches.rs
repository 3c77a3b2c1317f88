//! A `match` on a bool reads worse than an `if`: at most five of them are in the project.

use std::fs;
use std::path::Path;

use super::options::sources;

/// The folders with Rust sources.
const FOLDERS: [&str; 6] = ["src", "crates", "tests", "benches", "examples", "fuzz/src"];
/// At most this many are left.
const MOST: usize = 5;

/// The number of `match`es on a bool in a text as rustfmt writes it, where each arm begins a line. Bools inside other patterns
/// do not count.
fn matches_on_bool(text: &str) -> usize {
    let arms = |pattern: &str| {
        let is_arm = |line: &&str| {
            let rest = line.trim_start().strip_prefix(pattern);
            rest.is_some_and(|rest| rest.starts_with(" =>") || rest.starts_with(" if "))
        };
        text.lines().filter(is_arm).count()
    };
    arms("true").max(arms("false"))
}

#[test]
fn at_most_five_matches_on_a_bool_are_left() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut read = 0;
    for path in FOLDERS.into_iter().flat_map(|folder| sources(&root.join(folder))) {
        if path.extension().is_some_and(|ending| ending == "rs") {
            read += 1;
            let count = matches_on_bool(&fs::read_to_string(&path).expect("UTF-8"));
            found.extend((0..count).map(|_| path.clone()));
        }
    }
    assert!(found.len() <= MOST, "write `if` instead: {found:?}");
    assert!(read > 500, "only {read} files were read");
}

#[test]
fn a_match_on_a_bool_is_found_and_no_other() {
    let on_bool = "match is_new {\n    true => 1,\n    false => 2,\n}\nmatch is_old {\n    true if x => 1,\n    _ => 2,\n}\n";
    assert_eq!(matches_on_bool(on_bool), 2);
    let others = "match (a, b) {\n    (true, _) => 1,\n    [false, true] => 2,\n    Some(true) => 3,\n}\nlet trueness = 1;\n";
    assert_eq!(matches_on_bool(others), 0);
}
