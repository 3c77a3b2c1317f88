//! From a state and an event to the next state.

use std::sync::Arc;

use crate::graph::{CellId, ChangedNumber, Graph, Step, Watch};
use crate::text::number;

use super::computation::{Computation, Planned, Wanted};
use super::event::{Event, Way};
use super::knobs::Knob;
use super::message::Message;
use super::moving::moved;
use super::search::found;
use super::source::Source;
use super::state::{MOST_CHANGES, Mode, Purpose, State, Version};
use super::typing::begins_number;

/// The most decimals that are shown.
const MOST_DECIMALS: usize = 12;

/// The longest number or search that is typed.
const LONGEST: usize = 64;
/// The longest name of a file.
const LONGEST_NAME: usize = 1000;

/// The state after an event. It depends on nothing else, and an event that cannot be followed leaves a [`Message`]. A change is
/// computed at once; [`plan`] leaves that to the caller.
pub fn update(state: State, event: Event) -> State {
    match plan(state, event) {
        Planned::Done(state) => *state,
        Planned::Computing(computation) => {
            let stopped = computation.stopped();
            computation.run(&Watch::default()).unwrap_or(stopped)
        }
    }
}

/// What an event leads to: the next state, or what has to be computed for it.
pub fn plan(mut state: State, event: Event) -> Planned {
    state.message = None;
    if let Mode::Help { page } = state.mode {
        match event {
            Event::Help | Event::Back | Event::Accept | Event::Open => state.mode = Mode::Look,
            Event::MoreHelp => state.mode = Mode::Help { page: page.wrapping_add(1) },
            event => {
                state.mode = Mode::Look;
                return plan(state, event);
            }
        }
        return Planned::Done(Box::new(state));
    }
    let wanted = match (state.mode.clone(), event) {
        (Mode::Write, event) => {
            match event {
                Event::Type(letter) => state.choose_form(letter),
                Event::Back => state.mode = Mode::Look,
                // Another key is no form; the question stays.
                _ => {}
            }
            None
        }
        (Mode::Typing { text, purpose }, event) => state.typing(text, purpose, event),
        (Mode::Adjust(knob), Event::Move(Way::Left)) => state.adjust(knob, -1),
        (Mode::Adjust(knob), Event::Move(Way::Right)) => state.adjust(knob, 1),
        (Mode::Adjust(knob), Event::Erase) => state.reset(knob),
        (Mode::Adjust(knob), Event::Set(setting)) if setting.knob() == knob => {
            // A kind of positions is chosen, and not passed over if the matrices do not allow it.
            let adjusts = (knob != Knob::Positions).then_some((knob, 1));
            state.set(setting, state.has_adjusted, adjusts)
        }
        (Mode::Adjust(knob), event) if leaves(knob, &event) => {
            state.mode = Mode::Look;
            None
        }
        (_, event) => state.looking(event),
    };
    match wanted {
        None => Planned::Done(Box::new(state)),
        Some(wanted) => Planned::Computing(Box::new(Computation { state, wanted })),
    }
}

/// Whether an event ends the adjusting of a setting.
fn leaves(knob: Knob, event: &Event) -> bool {
    matches!(event, Event::Back | Event::Accept | Event::Open) || *event == Event::Adjust(knob)
}

impl State {
    /// Does what an event means while nothing is typed; returns the change that it wants, if it is one.
    fn looking(&mut self, event: Event) -> Option<Wanted> {
        match event {
            Event::Move(way) => self.go(way),
            Event::Point(cell) => self.put(cell),
            Event::NextOperand => self.choose(1),
            Event::PreviousOperand => self.choose(-1),
            Event::Open | Event::Accept => self.open(),
            Event::Back => self.back(),
            Event::Head(_) if self.head().is_none() => self.message = Some(Message::NoHead),
            Event::Head(by) => self.beside_step(|step| Some(Step { head: moved(step.head?, by), ..step })),
            Event::Layer(by) => self.beside_step(|step| Some(Step { layer: moved(step.layer?, by), ..step })),
            Event::Node(by) => self.step(by),
            Event::Type(c) if begins_number(c) => self.begin(c.to_string()),
            Event::Type(_) | Event::Erase | Event::MoreHelp => {}
            Event::Edit => {
                let text = self.value().map(|x| x.to_string()).unwrap_or_default();
                self.begin(if self.predicts { String::new() } else { text });
            }
            Event::Enter(text) => {
                self.begin(text.clone());
                if let Mode::Typing { purpose, .. } = self.mode {
                    self.mode = Mode::Look;
                    return self.take(text, purpose);
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
                    return self.set(setting, false, None);
                }
            }
            Event::Follow(recipe) => return self.follow_recipe(*recipe),
            Event::RemoveHead => return self.remove_head(),
            Event::Undo => self.travel(-1),
            Event::Redo => self.travel(1),
            Event::Versus => self.versus(),
            Event::Digits(by) => {
                self.decimals = self.decimals.saturating_add_signed(by).min(MOST_DECIMALS);
            }
            Event::Write => self.mode = Mode::Write,
            Event::Help => self.mode = Mode::Help { page: 0 },
        }
        None
    }

