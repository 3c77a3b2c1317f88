//! The part of large matrices that is looked at.

use std::ops::RangeInclusive;

use crate::graph::{LabelMatch, find_label};
use crate::matrix::Labels;
use crate::tensor::edges;

/// The neighbours of a token that are shown with it, on each side.
const NEIGHBOURS: usize = 3;

/// The rows and columns of large matrices that are shown; their edges where nothing is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Rows, counted from 1.
    pub rows: Option<RangeInclusive<usize>>,
    /// Columns, counted from 1.
    pub cols: Option<RangeInclusive<usize>>,
    /// A token: the rows and columns that carry it, and their neighbours.
    pub around: Option<String>,
}

impl Window {
    /// The places of rows that are shown, counted from 0, with `None` for what is left out between them.
    pub fn row_places(&self, count: usize, labels: Option<&Labels>) -> Vec<Option<usize>> {
        self.places(self.rows.as_ref(), count, labels)
    }

    /// The places of columns, likewise.
    pub fn col_places(&self, count: usize, labels: Option<&Labels>) -> Vec<Option<usize>> {
        self.places(self.cols.as_ref(), count, labels)
    }

    fn places(
        &self,
        chosen: Option<&RangeInclusive<usize>>,
        count: usize,
        labels: Option<&Labels>,
    ) -> Vec<Option<usize>> {
        if let Some(range) = chosen
            && *range.start() <= count
        {
            return between(range.start() - 1..(*range.end()).min(count), count);
        }
        let place = |token: &String| place_of(labels?, token);
        match self.around.as_ref().and_then(place) {
            Some(at) => between(at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS + 1).min(count), count),
            None => edges(count),
        }
    }

    /// Returns true if a part is chosen.
    pub fn is_chosen(&self) -> bool {
        *self != Window::default()
    }
}

/// The first place that a token names among labels, counted from 0: see [`find_label`].
pub fn place_of(labels: &Labels, token: &str) -> Option<usize> {
    match find_label(labels, token.trim()) {
        LabelMatch::One(at) => Some(at),
        LabelMatch::Repeated(places) | LabelMatch::Different(places) => places.first().copied(),
        // A token may be all space.
        LabelMatch::None => labels.iter().position(|label| label.trim() == token.trim()),
    }
}

/// Some neighbouring places, with dots for those before and after.
fn between(range: std::ops::Range<usize>, count: usize) -> Vec<Option<usize>> {
    let before = (range.start > 0).then_some(None);
    let after = (range.end < count).then_some(None);
    before.into_iter().chain(range.map(Some)).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_its_places_and_dots_for_the_others() {
        let window = Window { rows: Some(3..=4), ..Window::default() };
        assert_eq!(window.row_places(9, None), [None, Some(2), Some(3), None]);
        assert_eq!(window.row_places(3, None), [None, Some(2)]);
        assert_eq!(window.col_places(2, None), [Some(0), Some(1)]);
        let labels: Labels = ["the", "·bat", "·in"].map(String::from).into();
        let around = Window { around: Some("·bat".into()), ..Window::default() };
        assert_eq!(around.row_places(3, Some(&labels)), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_token_is_found_without_the_mark_of_its_space() {
        let labels: Labels = ["the", "␣bat", "␣in", "␣bat"].map(String::from).into();
        for token in ["bat", "_bat", " bat", "Ġbat", "bat#1"] {
            assert_eq!(place_of(&labels, token), Some(1), "{token}");
        }
        assert_eq!(place_of(&labels, "bat#2"), Some(3));
        assert_eq!(place_of(&labels, "cave"), None);
    }
}
