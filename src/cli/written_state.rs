//! The command line that prints the numbers of an explored state: what was typed, and the options for what has been changed since.

use std::ffi::OsString;

use super::attend::{mask_options, position_options, scale_option};
use crate::explore::{Changes, State};
use crate::foreign::from_os;
use crate::graph::address_of;
use crate::text::quoted;

/// What is explored, and so the command that prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Explored {
    /// `attn attend` prints it.
    Attend,
    /// `attn demo` prints it.
    Demo,
    /// Nothing but the explorer has all steps of a model, or of a file.
    Steps,
}

/// The options of the explorer and of its screen.
const OF_THE_EXPLORER: [&str; 7] =
    ["--at", "--play", "--record", "--width", "--color", "--theme", "--charset"];

/// The option for the weights of a step of a training.
const CHECKPOINT: &str = "--checkpoint";

impl Explored {
    /// The words after `attn` that print the state's numbers; `typed` are those that the explorer was begun with.
    pub(super) fn command(self, typed: &[OsString], state: &State) -> Vec<String> {
        let changes = state.changes();
        let mut with_value: Vec<&str> = OF_THE_EXPLORER.to_vec();
        let mut alone = vec!["--plain"];
        let mut further: Vec<String> = Vec::new();
        if self == Explored::Attend {
            settings_of_attend(changes, &mut with_value, &mut alone, &mut further);
        }
        with_value.push("--without");
        let mut words = without(typed, &with_value, &alone, |set| !crate::explore::is_assignment(set));
        if self != Explored::Steps {
            words.remove(0);
        }
        let mut set = changes.numbers_as_text(state.graph());
        if self != Explored::Attend {
            set.extend(changes.settings_as_text());
        }
        further.extend(set.into_iter().flat_map(|set| ["--set".to_string(), set]));
        let removed = changes.removed_as_text();
        if !removed.is_empty() {
            further.extend(["--without".to_string(), removed.join(",")]);
        }
        // Behind `--` nothing is an option.
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, further);
        words
    }

    /// The words that print the matrix under the cursor; for a model or a file the formula of the number.
    pub(super) fn shown(self, typed: &[OsString], state: &State) -> Vec<String> {
        let mut words = self.command(typed, state);
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let graph = state.graph();
        let more = match self {
            Explored::Attend | Explored::Demo => {
                vec!["--only".to_string(), graph[state.cursor().node].name.clone()]
            }
            Explored::Steps => {
                vec!["--plain".to_string(), "--at".to_string(), address_of(graph, state.cursor())]
            }
        };
        words.splice(end..end, more);
        words
    }

    /// The command that prints the steps; none for those of a file.
    pub(super) fn printing(self, typed: &[OsString], state: &State) -> Option<String> {
        let words = match self {
            Explored::Attend | Explored::Demo => self.command(typed, state),
            Explored::Steps if typed.get(1).is_some_and(|word| word == "model") => {
                let of_the_explorer = [&OF_THE_EXPLORER[..], &["--layers", "--without"]].concat();
                let words = without(&typed[1..], &of_the_explorer, &["--plain"], |_| false);
                words.into_iter().map(at_step).collect()
            }
            Explored::Steps => return None,
        };
        let words = words.iter().map(|word| quoted(word).into_owned());
        Some(std::iter::once("attn".to_string()).chain(words).collect::<Vec<_>>().join(" "))
    }

    /// Whether the command knows `--format json`, so that a lesson can compare a number in its text.
    pub(super) fn has_json(self) -> bool {
        self != Explored::Steps
    }
}

/// A word of the explorer's command as `attn model` has it: its `--at` is the step of a training.
fn at_step(word: String) -> String {
    match word.strip_prefix(CHECKPOINT) {
        Some(value) if value.is_empty() || value.starts_with('=') => format!("--at{value}"),
        _ => word,
    }
}

