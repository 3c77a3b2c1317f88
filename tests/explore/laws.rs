//! What holds for every state, whatever happens to it.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::common::one_in;
use attn::demo::{self, Settings};
use attn::explore::{Event, Knob, Source, State, Way, fed_by, sources, update};
use attn::graph::recipes::{AttendInputs, PositionKind, Positions, Recipe};
use attn::graph::{CellId, Graph, NodeId, Op};
use attn::matrix::Matrix;
use proptest::prelude::*;

/// The states that all laws are tried on: a pipeline with two heads, one with rotary positions, a demo.
fn starts() -> &'static [State] {
    static STARTS: LazyLock<Vec<State>> = LazyLock::new(|| {
        let x = |width: usize| Matrix::from_fn(4, width, |i, j| ((i * 7 + j * 3) % 11) as f64 / 4.0 - 1.0);
        let of = |recipe: Recipe, width: usize| {
            State::new(Source::attend(recipe, AttendInputs::of_tokens(x(width)))).expect("it computes")
        };
        let two_heads = Recipe { heads: 2, kv_heads: 2, ..Recipe::causal() };
        let rotary = Positions { kind: PositionKind::Rotary(Default::default()), ..Positions::default() };
        let positions = Recipe { positions: rotary, ..Recipe::default() };
        let story = demo::find("mask").and_then(|demo| demo.story(&Settings::default())).expect("the demo");
        vec![of(two_heads, 4), of(positions, 4), State::new(Source::steps(story.graph)).expect("the demo")]
    });
    &STARTS
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        Just(Way::Left),
        Just(Way::Right),
        Just(Way::Up),
        Just(Way::Down),
        Just(Way::RowEnd),
        Just(Way::Bottom),
        Just(Way::RowsDown(2)),
    ]
}

fn knob() -> impl Strategy<Value = Knob> {
    prop_oneof![Just(Knob::Temperature), Just(Knob::Scale), Just(Knob::Mask), Just(Knob::Positions)]
}

/// Anything that can happen.
fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => way().prop_map(Event::Move),
        2 => Just(Event::NextOperand),
        3 => Just(Event::Open),
        1 => Just(Event::Back),
        3 => (-3_isize..=3).prop_map(Event::Node),
        1 => prop_oneof![Just(Event::Head(1)), Just(Event::Head(-1)), Just(Event::Layer(1))],
        4 => prop::sample::select("0123456789.-exX[".chars().collect::<Vec<_>>()).prop_map(Event::Type),
        3 => Just(Event::Accept),
        1 => Just(Event::Erase),
        2 => Just(Event::Edit),
        1 => prop_oneof![Just(Event::Predict), Just(Event::Search), Just(Event::Versus), Just(Event::Help)],
        2 => knob().prop_map(Event::Adjust),
        2 => Just(Event::RemoveHead),
        1 => Just(Event::Undo),
        1 => Just(Event::Redo),
    ]
}

fn after(start: &State, events: &[Event]) -> State {
    events.iter().cloned().fold(start.clone(), update)
}

/// Returns true if both graphs have the same steps with the same bits.
fn same(a: &Graph, b: &Graph) -> bool {
    let bits = |graph: &Graph, id: NodeId| -> Vec<u64> {
        graph[id].tensor().map(|tensor| tensor.cells().map(f64::to_bits).collect()).unwrap_or_default()
    };
    a.nodes().count() == b.nodes().count()
        && a.nodes().zip(b.nodes()).all(|((id, node), (other, there))| {
            node.name == there.name
                && node.op == there.op
                && node.labels() == there.labels()
                && bits(a, id) == bits(b, other)
        })
}

