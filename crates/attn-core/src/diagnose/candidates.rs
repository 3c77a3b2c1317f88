//! Every way to make a mistake in an exercise, alone and in pairs of the likeliest, and the exercise computed with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::elementary;
use crate::graph::recipes::{
    Alter, Alteration, Change, Hiding, Qkv, QkvSource, Recipe, Scale, ScoreRows, Site,
};
use crate::graph::{Graph, Node, Role, Stage, Step};
use crate::matrix::Matrix;

use super::Task;
use super::answer::Part;
use super::cache::{Column, EACH, Probe};
use super::catalogue::{Likelihood, Mistake, Slip, Way, catalogue};
use super::compare::NodeNumbers;
use super::task::{empty_rows, standing_for};

/// A computation to try: the exercise with one mistake in it, or two, or with another number.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The indices of the ways to make its mistakes.
    ways: [Option<usize>; 2],
    /// A change that goes with them.
    further: Option<Change>,
    /// The value of a number of the exercise, where that is what it has otherwise.
    pub number: Option<f64>,
}

/// All candidates of an exercise.
pub(super) struct Candidates {
    pub task: Task,
    ways: Vec<Way>,
    /// The candidates of each list, and their numbers.
    lists: [(Vec<Candidate>, Cache); 7],
    /// Whether the numbers are kept for the next submission.
    pub keeps: bool,
    even: OnceLock<Graph>,
}

/// The candidates of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateList {
    /// Every mistake by itself, in every way, the likeliest first.
    Singles,
    /// Of these the mistakes that every class makes.
    Classic,
    /// Every operator at every stage that is no way of these.
    General,
    /// Pairs of the mistakes that every class makes; and every mistake with a missing guard, where there is something to guard.
    Pairs,
    /// The usual temperatures, in order; the number is the logarithm.
    Temperature,
    /// Usual numbers in the place of hidden scores, in order.
    Written,
    /// Usual numbers that are added to hidden scores, in order.
    Added,
}

/// Mistakes are only tried if that takes at most this many multiplications, some seconds' worth; but those that every class
/// makes are tried alone in any case.
const MOST_WORK: u64 = 10_000_000_000;

impl Candidates {
    /// All candidates of an exercise; their numbers are kept for the next submission.
    pub(super) fn of(task: Task) -> Candidates {
        Candidates::reaching(task, |_| true)
    }

    /// The same for an exercise that is judged once: nothing is kept.
    pub(super) fn once(task: Task) -> Candidates {
        Candidates { keeps: false, ..Candidates::of(task) }
    }

    /// The same for one part of a submission: of the operators at every stage, only those at a stage that reaches the part.
    pub(super) fn once_for(task: Task, part: &Part<'_>) -> Candidates {
        let mut known: Vec<(Site, bool)> = Vec::new();
        let right = task.clone();
        let is_reached = |site: Site| match known.iter().find(|(other, _)| *other == site) {
            Some((_, is_reached)) => *is_reached,
            None => {
                let is_reached = reaches(&right, site, part);
                known.push((site, is_reached));
                is_reached
            }
        };
        Candidates { keeps: false, ..Candidates::reaching(task, is_reached) }
    }

