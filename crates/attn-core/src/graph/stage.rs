//! The names of the matrices of attention, and the order of its steps. No other file decides them.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoEnumIterator};

use crate::text::clip;

/// A matrix that attention starts from. Q, K and V are given, or computed from X.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, Serialize, Deserialize,
)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Role {
    /// The tokens, one row each.
    #[default]
    X,
    /// The weights that make queries of tokens.
    WQ,
    /// The weights that make keys of tokens.
    WK,
    /// The weights that make values of tokens.
    WV,
    /// The weights of the output projection.
    WO,
    /// The bias of the projection that makes queries: a row that is added to each of them.
    BQ,
    /// The bias of the projection that makes keys.
    BK,
    /// The bias of the projection that makes values.
    BV,
    /// The bias of the output projection.
    BO,
    /// The queries.
    Q,
    /// The keys.
    K,
    /// The values.
    V,
    /// The mask matrix.
    Mask,
    /// The bias, which is added to the scores.
    Bias,
    /// The gains of the norm of the queries.
    QueryGain,
    /// The gains of the norm of the keys.
    KeyGain,
    /// The divisors of LongRoPE's frequencies: a row for short texts, and one for long ones.
    Divisors,
    /// The table of T5's position biases: a row for each bucket, a column for each head.
    PositionTable,
    /// The sinks: a score for each head that belongs to no key.
    Sink,
    /// The weights of the output gate.
    Gate,
}

impl From<Role> for &'static str {
    fn from(role: Role) -> &'static str {
        role.name()
    }
}

impl TryFrom<String> for Role {
    type Error = String;

    fn try_from(name: String) -> Result<Role, String> {
        let role = Role::all().find(|role| role.name() == name);
        role.ok_or_else(|| format!("no matrix that attention starts from is called `{name}`"))
    }
}

impl Role {
    /// All of them, in the order in which they are named.
    pub fn all() -> impl Iterator<Item = Role> {
        Role::iter()
    }

    /// The name of its node, and of its entry in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Role::X => "X",
            Role::WQ => "W_Q",
            Role::WK => "W_K",
            Role::WV => "W_V",
            Role::WO => "W_O",
            Role::BQ => "b_Q",
            Role::BK => "b_K",
            Role::BV => "b_V",
            Role::BO => "b_O",
            Role::Q => "Q",
            Role::K => "K",
            Role::V => "V",
            Role::Mask => "M",
            Role::Bias => "B",
            Role::QueryGain => "g_Q",
            Role::KeyGain => "g_K",
            Role::Divisors => "F_divisors",
            Role::PositionTable => "R",
            Role::Sink => "sink",
            Role::Gate => "W_g",
        }
    }

    /// The weights that it is computed with from X, if it is.
    pub const fn weights(self) -> Option<Role> {
        match self {
            Role::Q => Some(Role::WQ),
            Role::K => Some(Role::WK),
            Role::V => Some(Role::WV),
            _ => None,
        }
    }

    /// The bias of the projection with these weights.
    pub const fn bias(self) -> Option<Role> {
        match self {
            Role::WQ => Some(Role::BQ),
            Role::WK => Some(Role::BK),
            Role::WV => Some(Role::BV),
            Role::WO => Some(Role::BO),
            _ => None,
        }
    }

    /// The weights of the projection that has this bias.
    pub fn weights_of_bias(self) -> Option<Role> {
        Role::all().find(|weights| weights.bias() == Some(self))
    }

    /// Returns true if it belongs to positions, a norm, sinks or a gate, and not to every attention.
    pub const fn is_of_mechanism(self) -> bool {
        matches!(
            self,
            Role::QueryGain | Role::KeyGain | Role::Divisors | Role::PositionTable | Role::Sink | Role::Gate
        )
    }

    /// Returns true if each head has its own block of columns: Q, K or V.
    pub const fn has_heads(self) -> bool {
        self.weights().is_some()
    }

    /// Returns true if it has a cell for each query and key and may hold −∞: a mask or a bias.
    pub const fn is_beside_scores(self) -> bool {
        matches!(self, Role::Mask | Role::Bias)
    }

    /// Returns true if it is a weight matrix.
    pub const fn is_weights(self) -> bool {
        matches!(self, Role::WQ | Role::WK | Role::WV | Role::WO | Role::Gate)
    }
}

