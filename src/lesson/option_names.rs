//! The options of the program that lessons have to know. How they are spelled is data of the command line.

/// The spelling of the options that lessons read or set in their commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionNames {
    /// Those that write files, which a lesson must not use.
    pub writing: &'static [&'static str],
    /// The seed of random numbers.
    pub seed: &'static str,
    /// The nodes that are shown, separated by commas.
    pub only: &'static str,
    /// The decimals that are shown.
    pub precision: &'static str,
    /// The format of the output.
    pub format: &'static str,
    /// The value of `format` for a page of a browser.
    pub page: &'static str,
    /// What makes such a page compute for itself.
    pub live: &'static str,
    /// The further options of a computation that is compared with.
    pub versus: &'static str,
}

impl OptionNames {
    /// The value of an option, as the next argument or after `=`.
    pub(super) fn value<'a>(args: &'a [String], option: &str) -> Option<&'a str> {
        let at = args.iter().position(|arg| name_of(arg) == option)?;
        match args[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => args.get(at + 1).map(String::as_str),
        }
    }
}

/// The name of an option as it is typed, without a value behind `=`.
pub(super) fn name_of(arg: &str) -> &str {
    arg.split_once('=').map_or(arg, |(name, _)| name)
}

/// Names for tests, of a program that spells its options in another way.
#[cfg(test)]
pub(super) const SAMPLE: &OptionNames = &OptionNames {
    writing: &["+save", "+suggest-input"],
    seed: "+seed",
    only: "+only",
    precision: "+precision",
    format: "+format",
    page: "html",
    live: "+live",
    versus: "+versus",
};
