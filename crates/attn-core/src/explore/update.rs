//! From a state and an event to the next state, at once or after a computation that may take long.

use std::sync::Arc;

use crate::graph::recipes::Recipe;
use crate::graph::{CellId, ChangedNumber, Graph, NodeId, Step, Watch};
use crate::text::number;

use super::event::{Event, Form, Message, Way};
use super::relations::{found, within};
use super::source::{self, Changes, Knob, Setting, Settings, outputs};
use super::state::{LONGEST_PATH, MOST_CHANGES, Mode, Purpose, State, Version};

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
    let wanted = match (state.mode.clone(), event) {
        (Mode::Help { page }, Event::MoreHelp) => state.becomes(Mode::Help { page: page.wrapping_add(1) }),
        (Mode::Help { .. }, Event::Help | Event::Back | Event::Accept | Event::Open)
        | (Mode::Write, Event::Back) => state.becomes(Mode::Look),
        (Mode::Help { .. }, event) => {
            state.mode = Mode::Look;
            state.looking(event)
        }
        (Mode::Write, Event::Type('c')) => state.becomes(Mode::naming(Form::Command)),
        (Mode::Write, Event::Type('f')) => state.becomes(Mode::naming(Form::Files)),
        (Mode::Write, Event::Type('l')) => state.becomes(Mode::naming(Form::Lesson)),
        // Another key is no form; the question stays.
        (Mode::Write, _) => None,
        (Mode::Typing { text, purpose }, event) => state.typing(text, purpose, event),
        (Mode::Adjust(knob), Event::Move(Way::Left)) => state.adjust(knob, -1),
        (Mode::Adjust(knob), Event::Move(Way::Right)) => state.adjust(knob, 1),
        (Mode::Adjust(knob), Event::Erase) => state.reset(knob),
        (Mode::Adjust(knob), Event::Set(setting)) if setting.knob() == knob => {
            // A kind of positions is chosen, and not passed over if the matrices do not allow it.
            let adjusts = (knob != Knob::Positions).then_some((knob, 1));
            state.set(setting, state.has_adjusted, adjusts)
        }
        (Mode::Adjust(_), Event::Back | Event::Accept | Event::Open) => state.becomes(Mode::Look),
        (Mode::Adjust(knob), event) if event == Event::Adjust(knob) => state.becomes(Mode::Look),
        (_, event) => state.looking(event),
    };
    match wanted {
        None => Planned::Done(Box::new(state)),
        Some(wanted) => Planned::Computing(Box::new(Computation { state, wanted })),
    }
}

impl Mode {
    /// The name of a file or folder is typed.
    fn naming(form: Form) -> Mode {
        Mode::Typing { text: String::new(), purpose: Purpose::File(form) }
    }
}

impl State {
    /// Another mode, and no change.
    fn becomes(&mut self, mode: Mode) -> Option<Wanted> {
        self.mode = mode;
        None
    }