/// A step of attention, in the order of computing. What a recipe leaves out is missing; the order stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// An input of attention. In JSON a step has its `role` instead.
    #[serde(skip)]
    Role(Role),
    /// `PE`: a vector for each position.
    PositionVectors,
    /// `X_positioned`: the tokens plus the vectors of their positions.
    Positioned,
    /// `Q_normed`: the queries, each divided by its root mean square.
    QueriesNormed,
    /// `K_normed`: the keys, likewise.
    KeysNormed,
    /// `F`: the frequencies of rotary positions.
    Frequencies,
    /// `F_scaled`: the frequencies for longer texts.
    FrequenciesScaled,
    /// `Q_rotated`: the queries, rotated by their positions.
    QueriesRotated,
    /// `K_rotated`: the keys, likewise.
    KeysRotated,
    /// `B_position`: the bias of each distance.
    PositionBias,
    /// `S`: every query compared with every key.
    Scores,
    /// `S_scaled`: the scores times the scale.
    Scaled,
    /// `S_biased`: plus the bias.
    Biased,
    /// `S_tempered`: divided by the temperature.
    Tempered,
    /// `S_capped`: kept between −c and c.
    Capped,
    /// `S_masked`: −∞ where the mask hides a key.
    Masked,
    /// `A`: the softmax of each row.
    Weights,
    /// `O` of one of several heads: its weights times its values.
    Mixed,
    /// `C`: the heads side by side, before the projection.
    Joined,
    /// `G_in`: X times the weights of the gate.
    GateInput,
    /// `G`: the gate, between 0 and 1.
    Gate,
    /// `O_gated`: the heads side by side, times the gate.
    Gated,
    /// `P`: times W_O, before the residual.
    Projected,
    /// `O`: the result.
    Output,
    /// `LSE`: ln Σ exp of each row that a softmax reads, a column for each head.
    Lse,
    /// `L`: a loss of the result, and what it is made of.
    Loss,
    /// `dA`, `dS_scaled`, …: the backward pass, each gradient and what helps to compute it.
    Backward,
}

impl Stage {
    /// All of them, in order.
    pub fn all() -> impl Iterator<Item = Stage> {
        Role::all().map(Stage::Role).chain(Stage::iter().filter(|stage| !matches!(stage, Stage::Role(_))))
    }

    /// The name of its node, without the head.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Role(role) => role.name(),
            Stage::PositionVectors => "PE",
            Stage::Positioned => "X_positioned",
            Stage::QueriesNormed => "Q_normed",
            Stage::KeysNormed => "K_normed",
            Stage::Frequencies => "F",
            Stage::FrequenciesScaled => "F_scaled",
            Stage::QueriesRotated => "Q_rotated",
            Stage::KeysRotated => "K_rotated",
            Stage::PositionBias => "B_position",
            Stage::Scores => "S",
            Stage::Scaled => "S_scaled",
            Stage::Biased => "S_biased",
            Stage::Tempered => "S_tempered",
            Stage::Capped => "S_capped",
            Stage::Masked => "S_masked",
            Stage::Weights => "A",
            Stage::Mixed | Stage::Output => "O",
            Stage::Joined => "C",
            Stage::GateInput => "G_in",
            Stage::Gate => "G",
            Stage::Gated => "O_gated",
            Stage::Projected => "P",
            Stage::Lse => "LSE",
            Stage::Loss => "L",
            Stage::Backward => "backward",
        }
    }

    /// Returns true if it is a step of the scores, before the softmax.
    pub fn is_scores(self) -> bool {
        (Stage::Scores..=Stage::Masked).contains(&self)
    }

    /// Returns true if each of several heads has a node of it.
    pub const fn is_per_head(self) -> bool {
        match self {
            Stage::Role(role) => role.has_heads() || role.is_beside_scores(),
            Stage::QueriesNormed
            | Stage::KeysNormed
            | Stage::QueriesRotated
            | Stage::KeysRotated
            | Stage::PositionBias
            | Stage::Scores
            | Stage::Scaled
            | Stage::Biased
            | Stage::Tempered
            | Stage::Capped
            | Stage::Masked
            | Stage::Weights
            | Stage::Mixed
            | Stage::Backward => true,
            _ => false,
        }
    }

    /// The step in one head, counted from 1; in the only head, `None`.
    pub const fn of_head(self, head: Option<usize>) -> Step {
        Step { stage: self, head, layer: None }
    }
}

