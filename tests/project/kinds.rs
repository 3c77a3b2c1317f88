//! A kind of question is its own file: no other names it.

use std::fs;
use std::path::{Path, PathBuf};

/// The types that stand for one kind each; only the list of kinds may name them outside of their files.
const TYPES: [&str; 5] = ["Choice", "Number", "Cell", "Order", "Open"];
/// What a file would write that decides by the kind of a question rather than ask it.
const DECIDES: [&str; 3] = ["kind.word() ==", "kind.word() !=", "match question.kind"];

/// The lines of code that decide by one kind of question.
fn deciding(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names_one = |line: &str| {
        TYPES
            .iter()
            .any(|kind| ["Kind::", "question::"].iter().any(|path| line.contains(&format!("{path}{kind}"))))
    };
    code.filter(|line| names_one(line) || DECIDES.iter().any(|words| line.contains(words))).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_file_outside_its_folder_decides_by_the_kind_of_a_question() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for folder in ["lesson", "cli/lesson"] {
        for path in files(&root.join(folder)) {
            let is_rust = path.extension().is_some_and(|ending| ending == "rs");
            if !is_rust || path.starts_with(root.join("lesson/question")) {
                continue;
            }
            let text = fs::read_to_string(&path).expect("UTF-8");
            let found = deciding(&text);
            assert!(found.is_empty(), "{}: ask the kind of the question instead: {found:?}", path.display());
            read += 1;
        }
    }
    assert!(read > 90, "only {read} files were read");
}

#[test]
fn a_decision_by_one_kind_is_found() {
    for line in [
        "if question.kind == Kind::Choice {",
        "    match question.kind {",
        "question.kind.word() == \"open\"",
    ] {
        assert_eq!(deciding(line), [line]);
    }
    assert!(deciding("// Kind::Choice\nif question.kind.is_graded() {").is_empty());
}

#[test]
fn each_kind_is_one_file_and_one_entry_of_the_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lesson/question");
    let list = fs::read_to_string(folder.join("list.rs")).expect("the list");
    let mut kinds = 0;
    for path in files(&folder) {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let own = text.matches("impl QuestionKind for ").count();
        assert!(own <= 1, "{} has {own} kinds", path.display());
        if let Some((_, rest)) = text.split_once("impl QuestionKind for ") {
            let name = rest.split_whitespace().next().expect("a name");
            assert!(list.contains(&format!("Kind::new(&{name})")), "{name} is not in the list");
            kinds += 1;
        }
    }
    assert_eq!(kinds, attn::lesson::question::KINDS.len());
}
