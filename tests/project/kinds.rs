//! A kind of question is its own file: no other names it.

use std::fs;
use std::path::{Path, PathBuf};

/// What the file of a kind has once.
const IMPLEMENTS: &str = "impl QuestionKind for ";
/// What a file would write that decides by the kind of a question rather than ask it.
const DECIDES: [&str; 3] = ["kind.word() ==", "kind.word() !=", "match question.kind {"];

/// The names of the kinds: `Choice` of `ChoiceKind`, and so on.
fn kinds() -> Vec<String> {
    let name = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("UTF-8");
        assert!(text.matches(IMPLEMENTS).count() <= 1, "{} has several kinds", path.display());
        let (_, rest) = text.split_once(IMPLEMENTS)?;
        rest.split_whitespace().next()?.strip_suffix("Kind").map(str::to_string)
    };
    files(&source("lesson/question")).into_iter().filter_map(name).collect()
}

/// The lines of code that decide by one kind of question.
fn deciding<'t>(text: &'t str, kinds: &[String]) -> Vec<&'t str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names_one = |line: &str| {
        let named = |kind: &String| [format!("Kind::{kind}"), format!("question::{kind}")];
        kinds.iter().flat_map(named).any(|name| line.contains(&name))
    };
    code.filter(|line| names_one(line) || DECIDES.iter().any(|words| line.contains(words))).collect()
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_file_outside_its_folder_decides_by_the_kind_of_a_question() {
    let (kinds, own) = (kinds(), source("lesson/question"));
    let mut read = 0;
    for path in ["lesson", "cli/lesson"].into_iter().flat_map(|folder| files(&source(folder))) {
        let is_rust = path.extension().is_some_and(|ending| ending == "rs");
        if is_rust && !path.starts_with(&own) {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let found = deciding(&text, &kinds);
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
        assert_eq!(deciding(line, &kinds()), [line]);
    }
    assert!(deciding("// Kind::Choice\nif question.kind.is_graded() {", &kinds()).is_empty());
}

#[test]
fn each_kind_is_one_file_and_one_entry_of_the_list() {
    let list = fs::read_to_string(source("lesson/question/mod.rs")).expect("the list");
    for kind in kinds() {
        assert!(list.contains(&format!("::{kind}Kind),")), "{kind} is not in the list");
    }
    assert_eq!(kinds().len(), attn::lesson::question::KINDS.len());
}