/// A step of attention in one of its heads, and in one of a model's layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "StepForm", try_from = "StepForm")]
pub struct Step {
    /// The step.
    pub stage: Stage,
    /// The head, counted from 1; none where there is one head, or where the node belongs to all of them.
    pub head: Option<usize>,
    /// The layer, counted from 1; none outside a model.
    pub layer: Option<usize>,
}

impl From<Stage> for Step {
    fn from(stage: Stage) -> Step {
        stage.of_head(None)
    }
}

impl From<Role> for Step {
    fn from(role: Role) -> Step {
        Stage::Role(role).into()
    }
}

/// Its node's name: `S_scaled`, or `S_scaled_2` for the second of several heads; `L3.S_scaled_2` in the third layer.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(layer) = self.layer {
            write!(f, "L{layer}.")?;
        }
        match self.head {
            None => write!(f, "{}", self.stage.name()),
            Some(head) => write!(f, "{}_{head}", self.stage.name()),
        }
    }
}

/// A number from 1, as it is written in a name: without a zero in front.
fn number(text: &str) -> Option<usize> {
    let is_number = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

impl Step {
    /// The step in this layer of a model, counted from 1.
    pub const fn in_layer(self, layer: Option<usize>) -> Step {
        Step { layer, ..self }
    }

    /// The step that a user names: `S_scaled`, `S_scaled_2`, `L3.S_scaled_2`. None where no step has this name.
    pub fn parse(text: &str) -> Option<Step> {
        if let Some((layer, name)) = text.strip_prefix('L').and_then(|rest| rest.split_once('.')) {
            let layer = number(layer)?;
            return Step::parse(name)
                .filter(|step| step.layer.is_none())
                .map(|step| step.in_layer(Some(layer)));
        }
        let named =
            |name: &str, is: fn(Stage) -> bool| Stage::all().find(|&stage| stage.name() == name && is(stage));
        if let Some(stage) = named(text, |stage| stage != Stage::Mixed) {
            return Some(stage.into());
        }
        let (name, head) = text.rsplit_once('_')?;
        Some(named(name, Stage::is_per_head)?.of_head(Some(number(head)?)))
    }
}

// How JSON has a step: `{"stage": "scaled", "head": 2, "layer": 3}`, or `{"role": "W_Q"}` for a matrix that attention starts from.

/// More heads or layers than any model has.
const MOST: usize = 1 << 24;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layer: Option<usize>,
}

impl From<Step> for StepForm {
    fn from(Step { stage, head, layer }: Step) -> StepForm {
        let (stage, role) = match stage {
            Stage::Role(role) => (None, Some(role.name().to_string())),
            other => (Some(other), None),
        };
        StepForm { stage, role, head, layer }
    }
}

impl TryFrom<StepForm> for Step {
    type Error = String;

    fn try_from(StepForm { stage, role, head, layer }: StepForm) -> Result<Step, String> {
        if [head, layer].into_iter().flatten().any(|number| number == 0 || number > MOST) {
            return Err(format!("heads and layers count from 1, at most to {MOST}"));
        }
        let role_named = |name: String| {
            let role = Role::all().find(|role| role.name() == name);
            role.map(Stage::Role).ok_or_else(|| format!("there is no role `{}`", clip(&name)))
        };
        let stage = match (stage, role) {
            (Some(stage), None) => stage,
            (None, Some(name)) => role_named(name)?,
            _ => return Err("a step is either a `stage` or a `role`".to_string()),
        };
        Ok(Step { stage, head, layer })
    }
}

// The names of gradients and of the nodes that help to compute them.

/// A name in its parts: `L3.` and `S_scaled` and `_2`.
fn parts_of_name(name: &str) -> (&str, &str, &str) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_layer = |text: &str| text.strip_prefix('L').is_some_and(is_number);
    let (layer, rest) = match name.split_once('.') {
        Some((layer, _)) if is_layer(layer) => name.split_at(layer.len() + 1),
        _ => ("", name),
    };
    match rest.rsplit_once('_') {
        Some((stem, head)) if is_number(head) => (layer, stem, &rest[stem.len()..]),
        _ => (layer, rest, ""),
    }
}