/// The options of `attn attend` for its settings: those that a change replaces, and those that give it.
fn settings_of_attend<'o>(
    changes: &Changes,
    with_value: &mut Vec<&'o str>,
    alone: &mut Vec<&'o str>,
    further: &mut Vec<String>,
) {
    if let Some(temperature) = changes.temperature {
        with_value.push("--temperature");
        further.extend(["--temperature".to_string(), temperature.to_string()]);
    }
    if let Some(scale) = changes.scale {
        with_value.push("--scale");
        further.extend(["--scale".to_string(), scale_option(scale)]);
    }
    if let Some(mask) = &changes.mask {
        alone.push("--causal");
        with_value.extend(["--causal-from", "--window", "--keep-first"]);
        further.extend(mask_options(mask));
    }
    if let Some(kind) = changes.positions {
        with_value.extend(["--position", "--rope-base", "--rope-width", "--rope-scaling"]);
        further.extend(position_options(kind));
    }
}

/// The words of a command without some options; of `--set` those stay that the predicate keeps.
fn without(
    typed: &[OsString],
    with_value: &[&str],
    alone: &[&str],
    keeps_set: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = typed.iter().map(|word| from_os(word).into_owned());
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_string())),
            _ => (word.as_str(), None),
        };
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        } else if alone.contains(&option) {
        } else if with_value.contains(&option) {
            if joined.is_none() {
                words.next();
            }
        } else if option == "--set" {
            let set = joined.or_else(|| words.next()).unwrap_or_default();
            if keeps_set(&set) {
                kept.extend(["--set".to_string(), set]);
            }
        } else {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Event, Knob, Source, Way, update};
    use crate::graph::recipes::{AttendInputs, Recipe};
    use crate::matrix::Matrix;

    fn typed(command: &str) -> Vec<OsString> {
        shlex::split(command).unwrap().into_iter().map(OsString::from).collect()
    }

    fn start() -> State {
        let x = Matrix::of([[3.0, 3.0], [4.0, 0.0]]).rows_named(&["bat", "cave"]).cols_named(&["a", "b"]);
        State::new(Source::attend(Recipe::causal(), AttendInputs::of_tokens(x))).unwrap()
    }

    fn after(events: impl IntoIterator<Item = Event>) -> State {
        events.into_iter().fold(start(), update)
    }

    fn text(of: Explored, command: &str, state: &State) -> String {
        of.command(&typed(command), state).join(" ")
    }

    #[test]
    fn the_options_of_the_explorer_are_left_out_and_the_others_stay() {
        let command =
            "explore attend --words 'bat cave' --at S --causal --plain --play=k --width 70 --heads 1";
        assert_eq!(text(Explored::Attend, command, &start()), "attend --words bat cave --causal --heads 1");
        let shown = Explored::Attend.shown(&typed(command), &start());
        assert_eq!(shown[shown.len() - 2..], ["--only", "A"]);
    }

    #[test]
    fn a_changed_setting_takes_the_place_of_the_one_that_was_typed() {
        let adjust = |knob, way| [Event::Adjust(knob), Event::Move(way), Event::Back];
        let command = "explore attend --words 'bat cave' --causal --window 2 --temperature=2";
        let state = after(adjust(Knob::Mask, Way::Left));
        assert_eq!(text(Explored::Attend, command, &state), "attend --words bat cave --temperature=2");
        let state =
            after(adjust(Knob::Mask, Way::Right).into_iter().chain(adjust(Knob::Temperature, Way::Left)));
        let said = text(Explored::Attend, command, &state);
        assert_eq!(said, "attend --words bat cave --temperature 0.9 --causal --window 1");
    }

    #[test]
    fn changed_numbers_and_heads_come_before_the_end_of_options() {
        let search = "X[cave,a]".chars().map(Event::Type);
        let state = after([Event::Search].into_iter().chain(search).chain([
            Event::Accept,
            Event::Type('7'),
            Event::Accept,
        ]));
        let command = "explore demo mask --set X=x.csv --set 'X[1,2]=3' --without A -- y";
        assert_eq!(text(Explored::Demo, command, &state), "demo mask --set X=x.csv --set X[cave,a]=7 -- y");
        assert_eq!(
            text(Explored::Steps, "explore graph.json", &state),
            "explore graph.json --set X[cave,a]=7"
        );
    }
}
