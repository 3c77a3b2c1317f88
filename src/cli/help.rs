//! `attn help`: the long help of a command, of the screen options, and of the variables.

use crate::foreign::visible;
use clap::Args;
use clap::builder::StyledStr;

use super::front_page::FRONT;
use super::machine::simd_names;
use super::program::Program;
use super::{Env, Streams, help_layout};
use crate::error::{Error, Result};
use crate::text::nearest;

/// The columns that help is laid out for, whatever the screen has.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=100;

/// The whole help of a command, of the screen, or of the variables
///
/// `attn help lesson play` explains `attn lesson play`, `attn help screen` the options of how the output looks, `attn help
/// positions` those of positions, sinks and gates, and `attn help environment` the variables that set defaults.
#[derive(Args, Debug)]
pub(super) struct HelpArgs {
    /// A command, or: screen, positions, environment
    #[arg(value_name = "COMMAND")]
    topic: Vec<String>,
}

/// The variables that `attn` reads; `{SIMD}` is replaced by the names of the instruction sets.
const ENVIRONMENT: &str = "\
Variables that set defaults. An option of the command wins over its variable.

  ATTN_PRECISION   decimals in text, 0 to 17        as --precision
  ATTN_HEAT        auto, always or never            as --heat
  ATTN_THEME       auto, dark or light              as --theme
  ATTN_COLOR       auto, always or never            as --color
  ATTN_CHARSET     auto, utf8 or ascii              as --charset
  ATTN_WIDTH       columns of the screen            as --width
  ATTN_MEMORY      memory, such as 500M or 2G       as --memory
  ATTN_SIMD        {SIMD}as --simd
  ATTN_STATE_DIR   the folder that remembers how far a lesson has come

System variables, used if you set neither the option nor the ATTN_ variable:
  COLUMNS (width), NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR and TERM (colours),
  LC_ALL, LC_CTYPE and LANG (characters)

A lesson looks the same for everybody: its commands see none of these.

  ATTN_PRECISION=2 attn demo mask     two decimals, for a projector
";

impl HelpArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let words: Vec<&str> = self.topic.iter().map(String::as_str).collect();
        let text = match words[..] {
            [] => FRONT.to_string(),
            ["environment" | "variables"] => ENVIRONMENT.replace("{SIMD}", &format!("{:<33}", simd_names())),
            ["screen" | "output"] => of_screen(program, env),
            ["positions" | "position" | "rope"] => of_positions(program, env),
            _ => of_command(&words, program, env)?,
        };
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        Ok(())
    }
}

/// The parameters of `--rope-scaling`, below its options.
const ROPE_SCALING: &str = "\
--rope-scaling takes one of these, with its parameters:
  linear:factor=4                          every frequency divided by 4
  dynamic:factor=2,original=4096           a larger base beyond 4096 tokens
  llama3:factor=8,low=1,high=4,original=8192
                                           slow pairs divided, fast ones kept
  yarn:factor=4,original=4096              the same by the number of the pair,
                                           sines and cosines times a factor;
                                           also fast=32, slow=1, truncate=yes,
                                           attention=, mscale= with mscale-all=
  longrope:factor=32,original=4096,divisors=FILE
                                           a divisor for each pair: one row, or
                                           two: for short and for long texts
factor is how many times longer texts may get. original is the number of tokens
of the training. The names in a model's config.json are understood, too.

With fewer queries than keys, the queries take the last positions, and with
--causal-from start the first. T5 does not scale its scores: add --scale none.

  attn attend --words \"the cat sat\" --position rope --causal
  attn attend --words \"the cat sat\" --sink 0 --window 2 --causal --keep-first 1
";

/// The options of today's models.
fn of_positions(program: &Program<'_>, env: &Env) -> String {
    let mut whole = program.definitions.clone();
    whole.build();
    let text = whole.find_subcommand("attend").map(|attend| help_layout::mechanisms(attend, width(env)));
    format!("{}\n\n{ROPE_SCALING}", written(&StyledStr::from(text.unwrap_or_default()), env))
}

/// The options that all commands have that print numbers.
fn of_screen(program: &Program<'_>, env: &Env) -> String {
    let mut whole = program.definitions.clone();
    whole.build();
    let text = whole.find_subcommand("attend").map(|attend| help_layout::screen(attend, width(env)));
    let text = StyledStr::from(text.unwrap_or_default());
    format!(
        "{}\n\n--precision and --heat have no effect on tables of words. The variables that\nset defaults for all \
         commands are listed by: attn help environment\n",
        written(&text, env)
    )
}

/// The long help of the command that these words name.
fn of_command(words: &[&str], program: &Program<'_>, env: &Env) -> Result<String> {
    let mut whole = help_layout::lengthened(program.definitions.clone().term_width(width(env)), width(env));
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

/// The long help of a command on a terminal that cannot show its manual page, and where the page is.
pub(super) fn instead_of_a_page(
    words: &[&str],
    program: &Program<'_>,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<()> {
    let text = if words.is_empty() { FRONT.to_string() } else { of_command(words, program, env)? };
    let name = std::iter::once("attn").chain(words.iter().copied()).collect::<Vec<_>>();
    let file = format!("{}.1", name.join("-"));
    let command = std::iter::once("attn man").chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
    let hint =
        format!("\nThe system has no `man` that shows the page here. Its source: {command} > {file}\n");
    streams.out.write_all(env.charset.spelled(&(text + &hint)).as_bytes())?;
    Ok(())
}

/// The columns of a help text on this screen.
pub(super) fn width(env: &Env) -> usize {
    env.width.clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// A help text, in colour where there is colour.
pub(super) fn written(text: &StyledStr, env: &Env) -> String {
    if env.colour { text.ansi().to_string() } else { text.to_string() }
}
