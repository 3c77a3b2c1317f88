//! Which files a command may read: a lesson may come from anyone, so its commands read only files near it.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::foreign::to_path;
use crate::text::quoted;

/// The files that a command may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReadPermission {
    /// Any file.
    #[default]
    Anywhere,
    /// Files below some folders.
    Below(Arc<Bounds>),
}

/// The folders below which a lesson's commands read.
#[derive(Debug, PartialEq, Eq)]
pub struct Bounds {
    folders: Vec<PathBuf>,
    lesson: String,
    /// Whether the files that travel with the program come before those of the same name on disk.
    bundled_first: bool,
}

impl ReadPermission {
    /// For a lesson that travels with the program: below the working directory, in which no file stands for one of the program's own.
    pub fn of_built_in_lesson(lesson: &str) -> ReadPermission {
        let folders = fs::canonicalize(".").into_iter().collect();
        ReadPermission::Below(Arc::new(Bounds { folders, lesson: lesson.to_string(), bundled_first: true }))
    }

    /// Returns true if the files that travel with the program come before those of the same name on disk.
    pub(super) fn bundled_first(&self) -> bool {
        matches!(self, ReadPermission::Below(bounds) if bounds.bundled_first)
    }

    /// Below the folder of a lesson's file and the working directory.
    pub fn of_lesson(lesson: &str) -> ReadPermission {
        let file = to_path(lesson);
        let own = fs::metadata(&file).ok().map(|_| match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        });
        let folders =
            own.into_iter().chain([Path::new(".")]).filter_map(|folder| fs::canonicalize(folder).ok());
        let bounds = Bounds { folders: folders.collect(), lesson: lesson.to_string(), bundled_first: false };
        ReadPermission::Below(Arc::new(bounds))
    }

    /// Checks that a file of this name may be read. Links and `..` are resolved first.
    ///
    /// # Errors
    /// If it may not; the error does not tell if there is such a file.
    pub fn check(&self, name: &str) -> Result<()> {
        let ReadPermission::Below(bounds) = self else { return Ok(()) };
        let Bounds { folders, lesson, .. } = &**bounds;
        let place = real(&to_path(name));
        if place.is_some_and(|place| folders.iter().any(|folder| place.starts_with(folder))) {
            return Ok(());
        }
        Err(Error::new("a lesson reads only files below its own folder and the working directory")
            .in_source(name)
            .help(format!("if you trust this lesson: attn lesson play {} --trust", quoted(lesson))))
    }
}

/// The path without links as far as it exists, and the rest as it is written; `None` if a link cannot be followed.
fn real(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(place.pop()),
            part => place.push(part),
        }
        // Step by step, so that `..` leads back from where a link has led, as it does for the system.
        if let Ok(there) = fs::canonicalize(&place) {
            place = there;
        } else if fs::read_link(&place).is_ok() {
            // The target of the link does not exist or may not be read.
            return None;
        }
    }
    Some(place)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_parents_do_not_lead_out_of_the_lessons_folder() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).to_str().unwrap().to_string();
        for folder in ["lessons/data", "secret"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["lessons/l.md", "lessons/data/x.csv", "secret/s.csv"] {
            fs::write(at(file), "1").unwrap();
        }
        symlink(at("secret"), at("lessons/out")).unwrap();
        symlink(at("secret/s.csv"), at("lessons/s.csv")).unwrap();
        symlink(at("secret/none"), at("lessons/dangling")).unwrap();
        symlink("data/x.csv", at("lessons/x.csv")).unwrap();
        let reading = ReadPermission::of_lesson(&at("lessons/l.md"));
        for name in ["data/x.csv", "x.csv", "data/../x.csv", "none.csv", "none/none.csv"] {
            assert!(reading.check(&at(&format!("lessons/{name}"))).is_ok(), "{name}");
        }
        assert!(reading.check("Cargo.toml").is_ok() && reading.check("1 2; 3 4").is_ok());
        for name in [
            "../secret/s.csv",
            "out/s.csv",
            "s.csv",
            "dangling",
            "out/../none.csv",
            "data/../../secret/s.csv",
            "none/../../secret/s.csv",
            "..",
            "../none.csv",
        ] {
            let said = reading.check(&at(&format!("lessons/{name}"))).unwrap_err().to_string();
            assert!(said.contains("a lesson reads only files below its own folder"), "{name}: {said}");
            assert!(said.contains("--trust"), "{said}");
        }
        assert!(ReadPermission::Anywhere.check(&at("secret/s.csv")).is_ok());
    }
}
