//! The outcome of a command.

use std::io;

use crate::error::{EXIT_DONE, EXIT_UNUSABLE, Error};
use crate::graph::Graph;
use crate::render::Page;

/// The exit code of a command, and the graphs that it computed.
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

    /// A command that failed. A closed pipe, as in `attn … | head`, counts as success.
    pub(super) fn of_error(error: &Error) -> Outcome {
        Outcome::of_code(if is_closed_pipe(error) { EXIT_DONE } else { EXIT_UNUSABLE })
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

/// Whether the program that reads the output has ended.
pub(super) fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Output(said) if said.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = |kind: io::ErrorKind| Error::from(io::Error::from(kind));
        assert_eq!(Outcome::of_error(&error(io::ErrorKind::BrokenPipe)).code, EXIT_DONE);
        assert_eq!(Outcome::of_error(&error(io::ErrorKind::StorageFull)).code, EXIT_UNUSABLE);
        assert_eq!(Outcome::of_error(&Error::new("empty")).code, EXIT_UNUSABLE);
    }
}
