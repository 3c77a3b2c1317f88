//! The weights of a model, in the order in which a token meets them.

use crate::attention::WeightLayout;
use crate::error::Result;

use super::model::{
    Architecture, Experts, Family, Latent, Model, NormKind, NormPlaces, Positions, ProjectionMatrices,
    QueryKeyNorm,
};
use super::weight::{Dimension, ModelPart, NormSite, Weight};

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
        Architecture::GptNeox => gpt_neox(model),
        Architecture::Opt => opt(model),
        Architecture::Bert => bert(model),
        Architecture::AttnSmall => listed(model),
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
        (Some(latent), _) => latent_attention(model, latent),
        (None, ProjectionMatrices::Fused) => phi3_attention(model),
        (None, ProjectionMatrices::Separate) => llama_attention(model),
    });
    layer.extend(norm_if(after, NormSite::AfterAttention, "model.layers.*.post_attention_layernorm.weight"));
    layer.extend(norm_if(before, NormSite::BeforeMlp, before_mlp));
    let dense = dense_layers(model);
    let mlp = match matrices {
        _ if dense.value == 0 => Vec::new(),
        ProjectionMatrices::Fused => phi3_mlp(model),
        ProjectionMatrices::Separate => llama_mlp(model),
    };
    layer.extend(mlp.into_iter().map(|weight| weight.times(dense)));
    layer.extend(model.experts.iter().flat_map(|of_model| experts(model, of_model)));
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

// The weights of the small models that this program trains.

/// Every matrix rows in, columns out, under the symbol that the screen has for it; norms have no weights.
pub(super) fn listed(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let mut listed = vec![Weight::matrix(ModelPart::Embedding, "W_E", "W_E", n.vocabulary, n.d)];
    if let Positions::Learned(value) = model.positions {
        let n_ctx = Dimension { symbol: "n_ctx", value };
        listed.push(Weight::matrix(ModelPart::Embedding, "W_P", "W_P", n_ctx, n.d));
    }
    let heads = [n.query_heads, n.d_k];
    let attention = ModelPart::Attention;
    let mut layer = vec![
        Weight::matrix(attention, "W_Q", "layers.*.W_Q", n.d, heads),
        Weight::matrix(attention, "W_K", "layers.*.W_K", n.d, heads),
        Weight::matrix(attention, "W_V", "layers.*.W_V", n.d, heads),
        Weight::matrix(attention, "W_O", "layers.*.W_O", heads, n.d),
    ];
    if model.has_mlp() {
        layer.extend([
            Weight::matrix(ModelPart::Mlp, "W_up", "layers.*.W_up", n.d, n.d_ff),
            Weight::matrix(ModelPart::Mlp, "W_down", "layers.*.W_down", n.d_ff, n.d),
        ]);
    }
    listed.extend(layer.into_iter().map(|weight| weight.times(n.layers)));
    listed.push(unembedding(model, "W_U", WeightLayout::InOut));
    listed
}

// The weights of families that are built otherwise than GPT-2 and Llama: fused matrices, encoders.

/// Phi-3's attention: W_Q, W_K and W_V side by side in one matrix.
pub(super) fn phi3_attention(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let all =
        Dimension { symbol: "(H+2G)", value: model.query_heads.saturating_add(2 * model.key_value_heads) };
    let part = ModelPart::Attention;
    let listed = [
        Weight::matrix(part, "W_Q W_K W_V", "model.layers.*.self_attn.qkv_proj.weight", n.d, [all, n.d_k]),
        Weight::matrix(part, "W_O", "model.layers.*.self_attn.o_proj.weight", [n.query_heads, n.d_v], n.d),
    ];
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}

/// Phi-3's MLP: the gate and the way up side by side in one matrix.
pub(super) fn phi3_mlp(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let two = Dimension { symbol: "2", value: 2 };
    let listed = [
        Weight::matrix(
            ModelPart::Mlp,
            "W_gate W_up",
            "model.layers.*.mlp.gate_up_proj.weight",
            n.d,
            [two, n.d_ff],
        ),
        Weight::matrix(ModelPart::Mlp, "W_down", "model.layers.*.mlp.down_proj.weight", n.d_ff, n.d),
    ];
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}

