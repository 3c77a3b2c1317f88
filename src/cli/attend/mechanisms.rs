//! The options of today's models: positions, the norm of queries and keys, the soft-cap, sinks and gates.

use clap::{Args, ValueEnum};

use crate::attention::{Pairing, RopeScaling, Yarn};
use crate::cli::options::positive;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::{
    NormPlace, PositionKind, Positions, QK_NORM_EPSILON, QkNorm, Recipe, Rotary, Scale,
};
use crate::graph::{Given, Origin, Role};
use crate::input::{Files, ReadOptions};
use crate::matrix::Matrix;
use crate::read;
use crate::tensor::Tensor;
use crate::text::{counted, nearest};

use super::inputs::LoadedInputs;

/// The distance from which on all keys are in T5's last bucket.
const FURTHEST: usize = 128;

/// The heading of these options.
pub(crate) const MECHANISMS: &str = "Positions, norms, sinks and gates";

/// What today's models add to attention.
#[derive(Args, Debug)]
#[command(next_help_heading = MECHANISMS)]
pub(super) struct MechanismArgs {
    /// Positions: rope, alibi, sinusoidal, t5, …
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Attention")]
    position: Option<PositionArg>,
    /// Base of the rotations [default: 10000]
    ///
    /// A larger base makes slower rotations: Llama 3 has 500000.
    #[arg(long, value_name = "NUMBER", hide_short_help = true)]
    rope_base: Option<String>,
    /// Rotate only the first N columns of a head
    #[arg(long, value_name = "N", hide_short_help = true)]
    rope_width: Option<usize>,
    /// Reach longer texts: linear:factor=4
    ///
    /// A kind with its parameters, which are listed below.
    #[arg(long, value_name = "SCALING", hide_short_help = true, value_parser = RopeScalingArg::parse)]
    rope_scaling: Option<RopeScalingArg>,
    /// Position of the first token [default: 0]
    #[arg(long, value_name = "N", hide_short_help = true)]
    first_position: Option<u32>,
    /// T5's table of biases
    ///
    /// A row for each bucket of distances, a column for each head. From distance 128 on, all keys are in the last bucket.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    position_table: Option<String>,
    /// Norm queries and keys: root mean square 1
    ///
    /// FILE has the gains: one row, or two: for Q and for K. As wide as a head, or as all heads together.
    #[arg(long, value_name = "FILE", num_args = 0..=1, hide_short_help = true)]
    qk_norm: Option<Option<String>>,
    /// ε of --qk-norm [default: 0.000001]
    ///
    /// It is added to the mean of the squares.
    #[arg(long, value_name = "NUMBER", hide_short_help = true)]
    qk_norm_eps: Option<String>,
    /// Keep the scores between −C and C
    ///
    /// C · tanh(S / C), after bias and temperature, before the mask.
    #[arg(long, value_name = "C", hide_short_help = true)]
    softcap: Option<String>,
    /// An extra score per head, without a key (sink)
    ///
    /// One number for all heads, or one row with a number for each. It takes a share of the softmax, so that the weights sum to
    /// less than 1.
    #[arg(long, value_name = "NUMBER|FILE", hide_short_help = true, allow_negative_numbers = true)]
    sink: Option<String>,
    /// W_g: the heads are multiplied by a gate
    ///
    /// The gate is sigmoid(X · W_g). W_g has a column for each column of the heads, or one for each head.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    gate: Option<String>,
}

