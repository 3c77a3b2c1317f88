//! The source behind a FILE argument.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::foreign::{from_os, from_path, to_os, to_path, visible};
use crate::read::{Limit, is_document, is_meant_as_number, looks_inline};
use crate::text::{nearest, quoted};

use super::open::{Input, examined};

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
        if let Some(file) = bundled_file(text) {
            return Ok(Source::Bundled(file));
        }
        if is_inline(text) {
            return Ok(Source::Inline(text.to_string()));
        }
        Err(missing(text))
    }

    /// Opens a file, on disk or in the program.
    ///
    /// # Errors
    /// If this is none, or the file cannot be opened, is empty, or larger than what is expected.
    pub(super) fn open(&self, name: &str, limit: Limit) -> Result<Input> {
        match self {
            Source::Path(path) => Input::open(name, path, limit),
            Source::Bundled(file) => Ok(Input::bundled(name, file.bytes, limit)),
            Source::StandardInput | Source::Inline(_) => Err(Error::new("no such file").in_source(name)),
        }
    }
}

/// True if this reads as a matrix that is typed in place.
fn is_inline(text: &str) -> bool {
    // `[[1/2, 1]]` has a slash, and ends as no name of a file does.
    looks_inline(text)
        && (!looks_like_path(text)
            || text.trim().contains('\n')
            || is_document(text)
            || text.split_whitespace().count() > 1 && text.split_whitespace().all(is_meant_as_number)
            || text.trim_end().ends_with([']', '}', ')', ';']))
}

/// True if a file or folder of this name exists, on disk or in the program; also if that cannot be found out.
pub fn exists(name: &str) -> bool {
    !matches!(existing(name), Ok(None)) || bundled_file(name).is_some()
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
        let inside = text.strip_prefix("./").unwrap_or(text).starts_with(FOLDER);
        let names = BUNDLED.iter().filter(|_| inside).map(|file| format!("{FOLDER}{}", file.name));
        let names: Vec<String> = names.collect();
        near_file(text, &names).map(str::to_string)
    };
    bundled_name(text).or_else(|| neighbour(&to_path(text))).or_else(among_bundled)
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

// Which files a command may read: a lesson may come from anyone, so its commands read only files near it.

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
        ReadPermission::below([Path::new(".")], lesson.trim_end_matches(".md"), true)
    }

    fn below<'p>(
        folders: impl IntoIterator<Item = &'p Path>,
        lesson: &str,
        bundled_first: bool,
    ) -> ReadPermission {
        let folders = folders.into_iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        ReadPermission::Below(Arc::new(Bounds { folders, lesson: lesson.to_string(), bundled_first }))
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
        ReadPermission::below(own.into_iter().chain([Path::new(".")]), lesson, false)
    }

    /// Checks that a file of this name may be read. Links and `..` are resolved first.
    ///
    /// # Errors
    /// If it may not; the error does not tell if there is such a file.
    pub fn check(&self, name: &str) -> Result<()> {
        let ReadPermission::Below(bounds) = self else { return Ok(()) };
        let Bounds { folders, lesson, bundled_first } = &**bounds;
        // The file on disk is not read.
        if *bundled_first && bundled_file(name).is_some() {
            return Ok(());
        }
        let place = resolved(&to_path(name));
        if place.is_some_and(|place| folders.iter().any(|folder| place.starts_with(folder))) {
            return Ok(());
        }
        Err(Error::new("a lesson reads only files below its own folder and the working directory")
            .in_source(name)
            .help(format!("if you trust this lesson: attn lesson play {} --trust", quoted(lesson))))
    }
}

/// The path without links as far as it exists, and the rest as it is written; `None` if a link cannot be followed.
fn resolved(path: &Path) -> Option<PathBuf> {
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
mod permission_tests {
    use std::os::unix::fs::symlink;

    use super::*;

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

// The small inputs of the lessons, compiled in: they are found under their usual names wherever the program is started.

/// The folder that their names begin with.
const FOLDER: &str = "examples/data/";

/// A file that travels with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundledFile {
    /// Its name within the folder: `bat.json`, `answers/01.csv`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Its contents.
    pub bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal: $about:literal),* $(,)?) => {
        &[$(BundledFile {
            name: $name,
            about: $about,
            bytes: include_bytes!(concat!("../../examples/data/", $name)),
        }),*]
    };
}

