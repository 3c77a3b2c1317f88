//! Which step a dumped tensor is, by its name.

use crate::params::{Family, NormPlaces};

use super::right_numbers::{Place, Step, Where};

/// What a dumped tensor's name means in a model of this family with this many layers.
pub(super) fn meaning(name: &str, family: Family, layers: usize) -> Meaning {
    if let Some(place) = own(name, layers) {
        return Meaning::Known(Naming::Own, place);
    }
    let dotted = dotted(name);
    let parts: Vec<&str> = dotted.split('.').filter(|part| !part.is_empty()).collect();
    let (naming, place) = match (parts.first(), parts.last()) {
        (_, Some(&"hook_scale")) => return Meaning::NotCompared,
        (first, Some(last)) if first == Some(&"blocks") || last.starts_with("hook_") => {
            (Naming::TransformerLens, hook(&parts, layers))
        }
        _ => {
            let module = Module::of(&parts);
            (module.naming, module.place(family, layers))
        }
    };
    place.map_or(Meaning::Unknown, |place| Meaning::Known(naming, place))
}

/// A node of this program. `L3.X` is what layer 2 gives.
fn own(name: &str, layers: usize) -> Option<Place> {
    let node = |layer| Some(Place { layer, step: Step::named("node") });
    match name {
        "E" | "E_tokens" | "E_positions" | "E_sum" => return node(1),
        "X_final" => return node(layers),
        "X_final_normed" | "logits_uncapped" => return node(layers + 1),
        _ => {}
    }
    let (layer, step) = name.strip_prefix('L')?.split_once('.')?;
    let layer: usize = layer.parse().ok().filter(|layer| (1..=layers).contains(layer))?;
    node(if step == "X" { layer.max(2) - 1 } else { layer })
}

/// `h[0]` as `h.0`, without slashes.
fn dotted(name: &str) -> String {
    name.replace(['[', '/'], ".").replace([']', '\''], "")
}

// Whose names tensors have, and what a name may mean.

/// Whose names they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Naming {
    /// The nodes of this program: `L3.Q_2`.
    Own,
    /// Modules and outputs of `transformers`: `model.layers.0.self_attn.q_proj`.
    Transformers,
    /// Hooks of TransformerLens: `blocks.0.attn.hook_q`.
    TransformerLens,
    /// Modules with `.input` or `.output`, as nnsight has them.
    Nnsight,
}

impl Naming {
    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Naming> {
        // The last of several equal ones is the most usual.
        [Naming::Own, Naming::Nnsight, Naming::TransformerLens, Naming::Transformers].into_iter()
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Naming::Own => "names of attn",
            Naming::Transformers => "transformers",
            Naming::TransformerLens => "TransformerLens",
            Naming::Nnsight => "nnsight",
        }
    }
}

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A step of the model.
    Known(Naming, Place),
    /// A tensor that is known and not compared: the scale of a norm.
    NotCompared,
    /// No tensor of the model.
    Unknown,
}

// The path of a module of `transformers`, as dumps write it.

/// The path of a module, and which of its tensors is meant.
#[derive(Clone, Debug)]
pub(super) struct Module<'n> {
    pub naming: Naming,
    /// The parts of its path, without the wrappers around the model and without `output`.
    pub path: Vec<&'n str>,
    /// Its layer, counted from 0, and the number of parts up to it.
    pub layer: Option<(usize, usize)>,
    /// True if it is what the module reads.
    pub is_input: bool,
    /// The element of a tuple.
    pub element: Option<usize>,
    /// True if it is the function that computes attention.
    pub is_interface: bool,
}

/// Names of lists of layers.
const LISTS: [&str; 4] = ["h", "layers", "layer", "blocks"];
/// What wraps a model.
const WRAPPERS: [&str; 4] = ["_orig_mod", "module", "base_model", "_model"];

