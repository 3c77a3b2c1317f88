//! The weights of a model, in the order in which a token meets them.

use crate::error::Result;

use super::family_defaults::{Architecture, ProjectionMatrices};
use super::model::{Model, NormPlaces, Positions, QueryKeyNorm};
use super::weight::{Dimension, ModelPart, NormSite, Weight};
use super::weight_groups::{norm, product, unembedding};
use super::{listing_attn_small, listing_experts, listing_other_families};
use crate::attention::WeightLayout;

/// Every weight of the model with its shape and its count. Matrices are written rows in, columns out (`x W`);
/// a checkpoint of another [`WeightLayout`] has them transposed.
///
/// # Errors
/// If the dimensions cannot be those of a model, or a count exceeds 2⁶⁴ − 1.
pub fn weights(model: &Model) -> Result<Vec<Weight>> {
    model.check()?;
    let listed = match model.family.architecture() {
        Architecture::HeadByHead => head_by_head(model),
        Architecture::Gpt2 => gpt2(model),
        Architecture::Llama(defaults) => llama(model, defaults.matrices),
        Architecture::GptNeox => listing_other_families::gpt_neox(model),
        Architecture::Opt => listing_other_families::opt(model),
        Architecture::Bert => listing_other_families::bert(model),
        Architecture::AttnSmall => listing_attn_small::listed(model),
    };
    listed.into_iter().map(|weight| weight.counted().map_err(|error| error.in_source(&model.name))).collect()
}

/// The matrices alone, each head's its own: the way in which document 004 writes W_Q, W_K, V_d and V_u.
fn head_by_head(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let mut listed = vec![Weight::matrix(ModelPart::Embedding, "W_E", "embedding", n.vocabulary, n.d)];
    let of_query_heads = [n.layers, n.query_heads];
    let of_key_value_heads = [n.layers, n.key_value_heads];
    let part = ModelPart::Attention;
    listed.extend([
        Weight::matrix(part, "W_Q", "query", n.d, n.d_k).times(of_query_heads),
        Weight::matrix(part, "W_K", "key", n.d, n.d_k).times(of_key_value_heads),
        Weight::matrix(part, "W_V", "value (V_d)", n.d, n.d_v).times(of_key_value_heads),
        Weight::matrix(part, "W_O", "output (V_u)", n.d_v, n.d).times(of_query_heads),
        Weight::matrix(ModelPart::Mlp, "W_up", "up-projection", n.d, n.d_ff).times(n.layers),
        Weight::matrix(ModelPart::Mlp, "W_down", "down-projection", n.d_ff, n.d).times(n.layers),
        unembedding(model, "unembedding", WeightLayout::InOut),
    ]);
    listed
}

/// The names of GPT-2's checkpoints. Their `Conv1D` keeps rows in, columns out, and W_Q, W_K and W_V side by side.
fn gpt2(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let three = Dimension { symbol: "3", value: 3 };
    let mut listed =
        vec![Weight::matrix(ModelPart::Embedding, "W_E", "transformer.wte.weight", n.vocabulary, n.d)];
    if let Positions::Learned(value) = model.positions {
        let n_ctx = Dimension { symbol: "n_ctx", value };
        listed.push(Weight::matrix(ModelPart::Embedding, "W_P", "transformer.wpe.weight", n_ctx, n.d));
    }
    let mut layer = norm(
        model,
        NormSite::BeforeAttention,
        "transformer.h.*.ln_1.weight",
        Some("transformer.h.*.ln_1.bias"),
    );
    layer.extend(product(
        Weight::matrix(
            ModelPart::Attention,
            "W_Q W_K W_V",
            "transformer.h.*.attn.c_attn.weight",
            n.d,
            [three, n.query_heads, n.d_k],
        ),
        model.biases.query_key_value.then_some(("b_Q b_K b_V", "transformer.h.*.attn.c_attn.bias")),
    ));
    layer.extend(product(
        Weight::matrix(
            ModelPart::Attention,
            "W_O",
            "transformer.h.*.attn.c_proj.weight",
            [n.query_heads, n.d_v],
            n.d,
        ),
        model.biases.output.then_some(("b_O", "transformer.h.*.attn.c_proj.bias")),
    ));
    layer.extend(norm(
        model,
        NormSite::BeforeMlp,
        "transformer.h.*.ln_2.weight",
        Some("transformer.h.*.ln_2.bias"),
    ));
    let bias = |symbol, name| model.biases.mlp.then_some((symbol, name));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_up", "transformer.h.*.mlp.c_fc.weight", n.d, n.d_ff),
        bias("b_up", "transformer.h.*.mlp.c_fc.bias"),
    ));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_down", "transformer.h.*.mlp.c_proj.weight", n.d_ff, n.d),
        bias("b_down", "transformer.h.*.mlp.c_proj.bias"),
    ));
    listed.extend(layer.into_iter().map(|weight| weight.times(n.layers)));
    listed.extend(norm(model, NormSite::Final, "transformer.ln_f.weight", Some("transformer.ln_f.bias")));
    listed.push(unembedding(model, "lm_head.weight", WeightLayout::OutIn));
    listed
}

