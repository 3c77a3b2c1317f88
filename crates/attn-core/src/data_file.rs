//! Content without logic: data files in TOML that are part of the program.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// What a data file holds. A fault in it is found by the tests, which read every data file.
///
/// # Panics
/// If the file does not hold this.
pub fn read<T: Deserialize<'static>>(file: &'static str) -> T {
    // Read once for all types: a reader of TOML for each would take a twentieth of the program of pages.
    let values: Value = basic_toml::from_str(file).expect("a data file is TOML");
    T::deserialize(Box::leak(Box::new(values)) as &Value)
        .expect("a data file has the form that its reader expects")
}

/// The entries of a data file, which has one list.
///
/// # Panics
/// If the file is not a list of such entries.
pub fn entries<T: Deserialize<'static>>(file: &'static str) -> Vec<T> {
    let lists: BTreeMap<&str, Vec<T>> = read(file);
    lists.into_values().flatten().collect()
}
