//! The options and the commands of `data/options.toml`: as definitions for clap, and their values as records.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::iter;
use std::sync::LazyLock;

use attn_core::data_file::read;
use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::graph::recipes::text_of;

use super::texts::{plain, text};

/// The name in the list of commands that stands for the program itself.
const PROGRAM: &str = "";

/// The options and the commands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Registry {
    option: BTreeMap<&'static str, OptionEntry>,
    topic: Vec<Topic>,
    group: BTreeMap<&'static str, Vec<&'static str>>,
    command: Vec<CommandEntry>,
}

/// An option; the file explains the fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OptionEntry {
    positional: bool,
    long: Option<&'static str>,
    short: Option<char>,
    value: Option<&'static str>,
    help: &'static str,
    more: Option<&'static str>,
    default: Option<&'static str>,
    choices: Vec<[&'static str; 2]>,
    hides_choices: bool,
    range: Option<[i64; 2]>,
    r#type: Option<&'static str>,
    many: bool,
    separator: Option<char>,
    may_be_bare: bool,
    required: bool,
    may_begin_with_hyphen: bool,
    may_be_negative: bool,
    required_unless: Option<&'static str>,
    requires: &'static str,
    conflicts: &'static str,
    rare: bool,
    sets: Option<&'static str>,
}

/// Options that are explained together, for all commands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Topic {
    /// What follows `attn help`.
    pub name: &'static str,
    /// The heading.
    pub title: &'static str,
    options: &'static str,
}

/// A command; the file explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandEntry {
    name: &'static str,
    about: &'static str,
    more: Option<&'static str>,
    #[serde(default)]
    options: Vec<&'static str>,
    #[serde(default)]
    varied: &'static str,
    usage: Option<&'static str>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| read(include_str!("../../data/options.toml")));

/// What checks the texts of options whose types are the program's own, by the names of these types.
pub(super) type Checks = &'static [(&'static str, fn(&str) -> std::result::Result<(), String>)];

/// An option of a command: its name there, its heading, and what is said of it.
type Placed = (&'static str, Option<&'static str>, &'static OptionEntry);

impl Registry {
    fn command(&self, name: &str) -> &CommandEntry {
        self.command.iter().find(|command| command.name == name).expect("a command of data/options.toml")
    }

    /// The options of a list, in their order.
    fn placed(&'static self, list: &[&'static str]) -> Vec<Placed> {
        let of_one = |one: &&'static str| match one.split_once(':') {
            None => self.placed(&self.group[one.trim_start_matches('@')]),
            Some((heading, names)) => {
                let heading = Some(heading).filter(|heading| !heading.is_empty());
                let placed = |name: &'static str| {
                    let of_topic =
                        self.topic.iter().find(|topic| topic.options.split(' ').any(|own| own == name));
                    let heading = of_topic.map(|topic| topic.title).or(heading);
                    (id(name), heading, &self.option[name])
                };
                names.split_whitespace().map(placed).collect()
            }
        };
        list.iter().flat_map(of_one).collect()
    }

    /// The names in a list such as `window heads @gradient`.
    fn names(&'static self, list: &'static str) -> Vec<&'static str> {
        let of_one = |name: &'static str| match name.strip_prefix('@') {
            Some(group) => self.placed(&self.group[group]).into_iter().map(|(name, ..)| name).collect(),
            None => vec![name],
        };
        list.split_whitespace().flat_map(of_one).collect()
    }
}

/// The name of an option in its command, without what distinguishes it from the option of this name elsewhere.
fn id(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// The topic of this name.
pub(super) fn topic(name: &str) -> Option<&'static Topic> {
    REGISTRY.topic.iter().find(|topic| topic.name == name)
}

/// The topic with this heading.
pub(super) fn titled(title: &str) -> Option<&'static Topic> {
    REGISTRY.topic.iter().find(|topic| topic.title == title)
}

