//! Pages in a real browser, of lessons and of single commands: what is folded, lit, printed, and reached by mouse, finger and
//! keys.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::browser::{Window, browser, window};
use crate::common::{attn, in_process_once, one_in};
use attn::lesson::export::{self, Answers, Handout};
use attn::lesson::{BUILT_IN, Runner, built_in, open};

const LESSON: &str = "tests/lessons/page.md";
/// The options of a page with everything that can stand in it.
const WHOLE: &str = "--answers shown --notes";

/// The page of a lesson under some options of `attn lesson export`; several tests look at the same.
fn page(lesson: &str, options: &str) -> Arc<str> {
    static PAGES: Mutex<BTreeMap<String, Arc<str>>> = Mutex::new(BTreeMap::new());
    let command = format!("lesson export --to html {lesson} {options}");
    let known = PAGES.lock().unwrap().get(&command).cloned();
    known.unwrap_or_else(|| {
        let page: Arc<str> = match built_in(lesson) {
            Some(_) => {
                assert_eq!(options, WHOLE);
                built_in_page(lesson, Answers::Shown, false).into()
            }
            None => attn(&command).ok().out.into(),
        };
        PAGES.lock().unwrap().insert(command, Arc::clone(&page));
        page
    })
}

/// The page of a built-in lesson with its notes, whose commands all tests run only once.
pub fn built_in_page(name: &str, answers: Answers, live: bool) -> String {
    let lesson = open(name).expect("a lesson").0;
    let runner = Runner::new(&in_process_once);
    export::html(&Handout { lesson: &lesson, runner: &runner, answers, notes: true, live })
}

/// What the page tells of the cells that are lit: name of the table, row and column from 1, each only once.
const LIT: &str = "[...new Set([...document.querySelectorAll('.lit, .lit-2')].map((cell) => \
    cell.closest('table').querySelector('.name').textContent + ' ' + (cell.parentElement.sectionRowIndex + 1) + ' ' + cell.cellIndex))].sort().join(', ')";

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn answers_and_hints_are_folded_until_they_are_asked_for() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 900));
    let is_seen = "document.querySelector('details.answer p').checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })";
    assert_eq!(page.eval("document.querySelectorAll('details[open].answer, details[open].hint').length"), 0);
    assert_eq!(page.eval("document.querySelectorAll('details').length"), 2);
    assert_eq!(page.eval(is_seen), false);
    page.click("details.answer > summary");
    assert_eq!(page.eval(is_seen), true);
    assert!(
        page.eval("document.querySelector('details.answer').innerText")
            .as_str()
            .unwrap()
            .contains("Two words come after it.")
    );
}

#[test]
fn a_sheet_without_answers_holds_none_and_a_key_shows_them_all() {
    let hidden = page(LESSON, "--answers hidden");
    for secret in ["Two words come after it", "True without a mask", "--format csv", "class=\"answer\""] {
        assert!(!hidden.contains(secret), "{secret}");
    }
    assert!(hidden.contains("Your answer:") && hidden.contains("How many weights"));
    let shown = page(LESSON, WHOLE);
    assert!(shown.contains("<details class=\"answer\" open>") && shown.contains("Two words come after it"));
}

#[test]
fn notes_are_for_the_teacher_alone() {
    assert!(!page(LESSON, "").contains("Draw the three words"));
    assert!(page(LESSON, "--notes").contains("<aside class=\"teacher\">\n<p>Draw the three words"));
}

