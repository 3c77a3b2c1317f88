//! Claims about screens, and what they look like in three sizes.

use std::fmt::Write;
use std::sync::Arc;

use crate::explore::{Event, Knob, Mode, Source, State, Way, update};
use crate::graph::recipes::{AttendInputs, Recipe};
use crate::graph::{Graph, Op, Origin};
use crate::matrix::{Matrix, Shape};
use crate::render::{Charset, Screen, Theme};
use crate::terminal::{Cell, Cells, Style};

use super::draw::{Board, Narrator, cut, draw};
use super::keys::BINDINGS;

fn start() -> State {
    let x = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]);
    let x = x.rows_named(&["bat", "cave", "racket"]).cols_named(&["animals", "sport"]);
    State::new(Source::attend(Recipe::causal(), AttendInputs::of_tokens(x))).unwrap()
}

fn found(state: State, text: &str) -> State {
    let typed = text.chars().map(Event::Type);
    [Event::Search].into_iter().chain(typed).chain([Event::Accept]).fold(state, update)
}

fn drawn(state: &State, width: u16, height: u16, (colour, charset): (bool, Charset)) -> Cells {
    let theme = Theme::Dark;
    let screen = Screen { width: width.into(), colour, theme, charset };
    let story = Narrator { told: Arc::default(), screen }.of(state);
    let mut buffer = Cells::blank((width, height));
    draw(&Board::new(state, &story, None), &mut buffer);
    buffer
}

const PLAIN: (bool, Charset) = (false, Charset::Utf8);

/// The text of a screen, and below it the styles of its cells, run by run.
fn described(buffer: &Cells) -> String {
    let mut text = String::new();
    for row in buffer.all.chunks(buffer.width.into()) {
        let _ = writeln!(text, "|{}", symbols(row).trim_end());
    }
    for (y, row) in buffer.all.chunks(buffer.width.into()).enumerate() {
        for run in row.chunk_by(|a, b| a.style == b.style).filter(|run| run[0].style != Style::PLAIN) {
            let _ = writeln!(text, "{y}: {:?} {}", symbols(run).trim(), told(run[0].style));
        }
    }
    text
}

fn symbols(cells: &[Cell]) -> String {
    cells.iter().map(Cell::symbol).collect()
}

/// A style in the words of the screens that are kept.
fn told(style: Style) -> String {
    let colour = |number: Option<u8>| {
        number.map_or("Some(Reset)".to_string(), |number| format!("Some(Indexed({number}))"))
    };
    let marks = [(style.bold, "BOLD"), (style.underlined, "UNDERLINED"), (style.reversed, "REVERSED")];
    let marks: Vec<&str> = marks.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name).collect();
    let marks = if marks.is_empty() { "NONE".to_string() } else { marks.join(" | ") };
    format!("{marks} {} {}", colour(style.ink), colour(style.ground))
}

fn text(buffer: &Cells) -> String {
    described(buffer).lines().filter_map(|line| line.strip_prefix('|')).collect::<Vec<_>>().join("\n")
}

#[test]
fn screens_of_three_sizes() {
    let state = found(start(), "O[cave,animals]");
    for (width, height) in [(60, 16), (80, 24), (120, 40)] {
        insta::assert_snapshot!(
            format!("weights_{width}x{height}"),
            described(&drawn(&state, width, height, PLAIN))
        );
    }
    let coloured = (true, Charset::Utf8);
    insta::assert_snapshot!("weights_in_colour", described(&drawn(&state, 80, 24, coloured)));
}

