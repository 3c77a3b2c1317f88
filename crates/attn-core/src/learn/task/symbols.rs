//! The symbols of a task: each is one character, and its id is its place.

use crate::matrix::Labels;

/// The symbols of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    symbols: Vec<char>,
}

impl Symbols {
    /// These characters, in this order.
    pub fn of(symbols: impl Iterator<Item = char>) -> Symbols {
        Symbols { symbols: symbols.collect() }
    }

    /// The digits from 0 to 9.
    pub fn digits() -> Symbols {
        Symbols::of('0'..='9')
    }

    /// The first letters of the alphabet.
    pub fn letters(count: usize) -> Symbols {
        Symbols::of(('a'..='z').take(count))
    }

    /// The number of symbols.
    pub fn count(&self) -> usize {
        self.symbols.len()
    }

    /// All symbols, by their ids.
    pub fn all(&self) -> &[char] {
        &self.symbols
    }

    /// The id of a symbol.
    pub fn id(&self, symbol: char) -> Option<usize> {
        self.symbols.iter().position(|other| *other == symbol)
    }

    /// The symbols of some ids.
    pub fn text(&self, ids: &[usize]) -> String {
        ids.iter().filter_map(|id| self.symbols.get(*id)).collect()
    }

    /// The symbols of some ids, one label each; space and the end of a line are made visible.
    pub fn labels(&self, ids: &[usize]) -> Labels {
        let label = |id: &usize| match self.symbols.get(*id) {
            Some(' ') => "␣".to_string(),
            Some('\n') => "↵".to_string(),
            Some('\t') => "⇥".to_string(),
            Some(symbol) => symbol.to_string(),
            None => format!("token {id}"),
        };
        ids.iter().map(label).collect()
    }
}
