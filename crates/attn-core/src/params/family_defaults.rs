//! The defaults of each family: the meaning of a missing field of its configuration, and fixed settings.
//!
//! They are those of the configuration and model classes of Hugging Face's `transformers`, which read the
//! same files; `tests/golden/params.json` holds every weight that they make of a set of configurations.

use super::family::Family;
use super::model::{NormKind, NormPlaces, Norms, QueryKeyNorm};

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

impl Family {
    /// The family's architecture.
    pub(crate) fn architecture(self) -> Architecture {
        match self {
            Family::HeadByHead => Architecture::HeadByHead,
            Family::Gpt2 => Architecture::Gpt2,
            Family::GptNeox => Architecture::GptNeox,
            Family::Opt => Architecture::Opt,
            Family::Bert => Architecture::Bert,
            Family::AttnSmall => Architecture::AttnSmall,
            Family::Llama | Family::DeepseekV2 | Family::DeepseekV3 => Architecture::Llama(&LLAMA),
            Family::Mixtral => Architecture::Llama(&MIXTRAL),
            Family::Qwen2Moe => Architecture::Llama(&QWEN2_MOE),
            Family::Qwen3Moe => Architecture::Llama(&QWEN3_MOE),
            Family::Phi3 => Architecture::Llama(&PHI3),
            Family::Olmo2 => Architecture::Llama(&OLMO2),
            Family::SmolLm3 => Architecture::Llama(&SMOLLM3),
            Family::Mistral => Architecture::Llama(&MISTRAL),
            Family::Qwen2 => Architecture::Llama(&QWEN2),
            Family::Qwen3 => Architecture::Llama(&QWEN3),
            Family::Gemma => Architecture::Llama(&GEMMA),
            Family::Gemma2 => Architecture::Llama(&GEMMA2),
            Family::Gemma3 => Architecture::Llama(&GEMMA3),
        }
    }
}