/// GPT-NeoX: both sublayers read the same tokens, each through its own norm.
pub(super) fn gpt_neox(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let three = Dimension { symbol: "3", value: 3 };
    let (qkv, output) = (model.biases.query_key_value, model.biases.output);
    let mut layer = norm(
        model,
        NormSite::BeforeAttention,
        "gpt_neox.layers.*.input_layernorm.weight",
        Some("gpt_neox.layers.*.input_layernorm.bias"),
    );
    layer.extend(norm(
        model,
        NormSite::BeforeMlp,
        "gpt_neox.layers.*.post_attention_layernorm.weight",
        Some("gpt_neox.layers.*.post_attention_layernorm.bias"),
    ));
    let part = ModelPart::Attention;
    let name = "gpt_neox.layers.*.attention.query_key_value.weight";
    layer.extend(product(
        Weight::matrix(part, "W_Q W_K W_V", name, n.d, [three, n.query_heads, n.d_k]),
        qkv.then_some(("b_Q b_K b_V", "gpt_neox.layers.*.attention.query_key_value.bias")),
    ));
    layer.extend(product(
        Weight::matrix(part, "W_O", "gpt_neox.layers.*.attention.dense.weight", [n.query_heads, n.d_v], n.d),
        output.then_some(("b_O", "gpt_neox.layers.*.attention.dense.bias")),
    ));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_up", "gpt_neox.layers.*.mlp.dense_h_to_4h.weight", n.d, n.d_ff),
        Some(("b_up", "gpt_neox.layers.*.mlp.dense_h_to_4h.bias")),
    ));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_down", "gpt_neox.layers.*.mlp.dense_4h_to_h.weight", n.d_ff, n.d),
        Some(("b_down", "gpt_neox.layers.*.mlp.dense_4h_to_h.bias")),
    ));
    let mut listed =
        vec![Weight::matrix(ModelPart::Embedding, "W_E", "gpt_neox.embed_in.weight", n.vocabulary, n.d)];
    listed.extend(of_each_layer(model, layer));
    listed.extend(norm(
        model,
        NormSite::Final,
        "gpt_neox.final_layer_norm.weight",
        Some("gpt_neox.final_layer_norm.bias"),
    ));
    listed.push(unembedding(model, "embed_out.weight", WeightLayout::OutIn));
    listed
}

/// OPT: positions begin with two that are never used.
pub(super) fn opt(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let width = model.embedding_width.map_or(n.d, |value| Dimension { symbol: "d_E", value });
    let embedding = ModelPart::Embedding;
    let mut listed =
        vec![Weight::matrix(embedding, "W_E", "model.decoder.embed_tokens.weight", n.vocabulary, width)];
    if let Positions::Learned(positions) = model.positions {
        let rows = Dimension { symbol: "(n_ctx+2)", value: positions.saturating_add(2) };
        listed.push(Weight::matrix(embedding, "W_P", "model.decoder.embed_positions.weight", rows, n.d));
    }
    if model.embedding_width.is_some() {
        let weight = Weight::matrix(embedding, "W_in", "model.decoder.project_in.weight", width, n.d);
        listed.push(weight.stored(WeightLayout::OutIn));
    }
    let mut layer = opt_attention(model);
    layer.extend(norm(
        model,
        NormSite::BeforeAttention,
        "model.decoder.layers.*.self_attn_layer_norm.weight",
        Some("model.decoder.layers.*.self_attn_layer_norm.bias"),
    ));
    let bias = |symbol, name| model.biases.mlp.then_some((symbol, name));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_up", "model.decoder.layers.*.fc1.weight", n.d, n.d_ff),
        bias("b_up", "model.decoder.layers.*.fc1.bias"),
    ));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_down", "model.decoder.layers.*.fc2.weight", n.d_ff, n.d),
        bias("b_down", "model.decoder.layers.*.fc2.bias"),
    ));
    layer.extend(norm(
        model,
        NormSite::BeforeMlp,
        "model.decoder.layers.*.final_layer_norm.weight",
        Some("model.decoder.layers.*.final_layer_norm.bias"),
    ));
    listed.extend(of_each_layer(model, layer));
    if model.norms.is_some_and(|norms| norms.places == NormPlaces::Before) {
        listed.extend(norm(
            model,
            NormSite::Final,
            "model.decoder.final_layer_norm.weight",
            Some("model.decoder.final_layer_norm.bias"),
        ));
    }
    if model.embedding_width.is_some() {
        let weight =
            Weight::matrix(ModelPart::Unembedding, "W_out", "model.decoder.project_out.weight", n.d, width);
        listed.push(weight.stored(WeightLayout::OutIn));
    }
    let unembedding = Weight::matrix(ModelPart::Unembedding, "W_U", "lm_head.weight", width, n.vocabulary);
    listed.push(Weight { same_as: model.tied.then_some("W_E"), ..unembedding.stored(WeightLayout::OutIn) });
    listed
}

