//! The small inputs of the lessons, compiled in: they are found under their usual names wherever the program is started.

/// The folder that their names begin with.
const FOLDER: &str = "examples/data/";

/// A file that travels with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Its name without the folder.
    pub name: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(Bundled { name: $name, bytes: include_bytes!(concat!("../../examples/data/", $name)) }),*]
    };
}

/// All of them, sorted by name.
pub(super) const BUNDLED: &[Bundled] = bundled![
    "animals.txt",
    "bat.json",
    "brook.json",
    "creature.json",
    "gemma2-2b-config.json",
    "gpt2-config.json",
    "k.csv",
    "llama3-8b-config.json",
    "q.csv",
    "v.csv",
];

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
