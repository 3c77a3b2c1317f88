//! The state: a history of graphs, a cursor, and what is typed, chosen and shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Result;
use crate::graph::recipes::{Recipe, Scale};
use crate::graph::{CellId, Graph, NodeId, Op, Origin, Stage, Step};
use crate::tensor::Tensor;

use super::event::{Form, Message};
use super::relations::{Sources, fed_by, largest_operand, most_telling, operands, sources, within};
use super::source::{Changes, HeadPlace, Knob, Setting, Settings, Source, head_of};

/// The most changes that can be taken back: each keeps its own numbers.
pub(super) const MOST_CHANGES: usize = 1000;
/// The most cells that the cursor can go back to.
pub(super) const LONGEST_PATH: usize = 1000;

/// The number of decimals at the start.
const DECIMALS: usize = 4;

/// A state of the computation: what is changed, and the graph with it.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub changes: Changes,
    pub graph: Arc<Graph>,
}

/// What the next event is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    /// Looking: the cursor moves.
    #[default]
    Look,
    /// A text is being typed.
    Typing {
        /// The text.
        text: String,
        /// Its purpose.
        purpose: Purpose,
    },
    /// A setting is adjusted with the keys that move to the left and right.
    Adjust(Knob),
    /// The form in which the state is written is chosen.
    Write,
    /// The keys are listed.
    Help {
        /// The page of the list, from 0; after the last one comes the first one again.
        page: usize,
    },
}

/// The purpose of a text that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The number for a given cell.
    Number,
    /// A guess of the number under the cursor.
    Guess,
    /// A search.
    Search,
    /// The name of a file or folder to write to.
    File(Form),
}

/// A cell whose number is not what it was before the last change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The number before.
    pub before: f64,
    /// The number now.
    pub now: f64,
}

/// Everything that a front end shows. [`update`](super::update) makes the next one.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) source: Source,
    pub(super) start: Arc<Version>,
    /// The versions that can be gone back to and forth, this one among them.
    pub(super) history: Vec<Arc<Version>>,
    /// The place in the history.
    pub(super) at: usize,
    /// Whether the history has lost its oldest versions.
    pub(super) has_forgotten: bool,
    pub(super) cursor: CellId,
    /// The cells that the cursor came from, the first one first.
    pub(super) path: Vec<CellId>,
    /// The place of the chosen operand, where one is chosen.
    pub(super) chosen: Option<usize>,
    pub(super) mode: Mode,
    /// True once the setting that is adjusted has changed: further steps are part of the same change.
    pub(super) has_adjusted: bool,
    pub(super) decimals: usize,
    pub(super) predicts: bool,
    /// The cell whose number was guessed last, which is no longer hidden.
    pub(super) guessed: Option<CellId>,
    /// The state that is shown beside this one.
    pub(super) beside: Option<Arc<Version>>,
    /// The nodes with a number that is not what it was in the state before, or beside.
    pub(super) moved: Vec<NodeId>,
    pub(super) last_search: String,
    pub(super) message: Option<Message>,
}

/// The logits, if the result is those of a model.
fn logits(graph: &Graph) -> Option<NodeId> {
    graph.last().filter(|&node| graph.is_of_model() && graph[node].name == "logits")
}

impl State {
    /// The state at the start: the cursor stands on the most telling cell; of the logits of a model on that of the token which is
    /// predicted at the last position.
    ///
    /// # Errors
    /// If the computation fails.
    pub fn new(source: Source) -> Result<State> {
        let graph = Arc::new(source.graph(&Changes::default(), None)?);
        let node = graph.last().ok_or_else(|| crate::error::Error::new("there are no steps to explore"))?;
        let last = graph[node].shape().rows.saturating_sub(1);
        // Gradients that were asked for come before the steps that they are of.
        let from = graph.backward().map(|backward| backward.first());
        let told: Vec<NodeId> =
            graph.nodes().map(|(id, _)| id).filter(|id| from.is_none_or(|from| *id >= from)).collect();
        let begin = if logits(&graph).is_some() { None } else { most_telling(&graph, &told) };
        let cursor = begin.unwrap_or(CellId { node, row: 0, col: 0 });
        let start = Arc::new(Version { changes: Changes::default(), graph });
        let state = State {
            source,
            history: vec![Arc::clone(&start)],
            start,
            at: 0,
            has_forgotten: false,
            cursor,
            path: Vec::new(),
            chosen: None,
            mode: Mode::Look,
            has_adjusted: false,
            decimals: DECIMALS,
            predicts: false,
            guessed: None,
            beside: None,
            moved: Vec::new(),
            last_search: String::new(),
            message: None,
        };
        Ok(state.predicting(last))
    }