fn opt_attention(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let matrices = [
        (
            "W_Q",
            "model.decoder.layers.*.self_attn.q_proj.weight",
            "b_Q",
            "model.decoder.layers.*.self_attn.q_proj.bias",
        ),
        (
            "W_K",
            "model.decoder.layers.*.self_attn.k_proj.weight",
            "b_K",
            "model.decoder.layers.*.self_attn.k_proj.bias",
        ),
        (
            "W_V",
            "model.decoder.layers.*.self_attn.v_proj.weight",
            "b_V",
            "model.decoder.layers.*.self_attn.v_proj.bias",
        ),
    ];
    let has_bias = model.biases.query_key_value;
    let mut listed: Vec<Weight> = Vec::new();
    for (symbol, name, bias, bias_name) in matrices {
        let weight = Weight::matrix(ModelPart::Attention, symbol, name, n.d, [n.query_heads, n.d_k]);
        listed.extend(product(weight, has_bias.then_some((bias, bias_name))));
    }
    let name = "model.decoder.layers.*.self_attn.out_proj.weight";
    let weight = Weight::matrix(ModelPart::Attention, "W_O", name, [n.query_heads, n.d_v], n.d);
    let bias = ("b_O", "model.decoder.layers.*.self_attn.out_proj.bias");
    listed.extend(product(weight, model.biases.output.then_some(bias)));
    listed
}

/// BERT: three embeddings that are added, layers with norms after the sublayers, and the pooler.
pub(super) fn bert(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let rows = |symbol, value| Dimension { symbol, value };
    let part = ModelPart::Embedding;
    let mut listed =
        vec![Weight::matrix(part, "W_E", "bert.embeddings.word_embeddings.weight", n.vocabulary, n.d)];
    if let Positions::Learned(positions) = model.positions {
        let name = "bert.embeddings.position_embeddings.weight";
        listed.push(Weight::matrix(part, "W_P", name, rows("n_ctx", positions), n.d));
    }
    if let Some(types) = model.token_types {
        let name = "bert.embeddings.token_type_embeddings.weight";
        listed.push(Weight::matrix(part, "W_T", name, rows("n_types", types), n.d));
    }
    listed.extend(norm(
        model,
        NormSite::Embedding,
        "bert.embeddings.LayerNorm.weight",
        Some("bert.embeddings.LayerNorm.bias"),
    ));
    listed.extend(of_each_layer(model, bert_layer(model)));
    let pooler = Weight::matrix(ModelPart::Pooler, "W_pool", "bert.pooler.dense.weight", n.d, n.d);
    listed.extend(product(pooler, Some(("b_pool", "bert.pooler.dense.bias"))));
    listed.into_iter().map(stored_as_linear).collect()
}

fn bert_layer(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let heads = [n.query_heads, n.d_k];
    let attention = ModelPart::Attention;
    let mut layer = product(
        Weight::matrix(attention, "W_Q", "bert.encoder.layer.*.attention.self.query.weight", n.d, heads),
        Some(("b_Q", "bert.encoder.layer.*.attention.self.query.bias")),
    );
    layer.extend(product(
        Weight::matrix(attention, "W_K", "bert.encoder.layer.*.attention.self.key.weight", n.d, heads),
        Some(("b_K", "bert.encoder.layer.*.attention.self.key.bias")),
    ));
    layer.extend(product(
        Weight::matrix(attention, "W_V", "bert.encoder.layer.*.attention.self.value.weight", n.d, heads),
        Some(("b_V", "bert.encoder.layer.*.attention.self.value.bias")),
    ));
    layer.extend(product(
        Weight::matrix(attention, "W_O", "bert.encoder.layer.*.attention.output.dense.weight", heads, n.d),
        Some(("b_O", "bert.encoder.layer.*.attention.output.dense.bias")),
    ));
    layer.extend(norm(
        model,
        NormSite::AfterAttention,
        "bert.encoder.layer.*.attention.output.LayerNorm.weight",
        Some("bert.encoder.layer.*.attention.output.LayerNorm.bias"),
    ));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_up", "bert.encoder.layer.*.intermediate.dense.weight", n.d, n.d_ff),
        Some(("b_up", "bert.encoder.layer.*.intermediate.dense.bias")),
    ));
    layer.extend(product(
        Weight::matrix(ModelPart::Mlp, "W_down", "bert.encoder.layer.*.output.dense.weight", n.d_ff, n.d),
        Some(("b_down", "bert.encoder.layer.*.output.dense.bias")),
    ));
    layer.extend(norm(
        model,
        NormSite::AfterMlp,
        "bert.encoder.layer.*.output.LayerNorm.weight",
        Some("bert.encoder.layer.*.output.LayerNorm.bias"),
    ));
    layer
}

