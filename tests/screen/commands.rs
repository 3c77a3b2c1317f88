//! The commands, typed as a user types them, right and wrong.

use std::fs;

use crate::common::attn;
use attn::cli::Env;
use attn::matrix::Matrix;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn by_document_demo_lists_every_demo_under_its_document() {
    let out = attn("demo --by-document").ok().out;
    for demo in attn::demo::demos() {
        let line = out.lines().find(|line| line.starts_with(&format!("  {} ", demo.name)));
        assert!(
            line.is_some_and(|line| line.contains(demo.summary)),
            "{} is not listed on one line",
            demo.name
        );
    }
    let titles: Vec<_> =
        attn::demo::Document::ALL.iter().map(|document| out.find(document.title())).collect();
    assert!(titles.is_sorted() && titles.iter().all(Option::is_some), "{titles:?}");
}

#[test]
fn set_puts_the_users_numbers_in() {
    let own = attn("demo mask --set 'X=1 0 0 0 0; 0 1 0 0 0'").nodes();
    assert_eq!(own.matrix("A").shape().rows, 2);
    let q = own.matrix("Q");
    let w_q = own.matrix("W_Q");
    assert!(q.row(0).eq(w_q.row(0)), "a first unit vector picks the first row of the weights");
}

#[test]
fn a_negative_number_may_begin_a_matrix() {
    let own = attn("demo mask").arg("--set").arg("X=-1 0 0 0 0; 0 -1 0 0 0").nodes();
    assert_eq!(own.matrix("X")[(0, 0)], -1.0);
}

#[test]
fn until_leaves_the_answer_open_and_shows_what_comes_before() {
    let out = attn("demo mask --until A").ok().out;
    assert!(out.contains("S_masked (4×4) =") && out.contains("│   ?     ?    ?         ? │"));
    assert!(!out.contains("O (4×5)"));
    let nodes = attn("demo mask --until A").nodes();
    assert_eq!(nodes.names().last(), Some(&"S_masked"));
}

#[test]
fn another_seed_draws_other_numbers_and_the_same_seed_the_same() {
    let x = |line: &str| attn(line).nodes().matrix("X");
    assert!(x("demo mask --seed 0").same_bits(&x("demo mask")));
    assert!(!x("demo mask --seed 1").same_bits(&x("demo mask")));
    assert!(x("demo mask --seed 4294967295").same_bits(&x("demo mask --seed 4294967295")));
}

#[test]
fn options_that_name_nodes_want_exactly_one_demo() {
    for option in ["--set X=1", "--until A", "--only A"] {
        attn(&format!("demo mask mask {option}")).refused(&["needs one demo", "asked for 2"]);
        attn(&format!("demo {option}")).refused(&["needs one demo, but you named none"]);
    }
}

#[test]
fn a_wrong_name_is_refused_with_its_neighbour() {
    attn("demo maks").refused(&["no demo `maks`", "did you mean `mask`"]);
    // It has a step of its own that is called last_change.
    assert!(attn("demo order --versus").arg("scale = none").ok().out.contains("last_change_change"));
    attn("attend --random 3,2 --set")
        .arg("K rows shifted by 1")
        .refused(&["error: column 3: here stands `rows`"]);
    attn("demo mask --only S_maskd").refused(&["did you mean `S_masked`"]);
    attn("demo mask --set XX=1").refused(&["no node `XX`", "you can set"]);
    attn("demo mask --set Q=1").refused(&["`Q` is computed, not given"]);
    attn("demo mask --set X").refused(&["has no `=`"]);
    attn("demo mask --set 'W_Q=1 2'").refused(&["1×2", "4×5"]);
    attn("demo --document 007").refused(&["no document `007`", "000"]);
    attn("demo mask --seed 4294967296").refused(&["4294967296"]);
    attn("dmeo").refused(&["demo"]);
    let said = attn("similarity bat cavee").ok().out;
    assert!(said.contains("For cavee did you mean cave"), "{said}");
}

#[test]
fn similarity_has_the_documents_figures() {
    let nodes = attn("similarity bat cave racket").nodes();
    let cosine = nodes.matrix("cosine");
    assert!(close(cosine[(0, 1)], 0.5_f64.sqrt()) && cosine[(1, 2)] == 0.0);
    assert_eq!(nodes.matrix("dot").row(0).collect::<Vec<_>>(), [18.0, 12.0, 15.0]);
    assert!(close(nodes.matrix("euclidean")[(0, 1)], 10.0_f64.sqrt()));
    assert!(close(nodes.matrix("scaled")[(0, 2)], 15.0 / 2.0_f64.sqrt()));
}

