//! Mistakes outside the heads: embedding, norms, residual stream, MLP, matrices, logits.

use super::Candidates;
use crate::graph::GeluForm;
use crate::model::activation::Activation;
use crate::model::architecture::{AfterNorm, Gain, Projections, Sublayers};
use crate::model::slips::{Conv1dReading, GateUse};
use crate::params::{Family, NormKind, Positions};

/// The usual numbers that norms add to the variance.
const EPSILONS: [f64; 4] = [1e-5, 1e-6, 1e-8, 1e-12];

pub(super) fn add(list: &mut Candidates<'_>) {
    embedding(list);
    if list.right.model.norms.is_some() {
        norms(list);
        places_of_norms(list);
    }
    if list.right.model.has_mlp() {
        order_of_sublayers(list);
        mlp(list);
    }
    matrices(list);
    logits(list);
}

fn embedding(list: &mut Candidates<'_>) {
    list.add(
        "embedding-scale-missing",
        "the embedding is not multiplied by √d",
        "multiply the embedding of the tokens by √hidden_size, rounded to the type of the weights",
        |a| a.embedding_scaled = false,
    );
    if list.right.embedding_scaled {
        list.add(
            "embedding-scale-not-rounded",
            "the factor √d of the embedding is not rounded to the type of the weights",
            "load the model in the type of its file, and widen it then: its makers multiply by √d in that type",
            |a| a.slips.embedding_factor_unrounded = true,
        );
    }
    if matches!(list.right.model.positions, Positions::Learned(_)) {
        list.add(
            "position-off-by-one",
            "the positions count from 1",
            "give the first token position 0",
            |a| a.slips.position_shift = 1,
        );
    }
}

fn norms(list: &mut Candidates<'_>) {
    let own = list.right.norm;
    let epsilon_of_qk = list.right.blocks.first().map(|block| block.recipe.qk_norm.epsilon);
    for epsilon in EPSILONS {
        let change =
            format!("take ε = {:e} from config.json: your numbers are those of ε = {epsilon:e}", own.epsilon);
        list.add(
            "norm-epsilon",
            format!("the norms add ε = {epsilon:e}, not {:e}", own.epsilon),
            change,
            |a| {
                a.norm.epsilon = epsilon;
                for block in &mut a.blocks {
                    if epsilon_of_qk == Some(own.epsilon) {
                        block.recipe.qk_norm.epsilon = epsilon;
                    }
                }
            },
        );
    }
    if own.gain == Gain::FromOne {
        list.add(
            "one-plus-missing",
            "the gains of the norms are used as stored, without the 1 that is added to them",
            "multiply by 1 + weight: the file stores the distance of each gain from 1",
            |a| a.norm.gain = Gain::Itself,
        );
    }
    match own.kind {
        NormKind::LayerNorm => {
            list.add(
                "rms-for-layer-norm",
                "the norm is an RMSNorm: the mean is not subtracted, and no bias is added",
                "use LayerNorm: subtract the mean, divide by the standard deviation, times weight, plus bias",
                |a| a.norm.kind = NormKind::RmsNorm,
            );
            list.add(
                "norm-bias-missing",
                "the biases of the norms are left out",
                "add the bias of each LayerNorm",
                |a| a.slips.without_norm_bias = true,
            );
        }
        NormKind::RmsNorm => list.add(
            "layer-norm-for-rms",
            "the norm is a LayerNorm: the mean is subtracted",
            "use RMSNorm: divide by √(mean of squares + ε), and subtract nothing",
            |a| a.norm.kind = NormKind::LayerNorm,
        ),
    }
}

fn order_of_sublayers(list: &mut Candidates<'_>) {
    list.add(
        "residual-parallel",
        "attention and MLP both read the input of the layer",
        "let the MLP read the sum of the residual stream and the result of attention",
        |a| a.blocks.iter_mut().for_each(|block| block.sublayers = Sublayers::Parallel),
    );
    list.add(
        "residual-sequential",
        "the MLP reads what attention has added to",
        "let attention and MLP both read the input of the layer, and add both results (use_parallel_residual)",
        |a| a.blocks.iter_mut().for_each(|block| block.sublayers = Sublayers::Sequential),
    );
}