fn of_each_layer(model: &Model, layer: Vec<Weight>) -> Vec<Weight> {
    let layers = model.dimensions().layers;
    layer.into_iter().map(|weight| stored_as_linear(weight.times(layers))).collect()
}

/// A matrix of a product as PyTorch's `Linear` stores it; embeddings stay as they are.
fn stored_as_linear(weight: Weight) -> Weight {
    let is_product = weight.part != ModelPart::Embedding && weight.cols.is_some();
    if is_product { weight.stored(WeightLayout::OutIn) } else { weight }
}

// The weights of experts, and of latent attention.

/// The names of an expert's three matrices, and of the router's.
struct Names {
    router: &'static str,
    gate: &'static str,
    up: &'static str,
    down: &'static str,
}

const MIXTRAL: Names = Names {
    router: "model.layers.*.block_sparse_moe.gate.weight",
    gate: "model.layers.*.block_sparse_moe.experts.*.w1.weight",
    up: "model.layers.*.block_sparse_moe.experts.*.w3.weight",
    down: "model.layers.*.block_sparse_moe.experts.*.w2.weight",
};

const OTHERS: Names = Names {
    router: "model.layers.*.mlp.gate.weight",
    gate: "model.layers.*.mlp.experts.*.gate_proj.weight",
    up: "model.layers.*.mlp.experts.*.up_proj.weight",
    down: "model.layers.*.mlp.experts.*.down_proj.weight",
};

const QWEN_SHARED: Names = Names {
    router: "model.layers.*.mlp.shared_expert_gate.weight",
    gate: "model.layers.*.mlp.shared_expert.gate_proj.weight",
    up: "model.layers.*.mlp.shared_expert.up_proj.weight",
    down: "model.layers.*.mlp.shared_expert.down_proj.weight",
};

const DEEPSEEK_SHARED: Names = Names {
    router: "",
    gate: "model.layers.*.mlp.shared_experts.gate_proj.weight",
    up: "model.layers.*.mlp.shared_experts.up_proj.weight",
    down: "model.layers.*.mlp.shared_experts.down_proj.weight",
};

/// The router, its experts, and the expert that works on every token, in the layers that have them.
pub(super) fn experts(model: &Model, experts: &Experts) -> Vec<Weight> {
    let d = model.dimensions().d;
    let named = |symbol, value| Dimension { symbol, value };
    let (layers, number) = (layers(experts), named("E", experts.number));
    let width = named("d_e", experts.width);
    let names = if model.family == Family::Mixtral { &MIXTRAL } else { &OTHERS };
    let part = ModelPart::Mlp;
    let mut listed = vec![Weight::matrix(part, "W_router", names.router, d, number).times(layers)];
    if experts.correction {
        let name = "model.layers.*.mlp.gate.e_score_correction_bias";
        listed.push(Weight::vector(part, "b_router", name, number).times(layers));
    }
    let of_each = |weight: Weight| weight.of_each_expert(layers, number, experts.used);
    listed.extend([
        of_each(Weight::matrix(part, "W_gate", names.gate, d, width)),
        of_each(Weight::matrix(part, "W_up", names.up, d, width)),
        of_each(Weight::matrix(part, "W_down", names.down, width, d)),
    ]);
    if let Some(shared) = experts.shared {
        let names = if experts.shared_gate { &QWEN_SHARED } else { &DEEPSEEK_SHARED };
        let width = named("d_s", shared);
        listed.extend([
            Weight::matrix(part, "W_gate_s", names.gate, d, width).times(layers),
            Weight::matrix(part, "W_up_s", names.up, d, width).times(layers),
            Weight::matrix(part, "W_down_s", names.down, width, d).times(layers),
        ]);
        if experts.shared_gate {
            let one = named("1", 1);
            listed.push(Weight::matrix(part, "w_s", names.router, d, one).times(layers));
        }
    }
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}

