//! The program, as its commands see it.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use terminal_size::terminal_size_of;

use crate::error::{EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::from_os;
use crate::graph::Graph;
use crate::input::{ReadPermission, WritePermission};
use crate::render::{Charset, Page, Theme};
use crate::story::{Table, numbers_of_tables};

/// Runs one command line, without the name of the program.
pub(super) type RunFn = fn(&[OsString], &Env, &mut Streams<'_>) -> Outcome;

/// The command line in use, and the program that it is for: lessons run further commands, and `--versus` reads the same command
/// with further options.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    /// The arguments, after corrections.
    pub typed: &'a [OsString],
    /// The definitions of all commands.
    pub definitions: &'a clap::Command,
    /// Runs another command.
    pub run: RunFn,
}

/// Reads arguments by the definitions of the program.
pub(super) fn matches(
    definitions: clap::Command,
    args: &[OsString],
) -> std::result::Result<clap::ArgMatches, clap::Error> {
    let args = args.iter().map(|arg| shielded(arg.clone()));
    definitions.try_get_matches_from(std::iter::once(OsString::from("attn")).chain(args))
}

/// # Errors
/// If an argument for a file or a folder has an empty name, which no command takes for the current folder.
pub(super) fn check_names(definitions: &clap::Command, matches: &clap::ArgMatches) -> Result<()> {
    for arg in definitions.get_arguments() {
        let value = arg.get_value_names().unwrap_or_default().first().map_or("", |name| name.as_str());
        let what = match value {
            _ if value.contains("FILE") => "file",
            "FOLDER" | "DIR" => "folder",
            "PATH" => "file or folder",
            _ => continue,
        };
        let is_empty = |typed: &OsStr| {
            typed.is_empty() || value.contains('=') && typed.as_encoded_bytes().ends_with(b"=")
        };
        let mut typed = matches.try_get_raw(arg.get_id().as_str()).ok().flatten().into_iter().flatten();
        if typed.any(is_empty) {
            let for_option = arg.get_long().map_or(String::new(), |long| format!(" for --{long}"));
            return Err(Error::new(format!("the name of the {what}{for_option} is empty"))
                .help("give a name; a shell variable that is not set is an empty one"));
        }
    }
    match matches.subcommand() {
        Some((name, inner)) => {
            definitions.find_subcommand(name).map_or(Ok(()), |command| check_names(command, inner))
        }
        None => Ok(()),
    }
}

/// The innermost subcommand that the arguments name, and the position at which its own arguments begin.
pub(super) fn deepest<'a>(whole: &'a clap::Command, args: &[OsString]) -> (usize, &'a clap::Command) {
    let (mut end, mut found) = (0, whole);
    while let Some(next) = args.get(end).and_then(|arg| found.find_subcommand(arg)) {
        (end, found) = (end + 1, next);
    }
    (end, found)
}

/// The value of an option that is typed before any `--`.
pub(super) fn typed_value(args: &[OsString], option: &str) -> Option<String> {
    let words: Vec<_> = args.iter().take_while(|arg| *arg != "--").map(|arg| arg.to_string_lossy()).collect();
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(option)? {
        "" => words.get(at + 1).map(|value| value.to_string()),
        rest => rest.strip_prefix('=').map(str::to_string),
    })
}

// The variables of the environment that set defaults of options: `ATTN_PRECISION=2` for `--precision 2`.

/// The beginning of each variable's name; the rest is the name of the option.
pub(super) const VARIABLE_PREFIX: &str = "ATTN_";

/// The options that have a variable.
pub(super) const WITH_VARIABLE: [&str; 7] =
    ["charset", "color", "heat", "memory", "precision", "theme", "width"];

/// The variables that are set to something, with their values.
pub(super) fn default_options(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let name = |option: &str| format!("{VARIABLE_PREFIX}{}", option.to_uppercase());
    let value = |option: &&str| variable(&name(option)).filter(|value| !value.is_empty());
    WITH_VARIABLE.iter().filter_map(|option| Some((option.to_string(), value(option)?))).collect()
}

// The environment of a command, read once.

/// The environment of a command: it decides what no option decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Env {
    /// Columns of the screen.
    pub width: usize,
    /// Whether standard output gets colours.
    pub colour: bool,
    /// Whether standard error gets colours.
    pub colour_err: bool,
    /// The background of the terminal, from `COLORFGBG`.
    pub theme: Theme,
    /// True if the program may ask the terminal for its background colour: standard input and output are a terminal that answers.
    pub asks_terminal: bool,
    /// The characters that can be shown.
    pub charset: Charset,
    /// Whether keys can be read: standard input is a terminal.
    pub has_keys: bool,
    /// Whether standard output is a terminal on which lines can be rewritten.
    pub has_screen: bool,
    /// Whether a line on standard error says how far a long command is: it is a terminal on which lines can be rewritten.
    pub shows_progress: bool,
    /// The folder for the progress of lessons; `None` unless this is the program itself.
    pub state: Option<PathBuf>,
    /// Whether files may be written; a lesson's commands write none.
    pub writing: WritePermission,
    /// The files that may be read; the commands of a lesson may not read all.
    pub reading: ReadPermission,
    /// Options that variables of the environment set, by name, with their values: `ATTN_PRECISION=2` is `precision` and `2`.
    pub defaults: Vec<(String, String)>,
    /// The SIMD instructions that the fast path is to use, by name, if `ATTN_SIMD` says so; no result depends on them.
    pub simd: Option<String>,
    /// The bytes of memory that a command may use, if `ATTN_MEMORY` says so.
    pub memory: Option<u64>,
}

