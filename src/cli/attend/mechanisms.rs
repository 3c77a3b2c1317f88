//! The options of today's models: positions, the norm of queries and keys, the soft-cap, sinks and gates.

use std::mem::discriminant;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::attention::{Pairing, RopeScaling, Yarn};
use crate::cli::options::{positive, read_with};
use crate::cli::registry::maybe_bare;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::{
    AttendInputs, NormPlace, PositionKind, Positions, QkNorm, Recipe, Rotary, Scale,
};
use crate::graph::{Given, Origin, Role};
use crate::input::{Files, ReadOptions};
use crate::json_number;
use crate::matrix::Matrix;
use crate::read;
use crate::tensor::Tensor;
use crate::text::{counted, nearest};

/// The distance from which on all keys are in T5's last bucket.
const FURTHEST: usize = 128;

/// What today's models add to attention.
#[derive(Deserialize, Debug)]
pub(super) struct MechanismArgs {
    #[serde(deserialize_with = "position")]
    position: Option<PositionKind>,
    rope_base: Option<String>,
    rope_width: Option<usize>,
    #[serde(deserialize_with = "scaling")]
    rope_scaling: Option<RopeScalingArg>,
    first_position: Option<u32>,
    position_table: Option<String>,
    #[serde(deserialize_with = "maybe_bare")]
    qk_norm: Option<Option<String>>,
    qk_norm_eps: Option<String>,
    softcap: Option<String>,
    sink: Option<String>,
    gate: Option<String>,
}

/// The kinds of positions by the names of `--position`.
fn position_kinds() -> [(&'static str, PositionKind); 6] {
    let rotary = |pairing| PositionKind::Rotary(Rotary { pairing, ..Rotary::default() });
    [
        ("rope", rotary(Pairing::Halves)),
        ("rope-interleaved", rotary(Pairing::Neighbours)),
        ("alibi", PositionKind::Alibi { heads: None }),
        ("sinusoidal", PositionKind::Sinusoidal),
        ("t5", PositionKind::Buckets { furthest: FURTHEST }),
        ("none", PositionKind::None),
    ]
}

fn position<'de, D: Deserializer<'de>>(name: D) -> std::result::Result<Option<PositionKind>, D::Error> {
    read_with(name, |name| {
        let kind = position_kinds().into_iter().find(|(own, _)| *own == name);
        kind.map(|(_, kind)| kind).ok_or_else(|| format!("there are no positions {name}"))
    })
}

fn scaling<'de, D: Deserializer<'de>>(text: D) -> std::result::Result<Option<RopeScalingArg>, D::Error> {
    read_with(text, RopeScalingArg::parse)
}

/// The value of `--position` for a kind, whatever numbers it has.
pub(super) fn position_name(kind: PositionKind) -> &'static str {
    let is_it = |other: PositionKind| match (kind, other) {
        (PositionKind::Rotary(own), PositionKind::Rotary(other)) => own.pairing == other.pairing,
        _ => discriminant(&kind) == discriminant(&other),
    };
    position_kinds().into_iter().find(|(_, other)| is_it(*other)).map_or("none", |(name, _)| name)
}

impl MechanismArgs {
    /// The matrices that the options name, each with its role.
    pub(super) fn load(&self, files: &mut Files<'_>) -> Result<Vec<(Role, Tensor, Origin)>> {
        let mut all = Vec::new();
        let divisors = self.rope_scaling.as_ref().and_then(|scaling| scaling.divisors.as_deref());
        let named = [
            (Role::PositionTable, self.position_table.as_deref()),
            (Role::Divisors, divisors),
            (Role::Gate, self.gate.as_deref()),
        ];
        for (role, source) in named {
            if let Some(source) = source {
                all.push((role, files.read(source, role, ReadOptions::default())?, origin(source)));
            }
        }
        if let Some(Some(source)) = &self.qk_norm {
            let gains = files.read(source, Role::QueryGain, ReadOptions::default())?.into_matrix()?;
            let [q, k] = gains_of(&gains, source)?;
            all.push((Role::QueryGain, q.into(), origin(source)));
            all.push((Role::KeyGain, k.into(), origin(source)));
        }
        if let Some(source) = &self.sink {
            all.push((Role::Sink, sinks(source, files)?, origin(source)));
        }
        Ok(all)
    }

