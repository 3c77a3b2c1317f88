//! Finding a node, and the matrix of a node.

use std::ops::Index;

use super::{Graph, Node, NodeId};
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::Matrix;
use crate::tensor::MOST_LOOKED_AT;
use crate::text::{choices, nearest};

impl Graph {
    /// The node of this name, in the layer that is recorded now or in the whole graph.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let place = self.layer.and_then(|_| self.places.get(&self.in_layer(name)));
        place.or_else(|| self.places.get(name)).copied().map(NodeId)
    }

    /// The node of this name.
    ///
    /// # Errors
    /// If there is none: the error names the nearest and lists the others, as far as they fit a few lines.
    pub fn require(&self, name: &str) -> Result<NodeId> {
        self.find(name).ok_or_else(|| {
            let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            let listed = choices(names.iter().copied());
            let error = Error::new(format!("there is no node `{name}`")).of_kind(ErrorKind::Unknown);
            // The matrix of all heads, or of all layers.
            let patterns = [format!("{name}_*"), format!("L*.{name}_*"), format!("L*.{name}")];
            let of_all = patterns.iter().find_map(|pattern| {
                let one = names.iter().find(|name| fits(pattern.as_bytes(), name.as_bytes()))?;
                Some(format!("write '{pattern}' for all of them, or one name, such as {one}"))
            });
            if let Some(how) = of_all.filter(|_| !name.is_empty()) {
                return error.help(how);
            }
            match nearest(name, names.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`? The nodes are {listed}")),
                None => error.help(format!("the nodes are {listed}")),
            }
        })
    }

    /// The names that a name stands for: itself, or with `*` for any characters those of all nodes that fit, such as `L*.A_*`. The
    /// only head of a layer has no number: `L*.A_*` finds its `L1.A`, too.
    ///
    /// # Errors
    /// If no node fits: that of [`Graph::require`].
    pub fn all_named(&self, name: &str) -> Result<Vec<String>> {
        if !name.contains('*') {
            return Ok(vec![name.to_string()]);
        }
        let fitting = |pattern: &str| -> Vec<String> {
            let names = self.nodes.iter().map(|node| &node.name);
            names.filter(|name| fits(pattern.as_bytes(), name.as_bytes())).cloned().collect()
        };
        let mut found = fitting(name);
        if let Some(whole) = name.strip_suffix("_*").filter(|_| found.is_empty()) {
            found = fitting(whole);
        }
        if found.is_empty() { self.require(name).map(|_| found) } else { Ok(found) }
    }

    /// The recorded matrix of a node.
    ///
    /// # Errors
    /// If the node is never formed, or has more numbers than are looked at.
    pub fn matrix(&self, id: NodeId) -> Result<&Matrix> {
        let node = &self[id];
        node.matrix().ok_or_else(|| {
            if node.is_never_formed() {
                Error::new(format!("`{}` is never formed", node.name))
                    .help("leave out --fast: the fast path does not compute this step")
            } else {
                Error::new(format!("`{}` is {}, too large to take apart", node.name, node.shape())).help(
                    format!(
                        "the limit is {MOST_LOOKED_AT} numbers; save them to a file: --save {}=out.npy",
                        node.name
                    ),
                )
            }
        })
    }

    /// The last node: the result.
    pub fn last(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(NodeId)
    }
}

/// Returns true if a name fits a pattern, in which `*` stands for any characters.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // The place after the last star, and that of the name from which it stands for one character more.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

impl Index<NodeId> for Graph {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, is_it) in [
            ("L*.A_*", "L12.A_3", true),
            ("L*.A_*", "L1.A", false),
            ("L*.A_*", "L1.S_masked_3", false),
            ("*", "", true),
            ("*ab", "aab", true),
            ("a*b*c", "axxbyc", true),
            ("a*b*c", "axxbyd", false),
            ("A", "A_1", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), is_it, "{pattern} {name}");
        }
    }
}
