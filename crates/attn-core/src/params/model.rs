//! The properties of a transformer that determine its weights.

use strum::{EnumIter, IntoEnumIterator};

use crate::error::{Error, Result};
use crate::text::counted;

use super::weight::Dimension;

/// A decoder-only transformer, as far as its weights and its key/value cache depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The user's name for it: a built-in name or a file.
    pub name: String,
    /// The way of counting, for a model that is counted in more than one way.
    pub counting: Option<&'static str>,
    /// The family whose names and defaults the weights follow.
    pub family: Family,
    /// L: the number of blocks.
    pub layers: u64,
    /// d: the width of a token's vector between the blocks.
    pub hidden: u64,
    /// H: query heads in a layer.
    pub query_heads: u64,
    /// G: key/value heads in a layer; G = H is multi-head attention, G = 1 multi-query attention.
    pub key_value_heads: u64,
    /// d_k, which is also d_v: the width of a head. H·d_k need not be d.
    pub head_width: u64,
    /// d_ff: the width inside the MLP; 0 where layers have none.
    pub intermediate: u64,
    /// True if the MLP has a gate beside its up-projection.
    pub gated: bool,
    /// n_vocab: the number of tokens in the vocabulary.
    pub vocabulary: u64,
    /// True if a token sees only itself and earlier ones.
    pub causal: bool,
    /// The encoding of the positions of tokens.
    pub positions: Positions,
    /// True if the unembedding is the embedding, transposed.
    pub tied: bool,
    /// The products that add a bias.
    pub biases: Biases,
    /// The normalisations, if they are counted.
    pub norms: Option<Norms>,
    /// The layers that see only the last tokens, if there are any.
    pub windows: Option<Windows>,
    /// The experts among which a router chooses for each token, if there are any.
    pub experts: Option<Experts>,
    /// The compression of keys and values, if they are compressed.
    pub latent: Option<Latent>,
    /// d_E: the width of the embedding, where a projection leads from it to d.
    pub embedding_width: Option<u64>,
    /// n_types: kinds of tokens, each with a learned vector, where there are some.
    pub token_types: Option<u64>,
    /// The fields that the configuration leaves to the family's defaults.
    pub assumed: Vec<AssumedValue>,
    /// Remarks on this model's count.
    pub notes: Vec<String>,
}

/// The encoding of the positions of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// A learned vector for each of this many positions (n_ctx); there is none beyond them.
    Learned(u64),
    /// Queries and keys are turned by their position: no weights. The context it was made for, where given.
    Rotary(Option<u64>),
    /// Left out of the count.
    NotCounted,
}

/// The products of a layer that add a bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Biases {
    /// After W_Q, W_K and W_V.
    pub query_key_value: bool,
    /// After W_O.
    pub output: bool,
    /// After each matrix of the MLP.
    pub mlp: bool,
}

/// The normalisations of a model; one more stands after the last block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Norms {
    /// The learned vectors of a normalisation.
    pub kind: NormKind,
    /// The places of the normalisations in a block.
    pub places: NormPlaces,
    /// The norms of queries and keys.
    pub query_key: QueryKeyNorm,
}

/// The norms of queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKeyNorm {
    /// There are none.
    None,
    /// Each head for itself, all with the same d_k gains.
    EachHead,
    /// All heads together, with a gain for each column.
    AllHeads,
}

/// The learned vectors of a normalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// A gain and a bias a feature.
    LayerNorm,
    /// A gain a feature.
    RmsNorm,
}

/// The places of the normalisations in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlaces {
    /// Before attention and before the MLP.
    Before,
    /// After attention and after the MLP.
    After,
    /// Before and after each of the two.
    BeforeAndAfter,
}

/// A mixture of experts: in some layers several MLPs stand side by side, and a router picks a few of them for each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// L_moe: the number of layers with experts; the others have one MLP.
    pub layers: u64,
    /// E: experts in such a layer.
    pub number: u64,
    /// The number of experts that work on a token.
    pub used: u64,
    /// d_e: the width inside an expert.
    pub width: u64,
    /// d_s: the width inside the expert that works on every token, where there is one.
    pub shared: Option<u64>,
    /// True if the shared expert has a gate of its own.
    pub shared_gate: bool,
    /// True if the router keeps a correction for each expert.
    pub correction: bool,
}

impl Experts {
    /// The number of shared experts of a layer: DeepSeek's are counted in one MLP that is as wide as all of them; Qwen has one,
    /// with a gate.
    pub fn shared_number(&self) -> u64 {
        match self.shared {
            None => 0,
            Some(_) if self.shared_gate => 1,
            Some(width) => width / self.width.max(1),
        }
    }
}

