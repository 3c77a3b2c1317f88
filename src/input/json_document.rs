//! The meaning of an object in JSON: a matrix with labels, a saved computation, or several matrices by name.

use crate::error::{Error, Result};
pub use crate::graph::saved::{SCHEMA as GRAPH_SCHEMA, VERSION as GRAPH_VERSION};
use crate::matrix::Labels;
use crate::text::{clip, counted, listed_briefly};

use super::array::Array;
use super::item::Item;
use super::json_value::Json;
use super::names::own;

/// The op of a node that was given rather than computed.
pub const GIVEN: &str = "given";

/// The selection of nodes that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nodes {
    /// Those that were given: what another computation starts from.
    Given,
    /// Those that were computed: what is judged.
    Computed,
}

/// The contents of a whole document.
pub(super) enum Document {
    /// One array without a name.
    One(Array),
    /// Entries with their names, in the order of the text.
    Many(Vec<(String, Json)>),
}

/// A JSON value as a whole document; of a computation, these nodes.
///
/// # Errors
/// If it is neither numbers nor an object that names them.
pub(super) fn document(json: Json, nodes: Nodes) -> Result<Document> {
    let Json::Object(entries) = json else {
        return Ok(Document::One(json.into_array()?));
    };
    if find(&entries, "schema").is_some() {
        return Ok(Document::Many(nodes_of(entries, nodes)?));
    }
    // Beside `keys`, `values` are those of attention.
    let is_bundle = entries.iter().any(|(key, _)| key != "values" && own(key).is_some());
    if find(&entries, "values").is_some() && !is_bundle {
        return match item(Json::Object(entries))? {
            Item::Array(array) => Ok(Document::One(array)),
            Item::Words(_) => Err(Error::new("this holds words, but numbers are needed")),
        };
    }
    Ok(Document::Many(entries))
}

/// One entry: a list of strings, a list of rows, or `{"rows": […], "cols": […], "values": [[…]]}`.
///
/// # Errors
/// If it is none of these, or its labels do not fit.
pub(super) fn item(json: Json) -> Result<Item> {
    match json {
        Json::Texts(words) => Ok(Item::Words(words)),
        Json::Object(mut entries) => {
            let rows = labels(&entries, "rows")?;
            let cols = labels(&entries, "cols")?;
            let Some(values) = entries.iter().position(|(key, _)| key == "values") else {
                return Err(Error::new("the object has no `values`").help(MATRIX_OBJECT));
            };
            let array = entries.swap_remove(values).1.into_array()?;
            let [.., height, width] = array.dims()[..] else {
                return Err(
                    Error::new("`values` is a single row, but must be a list of rows").help(MATRIX_OBJECT)
                );
            };
            for (side, labels, count) in [("rows", &rows, height), ("cols", &cols, width)] {
                if let Some(labels) = labels
                    && labels.len() != count
                {
                    return Err(Error::new(format!(
                        "`{side}` has {}, but the matrix has {}",
                        counted(labels.len(), "label"),
                        counted(count, side.trim_end_matches('s'))
                    )));
                }
            }
            Ok(Item::Array(array.labelled(rows, cols)))
        }
        numbers => Ok(Item::Array(numbers.into_array()?)),
    }
}

const MATRIX_OBJECT: &str =
    r#"a matrix with labels is {"rows": ["bat"], "cols": ["x", "y"], "values": [[3, 3]]}"#;

fn find<'a>(entries: &'a [(String, Json)], key: &str) -> Option<&'a Json> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn labels(entries: &[(String, Json)], key: &str) -> Result<Option<Labels>> {
    match find(entries, key) {
        None | Some(Json::Null | Json::Nothing) => Ok(None),
        Some(Json::Texts(labels)) => Ok(Some(labels.as_slice().into())),
        Some(other) => {
            Err(Error::new(format!("`{key}` is {}, but it should be labels", other.kind()))
                .help(MATRIX_OBJECT))
        }
    }
}

