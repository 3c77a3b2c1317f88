//! What a user reads is plain English: the words that `docs/style.md` bans are in no help, demo, lesson or list.

use std::fs;
use std::path::Path;

use crate::common::attn;

/// Words and phrases that nobody says in class any more, or that mean something else.
const BANNED: [&str; 17] = [
    "mend",
    "mends",
    "mended",
    "deed",
    "deeds",
    "asked softly",
    "so many",
    "as the surroundings say",
    "anew",
    "whoever",
    "whom",
    "have you",
    "«",
    "»",
    "where the text says",
    "is no number",
    "goes on there",
];

/// The banned words of a text, each with the line that it stands in. Only whole words count, and a phrase may run over the
/// end of a line.
fn banned(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = format!(" {} ", words.join(" ").to_lowercase());
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let stands_alone = |at: usize, word: &str| {
        let (before, behind) = (&joined[..at], &joined[at + word.len()..]);
        !is_letter(word.chars().next().unwrap_or(' '))
            || !before.ends_with(is_letter) && !behind.starts_with(is_letter)
    };
    let around = |at: usize| -> String { joined[at..].chars().take(60).collect() };
    BANNED
        .iter()
        .flat_map(|word| joined.match_indices(word).filter(|(at, word)| stands_alone(*at, word)))
        .map(|(at, _)| around(at))
        .collect()
}

#[track_caller]
fn assert_plain(name: &str, text: &str) {
    assert!(text.len() > 100, "{name} is hardly there:\n{text}");
    assert_eq!(banned(text), Vec::<String>::new(), "in {name}");
}

#[test]
fn a_banned_word_is_found_across_lines_and_only_as_a_whole_word() {
    assert_eq!(banned("It is asked\n   softly, and amended.").len(), 1);
    assert_eq!(banned("So  many heads; indeed, “whom”").len(), 2);
    assert!(banned("it recommends a renewed look").is_empty());
}

#[test]
fn the_help_of_every_command_is_plain() {
    let folder = tempfile::tempdir().expect("a folder");
    attn("man --write").arg(folder.path().to_str().expect("UTF-8")).ok();
    let mut pages = 0;
    for entry in fs::read_dir(folder.path()).expect("pages") {
        let path = entry.expect("a page").path();
        assert_plain(&path.display().to_string(), &fs::read_to_string(&path).expect("UTF-8"));
        pages += 1;
    }
    assert!(pages > 20, "only {pages} pages");
    assert_plain("attn", &attn("").ok().out);
}

#[test]
fn demos_are_plain() {
    for demo in attn::demo::demos() {
        assert_plain(demo.name, &attn(&format!("demo {} --full", demo.name)).ok().out);
    }
}

#[test]
fn lists_and_references_are_plain() {
    for command in [
        "demo",
        "errata",
        "notation",
        "glossary",
        "diagnose --list",
        "lesson",
        "lesson directives",
        "examples",
        "params",
        "help environment",
        "attend --words 'The bat lives in the cave, or so' --causal",
        "similarity bat cave racket",
        "softmax 1 2 -inf",
    ] {
        assert_plain(command, &attn(command).ok().out);
    }
    for mistake in attn::diagnose::catalogue() {
        assert_plain(&mistake.id, &attn(&format!("diagnose --list {}", mistake.id)).ok().out);
    }
}

#[test]
fn lessons_and_pages_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["walkthroughs", "docs", "."] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("a file").path();
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            // The page that lists the banned words has to say them.
            if is_page && !path.ends_with("docs/style.md") {
                assert_plain(&path.display().to_string(), &fs::read_to_string(&path).expect("UTF-8"));
            }
        }
    }
}