    /// This state with the cursor on the token that is predicted in a row, counted from 0: the largest logit. Where the result is not
    /// the logits of a model, it stays as it is.
    pub fn predicting(mut self, row: usize) -> State {
        let graph = self.graph();
        let logits = logits(graph).and_then(|node| Some((node, graph[node].tensor()?)));
        if let Some((node, tensor)) = logits.filter(|(_, tensor)| row < tensor.shape().rows) {
            let larger = |best, col| if tensor.at(row, col) > tensor.at(row, best) { col } else { best };
            let col = (0..tensor.shape().cols).reduce(larger).unwrap_or(0);
            self.cursor = CellId { node, row, col };
        }
        self
    }

    /// This state without a way back: the cursor begins here.
    pub fn begun_here(mut self) -> State {
        self.path.clear();
        self
    }

    /// This state with the cursor on a cell, where it begins; where the node is smaller, on its nearest one.
    pub fn begun_at(self, cell: CellId) -> State {
        State { cursor: within(self.graph(), cell), ..self }.begun_here()
    }

    /// This state as it is opened: of a graph that can only be looked at, it says so at once.
    pub fn opened(mut self) -> State {
        self.message = self.source.read_only().map(|reason| Message::ReadOnly(reason.to_string()));
        self
    }

    /// This state after these changes, in one step that can be taken back.
    ///
    /// # Errors
    /// If the computation refuses them.
    pub(super) fn after_changes(mut self, changes: Changes) -> Result<State> {
        let graph = Arc::new(self.source.graph(&changes, Some(&self.history[self.at].graph))?);
        let before = Arc::clone(&self.history[self.at].graph);
        self.put_version(self.at + 1, Version { changes, graph });
        self.follow(&before);
        Ok(self)
    }

    /// Makes a version the present one, at this place of the history; what came after is gone, and so is the oldest one where there
    /// are too many.
    pub(super) fn put_version(&mut self, at: usize, version: Version) {
        self.history.truncate(at);
        self.history.push(Arc::new(version));
        if self.history.len() > MOST_CHANGES + 1 {
            self.history.remove(0);
            self.has_forgotten = true;
        }
        self.at = self.history.len() - 1;
    }

    /// The graph as it is now.
    pub fn graph(&self) -> &Graph {
        &self.history[self.at].graph
    }

    /// What has been changed since the start.
    pub fn changes(&self) -> &Changes {
        &self.history[self.at].changes
    }

    /// The computation that is explored.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The recipe that is followed now; none where the computation has none.
    pub fn recipe(&self) -> Option<Recipe> {
        self.source.recipe(self.changes())
    }

    /// The origin at the start of a given number that is as it was, while others of its matrix are changed.
    pub fn origin_at_start(&self, cell: CellId) -> Option<&Origin> {
        let name = &self.graph()[cell.node].name;
        let numbers = &self.changes().numbers;
        let mut of_node = numbers.iter().filter(|number| number.node == *name).peekable();
        of_node.peek()?;
        let is_changed = of_node.any(|number| (number.row, number.col) == (cell.row, cell.col));
        let start = &self.start.graph;
        match &start[start.find(name)?].op {
            Op::Given(origin) if !is_changed => Some(origin.of_row(cell.row)),
            _ => None,
        }
    }

    /// The cell under the cursor.
    pub fn cursor(&self) -> CellId {
        self.cursor
    }

    /// The cells that the cursor came from, the first one first.
    pub fn path(&self) -> &[CellId] {
        &self.path
    }

    /// What the next event is about.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The number of decimals that are shown.
    pub fn decimals(&self) -> usize {
        self.decimals
    }

    /// Whether numbers are hidden until they are guessed.
    pub fn predicts(&self) -> bool {
        self.predicts
    }

    /// The answer to the last event, if there is one.
    pub fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// Whether the cursor stands on a cell that exists and has a number.
    pub fn is_on_number(&self) -> bool {
        self.value().is_some()
    }