impl Topic {
    /// The options, each once.
    pub(super) fn args<'a>(&self, program: &'a Command) -> Vec<&'a Arg> {
        let commands =
            || program.get_subcommands().flat_map(|one| iter::once(one).chain(one.get_subcommands()));
        let defined = |name: &str| {
            let help = REGISTRY.option[name].help;
            let is_it = |arg: &&Arg| arg.get_id() == id(name) && plain(arg.get_help()) == help;
            commands().flat_map(Command::get_arguments).find(is_it)
        };
        let mut args: Vec<&Arg> = self.options.split(' ').filter_map(defined).collect();
        args.dedup_by_key(|arg| arg.get_long());
        args
    }
}

/// The definitions of the whole program, for parsing, help, completions and the manual. `checks` has the types of options that
/// are the program's own.
pub(super) fn program(checks: Checks) -> Command {
    defined(PROGRAM, checks)
}

fn defined(name: &'static str, checks: Checks) -> Command {
    let entry = REGISTRY.command(name);
    let own = name.rsplit(' ').next().filter(|own| *own != PROGRAM).unwrap_or("attn");
    let mut command = Command::new(own).about(entry.about);
    if let Some(more) = entry.more {
        command = command.long_about(format!("{}\n\n{more}", entry.about));
    }
    if let Some(usage) = entry.usage {
        command = command.override_usage(usage);
    }
    let of_short_help = format!("{name} -h");
    let [short, long] = [&of_short_help, name].map(|name| text("examples", name));
    if let Some(examples) = short.or(long) {
        command = command.after_help(examples);
    }
    if let (Some(_), Some(examples)) = (short, long) {
        command = command.after_long_help(examples);
    }
    let placed = REGISTRY.placed(&entry.options);
    let here: Vec<&str> = placed.iter().map(|(name, ..)| *name).collect();
    let is_required = placed.iter().any(|(.., option)| option.required);
    for (name, heading, option) in placed {
        command = command.arg(option.defined(name, &here, checks).help_heading(heading));
    }
    let inner = REGISTRY.command.iter().map(|command| command.name);
    let inner = inner.filter(|inner| *inner != PROGRAM && above(inner) == name);
    command = command.subcommands(inner.map(|inner| defined(inner, checks)));
    if command.has_subcommands() && name != PROGRAM {
        command = command.args_conflicts_with_subcommands(true).arg_required_else_help(is_required);
    }
    match text("page", name) {
        Some(page) => command.help_template(page),
        None => command,
    }
}

/// The command that this one belongs to.
fn above(name: &str) -> &str {
    name.rsplit_once(' ').map_or(PROGRAM, |(above, _)| above)
}

impl OptionEntry {
    /// The option as it is typed: `--kv-heads`.
    fn spelling(&self, name: &str) -> String {
        self.long.map_or_else(|| format!("--{}", name.replace('_', "-")), |long| format!("--{long}"))
    }

    /// The definition for clap, in a command that has the options `here`.
    fn defined(&'static self, name: &'static str, here: &[&str], checks: Checks) -> Arg {
        let mut arg = Arg::new(name).help(self.help).hide_short_help(self.rare).required(self.required);
        if let Some(more) = self.more {
            arg = arg.long_help(format!("{}\n\n{more}", self.help));
        }
        if !self.positional {
            arg = arg.long(self.spelling(name).trim_start_matches('-').to_string());
        }
        if let Some(short) = self.short {
            arg = arg.short(short);
        }
        let is_here = |name: &&str| here.contains(name);
        arg = arg.conflicts_with_all(REGISTRY.names(self.conflicts).into_iter().filter(is_here));
        if let Some(other) = self.required_unless {
            arg = arg.required_unless_present(other);
        }
        for needed in self.requires.split_whitespace().filter(is_here) {
            arg = arg.requires(needed);
        }
        let Some(value) = self.value else { return arg.action(ArgAction::SetTrue) };
        arg = arg
            .value_name(value)
            .value_parser(self.parser(checks))
            .value_delimiter(self.separator)
            .hide_possible_values(self.hides_choices)
            .allow_hyphen_values(self.may_begin_with_hyphen)
            .allow_negative_numbers(self.may_be_negative)
            .value_hint(match value {
                "DIR" | "FOLDER" => ValueHint::DirPath,
                "PATH" => ValueHint::AnyPath,
                value if value.contains("FILE") => ValueHint::FilePath,
                _ => ValueHint::Unknown,
            });
        if let Some(default) = self.default {
            arg = arg.default_value(default);
        }
        match (self.many, self.may_be_bare) {
            (true, _) if self.positional => arg.action(ArgAction::Append).num_args(1..),
            (true, _) => arg.action(ArgAction::Append),
            (false, true) => arg.num_args(0..=1),
            (false, false) => arg,
        }
    }

