//! A link to a state of a story: what was changed, and the cell that is looked at, as text behind the `#` of an address. What its last
//! part has moved is marked as the last change.
//!
//! `X[1,2]=7;set={"temperature":0.5};A[2,1]`: parts with `;` between them, in the order in which they are done. Rows and columns
//! count from 1. A link comes from anyone: it can do what a reader of the page can do, and nothing else.

use super::opening::changed_settings;
use super::{following, read, sentences, wrong};
use crate::error::{Error, Result};
use crate::explore::{Event, State, update};
use crate::graph::recipes::Recipe;
use crate::graph::{CellId, Cells, ChangedNumber, Graph, resolve};
use crate::text::clip;

/// A link has at most this many parts.
const MOST_PARTS: usize = 256;

/// The link to a state, where the story followed this recipe at the start.
pub(super) fn of(state: &State, start: Option<&Recipe>) -> String {
    let changes = state.changes();
    let mut parts = Vec::new();
    if let (Some(recipe), Some(start)) = (&changes.recipe, start)
        && let Some(settings) = changed_settings(start, recipe)
        && let Ok(settings) = serde_json::to_string(&settings)
    {
        parts.push(format!("follow={settings}"));
    }
    let number = |ChangedNumber { node, row, col, value }: &ChangedNumber| {
        format!("{node}[{},{}]={value}", row + 1, col + 1)
    };
    parts.extend(changes.numbers.iter().map(number));
    let settings = changes.settings.values().filter_map(|setting| serde_json::to_string(setting).ok());
    parts.extend(settings.map(|setting| format!("set={setting}")));
    for head in &changes.removed {
        let first_cells = state.graph().nodes().map(|(node, _)| CellId { node, row: 0, col: 0 });
        let in_head = |cell: &CellId| update(state.clone(), Event::Point(*cell)).head() == Some(*head);
        let cell = { first_cells }.find(in_head);
        parts.extend(cell.map(|cell| format!("without={}", address(state.graph(), cell))));
    }
    parts.push(address(state.graph(), state.cursor()));
    parts.join(";")
}

/// The state that a link leads to.
///
/// # Errors
/// If a part of it is none, is about a cell that the story does not have, or would change what cannot be changed.
pub(super) fn followed(state: &State, link: &str) -> Result<State> {
    if link.split(';').nth(MOST_PARTS).is_some() {
        return Err(Error::new(format!("this link has more than {MOST_PARTS} parts")));
    }
    let mut state = state.clone();
    for part in link.split(';') {
        let (what, value) = part.split_once('=').map_or((part, None), |(what, value)| (what, Some(value)));
        let events = match (what, value) {
            ("follow", Some(settings)) => {
                let settings: Vec<_> = read(&serde_json::from_str(settings).map_err(wrong)?)?;
                vec![following(&state, &settings)?]
            }
            ("set", Some(setting)) => {
                vec![Event::Set(read(&serde_json::from_str(setting).map_err(wrong)?)?)]
            }
            ("without", Some(address)) => {
                vec![Event::Point(cell(state.graph(), address)?), Event::RemoveHead]
            }
            (address, Some(number)) => {
                vec![Event::Point(cell(state.graph(), address)?), Event::Enter(number.to_string())]
            }
            (address, None) => vec![Event::Point(cell(state.graph(), address)?)],
        };
        state = events.into_iter().fold(state, update);
        if let (Some(_), Some(message)) = (value, state.message()) {
            let why = sentences::message(&state, message);
            return Err(Error::new(format!("this link ends at `{}`: {why}", clip(part))));
        }
    }
    Ok(state)
}

/// `A[2,1]`
fn address(graph: &Graph, cell: CellId) -> String {
    format!("{}[{},{}]", graph[cell.node].name, cell.row + 1, cell.col + 1)
}

fn cell(graph: &Graph, address: &str) -> Result<CellId> {
    match resolve(graph, address)? {
        Cells::Cell(cell) => Ok(cell),
        _ => Err(Error::new(format!("`{}` is not one cell", clip(address)))),
    }
}
