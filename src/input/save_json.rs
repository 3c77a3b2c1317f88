//! Matrices as the JSON that is read back with the same bits and labels.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::tensor::Dtype;

use super::names::TOKENS;
use super::number::shortest;
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

/// `[[…], …]`: every digit, row by row; `"-inf"`, `"inf"` and `"nan"` as strings.
pub struct Rows<'m>(pub &'m dyn Table);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let shape = self.0.shape();
        let mut rows = serializer.serialize_seq(Some(shape.rows))?;
        for i in 0..shape.rows {
            let number = |j| JsonNumber(self.0.at(i, j), self.0.dtype());
            let row: Vec<JsonNumber> = (0..shape.cols).map(number).collect();
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

/// A number in JSON, which has no infinity and no NaN of its own: those are `"-inf"`, `"inf"` and `"nan"`.
struct JsonNumber(f64, Dtype);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.1 {
            _ if !self.0.is_finite() => serializer.serialize_str(&shortest(self.0, self.1)),
            // The digits of the type: 0.1, not 0.10000000149011612.
            Dtype::F32 | Dtype::F16 | Dtype::Bf16 => serializer.serialize_f32(self.0 as f32),
            Dtype::F64 | Dtype::Bool => serializer.serialize_f64(self.0),
        }
    }
}
