//! `attn help`: the long help of a command, of the screen options, and of the variables.

use std::io::Write as _;
use std::process::{self, Stdio};

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Command};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::{to_path, visible};
use crate::input::put_files;
use crate::text::{ScreenWidth, counted, nearest, quoted};

use super::attend::mechanisms::MECHANISMS;
use super::program::{Env, Program, Streams};
use super::texts::help_page;

/// The columns that help is laid out for, whatever the screen has.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=100;

/// The options of `attn help`.
#[derive(Deserialize, Debug)]
pub(super) struct HelpArgs {
    topic: Vec<String>,
}

impl HelpArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let words: Vec<&str> = self.topic.iter().map(String::as_str).collect();
        let text = match words[..] {
            [] => help_page("front").to_string(),
            ["environment" | "variables"] => help_page("environment").to_string(),
            ["screen" | "output"] => of_screen(program, env),
            ["positions" | "position" | "rope"] => {
                format!("{}\n\n{}", of_attend(program, env, MECHANISMS, is_mechanism), help_page("positions"))
            }
            _ => of_command(&words, program, env)?,
        };
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        Ok(())
    }
}

/// The options that all commands have that print numbers.
fn of_screen(program: &Program<'_>, env: &Env) -> String {
    format!(
        "{}\n\n--precision and --heat have no effect on tables of words. The variables that\nset defaults for all \
         commands are listed by: attn help environment\n",
        of_attend(program, env, "How the output looks", is_shared)
    )
}

/// Some options of `attn attend`, explained under a heading.
fn of_attend(program: &Program<'_>, env: &Env, heading: &str, is_told: fn(&Arg) -> bool) -> String {
    let mut whole = program.definitions.clone();
    whole.build();
    let text = whole.find_subcommand("attend").map(|attend| {
        let args: Vec<&Arg> = attend.get_arguments().filter(|arg| is_told(arg)).collect();
        section(attend, heading, &args, true, width(env))
    });
    written(&StyledStr::from(text.unwrap_or_default()), env)
}

/// The long help of the command that these words name.
fn of_command(words: &[&str], program: &Program<'_>, env: &Env) -> Result<String> {
    let mut whole = lengthened(program.definitions.clone().term_width(width(env)), width(env));
    let mut found = &mut whole;
    for word in words {
        let names: Vec<String> = found.get_subcommands().map(|one| one.get_name().to_string()).collect();
        let Some(at) = names.iter().position(|name| name == word) else {
            let error = Error::new(format!("there is no command `{}` to explain", visible(word)));
            let near = nearest(word, names.iter().map(String::as_str));
            return Err(match near {
                Some(near) => error.help(format!("did you mean `attn help {near}`?")),
                None => error.help(format!("search for it: attn find {}", visible(word))),
            });
        };
        found =
            found.find_subcommand_mut(&names[at]).unwrap_or_else(|| unreachable!("it has just been found"));
    }
    Ok(written(&found.render_long_help(), env))
}

/// A text of clap without its styles.
pub(super) fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// The columns of a help text on this screen.
pub(super) fn width(env: &Env) -> usize {
    env.width.clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// A help text, in colour where there is colour.
pub(super) fn written(text: &StyledStr, env: &Env) -> String {
    if env.colour { text.ansi().to_string() } else { text.to_string() }
}

// The layout of `--help`: a line for each option, with longer help below it.

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
    let text = sections(&command, width);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{text}{{after-help}}"
    ))
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
fn sections(command: &Command, width: usize) -> String {
    let mut sections = by_heading(command, |arg| match arg.get_help_heading() {
        _ if OF_THE_SCREEN.iter().any(|id| arg.get_id() == id) => SCREEN,
        Some(MECHANISMS) => MECHANISMS_EXPLAINED,
        Some(heading) => heading,
        None if arg.is_positional() => "Arguments",
        None => "Options",
    });
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

/// The arguments of a command by their headings, in the order in which these come first.
fn by_heading<'a, H: PartialEq>(
    command: &'a Command,
    heading: impl Fn(&'a Arg) -> H,
) -> Vec<(H, Vec<&'a Arg>)> {
    let mut all: Vec<(H, Vec<&Arg>)> = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let heading = heading(arg);
        match all.iter_mut().find(|(other, _)| *other == heading) {
            Some((_, args)) => args.push(arg),
            None => all.push((heading, vec![arg])),
        }
    }
    all
}