/// Multi-head latent attention (MLA): keys and values are computed from one short vector for each token, which is all that
/// the cache keeps next to a rotated part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latent {
    /// d_q: the width to which queries are compressed, if they are.
    pub query: Option<u64>,
    /// d_c: the width to which keys and values are compressed.
    pub key_value: u64,
    /// d_R: the part of a key that carries the position; all heads share it.
    pub rotary: u64,
    /// d_N: the part of a key without position.
    pub plain: u64,
    /// d_v: the width of a value.
    pub value: u64,
}

/// Layers whose tokens see only the last `window` tokens, themselves included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The number of tokens that such a layer sees.
    pub window: u64,
    /// The number of such layers.
    pub layers: u64,
}

/// A value that the configuration does not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedValue {
    /// The field's name in the configuration.
    pub field: String,
    /// The assumed value.
    pub value: String,
}

impl AssumedValue {
    /// It as a note.
    pub fn note(&self) -> String {
        format!("{} is not stated; {} is assumed", self.field, self.value)
    }
}

/// The dimensions of a model under the letters that formulas use.
pub(super) struct Dimensions {
    pub layers: Dimension,
    pub d: Dimension,
    pub query_heads: Dimension,
    pub key_value_heads: Dimension,
    pub d_k: Dimension,
    pub d_v: Dimension,
    pub d_ff: Dimension,
    pub vocabulary: Dimension,
}

impl Positions {
    /// The longest context that the positions are made for, where one is known.
    pub fn longest(self) -> Option<u64> {
        match self {
            Positions::Learned(positions) => Some(positions),
            Positions::Rotary(context) => context,
            Positions::NotCounted => None,
        }
    }
}

impl Model {
    /// Returns true if each token sees all others and no token is generated: there is no key/value cache.
    pub fn is_encoder(&self) -> bool {
        !self.causal
    }

    /// Returns true if each layer has an MLP.
    pub fn has_mlp(&self) -> bool {
        self.intermediate > 0
    }

    /// Checks that the dimensions can be those of a model: all at least 1, and G divides H.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<()> {
        let sizes = [
            ("layers", self.layers),
            ("hidden size", self.hidden),
            ("query heads", self.query_heads),
            ("key/value heads", self.key_value_heads),
            ("head width", self.head_width),
            ("MLP's intermediate size", if self.family == Family::AttnSmall { 1 } else { self.intermediate }),
            ("vocabulary", self.vocabulary),
            ("positions", if self.positions == Positions::Learned(0) { 0 } else { 1 }),
        ];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(Error::new(format!("the {what} must be at least 1, and is 0")).in_source(&self.name));
        }
        if let Some(experts) = self.experts.filter(|experts| experts.used > experts.number) {
            let error = Error::new(format!(
                "a token cannot use {} experts where there are {}",
                experts.used, experts.number
            ));
            return Err(error.in_source(&self.name).help("the experts used must be at most those there are"));
        }
        let (query_heads, key_value_heads) = (self.query_heads, self.key_value_heads);
        if !query_heads.is_multiple_of(key_value_heads) {
            let error = Error::new(format!(
                "{} cannot share {} evenly",
                counted(query_heads as usize, "query head"),
                counted(key_value_heads as usize, "key/value head")
            ));
            let help = "the number of key/value heads must divide the number of query heads";
            return Err(error.in_source(&self.name).help(help));
        }
        Ok(())
    }

    pub(super) fn dimensions(&self) -> Dimensions {
        let named = Dimension::of;
        Dimensions {
            layers: named("L", self.layers),
            d: named("d", self.hidden),
            query_heads: named("H", self.query_heads),
            key_value_heads: named("G", self.key_value_heads),
            d_k: named("d_k", self.head_width),
            d_v: named("d_v", self.head_width),
            d_ff: named("d_ff", self.intermediate),
            vocabulary: named("n_vocab", self.vocabulary),
        }
    }
}

// The families of models whose weights can be listed.

/// Models that name and arrange their weights alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Family {
    /// A count of matrices head by head, that follows no checkpoint.
    HeadByHead,
    /// GPT-2, and GPT-3, which is built like it.
    Gpt2,
    /// Llama.
    Llama,
    /// Mistral.
    Mistral,
    /// Qwen 2 and 2.5.
    Qwen2,
    /// Qwen 3 without experts.
    Qwen3,
    /// The first Gemma.
    Gemma,
    /// Gemma 2.
    Gemma2,
    /// The language model of Gemma 3.
    Gemma3,
    /// Mixtral: Mistral with experts.
    Mixtral,
    /// Qwen 1.5 and 2 with experts.
    Qwen2Moe,
    /// Qwen 3 with experts.
    Qwen3Moe,
    /// DeepSeek V2: latent attention, and experts.
    DeepseekV2,
    /// DeepSeek V3 and R1.
    DeepseekV3,
    /// Phi-3, which keeps W_Q, W_K and W_V in one matrix, and the gate with the way up.
    Phi3,
    /// GPT-NeoX and Pythia.
    GptNeox,
    /// OLMo 2: norms after attention and the MLP alone.
    Olmo2,
    /// SmolLM3: some layers have no positions.
    SmolLm3,
    /// OPT.
    Opt,
    /// BERT: an encoder.
    Bert,
    /// The small models that this program trains.
    AttnSmall,
}