/// What a teacher shows, each as a state.
fn situations() -> Vec<(&'static str, State)> {
    let after = |state: State, events: &[Event]| events.iter().cloned().fold(state, update);
    let edited = after(found(start(), "X[cave,animals]"), &[Event::Type('6'), Event::Accept]);
    let large = Matrix::from_fn(60, 40, |i, j| (i * 40 + j) as f64);
    let large = State::new(Source::attend(Recipe::default(), AttendInputs::of_tokens(large))).unwrap();
    vec![
        ("product", found(start(), "S[cave,bat]")),
        ("masked_softmax", found(start(), "A[cave,bat]")),
        ("edited", found(edited.clone(), "S[cave,cave]")),
        (
            "temperature",
            after(
                found(start(), "A[cave,bat]"),
                &[Event::Adjust(Knob::Temperature), Event::Move(Way::Right)],
            ),
        ),
        ("before_and_now", after(found(edited.clone(), "A[cave,bat]"), &[Event::Versus])),
        ("guess", update(found(start(), "A[cave,cave]"), Event::Predict)),
        ("keys", update(start(), Event::Help)),
        ("typing", after(found(start(), "X[cave,animals]"), &[Event::Type('6'), Event::Type('.')])),
        ("form", update(edited, Event::Write)),
        ("large", found(large, "X[31,25]")),
    ]
}

#[test]
fn every_situation_in_three_sizes() {
    for (name, state) in situations() {
        for (width, height) in [(60, 16), (80, 24), (120, 40)] {
            let drawn = described(&drawn(&state, width, height, PLAIN));
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), drawn);
        }
    }
}

/// Which of these titles stand on a screen of 80 columns.
fn titles<'t>(state: &State, titles: &[&'t str]) -> Vec<&'t str> {
    let shown = text(&drawn(state, 80, 24, PLAIN));
    titles.iter().copied().filter(|title| shown.contains(title)).collect()
}

#[test]
fn a_product_shows_its_operands_and_the_result_on_80_columns() {
    let all = ["Q 3×2", "Kᵀ 2×3", "S 3×3"];
    assert_eq!(titles(&found(start(), "S[cave,bat]"), &all), all);
    let all = ["A 3×3", "V 3×2", "O 3×2"];
    assert_eq!(titles(&found(start(), "O[cave,animals]"), &all), all);
    let tokens = |count: usize, width: usize, heads: usize| {
        let x = Matrix::from_fn(count, width, |i, j| ((i * 7 + j * 5) % 9) as f64 - 4.0);
        let recipe = Recipe { heads, kv_heads: heads, ..Recipe::causal() };
        State::new(Source::attend(recipe, AttendInputs::of_tokens(x))).unwrap()
    };
    let all = ["Q_2 3×2", "K_2ᵀ 2×3", "S_2 3×3"];
    assert_eq!(titles(&found(tokens(3, 4, 2), "S_2[2,1]"), &all), all);
    for (cell, all) in
        [("S[5,2]", ["Q 16×8", "Kᵀ 8×16", "S 16×16"]), ("O[5,1]", ["A 16×16", "V 16×8", "O 16×8"])]
    {
        assert_eq!(titles(&found(tokens(16, 8, 1), cell), &all), all);
    }
}

#[test]
fn an_equation_on_two_lines_keeps_its_signs_and_every_row() {
    let shown = text(&drawn(&found(start(), "S[cave,bat]"), 80, 24, PLAIN));
    let has = |row: &str| shown.contains(row);
    assert!(has("cave   [      4][      0]  ·  sport"), "{shown}");
    assert!(has("=  cave   >    12<     16       0"), "{shown}");
    assert!(has("bat           3        3") && has("racket        0        5"), "{shown}");
    assert!(has("bat         18      12      15") && has("racket      15       0      25"), "{shown}");
}

#[test]
fn a_product_stands_as_its_table_is_printed() {
    let shown = text(&drawn(&found(start(), "S[cave,bat]"), 120, 40, PLAIN));
    let titles = shown.lines().nth(2).unwrap();
    let at = |title: &str| titles.find(title).unwrap_or_else(|| panic!("{title}: {titles}"));
    assert!(at("Q 3×2") < at("Kᵀ 2×3") && at("Kᵀ 2×3") < at("S 3×3"), "{titles}");
    assert!(shown.contains(" · ") && shown.contains(" = "), "{shown}");
    assert!(shown.contains("[") && shown.contains("("), "both operands are marked: {shown}");
}

