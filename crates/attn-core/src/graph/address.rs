//! Addresses of cells, with the labels that name rows and columns, as the documents write them: `A[3,2]`, `A[cave,bat]`, a row `A[bat]`, a node `A`.

use crate::error::{Error, Result};
use crate::foreign::{hidden, visible};
use crate::matrix::Labels;
use crate::text::{choices, clip, nearest};

use super::{CellId, Graph, NodeId, Step};

/// The node, row or cell that an address names; positions count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// A whole node.
    Node(NodeId),
    /// A row of a node.
    Row(NodeId, usize),
    /// One cell.
    Cell(CellId),
}

/// Finds the cells that an address names. A number is always a position, from 1; a label names the row or column that carries
/// it, `the#2` the second of a repeated one. The mark of a space before a word may be another one, or left out: see
/// [`find_label`].
///
/// # Errors
/// If the address is not well formed, the node does not exist, a position lies outside its shape, or a label is
/// unknown or repeated.
pub fn resolve(graph: &Graph, address: &str) -> Result<Cells> {
    let address = address.trim();
    let Some((name, rest)) = address.split_once('[') else {
        return Ok(Cells::Node(graph.require(address)?));
    };
    let node = graph.require(name.trim())?;
    let inside = rest.strip_suffix(']').ok_or_else(|| {
        Error::new(format!("`{}` has no closing bracket", clip(address)))
            .help("write a cell as A[3,2] or A[cave,bat]")
    })?;
    // A cell of a node that is never formed has no value, however it is addressed.
    if graph[node].is_never_formed() {
        graph.matrix(node)?;
    }
    let shape = graph[node].shape();
    let (rows, cols) = graph[node].labels();
    let named = format!("{} ({shape})", graph[node].name);
    let lines = |what, count, labels: Option<&_>| NamedLines {
        what,
        count,
        labels: labels.cloned(),
        are_ids: labels.is_some_and(|labels| graph.is_vocabulary(labels)),
    };
    let (rows, cols) = (lines("row", shape.rows, rows), lines("column", shape.cols, cols));
    let row_of = |text: &str| rows.position(text, address, &named);
    let col_of = |text: &str| cols.position(text, address, &named);
    match inside.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [row] => Ok(Cells::Row(node, row_of(row)?)),
        [row, col] => Ok(Cells::Cell(CellId { node, row: row_of(row)?, col: col_of(col)? })),
        _ => Err(Error::new(format!("`{}` has more than one row and one column", clip(address)))
            .help("write a cell as A[3,2] or A[cave,bat]")),
    }
}

/// Finds the cells that an address names, also where the graph has its node once for every head (`A_1`, `A_2`), or once for
/// every case of a demo (`A_cave`, `A_racket`): then the address is that of each of them in which it can be found.
///
/// # Errors
/// Those of [`resolve`].
pub fn resolve_each(graph: &Graph, address: &str) -> Result<Vec<Cells>> {
    let exact = resolve(graph, address);
    let (name, inside) = address.trim().split_at(address.trim().find('[').unwrap_or(address.trim().len()));
    let name = name.trim();
    if exact.is_ok() || graph.find(name).is_some() {
        return exact.map(|cells| vec![cells]);
    }
    let of_name = graph.nodes().filter(|(_, node)| match node.step {
        Some(Step { stage, head: Some(_), .. }) => stage.name() == name,
        // A matrix that all heads share is one alone: `W` is not short for W_Q.
        Some(Step { stage, head: None, .. }) if stage.name() == node.name => false,
        _ => case_of(graph, &node.name, name).is_some(),
    });
    let of_name = of_name.map(|(_, node)| &node.name);
    let found: Vec<Result<Cells>> = of_name.map(|node| resolve(graph, &format!("{node}{inside}"))).collect();
    let first_error = || found.iter().position(Result::is_err);
    match (found.iter().any(Result::is_ok), first_error()) {
        (true, _) => Ok(found.into_iter().flatten().collect()),
        (false, Some(at)) => found.into_iter().nth(at).unwrap_or(exact).map(|cells| vec![cells]),
        (false, None) => exact.map(|cells| vec![cells]),
    }
}

