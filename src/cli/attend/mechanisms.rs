//! The options of today's models: positions, the norm of queries and keys, the soft-cap, sinks and gates.

use clap::{Args, ValueEnum};

use super::input_loader::LoadedInputs;
use super::rope_scaling::RopeScalingArg;
use crate::attention::{Pairing, RopeScaling};
use crate::cli::values::positive;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::{NormPlace, PositionKind, Positions, QkNorm, Recipe, Rotary, Scale};
use crate::graph::{Given, Origin, Role};
use crate::input::{self, Files, ReadOptions};
use crate::matrix::Matrix;
use crate::tensor::Tensor;
use crate::text::counted;

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

impl PositionArg {
    fn pairing(self) -> Option<Pairing> {
        match self {
            PositionArg::Rope => Some(Pairing::Halves),
            PositionArg::RopeInterleaved => Some(Pairing::Neighbours),
            PositionArg::Alibi | PositionArg::Sinusoidal | PositionArg::T5 | PositionArg::None => None,
        }
    }
}

impl MechanismArgs {
    /// The matrices that the options name, each with its role.
    pub(super) fn load(&self, files: &mut Files<'_>) -> Result<Vec<(Role, Tensor, Origin)>> {
        let mut all = Vec::new();
        let divisors = self.rope_scaling.as_ref().and_then(RopeScalingArg::divisors);
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
        Ok(Rotary {
            pairing: self.position.and_then(PositionArg::pairing).unwrap_or_default(),
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
    match input::number(text).map(|number| number.value) {
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
        text => input::number(text).ok().map(|number| number.value),
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
