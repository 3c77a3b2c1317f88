//! The story that a demo tells in the end: its remarks, where they are true, and what the user has changed.

use super::names::*;
use crate::explore::{Source, State};
use crate::graph::{Graph, Node};
use crate::story::condition::{GraphNumbers, Numbers, holds, missing, part};
use crate::story::{Digits, StepItem, Story, fill};
use crate::text::nearest;

impl Teller<'_> {
    /// The finished story.
    ///
    /// # Errors
    /// If the user set a node that the demo does not have, or has but computes, or changes what cannot be
    /// changed; or if a sentence names a cell that does not exist.
    pub(super) fn finish(mut self, title: &str, digits: Digits) -> Result<Story> {
        let Settings { set, assignments, removed, .. } = self.settings;
        let is_put_in = |name: &String| match self.graph.find(name).map(|id| &self.graph[id].op) {
            Some(Op::Given(origin)) => matches!(origin, Origin::User(_)),
            _ => false,
        };
        if let Some(name) = set.keys().find(|name| !is_put_in(name)) {
            return Err(not_given(&self.graph, name));
        }
        let (mut steps, mut claims) = (std::mem::take(&mut self.steps), Vec::new());
        if !assignments.is_empty() || !removed.is_empty() {
            let state = State::new(Source::steps(self.graph))?.with_assignments(assignments, removed)?;
            self.graph = state.graph().clone();
            // A table of words may tell of the numbers before.
            steps.iter_mut().for_each(|step| step.shown.retain(|shown| !matches!(shown, StepItem::Table(_))));
        }
        for (mut claim, at, _) in std::mem::take(&mut self.claims) {
            let step = &mut steps[claim.step];
            say(&GraphNumbers(&self.graph, self.own_seed), &mut claim, step)
                .map_err(|error| self.placed(error, at))?;
            claims.push(claim);
        }
        number_planes(&mut steps);
        Ok(Story { digits, claims, ..Story::of_steps(title, self.graph, steps) })
    }

    /// Reads the conditions of remarks, which may be about matrices that are defined below them.
    ///
    /// # Errors
    /// At what is no condition.
    pub(super) fn read_conditions(&mut self) -> Result<()> {
        let mut claims = std::mem::take(&mut self.claims);
        for (claim, _, values) in &mut claims {
            let before = self.values.replace(std::mem::take(values));
            claim.condition = self.condition(&claim.condition)?;
            self.values.replace(before);
        }
        self.claims = claims;
        Ok(())
    }
}

/// Says a claim in its step, if it is true.
///
/// # Errors
/// If the sentence names a cell that does not exist among the demo's own numbers.
fn say(numbers: &GraphNumbers<'_>, claim: &mut Claim, step: &mut Step) -> Result<()> {
    let GraphNumbers(graph, own_seed) = *numbers;
    // With the user's numbers a row or a name may be missing; the claim is then left out.
    let is_own = numbers.is_own(&[])?;
    if is_own && let Some(error) = missing(&claim.condition, graph) {
        return Err(error);
    }
    if !holds(&claim.condition, graph, own_seed) {
        return Ok(());
    }
    let filled = fill(graph, &claim.text).map(|text| plain(&text));
    claim.text = plain(&claim.text);
    match (filled, &mut step.notice) {
        (Ok(text), _) if claim.is_heading => step.text = text,
        (Ok(text), Some(before)) => *before = format!("{before} {text}"),
        (Ok(text), none) => *none = Some(text),
        (Err(address), _) if is_own => return part(graph, &address).map(|_| ()),
        (Err(_), _) => return Ok(()),
    }
    claim.shown = true;
    Ok(())
}

/// Names the pictures: `plane`, `plane_2`, `plane_3` …
fn number_planes(steps: &mut [Step]) {
    let planes = steps.iter_mut().flat_map(|step| &mut step.shown).filter_map(|shown| match shown {
        StepItem::Plane(plane) => Some(plane),
        _ => None,
    });
    for (number, plane) in (2..).zip(planes.skip(1)) {
        plane.name = format!("plane_{number}");
    }
}

/// Whether a user may put other numbers in the place of a node.
pub(super) fn is_changeable(node: &Node) -> bool {
    matches!(&node.op, Op::Given(origin) if !origin.is_of_model())
}

fn not_given(graph: &Graph, name: &str) -> Error {
    let given: Vec<&str> = graph
        .nodes()
        .map(|(_, node)| node)
        .filter(|node| is_changeable(node))
        .map(|node| node.name.as_str())
        .collect();
    let what = match graph.find(name) {
        Some(id) if graph[id].op.is_given() => format!("`{name}` comes from the model"),
        Some(_) => format!("`{name}` is computed, not given"),
        None => format!("there is no node `{name}`"),
    };
    if given.is_empty() {
        return Error::new(what)
            .help("the numbers of this demo are those of a model; other texts: attn model words TEXT");
    }
    let near =
        nearest(name, given.iter().copied()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Error::new(what).help(format!("{near}you can set: {}", given.join(" ")))
}
