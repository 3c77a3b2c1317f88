//! The explorer's response, as a user sees it: from a key to the screen that answers it, in a pseudo-terminal of 120×40. Run with
//! `cargo bench --bench explore`; with the folder of a GPT-2 in `ATTN_GPT2` (`benches/models.py` makes one) it is opened, too, with
//! 64 tokens. The aims: 16 ms on 200 nodes of 32×32; 100 ms on a GPT-2, and for an edit of `words`.

fn main() {
    #[cfg(unix)]
    measured::all();
}

#[cfg(unix)]
#[path = "../tests/terminal/mod.rs"]
mod terminal;

#[cfg(unix)]
mod measured {
    use std::io::Write;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use attn::attention::{Axis, Base};
    use attn::graph::{Graph, Op, Origin};
    use attn::matrix::Matrix;
    use attn::random::LegacyStream;
    use serde_json::{Value, json};

    use super::terminal::Terminal;

    const NODES: usize = 200;
    const SIDE: usize = 32;
    const TOKENS: usize = 64;
    const TIMES: usize = 30;
    /// The time between two looks at the screen.
    const LOOK: Duration = Duration::from_micros(200);
    /// No answer takes longer.
    const PATIENCE: Duration = Duration::from_secs(120);

    pub fn all() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("graph.json");
        std::fs::write(&file, graph().to_string()).expect("written");
        let file = file.to_string_lossy().into_owned();
        let mut report = std::io::stdout().lock();
        let _ =
            writeln!(report, "{:<44} {:>10} {:>10}", "from key to screen, 120×40", "median ms", "worst ms");
        let mut row = |name: &str, mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
            let _ = writeln!(report, "{name:<44} {median:>10.1} {worst:>10.1}");
        };
        let nodes = |at: &str| Explorer::open(place.path(), &[&file], at);
        row(
            "200 nodes of 32×32: move",
            nodes("N100[16,16]").there_and_back(["j", "k"], ["N100[17,16] =", "N100[16,16] ="]),
        );
        row(
            "200 nodes of 32×32: next step",
            nodes("N100[16,16]").there_and_back(["n", "b"], ["N101[16,16] =", "N100[16,16] ="]),
        );
        row(
            "200 nodes of 32×32: open, and go back",
            nodes("N100[16,16]").there_and_back(["\r", "\x1b"], ["N99[16,16] =", "N100[16,16] ="]),
        );
        row("200 nodes of 32×32: edit the first", nodes("N1[1,1]").edits("N1[1,1]", TIMES));
        let words = ["model", "words", "the bat sleeps in the cave . it is"];
        row(
            "words: move",
            Explorer::open(place.path(), &words, "L1.A_3[2,1]")
                .there_and_back(["j", "k"], ["L1.A_3[sleeps,the#1] =", "L1.A_3[bat,the#1] ="]),
        );
        row(
            "words: edit the embedding",
            Explorer::open(place.path(), &words, "W_E[the,1]").edits("W_E[the,1]", TIMES),
        );
        if let Ok(folder) = std::env::var("ATTN_GPT2") {
            let ids: Vec<String> = (100..100 + TOKENS).map(|id| id.to_string()).collect();
            let ids = ids.join(",");
            let gpt2 = |at: &str| Explorer::open(place.path(), &["model", &folder, "--ids", &ids], at);
            let weight = |head: usize, row: usize| format!("L6.A_{head}[token {},token 100] =", 99 + row);
            row(
                "GPT-2: move",
                gpt2("L6.A_3[40,1]").there_and_back(["j", "k"], [&weight(3, 41), &weight(3, 40)]),
            );
            row(
                "GPT-2: next head",
                gpt2("L6.A_3[40,1]").there_and_back(["]", "["], [&weight(4, 40), &weight(3, 40)]),
            );
            row(
                "GPT-2: open a head, and go back",
                gpt2("L6.A_3[40,1]")
                    .there_and_back(["\r", "\x1b"], ["L6.S_masked_3[token 139,token 100] =", &weight(3, 40)]),
            );
            row(
                "GPT-2: move over W_up, 768×3072",
                gpt2("L6.W_up[40,1]").there_and_back(["j", "k"], ["L6.W_up[41,1] =", "L6.W_up[40,1] ="]),
            );
            for layer in [1, 6, 12] {
                let cell = format!("L{layer}.W_O[1,1]");
                row(&format!("GPT-2: edit layer {layer}, in the background"), gpt2(&cell).edits(&cell, 3));
            }
        }
    }

    /// Products and softmaxes in turn, each of the node before.
    fn graph() -> Value {
        let mut stream = LegacyStream::seeded(0);
        let mut draw = || stream.standard_normal_matrix(SIDE, SIDE).map(|x| x / 4.0);
        let mut graph = Graph::new();
        let first: Matrix = draw();
        let mut last = graph.given("N1", first, Origin::Stated).expect("a node");
        let weights = graph.given("N2", draw(), Origin::Stated).expect("a node");
        for number in 3..=NODES {
            let name = format!("N{number}");
            last = match number % 2 {
                0 => graph.add(&name, Op::Softmax(Axis::Rows, Base::E), &[last]),
                _ => graph.add(&name, Op::Product, &[last, weights]),
            }
            .expect("a node");
        }
        let node = |(_, node): (_, &attn::graph::Node)| {
            let matrix = node.matrix().expect("numbers");
            let values: Vec<Vec<f64>> =
                (0..SIDE).map(|i| (0..SIDE).map(|j| matrix[(i, j)]).collect()).collect();
            let inputs: Vec<&str> = node.inputs.iter().map(|&input| graph[input].name.as_str()).collect();
            let (op, params) = match node.op {
                Op::Given(_) => ("given", json!({"origin": {"kind": "stated"}})),
                Op::Product => ("product", json!({})),
                _ => ("softmax", json!({"axis": "rows", "base": "e"})),
            };
            json!({
                "name": node.name, "op": op, "params": params, "inputs": inputs, "formula": "", "shape": [SIDE, SIDE],
                "rows": null, "cols": null, "values": values,
            })
        };
        let nodes: Vec<Value> = graph.nodes().map(node).collect();
        json!({
            "schema": "attn-graph", "version": 2, "command": "attend",
            "graphs": [{"title": "Chain", "precision": "f64", "nodes": nodes}],
        })
    }

    /// The explorer, open at a cell.
    struct Explorer(Terminal);

    impl Explorer {
        fn open(state: &Path, what: &[&str], at: &str) -> Explorer {
            let args = [&["explore"], what, &["--at", at]].concat();
            let terminal = Terminal::start(state, env!("CARGO_BIN_EXE_attn"), &args, 120, 40);
            let mut explorer = Explorer(terminal);
            let place = at.split('[').next().unwrap_or(at);
            explorer.answer("", &format!("{place}["));
            // What the screen has to settle with is over.
            sleep(Duration::from_millis(300));
            explorer
        }

        /// The milliseconds until a key is answered with these words. They have to stand near the bottom, which is drawn last: before,
        /// the next answer may still be on the screen.
        fn answer(&mut self, key: &str, words: &str) -> f64 {
            let begun = Instant::now();
            self.0.press(key);
            while !self.0.screen().contains(words) {
                assert!(begun.elapsed() < PATIENCE, "`{words}` did not come:\n{}", self.0.screen());
                sleep(LOOK);
            }
            begun.elapsed().as_secs_f64() * 1e3
        }

        /// Two keys in turn, each with the words that answer it.
        fn there_and_back(mut self, keys: [&str; 2], words: [impl AsRef<str>; 2]) -> Vec<f64> {
            let mut times = Vec::new();
            for time in 0..TIMES {
                times.push(self.answer(keys[time % 2], words[time % 2].as_ref()));
            }
            times
        }

        /// Edits of a cell, until the screen with all new numbers.
        fn edits(mut self, cell: &str, times: usize) -> Vec<f64> {
            let edit = |time: usize| {
                let number = 1 + time % 2;
                self.answer(&number.to_string(), &format!("{cell} = {number}"));
                self.answer("\r", &format!("Changed: {cell} = {number}."))
            };
            (0..times).map(edit).collect()
        }
    }
}
