//! What a page holds of a story, so that it can compute for itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diagnose::Task;
use crate::error::{Error, Result};
use crate::explore::{Source, State};
use crate::graph::recipes::{AttendInputs, Change, Recipe, Setting as RecipeSetting};
use crate::graph::saved::{self, SavedGraph};
use crate::graph::{
    BackwardPass, BackwardSteps, CellId, Convention, Given, Graph, Node, NodeId, Op, Role, Start,
};
use crate::render::{Charset, Format, Heat, Page, Screen, Style, Theme, html_page};
use crate::story::{self, Step, StepItem, Story};

/// A story as data: the graph, its recipe, its steps, and their look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// A document of the schema `attn-graph` with one graph.
    graph: Value,
    /// The recipe that built the graph of its given matrices, where one did.
    recipe: Option<Recipe>,
    /// The backward pass after it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backward: Option<BackwardForm>,
    told: Told,
    look: Look,
}

/// What a backward pass starts from. The numbers of a given start are those of the document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BackwardForm {
    /// The sum of this node.
    SumOf(String),
    /// This node, and the node that has its gradient.
    Given(String, String),
    /// The cross-entropy of the result and these targets.
    CrossEntropy(Vec<Option<usize>>),
}

impl BackwardForm {
    fn of(graph: &Graph) -> Option<BackwardForm> {
        let BackwardSteps { pass, gradients, .. } = graph.backward()?;
        Some(match pass {
            BackwardPass::CrossEntropy(targets) => BackwardForm::CrossEntropy(targets.clone()),
            BackwardPass::From(step, start) => match **start {
                Start::Ones => BackwardForm::SumOf(step.clone()),
                _ => BackwardForm::Given(step.clone(), graph[gradients.start].name.clone()),
            },
        })
    }

    fn pass(&self, graph: &Graph) -> Result<BackwardPass> {
        Ok(match self {
            BackwardForm::CrossEntropy(targets) => BackwardPass::CrossEntropy(targets.clone()),
            BackwardForm::SumOf(step) => BackwardPass::From(step.clone(), Box::new(Start::Ones)),
            BackwardForm::Given(step, start) => {
                let given = given(graph, start).ok_or_else(|| not_live("a gradient has no numbers"))?;
                BackwardPass::From(step.clone(), Box::new(Start::Given(given)))
            }
        })
    }
}

/// The part of a style that a page needs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Look {
    places: Option<usize>,
    heat: Heat,
    convention: Convention,
}

impl Look {
    /// The style of the page.
    pub(super) fn style(self) -> Style {
        let screen = Screen { width: 80, colour: false, theme: Theme::Light, charset: Charset::Utf8 };
        let Look { places, heat, convention } = self;
        Style { places, heat, convention, ..Style::on(screen, Format::Html) }
    }
}

impl Opening {
    /// The opening of a page whose graph is this document. The recipe of its story is left out where it does not give the same bits
    /// from the matrices that the document has.
    ///
    /// # Errors
    /// If the story cannot be computed again from the document: it is too large, of a model, or has explanations in it.
    pub fn new(page: &Page, style: &Style, graph: Value) -> Result<Opening> {
        let Style { places, heat, convention, .. } = *style;
        let told = Told::of(page, convention);
        let recipe = page.story.recipe;
        let backward = BackwardForm::of(&page.story.graph);
        let opening = Opening { graph, recipe, backward, told, look: Look { places, heat, convention } };
        // As the page will read it: what cannot be written is found here.
        let reread = |opening: &Opening| -> Result<State> {
            let unwritten = |error: serde_json::Error| not_live(&error.to_string());
            let text = serde_json::to_string(opening).map_err(unwritten)?;
            let read: Value = serde_json::from_str(&text).map_err(unwritten)?;
            let state = Opening::deserialize(&read).map_err(unwritten)?.state(&[])?;
            let is_same = has_same_numbers(state.graph(), &page.story.graph);
            is_same.then_some(state).ok_or_else(|| not_live("computed again, it has other numbers"))
        };
        if reread(&opening).is_ok() {
            return Ok(opening);
        }
        // The same steps whatever happens to the graph.
        let told = Told { is_of_pipeline: false, ..opening.told };
        let by_steps = Opening { recipe: None, told, ..opening };
        reread(&by_steps).map(|_| by_steps)
    }

    /// The opening of each story in a page, or in a part of one.
    pub fn all_in(html: &str) -> Vec<Opening> {
        let read = |json| serde_json::from_str(json).ok();
        html_page::data_in(html, html_page::OPENING).into_iter().filter_map(read).collect()
    }

