//! `attn diagnose`, typed as a user types it; what comes back for every mistake is tested in `diagnose.rs`.

use std::collections::BTreeSet;

use crate::common::{attn, one_in};
use crate::exercise::{
    EXERCISE, INVERTED, MASKED_WITH_A_BILLION, NO_SCALE, QUERIES_SCALED, RIGHT, X, by_hand, doubles, ids,
    judged, npy, place, transposed, typed, yours,
};
use serde_json::{Value, json};

#[test]
fn the_right_numbers_are_right() {
    let outcome = yours(typed(RIGHT));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.starts_with("O is right.\n"), "{}", outcome.out);
    assert!(outcome.err.is_empty(), "{}", outcome.err);
}

#[test]
fn a_forgotten_scale_is_told_in_the_first_sentence() {
    let outcome = yours(typed(NO_SCALE));
    assert_eq!(outcome.code, 1);
    let first = outcome.out.split("\n\n").next().unwrap().replace('\n', " ");
    assert_eq!(
        first,
        "O is wrong, from O[2,1] on. The scores were not divided by √d_k before the softmax. [no-scale]"
    );
    let said = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("attn demo scale"), "{said}");
    // 0.28370148861 - 0.04707418065
    assert!(outcome.out.contains("0.237") && outcome.out.contains("O[2,4]"), "{}", outcome.out);
}

#[test]
fn rounded_by_hand_it_is_right_to_the_decimals_that_it_carries() {
    for decimals in 1..=6 {
        assert_eq!(yours(by_hand(RIGHT, decimals)).code, 0, "{decimals} decimals");
    }
    // 1.228 in the last row: one unit of the second decimal off is wrong, as is what was cut off.
    let off = by_hand(RIGHT, 2).replace("1.23", "1.24");
    assert_eq!(yours(off).code, 1);
    assert_eq!(yours(by_hand(RIGHT, 2).replace("1.23", "1.22")).code, 1);
    let rounded = judged(&[by_hand(NO_SCALE, 2)]);
    assert_eq!(ids(&rounded), [["no-scale"]]);
}

#[test]
fn a_tolerance_is_what_the_user_says() {
    let off = typed(RIGHT).replace("1.2279426767190142", "1.2289426767190142");
    assert_eq!(yours(&off).code, 1);
    assert_eq!(attn(EXERCISE).arg("--yours").arg(&off).arg("--atol").arg("0.0011").run().code, 0);
    assert_eq!(attn(EXERCISE).arg("--yours").arg(&off).arg("--rtol").arg("1e-3").run().code, 0);
    assert_eq!(attn(EXERCISE).arg("--yours").arg(&off).arg("--atol").arg("0.0009").run().code, 1);
}

#[test]
fn what_is_worth_a_note_is_said_beside_the_data() {
    let exercise =
        "diagnose --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4' --mask '0 0; 1 1' --mask-kind allow";
    let outcome = attn(exercise).arg("--format").arg("json").arg("--yours").arg("0 0; 2 3").run();
    assert!(outcome.err.contains("warning: A: row 1 may attend to nothing"), "{}", outcome.err);
}

#[test]
fn other_ways_to_the_same_result_are_right() {
    let place = place();
    let file = |name: &str, stack: [[[f64; 3]; 3]; 2]| {
        let path = place.path().join(name);
        npy(&path, "<f8", &[2, 3, 3], doubles(stack.concat().concat()));
        path.to_str().unwrap().to_string()
    };
    let masked = judged(&[format!("S_masked={}", file("masked.npy", MASKED_WITH_A_BILLION))]);
    assert_eq!(masked["verdict"], "right", "−1e9 hides as well as −∞: {masked}");
    let scaled = judged(&[format!("S={}", file("scaled.npy", QUERIES_SCALED))]);
    assert_eq!(scaled["nodes"][0]["verdict"], "another-form", "{scaled}");
    assert_eq!(scaled["nodes"][0]["form"], "scaled-scores");
    let told = yours(format!("S={}", place.path().join("scaled.npy").display()));
    assert!(told.code == 0 && told.out.starts_with("S is right, in another form."), "{}", told.out);
}