/// `--position`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PositionArg {
    /// Rotate queries and keys, columns p and p + d/2 together
    Rope,
    /// Rotate queries and keys, neighbouring columns together
    RopeInterleaved,
    /// Subtract the distance times a slope from the scores
    Alibi,
    /// Add vectors of sines and cosines to X
    Sinusoidal,
    /// Add a bias for each bucket of distances to the scores
    T5,
    /// No positions
    None,
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
    pub(super) fn applied(&self, recipe: Recipe, loaded: &LoadedInputs) -> Result<Recipe> {
        let given = |role| loaded.inputs.get(role).is_some();
        let has_gains = given(Role::QueryGain) || given(Role::KeyGain);
        Ok(Recipe {
            positions: self.positions(given(Role::PositionTable))?,
            qk_norm: self.norm(has_gains)?,
            soft_cap: self.softcap.as_deref().map(|cap| positive("--softcap", cap)).transpose()?,
            ..recipe
        })
    }

    /// Notes on given matrices that nothing reads, and on what the positions leave to the reader.
    pub(super) fn notes(recipe: &Recipe, loaded: &LoadedInputs) -> Vec<String> {
        let given = |role| loaded.inputs.get(role).is_some();
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
        if (is_t5 || loaded.unscaled) && recipe.scale == Scale::Auto {
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
    pub(super) fn spread_sink(inputs: &mut LoadedInputs, heads: usize) -> Result<()> {
        let Some(sink) = inputs.inputs.get(Role::Sink) else { return Ok(()) };
        let shape = sink.shape();
        let is_single = (shape.rows, shape.cols) == (1, 1) && heads > 1;
        let is_column = shape.cols == 1 && shape.rows > 1;
        if is_single || is_column {
            let Given { tensor, origin } = sink.clone();
            let numbers = tensor.into_matrix()?;
            let row = Matrix::from_fn(1, if is_single { heads } else { shape.rows }, |_, j| {
                numbers[(if is_single { 0 } else { j }, 0)]
            });
            inputs.inputs.set(Role::Sink, Given::new(row, origin));
        }
        Ok(())
    }

    fn positions(&self, has_table: bool) -> Result<Positions> {
        let first = self.first_position.unwrap_or(0) as usize;
        let kind = match self.position {
            Some(PositionArg::Rope | PositionArg::RopeInterleaved) => PositionKind::Rotary(self.rotary()?),
            Some(PositionArg::Alibi) => PositionKind::Alibi { heads: None },
            Some(PositionArg::Sinusoidal) => PositionKind::Sinusoidal,
            Some(PositionArg::T5) if !has_table => {
                return Err(Error::new("--position t5 needs a table of biases")
                    .help("give --position-table FILE: a row for each bucket, a column for each head"));
            }
            Some(PositionArg::T5) => PositionKind::Buckets { furthest: FURTHEST },
            Some(PositionArg::None) => return Ok(Positions::default()),
            None => PositionKind::None,
        };
        self.check_unused(kind)?;
        Ok(Positions { kind, first, ..Positions::default() })
    }

    fn rotary(&self) -> Result<Rotary> {
        let usual = Rotary::default();
        let is_interleaved = self.position == Some(PositionArg::RopeInterleaved);
        Ok(Rotary {
            pairing: if is_interleaved { Pairing::Neighbours } else { Pairing::Halves },
            base: match &self.rope_base {
                Some(base) => above_one(base)?,
                None => usual.base,
            },
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
            Some(position) => {
                let name = position.to_possible_value().map(|value| value.get_name().to_string());
                format!("with --position {}", name.unwrap_or_default())
            }
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
    if tensor.cells().any(f64::is_nan) {
        return Err(Error::new("a sink is NaN")
            .in_source(visible(source))
            .help("give a number, or -inf for no sink"));
    }
    if tensor.cells().any(|x| x == f64::INFINITY) {
        return Err(Error::new("`inf` in a sink")
            .in_source(visible(source))
            .help("give a number, or -inf for no sink; with inf no key would have any weight"));
    }
    Ok(tensor)
}

// `--rope-scaling`: a kind with its parameters.

/// A kind of scaling with its parameters, and the file of LongRoPE's divisors.
#[derive(Clone, Debug)]
pub(super) struct RopeScalingArg {
    pub scaling: RopeScaling,
    divisors: Option<String>,
}

/// The parameters of each kind: those that it needs, and those that have a default.
const KINDS: [(&str, &[&str], &[&str]); 5] = [
    ("linear", &["factor"], &[]),
    ("dynamic", &["factor", "original"], &[]),
    ("llama3", &["factor", "low", "high", "original"], &[]),
    ("yarn", &["factor", "original"], &["fast", "slow", "truncate", "attention", "mscale", "mscale-all"]),
    ("longrope", &["factor", "original"], &["divisors"]),
];

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
        let Some((kind, needed, optional)) = KINDS.into_iter().find(|(name, ..)| *name == kind.trim()) else {
            let names = KINDS.map(|(name, ..)| name);
            return Err(match nearest(kind, names) {
                Some(near) => format!("there is no scaling `{}`; did you mean {near}?", visible(kind)),
                None => format!("there is no scaling `{}`; there are {}", visible(kind), names.join(", ")),
            });
        };
        let parameters = Parameters::parse(kind, rest, &[needed, optional].concat())?;
        let missing: Vec<&str> =
            needed.iter().copied().filter(|name| parameters.text(name).is_none()).collect();
        if !missing.is_empty() {
            let example: Vec<String> =
                needed.iter().map(|name| format!("{name}={}", example(kind, name))).collect();
            return Err(format!(
                "{kind} needs {}: write {kind}:{}",
                missing.join(" and "),
                example.join(",")
            ));
        }
        let scaling = parameters.scaling(kind)?;
        scaling.check().map_err(|error| error.to_string())?;
        Ok(RopeScalingArg { scaling, divisors: parameters.text("divisors").map(str::to_string) })
    }
}

/// A usual value of a parameter.
fn example(kind: &str, name: &str) -> &'static str {
    match (kind, name) {
        (_, "low") => "1",
        (_, "high") => "4",
        (_, "divisors") => "FILE",
        ("llama3", "original") => "8192",
        (_, "original") => "4096",
        ("llama3", _) => "8",
        _ => "4",
    }
}

/// Names with their values.
struct Parameters<'a> {
    kind: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    fn parse(kind: &'a str, text: &'a str, known: &[&'a str]) -> std::result::Result<Parameters<'a>, String> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("`{}` has no value: write it as name=number", visible(pair)))?;
            let name = name.trim();
            let short =
                CONFIG_NAMES.into_iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short);
            let Some(&name) = known.iter().find(|known| **known == short) else {
                return Err(format!("{kind} has no `{}`; it has {}", visible(name), known.join(", ")));
            };
            if pairs.iter().any(|(earlier, _)| *earlier == name) {
                return Err(format!("{kind} has {name} twice"));
            }
            pairs.push((name, value.trim()));
        }
        Ok(Parameters { kind, pairs })
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> std::result::Result<Option<f64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match read::number(text) {
            Ok(number) => Ok(Some(number.value)),
            Err(_) => Err(format!("{name} of {} is `{}`, which is not a number", self.kind, visible(text))),
        }
    }

    fn truth(&self, name: &str) -> std::result::Result<Option<bool>, String> {
        match self.text(name) {
            None => Ok(None),
            Some("yes" | "true") => Ok(Some(true)),
            Some("no" | "false") => Ok(Some(false)),
            Some(text) => Err(format!("{name} of {} is `{}`: write yes or no", self.kind, visible(text))),
        }
    }

    fn scaling(&self, kind: &str) -> std::result::Result<RopeScaling, String> {
        // The parameters without a default have been checked to be there.
        let needed = |name| Ok::<f64, String>(self.number(name)?.unwrap_or(f64::NAN));
        let factor = needed("factor")?;
        Ok(match kind {
            "linear" => RopeScaling::Linear { factor },
            "dynamic" => RopeScaling::Dynamic { factor, original: needed("original")?, length: 0 },
            "llama3" => RopeScaling::Llama3 {
                factor,
                low: needed("low")?,
                high: needed("high")?,
                original: needed("original")?,
            },
            "yarn" => RopeScaling::Yarn(Yarn {
                factor,
                original: needed("original")?,
                base: 10_000.0,
                fast: self.number("fast")?.unwrap_or(32.0),
                slow: self.number("slow")?.unwrap_or(1.0),
                truncate: self.truth("truncate")?.unwrap_or(true),
                attention: self.yarn_attention(factor)?,
            }),
            _ => RopeScaling::LongRope { factor, original: needed("original")?, attention: None },
        })
    }

    /// The factor of sines and cosines: as given, or DeepSeek's ratio of two scales.
    fn yarn_attention(&self, factor: f64) -> std::result::Result<Option<f64>, String> {
        let scales = [self.number("mscale")?, self.number("mscale-all")?];
        match (self.number("attention")?, scales) {
            (Some(_), [Some(_), _] | [_, Some(_)]) => Err("yarn takes attention or mscale, not both".into()),
            (Some(attention), _) => Ok(Some(attention)),
            (None, [Some(own), Some(all)]) => Ok(Some(Yarn::scale(factor, own) / Yarn::scale(factor, all))),
            (None, [None, None]) => Ok(None),
            (None, _) => Err("yarn takes mscale and mscale-all together".into()),
        }
    }
}