#[test]
fn a_word_can_be_defined_and_one_measure_chosen() {
    let nodes = attn("similarity bat dog --define dog=1,2 --measure cosine").nodes();
    assert_eq!(nodes.names(), ["X", "cosine"]);
    assert!(close(nodes.matrix("cosine")[(0, 1)], 3.0 / 10.0_f64.sqrt()));
    attn("similarity bat dog --define dog").refused(&["has no `=`"]);
    attn("similarity bat dog --define dog=1,2,3").refused(&["3 numbers", "2"]);
    attn("similarity bat dog").arg("--define").arg("dog=-1,nan").refused(&["NaN"]);
}

#[test]
fn softmax_takes_negative_numbers_and_minus_infinity_as_they_are() {
    let weights = attn("softmax 1 -2 -inf -.5 -1e-3").nodes().matrix("A");
    // Python's math.exp of the five scores.
    let exact =
        [std::f64::consts::E, 0.135_335_283_236_612_7, 0.0, 0.606_530_659_712_633_4, 0.999_000_499_833_375];
    let sum: f64 = exact.iter().sum();
    for (weight, power) in weights.cells().zip(exact) {
        assert!(close(weight, power / sum));
    }
    assert_eq!(weights[(0, 2)], 0.0);
}

#[test]
fn temperature_and_base_change_the_softmax_as_they_should() {
    let weights = attn("softmax 3 2 2 --base 2").nodes().matrix("A");
    assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.25]);
    let cold = attn("softmax 1 2 --temperature 0.5").nodes().matrix("A");
    let doubled = attn("softmax 2 4").nodes().matrix("A");
    assert!(cold.same_bits(&doubled));
    attn("softmax 1 2 --temperature 0").refused(&["not a positive number"]);
    attn("softmax 1 2").arg("--temperature").arg("-1").refused(&["not a positive number"]);
    attn("softmax 1 2 --base 1").refused(&["do not grow", "above 1"]);
    attn("softmax one").refused(&["`one` is not a number"]);
    attn("softmax inf").refused(&["is not a score"]);
    attn("softmax --base 2").refused(&["NUMBER"]);
}

#[test]
fn a_softmax_of_nothing_but_minus_infinity_is_zeros_with_a_warning() {
    let outcome = attn("softmax -inf -inf").ok();
    assert!(outcome.err.starts_with("warning: A: row 1 may attend to nothing"), "{}", outcome.err);
    assert!(!outcome.out.contains("NaN"));
}

#[test]
fn attend_reads_a_graph_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.json");
    let first = attn("attend --random 3,4 --causal --format json").ok().out;
    fs::write(&file, &first).unwrap();
    let again = attn("attend --causal --format json").arg(file.to_str().unwrap()).ok().out;
    let values = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["graphs"][0]["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["values"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&first), values(&again));
}

#[test]
fn attend_reads_the_graph_of_a_demo_and_leaves_aside_what_it_has_no_place_for() {
    let graph = attn("demo mask --format json").ok().out;
    let read = attn("attend - --causal --scale none").input(graph).nodes();
    assert!(read.matrix("O").same_bits(&attn("demo mask").nodes().matrix("O")));
}