/// Arguments under a heading, in two columns. `whole` is for the options that are the same everywhere.
fn section(command: &Command, heading: &str, args: &[&Arg], whole: bool, width: usize) -> String {
    let styles = command.get_styles();
    let (head, literal, placeholder) = (styles.get_header(), styles.get_literal(), styles.get_placeholder());
    let names: Vec<(String, String)> = args.iter().map(|arg| name_of_argument(arg)).collect();
    let longest = names.iter().map(|(option, value)| option.width() + value.width()).max().unwrap_or(0);
    let column = longest + 4;
    let mut text = format!("{head}{heading}:{head:#}");
    for (arg, (option, value)) in args.iter().zip(&names) {
        let gap = " ".repeat(longest + 2 - option.width() - value.width());
        let indent = " ".repeat(column);
        let lines =
            textwrap::Options::new(width.max(column + 20)).initial_indent(&indent).subsequent_indent(&indent);
        let lines = lines.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
        let words: Vec<String> =
            words_of_argument(arg, whole).iter().map(|line| textwrap::fill(line, &lines)).collect();
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
fn name_of_argument(arg: &Arg) -> (String, String) {
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
fn words_of_argument(arg: &Arg, whole: bool) -> Vec<String> {
    let (short, long) = (plain(arg.get_help()), plain(arg.get_long_help()));
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
const LEFT_TO_LONG_HELP: &str = "k v wk wv wo define embeddings seed mask_kind bias tokens scale \
    kv_heads residual fast dtype convention precision heat steps no_pause full depth symbolic";

/// The definitions for `-h`: values and defaults are left to `--help`, and of the two longest commands the rarer options.
pub(super) fn shortened(command: Command) -> Command {
    let is_long = ["attend", "diagnose"].contains(&command.get_name());
    let shorter = |arg: Arg| {
        let arg = match arg.get_id().as_str() {
            "q" if is_long => arg.help("Queries, one row for each token; --k and --v alike"),
            "wq" if is_long => arg.help("W_Q; --wk, --wv and --wo alike [default: identity]"),
            id if is_long && LEFT_TO_LONG_HELP.split(' ').any(|left| left == id) => arg.hide_short_help(true),
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
    let examples = plain(below);
    (command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset), examples)
}

// `attn man`: a manual page for each command, made from the definition of the command line.

/// The options of `attn man`.
#[derive(Deserialize, Debug)]
pub(super) struct ManArgs {
    command: Vec<String>,
    write: Option<String>,
}

/// The program and its version, for the footer of each page.
const SOURCE: &str = concat!("attn ", env!("CARGO_PKG_VERSION"));

impl ManArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let pages = pages(program);
        if let Some(folder) = &self.write {
            let names: Vec<String> = pages.iter().map(|page| format!("{}.1", page.name)).collect();
            let files: Vec<(&str, &[u8])> =
                names.iter().map(String::as_str).zip(pages.iter().map(|page| page.text.as_bytes())).collect();
            // They are the program's own, of whatever version: a newer page takes the place of an older one.
            let put = put_files(&to_path(folder), &files, true, env.writing)?;
            let said = format!("{} written to {}\n", counted(put.len(), "page"), visible(folder));
            streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
            return Ok(());
        }
        let words: Vec<&str> = self.command.iter().map(String::as_str).collect();
        let name = [&["attn"], &words[..]].concat().join("-");
        let page = pages.iter().find(|page| page.name == name).ok_or_else(|| {
            let asked = visible(&words.join(" ")).into_owned();
            let error = Error::new(format!("there is no command `{asked}`"));
            match nearest(&name, pages.iter().map(|page| page.name.as_str())) {
                Some(near) if near != "attn" => {
                    let near = near.trim_start_matches("attn-").replace('-', " ");
                    error.help(format!("did you mean: attn man {near}"))
                }
                _ => error.help(format!("search for it: attn find {}", quoted(&asked))),
            }
        })?;
        if env.has_screen && streams.out.flush().is_ok() && shown_by_man(page.text.as_bytes()) {
            return Ok(());
        }
        if env.has_screen {
            let help = if words.is_empty() {
                help_page("front").to_string()
            } else {
                of_command(&words, program, env)?
            };
            let command = [&["attn man"], &words[..]].concat().join(" ");
            let text = format!(
                "{help}\nThe system has no `man` that shows the page here. Its source: {command} > {name}.1\n"
            );
            streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
            return Ok(());
        }
        streams.out.write_all(page.text.as_bytes())?;
        Ok(())
    }
}

/// Shows a page on the terminal with the system's `man`; returns whether that worked.
fn shown_by_man(page: &[u8]) -> bool {
    let man =
        process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut man) = man else { return false };
    // A reader who leaves early closes the pipe.
    let _ = man.stdin.take().map(|mut input| input.write_all(page));
    man.wait().is_ok_and(|status| status.success())
}

/// A manual page.
struct ManPage {
    /// Its name without the section: `attn-lesson-play`.
    name: String,
    text: String,
}

/// The pages of all commands, that of `attn` first.
fn pages(program: &Program<'_>) -> Vec<ManPage> {
    let mut whole = program.definitions.clone().version(env!("CARGO_PKG_VERSION"));
    whole.build();
    let mut pages = Vec::new();
    collect_pages(&whole, "attn", None, &mut pages);
    pages
}

/// Adds the page of a command and those of its subcommands.
fn collect_pages(command: &Command, name: &str, above: Option<&str>, pages: &mut Vec<ManPage>) {
    let (own, examples) = without_examples(command);
    let below: Vec<String> = inner(command).map(|inner| format!("{name}-{}", inner.get_name())).collect();
    let mut text = man_page(&own, name) + &section_of_examples(&examples);
    let related = above.map(str::to_string).into_iter().chain(below);
    let related: Vec<String> = related.map(|page| format!("\\fB{}\\fR(1)", escaped(&page))).collect();
    if !related.is_empty() {
        text.push_str(&format!(".SH \"SEE ALSO\"\n{}\n", related.join(", ")));
    }
    pages.push(ManPage { name: name.to_string(), text });
    for one in inner(command) {
        collect_pages(one, &format!("{name}-{}", one.get_name()), Some(name), pages);
    }
}

fn inner(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| !inner.is_hide_set())
}

/// The page of a command, as `man` reads it, with a section for each heading of its options.
fn man_page(command: &Command, name: &str) -> String {
    let about = roff(&format!("{name} - {}", plain(command.get_about().or(command.get_long_about()))));
    let mut page = format!(
        ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH {name} 1  \"{SOURCE}\" \n.SH NAME\n{about}\n.SH SYNOPSIS\n{}\n\
         .SH DESCRIPTION\n",
        synopsis(command)
    );
    for line in plain(command.get_long_about().or(command.get_about())).lines() {
        page.push_str(&if line.trim().is_empty() { ".PP\n".to_string() } else { roff(line) + "\n" });
    }
    let mut sections = by_heading(command, Arg::get_help_heading);
    sections.sort_by_key(|(heading, _)| heading.is_some());
    for (heading, mut args) in sections {
        let title = heading.unwrap_or("OPTIONS").to_uppercase();
        let title = if title.contains(' ') { format!("\"{title}\"") } else { title };
        page.push_str(&format!(".SH {title}\n"));
        // First the options, as `--help` lists them, then the arguments without a name, in their order.
        args.sort_by_key(|arg| {
            (arg.is_positional(), if arg.is_positional() { 0 } else { arg.get_display_order() })
        });
        args.into_iter().for_each(|arg| page.push_str(&entry(arg)));
    }
    let mut commands: Vec<&Command> = inner(command).collect();
    commands.sort_by_key(|one| (one.get_display_order(), one.get_name()));
    page.push_str(if commands.is_empty() { "" } else { ".SH SUBCOMMANDS\n" });
    for one in commands {
        let about = roff(&plain(one.get_about().or(one.get_long_about())));
        let name = roff(&format!("{name}-{}(1)", one.get_name()));
        page.push_str(&format!(".TP\n{name}\n{about}\n"));
    }
    page + ".SH VERSION\nv" + env!("CARGO_PKG_VERSION") + "\n"
}

/// How a command is typed: in one line, or in those that it gives itself.
fn synopsis(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let bold = format!("\\fB{}\\fR", roff(name));
    if let Some(usage) = command.get_overridden_usage() {
        let usage = usage.to_string();
        let forms = usage.lines().map(str::trim).filter(|form| !form.is_empty());
        let line = |form: &str| match form.strip_prefix(name) {
            Some(rest) => format!("{bold}{}", roff(rest)),
            None => roff(form),
        };
        return forms.map(line).collect::<Vec<_>>().join("\n.br\n");
    }
    let mut args: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    args.sort_by_key(|arg| {
        (arg.is_positional(), !arg.is_positional() && arg.is_required_set(), arg.get_display_order())
    });
    let args: String = args.into_iter().map(|arg| in_brackets(arg, names(arg, "|")) + " ").collect();
    let inner = command.get_subcommand_value_name().unwrap_or("SUBCOMMANDS").to_lowercase();
    let inner = match (command.has_subcommands(), command.is_subcommand_required_set()) {
        (false, _) => String::new(),
        (true, true) => format!("<\\fI{inner}\\fR>"),
        (true, false) => format!("[\\fI{inner}\\fR]"),
    };
    format!("{bold} {args}{inner}")
}

fn in_brackets(arg: &Arg, text: String) -> String {
    if arg.is_required_set() { format!("<{text}>") } else { format!("[{text}]") }
}

/// `-o` and `--output` as far as there are both, or the name of the value of an argument without a name.
fn names(arg: &Arg, between: &str) -> String {
    if arg.is_positional() {
        return format!("\\fI{}\\fR", roff(&arg.get_value_names().unwrap_or_default().join(" ")));
    }
    let short = arg.get_short().map(|short| format!("-{short}"));
    let both = short.into_iter().chain(arg.get_long().map(|long| format!("--{long}")));
    both.map(|name| format!("\\fB{}\\fR", roff(&name))).collect::<Vec<_>>().join(between)
}

/// An argument with its help and the values that it can have.
fn entry(arg: &Arg) -> String {
    let range = arg.get_num_args().unwrap_or_default();
    let mut head = names(arg, ", ");
    if arg.is_positional() {
        head = in_brackets(arg, head);
    } else if range.takes_values() {
        let value = roff(&arg.get_value_names().unwrap_or_default().join(" "));
        let more = if range.max_values() > 1 { "..." } else { "" };
        let [open, close] = if range.min_values() > 0 { ["", ""] } else { ["[", "]"] };
        head.push_str(&format!(" {open}\\fI<{value}>{more}\\fR{close}"));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if range.takes_values() && !defaults.is_empty() {
        head.push_str(&format!(" [default: {}]", roff(&defaults.join(","))));
    }
    let help = arg.get_long_help().or(arg.get_help().filter(|_| !arg.is_hide_short_help_set()));
    let mut text = format!(".TP\n{head}\n{}\n", roff(&plain(help)));
    let values = arg.get_possible_values();
    if !values.is_empty() && !arg.is_hide_possible_values_set() {
        text.push_str(if help.is_some() { ".br\n\n" } else { "" });
        text.push_str(".br\n\\fIPossible values:\\fR\n.RS 14\n");
        for value in values {
            let help = value.get_help().map_or(String::new(), |help| format!(": {help}"));
            text.push_str(&format!(".IP \\(bu 2\n{}\n", roff(&format!("{}{help}", value.get_name()))));
        }
        text.push_str(".RE\n");
    }
    text
}

/// A text of a page, in which no line is a command. Its apostrophes are straight, as the first lines of a page define them.
fn roff(text: &str) -> String {
    let text =
        text.replace('\\', "\\\\").replace('-', "\\-").replace('\'', "\\*(Aq").replace("\n.", "\n\\&.");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

/// The examples of a command, line by line as they are.
fn section_of_examples(help: &str) -> String {
    let Some(lines) = help.strip_prefix("Examples:\n") else { return String::new() };
    let lines: Vec<String> =
        lines.lines().map(|line| escaped(line.strip_prefix("  ").unwrap_or(line))).collect();
    format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", lines.join("\n"))
}

/// A text in roff, in which no character is a command.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
