//! The steps and the fast path in f64 accept the same input, and say the same about it.

use std::fs;
use std::path::{Path, PathBuf};

use attn::input::{WritePermission, save};
use attn::matrix::Matrix;

use crate::common::{Outcome, attn, one_in};

/// An `.npy` file of these dimensions, counting up in quarters.
fn array(folder: &Path, dims: &[usize]) -> PathBuf {
    let count: usize = dims.iter().product();
    let shape: Vec<String> = dims.iter().map(|side| format!("{side},")).collect();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({})}}", shape.concat());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..count).flat_map(|i| (i as f64 / 4.0 - 1.0).to_le_bytes()));
    let name: Vec<String> = dims.iter().map(usize::to_string).collect();
    let path = folder.join(format!("a{}.npy", name.join("x")));
    fs::write(&path, bytes).unwrap();
    path
}

/// What is said: the lines in one, without the name of the first matrix that has left the range, and without what only the
/// kernel has to say.
fn said(ran: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in ran.err.lines() {
        let is_continued = line.starts_with("   ") && !line.trim_start().starts_with("help:");
        match lines.last_mut() {
            Some(last) if is_continued => *last = format!("{last} {}", line.trim()),
            _ => lines.push(line.to_string()),
        }
    }
    lines.retain(|line| !line.starts_with("note: computed with"));
    for line in &mut lines {
        for words in [" has NaN: ", " has inf: "] {
            if let Some((_, rest)) = line.split_once(words) {
                *line = format!("warning: a matrix{words}{rest}");
            }
        }
    }
    lines
}

/// The same labels, and the same numbers but for their last digits.
fn is_same(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * (1.0 + a.abs()),
        _ => a == b,
    }
}

/// What the two paths do differently, if they do.
fn difference(arguments: &[&str]) -> Option<String> {
    let run = |fast: &str| {
        let line = attn(&format!("attend --only O --format csv{fast}"));
        arguments.iter().fold(line, |line, argument| line.arg(*argument)).run()
    };
    let (steps, fast) = (run(""), run(" --fast --dtype f64"));
    let cells = |ran: &Outcome| ran.out.split([',', '\n']).map(str::to_string).collect::<Vec<_>>();
    let same_numbers = || {
        let (a, b) = (cells(&steps), cells(&fast));
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| is_same(a, b))
    };
    let same = steps.code == fast.code && said(&steps) == said(&fast) && (steps.code != 0 || same_numbers());
    (!same).then(|| {
        let told = |ran: &Outcome| format!("  {} {:?} {}", ran.code, ran.out, said(ran).join(" | "));
        format!("{}\n{}\n{}", arguments.join(" "), told(&steps), told(&fast))
    })
}

#[track_caller]
fn assert_none(differences: Vec<String>, of: usize) {
    let first: Vec<&str> = differences.iter().take(12).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} of {of}:\n{}", differences.len(), first.join("\n"));
}

#[test]
fn stacks_matrices_and_batches_of_every_shape() {
    let folder = tempfile::tempdir().unwrap();
    let shapes: [&[usize]; 11] = [
        &[2, 4],
        &[1, 2, 4],
        &[2, 2, 2],
        &[1, 1, 2, 4],
        &[1, 2, 2, 2],
        &[3, 4],
        &[1, 3, 2],
        &[1, 3, 4],
        &[2, 3, 2],
        &[2, 1, 3, 4],
        &[4],
    ];
    let paths: Vec<PathBuf> = shapes.iter().map(|dims| array(folder.path(), dims)).collect();
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let (mut count, mut computed, mut differences) = (0, 0, Vec::new());
    for (at, q) in paths.iter().enumerate().step_by(one_in(3)) {
        for (key, k) in paths.iter().enumerate() {
            // Values as the keys, and, now and then, other ones.
            let other = (at + key) % paths.len();
            for v in [key, other].into_iter().take(if (at + key) % 3 == 0 { 2 } else { 1 }) {
                for options in
                    [&[][..], &["--heads", "1"], &["--heads", "2"], &["--heads", "2", "--kv-heads", "1"]]
                {
                    let mut arguments = vec!["--q", q, "--k", k, "--v", paths[v]];
                    arguments.extend(options);
                    count += 1;
                    let found = difference(&arguments);
                    computed += usize::from(found.is_none() && is_computed(&arguments));
                    differences.extend(found);
                }
            }
        }
    }
    assert_none(differences, count);
    assert!(computed > 40 / one_in(3), "{computed} of {count} were computed");
}

fn is_computed(arguments: &[&str]) -> bool {
    let line = attn("attend --only O --format csv");
    arguments.iter().fold(line, |line, argument| line.arg(*argument)).run().code == 0
}

#[test]
fn a_stack_of_one_head_is_one_head() {
    let folder = tempfile::tempdir().unwrap();
    let file = |dims: &[usize]| array(folder.path(), dims).to_str().unwrap().to_string();
    let (q4, q1, k1, k24) = (file(&[2, 4]), file(&[1, 2, 4]), file(&[1, 3, 2]), file(&[3, 4]));
    for fast in ["", " --fast"] {
        let line = |q: &str, k: &str| {
            let line = attn(&format!("attend --heads 2 --only O{fast}"));
            line.arg("--q").arg(q).arg("--k").arg(k).arg("--v").arg(k)
        };
        assert_eq!(line(&q4, &k1).run().code, 0, "one key/value head for two query heads");
        line(&q1, &k24).refused(&["--heads is 2, but the file has 1 head of Q", "leave --heads out"]);
    }
}