/// A state in which nothing is typed or adjusted.
fn at_rest(state: State) -> State {
    (0..3).fold(state, |state, _| update(state, Event::Back))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160 / one_in(5) as u32, ..ProptestConfig::default() })]

    #[test]
    fn after_as_many_undos_everything_is_as_at_the_start(
        start in 0_usize..3, events in prop::collection::vec(event(), 0..40)
    ) {
        let start = &starts()[start];
        let mut state = at_rest(after(start, &events));
        for _ in 0..events.len() {
            state = update(state, Event::Undo);
        }
        prop_assert!(state.changes().is_nothing());
        prop_assert!(same(state.graph(), start.graph()));
    }

    #[test]
    fn an_edited_graph_has_the_bits_of_a_fresh_run(
        start in 0_usize..3, events in prop::collection::vec(event(), 0..40)
    ) {
        let state = after(&starts()[start], &events);
        let fresh = state.source().graph(state.changes(), None).expect("it was computed before");
        prop_assert!(same(state.graph(), &fresh), "{:?}", state.changes());
    }

    #[test]
    fn the_cursor_and_the_path_always_stand_on_cells(
        start in 0_usize..3, events in prop::collection::vec(event(), 0..40)
    ) {
        let state = after(&starts()[start], &events);
        for cell in state.path().iter().chain([&state.cursor()]) {
            let shape = state.graph()[cell.node].shape();
            prop_assert!(cell.row < shape.rows && cell.col < shape.cols, "{cell:?}");
        }
        prop_assert!(state.operands().iter().all(|cell| cell.node < state.cursor().node));
    }

    #[test]
    fn undo_and_redo_give_the_same_graph(
        start in 0_usize..3, events in prop::collection::vec(event(), 0..40)
    ) {
        let state = at_rest(after(&starts()[start], &events));
        if state.undoable()[0] > 0 {
            let again = update(update(state.clone(), Event::Undo), Event::Redo);
            prop_assert!(same(state.graph(), again.graph()) && state.changes() == again.changes());
        }
    }
}

/// Every demo: what a cell feeds is what has it among its sources.
#[test]
fn what_a_number_feeds_is_what_was_made_of_it() {
    let mut seen = 0;
    for demo in demo::demos().step_by(one_in(4)) {
        let graph = demo.story(&Settings::default()).expect(demo.name).graph;
        for (id, node) in graph.nodes() {
            let shape = node.shape();
            if node.tensor().is_none() || shape.rows * shape.cols == 0 {
                continue;
            }
            for cell in [(0, 0), (shape.rows - 1, shape.cols - 1), (shape.rows / 2, shape.cols / 3)] {
                let cell = CellId { node: id, row: cell.0, col: cell.1 };
                seen += check_feeds(demo.name, &graph, cell);
            }
        }
    }
    assert!(seen > 1000 / one_in(8), "{seen}");
}

/// Compares both directions for one cell; returns the number of readers.
fn check_feeds(demo: &str, graph: &Graph, cell: CellId) -> usize {
    let mut count = 0;
    let fed: HashMap<NodeId, Vec<(usize, usize)>> = fed_by(graph, cell).into_iter().collect();
    // A reader that is left out would be a fault too.
    let readers = graph.nodes().filter(|(_, node)| node.inputs.contains(&cell.node)).map(|(id, _)| id);
    for reader in readers {
        let places = fed.get(&reader).cloned().unwrap_or_default();
        let shape = graph[reader].shape();
        if shape.rows * shape.cols > 400 {
            continue;
        }
        for (row, col) in (0..shape.rows).flat_map(|row| (0..shape.cols).map(move |col| (row, col))) {
            let of = sources(graph, CellId { node: reader, row, col });
            let reads =
                of.cells.iter().any(|(node, all)| *node == cell.node && all.contains(&(cell.row, cell.col)));
            let said = places.contains(&(row, col));
            // A hidden score takes part in no weight, though it stands in the row of the softmax; max(0, a) is 0 whatever a is.
            let is_hidden = graph[cell.node].tensor().and_then(|tensor| tensor.number(cell.row, cell.col))
                == Some(f64::NEG_INFINITY);
            let is_cut = graph[reader].op == Op::Relu;
            assert!(
                said == reads || said && (is_hidden || is_cut),
                "{demo}: {} and {}[{row},{col}]",
                graph[cell.node].name,
                graph[reader].name
            );
            count += usize::from(said);
        }
    }
    count
}
