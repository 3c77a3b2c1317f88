//! Files that import each other in a circle can only be understood together: no crate has such a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::imports::{Import, imports, without_tests};

/// The sources of each crate.
const CRATES: [&str; 4] = ["crates/attn-kernel/src", "crates/attn-core/src", "crates/attn-story/src", "src"];

/// A module by its path: `["graph", "op"]`.
type Module = Vec<String>;

/// The files of a crate with what they import.
struct Files {
    /// The name of each module's file, and its imports.
    modules: BTreeMap<Module, (String, Vec<Import>)>,
}

impl Files {
    /// From names below the folder of sources and texts.
    fn of(sources: impl IntoIterator<Item = (String, String)>) -> Files {
        let module = |(name, text): (String, String)| {
            let path = name.strip_suffix(".rs").unwrap_or(&name);
            let mut module: Module = path.split('/').map(str::to_string).collect();
            if module.last().is_some_and(|last| last == "mod" || last == "lib") {
                module.pop();
            }
            (module, (name, imports(&without_tests(&text))))
        };
        Files { modules: sources.into_iter().map(module).collect() }
    }

    /// The module that a path leads to, seen from a module: the one that defines the item, even if another one exports it again.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (mut module, mut rest) = (from.clone(), path);
        match rest.first()?.as_str() {
            "crate" => (module, rest) = (Module::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {}
            child => {
                self.modules.get(&joined(from, child))?;
            }
        }
        while let Some((first, others)) = rest.split_first() {
            if first == "super" {
                module.pop();
            } else if self.modules.contains_key(&joined(&module, first)) {
                module.push(first.clone());
            } else {
                let exported = |import: &&Import| import.name == *first && depth < 8;
                return match self.modules.get(&module)?.1.iter().find(exported) {
                    Some(import) => self.resolve(&module, &import.path, depth + 1),
                    None => Some(module),
                };
            }
            rest = others;
        }
        Some(module)
    }

    /// The modules that a module needs.
    fn needed_by(&self, module: &Module) -> BTreeSet<Module> {
        let (_, imports) = &self.modules[module];
        let needed = imports.iter().filter(|import| import.is_used);
        let needed = needed.filter_map(|import| self.resolve(module, &import.path, 0));
        needed.filter(|other| other != module && self.modules.contains_key(other)).collect()
    }

    /// The circles: the files that need each other, directly or through others.
    fn circles(&self) -> Vec<Vec<&str>> {
        let needed: BTreeMap<&Module, BTreeSet<Module>> =
            self.modules.keys().map(|module| (module, self.needed_by(module))).collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.modules.keys().map(|module| (module, reached(module, &needed))).collect();
        let circle = |module: &Module| -> Vec<&str> {
            let both = reached[module].iter().filter(|other| reached[**other].contains(module));
            both.map(|other| self.modules[*other].0.as_str()).collect()
        };
        let circles: BTreeSet<Vec<&str>> = self.modules.keys().map(circle).collect();
        circles.into_iter().filter(|circle| !circle.is_empty()).collect()
    }

    /// How many imports of one file by another there are.
    fn count(&self) -> usize {
        self.modules.keys().map(|module| self.needed_by(module).len()).sum()
    }
}

/// All modules that one needs, directly or through others.
fn reached<'n>(from: &Module, needed: &'n BTreeMap<&Module, BTreeSet<Module>>) -> BTreeSet<&'n Module> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        for other in &needed[module] {
            if reached.insert(other) {
                left.push(other);
            }
        }
    }
    reached
}

fn joined(module: &Module, child: &str) -> Module {
    module.iter().cloned().chain([child.to_string()]).collect()
}

/// The Rust files below a folder: names relative to `root`, and texts.
fn sources(root: &Path, folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        if path.is_dir() {
            return sources(root, &path);
        }
        let name = path.strip_prefix(root).expect("below").to_string_lossy().replace('\\', "/");
        let is_module = name.ends_with(".rs") && name != "main.rs";
        is_module.then(|| (name, fs::read_to_string(&path).expect("UTF-8"))).into_iter().collect()
    };
    entries.flat_map(read).collect()
}

#[test]
fn no_crate_has_a_circle_of_imports() {
    for folder in CRATES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = Files::of(sources(&root, &root));
        assert!(files.count() > files.modules.len(), "{folder}: too few imports were found");
        assert_eq!(files.circles(), Vec::<Vec<&str>>::new(), "{folder}");
    }
}

/// The circles of a crate of these files.
fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files = Files::of(files.iter().map(|(name, text)| (name.to_string(), text.to_string())));
    files.circles().into_iter().map(|circle| circle.into_iter().map(str::to_string).collect()).collect()
}

#[test]
fn files_that_import_each_other_are_a_circle() {
    let a = ("a.rs", "use crate::b::{B, C};\n");
    assert_eq!(circles(&[a, ("b.rs", "pub fn b() {}\n")]), Vec::<Vec<String>>::new());
    assert_eq!(circles(&[a, ("b.rs", "use super::a::A;\n")]), [["a.rs", "b.rs"]]);
    assert_eq!(circles(&[a, ("b.rs", "fn b() -> crate::a::A {\n    A\n}\n")]), [["a.rs", "b.rs"]]);
    // Through a third one, and by groups in groups.
    let c = ("c.rs", "use std::fmt;\n\nuse crate::{d::D, a::{self, A}};\n");
    assert_eq!(circles(&[a, ("b.rs", "use crate::c;\n"), c]), [["a.rs", "b.rs", "c.rs"]]);
}

#[test]
fn a_parent_that_only_declares_and_exports_its_children_is_in_no_circle() {
    let child = ("a/child.rs", "use super::other::Other;\npub struct Child;\n");
    let other = ("a/other.rs", "pub struct Other;\npub fn other() {}\n");
    let parent =
        ("a/mod.rs", "mod child;\npub mod other;\n\npub use child::Child;\npub use other::{Other, other};\n");
    assert_eq!(circles(&[parent, child, other]), Vec::<Vec<String>>::new());
    assert_eq!(circles(&[parent, ("a/child.rs", "use super::Other;\n"), other]), Vec::<Vec<String>>::new());
    // The export leads to the file that defines the item.
    let other = ("a/other.rs", "use crate::a::Child;\npub struct Other;\n");
    assert_eq!(circles(&[parent, child, other]), [["a/child.rs", "a/other.rs"]]);
    // A parent that uses what it exports needs it.
    let parent = ("a/mod.rs", "mod child;\npub use child::Child;\npub fn a(child: Child) {}\n");
    assert_eq!(circles(&[parent, ("a/child.rs", "use super::a;\n")]), [["a/mod.rs", "a/child.rs"]]);
}

#[test]
fn tests_and_comments_import_nothing() {
    let a = ("a.rs", "use crate::b::B;\n");
    let b = (
        "b.rs",
        "//! See [crate::a].\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::a::A;\n}\n",
    );
    assert_eq!(circles(&[a, b]), Vec::<Vec<String>>::new());
}
