//! What a page asks for.

use serde::Deserialize;
use serde_json::Value;

use super::opening::Opening;
use super::what_if::{ChangedField, changed};
use crate::answer::Judge;
use crate::error::{Error, Result};
use crate::explore::{Event, Knob, Mode, Setting, State};
use crate::graph::CellId;

/// A request of a page.
pub(super) enum Request {
    /// A story is opened, perhaps with another recipe: `{"open": {…}, "changed": [{"field": "temperature", "value": 2}]}`.
    Open(Box<Opening>, Vec<ChangedField>),
    /// An answer to a question: `{"judge": {…}, "answer": "0.3"}`.
    Judge(Box<Judge>, String),
    /// Something happens to a story that is open: `{"page": 0, "events": ["undo"]}`.
    Do(usize, Vec<PageEvent>),
}

impl Request {
    /// The request in a text.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn read(text: &str) -> Result<Request> {
        // By way of a value, so that the program of a page has one reader of each type.
        let request: Value = serde_json::from_str(text).map_err(wrong)?;
        if let Some(judge) = request.get("judge") {
            let judge = Judge::deserialize(judge).map_err(wrong)?;
            let answer = String::deserialize(&request["answer"]).map_err(wrong)?;
            return Ok(Request::Judge(Box::new(judge), answer));
        }
        match request.get("open") {
            Some(opening) => {
                let opening = Opening::deserialize(opening).map_err(wrong)?;
                let changed = request.get("changed").map(Vec::deserialize).transpose().map_err(wrong)?;
                Ok(Request::Open(Box::new(opening), changed.unwrap_or_default()))
            }
            None => {
                let page = usize::deserialize(&request["page"]).map_err(wrong)?;
                Ok(Request::Do(page, Vec::deserialize(&request["events"]).map_err(wrong)?))
            }
        }
    }
}

fn wrong(error: serde_json::Error) -> Error {
    Error::new(format!("this request cannot be read: {error}"))
}

/// Something that happens on a page.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PageEvent {
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
    /// A what-if: some fields of the recipe become otherwise, once.
    Follow(Vec<ChangedField>),
}

impl PageEvent {
    /// The events of the state machine that it means.
    ///
    /// # Errors
    /// If a recipe cannot have a field, or not with this value.
    pub(super) fn events(self, state: &State) -> Result<Vec<Event>> {
        Ok(match self {
            PageEvent::Point([node, row, col]) => {
                let node = state.graph().nodes().nth(node).map(|(id, _)| id);
                node.map(|node| Event::Point(CellId { node, row, col })).into_iter().collect()
            }
            PageEvent::Write(text) => vec![Event::Enter(text)],
            PageEvent::Set(setting) => vec![Event::Set(setting)],
            PageEvent::Slide(setting) if is_adjusting(state, setting.knob()) => vec![Event::Set(setting)],
            PageEvent::Slide(setting) => vec![Event::Adjust(setting.knob()), Event::Set(setting)],
            PageEvent::Settled if matches!(state.mode(), Mode::Adjust(_)) => vec![Event::Back],
            PageEvent::Settled => Vec::new(),
            PageEvent::Reset(knob) => vec![Event::Adjust(knob), Event::Erase, Event::Back],
            PageEvent::Undo => vec![Event::Undo],
            PageEvent::Redo => vec![Event::Redo],
            PageEvent::Predict => vec![Event::Predict],
            PageEvent::RemoveHead => vec![Event::RemoveHead],
            PageEvent::Follow(fields) => {
                let recipe = state.recipe().ok_or_else(|| Error::new("this story follows no recipe"))?;
                let recipe = serde_json::to_value(recipe).map_err(wrong)?;
                vec![Event::Follow(Box::new(changed(&recipe, &fields)?))]
            }
        })
    }
}

fn is_adjusting(state: &State, knob: Knob) -> bool {
    *state.mode() == Mode::Adjust(knob)
}
