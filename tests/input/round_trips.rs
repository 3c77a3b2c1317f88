//! What is saved reads back with the same bits, and with its labels where the format has them.

use std::fs;
use std::path::Path;

use attn::input::{Files, LayerOptions, ReadOptions, WritePermission, save};
use attn::matrix::{Labels, Matrix};
use attn::read::AllowedNumbers;
use proptest::prelude::*;

const ENDINGS: [&str; 6] = ["npy", "npz", "safetensors", "csv", "tsv", "json"];
const LABELLED: [&str; 3] = ["csv", "tsv", "json"];

fn read(path: &Path) -> Matrix {
    Files::new(&mut std::io::empty()).matrix(path.to_str().unwrap(), AllowedNumbers::ANYTHING).unwrap()
}

/// The same from standard input, where no ending tells the format.
fn piped(path: &Path) -> Matrix {
    Files::new(&mut fs::File::open(path).unwrap()).matrix("-", AllowedNumbers::ANYTHING).unwrap()
}

#[track_caller]
fn assert_round_trips(matrix: &Matrix) {
    let folder = tempfile::tempdir().unwrap();
    for ending in ENDINGS {
        let path = folder.path().join(format!("A.{ending}"));
        save(&path, "A", matrix, WritePermission::Allowed).unwrap();
        for back in [read(&path), piped(&path)] {
            assert!(back.same_bits(matrix), ".{ending}: {back:?} is not {matrix:?}");
            if LABELLED.contains(&ending) {
                let text = || fs::read_to_string(&path).unwrap();
                assert_eq!(back.row_labels(), matrix.row_labels(), "rows of .{ending}: {}", text());
                assert_eq!(back.col_labels(), matrix.col_labels(), "columns of .{ending}: {}", text());
            }
        }
    }
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>().prop_map(|v| if v.is_nan() { 0.5 } else { v }),
        4 => (-1000i32..1000).prop_map(|v| f64::from(v) / 8.0),
        1 => prop_oneof![
            Just(-0.0), Just(f64::NEG_INFINITY), Just(f64::INFINITY), Just(5e-324), Just(f64::MIN_POSITIVE / 3.0),
            Just(f64::MAX), Just(1e16), Just(1e-5), Just(0.1 + 0.2)
        ],
    ]
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        "\\PC{0,4}",
        "[\\[\\]{}#|;,'\"() 0-9a.-]{0,4}",
        prop_oneof![
            Just(""),
            Just(" the"),
            Just("1"),
            Just("-inf"),
            Just("nan"),
            Just("true"),
            Just("#2"),
            Just("#"),
            Just("["),
            Just("[1"),
            Just("[CLS]"),
            Just("{"),
            Just("{\"a\""),
            Just("tensor([1"),
            Just("]"),
            Just("|"),
            Just("..."),
            Just("1,5"),
            Just("1 2"),
            Just("'"),
            Just("\u{a0}"),
            Just("a,b"),
            Just("a;b"),
            Just("say \"hi\""),
            Just("\""),
            Just("−3"),
            Just("values")
        ]
        .prop_map(str::to_string),
    ]
}

fn labels(count: usize) -> impl Strategy<Value = Option<Labels>> {
    prop_oneof![Just(None), proptest::collection::vec(label(), count).prop_map(|labels| Some(labels.into()))]
}