#[test]
fn the_first_wrong_cell_is_explained_both_ways() {
    let told = attn(EXERCISE).arg("--details").arg("--yours").arg(typed(NO_SCALE)).arg("--width").arg("160");
    let told = told.run().out;
    assert!(
        told.contains("The first wrong cell, O[2,1], computed correctly and with the mistake."),
        "{told}"
    );
    // It stands in the first head: A_1[2,1] · V_1[1,1] + … by NumPy, 0.0295 and 0.0133.
    assert!(told.contains("O_1[2,1]   O_1 = A_1 · V_1"), "{told}");
    assert!(
        told.contains("with no-scale") && told.contains("= 0.0295") && told.contains("= 0.0133"),
        "{told}"
    );
    // They part before the mask: S_1[2,1] is 4.1465, and 2.9320 divided by √2.
    assert!(told.contains("= 2.9320") && told.contains("= 4.1465"), "{told}");
}

#[test]
fn a_mistake_in_the_students_own_numbers_is_no_warning_of_ours() {
    let outcome = yours(typed(INVERTED));
    assert!(outcome.code == 1 && outcome.err.is_empty(), "{}", outcome.err);
}

#[test]
fn two_mistakes_are_both_told_in_the_order_of_the_steps() {
    // The unscaled result, plus X.
    let x: Vec<Vec<f64>> =
        X.split(';').map(|row| row.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect();
    let mut both = NO_SCALE;
    for (i, row) in both.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell += x[i][j];
        }
    }
    assert_eq!(ids(&judged(&[typed(both)])), [["no-scale", "residual-added"]]);
    let told = yours(typed(both)).out;
    let (scale, residual) = (told.find("[no-scale]").unwrap(), told.find("[residual-added]").unwrap());
    assert!(told.contains("Two mistakes together") && scale < residual, "{told}");
}

#[test]
fn another_shape_is_a_finding() {
    let turned = judged(&[typed(transposed(RIGHT))]);
    assert_eq!(ids(&turned), [["column-convention"]]);
    assert_eq!(turned["nodes"][0]["verdict"], "other-shape");
    assert_eq!(
        (&turned["nodes"][0]["shape"], &turned["nodes"][0]["expected_shape"]),
        (&json!([4, 3]), &json!([3, 4]))
    );
    assert_eq!(ids(&judged(&[typed(transposed(NO_SCALE))])), [["no-scale", "column-convention"]]);
    let strange = judged(&["1 2; 3 4".to_string()]);
    assert_eq!((&strange["verdict"], ids(&strange)), (&json!("wrong"), vec![]));
}

#[test]
fn nothing_is_named_for_noise() {
    let noise = yours("0.31 -1.2 0.8 2.1; 0.7 0.33 -0.4 1.9; -2.2 0.1 0.6 0.5");
    assert_eq!(noise.code, 1);
    let said = noise.out.replace('\n', " ");
    assert!(
        said.contains("No known mistake gives these numbers, and no pair of the common ones does."),
        "{said}"
    );
    assert!(said.contains("--yours S=FILE"), "{said}");
}

#[test]
fn numbers_without_digits_prove_nothing() {
    let coarse = "0 2 0 0; 0 2 0 0; 2 -1 0 0".to_string();
    let judged = judged(std::slice::from_ref(&coarse));
    assert_eq!((&judged["verdict"], &judged["mistakes"]), (&json!("wrong"), &json!([])), "{judged}");
    assert_eq!(judged["nodes"][0]["mistakes"], json!([]), "{judged}");
    assert!(!yours(coarse).out.contains("To fix it"));
}

#[test]
fn what_this_input_cannot_show_is_neither_blamed_nor_ruled_out() {
    // One column: √d_k is 1, and every scale is the same.
    let outcome = attn("diagnose --q '0; 0' --k '1; 2' --v '1; 3' --yours '2; 2'").run();
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("no-scale") && outcome.out.contains("--suggest-input"), "{}", outcome.out);
    let value = attn("diagnose --q '0; 0' --k '1; 2' --v '1; 3' --yours '2; 2' --format json").run().out;
    let value: Value = serde_json::from_str(&value).unwrap();
    assert!(crate::golden::list(&value, "undetectable").contains(&json!("no-scale")), "{value}");
}

