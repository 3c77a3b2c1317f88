//! Pages of lessons that compute, in a real browser: stories, what-ifs and questions, by mouse and by keyboard.

use std::sync::OnceLock;

use serde_json::Value;

use super::html::built_in_page;
use crate::browser::{Page, Window, assert_bits, browser, window};
use crate::common::{attn, one_in};
use attn::lesson::BUILT_IN;
use attn::lesson::export::Answers;

const LESSON: &str = "tests/lessons/live.md";

/// The page of the lesson; several tests look at it.
fn html() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| attn(&format!("lesson export {LESSON} --to html --live")).ok().out)
}

/// Waits until the program in the page has taken over.
#[track_caller]
fn started(page: &mut Page<'_>) {
    page.wait_until("document.documentElement.dataset.live === 'all'");
    page.eval(
        "globalThis.story = (nth) => document.querySelectorAll('.story.live')[nth]; \
         globalThis.cell = (nth, name) => [...story(nth).querySelectorAll('td[data-place]')] \
         .find((td) => td.getAttribute('aria-label').startsWith(name + ' =')); \
         globalThis.replies = () => [...document.querySelectorAll('.reply')].map((reply) => reply.innerText.trim()); \
         globalThis.open = () => [...document.querySelectorAll('.panel')].filter((panel) => panel.checkVisibility()).length; 0",
    );
}

/// The numbers of a story with all their digits: of each node, by its position, the cells.
#[track_caller]
fn exact_numbers(page: &mut Page<'_>, story: usize) -> Value {
    page.eval(&format!(
        "(() => {{ const all = {{}}; for (const td of story({story}).querySelectorAll('td[data-place]')) {{ td.focus(); \
         all[td.dataset.place] = story({story}).querySelector('.panel .address').dataset.exact; }} return all; }})()"
    ))
}

/// Asserts that every number of a story has the bits of the program's JSON for a command.
#[track_caller]
fn assert_same_bits(page: &mut Page<'_>, story: usize, command: &str) {
    let json: Value = serde_json::from_str(&attn(command).arg("--format=json").ok().out).unwrap();
    let compared = assert_bits(&exact_numbers(page, story), &json);
    assert!(compared >= 9, "only {compared} numbers were compared");
}

/// Asserts that nothing was asked of the network, and nothing went wrong.
#[track_caller]
fn assert_calm(page: &mut Page<'_>) {
    assert_eq!(page.requests(), [""; 0]);
    assert_eq!(page.complaints(), [""; 0]);
}