    /// The settings of this recipe whose change computes what another opening computes; none where both follow the same recipe.
    /// `None` where a change of the recipe is not all that lies between them: other matrices, or no recipe.
    pub fn what_if(&self, other: &Opening) -> Option<Vec<RecipeSetting>> {
        let settings = changed_settings(self.recipe.as_ref()?, other.recipe.as_ref()?)?;
        let (here, there) = (self.state(&settings).ok()?, other.state(&[]).ok()?);
        has_same_numbers(here.graph(), there.graph()).then_some(settings)
    }

    /// The state at the start, with these settings of the recipe changed.
    ///
    /// # Errors
    /// If the computation fails, or cannot be run again.
    pub(super) fn state(&self, settings: &[RecipeSetting]) -> Result<State> {
        let graph = self.graph()?;
        self.told.fits(&graph)?;
        let source = match &self.recipe {
            Some(recipe) => {
                let backward = self.backward.as_ref().map(|form| form.pass(&graph)).transpose()?;
                Source::attend(
                    RecipeSetting::put_into(recipe, settings)?,
                    AttendInputs { backward, ..inputs(&graph) },
                )
            }
            None if settings.is_empty() => Source::steps(graph),
            None => return Err(not_live("it has no recipe that could be changed")),
        };
        let state = State::new(source)?;
        let begin = self.told.first_cell(state.graph());
        Ok(begin.into_iter().fold(state, State::begun_at))
    }

    /// The graph at the start.
    ///
    /// # Errors
    /// If it cannot be run again.
    pub(super) fn graph(&self) -> Result<Graph> {
        let first = saved::read(&self.graph)?.into_iter().next();
        let SavedGraph { graph, read_only, .. } = first.ok_or_else(|| not_live("it has no graph"))?;
        match read_only {
            Some(reason) => Err(not_live(&reason.to_string())),
            None => Ok(graph),
        }
    }

    /// The computation as an exercise: its given matrices, and what to compute from them.
    ///
    /// # Errors
    /// If no recipe built it.
    pub(super) fn task(&self) -> Result<Task> {
        let graph = self.graph()?;
        let recipe = self.recipe.as_ref().ok_or_else(|| Error::new("this computation follows no recipe"))?;
        let task = Task::new(*recipe, inputs(&graph))?;
        match &self.backward {
            Some(form) => task.with_backward(form.pass(&graph)?),
            None => Ok(task),
        }
    }

    /// Whether a matrix that this story shows has other numbers than in an earlier one.
    pub fn shows_change_from(&self, earlier: &Opening) -> bool {
        let (here, before) = (nodes(&self.graph), nodes(&earlier.graph));
        self.told.shown_nodes().into_iter().any(|id| {
            let Some(node) = here.get(id.position()) else { return false };
            let is_same = |other: &&Value| other["name"] == node["name"] && other["shape"] == node["shape"];
            before.iter().find(is_same).is_some_and(|other| other["values"] != node["values"])
        })
    }

    /// The story, and its look.
    pub(super) fn told(self) -> (Told, Look) {
        (self.told, self.look)
    }
}

/// The nodes of the graph of a document.
fn nodes(document: &Value) -> &[Value] {
    document["graphs"][0]["nodes"].as_array().map_or(&[], Vec::as_slice)
}

fn not_live(reason: &str) -> Error {
    Error::new(format!("this page cannot compute for itself: {reason}"))
}

/// The matrices that a graph of a recipe was given.
fn inputs(graph: &Graph) -> AttendInputs {
    let mut inputs = AttendInputs::default();
    for (role, given) in Role::all().filter_map(|role| Some((role, given(graph, role.name())?))) {
        inputs.set(role, given);
    }
    inputs
}

/// The numbers of a given node of this name, if there is one.
fn given(graph: &Graph, name: &str) -> Option<Given> {
    let node = &graph[graph.find(name)?];
    match (&node.op, node.tensor()) {
        (Op::Given(origin), Some(tensor)) => Some(Given::new(tensor.clone(), origin.clone())),
        _ => None,
    }
}

/// Whether two graphs have the same nodes with the same bits.
fn has_same_numbers(one: &Graph, other: &Graph) -> bool {
    let is_same =
        |((_, one), (_, other)): ((NodeId, &Node), (NodeId, &Node))| match (one.tensor(), other.tensor()) {
            (Some(a), Some(b)) => one.name == other.name && a.same_bits(b),
            _ => false,
        };
    one.nodes().count() == other.nodes().count() && one.nodes().zip(other.nodes()).all(is_same)
}

// A what-if as data: the settings of a recipe that are otherwise.

/// The settings in which one recipe differs from another; `None` where they differ in an operation that attention does not have.
pub fn changed_settings(from: &Recipe, to: &Recipe) -> Option<Vec<RecipeSetting>> {
    let settings = || Change::between(from, to).into_iter().flat_map(Change::into_settings).collect();
    (from.alteration == to.alteration).then(settings)
}

// The story of a page, told again of other numbers.