/// A `.npy` of the right result in half precision, and the same numbers in another type.
fn halves(place: &std::path::Path, dtype: &str) -> String {
    let path = place.join(format!("half{}.npy", &dtype[1..]));
    let rounded: Vec<half::f16> = RIGHT.iter().flatten().map(|&x| half::f16::from_f64(x)).collect();
    let bytes = match dtype {
        "<f2" => rounded.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
        _ => rounded.iter().flat_map(|x| x.to_f32().to_le_bytes()).collect(),
    };
    npy(&path, dtype, &[3, RIGHT[0].len()], bytes);
    path.to_str().unwrap().to_string()
}

#[test]
fn what_is_said_of_precision_is_what_was_allowed_and_what_differs() {
    let place = place();
    let furthest = RIGHT.iter().flatten().map(|&x| (x - half::f16::from_f64(x).to_f64()).abs());
    let furthest = furthest.fold(0.0, f64::max);
    assert!(furthest > 1e-6, "the example differs by more than six decimals");
    let half = yours(halves(place.path(), "<f2"));
    let said = half.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.starts_with("O is right within half precision (float16): the largest difference is 0.000"),
        "{said}"
    );
    assert!(half.code == 0 && !said.contains("decimals"), "{said}");
    // Saved as single precision the same numbers are still right, and half precision is named.
    let single = yours(halves(place.path(), "<f4"));
    let said = single.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(single.code == 0 && said.contains("Every number in O is a float16 number"), "{said}");
    assert!(said.starts_with("O is right within half precision (float16)"), "{said}");
    let data = judged(&[halves(place.path(), "<f4")]);
    assert_eq!(data["nodes"][0]["half_precision"], "float16", "{data}");
    let typed = yours(by_hand(RIGHT, 3));
    assert!(
        typed.out.starts_with("O is right to 3 decimals: the largest difference is 0.000"),
        "{}",
        typed.out
    );
}

#[test]
fn the_report_is_short_and_details_has_the_rest() {
    let short = yours(typed(NO_SCALE)).out;
    assert!(short.lines().count() <= 16, "{short}");
    let said = short.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "[no-scale]",
        "To fix it: Divide the scores by √d_k",
        "cells are wrong",
        "With this mistake we get your numbers",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let long = attn(EXERCISE).arg("--details").arg("--yours").arg(typed(NO_SCALE)).run().out;
    assert!(long.contains("Symptom: ") && long.lines().count() > 2 * short.lines().count(), "{long}");
}

#[test]
fn one_head_cannot_be_taken_for_the_whole_width() {
    for format in ["table", "json", "markdown"] {
        // NumPy 2.4.6: the right result, to three decimals.
        let yours = "--yours '0.802 0.599; 0.599 0.802; 0.752 0.752'";
        let one = attn(&format!("diagnose --x '1 0; 0 1; 1 1' {yours} --format {format}")).run().out;
        assert!(!one.contains("scale-model-width"), "{one}");
    }
}

#[test]
fn cells_without_numbers_are_said_to_say_nothing() {
    let nan = attn("diagnose --x '1 0; 0 1' --yours 'nan nan; nan nan'").run().out;
    assert!(nan.contains("Every cell is NaN, so nothing can be compared."), "{nan}");
}

#[test]
fn tokens_name_the_cells() {
    let outcome =
        attn(EXERCISE).arg("--tokens").arg("the,bat,sleeps").arg("--yours").arg(typed(NO_SCALE)).run();
    assert!(outcome.out.starts_with("O is wrong, from O[bat,1] on."), "{}", outcome.out);
}

#[test]
fn json_has_every_key() {
    let right = judged(&[typed(RIGHT)]);
    let keys: Vec<&String> = right.as_object().unwrap().keys().collect();
    let expected = [
        "schema",
        "version",
        "verdict",
        "first_wrong",
        "mistakes",
        "nodes",
        "undetectable",
        "too_coarse",
        "pairs_tried",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&right["schema"], &right["version"]), (&json!("attn-diagnosis"), &json!(1)));
    assert_eq!(
        (&right["verdict"], &right["first_wrong"], &right["mistakes"]),
        (&json!("right"), &Value::Null, &json!([]))
    );
    let wrong = judged(&[typed(NO_SCALE)]);
    let mistake = &wrong["mistakes"][0];
    assert_eq!(
        (&mistake["ids"], &mistake["details"], &mistake["ambiguous_with"]),
        (&json!(["no-scale"]), &json!([null]), &json!([]))
    );
    assert!(crate::golden::number(&mistake["residual"]) < 1e-12);
    let node = &wrong["nodes"][0];
    assert_eq!(
        (&node["name"], &node["verdict"], &node["cells"], &node["of"]),
        (&json!("O"), &json!("wrong"), &json!(8), &json!(12))
    );
    assert_eq!((&node["first"], &node["at"]), (&json!("O[2,1]"), &json!("O[2,4]")));
    assert!((crate::golden::number(&node["largest"]) - 0.23662730796154135).abs() < 1e-12);
}

