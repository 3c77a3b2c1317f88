//! What a page shows of a story, as JSON.

use serde_json::{Map, Value, json};

use super::open_story::OpenStory;
use super::sentences;
use crate::explore::{Knob, Message, Setting, State};
use crate::graph::NodeId;
use crate::graph::recipes::Scale;
use crate::json_number;
use crate::render::{CellLines, Page, Style, cell_lines, html, number_alone};
use crate::story::Digits;

/// At most this many changed cells say what they were before.
const MOST_CHANGED: usize = 4_000;

/// The state of an open story. The tables are in it where they are asked for.
pub(super) fn view(number: usize, story: &OpenStory, with_tables: bool) -> Value {
    let OpenStory { state, told, look, start } = story;
    let style = look.style();
    let page = told.page(state, start, style.convention);
    let (undo, redo) = state.undoable().into();
    let changes = sentences::changes(state.changes(), state);
    let said = state.message().map(|message| sentences::message(state, message));
    let mut view = json!({
        "page": number,
        "cell": cell(state, &page, &style),
        "from": places(state.sources().cells),
        "feeds": places(state.feeds()),
        "said": said,
        "is_refused": state.message().is_some_and(is_refused),
        "changes": changes,
        "moved": state.changed_nodes().iter().map(|&node| state.changed(node).len()).sum::<usize>(),
        "predicts": state.predicts(),
        "undo": undo,
        "redo": redo,
        "head": head(state),
        "settings": settings(state),
        "tells_old_numbers": told.is_fixed() && !state.changes().is_nothing(),
    });
    if with_tables {
        view["html"] = html::live(&page, &style).into();
        let decimals = match style.digits(&page.story) {
            Digits::Places(places) => places,
            Digits::AsNumPy => state.decimals(),
        };
        view["changed"] = changed(state, decimals).into();
    }
    view
}

/// The cell under the cursor: its place, its number with every digit, and where that came from.
fn cell(state: &State, page: &Page, style: &Style) -> Value {
    let at = state.cursor();
    let lines = cell_lines(&page.story, style, at);
    let CellLines { address, step, symbol, mut lines, with, notes, .. } = lines;
    let is_hidden = state.is_hidden();
    if is_hidden && lines.len() > 1 {
        // The result of a guess is not told.
        lines.pop();
    }
    let shown = |x: f64| number_alone(x, state.decimals());
    let before = state.change_at(at).map(|change| shown(change.before));
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
        "before": before,
        "is_hidden": is_hidden,
        "is_given": state.is_on_given(),
    })
}

fn places(cells: Vec<(NodeId, Vec<(usize, usize)>)>) -> Vec<Value> {
    cells.into_iter().map(|(node, places)| json!([node.position(), places])).collect()
}

/// Whether what was written was not taken.
fn is_refused(message: &Message) -> bool {
    matches!(message, Message::NoNumber(_) | Message::Refused(_) | Message::TakenOut)
}

/// The cells that have moved, each with its number before, in the decimals of the tables, where these show that it has.
fn changed(state: &State, decimals: usize) -> Vec<Value> {
    let of_node = |&node: &NodeId| {
        state.changed(node).into_iter().map(move |((row, col), change)| {
            let [before, now] = [change.before, change.now].map(|x| number_alone(x, decimals));
            json!([node.position(), row, col, (before != now).then_some(before)])
        })
    };
    state.changed_nodes().iter().flat_map(of_node).take(MOST_CHANGED).collect()
}

/// The head that the cursor is in, and whether it is taken out.
fn head(state: &State) -> Option<Value> {
    let head = state.head()?;
    Some(json!({ "head": head.head, "is_removed": state.changes().removed.contains(&head) }))
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
