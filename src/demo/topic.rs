//! The topic of a demo, and its level.

/// The topics that demos explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

    /// A place within the topic.
    pub const fn at(self, level: u8) -> ListPlace {
        ListPlace { topic: self, level }
    }
}
