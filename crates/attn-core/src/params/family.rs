//! The families of models whose weights can be listed.

use strum::{EnumIter, IntoEnumIterator};

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
    /// The name that is shown to the user.
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
            Family::Olmo2 => "OLMo 2",
            Family::SmolLm3 => "SmolLM3",
            Family::Opt => "OPT",
            Family::Bert => "BERT",
            Family::AttnSmall => "attn-small",
        }
    }

    /// The `model_type` of its configurations; none for a count that no configuration describes. `gemma3` wraps a `gemma3_text`
    /// and is unwrapped first.
    fn model_types(self) -> &'static [&'static str] {
        match self {
            Family::HeadByHead => &[],
            Family::Gpt2 => &["gpt2"],
            Family::Llama => &["llama"],
            Family::Mistral => &["mistral"],
            Family::Qwen2 => &["qwen2"],
            Family::Qwen3 => &["qwen3"],
            Family::Gemma => &["gemma"],
            Family::Gemma2 => &["gemma2"],
            Family::Gemma3 => &["gemma3", "gemma3_text"],
            Family::Mixtral => &["mixtral"],
            Family::Qwen2Moe => &["qwen2_moe"],
            Family::Qwen3Moe => &["qwen3_moe"],
            Family::DeepseekV2 => &["deepseek_v2"],
            Family::DeepseekV3 => &["deepseek_v3"],
            Family::Phi3 => &["phi3"],
            Family::GptNeox => &["gpt_neox"],
            Family::Olmo2 => &["olmo2"],
            Family::SmolLm3 => &["smollm3"],
            Family::Opt => &["opt"],
            Family::Bert => &["bert"],
            Family::AttnSmall => &["attn-small"],
        }
    }

    /// Each `model_type` that is read, with its family, in the order of the enum.
    pub(crate) fn by_model_type() -> impl Iterator<Item = (&'static str, Family)> {
        Family::iter().flat_map(|family| family.model_types().iter().map(move |name| (*name, family)))
    }
}
