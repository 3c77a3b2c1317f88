//! Addresses and numbers of cells, as sentences and tables write them.

use crate::diagnose::Distance;
use crate::graph::{CellId, Graph, address_of};
use crate::story::in_sentence;

/// The address of the first cell that is wrong.
pub(super) fn first_cell(distance: &Distance, right: &Graph) -> String {
    address(distance, distance.difference.first, right)
}

/// The address of the cell that is furthest off.
pub(super) fn worst_cell(distance: &Distance, right: &Graph) -> String {
    address(distance, distance.difference.at, right)
}

fn address(distance: &Distance, (row, col): (usize, usize), right: &Graph) -> String {
    match right.find(&distance.node) {
        Some(node) => address_of(right, CellId { node, row, col }),
        None => format!("{}[{},{}]", distance.node, row + 1, col + 1),
    }
}

/// A number with at most this many decimals: −0.1234, NaN, −∞.
pub(super) fn number(x: f64, places: usize) -> String {
    if x.is_nan() {
        "NaN".into()
    } else if x.is_infinite() {
        if x > 0.0 { "∞" } else { "−∞" }.into()
    } else {
        in_sentence(x, places)
    }
}

/// A difference with three digits: 0.00412, 2.1e−16, ∞.
pub(super) fn size(x: f64) -> String {
    let text = match x {
        _ if x.is_infinite() => "∞".to_string(),
        0.0 => "0".into(),
        _ if (1e-4..1e6).contains(&x) => {
            format!("{x:.2e}").parse().map_or(String::new(), |x: f64| x.to_string())
        }
        _ => format!("{x:.1e}"),
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_short_whatever_their_size() {
        for (x, text) in [
            (0.0, "0"),
            (0.004_123_4, "0.00412"),
            (0.5, "0.5"),
            (12.3456, "12.3"),
            (2.1e-16, "2.1e−16"),
            (1e-4, "0.0001"),
            (123_456.0, "123000"),
            (1e9, "1.0e9"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(size(x), text);
        }
    }
}
