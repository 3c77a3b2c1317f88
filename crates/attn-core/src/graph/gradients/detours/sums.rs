//! Sums of which a part is forgotten: over the query heads of a group, and over the ways back to the tokens.

use super::products::HandedTo;
use crate::graph::{Graph, NodeId, Role};

/// A part of a gradient: the step that hands it on, and to which of its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub reader: NodeId,
    pub input: usize,
}

/// What a key and value head gets from the query heads that share it, instead of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSum {
    /// The gradient of the first of them.
    First,
    /// That of the last of them.
    Last,
    /// Their mean.
    Mean,
}

/// A way on which the tokens had an influence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Through the queries.
    Queries,
    /// Through the keys.
    Keys,
    /// Through the values.
    Values,
    /// Beside the heads: the residual.
    Residual,
}

/// The ways whose gradients are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// This one alone.
    Only(Path),
    /// All but this one.
    Without(Path),
}

impl Path {
    /// The way that a part of a gradient comes on; none where it is no gradient of the tokens.
    fn of(graph: &Graph, part: &Part) -> Option<Path> {
        match HandedTo::of(graph, part.reader, part.input) {
            Some(HandedTo::Queries | HandedTo::Input(Role::WQ)) => Some(Path::Queries),
            Some(HandedTo::Keys | HandedTo::Input(Role::WK)) => Some(Path::Keys),
            Some(HandedTo::Values | HandedTo::Input(Role::WV)) => Some(Path::Values),
            Some(_) => None,
            None => graph[part.reader].inputs.len().gt(&1).then_some(Path::Residual),
        }
    }
}

/// The parts of a gradient of tokens that come on these ways; all parts of another gradient.
pub(super) fn on_paths(graph: &Graph, parts: Vec<Part>, paths: Paths) -> Vec<Part> {
    let ways: Vec<Option<Path>> = parts.iter().map(|part| Path::of(graph, part)).collect();
    let several = ways.iter().flatten().any(|way| ways.iter().flatten().any(|other| way != other));
    let is_kept = |way: Option<Path>| match paths {
        Paths::Only(path) => way == Some(path),
        Paths::Without(path) => way != Some(path),
    };
    if !several || !ways.iter().any(|way| is_kept(*way)) {
        return parts;
    }
    parts.into_iter().zip(ways).filter(|(_, way)| is_kept(*way)).map(|(part, _)| part).collect()
}

/// The parts that the heads of a group hand on, and the number by which their sum is divided.
pub(super) fn of_group(graph: &Graph, parts: Vec<Part>, count: usize, sum: GroupSum) -> (Vec<Part>, usize) {
    let heads: Vec<usize> =
        parts.iter().filter_map(|part| graph[part.reader].step.and_then(|step| step.head)).collect();
    let differ = heads.windows(2).all(|pair| pair[0] < pair[1]);
    let is_group = heads.len() == parts.len() && parts.len() > 1 && differ;
    match sum {
        _ if !is_group => (parts, count),
        GroupSum::First => (parts[..1].to_vec(), count),
        GroupSum::Last => (parts[parts.len() - 1..].to_vec(), count),
        GroupSum::Mean => (parts, count * heads.len()),
    }
}