    /// All candidates, but of the operators at every stage only those at some sites.
    fn reaching(task: Task, mut is_reached: impl FnMut(Site) -> bool) -> Candidates {
        let ways: Vec<Way> = catalogue()
            .flat_map(|mistake| mistake.ways(&task).expect("a test reads the ways of all mistakes"))
            .chain(task.own_ways().iter().cloned())
            .collect();
        let likelihood = |way: usize| ways[way].slip.mistake.likelihood;
        let mut alone: Vec<usize> =
            (0..ways.len()).filter(|&way| ways[way].alone && !ways[way].general).collect();
        let alteration = |way: &Way| match way.changes[..] {
            [Change::Alteration(alteration)] => Some(alteration),
            _ => None,
        };
        let named: Vec<Alteration> = alone.iter().filter_map(|&way| alteration(&ways[way])).collect();
        let mut general: Vec<usize> = (0..ways.len()).filter(|&way| ways[way].general).collect();
        general.retain(|&way| {
            alteration(&ways[way]).is_some_and(|own| !named.contains(&own) && is_reached(own.stage))
        });
        alone.sort_by_key(|&way| likelihood(way));
        let classic: Vec<usize> =
            alone.iter().copied().filter(|&way| likelihood(way) == Likelihood::Classic).collect();
        if alone.len().saturating_mul(task.work()) as u64 > MOST_WORK {
            alone.clone_from(&classic);
        }
        let pairs = pairs(&ways, &alone);
        let of = |ways| Candidate { ways, further: None, number: None };
        let single = |list: Vec<usize>| list.into_iter().map(|way| of([Some(way), None])).collect();
        let pairs = pairs.into_iter().map(|pair| of(pair.map(Some))).collect();
        let [temperature, written, added] = usual_numbers(&task);
        let lists = [single(alone), single(classic), single(general), pairs, temperature, written, added];
        let lists = lists.map(|list| (list, Cache::default()));
        Candidates { task, ways, lists, keeps: true, even: OnceLock::new() }
    }

    /// The number of candidates in a list.
    pub(super) fn count(&self, list: CandidateList) -> usize {
        self.lists[list as usize].0.len()
    }

    /// Whether trying all of a list stays within the work of some seconds.
    pub(super) fn is_feasible(&self, list: CandidateList) -> bool {
        let work = self.count(list).saturating_mul(self.task.work()) as u64;
        match list {
            CandidateList::Singles | CandidateList::Classic => true,
            CandidateList::General => work <= MOST_WORK / 4,
            CandidateList::Pairs => work <= MOST_WORK,
            _ => work <= MOST_WORK / 10,
        }
    }

