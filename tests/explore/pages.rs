//! Pages that compute, in a real browser: the same numbers as the program, by mouse, by keyboard and by finger.

use serde_json::Value;

use crate::browser::{Page, assert_bits, browser, window};
use crate::common::attn;

/// The page of a command.
#[track_caller]
fn page_of(command: &str) -> String {
    attn(command).arg("--format=html").arg("--live").ok().out
}

/// Waits until the program in the page has taken over.
#[track_caller]
fn started(page: &mut Page<'_>) {
    page.wait_until("document.documentElement.dataset.live === 'all'");
    // The cells of a matrix, by the name that a screen reader says: `cell('X[bat,1]')`.
    page.eval(
        "globalThis.cell = (name) => [...document.querySelectorAll('td[data-place]')] \
         .find((td) => td.getAttribute('aria-label').startsWith(name + ' =')); \
         globalThis.text = (name) => cell(name).firstChild.textContent.trim(); \
         globalThis.panel = () => document.querySelector('.panel'); 0",
    );
}

/// Every number of the page with all its digits: for each node, by its position, the rows. The page is asked cell by cell.
#[track_caller]
fn exact_numbers(page: &mut Page<'_>) -> Value {
    page.eval(
        "(() => { const all = {}; for (const td of document.querySelectorAll('td[data-place]')) { td.focus(); \
         all[td.dataset.place] = panel().querySelector('.address').dataset.exact; } return all; })()",
    )
}

/// Asserts that every number of the page has the bits of the program's JSON for a command.
#[track_caller]
fn assert_same_bits(page: &mut Page<'_>, command: &str) {
    let json: Value = serde_json::from_str(&attn(command).arg("--format=json").ok().out).unwrap();
    let compared = assert_bits(&exact_numbers(page), &json);
    assert!(compared >= 9 * 4, "only {compared} numbers were compared");
}

