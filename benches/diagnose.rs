//! Grading a class: a thousand results of 6×8 (two heads, causal, W_O), right, wrong in one way and in two, through
//! `attn diagnose --batch`; beside it a script that loads the same files with NumPy and asks `allclose` of each, which says
//! right or wrong and nothing else. Run with `cargo bench --bench diagnose`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use attn::diagnose::{Change, Task};
use attn::graph::recipes::{AttendInputs, Hiding, Merge, Normalise, NormaliseAxis, Recipe, Scale};
use attn::input::{WritePermission, save};
use attn::matrix::Matrix;
use attn::random::LegacyStream;

const SUBMISSIONS: usize = 1000;
const RUNS: usize = 5;

const ALLCLOSE: &str = "
import sys, glob
import numpy as np
right = np.load(sys.argv[1])
for name in sorted(glob.glob(sys.argv[2] + '/*.npy')):
    print(name, np.allclose(np.load(name), right))
";

fn main() {
    let place = tempfile::tempdir().expect("a folder");
    let class = place.path().join("class");
    std::fs::create_dir(&class).expect("a folder");
    let (task, inputs) = exercise(place.path());
    let right = result(&task, &[]);
    let right_file = place.path().join("right.npy");
    save(&right_file, "O", &right, WritePermission::Allowed).expect("written");
    for number in 0..SUBMISSIONS {
        let changes = slips(number);
        save(
            &class.join(format!("{number:04}.npy")),
            "O",
            &result(&task, &changes),
            WritePermission::Allowed,
        )
        .expect("written");
    }
    let class = class.to_string_lossy().into_owned();
    let mut attn = vec![env!("CARGO_BIN_EXE_attn").to_string(), "diagnose".into()];
    attn.extend(inputs);
    attn.extend(["--heads", "2", "--causal", "--batch", &class].map(String::from));
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let numpy = vec![python, "-c".into(), ALLCLOSE.into(), right_file.to_string_lossy().into_owned(), class];
    let mut report = std::io::stdout().lock();
    let _ = writeln!(report, "{SUBMISSIONS} results of 6×8, median of {RUNS} runs, wall s");
    for (name, command) in [("attn diagnose --batch", attn), ("numpy.allclose, no names", numpy)] {
        let line = median(&command).map_or("cannot run here".to_string(), |seconds| format!("{seconds:.3}"));
        let _ = writeln!(report, "{name:<28} {line:>12}");
    }
}

/// The exercise, and the arguments that name its inputs.
fn exercise(place: &Path) -> (Task, Vec<String>) {
    let mut stream = LegacyStream::seeded(0);
    let mut draw = |rows, cols, size: f64| stream.standard_normal_matrix(rows, cols).map(|x| size * x);
    let all = [draw(6, 8, 1.0), draw(8, 8, 0.5), draw(8, 8, 0.5), draw(8, 8, 0.5), draw(8, 8, 0.5)];
    let mut arguments = Vec::new();
    for (name, matrix) in ["x", "wq", "wk", "wv", "wo"].iter().zip(&all) {
        let file = place.join(format!("{name}.npy"));
        save(&file, name, matrix, WritePermission::Allowed).expect("written");
        arguments.extend([format!("--{name}"), file.to_string_lossy().into_owned()]);
    }
    let [x, w_q, w_k, w_v, w_o] = all.map(|matrix| Some(matrix.into()));
    let inputs = AttendInputs { x, w_q, w_k, w_v, w_o, ..AttendInputs::default() };
    let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::causal() };
    (Task::new(recipe, inputs).expect("matrices that fit"), arguments)
}

/// Nothing, one slip or two, in turn.
fn slips(number: usize) -> Vec<Change> {
    let over_queries = Normalise { along: NormaliseAxis::Queries, ..Normalise::default() };
    let first = [
        Change::setting("scale", Scale::None),
        Change::setting("normalise", over_queries),
        Change::setting("hiding", Hiding::Zero),
    ];
    let second = [
        Change::setting("merge", Merge::Reversed),
        Change::setting("weight_decimals", 2),
        Change::setting("output.projected", false),
    ];
    match number % 3 {
        0 => Vec::new(),
        1 => vec![first[number / 3 % 3].clone()],
        _ => vec![first[number / 3 % 3].clone(), second[number / 9 % 3].clone()],
    }
}

fn result(task: &Task, changes: &[Change]) -> Matrix {
    let graph = task.with(changes);
    let last = graph.last().expect("a result");
    graph.matrix(last).expect("recorded").clone()
}

/// Seconds of wall time of the whole command, its output included.
fn median(command: &[String]) -> Option<f64> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        let status = Command::new(&command[0])
            .args(&command[1..])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let code = status.ok()?.code()?;
        if code > 1 {
            return None;
        }
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Some(times[RUNS / 2])
}
