//! Families of models: what `data/families.toml` says of each, and the layouts of their weights.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::data_file;

use super::weight::{ModelPart, NormSite};

/// Models that name and arrange their weights alike: an entry of `data/families.toml`.
#[derive(Clone, Copy)]
pub struct Family(&'static FamilyEntry);

/// What the data file says of a family; its head says what each field means.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FamilyEntry {
    name: &'static str,
    model_types: Vec<&'static str>,
    layout: &'static str,
    pub runs: bool,
    pub text_config: bool,
    keys: BTreeMap<&'static str, &'static str>,
    pub sizes: BTreeMap<&'static str, u64>,
    pub grouped: bool,
    pub mlp: MlpRule,
    pub positions: PositionRule,
    pub tied: bool,
    pub tied_silently: bool,
    pub biases: BiasRules,
    pub norms: Option<Norms>,
    pub normed_before: Option<&'static str>,
    pub embedding_width: Option<&'static str>,
    pub windows: WindowRule,
    pub nth: u64,
    pub nth_field: Option<&'static str>,
    pub experts: Option<ExpertFields>,
    pub latent: bool,
    pub encoder: bool,
    pub token_types: bool,
    pub refused: Vec<Refusal>,
    pub note: Option<&'static str>,
    pub projections: Projections,
    pub norms_of_sums: bool,
    pub parallel: Option<&'static str>,
    pub epsilon: Usual<f64>,
    pub gain: Gain,
    pub activation: Usual<&'static str>,
    pub gelu_is_tanh: bool,
    pub embedding_scaled: bool,
    pub caps: Option<BTreeMap<&'static str, f64>>,
    pub scale: ScaleRule,
    pub rope_base: Option<f64>,
    pub local_base: Option<f64>,
    pub rope_base_key: Option<&'static str>,
    pub rotated: Option<Usual<f64>>,
}

/// A field, and what it is where the configuration does not state it.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Usual<T> {
    pub key: &'static str,
    pub usual: T,
}

/// Where the width of the MLP comes from.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MlpRule {
    /// The configuration states it.
    #[default]
    Stated,
    /// It is 4 · d where it is not stated.
    FourTimes,
    /// The field `mlp` says whether there is one.
    Chosen,
}

/// How positions are encoded.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PositionRule {
    #[default]
    NotCounted,
    Learned,
    Rotary,
}

/// The conditions under which products add a bias.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct BiasRules {
    pub query_key_value: Bias,
    pub output: Bias,
    pub mlp: Bias,
}

/// The condition under which a product adds a bias.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bias {
    /// Always, or never.
    Fixed(bool),
    /// If this field of the configuration is true.
    Stated {
        field: &'static str,
        #[serde(default)]
        usual: bool,
    },
}

impl Default for Bias {
    fn default() -> Bias {
        Bias::Fixed(false)
    }
}

/// The rule that selects the layers with a sliding window.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WindowRule {
    #[default]
    Never,
    /// All of them, where `sliding_window` is not null.
    EveryLayer,
    /// All of them, where `sliding_window` is a number.
    WhereStated,
    /// The layers from `max_window_layers` on, if `use_sliding_window` is set.
    UpperLayers,
    /// The layers without rotary positions, if `use_sliding_window` is set.
    WithoutPositions,
    /// All but each n-th.
    AllButEach,
}

/// The fields of a family's experts.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpertFields {
    /// The number of experts.
    pub number: &'static str,
    /// The width inside an expert; none where it is that of the MLP.
    pub width: Option<&'static str>,
    /// The width inside the shared expert.
    pub shared: Option<&'static str>,
    #[serde(default)]
    pub layers: ExpertLayers,
    /// True if the router keeps a correction for each expert.
    #[serde(default)]
    pub correction: bool,
}

/// The layers that have experts.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExpertLayers {
    #[default]
    All,
    /// Every n-th, except those of a list.
    Sparse,
    /// All but the first, and the shared experts are one that is as wide as all of them.
    AfterDense,
}

/// A field whose other value is not counted here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    pub field: &'static str,
    #[serde(default)]
    pub usual: bool,
    pub what: &'static str,
    pub help: &'static str,
}

/// The matrices that the weights of queries, keys and values are kept in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Projections {
    /// One each.
    #[default]
    Separate,
    /// One for all: all queries, then all keys, then all values. The gate and the way up are in one, too.
    Fused,
    /// One for all, head by head: queries, keys and values of the first head, then of the second.
    FusedByHead,
}