    /// Whether the number under the cursor is given, so that it can be changed: not the 0 of a head that is taken out.
    pub fn is_on_given(&self) -> bool {
        let op = &self.graph()[self.cursor.node].op;
        self.is_on_number() && matches!(op, Op::Given(origin) if *origin != Origin::Removed)
    }

    /// The number under the cursor.
    pub fn value(&self) -> Option<f64> {
        self.graph()[self.cursor.node].tensor()?.number(self.cursor.row, self.cursor.col)
    }

    /// Whether the number under the cursor is hidden, because it is to be guessed.
    pub fn is_hidden(&self) -> bool {
        self.predicts && self.guessed != Some(self.cursor) && self.is_on_number()
    }

    /// The cells that the number under the cursor came from.
    pub fn sources(&self) -> Sources {
        if self.is_readable() { sources(self.graph(), self.cursor) } else { Sources::default() }
    }

    /// The cells that the number under the cursor feeds, by their node.
    pub fn feeds(&self) -> Vec<(NodeId, Vec<(usize, usize)>)> {
        if self.is_on_number() { fed_by(self.graph(), self.cursor) } else { Vec::new() }
    }

    /// The operands of the number under the cursor, in the order of writing.
    pub fn operands(&self) -> Vec<CellId> {
        if self.is_readable() { operands(self.graph(), self.cursor) } else { Vec::new() }
    }

    /// The operand that is chosen: the one that contributes most, until another one is.
    pub fn chosen_operand(&self) -> Option<CellId> {
        if !self.is_readable() {
            return None;
        }
        match self.chosen {
            Some(place) => self.operands().get(place).copied(),
            None => largest_operand(self.graph(), self.cursor),
        }
    }

    /// Whether the number under the cursor is computed, and its terms can be read.
    fn is_readable(&self) -> bool {
        let node = &self.graph()[self.cursor.node];
        !node.op.is_given() && !matches!(node.op, Op::Fused(_)) && self.is_on_number()
    }

    /// The head that the cursor is in.
    pub fn head(&self) -> Option<HeadPlace> {
        head_of(self.graph(), self.cursor.node)
    }

    /// The number of changes that can be taken back, and made again.
    pub fn undoable(&self) -> [usize; 2] {
        [self.at, self.history.len() - 1 - self.at]
    }

    /// Whether this is the very version of the computation that another state has.
    pub fn has_version_of(&self, other: &State) -> bool {
        Arc::ptr_eq(&self.history[self.at], &other.history[other.at])
    }

    /// The graph of the state that is shown beside this one, what is changed in it, and whether it is the first.
    pub fn beside(&self) -> Option<(&Graph, &Changes)> {
        self.beside.as_ref().map(|version| (&*version.graph, &version.changes))
    }

    /// The cell of the same name in the graph as it is now, after a change may have added or removed steps.
    pub(super) fn same_cell(&self, graph: &Graph, cell: CellId) -> CellId {
        let here = self.graph();
        let mut node = Some(cell.node);
        while let Some(id) = node {
            if let Some(found) = here.find(&graph[id].name) {
                return within(here, CellId { node: found, ..cell });
            }
            // A step that is left out: the one that it was computed from.
            node = graph[id].inputs.first().copied();
        }
        within(here, CellId { node: here.last().unwrap_or(cell.node), ..cell })
    }
}

// What a change has moved: the numbers of a state beside those of the state before, or of one that is shown beside it.

impl State {
    /// The version that this one is compared with: that beside it, or the one before.
    fn compared(&self) -> Option<&Version> {
        self.beside.as_deref().or_else(|| Some(&*self.history[self.at.checked_sub(1)?]))
    }

    /// What the last change has made of a number, or how it differs from the state beside; `None` where it has not moved.
    pub fn change_at(&self, cell: CellId) -> Option<Change> {
        let [there, here] = self.moved_tensors(cell.node)?;
        let (before, now) = (there.number(cell.row, cell.col)?, here.number(cell.row, cell.col)?);
        (before.to_bits() != now.to_bits()).then_some(Change { before, now })
    }

