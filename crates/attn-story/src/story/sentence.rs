//! Numbers in sentences, and sentences about rows.

use crate::graph::{Cells, Convention, Graph, Term, resolve};

/// A cell is told with at most this many decimals.
const MOST_PLACES: usize = 17;

/// Puts the values of cells into a sentence: `{A[bat,cave]}` with four decimals, `{A[1,2]:2}` with two.
///
/// # Errors
/// The address that names no cell of the graph.
pub fn fill(graph: &Graph, text: &str) -> std::result::Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}').map(|end| start + end).ok_or_else(|| rest[start..].to_string())?;
        let inside = &rest[start + 1..end];
        let (address, places) = match inside.rsplit_once(':') {
            Some((address, places)) => {
                let places = places.parse().ok().filter(|places| *places <= MOST_PLACES);
                (address, places.ok_or_else(|| inside.to_string())?)
            }
            None => (inside, 4),
        };
        let Ok(Cells::Cell(cell)) = resolve(graph, address) else { return Err(inside.to_string()) };
        let value = Term::Cell(cell).evaluate(graph);
        out.push_str(&rest[..start]);
        // A number that is not 0 is not told as 0, unless it is rounding.
        let told =
            (places..=places.max(12)).map(|places| in_sentence(value, places)).find(|told| told != "0");
        out.push_str(told.as_deref().unwrap_or("0"));
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// A number as a sentence shows it: rounded, trailing zeros dropped, with a real minus sign.
pub fn in_sentence(value: f64, places: usize) -> String {
    if value.abs() >= 1e9 && value.is_finite() {
        return format!("{value:.places$e}").replace('-', "−");
    }
    let rounded = format!("{value:.places$}");
    let trimmed =
        if rounded.contains('.') { rounded.trim_end_matches('0').trim_end_matches('.') } else { &rounded };
    match trimmed {
        "-0" => "0".to_string(),
        text => text.replace('-', "−").replace("inf", "∞"),
    }
}

/// A text with a capital at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A sentence about rows, which the column convention turns into one about columns.
pub(super) fn in_convention(sentence: &str, convention: Convention) -> String {
    if convention == Convention::Rows {
        return sentence.to_string();
    }
    let turned = |word: &str| {
        let letters = word.trim_end_matches(|c: char| !c.is_alphabetic());
        let other = match letters {
            "row" => "column",
            "rows" => "columns",
            "column" => "row",
            "columns" => "rows",
            same => same,
        };
        format!("{other}{}", &word[letters.len()..])
    };
    sentence.split_inclusive(' ').map(turned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    fn graph() -> Graph {
        let mut graph = Graph::new();
        let a = Matrix::of([[0.569_54, -0.5], [f64::NEG_INFINITY, 2.0]]).rows_named(&["bat", "cave"]);
        graph.given("A", a, Origin::Stated).unwrap();
        graph
    }

    #[test]
    fn sentences_take_their_numbers_from_the_graph() {
        let filled = fill(&graph(), "bat gives {A[bat,1]:2}, then {A[1,2]}, {A[2,1]} and {A[cave,2]:3}");
        assert_eq!(filled.unwrap(), "bat gives 0.57, then −0.5, −∞ and 2");
    }

    #[test]
    fn a_sentence_that_names_no_cell_is_refused() {
        assert_eq!(fill(&graph(), "see {A[dog,1]}"), Err("A[dog,1]".to_string()));
        assert!(fill(&graph(), "see {A[1,1]").is_err());
    }
}
