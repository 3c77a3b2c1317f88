//! The families whose configurations are read, and what each takes for granted.
//!
//! The habits are those of the configuration and model classes of Hugging Face's `transformers`, which read the
//! same files; `tests/golden/params.json` holds every weight that they make of a set of configurations.

use super::model::{NormKind, NormPlaces, Norms};

/// Models that name and arrange their weights alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// OPT.
    Opt,
    /// BERT: an encoder.
    Bert,
}

/// What a family takes for granted where a configuration is silent, or always.
pub(super) struct Habits {
    pub tied: bool,
    /// Nothing: as many as query heads.
    pub key_value_heads: Option<u64>,
    /// Nothing: d / H.
    pub head_width: Option<u64>,
    pub query_key_value_bias: Bias,
    pub output_bias: Bias,
    pub mlp_bias: Bias,
    pub norms: Norms,
    pub windows: WindowRule,
    /// Sizes that a published configuration of the family leaves out.
    pub sizes: &'static [(&'static str, u64)],
}

/// Whether a product adds a bias.
#[derive(Clone, Copy)]
pub(super) enum Bias {
    Never,
    Always,
    /// If this field says so; otherwise not.
    Field(&'static str),
}

/// Which layers see only their last tokens.
#[derive(Clone, Copy)]
pub(super) enum WindowRule {
    Never,
    /// All of them, where `sliding_window` is not null.
    EveryLayer,
    /// All of them, where `sliding_window` is a number.
    WhereStated,
    /// Where `use_sliding_window` is set: those from `max_window_layers` on.
    UpperLayers,
    /// All but each n-th: n is fixed, or `sliding_window_pattern` with a default.
    AllButEach {
        nth: u64,
        field: Option<&'static str>,
    },
}

/// `sliding_window` where a configuration does not have it.
pub(super) const USUAL_WINDOW: u64 = 4096;

/// `max_window_layers` where a configuration does not have it.
pub(super) const USUAL_FULL_LAYERS: u64 = 28;

const PLAIN_NORMS: Norms = Norms { kind: NormKind::RmsNorm, places: NormPlaces::Before, query_key: false };

const LLAMA: Habits = Habits {
    tied: false,
    key_value_heads: None,
    head_width: None,
    query_key_value_bias: Bias::Field("attention_bias"),
    output_bias: Bias::Field("attention_bias"),
    mlp_bias: Bias::Field("mlp_bias"),
    norms: PLAIN_NORMS,
    windows: WindowRule::Never,
    sizes: &[],
};

const MISTRAL: Habits = Habits {
    key_value_heads: Some(8),
    query_key_value_bias: Bias::Never,
    output_bias: Bias::Never,
    mlp_bias: Bias::Never,
    windows: WindowRule::EveryLayer,
    ..LLAMA
};

const QWEN2: Habits = Habits {
    key_value_heads: Some(32),
    query_key_value_bias: Bias::Always,
    windows: WindowRule::UpperLayers,
    ..MISTRAL
};

const QWEN3: Habits = Habits {
    head_width: Some(128),
    query_key_value_bias: Bias::Field("attention_bias"),
    output_bias: Bias::Field("attention_bias"),
    norms: Norms { query_key: true, ..PLAIN_NORMS },
    ..QWEN2
};

const GEMMA: Habits =
    Habits { tied: true, key_value_heads: Some(16), head_width: Some(256), mlp_bias: Bias::Never, ..LLAMA };

const GEMMA2: Habits = Habits {
    key_value_heads: Some(4),
    norms: Norms { places: NormPlaces::BeforeAndAfter, ..PLAIN_NORMS },
    windows: WindowRule::AllButEach { nth: 2, field: None },
    ..GEMMA
};

const GEMMA3: Habits = Habits {
    norms: Norms { query_key: true, places: NormPlaces::BeforeAndAfter, ..PLAIN_NORMS },
    windows: WindowRule::AllButEach { nth: 6, field: Some("sliding_window_pattern") },
    sizes: &[("num_attention_heads", 8), ("vocab_size", 262_208)],
    ..GEMMA2
};

const MIXTRAL: Habits = Habits { windows: WindowRule::WhereStated, ..MISTRAL };

const QWEN2_MOE: Habits = Habits { key_value_heads: Some(16), ..QWEN2 };

const QWEN3_MOE: Habits = Habits { key_value_heads: Some(4), head_width: None, ..QWEN3 };

const PHI3: Habits = Habits { key_value_heads: None, ..MIXTRAL };

/// Each `model_type` that is read, and its family. `gemma3` wraps a `gemma3_text` and is unwrapped first.
pub(super) const MODEL_TYPES: &[(&str, Family)] = &[
    ("gpt2", Family::Gpt2),
    ("llama", Family::Llama),
    ("mistral", Family::Mistral),
    ("qwen2", Family::Qwen2),
    ("qwen3", Family::Qwen3),
    ("gemma", Family::Gemma),
    ("gemma2", Family::Gemma2),
    ("gemma3", Family::Gemma3),
    ("gemma3_text", Family::Gemma3),
    ("mixtral", Family::Mixtral),
    ("qwen2_moe", Family::Qwen2Moe),
    ("qwen3_moe", Family::Qwen3Moe),
    ("deepseek_v2", Family::DeepseekV2),
    ("deepseek_v3", Family::DeepseekV3),
    ("phi3", Family::Phi3),
    ("gpt_neox", Family::GptNeox),
    ("opt", Family::Opt),
    ("bert", Family::Bert),
];

impl Family {
    /// What it is called on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Family::HeadByHead => "head by head",
            Family::Gpt2 => "GPT-2",
            Family::Llama => "Llama",
            Family::Mistral => "Mistral",
            Family::Qwen2 => "Qwen2",
            Family::Qwen3 => "Qwen3",
            Family::Gemma => "Gemma",
            Family::Gemma2 => "Gemma 2",
            Family::Gemma3 => "Gemma 3",
            Family::Mixtral => "Mixtral",
            Family::Qwen2Moe => "Qwen2 MoE",
            Family::Qwen3Moe => "Qwen3 MoE",
            Family::DeepseekV2 => "DeepSeek V2",
            Family::DeepseekV3 => "DeepSeek V3",
            Family::Phi3 => "Phi-3",
            Family::GptNeox => "GPT-NeoX",
            Family::Opt => "OPT",
            Family::Bert => "BERT",
        }
    }

    /// The family's habits, where it is one of those built like Llama.
    pub(super) fn habits(self) -> Option<&'static Habits> {
        match self {
            Family::HeadByHead | Family::Gpt2 | Family::GptNeox | Family::Opt | Family::Bert => None,
            Family::Llama | Family::DeepseekV2 | Family::DeepseekV3 => Some(&LLAMA),
            Family::Mixtral => Some(&MIXTRAL),
            Family::Qwen2Moe => Some(&QWEN2_MOE),
            Family::Qwen3Moe => Some(&QWEN3_MOE),
            Family::Phi3 => Some(&PHI3),
            Family::Mistral => Some(&MISTRAL),
            Family::Qwen2 => Some(&QWEN2),
            Family::Qwen3 => Some(&QWEN3),
            Family::Gemma => Some(&GEMMA),
            Family::Gemma2 => Some(&GEMMA2),
            Family::Gemma3 => Some(&GEMMA3),
        }
    }
}