/// The heights of the head, the first row and the corner of each table that is seen.
#[track_caller]
fn assert_heads_are_one_line_high(page: &mut crate::browser::Page<'_>, lesson: &str) -> usize {
    let heights = page.eval(
        "[...document.querySelectorAll('table.matrix')].filter((t) => t.offsetHeight).map((t) => \
         [t.tHead.rows[0].offsetHeight, t.tBodies[0].rows[0].offsetHeight, t.tHead.rows[0].cells[0].offsetHeight])",
    );
    let heights = heights.as_array().unwrap();
    for heights in heights {
        let [head, row, corner] = [0, 1, 2].map(|i| heights[i].as_f64().unwrap());
        // A rule below the head, and nothing more.
        assert!(head <= row + 2.0 && corner == head, "{lesson}: {heights}");
    }
    heights.len()
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn no_page_scrolls_sideways_asks_the_network_or_complains_and_the_head_of_every_table_is_one_line_high() {
    let built_in = BUILT_IN.iter().step_by(one_in(10)).map(|(file, _)| file.trim_end_matches(".md"));
    let lessons = [LESSON, "tests/lessons/mask.md"].into_iter().chain(built_in);
    let pages: Vec<_> = lessons.map(|lesson| (lesson, page(lesson, WHOLE))).collect();
    let Some(mut browser) = browser() else { return };
    for (lesson, html) in &pages {
        for (width, touch) in [(1280, false), (390, true)] {
            let mut page = browser.open(html, Window { touch, ..window(width, 800) });
            assert!(!page.scrolls_sideways(), "{lesson} at {width}");
            assert_eq!(page.requests(), [""; 0]);
            assert_eq!(page.complaints(), [""; 0]);
            assert!(assert_heads_are_one_line_high(&mut page, lesson) > 0, "{lesson}");
        }
    }
    // The wide table scrolls by itself.
    let mut page = browser.open(&page(LESSON, WHOLE), window(390, 800));
    let wide =
        "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length";
    assert!(page.eval(wide).as_u64() > Some(0));
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn heads_are_one_line_high_also_where_answers_are_hidden_or_folded() {
    for (width, answers) in [(1280, Answers::Hidden), (390, Answers::Folded)] {
        let names = BUILT_IN.iter().step_by(one_in(10)).map(|(file, _)| file.trim_end_matches(".md"));
        let pages: Vec<_> = names.map(|name| (name, built_in_page(name, answers, false))).collect();
        let Some(mut browser) = browser() else { return };
        for (lesson, html) in &pages {
            let mut page = browser.open(html, window(width, 800));
            let seen = assert_heads_are_one_line_high(&mut page, lesson);
            assert!(seen > 0 || answers == Answers::Hidden, "{lesson}");
        }
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn what_commands_write_is_as_well_behaved() {
    let pages = [
        "demo context",
        "demo mask --versus '--seed 3'",
        "attend --random 9,40 --heads 4 --causal",
        "attend --words 'bat cave racket' --explain A[cave,bat] --depth all",
        "params llama3-8b",
        "errata",
        "notation",
    ]
    .map(|command| (command, attn(command).arg("--format=html").ok().out));
    let Some(mut browser) = browser() else { return };
    for (command, html) in pages.iter().step_by(one_in(3)) {
        for width in [1280, 390] {
            let mut page = browser.open(html, window(width, 800));
            assert!(!page.scrolls_sideways(), "attn {command} at {width}");
            assert_eq!(page.requests(), [""; 0], "attn {command}");
            assert_eq!(page.complaints(), [""; 0], "attn {command}");
        }
    }
}

/// Every result of every table against what is lit, cell by cell.
#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn in_two_stories_on_one_page_each_lights_its_own_cells() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, WHOLE), window(1280, 900));
    let stray = page.eval(
        "(() => { let stray = 0, lit = 0; \
         for (const cell of document.querySelectorAll('td[data-from]')) { \
           cell.focus(); \
           for (const other of document.querySelectorAll('.lit, .lit-2')) { lit++; if (other.closest('.story') !== cell.closest('.story')) stray++; } \
         } return [lit > 100, stray]; })()",
    );
    assert_eq!(stray, serde_json::json!([true, 0]));
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn pointing_at_a_cell_lights_the_row_and_the_column_that_made_it_and_says_the_sum() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 900));
    mark_result(&mut page);
    page.hover("#o-2-1");
    assert_eq!(page.eval(LIT), "A 2 1, A 2 2, A 2 3, V 1 1, V 2 1, V 3 1");
    let said =
        page.eval("document.querySelector('#o-2-1').closest('figure').querySelector('.sum').textContent");
    assert_eq!(said, "o21 = a21·v11 + a22·v21 + a23·v31 = 0.0558·3 + 0.9442·4 + 0·0 = 3.9442");
    page.hover("#o-1-2");
    assert_eq!(page.eval(LIT), "A 1 1, A 1 2, A 1 3, V 1 2, V 2 2, V 3 2");
    page.hover("h1");
    assert_eq!(page.eval(LIT), "");
}

/// Gives the cells of the first result O the names `o-1-1` …
fn mark_result(page: &mut crate::browser::Page<'_>) {
    let marked = page.eval(
        "(() => { const o = [...document.querySelectorAll('table.matrix')].find((table) => table.querySelector('.name').textContent === 'O'); \
         [...o.tBodies[0].rows].forEach((row, i) => [...row.cells].slice(1).forEach((cell, j) => cell.id = `o-${i + 1}-${j + 1}`)); \
         return o.querySelectorAll('td[id]').length; })()",
    );
    assert_eq!(marked, 6);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn labels_of_a_plane_stand_off_the_axes_and_are_large_enough_on_a_phone() {
    // The letters' height in pixels of the screen, and the labels that the axes or other labels run through.
    let measured = "[...document.querySelectorAll('.plane svg')].map((svg) => { \
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; \
        const labels = [...svg.querySelectorAll('text:not(.tick)')].map((text) => [text.textContent, text.getBBox()]); \
        const [, from, y, x] = svg.querySelector('.axis').getAttribute('d').match(/^M([\\d.]+) ([\\d.]+)H[\\d.]+M([\\d.]+)/).map(Number); \
        const crossed = labels.filter(([text, b]) => b.x + b.width > from && b.y < y && y < b.y + b.height || b.x < x && x < b.x + b.width \
            || b.x < 0 || b.x + b.width > svg.viewBox.baseVal.width \
            || [...svg.querySelectorAll('text')].some((other) => { const o = other.getBBox(); return other.textContent !== text \
                && b.x < o.x + o.width && o.x < b.x + b.width && b.y + 2 < o.y + o.height - 2 && o.y + 2 < b.y + b.height - 2; })); \
        return [scale * parseFloat(getComputedStyle(svg).fontSize), labels.length, crossed.map(([text]) => text)]; })";
    let lessons = [("0-tour", 2), ("3-self-attention", 4), ("4-transformer-imagined", 1)];
    for (lesson, planes) in lessons.into_iter().step_by(one_in(3)) {
        let html = page(lesson, WHOLE);
        let Some(mut browser) = browser() else { return };
        for width in [1280, 390] {
            let mut page = browser.open(&html, window(width, 800));
            let seen = page.eval(measured);
            let seen = seen.as_array().unwrap();
            assert_eq!(seen.len(), planes, "{lesson}");
            for plane in seen {
                assert!(plane[0].as_f64() >= Some(11.0) && plane[1].as_u64() >= Some(4), "{lesson}: {plane}");
                assert_eq!(plane[2], serde_json::json!([]), "{lesson} at {width}");
            }
        }
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn no_label_of_a_plane_overprints_another_or_leaves_the_picture() {
    let measured = "[...document.querySelectorAll('.plane svg')].map((svg) => { \
        const { width, height } = svg.viewBox.baseVal; \
        const labels = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBBox()]); \
        const met = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y + 1 < b.y + b.height && b.y + 1 < a.y + a.height; \
        return [labels.length, labels.flatMap(([text, box], at) => [ \
            ...labels.slice(at + 1).filter(([, other]) => met(box, other)).map(([other]) => text + ' on ' + other), \
            ...(box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height ? [text + ' outside'] : [])])]; })";
    let attend = |words: &str| attn(&format!("attend --words '{words}' --format html")).ok().out;
    let pages = [
        ("README", 1, attend("The bat lives in the cave")),
        ("fox", 1, attend("The quick brown fox jumps over the lazy dog")),
        ("descent", 2, page("8-where-weights-come-from", WHOLE).to_string()),
    ];
    let Some(mut browser) = browser() else { return };
    for (name, planes, html) in &pages {
        for width in [1280, 390] {
            let mut page = browser.open(html, window(width, 800));
            let seen = page.eval(measured);
            let seen = seen.as_array().unwrap();
            assert_eq!(seen.len(), *planes, "{name}");
            for plane in seen {
                assert!(plane[0].as_u64() >= Some(12), "{name}: {plane}");
                assert_eq!(plane[1], serde_json::json!([]), "{name} at {width}");
            }
        }
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn an_option_that_is_chosen_says_whether_it_is_right_and_what_the_lesson_says_to_it() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 900));
    let reply = "document.querySelector('.question .reply').innerText";
    let is_open = "document.querySelector('details.answer').open";
    assert_eq!(page.eval(reply), "");
    page.click("ol.options > li:nth-child(1) > .option");
    let said = page.eval(reply).as_str().unwrap().to_string();
    assert!(said.starts_with("A: not quite.") && said.contains("True without a mask."), "{said}");
    assert!(said.contains("Try again, or open the hint.") && !said.contains('B'), "{said}");
    assert_eq!(page.eval(is_open), false);
    // By keyboard: from one option to the next, and Enter or the space bar.
    page.press("Tab");
    for key in ["Enter", " "] {
        page.press(key);
        assert_eq!(page.eval(reply), "B is right.", "{key}");
    }
    assert_eq!(page.eval(is_open), true);
    let marks = "[...document.querySelectorAll('.option')].map((o) => getComputedStyle(o, '::after').content + o.getAttribute('aria-pressed')).join()";
    assert_eq!(page.eval(marks), "\"✗ not this one\"false,\"✓ right\"true");
    assert_eq!(page.complaints(), [""; 0]);
    // On paper an option is only its text.
    page.media("print", false);
    assert_eq!(page.eval("getComputedStyle(document.querySelector('.option')).borderTopStyle"), "none");
}

#[test]
fn a_sheet_does_not_know_which_option_is_right() {
    for answers in ["hidden", "shown"] {
        let sheet = page(LESSON, &format!("--answers {answers}"));
        assert!(!sheet.contains(" data-right=\""), "{answers}");
    }
    assert!(page(LESSON, "").contains("<ol class=\"options\" type=\"A\" data-right=\"B\">"));
}

#[test]
fn a_page_of_a_command_says_once_that_one_can_point_at_its_numbers() {
    for (command, times) in [
        ("attend --words 'bat cave racket' --format html", 1),
        ("demo mask context --format html", 1),
        ("similarity bat cave --format html", 1),
        ("errata --format html", 0),
        ("lesson export tests/lessons/page.md", 1),
    ] {
        let html = attn(command).ok().out;
        assert_eq!(html.matches("Point at a number of a result, or tap it").count(), times, "attn {command}");
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn what_is_said_of_a_number_moves_nothing_on_the_page() {
    let Some(mut browser) = browser() else { return };
    let html = attn("demo weights --format html").ok().out;
    let place = "[document.documentElement.scrollHeight, document.querySelector('article').lastElementChild.getBoundingClientRect().top + scrollY]";
    for (width, touch) in [(390, true), (1280, false)] {
        let mut page = browser.open(&html, Window { touch, ..window(width, 800) });
        let before = page.eval(place);
        let sums = page.eval(
            "(() => { const lines = []; for (const cell of document.querySelectorAll('td[data-sum]')) { cell.focus({ preventScroll: true }); \
             lines.push(cell.closest('figure').querySelector('.sum').getBoundingClientRect().height); } return Math.max(...lines); })()",
        );
        assert!(sums.as_f64() > Some(30.0), "none of the sums takes two lines: {sums}");
        assert_eq!(page.eval(place), before, "{width}");
        assert!(!page.scrolls_sideways());
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_finger_does_the_same_and_a_tap_next_to_it_lets_go() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), Window { touch: true, ..window(390, 800) });
    mark_result(&mut page);
    page.tap("#o-3-2");
    assert_eq!(page.eval(LIT), "A 3 1, A 3 2, A 3 3, V 1 2, V 2 2, V 3 2");
    page.tap("h1");
    assert_eq!(page.eval(LIT), "");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn everything_is_reached_by_keyboard_a_table_with_one_stop() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 900));
    mark_result(&mut page);
    let mut seen: Vec<String> = Vec::new();
    let mut cells = 0;
    for _ in 0..40 {
        page.press("Tab");
        let at = page.eval(
            "(() => { const e = document.activeElement; return e === document.body ? '' : e.id || e.className || e.textContent.trim(); })()",
        );
        let at = at.as_str().unwrap().to_string();
        if at.is_empty() {
            break;
        }
        cells += usize::from(page.eval("document.activeElement.matches('td')") == true);
        seen.push(at);
    }
    for stop in ["The weights", "copy", "o-1-1", "Hint", "Answer"] {
        assert!(seen.iter().any(|at| at.contains(stop)), "{stop} in {seen:?}");
    }
    // A, O and Q: the same as the results on show.
    assert_eq!(cells, 3, "{seen:?}");
    page.eval("document.querySelector('#o-1-1').focus()");
    for (key, at, lit) in [
        ("ArrowRight", "o-1-2", "A 1 1, A 1 2, A 1 3, V 1 2, V 2 2, V 3 2"),
        ("ArrowDown", "o-2-2", "A 2 1, A 2 2, A 2 3, V 1 2, V 2 2, V 3 2"),
        ("Home", "o-2-1", "A 2 1, A 2 2, A 2 3, V 1 1, V 2 1, V 3 1"),
        ("ArrowUp", "o-1-1", "A 1 1, A 1 2, A 1 3, V 1 1, V 2 1, V 3 1"),
        ("ArrowUp", "o-1-1", "A 1 1, A 1 2, A 1 3, V 1 1, V 2 1, V 3 1"),
        ("End", "o-1-2", "A 1 1, A 1 2, A 1 3, V 1 2, V 2 2, V 3 2"),
    ] {
        page.press(key);
        assert_eq!(page.eval("document.activeElement.id"), at, "{key}");
        assert_eq!(page.eval(LIT), lit, "{key}");
    }
    page.press("Escape");
    assert_eq!(page.eval(LIT), "");
    page.eval("document.querySelector('details.answer > summary').focus()");
    page.press("Enter");
    assert_eq!(page.eval("document.querySelector('details.answer').open"), true);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn what_a_mask_hides_and_what_is_lit_is_seen_without_colour() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 900));
    let hatched = "[...document.querySelectorAll('td.masked')].every((cell) => cell.innerText.includes('░'))";
    assert!(page.eval("document.querySelectorAll('td.masked').length").as_u64() >= Some(3));
    assert_eq!(page.eval(hatched), true);
    // Every shaded cell has its number, and what is lit has a frame and bold type.
    let numbered = "[...document.querySelectorAll('td[class^=more], td[class^=less]')].every((cell) => /\\d/.test(cell.innerText))";
    assert_eq!(page.eval(numbered), true);
    mark_result(&mut page);
    page.hover("#o-2-1");
    for class in ["lit", "lit-2"] {
        let framed = format!(
            "(() => {{ const s = getComputedStyle(document.querySelector('.{class}')); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 && Number(s.fontWeight) >= 600; }})()"
        );
        assert_eq!(page.eval(&framed), true, "{class}");
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn light_and_dark_have_their_own_ground() {
    let Some(mut browser) = browser() else { return };
    let html = page(LESSON, "");
    let mut page = browser.open(&html, window(1280, 900));
    let ground = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(page.eval(ground), "rgb(255, 255, 255)");
    page.media("", true);
    assert_eq!(page.eval(ground), "rgb(20, 23, 27)");
    // Printer is white in the dark, too.
    page.media("print", true);
    assert_eq!(page.eval(ground), "rgb(255, 255, 255)");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn on_paper_nothing_is_cut_answers_are_read_and_nothing_is_left_to_press() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 900));
    page.media("print", false);
    let is_shown = |selector: &str| {
        format!(
            "(() => {{ const r = document.querySelector('{selector}').getBoundingClientRect(); return r.height > 0 && r.width > 0; }})()"
        )
    };
    assert_eq!(page.eval("getComputedStyle(document.querySelector('.question')).breakInside"), "avoid");
    for gone in ["nav", ".copy", ".hint"] {
        assert_eq!(page.eval(&is_shown(gone)), false, "{gone}");
    }
    let answer = "document.querySelector('details.answer p').checkVisibility()";
    assert_eq!(page.eval(answer), true);
    page.media("", false);
    assert_eq!(page.eval(answer), false, "folded on the screen");
    page.media("print", false);
    let cut = "[...document.querySelectorAll('.scroll, pre')].every((box) => getComputedStyle(box).overflowX === 'visible')";
    assert_eq!(page.eval(cut), true);
    let printed = page.printed();
    assert!(printed.starts_with("JVBERi"), "a PDF in Base64");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn steps_are_linked_and_each_has_its_place() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page(LESSON, ""), window(1280, 400));
    let targets = "[...document.querySelectorAll('nav a')].map((a) => document.querySelector(a.hash)?.querySelector('h2').innerText.trim()).join(' | ')";
    assert_eq!(page.eval(targets), "1 The weights 2 minutes | 2 A question 3 minutes");
    page.click("nav a[href='#a-question']");
    assert_eq!(page.eval("location.hash"), "#a-question");
    assert_eq!(page.eval("document.querySelectorAll('h1').length"), 1);
}

