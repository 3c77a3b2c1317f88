//! The program that pages contain: it is the one of these sources, small enough, and answers as they do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io::Read as _, io::Write as _};

use attn_story::live::Pages;
use attn_story::render::base64;
use flate2::read::ZlibDecoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::browser::{browser, window};
use crate::common::attn;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The program that is kept with the sources.
fn kept() -> Vec<u8> {
    let packed = fs::read(root().join("src/render/attn_page.zlib")).expect("the program");
    let mut program = Vec::new();
    ZlibDecoder::new(&packed[..]).read_to_end(&mut program).expect("zlib");
    program
}

/// The data of the first story on the page of a command.
#[track_caller]
fn opening(command: &str) -> Value {
    let page = attn(command).arg("--format=html").arg("--live").ok().out;
    let (_, rest) = page.split_once("class=\"opening\">").expect("the data of a story");
    let (data, _) = rest.split_once("</script>").expect("their end");
    serde_json::from_str(data).expect("JSON")
}

/// Requests to a program that has just started.
fn requests() -> Vec<Value> {
    let attend = opening("attend --words 'bat cave racket' --causal --heads 2");
    let mask = opening("demo mask");
    let softmax = opening("softmax 1 -2 -inf 0.5");
    let does = |page: usize, events: Value| json!({ "page": page, "events": events });
    vec![
        json!({ "open": attend }),
        json!({ "open": mask }),
        json!({ "open": softmax }),
        json!({ "open": attend, "changed": [{ "field": "temperature", "value": 2.5 }] }),
        does(0, json!([{ "point": [0, 1, 0] }, { "write": "2.5" }])),
        does(0, json!([{ "slide": { "temperature": 0.5 } }, { "slide": { "temperature": 0.3 } }, "settled"])),
        does(0, json!([{ "set": { "scale": { "number": 0.1 } } }, "undo", "undo", "redo"])),
        does(0, json!([{ "set": { "positions": "sinusoidal" } }])),
        does(0, json!(["remove-head", { "reset": "temperature" }])),
        does(1, json!([{ "point": [9, 0, 0] }, "predict", { "write": "0.5" }])),
        does(1, json!([{ "write": "one" }, { "point": [99, 9, 9] }, { "point": [2, 99, 99] }])),
        does(2, json!([{ "point": [0, 0, 0] }, { "write": "-∞" }, { "write": "1e300" }])),
        does(3, json!([{ "point": [0, 0, 0] }, { "write": "-7" }])),
        does(3, json!([{ "visit": "X[1,2]=4;set={\"temperature\":0.5};A_2[2,1]" }, { "visit": "X[9,9]=4" }])),
        does(9, json!(["undo"])),
        json!({ "open": { "graph": [] } }),
        json!({ "page": 0, "events": ["dance"] }),
        json!("what?"),
    ]
}

/// What pages answer to a request.
#[track_caller]
fn answer(pages: &mut Pages, request: Value) -> Value {
    serde_json::from_str(&pages.answer(&request.to_string())).unwrap()
}

#[test]
fn a_link_leads_to_the_same_numbers_whatever_was_changed() {
    let commands = ["attend --words 'bat cave racket' --heads 2", "demo mask", "softmax 1 -2 -inf 0.5"];
    let write = json!([{ "point": [0, 0, 0] }, { "write": "-2.5" }]);
    let of_attend = [
        json!([{ "set": { "temperature": 0.3 } }, { "set": { "scale": { "number": 0.1 } } }]),
        json!([{ "set": { "positions": "sinusoidal" } }, { "point": [0, 1, 1] }, { "write": "1e-9" }]),
        json!([{ "follow": [{ "field": "soft_cap", "value": 5.0 }] }, { "point": [0, 0, 1] }, { "write": "7" }]),
        json!([{ "point": [13, 0, 0] }, "remove-head"]),
        json!([{ "set": { "temperature": 2.0 } }, "undo", { "point": [0, 0, 0] }, { "write": "3" }, "undo", "redo"]),
    ];
    let mut removed = 0;
    for (command, events) in commands
        .iter()
        .map(|&command| (command, &write))
        .chain(of_attend.iter().map(|events| (commands[0], events)))
    {
        let mut pages = Pages::default();
        let open = json!({ "open": opening(command) });
        answer(&mut pages, open.clone());
        let there = answer(&mut pages, json!({ "page": 0, "events": events }));
        assert!(there["html"].is_string() && there["error"].is_null(), "{command}: {events}: {there}");
        removed += usize::from(there["link"].as_str().unwrap().contains("without="));
        answer(&mut pages, open);
        let followed = answer(&mut pages, json!({ "page": 1, "events": [{ "visit": there["link"] }] }));
        // What the last change has moved is another matter: the parts of a link have an order of their own.
        for what in
            ["/link", "/html", "/cell/at", "/cell/value", "/cell/lines", "/changes", "/settings", "/head"]
        {
            assert_eq!(followed.pointer(what), there.pointer(what), "{command}: {events}: {what}");
        }
    }
    assert_eq!(removed, 1, "a head was taken out");
}

#[test]
fn a_link_that_cannot_be_followed_says_so_and_changes_nothing() {
    let mut pages = Pages::default();
    let first = answer(&mut pages, json!({ "open": opening("demo mask") }));
    for link in [
        "X[9,9]=4",
        "X[1,1]=four",
        "A[1,1]=4",
        "X",
        "set={}",
        "set={\"temperature\":\"hot\"}",
        "follow=[]",
        "",
        &"X[1,1]=1;".repeat(300),
    ] {
        let said = answer(&mut pages, json!({ "page": 0, "events": [{ "visit": link }] }));
        assert!(said["error"].is_string(), "{link}: {said}");
        let now = answer(&mut pages, json!({ "page": 0, "events": [] }));
        assert_eq!((&now["link"], &now["changes"]), (&first["link"], &first["changes"]), "{link}");
    }
}

