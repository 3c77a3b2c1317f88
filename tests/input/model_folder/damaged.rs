//! Files of a model that are damaged, that do not agree, or that cannot be read.

use std::fs;
use std::path::Path;

use super::{CONFIG, Folder, INDEX, ONE, TWO, file, index, opened, pairs};

#[test]
fn an_index_that_does_not_agree_with_its_files_is_refused() {
    Folder::sharded().without(TWO).assert_refused(
        "FOLDER/model.safetensors.index.json: the index names the file model-00002-of-00002.safetensors, which is not in the \
         folder\n  help: the download was not finished: download this file too",
    );
    let other_files = "help: the index belongs to other files: download all of them again";
    Folder::sharded().with(TWO, pairs(&["c"], 0.0)).assert_refused(&format!(
        "FOLDER/model.safetensors.index.json: the index places the tensor `b` in model-00002-of-00002.safetensors, which does \
         not have it\n  {other_files}",
    ));
    let swapped = Folder::sharded().with(INDEX, index(TWO, ONE));
    swapped.assert_refused(&format!(
        "FOLDER/model.safetensors.index.json: the index places the tensor `a` in model-00002-of-00002.safetensors, but it is in \
         model-00001-of-00002.safetensors\n  {other_files}",
    ));
    Folder::sharded().with(TWO, pairs(&["a", "b"], 0.0)).assert_refused(
        "FOLDER: two files have a tensor `a`: model-00001-of-00002.safetensors and model-00002-of-00002.safetensors\n  help: \
         files of two models are mixed up here: download the model again into an empty folder",
    );
}

