//! The order of the rooms: a module uses those above it in the list, never those below; and what each must not do.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up.
const ROOMS: [&str; 16] = [
    "error",
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
    for (path, room, lines) in files() {
        let found = lines
            .iter()
            .any(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe"));
        assert!(!found || room == "kernel", "{}", path.display());
    }
}

#[test]
fn only_input_opens_files_and_only_one_file_draws_tables() {
    for (path, room, lines) in files() {
        let inside = path.display().to_string();
        let text = lines.join("\n");
        let touches = ["File::", "std::fs", "fs::", ".is_file()", ".exists()"]
            .into_iter()
            .find(|call| text.contains(call));
        assert!(room == "input" || touches.is_none(), "{inside} touches files: {touches:?}");
        assert!(inside == "render/table.rs" || !text.contains("comfy_table"), "{inside} draws tables itself");
    }
}