    fn parser(&'static self, checks: Checks) -> ValueParser {
        if !self.choices.is_empty() {
            let value = |[name, help]: &[&'static str; 2]| match *help {
                "" => PossibleValue::new(*name),
                help => PossibleValue::new(*name).help(help),
            };
            return PossibleValuesParser::new(self.choices.iter().map(value)).into();
        }
        match (self.range, self.r#type) {
            (Some([first, last]), _) => value_parser!(i64).range(first..=last).into(),
            (None, Some("count")) => value_parser!(usize).into(),
            (None, Some(kind)) => {
                let (_, check) = checks.iter().find(|(name, _)| *name == kind).expect("a type of option");
                ValueParser::from(move |text: &str| check(text).map(|()| text.to_string()))
            }
            (None, None) => ValueParser::string(),
        }
    }

    /// The value that was typed, or the default: a flag is true or false, a number a number, any other value a text; of an option
    /// that may be given several times, or without a value, there is a list.
    fn value(&self, name: &str, typed: &ArgMatches) -> Value {
        let texts = || typed.get_many::<String>(name).into_iter().flatten().cloned();
        match (self.value, self.range, self.r#type) {
            (None, ..) => typed.get_flag(name).into(),
            (_, Some(_), _) => typed.get_one::<i64>(name).copied().into(),
            (_, _, Some("count")) => typed.get_one::<usize>(name).copied().into(),
            _ if self.many || self.may_be_bare && typed.contains_id(name) => texts().collect(),
            _ => texts().next().into(),
        }
    }
}

/// The values of a command's options as the record that the command reads them into.
///
/// # Errors
/// If a value is none of the record's, which a test excludes for every command.
pub(super) fn values<T: DeserializeOwned>(command: &str, typed: &ArgMatches) -> Result<T> {
    let placed = REGISTRY.placed(&REGISTRY.command(command).options);
    let value = |(name, _, option): Placed| (name.to_string(), option.value(name, typed));
    let values: Map<String, Value> = placed.into_iter().map(value).collect();
    serde_json::from_value(values.into()).map_err(|error| Error::new(format!("attn {command}: {error}")))
}

/// The options of a command that `--versus` may change.
pub(super) fn varied(command: &str) -> Vec<&'static str> {
    REGISTRY.names(REGISTRY.command(command).varied)
}

/// # Errors
/// If an option was typed that has no effect without another one. Clap lets it pass where the other could not stand beside the rest.
pub(super) fn check_needs(command: &str, typed: &ArgMatches) -> Result<()> {
    let placed = REGISTRY.placed(&REGISTRY.command(command).options);
    let is_typed = |name: &str| typed.value_source(name) == Some(ValueSource::CommandLine);
    let named = |name: &str| {
        let (_, _, option) = placed.iter().find(|(own, ..)| *own == name)?;
        Some(if option.positional { option.value?.to_string() } else { option.spelling(name) })
    };
    for (name, _, option) in placed.iter().filter(|(name, ..)| is_typed(name)) {
        for needed in option.requires.split_whitespace().filter(|needed| !is_typed(needed)) {
            if let (Some(own), Some(needed)) = (named(name), named(needed)) {
                return Err(Error::new(format!("{own} has no effect without {needed}"))
                    .help(format!("leave out {own}, or what cannot stand beside {needed}")));
            }
        }
    }
    Ok(())
}