/// The case of a demo in a node's name, after the typed name: `cave` after `A`, or the number of a head. A case has several
/// nodes of its own.
fn case_of<'n>(graph: &Graph, node: &'n str, typed: &str) -> Option<&'n str> {
    let case = node.strip_prefix(typed)?.strip_prefix('_').filter(|case| !case.contains('_'))?;
    let of_case = || graph.nodes().filter(|(_, node)| node.name.ends_with(&format!("_{case}"))).count();
    (case.bytes().all(|b| b.is_ascii_digit()) || of_case() > 1).then_some(case)
}

/// The address of a cell, as [`resolve`] reads it: labels where the matrix has them and they can be read back, else positions
/// from 1. A token of the vocabulary that cannot be read back goes by its id: `token 464`.
pub fn address_of(graph: &Graph, cell: CellId) -> String {
    let node = &graph[cell.node];
    let (rows, cols) = node.labels();
    format!("{}[{},{}]", node.name, name_of(graph, rows, cell.row), name_of(graph, cols, cell.col))
}

/// The label of a row or column as it is addressed, or its number where that cannot be read back.
fn name_of(graph: &Graph, labels: Option<&Labels>, at: usize) -> String {
    let number = (at + 1).to_string();
    let Some(labels) = labels else { return number };
    let label = &labels[at];
    let before = labels[..at].iter().filter(|other| *other == label).count();
    let repeated = before > 0 || labels[at + 1..].contains(label);
    let are_ids = graph.is_vocabulary(labels);
    if are_ids && repeated {
        return of_id(at);
    }
    let name = if repeated { format!("{label}#{}", before + 1) } else { label.clone() };
    let is_seen = hidden(label).next().is_none();
    let is_plain = is_seen && label.trim() == label && !label.contains([',', '[', ']']);
    let is_number = name.bytes().all(|b| b.is_ascii_digit());
    if is_plain && !is_number && find_label(labels, &name) == LabelMatch::One(at) {
        name
    } else if are_ids {
        of_id(at)
    } else {
        number
    }
}

// Finding a row or a column by its label, as people type it.

/// The marks of a space before a word: on our screens, in the files of byte-level tokenizers, in those of SentencePiece, in ASCII,
/// and itself.
const SPACES: [char; 5] = ['␣', 'Ġ', '▁', '_', ' '];

/// What a typed label names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelMatch {
    /// The line at this place, counted from 0.
    One(usize),
    /// A label that several lines carry, at these places.
    Repeated(Vec<usize>),
    /// Several labels, at these places: each is the word behind another mark of a space.
    Different(Vec<usize>),
    /// No line.
    None,
}

/// Finds the lines that a typed label names: those that carry it as it is or as it is shown; else those that carry it behind
/// another mark of a space (`_cave` for `␣cave`); else those that carry it behind any (`cave`). `the#2` is the second of the
/// lines that `the` names.
pub fn find_label(labels: &[String], typed: &str) -> LabelMatch {
    let (word, which) = match typed.rsplit_once('#') {
        Some((word, which)) if !word.is_empty() => (word, which.parse::<usize>().ok()),
        _ => (typed, None),
    };
    for is in [is_exactly, is_marked_otherwise, is_without_mark] {
        let places = |text: &str| (0..labels.len()).filter(|&i| is(&labels[i], text)).collect::<Vec<_>>();
        let whole = places(typed);
        if !whole.is_empty() {
            return matched(labels, whole);
        }
        let Some(which) = which else { continue };
        let counted = places(word);
        if let different @ LabelMatch::Different(_) = matched(labels, counted.clone()) {
            return different;
        }
        if !counted.is_empty() {
            let at = which.checked_sub(1).and_then(|which| counted.get(which));
            return at.map_or(LabelMatch::None, |&at| LabelMatch::One(at));
        }
    }
    LabelMatch::None
}

fn matched(labels: &[String], places: Vec<usize>) -> LabelMatch {
    match places[..] {
        [] => LabelMatch::None,
        [one] => LabelMatch::One(one),
        [first, ..] if places.iter().all(|&place| labels[place] == labels[first]) => {
            LabelMatch::Repeated(places)
        }
        _ => LabelMatch::Different(places),
    }
}

