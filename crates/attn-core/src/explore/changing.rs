//! Something is changed: a number, a setting, a head, the whole recipe. Each returns the change that is wanted, or leaves a message.

use std::sync::Arc;

use super::changes::Changes;
use super::computation::Wanted;
use super::heads::outputs;
use super::knobs::{self, Knob, Setting};
use super::message::{Form, Message};
use super::state::{Mode, Purpose, State, Version};
use crate::graph::Graph;
use crate::graph::recipes::Recipe;

impl State {
    /// A change that is the next one of the history.
    pub(super) fn wanted(&self, changes: Changes) -> Wanted {
        Wanted { changes, replaces: false, adjusts: None, settings: self.settings() }
    }

    pub(super) fn choose_form(&mut self, letter: char) {
        if let Some(form) = Form::of(letter) {
            self.mode = Mode::Typing { text: String::new(), purpose: Purpose::File(form) };
        }
    }

    pub(super) fn begin_adjusting(&mut self, knob: Knob) {
        if let Some(reason) = self.source.read_only() {
            self.message = Some(Message::ReadOnly(reason.to_string()));
        } else if self.source.has_knob(knob, self.graph()) {
            self.mode = Mode::Adjust(knob);
            self.has_adjusted = false;
        } else {
            self.message = Some(Message::NoKnob(knob));
        }
    }

    /// A setting changed by one step in a direction; a value that the computation refuses will be passed over.
    pub(super) fn adjust(&mut self, knob: Knob, by: isize) -> Option<Wanted> {
        let settings = self.settings();
        let changes = knobs::adjusted(self.changes().clone(), settings, knob, by);
        if changes.is_none() {
            self.message = Some(Message::NoFurther);
        }
        Some(Wanted { changes: changes?, replaces: self.has_adjusted, adjusts: Some((knob, by)), settings })
    }

    /// A setting with this value, if it does not have it already.
    pub(super) fn set(
        &self,
        setting: Setting,
        replaces: bool,
        adjusts: Option<(Knob, isize)>,
    ) -> Option<Wanted> {
        let changes = setting.within(self.changes().clone());
        let is_other = self.setting(setting.knob()) != setting;
        is_other.then_some(Wanted { changes, replaces, adjusts, settings: self.settings() })
    }

    /// A setting as at the start.
    pub(super) fn reset(&self, knob: Knob) -> Option<Wanted> {
        let changes = knobs::reset(self.changes().clone(), knob);
        let is_other = changes != *self.changes();
        let (replaces, settings) = (self.has_adjusted, self.settings());
        // The start is never refused, so that the direction does not matter.
        is_other.then_some(Wanted { changes, replaces, adjusts: Some((knob, 1)), settings })
    }

    pub(super) fn follow_recipe(&mut self, recipe: Recipe) -> Option<Wanted> {
        let Some(start) = self.source.recipe(&Changes::default()) else {
            self.message = Some(Message::NoRecipe);
            return None;
        };
        let changes = knobs::following(self.changes().clone(), start, recipe);
        (self.recipe() != Some(recipe)).then(|| self.wanted(changes))
    }

    pub(super) fn remove_head(&mut self) -> Option<Wanted> {
        if let Some(reason) = self.source.read_only() {
            self.message = Some(Message::ReadOnly(reason.to_string()));
            return None;
        }
        let Some(head) = self.head().filter(|head| !outputs(self.with_all_heads(), *head).is_empty()) else {
            self.message = Some(Message::NoHead);
            return None;
        };
        let mut changes = self.changes().clone();
        if !changes.removed.remove(&head) {
            changes.removed.insert(head);
        }
        Some(self.wanted(changes))
    }

    /// The last graph of this recipe in which no head was taken out.
    pub(super) fn with_all_heads(&self) -> &Graph {
        let is_whole = |version: &&Arc<Version>| {
            version.changes.removed.is_empty() && version.changes.recipe == self.changes().recipe
        };
        let found = self.history[..=self.at].iter().rev().find(is_whole);
        &found.unwrap_or(&self.start).graph
    }
}