#[test]
fn what_cannot_be_judged_is_refused_with_what_to_do() {
    let right = typed(RIGHT);
    let refusals: [(&[&str], &str); 19] = [
        (&[], "there is no result to judge"),
        (&["--yours", "foo=1 2"], "this exercise has no step `foo`"),
        (&["--yours", "A_3=1 2"], "no step `A_3`"),
        (&["--yours", "X=1 2"], "X is given, not computed"),
        (&["--yours", "no-such-file.npy"], "no such file"),
        (&["--yours", &right, "--yours", &right], "O is handed in twice"),
        (&["--yours", &right, "--rtol", "-1"], "--rtol is"),
        (&["--yours", &right, "--atol", "much"], "--atol is `much`"),
        (&["--yours", &right, "--format", "csv"], "a diagnosis is not a matrix"),
        (&["--yours", &right, "--format", "numpy"], "invalid value 'numpy'"),
        (&["--yours", &right, "--batch", "."], "cannot be used with"),
        (&["--by-mistake"], "--batch"),
        (&["--by-mistake", "--yours", &right], "cannot be used with"),
        (&["--by-mistake", "--list"], "cannot be used with"),
        (&["--by-mistake", "--suggest-input", "x.npz"], "cannot be used with"),
        (&["--rtol", "1", "--list"], "cannot be used with"),
        (&["--atol", "1", "--suggest-input", "x.npz"], "cannot be used with"),
        (&["--yours", &right, "--explain", "O[1,1]"], "unexpected argument '--explain'"),
        (&["--batch", "no-such-folder"], "no-such-folder: no such folder"),
    ];
    for (args, said) in refusals {
        let outcome = args.iter().fold(attn(EXERCISE), |command, arg| command.arg(*arg)).run();
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.out);
        assert!(outcome.err.contains(said), "{args:?}: {}", outcome.err);
        assert!(outcome.out.is_empty(), "{args:?}: {}", outcome.out);
    }
    let twice = attn("diagnose --q - --k '1 2' --v '1 2' --yours -").input("1 2").run();
    assert!(twice.code == 2 && twice.err.contains("standard input can be read only once"), "{}", twice.err);
}

#[test]
fn the_example_of_the_help_names_a_mistake() {
    let help = attn("diagnose --help").ok().out;
    let line = help.lines().map(str::trim).find(|line| line.starts_with("attn diagnose --words")).unwrap();
    let typed = line.trim_start_matches("attn ").replace('"', "'");
    let outcome = attn(&typed).run();
    assert!(outcome.code == 1 && outcome.out.contains("[no-scale]"), "{}{}", outcome.out, outcome.err);
}

#[test]
fn the_catalogue_is_listed_and_each_mistake_explained() {
    let list = attn("diagnose --list").ok().out;
    let mut demos = BTreeSet::new();
    for mistake in attn::diagnose::catalogue() {
        let shown = if mistake.is_class() { mistake.id.to_string() } else { format!("│ {} ", mistake.id) };
        assert!(list.contains(&shown), "{}", mistake.id);
        let one = attn("diagnose --list").arg(&mistake.id).ok().out;
        assert_eq!(one.contains("attn demo"), mistake.demo.is_some(), "{one}");
        let Some(demo) = &mistake.demo else { continue };
        assert!(one.contains(&format!("attn demo {demo}.")), "{one}");
        demos.insert(demo);
    }
    demos.into_iter().for_each(|demo| drop(attn(&format!("demo {demo}")).ok()));
    let whole: Value = serde_json::from_str(&attn("diagnose --list --format json").ok().out).unwrap();
    let rows = crate::golden::list(&whole["tables"][0], "rows").len();
    assert_eq!(rows, attn::diagnose::catalogue().count());
    assert!(!whole["tables"][0]["rows"][0]["why"].as_str().unwrap().is_empty());
    let near = attn("diagnose --list no-scales").run();
    assert!(near.code == 2 && near.err.contains("did you mean `no-scale`?"), "{}", near.err);
}

