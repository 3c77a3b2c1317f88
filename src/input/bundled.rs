//! The small inputs of the lessons, compiled in: they are found under their usual names wherever the program is started.

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

/// All of them, sorted by name.
pub(super) const BUNDLED: &[BundledFile] = files![
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
    "gemma2-2b-config.json": "the configuration of Gemma 2 2B, for attn params",
    "gpt2-config.json": "the configuration of GPT-2, for attn params",
    "k.csv": "the keys of three tokens",
    "llama3-8b-config.json": "the configuration of Llama 3 8B, for attn params",
    "q.csv": "the queries of three tokens",
    "v.csv": "the values of three tokens",
];

/// The files that travel with the program, sorted by name.
pub fn bundled() -> &'static [BundledFile] {
    BUNDLED
}

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
pub(super) fn find(text: &str) -> Option<&'static BundledFile> {
    let name = text.strip_prefix("./").unwrap_or(text).strip_prefix(FOLDER)?;
    BUNDLED.iter().find(|file| file.name == name)
}

/// The files that stand in a folder such as `examples/data/answers`, sorted by name; none if there is no such folder.
pub(super) fn inside(text: &str) -> Vec<&'static BundledFile> {
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    let folder = match text.strip_prefix(FOLDER) {
        Some(folder) => Some(folder),
        None if text == FOLDER.trim_end_matches('/') => None,
        None => return Vec::new(),
    };
    BUNDLED.iter().filter(|file| file.place().0 == folder).collect()
}

/// The name, with its folder, of the file that is called so without it.
pub(super) fn named(file: &str) -> Option<String> {
    let found = BUNDLED.iter().find(|bundled| bundled.name.eq_ignore_ascii_case(file))?;
    Some(format!("{FOLDER}{}", found.name))
}

/// The names, with their folder, that a missing one may have meant; none outside of it.
pub(super) fn names_beside(text: &str) -> impl Iterator<Item = String> {
    let inside = text.strip_prefix("./").unwrap_or(text).starts_with(FOLDER);
    BUNDLED.iter().filter(move |_| inside).map(|file| format!("{FOLDER}{}", file.name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
        assert_eq!(find("examples/data/k.csv").unwrap().name, "k.csv");
        assert_eq!(find("./examples/data/k.csv").unwrap().name, "k.csv");
        for text in
            ["k.csv", "data/k.csv", "examples/data/", "examples/data/../data/k.csv", "/examples/data/k.csv"]
        {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn a_folder_has_the_files_that_stand_in_it_and_no_others() {
        let names = |text| inside(text).iter().map(|file| file.name).collect::<Vec<_>>();
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