/// The answers of a program to requests, in a browser; `None` where there is no browser.
#[track_caller]
fn answers(program: &[u8], requests: &[Value]) -> Option<Vec<String>> {
    let mut browser = browser()?;
    let mut page = browser.open("<!doctype html><title>program</title>", window(400, 300));
    let script = format!(
        "(async () => {{ const bytes = Uint8Array.from(atob('{}'), (letter) => letter.charCodeAt(0)); \
         const {{ instance: {{ exports: {{ memory, attn_room: room, attn_answer: answer, attn_free: free }} }} }} = await WebAssembly.instantiate(bytes); \
         return {}.map((request) => {{ const sent = new TextEncoder().encode(JSON.stringify(request)); \
         const at = room(sent.length); new Uint8Array(memory.buffer, at + 4, sent.length).set(sent); \
         const answered = answer(at); const length = new DataView(memory.buffer).getUint32(answered, true); \
         const read = new TextDecoder().decode(new Uint8Array(memory.buffer, answered + 4, length)); \
         free(answered); return read; }}); }})()",
        base64(program),
        json!(requests)
    );
    let answers = page.eval(&script);
    Some(answers.as_array().expect("answers").iter().map(|text| text.as_str().unwrap().to_string()).collect())
}

/// Asserts that a program answers as these sources do, to the last digit.
#[track_caller]
fn assert_answers_as_the_sources(program: &[u8]) {
    let requests = requests();
    let Some(answers) = answers(program, &requests) else { return };
    let mut pages = Pages::default();
    for (request, answer) in requests.iter().zip(answers) {
        let expected = pages.answer(&request.to_string());
        let request = request.to_string();
        assert_eq!(answer, expected, "{}", &request[..request.len().min(200)]);
    }
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_program_that_is_kept_answers_as_the_sources_do() {
    assert_answers_as_the_sources(&kept());
}

#[test]
fn the_program_has_its_hash_and_takes_at_most_1250_kb_of_a_page() {
    let hash: String = Sha256::digest(kept()).iter().map(|byte| format!("{byte:02x}")).collect();
    let stated = fs::read_to_string(root().join("src/render/attn_page.wasm.sha256")).unwrap();
    assert_eq!(stated, format!("{hash}  attn_page.wasm\n"));
    let page = attn("softmax 1 2 --format html --live").ok().out;
    let (_, rest) = page.split_once("id=\"program\">").expect("the program");
    let (program, _) = rest.split_once("</script>").expect("its end");
    assert!((100_000..1_250_000).contains(&program.len()), "{} bytes", program.len());
}

/// Whether the compiler that runs here can build for pages.
fn has_target() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    sysroot.is_ok_and(|sysroot| sysroot.join("lib/rustlib/wasm32-unknown-unknown/lib").is_dir())
}

#[test]
#[ignore = "builds the program of pages, which takes minutes; the gate runs it"]
fn the_documented_command_builds_a_program_that_answers_as_the_sources_do() {
    let told = fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let command =
        told.lines().find(|line| line.starts_with("cargo build -p attn-page")).expect("the command");
    if !has_target() {
        let said = "NOT RUN: the target wasm32-unknown-unknown is not installed (rustup target add)";
        let _ = writeln!(std::io::stderr(), "{said}");
        return;
    }
    let folder = root().join("target/page");
    let built = Command::new("cargo")
        .args(command.split_whitespace().skip(1))
        .arg("--target-dir")
        .arg(&folder)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let program =
        fs::read(folder.join("wasm32-unknown-unknown/page/attn_page.wasm")).expect("what was built");
    assert_answers_as_the_sources(&program);
}

/// A setting is a step of both ways, so that the page follows the recipe and does not change single steps.
#[test]
fn a_page_with_gradients_has_the_bits_of_the_program_after_a_change_of_a_setting() {
    const PLAIN: &str = "attend --q '1 0; 0 1; 1 1' --k '1 2; 0 1; 2 2' --v '1 2; 3 4; 5 6' --causal";
    for pass in [
        "--gradient O[2,1]",
        "--gradient ones",
        "--gradient 'dO=1 0; 2 0; 0 1'",
        "--loss cross-entropy --targets 1,-,2",
    ] {
        let command = format!("{PLAIN} {pass}");
        let nodes = |page: &Value| page["graph"]["graphs"][0]["nodes"].clone();
        let mut pages = Pages::default();
        let opened = pages.answer(&json!({ "open": opening(&command) }).to_string());
        assert!(!opened.contains("error"), "{opened}");
        let expected = nodes(&opening(&format!("{command} --temperature 0.5")));
        let place = expected.as_array().unwrap().iter().position(|node| node["name"] == "dQ").unwrap();
        let slid = json!({ "page": 0, "events": [{ "slide": { "temperature": 0.5 } }, "settled"] });
        let answer = pages.answer(&slid.to_string());
        assert!(answer.contains("Back through the temperature: divided once more."), "{answer}");
        let pointed = json!({ "page": 0, "events": [{ "point": [place, 1, 0] }] });
        let answer: Value = serde_json::from_str(&pages.answer(&pointed.to_string())).unwrap();
        assert_eq!(answer["cell"]["address"], "dQ[2,1]");
        assert_eq!(answer["cell"]["value"], expected[place]["values"][1][0], "{pass}");
    }
}