    /// The recipe with positions, norm and soft-cap.
    pub(super) fn applied(&self, recipe: Recipe, inputs: &AttendInputs) -> Result<Recipe> {
        let given = |role| inputs.get(role).is_some();
        let has_gains = given(Role::QueryGain) || given(Role::KeyGain);
        Ok(Recipe {
            positions: self.positions(given(Role::PositionTable))?,
            qk_norm: self.norm(has_gains)?,
            soft_cap: self.softcap.as_deref().map(|cap| positive("--softcap", cap)).transpose()?,
            ..recipe
        })
    }

    /// Notes on given matrices that nothing reads, and on what the positions leave to the reader. `unscaled` says that the names in
    /// a file are those of a model whose scores are not divided by √d.
    pub(super) fn notes(recipe: &Recipe, inputs: &AttendInputs, unscaled: bool) -> Vec<String> {
        let given = |role| inputs.get(role).is_some();
        let is_t5 = matches!(recipe.positions.kind, PositionKind::Buckets { .. });
        let is_long = matches!(
            recipe.positions.kind,
            PositionKind::Rotary(Rotary { scaling: Some(RopeScaling::LongRope { .. }), .. })
        );
        let mut notes = Vec::new();
        if given(Role::PositionTable) && !is_t5 {
            notes.push("R is not used; --position t5 reads it.".to_string());
        }
        if given(Role::Divisors) && !is_long {
            notes.push("F_divisors is not used; --rope-scaling longrope:… reads it.".to_string());
        }
        if (is_t5 || unscaled) && recipe.scale == Scale::Auto {
            notes.push("T5 itself does not scale its scores; --scale none leaves 1/√d_k out.".to_string());
        }
        notes
    }

    fn norm(&self, has_gains: bool) -> Result<QkNorm> {
        let is_asked = self.qk_norm.is_some() || has_gains;
        let usual = QkNorm::default();
        let epsilon = match &self.qk_norm_eps {
            Some(_) if !is_asked => {
                return Err(
                    Error::new("--qk-norm-eps changes nothing without --qk-norm").help("add --qk-norm")
                );
            }
            Some(epsilon) => positive("--qk-norm-eps", epsilon)?,
            None => usual.epsilon,
        };
        let place = if is_asked { NormPlace::BeforeRotation } else { usual.place };
        Ok(QkNorm { place, epsilon, ..usual })
    }

    /// Heads that all share the number of `--sink`.
    pub(super) fn spread_sink(inputs: &mut AttendInputs, heads: usize) -> Result<()> {
        let Some(sink) = inputs.get(Role::Sink) else { return Ok(()) };
        let shape = sink.shape();
        let is_column = shape.cols == 1 && shape.rows > 1;
        if is_column || (shape.rows, shape.cols) == (1, 1) && heads > 1 {
            let Given { tensor, origin } = sink.clone();
            let numbers = tensor.into_matrix()?;
            let count = if is_column { shape.rows } else { heads };
            let row = Matrix::from_fn(1, count, |_, j| numbers[(if is_column { j } else { 0 }, 0)]);
            inputs.set(Role::Sink, Given::new(row, origin));
        }
        Ok(())
    }

    fn positions(&self, has_table: bool) -> Result<Positions> {
        let first = self.first_position.unwrap_or(0) as usize;
        let kind = match self.position {
            Some(PositionKind::Rotary(usual)) => PositionKind::Rotary(self.rotary(usual)?),
            Some(PositionKind::Buckets { .. }) if !has_table => {
                return Err(Error::new("--position t5 needs a table of biases")
                    .help("give --position-table FILE: a row for each bucket, a column for each head"));
            }
            Some(PositionKind::None) => return Ok(Positions::default()),
            kind => kind.unwrap_or_default(),
        };
        self.check_unused(kind)?;
        Ok(Positions { kind, first, ..Positions::default() })
    }

