//! The options that lessons have to know.

use crate::lesson::OptionNames;

/// How the options of this command line are spelled in the commands of lessons.
pub const LESSON_OPTIONS: &OptionNames = &OptionNames {
    writing: &["--save", "--suggest-input"],
    seed: "--seed",
    only: "--only",
    precision: "--precision",
    format: "--format",
    page: "html",
};
