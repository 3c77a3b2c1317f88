//! One exercise, what NumPy (2.4.6) gives for it, rightly and wrongly, by the comment above each figure; and ways to hand it in.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Outcome, attn};
use crate::golden;

// def softmax(S, axis=-1): e = np.exp(S - S.max(axis=axis, keepdims=True)); return e / e.sum(axis=axis, keepdims=True)
// def heads(M): return M.reshape(3, 2, 2).transpose(1, 0, 2)
// Q, K, V = heads(X @ W_Q), heads(X @ W_K), heads(X @ W_V); S = Q @ K.transpose(0, 2, 1); see = np.tril(np.ones((3, 3))) > 0
// A = softmax(np.where(see, S / np.sqrt(2), -np.inf)); O = (A @ V).transpose(1, 0, 2).reshape(3, 4)
pub const X: &str = "1.2 -0.4 0.7 0.1; 0.3 0.9 -1.1 0.5; -0.8 0.2 0.6 1.4";
pub const EXERCISE: &str = "diagnose --x '1.2 -0.4 0.7 0.1; 0.3 0.9 -1.1 0.5; -0.8 0.2 0.6 1.4' \
    --wq '0.5 -1.2 0.3 0.8; 1.1 0.4 -0.6 0.2; -0.7 0.9 1.3 -0.5; 0.6 -0.3 0.4 1.0' \
    --wk '0.9 0.3 -0.8 0.5; -0.4 1.2 0.7 0.1; 0.2 -0.9 1.1 0.6; 1.3 0.4 -0.2 -0.7' \
    --wv '0.4 1.0 -0.5 0.7; 0.8 -0.6 0.2 1.1; -0.3 0.5 0.9 -1.2; 0.6 0.1 -0.7 0.3' --heads 2 --causal";
pub const RIGHT: [[f64; 4]; 3] = [
    [0.00999999999999997, 1.8, -0.11999999999999995, -0.41],
    [0.029485244385683115, 1.7661010131920307, -0.3880210296916753, 0.2837014886137477],
    [1.2279426767190142, -0.5083059040691946, -0.21847447757280733, -0.1123233682222336],
];
pub const RIGHT_S: [[[f64; 3]; 3]; 2] = [
    [[0.3022999999999999, -2.4518, -0.3278], [4.1465, -1.939, 2.4966], [-0.4612, 2.8192, 0.2968]],
    [[-0.1862, -1.9111, 1.168], [2.1609, 0.4137, -3.4188], [-0.0252, -1.2866, 0.6368]],
];
pub const RIGHT_A: [[[f64; 3]; 3]; 2] = [
    [
        [1.0, 0.0, 0.0],
        [0.9866539422015869, 0.01334605779841311, 0.0],
        [0.07763572066012131, 0.7896744122087355, 0.13268986713114322],
    ],
    [
        [1.0, 0.0, 0.0],
        [0.7747722439565755, 0.2252277560434246, 0.0],
        [0.3325769878740201, 0.13630934276940837, 0.5311136693565714],
    ],
];
// The same with S for S / np.sqrt(2).
pub const NO_SCALE: [[f64; 4]; 3] = [
    [0.00999999999999997, 1.8, -0.11999999999999995, -0.41],
    [0.013314870883774622, 1.794233032846036, -0.2965968425247161, 0.04707418065220635],
    [1.3512269436011632, -0.63586815521842, -0.15241423220576467, -0.27761353020887924],
];
pub const NO_SCALE_A: [[[f64; 3]; 3]; 2] = [
    [
        [1.0, 0.0, 0.0],
        [0.9977295404905654, 0.0022704595094346913, 0.0],
        [0.033646912376180255, 0.8945504439850428, 0.07180264363877677],
    ],
    [
        [1.0, 0.0, 0.0],
        [0.8515992919960369, 0.1484007080039631, 0.0],
        [0.3103736514568629, 0.08791556796255053, 0.6017107805805866],
    ],
];
// The same with ~see for see.
pub const INVERTED: [[f64; 4]; 3] = [
    [0.6766787979419949, -0.5273572035720813, -0.13337359244239477, -0.30300260230204046],
    [0.4999999999999999, -0.4800000000000001, 1.0658141036401502e-16, -0.6399999999999999],
    [f64::NAN; 4],
];
// np.where(see, S / np.sqrt(2), -1e9), and (Q / np.sqrt(2)) @ K.transpose(0, 2, 1)
pub const MASKED_WITH_A_BILLION: [[[f64; 3]; 3]; 2] = [
    [
        [0.21375837995269323, -1e9, -1e9],
        [2.932018268190019, -1.371080048720716, -1e9],
        [-0.3261176474832358, 1.9934754375211152, 0.2098692926561672],
    ],
    [
        [-0.13166328265693514, -1e9, -1e9],
        [1.5279870434660103, 0.29253007537687503, -1e9],
        [-0.01781909088590114, -0.9097635846746122, 0.45028559825959363],
    ],
];
pub const QUERIES_SCALED: [[[f64; 3]; 3]; 2] = [
    [
        [0.21375837995269317, -1.733684406113177, -0.23178960287295022],
        [2.932018268190019, -1.371080048720716, 1.7653627899103341],
        [-0.3261176474832358, 1.9934754375211152, 0.20986929265616722],
    ],
    [
        [-0.13166328265693517, -1.3513517695256112, 0.8259007204258879],
        [1.5279870434660103, 0.29253007537687503, -2.4174566635205688],
        [-0.01781909088590121, -0.909763584674612, 0.4502855982595938],
    ],
];

/// Rows as they are typed in place: `1 2; 3 4`.
pub fn typed<const T: usize, const N: usize>(rows: [[f64; N]; T]) -> String {
    let row = |row: [f64; N]| row.map(|x| x.to_string()).join(" ");
    rows.map(row).join("; ")
}

/// The same rounded to so many decimals.
pub fn by_hand<const T: usize, const N: usize>(rows: [[f64; N]; T], decimals: usize) -> String {
    let row = |row: [f64; N]| row.map(|x| format!("{x:.decimals$}")).join(" ");
    rows.map(row).join("; ")
}

pub fn transposed<const T: usize, const N: usize>(rows: [[f64; N]; T]) -> [[f64; T]; N] {
    std::array::from_fn(|j| std::array::from_fn(|i| rows[i][j]))
}

/// A file of NumPy's in the type `descr`, each number written by `bytes`.
pub fn npy(path: &Path, descr: &str, dims: &[usize], bytes: Vec<u8>) {
    let dims: Vec<String> = dims.iter().map(|side| format!("{side},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", dims.concat());
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    fs::write(path, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &bytes].concat()).unwrap();
}

pub fn doubles(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// The sets of mistakes that are named.
pub fn ids(judged: &Value) -> Vec<Vec<&str>> {
    golden::list(judged, "mistakes")
        .iter()
        .map(|named| golden::list(named, "ids").iter().map(|id| id.as_str().unwrap()).collect())
        .collect()
}

/// A folder for one test.
pub fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// What `--yours` comes to, as JSON.
pub fn judged(yours: &[String]) -> Value {
    let command = yours.iter().fold(attn(EXERCISE), |command, what| command.arg("--yours").arg(what));
    let outcome = command.arg("--format").arg("json").run();
    let value: Value = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{}", outcome.err));
    assert_eq!(outcome.code, u8::from(value["verdict"] != "right"), "{value}");
    value
}

/// What `--yours` says of it.
pub fn yours(what: impl Into<String>) -> Outcome {
    attn(EXERCISE).arg("--yours").arg(what).run()
}