    /// Visits the computations of a list with their numbers at some nodes, in order: all, or, where there are probes, those with a
    /// number near one of them, and perhaps others.
    pub(super) fn each(
        &self,
        list: CandidateList,
        nodes: &[String],
        probes: Option<&[Probe<'_>]>,
        visit: impl FnMut(&Row<'_>),
    ) {
        let (candidates, cache) = &self.lists[list as usize];
        cache.each(self, candidates, (nodes, probes), visit);
    }

    /// The exercise with equal weights for all visible keys.
    pub(super) fn even(&self) -> &Graph {
        self.even.get_or_init(|| self.task.with([&Change::setting("scale", Scale::Number(0.0))]))
    }

    /// The first mistake of a candidate, if it has one.
    pub(super) fn mistake(&self, candidate: &Candidate) -> Option<&Arc<Mistake>> {
        candidate.ways[0].map(|way| &self.ways[way].slip.mistake)
    }

    /// The mistakes of a candidate, and their changes.
    pub(super) fn explanation(&self, candidate: &Candidate) -> Explanation {
        let slips = candidate.ways.iter().flatten().map(|&way| self.ways[way].slip.clone()).collect();
        Explanation { slips, changes: self.changes(candidate).into_iter().cloned().collect() }
    }

    /// All changes of a candidate.
    fn changes<'c>(&'c self, candidate: &'c Candidate) -> Vec<&'c Change> {
        let ways = candidate.ways.iter().flatten().flat_map(|&way| &self.ways[way].changes);
        ways.chain(&candidate.further).collect()
    }

    /// The computation of a candidate.
    pub(super) fn computed(&self, candidate: &Candidate) -> Computation {
        Computation::of(&self.task, self.changes(candidate))
    }

    /// The computation of a candidate. If its mistakes make further rows fully masked, also the computations without a guard for
    /// such rows, and with −1e9 in place of −∞ or added to the scores.
    pub(super) fn made(&self, candidate: &Candidate) -> Vec<(Candidate, Computation)> {
        let computed = self.computed(candidate);
        let is_emptied = empty_rows(&computed.graph) > self.task.facts().empty_rows;
        let mut all = vec![(candidate.clone(), computed)];
        if is_emptied {
            let changes = self.changes(candidate);
            // Without a guard such a row is NaN; where −1e9 stands for −∞, all its keys weigh the same; where it is added to every
            // score of the row, the softmax cancels it.
            let hidings =
                [Hiding::Replaced(-1e9), Hiding::Added(-1e9)].map(|hiding| Change::setting("hiding", hiding));
            for other in [Change::setting("guarded", false)].into_iter().chain(hidings) {
                if !changes.iter().any(|change| change.same_field(&other)) {
                    let with_other = Candidate { further: Some(other), number: None, ..candidate.clone() };
                    let computed = self.computed(&with_other);
                    all.push((with_other, computed));
                }
            }
        }
        all
    }
}

/// Less common mistakes that are often made beside one that every class makes; of each its usual way.
const IN_PAIRS: [&str; 4] =
    ["output-projection-transposed", "keys-are-queries", "queries-are-keys", "causal-off-by-one"];

/// Pairs of ways that every class makes, and of these with a way of [`IN_PAIRS`]; and every other way with a missing guard, where
/// there is something to guard.
fn pairs(ways: &[Way], alone: &[usize]) -> Vec<[usize; 2]> {
    let is_classic =
        |way: &Way| way.slip.mistake.likelihood == Likelihood::Classic && !way.rare && !way.general;
    let classic: Vec<usize> = (0..ways.len()).filter(|&way| is_classic(&ways[way])).collect();
    let is_backward = |way: &Way| way.changes.iter().any(Change::is_backward);
    let can_meet = |first: &Way, second: &Way| {
        // Who is wrong forward and backward is told of the first alone.
        first.slip.mistake.id != second.slip.mistake.id
            && is_backward(first) == is_backward(second)
            && !first.changes.iter().any(|a| second.changes.iter().any(|b| a.same_field(b)))
    };
    let mut pairs = Vec::new();
    for (at, &first) in classic.iter().enumerate() {
        let others = classic[at + 1..].iter().filter(|&&second| can_meet(&ways[first], &ways[second]));
        pairs.extend(others.map(|&second| [first, second]));
    }
    for id in IN_PAIRS {
        let usual = alone.iter().find(|&&way| ways[way].slip.mistake.id == id);
        for &way in usual.into_iter().filter(|&&way| !is_classic(&ways[way])) {
            let others = classic.iter().filter(|&&other| can_meet(&ways[other], &ways[way]));
            pairs.extend(others.map(|&other| [other, way]));
        }
    }
    let missing = [Change::setting("guarded", false)];
    for unguarded in (0..ways.len()).filter(|&way| ways[way].changes == missing) {
        let others = alone.iter().filter(|&&way| !is_classic(&ways[way]));
        pairs.extend(others.map(|&way| [way, unguarded]));
    }
    pairs
}

/// The exercise with usual values of one number, in order: temperatures from a thousandth to a thousand times the right one, twelve
/// to a factor of 10; numbers in the place of −∞ from 3 down to what hides as well.
fn usual_numbers(task: &Task) -> [Vec<Candidate>; 3] {
    const EACH_WAY: i32 = 36;
    let down_to = |hides: f64| -> Vec<f64> {
        let hides = if hides.is_finite() { hides.clamp(-60.0, 3.0) } else { 3.0 };
        (0..).map(|step| 3.0 - f64::from(step)).take_while(|number| *number > hides - 1.0).collect()
    };
    let step = elementary::ln(10.0) / 12.0;
    let right = elementary::ln(task.recipe().temperature);
    let temperatures = (-EACH_WAY..=EACH_WAY).map(|count| right + f64::from(count) * step).collect();
    let facts = task.facts();
    [
        (CandidateList::Temperature, temperatures),
        (CandidateList::Written, down_to(facts.hides_written)),
        (CandidateList::Added, down_to(facts.hides_added)),
    ]
    .map(|(list, values)| {
        let one = |value| Candidate { ways: [None; 2], further: list.change(value), number: Some(value) };
        values.into_iter().map(one).collect()
    })
}

impl CandidateList {
    /// The exercise with this value of the number of a list.
    pub(super) fn change(self, value: f64) -> Option<Change> {
        match self {
            CandidateList::Temperature => Some(Change::setting("temperature", elementary::exp(value))),
            CandidateList::Written => Some(Change::setting("hiding", Hiding::Replaced(value))),
            CandidateList::Added => Some(Change::setting("hiding", Hiding::Added(value))),
            _ => None,
        }
    }
}

/// Whether an alteration at this site changes the numbers of a part.
fn reaches(task: &Task, stage: Site, part: &Part<'_>) -> bool {
    let altered = task.with([&Change::Alteration(Alteration { stage, alter: Alter::Times(3.0) })]);
    let is_changed = |node: &str| match (standing_for(&altered, node), standing_for(task.right(), node)) {
        (Some(altered), Some(right)) => !altered.same_bits(right),
        _ => true,
    };
    part.matrices.iter().any(|(node, _)| is_changed(node))
}

// One mistake, or two together, and the exercise computed with them.

/// One mistake, or two together.
#[derive(Clone, Debug)]
pub(super) struct Explanation {
    pub slips: Vec<Slip>,
    /// Their changes; none where the mistake was found by solving for a number, not by trying.
    pub changes: Vec<Change>,
}

impl Explanation {
    /// Returns true if its changes include all changes of another one, and at least one more; the same thing done to the values
    /// alone is part of what is done to queries, keys and values.
    pub(super) fn goes_beyond(&self, other: &Explanation) -> bool {
        if let ([Change::Alteration(own)], [Change::Alteration(part)]) =
            (&self.changes[..], &other.changes[..])
        {
            return own.alter == part.alter && own.stage.includes(part.stage);
        }
        let less = !other.changes.is_empty() && other.changes.len() < self.changes.len();
        less && other.changes.iter().all(|change| self.changes.contains(change))
    }

    /// The sort key of explanations that fit equally well: fewer mistakes first, then those in the backward pass, which fit
    /// gradients alone, then those without a rare mistake, then those with fewer details.
    pub(super) fn order(&self) -> (usize, bool, bool, usize, Likelihood) {
        let rarest = self.slips.iter().map(|slip| slip.mistake.likelihood).max();
        let rarest = rarest.unwrap_or(Likelihood::Rare);
        let details = self.slips.iter().filter(|slip| slip.detail.is_some()).count();
        (self.slips.len(), !self.is_backward(), rarest == Likelihood::Rare, details, rarest)
    }

    /// Whether it has a mistake in the backward pass.
    pub(super) fn is_backward(&self) -> bool {
        self.changes.iter().any(Change::is_backward)
    }

    /// Whether it only rounds numbers somewhere.
    pub(super) fn has_rounding(&self) -> bool {
        self.changes.iter().any(Change::is_rounding)
    }

    /// Whether every class makes each of its mistakes.
    pub(super) fn is_classic(&self) -> bool {
        self.slips.iter().all(|slip| slip.mistake.likelihood == Likelihood::Classic)
    }
}

/// The exercise with mistakes in it, computed as far as it goes.
#[derive(Clone, Debug)]
pub(super) struct Computation {
    pub graph: Graph,
    /// Whether its matrices are handed in transposed.
    transposed: bool,
    /// Pairs of a step and the step that a student takes for it: keys for values.
    standing_in: Vec<(Stage, Stage)>,
}

impl Computation {
    /// The exercise with these changes.
    pub(super) fn of<'a>(task: &Task, changes: impl IntoIterator<Item = &'a Change>) -> Computation {
        let changes: Vec<&Change> = changes.into_iter().collect();
        let (recipe, graph) = task.changed(&changes);
        let transposed = changes.iter().any(|change| **change == Change::Transposed);
        Computation { graph, transposed, standing_in: standing_in(&recipe) }
    }

    /// A graph whose nodes are those of the exercise.
    pub(super) fn plain(graph: Graph) -> Computation {
        Computation { graph, transposed: false, standing_in: Vec::new() }
    }

    /// The numbers that take a node's place.
    pub(super) fn matrix(&self, node: &str) -> Option<Cow<'_, Matrix>> {
        let matrix = self.upright(node)?;
        Some(if self.transposed { Cow::Owned(matrix.transposed()) } else { Cow::Borrowed(matrix) })
    }