/// The width if nothing gives one.
const DEFAULT_WIDTH: usize = 80;

impl Default for Env {
    /// A pipe: 80 columns, UTF-8, no colour.
    fn default() -> Env {
        Env {
            width: DEFAULT_WIDTH,
            colour: false,
            colour_err: false,
            theme: Theme::Unknown,
            asks_terminal: false,
            charset: Charset::Utf8,
            has_keys: false,
            has_screen: false,
            shows_progress: false,
            state: None,
            writing: WritePermission::Allowed,
            reading: ReadPermission::Anywhere,
            defaults: Vec::new(),
            simd: None,
            memory: None,
        }
    }
}

/// The columns that the terminal of standard error has now: it may become another size while a command runs.
pub(super) fn columns_of_errors() -> usize {
    terminal_size_of(std::io::stderr()).map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Env {
        let variable = |name: &str| std::env::var_os(name).map(|value| from_os(&value).into_owned());
        let columns = terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
        let is_terminal = std::io::stdout().is_terminal();
        let term = variable("TERM").unwrap_or_default();
        let is_dumb = term == "dumb";
        let has_keys = std::io::stdin().is_terminal();
        Env {
            has_keys,
            // The console of Linux does not answer, nor does a terminal without a name.
            asks_terminal: has_keys && is_terminal && !matches!(&*term, "" | "dumb" | "linux"),
            has_screen: is_terminal && !is_dumb,
            shows_progress: std::io::stderr().is_terminal() && !is_dumb,
            simd: variable("ATTN_SIMD").filter(|name| !name.is_empty()),
            defaults: default_options(variable),
            state: state_folder(),
            ..Env::from_variables(variable, columns, [is_terminal, std::io::stderr().is_terminal()])
        }
    }

    /// The environment after `--color always` or `never`, for standard error too, and `--width` for help; also if the rest of
    /// the command line cannot be read.
    pub(super) fn with_screen_asked_for(mut self, args: &[OsString]) -> Env {
        let is_learn = args.first().is_some_and(|word| word == "learn");
        if let Some(when) = typed_value(args, "--color") {
            self.set_colour(&when);
        }
        let columns = typed_value(args, if is_learn { "--columns" } else { "--width" });
        Env { width: columns.and_then(|columns| columns.parse().ok()).unwrap_or(self.width), ..self }
    }

    /// Takes the value of `--color`, for standard error too.
    pub(super) fn set_colour(&mut self, when: &str) {
        if when == "always" || when == "never" {
            (self.colour, self.colour_err) = (when == "always", when == "always");
        }
    }

    /// The surroundings that these variables, the columns of the terminal of standard output, and whether standard
    /// output and standard error are terminals, add up to.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
        columns: Option<usize>,
        is_terminal: [bool; 2],
    ) -> Env {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let forced = |name: &str| set(name).is_some_and(|value| value != "0");
        let is_forced = forced("CLICOLOR_FORCE") || forced("FORCE_COLOR");
        let is_dumb = set("TERM").as_deref() == Some("dumb");
        let colour =
            |is_terminal: bool| set("NO_COLOR").is_none() && (is_forced || (is_terminal && !is_dumb));
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let charset = match locale.map(|locale| locale.to_lowercase()) {
            Some(locale) if !locale.contains("utf-8") && !locale.contains("utf8") => Charset::Ascii,
            _ => Charset::Utf8,
        };
        let width =
            set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns: &usize| columns > 0);
        Env {
            width: width.or(columns.filter(|&columns| columns > 0)).unwrap_or(DEFAULT_WIDTH),
            colour: colour(is_terminal[0]),
            colour_err: colour(is_terminal[1]),
            theme: set("COLORFGBG").map_or(Theme::Unknown, |text| Theme::of_colorfgbg(&text)),
            charset,
            ..Env::default()
        }
    }
}

/// The user's folder for what the program remembers: `ATTN_STATE_DIR`, else `attn` in `XDG_STATE_HOME` or `~/.local/state`, on Windows
/// in `APPDATA`.
fn state_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("ATTN_STATE_DIR").filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    let of_variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = if cfg!(windows) {
        of_variable("APPDATA")
    } else {
        of_variable("XDG_STATE_HOME").or_else(|| Some(std::env::home_dir()?.join(".local/state")))
    };
    Some(folder?.join("attn"))
}

// Negative numbers as arguments. clap takes `-2` for a flag; so, before it looks, the minus of whatever reads as a number
// or a matrix becomes the typographic minus U+2212, which the reading of numbers accepts.

const TYPOGRAPHIC_MINUS: char = '−';