    /// Begins a number: for the given cell, or as a guess.
    fn begin(&mut self, text: String) {
        if self.predicts {
            self.mode = Mode::Typing { text, purpose: Purpose::Guess };
            return;
        }
        let is_given = self.graph()[self.cursor.node].op.is_given();
        if let Some(reason) = self.source.read_only() {
            self.message = Some(Message::ReadOnly(reason.to_string()));
        } else if self.is_on_given() {
            self.mode = Mode::Typing { text, purpose: Purpose::Number };
        } else if is_given && self.is_on_number() {
            self.message = Some(Message::TakenOut);
        } else {
            self.message = Some(Message::Computed(self.cursor));
        }
    }

    fn typing(&mut self, mut text: String, purpose: Purpose, event: Event) -> Option<Wanted> {
        self.mode = Mode::Look;
        match event {
            Event::Type(c) => {
                let longest = if matches!(purpose, Purpose::File(_)) { LONGEST_NAME } else { LONGEST };
                if text.chars().count() < longest {
                    text.push(c);
                }
                self.mode = Mode::Typing { text, purpose };
            }
            Event::Erase => {
                text.pop();
                self.mode = Mode::Typing { text, purpose };
            }
            Event::Accept | Event::Open => return self.take(text, purpose),
            Event::Back => {}
            // What is typed stays; a movement is not part of a text.
            _ => self.mode = Mode::Typing { text, purpose },
        }
        None
    }

    /// Takes a text that was typed.
    fn take(&mut self, text: String, purpose: Purpose) -> Option<Wanted> {
        match (purpose, number(&text)) {
            (Purpose::Search, _) => {
                let text = if text.trim().is_empty() { self.last_search.clone() } else { text };
                self.last_search = text.clone();
                match found(self.graph(), self.cursor, &text) {
                    Some(cell) => self.visit(cell),
                    None => self.message = Some(Message::NotFound(text)),
                }
            }
            (Purpose::File(form), _) if !text.trim().is_empty() => {
                self.message = Some(Message::Write(form, text.trim().to_string()));
            }
            (Purpose::File(_), _) => self.message = Some(Message::NoNumber(String::new())),
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
                    return Some(self.wanted(self.changes().clone().with_number(number)));
                }
            }
        }
        None
    }

    /// Moves along the history.
    fn travel(&mut self, by: isize) {
        let next = self.at.checked_add_signed(by).filter(|at| *at < self.history.len());
        let Some(next) = next else {
            self.message = Some(match by {
                1.. => Message::NothingToRedo,
                _ if self.has_forgotten => Message::Forgotten(MOST_CHANGES),
                _ => Message::NothingToUndo,
            });
            return;
        };
        let before = Arc::clone(&self.history[self.at].graph);
        self.at = next;
        // A further step of the setting is a change of its own: it must not take the place of the state that is come back to.
        self.has_adjusted = false;
        self.beside = None;
        self.follow(&before);
    }

    /// Keeps the cursor and the path where they were, after the graph has changed.
    pub(super) fn follow(&mut self, before: &Graph) {
        self.cursor = self.same_cell(before, self.cursor);
        self.path = self.path.iter().map(|&cell| self.same_cell(before, cell)).collect();
        self.chosen = None;
        self.guessed = None;
        self.find_moved();
    }

    fn versus(&mut self) {
        let is_start = |version: &Arc<Version>| Arc::ptr_eq(version, &self.start);
        self.beside = match &self.beside {
            _ if is_start(&self.history[self.at]) => {
                self.message = Some(Message::NothingChanged);
                None
            }
            None => {
                Some(Arc::clone(self.at.checked_sub(1).map_or(&self.start, |before| &self.history[before])))
            }
            Some(beside) if is_start(beside) => None,
            Some(_) => Some(Arc::clone(&self.start)),
        };
        self.find_moved();
    }
}

impl Source {
    /// Whether it can be changed.
    pub fn is_changeable(&self) -> bool {
        self.read_only().is_none()
    }
}
