//! The steps of a model. A mistake that porters make is one changed field of it.

use serde::{Deserialize, Serialize};

use crate::attention::Mask;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::recipes::{NormPlace, PositionKind, Positions, QkNorm, Recipe, Scale};
use crate::graph::{GeluForm, Op};
use crate::matrix::Matrix;
use crate::params::config::{LanguagePart, language_part, parsed};
use crate::params::family::{FamilyEntry, PositionRule, ScaleRule, Usual, WindowRule};
use crate::params::fields::{Fields, SomeLayers, rotated_layers, windowed_layers};
use crate::params::{Family, Gain, Model, NormKind, Projections, QueryKeyNorm};
use crate::text::clip;

use super::rope::{LayerKind, Rope, rope};

/// The steps of a model, as its configuration has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// The sizes, from which the weights are listed and counted, and the values that the configuration leaves to its family.
    pub model: Model,
    /// True if embeddings are multiplied by √d, rounded to the type of the weights, as in Gemma.
    pub embedding_scaled: bool,
    /// The norms.
    pub norm: Norm,
    /// The layers, from the first.
    pub blocks: Vec<Block>,
    /// The matrices that the weights of queries, keys and values are kept in.
    pub projections: Projections,
    /// What a norm after a sublayer reads.
    pub after: AfterNorm,
    /// What the MLP reads.
    pub sublayers: Sublayers,
    /// The function inside the MLP.
    pub activation: Activation,
    /// The bound of the logits, where there is one.
    pub logit_cap: Option<f64>,
    /// The function in the head of an encoder that predicts masked words.
    pub head_activation: Activation,
    /// Mistakes that no other field expresses; none in a model as it is.
    pub slips: Slips,
}

/// A norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// Its kind.
    pub kind: NormKind,
    /// The number that is added to the variance, or to the mean of the squares.
    pub epsilon: f64,
    /// What the file stores of its gain.
    pub gain: Gain,
}

/// What a layer may have otherwise than another.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its attention: heads, positions, norms of queries and keys, scale, cap, mask and window.
    pub recipe: Recipe,
    /// LongRoPE's divisors of the frequencies: a row for short texts and one for long ones.
    pub divisors: Option<Matrix>,
}

/// What a norm after a sublayer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterNorm {
    /// The result of the sublayer, before it is added to the residual stream.
    Result,
    /// The sum with the residual stream.
    Sum,
}

/// The order of attention and MLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sublayers {
    /// The MLP reads what attention has added to.
    Sequential,
    /// Both read the input of the layer.
    Parallel,
    /// There is no MLP.
    AttentionAlone,
}

// The function inside an MLP.

/// The function inside an MLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// `x · sigmoid(x)`.
    Silu,
    /// x times the share of a normal distribution that lies below it.
    Gelu(GeluForm),
}

/// The names that configurations use.
const NAMES: [(&str, Activation); 8] = [
    ("relu", Activation::Relu),
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
    ("gelu", Activation::Gelu(GeluForm::Erf)),
    ("gelu_python", Activation::Gelu(GeluForm::Erf)),
    ("gelu_new", Activation::Gelu(GeluForm::Tanh)),
    ("gelu_fast", Activation::Gelu(GeluForm::Tanh)),
    ("gelu_pytorch_tanh", Activation::Gelu(GeluForm::Tanh)),
];

impl Activation {
    /// The function of this name in a configuration.
    ///
    /// # Errors
    /// If it is none of those that are computed here.
    pub(super) fn parse(field: &str, name: &str) -> Result<Activation> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, activation)| *activation).ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            Error::new(format!("`{field}` is `{}`, which is not computed here", clip(name)))
                .help(format!("known are {}", known.join(", ")))
        })
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Relu => "ReLU",
            Activation::Silu => "SiLU",
            Activation::Gelu(GeluForm::Erf) => "GELU",
            Activation::Gelu(GeluForm::Tanh) => "GELU (tanh form)",
        }
    }

    /// The op that computes it.
    pub fn op(self) -> Op {
        match self {
            Activation::Relu => Op::Relu,
            Activation::Silu => Op::Silu,
            Activation::Gelu(form) => Op::Gelu(form),
        }
    }
}

// Mistakes of a port that no other field of an [`Architecture`](super::Architecture) expresses.

/// Changes of how a model is computed, in all layers alike. The default changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slips {
    /// The number that is added to the positions of a learned table.
    pub position_shift: usize,
    /// True if the factor √d of the embedding is not rounded to the type of the weights.
    pub embedding_factor_unrounded: bool,
    /// True if the head is the embedding, whatever the file has.
    pub tied: bool,
    /// The reading of matrices that a file keeps as (in, out).
    pub conv1d: Conv1dReading,
    /// The use of the gate of an MLP.
    pub gate: GateUse,
    /// True if the biases of queries, keys and values are left out.
    pub without_qkv_bias: bool,
    /// True if the biases of the norms are left out.
    pub without_norm_bias: bool,
    /// True if a norm that stands before its sublayer stands after it, and the other way round.
    pub norms_moved: bool,
    /// True if queries and keys are normed over all heads together where the model does it head by head, and the other way round.
    pub qk_norm_width_changed: bool,
}

