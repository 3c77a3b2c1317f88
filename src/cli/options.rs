//! Values of options: positive numbers and paths.

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};
use crate::explore::State;
use crate::foreign::{to_path, visible};
use crate::graph::Role;
use crate::kernel::{Machine, SimdLevel};
use crate::read;

use super::program::Env;

/// Reads the text of an option, if there is one, as the check of its type does.
pub(super) fn read_with<'de, D: Deserializer<'de>, T>(
    text: D,
    read: fn(&str) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, D::Error> {
    Option::<String>::deserialize(text)?.map(|text| read(&text).map_err(D::Error::custom)).transpose()
}

/// Reads the name of a file, of whatever bytes.
pub(super) fn path<'de, D: Deserializer<'de>>(text: D) -> std::result::Result<Option<PathBuf>, D::Error> {
    read_with(text, |text| Ok(to_path(text)))
}

/// The first option that is used; each stands with the answer.
pub(super) fn first_given(all: &[(&'static str, bool)]) -> Option<&'static str> {
    all.iter().find(|(_, used)| *used).map(|(option, _)| *option)
}

/// Removes those of the first `earlier` definitions, such as `X=x.csv`, whose name is defined again later.
pub(super) fn replace_earlier(all: &mut Vec<String>, earlier: usize) {
    let name = |definition: &String| definition.split_once('=').map(|(name, _)| name.trim().to_string());
    let later = all.split_off(earlier.min(all.len()));
    all.retain(|definition| !later.iter().any(|other| name(other) == name(definition)));
    all.extend(later);
}

/// A positive number given to an option.
pub(super) fn positive(option: &str, text: &str) -> Result<f64> {
    let number = match read::number(text) {
        Ok(number) => number.value,
        Err(error) if text.contains(',') => return Err(error.in_source(option)),
        Err(_) => f64::NAN,
    };
    if number > 0.0 && number.is_finite() {
        return Ok(number);
    }
    Err(Error::new(format!("{option} {} is not a positive number", visible(text)))
        .help("give a number above 0, such as 0.5"))
}

// The threads and the instruction set of the fast path; neither changes the result.

/// The machine that `--threads` and `--simd` ask for, else the variable ATTN_SIMD; by default all of this machine.
///
/// # Errors
/// If there is no such instruction set, or this processor lacks it.
pub(super) fn machine(threads: Option<u16>, simd: Option<&str>, env: &Env) -> Result<Machine> {
    let here = Machine::here();
    let named = |name: &str, asked: &str| {
        SimdLevel::named(&name.to_ascii_lowercase()).map_err(|error| Error::from(error).in_source(asked))
    };
    let simd = match (simd, env.simd.as_deref()) {
        (Some(name), _) => named(name, "--simd")?,
        (None, Some(name)) => named(name, "ATTN_SIMD")?,
        (None, None) => here.simd,
    };
    Ok(Machine { simd, threads: threads.map_or(here.threads, usize::from) })
}

// `--set` and `--without`: numbers and heads that are changed after everything else is known.

/// The heads that are taken out.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct WithoutArgs {
    without: Option<String>,
}

impl WithoutArgs {
    /// The heads, as they were typed.
    pub(super) fn heads(&self) -> Vec<String> {
        let heads = self.without.iter().flat_map(|heads| heads.split(',')).map(str::trim);
        heads.map(str::to_string).collect()
    }
}

/// Numbers and heads that are changed.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct EditArgs {
    set: Vec<String>,
    #[serde(flatten)]
    without: WithoutArgs,
}

impl EditArgs {
    /// Whether nothing is changed.
    pub(super) fn is_nothing(&self) -> bool {
        self.set.is_empty() && self.without.heads().is_empty()
    }

    /// The heads.
    pub(super) fn heads(&self) -> Vec<String> {
        self.without.heads()
    }

    /// The numbers and settings, as texts.
    ///
    /// # Errors
    /// If one sets a whole matrix.
    pub(super) fn texts(&self) -> Result<&[String]> {
        let is_matrix = |text: &&String| {
            let name = text.split_once('=').map(|(name, _)| name.trim());
            Role::all().any(|role| Some(role.name()) == name)
        };
        match self.set.iter().find(is_matrix) {
            None => Ok(&self.set),
            Some(text) => Err(Error::new(format!("`--set {text}` sets no cell and no setting"))
                .help("write --set 'X[1,2]=6' or --set 'scale = none'; a matrix goes in --x or --wq")),
        }
    }
}

/// The changes of steps that have no options for their settings.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct StepEditArgs {
    set: Vec<String>,
    #[serde(flatten)]
    without: WithoutArgs,
}

impl StepEditArgs {
    /// A state with these changes.
    ///
    /// # Errors
    /// If one cannot be made.
    pub(super) fn changed(&self, state: State) -> Result<State> {
        state.with_assignments(&self.set, &self.without.heads())
    }
}