const WORDS: &str = "attend --q '1 0; 0 1; 1 1' --k '1 2; 0 1; 2 2' --v '1 2; 3 4; 5 6' --causal";

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn an_edited_page_has_the_bits_of_the_program() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page_of(WORDS), window(1280, 900));
    started(&mut page);
    page.go_offline();
    assert_same_bits(&mut page, WORDS);
    // By keyboard: a digit on a given cell begins a number.
    page.eval("cell('Q[1,1]').focus()");
    for key in ["2", ".", "5", "Enter"] {
        page.press(key);
    }
    assert_eq!(page.eval("text('Q[1,1]')"), "2.5");
    assert_eq!(page.eval("document.activeElement === cell('Q[1,1]')"), true, "the focus stays");
    assert_same_bits(&mut page, &WORDS.replace("'1 0;", "'2.5 0;"));
    // What has moved says what it was.
    assert_eq!(page.eval("cell('Q[1,1]').querySelector('del').textContent"), "was 1");
    assert!(page.eval("document.querySelectorAll('.changed').length").as_u64().unwrap() > 5);
    page.press_with_control("z");
    assert_same_bits(&mut page, WORDS);
    assert!(page.requests().is_empty(), "{:?}", page.requests());
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn sliders_and_switches_change_the_recipe_and_undo_takes_a_drag_back_as_one() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page_of(WORDS), window(1280, 900));
    started(&mut page);
    // By keyboard, as one who cannot drag does.
    page.eval("document.querySelectorAll('input[type=range]')[0].focus()");
    for _ in 0..5 {
        page.press("ArrowRight");
    }
    assert_same_bits(&mut page, &format!("{WORDS} --temperature 1.5"));
    // A drag: many values, and one change.
    page.eval(
        "(() => { const slider = document.querySelectorAll('input[type=range]')[0]; slider.focus(); \
         for (const value of [1.6, 1.8, 2]) { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); } \
         slider.dispatchEvent(new Event('change', { bubbles: true })); })()",
    );
    assert_same_bits(&mut page, &format!("{WORDS} --temperature 2"));
    page.click(".panel .tools > button");
    assert_same_bits(&mut page, &format!("{WORDS} --temperature 1.5"));
    page.eval(
        "(() => { const list = document.querySelector('select'); \
         list.value = [...list.options].find((option) => option.text === 'none').value; \
         list.dispatchEvent(new Event('change', { bubbles: true })); })()",
    );
    assert_same_bits(&mut page, &format!("{} --temperature 1.5", WORDS.replace(" --causal", "")));
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_cell_shows_its_operands_what_it_feeds_and_its_arithmetic() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page_of(WORDS), window(1280, 900));
    started(&mut page);
    page.eval("cell('S[2,3]').focus()");
    let marked = |page: &mut Page<'_>, class: &str| {
        page.eval(&format!(
            "[...new Set([...document.querySelectorAll('td.{class}')].map((td) => td.getAttribute('aria-label').split(' =')[0]))].sort().join(' ')"
        ))
    };
    assert_eq!(marked(&mut page, "lit"), "Q[2,1] Q[2,2]");
    assert_eq!(marked(&mut page, "lit-2"), "K[3,1] K[3,2]");
    assert_eq!(marked(&mut page, "feeds"), "S_scaled[2,3]");
    assert_eq!(
        page.eval("document.querySelector('.arithmetic').textContent"),
        "s23 = q21·k31 + q22·k32 = 0·2 + 1·2 = 2"
    );
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_number_is_hidden_until_it_is_guessed() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page_of(WORDS), window(1280, 900));
    started(&mut page);
    page.eval("cell('S[2,3]').focus()");
    page.press("a");
    assert_eq!(page.eval("document.querySelector('.panel .address').textContent"), "S[2,3] = ?");
    assert_eq!(page.eval("document.querySelector('td.here').classList.contains('guess')"), true);
    let seen = "[...document.querySelectorAll('.notice')].map((said) => getComputedStyle(said).visibility)";
    let seen = page.eval(&format!("[...new Set({seen})].join()"));
    assert_eq!(seen, "hidden", "what a step says would give the number away");
    assert_eq!(
        page.eval("document.querySelector('.panel .address').dataset.exact"),
        "",
        "the page tells nothing"
    );
    let name = page.eval("document.querySelector('td.here').getAttribute('aria-label')");
    assert_eq!(name, "S[2,3] = hidden: guess it");
    for key in ["3", "Enter"] {
        page.press(key);
    }
    let name = page.eval("document.querySelector('td.here').getAttribute('aria-label')");
    assert_eq!(name, "S[2,3] = 2");
    assert_eq!(page.eval("document.querySelector('.status').textContent"), "You said 3. It is 2: off by 1.");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn every_cell_has_a_name_and_nothing_is_too_wide_on_a_phone() {
    let Some(mut browser) = browser() else { return };
    for (width, dark) in [(390, false), (390, true), (1280, true)] {
        let mut at = window(width, 844);
        at.dark = dark;
        let mut page = browser.open(&page_of("attend --words 'bat cave racket' --causal"), at);
        started(&mut page);
        assert!(!page.scrolls_sideways(), "{width}");
        page.eval("document.querySelector('.more').open = true; 0");
        let told = page.accessible();
        let cells: Vec<&String> =
            told.iter().filter(|(role, _)| role == "gridcell").map(|(_, name)| name).collect();
        let shown = page.eval("document.querySelectorAll('td[data-place]').length").as_u64().unwrap();
        assert_eq!(cells.len() as u64, shown);
        assert!(cells.iter().all(|name| name.contains('[') && name.contains(" = ")), "{cells:?}");
        assert!(cells.iter().any(|name| name.starts_with("A[cave,bat] = 0.")), "{cells:?}");
        let controls = ["Undo", "Redo", "Guess", "temperature", "scale", "mask", "positions"];
        for control in controls {
            assert!(told.iter().any(|(_, name)| name.trim() == control), "no control {control}");
        }
        if let Some(folder) = std::env::var_os("ATTN_PICTURES") {
            page.eval("document.querySelector('.more').open = innerWidth > 640; cell('S[cave,bat]').focus()");
            let name = format!("live-{width}-{dark}.b64");
            std::fs::write(std::path::Path::new(&folder).join(name), page.view()).unwrap();
        }
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn on_a_phone_a_tap_chooses_and_the_panel_takes_another_number() {
    let Some(mut browser) = browser() else { return };
    let mut phone = window(390, 844);
    phone.touch = true;
    let mut page = browser.open(&page_of(WORDS), phone);
    started(&mut page);
    page.eval("cell('K[2,2]').id = 'chosen'");
    page.tap("#chosen");
    assert_eq!(page.eval("panel().querySelector('.address').textContent"), "K[2,2] = 1");
    page.tap(".write input");
    page.eval("document.querySelector('.write input').select()");
    page.write("4");
    page.tap(".write button");
    assert_same_bits(&mut page, &WORDS.replace("0 1; 2 2", "0 4; 2 2"));
    page.tap(".panel summary");
    assert!(!page.scrolls_sideways());
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn the_panel_takes_a_fifth_of_the_window_and_leads_to_the_largest_change() {
    let Some(mut browser) = browser() else { return };
    for (width, height) in [(1280, 720), (390, 844)] {
        let mut page = browser.open(&page_of(WORDS), window(width, height));
        started(&mut page);
        assert_eq!(page.eval("document.querySelector('.jump').hidden"), true, "nothing has changed");
        page.eval("cell('Q[1,1]').focus()");
        for key in ["9", "Enter"] {
            page.press(key);
        }
        assert_eq!(
            page.eval("panel().getBoundingClientRect().height <= innerHeight / 5 + 0.1"),
            true,
            "{width}×{height}"
        );
        page.click(".jump");
        let moved = "(td) => Math.abs(parseFloat(td.firstChild.textContent.replace('−', '-')) \
            - parseFloat(td.querySelector('del').textContent.slice(4).replace('−', '-')))";
        let is_largest = format!(
            "(() => {{ const moved = {moved}; const here = document.activeElement; \
             const all = [...document.querySelectorAll('td.changed:not([data-given])')].filter((td) => td.querySelector('del')); \
             return all.length > 5 && all.every((td) => moved(td) <= moved(here)); }})()"
        );
        assert_eq!(page.eval(&is_largest), true, "{width}×{height}");
        let is_seen = "(() => { const box = document.activeElement.getBoundingClientRect(); \
            return box.top >= 0 && box.bottom <= panel().getBoundingClientRect().top; })()";
        assert_eq!(page.eval(is_seen), true, "{width}×{height}");
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn without_webassembly_the_page_is_the_one_that_is_printed() {
    let Some(mut browser) = browser() else { return };
    let html = page_of(WORDS);
    for (what, without) in [
        (
            "no WebAssembly",
            html.replacen("<script>", "<script>delete globalThis.WebAssembly</script><script>", 1),
        ),
        (
            "no decompression",
            html.replacen("<script>", "<script>delete globalThis.DecompressionStream</script><script>", 1),
        ),
        ("a broken program", html.replacen("id=\"program\">", "id=\"program\">AAAA", 1)),
    ] {
        let mut page = browser.open(&without, window(1280, 900));
        page.eval("new Promise((done) => setTimeout(done, 300))");
        assert_eq!(page.eval("document.documentElement.dataset.live === undefined"), true, "{what}");
        page.eval(
            "[...document.querySelectorAll('td[data-sum]')].find((td) => td.dataset.sum.startsWith('s23')).focus()",
        );
        assert_eq!(
            page.eval("[...document.querySelectorAll('.sum')].map((line) => line.textContent).join('')"),
            "s23 = q21·k31 + q22·k32 = 0·2 + 1·2 = 2",
            "{what}"
        );
        // Two numbers of Q and two of K, each where it is given and beside its product.
        assert_eq!(page.eval("document.querySelectorAll('td.lit, td.lit-2').length"), 8, "{what}");
        assert!(page.complaints().is_empty(), "{what}: {:?}", page.complaints());
    }
}

#[test]
fn what_cannot_be_a_page_that_computes_says_so() {
    attn("attend --words 'bat cave' --live").refused(&["--live makes a page", "--format html"]);
    let html = |command: &str| attn(command).arg("--format=html").arg("--live");
    html("attend --words 'bat cave' --explain A[bat,cave]").refused(&["leave out --explain or --live"]);
    html("model words 'the bat sleeps'").refused(&["leave out --live"]);
    html("attend --random 4,4 --fast").refused(&["leave out --live", "cannot compute for itself"]);
    html("diagnose --list").refused(&["unexpected argument '--live'"]);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn what_is_refused_says_why_and_can_be_mended() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page_of(WORDS), window(1280, 900));
    started(&mut page);
    let write = |page: &mut Page<'_>, text: &str| {
        page.eval(&format!(
            "cell('K[1,1]').focus(); document.querySelector('.write input').value = '{text}'; \
             document.querySelector('.write').requestSubmit()"
        ));
        page.eval("document.querySelector('.status').textContent").as_str().unwrap().to_string()
    };
    assert!(write(&mut page, "1/x").contains("`1/x` is not a number"));
    assert_eq!(page.eval("document.querySelector('.write input').value"), "1/x", "what was typed stays");
    assert!(write(&mut page, "-inf").contains("K[1,1] would be infinite"));
    assert_same_bits(&mut page, WORDS);
    // A head that is taken out is 0, and no number of it can be typed over.
    page.eval("cell('S[1,1]').focus(); [...document.querySelectorAll('.tools button')].find((button) => button.textContent.startsWith('Take out')).click()");
    page.eval("cell('O[2,1]').focus()");
    assert_eq!(
        page.eval("document.querySelector('.panel .address').textContent"),
        "O[2,1] = 0 (before: 1.6605)"
    );
    assert_eq!(page.eval("document.querySelector('.write').hidden"), true);
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn control_z_takes_back_wherever_the_focus_is_and_a_softmax_has_its_temperature() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page_of("softmax 1 2 3"), window(1280, 900));
    started(&mut page);
    let weight = "cell('A[1,3]').firstChild.textContent.trim()";
    let slide = "(() => { const slider = document.querySelector('input[type=range]'); slider.focus(); slider.value = 2; \
                 for (const name of ['input', 'change']) slider.dispatchEvent(new Event(name, { bubbles: true })); })()";
    assert_eq!(page.eval(weight), "0.6652");
    page.eval(slide);
    // exp(3/2) / (exp(1/2) + exp(1) + exp(3/2)), by hand.
    assert_eq!(page.eval(weight), "0.5065");
    page.press_with_control("z");
    assert_eq!(page.eval(weight), "0.6652", "on the slider");
    page.press_with_control("y");
    page.eval("document.activeElement.blur()");
    page.press_with_control("z");
    assert_eq!(page.eval(weight), "0.6652", "with no focus at all");
    let status = page.eval("document.querySelector('.status').textContent");
    assert!(!status.as_str().unwrap().contains("Changed"), "{status}");
}
