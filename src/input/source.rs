//! The source behind a FILE argument.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::nearest;

use super::bundled::{self, BundledFile};
use super::inline::looks_inline;
use super::open::examined;
use crate::foreign::{from_os, from_path, to_os, to_path, visible};

/// A source of numbers or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `-`
    StandardInput,
    /// A name that exists.
    Path(PathBuf),
    /// A file that travels with the program; one of the same name on disk comes first.
    Bundled(&'static BundledFile),
    /// A matrix typed in place: `"1 2; 3 4"`.
    Inline(String),
}

impl Source {
    /// The source behind `text`. A name that exists is a file, even if it reads as numbers; a folder is none.
    ///
    /// # Errors
    /// If it is neither a file nor meant as a matrix: which of the two it looks like, and the nearest name beside it.
    pub fn of(text: &str) -> Result<Source> {
        if text == "-" {
            return Ok(Source::StandardInput);
        }
        if let Some(path) = existing(text)?
            && !(path.is_dir() && is_inline(text))
        {
            return Ok(Source::Path(path));
        }
        // The command line hands over a leading `-` as U+2212, so that it is not taken for a flag.
        if let Some(rest) = text.strip_prefix('\u{2212}')
            && let Some(path) = existing(&format!("-{rest}"))?
        {
            return Ok(Source::Path(path));
        }
        if let Some(file) = bundled::find(text) {
            return Ok(Source::Bundled(file));
        }
        if is_inline(text) {
            return Ok(Source::Inline(text.to_string()));
        }
        Err(missing(text))
    }
}

/// True if this reads as a matrix that is typed in place.
fn is_inline(text: &str) -> bool {
    looks_inline(text) && !looks_like_path(text)
}

/// True if a file or folder of this name exists, on disk or in the program; also if that cannot be found out.
pub fn exists(name: &str) -> bool {
    !matches!(existing(name), Ok(None)) || bundled::find(name).is_some()
}

/// The path, if something of that name exists.
fn existing(text: &str) -> Result<Option<PathBuf>> {
    let path = to_path(text);
    Ok(examined(&path, fs::metadata(&path))?.map(|_| path))
}

/// True if the text has a folder or an ending such as `.csv`, and no rows.
fn looks_like_path(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let has_ending = ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    !text.contains(';') && (has_ending || text.contains(['/', '\\']))
}

fn missing(text: &str) -> Error {
    let name = visible(text).into_owned();
    if text.is_empty() {
        return Error::new("the name of the file is empty")
            .help("name a file, or type a matrix: \"1 2; 3 4\"");
    }
    let error = if looks_like_path(text) {
        Error::new("no such file").in_source(name)
    } else {
        Error::new("this is neither an existing file nor a matrix").in_source(name)
    };
    match near_name(text) {
        Some(near) => error.help(format!("did you mean `{}`?", visible(&near))),
        None => error.help("name an existing file, `-` for standard input, or type a matrix: \"1 2; 3 4\""),
    }
}

/// The name that is nearest to the one that is missing, on disk or in the program.
fn near_name(text: &str) -> Option<String> {
    let among_bundled = || {
        let names: Vec<String> = bundled::names_beside(text).collect();
        near_file(text, &names).map(str::to_string)
    };
    bundled::named(text).or_else(|| neighbour(&to_path(text))).or_else(among_bundled)
}

/// The name whose stem is nearest: an ending that two files share says nothing.
fn near_file<'a>(file: &str, names: &'a [String]) -> Option<&'a str> {
    let stem = |name: &'a str| Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
    let asked = Path::new(file).file_stem()?.to_str()?;
    if let Some(same) = names.iter().find(|name| stem(name).eq_ignore_ascii_case(asked)) {
        return Some(same);
    }
    let near = nearest(asked, names.iter().map(|name| stem(name)))?;
    names.iter().find(|name| stem(name) == near).map(String::as_str)
}

/// The name in the same folder that is nearest to the one that is missing, written with its folder.
fn neighbour(path: &Path) -> Option<String> {
    const MOST_NAMES: usize = 10_000;
    let file = &*from_os(path.file_name()?);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let names: Vec<String> = fs::read_dir(folder.unwrap_or(Path::new(".")))
        .ok()?
        .take(MOST_NAMES)
        .filter_map(|entry| Some(from_os(&entry.ok()?.file_name()).into_owned()))
        .collect();
    let near = near_file(file, &names)?;
    match folder {
        Some(folder) => Some(from_path(&folder.join(&*to_os(near)))),
        None => Some(near.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundled_file_without_its_folder_is_named_with_it() {
        let said = Source::of("bat.json").unwrap_err().to_string();
        assert!(said.contains("did you mean `examples/data/bat.json`?"), "{said}");
    }

    #[test]
    fn a_dash_is_standard_input_and_numbers_are_a_matrix() {
        assert_eq!(Source::of("-").unwrap(), Source::StandardInput);
        for text in [
            "1 2; 3 4",
            "[[1.5, 2.5]]",
            "tensor([[1.5]], dtype=torch.float64)",
            "5",
            "-1.5",
            "\u{2212}1 2",
            "1 2; 3 x",
            "1.5 2.5",
        ] {
            assert_eq!(Source::of(text).unwrap(), Source::Inline(text.to_string()), "{text}");
        }
    }

    #[test]
    fn a_name_that_exists_is_a_file_even_if_it_reads_as_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1 2; 3 4");
        fs::write(&path, "5").unwrap();
        assert_eq!(Source::of(path.to_str().unwrap()).unwrap(), Source::Path(path));
    }

    #[test]
    fn a_missing_file_names_its_nearest_neighbour() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("scores.csv"), "1").unwrap();
        let typed = folder.path().join("scroes.csv");
        let said = Source::of(typed.to_str().unwrap()).unwrap_err().to_string();
        assert!(said.contains("scroes.csv: no such file"), "{said}");
        assert!(said.contains("did you mean `") && said.contains("scores.csv`"), "{said}");
    }

    #[test]
    fn a_file_that_only_shares_its_ending_is_no_neighbour() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("de.csv"), "1").unwrap();
        fs::write(folder.path().join("weights.npy"), "1").unwrap();
        let said = |name: &str| {
            let typed = folder.path().join(name);
            Source::of(typed.to_str().unwrap()).unwrap_err().to_string()
        };
        assert!(!said("nope.csv").contains("did you mean"), "{}", said("nope.csv"));
        assert!(said("weights.csv").contains("weights.npy"), "{}", said("weights.csv"));
        let bundled = Source::of("examples/data/nope.csv").unwrap_err().to_string();
        assert!(!bundled.contains("did you mean"), "{bundled}");
    }

    #[test]
    fn the_error_says_what_the_text_looks_like() {
        for (text, what) in [
            ("nowhere/at/all", "no such file"),
            ("values.npy", "no such file"),
            ("12.csv", "no such file"),
            ("gibberish", "this is neither an existing file nor a matrix"),
            ("", "the name of the file is empty"),
        ] {
            let said = Source::of(text).unwrap_err().to_string();
            assert!(said.contains(what), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_very_long_text_is_no_file() {
        let text = "1 ".repeat(100_000);
        assert!(matches!(Source::of(&text).unwrap(), Source::Inline(_)));
    }
}
