//! Claims about screens, and what they look like in three sizes.

use std::collections::HashMap;
use std::fmt::Write;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::draw::{Board, Look, draw};
use super::keys::BINDINGS;
use super::steps_of_story::StepsOfStory;
use crate::explore::{Event, Knob, Mode, Source, State, Way, update};
use crate::graph::recipes::{AttendInputs, Recipe};
use crate::matrix::Matrix;
use crate::render::{Charset, Screen, Theme};

fn start() -> State {
    let x = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]);
    let x = x.rows_named(&["bat", "cave", "racket"]).cols_named(&["animals", "sport"]);
    State::new(Source::attend(Recipe::causal(), AttendInputs::of_tokens(x))).unwrap()
}

fn found(state: State, text: &str) -> State {
    let typed = text.chars().map(Event::Type);
    [Event::Search].into_iter().chain(typed).chain([Event::Accept]).fold(state, update)
}

fn drawn(state: &State, width: u16, height: u16, (colour, charset): (bool, Charset)) -> Buffer {
    let theme = Theme::Dark;
    let screen = Screen { width: width.into(), colour, theme, charset };
    let story = StepsOfStory::of(state, &HashMap::new(), screen);
    let look = Look { colour, theme, charset };
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
    draw(&Board { state, story: &story, look, said: None }, &mut buffer);
    buffer
}

const PLAIN: (bool, Charset) = (false, Charset::Utf8);

/// The text of a screen, and below it the styles of its cells, run by run.
fn described(buffer: &Buffer) -> String {
    let Rect { width, height, .. } = buffer.area;
    let mut text = String::new();
    for y in 0..height {
        let line: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        let _ = writeln!(text, "|{}", line.trim_end());
    }
    for y in 0..height {
        let mut x = 0;
        while x < width {
            let style = buffer[(x, y)].style();
            let end = (x..width).find(|&next| buffer[(next, y)].style() != style).unwrap_or(width);
            let plain = Style::reset();
            let is_plain = style.add_modifier.is_empty() && style.fg == plain.fg && style.bg == plain.bg;
            if !is_plain {
                let run: String = (x..end).map(|x| buffer[(x, y)].symbol()).collect();
                let _ = writeln!(
                    text,
                    "{y}: {:?} {:?} {:?} {:?}",
                    run.trim(),
                    style.add_modifier,
                    style.fg,
                    style.bg
                );
            }
            x = end;
        }
    }
    text
}

fn text(buffer: &Buffer) -> String {
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
        assert!(buffer.content().iter().all(|cell| cell.symbol().is_ascii()), "{}", text(&buffer));
        state = update(state, Event::Node(-1));
    }
    let help = drawn(&update(state, Event::Help), 120, 40, (false, Charset::Ascii));
    assert!(help.content().iter().all(|cell| cell.symbol().is_ascii()), "{}", text(&help));
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
    }
}

#[test]
fn a_small_window_says_what_is_needed() {
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
