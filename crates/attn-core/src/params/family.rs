//! The families of models whose weights can be listed.

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
            Family::Opt => "OPT",
            Family::Bert => "BERT",
        }
    }
}
