//! From a state and an event to the next state.

use std::sync::Arc;

use super::changes::Changes;
use super::event::{Event, Way};
use super::heads::outputs;
use super::knobs::{self, Knob, Setting};
use super::message::Message;
use super::search::{found, within};
use super::source::Source;
use super::state::{Mode, Purpose, State, Version};
use super::typing::begins_number;
use crate::graph::recipes::Recipe;
use crate::graph::{CellId, ChangedNumber, Graph, NodeId, Step};
use crate::text::number;

/// The most decimals that are shown.
const MOST_DECIMALS: usize = 12;

/// The longest text that is typed.
const LONGEST: usize = 64;

/// The state after an event. It depends on nothing else, and an event that cannot be followed leaves a [`Message`].
pub fn update(mut state: State, event: Event) -> State {
    state.message = None;
    match (state.mode.clone(), event) {
        (Mode::Help, Event::Help | Event::Back | Event::Accept | Event::Open) => state.mode = Mode::Look,
        (Mode::Help, event) => {
            state.mode = Mode::Look;
            return update(state, event);
        }
        (Mode::Typing { text, purpose }, event) => state.typing(text, purpose, event),
        (Mode::Adjust(knob), Event::Move(Way::Left)) => state.adjust(knob, -1),
        (Mode::Adjust(knob), Event::Move(Way::Right)) => state.adjust(knob, 1),
        (Mode::Adjust(knob), Event::Erase) => state.reset(knob),
        (Mode::Adjust(_), Event::Back | Event::Accept | Event::Open) => state.mode = Mode::Look,
        (Mode::Adjust(knob), Event::Adjust(other)) if other == knob => state.mode = Mode::Look,
        (Mode::Adjust(knob), Event::Set(setting)) if setting.knob() == knob => {
            state.has_adjusted |= state.set(setting, state.has_adjusted);
        }
        (Mode::Adjust(_) | Mode::Look, event) => state.looking(event),
    }
    state
}

impl State {
    fn looking(&mut self, event: Event) {
        match event {
            Event::Move(way) => self.go(way),
            Event::Point(cell) => self.put(cell),
            Event::NextOperand => self.choose(1),
            Event::PreviousOperand => self.choose(-1),
            Event::Open | Event::Accept => self.open(),
            Event::Back => self.back(),
            Event::Head(by) => self.beside_step(|step| Some(Step { head: moved(step.head?, by), ..step })),
            Event::Layer(by) => self.beside_step(|step| Some(Step { layer: moved(step.layer?, by), ..step })),
            Event::Node(by) => self.step(by),
            Event::Type(c) if begins_number(c) => self.begin(c.to_string()),
            Event::Type(_) | Event::Erase => {}
            Event::Edit => {
                let text = self.value().map(|x| x.to_string()).unwrap_or_default();
                self.begin(if self.predicts { String::new() } else { text });
            }
            Event::Write(text) => {
                self.begin(text.clone());
                if let Mode::Typing { purpose, .. } = self.mode {
                    self.mode = Mode::Look;
                    self.take(text, purpose);
                }
            }
            Event::Predict => {
                self.predicts = !self.predicts;
                self.guessed = None;
            }
            Event::Search => self.mode = Mode::Typing { text: String::new(), purpose: Purpose::Search },
            Event::Adjust(knob) => self.begin_adjusting(knob),
            Event::Set(setting) => {
                self.begin_adjusting(setting.knob());
                if matches!(self.mode, Mode::Adjust(_)) {
                    self.mode = Mode::Look;
                    self.set(setting, false);
                }
            }
            Event::Follow(recipe) => self.follow_recipe(*recipe),
            Event::RemoveHead => self.remove_head(),
            Event::Undo => self.travel(-1),
            Event::Redo => self.travel(1),
            Event::Versus => self.versus(),
            Event::Digits(by) => {
                self.decimals = self.decimals.saturating_add_signed(by).min(MOST_DECIMALS);
            }
            Event::Help => self.mode = Mode::Help,
        }
    }

    fn go(&mut self, way: Way) {
        let shape = self.graph()[self.cursor.node].shape();
        let CellId { row, col, .. } = &mut self.cursor;
        match way {
            Way::Left => *col = col.saturating_sub(1),
            Way::Right => *col += 1,
            Way::Up => *row = row.saturating_sub(1),
            Way::Down => *row += 1,
            Way::RowsUp(by) => *row = row.saturating_sub(by),
            Way::RowsDown(by) => *row = row.saturating_add(by),
            Way::RowStart => *col = 0,
            Way::RowEnd => *col = shape.cols,
            Way::Top => *row = 0,
            Way::Bottom => *row = shape.rows,
        }
        self.put(self.cursor);
    }

