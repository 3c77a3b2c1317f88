//! The steps by themselves: each is its op, applied.

use attn::attention::{Axis, Base, Mask};
use attn::error::Result;
use attn::graph::Op;
use attn::matrix::Matrix;

pub fn divide_by_sum(x: &Matrix, axis: Axis) -> Matrix {
    Op::DivideBySum(axis).apply(&[x]).unwrap()
}

pub fn add(parts: &[&Matrix]) -> Result<Matrix> {
    Op::Add.apply(parts)
}

pub fn columns(x: &Matrix, start: usize, count: usize) -> Result<Matrix> {
    Op::Columns { start, count }.apply(&[x])
}

pub fn concatenate(parts: &[&Matrix]) -> Result<Matrix> {
    Op::Concatenate.apply(parts)
}

pub fn cosine(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Cosine.apply(&[a, b])
}

pub fn euclidean(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Euclidean.apply(&[a, b])
}

pub fn exponential(x: &Matrix, base: Base) -> Matrix {
    Op::Exponential(base).apply(&[x]).unwrap()
}

pub fn mask(scores: &Matrix, matrix: Option<&Matrix>, mask: &Mask) -> Result<Matrix> {
    Op::Mask(*mask).apply(&[Some(scores), matrix].into_iter().flatten().collect::<Vec<_>>())
}

pub fn product(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Product.apply(&[a, b])
}

pub fn product_transposed(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::ProductTransposed.apply(&[a, b])
}

pub fn relu(x: &Matrix) -> Matrix {
    Op::Relu.apply(&[x]).unwrap()
}

pub fn rows(x: &Matrix, start: usize, count: usize) -> Result<Matrix> {
    Op::Rows { start, count }.apply(&[x])
}

pub fn sinusoidal(first: usize, tokens: usize, width: usize) -> Matrix {
    Op::Sinusoidal { first, tokens, width }.apply(&[]).unwrap()
}

pub fn softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    Op::Softmax(axis, base).apply(&[x]).unwrap()
}

pub fn unit_rows(x: &Matrix) -> Matrix {
    Op::UnitRows.apply(&[x]).unwrap()
}
