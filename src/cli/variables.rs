//! Applies the defaults of the environment: `ATTN_PRECISION=2` means `--precision 2` in each command with this option.

use crate::foreign::visible;
use std::ffi::OsString;

use super::defaults::PREFIX;
use super::env::Env;
use super::hints::plain;
use super::program::deepest;
use crate::error::{Error, Result};
use crate::memory;
use crate::render::Charset;

/// Whether a flag is typed before any `--`.
pub(super) fn has_flag(args: &[OsString], flag: &str) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == flag)
}

/// The value of an option that is typed before any `--`.
fn typed_value(args: &[OsString], option: &str) -> Option<String> {
    let words: Vec<_> =
        args.iter().take_while(|arg| *arg != "--").map(|arg| arg.to_string_lossy().into_owned()).collect();
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(option)? {
        "" => words.get(at + 1).cloned(),
        rest => rest.strip_prefix('=').map(str::to_string),
    })
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
        if let Err(error) = check(definition, option, value) {
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
            ("color", "always") => (env.colour, env.colour_err) = (true, true),
            ("color", "never") => (env.colour, env.colour_err) = (false, false),
            ("charset", "utf8") => env.charset = Charset::Utf8,
            ("charset", "ascii") => env.charset = Charset::Ascii,
            ("memory", size) => env.memory = memory::parsed(size).ok(),
            ("width", columns) => env.width = columns.parse().unwrap_or(env.width),
            _ => {}
        }
        if own.is_some() {
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

fn check(definition: &clap::Arg, option: &str, value: &str) -> Result<()> {
    let arg = clap::Arg::new("value").long("value").value_parser(definition.get_value_parser().clone());
    let typed = ["attn".to_string(), format!("--value={value}")];
    let Err(failed) = clap::Command::new("attn").arg(arg).try_get_matches_from(typed) else { return Ok(()) };
    let name = format!("{PREFIX}{}", option.to_uppercase());
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