/// A name without the numbers of its layer and its head: `dS_scaled` of `L3.dS_scaled_2`.
pub(super) fn stem(name: &str) -> &str {
    parts_of_name(name).1
}

/// The name of a node's gradient: `dS_scaled_2`, `L3.dA_1`.
pub(super) fn gradient_name(name: &str) -> String {
    let (layer, stem, head) = parts_of_name(name);
    format!("{layer}d{stem}{head}")
}

/// The name of a node that belongs to another: `dA_mean_2` for `dA_2` and `mean`.
pub(super) fn name_beside(name: &str, what: &str) -> String {
    let (layer, stem, head) = parts_of_name(name);
    format!("{layer}{stem}_{what}{head}")
}

/// The name of the part of a node's gradient that one of its readers hands on: `dX_from_Q`. A reader that reads it several times
/// says as which of its inputs.
pub(super) fn part_name(name: &str, reader: &str, input: Option<usize>) -> String {
    let (own, _, _) = parts_of_name(name);
    let reader = reader.strip_prefix(own).unwrap_or(reader).replace('.', "_");
    let input = input.map_or_else(String::new, |input| format!("_as_{}", input + 1));
    format!("{}_from_{reader}{input}", gradient_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_the_step_that_it_was_written_for() {
        for stage in Stage::all() {
            let heads = if stage.is_per_head() { [None, Some(1), Some(12)].as_slice() } else { &[None] };
            for step in heads.iter().map(|&head| stage.of_head(head)) {
                // The mix of the only head is the result, or the heads side by side.
                if step != Stage::Mixed.into() {
                    assert_eq!(Step::parse(&step.to_string()), Some(step));
                    let in_layer = step.in_layer(Some(12));
                    assert_eq!(Step::parse(&in_layer.to_string()), Some(in_layer));
                }
            }
        }
        for text in [
            "",
            "s",
            "S_",
            "S_0",
            "S_01",
            "S_a",
            "S_rounded",
            "C_1",
            "F_1",
            "W_Q_1",
            "LSE_2",
            "_1",
            "S__1",
            "L0.S",
            "L1.",
            "L1.L1.S",
        ] {
            assert_eq!(Step::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_order_is_that_of_the_design() {
        let scores: Vec<&str> = Stage::all().filter(|stage| stage.is_scores()).map(Stage::name).collect();
        assert_eq!(scores, ["S", "S_scaled", "S_biased", "S_tempered", "S_capped", "S_masked"]);
        assert!(Stage::all().is_sorted());
        assert!(
            Stage::Masked < Stage::Weights
                && Stage::Weights < Stage::Mixed
                && Stage::Role(Role::V) < Stage::Scores
        );
    }

    #[test]
    fn every_step_is_read_as_it_was_written() {
        for stage in Stage::all() {
            for step in [stage.of_head(None), stage.of_head(Some(3)).in_layer(Some(2))] {
                let form = serde_json::to_value(step).unwrap();
                assert_eq!(serde_json::from_value::<Step>(form.clone()).unwrap(), step, "{form}");
            }
        }
        let form = |step: Step| serde_json::to_string(&step).unwrap();
        assert_eq!(form(Stage::Scaled.of_head(Some(2))), r#"{"stage":"scaled","head":2}"#);
        assert_eq!(form(Role::WQ.into()), r#"{"role":"W_Q"}"#);
        for wrong in [
            "{}",
            r#"{"role":"Z"}"#,
            r#"{"stage":"scaled","role":"Q"}"#,
            r#"{"stage":"scaled","head":0}"#,
            r#"{"stage":"scored"}"#,
        ] {
            assert!(serde_json::from_str::<Step>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_head_comes_last_and_the_layer_first() {
        assert_eq!(
            ["A", "S_scaled_2", "L3.A_1", "W_Q"].map(gradient_name),
            ["dA", "dS_scaled_2", "L3.dA_1", "dW_Q"]
        );
        assert_eq!(name_beside("L3.dA_1", "mean"), "L3.dA_mean_1");
        assert_eq!(part_name("X", "Q", None), "dX_from_Q");
        assert_eq!(part_name("L3.K_1", "L3.S_2", None), "L3.dK_1_from_S_2");
        assert_eq!(part_name("X", "S", Some(1)), "dX_from_S_as_2");
    }
}
