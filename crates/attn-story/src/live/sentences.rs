//! Facts of a state in words.

use super::opening::changed_settings;
use crate::attention::Mask;
use crate::elementary;
use crate::explore::{Changes, Form, HeadPlace, Knob, Message, Mode, Purpose, Setting, Source, State};
use crate::graph::recipes::{PositionKind, Scale, Setting as RecipeSetting};
use crate::graph::{CellId, ChangedNumber, Factor, Node, Op, Stage, Step, address_of};

use crate::render::number_alone;
use crate::story::capitalised;
use crate::text::{clip, counted, grouped};

/// What a message says.
pub fn message(state: &State, message: &Message) -> String {
    match message {
        Message::Computed(cell) => format!(
            "{} is computed. Only given numbers can be edited: Enter leads to them, step by step.",
            address_of(state.graph(), *cell)
        ),
        Message::ReadOnly(reason) => format!("This graph can only be looked at: {reason}"),
        Message::NoNumber(text) if text.trim().is_empty() => "Nothing was typed.".to_string(),
        Message::NoNumber(text) => {
            format!("`{}` is not a number: type one such as 0.33 or -2e-3.", clip(text))
        }
        Message::Stopped => "Stopped: nothing is changed. For the change, type it again.".to_string(),
        Message::Refused(error) => error.lines().next().unwrap_or_default().to_string(),
        Message::NothingToUndo => "There is nothing to undo.".to_string(),
        Message::Forgotten(most) => {
            format!("Only the last {} changes are kept: no earlier one can be undone.", grouped(*most as u64))
        }
        Message::NothingToRedo => "There is nothing to make again.".to_string(),
        Message::NothingChanged => "Nothing has been changed yet that could be compared.".to_string(),
        Message::NoKnob(knob) => {
            format!("There is no {} in this computation; attn attend -x has one.", name_of(*knob))
        }
        Message::NoRecipe => "This computation has no recipe that could be changed.".to_string(),
        Message::NoHead => "This step belongs to no head: go to a step such as S or A first.".to_string(),
        Message::NoFurther => "There is no further one in this direction.".to_string(),
        Message::NotFound(text) => format!("`{}` was not found.", clip(text)),
        // The front end writes it, and says how that went.
        Message::Write(..) => String::new(),
        Message::TakenOut => "This head is taken out: its output is 0 until it is put back.".to_string(),
        Message::Given => "This number is given; it came from no other.".to_string(),
        Message::Guessed { guess, value, .. } => guessed(*guess, *value, state.decimals()),
    }
}

/// How far off a guess was.
fn guessed(guess: f64, value: f64, decimals: usize) -> String {
    let (typed, right) = (number_alone(guess, decimals.max(4)), number_alone(value, decimals));
    let off = (guess - value).abs();
    if guess == value || off < 0.5 * elementary::pow(10.0, -(decimals.min(15) as f64)) {
        format!("Right: {right}.")
    } else if off.is_finite() {
        format!("You said {typed}. It is {right}: off by {}.", number_alone(off, decimals))
    } else {
        format!("You said {typed}. It is {right}.")
    }
}

/// A setting in running text.
pub fn name_of(knob: Knob) -> &'static str {
    match knob {
        Knob::Temperature => "temperature",
        Knob::Scale => "scale",
        Knob::Mask => "mask",
        Knob::Positions => "positions",
    }
}

/// What stands in the line below the explanation: the text that is typed, the setting that is adjusted, or the answer to the last key.
pub fn bottom(state: &State) -> String {
    match state.mode() {
        Mode::Typing { text, purpose } => {
            let address = address_of(state.graph(), state.cursor());
            match purpose {
                Purpose::Number => format!("{address} = {text}"),
                Purpose::Guess => format!("Your guess for {address}: {text}"),
                Purpose::Search => format!("Find: {text}"),
                Purpose::File(Form::Command) => format!("New file for the command: {text}"),
                Purpose::File(Form::Files) => format!("New folder for the matrices: {text}"),
                Purpose::File(Form::Lesson) => format!("New file for the lesson (.md): {text}"),
            }
        }
        Mode::Adjust(knob) => {
            let said = state.message().map_or(String::new(), |found| format!("  {}", message(state, found)));
            let (name, setting) = (capitalised(name_of(*knob)), setting(state, *knob));
            format!("{name}: {setting}   ← → change it, Enter ends{said}")
        }
        Mode::Write => "Write this state: c the command, f files, l a lesson step".to_string(),
        Mode::Look | Mode::Help { .. } => match state.message() {
            Some(found) => message(state, found),
            None => changes(state.changes(), state),
        },
    }
}