// From a recipe back to the options of today's models: positions, the norm of queries and keys, the soft-cap.

/// The options that give the positions, norm and soft-cap of a recipe, without those that are the default. Gains, tables, divisors,
/// sinks and gates are matrices, and come from a file.
pub(super) fn mechanism_options(recipe: &Recipe) -> Vec<String> {
    let mut options: Vec<String> =
        position_options(recipe.positions.kind).chunks(2).map(|pair| pair.join(" ")).collect();
    if recipe.positions.first > 0 {
        options.push(format!("--first-position {}", recipe.positions.first));
    }
    if recipe.qk_norm.place != NormPlace::Nowhere {
        options.push("--qk-norm".into());
        if recipe.qk_norm.epsilon != QK_NORM_EPSILON {
            options.push(format!("--qk-norm-eps {}", recipe.qk_norm.epsilon));
        }
    }
    options.extend(recipe.soft_cap.map(|cap| format!("--softcap {cap}")));
    options
}

/// The words that give a kind of positions: each option, and its value.
pub(crate) fn position_options(kind: PositionKind) -> Vec<String> {
    let of_kind = |kind: &str| vec!["--position".to_string(), kind.to_string()];
    match kind {
        PositionKind::None => Vec::new(),
        PositionKind::Rotary(rotary) => rotary_options(&rotary),
        PositionKind::Alibi { .. } => of_kind("alibi"),
        PositionKind::Buckets { .. } => of_kind("t5"),
        PositionKind::Sinusoidal => of_kind("sinusoidal"),
    }
}

