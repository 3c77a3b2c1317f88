//! Changes as texts: `X[cave,animals]=6`, `temperature=0.5`, `A_2` for a head that is taken out; and back.

use crate::attention::Mask;
use crate::error::{Error, Result};
use crate::graph::recipes::{Change, Recipe, Scale};
use crate::graph::{CellId, Cells, ChangedNumber, Graph, NodeId, Op, address_of, resolve};
use crate::language::{self, At, Values};
use crate::text::{clip, number};

use super::source::{Changes, HeadPlace, Knob, Setting, following, outputs, recipe_with};
use super::state::State;

/// The settings that have a text. Positions have none: only a pipeline of attention has them.
const SETTINGS: [&str; 3] = ["temperature", "scale", "mask"];

/// Whether a text sets a number or a setting: `X[1,2]=6`, `mask=none`. Another one sets a whole matrix.
pub fn is_assignment(text: &str) -> bool {
    cell_of(text).is_some() || text.split_once('=').is_some_and(|(name, _)| SETTINGS.contains(&name.trim()))
}

/// The address and the number of `X[1,2]=6`.
fn cell_of(text: &str) -> Option<(&str, &str)> {
    let (address, value) = text.rsplit_once('=')?;
    let address = address.trim_end();
    let (name, _) = address.strip_suffix(']')?.split_once('[')?;
    (!name.contains('=')).then_some((address, value))
}

impl Changes {
    /// The changed numbers, in the order of editing, as `X[cave,animals]=6`; `graph` has their nodes. Every digit is there.
    pub fn numbers_as_text(&self, graph: &Graph) -> Vec<String> {
        let text = |changed: &ChangedNumber| {
            let ChangedNumber { row, col, value, .. } = *changed;
            // The output of a head that was out, and is computed again, has its own numbers.
            let node = graph.find(&changed.node).filter(|&node| graph[node].op.is_given())?;
            Some(format!("{}={value}", address_of(graph, CellId { node, row, col })))
        };
        self.numbers.iter().filter_map(text).collect()
    }

    /// The changed settings: `temperature=0.5`, `scale=none`, `mask=causal`, `mask=2`.
    pub fn settings_as_text(&self) -> Vec<String> {
        let text = |setting: &Setting| match setting {
            Setting::Temperature(temperature) => Some(format!("temperature={temperature}")),
            Setting::Scale(Scale::None) => Some("scale=none".to_string()),
            Setting::Scale(Scale::Number(number)) => Some(format!("scale={number}")),
            // No key leads to the others, and positions have no text.
            Setting::Scale(_) | Setting::Positions(_) => None,
            Setting::Mask(Mask { window: Some(window), .. }) => Some(format!("mask={window}")),
            Setting::Mask(Mask { causal: true, .. }) => Some("mask=causal".to_string()),
            Setting::Mask(_) => Some("mask=none".to_string()),
        };
        self.settings.values().filter_map(text).collect()
    }

    /// What else is otherwise in the recipe than in `start`: `comparison = keys-with-queries`.
    pub fn recipe_as_text(&self, start: &Recipe) -> Vec<String> {
        let recipe = self.recipe.as_deref();
        recipe.map_or_else(Vec::new, |recipe| {
            Change::between(start, recipe).iter().map(Change::to_string).collect()
        })
    }

    /// The heads that are taken out: `A_2`, `L1.A_3`.
    pub fn removed_as_text(&self) -> Vec<String> {
        self.removed.iter().map(HeadPlace::to_string).collect()
    }
}

impl State {
    /// The state after one change: these texts of numbers and settings, and without these heads.
    ///
    /// # Errors
    /// If one cannot be read, names what is not there or is computed, or the computation refuses it.
    pub fn with_assignments(self, assignments: &[String], removed: &[String]) -> Result<State> {
        if assignments.is_empty() && removed.is_empty() {
            return Ok(self);
        }
        let mut changes = self.changes().clone();
        for text in removed {
            let head = HeadPlace::parse(text)?;
            if outputs(self.graph(), head).is_empty() {
                return Err(Error::new(format!("there is no head {head} in this computation")));
            }
            changes.removed.insert(head);
        }
        // The zeros of a head that is out are given, too.
        let without = self.clone().after_changes(changes.clone())?;
        for text in assignments {
            changes = without.assigned(changes, text)?;
        }
        let sets_recipe = changes.recipe != without.changes().recipe;
        let after = self.after_changes(changes)?;
        let ops = |state: &State| -> Vec<(Op, Vec<NodeId>)> {
            state.graph().nodes().map(|(_, node)| (node.op.clone(), node.inputs.clone())).collect()
        };
        if sets_recipe && assignments.len() == 1 && ops(&after) == ops(&without) {
            return Err(Error::new(format!(
                "`{}` changes nothing in this computation",
                clip(&assignments[0])
            )));
        }
        Ok(after)
    }

