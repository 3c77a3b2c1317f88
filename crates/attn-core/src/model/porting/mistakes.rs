//! The known mistakes of ports, each as a changed architecture. Their sentences are in `data/porting.toml`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::attention::Pairing;
use crate::data_file::entries;
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

/// A mistake as the data file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: &'static str,
    sentence: &'static str,
    change: &'static str,
}

/// What stands for the names in braces.
pub(super) type Values<'a> = &'a [(&'a str, String)];

impl PortingMistake {
    /// A mistake by its id in the data file, where the part after a colon says which of its sentences it gets.
    pub(super) fn new(id: &str, values: Values<'_>) -> PortingMistake {
        static ENTRIES: LazyLock<HashMap<&str, Entry>> = LazyLock::new(|| {
            let all = entries::<Entry>(include_str!("../../../data/porting.toml"));
            all.into_iter().map(|entry| (entry.id, entry)).collect()
        });
        let Entry { id, sentence, change } = &ENTRIES[id];
        let filled = |text: &str| {
            let replace =
                |text: String, (name, value): &(&str, String)| text.replace(&format!("{{{name}}}"), value);
            values.iter().fold(text.to_string(), replace)
        };
        let id = id.split_once(':').map_or(*id, |(id, _)| id);
        PortingMistake { id, sentence: filled(sentence), change: filled(change) }
    }
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
    fn add(&mut self, id: &str, edit: impl FnOnce(&mut Architecture)) {
        self.add_with(id, &[], edit);
    }

    /// The same, with figures in its sentences.
    fn add_with(&mut self, id: &str, values: Values<'_>, edit: impl FnOnce(&mut Architecture)) {
        let mut architecture = self.right.clone();
        edit(&mut architecture);
        if architecture != *self.right {
            self.all.push(Candidate { mistake: PortingMistake::new(id, values), architecture });
        }
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
    list.add("embedding-scale-missing", |a| a.embedding_scaled = false);
    if list.right.embedding_scaled {
        list.add("embedding-scale-not-rounded", |a| a.slips.embedding_factor_unrounded = true);
    }
    if matches!(list.right.model.positions, Positions::Learned(_)) {
        list.add("position-off-by-one:learned", |a| a.slips.position_shift = 1);
    }
}

fn norms(list: &mut Candidates<'_>) {
    let own = list.right.norm;
    let epsilon_of_qk = list.right.blocks.first().map(|block| block.recipe.qk_norm.epsilon);
    for epsilon in EPSILONS {
        let values = [("wrong", format!("{epsilon:e}")), ("own", format!("{:e}", own.epsilon))];
        list.add_with("norm-epsilon", &values, |a| {
            a.norm.epsilon = epsilon;
            if epsilon_of_qk == Some(own.epsilon) {
                each(a, |recipe| recipe.qk_norm.epsilon = epsilon);
            }
        });
    }
    if own.gain == Gain::FromOne {
        list.add("one-plus-missing", |a| a.norm.gain = Gain::Itself);
    }
    match own.kind {
        NormKind::LayerNorm => {
            list.add("rms-for-layer-norm", |a| a.norm.kind = NormKind::RmsNorm);
            list.add("norm-bias-missing", |a| a.slips.without_norm_bias = true);
        }
        NormKind::RmsNorm => list.add("layer-norm-for-rms", |a| a.norm.kind = NormKind::LayerNorm),
    }
}

fn order_of_sublayers(list: &mut Candidates<'_>) {
    list.add("residual-parallel", |a| each_block(a, |block| block.sublayers = Sublayers::Parallel));
    list.add("residual-sequential", |a| each_block(a, |block| block.sublayers = Sublayers::Sequential));
}

fn places_of_norms(list: &mut Candidates<'_>) {
    let has_both = matches!(list.right.model.family, Family::Gemma2 | Family::Gemma3);
    if !has_both && list.right.model.family != Family::GptNeox {
        let after = matches!(list.right.model.family, Family::Bert | Family::Olmo2);
        let id = if after { "norm-place:before" } else { "norm-place:after" };
        list.add(id, |a| a.slips.norms_moved = true);
    }
    if matches!(list.right.model.family, Family::Gemma2 | Family::Gemma3 | Family::Olmo2) {
        list.add("norm-of-sum", |a| each_block(a, |block| block.after = AfterNorm::Sum));
    }
    if list.right.model.family == Family::Bert {
        list.add("norm-of-result", |a| each_block(a, |block| block.after = AfterNorm::Result));
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
        let values = [("wrong", name.to_string()), ("own", right.to_string())];
        list.add_with(id, &values, |a| {
            each_block(a, |block| block.activation = activation);
        });
    }
    if list.right.blocks.iter().any(|block| block.gated) {
        list.add("gate-on-up", |a| a.slips.gate = GateUse::OnUp);
        list.add("gate-and-up-exchanged", |a| a.slips.gate = GateUse::WeightsExchanged);
    }
}

fn matrices(list: &mut Candidates<'_>) {
    if list.right.model.family == Family::Gpt2 {
        list.add("conv1d-not-transposed", |a| a.slips.conv1d = Conv1dReading::SquareTransposed);
        list.add("conv1d-reshaped", |a| a.slips.conv1d = Conv1dReading::Reshaped);
    }
    let fused = list.right.blocks.first().map(|block| block.projections);
    match fused {
        Some(Projections::Fused) if list.right.blocks.iter().all(|b| b.recipe.heads == b.recipe.kv_heads) => {
            list.add("qkv-by-head", |a| each_block(a, |block| block.projections = Projections::FusedByHead))
        }
        Some(Projections::FusedByHead) => {
            list.add("qkv-by-blocks", |a| each_block(a, |block| block.projections = Projections::Fused))
        }
        _ => {}
    }
    if list.right.model.biases.query_key_value {
        list.add("qkv-bias-missing", |a| a.slips.without_qkv_bias = true);
    }
}

fn logits(list: &mut Candidates<'_>) {
    list.add("logit-cap-missing", |a| a.logit_cap = None);
    if !list.right.model.tied {
        list.add("head-tied", |a| a.slips.tied = true);
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
        list.add("kv-heads-tiled", |a| each(a, |recipe| recipe.groups = Groups::Tiled));
    }
    if first.qk_norm.place != NormPlace::Nowhere {
        qk_norm(list);
    }
    scale(list, &first);
    cap(list, &first);
    mask(list);
}

fn qk_norm(list: &mut Candidates<'_>) {
    list.add("qk-norm-missing", |a| each(a, |recipe| recipe.qk_norm.place = NormPlace::Nowhere));
    list.add("qk-norm-after-rotation", |a| each(a, |recipe| recipe.qk_norm.place = NormPlace::AfterRotation));
    list.add("qk-norm-width", |a| a.slips.qk_norm_width_changed = true);
}

fn scale(list: &mut Candidates<'_>, first: &Recipe) {
    let model = &list.right.model;
    let (hidden, width) = (model.hidden as usize, model.head_width as usize);
    let per_head = hidden / first.heads.max(1);
    let right = match first.scale {
        Scale::InverseRootOf(n) => format!("1/√{n} (query_pre_attn_scalar)"),
        _ => format!("1/√{width}"),
    };
    let values = |wrong: usize| [("wrong", wrong.to_string()), ("own", right.clone())];
    list.add_with("scale-missing", &values(0), |a| each(a, |recipe| recipe.scale = Scale::None));
    if matches!(first.scale, Scale::InverseRootOf(n) if n != width) {
        list.add_with("query-pre-attn-scalar-ignored", &values(width), |a| {
            each(a, |recipe| recipe.scale = Scale::Auto);
        });
    }
    for (id, of) in [("scale-of-hidden", hidden), ("scale-of-hidden-per-head", per_head)] {
        let is_right = match first.scale {
            Scale::InverseRootOf(n) => n == of,
            _ => width == of,
        };
        if !is_right {
            list.add_with(id, &values(of), |a| {
                each(a, |recipe| recipe.scale = Scale::InverseRootOf(of));
            });
        }
    }
}

fn cap(list: &mut Candidates<'_>, first: &Recipe) {
    let Some(cap) = first.soft_cap else { return };
    list.add_with("score-cap-missing", &[("cap", cap.to_string())], |a| {
        each(a, |recipe| recipe.soft_cap = None);
    });
    list.add("score-cap-after-mask", |a| each(a, |recipe| recipe.cap_place = CapPlace::AfterMask));
    list.add("score-cap-before-scale", |a| each(a, |recipe| recipe.cap_place = CapPlace::BeforeScale));
}

fn mask(list: &mut Candidates<'_>) {
    list.add("causal-mask-missing", |a| each(a, |recipe| recipe.mask.causal = false));
    let Some(window) = list.right.blocks.iter().find_map(|block| block.recipe.mask.window) else { return };
    for (id, wrong) in [("window-one-more", window + 1), ("window-one-less", window.saturating_sub(1))] {
        if wrong == 0 {
            continue;
        }
        let values = [("wrong", wrong.to_string()), ("own", window.to_string())];
        list.add_with(id, &values, |a| {
            each(a, |recipe| recipe.mask.window = recipe.mask.window.map(|_| wrong));
        });
    }
    let which: Vec<String> = (1..)
        .zip(&list.right.blocks)
        .filter(|(_, block)| block.recipe.mask.window.is_some())
        .map(|(layer, _)| layer.to_string())
        .collect();
    let layers = [("layers", which.join(", "))];
    list.add_with("window-missing", &layers, |a| each(a, |recipe| recipe.mask.window = None));
    list.add_with("window-everywhere", &layers, |a| each(a, |recipe| recipe.mask.window = Some(window)));
    list.add_with("window-on-other-layers", &layers, |a| {
        each(a, |recipe| {
            recipe.mask.window = if recipe.mask.window.is_some() { None } else { Some(window) };
        });
    });
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
        list.add("rope-everywhere", |a| {
            each(a, |recipe| recipe.positions.kind = PositionKind::Rotary(first))
        });
        list.add("rope-on-other-layers", |a| {
            each(a, |recipe| {
                recipe.positions.kind = match recipe.positions.kind {
                    PositionKind::Rotary(_) => PositionKind::None,
                    _ => PositionKind::Rotary(first),
                };
            });
        });
    }
    list.add("rope-missing", |a| each(a, |recipe| recipe.positions.kind = PositionKind::None));
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
        list.add_with("rope-of-one-kind-of-layer", &[("wrong", own.base.to_string())], |a| {
            each_rotary(a, |rotary| *rotary = own);
        });
    }
}

fn pairs(list: &mut Candidates<'_>, first: &Rotary) {
    list.add("rope-interleaved", |a| each_rotary(a, |rotary| rotary.pairing = Pairing::Neighbours));
    list.add("rope-direction", |a| each_rotary(a, |rotary| rotary.signs = SineSigns::Reversed));
    list.add("rope-no-minus", |a| each_rotary(a, |rotary| rotary.signs = SineSigns::NoMinus));
    let width = list.right.model.head_width as usize;
    if first.width.is_some_and(|rotated| rotated < width) {
        list.add("rope-wrong-end", |a| each_rotary(a, |rotary| rotary.part = RotatedPart::Last));
        list.add("rope-whole-head", |a| each_rotary(a, |rotary| rotary.width = None));
    }
    list.add("rope-queries-only", |a| each_rotary(a, |rotary| rotary.rotated = RotatedRoles::Queries));
    list.add("rope-keys-only", |a| each_rotary(a, |rotary| rotary.rotated = RotatedRoles::Keys));
}

fn frequencies(list: &mut Candidates<'_>, first: &Rotary) {
    for base in BASES {
        let values = [("wrong", base.to_string()), ("own", first.base.to_string())];
        list.add_with("rope-base", &values, |a| each_rotary(a, |rotary| rotary.base = base));
    }
    let Some(scaling) = first.scaling.or_else(|| {
        let kinds = list.right.blocks.iter().filter_map(|block| rotary(block.recipe.positions.kind));
        kinds.filter_map(|rotary| rotary.scaling).next()
    }) else {
        return;
    };
    let values = [("type", scaling.name().to_string()), ("factor", format!("{:.6}", scaling.magnitude()))];
    list.add_with("rope-scaling-ignored", &values, |a| each_rotary(a, |rotary| rotary.scaling = None));
    if scaling.magnitude() != 1.0 {
        list.add_with("rope-magnitude-missing", &values, |a| {
            each_rotary(a, |rotary| rotary.magnitude = MagnitudeUse::Missing);
        });
        list.add_with("rope-magnitude-twice", &values, |a| {
            each_rotary(a, |rotary| rotary.magnitude = MagnitudeUse::Twice);
        });
    }
    if list.right.blocks.iter().any(|block| block.divisors.is_some()) {
        list.add("longrope-other-divisors", |a| each_rotary(a, |rotary| rotary.swaps_divisors = true));
    }
}

fn shifts(list: &mut Candidates<'_>) {
    for (query, key, id) in [
        (1, 0, "position-off-by-one:queries"),
        (0, 1, "position-off-by-one:keys"),
        (1, 1, "position-off-by-one:both"),
    ] {
        list.add(id, |a| {
            each(a, |recipe| {
                if rotary(recipe.positions.kind).is_some() {
                    recipe.positions.query_shift = query;
                    recipe.positions.key_shift = key;
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_has_every_mistake_that_is_made_and_no_other_and_its_braces_are_filled() {
        let own = include_str!("mistakes.rs").split("#[cfg(test)]").next().unwrap();
        let sources = [own, include_str!("search.rs")].concat();
        let entries = entries::<Entry>(include_str!("../../../data/porting.toml"));
        for Entry { id, sentence, change } in &entries {
            assert!(sources.contains(&format!("\"{id}\"")), "{id} is made nowhere");
            for name in [sentence, change].iter().flat_map(|text| text.split('{').skip(1)) {
                let name = name.split_once('}').expect("a closing brace").0;
                assert!(sources.contains(&format!("(\"{name}\", ")), "{id}: nothing stands for {{{name}}}");
            }
        }
        let is_id = |text: &&str| {
            text.contains('-') && text.chars().all(|c| "-:".contains(c) || c.is_ascii_lowercase() || c == '1')
        };
        for id in own
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split('"'))
            .filter(is_id)
        {
            assert!(entries.iter().any(|entry| entry.id == id), "{id} has no sentences");
        }
    }
}