    /// Puts the cursor on the nearest cell that exists.
    fn put(&mut self, cell: CellId) {
        if cell.node.position() < self.graph().nodes().count() {
            let cell = within(self.graph(), cell);
            if cell != self.cursor || self.guessed != Some(cell) {
                self.guessed = None;
            }
            self.cursor = cell;
            self.chosen = None;
        }
    }

    /// Goes to a cell in such a way that [`Event::Back`] returns.
    fn visit(&mut self, cell: CellId) {
        if cell != self.cursor {
            self.path.push(self.cursor);
            self.put(cell);
        }
    }

    fn choose(&mut self, by: isize) {
        let all = self.operands();
        let now = self.chosen_operand().and_then(|cell| all.iter().position(|other| *other == cell));
        match now {
            Some(now) => {
                let next = now as isize + by;
                self.chosen = Some(next.rem_euclid(all.len() as isize) as usize);
            }
            None => self.message = Some(Message::Given),
        }
    }

    fn open(&mut self) {
        match self.chosen_operand() {
            Some(cell) => self.visit(cell),
            None => self.message = Some(Message::Given),
        }
    }

    fn back(&mut self) {
        match self.path.pop() {
            Some(cell) => self.put(cell),
            None => {
                self.beside = None;
                self.find_moved();
            }
        }
    }

    /// Goes to the same step elsewhere: of another head or layer.
    fn beside_step(&mut self, other: impl Fn(Step) -> Option<Step>) {
        let graph = self.graph();
        let step = graph[self.cursor.node].step;
        match step.and_then(other).and_then(|step| graph.at(step)) {
            Some(node) => self.put(CellId { node, ..self.cursor }),
            None => self.message = Some(Message::NoFurther),
        }
    }

    /// Goes to a step further on, or before.
    fn step(&mut self, by: isize) {
        let nodes: Vec<NodeId> = self.graph().nodes().map(|(id, _)| id).collect();
        match self.cursor.node.position().checked_add_signed(by).and_then(|at| nodes.get(at)) {
            Some(&node) => self.put(CellId { node, ..self.cursor }),
            None => self.message = Some(Message::NoFurther),
        }
    }

    /// Begins a number: for the given cell, or as a guess.
    fn begin(&mut self, text: String) {
        if self.predicts {
            self.mode = Mode::Typing { text, purpose: Purpose::Guess };
            return;
        }
        let node = &self.graph()[self.cursor.node];
        if let Some(reason) = self.source.read_only() {
            self.message = Some(Message::ReadOnly(reason.to_string()));
        } else if !node.op.is_given() || !self.is_on_number() {
            self.message = Some(Message::Computed(self.cursor));
        } else {
            self.mode = Mode::Typing { text, purpose: Purpose::Number };
        }
    }

    fn typing(&mut self, mut text: String, purpose: Purpose, event: Event) {
        self.mode = Mode::Look;
        match event {
            Event::Type(c) => {
                if text.chars().count() < LONGEST {
                    text.push(c);
                }
                self.mode = Mode::Typing { text, purpose };
            }
            Event::Erase => {
                text.pop();
                self.mode = Mode::Typing { text, purpose };
            }
            Event::Accept | Event::Open => self.take(text, purpose),
            Event::Back => {}
            // What is typed stays; a movement is not part of a text.
            _ => self.mode = Mode::Typing { text, purpose },
        }
    }

    /// Takes a text that was typed.
    fn take(&mut self, text: String, purpose: Purpose) {
        match (purpose, number(&text)) {
            (Purpose::Search, _) => {
                let text = if text.trim().is_empty() { self.last_search.clone() } else { text };
                self.last_search = text.clone();
                match found(self.graph(), self.cursor, &text) {
                    Some(cell) => self.visit(cell),
                    None => self.message = Some(Message::NotFound(text)),
                }
            }
            (_, None) => self.message = Some(Message::NoNumber(text)),
            (Purpose::Guess, Some(guess)) => {
                if let Some(value) = self.value() {
                    self.guessed = Some(self.cursor);
                    self.message = Some(Message::Guessed { cell: self.cursor, guess, value });
                }
            }
            (Purpose::Number, Some(value)) => {
                let CellId { node, row, col } = self.cursor;
                let number = ChangedNumber { node: self.graph()[node].name.clone(), row, col, value };
                if self.value().is_some_and(|before| before.to_bits() != value.to_bits()) {
                    self.change(self.changes().clone().with_number(number), false);
                }
            }
        }
    }

    fn begin_adjusting(&mut self, knob: Knob) {
        if let Some(reason) = self.source.read_only() {
            self.message = Some(Message::ReadOnly(reason.to_string()));
        } else if self.source.has_knob(knob, self.graph()) {
            self.mode = Mode::Adjust(knob);
            self.has_adjusted = false;
        } else {
            self.message = Some(Message::NoKnob(knob));
        }
    }

