//! Every format that is read, against what NumPy reads from the same files (`tests/input/make_files.py`).

use attn::error::Result;
use attn::graph::Role;
use attn::input::{Bundle, Files, LayerOptions, Layout, ReadOptions};
use attn::matrix::Matrix;
use attn::read::{AllowedNumbers, Array};
use attn::tensor::{Dtype, Tensor};
use serde_json::Value;

fn path(name: &str) -> String {
    format!("{}/tests/input/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn array(source: &str, allow: AllowedNumbers) -> Result<Array> {
    Files::new(&mut std::io::empty()).array(source, allow)
}

fn bundle(name: &str, layer: Option<&str>) -> Result<Bundle> {
    Files::new(&mut std::io::empty()).bundle(
        &path(name),
        LayerOptions { layer, ..LayerOptions::default() },
        ReadOptions::default(),
    )
}

fn piped(bytes: &[u8]) -> Result<Array> {
    let mut stdin = bytes;
    Files::new(&mut stdin).array("-", AllowedNumbers::FINITE)
}

fn expectations() -> Value {
    serde_json::from_str(&std::fs::read_to_string(path("expected.json")).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        value => value.as_f64().unwrap(),
    }
}

#[track_caller]
fn assert_as_expected(name: &str, array: &Array) {
    let all = expectations();
    let expected = &all[name];
    let dims: Vec<usize> =
        expected["dims"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap() as usize).collect();
    let bits: Vec<u64> = expected["values"].as_array().unwrap().iter().map(|v| number(v).to_bits()).collect();
    assert_eq!(array.dims(), dims, "{name}");
    assert_eq!(
        array.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
        bits,
        "{name}: {:?}",
        array.values()
    );
    assert_eq!(array.facts.boolean, expected["boolean"].as_bool().unwrap(), "{name}");
    assert_eq!(array.facts.decimals, expected["decimals"].as_u64().map(|d| d as usize), "{name}: decimals");
}

/// The numbers of a tensor as they are stored: head by head, row by row.
fn stored(tensor: &Tensor) -> Vec<f64> {
    let (heads, shape) = (tensor.head_count(), tensor.shape());
    let width = shape.cols / heads;
    let of_head = |head: usize| {
        let cells = move |i: usize| (0..width).map(move |j| (i, head * width + j));
        (0..shape.rows).flat_map(cells)
    };
    (0..heads).flat_map(of_head).map(|(i, j)| tensor.at(i, j)).collect()
}

#[track_caller]
fn assert_entry(name: &str, tensor: &Tensor) {
    let all = expectations();
    let expected = &all[name];
    let dims: Vec<usize> =
        expected["dims"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap() as usize).collect();
    let bits: Vec<u64> = expected["values"].as_array().unwrap().iter().map(|v| number(v).to_bits()).collect();
    assert_eq!(tensor.dims(), dims, "{name}");
    assert_eq!(stored(tensor).iter().map(|v| v.to_bits()).collect::<Vec<_>>(), bits, "{name}: {tensor:?}");
    assert_eq!(tensor.dtype() == Dtype::Bool, expected["boolean"].as_bool().unwrap(), "{name}");
}

#[test]
fn every_type_and_order_of_npy_is_read_as_numpy_reads_it() {
    let names: Vec<String> =
        expectations().as_object().unwrap().keys().filter(|n| n.ends_with(".npy")).cloned().collect();
    assert_eq!(names.len(), 27);
    for name in names {
        assert_as_expected(&name, &array(&path(&name), AllowedNumbers::INFINITE).unwrap());
    }
}

#[test]
fn every_type_of_safetensors_is_read() {
    for kind in ["f64", "f32", "f16", "bf16", "bool", "i32"] {
        let name = format!("{kind}.safetensors");
        assert_as_expected(&name, &array(&path(&name), AllowedNumbers::FINITE).unwrap());
    }
}

#[test]
fn stacks_become_heads_and_lists_become_rows() {
    for name in ["heads.npy", "heads_in_a_batch.npy"] {
        let heads = array(&path(name), AllowedNumbers::FINITE).unwrap().into_heads().unwrap();
        assert_eq!(heads.len(), 2);
        assert!(heads[1].same_bits(&Matrix::of([[0.75, 0.875], [1.0, 1.125], [1.25, 1.375]])), "{name}");
    }
    let row = Files::new(&mut std::io::empty()).matrix(&path("row.npy"), AllowedNumbers::FINITE).unwrap();
    assert!(row.same_bits(&Matrix::of([[1.0, 2.5, 4.0]])));
    let error = Files::new(&mut std::io::empty())
        .matrix(&path("heads.npy"), AllowedNumbers::FINITE)
        .unwrap_err()
        .to_string();
    assert!(error.contains("heads.npy: this is a stack of 2 heads of shape (2, 3, 2)"), "{error}");
}

#[test]
fn arrays_of_anything_but_numbers_are_refused_with_a_remedy() {
    for name in ["complex.npy", "records.npy", "objects.npy"] {
        let error = array(&path(name), AllowedNumbers::ANYTHING).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("array.astype(float)"), "{error}");
    }
}