    fn rotary(&self, usual: Rotary) -> Result<Rotary> {
        Ok(Rotary {
            base: self.rope_base.as_deref().map_or(Ok(usual.base), above_one)?,
            width: self.rope_width,
            scaling: self.rope_scaling.as_ref().map(|scaling| scaling.scaling),
            ..usual
        })
    }

    /// # Errors
    /// If an option belongs to positions of another kind.
    fn check_unused(&self, kind: PositionKind) -> Result<()> {
        let is_rotary = matches!(kind, PositionKind::Rotary(_));
        let counts = is_rotary || kind == PositionKind::Sinusoidal;
        let of_rope = "--position rope";
        let needs = [
            ("--rope-base", self.rope_base.is_some(), is_rotary, of_rope),
            ("--rope-width", self.rope_width.is_some(), is_rotary, of_rope),
            ("--rope-scaling", self.rope_scaling.is_some(), is_rotary, of_rope),
            ("--first-position", self.first_position.is_some(), counts, "--position rope or sinusoidal"),
            (
                "--position-table",
                self.position_table.is_some(),
                matches!(kind, PositionKind::Buckets { .. }),
                "--position t5",
            ),
        ];
        let unused = needs.into_iter().find(|(_, is_given, is_read, _)| *is_given && !is_read);
        let Some((option, _, _, wanted)) = unused else { return Ok(()) };
        let here = match self.position {
            Some(position) => format!("with --position {}", position_name(position)),
            None => "without --position".to_string(),
        };
        Err(Error::new(format!("{option} changes nothing {here}"))
            .help(format!("add {wanted}, or leave {option} out")))
    }
}

fn origin(source: &str) -> Origin {
    Origin::User(visible(source).into_owned())
}

/// The base of `--rope-base`.
fn above_one(text: &str) -> Result<f64> {
    match read::number(text).map(|number| number.value) {
        Ok(base) if base > 1.0 && base.is_finite() => Ok(base),
        _ => Err(Error::new(format!("--rope-base {} is not a number above 1", visible(text)))
            .help("10000 is usual; a larger base makes slower rotations")),
    }
}

/// The gains for queries and for keys.
fn gains_of(gains: &Matrix, source: &str) -> Result<[Matrix; 2]> {
    let row = |at: usize| Matrix::from_fn(1, gains.cols(), |_, j| gains[(at, j)]);
    match gains.rows() {
        1 => Ok([row(0), row(0)]),
        2 => Ok([row(0), row(1)]),
        rows => Err(Error::new(format!("the gains have {}", counted(rows, "row")))
            .in_source(visible(source))
            .help("give one row, or two: for queries, and for keys")),
    }
}

/// The sinks: one number, or a row.
fn sinks(source: &str, files: &mut Files<'_>) -> Result<Tensor> {
    let number = match source.trim() {
        "-inf" => Some(f64::NEG_INFINITY),
        text => read::number(text).ok().map(|number| number.value),
    };
    let tensor = match number {
        Some(number) => Matrix::filled(1, 1, number).into(),
        None => files.read(source, Role::Sink, ReadOptions::default())?,
    };
    let what = tensor.cells().find_map(|x| match x {
        f64::INFINITY => Some(("`inf` in a sink", "; with inf no key would have any weight")),
        x => x.is_nan().then_some(("a sink is NaN", "")),
    });
    if let Some((what, why)) = what {
        let error = Error::new(what).in_source(visible(source));
        return Err(error.help(format!("give a number, or -inf for no sink{why}")));
    }
    Ok(tensor)
}

// `--rope-scaling`: a kind with its parameters.