/// Whether something that was typed cannot stand beside an option of the command.
pub(super) fn excludes(command: &str, typed: &[OsString], option: &str) -> bool {
    let is_typed = |name: &str, entry: &OptionEntry| {
        let spellings = [Some(entry.spelling(name)), entry.short.map(|short| format!("-{short}"))];
        typed.iter().any(|word| spellings.iter().flatten().any(|spelling| word == spelling.as_str()))
    };
    let placed = REGISTRY.placed(&REGISTRY.command(command).options);
    let mut typed = placed.into_iter().filter(|(name, _, entry)| is_typed(name, entry));
    typed.any(|(.., entry)| REGISTRY.names(entry.conflicts).contains(&option))
}

/// Whether a value follows an option, which has the same form in all commands that take it.
pub(super) fn takes_value(spelling: &str) -> bool {
    let is_it =
        |(name, option): &(&&str, &OptionEntry)| !option.positional && option.spelling(id(name)) == spelling;
    REGISTRY.option.iter().find(is_it).is_some_and(|(_, option)| option.value.is_some())
}

/// An option that gives a setting of attention.
pub(super) struct OfSetting {
    /// The option as it is typed.
    pub spelling: String,
    /// The path of the setting in the recipe.
    pub path: &'static str,
    choices: &'static [[&'static str; 2]],
    may_be_bare: bool,
}

impl OfSetting {
    /// The option with its value, which is none for a flag. A setting that is true or false is the second or the first choice.
    pub fn words(&self, value: &Value) -> Vec<String> {
        let value = match (value, self.choices) {
            (Value::Bool(chosen), [_, _]) => self.choices[usize::from(*chosen)][0].to_string(),
            (Value::Bool(_), _) => return vec![self.spelling.clone()],
            _ if self.may_be_bare => return vec![self.spelling.clone()],
            _ => text_of(value),
        };
        vec![self.spelling.clone(), value]
    }
}

/// The options of a command that give settings of attention, in the order of its help.
pub(super) fn of_settings(command: &str) -> impl Iterator<Item = OfSetting> {
    let placed = REGISTRY.placed(&REGISTRY.command(command).options);
    placed.into_iter().filter_map(|(name, _, option)| {
        let OptionEntry { choices, may_be_bare, sets, .. } = option;
        Some(OfSetting {
            spelling: option.spelling(name),
            path: (*sets)?,
            choices,
            may_be_bare: *may_be_bare,
        })
    })
}

/// An option that may stand without its value: absent, alone, or with a value.
pub(super) fn maybe_bare<'de, D: serde::Deserializer<'de>>(
    values: D,
) -> std::result::Result<Option<Option<String>>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(values)?.map(|mut values| values.pop()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::graph::MAX_CELLS;
    use crate::kernel::{MAX_THREADS, SimdLevel};

    #[test]
    fn every_option_and_every_group_belongs_to_a_command() {
        let lists = REGISTRY.command.iter().map(|command| &command.options).chain(REGISTRY.group.values());
        let words: BTreeSet<&str> = lists.flatten().flat_map(|one| one.split([' ', ':'])).collect();
        let unused = |name: &&str| !words.contains(*name);
        assert_eq!(REGISTRY.option.keys().copied().find(unused), None);
        let groups = REGISTRY.group.keys().map(|name| format!("@{name}"));
        assert_eq!(groups.into_iter().find(|name| !words.contains(name.as_str())), None);
    }

    #[test]
    fn what_the_file_repeats_of_the_program_is_true() {
        assert_eq!(REGISTRY.option["threads"].range, Some([1, MAX_THREADS as i64]));
        for option in ["simd", "simd@bench"] {
            let help = REGISTRY.option[option].help;
            assert!(SimdLevel::ALL.iter().all(|level| help.contains(level.name())), "{help}");
        }
        assert!(REGISTRY.option["limit"].help.contains(&MAX_CELLS.to_string()));
    }
}
