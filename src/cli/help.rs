//! `attn help`: the long help of a command, of the screen options, and of the variables; and the manual pages.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{self, Stdio};

use clap::builder::{PossibleValue, Resettable, StyledStr, Styles};
use clap::{Arg, Command};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::{to_path, visible};
use crate::input::put_files;
use crate::text::{ScreenWidth, counted, nearest, quoted};

use super::completions::print_completions;
use super::old_spellings::respelled;
use super::program::{Env, Program, Streams, deepest};
use super::registry::{Topic, titled, topic};
use super::texts::{help_page, plain, text as text_of};

/// The columns that help is laid out for, whatever the screen has.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=100;

/// The options of `attn help`.
#[derive(Deserialize, Debug)]
pub(super) struct HelpArgs {
    topic: Vec<String>,
    man: bool,
    completions: Option<String>,
    write: Option<String>,
}

impl HelpArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        if let Some(shell) = &self.completions {
            return print_completions(shell, program, streams);
        }
        // An old spelling of a command is explained as what it is now.
        let typed: Vec<OsString> = self.topic.iter().map(OsString::from).collect();
        let is_command = deepest(program.definitions, &typed).0 == typed.len();
        let words = if is_command { typed } else { respelled(typed).0 };
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.starts_with('-')).collect();
        if self.man {
            return write_manual(&words, self.write.as_deref(), program, env, streams);
        }
        let text = match words[..] {
            [] => help_page("front").to_string(),
            ["environment" | "variables"] => help_page("environment").to_string(),
            [name] if topic(name).is_some() => {
                topic(name).map_or(String::new(), |topic| of_topic(topic, program, env))
            }
            _ => of_command(&words, program, env)?,
        };
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        Ok(())
    }
}

/// The options of a topic at length, and what there is to say besides.
fn of_topic(topic: &Topic, program: &Program<'_>, env: &Env) -> String {
    let mut whole = program.definitions.clone();
    whole.build();
    let text = section(topic.title, &topic.args(&whole), Detail::Paragraphs, width(env));
    let more = text_of("topic", topic.name).map_or(String::new(), |more| format!("\n{more}"));
    format!("{}\n{more}", written(&StyledStr::from(text), env))
}

/// The long help of the command that these words name.
fn of_command(words: &[&str], program: &Program<'_>, env: &Env) -> Result<String> {
    let whole = program.definitions.clone().term_width(width(env));
    let mut whole = explained(whole, Detail::Paragraphs, width(env));
    let mut found = &mut whole;
    for word in words {
        let names: Vec<String> = found.get_subcommands().map(|one| one.get_name().to_string()).collect();
        let Some(at) = names.iter().position(|name| name == word) else {
            let error = Error::new(format!("there is no command `{}` to explain", visible(word)));
            let near = nearest(word, names.iter().map(String::as_str));
            let before = words.iter().take_while(|known| *known != word).map(|known| format!("{known} "));
            return Err(match near {
                Some(near) => {
                    error.help(format!("did you mean `attn help {}{near}`?", before.collect::<String>()))
                }
                None => error.help(format!("search for it: attn find {}", visible(word))),
            });
        };
        found =
            found.find_subcommand_mut(&names[at]).unwrap_or_else(|| unreachable!("it has just been found"));
    }
    Ok(written(&found.render_long_help(), env))
}

/// The columns of a help text on this screen.
pub(super) fn width(env: &Env) -> usize {
    env.width.clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// A help text, in colour where there is colour.
pub(super) fn written(text: &StyledStr, env: &Env) -> String {
    if env.colour { text.ansi().to_string() } else { text.to_string() }
}

// The layout of help: a line for each option, in `--help` with more below it; options of a topic are only named.

/// How much is said of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// One line, and of a command with many options none for the rarer ones.
    Line,
    /// The line, more about it, and its values.
    Paragraphs,
}

/// A command has many options from this number on.
const MANY: usize = 25;

