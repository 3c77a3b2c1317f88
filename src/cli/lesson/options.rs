//! The options that lessons read or set.

use crate::lesson::OptionNames;

/// The spelling of the options that lessons read or set in their commands.
pub const LESSON_OPTIONS: &OptionNames = &OptionNames {
    writing: &["--save", "--suggest-input"],
    seed: "--seed",
    only: "--only",
    precision: "--precision",
    format: "--format",
    page: "html",
    live: "--live",
    versus: "--versus",
};
