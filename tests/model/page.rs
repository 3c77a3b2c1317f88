//! `attn model FOLDER TEXT --format html`: a page with a picture of every head, and the numbers of each.

use std::collections::BTreeSet;
use std::fs;

use attn::explain::decided;
use attn::graph::{CellId, Graph, Term};
use attn::matrix::Labels;
use attn::model::{PassOptions, Text};
use serde_json::Value;

use crate::browser::{browser, window};
use crate::common::{attn, one_in};
use crate::model::fixtures::{Expected, Fixture, folders};

const SENTENCE: &str = "model words 'the bat sleeps in the cave . it is'";

#[track_caller]
fn page(command: &str) -> String {
    attn(command).arg("--format=html").ok().out
}

/// The data of a page under an id.
fn data(page: &str, id: &str) -> Option<Value> {
    let (_, rest) = page.split_once(&format!("<script type=\"application/json\" id=\"{id}\">"))?;
    let (text, _) = rest.split_once("</script>")?;
    Some(serde_json::from_str(text).expect("JSON"))
}

fn layers(page: &str) -> Vec<Value> {
    (1..).map_while(|layer| data(page, &format!("layer-{layer}"))).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn count(value: &Value) -> usize {
    value.as_u64().expect("a count") as usize
}

/// The bytes of a text in base64, as RFC 4648 has it.
fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("no base64: {other}"),
    };
    let letters: Vec<u8> = text.bytes().filter(|&letter| letter != b'=').map(value).collect();
    let group = |group: &[u8]| {
        let bits =
            group.iter().fold(0_u32, |bits, &six| bits << 6 | u32::from(six)) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    letters.chunks(4).flat_map(group).collect()
}

/// The numbers of a node, in the type of its step.
fn numbers(step: &Value, node: &Value) -> Vec<f64> {
    let bytes = decoded(node["numbers"].as_str().unwrap());
    match step["type"].as_str() {
        Some("f32") => {
            bytes.chunks(4).map(|x| f64::from(f32::from_le_bytes(x.try_into().unwrap()))).collect()
        }
        _ => bytes.chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect(),
    }
}

/// The numbers of a node in the JSON of a run.
fn recorded(node: &Value) -> Vec<f64> {
    let number = |cell: &Value| match cell.as_str() {
        Some("-inf") => f64::NEG_INFINITY,
        Some(other) => panic!("{other}"),
        None => cell.as_f64().unwrap(),
    };
    array(&node["values"]).iter().flat_map(|row| array(row).iter().map(number)).collect()
}