/// The argument, its leading `-` exchanged if it is a negative number or a matrix that begins with one.
pub(super) fn shielded(arg: OsString) -> OsString {
    match arg.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(rest) if is_numbers(rest) => format!("{TYPOGRAPHIC_MINUS}{rest}").into(),
        _ => arg,
    }
}

/// A message in which the minus is again as it was typed.
pub(super) fn unshielded(message: &str) -> String {
    message.replace(TYPOGRAPHIC_MINUS, "-")
}

/// Whether a text is numbers with spaces, commas or semicolons between them.
fn is_numbers(text: &str) -> bool {
    let mut parts = text.split([' ', '\t', '\n', ',', ';']).filter(|part| !part.is_empty()).peekable();
    !text.starts_with(|c: char| c == '-' || c.is_whitespace())
        && parts.peek().is_some()
        && parts.all(|part| part.parse::<f64>().is_ok() || part == "∞" || part == "-∞")
}

// The standard streams of a command.

/// The standard streams of a command.
pub struct Streams<'a> {
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
}

// The outcome of a command.

/// The exit code of a command, and the graphs that it computed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The exit code.
    pub code: u8,
    /// The graph of each computation that it showed, with all nodes, also those that `--only` leaves out. A command that shows
    /// tables of counts has their columns of numbers as one graph.
    pub graphs: Vec<Graph>,
}

impl Outcome {
    /// A command that failed. A closed pipe, as in `attn … | head`, counts as success.
    pub(super) fn of_error(error: &Error) -> Outcome {
        Outcome::from(if is_closed_pipe(error) { EXIT_DONE } else { EXIT_UNUSABLE })
    }

    /// The command that showed these pages. An explanation shows where a number comes from, not a computation.
    pub(super) fn of_pages(code: u8, pages: Vec<Page>) -> Outcome {
        let computations = pages.into_iter().filter(|page| !page.explains());
        Outcome { code, graphs: computations.map(|page| page.story.graph).collect() }
    }

    /// The command that showed these tables; the graph has their numbers.
    pub(super) fn of_tables(code: u8, parts: &[(String, Table)]) -> Result<Outcome> {
        let graph = numbers_of_tables(parts.iter().map(|(_, table)| table))?;
        Ok(Outcome { code, graphs: graph.into_iter().collect() })
    }
}

impl From<u8> for Outcome {
    /// A command that computed no graph.
    fn from(code: u8) -> Outcome {
        Outcome { code, graphs: Vec::new() }
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Outcome {
        Outcome::from(EXIT_DONE)
    }
}

/// Whether the program that reads the output has ended.
pub(super) fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Output(said) if said.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(variables: &[(&str, &str)], is_terminal: bool) -> Env {
        let variable =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_string());
        Env::from_variables(variable, is_terminal.then_some(120), [is_terminal; 2])
    }

    #[test]
    fn columns_come_before_the_terminal_and_eighty_stands_for_nothing() {
        assert_eq!(env(&[("COLUMNS", "60")], true).width, 60);
        assert_eq!(env(&[("COLUMNS", "many")], true).width, 120);
        assert_eq!(env(&[], false).width, 80);
    }

    #[test]
    fn no_color_comes_before_force_and_both_only_when_not_empty() {
        assert!(!env(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true).colour);
        assert!(env(&[("NO_COLOR", "")], true).colour);
        assert!(env(&[("FORCE_COLOR", "1")], false).colour);
        assert!(!env(&[("CLICOLOR_FORCE", "")], false).colour);
        assert!(!env(&[("TERM", "dumb")], true).colour);
    }

    #[test]
    fn a_locale_that_is_not_utf8_gets_ascii() {
        assert_eq!(env(&[("LANG", "C")], true).charset, Charset::Ascii);
        assert_eq!(env(&[("LANG", "de_DE.UTF-8")], true).charset, Charset::Utf8);
        assert_eq!(env(&[("LC_ALL", "POSIX"), ("LANG", "de_DE.UTF-8")], true).charset, Charset::Ascii);
        assert_eq!(env(&[], true).charset, Charset::Utf8);
    }

    #[test]
    fn negative_numbers_and_matrices_are_values_and_flags_stay_flags() {
        for (typed, seen) in [
            ("-2", "−2"),
            ("-.5", "−.5"),
            ("-1e-3", "−1e-3"),
            ("-inf", "−inf"),
            ("-1 2; 3 4", "−1 2; 3 4"),
            ("-1,-2", "−1,-2"),
            ("--2", "--2"),
            ("-h", "-h"),
            ("--scale", "--scale"),
            ("-", "-"),
            ("-x 1", "-x 1"),
        ] {
            assert_eq!(shielded(typed.into()), OsString::from(seen), "{typed}");
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = |kind: io::ErrorKind| Error::from(io::Error::from(kind));
        assert_eq!(Outcome::of_error(&error(io::ErrorKind::BrokenPipe)).code, EXIT_DONE);
        assert_eq!(Outcome::of_error(&error(io::ErrorKind::StorageFull)).code, EXIT_UNUSABLE);
        assert_eq!(Outcome::of_error(&Error::new("empty")).code, EXIT_UNUSABLE);
    }
}