#[test]
fn marks_can_be_told_without_colour() {
    let buffer = drawn(&found(start(), "S[cave,bat]"), 120, 40, PLAIN);
    let shown = text(&buffer);
    let row: Vec<&str> = shown.lines().filter(|line| line.contains("cave ")).collect();
    assert!(row.iter().any(|line| line.contains("[      4]") || line.contains("[     4]")), "{row:?}");
    assert!(row.iter().any(|line| line.contains(">") && line.contains("12<")), "{row:?}");
    assert!(!described(&buffer).contains("Indexed"), "no colours");
}

#[test]
fn in_ascii_every_character_is_ascii() {
    let mut state = found(start(), "A[cave,bat]");
    for _ in 0..12 {
        let buffer = drawn(&state, 80, 24, (false, Charset::Ascii));
        assert!(buffer.all.iter().all(|cell| cell.symbol().is_ascii()), "{}", text(&buffer));
        state = update(state, Event::Node(-1));
    }
    let help = drawn(&update(state, Event::Help), 120, 40, (false, Charset::Ascii));
    assert!(help.all.iter().all(|cell| cell.symbol().is_ascii()), "{}", text(&help));
}

#[test]
fn a_number_to_be_guessed_stands_nowhere() {
    let state = update(found(start(), "A[cave,cave]"), Event::Predict);
    let shown = text(&drawn(&state, 120, 40, PLAIN));
    assert!(!shown.contains("0.9442") && shown.contains("?<"), "{shown}");
}

#[test]
fn a_large_matrix_scrolls_under_its_labels() {
    let x = Matrix::from_fn(60, 40, |i, j| (i * 40 + j) as f64);
    let mut state = State::new(Source::attend(Recipe::default(), AttendInputs::of_tokens(x))).unwrap();
    state = found(state, "X[31,25]");
    let shown = text(&drawn(&state, 80, 24, PLAIN));
    assert!(shown.contains("1224<"), "{shown}");
    assert!(shown.contains(" of 40 >") && shown.contains("< "), "{shown}");
    let state = update(update(state, Event::Move(Way::Bottom)), Event::Move(Way::RowEnd));
    let shown = text(&drawn(&state, 80, 24, PLAIN));
    assert!(shown.contains("2399<") && shown.contains("of 40"), "{shown}");
}

#[test]
fn a_long_sum_leaves_room_for_its_result() {
    let x = Matrix::from_fn(9, 4, |i, j| ((i * 7 + j * 5) % 9) as f64 - 4.0);
    let state = State::new(Source::attend(Recipe::default(), AttendInputs::of_tokens(x))).unwrap();
    let state = found(state, "A[5,3]");
    for (width, height) in [(60, 16), (60, 24), (80, 24), (120, 40)] {
        let shown = text(&drawn(&state, width, height, PLAIN));
        let below: Vec<&str> = shown.lines().rev().take_while(|line| !line.starts_with('─')).collect();
        let result = below.iter().position(|line| line.trim_start().starts_with("= 0.")).expect(&shown);
        assert!(below.iter().any(|line| line.contains("with m = ")), "{shown}");
        let formula = below[result + 1..].concat();
        assert!(formula.contains("more") || formula.contains('…'), "what is left out can be seen: {shown}");
        assert!(width < 80 || formula.contains("more") && !formula.contains('…'), "fewer terms: {shown}");
    }
}

/// The state after a number of `X` is changed and a cell is looked at.
fn edited_at(number: &str, cell: &str) -> State {
    let typed = number.chars().map(Event::Type).chain([Event::Accept]);
    found(typed.fold(found(start(), "X[cave,animals]"), update), cell)
}

