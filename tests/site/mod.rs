//! `attn site`: the files that it writes, and its pages in a browser, opened from a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use attn::demo::{demos, glossary};
use attn::diagnose::catalogue;
use attn::lesson::BUILT_IN;
use attn::site::mistaken_results;
use serde_json::Value;
use tempfile::TempDir;

use crate::browser::{Page, Window, browser, window};
use crate::common::{attn, one_in};

/// A lesson of a class, which asks for a file that it may not read.
const OWN: &str = "---\nattn-lesson: 1\n---\n# Our own\n\n## One step\n\n<!-- id: one -->\n\n```console\n$ attn softmax 1 2 3\n...\n```\n\n```console\n\
                   $ attn attend /etc/passwd\n? 2\nerror: it is not read\n```\n";

/// A lesson whose name has signs of addresses, and which computes nothing but judges an answer.
const JUDGED: &str = "---\nattn-lesson: 1\n---\n# Judged\n\n<!-- run: even = attn softmax 0 0 -->\n\n## One step\n\n\
                      In HTML it is ` style=\"text-align: right\"`.\n\n<!-- ask: id=half kind=number -->\nOne of two equal weights?\n\n\
                      <!-- key: even:A[1,1] ± 0.005 -->\n\n<details>\n<summary>Answer</summary>\n\nA half.\n\n</details>\n";

/// The site of the program with two lessons of a class, written once.
static SITE: LazyLock<TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    let lessons = place.path().join("lessons");
    fs::create_dir(&lessons).unwrap();
    fs::write(lessons.join("own.md"), OWN).unwrap();
    fs::write(lessons.join("week #1 50%.md"), JUDGED).unwrap();
    fs::write(lessons.join("notes.md"), "# Not a lesson\n").unwrap();
    let said = attn("site")
        .arg(site_of(&place).display().to_string())
        .arg("--add")
        .arg(lessons.display().to_string())
        .ok();
    assert!(said.out.contains("index.html in a browser."), "{}", said.out);
    // An empty line is missing below a block, and the command that may not read its file prints another error.
    assert!(said.err.contains("own.md has 2 faults; attn lesson check "), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    place
});

fn site_of(place: &TempDir) -> PathBuf {
    place.path().join("site")
}

fn site() -> PathBuf {
    site_of(&SITE)
}

/// The pages, by their names.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for folder in ["", "lessons", "class", "demos"] {
        for entry in fs::read_dir(site().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "html") {
                let name = Path::new(folder).join(path.file_name().unwrap());
                pages.insert(name.display().to_string(), fs::read_to_string(path).unwrap());
            }
        }
    }
    pages
}