    fn assigned(&self, changes: Changes, text: &str) -> Result<Changes> {
        if let Some(reason) = self.source().read_only() {
            return Err(Error::new(format!("this graph can only be looked at: {reason}")));
        }
        let wrong = || Error::new(format!("`{}` sets nothing", clip(text))).help(EXAMPLES);
        if let Some((address, value)) = cell_of(text) {
            let value = number(value)
                .ok_or_else(|| Error::new(format!("`{}` is no number", clip(value))).help(EXAMPLES))?;
            return Ok(changes.with_number(self.changed_number(address, value)?));
        }
        let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        if let Some(start) = self.source().recipe(&Changes::default())
            && pair.is_none_or(|(name, value)| name != "mask" || value.starts_with('('))
        {
            return with_sentence(changes, start, text);
        }
        let (name, value) = pair.ok_or_else(wrong)?;
        let knob = match name {
            "temperature" => Knob::Temperature,
            "scale" => Knob::Scale,
            "mask" => Knob::Mask,
            _ => return Err(wrong()),
        };
        if !self.source().has_knob(knob, self.graph()) {
            return Err(Error::new(format!("there is no {name} in this computation")));
        }
        let plain = Mask { causal: false, window: None, keep_first: 0, ..self.settings().recipe.mask };
        let setting = match (knob, value) {
            (Knob::Temperature, value) => {
                let usable = |temperature: &f64| *temperature > 0.0 && temperature.is_finite();
                Setting::Temperature(number(value).filter(usable).ok_or_else(wrong)?)
            }
            (Knob::Scale, "none") => Setting::Scale(Scale::None),
            (Knob::Scale, value) => {
                Setting::Scale(Scale::Number(number(value).filter(|x| x.is_finite()).ok_or_else(wrong)?))
            }
            (_, "none") => Setting::Mask(plain),
            (_, "causal") => Setting::Mask(Mask { causal: true, ..plain }),
            (_, value) => {
                let window: usize = value.parse().ok().filter(|window| *window > 0).ok_or_else(wrong)?;
                Setting::Mask(Mask { causal: true, window: Some(window), ..plain })
            }
        };
        Ok(changes.with(setting))
    }

    /// The given number at an address, changed.
    fn changed_number(&self, address: &str, value: f64) -> Result<ChangedNumber> {
        let graph = self.graph();
        let Cells::Cell(CellId { node, row, col }) = resolve(graph, address)? else {
            return Err(Error::new(format!("`{}` is not one cell", clip(address))).help(EXAMPLES));
        };
        let name = &graph[node].name;
        if !graph[node].op.is_given() {
            let given =
                graph.nodes().filter(|(_, node)| node.op.is_given()).map(|(_, node)| node.name.as_str());
            let given: Vec<&str> = given.take(MOST_NAMED).collect();
            return Err(Error::new(format!("{name} is computed, not given"))
                .help(format!("you can set cells of: {}", given.join(" "))));
        }
        Ok(ChangedNumber { node: name.clone(), row, col, value })
    }
}

/// The changes with what a sentence about the recipe says: `scale = none`, `relu(queries)`. `start` is the recipe at the start.
fn with_sentence(changes: Changes, start: Recipe, text: &str) -> Result<Changes> {
    let mut recipe = recipe_with(start, &changes);
    let names = |name: &str| match name {
        "H" => Some(recipe.heads.into()),
        "G" => Some(recipe.kv_heads.into()),
        _ => None,
    };
    let change =
        language::change(Values { file: "", names: &names }, text, At { line: 1, column: 1 }, &recipe)?;
    if !matches!(change, Change::Settings(_) | Change::Alteration(_)) {
        return Err(Error::new(format!("`{}` is a change that only diagnosis makes", clip(text)))
            .help("change a setting, scale = none, or the numbers at a site, relu(queries)"));
    }
    if matches!(change, Change::Alteration(_)) && recipe.alteration.is_some() {
        return Err(Error::new(format!("`{}` is a second operation", clip(text)))
            .help("attention is changed by one operation at a time, and by any number of settings"));
    }
    Change::put_all([&change], &mut recipe);
    recipe.check()?;
    Ok(Changes { removed: changes.removed.clone(), ..following(changes, start, recipe) })
}

/// The most given nodes that an error names.
const MOST_NAMED: usize = 12;

/// The help of an error.
const EXAMPLES: &str =
    "write X[1,2]=6, X[cave,animals]=6, temperature=0.5, scale=none, mask=none, mask=causal or mask=2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_sets_a_number_or_a_setting_or_is_about_a_whole_matrix() {
        for text in [
            "X[1,2]=6",
            "X[1,2] = 6",
            "X[cave,animals]=-1e-3",
            "X[a=b,c]=6",
            "temperature=2",
            "mask = none",
            "mask=3",
        ] {
            assert!(is_assignment(text), "{text}");
        }
        for text in ["X=x.csv", "X=1 2; 3 4", "block=4", "X=dir[1]=.csv", "X[1,2]", "]=6"] {
            assert!(!is_assignment(text), "{text}");
        }
        assert_eq!(cell_of("X[a=b,c]=6"), Some(("X[a=b,c]", "6")));
    }
}
