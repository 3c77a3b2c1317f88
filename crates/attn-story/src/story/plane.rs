//! A picture of the plane.

use serde::{Deserialize, Serialize};

use crate::graph::NodeId;

/// Points and movements in the plane.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Plane {
    /// Its name in its story: `plane`, the next ones `plane_2`, `plane_3` …
    pub name: String,
    /// Nodes of two columns; each row is a point, its label the word.
    pub points: Vec<NodeId>,
    /// From each row of the first node to the same row of the second.
    pub arrows: Vec<(NodeId, NodeId)>,
}

impl Plane {
    /// The first plane of a story.
    pub fn new(points: &[NodeId], arrows: &[(NodeId, NodeId)]) -> Plane {
        Plane { name: "plane".into(), points: points.to_vec(), arrows: arrows.to_vec() }
    }

    /// The nodes whose rows are points or ends of arrows, each once, in the order of the picture.
    pub fn nodes(&self) -> Vec<NodeId> {
        let ends = self.arrows.iter().flat_map(|(from, to)| [*from, *to]);
        let mut nodes: Vec<NodeId> = Vec::new();
        for id in self.points.iter().copied().chain(ends) {
            if !nodes.contains(&id) {
                nodes.push(id);
            }
        }
        nodes
    }
}