#[test]
fn a_cell_that_is_looked_at_shows_that_it_moved_and_what_it_was() {
    for (width, height) in [(80, 24), (120, 40)] {
        let shown = text(&drawn(&edited_at("3", "A[cave,bat]"), width, height, PLAIN));
        assert!(shown.contains("[ 6.3640*[ 6.3640*"), "{shown}");
        assert!(shown.contains(">0.5000* 0.5000*") && shown.contains("was     0.0558  0.9442"), "{shown}");
        let shown = text(&drawn(&edited_at("3", "S[cave,bat]"), width, height, PLAIN));
        assert!(
            shown.contains("was         12      16") && shown.contains("racket      15       0"),
            "{shown}"
        );
    }
    // No row gives way to old numbers.
    let x = Matrix::from_fn(9, 2, |i, j| (i * 2 + j) as f64);
    let state = State::new(Source::attend(Recipe::default(), AttendInputs::of_tokens(x))).unwrap();
    let state = found(update(found(state, "X[1,1]"), Event::Enter("7".into())), "S[1,1]");
    let rows = |state: &State| {
        let shown = text(&drawn(state, 60, 16, PLAIN));
        assert!(!shown.contains("was "), "{shown}");
        shown.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count()
    };
    assert_eq!(rows(&state), rows(&update(state.clone(), Event::Undo)));
}

#[test]
fn the_cursor_on_a_shade_is_reversed_and_has_no_shade() {
    let buffer = drawn(&found(start(), "A[cave,cave]"), 80, 24, (true, Charset::Utf8));
    // In the map a step has the same sign, but no number behind it.
    let is_cursor = |cells: &&[Cell]| cells[0].symbol() == ">" && cells[2].symbol() == ".";
    let cells = buffer.all.windows(8).find(is_cursor).unwrap();
    assert!(cells.iter().all(|cell| cell.style.reversed && cell.style.bold), "{cells:?}");
    assert!(cells.iter().all(|cell| (cell.style.ink, cell.style.ground) == (None, None)), "{cells:?}");
}

#[test]
fn a_hidden_score_is_hatched_in_ascii_too() {
    let shown = text(&drawn(&found(start(), "A[cave,bat]"), 80, 24, (false, Charset::Ascii)));
    assert!(shown.contains(":::::0") && shown.contains(":::-inf"), "{shown}");
    assert!(shown.contains("/ find"), "{shown}");
}

#[test]
fn a_long_message_is_whole_at_eighty_columns() {
    let shown = text(&drawn(&update(found(start(), "V[bat,sport]"), Event::Type('5')), 80, 24, PLAIN));
    let said = shown.lines().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Enter leads to them, step by step."), "{shown}");
    assert!(said.contains("    = 3 "), "the result is still there: {shown}");
}

#[test]
fn text_that_is_cut_ends_in_one_dot_sign_and_in_ascii_with_two_dots() {
    assert_eq!(cut("a long text", 7, Charset::Utf8), "a long…");
    assert_eq!(cut("a long text", 7, Charset::Ascii), "a lon..");
    assert_eq!(cut("racket", 3, Charset::Ascii), "rac");
    assert_eq!(cut("cave", 4, Charset::Utf8), "cave");
}

#[test]
fn side_by_side_both_matrices_show_the_same_columns() {
    let x = Matrix::from_fn(6, 40, |i, j| (i * 40 + j) as f64);
    let state = State::new(Source::attend(Recipe::default(), AttendInputs::of_tokens(x))).unwrap();
    let state = update(found(state, "X[3,20]"), Event::Enter("123456.75".into()));
    let state = update(state, Event::Versus);
    for width in [80, 120] {
        let shown = text(&drawn(&state, width, 24, PLAIN));
        let labels = shown.lines().nth(3).unwrap();
        let columns: Vec<&str> =
            labels.split_whitespace().filter(|word| word.parse::<usize>().is_ok()).collect();
        assert!(columns.len() >= 4 && columns.len().is_multiple_of(2), "{shown}");
        let (left, right) = columns.split_at(columns.len() / 2);
        assert_eq!(left, right, "{shown}");
    }
}