/// The reading of a matrix that a file keeps as (in, out): GPT-2's Conv1D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conv1dReading {
    /// As it is stored.
    #[default]
    AsStored,
    /// Square matrices as (out, in): they fit either way, so that nothing complains.
    SquareTransposed,
    /// All numbers in the order of the file, taken for a matrix (out, in).
    Reshaped,
}

/// The use of the gate of an MLP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateUse {
    /// The function of the gate times the way up.
    #[default]
    Own,
    /// The gate times the function of the way up.
    OnUp,
    /// The weights of gate and way up are exchanged.
    WeightsExchanged,
}

// From a `config.json` to the steps of a model.

/// More layers than this are no model that is run here; a configuration may claim any number.
const MOST_LAYERS: u64 = 10_000;

impl Architecture {
    /// The families that are run, by the `model_type` of their configurations.
    pub fn families() -> impl Iterator<Item = (&'static str, Family)> {
        Family::by_model_type().filter(|(_, family)| family.facts().runs)
    }

    /// The steps of the model that a `config.json` describes. `text` is the file's content, `name` its name in errors.
    ///
    /// # Errors
    /// If it is no such configuration, its family is not run here, a number is missing or out of its range, or it asks for a
    /// step that is not known.
    pub fn from_config(text: &str, name: &str) -> Result<Architecture> {
        let value = parsed(text, name)?;
        check_family(&value).map_err(|error| error.in_source(name))?;
        let model = Model::from_config(text, name)?;
        read(&value, model).map_err(|error| error.in_source(name))
    }
}

fn check_family(value: &serde_json::Value) -> Result<()> {
    let known: Vec<&str> = Architecture::families().map(|(name, _)| name).collect();
    let error = match value.get("model_type") {
        Some(serde_json::Value::String(stated)) if !known.contains(&stated.as_str()) => {
            let error = Error::new(format!("models of the type `{}` are not run here", clip(stated)));
            error.of_kind(ErrorKind::Unknown)
        }
        // More types are counted than are run: only these help here.
        None | Some(serde_json::Value::Null) if value.is_object() => {
            Error::new("the configuration has no `model_type`")
        }
        _ => return Ok(()),
    };
    Err(error.help(format!("the types that are run: {}", known.join(", "))))
}

fn read(value: &serde_json::Value, mut model: Model) -> Result<Architecture> {
    let LanguagePart { family, object, .. } = language_part(value)?;
    if model.layers > MOST_LAYERS {
        return Err(Error::new(format!("the model has {} layers, more than {MOST_LAYERS}", model.layers))
            .help("check the number of layers in the configuration: no model has that many"));
    }
    let mut fields = Fields { object, assumed: Vec::new() };
    let of = family.facts();
    let norm = norm(&mut fields, &model)?;
    let activation = activation(&mut fields, family)?;
    let layers = LayerSettings::read(&mut fields, &model)?;
    let blocks =
        (0..model.layers).map(|layer| layers.block(&model, layer, norm.epsilon)).collect::<Result<_>>()?;
    let logit_cap = cap(&mut fields, "final_logit_softcapping", of)?;
    let is_parallel = of.parallel.map_or(Ok(false), |key| fields.flag(key, true))?;
    for assumed in fields.assumed {
        if !model.assumed.contains(&assumed) {
            model.assumed.push(assumed);
        }
    }
    Ok(Architecture {
        embedding_scaled: of.embedding_scaled,
        norm,
        blocks,
        projections: of.projections,
        after: if of.norms_of_sums { AfterNorm::Sum } else { AfterNorm::Result },
        sublayers: match model.has_mlp() {
            _ if is_parallel => Sublayers::Parallel,
            true => Sublayers::Sequential,
            false => Sublayers::AttentionAlone,
        },
        activation,
        logit_cap,
        head_activation: activation,
        slips: Slips::default(),
        model,
    })
}

fn norm(fields: &mut Fields, model: &Model) -> Result<Norm> {
    let FamilyEntry { gain, epsilon: Usual { key, usual }, .. } = *model.family.facts();
    let Some(norms) = model.norms else {
        // No step reads it.
        return Ok(Norm { kind: NormKind::RmsNorm, epsilon: 0.0, gain: Gain::Itself });
    };
    let epsilon = if key.is_empty() { usual } else { fields.number_or(key, usual)? };
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(Error::new(format!("`{key}` is {epsilon}, but it must not be negative"))
            .help(format!("{usual} is usual: take the number that the model was trained with")));
    }
    Ok(Norm { kind: norms.kind, epsilon, gain })
}

fn activation(fields: &mut Fields, family: Family) -> Result<Activation> {
    let FamilyEntry { activation: Usual { key, usual }, gelu_is_tanh, .. } = *family.facts();
    if family.is_small() {
        // Its `mlp` names the function.
        return Ok(Activation::Relu);
    }
    let stated = fields.text_or(key, usual)?;
    if gelu_is_tanh && stated == "gelu" {
        let why = format!("`{usual}`, which the family means by its `{key}` `gelu`,");
        return Activation::parse(key, fields.assume("hidden_activation", usual, why));
    }
    Activation::parse(key, &stated)
}