fn rotary_options(rotary: &Rotary) -> Vec<String> {
    let usual = Rotary::default();
    let kind = match rotary.pairing {
        Pairing::Halves => "rope",
        Pairing::Neighbours => "rope-interleaved",
    };
    let base = (rotary.base != usual.base).then(|| rotary.base.to_string());
    let all = [
        ("--position", Some(kind.to_string())),
        ("--rope-base", base),
        ("--rope-width", rotary.width.map(|width| width.to_string())),
        ("--rope-scaling", rotary.scaling.map(|scaling| scaling_option(&scaling))),
    ];
    all.into_iter().filter_map(|(option, value)| Some([option.to_string(), value?])).flatten().collect()
}

/// A scaling as `--rope-scaling` takes it: `linear:factor=4`.
fn scaling_option(scaling: &RopeScaling) -> String {
    let parameters = match *scaling {
        RopeScaling::Linear { factor } => format!("factor={factor}"),
        RopeScaling::Dynamic { factor, original, .. } | RopeScaling::LongRope { factor, original, .. } => {
            format!("factor={factor},original={original}")
        }
        RopeScaling::Llama3 { factor, low, high, original } => {
            format!("factor={factor},low={low},high={high},original={original}")
        }
        RopeScaling::Yarn(yarn) => yarn_parameters(&yarn),
    };
    format!("{}:{parameters}", scaling.name())
}

fn yarn_parameters(yarn: &Yarn) -> String {
    let mut parameters = vec![format!("factor={},original={}", yarn.factor, yarn.original)];
    if yarn.fast != 32.0 {
        parameters.push(format!("fast={}", yarn.fast));
    }
    if yarn.slow != 1.0 {
        parameters.push(format!("slow={}", yarn.slow));
    }
    if !yarn.truncate {
        parameters.push("truncate=no".into());
    }
    parameters.extend(yarn.attention.map(|attention| format!("attention={attention}")));
    parameters.join(",")
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
