//! The weights of a model, in the order in which a token meets them.

use crate::attention::WeightLayout;
use crate::error::Result;

use super::model::{
    Architecture, Experts, Family, Latent, Model, NormKind, NormPlaces, Positions, ProjectionMatrices,
    QueryKeyNorm,
};
use super::weight::{Dimension, Extent, ModelPart, NormSite, Weight};

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
        Architecture::AttnSmall => attn_small(model),
    };
    listed.into_iter().map(|weight| weight.counted().map_err(|error| error.in_source(&model.name))).collect()
}

const QUERY: [&str; 2] = ["W_Q", "b_Q"];
const KEY: [&str; 2] = ["W_K", "b_K"];
const VALUE: [&str; 2] = ["W_V", "b_V"];
const ALL_THREE: [&str; 2] = ["W_Q W_K W_V", "b_Q b_K b_V"];
const OUTPUT: [&str; 2] = ["W_O", "b_O"];
const GATE: [&str; 2] = ["W_gate", "b_gate"];
const UP: [&str; 2] = ["W_up", "b_up"];
const DOWN: [&str; 2] = ["W_down", "b_down"];
const THREE: Dimension = Dimension::of("3", 3);

/// A linear layer: its matrix and, where it has one, its bias as wide as the matrix's columns.
fn linear(
    part: ModelPart,
    [matrix, bias]: [&'static str; 2],
    name: &str,
    (rows, cols): (impl Into<Extent>, impl Into<Extent>),
    has_bias: bool,
) -> Vec<Weight> {
    let cols = cols.into();
    let bias = has_bias.then(|| Weight::vector(part, bias, &format!("{name}.bias"), cols.clone()));
    let matrix = Weight::matrix(part, matrix, &format!("{name}.weight"), rows, cols);
    std::iter::once(matrix).chain(bias).collect()
}

/// The gains, and for LayerNorm the biases, of one normalisation over d features.
fn norm(model: &Model, site: NormSite, name: &str) -> Vec<Weight> {
    let d = model.dimensions().d;
    let vector = |symbol, end| Weight {
        norm: Some(site),
        ..Weight::vector(ModelPart::Norm, symbol, &format!("{name}.{end}"), d)
    };
    match model.norms.map(|norms| norms.kind) {
        None => Vec::new(),
        Some(NormKind::RmsNorm) => vec![vector("gamma", "weight")],
        Some(NormKind::LayerNorm) => vec![vector("gamma", "weight"), vector("beta", "bias")],
    }
}

/// A row for each token of the vocabulary.
fn embedding(model: &Model, name: &str) -> Vec<Weight> {
    let n = model.dimensions();
    vec![Weight::matrix(ModelPart::Embedding, "W_E", name, n.vocabulary, n.d)]
}

/// A row for each position, where those are learned.
fn learned_positions(model: &Model, name: &str) -> Vec<Weight> {
    let Positions::Learned(value) = model.positions else { return Vec::new() };
    let n_ctx = Dimension::of("n_ctx", value);
    vec![Weight::matrix(ModelPart::Embedding, "W_P", name, n_ctx, model.dimensions().d)]
}

/// From d features to a score for each token; where it is tied, the embedding once more.
fn unembedding(model: &Model, name: &str, layout: WeightLayout) -> Vec<Weight> {
    let n = model.dimensions();
    let weight = Weight::matrix(ModelPart::Unembedding, "W_U", name, n.d, n.vocabulary).stored(layout);
    vec![Weight { same_as: model.tied.then_some("W_E"), ..weight }]
}

/// Weights, once for each layer.
fn in_each_layer(model: &Model, layer: Vec<Weight>) -> Vec<Weight> {
    let layers = model.dimensions().layers;
    layer.into_iter().map(|weight| weight.times(layers)).collect()
}

/// Weights as PyTorch's `Linear` stores them.
fn out_in(listed: Vec<Weight>) -> Vec<Weight> {
    listed.into_iter().map(|weight| weight.stored(WeightLayout::OutIn)).collect()
}

/// The matrices of products as PyTorch's `Linear` stores them; embeddings stay as they are.
fn products_out_in(listed: Vec<Weight>) -> Vec<Weight> {
    let is_product = |weight: &Weight| weight.part != ModelPart::Embedding && weight.cols.is_some();
    let stored = |weight| if is_product(&weight) { weight.stored(WeightLayout::OutIn) } else { weight };
    listed.into_iter().map(stored).collect()
}

/// The matrices alone, each head's its own: the way in which document 004 writes W_Q, W_K, V_d and V_u.
fn head_by_head(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let of_query_heads = [n.layers, n.query_heads];
    let of_key_value_heads = [n.layers, n.key_value_heads];
    let part = ModelPart::Attention;
    let layers = vec![
        Weight::matrix(part, "W_Q", "query", n.d, n.d_k).times(of_query_heads),
        Weight::matrix(part, "W_K", "key", n.d, n.d_k).times(of_key_value_heads),
        Weight::matrix(part, "W_V", "value (V_d)", n.d, n.d_v).times(of_key_value_heads),
        Weight::matrix(part, "W_O", "output (V_u)", n.d_v, n.d).times(of_query_heads),
        Weight::matrix(ModelPart::Mlp, "W_up", "up-projection", n.d, n.d_ff).times(n.layers),
        Weight::matrix(ModelPart::Mlp, "W_down", "down-projection", n.d_ff, n.d).times(n.layers),
    ];
    [embedding(model, "embedding"), layers, unembedding(model, "unembedding", WeightLayout::InOut)].concat()
}

/// The names of GPT-2's checkpoints. Their `Conv1D` keeps rows in, columns out, and W_Q, W_K and W_V side by side.
fn gpt2(model: &Model) -> Vec<Weight> {
    let (n, biases) = (model.dimensions(), model.biases);
    let (attention, mlp) = (ModelPart::Attention, ModelPart::Mlp);
    let (all, heads) = ([THREE, n.query_heads, n.d_k], [n.query_heads, n.d_v]);
    let layer = [
        norm(model, NormSite::BeforeAttention, "transformer.h.*.ln_1"),
        linear(attention, ALL_THREE, "transformer.h.*.attn.c_attn", (n.d, all), biases.query_key_value),
        linear(attention, OUTPUT, "transformer.h.*.attn.c_proj", (heads, n.d), biases.output),
        norm(model, NormSite::BeforeMlp, "transformer.h.*.ln_2"),
        linear(mlp, UP, "transformer.h.*.mlp.c_fc", (n.d, n.d_ff), biases.mlp),
        linear(mlp, DOWN, "transformer.h.*.mlp.c_proj", (n.d_ff, n.d), biases.mlp),
    ];
    [
        embedding(model, "transformer.wte.weight"),
        learned_positions(model, "transformer.wpe.weight"),
        in_each_layer(model, layer.concat()),
        norm(model, NormSite::Final, "transformer.ln_f"),
        unembedding(model, "lm_head.weight", WeightLayout::OutIn),
    ]
    .concat()
}

/// The names of Llama's checkpoints and of all that are built like it.
fn llama(model: &Model, matrices: ProjectionMatrices) -> Vec<Weight> {
    let n = model.dimensions();
    let places = model.norms.map(|norms| norms.places);
    let before = matches!(places, Some(NormPlaces::Before | NormPlaces::BeforeAndAfter));
    let after = matches!(places, Some(NormPlaces::After | NormPlaces::BeforeAndAfter));
    // Where a norm follows attention, it has the name that the others give to the one before the MLP.
    let before_mlp = if after { "pre_feedforward_layernorm" } else { "post_attention_layernorm" };
    let norm_if = |is_there: bool, site: NormSite, name: &str| match is_there {
        true => norm(model, site, &format!("model.layers.*.{name}")),
        false => Vec::new(),
    };
    let attention = match (&model.latent, matrices) {
        (Some(latent), _) => latent_attention(model, latent),
        (None, ProjectionMatrices::Fused) => phi3_attention(model),
        (None, ProjectionMatrices::Separate) => llama_attention(model),
    };
    let dense = dense_layers(model);
    let mlp = match matrices {
        _ if dense.value == 0 => Vec::new(),
        ProjectionMatrices::Fused => phi3_mlp(model),
        ProjectionMatrices::Separate => llama_mlp(model),
    };
    let layer = [
        norm_if(before, NormSite::BeforeAttention, "input_layernorm"),
        attention,
        norm_if(after, NormSite::AfterAttention, "post_attention_layernorm"),
        norm_if(before, NormSite::BeforeMlp, before_mlp),
        mlp.into_iter().map(|weight| weight.times(dense)).collect(),
        model.experts.iter().flat_map(|of_model| experts(model, of_model)).collect(),
        norm_if(after, NormSite::AfterMlp, "post_feedforward_layernorm"),
    ];
    let in_each_layer =
        |weight: Weight| if weight.copies.dimensions().is_empty() { weight.times(n.layers) } else { weight };
    [
        embedding(model, "model.embed_tokens.weight"),
        layer.concat().into_iter().map(in_each_layer).collect(),
        norm(model, NormSite::Final, "model.norm"),
        unembedding(model, "lm_head.weight", WeightLayout::OutIn),
    ]
    .concat()
}

fn llama_attention(model: &Model) -> Vec<Weight> {
    let (n, part) = (model.dimensions(), ModelPart::Attention);
    let (queries, keys) = ([n.query_heads, n.d_k], [n.key_value_heads, n.d_k]);
    let (values, outputs) = ([n.key_value_heads, n.d_v], [n.query_heads, n.d_v]);
    let has_bias = model.biases.query_key_value;
    let gains = match model.norms.map(|norms| norms.query_key) {
        None | Some(QueryKeyNorm::None) => None,
        Some(QueryKeyNorm::EachHead) => Some([Extent::from(n.d_k), n.d_k.into()]),
        Some(QueryKeyNorm::AllHeads) => Some([queries.into(), keys.into()]),
    };
    let gains = gains.map(|[queries, keys]| {
        vec![
            Weight::vector(ModelPart::Norm, "gamma_Q", "model.layers.*.self_attn.q_norm.weight", queries),
            Weight::vector(ModelPart::Norm, "gamma_K", "model.layers.*.self_attn.k_norm.weight", keys),
        ]
    });
    let listed = [
        linear(part, QUERY, "model.layers.*.self_attn.q_proj", (n.d, queries), has_bias),
        linear(part, KEY, "model.layers.*.self_attn.k_proj", (n.d, keys), has_bias),
        linear(part, VALUE, "model.layers.*.self_attn.v_proj", (n.d, values), has_bias),
        gains.unwrap_or_default(),
        linear(part, OUTPUT, "model.layers.*.self_attn.o_proj", (outputs, n.d), model.biases.output),
    ];
    out_in(listed.concat())
}

fn llama_mlp(model: &Model) -> Vec<Weight> {
    let (n, part, has_bias) = (model.dimensions(), ModelPart::Mlp, model.biases.mlp);
    let gate = linear(part, GATE, "model.layers.*.mlp.gate_proj", (n.d, n.d_ff), has_bias);
    let listed = [
        if model.gated { gate } else { Vec::new() },
        linear(part, UP, "model.layers.*.mlp.up_proj", (n.d, n.d_ff), has_bias),
        linear(part, DOWN, "model.layers.*.mlp.down_proj", (n.d_ff, n.d), has_bias),
    ];
    out_in(listed.concat())
}

/// The small models that this program trains: every matrix rows in, columns out, under the symbol that the screen has for it; norms
/// have no weights.
fn attn_small(model: &Model) -> Vec<Weight> {
    let (n, part) = (model.dimensions(), ModelPart::Attention);
    let heads = [n.query_heads, n.d_k];
    let mut layer = vec![
        Weight::matrix(part, "W_Q", "layers.*.W_Q", n.d, heads),
        Weight::matrix(part, "W_K", "layers.*.W_K", n.d, heads),
        Weight::matrix(part, "W_V", "layers.*.W_V", n.d, heads),
        Weight::matrix(part, "W_O", "layers.*.W_O", heads, n.d),
    ];
    if model.has_mlp() {
        layer.push(Weight::matrix(ModelPart::Mlp, "W_up", "layers.*.W_up", n.d, n.d_ff));
        layer.push(Weight::matrix(ModelPart::Mlp, "W_down", "layers.*.W_down", n.d_ff, n.d));
    }
    [
        embedding(model, "W_E"),
        learned_positions(model, "W_P"),
        in_each_layer(model, layer),
        unembedding(model, "W_U", WeightLayout::InOut),
    ]
    .concat()
}

/// Phi-3's attention: W_Q, W_K and W_V side by side in one matrix.
fn phi3_attention(model: &Model) -> Vec<Weight> {
    let (n, part) = (model.dimensions(), ModelPart::Attention);
    let value = model.query_heads.saturating_add(2 * model.key_value_heads);
    let all = [Dimension::of("(H+2G)", value), n.d_k];
    let listed = [
        linear(part, ALL_THREE, "model.layers.*.self_attn.qkv_proj", (n.d, all), false),
        linear(part, OUTPUT, "model.layers.*.self_attn.o_proj", ([n.query_heads, n.d_v], n.d), false),
    ];
    out_in(listed.concat())
}

/// Phi-3's MLP: the gate and the way up side by side in one matrix.
fn phi3_mlp(model: &Model) -> Vec<Weight> {
    let (n, part) = (model.dimensions(), ModelPart::Mlp);
    let both = [Dimension::of("2", 2), n.d_ff];
    let listed = vec![
        Weight::matrix(part, "W_gate W_up", "model.layers.*.mlp.gate_up_proj.weight", n.d, both),
        Weight::matrix(part, "W_down", "model.layers.*.mlp.down_proj.weight", n.d_ff, n.d),
    ];
    out_in(listed)
}

/// GPT-NeoX: both sublayers read the same tokens, each through its own norm.
fn gpt_neox(model: &Model) -> Vec<Weight> {
    let (n, biases) = (model.dimensions(), model.biases);
    let (attention, mlp) = (ModelPart::Attention, ModelPart::Mlp);
    let (all, heads) = ([THREE, n.query_heads, n.d_k], [n.query_heads, n.d_v]);
    let name = "gpt_neox.layers.*.attention.query_key_value";
    let layer = [
        norm(model, NormSite::BeforeAttention, "gpt_neox.layers.*.input_layernorm"),
        norm(model, NormSite::BeforeMlp, "gpt_neox.layers.*.post_attention_layernorm"),
        linear(attention, ALL_THREE, name, (n.d, all), biases.query_key_value),
        linear(attention, OUTPUT, "gpt_neox.layers.*.attention.dense", (heads, n.d), biases.output),
        linear(mlp, UP, "gpt_neox.layers.*.mlp.dense_h_to_4h", (n.d, n.d_ff), true),
        linear(mlp, DOWN, "gpt_neox.layers.*.mlp.dense_4h_to_h", (n.d_ff, n.d), true),
    ];
    [
        embedding(model, "gpt_neox.embed_in.weight"),
        products_out_in(in_each_layer(model, layer.concat())),
        norm(model, NormSite::Final, "gpt_neox.final_layer_norm"),
        unembedding(model, "embed_out.weight", WeightLayout::OutIn),
    ]
    .concat()
}

/// OPT: positions begin with two that are never used.
fn opt(model: &Model) -> Vec<Weight> {
    let (n, biases) = (model.dimensions(), model.biases);
    let (embedding, attention, mlp) = (ModelPart::Embedding, ModelPart::Attention, ModelPart::Mlp);
    let (heads, values) = ([n.query_heads, n.d_k], [n.query_heads, n.d_v]);
    let width = model.embedding_width.map_or(n.d, |value| Dimension::of("d_E", value));
    let mut listed =
        vec![Weight::matrix(embedding, "W_E", "model.decoder.embed_tokens.weight", n.vocabulary, width)];
    if let Positions::Learned(positions) = model.positions {
        let rows = Dimension::of("(n_ctx+2)", positions.saturating_add(2));
        listed.push(Weight::matrix(embedding, "W_P", "model.decoder.embed_positions.weight", rows, n.d));
    }
    if model.embedding_width.is_some() {
        let weight = Weight::matrix(embedding, "W_in", "model.decoder.project_in.weight", width, n.d);
        listed.push(weight.stored(WeightLayout::OutIn));
    }
    let project = |symbols, name: &str| {
        let name = format!("model.decoder.layers.*.self_attn.{name}");
        linear(attention, symbols, &name, (n.d, heads), biases.query_key_value)
    };
    let layer = [
        project(QUERY, "q_proj"),
        project(KEY, "k_proj"),
        project(VALUE, "v_proj"),
        linear(attention, OUTPUT, "model.decoder.layers.*.self_attn.out_proj", (values, n.d), biases.output),
        norm(model, NormSite::BeforeAttention, "model.decoder.layers.*.self_attn_layer_norm"),
        linear(mlp, UP, "model.decoder.layers.*.fc1", (n.d, n.d_ff), biases.mlp),
        linear(mlp, DOWN, "model.decoder.layers.*.fc2", (n.d_ff, n.d), biases.mlp),
        norm(model, NormSite::BeforeMlp, "model.decoder.layers.*.final_layer_norm"),
    ];
    listed.extend(products_out_in(in_each_layer(model, layer.concat())));
    if model.norms.is_some_and(|norms| norms.places == NormPlaces::Before) {
        listed.extend(norm(model, NormSite::Final, "model.decoder.final_layer_norm"));
    }
    let part = ModelPart::Unembedding;
    if model.embedding_width.is_some() {
        let weight = Weight::matrix(part, "W_out", "model.decoder.project_out.weight", n.d, width);
        listed.push(weight.stored(WeightLayout::OutIn));
    }
    let head = Weight::matrix(part, "W_U", "lm_head.weight", width, n.vocabulary);
    listed.push(Weight { same_as: model.tied.then_some("W_E"), ..head.stored(WeightLayout::OutIn) });
    listed
}

/// BERT: three embeddings that are added, layers with norms after the sublayers, and the pooler.
fn bert(model: &Model) -> Vec<Weight> {
    let n = model.dimensions();
    let types = model.token_types.map(|value| {
        let (name, rows) = ("bert.embeddings.token_type_embeddings.weight", Dimension::of("n_types", value));
        Weight::matrix(ModelPart::Embedding, "W_T", name, rows, n.d)
    });
    let listed = [
        embedding(model, "bert.embeddings.word_embeddings.weight"),
        learned_positions(model, "bert.embeddings.position_embeddings.weight"),
        types.into_iter().collect(),
        norm(model, NormSite::Embedding, "bert.embeddings.LayerNorm"),
        in_each_layer(model, bert_layer(model)),
        linear(ModelPart::Pooler, ["W_pool", "b_pool"], "bert.pooler.dense", (n.d, n.d), true),
    ];
    products_out_in(listed.concat())
}

fn bert_layer(model: &Model) -> Vec<Weight> {
    let (n, attention, mlp) = (model.dimensions(), ModelPart::Attention, ModelPart::Mlp);
    let heads = [n.query_heads, n.d_k];
    [
        linear(attention, QUERY, "bert.encoder.layer.*.attention.self.query", (n.d, heads), true),
        linear(attention, KEY, "bert.encoder.layer.*.attention.self.key", (n.d, heads), true),
        linear(attention, VALUE, "bert.encoder.layer.*.attention.self.value", (n.d, heads), true),
        linear(attention, OUTPUT, "bert.encoder.layer.*.attention.output.dense", (heads, n.d), true),
        norm(model, NormSite::AfterAttention, "bert.encoder.layer.*.attention.output.LayerNorm"),
        linear(mlp, UP, "bert.encoder.layer.*.intermediate.dense", (n.d, n.d_ff), true),
        linear(mlp, DOWN, "bert.encoder.layer.*.output.dense", (n.d_ff, n.d), true),
        norm(model, NormSite::AfterMlp, "bert.encoder.layer.*.output.LayerNorm"),
    ]
    .concat()
}

/// The router, its experts, and the expert that works on every token, in the layers that have them.
fn experts(model: &Model, experts: &Experts) -> Vec<Weight> {
    let d = model.dimensions().d;
    let named = Dimension::of;
    let (layers, number) = (named("L_moe", experts.layers), named("E", experts.number));
    let (part, width) = (ModelPart::Mlp, named("d_e", experts.width));
    let (block, [gate, up, down]) = match model.family {
        Family::Mixtral => ("block_sparse_moe", ["w1", "w3", "w2"]),
        _ => ("mlp", ["gate_proj", "up_proj", "down_proj"]),
    };
    let router = format!("model.layers.*.{block}.gate.weight");
    let mut listed = vec![Weight::matrix(part, "W_router", &router, d, number).times(layers)];
    if experts.correction {
        let name = "model.layers.*.mlp.gate.e_score_correction_bias";
        listed.push(Weight::vector(part, "b_router", name, number).times(layers));
    }
    let of_each = |symbol, name: &str, [rows, cols]: [Dimension; 2]| {
        let name = format!("model.layers.*.{block}.experts.*.{name}.weight");
        Weight::matrix(part, symbol, &name, rows, cols).of_each_expert(layers, number, experts.used)
    };
    listed.push(of_each("W_gate", gate, [d, width]));
    listed.push(of_each("W_up", up, [d, width]));
    listed.push(of_each("W_down", down, [width, d]));
    if let Some(shared) = experts.shared {
        let of_all = |symbol, name: &str, [rows, cols]: [Dimension; 2]| {
            let expert = if experts.shared_gate { "shared_expert" } else { "shared_experts" };
            let name = format!("model.layers.*.mlp.{expert}{name}.weight");
            Weight::matrix(part, symbol, &name, rows, cols).times(layers)
        };
        let width = named("d_s", shared);
        listed.push(of_all("W_gate_s", ".gate_proj", [d, width]));
        listed.push(of_all("W_up_s", ".up_proj", [d, width]));
        listed.push(of_all("W_down_s", ".down_proj", [width, d]));
        if experts.shared_gate {
            listed.push(of_all("w_s", "_gate", [d, named("1", 1)]));
        }
    }
    out_in(listed)
}

/// The layers that have one MLP.
fn dense_layers(model: &Model) -> Dimension {
    match &model.experts {
        None => model.dimensions().layers,
        Some(experts) => Dimension::of("L_dense", model.layers.saturating_sub(experts.layers)),
    }
}

/// Latent attention: down to d_c and d_R, and from d_c up to every head's keys and values.
fn latent_attention(model: &Model, latent: &Latent) -> Vec<Weight> {
    let n = model.dimensions();
    let named = Dimension::of;
    let heads = n.query_heads;
    let matrix = |symbol, name: &str, rows: Extent, cols: Extent| {
        let name = format!("model.layers.*.self_attn.{name}.weight");
        Weight::matrix(ModelPart::Attention, symbol, &name, rows, cols)
    };
    let gain = |symbol, name: &str, length: Dimension| {
        Weight::vector(ModelPart::Norm, symbol, &format!("model.layers.*.self_attn.{name}.weight"), length)
    };
    let (d, d_c, d_v) = (n.d, named("d_c", latent.key_value), named("d_v", latent.value));
    // d_k = d_N + d_R.
    let d_k = named("d_k", model.head_width);
    let mut listed = match latent.query.map(|query| named("d_q", query)) {
        None => vec![matrix("W_Q", "q_proj", d.into(), [heads, d_k].into())],
        Some(d_q) => vec![
            matrix("W_down_Q", "q_a_proj", d.into(), d_q.into()),
            gain("gamma_Q", "q_a_layernorm", d_q),
            matrix("W_up_Q", "q_b_proj", d_q.into(), [heads, d_k].into()),
        ],
    };
    let joined = named("(d_c+d_R)", latent.key_value.saturating_add(latent.rotary));
    let keys_and_values = named("(d_N+d_v)", latent.plain.saturating_add(latent.value));
    listed.extend([
        matrix("W_down_KV", "kv_a_proj_with_mqa", d.into(), joined.into()),
        gain("gamma_KV", "kv_a_layernorm", d_c),
        matrix("W_up_KV", "kv_b_proj", d_c.into(), [heads, keys_and_values].into()),
        matrix("W_O", "o_proj", [heads, d_v].into(), d.into()),
    ]);
    out_in(listed)
}