#[test]
fn a_far_fetched_option_is_not_proposed_and_a_near_one_is() {
    let far = attn(EXERCISE).arg("--explain").arg("O[1,1]").run();
    assert!(far.code == 2 && !far.err.contains("'--x'"), "{}", far.err);
    let near = attn(EXERCISE).arg("--your").arg("1").run();
    assert!(near.code == 2 && near.err.contains("'--yours'"), "{}", near.err);
}

#[test]
fn the_three_cells_that_tell_most_are_shown_yours_right_and_with_the_mistake() {
    let wrong = judged(&[typed(NO_SCALE)]);
    let cells = crate::golden::list(&wrong["nodes"][0], "evidence");
    // |NO_SCALE - RIGHT| by NumPy: 0.2366 in O[2,4], 0.1653 in O[3,4], 0.1276 in O[3,2].
    let at: Vec<&Value> = cells.iter().map(|cell| &cell["at"]).collect();
    assert_eq!(at, [&json!("O[2,4]"), &json!("O[3,4]"), &json!("O[3,2]")]);
    for (cell, (row, col)) in cells.iter().zip([(1, 3), (2, 3), (2, 1)]) {
        let number = |key: &str| crate::golden::number(&cell[key]);
        assert!((number("right") - RIGHT[row][col]).abs() < 1e-12, "{cell}");
        assert!((number("mistaken") - NO_SCALE[row][col]).abs() < 1e-12, "{cell}");
        assert_eq!(number("yours"), NO_SCALE[row][col]);
    }
    let told = yours(typed(NO_SCALE)).out;
    let row = told.lines().find(|line| line.contains("O[2,4]")).unwrap();
    assert!(row.contains("0.0471") && row.contains("0.2837"), "{row}");
}

#[test]
fn the_fix_comes_right_after_the_verdict() {
    let told = yours(typed(NO_SCALE)).out;
    let blocks: Vec<&str> = told.split("\n\n").collect();
    assert!(blocks[0].starts_with("O is wrong") && blocks[1].contains("To fix it: Divide"), "{told}");
}

#[test]
fn where_few_digits_make_a_coincidence_likely_the_second_line_says_so() {
    let few = attn("diagnose --words 'bat cave racket' --yours '2.9 3.1; 4.0 0.1; 0 5'").run();
    let before_the_fix = few.out.split("To fix it").next().unwrap().to_string();
    assert!(before_the_fix.contains("Be careful: 6 numbers with 1 decimal"), "{}", few.out);
    let data = attn("diagnose --words 'bat cave racket' --yours '2.9 3.1; 4.0 0.1; 0 5' --format json").run();
    let data: Value = serde_json::from_str(&data.out).unwrap();
    assert_eq!(data["nodes"][0]["may_be_chance"], true, "{data}");
    assert_eq!(judged(&[typed(NO_SCALE)])["nodes"][0]["may_be_chance"], false);
}

#[test]
fn a_row_of_nan_beside_right_ones_has_no_mistake_of_its_own() {
    let exercise = "--random 5,4 --seed 1 --causal";
    let right = attn(&format!("attend {exercise} --only O --format csv")).ok().out.replace(',', " ");
    for row in 1..=5 {
        let rows =
            right.lines().enumerate().map(|(i, line)| if i + 1 == row { "nan nan nan nan" } else { line });
        let yours = rows.collect::<Vec<_>>().join("; ");
        let said = attn(&format!("diagnose {exercise} --yours '{yours}'")).run().out;
        assert!(said.contains("Two things usually make a whole row NaN"), "{said}");
        assert!(!said.contains("only-some-rows"), "{said}");
    }
}

#[test]
fn a_mistake_that_gives_nan_alone_is_a_possibility_and_no_finding() {
    // A mask times −∞ gives 0 · ∞, and an exp that overflows gives ∞ / ∞: no number tells them apart.
    let nan = attn("diagnose --x '1 0; 0 1; 1 1' --causal --yours 'nan nan; nan nan; nan nan'");
    let out = nan.run().out.split_whitespace().collect::<Vec<_>>().join(" ");
    let likely = "The likely cause: A mask of ones and zeros was multiplied by −∞, and 0 · ∞ is NaN. [mask-times-infinity]";
    assert!(out.contains(likely), "{out}");
    assert!(out.contains("the result cannot tell that it was this one"), "{out}");
    // One number is enough to tell that not all is NaN.
    let one = attn("diagnose --x '1 0; 0 1; 1 1' --causal --yours '1 0; nan nan; nan nan'");
    assert!(!one.run().out.contains("likely cause"));
}