const WORDS: &str = "attend --words 'bat cave racket'";

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn every_command_that_has_a_story_computes_in_the_page_and_the_program_is_in_it_once() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(html(), window(1280, 900));
    page.go_offline();
    started(&mut page);
    assert_eq!(html().matches("id=\"program\"").count(), 1);
    let commands = page.eval(
        "[...document.querySelectorAll('.story.live')].map((story) => \
         story.closest('.console > .printed').previousElementSibling.querySelector('code').textContent.replace('$ ', ''))",
    );
    let commands: Vec<&str> =
        commands.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let begins = ["attn attend", "attn attend", "attn attend", "attn softmax 1 2", "attn similarity"];
    assert_eq!(commands.len(), begins.len(), "{commands:?}");
    for (command, begin) in commands.iter().zip(begins) {
        assert!(command.starts_with(begin), "{commands:?}");
    }
    assert_same_bits(&mut page, 0, WORDS);
    page.eval("cell(0, 'S[bat,cave]').focus()");
    assert!(
        page.eval("story(0).querySelector('.arithmetic').textContent").as_str().unwrap().contains("= 12")
    );
    assert_calm(&mut page);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn what_ifs_run_in_the_page_to_the_bits_of_the_command_and_undo_takes_them_back() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(html(), window(1280, 900));
    page.go_offline();
    started(&mut page);
    // A comparison: the story as it is, and a button.
    assert_eq!(
        page.eval("[...document.querySelectorAll('.run')].map((button) => button.textContent).join('; ')"),
        "Show the change; What if --qk-norm --temperature 2?"
    );
    assert_same_bits(&mut page, 2, WORDS);
    page.eval("document.querySelectorAll('.run')[1].click()");
    assert_eq!(
        page.eval("story(2).querySelector('.status').textContent.split('.')[0]"),
        "Changed: temperature 2, qk norm"
    );
    assert!(page.eval("story(2).querySelectorAll('.changed').length").as_u64().unwrap() >= 9);
    assert_same_bits(&mut page, 2, &format!("{WORDS} --qk-norm --temperature 2"));
    page.eval("cell(2, 'A[bat,cave]').focus()");
    page.press_with_control("z");
    assert_same_bits(&mut page, 2, WORDS);
    // The printed comparison is folded, and the other one says that it only is printed.
    assert_eq!(page.eval("document.querySelectorAll('details.beside').length"), 1);
    assert_eq!(page.eval("document.querySelector('details.beside').open"), false);
    assert_eq!(
        page.eval(
            "[...document.querySelectorAll('p.note.when-live')].filter((p) => p.checkVisibility()).length"
        ),
        1
    );
    // A command that changes an earlier one: what has moved is marked.
    page.eval("document.querySelector('details.answer:has(.run)').open = true");
    assert_same_bits(&mut page, 1, &format!("{WORDS} --causal"));
    assert_eq!(page.eval("story(1).querySelectorAll('.changed').length"), 0);
    page.eval("document.querySelectorAll('.run')[0].click()");
    assert_eq!(page.eval("cell(1, 'A[bat,cave]').querySelector('del').textContent"), "was 0.01");
    assert_same_bits(&mut page, 1, &format!("{WORDS} --causal"));
    page.eval("cell(1, 'A[bat,cave]').focus()");
    page.press_with_control("z");
    assert_same_bits(&mut page, 1, WORDS);
    assert_calm(&mut page);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn the_program_in_the_page_judges_answers_by_keyboard_alone() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(html(), window(1280, 900));
    started(&mut page);
    let answer = |page: &mut Page<'_>, nth: usize, text: &str| {
        page.eval(&format!("document.querySelectorAll('.try input')[{nth}].focus()"));
        for key in text.chars() {
            page.press(&key.to_string());
        }
        page.press("Enter");
        page.eval(&format!("replies()[{nth}]")).as_str().unwrap().replace("\n\n", " ").replace('\n', " ")
    };
    let labels = page.eval(
        "[...document.querySelectorAll('.question .try label')].map((label) => label.innerText.trim()).join('; ')",
    );
    assert_eq!(
        labels,
        "Your answer, a number; Your answer, a row and a column; Your answer, the letters, the largest first"
    );
    let unfolded = "[...document.querySelectorAll('details.answer')].map((answer) => answer.open)";
    assert_eq!(answer(&mut page, 0, "x"), "`x` is not a number; type a number, such as 0.3, 1/3 or 33%");
    assert_eq!(
        answer(&mut page, 0, "18"),
        "Not quite: 18. That is bat with itself. Try again, or open the hint."
    );
    assert_eq!(page.eval(unfolded), serde_json::json!([false, false, false, false]));
    assert_eq!(answer(&mut page, 0, "24/2"), "Right: 24/2.");
    assert_eq!(answer(&mut page, 1, "bat,cave"), "Not quite: bat,cave. Try again.");
    assert_eq!(answer(&mut page, 1, "1,1"), "Not quite: 1,1. The answer is below.");
    assert_eq!(answer(&mut page, 2, "acb"), "Right: A C B: bat, racket, cave.");
    assert_eq!(page.eval(unfolded), serde_json::json!([true, true, true, false]));
    // A choice.
    page.eval("document.querySelectorAll('.option')[0].focus()");
    page.press("Enter");
    assert!(page.eval("replies()[3]").as_str().unwrap().contains("That is so without a mask."));
    page.press("Tab");
    page.press(" ");
    assert!(page.eval("replies()[3]").as_str().unwrap().starts_with("B is right."));
    assert_eq!(page.eval(unfolded), serde_json::json!([true, true, true, true]));
    assert_calm(&mut page);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_panel_is_open_for_the_story_that_is_looked_at_alone() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(html(), window(1280, 900));
    started(&mut page);
    assert_eq!(page.eval("open()"), 0);
    let framed = "[...document.querySelectorAll('.live td')].filter((td) => getComputedStyle(td).outlineStyle !== 'none').length";
    assert_eq!(page.eval(framed), 0, "nothing is framed before somebody points at something");
    page.eval("cell(0, 'A[racket,cave]').focus()");
    assert!(page.eval(framed).as_u64().unwrap() >= 4, "the number, and the row that it came from");
    assert_eq!(page.eval("open() === 1 && story(0).querySelector('.panel').checkVisibility()"), true);
    // The next story: its panel opens, the other one closes, and the cell stays where it was pressed.
    let top = "cell(2, 'A[bat,bat]').getBoundingClientRect().top";
    page.eval("cell(2, 'A[bat,bat]').scrollIntoView({ block: 'center', behavior: 'instant' })");
    let before = page.eval(top).as_f64().unwrap();
    page.eval("cell(2, 'A[bat,bat]').click()");
    assert_eq!(page.eval("open() === 1 && story(2).querySelector('.panel').checkVisibility()"), true);
    let after = page.eval(top).as_f64().unwrap();
    assert!((after - before).abs() < 1.0, "{before} {after}");
    // A question takes the panel away.
    page.eval("document.querySelector('.try input').focus()");
    assert_eq!(page.eval("open()"), 0);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_lesson_that_computes_fits_a_phone_and_a_projector_in_light_and_in_dark() {
    let Some(mut browser) = browser() else { return };
    for (width, dark) in
        [(390, false), (390, true), (1280, false), (1280, true)].into_iter().step_by(one_in(3))
    {
        let mut page = browser.open(html(), Window { dark, ..window(width, 844) });
        started(&mut page);
        page.eval("for (const fold of document.querySelectorAll('details')) fold.open = true");
        page.eval("for (const run of document.querySelectorAll('.run')) run.click()");
        for story in 0..5 {
            page.eval(&format!("story({story}).querySelector('td[data-place]').focus()"));
            assert!(!page.scrolls_sideways(), "{width}, story {story}");
        }
        if let Some(folder) = std::env::var_os("ATTN_PICTURES") {
            for (name, script) in [
                ("story", "cell(0, 'A[bat,cave]').focus()"),
                ("what-if", "cell(2, 'A[bat,cave]').focus()"),
                ("change", "cell(1, 'A[bat,cave]').focus()"),
                ("question", "document.querySelector('.try input').focus()"),
            ] {
                page.eval(script);
                page.eval("document.activeElement.scrollIntoView({ block: 'center', behavior: 'instant' })");
                let file = format!("lesson-{name}-{width}-{dark}.b64");
                std::fs::write(std::path::Path::new(&folder).join(file), page.view()).unwrap();
            }
        }
        assert_calm(&mut page);
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn without_webassembly_it_is_the_page_that_only_shows() {
    let Some(mut browser) = browser() else { return };
    // What is seen and heard: the text, and every element with its name.
    let seen = "document.querySelector('main').innerText";
    let plain = attn(&format!("lesson export {LESSON} --to html")).ok().out;
    let mut page = browser.open(&plain, window(1280, 900));
    let (text, told) = (page.eval(seen), page.accessible());
    drop(page);
    let program = html().find("id=\"program\">").unwrap() + "id=\"program\">".len();
    let end = program + html()[program..].find('<').unwrap();
    let without_program = format!("{}{}", &html()[..program], &html()[end..]);
    let without_wasm = html().replacen("<body>", "<body><script>delete globalThis.WebAssembly</script>", 1);
    for html in [without_wasm, without_program].into_iter().step_by(one_in(2)) {
        let mut page = browser.open(&html, window(1280, 900));
        page.eval("new Promise((done) => setTimeout(done, 300))");
        assert_eq!(page.eval("document.documentElement.dataset.live ?? 'none'"), "none");
        assert_eq!(page.eval(seen), text);
        assert_eq!(page.accessible(), told);
        assert_eq!(page.complaints(), [""; 0]);
    }
}

#[test]
fn a_page_without_answers_holds_no_judge() {
    let hidden = attn(&format!("lesson export {LESSON} --to html --live --answers hidden")).ok().out;
    assert!(html().contains("<script type=\"application/json\" class=\"judge\">"));
    assert!(!hidden.contains("<script type=\"application/json\" class=\"judge\">"));
}

#[test]
fn only_a_page_can_compute() {
    for to in ["--to md", "--to txt", "--to cast", "-o x.md"] {
        attn(&format!("lesson export {LESSON} --live {to}"))
            .refused(&["--live makes a page", "help: add --to html, or leave out --live"]);
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn every_story_of_the_built_in_lessons_computes_and_fits_a_phone() {
    let names = BUILT_IN.iter().step_by(one_in(10)).map(|(file, _)| file.trim_end_matches(".md"));
    let pages: Vec<String> = names.map(|name| built_in_page(name, Answers::Folded, true)).collect();
    let Some(mut browser) = browser() else { return };
    let mut stories = 0;
    for html in &pages {
        let mut page = browser.open(html, Window { touch: true, ..window(390, 800) });
        page.go_offline();
        started(&mut page);
        let live = page.eval("document.querySelectorAll('.story.live').length").as_u64().unwrap();
        let openings = html.matches("class=\"opening\"").count() as u64;
        assert_eq!(live, openings, "{}", page.eval("document.title"));
        stories += live;
        page.eval("for (const fold of document.querySelectorAll('details')) fold.open = true");
        page.eval("for (const run of document.querySelectorAll('.run')) run.click()");
        assert!(!page.scrolls_sideways(), "{}", page.eval("document.title"));
        assert_calm(&mut page);
    }
    assert!(stories as usize > 100 / one_in(50), "only {stories} stories");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn everything_is_reached_with_the_tab_key() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(html(), window(1280, 900));
    started(&mut page);
    let reach = |page: &mut Page<'_>, what: &str| {
        for _ in 0..60 {
            page.press("Tab");
            if page.eval(&format!("document.activeElement.matches('{what}')")) == true {
                return;
            }
        }
        panic!("the Tab key does not lead to {what}");
    };
    reach(&mut page, "td[data-place]");
    assert_eq!(page.eval("open() === 1 && story(0).contains(document.activeElement)"), true);
    reach(&mut page, ".panel button[aria-pressed]");
    page.press("Enter");
    assert_eq!(page.eval("document.activeElement.getAttribute('aria-pressed')"), "true");
    reach(&mut page, ".try input");
    assert_eq!(page.eval("open()"), 0);
    page.press("1");
    page.press("2");
    page.press("Enter");
    assert_eq!(page.eval("replies()[0]"), "Right: 12.");
    reach(&mut page, ".run");
    page.press("Enter");
    assert!(page.eval("story(2).querySelectorAll('.changed').length").as_u64().unwrap() >= 9);
    assert_eq!(page.eval("open() === 1 && story(2).querySelector('.panel').checkVisibility()"), true);
    assert_calm(&mut page);
}