#[test]
fn a_command_is_copied_without_its_prompt() {
    let html = page(LESSON, "");
    assert!(
        html.contains("data-copy=\"attn attend --words &#39;bat cave racket&#39; --causal --only A,O\""),
        "{html}"
    );
    assert!(html.contains("<pre class=\"literal\">a fence that is only shown &lt;b&gt;</pre>"));
    // Where the command has chosen its format, or the lesson leaves lines out, it is shown as text.
    assert!(html.contains("<pre># x\n1,2\n"));
    assert!(html.contains("<pre>Attention\n...</pre>"));
}

#[test]
fn another_seed_changes_text_command_table_and_foreseen_answers() {
    let mask = |options: &str| page("tests/lessons/mask.md", options);
    let (own, drawn) = (mask(""), mask("--seed 11"));
    let part = |page: &str, from: &str, to: &str| {
        let start = page.find(from).unwrap_or_else(|| panic!("no {from}"));
        page[start..start + page[start..].find(to).unwrap_or_else(|| panic!("no {to}"))].to_string()
    };
    for (from, to) in [
        ("the second token gives", "to itself"),
        ("data-copy=\"attn attend --random 3,2", ">Copy"),
        ("A row sums to 1, so", "</p>"),
        ("<dl class=\"feedback\">\n<dt>0.", "</dl>"),
    ] {
        assert_ne!(part(&own, from, to), part(&drawn, from, to), "{from}");
    }
    assert!(own.contains("<dt>0.311</dt><dd><p>That is what the third gives to the second.</p>"), "{own}");
    // What has no seed stays.
    assert_eq!(part(&own, "<ol class=\"options\"", "</ol>"), part(&drawn, "<ol class=\"options\"", "</ol>"));
}
