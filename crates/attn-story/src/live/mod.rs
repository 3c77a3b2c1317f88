//! A story whose numbers can be changed: what a page holds of it, and what it shows after each event.
//!
//! An [`Opening`] is all that a page needs to compute for itself: the graph, its recipe where it has one, and the steps of its
//! story. [`Pages`] answers requests in JSON, one after the other. The state behind them is that of [`crate::explore`], and
//! the tables are those of the page that needs no computing.

mod exercise;
mod link;
mod opening;
pub mod sentences;

use opening::{Look, Told};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::answer::Judge;
use crate::error::{Error, Result};
use crate::explain::SHOWN;
use crate::explore::{Event, Knob, Message, Mode, Setting, State, update};
use crate::graph::recipes::{Recipe, Scale, Setting as RecipeSetting};
use crate::graph::{CellId, Graph, NodeId, address_of};
use crate::json_number;
use crate::render::{CellLines, Derivation, Page, Style, cell_lines_to, html, number_alone};
use crate::story::Digits;

pub use exercise::{CheckedNumbers, Exercise};
pub use opening::{Opening, changed_settings};

/// All stories of a page that are open.
#[derive(Default)]
pub struct Pages {
    open: Vec<OpenStory>,
}

impl Pages {
    /// No story is open.
    pub const fn new() -> Pages {
        Pages { open: Vec::new() }
    }

    /// The answer to a request, both in JSON. What cannot be done is answered by `{"error": "…"}`. A request is one of these:
    ///
    /// - A story is opened, perhaps with another recipe: `{"open": {…}, "changed": [{"field": "temperature", "value": 2}]}`.
    /// - An answer to a question: `{"judge": {…}, "answer": "0.3"}`.
    /// - Numbers for an exercise, for another step of it where one is named: `{"check": {…}, "numbers": "[[0.5 0.5]]", "step": "A"}`.
    /// - Something happens to a story that is open: `{"page": 0, "events": ["undo"]}`.
    pub fn answer(&mut self, request: &str) -> String {
        // By way of a value, so that the program of a page has one reader of each type.
        let answer = serde_json::from_str(request).map_err(wrong).and_then(|request| self.follow(&request));
        answer.unwrap_or_else(|error| json!({ "error": error.to_string() })).to_string()
    }

    fn follow(&mut self, request: &Value) -> Result<Value> {
        if let Some(judge) = request.get("judge") {
            let (judge, answer): (Judge, String) = (read(judge)?, read(&request["answer"])?);
            let said = judge.judge(&answer)?;
            return serde_json::to_value(said).map_err(|error| Error::new(error.to_string()));
        }
        if let Some(exercise) = request.get("check") {
            let (exercise, numbers): (Exercise, String) = (read(exercise)?, read(&request["numbers"])?);
            let step: Option<String> = read(&request["step"])?;
            return Ok(exercise.check(&numbers, step.as_deref())?.view());
        }
        if let Some(opening) = request.get("open") {
            let opening = read(opening)?;
            let changed: Option<Vec<RecipeSetting>> = request.get("changed").map(read).transpose()?;
            self.open.push(OpenStory::new(opening, &changed.unwrap_or_default())?);
            let page = self.open.len() - 1;
            return Ok(view(page, &self.open[page], true));
        }
        let (page, events): (usize, Vec<PageEvent>) = (read(&request["page"])?, read(&request["events"])?);
        let story = self.open.get_mut(page).ok_or_else(|| Error::new("this story is not open"))?;
        let before = story.state.clone();
        for event in events {
            if let PageEvent::Visit(link) = event {
                story.state = link::followed(&story.state, &link)?;
                continue;
            }
            for event in event.events(&story.state)? {
                story.state = update(story.state.clone(), event);
            }
        }
        let has_changed = !story.state.has_version_of(&before);
        Ok(view(page, story, has_changed))
    }
}

/// A part of a request.
fn read<T: DeserializeOwned>(value: &Value) -> Result<T> {
    T::deserialize(value).map_err(wrong)
}

fn wrong(error: serde_json::Error) -> Error {
    Error::new(format!("this request cannot be read: {error}"))
}

/// The recipe of a state with other settings, as an event.
fn following(state: &State, settings: &[RecipeSetting]) -> Result<Event> {
    let recipe = state.recipe().ok_or_else(|| Error::new("this story follows no recipe"))?;
    Ok(Event::Follow(Box::new(RecipeSetting::put_into(&recipe, settings)?)))
}