/// The values of an attribute.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let opens = format!(" {attribute}=\"");
    page.split(&opens).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn it_has_every_lesson_demo_term_and_mistake_and_every_link_leads_somewhere() {
    let pages = pages();
    for (file, _) in BUILT_IN {
        assert!(pages.contains_key(&format!("lessons/{}.html", file.trim_end_matches(".md"))), "{file}");
    }
    assert!(demos().all(|demo| pages.contains_key(&format!("demos/{}.html", demo.name))));
    assert_eq!(values(&pages["glossary.html"], "id").len(), glossary().len());
    let listed: Vec<&str> = catalogue().map(|mistake| &*mistake.id).collect();
    assert_eq!(values(&pages["mistakes.html"], "id"), listed);
    let mut led_to = BTreeSet::new();
    for (name, page) in &pages {
        let links = ["href", "src", "data-src"].map(|attribute| values(page, attribute)).concat();
        for link in links.into_iter().filter(|link| !link.starts_with("https://") && *link != "data:,") {
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, at)| (file, Some(at)));
            let path = site().join(name).parent().unwrap().join(file);
            let spelled = |path: PathBuf| {
                PathBuf::from(path.display().to_string().replace("%23", "#").replace("%25", "%"))
            };
            let path = spelled(path);
            let path = if file.is_empty() { site().join(name) } else { path };
            assert!(path.is_file(), "{name}: {link}");
            if let Some(anchor) = anchor {
                let there = fs::read_to_string(&path).unwrap();
                assert!(values(&there, "id").contains(&anchor), "{name}: {link}");
            }
            led_to.insert(path.canonicalize().unwrap());
        }
    }
    for name in pages.keys().filter(|name| *name != "index.html") {
        assert!(led_to.contains(&site().join(name).canonicalize().unwrap()), "nothing leads to {name}");
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn no_page_has_a_script_or_a_style_of_its_own_and_its_policy_allows_only_those_of_the_site() {
    for (name, page) in pages() {
        let scripts = page.split("<script").skip(1).map(|rest| rest.split('>').next().unwrap());
        for script in scripts {
            let is_data = script.contains("type=\"application/json\"");
            assert!(is_data || script.contains(" src=\""), "{name}: {script}");
        }
        assert!(!page.contains("<style"), "{name}");
        let mut tags = page.split('<').skip(1).filter_map(|rest| rest.split('>').next());
        assert!(!tags.any(|tag| tag.contains(" style=") || tag.contains(" onclick=")), "{name}");
        let policy = "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:; \
                      base-uri 'none'; form-action 'none'";
        assert!(page.contains(&format!("content=\"{policy}\"")), "{name}");
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn lessons_of_a_class_are_added_and_read_no_file_elsewhere() {
    let pages = pages();
    assert!(pages["index.html"].contains("<a href=\"class/own.html\">Our own</a>"));
    let own = &pages["class/own.html"];
    assert!(own.contains("a lesson reads files") || own.contains("--trust"), "{own}");
    assert!(!own.contains("root:"), "{own}");
    assert!(own.contains("class=\"opening\""), "a story whose lines the lesson leaves out computes: {own}");
    assert!(!pages.contains_key("class/notes.html"));
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn files_that_differ_are_replaced_only_if_that_is_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("site");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("index.html"), "mine").unwrap();
    let command = attn("site").arg(folder.display().to_string());
    command.refused(&["`index.html` already exists with other contents", "--overwrite"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_is_refused_before_anything_is_read() {
    let place = tempfile::tempdir().unwrap();
    let [file, empty] = [place.path().join("file"), place.path().join("empty")];
    fs::write(&file, "mine").unwrap();
    fs::create_dir(&empty).unwrap();
    for folder in [file.join("site"), file.clone()] {
        let command =
            attn("site").arg(folder.display().to_string()).arg("--add").arg(empty.display().to_string());
        command.refused(&["a part of its path is a file"]);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_folder_without_lessons_adds_nothing() {
    let place = tempfile::tempdir().unwrap();
    let [site, empty] = [place.path().join("site"), place.path().join("empty")];
    fs::create_dir(&empty).unwrap();
    let said = attn("site").arg(site.display().to_string()).arg("--add").arg(empty.display().to_string());
    said.refused(&["this folder has no lessons"]);
    assert!(!site.exists());
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_numbers_of_examples_are_those_of_their_commands_and_the_wrong_ones_are_judged_wrong() {
    let page = &pages()["mistakes.html"];
    let cells = |table: &str| -> Vec<Vec<String>> {
        let row = |row: &str| {
            row.split("<td")
                .skip(1)
                .filter_map(|cell| cell.split(['>', '<']).nth(1))
                .map(String::from)
                .collect()
        };
        table.split("<tr>").skip(2).map(row).collect()
    };
    let unescaped = |text: &str| text.replace("&#39;", "'");
    let mut count = 0;
    for example in page.split("<details class=\"example\">").skip(1).step_by(one_in(5)) {
        // Those that were handed in have a test of their own.
        let Some((_, typed)) = example.split_once("<code>attn attend ") else { continue };
        let typed = typed.split_once("</code>").unwrap().0;
        let typed = unescaped(typed);
        let tables: Vec<&str> = example.split("<caption>").skip(1).take(2).collect();
        let node = tables[0].split(", right").next().unwrap();
        let [right, wrong] = [cells(tables[0]), cells(tables[1])];
        let printed = attn(&format!("attend {typed}")).nodes();
        let matrix = printed.matrix(node);
        for (i, row) in right.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let shown: f64 = cell.replace('−', "-").replace('∞', "inf").parse().unwrap();
                let is_same = shown == matrix[(i, j)] || (shown - matrix[(i, j)]).abs() < 0.005 + 1e-12;
                assert!(is_same, "{typed}: {node}[{},{}]: {cell}", i + 1, j + 1);
            }
        }
        let handed: Vec<String> =
            wrong.iter().map(|row| row.join(" ").replace('−', "-").replace('∞', "inf")).collect();
        let judged =
            attn(&format!("diagnose {typed} --yours")).arg(format!("{node}={}", handed.join("; "))).run();
        assert_eq!(judged.code, 1, "{typed}, {node}: {}{}", judged.out, judged.err);
        count += 1;
    }
    assert!(count >= 180 / one_in(5), "{count}");
}

// In a browser, from the folder.

fn address(name: &str) -> String {
    format!("file://{}", site().join(name).display().to_string().replace('%', "%25").replace('#', "%23"))
}

#[track_caller]
fn assert_well(page: &mut Page<'_>, name: &str) {
    let folder = format!("file://{}/", site().display());
    let elsewhere: Vec<String> =
        page.requests().into_iter().filter(|asked| !asked.starts_with(&folder)).collect();
    assert_eq!(elsewhere, [""; 0], "{name}");
    assert_eq!(page.complaints(), [""; 0], "{name}");
    assert!(!page.scrolls_sideways(), "{name}");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn every_page_computes_from_a_folder_asks_nobody_and_does_not_scroll_sideways() {
    for (name, html) in pages() {
        let Some(mut browser) = browser() else { return };
        let at =
            Window { dark: name.len() % 2 == 0, ..window(if name.len() % 3 == 0 { 390 } else { 1280 }, 844) };
        let mut page = browser.visit(&address(&name), at);
        if html.contains("id=\"program\"") {
            page.wait_until("document.documentElement.dataset.live === 'all'");
        }
        assert_well(&mut page, &name);
    }
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_link_leads_to_what_was_seen_and_large_data_are_read_when_they_come_into_sight() {
    let Some(mut browser) = browser() else { return };
    let demo = address("demos/mask.html");
    let is_live = "document.documentElement.dataset.live === 'all'";
    let panel = "document.querySelector('.panel').innerText";
    {
        let mut page = browser.visit(&demo, window(1280, 900));
        page.wait_until(is_live);
        page.click("table.matrix td[data-given]");
        page.press("7");
        page.press("Enter");
        let said = page.eval(panel);
        assert!(said.as_str().unwrap().contains("Largest change: "), "{said}");
        assert_eq!(page.eval("location.hash"), "#1;X[1,1]=7;X[1,1]");
        assert_well(&mut page, "mask");
    }
    {
        let mut page = browser.visit(&format!("{demo}#1;X%5B1,1%5D=7;A[2,1]"), window(1280, 900));
        page.wait_until(is_live);
        let said = page.eval(panel);
        assert!(said.as_str().unwrap().starts_with("A[art,the] = "), "{said}");
        assert!(said.as_str().unwrap().contains("Changed: X[the,1] = 7."), "{said}");
        assert_eq!(page.eval("document.activeElement.closest('table').ariaLabel"), "A");
    }
    {
        // The story stands in a folded answer.
        let link = address("lessons/0-tour.html#13;X[dog,2]=9;A_1[bat,dog]");
        let mut page = browser.visit(&link.replace("%23", "#"), window(390, 844));
        page.wait_until(is_live);
        assert_eq!(page.eval("document.activeElement.closest('table').ariaLabel"), "A_1");
        assert_eq!(page.eval("document.activeElement.checkVisibility()"), true);
        assert_well(&mut page, "a link into an answer");
    }
    for (link, says) in
        [("#7;X[1,1]=2", "no story 7"), ("#1;Z[1,1]=2", "no node `Z`"), ("#1;A[1,1]=2", "computed")]
    {
        let mut page = browser.visit(&format!("{demo}{link}"), window(1280, 900));
        page.wait_until(is_live);
        let said = page.eval("document.querySelector('[role=alert]').textContent");
        assert!(said.as_str().unwrap().contains(says), "{link}: {said}");
        assert_eq!(page.eval("decodeURI(location.hash)"), link);
    }
    {
        // Nothing that is no link of ours stops the page.
        let mut page = browser.visit(&format!("{demo}#50%"), window(1280, 900));
        page.wait_until(is_live);
        assert_well(&mut page, "an address that cannot be decoded");
    }
    {
        let mut page = browser.visit(&address("class/week #1 50%.html"), window(1280, 900));
        page.wait_until(is_live);
        page.eval("document.querySelector('.try input').value = '0.5'; document.querySelector('.try').requestSubmit()");
        assert_eq!(page.eval("document.querySelector('.reply').innerText"), "Right: 0.5.");
        assert_eq!(
            page.eval("document.querySelector('.lesson-step code').innerText"),
            "style=\"text-align: right\""
        );
        assert_well(&mut page, "a lesson with a question alone");
    }
    let lesson = address("lessons/8-where-weights-come-from.html");
    let mut page = browser.visit(&lesson, window(1280, 900));
    page.wait_until(is_live);
    let waiting = "document.querySelectorAll('.opening[data-src]').length";
    let before = page.eval(waiting).as_u64().unwrap();
    assert!(before > 0);
    page.eval("document.querySelector('.opening[data-src]').parentElement.scrollIntoView()");
    page.wait_until(&format!("{waiting} < {before}"));
    assert_well(&mut page, "lesson 8");
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn a_student_pastes_a_wrong_result_reads_the_mistake_and_hands_in_a_line_that_the_teacher_reads() {
    let Some(mut browser) = browser() else { return };
    let ready = "document.documentElement.dataset.live === 'all'";
    {
        let mut page = browser.visit(&address("check.html"), window(1280, 900));
        page.wait_until(ready);
        page.eval(
            "document.querySelector('form.numbers textarea').value = '[[2.8604 3.0876]\\n [3.9820 0.0540]\\n [0.0001 4.9999]]'; \
             document.querySelector('form.numbers').requestSubmit()",
        );
        let said = page.eval("document.querySelector('.reply').innerText");
        assert!(
            said.as_str().unwrap().contains("not divided by √d_k before the softmax. [no-scale]"),
            "{said}"
        );
        assert!(!said.as_str().unwrap().contains("2.6956"), "the right numbers wait: {said}");
        assert_eq!(
            page.eval("document.querySelector('.reply .compared').querySelectorAll('td.differs').length"),
            6
        );
        page.eval("document.querySelector('.reply summary').click()");
        let right = page.eval("document.querySelector('.reply details').innerText");
        assert!(right.as_str().unwrap().contains("2.6956"), "{right}");
        assert_well(&mut page, "check");
    }
    let mut page = browser.visit(&address("lessons/0-tour.html"), window(1280, 900));
    page.wait_until(ready);
    page.eval(
        "const field = document.querySelector('[data-id=score] .try'); field.querySelector('input').value = '24'; field.requestSubmit(); \
         field.querySelector('input').value = '12'; field.requestSubmit(); \
         const form = document.querySelector('.hand-in form'); form.querySelector('input').value = 'Ana'; form.requestSubmit()",
    );
    page.wait_until("document.querySelector('.hand-in textarea') !== null");
    let line = page.eval("document.querySelector('.hand-in textarea').value");
    let told = attn("lesson report - --format json").input(line.as_str().unwrap()).ok().out;
    let told: Value = serde_json::from_str(&told).unwrap();
    let rows = &told["tables"][0]["rows"];
    assert_eq!(rows[0]["question"], "score");
    assert_eq!(rows[0]["second try"], 1, "{rows}");
    assert!(told.to_string().contains("Ana"));
    // An answer that is opened first does not count; the line of before is old; a page that is loaded again knows what was answered.
    let count = "document.querySelector('.hand-in p[role=status]').textContent";
    page.eval("document.querySelector('[data-id=rest] details.answer summary').click()");
    page.eval("document.querySelector('[data-id=share] [data-right]').querySelectorAll('.option').forEach((one) => one.click())");
    let said = page.eval("document.querySelector('.hand-in').innerText");
    assert!(said.as_str().unwrap().contains("make your line again"), "{said}");
    assert_eq!(page.eval("document.querySelector('[data-id=share] details.answer').open"), true);
    page.reload();
    page.wait_until(ready);
    assert_eq!(page.eval(count), "2 of 6 questions answered. Forget my answers");
    page.eval(
        "const rest = document.querySelector('[data-id=rest] .try'); rest.querySelector('input').value = '0.5'; rest.requestSubmit()",
    );
    assert_eq!(page.eval(count), "2 of 6 questions answered. Forget my answers");
    assert_well(&mut page, "the tour");
}

/// NumPy made the results; `tests/golden/examples_of_mistakes.py` chose them.
#[test]
fn each_result_of_the_page_of_mistakes_is_judged_as_the_mistake_under_which_it_stands() {
    let mut others = Vec::new();
    for one in mistaken_results() {
        let text = |cell: &Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_string);
        let rows: Vec<String> =
            one.numbers.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect();
        let mut command = attn("diagnose -").input(one.inputs.to_string());
        for word in shlex::split(&one.options).unwrap() {
            command = command.arg(word);
        }
        let judged = command.arg("--yours").arg(format!("{}={}", one.step, rows.join("; "))).run();
        if !judged.out.contains(&one.id) {
            others.push(format!("{}: {}{}", one.id, judged.out, judged.err));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}
