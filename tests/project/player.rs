//! The player's state machine is pure: what happens in it depends on the state and the event alone.

use std::fs;
use std::path::Path;

/// What reads a clock, a file, a key or a terminal, or writes anywhere.
const IMPURE: [&str; 10] = [
    "std::fs",
    "std::io",
    "std::env",
    "std::process",
    "Instant",
    "SystemTime",
    "print!",
    "println!",
    "crossterm",
    "rustix",
];

fn impure(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| IMPURE.iter().any(|words| line.contains(words))).collect()
}

#[test]
fn neither_update_nor_view_reads_a_clock_or_touches_a_terminal_or_a_file() {
    let play = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lesson/play");
    let mut files: Vec<_> = ["state.rs", "overlay.rs", "class.rs", "timing.rs", "typing.rs", "event.rs"]
        .map(|name| play.join(name))
        .into_iter()
        .collect();
    for folder in ["update", "view"] {
        let entries = fs::read_dir(play.join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    assert!(files.len() >= 15, "only {} files were read", files.len());
    for path in files {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(impure(code).is_empty(), "{}: {:?}", path.display(), impure(code));
    }
}

#[test]
fn a_clock_that_is_read_is_found() {
    let line = "let began = std::time::Instant::now();";
    assert_eq!(impure(line), [line]);
    assert!(impure("// no Instant here\nlet now = event.at;").is_empty());
}