/// A story without its graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    /// Its steps name nodes by their position in the graph at the start.
    #[serde(flatten)]
    story: Story,
    headed: bool,
    skipped: usize,
    /// The node, row and column to look at first, from 0.
    #[serde(default)]
    begin: Option<(String, usize, usize)>,
    /// Whether it is the story of a pipeline, which is told again where the steps change.
    is_of_pipeline: bool,
}

impl Told {
    /// The story of a page. It is told again after a change if a recipe built its graph, and it is not a part of that story.
    pub(super) fn of(page: &Page, convention: Convention) -> Told {
        let story = &page.story;
        let shown = |story: &Story| -> Vec<(String, Vec<NodeId>)> {
            let nodes = |step: &Step| step.shown.iter().flat_map(StepItem::nodes).collect();
            story.steps.iter().map(|step| (step.text.clone(), nodes(step))).collect()
        };
        let again = || story::attend(&story.title, story.graph.clone(), convention, Vec::new()).unfolded();
        let begin = story.first_cell().map(|cell| (story.graph[cell.node].name.clone(), cell.row, cell.col));
        Told {
            is_of_pipeline: story.recipe.is_some() && page.headed && shown(&again()) == shown(story),
            story: Story { graph: Graph::default(), ..story.clone() },
            headed: page.headed,
            skipped: page.skipped,
            begin,
        }
    }

    /// The cell to look at first in this graph.
    pub(super) fn first_cell(&self, graph: &Graph) -> Option<CellId> {
        let (name, row, col) = self.begin.as_ref()?;
        Some(CellId { node: graph.find(name)?, row: *row, col: *col })
    }

    /// The nodes that the steps show.
    pub(super) fn shown_nodes(&self) -> Vec<NodeId> {
        self.story.steps.iter().flat_map(|step| &step.shown).flat_map(StepItem::nodes).collect()
    }

    /// # Errors
    /// If the steps are about nodes that a graph does not have.
    pub(super) fn fits(&self, graph: &Graph) -> Result<()> {
        let count = graph.nodes().count();
        let is_there = self.shown_nodes().into_iter().all(|id| id.position() < count);
        let missing = || Error::new("the steps of this page are about nodes that its graph does not have");
        is_there.then_some(()).ok_or_else(missing)
    }

    /// The page of the graph as it is now; `start` is the graph that the steps are about.
    pub(super) fn page(&self, state: &State, start: &Graph, convention: Convention) -> Page {
        let (graph, at_start) = (state.graph().clone(), &self.story);
        let story = if self.is_of_pipeline {
            let told = story::attend(&at_start.title, graph, convention, at_start.remarks.clone());
            let mut told = Story { digits: at_start.digits, ..told.unfolded() };
            if let Some(step) = told.steps.first_mut().filter(|_| state.changes().is_nothing()) {
                step.notice = at_start.steps.first().and_then(|step| step.notice.clone());
            }
            told
        } else {
            // About the same nodes; what the graph no longer has is left out.
            let same = |id: NodeId| graph.find(&start[id].name);
            let step = |step: &Step| Step {
                shown: step.shown.iter().filter_map(|item| item.with_nodes(&same)).collect(),
                ..step.clone()
            };
            let steps = at_start.steps.iter().map(step).collect();
            Story { steps, graph, ..at_start.clone() }
        };
        Page { headed: self.headed, skipped: self.skipped, ..Page::whole(story) }
    }

    /// Whether there are sentences, and they are about the numbers at the start, whatever has been changed since.
    pub(super) fn is_fixed(&self) -> bool {
        self.headed && !self.is_of_pipeline
    }
}

#[cfg(test)]
mod tests {
    use crate::attention::Mask;
    use crate::graph::recipes::Scale;

    use super::*;

    #[test]
    fn a_what_if_is_the_fields_that_differ_and_gives_the_other_recipe() {
        let causal = Mask { causal: true, ..Mask::default() };
        let other = Recipe { temperature: 0.5, scale: Scale::None, mask: causal, ..Recipe::default() };
        let settings = changed_settings(&Recipe::default(), &other).unwrap();
        let names: Vec<String> = settings.iter().map(RecipeSetting::name).collect();
        assert_eq!(names, ["scale", "temperature", "mask"]);
        assert_eq!(RecipeSetting::put_into(&Recipe::default(), &settings).unwrap(), other);
        assert_eq!(changed_settings(&other, &other), Some(Vec::new()));
    }

    #[test]
    fn a_field_that_no_recipe_has_is_refused() {
        let wrong = serde_json::from_str(r#"{ "field": "heat", "value": 1 }"#).unwrap();
        let error = RecipeSetting::put_into(&Recipe::default(), &[wrong]).unwrap_err();
        assert!(error.to_string().contains("heat"), "{error}");
    }
}
