//! The names of gradients and of the nodes that help to compute them.

use crate::graph::{Graph, NodeId};

/// A name in its parts: `L3.` and `S_scaled` and `_2`.
fn parts(name: &str) -> (&str, &str, &str) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_layer = |text: &str| text.strip_prefix('L').is_some_and(is_number);
    let (layer, rest) = match name.split_once('.') {
        Some((layer, _)) if is_layer(layer) => name.split_at(layer.len() + 1),
        _ => ("", name),
    };
    match rest.rsplit_once('_') {
        Some((stem, head)) if is_number(head) => (layer, stem, &rest[stem.len()..]),
        _ => (layer, rest, ""),
    }
}

/// A name without the numbers of its layer and its head: `dS_scaled` of `L3.dS_scaled_2`.
pub(in crate::graph) fn stem(name: &str) -> &str {
    parts(name).1
}

/// The name of a node's gradient: `dS_scaled_2`, `L3.dA_1`.
pub(super) fn gradient(name: &str) -> String {
    let (layer, stem, head) = parts(name);
    format!("{layer}d{stem}{head}")
}

/// The name of a node that belongs to another: `dA_mean_2` for `dA_2` and `mean`.
pub(super) fn beside(name: &str, what: &str) -> String {
    let (layer, stem, head) = parts(name);
    format!("{layer}{stem}_{what}{head}")
}

/// The name of the part of a node's gradient that one of its readers hands on: `dX_from_Q`. A reader that reads it several times
/// says as which of its inputs.
pub(super) fn part(name: &str, reader: &str, input: Option<usize>) -> String {
    let (own, _, _) = parts(name);
    let reader = reader.strip_prefix(own).unwrap_or(reader).replace('.', "_");
    let input = input.map_or_else(String::new, |input| format!("_as_{}", input + 1));
    format!("{}_from_{reader}{input}", gradient(name))
}

/// Names the rows and columns of a node as those of another.
pub(super) fn as_of(graph: &mut Graph, id: NodeId, other: NodeId) {
    let (rows, cols) = graph[other].labels();
    let (rows, cols) = (rows.cloned(), cols.cloned());
    graph.name_lines(id, rows, cols);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_comes_last_and_the_layer_first() {
        assert_eq!(
            ["A", "S_scaled_2", "L3.A_1", "W_Q"].map(gradient),
            ["dA", "dS_scaled_2", "L3.dA_1", "dW_Q"]
        );
        assert_eq!(beside("L3.dA_1", "mean"), "L3.dA_mean_1");
        assert_eq!(part("X", "Q", None), "dX_from_Q");
        assert_eq!(part("L3.K_1", "L3.S_2", None), "L3.dK_1_from_S_2");
        assert_eq!(part("X", "S", Some(1)), "dX_from_S_as_2");
    }
}