/// Something that happens on a page.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PageEvent {
    /// A cell is pointed at: its node, row and column, from 0.
    Point([usize; 3]),
    /// A number, or a guess, is written for the cell under the cursor.
    Write(String),
    /// A setting becomes something else, once.
    Set(Setting),
    /// A slider moves: its values are one change, until [`PageEvent::Settled`].
    Slide(Setting),
    /// The slider rests.
    Settled,
    /// A setting becomes what it was at the start.
    Reset(Knob),
    Undo,
    Redo,
    Predict,
    RemoveHead,
    /// A what-if: some settings of the recipe become otherwise, once.
    Follow(Vec<RecipeSetting>),
    /// A link is followed: its changes are made, and its cell is looked at.
    Visit(String),
}

impl PageEvent {
    /// The events of the state machine that it means.
    ///
    /// # Errors
    /// If a recipe cannot have a setting, or not with this value.
    fn events(self, state: &State) -> Result<Vec<Event>> {
        Ok(match self {
            PageEvent::Point([node, row, col]) => {
                let node = state.graph().nodes().nth(node).map(|(id, _)| id);
                node.map(|node| Event::Point(CellId { node, row, col })).into_iter().collect()
            }
            PageEvent::Write(text) => vec![Event::Enter(text)],
            PageEvent::Set(setting) => vec![Event::Set(setting)],
            PageEvent::Slide(setting) if *state.mode() == Mode::Adjust(setting.knob()) => {
                vec![Event::Set(setting)]
            }
            PageEvent::Slide(setting) => vec![Event::Adjust(setting.knob()), Event::Set(setting)],
            PageEvent::Settled if matches!(state.mode(), Mode::Adjust(_)) => vec![Event::Back],
            PageEvent::Settled => Vec::new(),
            PageEvent::Reset(knob) => vec![Event::Adjust(knob), Event::Erase, Event::Back],
            PageEvent::Undo => vec![Event::Undo],
            PageEvent::Redo => vec![Event::Redo],
            PageEvent::Predict => vec![Event::Predict],
            PageEvent::RemoveHead => vec![Event::RemoveHead],
            PageEvent::Follow(settings) => vec![following(state, &settings)?],
            // It depends on the state after each of its parts.
            PageEvent::Visit(_) => Vec::new(),
        })
    }
}

/// A story that is open.
struct OpenStory {
    state: State,
    told: Told,
    look: Look,
    /// The graph that the steps are about.
    start: Graph,
    /// The recipe at the start, where there is one.
    recipe: Option<Recipe>,
}

impl OpenStory {
    fn new(opening: Opening, changed: &[RecipeSetting]) -> Result<OpenStory> {
        let state = opening.state(changed)?;
        let first = opening.state(&[])?;
        let (start, recipe) = (first.graph().clone(), first.recipe());
        let (told, look) = opening.told();
        Ok(OpenStory { state, told, look, start, recipe })
    }
}

// What a page shows of a story, as JSON.

/// At most this many changed cells say what they were before.
const MOST_CHANGED: usize = 4_000;

/// The state of an open story. The tables are in it where they are asked for.
fn view(number: usize, story: &OpenStory, with_tables: bool) -> Value {
    let OpenStory { state, told, look, start, recipe } = story;
    let style = look.style();
    let page = told.page(state, start, style.convention);
    let (undo, redo) = state.undoable().into();
    let mut view = json!({
        "page": number,
        "cell": cell(state, &page, &style),
        "from": places(state.sources().cells),
        "feeds": places(state.feeds()),
        "said": state.message().map(|message| sentences::message(state, message)),
        "is_refused": matches!(state.message(), Some(Message::NoNumber(_) | Message::Refused(_) | Message::TakenOut)),
        "changes": sentences::changes(state.changes(), state),
        "moved": state.changed_nodes().iter().map(|&node| state.changed(node).len()).sum::<usize>(),
        "predicts": state.predicts(),
        "undo": undo,
        "redo": redo,
        "head": state.head().map(|head| {
            json!({ "head": head.head, "is_removed": state.changes().removed.contains(&head) })
        }),
        "link": link::of(state, recipe.as_ref()),
        "settings": settings(state),
        "tells_old_numbers": told.is_fixed() && !state.changes().is_nothing(),
    });
    if with_tables {
        view["html"] = html::live(&page, &style).into();
        let decimals = match style.digits(&page.story) {
            Digits::Places(places) => places,
            Digits::AsNumPy => state.decimals(),
        };
        view["changed"] = changed_cells(state, decimals).into();
        view["largest"] = largest_changes(state, decimals).into();
    }
    view
}

