//! `--explain` and `--symbolic`, typed as a user types them; as JSON another program computes the recorded bits from it.

use std::collections::HashMap;

use crate::common::attn;
use attn::explain::{Depth, LongSums, explain};
use attn::graph::{CellId, Graph, Op, Origin};
use attn::matrix::Matrix;
use serde_json::Value;

#[test]
fn a_row_a_node_and_several_cells_can_be_asked_for() {
    let heads = |line: &str| {
        let out = attn(line).ok().out;
        out.lines()
            .filter(|line| line.contains("   A = "))
            .map(|line| line.split("   ").next().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(heads("attend --words 'bat cave' --explain A[cave]"), ["A[cave,bat]", "A[cave,cave]"]);
    assert_eq!(heads("attend --words 'bat cave' --explain A").len(), 4);
    assert_eq!(
        heads("attend --words 'bat cave' --explain A[2,1] --explain A[bat,2] --explain A[2,1]"),
        ["A[cave,bat]", "A[bat,cave]"]
    );
}

#[test]
fn nodes_and_explanations_can_be_asked_for_together() {
    let both = attn("attend --words 'bat cave racket' --only S,A --explain A[cave,bat]").ok().out;
    let place = |text: &str| both.find(text).unwrap_or_else(|| panic!("no {text} in\n{both}"));
    assert!(place("S (3×3)") < place("A (3×3)") && place("A (3×3)") < place("A[cave,bat]   A = softmax"));
}

#[test]
fn without_an_address_everything_shown_is_written_in_symbols() {
    let all = attn("attend --words 'bat cave' --symbolic").ok().out;
    for line in ["s12 = q11·k21 + q12·k22", "o21 = a21·v11 + a22·v21"] {
        assert_eq!(all.lines().filter(|each| *each == line).count(), 1, "{line} in\n{all}");
    }
    assert!(!all.contains('│'), "{all}");
    let some = attn("attend --words 'bat cave' --only O --symbolic").ok().out;
    assert_eq!(some.lines().filter(|line| line.contains(" = ")).count(), 4, "{some}");
    assert!(some.lines().filter(|line| line.contains(" = ")).all(|line| line.starts_with('o')), "{some}");
}

#[test]
fn a_large_tree_says_how_to_see_less() {
    let words = "attend --words 'bat cave racket' --explain O[cave,1]";
    let all = attn(&format!("{words} --depth all")).ok();
    assert!(all.err.contains("cells are explained here; --depth 2 shows fewer"), "{}", all.err);
    let less = attn(&format!("{words} --depth 2")).ok();
    assert!(less.out.lines().count() < all.out.lines().count() && less.err.is_empty(), "{}", less.err);
}

#[test]
fn what_cannot_be_explained_is_refused_with_the_way_out() {
    let words = "attend --words 'bat cave racket'";
    attn(&format!("{words} --explain A[4,1]")).refused(&["A (3×3) has no row 4", "1 to 3"]);
    attn(&format!("{words} --explain A[1,cvae]")).refused(&["A (3×3)", "did you mean `cave`"]);
    attn(&format!("{words} --explain S_scald[1,1]")).refused(&["did you mean `S_scaled`"]);
    attn(&format!("{words} --explain A[1,1")).refused(&["closing bracket"]);
    attn(&format!("{words} --explain A --only A --format json")).refused(&["--explain", "--only", "twice"]);
    attn(&format!("{words} --depth 2")).refused(&["--explain"]);
    attn(&format!("{words} --explain A --depth 0")).refused(&["from 1, or all"]);
    attn(&format!("{words} --explain A --format csv")).refused(&["not an array", "--format json"]);
    attn(&format!("{words} --symbolic A --format numpy")).refused(&["not an array", "--format json"]);
    attn("demo mask --explain A --until O").refused(&["--until"]);
    attn("demo mask --explain A --versus '--seed 1'").refused(&["--versus", "--explain"]);
    attn("demo mask left --explain A").refused(&["asked for 2"]);
    attn("demo --symbolic A").refused(&["needs one demo"]);
    attn("attend --random 40,3 --explain A").refused(&["A (40×40) has 1600 cells", "A[1,1]"]);
    attn("attend --random 400,30 --explain A[1] --depth all").refused(&["more than 10000 cells", "--depth"]);
}

#[test]
fn a_formula_that_would_fill_the_memory_is_refused() {
    let mut graph = Graph::new();
    let s = graph.given("S", Matrix::filled(1, 300_000, 0.0), Origin::Stated).unwrap();
    let softmax = Op::Softmax(attn::attention::Axis::Rows, attn::attention::Base::E);
    let node = graph.add("A", softmax, &[s]).unwrap();
    let error = explain(&graph, &[CellId { node, row: 0, col: 0 }], Depth::Levels(1), LongSums::Shortened)
        .unwrap_err();
    assert!(error.to_string().contains("computed from 300000 numbers"), "{error}");
}

#[test]
fn symbols_alone_are_ready_to_paste() {
    let line = "attend --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4' --symbolic";
    assert_eq!(
        attn(line).arg("O").ok().out,
        "o11 = a11·v11 + a12·v21\no12 = a11·v12 + a12·v22\no21 = a21·v11 + a22·v21\no22 = a21·v12 + a22·v22\n"
    );
    assert_eq!(attn(line).arg("O[2,1]").arg("--charset=ascii").ok().out, "o21 = a21*v11 + a22*v21\n");
    assert_eq!(attn(line).arg("--explain=O[2,1]").ok().out, "o21 = a21·v11 + a22·v21\n");
    assert_eq!(
        attn(line).arg("O[2,1]").arg("--format=markdown").ok().out,
        "```text\no21 = a21·v11 + a22·v21\n```\n"
    );
    assert_eq!(
        attn(line).arg("O[2,1]").arg("--format=latex").ok().out,
        "% Needs, before \\begin{document}: \\usepackage{amsmath}\n\
         \\begin{align*}\no_{21} &= a_{21} v_{11} + a_{22} v_{21}\n\\end{align*}\n"
    );
    let softmax = attn("softmax 1 2 --symbolic A[1,1] --format latex").ok().out;
    let fraction = "\\frac{\\exp\\left(x_{11} - m\\right)}{\\exp\\left(x_{11} - m\\right) + \\exp\\left(x_{12} - m\\right)}";
    assert!(
        softmax
            .contains(&format!("a_{{11}} &= {fraction}, \\quad m = \\max\\left(x_{{11}}, x_{{12}}\\right)")),
        "{softmax}"
    );
    let heads = attn("attend --random 2,4 --heads 2 --symbolic S_1[1,2] --format latex").ok().out;
    assert!(heads.contains("s^{(1)}_{1,2} &= q^{(1)}_{1,1} k^{(1)}_{2,1}"), "{heads}");
}

#[test]
fn under_the_column_convention_symbols_are_turned_and_addresses_are_not() {
    let out = attn("attend --words 'bat cave' --convention columns --explain S[bat,cave]").ok().out;
    assert!(out.contains("S[bat,cave]   Sᵀ = K · Qᵀ") && out.contains("s21 = q11·k12 + q21·k22"), "{out}");
    assert!(out.contains("q21  Q[bat,") && out.contains("Tokens are columns here"), "{out}");
}

/// The value of a term as JSON has it, its cells looked up among the operands.
fn evaluate(term: &Value, cells: &HashMap<String, f64>, names: &HashMap<String, f64>) -> f64 {
    let (key, inner) = term.as_object().expect("a term").iter().next().expect("an operation");
    let of = |term: &Value| evaluate(term, cells, names);
    let list = |inner: &Value| inner.as_array().expect("a list").iter().map(of).collect::<Vec<f64>>();
    match key.as_str() {
        "cell" => cells[inner.as_str().unwrap()],
        "number" | "leaf" => crate::golden::number(inner),
        "sum" => list(inner).iter().fold(0.0, |sum, x| sum + x),
        "product" => list(inner).iter().copied().reduce(|a, b| a * b).unwrap(),
        "difference" => list(inner)[0] - list(inner)[1],
        "quotient" => list(inner)[0] / list(inner)[1],
        "power" if inner["base"] == "e" => attn::elementary::exp(of(&inner["exponent"])),
        "root" => of(inner).sqrt(),
        "max" => list(inner).iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "choice" => of(inner),
        "with" => {
            let name = (inner.as_str().unwrap().to_string(), of(&term["is"]));
            evaluate(&term["within"], cells, &HashMap::from([name]))
        }
        "name" => names[inner.as_str().unwrap()],
        other => panic!("the test knows no `{other}`"),
    }
}

/// Checks an explanation and those inside it; says how many there are.
fn check(explanation: &Value) -> usize {
    let operands = explanation["operands"].as_array().expect("operands");
    let named =
        |one: &Value| (one["address"].as_str().unwrap().to_string(), crate::golden::number(&one["value"]));
    let value = evaluate(&explanation["term"], &operands.iter().map(named).collect(), &HashMap::new());
    assert_eq!(
        value.to_bits(),
        crate::golden::number(&explanation["value"]).to_bits(),
        "{}",
        explanation["address"]
    );
    1 + operands.iter().filter(|one| one["state"] == "explained").map(check).sum::<usize>()
}

#[test]
fn the_tree_in_json_evaluates_to_the_recorded_bits_in_another_program() {
    let line =
        "attend --random 5,12 --heads 2 --causal --residual --explain O[5] --explain A_1[1,3] --depth all";
    let tree: Value = serde_json::from_str(&attn(line).arg("--format=json").ok().out).unwrap();
    assert_eq!((&tree["schema"], &tree["version"]), (&"attn-explanation".into(), &1.into()));
    let explanations = tree["explanations"].as_array().unwrap();
    assert_eq!(explanations.len(), 13);
    assert!(explanations.iter().map(check).sum::<usize>() > 300);
    assert_eq!(explanations[12]["operands"][2]["value"], "-inf");
}
