//! Content without logic: data files in TOML that are part of the program, each a list of entries.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The entries of a data file, which has one list. A fault in it is found by the tests, which read every data file.
///
/// # Panics
/// If the file is not a list of such entries.
pub fn entries<T: Deserialize<'static>>(file: &'static str) -> Vec<T> {
    let lists: BTreeMap<&str, Vec<T>> = basic_toml::from_str(file).expect("a data file is a list of entries");
    lists.into_values().flatten().collect()
}