impl<'n> Module<'n> {
    /// The module behind the parts of a name.
    pub fn of(parts: &[&'n str]) -> Module<'n> {
        let mut path: Vec<&str> = parts.iter().copied().filter(|part| !WRAPPERS.contains(part)).collect();
        let mut naming = Naming::Transformers;
        let mut element = None;
        let interface = path.iter().position(|part| *part == "source");
        let is_number = |part: &&str| part.parse::<usize>().is_ok();
        let ends = |path: &[&str], words: &[&str]| path.last().is_some_and(|last| words.contains(last));
        if path.len() > 2
            && is_number(&path[path.len() - 1])
            && ends(&path[..path.len() - 1], &["output", "nns_output"])
        {
            element = path.pop().and_then(|last| last.parse().ok());
        }
        let is_input = path.len() > 1 && ends(&path, &["input", "inputs"]);
        let is_layer_norm_of_bert = |path: &[&str]| path.len() > 3 && path[path.len() - 3] == "layer";
        let is_output = path.len() > 1
            && ends(&path, &["output", "nns_output"])
            && !(is_layer_norm_of_bert(&path)
                || ends(&path[..path.len() - 1], &["attention"]) && path.contains(&"encoder"));
        if is_input || is_output {
            path.pop();
            naming = Naming::Nnsight;
        }
        if let Some(at) = interface {
            path.truncate(at);
            naming = Naming::Nnsight;
        }
        let layer = path.windows(2).position(|pair| LISTS.contains(&pair[0]) && is_number(&pair[1]));
        let layer = layer.and_then(|at| Some((path[at + 1].parse().ok()?, at + 2)));
        Module { naming, path, layer, is_input, element, is_interface: interface.is_some() }
    }
}

// Modules, outputs and hooks, as steps.

impl Module<'_> {
    /// The step that it is in a model of this family with this many layers.
    fn place(&self, family: Family, layers: usize) -> Option<Place> {
        match self.layer {
            Some((layer, at)) if layer < layers => self.in_layer(at, family, layer + 1),
            Some(_) => None,
            None => self.outside_layers(family, layers),
        }
    }

    /// A module in a layer; `at` parts of its path lead to the layer.
    fn in_layer(&self, at: usize, family: Family, layer: usize) -> Option<Place> {
        let inside = self.path.get(at..).unwrap_or_default().join(".");
        if inside.is_empty() && self.is_input {
            return Some(entering(layer));
        }
        let is_source = !inside.is_empty() && (self.is_interface || inside.ends_with("source"));
        let holds = |condition: &str| match condition {
            "second" => self.element == Some(1),
            condition => holds(family, condition),
        };
        let step = match self.is_input {
            _ if is_source => named("source", |step| &step.gives, holds),
            true => named(&inside, |step| &step.reads, holds),
            false => named(&inside, |step| &step.gives, holds),
        }?;
        // What the first norm of a layer reads is the residual stream that enters it.
        Some(if matches!(step.place, Where::First) { entering(layer) } else { Place { layer, step } })
    }

    /// A module outside the layers, or an output of the whole model: `hidden_states.3`, `attentions.0`, `logits`.
    fn outside_layers(&self, family: Family, layers: usize) -> Option<Place> {
        let last = *self.path.last()?;
        if let (Ok(number), Some(list)) = (last.parse::<usize>(), self.path.iter().rev().nth(1)) {
            return of_list(list, number, family, layers);
        }
        let is_of_embeddings = last == "LayerNorm" && self.path.contains(&"embeddings");
        let last = if is_of_embeddings { "embeddings.LayerNorm" } else { last };
        let step = match self.is_input {
            true => named(last, |step| &step.reads_outside, |_| false),
            false => named(last, |step| &step.outside, |_| false),
        }?;
        Some(outside(step, layers))
    }
}

/// The step that has this name in a list of its names. A name behind a condition goes before one without.
fn named(
    name: &str,
    list: impl Fn(&Step) -> &[&'static str],
    holds: impl Fn(&str) -> bool,
) -> Option<&'static Step> {
    let is_told = |own: &&str| own.split_once(':').is_some_and(|(when, own)| own == name && holds(when));
    let with_condition = Step::all().iter().find(|step| list(step).iter().any(is_told));
    with_condition.or_else(|| Step::all().iter().find(|step| list(step).contains(&name)))
}

/// Returns true if a condition of the data file holds for a family.
fn holds(family: Family, condition: &str) -> bool {
    let of = family.facts();
    let places = of.norms.map(|norms| norms.places);
    match condition {
        "encoder" => of.encoder,
        "behind" => !of.norms_of_sums && places.is_some_and(|places| places != NormPlaces::Before),
        "only-behind" => places == Some(NormPlaces::After),
        "sequential" => of.parallel.is_none(),
        _ => false,
    }
}

/// A step outside the layers; what leaves a layer is that of the last one.
fn outside(step: &'static Step, layers: usize) -> Place {
    let layer = match step.place {
        Where::First => 1,
        Where::Layer => layers,
        Where::Head => layers + 1,
    };
    Place { layer, step }
}

/// The residual stream that enters a layer is the one that leaves the layer before.
fn entering(layer: usize) -> Place {
    match layer {
        0 | 1 => Place { layer: 1, step: Step::named("embedded") },
        layer => Place { layer: layer - 1, step: Step::named("leaving-layer") },
    }
}

/// An entry of a list of outputs, counted from 0.
fn of_list(list: &str, number: usize, family: Family, layers: usize) -> Option<Place> {
    match list {
        "hidden_states" if number == layers => {
            let last = if family.facts().encoder { "leaving-layer" } else { "last-hidden" };
            Some(outside(Step::named(last), layers))
        }
        _ if number >= layers => None,
        "hidden_states" | "layers_input" => Some(entering(number + 1)),
        _ => Some(Place { layer: number + 1, step: named(list, |step| &step.lists, |_| false)? }),
    }
}

/// What a hook of TransformerLens is.
fn hook(parts: &[&str], layers: usize) -> Option<Place> {
    let ["blocks", number, inside @ ..] = parts else {
        return Some(outside(named(&parts.join("."), |step| &step.hooks_outside, |_| false)?, layers));
    };
    let layer = number.parse::<usize>().ok().filter(|layer| *layer < layers)? + 1;
    match inside.join(".").as_str() {
        "hook_resid_pre" | "hook_in" => Some(entering(layer)),
        inside => Some(Place { layer, step: named(inside, |step| &step.hooks, |_| false)? }),
    }
}
