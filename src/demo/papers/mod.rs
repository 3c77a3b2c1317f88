//! Demos of methods in papers that the five documents leave out: how a kernel computes attention block by block, what
//! today's models add to it, or compute in its place, how gradients run back through it, and what
//! two layers of it can do together.

mod alibi;
mod backward;
mod blocks;
mod cache;
mod cache_costs;
mod descent;
mod differential;
mod gap;
mod induction;
mod latent;
mod linear;
mod online;
mod rope;
mod rope_scaling;
mod saturated;
mod sink;

use super::{Builder, Demo, Passage};
use crate::error::{Error, Result};
use crate::graph::NodeId;

/// How kernels compute attention, then what models add to it, then what they compute instead; then gradients, and a circuit of two
/// layers.
pub const DEMOS: &[Demo] = &[
    online::DEMO,
    blocks::DEMO,
    cache::DEMO,
    rope::DEMO,
    alibi::DEMO,
    sink::DEMO,
    linear::DEMO,
    latent::DEMO,
    differential::DEMO,
    backward::DEMO,
    saturated::DEMO,
    descent::DEMO,
    induction::DEMO,
];

const ATTENTION: Passage = Passage {
    authors: "Vaswani et al.",
    year: 2017,
    title: "Attention Is All You Need",
    place: "section 3.2.1",
};

const STANDARD_BACKWARD: Passage = Passage { place: "section 2.2", ..FLASH_ATTENTION_2 };

const DEEP_LEARNING: Passage =
    Passage { authors: "Goodfellow et al.", year: 2016, title: "Deep Learning", place: "section 4.3" };

const ONLINE_NORMALIZER: Passage = Passage {
    authors: "Milakov and Gimelshein",
    year: 2018,
    title: "Online normalizer calculation for softmax",
    place: "Algorithm 3",
};

const FAST_DECODING: Passage = Passage {
    authors: "Shazeer",
    year: 2019,
    title: "Fast Transformer Decoding: One Write-Head is All You Need",
    place: "section 2.4",
};

const ROFORMER: Passage = Passage {
    authors: "Su et al.",
    year: 2021,
    title: "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    place: "section 3.2",
};

const POSITION_INTERPOLATION: Passage = Passage {
    authors: "Chen et al.",
    year: 2023,
    title: "Extending Context Window of Large Language Models via Positional Interpolation",
    place: "section 2.3",
};

const LINEAR_BIASES: Passage = Passage {
    authors: "Press et al.",
    year: 2021,
    title: "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
    place: "section 3",
};

const STREAMING: Passage = Passage {
    authors: "Xiao et al.",
    year: 2023,
    title: "Efficient Streaming Language Models with Attention Sinks",
    place: "section 3",
};

const OFF_BY_ONE: Passage =
    Passage { authors: "Miller", year: 2023, title: "Attention Is Off By One", place: "essay" };

const GPT_OSS: Passage = Passage {
    authors: "OpenAI",
    year: 2025,
    title: "gpt-oss-120b & gpt-oss-20b Model Card",
    place: "section 2.2",
};

const FLASH_ATTENTION: Passage = Passage {
    authors: "Dao et al.",
    year: 2022,
    title: "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
    place: "Algorithm 1",
};

const FLASH_ATTENTION_2: Passage = Passage {
    authors: "Dao",
    year: 2023,
    title: "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning",
    place: "section 3.1.1",
};

const LINEAR_TRANSFORMERS: Passage = Passage {
    authors: "Katharopoulos et al.",
    year: 2020,
    title: "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
    place: "section 3",
};

const FAST_WEIGHTS: Passage = Passage {
    authors: "Schlag et al.",
    year: 2021,
    title: "Linear Transformers Are Secretly Fast Weight Programmers",
    place: "section 4",
};

const GATED_DELTA: Passage = Passage {
    authors: "Yang et al.",
    year: 2024,
    title: "Gated Delta Networks: Improving Mamba2 with Delta Rule",
    place: "section 3",
};

const DEEPSEEK_V2: Passage = Passage {
    authors: "DeepSeek-AI",
    year: 2024,
    title: "DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model",
    place: "section 2.1",
};

const DIFFERENTIAL_TRANSFORMER: Passage =
    Passage { authors: "Ye et al.", year: 2024, title: "Differential Transformer", place: "section 2.1" };

const CIRCUITS: Passage = Passage {
    authors: "Elhage et al.",
    year: 2021,
    title: "A Mathematical Framework for Transformer Circuits",
    place: "section “Induction Heads”",
};

const INDUCTION_HEADS: Passage = Passage {
    authors: "Olsson et al.",
    year: 2022,
    title: "In-context Learning and Induction Heads",
    place: "section “Key Concepts”",
};

/// Checks that given weights have an even number of columns, because `why` (“shared by two heads”).
///
/// # Errors
/// If the number is odd.
fn even_columns(demo: &Builder, name: &str, weights: NodeId, why: &str) -> Result<()> {
    let shape = demo.matrix(weights)?.shape();
    if shape.cols.is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::new(format!("{name} is {shape}, but its columns are {why}"))
        .help(format!("give {name} an even number of columns")))
}