    /// The same with rows as rows.
    pub(super) fn upright(&self, node: &str) -> Option<&Matrix> {
        if self.standing_in.is_empty() {
            return standing_for(&self.graph, node);
        }
        let step = Step::parse(node);
        let other = self.standing_in.iter().find(|(taken, _)| step.is_some_and(|step| step.stage == *taken));
        match (other, step) {
            (Some((_, other)), Some(step)) => {
                standing_for(&self.graph, &other.of_head(step.head).to_string())
            }
            _ => standing_for(&self.graph, node),
        }
    }

    /// A node as it was before something was done to it that attention does not do, or after it.
    pub(super) fn beside(&self, node: &str) -> Option<&Matrix> {
        let other = |suffix: &str| self.graph[self.graph.find(&format!("{node}{suffix}"))?].matrix();
        other("_before").or_else(|| other("_altered"))
    }
}

/// Pairs of steps of a recipe: the first step reads the numbers of the second instead of its own.
fn standing_in(recipe: &Recipe) -> Vec<(Stage, Stage)> {
    let stage = |role: Qkv| Stage::Role(role.into());
    let mut pairs = Vec::new();
    for role in [Qkv::Query, Qkv::Key, Qkv::Value] {
        match recipe.roles.of(role) {
            QkvSource::Of(other) => pairs.push((stage(role), stage(other))),
            QkvSource::Tokens => pairs.push((stage(role), Stage::Role(Role::X))),
            QkvSource::Own | QkvSource::Transposed | QkvSource::From(_) => {}
        }
    }
    if pairs.is_empty() && recipe.comparison == ScoreRows::KeysWithQueries {
        let [q, k] = [Qkv::Query, Qkv::Key].map(stage);
        pairs = vec![(q, k), (k, q)];
    }
    pairs
}