fn ids(expected: &Expected) -> String {
    expected.integers("ids").unwrap().iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Compares every number of a page with the JSON of each of its layers; returns how many there are.
#[track_caller]
fn compare(command: &str) -> usize {
    let page = page(command);
    let mut compared = 0;
    for layer in layers(&page) {
        let number = &layer["layer"];
        let json = attn(&format!("{command} --layer {number} --format json")).ok().out;
        let json: Value = serde_json::from_str(&json).unwrap();
        let nodes = array(&json["graphs"][0]["nodes"]);
        for step in array(&layer["steps"]) {
            for node in array(&step["nodes"]) {
                let own = nodes.iter().find(|own| own["name"] == node["name"]).expect("a node of the layer");
                let is_single = step["type"] == "f32";
                let bits = |x: f64| if is_single { u64::from((x as f32).to_bits()) } else { x.to_bits() };
                let found: Vec<u64> = numbers(step, node).into_iter().map(bits).collect();
                let expected: Vec<u64> = recorded(own).into_iter().map(bits).collect();
                assert_eq!(found, expected, "{command}: {}", node["name"]);
                compared += found.len();
            }
        }
        let weights = array(&layer["steps"]).iter().find(|step| step["stage"] == "A").expect("the weights");
        assert_eq!(array(&weights["nodes"]).len(), array(&layer["heads"]).len(), "{command}");
    }
    compared
}

#[test]
fn the_page_has_every_head_with_exactly_the_recorded_numbers() {
    for folder in folders().into_iter().step_by(one_in(8)) {
        let place = folder.display();
        let (name, expected) = Expected::of(&folder).into_iter().next().unwrap();
        let command = format!("model {place} --ids {}", ids(&expected));
        let blocks = Fixture::open(&folder).architecture.blocks.len();
        assert_eq!(layers(&page(&command)).len(), blocks, "{name}");
        for dtype in ["f64", "f32"] {
            assert!(compare(&format!("{command} --dtype {dtype}")) > 100, "{name}");
        }
    }
    for changed in ["", "--without L1.A_3", "--without-first", "--without L1"] {
        assert!(compare(&format!("{SENTENCE} {changed}")) > 1000);
    }
}

type Cells = BTreeSet<(String, usize, usize)>;

/// The cells that the page lights for the cell in row i and column j of a step of a head: those of its rules.
fn lit(layer: &Value, head: &Value, step: &Value, (i, j): (usize, usize)) -> Cells {
    let mut cells = Cells::new();
    for rule in array(&step["from"]) {
        let at = count(&rule[0]);
        let operand = &layer["steps"][at];
        let node = &operand["nodes"][count(&head["nodes"][at])];
        let lines = |rule: &Value, count: &Value| match rule.as_str() {
            Some("i") => vec![i],
            Some("j") => vec![j],
            Some("*") => (0..count.as_u64().unwrap() as usize).collect(),
            _ => array(&rule[j]).iter().map(|line| line.as_u64().unwrap() as usize).collect(),
        };
        for row in lines(&rule[1], &operand["rows"]) {
            for col in lines(&rule[2], &operand["cols"]) {
                cells.insert((node["name"].as_str().unwrap().to_string(), row, col));
            }
        }
    }
    cells
}

/// The cells that a cell's terms read, and those that decide which case of its formula holds.
fn read_by(graph: &Graph, cell: CellId) -> Cells {
    fn read(term: &Term, cells: &mut Vec<CellId>) {
        if let Term::Cell(cell) = term {
            cells.push(*cell);
        }
        term.parts().into_iter().for_each(|part| read(part, cells));
    }
    let term = graph.terms(cell);
    let mut cells = decided(graph, cell, &term);
    read(&term, &mut cells);
    cells.into_iter().map(|cell| (graph[cell.node].name.clone(), cell.row, cell.col)).collect()
}

#[test]
fn what_the_page_lights_is_what_the_terms_of_the_graph_read() {
    let mut compared = 0;
    for folder in folders().into_iter().step_by(one_in(3)) {
        let (name, expected) = Expected::of(&folder).into_iter().next().unwrap();
        let page = page(&format!("model {} --ids {}", folder.display(), ids(&expected)));
        let ids = expected.integers("ids").unwrap();
        let tokens: Labels = ids.iter().map(|id| format!("token {id}")).collect();
        let fixture = Fixture::open(&folder);
        fixture.with_run(|run| {
            let text = Text { ids, tokens };
            let forward = run.forward(text, PassOptions::default()).unwrap();
            for (at, layer) in layers(&page).iter().enumerate() {
                let graph = run.layers_again(&forward, at + 1..=at + 1).unwrap();
                let last = array(&layer["heads"]).len() - 1;
                for head in [&layer["heads"][0], &layer["heads"][last]] {
                    compared += compare_operands(&graph, layer, head, &name);
                }
            }
        });
    }
    assert!(compared > 10_000 / one_in(4), "{compared}");
}

fn compare_operands(graph: &Graph, layer: &Value, head: &Value, of: &str) -> usize {
    let steps = array(&layer["steps"]);
    let names: Vec<&str> = steps
        .iter()
        .zip(array(&head["nodes"]))
        .map(|(step, at)| step["nodes"][count(at)]["name"].as_str().unwrap())
        .collect();
    let mut compared = 0;
    for (step, name) in steps.iter().zip(&names) {
        let node = graph.require(name).unwrap();
        for row in 0..graph[node].shape().rows {
            for col in (0..graph[node].shape().cols).step_by(3) {
                let mut expected = read_by(graph, CellId { node, row, col });
                // The residual stream, weights and given matrices are not on the page.
                expected.retain(|(name, _, _)| names.contains(&name.as_str()));
                assert_eq!(lit(layer, head, step, (row, col)), expected, "{of}: {name}[{row},{col}]");
                compared += 1;
            }
        }
    }
    compared
}

#[test]
fn what_the_page_lights_are_the_operands_of_explain() {
    let page = page(SENTENCE);
    let layer = data(&page, "layer-1").unwrap();
    let head = &layer["heads"][2];
    for (stage, row, col) in [("A", 9, 6), ("S_masked", 9, 2), ("S_scaled", 3, 7), ("S", 2, 8), ("O", 9, 3)] {
        let address = format!("L1.{stage}_3[{row},{col}]");
        let json = attn(&format!("{SENTENCE} --explain {address} --format json")).ok().out;
        let json: Value = serde_json::from_str(&json).unwrap();
        let operand = |operand: &Value| {
            let place = |name: &str| count(&operand[name]) - 1;
            (operand["node"].as_str().unwrap().to_string(), place("row"), place("col"))
        };
        let operands: Cells = array(&json["explanations"][0]["operands"]).iter().map(operand).collect();
        let step = array(&layer["steps"]).iter().find(|step| step["stage"] == stage).unwrap();
        assert!(!operands.is_empty(), "{address}");
        assert_eq!(lit(&layer, head, step, (row - 1, col - 1)), operands, "{address}");
    }
}

#[test]
fn query_heads_name_the_key_head_that_they_read() {
    let page = page("model tests/models/qwen3-a --ids 1,2,3");
    let layer = data(&page, "layer-1").unwrap();
    let key_heads: Vec<&Value> = array(&layer["heads"]).iter().map(|head| &head["key_head"]).collect();
    // Four query heads share two key/value heads.
    assert_eq!(key_heads, [1, 1, 2, 2]);
    let keys = array(&layer["steps"]).iter().position(|step| step["stage"] == "K").unwrap();
    let of_third = count(&layer["heads"][2]["nodes"][keys]);
    assert_eq!(layer["steps"][keys]["nodes"][of_third]["name"], "L1.K_2");
}

#[test]
fn without_a_head_the_pictures_are_of_the_changed_pass_and_the_head_says_so() {
    let page = page(&format!("{SENTENCE} --without L1.A_3"));
    assert!(page.contains("<h2>What each head attends to, without L1.A_3</h2>"));
    let heads = data(&page, "layer-1").unwrap()["heads"].clone();
    let removed: Vec<bool> = array(&heads).iter().map(|head| head["is_removed"].as_bool().unwrap()).collect();
    assert_eq!(removed, [false, false, true, false]);
}

/// A folder of a small model with a tokenizer of these pieces.
fn folder_with_pieces(pieces: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors"] {
        fs::copy(format!("tests/models/llama-a/{file}"), folder.path().join(file)).unwrap();
    }
    let mut tokenizer: Value =
        serde_json::from_str(&fs::read_to_string("tests/tokenizers/words.json").unwrap()).unwrap();
    let vocabulary = std::iter::once(&"[UNK]").chain(pieces).enumerate();
    tokenizer["model"]["vocab"] =
        vocabulary.map(|(id, piece)| (piece.to_string(), Value::from(id))).collect();
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    folder
}