/// As it is, or as it is shown: what is shown differs only where there are escapes.
fn is_exactly(label: &str, typed: &str) -> bool {
    label == typed || typed.contains('\\') && visible(label) == typed
}

fn is_marked_otherwise(label: &str, typed: &str) -> bool {
    matches!((word_behind_mark(label), word_behind_mark(typed)), (Some(own), Some(asked)) if is_exactly(own, asked))
}

fn is_without_mark(label: &str, typed: &str) -> bool {
    word_behind_mark(label).is_some_and(|own| is_exactly(own, typed))
}

/// The word behind a mark of a space; none where there is no mark, or nothing behind it.
fn word_behind_mark(label: &str) -> Option<&str> {
    label.strip_prefix(SPACES).filter(|word| !word.is_empty())
}

// The rows or the columns of a node, and the one that an address names.

/// The most labels that an error lists.
const LISTED: usize = 8;

/// The name of a token of the vocabulary, by its id.
pub(super) fn of_id(id: usize) -> String {
    format!("token {id}")
}

/// The rows or the columns of a node.
pub(super) struct NamedLines {
    /// “row” or “column”.
    pub what: &'static str,
    /// Their number.
    pub count: usize,
    /// Their names, where they have any.
    pub labels: Option<Labels>,
    /// True if they are the tokens of the vocabulary, by their ids.
    pub are_ids: bool,
}

