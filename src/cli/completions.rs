//! `attn help --completions`: made from the definition of the command line, with the names that a user can type.

use std::collections::BTreeSet;

use crate::demo::{Settings, demos_by_topic};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::recipes::{AttendInputs, Recipe, attend};
use crate::input::WORDS;
use crate::matrix::Matrix;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;

use super::program::Program;
use super::{Streams, find};

/// Prints the script of a shell.
pub(super) fn print_completions(shell: &str, program: &Program<'_>, streams: &mut Streams<'_>) -> Result<()> {
    let mut command = program.definitions.clone();
    let named = named(program);
    for one in &named {
        command = with_values(command, one.path, one.arg, &one.values);
    }
    let mut script = Vec::new();
    let shell = Shell::from_str(shell, false).map_err(Error::new)?;
    clap_complete::generate(shell, &mut command, "attn", &mut script);
    if shell == Shell::Fish {
        // The generator leaves out positional arguments.
        for one in named.iter().filter(|one| one.is_positional) {
            script.extend(fish(one).into_bytes());
        }
    }
    streams.out.write_all(&script)?;
    Ok(())
}

/// The names that an argument of a command can be.
struct Completion {
    path: &'static [&'static str],
    arg: &'static str,
    is_positional: bool,
    values: Vec<(String, String)>,
}

fn named(program: &Program<'_>) -> Vec<Completion> {
    let all = find::named();
    let of = |command: &str, is_listed: fn(&str) -> bool| -> Vec<(String, String)> {
        let entries = all.iter().filter(|(_, own, _)| *own == command).flat_map(|(.., entries)| entries);
        let listed = entries.filter(|entry| is_listed(&entry.name));
        listed.map(|entry| (entry.name.clone(), entry.line.clone())).collect()
    };
    let [demos, mistakes, models, files] =
        ["demo", "diagnose --list", "model --params", "find --examples"].map(|command| of(command, |_| true));
    let lessons = of("lesson play", |name| !name.contains('#'));
    let terms = of("find --terms", |name| !name.contains([' ', '/']));
    let stories = demos_by_topic().into_iter().filter_map(|demo| demo.story(&Settings::default()).ok());
    let of_demos = nodes_of(stories.map(|story| story.graph));
    let of_attend = nodes_of([1, 2].into_iter().filter_map(|heads| attention(heads).ok()));
    let commands = program.definitions.get_subcommands().map(|one| one.get_name().to_string());
    let commands: Vec<_> = commands.map(|name| (name, String::new())).collect();
    let models = [&[(WORDS.to_string(), "the model in the program".to_string())][..], &models].concat();
    let words = [&files[..], &terms].concat();
    let pages = ["environment", "explain", "fast", "gradients", "positions", "screen", "steps", "walk"];
    let topics = [&commands[..], &pages.map(|page| (page.to_string(), String::new()))].concat();
    let all: [(&'static [&'static str], _, _, _); 14] = [
        (&["demo"], "names", true, &demos),
        (&["demo"], "only", false, &of_demos),
        (&["demo"], "until", false, &of_demos),
        (&["demo"], "explain", false, &of_demos),
        (&["attend"], "only", false, &of_attend),
        (&["attend"], "explain", false, &of_attend),
        (&["diagnose"], "list", false, &mistakes),
        (&["model"], "folder", true, &models),
        (&["find"], "words", true, &words),
        (&["help"], "topic", true, &topics),
        (&["lesson", "play"], "lesson", true, &lessons),
        (&["lesson", "quiz"], "lesson", true, &lessons),
        (&["lesson", "export"], "lesson", true, &lessons),
        (&["lesson", "follow"], "lesson", true, &lessons),
    ];
    let completion = |(path, arg, is_positional, values): (_, _, _, &Vec<_>)| Completion {
        path,
        arg,
        is_positional,
        values: values.clone(),
    };
    all.map(completion).into()
}

/// The command with these values for an argument, if it has this argument.
fn with_values(
    command: clap::Command,
    path: &[&'static str],
    arg: &'static str,
    values: &[(String, String)],
) -> clap::Command {
    match path {
        [] if command.get_arguments().any(|one| one.get_id() == arg) => {
            let value = |(name, line): &(String, String)| {
                let value = PossibleValue::new(name.clone());
                if line.is_empty() { value } else { value.help(line.clone()) }
            };
            let values: Vec<PossibleValue> = values.iter().map(value).collect();
            command.mut_arg(arg, |arg| arg.value_parser(PossibleValuesParser::new(values)))
        }
        [] => command,
        [first, rest @ ..] => command.mut_subcommand(first, |inner| with_values(inner, rest, arg, values)),
    }
}

/// Lines for fish, one for each name.
fn fish(named: &Completion) -> String {
    let seen = |name: &&str| format!("__fish_seen_subcommand_from {name}");
    let when = named.path.iter().map(seen).collect::<Vec<String>>().join("; and ");
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let line = |(name, words): &(String, String)| {
        let (name, words) = (quoted(name), quoted(words));
        format!("complete -c attn -n '{when}' -f -a '{name}' -d '{words}'\n")
    };
    named.values.iter().map(line).collect()
}

/// The names of all nodes of some graphs.
fn nodes_of(graphs: impl Iterator<Item = Graph>) -> Vec<(String, String)> {
    let names = |graph: Graph| graph.nodes().map(|(_, node)| node.name.clone()).collect::<Vec<_>>();
    let names: BTreeSet<String> = graphs.flat_map(names).collect();
    names.into_iter().map(|name| (name, String::new())).collect()
}

/// The graph of `attn attend` with some heads.
fn attention(heads: usize) -> Result<Graph> {
    let mut recipe = Recipe { heads, kv_heads: heads, ..Recipe::default() };
    recipe.mask.causal = true;
    attend(&recipe, AttendInputs::of_tokens(Matrix::of([[1.0, 0.0], [0.0, 1.0]])))
}
