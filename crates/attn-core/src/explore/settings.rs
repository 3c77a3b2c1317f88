//! The settings of a state, as they are now.

use super::changes::Changes;
use super::knobs::{Knob, Setting, Settings};
use super::state::State;
use crate::graph::recipes::Scale;
use crate::graph::{Op, Stage, Step};

impl State {
    /// Whether a setting can be adjusted.
    pub fn has_knob(&self, knob: Knob) -> bool {
        self.source.has_knob(knob, self.graph())
    }

    /// The value of a setting now.
    pub fn setting(&self, knob: Knob) -> Setting {
        self.settings().of(knob)
    }

    /// The values that a setting can be chosen from: masks and positions; none for one that is any number.
    pub fn choices(&self, knob: Knob) -> Vec<Setting> {
        self.settings().choices(knob)
    }

    /// The number that multiplies the scores now.
    pub fn factor(&self) -> f64 {
        self.settings().factor
    }

    /// The settings as they are now.
    pub(super) fn settings(&self) -> Settings {
        self.settings_with(self.changes())
    }

    /// The settings with these changes of this graph.
    pub(super) fn settings_with(&self, changes: &Changes) -> Settings {
        let graph = self.graph();
        let of_stage = |stage: Stage| {
            graph.nodes().find(|(_, node)| matches!(node.step, Some(Step { stage: of, .. }) if of == stage))
        };
        let factor = match (changes.scale, of_stage(Stage::Scaled).map(|(_, node)| &node.op)) {
            (Some(Scale::Number(number)), Some(Op::Scale(_))) => number,
            (_, Some(Op::Scale(factor))) => factor.value(),
            _ => 1.0,
        };
        let keys = of_stage(Stage::Scores).map_or(0, |(_, node)| node.shape().cols);
        if let Some(recipe) = self.source.recipe(changes) {
            let (temperature, scale) = (recipe.temperature, recipe.scale);
            let (mask, positions) = (recipe.mask, recipe.positions.kind);
            return Settings { temperature, scale, mask, positions, keys, factor };
        }
        let mut settings = Settings {
            temperature: 1.0,
            scale: changes.scale.unwrap_or(Scale::Auto),
            mask: Default::default(),
            positions: Default::default(),
            keys,
            factor,
        };
        for (_, node) in graph.nodes() {
            match super::knobs::op_with(node, changes) {
                Op::Temperature(temperature) => settings.temperature = temperature,
                Op::Mask(mask) => settings.mask = mask,
                _ => {}
            }
        }
        settings
    }
}
