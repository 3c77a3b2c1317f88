//! A demo that is a text: docs/language.md. It builds the same graphs and the same steps as a demo in Rust.

mod conditions;
mod definitions;
mod functions;
mod names;
mod runs;
mod steps;
mod story;

use std::collections::HashMap;

use self::names::Teller;
use super::settings::Settings;
use super::source::Source;
use crate::error::{Error, Result};
use crate::graph::resolve;
use crate::language::{Program, program};
use crate::matrix::Shape;
use crate::story::{Digits, Story};
use crate::text::{clip, nearest};

/// A first demo, to begin with.
pub const NEW_DEMO: &str = include_str!("../new_demo.attn");

/// What the head of a file may say.
const HEAD: [&str; 9] =
    ["title", "summary", "topic", "source", "keywords", "digits", "begin", "note", "remark"];

/// A demo from a file.
#[derive(Debug)]
pub struct FileDemo {
    /// The name of the file.
    pub file: String,
    program: Program,
    digits: Digits,
}

impl FileDemo {
    /// The demo of a text.
    ///
    /// # Errors
    /// At the line and column of what cannot be read.
    pub fn read(file: &str, text: &str) -> Result<FileDemo> {
        let program = program(file, text)?;
        let of_head = |what: String| Error::new(what).in_source(file);
        for (key, _) in &program.head {
            if !HEAD.contains(&key.as_str()) {
                let near = nearest(key, HEAD).map(|near| format!("did you mean `{near}`? "));
                return Err(of_head(format!("the head says `{}`", clip(key))).help(format!(
                    "{}it has {}",
                    near.unwrap_or_default(),
                    HEAD.join(", ")
                )));
            }
        }
        let mut demo = FileDemo { file: file.to_string(), program, digits: Digits::Places(4) };
        if demo.head("title").is_none() {
            return Err(
                of_head("the demo has no title".into()).help("write title: and a title below the first line")
            );
        }
        if demo.head("digits") == Some("numpy") {
            demo.digits = Digits::AsNumPy;
        } else if let Some(digits) = demo.head("digits") {
            let places = digits.parse().ok().filter(|places| *places <= 15);
            let places = places
                .ok_or_else(|| of_head(format!("`digits: {}` is no number of decimals", clip(digits))))?;
            demo.digits = Digits::Places(places);
        }
        Ok(demo)
    }

    /// Its headline.
    pub fn title(&self) -> &str {
        self.head("title").unwrap_or_default()
    }

    /// What the head says under a key.
    pub(super) fn head(&self, key: &str) -> Option<&str> {
        self.program.head.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// All that the head says under a key.
    fn heads(&self, key: &str) -> Vec<String> {
        let said = self.program.head.iter().filter(|(own, _)| own == key);
        said.map(|(_, value)| value.clone()).collect()
    }

    /// The story under the user's settings.
    ///
    /// # Errors
    /// At the line and column of what cannot be computed, or if what the user set does not fit.
    pub fn story(&self, settings: &Settings) -> Result<Story> {
        settings.check()?;
        let own = if settings.set.is_empty() { None } else { Some(self.own_shapes()?) };
        let story = self.told(settings, own)?.finish(self.title(), self.digits);
        let story = story.map_err(|error| match self.file.as_str() {
            "" => error,
            file => error.in_source(file),
        })?;
        let begin = self.head("begin").map(str::to_string);
        if let Some(begin) = &begin
            && settings.set.is_empty()
            && resolve(&story.graph, begin).is_err()
        {
            let error = Error::new(format!("begin: {} is no cell of this demo", clip(begin)));
            return Err(error.in_source(&self.file).help("for example begin: A[1,2]"));
        }
        let source = self.head("source").map(|source| Source::of_text(source).to_string());
        Ok(Story { source, begin, notes: self.heads("note"), remarks: self.heads("remark"), ..story })
    }

    /// The shapes of all matrices of the demo itself.
    fn own_shapes(&self) -> Result<HashMap<String, Shape>> {
        let settings = Settings::default();
        let graph = self.told(&settings, None)?.graph;
        Ok(graph.nodes().map(|(_, node)| (node.name.clone(), node.shape())).collect())
    }

    fn told<'a>(&'a self, settings: &'a Settings, own: Option<HashMap<String, Shape>>) -> Result<Teller<'a>> {
        let mut teller = Teller::new(&self.file, settings, own);
        self.program.paragraphs.iter().try_for_each(|paragraph| teller.paragraph(paragraph))?;
        teller.read_conditions()?;
        Ok(teller)
    }
}
