//! The small inputs of the lessons, compiled in: they are found under their usual names wherever the program is started.

/// The folder that their names begin with.
const FOLDER: &str = "examples/data/";

/// A file that travels with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Its name without the folder.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal: $about:literal),* $(,)?) => {
        &[$(Bundled {
            name: $name,
            about: $about,
            bytes: include_bytes!(concat!("../../examples/data/", $name)),
        }),*]
    };
}

/// All of them, sorted by name.
pub(super) const BUNDLED: &[Bundled] = files![
    "animals.txt": "six words with four numbers each, as a file of word vectors",
    "bat.json": "bat, cave and racket in two columns, with W_Q, W_K and W_V",
    "brook.json": "four words in two columns: the dot product and the cosine disagree",
    "creature.json": "eight tokens: “a fluffy blue creature roamed the verdant forest”",
    "gemma2-2b-config.json": "the configuration of Gemma 2 2B, for attn params",
    "gpt2-config.json": "the configuration of GPT-2, for attn params",
    "k.csv": "the keys of three tokens",
    "llama3-8b-config.json": "the configuration of Llama 3 8B, for attn params",
    "q.csv": "the queries of three tokens",
    "v.csv": "the values of three tokens",
];

/// The files that travel with the program, sorted by name.
pub fn bundled() -> &'static [Bundled] {
    BUNDLED
}

/// The file of a name such as `examples/data/bat.json`.
pub(super) fn find(text: &str) -> Option<&'static Bundled> {
    let name = text.strip_prefix("./").unwrap_or(text).strip_prefix(FOLDER)?;
    BUNDLED.iter().find(|file| file.name == name)
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
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
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
}