    /// Does what an event means while nothing is typed; returns the change that it wants, if it is one.
    fn looking(&mut self, event: Event) -> Option<Wanted> {
        match event {
            Event::Move(way) => self.go(way),
            Event::Point(cell) => self.put(cell),
            Event::NextOperand => self.choose(1),
            Event::PreviousOperand => self.choose(-1),
            Event::Open | Event::Accept => match self.chosen_operand() {
                Some(cell) => self.visit(cell),
                None => self.message = Some(Message::Given),
            },
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
        if self.is_read_only() {
            return;
        }
        if self.is_on_given() {
            self.mode = Mode::Typing { text, purpose: Purpose::Number };
        } else if is_given && self.is_on_number() {
            self.message = Some(Message::TakenOut);
        } else {
            self.message = Some(Message::Computed(self.cursor));
        }
    }

    fn typing(&mut self, mut text: String, purpose: Purpose, event: Event) -> Option<Wanted> {
        let longest = if matches!(purpose, Purpose::File(_)) { LONGEST_NAME } else { LONGEST };
        self.mode = Mode::Look;
        match event {
            Event::Accept | Event::Open => return self.take(text, purpose),
            Event::Back => return None,
            Event::Type(c) if text.chars().count() < longest => text.push(c),
            Event::Erase => drop(text.pop()),
            // What is typed stays; a movement is not part of a text.
            _ => {}
        }
        self.becomes(Mode::Typing { text, purpose })
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

// The computation that an event asks for: it may take long, so that a front end can let another thread do it.

/// What an event leads to.
#[derive(Clone, Debug)]
pub enum Planned {
    /// To a state.
    Done(Box<State>),
    /// To a state that has to be computed first.
    Computing(Box<Computation>),
}

/// A change that has still to be computed.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub changes: Changes,
    /// Whether it takes the place of the last change, as further steps of a setting do.
    pub replaces: bool,
    /// The setting that is adjusted, and the direction.
    pub adjusts: Option<(Knob, isize)>,
    /// The settings before.
    pub settings: Settings,
}

/// A change that has still to be computed, and the state before it.
#[derive(Clone, Debug)]
pub struct Computation {
    pub(super) state: State,
    pub(super) wanted: Wanted,
}

/// How far a computation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The steps that are complete, of about how many.
    pub steps: [usize; 2],
    /// The layer of the model that it is in, from 1, and the last layer.
    pub layer: Option<[usize; 2]>,
}

impl Computation {
    /// The state with the change; `None` if it was stopped before. A change that is refused leaves a [`Message`].
    pub fn run(self, watch: &Watch) -> Option<State> {
        let Computation { mut state, mut wanted } = self;
        loop {
            let before = Arc::clone(&state.history[state.at].graph);
            let graph = Graph::new().after(before).watched(watch.clone());
            match state.source.graph_from(graph, &wanted.changes, Some(&state.start.graph)) {
                Ok(graph) => {
                    state.take_graph(wanted, graph);
                    return Some(state);
                }
                Err(_) if watch.is_stopped() => return None,
                Err(error) => {
                    state.message = Some(Message::Refused(error.to_string()));
                    match wanted.passed_over() {
                        Some(next) => wanted = next,
                        None => return Some(state),
                    }
                }
            }
        }
    }

    /// The state if the computation is stopped: as before the change.
    pub fn stopped(&self) -> State {
        State { message: Some(Message::Stopped), ..self.state.clone() }
    }

    /// What is to be computed instead, if an event that comes while it is computed is a further step of the setting that is adjusted:
    /// it goes on from the value that has not been computed. `None` for every other event.
    pub fn further(&self, event: &Event) -> Option<Computation> {
        let by = match event {
            Event::Move(Way::Left) => -1,
            Event::Move(Way::Right) => 1,
            _ => return None,
        };
        let (knob, _) = self.wanted.adjusts.filter(|(knob, _)| self.state.mode == Mode::Adjust(*knob))?;
        let settings = self.state.settings_with(&self.wanted.changes);
        // At the end of the range it stays.
        let changes = source::adjusted(self.wanted.changes.clone(), settings, knob, by)
            .unwrap_or_else(|| self.wanted.changes.clone());
        let wanted = Wanted { changes, settings, adjusts: Some((knob, by)), ..self.wanted };
        Some(Computation { wanted, ..self.clone() })
    }

    /// The state before the change.
    pub fn before(&self) -> &State {
        &self.state
    }

    /// How far it is.
    pub fn progress(&self, watch: &Watch) -> Progress {
        // The steps are those of the graph before, but for a few that a setting adds or leaves out.
        let graph = self.state.graph();
        let layer = |id: NodeId| graph[id].step.and_then(|step| step.layer);
        let ids: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
        let done = watch.steps().min(ids.len());
        let here = ids[..done].iter().rev().find_map(|&id| layer(id));
        let last = ids.iter().filter_map(|&id| layer(id)).max();
        Progress { steps: [done, ids.len()], layer: last.map(|last| [here.unwrap_or(1), last]) }
    }
}

impl Wanted {
    /// The next kind of positions, in place of one that these matrices do not allow.
    fn passed_over(self) -> Option<Wanted> {
        let (knob, by) = self.adjusts.filter(|(knob, _)| *knob == Knob::Positions)?;
        let mut settings = self.settings;
        if let Some(positions) = self.changes.settings.get(&Knob::Positions) {
            positions.put(&mut settings.recipe);
        }
        let changes = source::adjusted(self.changes, settings, knob, by)?;
        Some(Wanted { changes, settings, ..self })
    }
}

impl State {
    /// Takes a computed graph as the next state of the history, or in place of this one.
    fn take_graph(&mut self, wanted: Wanted, graph: Graph) {
        let before = Arc::clone(&self.history[self.at].graph);
        let keep = if wanted.replaces { self.at } else { self.at + 1 };
        self.message = None;
        self.has_adjusted |= wanted.adjusts.is_some();
        self.put_version(keep, Version { changes: wanted.changes, graph: Arc::new(graph) });
        self.beside = None;
        self.follow(&before);
    }
}

// Something is changed: a number, a setting, a head, the whole recipe. Each returns the change that is wanted, or leaves a message.

impl State {
    /// A change that is the next one of the history.
    fn wanted(&self, changes: Changes) -> Wanted {
        Wanted { changes, replaces: false, adjusts: None, settings: self.settings() }
    }