#[test]
fn a_number_that_nobody_touched_is_not_given_by_hand() {
    let state = edited_at("3", "X[cave,sport]");
    let head =
        |state: &State| text(&drawn(state, 80, 24, PLAIN)).lines().nth(16).unwrap_or_default().to_string();
    assert!(!head(&state).contains("by hand"), "{}", head(&state));
    let state = found(state, "X[cave,animals]");
    assert!(head(&state).contains("given by hand"), "{}", head(&state));
}

#[test]
fn a_head_that_is_out_says_so() {
    let x = Matrix::from_fn(3, 4, |i, j| ((i * 7 + j * 5) % 9) as f64 - 4.0);
    let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::causal() };
    let state = State::new(Source::attend(recipe, AttendInputs::of_tokens(x))).unwrap();
    let state = found(update(found(state, "A_1[1,1]"), Event::RemoveHead), "O_1[1,1]");
    assert!(text(&drawn(&state, 80, 24, PLAIN)).contains("This head is taken out"));
}

#[test]
fn a_graph_that_can_only_be_looked_at_says_so_when_it_is_opened() {
    let graph = Arc::new(start().graph().clone());
    let reason = "the file has version 1, which does not say how each step is computed.";
    let state = State::new(Source::ReadOnly(graph, reason.to_string())).unwrap().opened();
    let shown = text(&drawn(&state, 80, 24, PLAIN));
    assert!(shown.lines().next().unwrap().ends_with("read-only"), "{shown}");
    let said = shown.lines().rev().take(3).collect::<Vec<_>>();
    assert!(
        said.concat().contains("each step is computed.") && said.concat().contains("can only be looked at")
    );
}

#[test]
fn a_matrix_that_a_file_left_out_is_not_said_to_be_never_computed() {
    let mut graph = Graph::new();
    let x = graph.given("X", Matrix::identity(2), Origin::Stated).unwrap();
    graph.never_formed("logits", Op::Transpose, &[x], Shape { rows: 2, cols: 50_000 }).unwrap();
    let said = |source| text(&drawn(&State::new(source).unwrap(), 80, 24, PLAIN));
    let reason = "the numbers of logits are too many, and are not in the file.".to_string();
    let of_file = said(Source::ReadOnly(Arc::new(graph.clone()), reason));
    assert!(of_file.contains("logits is not in this file: it is too large for it"), "{of_file}");
    assert!(said(Source::steps(graph)).contains("logits is never formed: this path does not compute it."));
}

#[test]
fn a_small_window_says_what_is_needed() {
    let said = text(&drawn(&start(), 40, 16, PLAIN));
    assert!(said.contains("60x16 are") && said.contains("needed."), "{said}");
    assert!(text(&drawn(&start(), 59, 16, PLAIN)).contains("60x16 are needed"));
    assert!(text(&drawn(&start(), 60, 15, PLAIN)).contains("60x16 are needed"));
    for (width, height) in [(1, 1), (2, 30), (200, 3)] {
        drawn(&start(), width, height, PLAIN);
    }
}

#[test]
fn the_list_of_keys_is_whole_on_one_page_of_eighty_columns_and_on_the_pages_of_a_smaller_window() {
    let mut state = update(start(), Event::Help);
    let shown = text(&drawn(&state, 80, 24, PLAIN));
    for binding in BINDINGS {
        assert!(shown.contains(binding.shown) && shown.contains(binding.says), "{}: {shown}", binding.says);
    }
    let mut pages = String::new();
    for _ in 0..3 {
        pages.push_str(&text(&drawn(&state, 60, 16, PLAIN)));
        state = update(state, Event::MoreHelp);
    }
    assert!(pages.contains("Page 3 of 3: Space shows the next one"), "{pages}");
    assert!(BINDINGS.iter().all(|binding| pages.contains(binding.says)), "{pages}");
    assert_eq!(*update(state, Event::Back).mode(), Mode::Look);
}
