//! The definitions of all commands, and their dispatch.

use std::sync::LazyLock;

use clap::{CommandFactory, Parser, Subcommand};

use super::attend::AttendArgs;
use super::bench::BenchArgs;
use super::completions::CompletionsArgs;
use super::demo::DemoArgs;
use super::diagnose::DiagnoseArgs;
use super::env::Env;
use super::examples::ExamplesArgs;
use super::explore::ExploreArgs;
use super::find::FindArgs;
use super::front_page::FRONT;
use super::glossary::GlossaryArgs;
use super::help::HelpArgs;
use super::learn::LearnArgs;
use super::lesson::LessonArgs;
use super::man::ManArgs;
use super::model::ModelArgs;
use super::outcome::Outcome;
use super::params::ParamsArgs;
use super::program::Program;
use super::reference::{ErrataArgs, NotationArgs};
use super::similarity::SimilarityArgs;
use super::softmax::SoftmaxArgs;
use super::streams::Streams;
use super::tokens::TokensArgs;
use crate::error::Result;
use crate::kernel::SimdLevel;
use crate::memory;

/// Computes attention and shows where every number comes from
#[derive(Parser, Debug)]
#[command(name = "attn", subcommand_required = true, arg_required_else_help = true)]
#[command(override_help = FRONT, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    Lesson(LessonArgs),
    Demo(DemoArgs),
    Glossary(GlossaryArgs),
    Attend(Box<AttendArgs>),
    Explore(Box<ExploreArgs>),
    Softmax(SoftmaxArgs),
    Similarity(SimilarityArgs),
    Model(Box<ModelArgs>),
    Learn(Box<LearnArgs>),
    Params(ParamsArgs),
    Tokens(TokensArgs),
    Bench(BenchArgs),
    Diagnose(Box<DiagnoseArgs>),
    Find(FindArgs),
    Examples(ExamplesArgs),
    Errata(ErrataArgs),
    Notation(NotationArgs),
    Help(HelpArgs),
    Man(ManArgs),
    Completions(CompletionsArgs),
}

/// The whole command line, for parsing, completions and the manual page; made once, since a lesson runs many commands.
pub(super) fn definitions() -> &'static clap::Command {
    static DEFINITIONS: LazyLock<clap::Command> = LazyLock::new(|| {
        // There, the width is that of a token.
        let renamed = |learn: clap::Command| learn.mut_arg("width", |width| width.long("columns"));
        let whole = Cli::command().version(version()).mut_subcommand("learn", renamed);
        whole.mut_subcommands(with_memory).arg(memory_arg())
    });
    &DEFINITIONS
}

/// The commands that print what the program contains: no size of anything is up to their user.
const WITHOUT_MEMORY: [&str; 12] = [
    "completions",
    "directives",
    "errata",
    "examples",
    "find",
    "follow",
    "glossary",
    "help",
    "list",
    "man",
    "new",
    "notation",
];

/// The command with `--memory`, and so each of its commands, where it has an effect.
fn with_memory(command: clap::Command) -> clap::Command {
    if WITHOUT_MEMORY.contains(&command.get_name()) {
        return command;
    }
    let runs = !command.has_subcommands() || command.get_positionals().next().is_some();
    let command = command.mut_subcommands(with_memory);
    if runs { command.arg(memory_arg()) } else { command }
}

fn memory_arg() -> clap::Arg {
    clap::Arg::new("memory")
        .long("memory")
        .value_name("SIZE")
        .help("Use at most this memory: 500M, 2G [default: all free]")
        .hide_short_help(true)
        .value_parser(memory::parsed)
}

/// The memory that a command line allows, typed before the command or behind it.
pub(super) fn memory_allowed(matches: &clap::ArgMatches) -> Option<u64> {
    let own = matches.try_get_one("memory").ok().flatten().copied();
    matches.subcommand().and_then(|(_, inner)| memory_allowed(inner)).or(own)
}

fn version() -> String {
    format!("{} (SIMD: {})", env!("CARGO_PKG_VERSION"), SimdLevel::detect())
}

impl Command {
    /// Runs the command.
    pub(super) fn run(self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        match self {
            Command::Demo(args) => args.run(program, env, streams),
            Command::Attend(args) => args.run(program, env, streams),
            Command::Explore(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Softmax(args) => args.run(program, env, streams),
            Command::Similarity(args) => args.run(program, env, streams),
            Command::Model(args) => args.run(program, env, streams),
            Command::Learn(args) => args.run(env, streams),
            Command::Params(args) => args.run(env, streams),
            Command::Tokens(args) => args.run(program, env, streams),
            Command::Diagnose(args) => args.run(env, streams).map(Outcome::from),
            Command::Lesson(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Glossary(args) => args.run(env, streams).map(Outcome::from),
            Command::Find(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Examples(args) => args.run(env, streams).map(Outcome::from),
            Command::Notation(args) => args.run(env, streams).map(Outcome::from),
            Command::Errata(args) => args.run(env, streams).map(Outcome::from),
            Command::Bench(args) => args.run(env, streams).map(Outcome::from),
            Command::Help(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Man(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Completions(args) => args.run(program, streams).map(Outcome::from),
        }
    }
}
