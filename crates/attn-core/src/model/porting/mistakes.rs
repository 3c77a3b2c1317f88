//! The known mistakes of ports, each as a changed architecture.

use crate::attention::Pairing;
use crate::graph::GeluForm;
use crate::graph::recipes::{
    CapPlace, Groups, MagnitudeUse, NormPlace, PositionKind, Recipe, Rotary, RotatedPart, RotatedRoles,
    Scale, SineSigns,
};
use crate::model::architecture::{
    Activation, AfterNorm, Architecture, Block, Conv1dReading, Gain, GateUse, Projections, Sublayers,
};
use crate::params::{Family, NormKind, Positions};

/// A mistake of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortingMistake {
    /// Its short name: `rope-interleaved`.
    pub id: &'static str,
    /// What the numbers show.
    pub sentence: String,
    /// What to change in the code.
    pub change: String,
}

/// A mistake, and the architecture that makes it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub mistake: PortingMistake,
    pub architecture: Architecture,
}

/// The mistakes that change a model's numbers. Those that leave its architecture as it is are left out.
pub(super) fn candidates(right: &Architecture) -> Vec<Candidate> {
    let mut list = Candidates { right, all: Vec::new() };
    add(&mut list);
    add_attention(&mut list);
    add_positions(&mut list);
    list.all
}

/// The list under construction.
struct Candidates<'a> {
    right: &'a Architecture,
    all: Vec<Candidate>,
}

impl Candidates<'_> {
    /// Adds a mistake, unless it changes nothing.
    fn add(
        &mut self,
        id: &'static str,
        sentence: impl Into<String>,
        change: impl Into<String>,
        edit: impl FnOnce(&mut Architecture),
    ) {
        let mut architecture = self.right.clone();
        edit(&mut architecture);
        if architecture == *self.right {
            return;
        }
        let mistake = PortingMistake { id, sentence: sentence.into(), change: change.into() };
        self.all.push(Candidate { mistake, architecture });
    }
}

// Mistakes outside the heads: embedding, norms, residual stream, MLP, matrices, logits.

/// The usual numbers that norms add to the variance.
const EPSILONS: [f64; 4] = [1e-5, 1e-6, 1e-8, 1e-12];

