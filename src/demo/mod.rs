//! The demos: each takes its inputs to a graph, with the sentences that go with its steps.

mod builder;
mod documents;
mod drawn_scores;
pub mod errata;
mod fit;
mod glossary;
mod imagined;
mod multiplication;
mod notation;
mod one_third;
mod papers;
mod settings;
mod similarity;
mod source;
mod step_builder;
mod topic;
mod trained;
mod understanding;
pub mod words;

pub use builder::{Builder, SEED};
pub use documents::Document;
pub use glossary::{GlossaryTerm, glossary, term};
pub use notation::notation;
pub use settings::Settings;
pub use source::{Passage, Source};
pub use step_builder::StepBuilder;
pub use topic::{ListPlace, Topic};

use crate::error::{Error, ErrorKind, Result};
use crate::story::{Digits, Story};
use crate::text::nearest;

/// A demo: its name, its source, and the function that builds it.
#[derive(Debug)]
pub struct Demo {
    /// The name on the command line.
    pub name: &'static str,
    /// The text that it follows.
    pub source: Source,
    /// The headline.
    pub title: &'static str,
    /// One line for the list.
    pub summary: &'static str,
    /// Its place in the list: its topic, and its level.
    pub place: ListPlace,
    /// Other words that people look for it by.
    pub keywords: &'static [&'static str],
    /// The format of its numbers, which is that of its document.
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
        let story =
            builder.finish(self.title, self.source.to_string(), errata::notes(self.name), self.digits)?;
        Ok(Story { notes_told_by: Some(format!("attn errata --demo {}", self.name)), ..story })
    }
}

/// All demos, in the order of the documents and of their sections; those of papers and of the trained model last.
pub fn demos() -> impl Iterator<Item = &'static Demo> {
    let documents =
        [understanding::DEMOS, multiplication::DEMOS, similarity::DEMOS, imagined::DEMOS, one_third::DEMOS];
    documents.into_iter().chain([papers::DEMOS, trained::DEMOS]).flatten()
}

/// All demos by topic, the easiest first.
pub fn demos_by_topic() -> Vec<&'static Demo> {
    let mut sorted: Vec<&Demo> = demos().collect();
    sorted.sort_by_key(|demo| demo.place);
    sorted
}

/// The demos that a word is a keyword of, the easiest first.
pub fn demos_about(word: &str) -> Vec<&'static Demo> {
    let word = word.to_lowercase();
    let is_about = |demo: &&Demo| demo.keywords.contains(&word.as_str());
    demos_by_topic().into_iter().filter(is_about).collect()
}

/// The demo of this name.
///
/// # Errors
/// If there is none: the error names those that the word is a keyword of, or the nearest name.
pub fn find(name: &str) -> Result<&'static Demo> {
    demos().find(|demo| demo.name == name).ok_or_else(|| {
        let error = Error::new(format!("there is no demo `{name}`")).of_kind(ErrorKind::Unknown);
        let about: Vec<String> =
            demos_about(name).iter().take(3).map(|demo| format!("attn demo {}", demo.name)).collect();
        match (&about[..], nearest(name, demos().map(|demo| demo.name))) {
            ([], Some(near)) => error.help(format!("did you mean `{near}`? `attn demo` lists all demos")),
            ([], None) => error.help(format!("`attn demo` lists all demos; search with: attn find {name}")),
            (about, _) => {
                let word = name.to_lowercase();
                error.help(format!("about {word}: {}; more with: attn find {word}", about.join(", ")))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;

    #[test]
    fn a_keyword_names_the_demos_about_it() {
        for (word, demo) in
            [("softmax", "weights"), ("attention", "mask"), ("heads", "multihead"), ("RoPE", "order")]
        {
            let said = find(word).unwrap_err().to_string();
            assert!(said.contains(&format!("attn demo {demo}")), "{said}");
        }
    }

    #[test]
    fn the_demos_and_models_that_data_files_name_exist() {
        for erratum in errata::errata() {
            assert!(erratum.demo.is_none_or(|demo| find(demo).is_ok()), "{}: {:?}", erratum.id, erratum.demo);
        }
        let exists = |command: &str| match command.split(' ').collect::<Vec<_>>()[..] {
            [_, "demo", name] => find(name).is_ok(),
            [_, "params", name] => params::named(name).is_ok(),
            _ => true,
        };
        for term in glossary() {
            assert!(term.see.iter().all(|command| exists(command)), "{}: {:?}", term.name, term.see);
        }
    }

    #[test]
    fn the_places_of_a_topic_are_numbered_from_one() {
        for topic in Topic::ALL {
            let levels: Vec<u8> = demos_by_topic()
                .iter()
                .filter(|demo| demo.place.topic == topic)
                .map(|demo| demo.place.level)
                .collect();
            assert_eq!(levels, (1..=levels.len() as u8).collect::<Vec<_>>(), "{topic:?}");
        }
    }
}