fn matrix() -> impl Strategy<Value = Matrix> {
    (1usize..5, 1usize..5).prop_flat_map(|(rows, cols)| {
        (proptest::collection::vec(value(), rows * cols), labels(rows), labels(cols)).prop_map(
            move |(values, row_labels, col_labels)| {
                Matrix::from_row_major(rows, cols, &values)
                    .unwrap()
                    .with_row_labels(row_labels)
                    .with_col_labels(col_labels)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_matrix_comes_back_from_every_format(matrix in matrix()) {
        assert_round_trips(&matrix);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC{0,60}|[0-9,;.\"\\n\\r\\t #eE+-]{0,60}|[\\[\\]{}\":,0-9 a]{0,60}") {
        let mut stdin = text.as_bytes();
        let _ = Files::new(&mut stdin).array("-", AllowedNumbers::ANYTHING);
        let mut stdin = text.as_bytes();
        let _ = Files::new(&mut stdin).bundle("-", LayerOptions::default(), ReadOptions::default());
        let mut stdin = text.as_bytes();
        let _ = Files::new(&mut stdin).word_vectors("-", &["1", "a"]);
        let _ = attn::read::inline(&text, AllowedNumbers::ANYTHING);
    }

    #[test]
    fn no_damage_to_a_file_makes_the_readers_panic(
        name in prop_oneof![Just("deflated.npz"), Just("model.safetensors"), Just("little_f8.npy"), Just("stored.npz")],
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = fs::read(format!("{}/tests/input/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let _ = Files::new(&mut std::io::empty()).array(path.to_str().unwrap(), AllowedNumbers::ANYTHING);
        let _ = Files::new(&mut std::io::empty()).bundle(path.to_str().unwrap(), LayerOptions { layer: Some("0"), ..LayerOptions::default() }, ReadOptions::default());
    }
}

#[test]
fn the_hard_numbers_come_back_from_every_format() {
    let third = 1.0 / 3.0;
    assert_round_trips(&Matrix::of([
        [-0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY],
        [5e-324, f64::MIN_POSITIVE / 7.0, f64::MAX, f64::MIN],
        [third, 0.1 + 0.2, 1e23, -9007199254740993.0],
    ]));
}

#[test]
fn nan_is_saved_where_it_is_data() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ENDINGS {
        let path = folder.path().join(format!("A.{ending}"));
        save(&path, "A", &Matrix::of([[f64::NAN, 1.0]]), WritePermission::Allowed).unwrap();
        assert!(read(&path)[(0, 0)].is_nan(), "{ending}");
    }
}

#[test]
fn saved_text_is_what_a_person_would_write() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = Matrix::of([[0.25, f64::NEG_INFINITY], [-0.0, 1e-7]])
        .rows_named(&["bat", "2"])
        .cols_named(&["x", "y"]);
    for (ending, expected) in [
        ("csv", ",x,y\nbat,0.25,-inf\n\"2\",-0,1e-7\n"),
        ("tsv", "\tx\ty\nbat\t0.25\t-inf\n\"2\"\t-0\t1e-7\n"),
        (
            "json",
            "{\"rows\":[\"bat\",\"2\"],\"cols\":[\"x\",\"y\"],\"values\":[[0.25,\"-inf\"],[-0.0,1e-7]]}\n",
        ),
    ] {
        let path = folder.path().join(format!("A.{ending}"));
        save(&path, "A", &matrix, WritePermission::Allowed).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}

#[test]
fn the_same_matrix_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ENDINGS {
        let [first, second] = ["1", "2"].map(|name| folder.path().join(format!("{name}.{ending}")));
        save(&first, "A", &Matrix::identity(3), WritePermission::Allowed).unwrap();
        save(&second, "A", &Matrix::identity(3), WritePermission::Allowed).unwrap();
        assert_eq!(fs::read(first).unwrap(), fs::read(second).unwrap(), "{ending}");
    }
}

#[test]
fn an_unknown_ending_is_refused_with_those_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    for (name, what) in [("A.xlsx", "files that end in `.xlsx` cannot be written"), ("A", "no ending")] {
        let error = save(&folder.path().join(name), "A", &Matrix::identity(2), WritePermission::Allowed)
            .unwrap_err()
            .to_string();
        assert!(error.contains(what) && error.contains("choose .npy"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/A.csv");
    let error = save(&missing, "A", &Matrix::identity(2), WritePermission::Allowed).unwrap_err();
    assert!(error.to_string().contains("A.csv: there is no folder"), "{error}");
    let directory = folder.path().join("A.csv");
    fs::create_dir(&directory).unwrap();
    assert!(save(&directory, "A", &Matrix::identity(2), WritePermission::Allowed).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_new_file_may_be_read_by_all_and_an_old_one_keeps_its_permissions_and_links() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    // What the system gives to any new file under this umask.
    let ordinary = folder.path().join("ordinary");
    fs::write(&ordinary, "").unwrap();
    let path = folder.path().join("A.csv");
    save(&path, "A", &Matrix::identity(2), WritePermission::Allowed).unwrap();
    assert_eq!(mode(&path), mode(&ordinary));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    save(&link, "A", &Matrix::identity(3), WritePermission::Allowed).unwrap();
    assert_eq!((mode(&path), read(&path).rows()), (0o640, 3));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}
