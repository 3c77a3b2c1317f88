//! Every erratum is computed: what the text says fails, and the correction holds. Figures are worked out by hand or from the
//! texts, and every quotation is compared with its text.

mod imagined;
mod multiplication;
mod one_third;
mod quotations;
mod similarity;
mod understanding;

use crate::common::steps::{product_transposed, softmax};
use attn::attention::{Axis, Base};
use attn::demo::{Settings, errata, find};
use attn::graph::recipes::{AttendInputs, Recipe, attend};
use attn::graph::{Given, Graph};
use attn::matrix::Matrix;
use attn::random::LegacyStream;
use attn::story::Story;

/// An erratum's id, and the test that computes it.
type Check = (&'static str, fn());

#[test]
fn every_erratum_is_computed_by_a_test() {
    let checks = [
        understanding::CHECKS,
        multiplication::CHECKS,
        similarity::CHECKS,
        imagined::CHECKS,
        one_third::CHECKS,
    ];
    let checked: Vec<&str> = checks.into_iter().flatten().map(|(id, _)| *id).collect();
    let listed: Vec<&str> = errata::errata().map(|erratum| erratum.id).collect();
    assert_eq!(checked, listed);
}

#[test]
fn the_demos_that_errata_name_exist() {
    for erratum in errata::errata() {
        if let Some(demo) = erratum.demo {
            assert!(find(demo).is_ok(), "{}: there is no demo {demo}", erratum.id);
        }
    }
}

#[test]
fn a_story_ends_with_the_errata_that_its_demo_shows() {
    let notes = story("context", &[]).notes;
    assert_eq!(notes.len(), errata::for_demo("context").count());
    let start = "002, line 52. The text: “return np.round(cosine_similarity, 2)”  But: Round at the end";
    assert!(notes[0].starts_with(start), "{notes:?}");
}

/// A demo's story with some of its given matrices replaced.
fn story(name: &str, set: &[(&str, &Matrix)]) -> Story {
    let set =
        set.iter().map(|(node, matrix)| (node.to_string(), ((*matrix).clone(), "test".into()))).collect();
    find(name).unwrap().story(&Settings { set, ..Settings::default() }).unwrap()
}

fn node<'a>(graph: &'a Graph, name: &str) -> &'a Matrix {
    graph.matrix(graph.require(name).unwrap()).unwrap()
}

/// Matrices of normal numbers, one after the other, from one seed.
fn draws<const COUNT: usize>(seed: u32, shapes: [(usize, usize); COUNT]) -> [Matrix; COUNT] {
    let mut stream = LegacyStream::seeded(seed);
    shapes.map(|(rows, cols)| stream.standard_normal_matrix(rows, cols))
}

fn given(matrix: &Matrix) -> Option<Given> {
    Some(matrix.clone().into())
}

/// The pipeline on Q, K and V.
fn attend_to(recipe: &Recipe, q: &Matrix, k: &Matrix, v: &Matrix) -> Graph {
    let inputs = AttendInputs { q: given(q), k: given(k), v: given(v), ..AttendInputs::default() };
    attend(recipe, inputs).unwrap()
}

/// Softmax along the rows.
fn weights(scores: &Matrix) -> Matrix {
    softmax(scores, Axis::Rows, Base::E)
}

fn scores(q: &Matrix, k: &Matrix) -> Matrix {
    product_transposed(q, k).unwrap()
}

/// The same up to rounding.
fn close(a: &Matrix, b: &Matrix) -> bool {
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| (a - b).abs() < 1e-12)
}

fn row_sums_to_one(a: &Matrix) -> bool {
    (0..a.rows()).all(|i| (a.row(i).sum::<f64>() - 1.0).abs() < 1e-12)
}