const BAD_PIECES: [&str; 7] =
    ["</script>", "<!--", "<script>alert(1)</script>", "a&b", "\"q'", "\\u003c/script>", "</main>"];

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn no_piece_of_a_text_breaks_the_page() {
    let folder = folder_with_pieces(&BAD_PIECES);
    let place = folder.path().to_str().unwrap();
    let page = attn(&format!("model {place}")).arg(BAD_PIECES.join(" ")).arg("--format=html").ok().out;
    let text = data(&page, "sentence").unwrap();
    let tokens: Vec<&str> = array(&text["tokens"]).iter().map(|token| token.as_str().unwrap()).collect();
    assert_eq!(tokens, BAD_PIECES);
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    // The pieces open and close nothing: the page's own scripts are those of any other page.
    let layers = layers(&page).len();
    assert_eq!(page.matches("</script>").count(), layers + 2);
    let Some(mut browser) = browser() else { return };
    let mut page = browser.open(&page, window(1400, 900));
    let words = page.eval("[...document.querySelectorAll('.sentence li')].map((word) => word.textContent)");
    assert_eq!(words, serde_json::json!(BAD_PIECES));
    page.click(".head");
    let heads = page.eval(
        "[...document.querySelectorAll('.open-head tbody th')].slice(0, 7).map((th) => th.textContent)",
    );
    assert_eq!(heads, serde_json::json!(BAD_PIECES));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn of_a_long_text_the_page_leaves_out_what_it_says() {
    let ids = |count: usize| (0..count).map(|id| (id % 70).to_string()).collect::<Vec<_>>().join(",");
    let command = |count| format!("model tests/models/qwen2-a --dtype f64 --ids {}", ids(count));
    let short = page(&command(20));
    assert!(!short.contains("leaves out"));
    // 3 layers of 4 heads: with five matrices of 320² numbers of 8 bytes each, more than 60 MB as text; the weights are a quarter.
    let long = page(&command(320));
    assert!(long.contains("this page has the weights of every head, and leaves out its other steps"));
    // The command can be copied as it is.
    let whole =
        format!("attn model tests/models/qwen2-a --dtype f64 --ids {} --layer 3 --head 2</code>", ids(320));
    assert!(long.replace("&#39;", "").contains(&whole), "the command");
    let stages = |page: &str| -> Vec<Value> {
        array(&layers(page)[2]["steps"]).iter().map(|step| step["stage"].clone()).collect()
    };
    assert_eq!(stages(&long), ["A"]);
    assert!(stages(&short).len() > 5);
    assert!(long.len() < 31_000_000, "{}", long.len());
}

/// The texts of the cells of the tables on a page of `--layer` and `--head`, by the name of the matrix.
fn cells_of_tables(page: &str) -> Vec<(String, Vec<String>)> {
    let tables =
        page.split("<table class=\"matrix\"").skip(1).map(|rest| rest.split("</table>").next().unwrap());
    let named = tables.filter_map(|table| {
        let (_, name) = table.split_once("class=\"name\">")?;
        let text = |cell: &str| {
            let text = cell.split_once('>').unwrap().1.split("</td>").next().unwrap();
            text.rsplit("</span>").next().unwrap().trim().to_string()
        };
        Some((name.split('<').next().unwrap().to_string(), table.split("<td").skip(1).map(text).collect()))
    });
    named.collect()
}

#[test]
#[ignore = "in a browser: .ci/run runs it"]
fn in_a_browser_a_head_opens_with_the_texts_of_its_tables_and_cells_light() {
    let Some(mut browser) = browser() else { return };
    let tables = cells_of_tables(&page(&format!("{SENTENCE} --layer 1 --head 3")));
    let html = page(SENTENCE);
    let mut page = browser.open(&html, window(1400, 900));
    assert_eq!(page.eval("document.querySelectorAll('.head canvas').length"), 8);
    page.click("[aria-label^='L1.A_3,']");
    let mut compared = 0;
    for (name, texts) in &tables {
        let table = format!("document.querySelector('.open-head table[aria-label=\"{name}\"]')");
        if page.eval(&format!("{table} === null")) == true {
            continue;
        }
        let shown = page.eval(&format!(
            "[...{table}.querySelectorAll('tbody td')].map((cell) => cell.textContent.trim())"
        ));
        assert_eq!(shown, serde_json::json!(texts), "{name}");
        compared += 1;
    }
    // Q, K, V, S, S_scaled, S_masked, A and O.
    assert!(compared >= 8, "{compared}");
    page.hover(".open-head table[aria-label='L1.A_3'] tbody tr:nth-child(9) td:nth-of-type(6)");
    let made = page.eval("document.querySelector('.made').firstChild.textContent");
    let begins = "L1.A_3[is,cave] = exp(5.2464 − 5.2464) / Σ ≈ 0.9946";
    assert!(made.as_str().unwrap().starts_with(begins), "{made}");
    let lit = page.eval(
        "[...document.querySelectorAll('.open-head .lit')].map((cell) => cell.closest('table').ariaLabel + cell.parentElement.rowIndex)",
    );
    assert_eq!(lit, serde_json::json!(vec!["L1.S_masked_39"; 9]));
    page.press("Escape");
    assert_eq!(page.eval("document.activeElement.getAttribute('aria-label').split(',')[0]"), "L1.A_3");
    for key in ["ArrowDown", "ArrowRight", "Enter"] {
        page.press(key);
    }
    assert_eq!(page.eval("document.querySelector('.open-head').ariaLabel"), "L2.A_4");
    // The button that closes it, the first cell of its first table, and the one to the right below.
    page.eval("document.querySelector('.close').focus()");
    for key in ["Tab", "ArrowDown", "ArrowRight"] {
        page.press(key);
    }
    let here = page.eval("[...document.querySelectorAll('.here')].map((cell) => cell.title)");
    let [value] = array(&here) else { panic!("{here}") };
    let json = attn(&format!("{SENTENCE} --only L2.A_4 --format json")).ok().out;
    let json: Value = serde_json::from_str(&json).unwrap();
    let nodes = array(&json["graphs"][0]["nodes"]);
    let weights = nodes.iter().find(|node| node["name"] == "L2.A_4").expect("the weights");
    assert_eq!(value.as_str().unwrap().parse::<f64>().ok(), weights["values"][1][1].as_f64());
    page.press("Escape");
    page.hover(".sentence li:nth-child(2)");
    assert_eq!(page.eval("document.querySelector('#heads').classList.contains('pointing')"), true);
    assert_eq!(page.complaints(), Vec::<String>::new());
    assert_eq!(page.requests(), Vec::<String>::new());
    assert!(!page.scrolls_sideways());
}
