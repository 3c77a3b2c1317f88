//! Demos of “Attention and Transformer Imagined”.

mod gqa;
mod head;
mod init;
mod mlp;
mod order;
mod output;
mod pooling;
mod scale;
mod transforms;
mod unembed;
mod words;

use super::Demo;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[
    pooling::DEMO,
    transforms::DEMO,
    scale::DEMO,
    output::DEMO,
    gqa::DEMO,
    mlp::DEMO,
    order::DEMO,
    unembed::DEMO,
    init::DEMO,
];
