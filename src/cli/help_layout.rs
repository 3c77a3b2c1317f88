//! The layout of `--help`: a line for each option, with longer help below it.

use super::attend::mechanisms::MECHANISMS;
use crate::text::ScreenWidth;
use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Command};

/// The options of the screen, the same in every command: `--help` has a line for each, and `attn help screen` explains them.
const OF_THE_SCREEN: [&str; 4] = ["width", "color", "theme", "charset"];

/// The output options that `attn help screen` explains too.
const OF_NUMBERS: [&str; 3] = ["format", "precision", "heat"];

/// The heading of the options of the screen.
const SCREEN: &str = "Screen (explained by: attn help screen)";

/// The heading of the options of today's models in a long help.
const MECHANISMS_EXPLAINED: &str = "Positions, norms, sinks and gates (explained by: attn help positions)";

/// The definitions for `--help`, laid out for this many columns. Commands with commands of their own stay as they are, unless they
/// take something themselves.
pub(super) fn lengthened(mut command: Command, width: usize) -> Command {
    command.build();
    laid_out(command, width)
}

fn laid_out(command: Command, width: usize) -> Command {
    let head = command.get_styles().get_header();
    let mut commands = String::new();
    let mut command = command.clone();
    if command.has_subcommands() {
        command = command.mut_subcommands(|inner| laid_out(inner, width));
        if command.get_positionals().next().is_none() {
            return command;
        }
        commands = format!("{head}Commands:{head:#}\n{{subcommands}}\n\n");
    }
    let text = options(&command, width);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{text}{{after-help}}"
    ))
}

/// The options of a command that are about its output and its screen, explained: what `attn help screen` says.
pub(super) fn screen(command: &Command, width: usize) -> String {
    let shared: Vec<&Arg> = command.get_arguments().filter(|arg| is_shared(arg)).collect();
    section(command, "How the output looks", &shared, true, width)
}

/// The options of today's models, explained: what `attn help positions` says.
pub(super) fn mechanisms(command: &Command, width: usize) -> String {
    let args: Vec<&Arg> = command.get_arguments().filter(|arg| is_mechanism(arg)).collect();
    section(command, MECHANISMS, &args, true, width)
}

/// Whether `attn help positions` explains an option.
fn is_mechanism(arg: &Arg) -> bool {
    arg.get_help_heading() == Some(MECHANISMS) || arg.get_id() == "position"
}

/// Whether `attn help screen` explains an option.
fn is_shared(arg: &Arg) -> bool {
    let is_of_output = arg.get_help_heading() == Some("Output");
    OF_NUMBERS.iter().chain(&OF_THE_SCREEN).any(|id| arg.get_id() == id) && is_of_output
}

/// All arguments of a command under their headings.
fn options(command: &Command, width: usize) -> String {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let mut sections: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for arg in shown {
        let heading = match arg.get_help_heading() {
            _ if OF_THE_SCREEN.iter().any(|id| arg.get_id() == id) => SCREEN,
            Some(MECHANISMS) => MECHANISMS_EXPLAINED,
            Some(heading) => heading,
            None if arg.is_positional() => "Arguments",
            None => "Options",
        };
        match sections.iter_mut().find(|(other, _)| *other == heading) {
            Some((_, args)) => args.push(arg),
            None => sections.push((heading, vec![arg])),
        }
    }
    // First the options without a heading, last those of the screen.
    sections.sort_by_key(|(heading, _)| match *heading {
        "Arguments" => 0,
        "Options" => 1,
        SCREEN => 3,
        _ => 2,
    });
    let told = sections.iter_mut().map(|(heading, args)| {
        args.sort_by_key(|arg| arg.is_positional());
        section(command, heading, args, false, width)
    });
    told.collect::<Vec<_>>().join("\n\n")
}

