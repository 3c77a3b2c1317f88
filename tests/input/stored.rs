//! Numbers that stay in their file until they are asked for.

use std::fs;
use std::path::{Path, PathBuf};

use attn::graph::Origin;
use attn::input::{Files, stored};
use attn::matrix::Matrix;
use attn::read::Limit;
use attn_core::{AttendInputs, Graph, Recipe, attend};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/input").join(name)
}

/// The only tensor of a file as it is read at once, and its name.
fn whole(name: &str) -> (String, Matrix) {
    let path = file(name);
    let mut nothing = std::io::empty();
    let mut arrays = Files::new(&mut nothing).named(path.to_str().unwrap(), Limit::ANY).unwrap();
    let (entry, array) = arrays.remove(0);
    (entry.unwrap(), array.into_matrix().unwrap())
}

#[test]
fn they_are_those_that_are_read_at_once_in_every_type() {
    for name in
        ["f64.safetensors", "f32.safetensors", "f16.safetensors", "bf16.safetensors", "bool.safetensors"]
    {
        let (entry, expected) = whole(name);
        let tensor = stored(&file(name), &entry).unwrap();
        assert!(tensor.is_stored(), "{name}");
        assert!(tensor.matrix().unwrap().same_bits(&expected), "{name}");
        let first = tensor.rows(0..1).unwrap();
        assert_eq!(first.cells().collect::<Vec<_>>(), expected.row(0).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_pipeline_starts_from_them_as_from_any_others() {
    let (entry, expected) = whole("f32.safetensors");
    let from_file = stored(&file("f32.safetensors"), &entry).unwrap();
    let run = |inputs| attend(&Recipe::default(), inputs).unwrap();
    let result = |graph: &Graph| graph.matrix(graph.last().unwrap()).unwrap().clone();
    let (stored, given) = (run(AttendInputs::of_tokens(from_file)), run(AttendInputs::of_tokens(expected)));
    assert!(result(&stored).same_bits(&result(&given)));
}

#[test]
fn a_file_that_has_become_shorter_is_an_error_where_its_numbers_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.safetensors");
    fs::copy(file("f64.safetensors"), &path).unwrap();
    let (entry, _) = whole("f64.safetensors");
    let tensor = stored(&path, &entry).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
    let last = tensor.shape().rows - 1;
    for error in [tensor.rows(last..last + 1).unwrap_err(), tensor.matrix().unwrap_err()] {
        let said = error.to_string();
        assert!(
            said.contains("cut.safetensors") && said.contains("the file changed while it was in use"),
            "{said}"
        );
    }
    let mut graph = Graph::new();
    let said = graph.given("X", tensor, Origin::Stated).unwrap_err().to_string();
    assert!(said.contains("the file changed while it was in use"), "{said}");
}

#[test]
fn a_tensor_that_is_not_there_and_one_of_integers_are_refused() {
    let (entry, _) = whole("f64.safetensors");
    let said = stored(&file("f64.safetensors"), &format!("{entry}s")).unwrap_err().to_string();
    assert!(said.contains(&format!("there is no tensor `{entry}s`")) && said.contains("it has "), "{said}");
    let (entry, _) = whole("i32.safetensors");
    let said = stored(&file("i32.safetensors"), &entry).unwrap_err().to_string();
    assert!(said.contains("numbers of type I32 cannot stay in their file"), "{said}");
}
