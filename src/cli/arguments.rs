//! Corrections of command lines that are nearly right, and hints in the errors of those that are wrong.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::demo::{demos, demos_about};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::input::exists;
use crate::lesson::{built_in, near_lesson};
use crate::render::Charset;
use crate::text::{near, nearest, one_of, quoted};
use crate::{memory, params};

use super::old_spellings::{near_old_name, new_name};
use super::program::{Env, VARIABLE_PREFIX, deepest, typed_value};
use super::registry::excludes;
use super::texts::text;

/// The command line that is run.
pub(super) struct CorrectedArgs {
    /// The arguments, after corrections.
    pub args: Vec<OsString>,
    /// A sentence that is printed first, if the command is an example.
    pub said: Option<String>,
}

/// The arguments as they are meant: `lesson 0-tour` plays it, and a command that needs an input and has none shows an example.
pub(super) fn meant(args: Vec<OsString>, definitions: &clap::Command) -> CorrectedArgs {
    let words: Vec<&str> = args.iter().map_while(|arg| arg.to_str()).collect();
    if let [only] = words[..]
        && args.len() == 1
        && let Some(example) = text("worked", only)
    {
        let said = format!("`attn {only}` needs an input. An example: attn {example}");
        let args = shlex::split(example).unwrap_or_default().into_iter().map(OsString::from).collect();
        return CorrectedArgs { args, said: Some(said) };
    }
    let mut args = args;
    if matches!(args.first(), Some(first) if first == "lesson")
        && args.get(1).and_then(|name| name.to_str()).is_some_and(|name| is_lesson(name, definitions))
    {
        args.insert(1, "play".into());
    }
    CorrectedArgs { args, said: None }
}

/// Whether a lesson, and no subcommand of `lesson`, has this name.
fn is_lesson(name: &str, definitions: &clap::Command) -> bool {
    let is_command = lesson_commands(definitions).any(|own| own == name);
    let name = name.split('#').next().unwrap_or(name);
    !is_command
        && !name.starts_with('-')
        && (built_in(name).is_some() || (name.ends_with(".md") && exists(name)))
}