#[test]
fn numbers_of_every_size_with_every_bias_mask_and_scale() {
    let scores = [
        ["1 2; 3 4", "1 0; 0 1; 1 1", "1 2; 3 4; 5 6"],
        ["1e200 0", "1e200 0; 1e-200 0; 1 1", "1; 2; 3"],
        ["1e200 0", "-1e200 0; -2e200 0; -1e200 1", "1; 2; 3"],
        ["1e200 0; 0 1", "-1e200 0; -2e200 0; -1e200 0", "1; 2; 3"],
        ["1e-200 0", "1e-200 0; 0 1e-200; 1 1", "1e200; 1e-200; 0"],
        ["1 1", "0 0; 0 0; 0 0", "1e308; 1e308; 1e308"],
        ["nan 1", "1 1; 1 1; 1 1", "1; 2; 3"],
        ["1 1", "1 1; inf 1; 1 1", "1; 2; 3"],
        ["1 x", "1 1; 1 1; 1 1", "1; 2; 3"],
        ["1 1", "1 1; 1 1", "1; 2; 3"],
        ["1 1 1", "1 1; 1 1; 1 1", "1; 2; 3"],
        ["1e400 1", "1 1; 1 1; 1 1", "1; 2; 3"],
    ];
    let sides: [&[&str]; 16] = [
        &[],
        &["--bias", "-inf 0 0"],
        &["--bias", "-inf -inf -inf"],
        &["--bias", "0 0 0; -inf 0 1"],
        &["--bias", "1e308 -1e308 0"],
        &["--bias", "inf 0 0"],
        &["--bias", "nan 0 0"],
        &["--bias", "1 2"],
        &["--mask", "-inf -inf -inf"],
        &["--mask", "-inf 0.5 0"],
        &["--mask", "1 0 1"],
        &["--mask", "0 0 0", "--mask-kind", "allow"],
        &["--mask", "1 0 1; 1 1 1", "--mask-kind", "block"],
        &["--mask", "inf 0 0"],
        &["--causal"],
        &["--window", "1"],
    ];
    let last: [&[&str]; 6] = [
        &[],
        &["--temperature", "1e-300"],
        &["--scale", "1e300"],
        &["--scale", "none"],
        &["--wo", "1e200"],
        &["--heads", "2"],
    ];
    let (mut count, mut differences) = (0, Vec::new());
    for (i, [q, k, v]) in scores.into_iter().enumerate() {
        for (j, side) in sides.into_iter().enumerate().skip(i % one_in(2)).step_by(one_in(2)) {
            // Every pair, and half of the triples.
            for options in last.into_iter().skip((i + j) % 2).step_by(2) {
                let arguments = [&["--q", q, "--k", k, "--v", v], side, options].concat();
                count += 1;
                differences.extend(difference(&arguments));
            }
        }
    }
    assert_none(differences, count);
}

#[test]
fn bundles_words_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let x = folder.path().join("X.npy");
    save(&x, "X", &Matrix::of([[1.0, 2.0], [3.0, 4.0]]), WritePermission::Allowed).unwrap();
    let whole = bundle("whole.json", r#"{"Q":[[1,2]],"K":[[1,2],[3,4]],"V":[[1],[2]],"M":[[true,false]]}"#);
    let heads = bundle("heads.json", r#"{"Q_1":[[1,2]],"K_1":[[1,2],[3,4]],"V_1":[[1],[2]]}"#);
    let two = bundle("two.json", r#"{"Q_1":[[1]],"Q_2":[[2]],"K":[[1],[3]],"V":[[1],[2]]}"#);
    let twice = bundle("twice.json", r#"{"Q":[[1]],"q":[[2]],"K":[[1],[3]],"V":[[1],[2]]}"#);
    let one = bundle("one.json", r#"{"Q":[[[1,2]]],"K":[[[1,2],[3,4]]],"V":[[1],[2]],"tokens":["a"]}"#);
    let unknown = bundle("unknown.json", r#"{"Q":[[1]],"Z":[[2]],"K":[[1],[3]],"V":[[1],[2]]}"#);
    let batch = bundle("batch.json", r#"{"Q":[[[[1]]],[[[2]]]],"K":[[1],[3]],"V":[[1],[2]]}"#);
    let mut differences = Vec::new();
    let files = [&whole, &heads, &two, &twice, &one, &unknown, &batch];
    for file in files {
        for options in [
            &[][..],
            &["--heads", "2"],
            &["--heads", "2", "--kv-heads", "1"],
            &["--tokens", "a"],
            &["--tokens", "a,b"],
        ] {
            differences.extend(difference(&[&[file.as_str()], options].concat()));
        }
    }
    let x = x.to_str().unwrap();
    for options in [
        &["--x", x][..],
        &["--x", x, "--heads", "2"],
        &["--x", x, "--heads", "3"],
        &["--x", x, "--wq", "1 2"],
        &["--x", x, "--wq", "1;2"],
        &["--x", x, "--q", "1 2"],
        &["--x", x, "--residual"],
        &["--x", x, "--wo", "1 0; 0 1", "--residual"],
        &["--x", x, "--wo", "1 0"],
        &["--words", "bat cave racket"],
        &["--words", "bat cave racket", "--heads", "2", "--causal"],
        &["--x", "missing.npy"],
        &["--q", "missing.npy", "--k", "1", "--v", "1"],
        &["--q", "1"],
        &["--random", "3,4", "--heads", "2"],
        &["--x", "1e100", "--wv", "1e250"],
        &["--x", "1e200 0; 0 0"],
    ] {
        differences.extend(difference(options));
    }
    assert_none(differences, 5 * files.len() + 17);
}