#[test]
fn nan_is_refused_with_its_cell_unless_it_is_data() {
    let error = array(&path("with_nan.npy"), AllowedNumbers::INFINITE).unwrap_err().to_string();
    assert!(error.contains("with_nan.npy, row 2, column 2: this is NaN"), "{error}");
    assert!(array(&path("with_nan.npy"), AllowedNumbers::ANYTHING).unwrap().values()[3].is_nan());
    let error = array(&path("scores.npy"), AllowedNumbers::FINITE).unwrap_err().to_string();
    assert!(error.contains("scores.npy, row 1, column 2: `-inf`"), "{error}");
}

#[test]
fn an_npz_is_a_bundle_stored_or_deflated() {
    for name in ["stored.npz", "deflated.npz"] {
        let bundle = bundle(name, None).unwrap();
        let names: Vec<&str> = bundle.entries.keys().map(|role| role.name()).collect();
        assert_eq!(names, ["X", "W_Q", "W_K", "W_V", "M"], "{name}");
        for (role, stored) in
            [(Role::X, "X"), (Role::WQ, "wq"), (Role::WK, "W_K"), (Role::WV, "W_V"), (Role::Mask, "mask")]
        {
            let entry = &bundle.entries[&role];
            assert_entry(&format!("npz/{stored}"), &entry.tensor);
            assert_eq!((entry.layout, entry.name.as_str()), (None, stored));
        }
        assert_eq!(bundle.tokens.as_deref().unwrap(), ["bat", "cave", "racket"]);
    }
}

#[test]
fn one_array_from_several_is_an_error_that_lists_them() {
    let error = array(&path("stored.npz"), AllowedNumbers::FINITE).unwrap_err().to_string();
    assert!(error.contains("the file has 6 arrays, but one is needed: `tokens`, `mask`, `X`"), "{error}");
}

#[test]
fn one_layer_of_a_model_is_read_and_the_rest_left_alone() {
    let error = bundle("model.safetensors", None).unwrap_err().to_string();
    assert!(
        error.contains(
            "there are 2 layers, but one is needed: `model.layers.0.self_attn`, `model.layers.1.self_attn`"
        ),
        "{error}"
    );
    let layer = bundle("model.safetensors", Some("1")).unwrap();
    for (role, letter) in [(Role::WQ, "q"), (Role::WK, "k"), (Role::WV, "v"), (Role::WO, "o")] {
        let entry = &layer.entries[&role];
        assert_entry(&format!("model/model.layers.1.self_attn.{letter}_proj.weight"), &entry.tensor);
        assert_eq!(entry.layout, Some(Layout::OutIn));
    }
    assert!(layer.notes.is_empty());
    let layer = bundle("model.safetensors", Some("0")).unwrap();
    assert!(layer.notes[0].starts_with("q_proj.bias in ") && layer.notes[0].contains("is 0"));
}

