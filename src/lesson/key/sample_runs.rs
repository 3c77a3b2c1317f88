//! Runs with numbers that are read off by eye, for the tests of this folder.

use crate::error::{Error, Result};
use crate::graph::{Graph, Origin};
use crate::matrix::Matrix;
use crate::story::condition::{Numbers, part};

use super::Values;

/// Runs by name, each a graph.
pub(in crate::lesson) struct SampleRuns(Vec<(&'static str, Graph)>);

impl Numbers for SampleRuns {
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix> {
        let found = self.0.iter().find(|(name, _)| *name == run);
        let (_, graph) = found.ok_or_else(|| Error::new(format!("there is no run `{run}`")))?;
        part(graph, address)
    }
}

impl Values for SampleRuns {
    /// Two operands, each off by half a unit.
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64> {
        self.matrix(run, address).map(|_| (0..decimals).fold(1.0, |unit, _| unit / 10.0))
    }
}

/// `plain` and `causal` with weights `A` of three tokens, and `odd` with what is seldom: ties, NaN, −∞, no columns.
pub(in crate::lesson) fn runs() -> SampleRuns {
    let words = ["bat", "cave", "racket"];
    let named = |matrix: Matrix| matrix.rows_named(&words).cols_named(&words);
    let plain =
        named(Matrix::of([[0.5, 0.25, 0.25 - 1.0 / 64.0], [0.125, 0.75, 0.25], [0.0625, 0.375, 0.5625]]));
    let causal = named(Matrix::of([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.0625, 0.375, 0.5625]]));
    let masked = named(Matrix::of([
        [2.0, f64::NEG_INFINITY, f64::NEG_INFINITY],
        [1.0, 3.0, f64::NEG_INFINITY],
        [1.0, 2.0, 4.0],
    ]));
    let repeated = Matrix::of([[1.0, 2.0], [4.0, 3.0]]).rows_named(&["the", "the"]).cols_named(&["x", "y"]);
    let odd = [
        ("tie", Matrix::of([[0.1 + 0.2, 0.3], [0.1, 0.0]])),
        ("nan", Matrix::of([[f64::NAN, 1.0]])),
        ("empty", Matrix::filled(0, 0, 0.0)),
        ("infinite", Matrix::of([[f64::INFINITY, f64::NEG_INFINITY]])),
        ("column", Matrix::of([[0.3], [0.7], [0.1]]).rows_named(&words)),
        ("one", Matrix::of([[0.125]])),
        ("repeated", repeated),
        ("halves", Matrix::of([[2.675, 0.305, 1.005, 0.5]])),
    ];
    let graph = |nodes: Vec<(&str, Matrix)>| {
        let mut graph = Graph::new();
        for (name, matrix) in nodes {
            graph.given(name, matrix, Origin::Stated).unwrap();
        }
        graph
    };
    SampleRuns(vec![
        ("plain", graph(vec![("A", plain)])),
        ("causal", graph(vec![("A", causal), ("S_masked", masked)])),
        ("odd", graph(odd.into())),
    ])
}