/// The heading of the options that `attn help` explains by topics.
const TOPICS: &str = "More options, by topic; attn help TOPIC explains them";

/// The definitions for `-h` or `--help`, laid out for this many columns. Commands that have commands and nothing else stay as they
/// are.
pub(super) fn explained(mut command: Command, detail: Detail, width: usize) -> Command {
    command.build();
    laid_out(command, detail, width)
}

fn laid_out(command: Command, detail: Detail, width: usize) -> Command {
    let head = command.get_styles().get_header();
    let mut commands = String::new();
    let mut command = command.clone();
    if command.has_subcommands() {
        command = command.mut_subcommands(|inner| laid_out(inner, detail, width));
        if command.get_positionals().next().is_none() {
            return command;
        }
        commands = format!("{head}Commands:{head:#}\n{{subcommands}}\n\n");
    }
    let text = sections(&command, detail, width);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{text}{{after-help}}"
    ))
}

/// All arguments of a command under their headings: first those without one, last those of topics.
fn sections(command: &Command, detail: Detail, width: usize) -> String {
    let heading = |arg: &Arg| match arg.get_help_heading().map(str::to_string) {
        Some(heading) => heading,
        None if arg.is_positional() => "Arguments".to_string(),
        None => "Options".to_string(),
    };
    let (of_topics, mut own): (Vec<_>, Vec<_>) =
        by_heading(command, heading).into_iter().partition(|(heading, _)| titled(heading).is_some());
    let has_many = own.iter().map(|(_, args)| args.len()).sum::<usize>() >= MANY;
    own.sort_by_key(|(heading, _)| {
        ["Arguments", "Options"].iter().position(|first| first == heading).unwrap_or(2)
    });
    let told = own.iter_mut().map(|(heading, args)| {
        args.retain(|arg| {
            detail != Detail::Line || arg.get_id() != "help" && !(has_many && arg.is_hide_short_help_set())
        });
        args.sort_by_key(|arg| arg.is_positional());
        (!args.is_empty()).then(|| section(heading, args, detail, width))
    });
    let mut told: Vec<String> = told.flatten().collect();
    if !of_topics.is_empty() {
        told.push(section_of_topics(&of_topics, width));
    }
    told.join("\n\n")
}

/// The names of options by their topics.
fn section_of_topics(topics: &[(String, Vec<&Arg>)], width: usize) -> String {
    let head = Styles::default();
    let head = head.get_header();
    let line = |(title, args): &(String, Vec<&Arg>)| {
        let name = titled(title).map_or("", |topic| topic.name);
        let names = args.iter().flat_map(|arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            short.into_iter().chain(arg.get_long().map(|long| format!("--{long}")))
        });
        let names: Vec<String> = names.collect();
        let indent = " ".repeat(13);
        let lines = textwrap::Options::new(width).initial_indent(&indent).subsequent_indent(&indent);
        let lines = lines.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
        format!("\n  {name:<11}{}", textwrap::fill(&names.join(" "), lines).trim_start())
    };
    format!("{head}{TOPICS}:{head:#}{}", topics.iter().map(line).collect::<String>())
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

