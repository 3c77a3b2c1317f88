//! The values of expressions.

use super::super::sample_runs::runs;
use super::*;
use proptest::prelude::*;

fn value(text: &str) -> Value {
    Expression::parse(text).unwrap().evaluate(&runs()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn said(text: &str) -> String {
    Expression::parse(text).unwrap().evaluate(&runs()).expect_err(text).to_string()
}

#[test]
fn functions_of_cells_are_numbers() {
    for (text, expected) in [
        ("plain:A[bat,cave]", 0.25),
        ("plain:A[1,2]", 0.25),
        ("sum(causal:A)", 3.0),
        ("min(plain:A)", 0.0625),
        ("max(plain:A[racket])", 0.5625),
        ("len(plain:A[bat])", 3.0),
        ("len(plain:A)", 9.0),
        ("count(causal:A, == 0)", 3.0),
        ("count(causal:A[bat], == 0)", 2.0),
        ("count(causal:A, != 0)", 6.0),
        ("count(causal:S_masked, == -inf)", 3.0),
        ("min(causal:S_masked)", f64::NEG_INFINITY),
        ("max(causal:S_masked)", 4.0),
        ("sum(causal:S_masked[bat])", f64::NEG_INFINITY),
        ("count(round(plain:A, 1), <= 0.2)", 5.0),
        ("sum(odd:empty)", 0.0),
        ("len(odd:empty)", 0.0),
    ] {
        assert_eq!(value(text), Value::Number(expected), "{text}");
    }
    assert_eq!(Expression::parse("odd:one").unwrap().number(&runs()).unwrap(), 0.125);
    assert!(
        Expression::parse("plain:A")
            .unwrap()
            .number(&runs())
            .unwrap_err()
            .to_string()
            .contains("name one cell")
    );
}

#[test]
fn the_largest_of_a_row_is_a_cell_of_its_node() {
    for (text, address, place) in [
        ("argmax(plain:A)", "A[cave,cave]", (1, 1)),
        ("argmin(plain:A)", "A[racket,bat]", (2, 0)),
        ("argmax(plain:A[racket])", "A[racket,racket]", (2, 2)),
        ("argmin(plain:A[2])", "A[cave,bat]", (1, 0)),
        ("argmax(odd:repeated[the#2])", "repeated[the#2,x]", (1, 0)),
        ("argmax(round(plain:A, 2))", "A[cave,cave]", (1, 1)),
        ("argmin(odd:column)", "column[racket,1]", (2, 0)),
    ] {
        match value(text) {
            Value::Cell(cell) => {
                assert_eq!((cell.to_string().as_str(), (cell.row, cell.col)), (address, place), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_row_is_ranked_and_so_is_a_column() {
    for (text, order, positions) in [
        ("rank(plain:A[bat])", "bat cave racket", [0, 1, 2]),
        ("rank(plain:A[cave])", "cave racket bat", [1, 2, 0]),
        ("rank(odd:column)", "cave bat racket", [1, 0, 2]),
    ] {
        match value(text) {
            Value::Order(found) => {
                assert_eq!((found.to_string().as_str(), &found.positions[..]), (order, &positions[..]));
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn comparisons_are_exact_and_rounding_is_asked_for() {
    for (text, truth) in [
        ("odd:tie[1,1] == 0.3", false),
        ("round(odd:tie[1,1], 6) == 0.3", true),
        ("round(odd:tie[1,1], 6) == odd:tie[1,2]", true),
        ("plain:A[1,2] != causal:A[1,2]", true),
        ("count(causal:A[bat], == 0) >= 2", true),
        ("causal:S_masked[1,2] == −∞", true),
        ("argmax(plain:A) == argmax(causal:A)", false),
        ("argmax(plain:A[cave]) == argmax(causal:A[cave])", true),
        ("rank(plain:A[racket]) == rank(causal:A[racket])", true),
        ("odd:one > 0.1", true),
    ] {
        assert_eq!(value(text), Value::Truth(truth), "{text}");
    }
}

#[test]
fn rounding_is_that_of_the_tables_not_of_scaled_halves() {
    // What Python's `f"{x:.2f}"` prints of these; NumPy's round makes 2.68 of the first.
    for (text, expected) in [
        ("round(odd:halves[1,1], 2)", 2.67),
        ("round(odd:halves[1,2], 2)", 0.3),
        ("round(odd:halves[1,3], 2)", 1.0),
        ("round(odd:halves[1,4], 0)", 0.0),
        ("round(causal:S_masked[1,2], 2)", f64::NEG_INFINITY),
    ] {
        assert_eq!(value(text), Value::Number(expected), "{text}");
    }
}

#[test]
fn what_a_function_cannot_use_is_said() {
    for (text, what) in [
        ("argmax(2)", "argmax needs a matrix or a row, `2` is a number\n  help: write argmax(RUN:A)"),
        ("sum(plain:A[1,2])", "sum needs a row or a matrix, `plain:A[1,2]` is a number"),
        ("len(argmax(plain:A))", "len needs a row or a matrix, `argmax(plain:A)` is a cell"),
        (
            "round(rank(plain:A[bat]), 2)",
            "round needs a number, a row or a matrix, `rank(plain:A[bat])` is an order",
        ),
        (
            "rank(plain:A)",
            "`rank(plain:A)` needs one row, `A` is 3×3\n  help: name the row: rank(RUN:A[bat])",
        ),
        ("plain:A == 1", "`plain:A == 1` compares a row or a matrix with a number"),
        (
            "argmax(plain:A) < argmax(plain:A)",
            "`argmax(plain:A) < argmax(plain:A)` compares a cell with a cell",
        ),
        ("argmax(plain:A) == 1", "`argmax(plain:A) == 1` compares a cell with a number"),
        ("sum(odd:nan)", "`odd:nan` is not a number: NaN"),
        ("odd:nan[1,2] == 1", ""),
        ("sum(odd:infinite)", "`sum(odd:infinite)` is not a number: NaN"),
        ("max(odd:empty)", "`max(odd:empty)`: empty (0×0) is empty"),
        ("argmax(odd:empty)", "`argmax(odd:empty)`: there is no cell to choose from"),
        (
            "argmax(odd:tie)",
            "`argmax(odd:tie)`: a tie, tie[1,1], tie[1,2] both hold 0.30000000000000004\n  help: ",
        ),
        ("argmax(odd:tie[1])", "`argmax(odd:tie[1])`: a tie, tie[1,1], tie[1,2] both hold"),
        (
            "argmin(causal:A)",
            "`argmin(causal:A)`: a tie, A[bat,cave], A[bat,racket], A[cave,racket] all hold 0",
        ),
        ("rank(causal:A[bat])", "`rank(causal:A[bat])`: a tie, cave, racket both hold 0"),
        ("other:A", "there is no run `other`"),
        ("plain:B", "there is no node `B`"),
        ("plain:A[bta]", "`A[bta]`: A (3×3) has no row `bta`"),
    ] {
        if !what.is_empty() {
            let said = said(text);
            assert!(said.starts_with(what), "{text}: {said}");
        }
    }
}

#[test]
fn a_number_beside_a_nan_can_be_read() {
    assert_eq!(value("odd:nan[1,2] == 1"), Value::Truth(true));
}

fn order(row: &[f64]) -> std::result::Result<Vec<usize>, String> {
    let row = Matrix::from_row_major(1, row.len(), row).unwrap();
    ranked(&row, |at| format!("#{at}")).map_err(|error| error.to_string())
}

fn max(rows: &[Vec<f64>]) -> std::result::Result<(usize, usize), String> {
    let matrix = Matrix::from_rows(rows).unwrap();
    extreme(&matrix, true, |(row, col)| format!("{row}/{col}")).map_err(|error| error.to_string())
}

#[test]
fn a_row_is_ranked_from_the_largest_with_minus_infinity_last() {
    assert_eq!(order(&[0.2, f64::NEG_INFINITY, 0.5, -1.0]).unwrap(), [2, 0, 3, 1]);
    assert_eq!(order(&[f64::INFINITY, 1e300]).unwrap(), [0, 1]);
    assert_eq!(order(&[]).unwrap_err(), "there is no cell to rank");
}

#[test]
fn the_largest_is_one_cell_and_the_smallest_may_be_minus_infinity() {
    assert_eq!(max(&[vec![1.0, -5.0], vec![3.0, 2.0]]).unwrap(), (1, 0));
    let masked = Matrix::of([[1.0, f64::NEG_INFINITY], [3.0, 2.0]]);
    assert_eq!(extreme(&masked, false, |_| String::new()).unwrap(), (0, 1));
    assert_eq!(max(&[]).unwrap_err(), "there is no cell to choose from");
}

#[test]
fn a_tie_names_its_cells() {
    let said = max(&[vec![0.5, 0.1], vec![0.5, 0.2]]).unwrap_err();
    assert!(said.starts_with("a tie, 0/0, 1/0 both hold 0.5\n  help: "), "{said}");
    let said = max(&[vec![1.0; 6]]).unwrap_err();
    assert!(said.starts_with("a tie, 0/0, 0/1, 0/2, 0/3 and 2 more all hold 1\n"), "{said}");
    let said = order(&[3.0, 1.0, 2.0, 1.0]).unwrap_err();
    assert!(said.starts_with("a tie, #1, #3 both hold 1\n"), "{said}");
}

#[test]
fn two_infinities_tie_and_one_does_not() {
    let masked = f64::NEG_INFINITY;
    assert!(order(&[1.0, masked, masked]).unwrap_err().contains("#1, #2 both hold −∞"));
    assert!(order(&[masked, 0.0, f64::INFINITY]).is_ok());
}

#[test]
fn what_rounding_alone_tells_apart_is_a_tie() {
    assert!(order(&[0.3, 0.1 + 0.2]).is_err());
    assert!(order(&[1e-20, 1e-20 * (1.0 + 1e-10)]).is_err());
    assert!(order(&[1.0, 0.0, 0.1 + 0.2 - 0.3]).is_err(), "a sum that cancels leaves 5.6e-17");
    assert!(order(&[1.0, 1.0 + 1e-8]).is_ok());
    assert!(order(&[1e-3, 0.0, 1e-12]).is_ok());
    assert!(order(&[1e-30, 2e-30]).is_ok());
}

/// Texts made of the words of the language, most of them well formed.
fn sentences() -> impl Strategy<Value = String> {
    let node = prop::sample::select(vec![
        "plain:A",
        "plain:A[bat]",
        "causal:A[1,2]",
        "odd:tie",
        "odd:nan",
        "odd:empty",
        "odd:infinite",
        "odd:one",
        "odd:column",
        "odd:repeated[the#2]",
        "odd:repeated[the]",
        "causal:S_masked",
        "2",
        "-inf",
        "0.5",
        "x",
    ]);
    let leaf = node.prop_map(str::to_string);
    let expression = leaf.prop_recursive(4, 16, 1, |inner| {
        let name = prop::sample::select(vec!["argmax", "argmin", "rank", "sum", "min", "max", "len", "mean"]);
        prop_oneof![
            (name, inner.clone()).prop_map(|(name, of)| format!("{name}({of})")),
            (inner.clone(), 0..20).prop_map(|(of, n)| format!("round({of}, {n})")),
            inner.prop_map(|of| format!("count({of}, >= 0.25)")),
        ]
    });
    let symbol = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    (expression.clone(), prop::option::of((symbol, expression))).prop_map(|(left, right)| match right {
        Some((symbol, right)) => format!("{left} {symbol} {right}"),
        None => left,
    })
}

proptest! {
    #[test]
    fn no_expression_panics_and_none_is_nan(text in sentences()) {
        if let Ok(expression) = Expression::parse(&text) {
            prop_assert_eq!(&Expression::parse(&expression.to_string()).unwrap(), &expression);
            match expression.evaluate(&runs()) {
                Ok(value) => prop_assert!(!value.number().is_some_and(f64::is_nan)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