/// A soft-cap of a family that has some, which null switches off.
fn cap(fields: &mut Fields, key: &str, of: &FamilyEntry) -> Result<Option<f64>> {
    let Some(usual) = &of.caps else { return Ok(None) };
    match usual.get(key) {
        Some(usual) if !fields.object.contains_key(key) => fields.number_or(key, *usual).map(Some),
        _ => fields.optional_number(key),
    }
}

/// The settings from which each layer takes its own.
struct LayerSettings {
    full: Option<Rope>,
    sliding: Option<Rope>,
    windows: Option<(u64, SomeLayers)>,
    rotated: SomeLayers,
    scale: Scale,
    /// GPT-2's division of the scores by the number of the layer.
    by_layer: bool,
    soft_cap: Option<f64>,
}

impl LayerSettings {
    fn read(fields: &mut Fields, model: &Model) -> Result<LayerSettings> {
        let of = model.family.facts();
        let windows = windowed_layers(fields, of, model.layers)?;
        let mut of_kind = |kind, is_there: bool| {
            is_there.then(|| rope(fields, model.family, model.head_width, kind)).transpose()
        };
        let full = of_kind(LayerKind::Full, of.positions == PositionRule::Rotary)?;
        let sliding = of_kind(LayerKind::Sliding, of.local_base.is_some())?;
        let rotated = match of.windows {
            WindowRule::WithoutPositions => rotated_layers(fields, model.layers)?,
            _ => SomeLayers::All,
        };
        let (scale, by_layer) = scale(fields, of.scale)?;
        let soft_cap = cap(fields, "attn_logit_softcapping", of)?;
        if fields.flag("use_bidirectional_attention", false)?
            || fields.flag("is_decoder", false)? && of.encoder
        {
            return Err(Error::new("the configuration changes who sees whom: `use_bidirectional_attention`, or `is_decoder` of BERT")
                .help("only causal decoders and BERT as an encoder are run"));
        }
        Ok(LayerSettings { full, sliding, windows, rotated, scale, by_layer, soft_cap })
    }

    /// A layer, counted from 0.
    fn block(&self, model: &Model, layer: u64, epsilon: f64) -> Result<Block> {
        let window = self.windows.as_ref().filter(|(_, layers)| layers.has(layer)).map(|(window, _)| *window);
        let own =
            if window.is_some() { self.sliding.as_ref().or(self.full.as_ref()) } else { self.full.as_ref() };
        let rope = own.filter(|_| self.rotated.has(layer));
        let kind = rope.map_or(PositionKind::None, |rope| PositionKind::Rotary(rope.rotary));
        let query_key = model.norms.map_or(QueryKeyNorm::None, |norms| norms.query_key);
        let qk_norm = QkNorm {
            place: if query_key == QueryKeyNorm::None {
                NormPlace::Nowhere
            } else {
                NormPlace::BeforeRotation
            },
            epsilon,
            ..QkNorm::default()
        };
        let scale = match self.scale {
            Scale::Auto if self.by_layer => {
                Scale::Number(1.0 / (model.head_width as f64).sqrt() / (layer as f64 + 1.0))
            }
            Scale::None if self.by_layer => Scale::Number(1.0 / (layer as f64 + 1.0)),
            scale => scale,
        };
        let mask =
            Mask { causal: model.causal, window: window.map(|window| window as usize), ..Mask::default() };
        let recipe = Recipe {
            heads: model.query_heads as usize,
            kv_heads: model.key_value_heads as usize,
            positions: Positions { kind, ..Positions::default() },
            qk_norm,
            scale,
            soft_cap: self.soft_cap,
            mask,
            ..Recipe::default()
        };
        recipe.check()?;
        Ok(Block { recipe, divisors: rope.and_then(|rope| rope.divisors.clone()) })
    }
}

/// The factor of the scores, and whether the number of the layer divides it.
fn scale(fields: &mut Fields, rule: ScaleRule) -> Result<(Scale, bool)> {
    Ok(match rule {
        ScaleRule::Flags => {
            let scaled = fields.flag("scale_attn_weights", true)?;
            let by_layer = fields.flag("scale_attn_by_inverse_layer_idx", false)?;
            (if scaled { Scale::Auto } else { Scale::None }, by_layer)
        }
        ScaleRule::QueryPreAttnScalar => {
            let scalar = fields.number_or("query_pre_attn_scalar", 256.0)?;
            if !(scalar > 0.0 && scalar.is_finite()) {
                return Err(Error::new(format!(
                    "`query_pre_attn_scalar` is {scalar}, but it must be positive"
                ))
                .help("256 is usual: take the number that the model was trained with"));
            }
            let whole = scalar.fract() == 0.0 && scalar < 1e9;
            let scale = if whole {
                Scale::InverseRootOf(scalar as usize)
            } else {
                Scale::Number(1.0 / scalar.sqrt())
            };
            (scale, false)
        }
        ScaleRule::Usual => (Scale::Auto, false),
    })
}