// The numbers of the candidates at a few nodes: kept for the next submission where there is room, else computed again.

/// At most this many numbers of an exercise are kept.
const MOST_KEPT: usize = 8_000_000;

/// All candidates, and a column for each node that was asked for.
type CandidatesAndColumns = (Arc<Vec<Candidate>>, Vec<Arc<Column>>);

/// One computation, and its numbers at the requested nodes.
pub(super) struct Row<'a> {
    pub candidate: &'a Candidate,
    nodes: &'a [String],
    numbers: Vec<Option<&'a NodeNumbers>>,
}

impl<'a> Row<'a> {
    /// The numbers that take a node's place.
    pub(super) fn numbers(&self, node: &str) -> Option<&'a NodeNumbers> {
        self.numbers[self.nodes.iter().position(|known| known == node)?]
    }

    /// The numbers that take the places of the nodes of a part.
    pub(super) fn of_part(&self, part: &Part<'_>) -> Option<Vec<&'a NodeNumbers>> {
        part.matrices.iter().map(|(node, _)| self.numbers(node)).collect()
    }
}

/// The known numbers of the candidates of a list.
#[derive(Default)]
pub(super) struct Cache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// All candidates with those that go with them, once they have been computed.
    candidates: Option<Arc<Vec<Candidate>>>,
    columns: BTreeMap<String, Arc<Column>>,
}

