//! The environment of a command, read once.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use etcetera::BaseStrategy;
use terminal_size::terminal_size_of;

use crate::foreign::from_os;
use crate::input::{ReadPermission, WritePermission};
use crate::render::{Charset, Theme};

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
            defaults: super::defaults::set(variable),
            state: state_folder(),
            ..Env::from_variables(variable, columns, [is_terminal, std::io::stderr().is_terminal()])
        }
    }

    /// The environment after `--color always` or `never`, for standard error too, and `--width` for help; also if the rest of
    /// the command line cannot be read.
    pub(super) fn with_screen_asked_for(mut self, args: &[OsString]) -> Env {
        let words = args.iter().map(|arg| arg.to_string_lossy());
        let screen = if words.clone().next().as_deref() == Some("learn") { "--columns" } else { "--width" };
        let pairs = words.clone().zip(words.skip(1).map(Some).chain([None]));
        for (word, next) in pairs {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (&*word, next.as_deref()),
            };
            match (option, value) {
                ("--color", Some("always")) => (self.colour, self.colour_err) = (true, true),
                ("--color", Some("never")) => (self.colour, self.colour_err) = (false, false),
                (width, Some(columns)) if width == screen => {
                    self.width = columns.parse().unwrap_or(self.width)
                }
                _ => {}
            }
        }
        self
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

/// The user's folder for what programs remember: `ATTN_STATE_DIR`, or `attn` where the system keeps such things.
fn state_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("ATTN_STATE_DIR").filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("attn"))
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
}
