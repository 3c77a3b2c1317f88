//! Files outside of the folder, and the links of a hub cache.

use std::fs;

use attn::input::{ModelFolder, ReadPermission};
use attn::model::Checkpoint;

use super::{CONFIG, Folder, INDEX, ONE, TWO, index, numbers, pairs};

#[test]
fn files_outside_of_the_folder_are_not_opened() {
    let outside = Folder::empty().with("out.safetensors", pairs(&["b"], 0.0));
    let absolute = outside.path("out.safetensors").to_str().unwrap().to_string();
    for shard in
        ["../out.safetensors", "sub/../../out.safetensors", "/dev/zero", &absolute, "", ".", r"..\\x", "C:x"]
    {
        let said = Folder::sharded().with(INDEX, index(ONE, shard)).refusal();
        assert!(
            said.starts_with(
                "FOLDER/model.safetensors.index.json: the index places the tensor `b` in `"
            ) && said.ends_with(
                "`, outside of the folder, and such files are not opened\n  help: download the model again, from a source that you trust"
            ),
            "{shard}: {said}"
        );
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_for_a_user_and_not_for_a_lesson() {
    let outside = Folder::new().with(TWO, pairs(&["b"], 5.0)).with("tokenizer.json", "{}");
    for name in [TWO, "config.json", "tokenizer.json"] {
        let folder = Folder::sharded().with(name, "").with("lesson.md", "");
        let folder = folder.without(name).linked(name, outside.path(name));
        assert_eq!(numbers(&folder.open().tensors.tensor("b").unwrap()).len(), 2, "{name}");
        let lesson = folder.path("lesson.md");
        let reading = ReadPermission::of_lesson(lesson.to_str().unwrap());
        let said = ModelFolder::within(folder.0.path(), None, &reading).unwrap_err().to_string();
        assert!(said.contains("a lesson reads only files below its own folder"), "{name}: {said}");
    }
    let inside = Folder::sharded().with("data/b", pairs(&["b"], 7.0)).without(TWO).linked(TWO, "data/b");
    assert_eq!(numbers(&inside.open().tensors.tensor("b").unwrap()), [7.0, 8.0]);
    let dangling = Folder::sharded().without(TWO).linked(TWO, "blobs/none");
    dangling.assert_refused(&format!(
        "FOLDER/{TWO}: this is a link to a file that is not there\n  help: the download was not finished, or the file was moved: \
         download the model again"
    ));
    let linked = Folder::empty();
    std::os::unix::fs::symlink(inside.0.path(), linked.path("model")).unwrap();
    assert!(ModelFolder::open(&linked.path("model")).is_ok(), "the folder itself may be a link");
}

/// A hub cache with two snapshots, whose files are links to blobs.
#[cfg(unix)]
fn hub() -> Folder {
    let mut hub = Folder::empty();
    for (snapshot, first) in [("0a1b", 1.0), ("2c3d", 3.0)] {
        let base = "hub/models--org--name";
        for (name, contents) in
            [("config.json", CONFIG.as_bytes()), ("model.safetensors", &pairs(&["a"], first))]
        {
            let blob = format!("{snapshot}-{name}");
            hub = hub
                .with(&format!("{base}/blobs/{blob}"), contents)
                .linked(&format!("{base}/snapshots/{snapshot}/{name}"), format!("../../blobs/{blob}"));
        }
    }
    hub
}

#[cfg(unix)]
#[test]
fn a_hub_cache_opens_at_its_snapshot_and_above_it() {
    let hub = hub();
    let first = |path: &str| {
        let model = ModelFolder::open(&hub.path(path)).unwrap();
        (numbers(&model.tensors.tensor("a").unwrap())[0], model.path.unwrap())
    };
    let base = "hub/models--org--name";
    for (snapshot, number) in [("0a1b", 1.0), ("2c3d", 3.0)] {
        let path = format!("{base}/snapshots/{snapshot}");
        assert_eq!(first(&path), (number, hub.path(&path)));
    }
    let name = "help: name one of the folders in FOLDER/hub/models--org--name/snapshots: `0a1b`, `2c3d`";
    let several =
        format!("FOLDER/{base}: this hub cache has 2 snapshots, and refs/main names none of them\n  {name}");
    assert_eq!(hub.refusal_of(base), several);
    for (main, number) in [("2c3d", 3.0), ("0a1b\n", 1.0)] {
        fs::create_dir_all(hub.path(&format!("{base}/refs"))).unwrap();
        fs::write(hub.path(&format!("{base}/refs/main")), main).unwrap();
        let expected = hub.path(&format!("{base}/snapshots/{}", main.trim()));
        assert_eq!(first(base), (number, expected));
    }
    for main in ["../blobs", "", "4e5f"] {
        fs::write(hub.path(&format!("{base}/refs/main")), main).unwrap();
        assert_eq!(hub.refusal_of(base), several, "{main}");
    }
    fs::remove_dir_all(hub.path(&format!("{base}/snapshots/0a1b"))).unwrap();
    assert_eq!(first(base).0, 3.0, "the only snapshot needs no name");
    fs::remove_dir_all(hub.path(&format!("{base}/snapshots/2c3d"))).unwrap();
    assert_eq!(
        hub.refusal_of(base),
        format!(
            "FOLDER/{base}: this hub cache has no snapshot of the model\n  help: the download was not finished: download the \
             model again"
        )
    );
}

#[cfg(unix)]
#[test]
fn a_lesson_opens_no_model_whose_files_are_outside_of_its_folder() {
    let hub = hub().with("hub/models--org--name/snapshots/lesson.md", "");
    let lesson = hub.path("hub/models--org--name/snapshots/lesson.md");
    let reading = ReadPermission::of_lesson(lesson.to_str().unwrap());
    let said =
        ModelFolder::within(&hub.path("hub/models--org--name/snapshots/0a1b"), None, &reading).unwrap_err();
    assert!(said.to_string().contains("a lesson reads only files below its own folder"), "{said}");
    let model = Folder::new().with("model.safetensors", pairs(&["a"], 0.0)).with("lesson.md", "");
    let reading = ReadPermission::of_lesson(model.path("lesson.md").to_str().unwrap());
    assert!(ModelFolder::within(model.0.path(), None, &reading).is_ok());
}