    /// Whether nothing can be changed, which it says.
    fn is_read_only(&mut self) -> bool {
        let reason = self.source.read_only().map(|reason| Message::ReadOnly(reason.to_string()));
        self.message = reason.or(self.message.take());
        self.source.read_only().is_some()
    }

    fn begin_adjusting(&mut self, knob: Knob) {
        if self.is_read_only() {
            return;
        }
        if self.has_knob(knob) {
            self.mode = Mode::Adjust(knob);
            self.has_adjusted = false;
        } else {
            self.message = Some(Message::NoKnob(knob));
        }
    }

    /// A setting changed by one step in a direction; a value that the computation refuses will be passed over.
    fn adjust(&mut self, knob: Knob, by: isize) -> Option<Wanted> {
        let settings = self.settings();
        let Some(changes) = source::adjusted(self.changes().clone(), settings, knob, by) else {
            self.message = Some(Message::NoFurther);
            return None;
        };
        Some(Wanted { changes, replaces: self.has_adjusted, adjusts: Some((knob, by)), settings })
    }

    /// A setting with this value, if it does not have it already.
    fn set(&self, setting: Setting, replaces: bool, adjusts: Option<(Knob, isize)>) -> Option<Wanted> {
        let changes = self.changes().clone().with(setting);
        let is_other = self.setting(setting.knob()) != setting;
        is_other.then_some(Wanted { changes, replaces, adjusts, settings: self.settings() })
    }

    /// A setting as at the start.
    fn reset(&self, knob: Knob) -> Option<Wanted> {
        let mut changes = self.changes().clone();
        changes.settings.remove(&knob);
        let is_other = changes != *self.changes();
        let (replaces, settings) = (self.has_adjusted, self.settings());
        // The start is never refused, so that the direction does not matter.
        is_other.then_some(Wanted { changes, replaces, adjusts: Some((knob, 1)), settings })
    }

    fn follow_recipe(&mut self, recipe: Recipe) -> Option<Wanted> {
        let Some(start) = self.source.recipe(&Changes::default()) else {
            self.message = Some(Message::NoRecipe);
            return None;
        };
        let changes = source::following(self.changes().clone(), start, recipe);
        (self.recipe() != Some(recipe)).then(|| self.wanted(changes))
    }

    fn remove_head(&mut self) -> Option<Wanted> {
        if self.is_read_only() {
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
    fn with_all_heads(&self) -> &Graph {
        let is_whole = |version: &&Arc<Version>| {
            version.changes.removed.is_empty() && version.changes.recipe == self.changes().recipe
        };
        let found = self.history[..=self.at].iter().rev().find(is_whole);
        &found.unwrap_or(&self.start).graph
    }
}

// The cursor moves: over a matrix, along the operands, from step to step.

impl State {
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
            if self.path.len() == LONGEST_PATH {
                self.path.remove(0);
            }
            self.path.push(self.cursor);
            self.put(cell);
        }
    }

    fn choose(&mut self, by: isize) {
        let all = self.operands();
        match self.chosen_operand().and_then(|cell| all.iter().position(|other| *other == cell)) {
            Some(now) => {
                self.chosen = Some((now as isize + by).rem_euclid(all.len() as isize) as usize);
            }
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
        let here = self.cursor.node;
        match graph[here].step.and_then(other).and_then(|step| graph.like(here, step)) {
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
}

/// A number counted from 1, moved.
fn moved(number: usize, by: isize) -> Option<usize> {
    number.checked_add_signed(by).filter(|number| *number > 0)
}

// Numbers as they are typed.

/// A character that a number may begin with.
pub fn begins_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '−' | '.')
}
