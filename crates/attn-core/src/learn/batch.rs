//! Examples, and batches of them.

/// A sequence of tokens, and what has to be predicted at each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The ids of the tokens.
    pub tokens: Vec<usize>,
    /// The id that each token has to predict; none where nothing is asked.
    pub targets: Vec<Option<usize>>,
}

/// Some examples of one length, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of tokens of an example.
    pub length: usize,
    /// The tokens of all examples.
    pub tokens: Vec<usize>,
    /// The targets of all examples.
    pub targets: Vec<Option<usize>>,
}

impl Batch {
    /// These examples, filled up to the longest with `filler` and without targets there.
    pub fn of(examples: &[Example], filler: usize) -> Batch {
        let length = examples.iter().map(|example| example.tokens.len()).max().unwrap_or(0);
        let mut batch = Batch { length, tokens: Vec::new(), targets: Vec::new() };
        for Example { tokens, targets } in examples {
            let missing = length - tokens.len();
            batch.tokens.extend(tokens.iter().copied().chain(std::iter::repeat_n(filler, missing)));
            batch
                .targets
                .extend(targets.iter().copied().chain(std::iter::repeat_n(None, length - targets.len())));
        }
        batch
    }

    /// The number of examples.
    pub fn examples(&self) -> usize {
        self.tokens.len() / self.length.max(1)
    }

    /// One of the examples, from 0, with what fills it up.
    pub fn example(&self, at: usize) -> Example {
        let range = at * self.length..(at + 1) * self.length;
        Example { tokens: self.tokens[range.clone()].to_vec(), targets: self.targets[range].to_vec() }
    }

    /// The number of tokens that have a target.
    pub fn counted(&self) -> usize {
        self.targets.iter().flatten().count()
    }
}
