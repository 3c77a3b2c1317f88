//! What a model predicts, and what it writes.

use super::batch::Example;
use super::compiled::largest;
use super::trainer::{Learner, Trainer};
use crate::elementary;
use crate::error::Result;
use crate::random::LegacyStream;

/// A token with what it has to predict, and what is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// The id of the token.
    pub token: usize,
    /// What it has to predict, where anything is asked.
    pub target: Option<usize>,
    /// The id with the largest logit.
    pub predicted: usize,
}

impl<T: Learner> Trainer<T> {
    /// Predictions on some of the examples that are held out.
    ///
    /// # Errors
    /// If there is no room for their numbers.
    pub fn predictions(&mut self, count: usize) -> Result<Vec<Vec<Predicted>>> {
        let examples: Vec<Example> = self.examples().held_out().iter().take(count).cloned().collect();
        examples.iter().map(|example| self.predicted(example)).collect()
    }

    fn predicted(&mut self, example: &Example) -> Result<Vec<Predicted>> {
        let logits = self.logits(&example.tokens)?;
        let cols = self.examples().task().symbols().count();
        let rows = logits.chunks_exact(cols).zip(example.tokens.iter().zip(&example.targets));
        Ok(rows
            .map(|(row, (token, target))| Predicted {
                token: *token,
                target: *target,
                predicted: largest(row),
            })
            .collect())
    }

    /// What the model writes: some lines, or one piece of a text; nothing where it answers.
    ///
    /// Each symbol is drawn by its probability, from a stream with the seed of the training.
    ///
    /// # Errors
    /// If there is no room for the numbers.
    pub fn written(&mut self, lines: usize) -> Result<Vec<String>> {
        let Some(start) = self.examples().task().starts_with() else { return Ok(Vec::new()) };
        let mut stream = LegacyStream::seeded(self.settings().seed);
        match start.end {
            Some(end) => (0..lines).map(|_| self.line(&mut stream, end)).collect(),
            None => self.piece(&mut stream, &start.symbols).map(|text| vec![text]),
        }
    }

    /// A line, from the mark of the end to the mark of the end.
    fn line(&mut self, stream: &mut LegacyStream, end: usize) -> Result<String> {
        let context = self.settings().size.context;
        let mut ids = vec![end];
        while ids.len() <= context {
            let next = self.next(stream, &ids)?;
            if next == end {
                break;
            }
            ids.push(next);
        }
        Ok(self.examples().task().symbols().text(&ids[1..]))
    }

    /// A piece of text that goes on after these symbols.
    fn piece(&mut self, stream: &mut LegacyStream, first: &[usize]) -> Result<String> {
        let context = self.settings().size.context;
        let mut ids = first.to_vec();
        for _ in 0..PIECE {
            let seen = &ids[ids.len().saturating_sub(context)..];
            let next = self.next(stream, seen)?;
            ids.push(next);
        }
        Ok(self.examples().task().symbols().text(&ids))
    }

    /// The next symbol, drawn by its probability.
    fn next(&mut self, stream: &mut LegacyStream, ids: &[usize]) -> Result<usize> {
        let context = self.settings().size.context;
        // One plan for all lengths: what comes after the last symbol is not seen.
        let mut tokens = ids.to_vec();
        tokens.resize(context, 0);
        let logits = self.logits(&tokens)?;
        let cols = self.examples().task().symbols().count();
        let row = &logits[(ids.len() - 1) * cols..ids.len() * cols];
        Ok(drawn(row, stream.uniform()))
    }
}

/// The characters of a piece of text.
const PIECE: usize = 160;

/// The place where the sum of the probabilities passes `share`.
fn drawn(logits: &[f64], share: f64) -> usize {
    let max = logits[largest(logits)];
    let powers: Vec<f64> = logits.iter().map(|x| elementary::exp(x - max)).collect();
    let sum = powers.iter().fold(0.0, |sum, x| sum + x);
    let mut passed = 0.0;
    for (at, power) in powers.iter().enumerate() {
        passed += power / sum;
        if share < passed {
            return at;
        }
    }
    logits.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_drawn_by_their_probability() {
        let ln = elementary::ln;
        let logits = [ln(1.0), ln(2.0), ln(1.0)];
        assert_eq!(
            [0.0, 0.24, 0.26, 0.74, 0.76, 0.999].map(|share| drawn(&logits, share)),
            [0, 0, 1, 1, 2, 2]
        );
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
    }
}
