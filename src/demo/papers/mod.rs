//! Demos of methods in papers that the five documents leave out: how a kernel computes attention block by block, and what
//! today's models compute in place of multi-head attention.

mod blocks;
mod differential;
mod latent;
mod linear;
mod online;

use super::{Builder, Demo, Passage};
use crate::error::{Error, Result};
use crate::graph::NodeId;

/// How kernels compute attention, then what models compute instead; both in the order in which the ideas came.
pub const DEMOS: &[Demo] = &[online::DEMO, blocks::DEMO, linear::DEMO, latent::DEMO, differential::DEMO];

const ONLINE_NORMALIZER: Passage = Passage {
    authors: "Milakov and Gimelshein",
    year: 2018,
    title: "Online normalizer calculation for softmax",
    place: "Algorithm 3",
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