fn add(list: &mut Candidates<'_>) {
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
                if epsilon_of_qk == Some(own.epsilon) {
                    each(a, |recipe| recipe.qk_norm.epsilon = epsilon);
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
        |a| each_block(a, |block| block.sublayers = Sublayers::Parallel),
    );
    list.add(
        "residual-sequential",
        "the MLP reads what attention has added to",
        "let attention and MLP both read the input of the layer, and add both results (use_parallel_residual)",
        |a| each_block(a, |block| block.sublayers = Sublayers::Sequential),
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
            |a| each_block(a, |block| block.after = AfterNorm::Sum),
        );
    }
    if list.right.model.family == Family::Bert {
        list.add(
            "norm-of-result",
            "the norm after a sublayer is applied before the residual stream is added",
            "add the residual stream first, then norm the sum",
            |a| each_block(a, |block| block.after = AfterNorm::Result),
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
            each_block(a, |block| block.activation = activation);
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
            |a| each_block(a, |block| block.projections = Projections::FusedByHead),
        ),
        Some(Projections::FusedByHead) => list.add(
            "qkv-by-blocks",
            "the fused matrix is split into three blocks",
            "split it head by head: view it as (heads, 3·head size), then take query, key and value of each head",
            |a| each_block(a, |block| block.projections = Projections::Fused),
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

// Mistakes in the heads: groups, norms of queries and keys, scale, cap, mask.

/// Changes every layer.
fn each_block(a: &mut Architecture, edit: impl FnMut(&mut Block)) {
    a.blocks.iter_mut().for_each(edit);
}

/// Changes the recipe of every layer.
fn each(a: &mut Architecture, mut edit: impl FnMut(&mut Recipe)) {
    each_block(a, |block| edit(&mut block.recipe));
}

fn add_attention(list: &mut Candidates<'_>) {
    let Some(first) = list.right.blocks.first().map(|block| block.recipe) else { return };
    if first.kv_heads > 1 && first.kv_heads < first.heads {
        list.add(
            "kv-heads-tiled",
            "query head h reads key/value head h mod G: the key/value heads are tiled",
            "repeat each key/value head for neighbouring query heads (repeat_interleave, not repeat)",
            |a| each(a, |recipe| recipe.groups = Groups::Tiled),
        );
    }
    if first.qk_norm.place != NormPlace::Nowhere {
        qk_norm(list);
    }
    scale(list, &first);
    cap(list, &first);
    mask(list);
}

fn qk_norm(list: &mut Candidates<'_>) {
    list.add(
        "qk-norm-missing",
        "queries and keys are not normed",
        "apply q_norm and k_norm before the rotation",
        |a| each(a, |recipe| recipe.qk_norm.place = NormPlace::Nowhere),
    );
    list.add(
        "qk-norm-after-rotation",
        "queries and keys are normed after the rotation",
        "norm them first, then rotate",
        |a| each(a, |recipe| recipe.qk_norm.place = NormPlace::AfterRotation),
    );
    list.add(
        "qk-norm-width",
        "queries and keys are normed over the other width: all heads together, or head by head",
        "take the mean of the squares over as many numbers as the gain has",
        |a| a.slips.qk_norm_width_changed = true,
    );
}

fn scale(list: &mut Candidates<'_>, first: &Recipe) {
    let model = &list.right.model;
    let (hidden, width) = (model.hidden as usize, model.head_width as usize);
    let per_head = hidden / first.heads.max(1);
    let right = match first.scale {
        Scale::InverseRootOf(n) => format!("1/√{n} (query_pre_attn_scalar)"),
        _ => format!("1/√{width}"),
    };
    let change = format!("multiply the scores by {right}");
    list.add("scale-missing", "the scores are not scaled", change.as_str(), |a| {
        each(a, |recipe| recipe.scale = Scale::None);
    });
    if matches!(first.scale, Scale::InverseRootOf(n) if n != width) {
        list.add(
            "query-pre-attn-scalar-ignored",
            format!("the scores are scaled by 1/√{width}, the width of a head"),
            change.as_str(),
            |a| each(a, |recipe| recipe.scale = Scale::Auto),
        );
    }
    for (id, of, what) in [
        ("scale-of-hidden", hidden, "the width of the residual stream"),
        ("scale-of-hidden-per-head", per_head, "that width over the number of heads"),
    ] {
        let is_right = match first.scale {
            Scale::InverseRootOf(n) => n == of,
            _ => width == of,
        };
        if !is_right {
            list.add(id, format!("the scores are scaled by 1/√{of}: {what}"), change.as_str(), |a| {
                each(a, |recipe| recipe.scale = Scale::InverseRootOf(of));
            });
        }
    }
}

fn cap(list: &mut Candidates<'_>, first: &Recipe) {
    let Some(cap) = first.soft_cap else { return };
    list.add(
        "score-cap-missing",
        "the scores are not bounded",
        format!("bound the scores before the mask: {cap} · tanh(scores / {cap})"),
        |a| each(a, |recipe| recipe.soft_cap = None),
    );
    list.add(
        "score-cap-after-mask",
        "the scores are bounded after the mask, so that hidden keys are seen",
        "bound the scores first, then mask",
        |a| each(a, |recipe| recipe.cap_place = CapPlace::AfterMask),
    );
    list.add(
        "score-cap-before-scale",
        "the scores are bounded before they are scaled",
        "scale first, then bound",
        |a| each(a, |recipe| recipe.cap_place = CapPlace::BeforeScale),
    );
}

fn mask(list: &mut Candidates<'_>) {
    list.add(
        "causal-mask-missing",
        "every token sees the later ones",
        "mask the keys behind each query",
        |a| each(a, |recipe| recipe.mask.causal = false),
    );
    let Some(window) = list.right.blocks.iter().find_map(|block| block.recipe.mask.window) else { return };
    let sees = format!("let query i see the keys j with i − {window} < j ≤ i: {window} keys, with its own");
    for (id, wrong) in [("window-one-more", window + 1), ("window-one-less", window.saturating_sub(1))] {
        if wrong == 0 {
            continue;
        }
        list.add(id, format!("the window has {wrong} keys, not {window}"), sees.as_str(), |a| {
            each(a, |recipe| recipe.mask.window = recipe.mask.window.map(|_| wrong));
        });
    }
    let which: Vec<String> = (1..)
        .zip(&list.right.blocks)
        .filter(|(_, block)| block.recipe.mask.window.is_some())
        .map(|(layer, _)| layer.to_string())
        .collect();
    let which = format!("give the window to these layers only, counted from 1: {}", which.join(", "));
    list.add("window-missing", "no layer has a window", which.as_str(), |a| {
        each(a, |recipe| recipe.mask.window = None);
    });
    list.add("window-everywhere", "every layer has a window", which.as_str(), |a| {
        each(a, |recipe| recipe.mask.window = Some(window));
    });
    list.add(
        "window-on-other-layers",
        "the window is on the layers that have none, and not on those that have one",
        which,
        |a| {
            each(a, |recipe| {
                recipe.mask.window = if recipe.mask.window.is_some() { None } else { Some(window) };
            });
        },
    );
}

// Mistakes in rotary positions.

/// Bases that programs take where they read none.
const BASES: [f64; 3] = [10_000.0, 500_000.0, 1_000_000.0];

/// Changes the rotary positions of every layer that has them.
fn each_rotary(a: &mut Architecture, edit: impl Fn(&mut Rotary)) {
    each(a, |recipe| {
        if let PositionKind::Rotary(rotary) = &mut recipe.positions.kind {
            edit(rotary);
        }
    });
}

/// The rotary positions of a layer.
fn rotary(kind: PositionKind) -> Option<Rotary> {
    match kind {
        PositionKind::Rotary(rotary) => Some(rotary),
        _ => None,
    }
}

fn add_positions(list: &mut Candidates<'_>) {
    let kinds: Vec<PositionKind> =
        list.right.blocks.iter().map(|block| block.recipe.positions.kind).collect();
    let Some(first) = kinds.iter().copied().find_map(rotary) else { return };
    pairs(list, &first);
    frequencies(list, &first);
    shifts(list);
    if kinds.contains(&PositionKind::None) {
        list.add(
            "rope-everywhere",
            "layers without positions are rotated, too",
            "leave queries and keys of these layers as they are (no_rope_layers: 1 means rotated)",
            |a| each(a, |recipe| recipe.positions.kind = PositionKind::Rotary(first)),
        );
        list.add(
            "rope-on-other-layers",
            "the layers with and without positions are exchanged",
            "rotate where no_rope_layers is 1, and leave the layers with 0 as they are",
            |a| {
                each(a, |recipe| {
                    recipe.positions.kind = match recipe.positions.kind {
                        PositionKind::Rotary(_) => PositionKind::None,
                        _ => PositionKind::Rotary(first),
                    };
                });
            },
        );
    }
    list.add(
        "rope-missing",
        "queries and keys are not rotated",
        "rotate queries and keys by their positions",
        |a| each(a, |recipe| recipe.positions.kind = PositionKind::None),
    );
    of_one_kind(list, &kinds);
}

/// All layers rotate as those of one kind.
fn of_one_kind(list: &mut Candidates<'_>, kinds: &[PositionKind]) {
    let mut different: Vec<Rotary> = Vec::new();
    for own in kinds.iter().copied().filter_map(rotary) {
        if !different.contains(&own) {
            different.push(own);
        }
    }
    for own in different {
        let base = own.base;
        list.add(
            "rope-of-one-kind-of-layer",
            format!("all layers rotate alike, with base {base}"),
            "layers with a window have their own base (rope_local_base_freq) and no scaling",
            |a| each_rotary(a, |rotary| *rotary = own),
        );
    }
}

fn pairs(list: &mut Candidates<'_>, first: &Rotary) {
    list.add(
        "rope-interleaved",
        "neighbouring columns are rotated together (interleaved pairs)",
        "rotate column i with column i + d/2 (rotate_half), or reorder the rows of W_Q and W_K to match your pairs",
        |a| each_rotary(a, |rotary| rotary.pairing = Pairing::Neighbours),
    );
    list.add(
        "rope-direction",
        "the rotation goes in the other direction",
        "use x·cos + rotate_half(x)·sin with rotate_half = (−x₂, x₁)",
        |a| each_rotary(a, |rotary| rotary.signs = SineSigns::Reversed),
    );
    list.add(
        "rope-no-minus",
        "rotate_half has lost its minus",
        "use x·cos + rotate_half(x)·sin with rotate_half = (−x₂, x₁)",
        |a| each_rotary(a, |rotary| rotary.signs = SineSigns::NoMinus),
    );
    let width = list.right.model.head_width as usize;
    if first.width.is_some_and(|rotated| rotated < width) {
        list.add(
            "rope-wrong-end",
            "the last columns of each head are rotated, not the first",
            "rotate the first columns of each head, and pass the others through",
            |a| each_rotary(a, |rotary| rotary.part = RotatedPart::Last),
        );
        list.add(
            "rope-whole-head",
            "all columns of each head are rotated",
            "rotate only the part of each head that partial_rotary_factor or rotary_pct says",
            |a| each_rotary(a, |rotary| rotary.width = None),
        );
    }
    list.add("rope-queries-only", "only the queries are rotated", "rotate the keys, too", |a| {
        each_rotary(a, |rotary| rotary.rotated = RotatedRoles::Queries)
    });
    list.add("rope-keys-only", "only the keys are rotated", "rotate the queries, too", |a| {
        each_rotary(a, |rotary| rotary.rotated = RotatedRoles::Keys)
    });
}

fn frequencies(list: &mut Candidates<'_>, first: &Rotary) {
    for base in BASES {
        let sentence = format!("the base of the rotary positions is {base}, not {}", first.base);
        let change = format!("read rope_theta from config.json: it is {}", first.base);
        list.add("rope-base", sentence, change, |a| each_rotary(a, |rotary| rotary.base = base));
    }
    let Some(scaling) = first.scaling.or_else(|| {
        let kinds = list.right.blocks.iter().filter_map(|block| rotary(block.recipe.positions.kind));
        kinds.filter_map(|rotary| rotary.scaling).next()
    }) else {
        return;
    };
    let name = scaling.name();
    list.add(
        "rope-scaling-ignored",
        format!("the frequencies are not scaled: rope type {name} is ignored"),
        format!("change the frequencies as rope type {name} says, at every length of text"),
        |a| each_rotary(a, |rotary| rotary.scaling = None),
    );
    if scaling.magnitude() != 1.0 {
        list.add(
            "rope-magnitude-missing",
            format!("sines and cosines lack the factor of {name}"),
            format!("multiply sines and cosines by {:.6} (attention_factor)", scaling.magnitude()),
            |a| each_rotary(a, |rotary| rotary.magnitude = MagnitudeUse::Missing),
        );
        list.add(
            "rope-magnitude-twice",
            format!("sines and cosines have the factor of {name} twice"),
            "multiply by it once: scores then have its square",
            |a| each_rotary(a, |rotary| rotary.magnitude = MagnitudeUse::Twice),
        );
    }
    if list.right.blocks.iter().any(|block| block.divisors.is_some()) {
        list.add(
            "longrope-other-divisors",
            "the divisors are those of the other length of text",
            "take short_factor up to original_max_position_embeddings, and long_factor beyond",
            |a| each_rotary(a, |rotary| rotary.swaps_divisors = true),
        );
    }
}

fn shifts(list: &mut Candidates<'_>) {
    for (query, key, sentence) in [
        (1, 0, "the positions of the queries are one too large"),
        (0, 1, "the positions of the keys are one too large"),
        (1, 1, "the positions count from 1; scores are the same, rotated queries and keys are not"),
    ] {
        list.add("position-off-by-one", sentence, "give the first token position 0", |a| {
            each(a, |recipe| {
                if rotary(recipe.positions.kind).is_some() {
                    recipe.positions.query_shift = query;
                    recipe.positions.key_shift = key;
                }
            });
        });
    }
}