#[test]
fn a_stacked_projection_is_taken_apart() {
    let bundle = bundle("stacked.safetensors", None).unwrap();
    for role in [Role::WQ, Role::WK, Role::WV] {
        assert_entry(&format!("stacked/{}", role.name()), &bundle.entries[&role].tensor);
        assert_eq!(bundle.entries[&role].layout, Some(Layout::OutIn));
    }
    assert_eq!(stored(&bundle.entries[&Role::WO].tensor), [1.0, 0.0, 0.0, 1.0]);
    assert!(bundle.notes[0].starts_with("in_proj_bias in "));
}

#[test]
fn a_projection_stacked_side_by_side_is_taken_apart_too() {
    // As GPT-2 stores it: (in, out), the columns of the query, then those of the key, then those of the value.
    let mut stdin = &br#"{"h.0.attn.c_attn.weight": [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]}"#[..];
    let bundle = Files::new(&mut stdin).bundle("-", LayerOptions::default(), ReadOptions::default()).unwrap();
    for (role, values) in [
        (Role::WQ, [1.0, 2.0, 7.0, 8.0]),
        (Role::WK, [3.0, 4.0, 9.0, 10.0]),
        (Role::WV, [5.0, 6.0, 11.0, 12.0]),
    ] {
        assert_eq!(
            (bundle.entries[&role].tensor.dims(), stored(&bundle.entries[&role].tensor)),
            (vec![2, 2], values.to_vec())
        );
        assert_eq!(bundle.entries[&role].layout, Some(Layout::InOut));
    }
    let mut stdin = &br#"{"in_proj_weight": [[1, 2], [3, 4]]}"#[..];
    let error = Files::new(&mut stdin)
        .bundle("-", LayerOptions::default(), ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("the shape is (2, 2), but it should be 3E×E"), "{error}");
}

