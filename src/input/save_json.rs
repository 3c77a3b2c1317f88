//! Matrices as the JSON that is read back with the same bits and labels.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::names::TOKENS;
use super::save::shortest;
use super::table::Table;

/// `{"rows": […], "cols": […], "values": [[…]]}`, labels only where there are any.
pub(super) struct TableObject<'m>(pub(super) &'m dyn Table);

impl Serialize for TableObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, labels) in [("rows", self.0.row_labels()), ("cols", self.0.col_labels())] {
            if let Some(labels) = labels {
                map.serialize_entry(key, &labels[..] as &[String])?;
            }
        }
        map.serialize_entry("values", &Rows(self.0))?;
        map.end()
    }
}

/// `{"X": {…}, "W_Q": {…}, "tokens": […]}`.
pub(super) struct BundleObject<'m>(
    pub(super) Option<&'m [String]>,
    pub(super) &'m [(&'m str, &'m dyn Table)],
);

impl Serialize for BundleObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, table) in self.1 {
            map.serialize_entry(name, &TableObject(*table))?;
        }
        if let Some(tokens) = self.0 {
            map.serialize_entry(TOKENS, tokens)?;
        }
        map.end()
    }
}

struct Rows<'m>(&'m dyn Table);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let shape = self.0.shape();
        let mut rows = serializer.serialize_seq(Some(shape.rows))?;
        for i in 0..shape.rows {
            let row: Vec<JsonNumber> = (0..shape.cols).map(|j| JsonNumber(self.0.at(i, j))).collect();
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

/// A number in JSON, which has no infinity and no NaN of its own: those are `"-inf"`, `"inf"` and `"nan"`.
struct JsonNumber(f64);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(&shortest(self.0))
        }
    }
}