/// Removes far-fetched suggestions of clap, and adds better ones.
pub(super) fn improve(failed: &mut clap::Error, args: &[OsString], definitions: &clap::Command) {
    drop_far_fetched(failed, args, definitions);
    let tip = tip(failed, args, definitions);
    if tip.is_some() {
        failed.remove(ContextKind::SuggestedSubcommand);
    }
    let kept = match failed.remove(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips,
        _ => Vec::new(),
    };
    // “to pass '--x' as a value, use '-- --x'” is never helpful.
    let kept = kept.into_iter().filter(|tip| !tip.to_string().contains("as a value"));
    let tips: Vec<StyledStr> = tip.into_iter().map(StyledStr::from).chain(kept).collect();
    if !tips.is_empty() {
        failed.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    show(failed);
}

/// Replaces invisible characters in the typed text by visible escapes; clap would remove them.
fn show(failed: &mut clap::Error) {
    let shown = |value: &ContextValue| match value {
        ContextValue::String(text) => Some(ContextValue::String(visible(text).into_owned())),
        ContextValue::Strings(texts) => {
            Some(ContextValue::Strings(texts.iter().map(|text| visible(text).into_owned()).collect()))
        }
        _ => None,
    };
    let shown: Vec<_> =
        failed.context().filter_map(|(kind, value)| shown(value).map(|value| (kind, value))).collect();
    for (kind, value) in shown {
        failed.insert(kind, value);
    }
}

/// clap's message with its text about numbers in plain words: “99 is not in 0..=17” becomes “99 is not between 0 and 17”.
pub(super) fn plain(message: &str) -> String {
    let lines = message.split('\n').map(|line| match line.split_once(" is not in ") {
        Some((value, range)) => match range.split_once("..=") {
            Some((first, last)) => format!("{value} is not between {first} and {last}"),
            None => line.to_string(),
        },
        None => line.to_string(),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.replace("invalid digit found in string", "give a whole number: 0, 1, 2, …");
    let text = text.replace("invalid float literal", "give a number");
    text.replace("cannot parse integer from empty string", "give a number")
}

fn context(failed: &clap::Error, kind: ContextKind) -> Option<&str> {
    match failed.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// Takes away clap's “a similar argument exists” where the two are not near, `--x` for `--explain`, and the same for commands.
fn drop_far_fetched(failed: &mut clap::Error, args: &[OsString], definitions: &clap::Command) {
    let is_near = |typed: &str, similar: &str| {
        let [typed, similar] = [typed, similar].map(|name| name.trim_matches('-'));
        nearest(typed, [similar]).is_some() || typed.len() > 1 && similar.starts_with(typed)
    };
    let (typed, similar) =
        (context(failed, ContextKind::InvalidArg), context(failed, ContextKind::SuggestedArg));
    if let (Some(typed), Some(similar)) = (typed, similar)
        && !is_near(typed, similar)
    {
        failed.remove(ContextKind::SuggestedArg);
        // clap's line shows how to use what it has suggested.
        let mut whole = definitions.clone();
        whole.build();
        let (_, inner) = deepest(&whole, args);
        failed.insert(ContextKind::Usage, ContextValue::StyledStr(inner.clone().render_usage()));
    }
    let typed = context(failed, ContextKind::InvalidSubcommand).unwrap_or_default().to_string();
    if let Some(ContextValue::Strings(similar)) = failed.remove(ContextKind::SuggestedSubcommand) {
        let kept: Vec<String> = similar.into_iter().filter(|similar| is_near(&typed, similar)).collect();
        if !kept.is_empty() {
            failed.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(kept));
        }
    }
}

/// A hint for an error: the command or option that was probably meant.
fn tip(failed: &clap::Error, args: &[OsString], definitions: &clap::Command) -> Option<String> {
    let first = args.first()?.to_str()?;
    match failed.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = context(failed, ContextKind::InvalidSubcommand)?;
            if first == "lesson" && args.len() > 1 {
                Some(of_lessons(typed, definitions))
            } else {
                other_command(typed, failed.get(ContextKind::SuggestedSubcommand).is_some(), definitions)
            }
        }
        ErrorKind::UnknownArgument => {
            let typed = context(failed, ContextKind::InvalidArg)?;
            match first {
                _ if typed.starts_with('-') => {}
                "attend" => return Some(words_in_quotes(args)),
                _ => return Some(format!("search for it: attn find {}", quoted(&visible(typed)))),
            }
            let has_neighbour = failed.get(ContextKind::SuggestedArg).is_some();
            (typed.starts_with("--") && !has_neighbour)
                .then(|| elsewhere(typed, first, definitions))
                .flatten()
        }
        ErrorKind::MissingRequiredArgument => {
            let second = args.get(1).and_then(|arg| arg.to_str()).unwrap_or_default();
            let example = text("needed", &format!("{first} {second}")).or_else(|| text("needed", first))?;
            Some(format!("for example: attn {example}"))
        }
        ErrorKind::InvalidValue => {
            match context(failed, ContextKind::InvalidValue)?.to_lowercase().as_str() {
                "pdf" | "pptx" | "svg" | "png" => {
                    let page = if first == "lesson" { "--to html" } else { "--format html" };
                    Some(format!(
                        "make a page with {page}, open it in a browser, and print it as PDF or take a picture of it"
                    ))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The hint for an unknown command of `lesson`.
fn of_lessons(typed: &str, definitions: &clap::Command) -> String {
    let near = near(typed, lesson_commands(definitions));
    let near: Vec<String> = near.iter().map(|near| format!("attn lesson {near}")).collect();
    match (&near[..], near_lesson(typed)) {
        ([_, ..], _) => format!("did you mean: {}", one_of(&near)),
        ([], Some(lesson)) => format!("did you mean: attn lesson play {lesson}"),
        ([], None) => "list the lessons with: attn lesson".to_string(),
    }
}

/// The names of the commands of `lesson`.
fn lesson_commands(definitions: &clap::Command) -> impl Iterator<Item = &str> {
    let commands = definitions.find_subcommand("lesson").into_iter().flat_map(clap::Command::get_subcommands);
    commands.map(clap::Command::get_name)
}

/// The hint for several words without quotation marks.
fn words_in_quotes(args: &[OsString]) -> String {
    let option = args.iter().position(|arg| arg == "--words");
    let words = args[option.unwrap_or(0) + 1..].iter().filter_map(|arg| arg.to_str());
    let words: Vec<&str> = words.take_while(|word| !word.starts_with('-')).collect();
    let how = match option {
        Some(_) => "put quotation marks around the whole sentence",
        None => "words go in --words",
    };
    format!("{how}: attn attend --words {}", quoted(&words.join(" ")))
}

/// The hint for an unknown command.
fn other_command(typed: &str, has_neighbour: bool, definitions: &clap::Command) -> Option<String> {
    let shown = visible(typed);
    let known = match typed.to_lowercase().as_str() {
        name if text("meant", name).is_some() => text("meant", name).map(|hint| hint.replace("{}", &shown)),
        _ if demos().any(|demo| demo.name == typed) => Some(format!("it is a demo: attn demo {shown}")),
        _ if built_in(typed).is_some() => Some(format!("it is a lesson: attn lesson play {shown}")),
        name if params::built_in().iter().any(|model| model.name == name) => {
            Some(format!("it is a model: attn model {name} --params"))
        }
        _ => None,
    };
    let about =
        || demos_about(typed).first().map(|demo| format!("a demo is about it: attn demo {}", demo.name));
    // A similar command that clap has found comes first.
    let near = || (!has_neighbour).then(|| near_name(typed, definitions)).flatten();
    known
        .or_else(about)
        .or_else(near)
        .or_else(|| (!has_neighbour).then(|| format!("search for it: attn find {}", quoted(&shown))))
}

/// The hint for a mistyped demo, command of lessons, lesson or model.
fn near_name(typed: &str, definitions: &clap::Command) -> Option<String> {
    let of_kind = |command: &str, name: Option<&str>| name.map(|name| format!("{command} {name}"));
    let found = near_old_name(typed)
        .map(str::to_string)
        .or_else(|| of_kind("demo", nearest(typed, demos().map(|demo| demo.name))))
        .or_else(|| of_kind("lesson", nearest(typed, lesson_commands(definitions))))
        .or_else(|| of_kind("lesson play", near_lesson(typed)))
        .or_else(|| {
            of_kind("model --params", nearest(typed, params::built_in().iter().map(|model| model.name)))
        })?;
    Some(format!("did you mean: attn {found}"))
}

/// The commands that have an option which this one does not have.
fn elsewhere(option: &str, own: &str, definitions: &clap::Command) -> Option<String> {
    let long = option.trim_start_matches('-').split('=').next().unwrap_or_default().to_string();
    let has_long =
        |one: &clap::Command, long: &str| one.get_arguments().any(|arg| arg.get_long() == Some(long));
    let has = |one: &&clap::Command| has_long(one, &long);
    let of_own = definitions.find_subcommand(own);
    let is_own = |new: &&str| of_own.is_some_and(|one| has_long(one, new.trim_start_matches('-')));
    if let Some(new) = new_name(&format!("--{long}")).filter(is_own) {
        return Some(format!("--{long} is {new} now"));
    }
    let names: Vec<String> = definitions
        .get_subcommands()
        .filter(|one| one.get_name() != own)
        .filter(has)
        .map(|one| format!("attn {}", one.get_name()))
        .collect();
    (!names.is_empty()).then(|| format!("--{long} is an option of {}", names.join(", ")))
}

// Applies the defaults of the environment: `ATTN_PRECISION=2` means `--precision 2` in each command with this option.

/// Whether a flag is typed before any `--`.
pub(super) fn has_flag(args: &[OsString], flag: &str) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == flag)
}

/// # Errors
/// If ASCII is asked for in a format that has its own characters on every screen.
pub(super) fn check_charset(args: &[OsString]) -> Result<()> {
    match typed_value(args, "--format").as_deref() {
        Some(format @ ("json" | "numpy" | "markdown" | "csv" | "html"))
            if typed_value(args, "--charset").as_deref() == Some("ascii") =>
        {
            Err(Error::new(format!("--charset is for tables on a screen, not for --format {format}"))
                .help("leave out --charset, or use --format table or --format latex, which can be ASCII"))
        }
        _ => Ok(()),
    }
}

/// The arguments, with an option added for each variable whose option the command has and the user has not typed; and the
/// environment with the settings of these variables, for commands that have no such option.
///
/// # Errors
/// If a variable has a value that its option would not take, unless help or the version is asked for.
pub(super) fn applied(
    args: Vec<OsString>,
    env: &Env,
    definitions: &clap::Command,
) -> Result<(Vec<OsString>, Env)> {
    let (mut args, mut env) = (args, env.clone());
    if env.defaults.is_empty() {
        return Ok((args, env));
    }
    let (end, chosen) = deepest(definitions, &args);
    // Help works also if a variable has a wrong value.
    let asks_for_help = args.first().is_none_or(|first| first == "help")
        || ["-h", "--help", "-V", "--version"].iter().any(|flag| has_flag(&args, flag));
    for (option, value) in &env.defaults.clone() {
        let Some(definition) = defined(definitions, option) else { continue };
        if let Err(error) = check_default(definition, option, value) {
            if asks_for_help {
                continue;
            }
            return Err(error);
        }
        // `attn learn` has another name for the width of the screen.
        let own = chosen.get_arguments().find(|arg| arg.get_id() == option);
        let long = own.and_then(clap::Arg::get_long).unwrap_or(option);
        let typed = args.iter().any(|arg| {
            let arg = arg.to_string_lossy();
            arg.strip_prefix("--").is_some_and(|rest| rest.split('=').next() == Some(long))
        });
        if typed {
            continue;
        }
        match (option.as_str(), value.as_str()) {
            ("color", when) => env.set_colour(when),
            ("charset", "utf8") => env.charset = Charset::Utf8,
            ("charset", "ascii") => env.charset = Charset::Ascii,
            ("memory", size) => env.memory = memory::parsed(size).ok(),
            ("width", columns) => env.width = columns.parse().unwrap_or(env.width),
            _ => {}
        }
        let command = args[..end].iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        if own.is_some() && !excludes(&command, &args, option) {
            args.insert(end, format!("--{long}={value}").into());
        }
    }
    Ok((args, env))
}

/// The option of this name, in whichever command has it.
fn defined<'a>(command: &'a clap::Command, option: &str) -> Option<&'a clap::Arg> {
    let own = command.get_arguments().find(|arg| arg.get_long() == Some(option));
    own.or_else(|| command.get_subcommands().find_map(|inner| defined(inner, option)))
}

fn check_default(definition: &clap::Arg, option: &str, value: &str) -> Result<()> {
    let arg = clap::Arg::new("value").long("value").value_parser(definition.get_value_parser().clone());
    let typed = ["attn".to_string(), format!("--value={value}")];
    let Err(failed) = clap::Command::new("attn").arg(arg).try_get_matches_from(typed) else { return Ok(()) };
    let name = format!("{VARIABLE_PREFIX}{}", option.to_uppercase());
    let values = definition.get_possible_values();
    let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
    let said = plain(&failed.to_string());
    let reason = said.lines().next().and_then(|line| line.rsplit_once("': ")).map(|(_, reason)| reason);
    let help = match (&names[..], reason) {
        ([], Some(reason)) => format!("{reason}; set it to a number, or unset it: unset {name}"),
        ([], None) => format!("unset it: unset {name}"),
        (names, _) => format!("it can be {}; or unset it: unset {name}", names.join(", ")),
    };
    Err(Error::new(format!("`{}` is not a value for --{option}", visible(value))).in_source(name).help(help))
}
