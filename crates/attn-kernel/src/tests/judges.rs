//! The judges judged: double-double and the oracles against mpmath's 60 digits (`tests/golden/double_double.py`).

use crate::Band;
use serde_json::Value;

use super::double_double::DoubleDouble;
use super::everywhere::judge_everywhere;
use super::golden::{json, list, number};
use super::oracle::{Exact, TestFloat, exact_row};
use super::problem::{Problem, Shape};

/// What double-double may be off, relatively. A place of `f64` is 2^−53.
const CLOSE: f64 = 1.0 / (1u128 << 95) as f64;

fn pair(value: &Value) -> DoubleDouble {
    DoubleDouble { high: number(&value[0]), low: number(&value[1]) }
}

#[track_caller]
fn assert_close(found: DoubleDouble, value: &Value, what: &str) {
    let exact = pair(value);
    let error = found.distance(exact);
    assert!(error <= CLOSE * exact.high.abs(), "{what}: {found:?} instead of {exact:?}");
}

#[test]
fn double_double_arithmetic_is_that_of_mpmath_to_95_bits() {
    let figures = json("double_double.json");
    for row in list(&figures, "arithmetic") {
        let (a, b) = (pair(&row["a"]), pair(&row["b"]));
        // What cancels is lost from the sum of the terms, not from what is left.
        let error = a.plus(b).distance(pair(&row["sum"]));
        assert!(error <= CLOSE * (a.high.abs() + b.high.abs()), "{a:?} + {b:?}");
        assert_close(a.times(b), &row["product"], "a product");
        assert_close(a.over(b), &row["quotient"], "a quotient");
    }
}

#[test]
fn double_double_functions_are_those_of_mpmath_to_95_bits() {
    let figures = json("double_double.json");
    for row in list(&figures, "exp") {
        assert_close(pair(&row["x"]).exp(), &row["y"], &format!("exp {:?}", row["x"]));
    }
    for row in list(&figures, "ln") {
        let (y, exact) = (pair(&row["x"]).ln(), pair(&row["y"]));
        assert!(y.distance(exact) <= CLOSE * exact.high.abs().max(1.0), "ln {:?}", row["x"]);
    }
    for row in list(&figures, "tanh") {
        // Below 1, what 1 − e^−2x loses is lost from 1.
        let (x, y) = (pair(&row["x"]), pair(&row["y"]));
        let error = x.tanh().distance(y) / y.high.abs().max(f64::MIN_POSITIVE);
        assert!(error <= CLOSE * (1.0 + 1.0 / x.high.abs().max(1.0 / 262_144.0)), "tanh {x:?}: {error:e}");
    }
}

/// The number of this name at these indices; null is −∞.
fn at<T: TestFloat>(figures: &Value, name: &str, indices: &[usize]) -> T {
    match indices.iter().fold(&figures[name], |value, &index| &value[index]) {
        Value::Null => T::NEG_INFINITY,
        value => T::from_f64(number(value)),
    }
}

/// The golden problem; its numbers are exact in `f32` too.
fn golden_problem<T: TestFloat>(figures: &Value) -> Problem<T> {
    let shape = Shape { heads: 1, kv_heads: 1, queries: 4, keys: 5, width: 3, value_width: 2 };
    let problem = Problem::of(
        shape,
        |_, i, c| at(figures, "q", &[i, c]),
        |_, j, c| at(figures, "k", &[j, c]),
        |_, j, c| at(figures, "v", &[j, c]),
    );
    let mut problem = problem.biased(|_, i, j| at(figures, "bias", &[i, j]));
    problem.scale = Some(at(figures, "scale", &[]));
    problem
}

/// The golden problem with all variants. Query 0 is the second token.
fn golden_variants<T: TestFloat>(figures: &Value) -> Problem<T> {
    let problem = golden_problem::<T>(figures);
    let relative = |_, distance: isize| at(figures, "relative", &[(distance + 3) as usize]);
    let mut problem = problem.relatively_biased(relative);
    problem.soft_cap = Some(at(figures, "soft_cap", &[]));
    problem.sinks = Some(vec![at(figures, "sink", &[])]);
    let [window, keep_first] = ["window", "keep_first"].map(|name| number(&figures[name]) as usize);
    problem.band = Band { from: Some(2 - window as isize), until: Some(2), keep_first };
    problem
}

/// The oracle's rows against mpmath's, relative to numbers of about 1.
fn assert_rows_are_close<T: TestFloat>(problem: &Problem<T>, figures: &Value, close: f64) {
    for i in 0..4 {
        let exact = &figures["mixtures"][i];
        let Some(row) = exact_row(problem, 0, i) else {
            assert!(exact.is_null(), "query {i} sees something");
            continue;
        };
        let off = |found: T::Exact, value: &Value| {
            let [high, low] = [0, 1].map(|part| <T::Exact as Exact>::from(number(&value[part])));
            found.minus(high).minus(low).high().abs()
        };
        for c in 0..2 {
            let mixed = row.output[c].times(<T::Exact as Exact>::from(libm::scalbn(1.0, row.exponent)));
            assert!(off(mixed, &exact[c]) <= close, "query {i}, column {c}");
        }
        assert!(off(row.log_sum_exp, &figures["log_sum_exps"][i]) <= close, "query {i}");
    }
}

fn assert_oracle_is_close<T: TestFloat>(close: f64) {
    let figures = json("double_double.json");
    let (attention, variants) = (&figures["attention"], &figures["variants"]);
    assert_rows_are_close::<T>(&golden_problem(attention), attention, close);
    assert_rows_are_close::<T>(&golden_variants(variants), variants, close);
}

#[test]
fn the_oracle_of_f32_gives_the_attention_of_mpmath_to_48_bits() {
    assert_oracle_is_close::<f32>(1.0 / (1u64 << 48) as f64);
}

#[test]
fn the_oracle_of_f64_gives_the_attention_of_mpmath_to_90_bits() {
    assert_oracle_is_close::<f64>(1.0 / (1u128 << 90) as f64);
}

#[test]
fn the_kernel_gives_the_variants_of_mpmath_within_the_bound() {
    fn check<T: TestFloat>() {
        let figures = json("double_double.json");
        judge_everywhere(&golden_variants::<T>(&figures["variants"]), "the golden variants");
    }
    check::<f32>();
    check::<f64>();
}
