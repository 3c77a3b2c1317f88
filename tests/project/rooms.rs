//! The order of the rooms: a module uses those above it in the list, never those below; and what each must not do.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up.
const ROOMS: [&str; 20] = [
    "foreign",
    "error",
    "memory",
    "unique",
    "terminal",
    "elementary",
    "matrix",
    "kernel",
    "attention",
    "graph",
    "explain",
    "params",
    "input",
    "bench",
    "diagnose",
    "demo",
    "render",
    "lesson",
    "cli",
    "main",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("src").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Every source file in Rust with its room and its lines without comments.
fn files() -> Vec<(PathBuf, String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |path: PathBuf| {
        let inside = path.strip_prefix(&root).expect("below src");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let room = first.trim_end_matches(".rs").to_string();
        let text = fs::read_to_string(&path).expect("UTF-8");
        let lines =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_string).collect();
        (inside.to_path_buf(), room, lines)
    };
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    sources(&root).into_iter().filter(is_rust).map(read).collect()
}

fn position(room: &str) -> Option<usize> {
    ROOMS.iter().position(|known| *known == room)
}

#[test]
fn no_module_uses_a_room_below_its_own() {
    let mut arrows = 0;
    for (path, room, lines) in files().into_iter().filter(|(_, room, _)| room != "lib") {
        let own = position(&room).unwrap_or_else(|| panic!("{}: `{room}` is no room", path.display()));
        for line in &lines {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let other =
                    position(&name).unwrap_or_else(|| panic!("{}: no room `{name}`: {line}", path.display()));
                assert!(other <= own, "{}: {room} must not use {name}: {line}", path.display());
                arrows += 1;
            }
        }
    }
    assert!(arrows > 50, "the test has found only {arrows} uses");
}

#[test]
fn unsafe_code_stands_in_the_kernel_alone() {
    let is_unsafe = |line: &String| {
        let code = line.split("//").next().unwrap_or(line);
        code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    };
    for (path, room, lines) in files() {
        assert!(room == "kernel" || !lines.iter().any(is_unsafe), "{}", path.display());
    }
    // This file has the word in strings.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let others = ["tests", "benches"].into_iter().flat_map(|folder| sources(&root.join(folder)));
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    for path in others.filter(|path| is_rust(path) && !path.ends_with("project/rooms.rs")) {
        let text = fs::read_to_string(&path).expect("UTF-8");
        assert!(!text.lines().map(str::to_string).any(|line| is_unsafe(&line)), "{}", path.display());
    }
}

/// Whether a call stands in a text, and not behind further letters of a longer name: `proofs::` is not `fs::`.
fn is_called(text: &str, call: &str) -> bool {
    let starts_a_name = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(call).any(|(at, _)| call.starts_with('.') || starts_a_name(at))
}

#[test]
fn only_input_opens_files_and_only_one_file_draws_tables() {
    for (path, room, lines) in files() {
        let inside = path.display().to_string();
        let text = lines.join("\n");
        let touches = ["File::", "std::fs", "fs::", ".is_file()", ".exists()"]
            .into_iter()
            .find(|call| is_called(&text, call));
        assert!(room == "input" || touches.is_none(), "{inside} touches files: {touches:?}");
        assert!(inside == "render/table.rs" || !text.contains("comfy_table"), "{inside} draws tables itself");
    }
}

/// The functions of a source with their first line and how many lines they have. As rustfmt writes it, a function ends with
/// the first line that is no further to the right than its own and ends with a brace, or a semicolon where it has no body.
fn functions(lines: &[String]) -> Vec<(String, usize)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_function = |line: &str| {
        let words = line.split_whitespace().take_while(|word| *word != "fn");
        let mut qualifiers = words.map(|word| word.split('(').next().unwrap_or(word));
        let is_qualifier = |word| ["pub", "unsafe", "const", "async", "extern", "\"C\""].contains(&word);
        line.split_whitespace().any(|word| word == "fn") && qualifiers.all(is_qualifier)
    };
    let count = |from: usize| {
        let own = indent(&lines[from]);
        let ends = |line: &String| indent(line) == own && line.ends_with(['}', ';']);
        let end = lines[from..].iter().position(ends).expect("what begins ends");
        (lines[from].trim().to_string(), end + 1)
    };
    (0..lines.len()).filter(|at| is_function(&lines[*at])).map(count).collect()
}

#[test]
fn a_function_is_as_long_as_it_is() {
    let text = "impl A {\n    pub(super) unsafe fn a(\n        self,\n    ) -> B\n    where\n        C: D,\n    {\n        \
                if x {\n            y\n        }\n    }\n\n    fn b();\n    const fn c() -> usize { 3 }\n    \
                fn d(a: usize)\n    -> (E, E);\n    attend: unsafe fn(&Tile),\n}\n";
    let lines: Vec<String> = text.lines().map(str::to_string).collect();
    let lengths: Vec<usize> = functions(&lines).into_iter().map(|(_, length)| length).collect();
    assert_eq!(lengths, [10, 1, 1, 2]);
}

#[test]
fn what_the_kernel_explains_fits_a_reader() {
    const LONGEST_FUNCTION: usize = 80;
    const LONGEST_FILE: usize = 500;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernel");
    let mut found = 0;
    for path in sources(&root) {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        assert!(lines.len() <= LONGEST_FILE, "{}: {} lines", path.display(), lines.len());
        for (function, length) in functions(&lines) {
            assert!(length <= LONGEST_FUNCTION, "{}: {length} lines: {function}", path.display());
            found += 1;
        }
    }
    assert!(found > 200, "the test has found only {found} functions");
}
