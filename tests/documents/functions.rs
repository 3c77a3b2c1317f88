//! The ops that are no step of a demo give the figures that NumPy and series of 60 digits give.

use attn::graph::{GeluForm, Graph, Op, Origin};
use attn::matrix::Matrix;
use serde_json::Value;

fn golden() -> Value {
    crate::golden::json("functions.json")
}

/// What an op makes of these matrices.
fn value(op: Op, inputs: &[&Matrix]) -> Matrix {
    let mut graph = Graph::new();
    let mut given = |(number, matrix): (usize, &&Matrix)| {
        graph.given(&format!("given_{number}"), (*matrix).clone(), Origin::Stated).unwrap()
    };
    let inputs: Vec<_> = inputs.iter().enumerate().map(&mut given).collect();
    let id = graph.add("value", op, &inputs).unwrap();
    graph.matrix(id).unwrap().clone()
}

#[test]
fn functions_of_one_number_have_the_values_of_their_series() {
    let golden = golden();
    let row = |name: &str| {
        let numbers = crate::golden::numbers(&golden[name]);
        Matrix::from_row_major(1, numbers.len(), &numbers).unwrap()
    };
    for op in [
        Op::Tanh,
        Op::NormalShare,
        Op::Sigmoid,
        Op::Gelu(GeluForm::Erf),
        Op::Gelu(GeluForm::Tanh),
        Op::SoftCap(2.0),
        Op::EluPlusOne,
    ] {
        let ours = value(op.clone(), &[&row("x")]);
        crate::golden::assert_close(op.name(), &ours, &row(op.name()));
    }
}

#[test]
fn norms_with_and_without_gain_and_bias_are_those_of_numpy() {
    let golden = golden();
    let theirs = |name: &str| crate::golden::matrix(&golden["matrices"][name]);
    let (x, other, gain, bias) = (theirs("x"), theirs("other"), theirs("gain"), theirs("bias"));
    let (layer, rms) = (Op::LayerNorm(1e-5), Op::RmsNorm(1e-5));
    for (name, op, inputs) in [
        ("layer-norm", &layer, &[&x][..]),
        ("layer-norm, gain", &layer, &[&x, &gain]),
        ("layer-norm, gain and bias", &layer, &[&x, &gain, &bias]),
        ("rms-norm", &rms, &[&x]),
        ("rms-norm, gain", &rms, &[&x, &gain]),
        ("quotient", &Op::Quotient, &[&x, &other]),
        ("root", &Op::Root, &[&theirs("squares")]),
        ("times", &Op::Times, &[&x, &Matrix::filled(1, 1, 0.3)]),
    ] {
        crate::golden::assert_close(name, &value(op.clone(), inputs), &theirs(name));
    }
}

#[test]
fn a_gain_of_another_width_is_refused() {
    let error =
        Op::LayerNorm(0.0).apply(&[&Matrix::identity(2), &Matrix::identity(2)]).unwrap_err().to_string();
    assert!(error.starts_with("the gain is 2×2, but a matrix of 2×2 needs 1×2"), "{error}");
}

#[test]
fn at_minus_infinity_every_function_has_its_limit() {
    let x = Matrix::of([[f64::NEG_INFINITY]]);
    let limit = |op: Op| value(op, &[&x])[(0, 0)];
    assert_eq!([Op::Tanh, Op::Sigmoid, Op::SoftCap(2.0), Op::EluPlusOne].map(limit), [-1.0, 0.0, -2.0, 0.0]);
    assert_eq!([Op::Silu, Op::Gelu(GeluForm::Erf), Op::Gelu(GeluForm::Tanh)].map(limit), [0.0; 3]);
}
