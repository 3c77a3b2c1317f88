//! Exploring a graph: a cursor that stands on a number, the numbers that it came from and those that it feeds, changes of given
//! numbers and of settings with undo, and guesses.
//!
//! [`update`] is a pure function from a [`State`] and an [`Event`] to the next state. It knows no terminal and no page, and writes no
//! sentences: a state has facts, and a front end puts them into words. A change computes again only what depends on it, to the bits
//! of a fresh run.
//!
//! ```
//! use attn_core::explore::{Event, Source, State, update};
//! use attn_core::graph::CellId;
//! use attn_core::{AttendInputs, Matrix, Recipe};
//!
//! let inputs = AttendInputs::of_tokens(Matrix::of([[3.0, 3.0], [4.0, 0.0]]));
//! let mut state = State::new(Source::attend(Recipe::default(), inputs))?;
//! let x = state.graph().require("X")?;
//! for event in [Event::Point(CellId { node: x, row: 0, col: 0 }), Event::Type('1'), Event::Accept] {
//!     state = update(state, event);
//! }
//! assert_eq!(state.graph().matrix(x)?[(0, 0)], 1.0);
//! let state = update(state, Event::Undo);
//! assert_eq!(state.graph().matrix(x)?[(0, 0)], 3.0);
//! # Ok::<(), attn_core::error::Error>(())
//! ```

mod assignments;
mod event;
mod relations;
mod source;
mod state;
mod update;