/// A kind of scaling with its parameters, and the file of LongRoPE's divisors.
#[derive(Clone, Debug)]
pub(crate) struct RopeScalingArg {
    pub scaling: RopeScaling,
    divisors: Option<String>,
}

/// Each kind, with usual values of the parameters that it needs, and the names of those that it can have.
const KINDS: [(&str, &str, &[&str]); 5] = [
    ("linear", "factor=4", &[]),
    ("dynamic", "factor=4,original=4096", &[]),
    ("llama3", "factor=8,low=1,high=4,original=8192", &[]),
    ("yarn", "factor=4,original=4096", &["fast", "slow", "truncate", "attention", "mscale", "mscale-all"]),
    ("longrope", "factor=4,original=4096", &["divisors"]),
];

/// The names of the parameters that a kind needs, as its usual values have them.
fn names_in(usual: &str) -> Vec<&str> {
    usual.split(',').filter_map(|pair| Some(pair.split_once('=')?.0)).collect()
}

/// The fields of a scaling in serde's form that no parameter has to give.
fn unless_given(kind: &str) -> Map<String, Value> {
    let fields = match kind {
        "dynamic" => json!({ "length": 0 }),
        "yarn" => {
            json!({ "base": 10_000.0, "fast": 32.0, "slow": 1.0, "truncate": true, "attention": null })
        }
        "longrope" => json!({ "attention": null }),
        _ => json!({}),
    };
    fields.as_object().cloned().unwrap_or_default()
}

/// The names of the parameters in a model's configuration.
const CONFIG_NAMES: [(&str, &str); 10] = [
    ("low_freq_factor", "low"),
    ("high_freq_factor", "high"),
    ("original_max_position_embeddings", "original"),
    ("beta_fast", "fast"),
    ("beta_slow", "slow"),
    ("attention_factor", "attention"),
    ("mscale_all_dim", "mscale-all"),
    ("mscale_all", "mscale-all"),
    ("long_factor", "divisors"),
    ("short_factor", "divisors"),
];

impl RopeScalingArg {
    /// Reads `yarn:factor=4,original=4096`.
    pub fn parse(text: &str) -> std::result::Result<RopeScalingArg, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some((kind, usual, optional)) = KINDS.into_iter().find(|(name, ..)| *name == kind.trim()) else {
            let names = KINDS.map(|(name, ..)| name);
            return Err(match nearest(kind, names) {
                Some(near) => format!("there is no scaling `{}`; did you mean {near}?", visible(kind)),
                None => format!("there is no scaling `{}`; there are {}", visible(kind), names.join(", ")),
            });
        };
        let needed = names_in(usual);
        let known = [&needed, optional].concat();
        let (mut given, mut divisors): (Map<String, Value>, _) = (Map::new(), None);
        for pair in rest.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, text) = pair
                .split_once('=')
                .ok_or_else(|| format!("`{}` has no value: write it as name=number", visible(pair)))?;
            let (name, text) = (name.trim(), text.trim());
            let short =
                CONFIG_NAMES.into_iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short);
            if !known.contains(&short) {
                return Err(format!("{kind} has no `{}`; it has {}", visible(name), known.join(", ")));
            }
            let value = match (short, text) {
                ("divisors", file) => divisors.insert(file.to_string()).as_str().into(),
                ("truncate", "yes" | "true") => true.into(),
                ("truncate", "no" | "false") => false.into(),
                ("truncate", _) => {
                    return Err(format!("truncate of {kind} is `{}`: write yes or no", visible(text)));
                }
                _ => json_number::value(read::number(text).map(|number| number.value).map_err(|_| {
                    format!("{short} of {kind} is `{}`, which is not a number", visible(text))
                })?),
            };
            if given.insert(short.to_string(), value).is_some() {
                return Err(format!("{kind} has {short} twice"));
            }
        }
        let missing: Vec<&str> = needed.into_iter().filter(|name| !given.contains_key(*name)).collect();
        if !missing.is_empty() {
            return Err(format!("{kind} needs {}: write {kind}:{usual}", missing.join(" and ")));
        }
        given.remove("divisors");
        // The factor of sines and cosines: as given, or DeepSeek's ratio of two scales.
        let factor = given.get("factor").and_then(json_number::number).unwrap_or(f64::NAN);
        let mut scale = |name| Some(Yarn::scale(factor, json_number::number(&given.remove(name)?)?));
        match [scale("mscale"), scale("mscale-all")] {
            [None, None] => {}
            _ if given.contains_key("attention") => {
                return Err("yarn takes attention or mscale, not both".into());
            }
            [Some(own), Some(all)] => {
                given.insert("attention".into(), json_number::value(own / all));
            }
            _ => return Err("yarn takes mscale and mscale-all together".into()),
        }
        let mut fields = unless_given(kind);
        fields.insert("kind".into(), kind.into());
        fields.extend(given);
        let scaling: RopeScaling =
            serde_json::from_value(fields.into()).map_err(|error| error.to_string())?;
        scaling.check().map_err(|error| error.to_string())?;
        Ok(RopeScalingArg { scaling, divisors })
    }
}

