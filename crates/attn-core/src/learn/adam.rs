//! Adam: how a step changes the weights.

use super::number::Number;

/// The settings of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// The learning rate at its largest.
    pub rate: f64,
    /// The share that the mean of the gradients keeps in each step, β₁.
    pub keep_mean: f64,
    /// The share that the mean of their squares keeps, β₂.
    pub keep_square: f64,
    /// The number that is added to the root of the mean square, ε.
    pub epsilon: f64,
    /// The largest length of the gradient of all weights together; a longer one is made this long.
    pub clip: f64,
    /// The number of first steps in which the learning rate rises.
    pub warm_up: usize,
    /// The number of all steps: after the rise, the learning rate falls in a line to a tenth.
    pub steps: usize,
}

/// The share of the learning rate that is left in the last step.
const LAST_SHARE: f64 = 0.1;

impl AdamSettings {
    /// The usual settings for this many steps with this learning rate.
    pub fn new(steps: usize, rate: f64) -> AdamSettings {
        AdamSettings { rate, keep_mean: 0.9, keep_square: 0.98, epsilon: 1e-8, clip: 1.0, warm_up: 20, steps }
    }

    /// The learning rate of a step, counted from 1.
    pub fn rate_at(&self, step: usize) -> f64 {
        if step <= self.warm_up {
            return self.rate * step as f64 / self.warm_up as f64;
        }
        let (gone, all) = (step - self.warm_up, self.steps.saturating_sub(self.warm_up).max(1));
        self.rate * (1.0 - (1.0 - LAST_SHARE) * (gone as f64 / all as f64).min(1.0))
    }
}

/// The state of Adam: a mean and a mean square for each weight.
///
/// `m = β₁ m + (1 − β₁) g`, `v = β₂ v + (1 − β₂) g²`, and the weight changes by `−η · m̂ / (√v̂ + ε)` with `m̂ = m / (1 − β₁ᵗ)` and
/// `v̂ = v / (1 − β₂ᵗ)` in step t.
///
/// # Source
/// Kingma and Ba 2015, “Adam: A Method for Stochastic Optimization”, algorithm 1.
#[derive(Clone, Debug)]
pub struct Adam<T> {
    settings: AdamSettings,
    means: Vec<Vec<T>>,
    squares: Vec<Vec<T>>,
    /// β₁ᵗ and β₂ᵗ.
    left: (f64, f64),
    step: usize,
}

impl<T: Number> Adam<T> {
    /// The state before the first step, for weights of these lengths.
    pub fn new(settings: AdamSettings, lengths: impl Iterator<Item = usize>) -> Adam<T> {
        let means: Vec<Vec<T>> = lengths.map(|length| vec![T::ZERO; length]).collect();
        Adam { settings, squares: means.clone(), means, left: (1.0, 1.0), step: 0 }
    }

    /// Changes the weights by their gradients. Returns the length of the gradient, before it is clipped.
    pub fn step(&mut self, weights: &mut [Vec<T>], gradients: &[&[T]]) -> f64 {
        let AdamSettings { keep_mean, keep_square, epsilon, clip, .. } = self.settings;
        self.step += 1;
        self.left = (self.left.0 * keep_mean, self.left.1 * keep_square);
        let length = length(gradients);
        let scale = T::from_f64(if length > clip { clip / length } else { 1.0 });
        let rate = T::from_f64(self.settings.rate_at(self.step) / (1.0 - self.left.0));
        let root = T::from_f64(1.0 / (1.0 - self.left.1).sqrt());
        let [mean_new, square_new] = [1.0 - keep_mean, 1.0 - keep_square].map(T::from_f64);
        let [keep_mean, keep_square, epsilon] = [keep_mean, keep_square, epsilon].map(T::from_f64);
        let states = self.means.iter_mut().zip(&mut self.squares);
        for ((weights, gradients), (means, squares)) in weights.iter_mut().zip(gradients).zip(states) {
            let cells = weights.iter_mut().zip(*gradients).zip(means.iter_mut().zip(squares));
            for ((weight, gradient), (mean, square)) in cells {
                let gradient = *gradient * scale;
                *mean = *mean * keep_mean + gradient * mean_new;
                *square = *square * keep_square + gradient * gradient * square_new;
                *weight = *weight - rate * *mean / (square.root() * root + epsilon);
            }
        }
        length
    }
}

/// How Adam has just changed one weight: by `−rate · mean / (root + ε)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamChange {
    /// The learning rate of the step, η.
    pub rate: f64,
    /// The mean of the gradients so far, m̂.
    pub mean: f64,
    /// The root of the mean of their squares, √v̂.
    pub root: f64,
}

impl AdamChange {
    /// The change of the weight, as far as ε is nothing beside the root.
    pub fn change(&self, epsilon: f64) -> f64 {
        -self.rate * self.mean / (self.root + epsilon)
    }
}

impl<T: Number> Adam<T> {
    /// The last change of a weight: of the list at `weight`, the number at `place`.
    pub fn change_of(&self, weight: usize, place: usize) -> Option<AdamChange> {
        let (mean, square) = (self.means.get(weight)?.get(place)?, self.squares.get(weight)?.get(place)?);
        Some(AdamChange {
            rate: self.settings.rate_at(self.step),
            mean: mean.to_f64() / (1.0 - self.left.0),
            root: (square.to_f64() / (1.0 - self.left.1)).sqrt(),
        })
    }
}

/// The length of all gradients as one vector, summed in `f64`.
fn length<T: Number>(gradients: &[&[T]]) -> f64 {
    let cells = gradients.iter().flat_map(|numbers| numbers.iter());
    cells.fold(0.0, |sum, x| sum + x.to_f64() * x.to_f64()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_goes_against_the_sign_of_the_gradient_by_the_learning_rate() {
        let settings = AdamSettings { warm_up: 1, ..AdamSettings::new(10, 0.5) };
        let mut adam = Adam::<f64>::new(settings, [3].into_iter());
        let mut weights = vec![vec![1.0, 1.0, 1.0]];
        let length = adam.step(&mut weights, &[&[0.25, -0.5, 0.0]]);
        assert!((length - 0.3125_f64.sqrt()).abs() < 1e-15);
        assert!((weights[0][0] - 0.5).abs() < 1e-7 && (weights[0][1] - 1.5).abs() < 1e-7, "{weights:?}");
        assert_eq!(weights[0][2], 1.0);
        // The means after one step are the clipped gradient itself: 0.25 and its size.
        let change = adam.change_of(0, 0).unwrap();
        assert!((change.mean - 0.25).abs() < 1e-15 && (change.root - 0.25).abs() < 1e-15, "{change:?}");
        assert!((change.change(1e-8) - (weights[0][0] - 1.0)).abs() < 1e-15, "{change:?}");
        assert!(adam.change_of(0, 3).is_none() && adam.change_of(1, 0).is_none());
    }

    #[test]
    fn the_learning_rate_rises_and_then_falls_to_a_tenth() {
        let settings = AdamSettings::new(120, 0.1);
        let at = |step| settings.rate_at(step);
        assert!((at(1) - 0.005).abs() < 1e-15 && (at(20) - 0.1).abs() < 1e-15);
        assert!((at(70) - 0.055).abs() < 1e-15 && (at(120) - 0.01).abs() < 1e-15);
    }
}
