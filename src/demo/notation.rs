//! The notations of the five texts, next to ours: `data/notation.toml`.

use super::Document;
use crate::story::Table;
use attn_core::data_file::entries;

/// One table: a row for each thing that the texts name differently, a column for ours and for each document.
pub fn notation() -> Table {
    let rows: Vec<[&str; 7]> = entries(include_str!("../../data/notation.toml"));
    let documents = Document::ALL.map(Document::number);
    let header: Vec<&str> = ["what", "attn"].into_iter().chain(documents).collect();
    Table::new(&header, rows.into_iter().map(|row| row.map(String::from).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document's name for the thing that has this name here.
    fn called(ours: &str, document: Document) -> String {
        let table = notation();
        let column = table.header.iter().position(|head| head == document.number()).unwrap();
        let row = table.rows.iter().find(|row| row[1].split([' ', ',']).next() == Some(ours)).unwrap();
        row[column].clone()
    }

    #[test]
    fn the_letters_that_documents_use_differently_are_found_under_ours() {
        assert_eq!(called("A", Document::Understanding), "L");
        assert_eq!(called("X", Document::Multiplication), "I (no identity)");
        assert_eq!(called("W_Q", Document::Imagined), "M_q; W_Q, q_proj (180)");
        assert_eq!(called("C", Document::Imagined), "A");
        assert_eq!(called("d_k", Document::Understanding), "H2");
        assert!(called("S", Document::OneThird).ends_with("= Sᵀ"));
        assert!(called("in-out", Document::OneThird) == "out-in");
        assert!(called("M", Document::Imagined).starts_with("mask"));
    }

    #[test]
    fn nothing_is_listed_twice_and_no_cell_is_empty() {
        let table = notation();
        let mut names: Vec<&String> = table.rows.iter().map(|row| &row[0]).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.rows.len());
        assert!(table.rows.iter().flatten().all(|cell| !cell.trim().is_empty()));
        assert!(table.rows.iter().all(|row| row.len() == table.header.len()));
    }
}
