//! The story of two computations side by side: the differences, step by step, and their sizes.

use super::model::{Digits, Step, StepItem, Story};
use super::sentence::{Facts, SENTENCES, in_sentence};
use crate::error::Result;
use crate::graph::{Difference, Graph, GraphPair, Movement, Node, NodeId, address_of, side_by_side};
use crate::tensor::{Dtype, Tensor};

/// The suffix of the nodes of the second computation.
const SUFFIX: &str = "_versus";

/// A change is no more than rounding if it is smaller than this share of the largest number beside it.
const ROUNDING: f64 = 1e-12;

/// The tolerance if one of the two is computed in single precision.
const ROUNDING_OF_F32: f64 = 1e-5;

/// A story beside another.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The steps that differ, over one graph of both.
    pub story: Story,
    /// The nodes that differ. For each step: its node in the first story, in the other one, and the change, as far as they exist.
    pub nodes: Vec<NodeId>,
}

/// The story of `other` beside `base`; `with` is the setting that makes the other, as the user wrote it. With names of nodes in
/// `only`, these alone, without sentences.
///
/// # Errors
/// If both together have too many numbers, or there is no node of a name in `only`.
pub fn comparison(base: Story, other: Story, with: &str, only: &[String]) -> Result<Comparison> {
    let places = match base.digits {
        Digits::Places(places) => places,
        Digits::AsNumPy => 4,
    };
    let title = format!("{}, compared with {with}", base.title);
    let mut remarks = base.remarks;
    remarks.extend(other.remarks.into_iter().filter(|remark| !remarks.contains(remark)).collect::<Vec<_>>());
    let both = side_by_side(base.graph, other.graph, SUFFIX)?;
    let teller = DifferenceSteps { both: &both, with, places };
    let (steps, nodes) = match only {
        [] => (teller.steps(), both.differences.iter().flat_map(nodes).collect()),
        only => teller.only(only, &mut remarks)?,
    };
    if both.differences.is_empty() {
        remarks.push("Nothing differs: every number is the same in both.".into());
    }
    let story = Story::of_steps(&title, both.graph, steps);
    Ok(Comparison { story: Story { source: base.source, digits: base.digits, remarks, ..story }, nodes })
}

/// The nodes of a difference, as far as they are there.
fn nodes(difference: &Difference) -> impl Iterator<Item = NodeId> + use<> {
    [difference.base, difference.other, difference.change].into_iter().flatten()
}

/// The display of a difference.
fn display_of(difference: &Difference) -> StepItem {
    match nodes(difference).collect::<Vec<_>>()[..] {
        [alone] => StepItem::Node(alone),
        ref several => StepItem::Together(several.to_vec()),
    }
}

struct DifferenceSteps<'a> {
    both: &'a GraphPair,
    with: &'a str,
    places: usize,
}

