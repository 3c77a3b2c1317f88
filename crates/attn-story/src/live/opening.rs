//! What a page holds of a story, so that it can compute for itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::story::Told;
use super::what_if::{ChangedField, changed, changed_fields};
use crate::error::{Error, Result};
use crate::explore::{Source, State};
use crate::graph::recipes::{AttendInputs, Recipe};
use crate::graph::saved::{self, SavedGraph};
use crate::graph::{BackwardPass, BackwardSteps, Convention, Given, Graph, Op, Role, Start};
use crate::render::html_live;
use crate::render::{Charset, Format, Heat, Page, Screen, Style, Theme};

/// A story as data: the graph, its recipe, its steps, and their look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// A document of the schema `attn-graph` with one graph.
    graph: Value,
    /// The recipe that built the graph of its given matrices, where one did.
    recipe: Option<Value>,
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
        let recipe = page.story.recipe.as_ref().and_then(|recipe| serde_json::to_value(recipe).ok());
        let backward = BackwardForm::of(&page.story.graph);
        let opening = Opening { graph, recipe, backward, told, look: Look { places, heat, convention } };
        // As the page will read it: what cannot be written is found here.
        let reread = |opening: &Opening| -> Result<State> {
            let text = serde_json::to_string(opening).map_err(|error| not_live(&error.to_string()))?;
            let read: Value = serde_json::from_str(&text).map_err(|error| not_live(&error.to_string()))?;
            let opening = Opening::deserialize(&read).map_err(|error| not_live(&error.to_string()))?;
            let state = opening.state(&[])?;
            if has_same_numbers(state.graph(), &page.story.graph) {
                Ok(state)
            } else {
                Err(not_live("computed again, it has other numbers"))
            }
        };
        if reread(&opening).is_ok() {
            return Ok(opening);
        }
        let by_steps = Opening { recipe: None, told: opening.told.with_fixed_steps(), ..opening };
        reread(&by_steps).map(|_| by_steps)
    }

    /// The opening of each story in a page, or in a part of one.
    pub fn all_in(html: &str) -> Vec<Opening> {
        let read = |json| serde_json::from_str(json).ok();
        html_live::data_in(html, html_live::OPENING).into_iter().filter_map(read).collect()
    }

    /// The fields of this recipe whose change computes what another opening computes; none where both follow the same recipe.
    /// `None` where a change of the recipe is not all that lies between them: other matrices, or no recipe.
    pub fn what_if(&self, other: &Opening) -> Option<Vec<ChangedField>> {
        let recipe = |opening: &Opening| Recipe::deserialize(opening.recipe.as_ref()?).ok();
        let fields = changed_fields(&recipe(self)?, &recipe(other)?)?;
        let (here, there) = (self.state(&fields).ok()?, other.state(&[]).ok()?);
        has_same_numbers(here.graph(), there.graph()).then_some(fields)
    }

    /// The state at the start, with these fields of the recipe changed.
    ///
    /// # Errors
    /// If the computation fails, or cannot be run again.
    pub(super) fn state(&self, fields: &[ChangedField]) -> Result<State> {
        let first = saved::read(&self.graph)?.into_iter().next();
        let SavedGraph { graph, read_only, .. } = first.ok_or_else(|| not_live("it has no graph"))?;
        if let Some(reason) = read_only {
            return Err(not_live(&reason.to_string()));
        }
        self.told.fits(&graph)?;
        let source = match &self.recipe {
            Some(recipe) => {
                let backward = self.backward.as_ref().map(|form| form.pass(&graph)).transpose()?;
                Source::attend(changed(recipe, fields)?, AttendInputs { backward, ..inputs(&graph) })
            }
            None if fields.is_empty() => Source::steps(graph),
            None => return Err(not_live("it has no recipe that could be changed")),
        };
        let state = State::new(source)?;
        let begin = self.told.first_cell(state.graph());
        Ok(begin.into_iter().fold(state, State::begun_at))
    }

    /// Whether a matrix that this story shows has other numbers than in an earlier one.
    pub fn shows_change_from(&self, earlier: &Opening) -> bool {
        let (here, before) = (nodes(&self.graph), nodes(&earlier.graph));
        self.told.shown().into_iter().any(|id| {
            let Some(node) = here.get(id.position()) else { return false };
            let same =
                before.iter().find(|other| other["name"] == node["name"] && other["shape"] == node["shape"]);
            same.is_some_and(|other| other["values"] != node["values"])
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
    for role in Role::all() {
        if let Some(given) = given(graph, role.name()) {
            inputs.set(role, given);
        }
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
    let names = |graph: &Graph| graph.nodes().map(|(_, node)| node.name.clone()).collect::<Vec<_>>();
    let tensors =
        |graph: &'_ Graph| graph.nodes().map(|(_, node)| node.tensor().cloned()).collect::<Vec<_>>();
    names(one) == names(other)
        && tensors(one).iter().zip(tensors(other)).all(|pair| match pair {
            (Some(one), Some(other)) => one.same_bits(&other),
            _ => false,
        })
}
