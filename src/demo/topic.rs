//! What a demo helps to understand, and how hard it is.

/// What somebody wants to understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The shortest way to attention.
    Start,
    /// Two ways to read a matrix product.
    Products,
    /// What a token asks for, offers and passes on.
    Queries,
    /// What makes a score large or small.
    Scores,
    /// Several heads next to each other.
    Heads,
    /// What surrounds attention in a language model.
    Model,
    /// How to compute and store less.
    Cost,
}

/// Where a demo stands in the list: its topic, and how hard it is within the topic, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What it helps to understand.
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

    /// A place within the topic.
    pub const fn at(self, level: u8) -> Place {
        Place { topic: self, level }
    }
}