/// The nodes that were given or computed, from a document that holds one computation.
fn nodes_of(document: Vec<(String, Json)>, wanted: Nodes) -> Result<Vec<(String, Json)>> {
    match find(&document, "schema") {
        Some(Json::Text(schema)) if schema == GRAPH_SCHEMA => {}
        Some(Json::Text(schema)) => {
            return Err(Error::new(format!("unknown schema `{}`", clip(schema))).help(format!(
                "give a file of the schema `{GRAPH_SCHEMA}`, or one without a schema that names matrices"
            )));
        }
        _ => return Err(Error::new("the schema is not a string")),
    }
    let version = find(&document, "version");
    // The matrices of a node are the same in all versions.
    if !(1..=GRAPH_VERSION).any(|known| version == Some(&Json::Number(known as f64))) {
        let found = match version {
            Some(Json::Number(found)) => format!("version {found}"),
            _ => "no version".to_string(),
        };
        return Err(Error::new(format!(
            "{found} of the schema `{GRAPH_SCHEMA}` is not supported, only versions 1 to {GRAPH_VERSION}"
        )));
    }
    let graphs = document.into_iter().find(|(key, _)| key == "graphs").map(|(_, graphs)| graphs);
    let nodes = match graphs {
        Some(Json::Objects(mut graphs)) if graphs.len() == 1 => match graphs.swap_remove(0) {
            Json::Object(graph) => graph.into_iter().find(|(key, _)| key == "nodes").map(|(_, nodes)| nodes),
            _ => None,
        },
        Some(Json::Objects(graphs)) => return Err(several(&graphs)),
        _ => return Err(Error::new("the document has no `graphs`")),
    };
    let Some(Json::Objects(nodes)) = nodes else {
        return Err(Error::new("a graph has no `nodes`"));
    };
    let mut found = Vec::new();
    for node in nodes {
        let Json::Object(entries) = node else { continue };
        let is_given = find(&entries, "op") == Some(&Json::Text(GIVEN.into()));
        if is_given != (wanted == Nodes::Given) {
            continue;
        }
        let Some(Json::Text(name)) = find(&entries, "name") else {
            return Err(Error::new("a node has no `name`"));
        };
        if find(&entries, "never_formed").is_some() {
            continue;
        }
        if find(&entries, "left_out").is_some() {
            return Err(Error::new(format!(
                "`{}` had too many numbers, so they are not in this file",
                clip(name)
            ))
            .help("compute again and save them in their own file: --save O=out.npy"));
        }
        found.push((name.clone(), Json::Object(entries)));
    }
    let mut given = match (found.is_empty(), wanted) {
        (true, Nodes::Given) => return Err(Error::new(format!("there is no node whose op is `{GIVEN}`"))),
        (true, Nodes::Computed) => return Err(Error::new("no node of this graph is computed")),
        (false, Nodes::Computed) => return Ok(found),
        (false, Nodes::Given) => found,
    };
    // A demo has given matrices that no attention layer knows: they are left aside where there are others.
    let known = |(name, _): &(String, Json)| own(name).is_some();
    if given.iter().any(known) {
        given.retain(known);
    }
    Ok(given)
}

fn several(graphs: &[Json]) -> Error {
    let titles: Vec<&str> = graphs
        .iter()
        .filter_map(|graph| match graph {
            Json::Object(entries) => find(entries, "title"),
            _ => None,
        })
        .filter_map(|title| match title {
            Json::Text(title) => Some(title.as_str()),
            _ => None,
        })
        .collect();
    Error::new(format!(
        "the file has {} computations, but one is needed: {}",
        graphs.len(),
        listed_briefly(titles)
    ))
    .help("write one of them in its own file")
}

#[cfg(test)]
mod tests {
    use super::super::json::parse;
    use super::*;

    fn read(text: &str) -> Result<Document> {
        document(parse("x.json", text)?, Nodes::Given)
    }

    fn names(text: &str) -> Vec<String> {
        match read(text).unwrap() {
            Document::Many(entries) => entries.into_iter().map(|(name, _)| name).collect(),
            Document::One(_) => panic!("one array"),
        }
    }

    fn fails(text: &str) -> String {
        read(text).err().unwrap().to_string()
    }

    fn graph(version: u64, graphs: &str) -> String {
        format!(
            r#"{{"schema": "attn-graph", "version": {version}, "command": "attend", "graphs": [{graphs}]}}"#
        )
    }

    const ONE: &str = r#"{"title": "t", "nodes": [
        {"name": "Q", "op": "given", "inputs": [], "formula": "", "shape": [1, 2], "rows": ["bat"], "cols": null, "values": [[1, 2]]},
        {"name": "S", "op": "product", "inputs": ["Q", "Q"], "formula": "", "shape": [1, 1], "rows": null, "cols": null, "values": [[5]]}]}"#;

    #[test]
    fn a_matrix_object_carries_its_labels() {
        let Document::One(array) =
            read(r#"{"rows": ["bat"], "cols": ["x", "y"], "values": [[3, "-inf"]]}"#).unwrap()
        else {
            panic!("several arrays");
        };
        assert_eq!(array.row_labels().unwrap()[..], ["bat"]);
        assert_eq!(array.col_labels().unwrap()[..], ["x", "y"]);
        assert_eq!(array.values(), [3.0, f64::NEG_INFINITY]);
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        let said = fails(r#"{"rows": ["bat", "cave"], "values": [[3, 3]]}"#);
        assert!(said.contains("`rows` has 2 labels, but the matrix has 1 row"), "{said}");
        assert!(
            fails(r#"{"rows": [1], "values": [[3, 3]]}"#)
                .contains("`rows` is numbers, but it should be labels")
        );
    }

    #[test]
    fn the_given_nodes_of_one_graph_are_read() {
        for version in 1..=GRAPH_VERSION {
            assert_eq!(names(&graph(version, ONE)), ["Q"]);
        }
    }

    #[test]
    fn the_computed_nodes_of_one_graph_are_read_where_they_are_wanted() {
        let json = parse("x.json", &graph(1, ONE)).unwrap();
        let Document::Many(entries) = document(json, Nodes::Computed).unwrap() else {
            panic!("one array");
        };
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].0, "S");
    }

    #[test]
    fn several_graphs_another_version_and_another_schema_are_refused() {
        let said = fails(&graph(1, &format!("{ONE}, {ONE}")));
        assert!(said.contains("the file has 2 computations, but one is needed: `t`, `t`"), "{said}");
        assert!(
            fails(&graph(3, ONE))
                .contains("version 3 of the schema `attn-graph` is not supported, only versions 1 to 2")
        );
        assert!(fails(r#"{"schema": "other", "graphs": []}"#).contains("unknown schema `other`"));
        assert!(
            fails(&graph(1, r#"{"nodes": [{"name": "S", "op": "sum"}]}"#))
                .contains("no node whose op is `given`")
        );
        assert!(fails(&graph(1, "{}")).contains("no `nodes`"));
    }
}