/// The cell under the cursor: its place, its number with every digit, and where that came from.
fn cell(state: &State, page: &Page, style: &Style) -> Value {
    let at = state.cursor();
    let CellLines { address, step, symbol, derivation } = cell_lines_to(&page.story, style, at, SHOWN);
    let Derivation { mut lines, with, notes } = derivation;
    let is_hidden = state.is_hidden();
    if is_hidden && lines.len() > 1 {
        // The result of a guess is not told.
        lines.pop();
    }
    let shown = |x: f64| number_alone(x, state.decimals());
    json!({
        "at": [at.node.position(), at.row, at.col],
        "address": address,
        "step": step,
        "symbol": symbol,
        "lines": lines,
        "with": with,
        "notes": notes,
        "value": state.value().filter(|_| !is_hidden).map(json_number::value),
        "text": state.value().filter(|_| !is_hidden).map(shown),
        "before": state.change_at(at).map(|change| shown(change.before)),
        "is_hidden": is_hidden,
        "is_given": state.is_on_given(),
    })
}

fn places(cells: Vec<(NodeId, Vec<(usize, usize)>)>) -> Vec<Value> {
    cells.into_iter().map(|(node, places)| json!([node.position(), places])).collect()
}

/// The cells that have moved, each with its number before, in the decimals of the tables, where these show that it has.
fn changed_cells(state: &State, decimals: usize) -> Vec<Value> {
    let of_node = |&node: &NodeId| {
        state.changed(node).into_iter().map(move |((row, col), change)| {
            let [before, now] = [change.before, change.now].map(|x| number_alone(x, decimals));
            json!([node.position(), row, col, (before != now).then_some(before)])
        })
    };
    state.changed_nodes().iter().flat_map(of_node).take(MOST_CHANGED).collect()
}

/// In each computed node that has moved, the cell that has moved most: its place, and what happened there. The largest change first.
fn largest_changes(state: &State, decimals: usize) -> Vec<Value> {
    let graph = state.graph();
    let of_node = |&node: &NodeId| {
        let changes = state.changed(node).into_iter();
        let moved = changes.map(|(at, change)| (at, change, (change.now - change.before).abs()));
        moved.filter(|(.., by)| by.is_finite()).max_by(|(.., a), (.., b)| a.total_cmp(b)).map(
            |((row, col), change, by)| {
                let [before, now] = [change.before, change.now].map(|x| number_alone(x, decimals));
                let address = address_of(graph, CellId { node, row, col });
                (by, json!([[node.position(), row, col], format!("{address} {before} → {now}")]))
            },
        )
    };
    let computed = state.changed_nodes().iter().filter(|&&node| !graph[node].op.is_given());
    let mut all: Vec<(f64, Value)> = computed.filter_map(of_node).collect();
    all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    all.into_iter().map(|(_, change)| change).collect()
}

/// The settings that can be adjusted: each with its value in words, and as a number, or as one of some choices.
fn settings(state: &State) -> Map<String, Value> {
    let mut all = Map::new();
    for knob in Knob::ALL.into_iter().filter(|&knob| state.has_knob(knob)) {
        let text = sentences::setting(state, knob);
        let now = state.setting(knob);
        let setting = match now {
            Setting::Temperature(number) => json!({ "text": text, "number": number }),
            Setting::Scale(Scale::Number(number)) => json!({ "text": text, "number": number }),
            Setting::Scale(_) => json!({ "text": text, "number": state.factor() }),
            Setting::Mask(_) | Setting::Positions(_) => {
                let choice = |choice: Setting| json!({ "text": sentences::choice(choice), "set": choice, "is_now": choice == now });
                let choices: Vec<Value> = state.choices(knob).into_iter().map(choice).collect();
                json!({ "text": text, "choices": choices })
            }
        };
        all.insert(sentences::name_of(knob).to_string(), setting);
    }
    all
}
