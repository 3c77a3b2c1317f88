//! The keys of lessons: what can be read, what it is worth, and what is said of what cannot.

use proptest::prelude::*;

use super::sample_runs::runs;
use super::*;
use crate::error::{Place, Problem};

fn parse(text: &str) -> Expression {
    Expression::parse(text, 1).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value(text: &str) -> Value {
    parse(text).evaluate(&runs()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn said(text: &str) -> String {
    parse(text).evaluate(&runs()).expect_err(text).to_string()
}

/// The error of a text, and its column.
fn refused(text: &str, version: u8) -> (Problem, usize) {
    match Expression::parse(text, version).expect_err(text) {
        Error::Unusable(problem) => {
            let column = match problem.place {
                Some(Place::Text(_, _, column)) => column,
                _ => 0,
            };
            (*problem, column)
        }
        other => panic!("{text}: {other}"),
    }
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
    assert_eq!(parse("odd:one").number(&runs()).unwrap(), 0.125);
    assert!(parse("plain:A").number(&runs()).unwrap_err().to_string().contains("name one cell"));
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
        ("max(odd:empty)", "`max(odd:empty)`: `odd:empty` is empty"),
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
        for version in [1, 2] {
            let Ok(expression) = Expression::parse(&text, version) else { continue };
            prop_assert_eq!(&expression.to_string(), &text);
            match expression.evaluate(&runs()) {
                Ok(value) => prop_assert!(!value.number().is_some_and(f64::is_nan)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn an_expression_is_written_as_it_was_read() {
    for text in [
        "2",
        "−0.5",
        "plain:A",
        "plain:A[the#2,bat]",
        "count(causal:A[bat], == 0) == 2",
        "round(sum(plain:A[1]), 6) != 1",
        "count(causal:S_masked, == −∞) >= min(plain:A)",
        "argmax(plain:A)",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn two_that_say_the_same_are_equal_wherever_they_stand() {
    assert_eq!(Key::parse("A iff  1 <  plain:A[1,2]", 1).unwrap().expression, parse("1 < plain:A[1,2]"));
    assert_ne!(parse("plain:A[1,2]"), parse("plain:A[2,1]"));
}

#[test]
fn every_function_of_the_list_is_read_under_its_name() {
    for version in [1, 2] {
        for function in functions(version) {
            assert_eq!(function.usage(version).split(['(']).next(), Some(function.name));
            let read = Expression::parse(&function.usage(version), version).unwrap();
            assert_eq!(read.gives(), function.gives, "{}", function.name);
        }
    }
}

#[test]
fn the_runs_are_named_once_each() {
    assert_eq!(parse("round(b:A[1,2], 2) == a:A[1,2]").runs(), ["b", "a"]);
    assert_eq!(parse("a:A[1,2] < a:A[2,1]").runs(), ["a"]);
    assert!(parse("1 == 1").runs().is_empty());
    let bounds = Expression::parse("all(a:A[{i},1] > 0 for i in 1..rows(b:A))", 2).unwrap();
    assert_eq!(bounds.runs(), ["a", "b"]);
}

#[test]
fn it_reads_other_runs_by_their_names_alone() {
    let other = parse("round(b:A[1,2], 2) == sum(a:A[b])").of_runs(&|run| format!("{run}2"));
    assert_eq!(other.runs(), ["b2", "a2"]);
    assert_eq!(parse("b:A[1,2]").of_runs(&|run| format!("{run}2")).reference(), Some(("b2", "A[1,2]")));
}

#[test]
fn a_label_holds_anything_but_its_closing_bracket() {
    for address in ["A[bat (1),cave]", "A[=,±]", "A[a:b, iff]", "A[[,(]", "A[the#2,naïve 👍]", "W_Q_1[3,2]"]
    {
        for version in [1, 2] {
            let read = Expression::parse(&format!("plain:{address} == 1"), version).unwrap();
            assert_eq!(read.sides().unwrap()[0].reference(), Some(("plain", address)));
        }
    }
}

#[test]
fn a_run_may_be_named_by_digits_and_by_letters_of_any_script() {
    for run in ["2", "no-mask_2", "größe", "-x"] {
        assert_eq!(parse(&format!("{run}:A")).reference(), Some((run, "A")));
    }
    assert!(is_run_name("no-mask_2") && is_run_name("größe"));
    for name in ["", "a b", "a:b", "a.b", " a"] {
        assert!(!is_run_name(name), "{name}");
    }
}

#[test]
fn an_unknown_function_is_told_its_nearest_and_the_closed_list() {
    let (error, column) = refused("1 == agmax(plain:A)", 1);
    assert_eq!((column, error.what.as_str()), (6, "there is no function `agmax`"));
    assert!(error.help.unwrap().starts_with("did you mean `argmax`? "));
    for version in [1, 2] {
        let help = refused("mean(a:A)", version).0.help.unwrap();
        for function in (1..=version).flat_map(functions) {
            assert!(help.contains(function.name), "{}", function.name);
        }
    }
}

#[test]
fn an_error_stands_in_its_column() {
    let expected = "where a name, a number or a bracket is expected";
    let end = "where the end of the line is expected";
    for (text, column, what) in [
        ("", 1, format!("the line ends here, {expected}")),
        ("plain:A[1,2] + 1", 1, "`plain:A[1,2] + 1` is not part of attn-lesson: 1".into()),
        ("plain:A[1,2] = 1", 14, format!("here stands `=`, {end}")),
        ("1 == 2 == 3", 8, format!("here stands `==`, {end}")),
        ("1 ==", 3, format!("the line ends here, {expected}")),
        ("«", 1, "`«` means nothing here".into()),
        ("1 == A[bat,cave]", 6, "`A[bat,cave]` is neither a number nor a cell of a run".into()),
        ("sum(plain:A[bat)", 12, "`[` is not closed".into()),
        ("sum(plain:A[bat]", 5, "the line ends here, where `,` or `)` is expected".into()),
        ("sum(plain:A[bat]))", 18, format!("here stands `)`, {end}")),
        ("count(a:A, 0)", 1, "`count(a:A, 0)` is not a valid call of count".into()),
        ("sum(a:A, == 0)", 1, "`sum(a:A, == 0)` is not a valid call of sum".into()),
        ("sum(== 0)", 1, "`sum(== 0)` is not a valid call of sum".into()),
        ("sum()", 1, "`sum()` is not a valid call of sum".into()),
        ("round(a:A, 2.5)", 12, "`2.5` is not a number of decimals".into()),
        ("round(a:A, 99)", 12, "`99` is not a number of decimals".into()),
        ("1 == 1e999", 6, "`1e999` is beyond the range of a 64-bit float".into()),
        ("ä == sum", 1, "`ä` is neither a number nor a cell of a run".into()),
        ("naïve:A == ä", 12, "`ä` is neither a number nor a cell of a run".into()),
        ("nan == plain:A", 1, "`nan` is neither a number nor a cell of a run".into()),
    ] {
        let (error, at) = refused(text, 1);
        assert_eq!((at, error.what), (column, what), "{text}");
    }
    assert_eq!(refused("sum == 2", 1).0.help.unwrap(), "write sum(RUN:A[bat])");
    assert_eq!(refused("1 == A[bat,cave]", 1).0.help.unwrap(), "write its run before it: RUN:A[bat,cave]");
}

#[test]
fn deep_and_long_texts_are_refused() {
    let nested = |depth: usize| format!("{}plain:A{}", "sum(".repeat(depth), ")".repeat(depth));
    assert!(refused(&nested(100), 1).0.what.starts_with("more than 40 "));
    assert!(Expression::parse(&nested(8), 1).is_ok());
    for text in ["(".repeat(10_000), "sum(".repeat(10_000), "[".repeat(10_000), "x".repeat(10_000_000)] {
        assert!(refused(&text, 2).0.what.contains("longer than 1000 bytes"));
    }
    let chain = format!("{} == 1", vec!["1"; 240].join(" + "));
    assert!(Expression::parse(&chain, 2).unwrap().evaluate(&runs()).is_ok());
}

/// Texts of every form that version 1 has, as it has always read them.
#[test]
fn what_version_1_reads_has_the_same_value_in_both_versions() {
    for (text, value) in [
        ("  plain:A[1,2]  ", 0.25),
        ("-.5", -0.5),
        ("+2", 2.0),
        ("1.", 1.0),
        ("1.e2", 100.0),
        ("1e−3", 0.001),
        ("−∞", f64::NEG_INFINITY),
        ("inf", f64::INFINITY),
        ("sum (plain:A[ bat , cave ])", 0.25),
        ("count( causal:A ,==0)", 3.0),
        ("count(causal:A, >= +.75)", 2.0),
        ("count(causal:S_masked, == -inf)", 3.0),
        ("round(odd:halves[1,1],2)", 2.67),
        (
            "round(round(round(round(round(round(round(round(plain:A[1,2], 9), 8), 7), 6), 5), 4), 3), 2)",
            0.25,
        ),
    ] {
        for version in [1, 2] {
            // In version 2 the sum of one cell is that cell.
            if version == 1 && text.starts_with("sum") {
                continue;
            }
            let read = Expression::parse(text, version).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(read.evaluate(&runs()).unwrap(), Value::Number(value), "{text}");
        }
    }
}

#[test]
fn version_1_refuses_what_came_with_version_2() {
    for text in [
        "plain:A[1,2] + 1 == 2",
        "2 plain:A[1,2] == 1",
        "plain:A[1,2] ≈ 0.25",
        "plain:A[1,2] ≤ 0.25",
        "1 == 1 and 2 == 2",
        "not plain:A[1,2] == 1",
        "max|plain:A| == 1",
        "top(plain:A[1,2])",
        "identity(plain:A)",
        "rows(plain:A) == 3",
        "sqrt(4) == 2",
        "max(1, 2) == 2",
        "count(plain:A, == plain:A[1,2]) == 1",
        "all(plain:A[{i},1] > 0 for i in 1..3)",
        "(plain:A[1,2]) == 1",
        "(1 == 1) == (2 == 2)",
        "1 if 1 == 1 else 2",
    ] {
        assert!(Expression::parse(text, 2).is_ok(), "{text}");
        let (error, column) = refused(text, 1);
        let is_call = error.what.contains("is not a valid call of");
        assert!(
            column > 0 && (is_call || error.what.contains("is not part of attn-lesson: 1")),
            "{}",
            error.what
        );
        assert!(is_call || error.help.is_some_and(|help| help.contains("write attn-lesson: 2")), "{text}");
    }
    assert!(said("plain:A[*,cave] == 1").contains("a column, which is not part of attn-lesson: 1"));
}

#[test]
fn version_2_has_what_conditions_of_demos_have() {
    for (text, truth) in [
        ("plain:A[1,2] + plain:A[1,1] == 0.75", true),
        ("plain:A[1,1]-plain:A[1,2] == 0.25", true),
        ("2 plain:A[1,2] ^ 2 / 4 == 0.03125", true),
        ("sum(plain:A[bat]) ≈ 1 ± 0.02", true),
        ("sum(plain:A[bat]) ≈ 1", false),
        ("causal:A[bat] != 0 and causal:A[bat] >= 0", true),
        ("causal:A[:, racket] == 0 or causal:A[*,bat] > 0", true),
        ("causal:A == plain:A", false),
        ("causal:A[racket] == plain:A[racket]", true),
        ("not top(plain:A[racket,bat])", true),
        ("top(plain:A[cave,cave])", true),
        ("lower_triangular(causal:A) and not identity(causal:A) and not symmetric(causal:A)", true),
        ("max|causal:S_masked| == ∞", true),
        ("nan(odd:nan)", true),
        ("whole(causal:S_masked)", false),
        ("rows(odd:column) == 3 and cols(odd:column) == 1", true),
        ("all(plain:A[{i},{i}] ≥ 0.5 for i in 1..3)", true),
        ("any(plain:A[{i},1] > i for i in 1..3)", false),
        ("all(top(plain:A[{w},{w}]) for w in bat, cave)", true),
        ("sum(plain:A[{i},{i}] for i in 1..rows(plain:A)) ≈ 1.8125", true),
        ("sqrt(16) == max(4, 2) and even(len(plain:A) − 1)", true),
        ("count(plain:A, == max(plain:A)) == 1", true),
        ("argmax(plain:A[1]) == argmax(causal:A[1])", true),
        ("round(plain:A, 1) == round(plain:A, 1)", true),
    ] {
        let read = Expression::parse(text, 2).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(
            read.evaluate(&runs()).unwrap_or_else(|error| panic!("{text}: {error}")),
            Value::Truth(truth),
            "{text}"
        );
    }
    for (text, words) in [
        ("plain:A < causal:A", "compares a row or a matrix with a row or a matrix"),
        ("plain:A and 1", "`plain:A` is a row or a matrix, not true or false"),
        ("sum(plain:A[{i},1] for i in 1..20000) == 1", "more than 10000 times"),
        ("all(all(1 > 0 for i in 1..200) for j in 1..200)", "more than 10000 times"),
        ("0 / 0 == 1", "NaN"),
        ("plain:A[1,1] ≈ 1 ± −1", "a distance below 0"),
        ("all(plain:A[{w},1] > 0 for w in bat, dog)", "no row `dog`"),
    ] {
        let error = Expression::parse(text, 2).unwrap().evaluate(&runs()).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_every_column_lies_in_the_text(
        text in "\\PC{0,60}|[a-z0-9:()\\[\\],=<>. ±|{}+^−\n-]{0,60}",
        version in 1..=2_u8,
    ) {
        for error in [Expression::parse(&text, version).err(), Key::parse(&text, version).err()].into_iter().flatten() {
            let Error::Unusable(problem) = error else { panic!("{text}") };
            let Some(Place::Text(_, line, column)) = problem.place else { panic!("{text}") };
            prop_assert!(line <= 1 + text.matches('\n').count());
            prop_assert!(column <= text.chars().count() + 1);
        }
    }
}