pub use assignments::is_assignment;
pub use event::{Event, Form, Message, Way};
pub use relations::{Sources, fed_by, is_shown_as, most_telling, sources};
pub use source::{Changes, HeadPlace, Knob, Setting, Source};
pub use state::{Change, Mode, Purpose, State};
pub use update::{Computation, Planned, Progress, begins_number, plan, update};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::graph::recipes::{AttendInputs, PositionKind, Recipe, attend};
    use crate::graph::{CellId, Graph, Op, Origin, Stage, Watch};
    use crate::matrix::Matrix;
    use crate::tensor::{Dtype, Storage, StoredNumbers, Tensor};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn words() -> Matrix {
        Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]])
            .rows_named(&["bat", "cave", "racket"])
            .cols_named(&["animals", "sport"])
    }

    fn start() -> State {
        State::new(Source::attend(Recipe::causal(), AttendInputs::of_tokens(words()))).unwrap()
    }

    fn typed(mut state: State, text: &str) -> State {
        for c in text.chars() {
            state = update(state, Event::Type(c));
        }
        update(state, Event::Accept)
    }

    fn found(state: State, text: &str) -> State {
        typed(update(state, Event::Search), text)
    }

    fn number(state: &State, node: &str, row: usize, col: usize) -> f64 {
        let graph = state.graph();
        graph.matrix(graph.require(node).unwrap()).unwrap()[(row, col)]
    }

    fn name(state: &State, cell: CellId) -> &str {
        &state.graph()[cell.node].name
    }

    #[test]
    fn an_edited_number_changes_what_depends_on_it_and_undo_gives_it_back() {
        let state = typed(found(start(), "X[cave,animals]"), "6");
        assert_eq!(number(&state, "X", 1, 0), 6.0);
        assert_eq!(number(&state, "S", 1, 1), 36.0);
        let s = state.graph().require("S").unwrap();
        let before = state.changed(s)[&(1, 1)];
        assert_eq!((before.before, before.now), (16.0, 36.0));
        let state = update(state, Event::Undo);
        assert_eq!(number(&state, "S", 1, 1), 16.0);
        assert_eq!(number(&update(state, Event::Redo), "S", 1, 1), 36.0);
    }

    #[test]
    fn another_recipe_is_one_change_that_keeps_edited_numbers_and_can_be_undone() {
        let state = typed(found(start(), "X[cave,animals]"), "6");
        let other = Recipe { heads: 2, kv_heads: 2, temperature: 2.0, ..Recipe::causal() };
        let followed = update(state.clone(), Event::Follow(Box::new(other)));
        let edited = Matrix::of([[3.0, 3.0], [6.0, 0.0], [0.0, 5.0]]);
        let expected = attend(&other, AttendInputs::of_tokens(edited)).unwrap();
        let output = expected.matrix(expected.require("C").unwrap()).unwrap();
        assert_eq!(number(&followed, "C", 2, 1).to_bits(), output[(2, 1)].to_bits());
        assert_eq!(followed.recipe(), Some(other));
        // The temperature is a setting, which goes back to what it was at the start by itself.
        let reset =
            [Event::Adjust(Knob::Temperature), Event::Erase].into_iter().fold(followed.clone(), update);
        assert_eq!(reset.recipe(), Some(Recipe { temperature: 1.0, ..other }));
        // The heads are those of the recipe that is followed.
        let removed = update(found(followed.clone(), "A_2[bat,bat]"), Event::RemoveHead);
        assert_eq!(removed.message(), None);
        assert_eq!(number(&removed, "C", 2, 1), 0.0);
        let undone = update(followed, Event::Undo);
        assert_eq!(undone.changes(), state.changes());
        assert_eq!(
            update(undone.clone(), Event::Follow(Box::new(Recipe::causal()))).undoable(),
            undone.undoable()
        );
    }

    #[test]
    fn a_computed_number_cannot_be_edited() {
        let state = typed(found(start(), "S[cave,bat]"), "1");
        assert!(state.changes().is_nothing());
        assert!(matches!(
            update(found(start(), "S[cave,bat]"), Event::Edit).message(),
            Some(Message::Computed(_))
        ));
    }

    #[test]
    fn enter_follows_the_largest_operand_and_escape_returns_along_the_path() {
        let state = found(start(), "O[cave,animals]");
        let state = update(state, Event::Open);
        // o21 = a21·v11 + a22·v21, and a22·v21 is the largest.
        let cell = state.cursor();
        assert_eq!((name(&state, cell), cell.row, cell.col), ("A", 1, 1));
        let state = update(state, Event::Open);
        assert_eq!(name(&state, state.cursor()), "S_masked");
        assert_eq!(state.path().len(), 3, "the search is on the path too");
        let state = update(update(state, Event::Back), Event::Back);
        assert_eq!(name(&state, state.cursor()), "O");
    }

    #[test]
    fn tab_walks_through_all_operands_and_comes_round() {
        let mut state = found(start(), "S[cave,bat]");
        let first = state.chosen_operand();
        let count = state.operands().len();
        assert_eq!(count, 4);
        let mut seen = Vec::new();
        for _ in 0..count {
            seen.push(state.chosen_operand().unwrap());
            state = update(state, Event::NextOperand);
        }
        seen.sort_by_key(|cell| (cell.node, cell.row, cell.col));
        seen.dedup();
        assert_eq!(seen.len(), count);
        assert_eq!(state.chosen_operand(), first);
    }

    #[test]
    fn a_step_says_what_it_was_made_of_and_what_it_feeds() {
        let state = found(start(), "A[cave,bat]");
        let of = state.sources();
        assert_eq!(of.cells.len(), 1);
        assert_eq!(of.cells[0].1, [(1, 0), (1, 1), (1, 2)]);
        let feeds = state.feeds();
        assert_eq!(feeds.len(), 1);
        assert_eq!(state.graph()[feeds[0].0].name, "O");
        assert_eq!(feeds[0].1, [(1, 0), (1, 1)]);
    }

    #[test]
    fn settings_are_adjusted_in_one_change_that_one_undo_takes_back() {
        let mut state = update(start(), Event::Adjust(Knob::Temperature));
        for _ in 0..5 {
            state = update(state, Event::Move(Way::Right));
        }
        assert_eq!(state.changes().settings[&Knob::Temperature], Setting::Temperature(1.5));
        assert!(state.graph().find("S_tempered").is_some());
        let state = update(update(state, Event::Back), Event::Undo);
        assert!(state.changes().is_nothing() && state.graph().find("S_tempered").is_none());
        let mut state = update(state, Event::Adjust(Knob::Mask));
        state = update(state, Event::Move(Way::Left));
        assert!(matches!(state.setting(Knob::Mask), Setting::Mask(mask) if !mask.causal));
        assert!(number(&state, "A", 0, 1) > 0.0);
    }

    #[test]
    fn the_cursor_stays_near_a_step_that_a_setting_takes_away() {
        let state = found(start(), "S_masked[cave,bat]");
        let state = update(update(state, Event::Adjust(Knob::Mask)), Event::Move(Way::Left));
        assert_eq!(name(&state, state.cursor()), "S_scaled");
        assert_eq!((state.cursor().row, state.cursor().col), (1, 0));
    }

    #[test]
    fn a_head_that_is_taken_out_gives_zeros_and_comes_back() {
        let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::default() };
        let x = Matrix::from_fn(3, 4, |i, j| (i * 4 + j) as f64 / 7.0);
        let state = State::new(Source::attend(recipe, AttendInputs::of_tokens(x))).unwrap();
        let state = update(found(state, "A_2[1,1]"), Event::RemoveHead);
        let removed: Vec<HeadPlace> = state.changes().removed.iter().copied().collect();
        assert_eq!(removed, [HeadPlace { layer: None, head: 2 }]);
        assert_eq!([number(&state, "O_2", 1, 0), number(&state, "O", 1, 2)], [0.0, 0.0]);
        assert_ne!(number(&state, "O", 1, 0), 0.0);
        let again = update(state, Event::RemoveHead);
        assert_ne!(number(&again, "O", 1, 2), 0.0);
    }

    #[test]
    fn the_only_head_stays_out_while_something_else_changes_and_comes_back() {
        let state = update(found(start(), "A[cave,bat]"), Event::RemoveHead);
        assert_eq!(number(&state, "O", 1, 0), 0.0);
        let state = update(update(state, Event::Adjust(Knob::Temperature)), Event::Move(Way::Right));
        assert_eq!(number(&state, "O", 1, 0), 0.0);
        let state = update(update(state, Event::Back), Event::RemoveHead);
        assert_ne!(number(&state, "O", 1, 0), 0.0);
    }

    #[test]
    fn a_number_to_be_guessed_is_hidden_until_a_guess_is_typed() {
        let state = update(found(start(), "S[cave,bat]"), Event::Predict);
        assert!(state.is_hidden());
        let state = typed(state, "11.5");
        assert_eq!(
            state.message(),
            Some(&Message::Guessed { cell: state.cursor(), guess: 11.5, value: 12.0 })
        );
        assert!(!state.is_hidden());
        assert!(update(state, Event::Move(Way::Right)).is_hidden());
    }

    #[test]
    fn what_is_searched_is_an_address_a_label_a_number_or_a_step() {
        let at = |text: &str| {
            let state = found(start(), text);
            let cell = state.cursor();
            (name(&state, cell).to_string(), cell.row, cell.col)
        };
        assert_eq!(at("A[racket,cave]"), ("A".into(), 2, 1));
        assert_eq!(at("O"), ("O".into(), 1, 0));
        let in_result = |text: &str| {
            let cell = found(found(start(), "O[bat,animals]"), text).cursor();
            (cell.row, cell.col)
        };
        assert_eq!([in_result("cave"), in_result("sport"), in_result("3.94")], [(1, 0), (0, 1), (1, 0)]);
        assert_eq!(at("s_sc"), ("S_scaled".into(), 1, 0));
        assert!(matches!(found(start(), "nowhere").message(), Some(Message::NotFound(_))));
    }

    #[test]
    fn the_state_before_and_the_first_one_are_shown_beside_this_one() {
        let state = typed(found(start(), "X[1,1]"), "1");
        let state = typed(state, "2");
        let state = update(state, Event::Versus);
        let x = |graph: &Graph| graph.matrix(graph.require("X").unwrap()).unwrap()[(0, 0)];
        assert_eq!(x(state.beside().unwrap().0), 1.0);
        let state = update(state, Event::Versus);
        assert_eq!(x(state.beside().unwrap().0), 3.0);
        assert!(update(state, Event::Versus).beside().is_none());
        assert_eq!(update(start(), Event::Versus).message(), Some(&Message::NothingChanged));
    }

    #[test]
    fn a_graph_that_is_read_only_says_why() {
        let graph = attend(&Recipe::causal(), AttendInputs::of_tokens(words())).unwrap();
        let source = Source::ReadOnly(std::sync::Arc::new(graph), "version 1".into());
        let state = typed(found(State::new(source).unwrap(), "X[1,1]"), "1");
        assert!(state.changes().is_nothing());
        assert_eq!(update(state, Event::Edit).message(), Some(&Message::ReadOnly("version 1".into())));
    }

    /// The computation of an event.
    fn computing(state: &State, event: Event) -> Computation {
        match plan(state.clone(), event) {
            Planned::Computing(computation) => *computation,
            Planned::Done(state) => panic!("nothing to compute: {:?}", state.message()),
        }
    }

    /// The state in which `text` is typed as a number for a cell.
    fn begun(cell: &str, text: &str) -> State {
        text.chars().fold(found(start(), cell), |state, c| update(state, Event::Type(c)))
    }

    #[test]
    fn a_stopped_computation_leaves_the_state_before_the_change() {
        let typed = begun("X[cave,animals]", "6");
        let computation = computing(&typed, Event::Accept);
        let watch = Watch::default();
        watch.stop();
        assert!(computation.clone().run(&watch).is_none());
        let stopped = computation.stopped();
        assert_eq!((stopped.message(), stopped.mode()), (Some(&Message::Stopped), &Mode::Look));
        assert!(stopped.changes().is_nothing() && stopped.undoable() == [0, 0]);
        assert!(std::ptr::eq(stopped.graph(), typed.graph()), "nothing is copied");
        let watch = Watch::default();
        let changed = computation.run(&watch).unwrap();
        assert_eq!((number(&changed, "S", 1, 1), watch.steps()), (36.0, changed.graph().nodes().count() - 1));
    }

    #[test]
    fn a_further_step_of_a_setting_goes_on_from_the_value_that_was_not_computed() {
        let state = update(start(), Event::Adjust(Knob::Temperature));
        let first = computing(&state, Event::Move(Way::Right));
        let second = first.further(&Event::Move(Way::Right)).unwrap();
        let temperature = |computation: &Computation| {
            let state = computation.clone().run(&Watch::default()).unwrap();
            (state.setting(Knob::Temperature), state.undoable())
        };
        assert_eq!(temperature(&first), (Setting::Temperature(1.1), [1, 0]));
        assert_eq!(temperature(&second), (Setting::Temperature(1.2), [1, 0]));
        assert_eq!(
            temperature(&second.further(&Event::Move(Way::Left)).unwrap()).0,
            Setting::Temperature(1.1)
        );
        assert!(first.further(&Event::Back).is_none() && first.further(&Event::Move(Way::Up)).is_none());
        let other = computing(&begun("X[cave,animals]", "6"), Event::Accept);
        assert!(other.further(&Event::Move(Way::Right)).is_none());
    }

    #[test]
    fn positions_that_do_not_fit_are_passed_over() {
        let x = Matrix::of([[1.0, 2.0, 0.5], [0.0, 1.0, 1.0]]);
        let state = State::new(Source::attend(Recipe::default(), AttendInputs::of_tokens(x))).unwrap();
        let mut state = update(state, Event::Adjust(Knob::Positions));
        for _ in 0..4 {
            state = update(state, Event::Move(Way::Right));
        }
        // Three columns cannot be rotated in pairs.
        assert!(
            matches!(state.setting(Knob::Positions), Setting::Positions(PositionKind::Alibi { .. })),
            "{:?}",
            state.changes()
        );
    }

    #[test]
    fn progress_tells_the_layer_of_a_model() {
        let mut graph = Graph::new();
        let mut x = graph.given("X", words(), Origin::Stated).unwrap();
        for layer in 1..=3 {
            graph.enter_layer(Some(layer));
            x = graph.add("Y", Op::Relu, &[x]).unwrap();
            graph.mark(x, Stage::Scores);
        }
        let state = State::new(Source::steps(graph)).unwrap();
        let typed = update(found(state, "X[cave,animals]"), Event::Type('6'));
        let computation = computing(&typed, Event::Accept);
        let watch = Watch::default();
        assert_eq!(computation.progress(&watch), Progress { steps: [0, 4], layer: Some([1, 3]) });
        computation.clone().run(&watch).unwrap();
        assert_eq!(computation.progress(&watch), Progress { steps: [3, 4], layer: Some([2, 3]) });
    }

    /// A file in which number i is i.
    #[derive(Debug)]
    struct Counting(u64);

    impl Storage for Counting {
        fn name(&self) -> &str {
            "counting"
        }

        fn length(&self) -> u64 {
            8 * self.0
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
            for (place, bytes) in (offset / 8..).zip(buffer.chunks_mut(8)) {
                bytes.copy_from_slice(&(place as f64).to_le_bytes());
            }
            Ok(())
        }
    }

    #[test]
    fn weights_in_a_file_are_edited_and_only_the_edited_number_has_moved() {
        let (rows, cols) = (400_usize, 300_usize);
        let count = rows * cols;
        let stored = StoredNumbers::new(Arc::new(Counting(count as u64)), 0, Dtype::F64, count).unwrap();
        let mut graph = Graph::new();
        let table = Tensor::stored(stored, &[rows, cols]).unwrap();
        let w = graph.weights("W", table, Origin::Weights("table".into())).unwrap();
        let e = graph.add("E", Op::TokenRows(vec![5, 0]), &[w]).unwrap();
        assert!(graph[w].tensor().is_some_and(Tensor::is_stored));
        let state = State::new(Source::steps(graph)).unwrap();
        let state = typed(found(state, "W[6,1]"), "7.5");
        assert_eq!([number(&state, "E", 0, 0), number(&state, "E", 0, 1)], [7.5, 1501.0]);
        assert_eq!(state.changed_nodes(), [w, e]);
        assert_eq!([state.changed_count(w), state.changed_count(e)], [1, 1]);
        let change = Change { before: 1500.0, now: 7.5 };
        assert_eq!(state.changed(w), BTreeMap::from([((5, 0), change)]));
        let state = update(state, Event::Undo);
        assert_eq!((number(&state, "E", 0, 0), state.changed_count(w)), (1500.0, 0));
        let state = typed(state, "8");
        assert_eq!(number(&state, "E", 0, 0), 8.0);
    }

    #[test]
    fn a_step_of_no_head_has_no_next_head() {
        let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::causal() };
        let state = State::new(Source::attend(recipe, AttendInputs::of_tokens(words()))).unwrap();
        let at_output = update(found(state.clone(), "O"), Event::Head(1));
        assert_eq!(at_output.message(), Some(&Message::NoHead));
        let second = update(found(state, "A_1"), Event::Head(1));
        assert_eq!(name(&second, second.cursor()), "A_2");
        assert_eq!(update(second, Event::Head(1)).message(), Some(&Message::NoFurther));
    }

    #[test]
    fn a_number_beside_a_changed_one_keeps_its_origin() {
        let state = found(start(), "X[cave,sport]");
        assert_eq!(state.origin_at_start(state.cursor()), None, "nothing is changed");
        let state = found(typed(found(state, "X[cave,animals]"), "6"), "X[cave,sport]");
        let origin = state.origin_at_start(state.cursor()).map(ToString::to_string);
        assert!(origin.is_some_and(|origin| !origin.contains("hand")));
        let state = found(state, "X[cave,animals]");
        assert_eq!(state.origin_at_start(state.cursor()), None);
    }

    #[test]
    fn what_can_only_be_looked_at_says_so_when_it_is_opened() {
        assert_eq!(start().opened().message(), None);
        let graph = Arc::new(start().graph().clone());
        let state = State::new(Source::ReadOnly(graph, "it is old.".into())).unwrap().opened();
        assert_eq!(state.message(), Some(&Message::ReadOnly("it is old.".into())));
    }

    #[test]
    fn the_last_thousand_changes_can_be_undone_and_then_undo_says_why_it_ends() {
        let mut state = found(start(), "X[cave,animals]");
        for edit in 0..1010 {
            state = update(state, Event::Enter(format!("{}", f64::from(edit) + 0.5)));
        }
        assert_eq!(state.undoable(), [1000, 0]);
        for _ in 0..1000 {
            state = update(state, Event::Undo);
        }
        assert_eq!((number(&state, "X", 1, 0), state.message()), (9.5, None));
        state = update(state, Event::Undo);
        assert_eq!((number(&state, "X", 1, 0), state.message()), (9.5, Some(&Message::Forgotten(1000))));
        // What is compared with the start still is.
        let x = |graph: &Graph| graph.matrix(graph.require("X").unwrap()).unwrap()[(1, 0)];
        assert_eq!(x(update(state, Event::Versus).beside().unwrap().0), 4.0);
    }

    #[test]
    fn the_last_change_of_a_cell_counts_and_others_of_its_matrix_stay() {
        let mut state = start();
        for (cell, number) in [("X[1,1]", "1"), ("X[2,1]", "2"), ("X[1,1]", "7"), ("X[3,2]", "9")] {
            state = typed(found(state, cell), number);
        }
        let x = state.graph().require("X").unwrap();
        let numbers: Vec<f64> = state.graph().matrix(x).unwrap().cells().collect();
        assert_eq!(numbers, [7.0, 3.0, 2.0, 0.0, 0.0, 9.0]);
    }

    #[test]
    fn it_begins_at_the_largest_weight_of_another_token_and_never_at_a_number_that_is_shown_as_0_or_1() {
        // cave: softmax(12/√2, 16/√2) of bat and cave; racket: softmax(15/√2, 0, 25/√2). The mask leaves bat itself alone.
        let begin = start().cursor();
        let state = start();
        assert_eq!((name(&state, begin), begin.row, begin.col), ("A", 1, 0));
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::of([[0.0, 0.0], [2.0, 1.0]]), Origin::Stated).unwrap();
        let same = graph.add("same", Op::Subtract, &[x, x]).unwrap();
        graph.add("twice", Op::Add, &[x, x]).unwrap();
        graph.add("difference", Op::Subtract, &[same, same]).unwrap();
        let state = State::new(Source::steps(graph)).unwrap();
        assert_eq!((name(&state, state.cursor()), state.value()), ("twice", Some(4.0)));
    }
}