/// The value of a setting, as the graph has it.
pub fn setting(state: &State, knob: Knob) -> String {
    let graph = state.graph();
    let mut ops = graph.nodes().map(|(_, node)| &node.op);
    match knob {
        Knob::Temperature => {
            let temperature = |op: &Op| {
                if let Op::Temperature(number) = op { Some(number_alone(*number, 4)) } else { None }
            };
            ops.find_map(temperature).unwrap_or_else(|| "1 (no effect)".to_string())
        }
        Knob::Scale => {
            let is_scaling = |node: &Node| matches!(node.step, Some(Step { stage: Stage::Scaled, .. }));
            let scaling = graph.nodes().map(|(_, node)| node).find(|node| is_scaling(node));
            let Some(Op::Scale(factor)) = scaling.map(|node| &node.op) else { return "none".to_string() };
            let value = number_alone(factor.value(), 4);
            match factor {
                Factor::Number(_) => value,
                Factor::InverseRoot(width) => format!("1/√{width} = {value}"),
                Factor::Inverse(width) => format!("1/{width} = {value}"),
                Factor::Root(width) => format!("√{width} = {value}"),
            }
        }
        Knob::Mask => {
            let mask = |op: &Op| if let Op::Mask(mask) = op { Some(mask_in_words(*mask)) } else { None };
            ops.find_map(mask).unwrap_or_else(|| "none: every key is visible".to_string())
        }
        Knob::Positions => choice(state.setting(knob)),
    }
}

/// A value that a setting can be chosen from, in words.
pub fn choice(setting: Setting) -> String {
    match setting {
        Setting::Temperature(temperature) => number_alone(temperature, 4),
        Setting::Scale(Scale::Number(scale)) => number_alone(scale, 4),
        Setting::Scale(_) => "as at the start".to_string(),
        Setting::Mask(mask) => mask_in_words(mask),
        Setting::Positions(kind) => kind_in_words(kind).to_string(),
    }
}

fn mask_in_words(mask: Mask) -> String {
    let causal = mask.causal.then(|| "causal".to_string());
    let window = mask.window.map(|window| format!("a window of {}", counted(window, "key")));
    let matrix = mask.matrix.map(|_| "the given matrix".to_string());
    let all: Vec<String> = causal.into_iter().chain(window).chain(matrix).collect();
    if all.is_empty() { "none".to_string() } else { all.join(", ") }
}

fn kind_in_words(kind: PositionKind) -> &'static str {
    match kind {
        PositionKind::None => "none: attention knows no order",
        PositionKind::Sinusoidal => "sines and cosines, added to the tokens",
        PositionKind::Rotary(_) => "rotary: queries and keys are rotated",
        PositionKind::Alibi { .. } => "ALiBi: a bias that grows with the distance",
        PositionKind::Buckets { .. } => "a bias for each bucket of distances",
    }
}

/// What is changed, in one line; empty where nothing is.
pub fn changes(changes: &Changes, state: &State) -> String {
    let mut all: Vec<String> = Vec::new();
    let graph = state.graph();
    let is_in_use =
        |number: &&ChangedNumber| graph.find(&number.node).is_some_and(|node| graph[node].op.is_given());
    let numbers: Vec<&ChangedNumber> = changes.numbers.iter().filter(is_in_use).collect();
    for number in numbers.iter().rev().take(3) {
        let ChangedNumber { node: name, row, col, value, .. } = number;
        let address = |node| address_of(graph, CellId { node, row: *row, col: *col });
        let at = graph.find(name).map_or_else(|| name.clone(), address);
        all.push(format!("{at} = {}", number_alone(*value, 6)));
    }
    if numbers.len() > 3 {
        all.push(format!("{} more", counted(numbers.len() - 3, "number")));
    }
    all.extend(changes.settings.values().map(|changed| match changed {
        Setting::Temperature(number) => format!("temperature {}", number_alone(*number, 4)),
        Setting::Scale(Scale::Number(number)) => format!("scale {}", number_alone(*number, 4)),
        Setting::Scale(_) => "another scale".to_string(),
        Setting::Mask(_) => format!("mask: {}", setting(state, Knob::Mask)),
        Setting::Positions(_) => format!("positions: {}", setting(state, Knob::Positions)),
    }));
    if let (Some(recipe), Source::Attend(start)) = (changes.recipe.as_deref(), state.source()) {
        let settings = changed_settings(&start.0, recipe).unwrap_or_default();
        all.extend(settings.iter().map(RecipeSetting::name));
    }
    if !changes.removed.is_empty() {
        let named = |place: &HeadPlace| match place.layer {
            Some(layer) => format!("{} of layer {layer}", place.head),
            None => place.head.to_string(),
        };
        let heads: Vec<String> = changes.removed.iter().map(named).collect();
        all.push(format!("without head {}", heads.join(", ")));
    }
    if all.is_empty() { String::new() } else { format!("Changed: {}.", all.join(", ")) }
}
