//! Why a saved graph cannot be run again.

use crate::text::clip;
use std::fmt;

/// Why a saved graph is read-only: its numbers can be looked at, but it cannot be run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The file has version 1, in which ops have no parameters.
    OldVersion,
    /// The file does not have all steps.
    MissingInput {
        /// The first node that lacks an input.
        node: String,
        /// The input that the file does not have.
        input: String,
    },
    /// The fused kernel has computed it, which does not record its steps.
    Fused,
    /// The numbers of a node are not in the file.
    LeftOut(String),
    /// The computation never formed the numbers of a node.
    NeverFormed(String),
}

/// A sentence for people, without a full stop.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::OldVersion => {
                write!(f, "the file has version 1, which does not say how each step is computed")
            }
            Reason::MissingInput { node, input } => write!(
                f,
                "the file has {}, but not {}, which it is computed from; write all nodes, without --only",
                clip(node),
                clip(input)
            ),
            Reason::Fused => write!(
                f,
                "the fused kernel has computed it and does not record its steps; write it without --fast"
            ),
            Reason::LeftOut(node) => {
                write!(f, "the numbers of {} are too many, and are not in the file", clip(node))
            }
            Reason::NeverFormed(node) => write!(f, "the numbers of {} were never formed", clip(node)),
        }
    }
}
