//! The demos: each takes its inputs to a graph, with the sentences that go with its steps.

mod builder;
mod cache;
mod differential;
pub mod errata;
mod flash;
mod glossary;
mod gradients;
mod heads;
mod induction;
mod layers;
mod linear;
mod meaning;
mod multiplication;
mod notation;
mod one_third;
mod pooling;
mod positions;
mod scores;
mod similarity;
mod sink;
mod source;
mod understanding;
pub mod words;

use std::sync::LazyLock;

use attn_core::data_file::entries;
use serde::Deserialize;

pub use builder::{SEED, Settings};
pub use glossary::{GlossaryTerm, glossary, term};
pub use notation::notation;
pub use source::{Document, Passage, Source};

use crate::error::{Error, ErrorKind, Result};
use crate::story::{Digits, Story};
use crate::text::nearest;
use builder::Builder;

/// A demo: its name, its source, and what stands around its steps; an entry of `data/demos.toml`.
#[derive(Debug, Deserialize)]
pub struct Demo {
    /// The name on the command line.
    pub name: &'static str,
    /// The headline.
    pub title: &'static str,
    /// One line for the list.
    pub summary: &'static str,
    /// Its place in the list: its topic, and its level.
    #[serde(flatten)]
    pub place: ListPlace,
    /// Other words that people look for it by.
    pub keywords: Vec<&'static str>,
    /// The decimals of its numbers, which are those of its document.
    pub decimals: usize,
    /// The text that it follows.
    #[serde(flatten)]
    pub source: Source,
}

/// The graph and the sentences of a demo.
type Build = fn(&mut Builder) -> Result<()>;

/// The functions that build them.
const BUILD: [(&str, Build); 42] = [
    ("interact", understanding::interact),
    ("left", understanding::left),
    ("weights", understanding::weights),
    ("right", understanding::right),
    ("qkv", understanding::qkv),
    ("mask", understanding::mask),
    ("pairwise", multiplication::pairwise),
    ("weighted-sum", multiplication::weighted_sum),
    ("vectorize", multiplication::vectorize),
    ("similarity", similarity::similarity),
    ("context", similarity::context),
    ("stretch", similarity::stretch),
    ("lookup", similarity::lookup),
    ("multihead", similarity::multihead),
    ("pooling", pooling::pooling),
    ("transforms", scores::transforms),
    ("scale", scores::scale),
    ("output", heads::output),
    ("gqa", heads::gqa),
    ("mlp", layers::mlp),
    ("order", layers::order),
    ("unembed", layers::unembed),
    ("init", scores::init),
    ("columns", one_third::columns),
    ("update", one_third::update),
    ("lowrank", one_third::lowrank),
    ("sum-heads", one_third::sum_heads),
    ("block", one_third::block),
    ("online", flash::online),
    ("blocks", flash::blocks),
    ("cache", cache::cache),
    ("rope", positions::rope),
    ("alibi", positions::alibi),
    ("sink", sink::sink),
    ("linear", linear::linear),
    ("latent", cache::latent),
    ("differential", differential::differential),
    ("backward", gradients::backward),
    ("saturated", gradients::saturated),
    ("descent", gradients::descent),
    ("induction", induction::induction),
    ("meaning", meaning::meaning),
];

impl Demo {
    /// The story under the user's settings.
    ///
    /// # Errors
    /// If what the user set does not fit the demo.
    pub fn story(&self, settings: &Settings) -> Result<Story> {
        settings.check()?;
        let mut builder = Builder::new(settings);
        let its_own = BUILD.iter().find(|(name, _)| *name == self.name);
        let (_, build) = its_own.expect("a test compares the names with those of the data file");
        build(&mut builder)?;
        let digits = Digits::Places(self.decimals);
        let story = builder.finish(self.title, self.source.to_string(), errata::notes(self.name), digits)?;
        Ok(Story { notes_told_by: Some(format!("attn errata --demo {}", self.name)), ..story })
    }
}

/// The topics that demos explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// The shortest way to attention.
    Start,
    /// Two ways to read a matrix product.
    Products,
    /// Queries, keys and values: what a token asks for, offers and passes on.
    Queries,
    /// The size of scores.
    Scores,
    /// Several heads next to each other.
    Heads,
    /// The parts of a language model around attention.
    Model,
    /// Ways to compute and store less.
    Cost,
}

/// The place of a demo in the list: its topic, and its level within the topic, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct ListPlace {
    /// The topic.
    pub topic: Topic,
    /// 1 is the easiest demo of the topic.
    pub level: u8,
}

impl Topic {
    /// All topics, the easiest first.
    pub const ALL: [Topic; 7] = [
        Topic::Start,
        Topic::Products,
        Topic::Queries,
        Topic::Scores,
        Topic::Heads,
        Topic::Model,
        Topic::Cost,
    ];

    /// Its heading in the list of demos.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Start => "Start here",
            Topic::Products => "Matrix products, as attention uses them",
            Topic::Queries => "Queries, keys and values",
            Topic::Scores => "Scores, and what changes them",
            Topic::Heads => "Several heads",
            Topic::Model => "From attention to a language model",
            Topic::Cost => "Less work and less memory",
        }
    }
}

/// All demos, in the order of the documents and of their sections; those of papers and of the trained model last.
pub fn demos() -> impl Iterator<Item = &'static Demo> {
    static ENTRIES: LazyLock<Vec<Demo>> = LazyLock::new(|| entries(include_str!("../../data/demos.toml")));
    ENTRIES.iter()
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
    fn every_demo_is_read_and_has_its_steps() {
        let names: Vec<&str> = demos().map(|demo| demo.name).collect();
        assert_eq!(names, BUILD.map(|(name, _)| name));
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
