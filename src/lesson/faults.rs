//! The faults of a lesson, for its author.

use std::fmt;

use crate::error::Error;
use crate::foreign::visible;

use super::key::ParseError;

/// One fault: its line, its step, the error, and how to fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The title of its step, if it is in one.
    pub step: Option<String>,
    /// The error, as a sentence without a full stop.
    pub what: String,
    /// The fix.
    pub help: Option<String>,
}

impl Fault {
    /// A fault at a line, without a step yet.
    pub fn new(line: usize, what: impl Into<String>) -> Fault {
        Fault { line, step: None, what: what.into(), help: None }
    }

    /// The same fault with its help.
    pub fn help(mut self, help: impl Into<String>) -> Fault {
        self.help.get_or_insert(help.into());
        self
    }

    /// The fault at a line for an error.
    pub fn of(line: usize, error: Error) -> Fault {
        match error {
            Error::Unusable(problem) => {
                let place = problem.place.map(|place| format!("{place}: ")).unwrap_or_default();
                Fault { line, step: None, what: format!("{place}{}", problem.what), help: problem.help }
            }
            other => Fault::new(line, other.to_string()),
        }
    }

    /// The fault at a line for an error of the key language.
    pub(super) fn in_key(line: usize, error: ParseError) -> Fault {
        Fault { line, step: None, what: error.what, help: error.help }
    }

    /// The fault as it is printed: `file:line: what`, the step and the remedy below it.
    pub fn in_file<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        FaultInFile { fault: self, file }
    }
}

struct FaultInFile<'a> {
    fault: &'a Fault,
    file: &'a str,
}

impl fmt::Display for FaultInFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { line, step, what, help } = self.fault;
        write!(f, "{}:{line}: {what}", visible(self.file))?;
        if let Some(step) = step {
            write!(f, "\n  step: {step}")?;
        }
        if let Some(help) = help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// The faults of a file, in the order of its lines; at least one if it is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Adds a fault at a line, with its help.
    pub(super) fn add(&mut self, line: usize, what: impl Into<String>, help: impl Into<String>) {
        self.push(Fault::new(line, what).help(help));
    }
}