#[test]
fn a_bias_of_nothing_is_written_as_0() {
    // A V of the three tokens is right but for 0.5 in the first column; what rounding leaves in the second is no number.
    let right = attn("attend --x '0.1 0.7; 0.3 0.2; 0.9 0.4' --only O --format json").run().out;
    let right: Value = serde_json::from_str(&right).unwrap();
    let rows = right["graphs"][0]["nodes"][0]["values"].as_array().unwrap().iter();
    let moved = rows
        .map(|row| format!("{:?} {:?}", row[0].as_f64().unwrap() + 0.5, row[1].as_f64().unwrap() + 1e-16));
    let yours = moved.collect::<Vec<_>>().join("; ");
    let out = attn("diagnose --x '0.1 0.7; 0.3 0.2; 0.9 0.4' --yours").arg(&yours).run().out;
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("a bias of V or of the output (0.5 0). [bias-added]"), "{out}");
}

#[test]
fn a_print_in_half_precision_is_right_and_wrong_numbers_in_it_stay_wrong() {
    // NumPy, every step in float16: s = q @ k.T / np.float16(2); p = np.exp(s - s.max(1)); a = p / p.sum(1); o = a @ v.
    let exercise = "diagnose --q '-0.8 -1.32 -0.25 0.42; 1.14 0.11 -0.55 -0.78; 0.75 1.63 0.27 -1.23' \
                    --k '-0.96 1.6 0.2 -1.73; -0.08 -1.16 -0.63 -0.49; -0.71 0.55 -0.06 -0.59' \
                    --v '0.41 0.83; -1.64 -0.26; -0.98 -0.17' --yours";
    for (numbers, code) in [
        ("[[-1.265 , -0.1247], [-0.7466,  0.1464], [ 0.0706,  0.6045]]", 0),
        // One number is off by 0.01, and the scores were not divided.
        ("[[-1.275 , -0.1247], [-0.7466,  0.1464], [ 0.0706,  0.6045]]", 1),
        ("[[-1.514 , -0.2251], [-0.766 ,  0.1519], [ 0.337 ,  0.779 ]]", 1),
    ] {
        let judged = attn(exercise).arg(format!("array({numbers}, dtype=float16)")).run();
        assert_eq!(judged.code, code, "{numbers}: {}{}", judged.out, judged.err);
    }
    // Without the type these numbers are no rounded ones.
    let judged = attn(exercise).arg("[[-1.265, -0.1247], [-0.7466, 0.1464], [0.0706, 0.6045]]").run();
    assert_eq!(judged.code, 1, "{}", judged.out);
}

#[test]
fn where_nothing_fits_what_stands_out_is_told() {
    let told = |yours: &str| {
        let outcome = attn("diagnose --x '1 0; 0 1; 1 1' --yours").arg(yours).run();
        outcome.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (yours, said) in [
        ("A=0.9 0.2 0.3; 0.401 0.198 0.401; 0.3 0.2 0.9", "Rows 1, 3 of A sum to 1.4, not to 1."),
        ("A=1.2 -0.4 0.2; 0.1 0.5 0.4; 0.7 0.2 0.1", "A has negative weights"),
        ("S=1 2.5 1; 0 1 1; 7 1 2", "Only 2 rows of S are wrong, the first of them row 1"),
        ("0.802 0.599; 0.752 0.752; 0.599 0.802", "The rows of O are right, but in the order 1 3 2."),
        ("nan nan; nan nan; nan nan", "To fix it: Two things usually make a whole row NaN"),
        ("0.81 nan; 0.6 0.8; 0.7 0.8", "O has NaN in 1 cell."),
    ] {
        assert!(told(yours).contains(said), "{yours}: {}", told(yours));
    }
    // A row with NaN has no sum, and a matrix with NaN is not compared with its transpose.
    let said = told("A=nan 0.5 0.5; 0.5 1 0.5; 0.5 0.5 1");
    assert!(said.contains("A has NaN in 1 cell."), "{said}");
    assert!(!said.contains(" sum ") && !said.contains("its own transpose"), "{said}");
    let large = attn("diagnose --q '40 0; 0 40' --k '40 0; 0 40' --v '1 2; 3 4' --yours 'nan nan; nan nan'");
    let large = large.run().out;
    // 1600/√2 = 1131.4
    assert!(large.contains("exp overflowed") && large.contains("1131"), "{large}");
}

/// Numbers with this many decimals of which any may come up in a test: a generator of Lehmer's.
fn drawn(seed: &mut u64) -> f64 {
    *seed = *seed * 48_271 % 2_147_483_647;
    *seed as f64 / 2_147_483_647.0 * 4.0 - 2.0
}

/// 10ⁿ, as the number that Rust reads.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().expect("a number")
}

