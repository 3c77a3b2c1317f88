//! `--versus`: the same command once more, with further options, and what differs.

use std::ffi::OsString;
use std::io;
use std::io::Read;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::Convention;
use crate::render::{Page, Style};
use crate::story::{Comparison, Digits, Story, comparison};
use crate::text::clipped;

use super::output::{LiveArgs, OutputArgs};
use super::program::{Env, Program, matches, unshielded};
use super::registry::{values, varied};
use super::selection::NodeArgs;

/// The longest text of options that a headline and the sentences repeat.
const LONGEST_QUOTE: usize = 60;

/// The most bytes of standard input that are kept for the second computation.
const MOST_KEPT: usize = 1 << 30;

/// The other computation.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct VersusArgs {
    versus: Option<String>,
}

impl VersusArgs {
    /// The further options, as they are written.
    pub(super) fn options(&self) -> Option<&str> {
        self.versus.as_deref()
    }
}

/// Which part of a story is shown, and how.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct ShownArgs {
    #[serde(flatten)]
    pub versus: VersusArgs,
    #[serde(flatten)]
    pub nodes: NodeArgs,
    #[serde(flatten)]
    pub output: OutputArgs,
    #[serde(flatten)]
    pub live: LiveArgs,
}

impl ShownArgs {
    /// The style of these options.
    pub(super) fn style(&self, env: &Env, convention: Convention) -> Style {
        self.live.style(&self.output, env, convention)
    }

    /// The page that compares the story of a command with the one under further options.
    pub(super) fn beside<C>(
        &self,
        options: &str,
        [own, other]: [&C; 2],
        input: &mut dyn Read,
        story: impl Fn(&C, &mut dyn Read) -> Result<Story>,
    ) -> Result<Page> {
        let mut input = ReplayedInput { input, kept: Vec::new() };
        let base = story(own, &mut input.first())?;
        let other = story(other, &mut input.again()).map_err(in_versus)?;
        page(base, other, options, &self.nodes.names(), self.output.digits.precision)
    }
}

/// The arguments of the command `name`, typed again with further options; of an option that is given twice the later one holds.
/// Only options that change the computation may be among the further ones.
pub(super) fn typed_with<Own: DeserializeOwned>(
    name: &str,
    program: &Program<'_>,
    options: &str,
) -> Result<Own> {
    let options = words(options)?;
    check(&options, name, program.definitions)?;
    let typed = program.typed;
    // Behind `--` nothing is an option.
    let end = typed.iter().position(|arg| arg == "--").unwrap_or(typed.len());
    let options = options.into_iter().map(OsString::from);
    let all: Vec<OsString> =
        typed[..end].iter().cloned().chain(options).chain(typed[end..].iter().cloned()).collect();
    let definitions = program.definitions.clone().args_override_self(true);
    let found = matches(definitions, &all).map_err(|failed| refusal(&failed))?;
    match found.subcommand() {
        Some((found, own)) if found == name => values(name, own),
        _ => Err(another_command()),
    }
}

/// The words of the options, as a shell would split them; a change as a sentence, `scale = none`, is one of `--set`.
fn words(options: &str) -> Result<Vec<String>> {
    let text = options.trim();
    if text.starts_with(char::is_alphabetic) && text.contains(['=', '(']) {
        return Ok(vec!["--set".to_string(), text.to_string()]);
    }
    let example = "write --versus \"--scale none\", and put single quotes around what has spaces";
    match shlex::split(options) {
        Some(words) if !words.is_empty() => Ok(words),
        Some(_) => Err(Error::new("--versus names no option").help(example)),
        None => Err(Error::new(format!(
            "`--versus {}`: a quotation mark is not closed, or the text ends in a backslash",
            quoted(options)
        ))
        .help(example)),
    }
}

/// Refuses words that are no options of a command that change its computation.
fn check(words: &[String], name: &str, definitions: &clap::Command) -> Result<()> {
    let allowed = varied(name);
    let command = definitions.find_subcommand(name).into_iter();
    let allowed: Vec<&clap::Arg> = command
        .flat_map(clap::Command::get_arguments)
        .filter(|arg| allowed.iter().any(|name| arg.get_id() == name))
        .collect();
    let long = |arg: &clap::Arg| arg.get_long().map(|long| format!("--{long}"));
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        let Some(arg) = allowed.iter().find(|arg| long(arg).as_deref() == Some(name)) else {
            let all: Vec<String> = allowed.iter().filter_map(|arg| long(arg)).collect();
            return Err(Error::new(format!(
                "in --versus: `{}` is not an option that changes the computation",
                quoted(word)
            ))
            .help(format!("you can change {}", all.join(" "))));
        };
        let needs_value = arg.get_num_args().is_none_or(|count| count.min_values() > 0);
        if arg.get_action().takes_values() && value.is_none() {
            // The value of --qk-norm may be missing.
            words.next_if(|next| needs_value || !next.starts_with("--"));
        }
    }
    Ok(())
}

/// The first paragraph of clap's message, which has the error.
fn refusal(failed: &clap::Error) -> Error {
    let text = failed.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first).trim_end();
    let what = unshielded(what).split_whitespace().collect::<Vec<_>>().join(" ");
    Error::new(format!("in --versus: {what}"))
}

/// An error of the second computation, which says so.
pub(super) fn in_versus(error: Error) -> Error {
    let Error::Unusable(mut problem) = error else { return error };
    let place = problem.place.take().map_or(String::new(), |place| format!("{place}: "));
    problem.what = format!("in --versus: {place}{}", problem.what);
    Error::Unusable(problem)
}

/// The error if the further options start another command.
pub(super) fn another_command() -> Error {
    Error::new("in --versus: these options start another command")
        .help("give only options of the same command")
}

/// The page that compares `other` with `base`.
pub(super) fn page(
    base: Story,
    other: Story,
    options: &str,
    only: &[String],
    places: Option<u8>,
) -> Result<Page> {
    let digits = places.map_or(base.digits, |places| Digits::Places(places.into()));
    let is_picture =
        |name: &&String| base.graph.find(name).is_none() && base.planes().any(|plane| plane.name == **name);
    if let Some(plane) = only.iter().find(is_picture) {
        return Err(Error::new(format!("{plane} is a picture, and --versus compares matrices")).help(
            format!(
                "leave out --only {plane}, or draw it twice: once with and once without the other options"
            ),
        ));
    }
    let Comparison { story, nodes } = comparison(Story { digits, ..base }, other, &quoted(options), only)?;
    Ok(Page { story, nodes, headed: only.is_empty(), skipped: 0, left: 0, computing: None })
}

/// The options on one line, cut where they are long.
fn quoted(options: &str) -> String {
    clipped(visible(options).trim(), LONGEST_QUOTE).into_owned()
}

/// Standard input for two readers, one after the other: what the first has read the second reads again.
struct ReplayedInput<'a> {
    input: &'a mut dyn Read,
    kept: Vec<u8>,
}

impl ReplayedInput<'_> {
    /// The input, of which everything that is read is kept.
    fn first(&mut self) -> impl Read {
        RecordingReader { input: self.input, kept: &mut self.kept }
    }

    /// The input again, from its beginning.
    fn again(&mut self) -> impl Read {
        self.kept.as_slice().chain(&mut self.input)
    }
}

struct RecordingReader<'a> {
    input: &'a mut dyn Read,
    kept: &'a mut Vec<u8>,
}

impl Read for RecordingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        if self.kept.len() + read > MOST_KEPT {
            return Err(io::Error::other("with --versus at most 1 GiB of standard input can be read"));
        }
        self.kept.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}