#[test]
fn minus_infinity_survives_every_data_format() {
    let line = "attend --q '1;1' --k '1;1' --v '1;1' --causal --only S_masked";
    assert!(attn(line).arg("--format=json").ok().out.contains(r#"[1.0,"-inf"]"#));
    assert!(attn(line).arg("--format=csv").ok().out.starts_with("1,-inf\n"));
    assert!(attn(line).arg("--format=numpy").ok().out.starts_with("[[  1. -inf]"));
    let folder = tempfile::tempdir().unwrap();
    for ending in ["npy", "npz", "safetensors", "csv", "tsv", "json"] {
        let file = folder.path().join(format!("s.{ending}"));
        attn(line).arg("--save").arg(format!("S_masked={}", file.display())).ok();
        let read = attn("attend --q '1;1' --k '1;1' --v '1;1' --scale none")
            .arg("--mask")
            .arg(file.to_str().unwrap());
        let masked = read.nodes().matrix("S_masked");
        assert_eq!(masked[(0, 1)], f64::NEG_INFINITY, "{ending}");
    }
}

#[test]
fn attend_takes_words_and_their_names_label_every_table() {
    let out = attn("attend --words 'bat cave racket' --only A --format csv").ok().out;
    assert!(out.starts_with(",bat,cave,racket\nbat,"), "{out}");
    attn("attend --words ''").refused(&["no word in --words"]);
}

#[test]
fn q_k_and_v_win_over_x_and_the_output_says_so() {
    let line = "attend --x '1 2; 3 4' --q '1 0; 0 1' --wk '1 0; 0 1' --wv '1 0; 0 1'";
    let outcome = attn(line).ok();
    assert!(outcome.out.contains("Q is taken as given"), "{}", outcome.out);
    assert_eq!(attn(line).nodes().matrix("Q").cells().collect::<Vec<_>>(), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn attend_says_what_is_missing_and_what_does_not_fit() {
    attn("attend --causal").refused(&["no Q", "--q"]);
    attn("attend --q '1 2'").refused(&["no K", "--k"]);
    attn("attend --q '1 2' --k '1 2 3' --v '1'").refused(&["width 2", "width 3"]);
    attn("attend --q '1 2' --k '1 2; 3 4' --v '1'").refused(&["2 keys", "1"]);
    attn("attend --random 4,5 --heads 2").refused(&["5 columns", "2 heads"]);
    attn("attend --random 4,6 --heads 3 --kv-heads 2").refused(&["evenly"]);
    attn("attend --random 4,6 --heads 0").refused(&["at least one head"]);
    attn("attend --random 4,6 --window 0").refused(&["window of 0"]);
    attn("attend --random 4").refused(&["is not a shape"]);
    attn("attend --random 0,4").refused(&["is not a shape"]);
    attn("attend --q '1 2' --k '1 2' --v '1 2' --residual").refused(&["no X"]);
    attn("attend --q '1 2; 3' --k '1 2' --v '1 2'").refused(&["row 2"]);
    attn("attend --q nowhere.npy --k '1' --v '1'").refused(&["nowhere.npy", "no such file"]);
    attn("attend --random 4,4 --scale much").refused(&["--scale", "`much`"]);
    attn("attend --random 4,4 --tokens a,b").refused(&["2 names", "4 tokens"]);
    attn("attend --random 2,2 --mask '1 0 0; 0 1 1' --mask-kind allow").refused(&["2×3", "2×2"]);
}

#[test]
fn a_mask_of_zeros_and_ones_must_say_what_it_means() {
    let line = "attend --random 2,2 --mask '1 0; 1 1'";
    attn(line).refused(&["three things", "--mask-kind allow"]);
    let hidden = |kind: &str| {
        let masked = attn(line).arg("--mask-kind").arg(kind).nodes().matrix("S_masked");
        masked.cells().map(|x| x == f64::NEG_INFINITY).collect::<Vec<_>>()
    };
    assert_eq!(hidden("allow"), [false, true, false, false]);
    assert_eq!(hidden("block"), [true, false, true, true]);
    assert_eq!(hidden("add"), [false; 4]);
    let boolean = attn("attend --random 2,2 --mask 'true false; true true'").nodes().matrix("S_masked");
    assert_eq!(boolean[(0, 1)], f64::NEG_INFINITY);
    attn("attend --random 2,2 --mask-kind allow").refused(&["needs a mask", "--mask FILE"]);
}

#[test]
fn a_query_that_sees_nothing_gives_zeros_and_a_warning() {
    let line = "attend --random 2,2 --mask '0 0; 1 1' --mask-kind allow";
    let outcome = attn(line).ok();
    assert!(outcome.err.contains("row 1 may attend to nothing"), "{}", outcome.err);
    let nodes = attn(line).nodes();
    assert!(nodes.matrix("A").row(0).chain(nodes.matrix("O").row(0)).all(|x| x == 0.0));
}

#[test]
fn the_column_convention_turns_the_tables_and_leaves_json_in_rows() {
    let line = "attend --q '1 2' --k '1 2; 3 4' --v '1 2; 3 4'";
    let out = attn(line).arg("--convention=columns").ok().out;
    assert!(out.contains("Sᵀ (2×1) = K (2×2) · Qᵀ (2×1)"), "{out}");
    let json =
        |convention: &str| attn(line).arg("--convention").arg(convention).arg("--format=json").ok().out;
    assert_eq!(json("rows"), json("columns"));
}

#[test]
fn too_many_cells_are_refused_before_they_are_computed() {
    attn("attend --random 4096,64 --heads 4").refused(&["numbers, more than the", "fewer tokens"]);
}

#[test]
fn a_result_is_saved_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("o.npy");
    attn("attend --random 3,2 --save").arg(format!("O={}", file.display())).ok();
    let o = attn("attend --random 3,2").nodes().matrix("O");
    let back = attn("attend --k '1' --v '1' --q").arg(file.to_str().unwrap());
    back.refused(&["width 2"]);
    assert_eq!(fs::read(&file).unwrap().len(), 128 + 8 * o.cells().count());
    attn("attend --random 3,2 --save O=out.xyz").refused(&["`.xyz`"]);
    attn("attend --random 3,2 --save")
        .arg(format!("O={}/nowhere/o.npy", folder.path().display()))
        .refused(&["there is no folder `"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was left behind");
}

#[test]
fn formats_agree_on_the_numbers() {
    let line = "attend --random 3,4 --only A";
    let json = attn(line).nodes().matrix("A");
    let csv = attn(line).arg("--format=csv").ok().out;
    let rows: Vec<Vec<f64>> =
        csv.lines().map(|line| line.split(',').map(|text| text.parse().unwrap()).collect()).collect();
    assert!(json.same_bits(&Matrix::from_rows(&rows).unwrap()), "CSV has every digit");
    let markdown = attn(line).arg("--format=markdown").ok().out;
    for x in json.cells() {
        assert!(markdown.contains(&format!("{x:.4}")), "{markdown}");
    }
}

#[test]
fn precision_decides_the_decimals_of_text_and_not_of_data() {
    let line = "attend --random 3,4 --only A";
    let x = attn(line).nodes().matrix("A")[(0, 0)];
    assert!(attn(line).arg("--precision=2").ok().out.contains(&format!("{x:.2}")));
    assert!(attn(line).arg("--precision=2").arg("--format=json").ok().out.contains(&x.to_string()));
}

#[test]
fn standard_input_is_a_file_called_minus() {
    let nodes = attn("attend --q - --k '1 0' --v '5 6'").input("1,2\n3,4\n").nodes();
    assert_eq!(nodes.matrix("Q").cells().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn params_counts_gpt3_both_ways_and_llama() {
    let out = attn("params gpt3").ok().out;
    for figure in ["57,982,058,496", "175,181,291,520", "33.1 %", "174,604,259,328"] {
        assert!(out.contains(figure), "{figure}\n{out}");
    }
    let llama = attn("params llama3-8b").ok().out;
    assert!(llama.contains("8,030,261,248") && llama.contains("16.7 %"));
    attn("params gpt5").refused(&["gpt5"]);
    attn("params gpt2 --context 0").refused(&["context of 0"]);
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = attn("--help").ok();
    assert!(help.out.starts_with("attn computes attention") && help.err.is_empty());
    let version = attn("--version").ok().out;
    assert!(version.starts_with("attn ") && version.contains("SIMD"));
    for command in [
        "demo",
        "attend",
        "similarity",
        "softmax",
        "params",
        "errata",
        "notation",
        "completions",
        "man",
        "help",
    ] {
        let help = attn(command).arg("--help").ok().out;
        assert!(help.contains("Usage:"), "{command}: {help}");
    }
}

#[test]
fn help_is_as_wide_as_is_asked_for() {
    for flag in ["-h", "--help"] {
        let narrow = attn(&format!("attend {flag}")).env(Env { width: 40, ..Env::default() }).ok().out;
        assert_ne!(narrow, attn(&format!("attend {flag}")).ok().out);
        for asked in ["--width 40", "--width=40"] {
            assert_eq!(attn(&format!("attend {flag} {asked}")).ok().out, narrow);
            assert_eq!(attn(&format!("attend {asked} {flag}")).ok().out, narrow);
        }
        let set = vec![("width".to_string(), "40".to_string())];
        let env = Env { defaults: set, ..Env::default() };
        assert_eq!(attn(&format!("attend {flag}")).env(env).ok().out, narrow);
    }
}

#[test]
fn a_wrong_variable_does_not_keep_help_and_version_away() {
    let set = vec![("width".to_string(), "x".to_string())];
    let env = Env { defaults: set, ..Env::default() };
    attn("softmax 1 2").env(env.clone()).refused(&["ATTN_WIDTH", "unset ATTN_WIDTH"]);
    for asked in ["--version", "--help", "-h", "attend --help", "softmax 1 2 -h", "help environment", ""] {
        assert_eq!(attn(asked).env(env.clone()).ok().out, attn(asked).ok().out, "{asked}");
    }
}

#[test]
fn completions_and_the_manual_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(attn("completions").arg(shell).ok().out.contains("similarity"), "{shell}");
    }
    let man = attn("man").ok().out;
    assert!(man.starts_with(".ie") || man.contains(".TH"), "{}", &man[..100]);
    assert!(man.contains("attn\\-similarity(1)"), "{man}");
}

#[test]
fn run_can_be_called_from_several_threads_and_gives_the_same_bytes() {
    let once = |colour: &str| attn("demo mask").arg(format!("--color={colour}")).ok().out;
    let (plain, coloured) = (once("never"), once("always"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(once("never"), plain));
            scope.spawn(|| assert_eq!(once("always"), coloured));
        }
    });
}

#[test]
fn control_characters_of_a_label_do_not_reach_the_terminal() {
    let out = attn("attend --random 2,2 --tokens").arg("\x1b[31mred,b\x07ell").ok().out;
    assert!(!out.contains('\x1b') && !out.contains('\x07'), "{out:?}");
}

#[test]
fn a_picture_of_the_plane_is_asked_for_by_name_and_written_in_every_format() {
    let picture =
        |format: &str| attn("demo context --only plane_2").arg(format!("--format={format}")).ok().out;
    // bat moves to (1.72, 3.85), as document 002 has it.
    for format in ["table", "markdown"] {
        let text = picture(format);
        assert!(text.contains("● bat (3, 3)") && text.contains("bat′ (1.72, 3.85)"), "{text}");
        assert!(text.contains("↑ sport") && text.contains("animals →"), "{text}");
        assert!(!text.contains("S_cave"), "{text}");
    }
    assert!(picture("latex").contains("bat' (1.72, 3.85)"));
    assert!(picture("html").contains("<svg") && picture("html").contains("bat moves to bat′ (1.72, 3.85)"));
    let json: serde_json::Value = serde_json::from_str(&picture("json")).unwrap();
    let graph = &json["graphs"][0];
    assert_eq!(graph["planes"][0]["arrows"][0], serde_json::json!(["X_racket", "O_racket"]));
    let names: Vec<_> = graph["nodes"].as_array().unwrap().iter().map(|node| &node["name"]).collect();
    assert_eq!(names, ["X_racket", "O_racket"]);
}

#[test]
fn a_picture_that_is_not_there_is_refused_with_those_that_are() {
    attn("demo context --only plan").refused(&["did you mean `plane`", "plane plane_2 plane_3 plane_4"]);
    attn("demo context --only S_cav").refused(&["did you mean `S_cave`", "pictures: plane plane_2"]);
    attn("demo mask --only plane").refused(&["no picture", "attn similarity bat cave racket --only plane"]);
    attn("demo context --only é").refused(&["there is no node `é`"]);
}

#[test]
fn attend_draws_how_tokens_of_two_coordinates_move_and_no_others() {
    let drawn = |line: &str| attn(line).ok().out.contains("↑");
    assert!(drawn("attend --words 'bat cave racket'"));
    assert!(drawn("attend --random 8,2"));
    assert!(!drawn("attend --random 9,2"), "too many to be told apart");
    assert!(!drawn("attend --random 3,4"), "not a plane");
    assert!(
        !drawn("attend --x '1 2; 3 4' --wv '1;1'"),
        "a result of one column has no place in the plane of X"
    );
}

#[test]
fn matrices_that_do_not_fit_are_refused_with_the_shape_that_does() {
    for (options, said) in [
        ("--wq '1 2 3'", ["W_Q is 1×3, but X has 2 columns", "give W_Q 2 rows"]),
        ("--wo '1 2 3'", ["W_O is 1×3, but the heads together have 2 columns", "give W_O 2 rows"]),
        ("--bias '1 2 3'", ["the bias is 1×3, but the scores are 2×2", "a row for each query"]),
        (
            "--mask '1 0 1' --mask-kind allow",
            ["the mask is 1×3, but the scores are 2×2", "a row for each query"],
        ),
        ("--wv '1; 2' --residual", ["X is 2×2, but the result is 2×1", "make the result 2×2"]),
    ] {
        attn(&format!("attend --x '1 2; 3 4' {options}")).refused(&said);
    }
}

#[test]
fn a_number_that_is_none_or_out_of_range_is_refused_in_plain_words() {
    attn("attend --words bat --width x").refused(&["give a whole number: 0, 1, 2, …"]);
    attn("attend --words bat --precision 99").refused(&["99 is not between 0 and 17"]);
}