/// Arguments under a heading, in two columns.
fn section(heading: &str, args: &[&Arg], detail: Detail, width: usize) -> String {
    let styles = Styles::default();
    let (head, literal, placeholder) = (styles.get_header(), styles.get_literal(), styles.get_placeholder());
    let names: Vec<(String, String)> = args.iter().map(|arg| name_of_argument(arg)).collect();
    let longest = names.iter().map(|(option, value)| option.width() + value.width()).max().unwrap_or(0);
    let column = longest + 4;
    let mut text = format!("{head}{heading}:{head:#}");
    for (arg, (option, value)) in args.iter().zip(&names) {
        let gap = " ".repeat(longest + 2 - option.width() - value.width());
        let indent = " ".repeat(column);
        let lines =
            textwrap::Options::new(width.max(column + 16)).initial_indent(&indent).subsequent_indent(&indent);
        let lines = lines.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
        let words: Vec<String> =
            words_of_argument(arg, detail).iter().map(|line| textwrap::fill(line, &lines)).collect();
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

/// The help of an argument: one line, in paragraphs also its default, the longer help, and its values.
fn words_of_argument(arg: &Arg, detail: Detail) -> Vec<String> {
    let (short, long) = (plain(arg.get_help()), plain(arg.get_long_help()));
    let mut first = if short.is_empty() { long.clone() } else { short.clone() };
    if arg.get_id() == "help" {
        return vec!["Print this help; -h prints a summary".to_string()];
    }
    if detail == Detail::Line {
        return vec![first];
    }
    let takes_values = arg.get_action().takes_values();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_values && !defaults.is_empty() && !first.contains("default") {
        first.push_str(&format!(" [default: {}]", defaults.join(" ")));
    }
    let mut lines = vec![first];
    let rest = long.strip_prefix(&short).unwrap_or(&long).trim();
    lines.extend(rest.split("\n\n").filter(|part| !part.is_empty()).map(str::to_string));
    if takes_values {
        let line = |value: &PossibleValue| {
            let help = value.get_help()?.to_string();
            (help.to_lowercase() != value.get_name()).then(|| format!("{}: {help}", value.get_name()))
        };
        lines.extend(arg.get_possible_values().iter().filter_map(line));
    }
    lines
}

/// The command without the examples below its help, and these.
pub(super) fn without_examples(command: &Command) -> (Command, String) {
    let below = command.get_after_long_help().or(command.get_after_help());
    let examples = plain(below);
    (command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset), examples)
}

// `attn help --man`: a manual page for each command, made from the definition of the command line.

/// The program and its version, for the footer of each page.
const SOURCE: &str = concat!("attn ", env!("CARGO_PKG_VERSION"));

/// Writes the page of a command, or all pages to a folder.
fn write_manual(
    words: &[&str],
    folder: Option<&str>,
    program: &Program<'_>,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<()> {
    let pages = pages(program);
    if let Some(folder) = folder {
        let names: Vec<String> = pages.iter().map(|page| format!("{}.1", page.name)).collect();
        let files: Vec<(&str, &[u8])> =
            names.iter().map(String::as_str).zip(pages.iter().map(|page| page.text.as_bytes())).collect();
        // They are the program's own, of whatever version: a newer page takes the place of an older one.
        let put = put_files(&to_path(folder), &files, true, env.writing)?;
        let said = format!("{} written to {}\n", counted(put.len(), "page"), visible(folder));
        streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
        return Ok(());
    }
    let name = [&["attn"], words].concat().join("-");
    let page = pages.iter().find(|page| page.name == name).ok_or_else(|| {
        let asked = visible(&words.join(" ")).into_owned();
        let error = Error::new(format!("there is no command `{asked}`"));
        if topic(&asked).is_some() {
            return error.help(format!("attn help {asked} explains these options"));
        }
        match nearest(&name, pages.iter().map(|page| page.name.as_str())) {
            Some(near) if near != "attn" => {
                let near = near.trim_start_matches("attn-").replace('-', " ");
                error.help(format!("did you mean: attn help --man {near}"))
            }
            _ => error.help(format!("search for it: attn find {}", quoted(&asked))),
        }
    })?;
    if env.has_screen && streams.out.flush().is_ok() && shown_by_man(page.text.as_bytes()) {
        return Ok(());
    }
    if env.has_screen {
        let help =
            if words.is_empty() { help_page("front").to_string() } else { of_command(words, program, env)? };
        let command = [&["attn help --man"], words].concat().join(" ");
        let text = format!(
            "{help}\nThe system has no `man` that shows the page here. Its source: {command} > {name}.1\n"
        );
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        return Ok(());
    }
    streams.out.write_all(page.text.as_bytes())?;
    Ok(())
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
    let help = arg.get_long_help().or(arg.get_help());
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