/// A scaling as `--rope-scaling` takes it, without what has its usual value: `linear:factor=4`.
pub(super) fn scaling_option(scaling: &RopeScaling) -> String {
    let kind = scaling.name();
    let (usual, fields) = (unless_given(kind), serde_json::to_value(scaling).unwrap_or_default());
    let of_kind = KINDS.into_iter().filter(|(name, ..)| *name == kind);
    let names = of_kind.flat_map(|(_, needed, optional)| [&names_in(needed), optional].concat());
    let written = names.filter_map(|name| {
        let value = fields.get(name).filter(|value| usual.get(name) != Some(value))?;
        let number = json_number::number(value).map(|number| number.to_string());
        Some(format!("{name}={}", number.unwrap_or_else(|| "no".to_string())))
    });
    format!("{kind}:{}", written.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::{RopeScalingArg, *};

    fn error(text: &str) -> String {
        RopeScalingArg::parse(text).unwrap_err()
    }

    #[test]
    fn a_scaling_without_its_parameters_says_which_and_how() {
        assert_eq!(error("linear"), "linear needs factor: write linear:factor=4");
        assert_eq!(
            error("llama3:factor=8,original=8192"),
            "llama3 needs low and high: write llama3:factor=8,low=1,high=4,original=8192"
        );
        assert_eq!(error("yrn:factor=4"), "there is no scaling `yrn`; did you mean yarn?");
        assert_eq!(error("linear:factor=4,base=2"), "linear has no `base`; it has factor");
        assert_eq!(error("linear:factor=4,factor=5"), "linear has factor twice");
        assert_eq!(error("linear:factor=x"), "factor of linear is `x`, which is not a number");
        assert!(error("linear:factor=-1").contains("must be a number above 0"));
    }

    #[test]
    fn the_names_of_a_models_configuration_are_known() {
        let parsed = RopeScalingArg::parse(
            "llama3:factor=8,low_freq_factor=1,high_freq_factor=4,original_max_position_embeddings=8192",
        );
        let expected = RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8192.0 };
        assert_eq!(parsed.unwrap().scaling, expected);
    }

    #[test]
    fn every_scaling_is_printed_as_it_was_given() {
        for text in [
            "linear:factor=4",
            "dynamic:factor=2,original=4096",
            "llama3:factor=8,low=1,high=4,original=8192",
            "yarn:factor=4,original=4096",
            "yarn:factor=4,original=4096,fast=16,slow=2,truncate=no,attention=1.25",
            "longrope:factor=32,original=4096",
        ] {
            let scaling = RopeScalingArg::parse(text).unwrap().scaling;
            assert_eq!(scaling_option(&scaling), text);
        }
    }
}
