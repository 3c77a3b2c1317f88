//! Remarks beside a formula.

use crate::graph::{CellId, Graph, Op, Origin, Rounding, Term, address_of};

/// A remark on a cell's formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Why this case of the formula holds.
    Because(&'static str),
    /// A description of a number that is not derived.
    Leaf(String),
    /// The cell is copied from another one; from a concatenation, with the number of the part.
    CopiedFrom {
        /// The other cell.
        cell: CellId,
        /// The part, from 1, and the number of parts.
        part: Option<(usize, usize)>,
    },
    /// Cells that decide which case of the formula holds and do not stand in it: the hidden cell, and the mask's own cell.
    Decided(Vec<CellId>),
    /// In single precision: the recorded number beside the value of its terms.
    Rounded(Rounding),
    /// A sum or a maximum is shortened.
    Shortened {
        /// The number of terms that are written.
        written: usize,
        /// The number of those that are left out.
        left: usize,
        /// The sum of these; `None` for a maximum.
        sum: Option<f64>,
    },
}

/// The remarks on a cell whose term, as it is shown, is this.
pub fn notes(graph: &Graph, cell: CellId, term: &Term) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Term::Cell(from) = term {
        notes.push(Note::CopiedFrom { cell: *from, part: part(graph, cell, *from) });
    }
    if let Term::Leaf(_, phrase) = term
        && !graph[cell.node].op.is_given()
    {
        notes.push(Note::Leaf(phrase.clone()));
    }
    if let Some(weight) = stored_weight(graph, cell) {
        notes.push(Note::Leaf(format!("in the file: {}, counted from 0", weight.place)));
    }
    collect(term, &mut notes);
    let deciding = decided(graph, cell, term);
    if !deciding.is_empty() {
        notes.push(Note::Decided(deciding));
    }
    notes.extend(graph.rounding(cell, &graph.terms(cell)).map(Note::Rounded));
    notes
}

/// A weight of a model: where its number stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredWeight<'a> {
    /// The name of its tensor there.
    pub tensor: &'a str,
    /// Its place in the tensor, counted from 0 as in the file: `[2, 5]`, or `[5]` in a vector.
    pub place: String,
}

/// The place in a file of a cell that is a weight of a model.
pub fn stored_weight(graph: &Graph, cell: CellId) -> Option<StoredWeight<'_>> {
    let node = &graph[cell.node];
    let Op::Given(Origin::Weights(tensor)) = &node.op else { return None };
    let place = match node.shape().rows {
        1 => format!("[{}]", cell.col),
        _ => format!("[{}, {}]", cell.row, cell.col),
    };
    Some(StoredWeight { tensor, place })
}

/// The cells that decide if a mask hides a cell, and do not stand in its term.
pub fn decided(graph: &Graph, cell: CellId, term: &Term) -> Vec<CellId> {
    let node = &graph[cell.node];
    // A mask looks at the score that it may hide, and at its own matrix.
    let inputs = match node.op {
        Op::Mask(_) => &node.inputs[..],
        // The first gives the shape alone.
        Op::MaskPattern(_) => &node.inputs[1..],
        _ => &[],
    };
    inputs.iter().map(|&node| CellId { node, ..cell }).filter(|read| !reads(term, *read)).collect()
}

fn reads(term: &Term, cell: CellId) -> bool {
    *term == Term::Cell(cell) || term.parts().into_iter().any(|part| reads(part, cell))
}

/// The part of a concatenation that a cell comes from, as a number and the total; a node may be more than one part.
fn part(graph: &Graph, cell: CellId, from: CellId) -> Option<(usize, usize)> {
    let node = &graph[cell.node];
    if !matches!(node.op, Op::Concatenate | Op::Stack(_)) {
        return None;
    }
    let is_beside = node.op == Op::Concatenate;
    let at = if is_beside { cell.col - from.col } else { cell.row - from.row };
    let mut before = 0;
    for (i, &input) in node.inputs.iter().enumerate() {
        let shape = graph[input].shape();
        let length = if is_beside { shape.cols } else { shape.rows };
        if before == at && length > 0 {
            return Some((i + 1, node.inputs.len()));
        }
        before += length;
    }
    None
}

fn collect(term: &Term, notes: &mut Vec<Note>) {
    let mut add = |note: Note| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    match term {
        Term::Choice { because, .. } => add(Note::Because(because)),
        Term::Sum(terms) | Term::Max(terms)
            if let Some(&Term::Rest { count: left, value }) = terms.last() =>
        {
            let sum = matches!(term, Term::Sum(_)).then_some(value);
            add(Note::Shortened { written: terms.len() - 1, left, sum });
        }
        _ => {}
    }
    for part in term.parts() {
        collect(part, notes);
    }
}

impl Note {
    /// The remark in words; numbers as `number` writes them.
    pub fn text(&self, graph: &Graph, number: impl Fn(f64) -> String) -> String {
        match self {
            Note::Because(reason) => format!("because {reason}"),
            Note::Leaf(phrase) => phrase.clone(),
            Note::CopiedFrom { cell: from, part } => {
                let node = &graph[from.node];
                let (name, col) = (&node.name, from.col + 1);
                let row = match node.labels().0.filter(|labels| graph.is_vocabulary(labels)) {
                    Some(_) => format!("the row of token {}", from.row),
                    None => format!("row {}", from.row + 1),
                };
                let place = match part {
                    Some((part, of)) if *of > 1 => format!("part {part} of {of}, {name}"),
                    _ => name.clone(),
                };
                format!("copied from {row}, column {col} of {place}")
            }
            Note::Decided(cells) => {
                let value = |cell: &CellId| {
                    format!("{} = {}", address_of(graph, *cell), number(Term::Cell(*cell).evaluate(graph)))
                };
                format!("it looks at {}", cells.iter().map(value).collect::<Vec<_>>().join(" and "))
            }
            Note::Rounded(rounding) => rounded(*rounding),
            Note::Shortened { written, left, sum } => {
                let all = left + written;
                match sum.map(number) {
                    Some(sum) => format!(
                        "shortened: the sum has {all} terms; the {written} largest are written, and the other {left} add up to {sum}"
                    ),
                    None => format!(
                        "shortened: max is taken over {all} numbers; the {written} largest are written"
                    ),
                }
            }
        }
    }
}

/// A number of single precision beside the value of its terms.
fn rounded(Rounding { recorded, terms, bound }: Rounding) -> String {
    let beside = match (recorded - terms).abs() {
        _ if recorded == terms => "and its terms give exactly this;".to_string(),
        far => format!("its terms give {terms:.9}; the difference is {far:.1e}, and"),
    };
    format!("computed in f32: recorded {recorded:.9}, {beside} rounding allows {bound:.1e}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_single_precision_is_told_with_its_minus_and_without_a_difference_of_nothing() {
        let same = rounded(Rounding { recorded: -0.5, terms: -0.5, bound: 6e-8 });
        assert_eq!(
            same,
            "computed in f32: recorded −0.500000000, and its terms give exactly this; rounding allows 6.0e−8"
        );
        let other = rounded(Rounding { recorded: 0.5, terms: 0.500_000_1, bound: 6e-7 });
        assert!(other.contains("the difference is 1.0e−7, and rounding allows 6.0e−7"), "{other}");
    }
}