/// What a file stores of the gain of a norm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gain {
    /// The gain.
    #[default]
    Itself,
    /// Its distance from 1, as Gemma's files do.
    FromOne,
    /// Nothing: norms before the sublayers and after the last layer have no weights.
    Nothing,
}

/// The normalisations of a model; one more stands after the last block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Norms {
    /// The learned vectors of a normalisation.
    pub kind: NormKind,
    /// The places of the normalisations in a block.
    pub places: NormPlaces,
    /// The norms of queries and keys.
    pub query_key: QueryKeyNorm,
}

/// The norms of queries and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryKeyNorm {
    /// There are none.
    #[default]
    None,
    /// Each head for itself, all with the same d_k gains.
    EachHead,
    /// All heads together, with a gain for each column.
    AllHeads,
}

/// The learned vectors of a normalisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormKind {
    /// A gain and a bias a feature.
    LayerNorm,
    /// A gain a feature.
    #[default]
    RmsNorm,
}

/// The places of the normalisations in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormPlaces {
    /// Before attention and before the MLP.
    #[default]
    Before,
    /// After attention and after the MLP.
    After,
    /// Before and after each of the two.
    BeforeAndAfter,
}

/// What says the factor of the scores.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScaleRule {
    /// Nothing: it is 1/√d_k.
    #[default]
    Usual,
    /// GPT-2's flags.
    Flags,
    /// `query_pre_attn_scalar`.
    QueryPreAttnScalar,
}

/// The weights of families with the same names, in the order in which a token meets them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Layout {
    name: &'static str,
    /// What files may leave out before a name, unless it begins with one of `apart`.
    pub prefix: &'static str,
    pub apart: Vec<&'static str>,
    /// What the names of the weights in a layer begin with.
    pub layers: &'static str,
    /// True if the matrices of the layers are stored as (in, out).
    pub in_out: bool,
    pub first: Vec<Row>,
    pub layer: Vec<Row>,
    pub last: Vec<Row>,
    /// The head of an encoder that predicts masked words.
    pub masked_words: Vec<Row>,
}

/// A weight of a layout, or the two of a norm or a linear layer.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Row {
    pub part: Option<ModelPart>,
    pub of: &'static str,
    pub bias: Option<&'static str>,
    pub site: Option<NormSite>,
    pub name: &'static str,
    pub shape: &'static str,
    pub times: Option<&'static str>,
    pub in_out: bool,
    #[serde(rename = "if")]
    pub condition: &'static str,
}

/// The data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct File {
    family: Vec<FamilyEntry>,
    layout: Vec<Layout>,
}

static FILE: LazyLock<File> = LazyLock::new(|| data_file::read(include_str!("../../data/families.toml")));

impl Family {
    /// The small models that this program trains, by their name.
    pub const SMALL: &str = "attn-small";

    /// The count of matrices head by head, that follows no checkpoint.
    pub(crate) fn head_by_head() -> Family {
        Family(&FILE.family[0])
    }

    /// The name that is shown to the user.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns true for the small models that this program trains.
    pub fn is_small(self) -> bool {
        self.0.name == Family::SMALL
    }

    /// What the data file says of it.
    pub(crate) fn facts(self) -> &'static FamilyEntry {
        self.0
    }

    /// The list of its weights.
    pub(crate) fn layout(self) -> &'static Layout {
        let layout = FILE.layout.iter().find(|layout| layout.name == self.0.layout);
        layout.expect("a test finds the layout of every family")
    }

    /// Returns true if this `model_type` is one of its.
    pub(crate) fn has_type(self, name: &str) -> bool {
        self.0.model_types.contains(&name)
    }

    /// Each `model_type` that is read, with its family, in the order of the file.
    pub(crate) fn by_model_type() -> impl Iterator<Item = (&'static str, Family)> {
        FILE.family.iter().flat_map(|entry| entry.model_types.iter().map(move |name| (*name, Family(entry))))
    }
}

impl FamilyEntry {
    /// The name of a field in its configurations.
    pub fn key(&self, field: &'static str) -> &'static str {
        self.keys.get(field).copied().unwrap_or(field)
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Family) -> bool {
        self.0.name == other.0.name
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_read_and_has_a_layout() {
        assert_eq!(Family::head_by_head().name(), "head by head");
        for entry in &FILE.family {
            assert!(!Family(entry).layout().layer.is_empty(), "{}", entry.name);
        }
    }
}