impl NamedLines {
    /// The place of the line that is typed, counted from 0; the whole address and the node are for errors.
    pub fn position(&self, text: &str, address: &str, node: &str) -> Result<usize> {
        let (what, count) = (self.what, self.count);
        let (asked, typed) = (clip(address), clip(text));
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return match text.parse::<usize>() {
                Ok(position) if (1..=count).contains(&position) => Ok(position - 1),
                _ => Err(Error::new(format!("`{asked}`: {node} has no {what} {typed}"))
                    .help(format!("its {what}s are numbered 1 to {count}"))),
            };
        }
        let Some(labels) = &self.labels else {
            return Err(Error::new(format!("`{asked}`: the {what}s of {node} have no names"))
                .help(format!("its {what}s are numbered 1 to {count}")));
        };
        match find_label(labels, text) {
            LabelMatch::One(at) => Ok(at),
            LabelMatch::None => self.by_id(text).unwrap_or_else(|| {
                let error = Error::new(format!("`{asked}`: {node} has no {what} `{typed}`"));
                let all = choices(labels.iter().map(String::as_str));
                let word = text.rsplit_once('#').map_or(text, |(word, _)| word);
                Err(match nearest(word, labels.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean `{near}`? Its {what}s are {all}")),
                    None => error.help(format!("its {what}s are {all}")),
                })
            }),
            LabelMatch::Repeated(places) => {
                let (names, first) = (places.len(), places[0]);
                let error = Error::new(format!("`{asked}`: `{typed}` names {names} {what}s of {node}"));
                Err(match self.are_ids {
                    true => error.help(format!("give the id of one: {}", of_id(first))),
                    false => {
                        error.help(format!("write `{typed}#1` to `{typed}#{names}`, or give the number"))
                    }
                })
            }
            LabelMatch::Different(places) => {
                let shown = |&place: &usize| format!("`{}` ({what} {})", visible(&labels[place]), place + 1);
                let all: Vec<String> = places.iter().take(LISTED).map(shown).collect();
                let names = places.len();
                Err(Error::new(format!("`{asked}`: `{typed}` names {names} {what}s of {node}"))
                    .help(format!("write one of them as it is, or give the number: {}", all.join(", "))))
            }
        }
    }

    /// The place of `token 464` among the tokens of the vocabulary.
    fn by_id(&self, text: &str) -> Option<Result<usize>> {
        let id = text.strip_prefix("token").filter(|_| self.are_ids)?.trim();
        let id = Some(id).filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()))?;
        Some(id.parse().ok().filter(|id| *id < self.count).ok_or_else(|| {
            let last = self.count.saturating_sub(1);
            Error::new(format!("there is no token {}", clip(id)))
                .help(format!("the vocabulary has the ids 0 to {last}"))
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    use super::*;

    fn graph() -> Graph {
        let mut graph = Graph::new();
        let a = Matrix::filled(3, 3, 0.0).rows_named(&["the", "cat", "the"]).cols_named(&["x", "y", "z"]);
        graph.given("A", a, Origin::Stated).unwrap();
        graph
    }

    fn cell(address: &str) -> (usize, usize) {
        match resolve(&graph(), address).unwrap() {
            Cells::Cell(cell) => (cell.row, cell.col),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_count_from_one_and_labels_name_rows_and_columns() {
        assert_eq!(cell("A[3,2]"), (2, 1));
        assert_eq!(cell("A[cat,z]"), (1, 2));
        assert_eq!(cell("A[the#2, 1]"), (2, 0));
    }

    #[test]
    fn the_address_of_a_cell_names_it_again() {
        let mut graph = Graph::new();
        let odd = ["the", "cat", "the", "7", " padded", "a,b", "x]", "#", "the#1", ""];
        let a = Matrix::filled(10, 2, 0.0).rows_named(&odd).cols_named(&["sport", "animals"]);
        let node = graph.given("A", a, Origin::Stated).unwrap();
        for row in 0..10 {
            let cell = CellId { node, row, col: 1 };
            assert_eq!(resolve(&graph, &address_of(&graph, cell)).unwrap(), Cells::Cell(cell));
        }
        assert_eq!(address_of(&graph, CellId { node, row: 1, col: 0 }), "A[cat,sport]");
        assert_eq!(address_of(&graph, CellId { node, row: 2, col: 0 }), "A[the#2,sport]");
        assert_eq!(address_of(&graph, CellId { node, row: 3, col: 0 }), "A[4,sport]");
    }

    #[test]
    fn a_node_of_every_head_or_case_is_found_under_its_bare_name() {
        let mut graph = Graph::new();
        let square = |names: &[&str]| Matrix::filled(2, 2, 0.0).rows_named(names);
        for (name, rows) in [("A_1", ["the", "cat"]), ("A_2", ["the", "cat"]), ("W_Q", ["x", "y"])] {
            graph.given(name, square(&rows), Origin::Stated).unwrap();
        }
        for (name, rows) in
            [("X_cave", ["bat", "cave"]), ("O_cave", ["bat", "cave"]), ("O_racket", ["bat", "racket"])]
        {
            graph.given(name, square(&rows), Origin::Stated).unwrap();
        }
        graph.given("X_racket", square(&["bat", "racket"]), Origin::Stated).unwrap();
        let count = |address: &str| resolve_each(&graph, address).map(|cells| cells.len()).ok();
        assert_eq!(count("A[cat,2]"), Some(2));
        assert_eq!(count("A_2[cat,2]"), Some(1));
        assert_eq!(count("O[bat,1]"), Some(2));
        assert_eq!(count("O[cave,1]"), Some(1));
        assert_eq!(count("W[1,1]"), None, "W_Q is neither a head nor a case of W");
        assert!(resolve_each(&graph, "A[dog,1]").unwrap_err().to_string().contains("A_1"));
    }

    #[test]
    fn a_repeated_label_must_say_which() {
        let error = resolve(&graph(), "A[the,x]").unwrap_err().to_string();
        assert!(error.contains("names 2 rows") && error.contains("the#1"), "{error}");
    }

    #[test]
    fn a_word_is_found_without_its_space_and_several_labels_of_it_are_told_apart() {
        let mut graph = Graph::new();
        let names = ["the", "␣cave", "␣the", "▁the"];
        let a = Matrix::filled(4, 4, 0.0).rows_named(&names).cols_named(&names);
        graph.given("A", a, Origin::Stated).unwrap();
        let at = |address: &str| match resolve(&graph, address).unwrap() {
            Cells::Cell(cell) => (cell.row, cell.col),
            other => panic!("{other:?}"),
        };
        assert_eq!(at("A[cave,the]"), (1, 0));
        assert_eq!(at("A[_cave, ␣the]"), (1, 2));
        let error = resolve(&graph, "A[_the,1]").unwrap_err().to_string();
        assert!(
            error.contains("names 2 rows") && error.contains("`␣the` (row 3), `▁the` (row 4)"),
            "{error}"
        );
    }

    #[test]
    fn an_address_that_is_written_is_read_back_as_the_same_cell() {
        let odd = ["the", "the", "7", "a,b", "[", "x#1", " y", "", "cat"];
        let mut graph = Graph::new();
        let names = Matrix::filled(9, 9, 0.0).rows_named(&odd).cols_named(&odd);
        let named = graph.given("A", names, Origin::Stated).unwrap();
        let bare = graph.given("S_1", Matrix::filled(2, 11, 0.0), Origin::Stated).unwrap();
        for (node, rows, cols) in [(named, 9, 9), (bare, 2, 11)] {
            for (row, col) in (crate::matrix::Shape { rows, cols }).places() {
                let cell = CellId { node, row, col };
                let address = address_of(&graph, cell);
                assert_eq!(resolve(&graph, &address).unwrap(), Cells::Cell(cell), "{address}");
            }
        }
        assert_eq!(address_of(&graph, CellId { node: named, row: 1, col: 8 }), "A[the#2,cat]");
        assert_eq!(address_of(&graph, CellId { node: bare, row: 1, col: 10 }), "S_1[2,11]");
    }

    #[test]
    fn a_wrong_address_says_what_there_is() {
        for (address, said) in [
            ("B[1,1]", "no node `B`"),
            ("A[4,1]", "rows are numbered 1 to 3"),
            ("A[4,1]", "A (3×3) has no row 4"),
            ("A[cta,1]", "did you mean `cat`"),
            ("A[1,1", "closing bracket"),
            ("A[1,2,3]", "more than one row and one column"),
            ("A[99999999999999999999999,1]", "rows are numbered 1 to 3"),
        ] {
            let error = resolve(&graph(), address).unwrap_err().to_string();
            assert!(error.contains(said), "{address}: {error}");
        }
    }

    fn found(labels: &[&str], typed: &str) -> LabelMatch {
        let labels: Vec<String> = labels.iter().map(|label| label.to_string()).collect();
        find_label(&labels, typed)
    }

    #[test]
    fn a_word_is_found_behind_every_mark_of_a_space() {
        for mark in ["␣", "Ġ", "▁", "_", " "] {
            let label = format!("{mark}cave");
            for typed in ["cave", "␣cave", "Ġcave", "▁cave", "_cave", " cave"] {
                assert_eq!(found(&["the", &label], typed), LabelMatch::One(1), "{label} as {typed}");
            }
        }
        assert_eq!(found(&["the", "␣cave"], "cav"), LabelMatch::None);
        assert_eq!(found(&["the", "cave"], "_cave"), LabelMatch::None, "there is no space before it");
        assert_eq!(found(&["␣", "the"], ""), LabelMatch::None);
    }

    #[test]
    fn the_exact_label_wins_and_repeated_ones_are_counted_alike() {
        let text = ["the", "␣bat", "␣the", "␣bat"];
        assert_eq!(found(&text, "the"), LabelMatch::One(0));
        assert_eq!(found(&text, "_the"), LabelMatch::One(2));
        assert_eq!(found(&text, "bat"), LabelMatch::Repeated(vec![1, 3]));
        for typed in ["bat#2", "␣bat#2", "_bat#2"] {
            assert_eq!(found(&text, typed), LabelMatch::One(3), "{typed}");
        }
        assert_eq!(found(&text, "bat#3"), LabelMatch::None);
        assert_eq!(found(&text, "the#2"), LabelMatch::None, "the other one has a space before it");
    }

    #[test]
    fn a_bare_word_of_several_labels_names_them_all() {
        assert_eq!(found(&["␣the", "_the", "x"], "the"), LabelMatch::Different(vec![0, 1]));
        assert_eq!(found(&["␣the", "_the", "␣the"], "the#2"), LabelMatch::Different(vec![0, 1, 2]));
    }

    #[test]
    fn a_label_is_found_as_it_is_shown() {
        assert_eq!(found(&["a", "\n"], "\\n"), LabelMatch::One(1));
        assert_eq!(found(&["a", "␣\t"], "\\t"), LabelMatch::One(1));
    }
}
