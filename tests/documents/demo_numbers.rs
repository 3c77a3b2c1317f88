//! What the tests of demos read: a story with settings, its nodes, its single numbers.

use attn::demo::{Settings, find};
use attn::matrix::Matrix;
use attn::story::Story;

/// The story of a demo, with these matrices in place of its own.
pub fn told(name: &str, set: &[(&str, Matrix)]) -> attn::error::Result<Story> {
    let set = set.iter().map(|(node, matrix)| (node.to_string(), (matrix.clone(), "test".into()))).collect();
    find(name).unwrap().story(&Settings { set, ..Settings::default() })
}

/// A 1×1 matrix.
pub fn number(number: f64) -> Matrix {
    Matrix::filled(1, 1, number)
}

/// The numbers of a node.
pub fn node<'a>(story: &'a Story, name: &str) -> &'a Matrix {
    story.graph.matrix(story.graph.require(name).unwrap()).unwrap()
}

/// The one cell of a 1×1 node.
pub fn cell(story: &Story, name: &str) -> f64 {
    let cells: Vec<f64> = node(story, name).cells().collect();
    assert_eq!(cells.len(), 1, "{name} is not one number");
    cells[0]
}
