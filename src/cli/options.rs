//! Values of options: positive numbers and paths.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::LazyLock;

use attn_core::data_file::read;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::explore::State;
use crate::foreign::{to_path, visible};
use crate::graph::Role;
use crate::kernel::{MAX_THREADS, Machine, SimdLevel};
use crate::read;
use crate::tensor::Dtype;
use crate::text::one_of;

use super::program::Env;

/// A parser of some names: each with its help, and what it stands for.
pub(super) fn choice<T: Clone + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, &'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = all.clone().map(|(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(move |typed| {
        let place = all.iter().position(|(name, ..)| *name == typed);
        all[place.unwrap_or_default()].2.clone()
    })
}

/// A parser of the names that `data/choices.toml` lists for an option: each is the value that serde has under this name.
pub(super) fn named<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    option: &str,
) -> impl TypedValueParser<Value = T> {
    type Choices = BTreeMap<&'static str, Vec<[&'static str; 2]>>;
    static CHOICES: LazyLock<Choices> = LazyLock::new(|| read(include_str!("../../data/choices.toml")));
    let all = CHOICES.get(option).map_or(&[][..], |all| all);
    let names = all.iter().map(|[name, help]| PossibleValue::new(*name).help(*help));
    let value = |[name, _]: &[&str; 2]| serde_json::from_value(Value::from(*name)).ok();
    let values: Vec<T> = all.iter().filter_map(value).collect();
    debug_assert!(values.len() == all.len() && !values.is_empty(), "each name of --{option} is a value");
    PossibleValuesParser::new(names).map(move |typed| {
        let place = all.iter().position(|[name, _]| *name == typed);
        values[place.unwrap_or_default()].clone()
    })
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

/// An argument that names a file, of whatever bytes.
pub(super) fn path(text: &str) -> std::result::Result<PathBuf, Infallible> {
    Ok(to_path(text))
}

// The threads and the instruction set of the fast path; neither changes the result.

/// The numbers of threads that `--threads` takes.
pub(super) const THREADS: RangeInclusive<i64> = 1..=MAX_THREADS as i64;

/// The names that `--simd` takes: “portable, neon, avx2 or avx512”.
pub(super) fn simd_names() -> String {
    one_of(&SimdLevel::ALL.map(SimdLevel::name))
}

/// `--dtype`.
pub(super) const DTYPES: [(&str, &str, Dtype); 2] =
    [("f32", "Single precision", Dtype::F32), ("f64", "Double precision", Dtype::F64)];

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
#[derive(Args, Clone, Debug, Default)]
pub(super) struct WithoutArgs {
    /// Set the output of heads to 0: A, A_2, L1.A_3
    #[arg(long, value_name = "HEADS")]
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
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Attention")]
pub(super) struct EditArgs {
    /// Set a number or a setting: X[1,2]=6, window=2
    #[arg(long, value_name = "CHANGE")]
    set: Vec<String>,
    #[command(flatten)]
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
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Explore")]
pub(super) struct StepEditArgs {
    /// Set a given number, or a setting: X[1,2]=6, mask=none
    ///
    /// Settings are temperature=0.5, scale=none or a number, and mask=none, causal or the width of a causal window.
    #[arg(long, value_name = "CELL=NUMBER")]
    set: Vec<String>,
    #[command(flatten)]
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
