//! Help and hints that no option has by itself: the texts of `data/help.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use attn_core::data_file::read;

/// The text of a kind that has this name.
pub(super) fn text(kind: &str, name: &str) -> Option<&'static str> {
    type Texts = BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>;
    static TEXTS: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../data/help.toml")));
    TEXTS.get(kind)?.get(name).copied()
}

/// The page of help that has this name.
pub(super) fn help_page(name: &str) -> &'static str {
    text("page", name).unwrap_or_default()
}

/// The examples below the help of a command.
pub(super) fn examples(command: &str) -> &'static str {
    text("examples", command).unwrap_or_default()
}
