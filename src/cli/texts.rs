//! Help and hints that no option has by itself: the texts of `data/help.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use attn_core::data_file::read;
use clap::builder::StyledStr;

type Texts = BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>;

/// The texts by their kind and their name.
static TEXTS: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../data/help.toml")));

/// The text of a kind that has this name.
pub(super) fn text(kind: &str, name: &str) -> Option<&'static str> {
    TEXTS.get(kind)?.get(name).copied()
}

/// A text of clap without its styles.
pub(super) fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// The page of help that has this name.
pub(super) fn help_page(name: &str) -> &'static str {
    text("page", name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_examples_are_those_of_a_command_and_stand_below_its_help() {
        assert!(TEXTS["examples"].len() > 20);
        for (name, examples) in &TEXTS["examples"] {
            let path = name.trim_end_matches(" -h").split(' ');
            let whole = crate::cli::definitions();
            let command = path.fold(whole, |above, name| above.find_subcommand(name).expect("a command"));
            let [short, long] = [command.get_after_help(), command.get_after_long_help()];
            let is_below = [short, long].into_iter().flatten().any(|text| text.to_string() == *examples);
            assert!(is_below && examples.starts_with("Example"), "{name}");
        }
        assert!(["front", "environment", "lesson"].iter().all(|name| !help_page(name).is_empty()));
    }
}
