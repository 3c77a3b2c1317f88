//! Answers to keys, read and judged.

use super::sample::{answer, is_right};
use crate::answer::{Answer, Value};
use crate::lesson::key::Expression;
use crate::lesson::key::sample_runs::runs;

fn number(value: f64, tolerance: f64) -> Answer {
    Answer { tolerance, ..Answer::exact(Value::Number(value)) }
}

fn option(text: &str) -> Value {
    Expression::parse(text).unwrap().evaluate(&runs()).unwrap()
}

#[test]
fn a_number_is_right_up_to_its_tolerance_and_no_further() {
    let is_right = |text: &str, right: &Answer| is_right(text, right);
    let answer = number(0.3, 0.005);
    for text in ["0.3", "0,305", "0.295", "30%", ".304"] {
        assert!(is_right(text, &answer), "{text}");
    }
    for text in ["0.3051", "0.2949", "-0.3", "1/3", "inf"] {
        assert!(!is_right(text, &answer), "{text}");
    }
    let exact = number(1_391_569_403_904.0, 0.0);
    assert!(is_right("1,391,569,403,904", &exact) && !is_right("1391569403905", &exact));
    let small = number(1e-9, 0.3);
    assert!(is_right("0.300000001", &small) && !is_right("0.3000000011", &small));
    assert!(is_right("1/3", &number(1.0 / 3.0, 0.0)));
    let masked = number(f64::NEG_INFINITY, 0.1);
    assert!(is_right("−∞", &masked) && !is_right("-5", &masked) && !is_right("inf", &masked));
}

#[test]
fn letters_cells_and_orders_are_right_or_wrong() {
    let choice = Answer::exact(Value::Letter('C'));
    assert!(is_right("c", &choice) && !is_right("B", &choice));
    let cell = answer("cell", "argmax(plain:A)");
    assert!(is_right("cave,cave", &cell) && is_right("2,2", &cell));
    assert!(!is_right("1,2", &cell));
    let order = answer("order", "rank(plain:A[bat])");
    assert!(is_right("bat cave racket", &order) && !is_right("cave bat racket", &order));
    assert!(!choice.accepts(&Value::Number(1.0)));
}

#[test]
fn a_wrong_answer_is_recognised_as_the_option_that_computes_it() {
    let is_option = |typed: &Value, option: &Value, right: &Answer| {
        right.with_value(option).is_some_and(|option| option.accepts(typed))
    };
    let right = answer("number", "plain:A[bat,cave] ± 0.005");
    let causal = option("causal:A[bat,bat]");
    assert!(is_option(&Value::Number(1.004), &causal, &right));
    assert!(!is_option(&Value::Number(1.006), &causal, &right));
    assert!(!right.accepts(&causal) && right.accepts(&option("round(plain:A[bat,cave], 2)")));

    let cell = answer("cell", "argmax(plain:A)");
    let other = option("argmin(plain:A)");
    assert!(is_option(&option("argmin(plain:A)"), &other, &cell));
    assert!(!is_option(&cell.value, &other, &cell));
    assert!(!cell.accepts(&other) && cell.accepts(&option("argmax(plain:A)")));
    assert!(!is_option(&causal, &other, &cell) && !is_option(&other, &causal, &cell));

    let order = answer("order", "rank(plain:A[bat])");
    let other = option("rank(plain:A[cave])");
    let Value::Order(typed) = &order.value else { panic!("an order") };
    assert!(is_option(&Value::Order(typed.with_positions(&[1, 2, 0])), &other, &order));
    assert!(!order.accepts(&other));
}

#[test]
fn an_answer_is_shown_at_the_digits_of_its_tolerance() {
    let shown = |value, tolerance| number(value, tolerance).to_string();
    assert_eq!(shown(0.30123, 0.005), "0.301 ± 0.005");
    assert_eq!(shown(-2.0 / 3.0, 0.5), "−0.7 ± 0.5");
    assert_eq!(shown(3.0, 0.0), "3");
    assert_eq!(shown(f64::NEG_INFINITY, 0.1), "−∞");
    assert_eq!(number(0.41234, 0.01).typed(), "0.41");
    assert_eq!(number(12.0, 0.5).typed(), "12");
    assert_eq!(number(12.0, 0.0).typed(), "12");
}
