//! The demos: each takes its inputs to a graph, with the sentences that go with its steps.

pub mod errata;
mod file;
mod glossary;
mod notation;
mod settings;
mod source;
pub mod words;

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;

pub use file::{FileDemo, NEW_DEMO};
pub use glossary::{GlossaryTerm, glossary, term};
pub use notation::notation;
pub use settings::{SEED, Settings};
pub use source::{Document, Passage, Source};

use crate::error::{Error, ErrorKind, Result};
use crate::story::Story;
use crate::text::nearest;

/// A demo of the program: its name, its source, and what stands around its steps.
#[derive(Debug)]
pub struct Demo {
    /// The name on the command line.
    pub name: &'static str,
    /// The headline.
    pub title: &'static str,
    /// One line for the list.
    pub summary: &'static str,
    /// Its place in the list: its topic, and its level.
    pub place: ListPlace,
    /// Other words that people look for it by.
    pub keywords: Vec<&'static str>,
    /// The decimals of its numbers, which are those of its document.
    pub decimals: usize,
    /// The text that it follows.
    pub source: Source,
    file: &'static FileDemo,
}

/// The demos, name and text, in the order of the documents and of their sections; those of papers and of the trained model last.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/demos.rs"));

impl Demo {
    /// The demo of a file.
    ///
    /// # Errors
    /// If it cannot be read or its head lacks something, which a test finds.
    fn of_file(name: &'static str, text: &str) -> Result<Demo> {
        // Without a name of a file, errors are about what the user has set.
        let file: &'static FileDemo = Box::leak(Box::new(FileDemo::read("", text)?));
        let of = |key: &str| file.head(key).ok_or_else(|| Error::new(format!("{name} has no {key}")));
        let (topic, level) = of("topic")?.split_once(' ').unwrap_or_default();
        let topic = Topic::deserialize(topic.into_deserializer());
        let topic = topic.map_err(|error: serde::de::value::Error| Error::new(error.to_string()))?;
        let level = level.parse().map_err(|_| Error::new(format!("{name} has no level")))?;
        Ok(Demo {
            name,
            title: of("title")?,
            summary: of("summary")?,
            place: ListPlace { topic, level },
            keywords: of("keywords")?.split(", ").collect(),
            decimals: of("digits")?.parse().map_err(|_| Error::new(format!("{name} has no digits")))?,
            source: Source::of_text(of("source")?),
            file,
        })
    }

    /// The story under the user's settings.
    ///
    /// # Errors
    /// If what the user set does not fit the demo.
    pub fn story(&self, settings: &Settings) -> Result<Story> {
        let notes_told_by = Some(format!("attn find --errata --demo {}", self.name));
        Ok(Story { notes: errata::notes(self.name), notes_told_by, ..self.file.story(settings)? })
    }
}

/// A demo of the program, or of a file.
#[derive(Debug)]
pub enum AnyDemo {
    /// One of the program's.
    Own(&'static Demo),
    /// One from a file.
    File(FileDemo),
}

impl AnyDemo {
    /// Its name, or that of its file.
    pub fn name(&self) -> &str {
        match self {
            AnyDemo::Own(demo) => demo.name,
            AnyDemo::File(demo) => &demo.file,
        }
    }

    /// The story under the user's settings.
    ///
    /// # Errors
    /// As [`Demo::story`] and [`FileDemo::story`].
    pub fn story(&self, settings: &Settings) -> Result<Story> {
        match self {
            AnyDemo::Own(demo) => demo.story(settings),
            AnyDemo::File(demo) => demo.story(settings),
        }
    }
}

/// Whether a demo's name is that of a file.
pub fn is_file(name: &str) -> bool {
    name.ends_with(".attn")
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
    static DEMOS: LazyLock<Vec<Demo>> = LazyLock::new(|| {
        let read = |&(name, text): &(&'static str, &str)| {
            Demo::of_file(name, text).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        FILES.iter().map(read).collect()
    });
    DEMOS.iter()
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