#[test]
fn an_index_that_is_none_is_refused() {
    for (text, expected) in [
        (r#"{"metadata": {}}"#, "the index has no `weight_map`"),
        (r#"{"weight_map": []}"#, "the index has no `weight_map`"),
        ("[1]", "the index has no `weight_map`"),
        (r#"{"weight_map": {}}"#, "the index names no tensor"),
        (r#"{"weight_map": {"a": 1}}"#, "the index names no file for the tensor `a`"),
        (
            r#"{"weight_map": {"a": "x", "a": "y"}}"#,
            "the index cannot be read: `a` appears twice at line 1 column 29",
        ),
        ("{", "the index cannot be read: EOF while parsing an object at line 1 column 1"),
    ] {
        let expected = format!(
            "FOLDER/model.safetensors.index.json: {expected}\n  help: download or save the file again"
        );
        Folder::new().with(INDEX, text).assert_refused(&expected);
    }
}

#[test]
fn damaged_files_of_tensors_are_refused() {
    let again = "help: download or save the file again";
    let good = pairs(&["a", "b"], 0.0);
    let said = |bytes: &[u8]| {
        let said = Folder::new().with("model.safetensors", bytes).refusal();
        let rest = said.strip_prefix("FOLDER/model.safetensors: ").unwrap_or_else(|| panic!("{said}"));
        rest.to_string()
    };
    assert_eq!(
        said(b""),
        "the file is empty (0 bytes)\n  help: check how it was made: the program that wrote it may have failed"
    );
    for length in 1..good.len() {
        let said = said(&good[..length]);
        assert!(said.contains("its header is cut off") || said.contains("bytes of tensors, but"), "{said}");
    }
    assert_eq!(
        said(&good[..good.len() - 1]),
        format!("the header says 16 bytes of tensors, but 15 follow\n  {again}")
    );
    let cut = format!("the .safetensors file is incomplete: its header is cut off\n  {again}");
    for length in [u64::MAX, 1 << 40, good.len() as u64] {
        assert_eq!(said(&[&length.to_le_bytes()[..], &good[8..]].concat()), cut);
    }
    let header = |text: &str| said(&file(text, &[0; 16]));
    let (overlap, hole) = ("`a` and `b` overlap", "there is a hole: 1 bytes between the tensors `a` and `b`");
    for (offsets, fault) in
        [("[0,8]", overlap), ("[4,12]", overlap), ("[9,17]", hole), ("[16,8]", "invalid offset for tensor `")]
    {
        let text = format!(
            r#"{{"a":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}},"b":{{"dtype":"F32","shape":[2],"data_offsets":{offsets}}}}}"#
        );
        let said = header(&text);
        assert!(said.contains(fault), "{offsets}: {said}");
        assert!(
            said.starts_with("the header of the .safetensors file cannot be read: ") && said.ends_with(again)
        );
    }
    for shape in ["[3]", "[1099511627776]", "[4611686018427387904,4611686018427387904]"] {
        let said = header(&format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":[0,16]}}}}"#));
        assert!(said.starts_with("the header of the .safetensors file cannot be read: "), "{said}");
    }
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 548105171\n";
    assert_eq!(
        said(pointer.as_bytes()),
        "this is only a pointer to the file: Git has not fetched the file itself\n  help: in the model's folder: git lfs pull"
    );
}

#[test]
fn a_header_longer_than_the_format_allows_is_refused_unread() {
    let folder = Folder::new().with("model.safetensors", 100_000_001u64.to_le_bytes());
    // Zeros that take no room on the disk.
    opened(&folder.path("model.safetensors")).set_len(100_000_100).unwrap();
    folder.assert_refused(
        "FOLDER/model.safetensors: the header of the .safetensors file has 100,000,001 bytes, but the format allows 100,000,000 \
         at most\n  help: download or save the file again",
    );
}

#[test]
fn a_configuration_that_is_no_text_is_refused() {
    let weights = pairs(&["a"], 0.0);
    let said = |config: &[u8]| {
        Folder::empty().with("config.json", config).with("model.safetensors", &weights).refusal()
    };
    assert!(said(b"").starts_with("FOLDER/config.json: the file is empty"));
    assert!(said(b"{\xff").starts_with("FOLDER/config.json:1:2: this is not UTF-8 text"));
    let folder = Folder::new();
    opened(&folder.path("config.json")).set_len((16 << 20) + 1).unwrap();
    folder.assert_refused(
        "FOLDER/config.json: a configuration has at most 16 MiB\n  help: this is another file: put the model's config.json in \
         its place",
    );
}

#[test]
fn a_folder_in_place_of_a_file_is_refused() {
    for name in ["config.json", "model.safetensors"] {
        let folder = Folder::empty();
        let folder = if name == "config.json" { folder } else { folder.with("config.json", CONFIG) };
        fs::create_dir(folder.path(name)).unwrap();
        folder.assert_refused(&format!(
            "FOLDER/{name}: this is a folder, not a file\n  help: put the model's own file in its place"
        ));
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused_and_not_waited_for() {
    for name in ["config.json", "model.safetensors", INDEX, ONE, "tokenizer.json"] {
        let folder = Folder::sharded().with(name, "").without(name);
        let pipe = folder.path(name);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let said = if name == "tokenizer.json" {
            let said = folder.open().required_tokenizer().unwrap().text().unwrap_err().to_string();
            said.replace(folder.0.path().to_str().unwrap(), "FOLDER")
        } else {
            folder.refusal()
        };
        let expected = format!(
            "FOLDER/{name}: this is not a regular file\n  help: put the model's own file in its place"
        );
        assert_eq!(said, expected);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let forbid = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    for name in ["config.json", ONE] {
        let folder = Folder::sharded();
        forbid(&folder.path(name));
        if fs::read(folder.path(name)).is_ok() {
            // The superuser reads every file.
            folder.open();
            return;
        }
        folder.assert_refused(&format!(
            "FOLDER/{name}: permission denied\n  help: you may not read this file: check its permissions"
        ));
    }
    let folder = Folder::sharded();
    forbid(folder.0.path());
    let said = folder.refusal();
    fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(
        said,
        "FOLDER: permission denied\n  help: you may not read this folder: check its permissions"
    );
}
