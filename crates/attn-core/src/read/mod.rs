//! Texts of numbers, read into arrays with labels: tables, matrices that are typed or printed, JSON. Nothing here opens a file.

mod array;
mod delimited;
mod inline;
mod json;
mod lines;
mod markup;
mod names;
mod number;
mod r_code;
mod text;

pub use array::{
    AllowedNumbers, Array, ArrayFacts, Item, Limit, NamedArray, checked_cells, entry_name, shape_text,
};
pub use delimited::{Delimiter, DelimiterChoice, records};
pub use inline::looks_inline;
pub use json::{GIVEN, GRAPH_SCHEMA, GRAPH_VERSION, Json, Nodes, document, item, parse};
pub use lines::told;
pub use markup::{cells, is_document};
pub use names::{EntryKind, TOKENS, own};
pub use number::{
    MOST_COUNTED, MOST_DECIMALS, Number, cell, check_commas, decimals_of, is_meant_as_number,
    line_and_column, number, shortest, truth,
};
pub use text::{arrays, entries, inline, is_json, is_punctuation, table, tables};