    /// The cells of a node whose numbers have moved, by row and column.
    pub fn changed(&self, id: NodeId) -> BTreeMap<(usize, usize), Change> {
        let change = |(row, col)| Some(((row, col), self.change_at(CellId { node: id, row, col })?));
        match self.moved_tensors(id).filter(|_| self.moved.contains(&id)) {
            None => BTreeMap::new(),
            Some(tensors) if is_in_file(tensors) => self.edited(id).into_iter().filter_map(change).collect(),
            Some([_, new]) => new.shape().places().filter_map(change).collect(),
        }
    }

    /// The number of cells of a node whose numbers have moved.
    pub fn changed_count(&self, id: NodeId) -> usize {
        match self.moved_tensors(id).filter(|_| self.moved.contains(&id)) {
            None => 0,
            Some(tensors) if is_in_file(tensors) => self.changed(id).len(),
            Some([old, new]) => {
                old.cells().zip(new.cells()).filter(|(a, b)| a.to_bits() != b.to_bits()).count()
            }
        }
    }

    /// The cells of a given node that are edited, here or in the state that this one is compared with.
    fn edited(&self, id: NodeId) -> BTreeSet<(usize, usize)> {
        let name = &self.graph()[id].name;
        let there = self.compared().map_or(&[][..], |before| &before.changes.numbers);
        let all = self.changes().numbers.iter().chain(there);
        all.filter(|number| number.node == *name).map(|number| (number.row, number.col)).collect()
    }

    /// The nodes in which numbers have moved.
    pub fn changed_nodes(&self) -> &[NodeId] {
        &self.moved
    }

    /// Finds the nodes in which numbers have moved, after the history or the state beside has changed.
    pub(super) fn find_moved(&mut self) {
        let has_moved = |id: &NodeId| match self.moved_tensors(*id) {
            None => false,
            Some(tensors) if is_in_file(tensors) => {
                let has_changed = |(row, col)| self.change_at(CellId { node: *id, row, col }).is_some();
                self.edited(*id).into_iter().any(has_changed)
            }
            Some([old, new]) => !old.same_bits(new),
        };
        self.moved = self.graph().nodes().map(|(id, _)| id).filter(has_moved).collect();
    }

    /// The numbers of a node in the state that this one is compared with and here, where both have them in the same shape, and they
    /// are not the very same.
    fn moved_tensors(&self, id: NodeId) -> Option<[&Tensor; 2]> {
        let (before, here) = (&self.compared()?.graph, self.graph());
        let there = before.find(&here[id].name)?;
        let (old, new) = (before[there].tensor()?, here[id].tensor()?);
        let both_in_file = old.is_stored() && new.is_stored();
        (!both_in_file && old.shape() == new.shape() && !old.shares_numbers(new)).then_some([old, new])
    }
}

/// Whether some of these numbers are in a file: of weights that were edited, the copy in memory has all others, too.
fn is_in_file(tensors: [&Tensor; 2]) -> bool {
    tensors.into_iter().any(Tensor::is_stored)
}

// The settings of a state, as they are now.

impl State {
    /// Whether a setting can be adjusted.
    pub fn has_knob(&self, knob: Knob) -> bool {
        self.source.has_knob(knob, self.graph())
    }

    /// The value of a setting now.
    pub fn setting(&self, knob: Knob) -> Setting {
        Setting::of(knob, &self.settings().recipe)
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
        let scale = match changes.settings.get(&Knob::Scale) {
            Some(Setting::Scale(scale)) => *scale,
            _ => Scale::Auto,
        };
        let factor = match (scale, of_stage(Stage::Scaled).map(|(_, node)| &node.op)) {
            (Scale::Number(number), Some(Op::Scale(_))) => number,
            (_, Some(Op::Scale(factor))) => factor.value(),
            _ => 1.0,
        };
        let keys = of_stage(Stage::Scores).map_or(0, |(_, node)| node.shape().cols);
        let recipe = self.source.recipe(changes).unwrap_or_else(|| {
            let mut recipe = Recipe { scale, ..Recipe::default() };
            for (_, node) in graph.nodes() {
                match super::source::op_with(node, changes) {
                    Op::Temperature(temperature) => recipe.temperature = temperature,
                    Op::Mask(mask) => recipe.mask = mask,
                    _ => {}
                }
            }
            recipe
        });
        Settings { recipe, keys, factor }
    }
}
