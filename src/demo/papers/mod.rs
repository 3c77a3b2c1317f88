//! Demos of methods in papers that the five documents leave out: how a kernel computes attention block by block.

mod blocks;
mod online;

use super::{Demo, Passage};

/// In the order in which the ideas came.
pub const DEMOS: &[Demo] = &[online::DEMO, blocks::DEMO];

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