#[test]
fn right_to_so_many_decimals_is_true_of_random_answers() {
    let mut seed = 14;
    let mut claimed = 0;
    for at in 0..200 / one_in(5) as i32 {
        // One token attends to itself alone: its result is its value, whatever the scores.
        let values: Vec<f64> = (0..4).map(|_| drawn(&mut seed)).collect();
        let (decimals, is_cut) = (at % 6 + 1, at % 2 == 1);
        let unit = power_of_ten(decimals);
        let carried = |x: &f64| if is_cut { (x * unit).trunc() / unit } else { (x * unit).round() / unit };
        let handed: Vec<f64> = values.iter().map(carried).collect();
        let decimals = decimals as usize;
        let text = |of: &[f64], digits: usize| {
            of.iter().map(|x| format!("{x:.digits$}")).collect::<Vec<_>>().join(" ")
        };
        let exercise = format!("diagnose --q 1 --k 1 --v '{}'", text(&values, 15));
        let outcome = attn(&exercise).arg("--yours").arg(text(&handed, decimals)).run();
        let Some(said) = outcome.out.strip_prefix("O is right to ") else { continue };
        let digits: i32 = said.split(' ').next().unwrap().parse().unwrap();
        let off = handed.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 0.5 * power_of_ten(-digits) * (1.0 + 1e-6), "{off} is no {digits} decimals: {said}");
        assert!(digits as usize <= decimals, "{decimals} decimals were handed in: {said}");
        claimed += 1;
    }
    assert!(claimed > 100 / one_in(5), "{claimed}");
}

#[test]
fn a_notebook_may_call_the_result_z_or_y() {
    for name in ["Z", "y"] {
        let right = yours(format!("{name}={}", typed(RIGHT)));
        let said = format!("{name} is read as O.");
        assert!(right.code == 0 && right.out.contains(&said), "{}{}", right.out, right.err);
        let twice = attn(EXERCISE).arg("--yours").arg(format!("{name}={}", typed(RIGHT)));
        let twice = twice.arg("--yours").arg(typed(RIGHT)).run();
        assert!(twice.code == 2 && twice.err.contains(&said), "{}", twice.err);
    }
}

macro_rules! screens {
    ($($name:ident: $more:expr;)*) => {
        $(#[test]
        fn $name() {
            let more: Vec<String> = $more;
            let command = more.iter().fold(attn(EXERCISE), |command, arg| command.arg(arg));
            // Digits become 0: the layout is held, not the numbers.
            let out: String =
                command.run().out.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            insta::assert_snapshot!(stringify!($name), out);
        })*
    };
}

fn args(yours: String) -> Vec<String> {
    vec!["--yours".into(), yours]
}

screens! {
    one_mistake: args(by_hand(NO_SCALE, 2));
    a_right_answer: args(typed(RIGHT));
    two_mistakes: args(typed(transposed(NO_SCALE)));
    nothing_fits: args("0.31 -1.2 0.8 2.1; 0.7 0.33 -0.4 1.9; -2.2 0.1 0.6 0.5".into());
    the_list_of_mistakes: vec!["--list".into()];
    one_of_the_list: vec!["--list".into(), "mask-late".into()];
}

#[test]
fn matrices_of_a_stack_have_one_clue_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.json");
    std::fs::write(&path, "[[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]").unwrap();
    let ran = attn("diagnose --random 2,4 --heads 2 --yours").arg(path.to_str().unwrap()).run();
    assert_eq!(ran.out.matches("All rows of O are equal").count(), 1, "{}", ran.out);
}
