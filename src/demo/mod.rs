//! The demos: each takes its inputs to a graph, with the sentences that go with its steps.

mod builder;
mod comparison;
mod documents;
pub mod errata;
mod fit;
mod imagined;
mod multiplication;
mod notation;
mod one_third;
mod papers;
mod pipeline;
mod similarity;
mod source;
mod story;
mod understanding;
pub mod words;

pub use builder::{Builder, SEED, Settings};
pub use comparison::{Comparison, comparison};
pub use documents::Document;
pub use notation::notation;
pub use pipeline::pipeline;
pub use source::{Passage, Source};
pub use story::{Digits, Explained, Plane, Shown, Step, Story, Table, in_sentence};

use crate::error::{Error, Result, nearest};

/// A demo: what it is called, what it follows, and how it is built.
#[derive(Debug)]
pub struct Demo {
    /// The name on the command line.
    pub name: &'static str,
    /// What it follows.
    pub source: Source,
    /// The headline.
    pub title: &'static str,
    /// One line for the list.
    pub summary: &'static str,
    /// How its numbers are written: as in its document.
    pub digits: Digits,
    /// The graph and the sentences.
    pub build: fn(&mut Builder) -> Result<()>,
}

impl Demo {
    /// The story under the user's settings.
    ///
    /// # Errors
    /// If what the user set does not fit the demo.
    pub fn story(&self, settings: &Settings) -> Result<Story> {
        settings.check()?;
        let mut builder = Builder::new(settings);
        (self.build)(&mut builder)?;
        builder.finish(self.title, self.source.to_string(), errata::notes(self.name), self.digits)
    }
}

/// All demos, in the order of the documents and of their sections; those of papers last.
pub fn demos() -> impl Iterator<Item = &'static Demo> {
    let documents =
        [understanding::DEMOS, multiplication::DEMOS, similarity::DEMOS, imagined::DEMOS, one_third::DEMOS];
    documents.into_iter().chain([papers::DEMOS]).flatten()
}

/// The demo of this name.
///
/// # Errors
/// If there is none: the error names the nearest.
pub fn find(name: &str) -> Result<&'static Demo> {
    demos().find(|demo| demo.name == name).ok_or_else(|| {
        let error = Error::new(format!("there is no demo `{name}`"));
        match nearest(name, demos().map(|demo| demo.name)) {
            Some(near) => error.help(format!("did you mean `{near}`? `attn demo` lists them all")),
            None => error.help("`attn demo` lists them all"),
        }
    })
}