impl Family {
    /// The name that is shown to the user, the `model_type` of its configurations (none for a count that no configuration describes), and
    /// its architecture. `gemma3` wraps a `gemma3_text` and is unwrapped first.
    fn facts(self) -> (&'static str, &'static [&'static str], Architecture) {
        match self {
            Family::HeadByHead => ("head by head", &[], Architecture::HeadByHead),
            Family::Gpt2 => ("GPT-2", &["gpt2"], Architecture::Gpt2),
            Family::Llama => ("Llama", &["llama"], Architecture::Llama(&LLAMA)),
            Family::Mistral => ("Mistral", &["mistral"], Architecture::Llama(&MISTRAL)),
            Family::Qwen2 => ("Qwen2", &["qwen2"], Architecture::Llama(&QWEN2)),
            Family::Qwen3 => ("Qwen3", &["qwen3"], Architecture::Llama(&QWEN3)),
            Family::Gemma => ("Gemma", &["gemma"], Architecture::Llama(&GEMMA)),
            Family::Gemma2 => ("Gemma 2", &["gemma2"], Architecture::Llama(&GEMMA2)),
            Family::Gemma3 => ("Gemma 3", &["gemma3", "gemma3_text"], Architecture::Llama(&GEMMA3)),
            Family::Mixtral => ("Mixtral", &["mixtral"], Architecture::Llama(&MIXTRAL)),
            Family::Qwen2Moe => ("Qwen2 MoE", &["qwen2_moe"], Architecture::Llama(&QWEN2_MOE)),
            Family::Qwen3Moe => ("Qwen3 MoE", &["qwen3_moe"], Architecture::Llama(&QWEN3_MOE)),
            Family::DeepseekV2 => ("DeepSeek V2", &["deepseek_v2"], Architecture::Llama(&LLAMA)),
            Family::DeepseekV3 => ("DeepSeek V3", &["deepseek_v3"], Architecture::Llama(&LLAMA)),
            Family::Phi3 => ("Phi-3", &["phi3"], Architecture::Llama(&PHI3)),
            Family::GptNeox => ("GPT-NeoX", &["gpt_neox"], Architecture::GptNeox),
            Family::Olmo2 => ("OLMo 2", &["olmo2"], Architecture::Llama(&OLMO2)),
            Family::SmolLm3 => ("SmolLM3", &["smollm3"], Architecture::Llama(&SMOLLM3)),
            Family::Opt => ("OPT", &["opt"], Architecture::Opt),
            Family::Bert => ("BERT", &["bert"], Architecture::Bert),
            Family::AttnSmall => ("attn-small", &["attn-small"], Architecture::AttnSmall),
        }
    }

    /// The name that is shown to the user.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The architecture that its configurations are read by and its weights are listed by.
    pub(crate) fn architecture(self) -> Architecture {
        self.facts().2
    }

    /// Each `model_type` that is read, with its family, in the order of the enum.
    pub(crate) fn by_model_type() -> impl Iterator<Item = (&'static str, Family)> {
        Family::iter().flat_map(|family| family.facts().1.iter().map(move |name| (*name, family)))
    }
}

// The defaults of each family: the meaning of a missing field of its configuration, and fixed settings.
//
// They are those of the configuration and model classes of Hugging Face's `transformers`, which read the
// same files; `tests/golden/params.json` holds every weight that they make of a set of configurations.

/// The settings that a family uses where a configuration does not state them, and those that it always uses.
pub(crate) struct FamilyDefaults {
    pub tied: bool,
    /// `None`: as many as query heads.
    pub key_value_heads: Option<u64>,
    /// `None`: d / H.
    pub head_width: Option<u64>,
    pub query_key_value_bias: Bias,
    pub output_bias: Bias,
    pub mlp_bias: Bias,
    pub norms: Norms,
    pub windows: WindowRule,
    pub matrices: ProjectionMatrices,
    /// Sizes that a published configuration of the family leaves out.
    pub sizes: &'static [(&'static str, u64)],
}

/// The condition under which a product adds a bias.
#[derive(Clone, Copy)]
pub(crate) enum Bias {
    Never,
    Always,
    /// If this field of the configuration is true.
    Field(&'static str),
}

/// The matrices that a checkpoint keeps the projections of attention and of the MLP in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectionMatrices {
    /// A matrix for each projection.
    Separate,
    /// One for W_Q, W_K and W_V, and one for the gate and the way up.
    Fused,
}