/// The files that travel with the program, sorted by name.
pub static BUNDLED: &[BundledFile] = files![
    "animals.txt": "six words with four numbers each, as a file of word vectors",
    "answers/01.csv": "right",
    "answers/02.csv": "the scores were not scaled",
    "answers/03.csv": "the mask was left out",
    "answers/04.csv": "right, and rounded to three decimals",
    "answers/05.csv": "hidden scores were set to 0, not to −∞",
    "answers/06.csv": "the softmax went over columns",
    "answers/07.csv": "neither scaled nor masked",
    "bat.json": "bat, cave and racket in two columns, with W_Q, W_K and W_V",
    "brook.json": "four words in two columns: the dot product and the cosine disagree",
    "chase.csv": "five tokens in four columns: “the cat chased the dog”",
    "creature.json": "eight tokens: “a fluffy blue creature roamed the verdant forest”",
    "gemma2-2b-config.json": "the configuration of Gemma 2 2B, for attn model --params",
    "gpt2-config.json": "the configuration of GPT-2, for attn model --params",
    "k.csv": "the keys of three tokens",
    "llama3-8b-config.json": "the configuration of Llama 3 8B, for attn model --params",
    "q.csv": "the queries of three tokens",
    "v.csv": "the values of three tokens",
];

impl BundledFile {
    /// The folder within the common one, and the name there: `answers` and `01.csv`.
    pub fn place(&self) -> (Option<&'static str>, &'static str) {
        match self.name.rsplit_once('/') {
            Some((folder, name)) => (Some(folder), name),
            None => (None, self.name),
        }
    }
}

/// The file of a name such as `examples/data/bat.json`.
pub(super) fn bundled_file(text: &str) -> Option<&'static BundledFile> {
    let name = text.strip_prefix("./").unwrap_or(text).strip_prefix(FOLDER)?;
    BUNDLED.iter().find(|file| file.name == name)
}

/// The files that stand in a folder such as `examples/data/answers`, sorted by name; none if there is no such folder.
pub(super) fn bundled_inside(text: &str) -> Vec<&'static BundledFile> {
    let folder = Path::new(text.strip_prefix("./").unwrap_or(text));
    BUNDLED.iter().filter(|file| Path::new(FOLDER).join(file.name).parent() == Some(folder)).collect()
}

/// The name, with its folder, of the file that is called so without it.
pub(super) fn bundled_name(file: &str) -> Option<String> {
    let found = BUNDLED.iter().find(|bundled| bundled.name.eq_ignore_ascii_case(file))?;
    Some(format!("{FOLDER}{}", found.name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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

    #[test]
    fn every_file_of_the_folder_is_there_byte_for_byte_and_no_other() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        let mut names = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(inner) = folders.pop() {
            for entry in std::fs::read_dir(inner).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    names.push(path.strip_prefix(&folder).unwrap().to_str().unwrap().to_string());
                }
            }
        }
        names.sort();
        assert_eq!(names, BUNDLED.iter().map(|file| file.name).collect::<Vec<_>>());
        for file in BUNDLED {
            assert_eq!(std::fs::read(folder.join(file.name)).unwrap(), file.bytes, "{}", file.name);
            assert!(file.bytes.len() < 16 << 10, "{} is too large to travel with the program", file.name);
        }
    }

    #[test]
    fn a_file_is_found_under_its_whole_name_alone() {
        assert_eq!(bundled_file("examples/data/k.csv").unwrap().name, "k.csv");
        assert_eq!(bundled_file("./examples/data/k.csv").unwrap().name, "k.csv");
        for text in
            ["k.csv", "data/k.csv", "examples/data/", "examples/data/../data/k.csv", "/examples/data/k.csv"]
        {
            assert_eq!(bundled_file(text), None, "{text}");
        }
    }

    #[test]
    fn a_folder_has_the_files_that_stand_in_it_and_no_others() {
        let names = |text| bundled_inside(text).iter().map(|file| file.name).collect::<Vec<_>>();
        let answers = ["01", "02", "03", "04", "05", "06", "07"].map(|name| format!("answers/{name}.csv"));
        for text in ["examples/data/answers", "./examples/data/answers/"] {
            assert_eq!(names(text), answers);
        }
        assert_eq!(names("examples/data").len(), BUNDLED.len() - answers.len());
        for text in ["answers", "examples", "examples/data/answer", "examples/data/bat.json", ""] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
    }
}