impl Cache {
    /// Calls `visit` with each computation of these candidates and its numbers at some nodes; where there are probes, with those that
    /// have a number near one of them, and possibly with others.
    pub(super) fn each(
        &self,
        all: &Candidates,
        list: &[Candidate],
        (nodes, probes): (&[String], Option<&[Probe<'_>]>),
        mut visit: impl FnMut(&Row<'_>),
    ) {
        let Some((candidates, columns)) = self.kept(all, list, nodes) else {
            for (candidate, computed) in list.iter().flat_map(|candidate| all.made(candidate)) {
                let numbers: Vec<_> = nodes.iter().map(|node| numbers(&computed, node)).collect();
                let numbers = numbers.iter().map(Option::as_ref).collect();
                visit(&Row { candidate: &candidate, nodes, numbers });
            }
            return;
        };
        let mut is_near = vec![probes.is_none(); candidates.len()];
        for probe in probes.into_iter().flatten() {
            if let Some(at) = nodes.iter().position(|node| node == probe.node) {
                columns[at].mark_near(probe, &mut is_near);
            }
        }
        for (at, candidate) in candidates.iter().enumerate().filter(|(at, _)| is_near[*at]) {
            let numbers = columns.iter().map(|column| column.numbers(at)).collect();
            visit(&Row { candidate, nodes, numbers });
        }
    }

    /// All computations and a column for each of these nodes, computed if they are not in the cache; `None` if they do not fit into
    /// it.
    fn kept(&self, all: &Candidates, list: &[Candidate], nodes: &[String]) -> Option<CandidatesAndColumns> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.candidates.is_none() || nodes.iter().any(|node| !kept.columns.contains_key(node)) {
            let size = |node: &String| {
                let right = standing_for(all.task.right(), node);
                EACH + right.map_or(0, |matrix| matrix.rows() * matrix.cols())
            };
            let least = nodes.iter().map(size).sum::<usize>().saturating_mul(list.len());
            if !all.keeps || least > MOST_KEPT {
                return None;
            }
            kept.make(all, list, nodes);
        }
        let columns = nodes.iter().filter_map(|node| kept.columns.get(node).cloned()).collect();
        Some((kept.candidates.clone()?, columns))
    }
}

impl Kept {
    /// Computes everything, and keeps what it gives: for these nodes and, unless they are results alone that are asked for the first
    /// time, for all others as far as there is room.
    fn make(&mut self, all: &Candidates, list: &[Candidate], nodes: &[String]) {
        // Where the first submission is a result alone, most are. What the heads mix is asked for later on.
        let only_results = self.candidates.is_none() && nodes.iter().all(|node| node == Stage::Output.name());
        let is_mix = |node: &Node| node.step.is_some_and(|step| step.stage == Stage::Mixed);
        let computed = all.task.right().nodes().map(|(_, node)| node).filter(|node| !node.op.is_given());
        let further = computed.filter(|node| !only_results || is_mix(node)).map(|node| node.name.clone());
        let names: BTreeSet<String> = further.chain(nodes.iter().cloned()).collect();
        let mut columns: Vec<(String, Column)> =
            names.into_iter().map(|node| (node, Column::default())).collect();
        let mut room = 0;
        let mut keep = |computation: &Computation| {
            for (node, column) in &mut columns {
                room += column.push(numbers(computation, node));
            }
            if room > MOST_KEPT {
                // What was asked for before will be asked for again.
                columns.retain(|(node, _)| nodes.contains(node) || self.columns.contains_key(node));
            }
        };
        match &self.candidates {
            Some(candidates) => candidates.iter().for_each(|candidate| keep(&all.computed(candidate))),
            None => {
                let made = list.iter().flat_map(|candidate| all.made(candidate));
                let made = made.map(|(candidate, computation)| {
                    keep(&computation);
                    candidate
                });
                self.candidates = Some(Arc::new(made.collect()));
            }
        }
        self.columns = columns.into_iter().map(|(node, column)| (node, Arc::new(column))).collect();
    }
}

/// The numbers of a computation at a node, if the computation reaches it.
fn numbers(computation: &Computation, node: &str) -> Option<NodeNumbers> {
    Some(NodeNumbers::of(computation.matrix(node)?.into_owned()))
}