#[test]
fn heads_that_leave_a_gap_or_differ_are_refused() {
    for (text, said) in [
        (r#"{"Q_1": [[1, 2]], "Q_3": [[1, 2]]}"#, "Q has the heads 1, 3"),
        (r#"{"Q_1": [[1, 2]], "Q_2": [[1]]}"#, "Q_2 has the shape [1, 1], but Q_1 has [1, 2]"),
    ] {
        let mut stdin = text.as_bytes();
        let error = Files::new(&mut stdin)
            .bundle("-", LayerOptions::default(), ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn names_from_a_file_keep_their_characters_until_they_are_shown() {
    let mut stdin = &b"{\"\\u001b[31mattn.qkv.weight\": [[1], [2], [3]]}"[..];
    let bundle = Files::new(&mut stdin).bundle("-", LayerOptions::default(), ReadOptions::default()).unwrap();
    assert_eq!(bundle.entries[&Role::WQ].name, "\u{1b}[31mattn.qkv.weight");
    assert!(!bundle.notes[0].contains('\u{1b}'), "{}", bundle.notes[0]);
}

#[test]
fn json_holds_a_bundle_with_tokens_heads_and_a_mask() {
    let text = br#"{"tokens": ["bat", "cave"], "Q_1": [[1, 2]], "Q_2": [[3, 4]],
        "K": {"cols": ["x", "y"], "values": [[1, 0]]}, "v": [[5, 6]], "mask": [[0, "-inf"]]}"#;
    let mut stdin = &text[..];
    let bundle = Files::new(&mut stdin).bundle("-", LayerOptions::default(), ReadOptions::default()).unwrap();
    assert_eq!(bundle.tokens.as_deref().unwrap(), ["bat", "cave"]);
    assert_eq!(bundle.entries[&Role::Q].tensor.dims(), [2, 1, 2]);
    assert_eq!(stored(&bundle.entries[&Role::Q].tensor), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(bundle.entries[&Role::K].tensor.col_labels().unwrap()[..], ["x", "y"]);
    assert_eq!(stored(&bundle.entries[&Role::Mask].tensor), [0.0, f64::NEG_INFINITY]);
}

#[test]
fn the_given_nodes_of_a_written_graph_are_a_bundle() {
    let text = br#"{"schema": "attn-graph", "version": 1, "command": "attend", "graphs": [{"title": "t", "nodes": [
        {"name": "X", "op": "given", "inputs": [], "rows": ["bat", "cave"], "cols": null, "values": [[3, 3], [4, 0]]},
        {"name": "S", "op": "product", "inputs": ["X", "X"], "values": [[18, 12], [12, 16]]}]}]}"#;
    let mut stdin = &text[..];
    let bundle = Files::new(&mut stdin).bundle("-", LayerOptions::default(), ReadOptions::default()).unwrap();
    assert_eq!(bundle.entries.keys().collect::<Vec<_>>(), [&Role::X]);
    assert_eq!(bundle.entries[&Role::X].tensor.row_labels().unwrap()[..], ["bat", "cave"]);
}

#[test]
fn names_that_mean_the_same_are_refused() {
    let mut stdin = &br#"{"X": [[1]], "x": [[2]]}"#[..];
    let error = Files::new(&mut stdin)
        .bundle("-", LayerOptions::default(), ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("`X` and `x` are both X"), "{error}");
}

#[test]
fn standard_input_is_known_by_how_it_starts() {
    for name in ["little_f8.npy", "f64.safetensors"] {
        let bytes = std::fs::read(path(name)).unwrap();
        assert_as_expected(name, &piped(&bytes).unwrap());
    }
    let npz = std::fs::read(path("deflated.npz")).unwrap();
    let mut stdin = &npz[..];
    assert_eq!(
        Files::new(&mut stdin)
            .bundle("-", LayerOptions::default(), ReadOptions::default())
            .unwrap()
            .entries
            .len(),
        5
    );
    for text in [
        "[[1, 2], [3, 4]]",
        "1,2\n3,4",
        "1 2\n3 4",
        "\u{feff}1;2\n3;4",
        "x\ty\n1\t2\n3\t4",
        r#"{"values": [[1, 2], [3, 4]]}"#,
    ] {
        assert_eq!(piped(text.as_bytes()).unwrap().values(), [1.0, 2.0, 3.0, 4.0], "{text:?}");
    }
}

#[test]
fn standard_input_can_be_read_once_by_each_run() {
    let mut stdin = &b"1 2"[..];
    let mut files = Files::new(&mut stdin);
    assert!(files.array("-", AllowedNumbers::FINITE).is_ok());
    let error = files.array("-", AllowedNumbers::FINITE).unwrap_err().to_string();
    assert!(error.starts_with("standard input: standard input can be read only once"), "{error}");
    assert_eq!(piped(b"3").unwrap().values(), [3.0]);
}

#[test]
fn a_matrix_may_be_typed_in_place() {
    assert_eq!(array("1 2; \u{2212}3 4", AllowedNumbers::FINITE).unwrap().values(), [1.0, 2.0, -3.0, 4.0]);
    let error = array("1 2; 3 -inf", AllowedNumbers::FINITE).unwrap_err().to_string();
    assert!(error.starts_with("`1 2; 3 -inf`, row 2, column 2: `-inf`"), "{error}");
}

#[test]
fn word_vectors_come_from_plain_and_packed_files_and_from_standard_input() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let text = b"3 2\nbat 3 3\ncave 4 0\nracket 0 5\n";
    let plain = folder.path().join("vectors.txt");
    std::fs::write(&plain, text).unwrap();
    let packed = folder.path().join("vectors.gz");
    let mut encoder =
        flate2::write::GzEncoder::new(std::fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap();
    for source in [plain.to_str().unwrap(), packed.to_str().unwrap(), "-"] {
        let mut stdin = &text[..];
        let vectors = Files::new(&mut stdin).word_vectors(source, &["racket", "bat"]).unwrap();
        assert_eq!(
            (vectors.width, vectors.rows),
            (2, vec![Some(vec![0.0, 5.0]), Some(vec![3.0, 3.0])]),
            "{source}"
        );
    }
    let found = Files::new(&mut std::io::empty()).word_vectors(packed.to_str().unwrap(), &["cavee"]).unwrap();
    assert_eq!(found.rows, [None]);
    assert!(found.hints[0].contains("did you mean `cave`?"), "{:?}", found.hints);
}