/// The rule that selects the layers with a sliding window.
#[derive(Clone, Copy)]
pub(crate) enum WindowRule {
    Never,
    /// All of them, where `sliding_window` is not null.
    EveryLayer,
    /// All of them, where `sliding_window` is a number.
    WhereStated,
    /// The layers from `max_window_layers` on, if `use_sliding_window` is set.
    UpperLayers,
    /// The layers without rotary positions, if `use_sliding_window` is set.
    WithoutPositions,
    /// All but each n-th: n is fixed, or `sliding_window_pattern` with a default.
    AllButEach {
        nth: u64,
        field: Option<&'static str>,
    },
}

/// The value of a missing `sliding_window`.
pub(super) const USUAL_WINDOW: u64 = 4096;

/// The value of a missing `max_window_layers`.
pub(super) const USUAL_FULL_LAYERS: u64 = 28;

const PLAIN_NORMS: Norms =
    Norms { kind: NormKind::RmsNorm, places: NormPlaces::Before, query_key: QueryKeyNorm::None };

const LLAMA: FamilyDefaults = FamilyDefaults {
    tied: false,
    key_value_heads: None,
    head_width: None,
    query_key_value_bias: Bias::Field("attention_bias"),
    output_bias: Bias::Field("attention_bias"),
    mlp_bias: Bias::Field("mlp_bias"),
    norms: PLAIN_NORMS,
    windows: WindowRule::Never,
    matrices: ProjectionMatrices::Separate,
    sizes: &[],
};

const MISTRAL: FamilyDefaults = FamilyDefaults {
    key_value_heads: Some(8),
    query_key_value_bias: Bias::Never,
    output_bias: Bias::Never,
    mlp_bias: Bias::Never,
    windows: WindowRule::EveryLayer,
    ..LLAMA
};

const QWEN2: FamilyDefaults = FamilyDefaults {
    key_value_heads: Some(32),
    query_key_value_bias: Bias::Always,
    windows: WindowRule::UpperLayers,
    ..MISTRAL
};

const QWEN3: FamilyDefaults = FamilyDefaults {
    head_width: Some(128),
    query_key_value_bias: Bias::Field("attention_bias"),
    output_bias: Bias::Field("attention_bias"),
    norms: Norms { query_key: QueryKeyNorm::EachHead, ..PLAIN_NORMS },
    ..QWEN2
};

const GEMMA: FamilyDefaults = FamilyDefaults {
    tied: true,
    key_value_heads: Some(16),
    head_width: Some(256),
    mlp_bias: Bias::Never,
    ..LLAMA
};

const GEMMA2: FamilyDefaults = FamilyDefaults {
    key_value_heads: Some(4),
    norms: Norms { places: NormPlaces::BeforeAndAfter, ..PLAIN_NORMS },
    windows: WindowRule::AllButEach { nth: 2, field: None },
    ..GEMMA
};

const GEMMA3: FamilyDefaults = FamilyDefaults {
    norms: Norms { query_key: QueryKeyNorm::EachHead, places: NormPlaces::BeforeAndAfter, ..PLAIN_NORMS },
    windows: WindowRule::AllButEach { nth: 6, field: Some("sliding_window_pattern") },
    sizes: &[("num_attention_heads", 8), ("vocab_size", 262_208)],
    ..GEMMA2
};

const MIXTRAL: FamilyDefaults = FamilyDefaults { windows: WindowRule::WhereStated, ..MISTRAL };

const QWEN2_MOE: FamilyDefaults = FamilyDefaults { key_value_heads: Some(16), ..QWEN2 };

const QWEN3_MOE: FamilyDefaults = FamilyDefaults { key_value_heads: Some(4), head_width: None, ..QWEN3 };

const PHI3: FamilyDefaults =
    FamilyDefaults { key_value_heads: None, matrices: ProjectionMatrices::Fused, ..MIXTRAL };

const OLMO2: FamilyDefaults = FamilyDefaults {
    mlp_bias: Bias::Never,
    norms: Norms { places: NormPlaces::After, query_key: QueryKeyNorm::AllHeads, ..PLAIN_NORMS },
    ..LLAMA
};

const SMOLLM3: FamilyDefaults =
    FamilyDefaults { tied: true, key_value_heads: Some(4), windows: WindowRule::WithoutPositions, ..LLAMA };

/// The architecture that a family's configurations are read by and its weights are listed by.
pub(crate) enum Architecture {
    /// Matrices head by head, that no configuration describes.
    HeadByHead,
    /// GPT-2's.
    Gpt2,
    /// Llama's, with these defaults.
    Llama(&'static FamilyDefaults),
    /// GPT-NeoX's.
    GptNeox,
    /// OPT's.
    Opt,
    /// BERT's.
    Bert,
    /// That of the small models that this program trains.
    AttnSmall,
}
