//! The order of modules: one uses those above it in the list, never those below; and what each must not do.

use std::fs;
use std::path::{Path, PathBuf};

use super::imports::{Import, imports};

/// The folders of sources of the crates, from the bottom up; a crate uses those above it alone, which Cargo.toml says.
const CRATES: [&str; 5] = [
    "crates/attn-kernel/src",
    "crates/attn-core/src",
    "crates/attn-story/src",
    "crates/attn-page/src",
    "src",
];

/// The modules of all crates but the kernel, from the bottom up. `kernel` is the kernel's crate, under the name that the others
/// have for it.
const MODULES: [&str; 36] = [
    "data_file",
    "foreign",
    "text",
    "error",
    "memory",
    "json_tree",
    "json_number",
    "elementary",
    "matrix",
    "random",
    "kernel",
    "tensor",
    "attention",
    "graph",
    "explain",
    "language",
    "explore",
    "params",
    "model",
    "learn",
    "read",
    "tokenizer",
    "diagnose",
    "terminal",
    "input",
    "bench",
    "answer",
    "story",
    "demo",
    "render",
    "live",
    "explorer",
    "lesson",
    "site",
    "cli",
    "main",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("src").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// A source file in Rust.
struct File {
    /// Its place below the top of the project.
    path: PathBuf,
    /// The first part of its place there: `graph` of `graph/op.rs`.
    module: String,
    /// Its lines without comments.
    lines: Vec<String>,
}

impl File {
    fn is_in(&self, place: &str) -> bool {
        self.path.starts_with(place)
    }
}

/// Every source file in Rust.
fn files() -> Vec<File> {
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    let of_crate = |of: &'static str| {
        let read = move |path: PathBuf| {
            let inside = path.strip_prefix(root().join(of)).expect("below src");
            let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
            let module = first.trim_end_matches(".rs").to_string();
            let text = fs::read_to_string(&path).expect("UTF-8");
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let lines = text.lines().filter(is_code).map(str::to_string).collect();
            File { path: path.strip_prefix(root()).expect("below").to_path_buf(), module, lines }
        };
        sources(&root().join(of)).into_iter().filter(is_rust).map(read)
    };
    CRATES.into_iter().flat_map(of_crate).collect()
}

#[test]
fn no_module_uses_one_below_its_own() {
    let mut arrows = 0;
    let place = |name: &str| MODULES.iter().position(|known| *known == name);
    for File { path, module, lines, .. } in files() {
        if path.starts_with("crates/attn-kernel") || module == "lib" {
            continue;
        }
        let own = place(&module).unwrap_or_else(|| panic!("{}: `{module}` is in no list", path.display()));
        for Import { path: used, .. } in
            imports(&lines.join("\n")).iter().filter(|import| import.path[0] == "crate")
        {
            let used = used.join("::");
            let name = used.split("::").nth(1).unwrap_or_default();
            let other =
                place(name).unwrap_or_else(|| panic!("{}: no module `{name}`: {used}", path.display()));
            assert!(other <= own, "{}: {module} must not use {used}", path.display());
            arrows += 1;
        }
    }
    assert!(arrows > 500, "the test has found only {arrows} uses");
}

/// A format shows any story, of a demo or not, and so do the tests inside the module.
#[test]
fn render_does_not_know_the_demos() {
    let mut read = 0;
    for file in files()
        .into_iter()
        .filter(|file| ["src/render", "crates/attn-story/src/render"].iter().any(|folder| file.is_in(folder)))
    {
        for line in &file.lines {
            assert!(!is_called(line, "demo::"), "{}: {line}", file.path.display());
            read += 1;
        }
    }
    assert!(read > 2000, "only {read} lines were read");
}

#[test]
fn unsafe_code_is_in_the_kernel_and_in_the_functions_that_a_page_calls() {
    let is_unsafe = |line: &str| {
        let code = line.split("//").next().unwrap_or(line);
        code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    };
    for of in ["src", "crates/attn-core/src", "crates/attn-story/src"] {
        let lib = fs::read_to_string(root().join(of).join("lib.rs")).expect("lib.rs");
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{of}");
    }
    let is_known = |file: &File| file.is_in("crates/attn-kernel") || file.is_in("crates/attn-page");
    for file in files().into_iter().filter(|file| !is_known(file)) {
        assert!(!file.lines.iter().any(|line| is_unsafe(line)), "{}", file.path.display());
    }
    let page = files().into_iter().filter(|file| file.is_in("crates/attn-page"));
    let exported = page.flat_map(|file| file.lines).filter(|line| line.contains("no_mangle")).count();
    assert_eq!(exported, 3, "functions that a page calls");
    // These files have the word in strings.
    let has_it_in_strings =
        |path: &PathBuf| ["project/modules.rs", "site/mod.rs"].iter().any(|name| path.ends_with(name));
    let others = ["tests", "benches"].into_iter().flat_map(|folder| sources(&root().join(folder)));
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    for path in others.filter(|path| is_rust(path) && !has_it_in_strings(path)) {
        let text = fs::read_to_string(&path).expect("UTF-8");
        assert!(!text.lines().any(is_unsafe), "{}", path.display());
    }
}

/// Whether a call stands in a text, and not behind further letters of a longer name: `proofs::` is not `fs::`.
fn is_called(text: &str, call: &str) -> bool {
    let starts_a_name = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(call).any(|(at, _)| call.starts_with('.') || starts_a_name(at))
}

#[test]
fn only_input_opens_files() {
    for file in files() {
        let text = file.lines.join("\n");
        let name = file.path.display();
        let touches = ["File::", "std::fs", "fs::", ".is_file()", ".exists()"]
            .into_iter()
            .find(|call| is_called(&text, call));
        assert!(file.is_in("src/input") || touches.is_none(), "{name} touches files: {touches:?}");
    }
}