fn places_of_norms(list: &mut Candidates<'_>) {
    let has_both = matches!(list.right.model.family, Family::Gemma2 | Family::Gemma3);
    if !has_both && list.right.model.family != Family::GptNeox {
        let after = matches!(list.right.model.family, Family::Bert | Family::Olmo2);
        let (sentence, change) = if after {
            ("the norms stand before their sublayers", "norm after each sublayer, not before it")
        } else {
            (
                "the norms stand after the sums",
                "norm before each sublayer, and add its result to the stream that is not normed",
            )
        };
        list.add("norm-place", sentence, change, |a| a.slips.norms_moved = true);
    }
    if matches!(list.right.model.family, Family::Gemma2 | Family::Gemma3 | Family::Olmo2) {
        list.add(
            "norm-of-sum",
            "the norm after a sublayer is applied to the sum with the residual stream",
            "norm the result of the sublayer, then add it to the residual stream",
            |a| a.blocks.iter_mut().for_each(|block| block.after = AfterNorm::Sum),
        );
    }
    if list.right.model.family == Family::Bert {
        list.add(
            "norm-of-result",
            "the norm after a sublayer is applied before the residual stream is added",
            "add the residual stream first, then norm the sum",
            |a| a.blocks.iter_mut().for_each(|block| block.after = AfterNorm::Result),
        );
    }
}

fn mlp(list: &mut Candidates<'_>) {
    let own = list.right.blocks.first().map(|block| block.activation);
    let others = [
        (Activation::Gelu(GeluForm::Erf), "gelu-form", "GELU with erf"),
        (Activation::Gelu(GeluForm::Tanh), "gelu-form", "GELU in its tanh form"),
        (Activation::Silu, "activation", "SiLU"),
        (Activation::Relu, "activation", "ReLU"),
    ];
    for (activation, id, name) in others {
        let is_form = matches!((own, activation), (Some(Activation::Gelu(_)), Activation::Gelu(_)));
        let id = if is_form { id } else { "activation" };
        let right = own.map_or("the one in config.json", Activation::name);
        let change = format!("use {right}, as config.json says");
        list.add(id, format!("the function in the MLP is {name}"), change, |a| {
            a.blocks.iter_mut().for_each(|block| block.activation = activation);
        });
    }
    if list.right.blocks.iter().any(|block| block.gated) {
        list.add(
            "gate-on-up",
            "the function of the MLP is applied to the way up, not to the gate",
            "compute down(act(gate(x)) · up(x))",
            |a| a.slips.gate = GateUse::OnUp,
        );
        list.add(
            "gate-and-up-exchanged",
            "the weights of gate and way up are exchanged",
            "exchange them: in a fused matrix the gate comes first",
            |a| a.slips.gate = GateUse::WeightsExchanged,
        );
    }
}

fn matrices(list: &mut Candidates<'_>) {
    if list.right.model.family == Family::Gpt2 {
        list.add(
            "conv1d-not-transposed",
            "square matrices of GPT-2 are taken as (out, in); `attn.c_proj` fits either way",
            "transpose every Conv1D weight: the file keeps (in, out)",
            |a| a.slips.conv1d = Conv1dReading::SquareTransposed,
        );
        list.add(
            "conv1d-reshaped",
            "the numbers of (in, out) matrices are read in their order as (out, in)",
            "transpose every Conv1D weight; a reshape or a view mixes its cells",
            |a| a.slips.conv1d = Conv1dReading::Reshaped,
        );
    }
    let fused = list.right.blocks.first().map(|block| block.projections);
    match fused {
        Some(Projections::Fused) if list.right.blocks.iter().all(|b| b.recipe.heads == b.recipe.kv_heads) => list.add(
            "qkv-by-head",
            "the fused matrix is split head by head",
            "split the columns into three blocks: all queries, all keys, all values",
            |a| a.blocks.iter_mut().for_each(|block| block.projections = Projections::FusedByHead),
        ),
        Some(Projections::FusedByHead) => list.add(
            "qkv-by-blocks",
            "the fused matrix is split into three blocks",
            "split it head by head: view it as (heads, 3·head size), then take query, key and value of each head",
            |a| a.blocks.iter_mut().for_each(|block| block.projections = Projections::Fused),
        ),
        _ => {}
    }
    if list.right.model.biases.query_key_value {
        list.add(
            "qkv-bias-missing",
            "the biases of queries, keys and values are left out",
            "add the biases of the projections",
            |a| a.slips.without_qkv_bias = true,
        );
    }
}

fn logits(list: &mut Candidates<'_>) {
    list.add(
        "logit-cap-missing",
        "the logits are not bounded",
        "end with c · tanh(logits / c), c = final_logit_softcapping",
        |a| a.logit_cap = None,
    );
    if !list.right.model.tied {
        list.add(
            "head-tied",
            "the logits are made with the embedding, not with the head of the file",
            "use the head of the file, such as `lm_head.weight`",
            |a| a.slips.tied = true,
        );
    }
}