impl DifferenceSteps<'_> {
    fn graph(&self) -> &Graph {
        &self.both.graph
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        if self.both.differences.is_empty() {
            return steps;
        }
        // A node that is never formed counts neither as equal nor as different.
        let formed =
            self.both.same.iter().map(|&id| &self.graph()[id]).filter(|node| !node.is_never_formed());
        let names: Vec<&str> = formed.map(|node| node.name.as_str()).collect();
        if !names.is_empty() {
            steps.push(Step::new(format!("The same in both: {}.", names.join(", ")), Vec::new()));
        }
        let (told, mut untold) = self.told();
        let is_computed =
            |difference: &&Difference| difference.base.is_some_and(|id| !self.graph()[id].op.is_given());
        // Neighbours that are steps of one side alone take one sentence.
        let side = |difference: &Difference| (difference.base.is_some(), difference.other.is_some());
        for group in told.chunk_by(|a, b| side(a) == side(b) && side(a) != (true, true)) {
            // Named before the one that is shown of them.
            if !untold.is_empty() && group.iter().any(is_computed) {
                let names = std::mem::take(&mut untold).join(", ");
                let text = format!("These have another shape too, because their inputs do: {names}.");
                steps.push(Step::new(text, Vec::new()));
            }
            let moved =
                |difference: &&Difference| Some(self.moved(&self.both.movement(difference)?, difference));
            let shown = group.iter().map(|difference| display_of(difference)).collect();
            let notice = group.iter().find_map(moved);
            steps.push(Step { notice, ..Step::new(self.sentence(group), shown) });
        }
        steps.extend(self.furthest().map(Step::remark));
        steps
    }

    /// The differences that are described one by one, and the names of the others: if a given matrix has another shape, the
    /// steps that have another shape for that reason are named, and the last of them is shown.
    fn told(&self) -> (Vec<&Difference>, Vec<&str>) {
        let all = &self.both.differences;
        let pair =
            |difference: &Difference| Some([difference.base?, difference.other?].map(|id| &self.graph()[id]));
        let reshaped = |difference: &Difference, given: bool| {
            let of = |[base, other]: [&Node; 2]| {
                base.shape() != other.shape() && [base, other].iter().all(|node| node.op.is_given() == given)
            };
            pair(difference).is_some_and(of)
        };
        let last = all.iter().rposition(|difference| reshaped(difference, false));
        let any_given = all.iter().any(|difference| reshaped(difference, true));
        let (mut told, mut untold) = (Vec::new(), Vec::new());
        for (at, difference) in all.iter().enumerate() {
            if any_given && reshaped(difference, false) && Some(at) != last {
                untold.push(difference.name.as_str())
            } else {
                told.push(difference)
            }
        }
        (told, untold)
    }

    /// The steps and the nodes for names that the user asks for.
    fn only(&self, names: &[String], remarks: &mut Vec<String>) -> Result<(Vec<Step>, Vec<NodeId>)> {
        let (mut steps, mut ids) = (Vec::new(), Vec::new());
        for name in names.iter().map(|name| name.trim()) {
            let shown = match self.both.differences.iter().find(|difference| difference.name == name) {
                Some(difference) => {
                    ids.extend(nodes(difference));
                    display_of(difference)
                }
                None => {
                    let id = self.graph().require(name)?;
                    if self.both.same.contains(&id) && !self.both.differences.is_empty() {
                        remarks.push(format!("{name} is the same in both."));
                    }
                    ids.push(id);
                    StepItem::Node(id)
                }
            };
            steps.push(Step::new("", vec![shown]));
        }
        Ok((steps, ids))
    }

    /// A sentence on the difference: one step, or neighbours of one side alone.
    fn sentence(&self, group: &[&Difference]) -> String {
        let names: Vec<&str> = group.iter().map(|difference| difference.name.as_str()).collect();
        let mut facts = Facts::default();
        facts.add("name", names.join(", "));
        facts.add("with", self.with);
        let both =
            group.iter().find_map(|difference| Some((difference.base?, difference.other?, difference)));
        if let Some((base, other, difference)) = both {
            let nodes = [&self.graph()[base], &self.graph()[other]];
            let [base, other] = nodes;
            facts.add_those(&[
                ("never-formed-here", base.is_never_formed()),
                ("never-formed-there", other.is_never_formed()),
                ("other-shape", base.shape() != other.shape()),
                ("given-here", base.op.is_given()),
                ("given-there", other.op.is_given()),
                ("same-op", base.op == other.op),
                ("too-large", nodes.iter().any(|node| node.matrix().is_none())),
                ("same-numbers", difference.change.is_none()),
            ]);
            if let [Some(here), Some(there)] = nodes.map(|node| node.typed().map(Tensor::dtype))
                && here != there
            {
                facts.add("here", here.name());
                facts.add("there", there.name());
            }
        } else {
            let is_here = group.iter().all(|difference| difference.base.is_some());
            let several = group.len() > 1;
            facts.add_those(&[("only-here", is_here), ("only-there", !is_here), ("several", several)]);
        }
        facts.chosen(&SENTENCES.comparison).1
    }

    /// A sentence on the number of cells that have moved, and on the one that has moved furthest.
    fn moved(&self, movement: &Movement, difference: &Difference) -> String {
        let way = self.way(movement);
        let rounding = if self.is_rounding(movement, difference) { ", only by rounding" } else { "" };
        let unseen = self.unseen(difference);
        match (movement.moved, movement.cells) {
            (moved, cells) if unseen > 0 && unseen < moved => {
                let changes = if moved - unseen == 1 { "changes" } else { "change" };
                let seen = format!("{} of {cells} cells {changes} visibly", moved - unseen);
                let step = format!("0.{}5", "0".repeat(self.places));
                format!("{seen}, most of all {way}; {unseen} by less than {step}.")
            }
            (_, 1) => format!("It changes{rounding}: {way}."),
            (1, cells) => format!("1 of {cells} cells changes{rounding}: {way}."),
            (moved, cells) if moved == cells => format!("Every cell changes{rounding}, most of all {way}."),
            (moved, cells) => format!("{moved} of {cells} cells change{rounding}, most of all {way}."),
        }
    }

    /// The number of cells that change by less than the decimals show.
    fn unseen(&self, difference: &Difference) -> usize {
        let change = difference.change.and_then(|id| self.graph()[id].matrix());
        let is_unseen = |x: &f64| *x != 0.0 && in_sentence(*x, self.places) == "0";
        change.map_or(0, |change| change.cells().filter(is_unseen).count())
    }

    /// A sentence on the largest change of all, if several steps have moved and the last sentence was not about it.
    fn furthest(&self) -> Option<String> {
        let movements: Vec<Movement> =
            self.both.differences.iter().filter_map(|difference| self.both.movement(difference)).collect();
        let finite = movements.iter().filter(|movement| movement.change.is_finite());
        let further = |best: Movement, next: Movement| {
            if next.change.abs() > best.change.abs() { next } else { best }
        };
        let furthest = finite.copied().reduce(further)?;
        let is_last = movements.last().is_some_and(|last| last.change.abs() >= furthest.change.abs());
        (movements.len() > 1 && !is_last)
            .then(|| format!("The largest change is in {}.", self.way(&furthest)))
    }

    /// `A[cave,bat]: 0.0558 → 0.1937 (+0.1379)`.
    fn way(&self, movement: &Movement) -> String {
        let Movement { furthest, from, to, change, .. } = *movement;
        let number = |x| in_sentence(x, self.places);
        let size = match number(change.abs()) {
            zero if zero == "0" => format!("{:.1e}", change.abs()).replace('-', "−"),
            size => size,
        };
        let sign = if change < 0.0 { "−" } else { "+" };
        let change = if change.is_nan() { "NaN".to_string() } else { format!("{sign}{size}") };
        format!("{}: {} → {} ({change})", address_of(self.graph(), furthest), number(from), number(to))
    }

    /// Returns true if even the maximum change of a step can come from another order of summing.
    fn is_rounding(&self, movement: &Movement, difference: &Difference) -> bool {
        let sides = [difference.base, difference.other].into_iter().flatten().map(|id| &self.graph()[id]);
        let is_single = |node: &Node| node.typed().is_some_and(|numbers| numbers.dtype() == Dtype::F32);
        let share = if sides.clone().any(is_single) { ROUNDING_OF_F32 } else { ROUNDING };
        let matrices = sides.filter_map(Node::matrix);
        let sizes = matrices.flat_map(|matrix| matrix.cells()).map(f64::abs).filter(|size| size.is_finite());
        let max = sizes.fold(0.0, |max: f64, size| if size > max { size } else { max });
        movement.change.abs() <= share * max
    }
}