/// The names of Llama's checkpoints and of all that are built like it.
fn llama(model: &Model, matrices: ProjectionMatrices) -> Vec<Weight> {
    let n = model.dimensions();
    let mut listed =
        vec![Weight::matrix(ModelPart::Embedding, "W_E", "model.embed_tokens.weight", n.vocabulary, n.d)];
    let places = model.norms.map(|norms| norms.places);
    let before = matches!(places, Some(NormPlaces::Before | NormPlaces::BeforeAndAfter));
    let after = matches!(places, Some(NormPlaces::After | NormPlaces::BeforeAndAfter));
    // Where a norm follows attention, it has the name that the others give to the one before the MLP.
    let before_mlp = if after {
        "model.layers.*.pre_feedforward_layernorm.weight"
    } else {
        "model.layers.*.post_attention_layernorm.weight"
    };
    let norm_if = |is_there: bool, site: NormSite, name: &'static str| {
        if is_there { norm(model, site, name, None) } else { Vec::new() }
    };
    let mut layer = norm_if(before, NormSite::BeforeAttention, "model.layers.*.input_layernorm.weight");
    layer.extend(match (&model.latent, matrices) {
        (Some(latent), _) => listing_experts::latent_attention(model, latent),
        (None, ProjectionMatrices::Fused) => listing_other_families::phi3_attention(model),
        (None, ProjectionMatrices::Separate) => llama_attention(model),
    });
    layer.extend(norm_if(after, NormSite::AfterAttention, "model.layers.*.post_attention_layernorm.weight"));
    layer.extend(norm_if(before, NormSite::BeforeMlp, before_mlp));
    let dense = listing_experts::dense_layers(model);
    let mlp = match matrices {
        _ if dense.value == 0 => Vec::new(),
        ProjectionMatrices::Fused => listing_other_families::phi3_mlp(model),
        ProjectionMatrices::Separate => llama_mlp(model),
    };
    layer.extend(mlp.into_iter().map(|weight| weight.times(dense)));
    layer.extend(model.experts.iter().flat_map(|experts| listing_experts::experts(model, experts)));
    layer.extend(norm_if(after, NormSite::AfterMlp, "model.layers.*.post_feedforward_layernorm.weight"));
    let in_each_layer =
        |weight: Weight| if weight.copies.dimensions().is_empty() { weight.times(n.layers) } else { weight };
    listed.extend(layer.into_iter().map(in_each_layer));
    listed.extend(norm(model, NormSite::Final, "model.norm.weight", None));
    listed.push(unembedding(model, "lm_head.weight", WeightLayout::OutIn));
    listed
}

fn llama_attention(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let part = ModelPart::Attention;
    let (queries, keys) = ([n.query_heads, n.d_k], [n.key_value_heads, n.d_k]);
    let (values, outputs) = ([n.key_value_heads, n.d_v], [n.query_heads, n.d_v]);
    let bias = |symbol, name| model.biases.query_key_value.then_some((symbol, name));
    let mut listed = product(
        Weight::matrix(part, "W_Q", "model.layers.*.self_attn.q_proj.weight", n.d, queries),
        bias("b_Q", "model.layers.*.self_attn.q_proj.bias"),
    );
    listed.extend(product(
        Weight::matrix(part, "W_K", "model.layers.*.self_attn.k_proj.weight", n.d, keys),
        bias("b_K", "model.layers.*.self_attn.k_proj.bias"),
    ));
    listed.extend(product(
        Weight::matrix(part, "W_V", "model.layers.*.self_attn.v_proj.weight", n.d, values),
        bias("b_V", "model.layers.*.self_attn.v_proj.bias"),
    ));
    let (q_norm, k_norm) =
        ("model.layers.*.self_attn.q_norm.weight", "model.layers.*.self_attn.k_norm.weight");
    listed.extend(match model.norms.map(|norms| norms.query_key) {
        None | Some(QueryKeyNorm::None) => Vec::new(),
        Some(QueryKeyNorm::EachHead) => vec![
            Weight::vector(ModelPart::Norm, "gamma_Q", q_norm, n.d_k),
            Weight::vector(ModelPart::Norm, "gamma_K", k_norm, n.d_k),
        ],
        Some(QueryKeyNorm::AllHeads) => vec![
            Weight::vector(ModelPart::Norm, "gamma_Q", q_norm, queries),
            Weight::vector(ModelPart::Norm, "gamma_K", k_norm, keys),
        ],
    });
    listed.extend(product(
        Weight::matrix(part, "W_O", "model.layers.*.self_attn.o_proj.weight", outputs, n.d),
        model.biases.output.then_some(("b_O", "model.layers.*.self_attn.o_proj.bias")),
    ));
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}

fn llama_mlp(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let bias = |symbol, name| model.biases.mlp.then_some((symbol, name));
    let mut listed = Vec::new();
    if model.gated {
        listed.extend(product(
            Weight::matrix(ModelPart::Mlp, "W_gate", "model.layers.*.mlp.gate_proj.weight", n.d, n.d_ff),
            bias("b_gate", "model.layers.*.mlp.gate_proj.bias"),
        ));
    }
    listed.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_up", "model.layers.*.mlp.up_proj.weight", n.d, n.d_ff),
        bias("b_up", "model.layers.*.mlp.up_proj.bias"),
    ));
    listed.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_down", "model.layers.*.mlp.down_proj.weight", n.d_ff, n.d),
        bias("b_down", "model.layers.*.mlp.down_proj.bias"),
    ));
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}
