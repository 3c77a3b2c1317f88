//! The errors of the core, and the exit codes of commands.

pub use attn_core::error::{Error, ErrorKind, Place, Problem, Result};

/// The exit code of a command that ran without problems.
pub const EXIT_DONE: u8 = 0;
/// The exit code of a command that ran and whose check failed.
pub const EXIT_CHECK_FAILED: u8 = 1;
/// The command or its input cannot be used.
pub const EXIT_UNUSABLE: u8 = 2;
