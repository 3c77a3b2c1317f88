//! Files of tensors that are damaged or do not fit the model.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{assert_refused, case};
use crate::model::broken_folders::{WEIGHTS, copied, parts, tensor_file, with_file, with_header};

const GAIN: &str = "model.norm.weight";

/// A header in which one tensor has other fields.
fn tensor(name: &'static str, fields: Value) -> TempDir {
    with_header("llama-a", |header, _| {
        for (key, value) in fields.as_object().unwrap() {
            header[name][key] = value.clone();
        }
    })
}

/// A header in which a tensor has numbers of another type.
fn typed(dtype: &str, bytes: usize) -> TempDir {
    with_header("llama-a", |header, numbers| {
        let entry = header.remove(GAIN).unwrap();
        let count = entry["shape"][0].as_u64().unwrap() as usize;
        let [from, to] = [0, 1].map(|end| entry["data_offsets"][end].as_u64().unwrap() as usize);
        let change = (bytes * count) as i64 - (to - from) as i64;
        numbers.splice(from..to, vec![0; bytes * count]);
        for (_, other) in header.iter_mut().filter(|(name, _)| *name != "__metadata__") {
            for end in [0, 1] {
                let offset = other["data_offsets"][end].as_i64().unwrap();
                let moved = if offset >= to as i64 { offset + change } else { offset };
                other["data_offsets"][end] = moved.into();
            }
        }
        let offsets = json!([from, from + bytes * count]);
        header.insert(GAIN.into(), json!({"dtype": dtype, "shape": [count], "data_offsets": offsets}));
    })
}

#[test]
fn files_that_are_cut_off_or_whose_header_lies() {
    let good = fs::read(copied("llama-a").path().join(WEIGHTS)).unwrap();
    let written = |bytes: &[u8]| with_file(copied("llama-a"), WEIGHTS, bytes);
    let length = |length: u64| written(&[&length.to_le_bytes(), &good[8..]].concat());
    let place = "FOLDER/model.safetensors: ";
    let cut = "its header is cut off";
    let short = "bytes of tensors, but";
    let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    assert_refused(
        [
            case("an empty file", written(b""), &[place, "the file is empty"]),
            case("cut off in the length", written(&good[..5]), &[place, cut]),
            case("cut off in the header", written(&good[..100]), &[place, cut]),
            case("cut off in the numbers", written(&good[..good.len() / 2]), &[place, short]),
            case("cut off at the end", written(&good[..good.len() - 1]), &[place, short]),
            case("bytes behind the end", written(&[&good[..], b"xx"].concat()), &[place, short]),
            case("a length of 2^60", length(1 << 60), &[place, cut]),
            case("a length of 2^64 − 1", length(u64::MAX), &[place, cut]),
            case("a length beyond the file", length(good.len() as u64), &[place, cut]),
            case("a length of 0", length(0), &[place, "cannot be read"]),
            case("a file that Git has not fetched", written(lfs), &[place, "git lfs pull"]),
        ],
        11,
    );
}

#[test]
fn headers_that_are_wrong() {
    let good = fs::read(copied("llama-a").path().join(WEIGHTS)).unwrap();
    let (header, numbers) = parts(&good);
    let in_header = |header: &[u8]| with_file(copied("llama-a"), WEIGHTS, tensor_file(header, &numbers));
    let empty = with_file(copied("llama-a"), WEIGHTS, tensor_file(b"{}", b""));
    let text = Value::Object(header.clone()).to_string();
    let twice = text.replacen('{', &format!("{{\"{GAIN}\":{},", header[GAIN]), 1);
    let [from, to] = [0, 1].map(|end| header[GAIN]["data_offsets"][end].as_u64().unwrap());
    let overlap = tensor(GAIN, json!({"data_offsets": [from - 4, to - 4]}));
    let hole = with_header("llama-a", |header, numbers| {
        header[GAIN]["data_offsets"] = json!([from + 8, to + 8]);
        numbers.extend([0; 8]);
    });
    let huge = tensor(GAIN, json!({"shape": [1u64 << 40, 1u64 << 40]}));
    let offset = "there is a hole: 8 bytes between the tensors `";
    let unread = "FOLDER/model.safetensors: the header of the .safetensors file cannot be read";
    assert_refused(
        [
            case("not JSON", in_header(b"tensors"), &[unread]),
            case("a list", in_header(b"[1,2]"), &[unread]),
            case("not text", in_header(b"{\"\xff\":1}"), &[unread]),
            case("deep", in_header(&[b'['; 90_000]), &[unread, "recursion limit"]),
            case("a name twice", in_header(twice.as_bytes()), &[unread, "`model.norm.weight` appears twice"]),
            case("overlapping tensors", overlap, &[unread, "the tensors `", "overlap"]),
            case("a hole between tensors", hole, &[unread, offset]),
            case("a huge shape", huge, &[unread, "overflow"]),
            case("a negative shape", tensor(GAIN, json!({"shape": [-4]})), &[unread, "-4"]),
            case("an unknown type", tensor(GAIN, json!({"dtype": "F128"})), &[unread, "`F128`"]),
            case("no tensors", empty, &["FOLDER: 20 tensors of the model are missing"]),
        ],
        11,
    );
}

#[test]
fn tensors_that_do_not_fit_the_model() {
    let up = "model.layers.0.mlp.up_proj.weight";
    let transposed = tensor(up, json!({"shape": [24, 42]}));
    let type_of = |dtype: &str| format!("FOLDER: `model.norm.weight` has numbers of the type {dtype}");
    let (quantised, others) = ("a quantised model is not run here", "weights are numbers of the types");
    let missing = with_header("llama-a", |header, numbers| {
        let from = header.remove(GAIN).unwrap()["data_offsets"][0].as_u64().unwrap();
        numbers.truncate(from as usize);
    });
    let surplus = with_header("llama-a", |header, numbers| {
        let end = numbers.len();
        let entry = json!({"dtype": "F32", "shape": [2], "data_offsets": [end, end + 8]});
        header.insert("model.layers.0.extra.weight".into(), entry);
        numbers.extend([0; 8]);
    });
    let belongs = "FOLDER: 1 tensor of the file belongs to no Llama model: `model.layers.0.extra.weight`";
    let nan = with_header("words", |_, numbers| numbers.fill(0xff));
    assert_refused(
        [
            case("a transposed matrix", transposed, &["FOLDER: ", up, "24×42 in the file", "42×24"]),
            case("a matrix as a vector", tensor(up, json!({"shape": [1008]})), &[up, "1008 in the file"]),
            case("I64", typed("I64", 8), &[&type_of("I64"), others]),
            case("BOOL", typed("BOOL", 1), &[&type_of("BOOL"), others]),
            case("F8", typed("F8_E4M3", 1), &[&type_of("F8_E4M3"), quantised]),
            case("U8", typed("U8", 1), &[&type_of("U8"), quantised]),
            case(
                "a missing tensor",
                missing,
                &["FOLDER: 1 tensor of the model is missing: `model.norm.weight`"],
            ),
            case("a surplus tensor", surplus, &[belongs]),
            case("NaN weights", nan, &["predicts nothing at position 3: a logit is NaN", "--layer 1"]),
        ],
        9,
    );
}