/// L_moe: the layers that have experts.
fn layers(experts: &Experts) -> Dimension {
    Dimension { symbol: "L_moe", value: experts.layers }
}

/// The layers that have one MLP.
pub(super) fn dense_layers(model: &Model) -> Dimension {
    match &model.experts {
        None => model.dimensions().layers,
        Some(experts) => Dimension { symbol: "L_dense", value: model.layers.saturating_sub(experts.layers) },
    }
}

/// Latent attention: down to d_c and d_R, and from d_c up to every head's keys and values.
pub(super) fn latent_attention(model: &Model, latent: &Latent) -> Vec<Weight> {
    let n = model.dimensions();
    let named = |symbol, value| Dimension { symbol, value };
    let (part, heads) = (ModelPart::Attention, n.query_heads);
    let (d_c, d_v) = (named("d_c", latent.key_value), named("d_v", latent.value));
    // d_k = d_N + d_R.
    let d_k = named("d_k", model.head_width);
    let mut listed = match latent.query.map(|query| named("d_q", query)) {
        None => {
            vec![Weight::matrix(part, "W_Q", "model.layers.*.self_attn.q_proj.weight", n.d, [heads, d_k])]
        }
        Some(d_q) => vec![
            Weight::matrix(part, "W_down_Q", "model.layers.*.self_attn.q_a_proj.weight", n.d, d_q),
            Weight::vector(ModelPart::Norm, "gamma_Q", "model.layers.*.self_attn.q_a_layernorm.weight", d_q),
            Weight::matrix(part, "W_up_Q", "model.layers.*.self_attn.q_b_proj.weight", d_q, [heads, d_k]),
        ],
    };
    let joined = named("(d_c+d_R)", latent.key_value.saturating_add(latent.rotary));
    let keys_and_values = named("(d_N+d_v)", latent.plain.saturating_add(latent.value));
    listed.extend([
        Weight::matrix(part, "W_down_KV", "model.layers.*.self_attn.kv_a_proj_with_mqa.weight", n.d, joined),
        Weight::vector(ModelPart::Norm, "gamma_KV", "model.layers.*.self_attn.kv_a_layernorm.weight", d_c),
        Weight::matrix(
            part,
            "W_up_KV",
            "model.layers.*.self_attn.kv_b_proj.weight",
            d_c,
            [heads, keys_and_values],
        ),
        Weight::matrix(part, "W_O", "model.layers.*.self_attn.o_proj.weight", [heads, d_v], n.d),
    ]);
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}

// Weights that several families list together: a product with its bias, a norm with its gain, the unembedding.

/// A matrix, and the bias as wide as its columns where there is one.
fn product(matrix: Weight, bias: Option<(&'static str, &'static str)>) -> Vec<Weight> {
    let bias = bias
        .zip(matrix.cols.clone())
        .map(|((symbol, name), width)| Weight::vector(matrix.part, symbol, name, width));
    std::iter::once(matrix).chain(bias).collect()
}

/// The gains, and for LayerNorm the biases, of one normalisation over d features.
fn norm(model: &Model, site: NormSite, gain: &'static str, bias: Option<&'static str>) -> Vec<Weight> {
    let Some(norms) = model.norms else { return Vec::new() };
    let d = model.dimensions().d;
    let bias = bias.filter(|_| norms.kind == NormKind::LayerNorm);
    std::iter::once(Weight::vector(ModelPart::Norm, "gamma", gain, d))
        .chain(bias.map(|name| Weight::vector(ModelPart::Norm, "beta", name, d)))
        .map(|weight| Weight { norm: Some(site), ..weight })
        .collect()
}

/// From d features to a score for each token; where it is tied, the embedding once more.
fn unembedding(model: &Model, name: &'static str, layout: WeightLayout) -> Weight {
    let n = model.dimensions();
    let weight = Weight::matrix(ModelPart::Unembedding, "W_U", name, n.d, n.vocabulary).stored(layout);
    Weight { same_as: model.tied.then_some("W_E"), ..weight }
}