/// Arguments under a heading, in two columns. `whole` is for the options that are the same everywhere.
fn section(command: &Command, heading: &str, args: &[&Arg], whole: bool, width: usize) -> String {
    let styles = command.get_styles();
    let (head, literal, placeholder) = (styles.get_header(), styles.get_literal(), styles.get_placeholder());
    let names: Vec<(String, String)> = args.iter().map(|arg| name(arg)).collect();
    let longest = names.iter().map(|(option, value)| option.width() + value.width()).max().unwrap_or(0);
    let column = longest + 4;
    let mut text = format!("{head}{heading}:{head:#}");
    for (arg, (option, value)) in args.iter().zip(&names) {
        let gap = " ".repeat(longest + 2 - option.width() - value.width());
        let indent = " ".repeat(column);
        let lines =
            textwrap::Options::new(width.max(column + 20)).initial_indent(&indent).subsequent_indent(&indent);
        let lines = lines.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
        let words: Vec<String> = words(arg, whole).iter().map(|line| textwrap::fill(line, &lines)).collect();
        let words = words.join("\n");
        let (option, value) = if arg.is_positional() {
            (format!("{placeholder}{option}{placeholder:#}"), String::new())
        } else {
            (format!("{literal}{option}{literal:#}"), format!("{placeholder}{value}{placeholder:#}"))
        };
        text.push_str(&format!("\n  {option}{value}{gap}{}", words.trim_start()));
    }
    text
}

/// The names of an argument, and what follows them: `-o, --output` and ` <FILE>`.
fn name(arg: &Arg) -> (String, String) {
    let shown = arg.to_string();
    if arg.is_positional() {
        return (shown, String::new());
    }
    let (long, value) = match shown.split_once(' ') {
        Some((long, value)) => (long, format!(" {value}")),
        None => (&*shown, String::new()),
    };
    let short = arg.get_short().map_or("    ".to_string(), |short| format!("-{short}, "));
    (format!("{short}{long}"), value)
}

/// The help of an argument in paragraphs: one line with the default, the longer help, and its values.
fn words(arg: &Arg, whole: bool) -> Vec<String> {
    let text = |text: Option<&StyledStr>| text.map(ToString::to_string).unwrap_or_default();
    let (short, long) = (text(arg.get_help()), text(arg.get_long_help()));
    let mut first = if short.is_empty() { long.clone() } else { short.clone() };
    let is_shared = is_shared(arg);
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let takes_values = arg.get_action().takes_values();
    if takes_values && !defaults.is_empty() && !first.contains("[default") && (whole || !is_shared) {
        first.push_str(&format!(" [default: {}]", defaults.join(" ")));
    }
    if arg.get_id() == "help" {
        return vec!["Print this help; -h prints a summary".to_string()];
    }
    let mut lines = vec![first];
    if (is_shared || is_mechanism(arg)) && !whole {
        return lines;
    }
    let rest = long.strip_prefix(&short).unwrap_or(&long).trim();
    lines.extend(rest.split("\n\n").filter(|part| !part.is_empty()).map(str::to_string));
    let values = arg.get_possible_values();
    if takes_values {
        let line = |value: &clap::builder::PossibleValue| {
            let help = value.get_help()?.to_string();
            (help.to_lowercase() != value.get_name()).then(|| format!("{}: {help}", value.get_name()))
        };
        lines.extend(values.iter().filter_map(line));
    }
    lines
}

/// The options that `-h` of a long command leaves to `--help`.
const LEFT_TO_LONG_HELP: [&str; 24] = [
    "k",
    "v",
    "wk",
    "wv",
    "wo",
    "define",
    "embeddings",
    "seed",
    "mask_kind",
    "bias",
    "tokens",
    "scale",
    "kv_heads",
    "residual",
    "fast",
    "dtype",
    "convention",
    "precision",
    "heat",
    "steps",
    "no_pause",
    "full",
    "depth",
    "symbolic",
];

/// The definitions for `-h`: values and defaults are left to `--help`, and of the two longest commands the rarer options.
pub(super) fn shortened(command: Command) -> Command {
    let is_long = ["attend", "diagnose"].contains(&command.get_name());
    let shorter = |arg: Arg| {
        let arg = match arg.get_id().as_str() {
            "q" if is_long => arg.help("Queries, one row for each token; --k and --v alike"),
            "wq" if is_long => arg.help("W_Q; --wk, --wv and --wo alike [default: identity]"),
            id if is_long && LEFT_TO_LONG_HELP.contains(&id) => arg.hide_short_help(true),
            _ => arg,
        };
        if arg.get_action().takes_values() {
            arg.hide_possible_values(true).hide_default_value(true)
        } else {
            arg
        }
    };
    command.mut_args(shorter).mut_subcommands(shortened)
}

/// The command without the examples below its help, and these.
pub(super) fn without_examples(command: &Command) -> (Command, String) {
    let below = command.get_after_long_help().or(command.get_after_help());
    let examples = below.map(ToString::to_string).unwrap_or_default();
    (command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset), examples)
}