    /// Changes a setting by one step in a direction; a value that the computation refuses is passed over.
    fn adjust(&mut self, knob: Knob, by: isize) {
        let mut changes = self.changes().clone();
        let mut settings = self.settings();
        while let Some(next) = knobs::adjusted(changes, settings, knob, by) {
            if self.change(next.clone(), self.has_adjusted) {
                self.has_adjusted = true;
                return;
            }
            if knob != Knob::Positions {
                return;
            }
            // A kind of positions that these matrices do not allow is passed over.
            settings.positions = next.positions.unwrap_or(settings.positions);
            changes = next;
        }
        if self.message.is_none() {
            self.message = Some(Message::NoFurther);
        }
    }

    /// Changes a setting to a value. Returns false if it has it already, or the computation refuses it.
    fn set(&mut self, setting: Setting, replaces: bool) -> bool {
        if self.setting(setting.knob()) == setting {
            return false;
        }
        self.change(setting.within(self.changes().clone()), replaces)
    }

    fn reset(&mut self, knob: Knob) {
        let changes = knobs::reset(self.changes().clone(), knob);
        if changes != *self.changes() {
            self.change(changes, self.has_adjusted);
            self.has_adjusted = true;
        }
    }

    fn follow_recipe(&mut self, recipe: Recipe) {
        match self.source.recipe(&Changes::default()) {
            Some(start) if self.recipe() != Some(recipe) => {
                self.change(knobs::following(self.changes().clone(), start, recipe), false);
            }
            Some(_) => {}
            None => self.message = Some(Message::NoRecipe),
        }
    }

    fn remove_head(&mut self) {
        if let Some(reason) = self.source.read_only() {
            self.message = Some(Message::ReadOnly(reason.to_string()));
            return;
        }
        let Some(head) = self.head().filter(|head| !outputs(self.with_all_heads(), *head).is_empty()) else {
            self.message = Some(Message::NoHead);
            return;
        };
        let mut changes = self.changes().clone();
        if !changes.removed.remove(&head) {
            changes.removed.insert(head);
        }
        self.change(changes, false);
    }

    /// The last graph of this recipe in which no head was taken out.
    fn with_all_heads(&self) -> &Graph {
        let is_whole = |version: &&Version| {
            version.changes.removed.is_empty() && version.changes.recipe == self.changes().recipe
        };
        let found = self.history[..=self.at].iter().rev().find(is_whole);
        &found.unwrap_or(&self.history[0]).graph
    }

    /// Computes the graph with these changes, as the next state of the history, or in place of this one. Returns false, with a
    /// message, if the computation refuses them.
    fn change(&mut self, changes: Changes, replaces: bool) -> bool {
        let before = Arc::clone(&self.history[self.at].graph);
        match self.source.graph(&changes, Some(&before)) {
            Ok(graph) => {
                self.message = None;
                let keep = if replaces { self.at } else { self.at + 1 };
                self.history.truncate(keep);
                self.history.push(Version { changes, graph: Arc::new(graph) });
                self.at = keep;
                self.beside = None;
                self.follow(&before);
                true
            }
            Err(error) => {
                self.message = Some(Message::Refused(error.to_string()));
                false
            }
        }
    }

    /// Moves along the history.
    fn travel(&mut self, by: isize) {
        let next = self.at.checked_add_signed(by).filter(|at| *at < self.history.len());
        let Some(next) = next else {
            self.message = Some(if by < 0 { Message::NothingToUndo } else { Message::NothingToRedo });
            return;
        };
        let before = Arc::clone(&self.history[self.at].graph);
        self.at = next;
        self.beside = None;
        self.follow(&before);
    }

    /// Keeps the cursor and the path where they were, after the graph has changed.
    fn follow(&mut self, before: &Graph) {
        self.cursor = self.same_cell(before, self.cursor);
        self.path = self.path.iter().map(|&cell| self.same_cell(before, cell)).collect();
        self.chosen = None;
        self.guessed = None;
        self.find_moved();
    }

    fn versus(&mut self) {
        self.beside = match (self.beside, self.at) {
            (_, 0) => {
                self.message = Some(Message::NothingChanged);
                None
            }
            (None, at) => Some(at - 1),
            (Some(0), _) => None,
            (Some(_), _) => Some(0),
        };
        self.find_moved();
    }
}

/// A number counted from 1, moved.
fn moved(number: usize, by: isize) -> Option<usize> {
    number.checked_add_signed(by).filter(|number| *number > 0)
}

impl Source {
    /// Whether it can be changed.
    pub fn is_changeable(&self) -> bool {
        self.read_only().is_none()
    }
}
