//! What a command came to.

use crate::error::EXIT_DONE;
use crate::graph::Graph;
use crate::render::Page;

/// How a command ended, and what it computed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The exit code.
    pub code: u8,
    /// The graph of each computation that it showed, with all nodes, also those that `--only` leaves out. A command that shows
    /// tables of counts has their columns of numbers as one graph.
    pub graphs: Vec<Graph>,
}

impl Outcome {
    /// A command that computed no graph.
    pub(super) fn of_code(code: u8) -> Outcome {
        Outcome { code, graphs: Vec::new() }
    }

    /// The command that showed these pages. An explanation shows where a number comes from, not a computation.
    pub(super) fn of_pages(code: u8, pages: Vec<Page>) -> Outcome {
        let computations = pages.into_iter().filter(|page| !page.explains());
        Outcome { code, graphs: computations.map(|page| page.story.graph).collect() }
    }
}

impl From<u8> for Outcome {
    fn from(code: u8) -> Outcome {
        Outcome::of_code(code)
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Outcome {
        Outcome::of_code(EXIT_DONE)
    }
}
