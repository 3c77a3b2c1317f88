//! `attn bench`: what it says hangs together, whatever the machine; nothing here depends on how fast it is.

use crate::common::attn;
use attn::cli::Env;
use attn::kernel::{Attention, Band, Heads, Layout, Machine, Output, Resources, SimdLevel, attend};
use serde_json::Value;

/// The one line of a shape.
fn line(options: &str) -> Value {
    let out = attn(&format!("bench {options} --seconds 0.01 --format json")).ok().out;
    assert_eq!(out.lines().count(), 1, "{out}");
    serde_json::from_str(&out).expect("JSON")
}

fn number(line: &Value, field: &str) -> f64 {
    line[field].as_f64().unwrap_or_else(|| panic!("{field} in {line}"))
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_line_has_the_fields_of_the_peers_and_they_hang_together() {
    // 4 · heads · d · visible pairs; the causal ones: 3 queries that see 38, 39 and 40 keys.
    for (options, shape, flop) in [
        ("--n 40 --heads 2 --dim 16", "h=2,kv=2,q=40,n=40,d=16,full", 4 * 2 * 16 * 1600),
        ("--n 40 --heads 2 --dim 16 --causal", "h=2,kv=2,q=40,n=40,d=16,causal", 4 * 2 * 16 * 820),
        ("--n 40 --n-q 3 --heads 4 --kv-heads 2 --causal", "h=4,kv=2,q=3,n=40,d=64,causal", 4 * 4 * 64 * 117),
    ] {
        for dtype in ["f32", "f64"] {
            let line = line(&format!("{options} --dtype {dtype} --threads 2"));
            assert_eq!((&line["peer"], &line["dtype"]), (&"attn".into(), &dtype.into()));
            assert_eq!(line["version"], env!("CARGO_PKG_VERSION"));
            assert_eq!((&line["shape"], &line["threads"]), (&shape.into(), &2.into()));
            let (median, least) = (number(&line, "median_s"), number(&line, "min_s"));
            assert!(0.0 < least && least <= median);
            assert!(number(&line, "runs") >= 3.0);
            let by_median = number(&line, "gflops") * median * 1e9;
            let by_least = number(&line, "gflops_best") * least * 1e9;
            let flop = f64::from(flop);
            assert!((by_median / flop - 1.0).abs() < 1e-9 && (by_least / flop - 1.0).abs() < 1e-9, "{line}");
            // What single and double precision leave of numbers of the size of 1.
            let error = number(&line, "max_err");
            let (low, high) = if dtype == "f32" { (1e-9, 3e-6) } else { (1e-18, 1e-14) };
            assert!(low < error && error < high, "{line}");
            assert!(number(&line, "extra_bytes") > 0.0);
            let busy = &line["other_busy"];
            assert!(busy.is_null() || busy.as_f64().is_some_and(|busy| busy >= 0.0), "{line}");
        }
    }
}

#[test]
fn only_few_queries_are_told_how_fast_keys_and_values_are_read() {
    let decode = line("--n 512 --n-q 1 --heads 4 --kv-heads 2 --dim 32");
    let bytes = f64::from(2 * 2 * 512 * 32 * 4);
    assert!((number(&decode, "read_gb_s") * number(&decode, "median_s") * 1e9 / bytes - 1.0).abs() < 1e-9);
    assert!(number(&decode, "read_alone_gb_s") > 0.0);
    assert!(line("--n 64 --heads 1")["read_gb_s"].is_null());
}

#[test]
fn a_model_is_measured_with_what_its_weights_take() {
    let line = line("--model words --n 20 --threads 1");
    assert_eq!((&line["tokens"], &line["threads"]), (&20.into(), &1.into()));
    // 19,616 weights for each token, as `attn model words TEXT` says; four bytes each.
    let weights = 19_616.0;
    assert_eq!(number(&line, "weight_bytes"), 4.0 * weights);
    let flop = number(&line, "forward_gflops") * number(&line, "forward_s") * 1e9;
    assert!((flop / (2.0 * 20.0 * weights) - 1.0).abs() < 1e-9, "{line}");
    let reading = 4.0 * weights / (number(&line, "read_gb_s") * 1e9);
    let share = number(&line, "decode_share_of_reading");
    assert!((share * number(&line, "decode_s") / reading - 1.0).abs() < 1e-9, "{line}");
    assert!(number(&line, "forward_min_s") <= number(&line, "forward_s"));
}

#[test]
fn a_model_with_a_short_context_is_measured_on_half_of_it() {
    // `words` has 32 positions.
    let line = line("--model words");
    assert_eq!(line["tokens"], 16);
    assert!(number(&line, "decode_runs") >= 1.0, "{line}");
    let full = attn("bench --model words --n 32 --seconds 0.01 --format json").ok().out;
    assert!(full.contains("\"decode_s\":null"), "{full}");
}

#[test]
fn an_encoder_has_no_next_token_to_measure() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/bert-a");
    let out = attn("bench --n 5 --seconds 0.01 --format json --model").arg(folder).ok().out;
    let line: Value = serde_json::from_str(&out).expect("JSON");
    assert!(line["decode_s"].is_null() && line["decode_share_of_reading"].is_null(), "{line}");
    assert!(number(&line, "forward_s") > 0.0);
}

#[test]
fn a_model_is_measured_on_a_text_that_fits_it() {
    attn("bench --model words --n 0").refused(&["--n 0 leaves nothing to compute"]);
    attn("bench --model words --n 9999").refused(&["the text has 9999 tokens", "positions"]);
    attn("bench --model nowhere").refused(&["nowhere"]);
    attn("bench --model words --heads 2").refused(&["cannot be used with"]);
}

#[test]
fn the_instructions_asked_for_are_those_that_are_measured() {
    let shape = "--n 20 --heads 1 --dim 8 --threads 1";
    for level in SimdLevel::available() {
        assert_eq!(line(&format!("{shape} --simd {}", level.name()))["simd"], level.name());
        let env = Env { simd: Some(level.name().to_string()), ..Env::default() };
        let out = attn(&format!("bench {shape} --seconds 0.01 --format json")).env(env).ok().out;
        let line: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(line["simd"], level.name());
    }
}

#[test]
fn the_threads_asked_for_are_those_that_are_measured() {
    for threads in [1, 2, 3] {
        // The other tests of this program share the pool of threads; who finds it at work stays alone.
        let are_used = || {
            let line = line(&format!("--n 300 --heads 8 --threads {threads}"));
            assert_eq!(line["threads"], threads);
            line["threads_used"] == threads
        };
        assert!((0..100).any(|_| are_used()), "{threads} threads are never used");
        let small = line(&format!("--n 8 --heads 1 --threads {threads}"));
        assert_eq!((&small["threads"], &small["threads_used"]), (&threads.into(), &1.into()));
    }
}

#[test]
fn it_is_repeated_for_as_long_as_was_asked() {
    let out = attn("bench --n 256 --heads 4 --seconds 0.4 --format json").ok().out;
    let line: Value = serde_json::from_str(&out).expect("JSON");
    // Runs that others held up count for more than the median.
    let measured = number(&line, "runs") * number(&line, "median_s");
    assert!(0.1 < measured && measured < 4.0, "{line}");
}

#[test]
fn nothing_is_faster_than_the_peak() {
    if SimdLevel::detect() == SimdLevel::Portable {
        return;
    }
    // Others may have taken the processor while the peak was measured: then once more, and not to the digit.
    let is_below = |rate: f64, peak: f64| rate < 2.0 * peak;
    for dtype in ["f32", "f64"] {
        let one = || {
            let out = attn(&format!("bench --n 300 --heads 4 --dtype {dtype} --seconds 0.2 --format json"))
                .ok()
                .out;
            let line: Value = serde_json::from_str(&out).expect("JSON");
            is_below(number(&line, "gflops_best"), number(&line, "peak_gflops"))
        };
        assert!((0..3).any(|_| one()), "{dtype}: the kernel is faster than the peak");
        let all = || {
            let out = overview(&format!("--format json --dtype {dtype}"));
            let lines: Vec<Value> =
                out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            let of = |peer| lines.iter().filter(move |line| line["peer"] == peer && line["dtype"] == dtype);
            let peak =
                of("peak").find(|line| line["threads"] == Machine::here().threads).expect("all threads");
            let mut fused = of("attn.fused").filter_map(|line| line["gflops"].as_f64());
            fused.all(|rate| is_below(rate, number(peak, "gflops")))
        };
        assert!((0..3).any(|_| all()), "{dtype}: the kernel is faster than the peak");
    }
}

/// One head of keys and values for all heads, f32.
fn used(heads: usize, n: usize, band: Band) -> Resources {
    const WIDTH: usize = 64;
    let numbers: Vec<f32> = (0..n * WIDTH).map(|i| (i % 17) as f32 * 0.1).collect();
    let repeated = Layout { head_stride: 0, ..Layout::stacked(heads, n, WIDTH) };
    let [q, k, v] = ["q", "k", "v"].map(|name| Heads::new(name, &numbers, repeated).expect("they fit"));
    let attention = Attention { band, ..Attention::new(q, k, v) };
    let mut output = vec![0.0; heads * n * WIDTH];
    // Alone: for more there is a pool, which all tests of this program share.
    let machine = Machine { simd: SimdLevel::detect(), threads: 1 };
    attend(&attention, machine, Output::new(&mut output, Layout::stacked(heads, n, WIDTH))).expect("it fits")
}

#[test]
fn the_memory_of_a_shape_is_what_the_kernel_states() {
    let line = line("--n 3000 --heads 1 --threads 1");
    assert_eq!(line["extra_bytes"], used(1, 3000, Band::default()).extra_bytes);
}

#[test]
fn what_the_fused_path_needs_depends_neither_on_the_length_nor_on_the_heads() {
    let narrow = |_| Band { from: Some(-15), until: Some(1), keep_first: 0 };
    let bands: [&dyn Fn(usize) -> Band; 3] = [&|_| Band::default(), &|n| Band::causal(n, n), &narrow];
    for band in bands {
        // What a mask leaves decides how wide the tiles are.
        let needed = used(1, 3072, band(3072)).extra_bytes;
        assert!(needed > 0);
        assert_eq!(used(2, 6144, band(6144)).extra_bytes, needed);
    }
    assert_eq!(used(8, 32_768, narrow(0)).extra_bytes, used(1, 3072, narrow(0)).extra_bytes);
}

/// What an overview of a short while prints; debug builds and slow machines leave more sizes out.
fn overview(options: &str) -> String {
    attn(&format!("bench --dim 8 --seconds 0.3 {options}")).ok().out
}

#[test]
fn all_sizes_are_there_on_every_way_measured_or_with_the_reason() {
    let lines: Vec<Value> =
        overview("--format json").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |peer: &str| lines.iter().filter(|line| line["peer"] == peer).collect::<Vec<_>>();
    // f32 and f64, on one thread and on all.
    assert_eq!(of("peak").len(), 4);
    let mut left_out = 0;
    for way in ["attn.loop", "attn.steps", "attn.fused"] {
        let lines = of(way);
        assert_eq!(lines.len(), 8, "{way}");
        for (line, n) in lines.iter().zip([64, 128, 256, 512, 1024, 2048, 4096, 8192]) {
            assert_eq!(line["shape"], format!("h=1,kv=1,q={n},n={n},d=8,full"));
            let reason = &line["not_measured"];
            match line["median_s"].as_f64() {
                Some(median) => {
                    let flop = number(line, "gflops") * median * 1e9;
                    assert!((flop / (4.0 * 8.0 * f64::from(n) * f64::from(n)) - 1.0).abs() < 1e-9, "{line}");
                }
                None => {
                    left_out += 1;
                    assert!(reason["seconds"].as_f64().or(reason["bytes"].as_f64()) > Some(0.0), "{line}");
                }
            }
        }
    }
    assert!(left_out > 0, "0.3 s are not enough for all");
    let fused = of("attn.fused");
    let threads = Machine::here().threads;
    for (line, n) in fused.iter().zip([64, 128]) {
        // Of numbers of the size of 1, off by single precision.
        let error = number(line, "max_err");
        assert!(1e-9 < error && error < 3e-6, "{line}");
        assert!(number(line, "extra_bytes") > 0.0 && number(line, "threads") >= 1.0, "{n}: {line}");
    }
    for (peak, (dtype, threads)) in
        of("peak").into_iter().zip([("f32", 1), ("f32", threads), ("f64", 1), ("f64", threads)])
    {
        assert_eq!((&peak["dtype"], &peak["threads"]), (&dtype.into(), &threads.into()));
        assert!(number(peak, "gflops") > 0.0, "{peak}");
    }
    // The fused path's peak is that of its numbers and threads, the others' that of one thread of f64.
    let is_of_one_or_all = |line: &Value| line["threads_used"] == 1 || line["threads_used"] == threads;
    for line in lines.iter().filter(|line| line["median_s"].is_f64() && is_of_one_or_all(line)) {
        let used = (&line["dtype"], &line["threads_used"]);
        let mut beside = of("peak").into_iter().filter(|peak| (&peak["dtype"], &peak["threads"]) == used);
        assert!(beside.any(|peak| peak["gflops"] == line["peak_gflops"]), "{line}");
    }
    // S, S_scaled and A, f64; of the loop a row of each.
    let bytes = |way: &str| of(way)[0]["extra_bytes"].as_u64().expect("the smallest is always measured");
    assert_eq!((bytes("attn.steps"), bytes("attn.loop")), (3 * 64 * 64 * 8, 3 * 64 * 8));
}

#[test]
fn the_overview_is_of_the_type_and_the_mask_that_were_asked_for() {
    let out = overview("--format json --dtype f64 --causal");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |peer: &str| lines.iter().find(|line| line["peer"] == peer).expect("the smallest size");
    let (fused, steps, looped) = (of("attn.fused"), of("attn.steps"), of("attn.loop"));
    assert_eq!((&fused["dtype"], &steps["dtype"]), (&"f64".into(), &"f64".into()));
    assert_eq!(fused["shape"], "h=1,kv=1,q=64,n=64,d=8,causal");
    assert_eq!(looped["shape"], fused["shape"], "like is compared with like");
    let error = number(fused, "max_err");
    assert!(1e-18 < error && error < 1e-14, "{fused}");
    for line in [fused, steps, looped] {
        let flop = number(line, "gflops") * number(line, "median_s") * 1e9;
        assert!((flop / f64::from(4 * 8 * 64 * 65 / 2) - 1.0).abs() < 1e-9, "{line}");
    }
    // S, S_scaled, S_masked and A.
    assert_eq!(steps["extra_bytes"], 4 * 64 * 64 * 8);
}

#[test]
fn the_overview_fits_the_screen_in_every_charset_and_says_what_it_leaves_out() {
    for (options, width) in [("--width 80", 80), ("--width 200 --charset ascii", 200), ("--width 60", 60)] {
        let out = overview(options);
        for line in out.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= width, "{options}: {line}");
        }
        assert_eq!(out.is_ascii(), options.contains("ascii"), "{options}");
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(": estimated, not measured: it would take longer than"), "{out}");
        for (name, ascii) in [("● loop", "o loop"), ("■ steps", "# steps"), ("▲ fused", "^ fused")] {
            let mark = if options.contains("ascii") { ascii } else { name };
            assert_eq!(out.matches(mark).count(), 2, "{options}: {mark} in\n{out}");
        }
    }
}

/// A size that a way was measured at, as its table has it.
#[derive(Clone, Copy, Debug)]
struct Row<'o> {
    n: &'o str,
    seconds: f64,
    bytes: f64,
}

/// How the table begins whose rows have the threads too.
const FUSED: &str = "\nFused as";

/// The sizes that a way was measured at.
fn table<'o>(out: &'o str, way: &str) -> Vec<Row<'o>> {
    let unit = |unit: &str| match unit {
        "bytes" | "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        other => panic!("no unit {other}"),
    };
    let section = out.split(way).nth(1).and_then(|rest| rest.split('╰').next()).expect("a table");
    let row = |line: &'o str| {
        // │ n [threads] time unit [growth] GFLOP/s share % memory unit …
        let shift = usize::from(way == FUSED);
        let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with('×')).collect();
        let quantity = |at: usize| Some(words.get(at)?.parse::<f64>().ok()? * unit(words.get(at + 1)?));
        Some(Row { n: words.get(1)?, seconds: quantity(2 + shift)?, bytes: quantity(7 + shift)? })
    };
    section.lines().filter(|line| line.starts_with('│') && !line.contains('≈')).filter_map(row).collect()
}

#[test]
fn the_sentence_below_the_tables_says_what_they_say() {
    let out = overview("--width 200");
    let [looped, steps, fused] = ["\nLoop over", "\nStep by", FUSED].map(|way| table(&out, way));
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |before: &str, expected: f64| {
        let number =
            words.split(before).nth(1).and_then(|rest| rest.split(' ').next()).map(str::parse::<f64>);
        let Some(Ok(number)) = number else { panic!("no `{before}` in {words}") };
        // Three digits of each are printed.
        assert!((number / expected - 1.0).abs() < 0.02, "{before}{number}, but {expected}");
    };
    // The largest size of both.
    let both = |a: &[Row<'_>], b: &[Row<'_>]| {
        let same = a.iter().rev().find_map(|a| Some((*a, *b.iter().find(|b| b.n == a.n)?)));
        let (a, b) = same.expect("the smallest is always measured");
        (a.n.to_string(), a.seconds / b.seconds, a.bytes / b.bytes)
    };
    let (n, time, _) = both(&looped, &steps);
    says(&format!("n = {n}: the loop takes ×"), time);
    let (n, time, memory) = both(&steps, &fused);
    says(&format!("n = {n}: whole matrices, in f64 on 1 thread, take ×"), time);
    says(", and ×", memory);
}

#[test]
fn a_shape_for_people_is_a_table_that_fits_the_screen() {
    for options in
        ["--n 64 --heads 2", "--n 300 --n-q 1 --heads 4 --kv-heads 1", "--n 16 --threads 2 --charset ascii"]
    {
        let out = attn(&format!("bench {options} --seconds 0.01 --width 80")).ok().out;
        assert!(out.contains("GFLOP/s") && out.contains("in addition to inputs and output"), "{out}");
        assert!(out.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{out}");
        assert_eq!(out.is_ascii(), options.contains("ascii"));
    }
    let small = attn("bench --n 16 --threads 2 --seconds 0.01").ok().out;
    assert!(small.contains("1 thread used"), "{small}");
}

#[test]
fn what_makes_no_problem_is_refused_with_what_to_do() {
    for (options, said) in [
        ("--n 0", "--n 0 leaves nothing to compute"),
        ("--n 8 --heads 0", "--heads 0"),
        ("--n 8 --kv-heads 0", "--kv-heads 0"),
        ("--n 8 --n-q 0", "--n-q 0"),
        ("--dim 0", "--dim 0"),
        ("--n 8 --heads 8 --kv-heads 3", "8 query heads cannot share 3 key/value heads"),
        ("--n 18446744073709551615", "can be counted"),
        ("--n 4000000000 --n-q 1 --heads 1", "GiB may be used"),
        ("--n 4000000 --heads 1000", "GiB may be used"),
        ("--n 8 --simd sse2", "`sse2` is no set of SIMD instructions"),
        ("--n 8 --seconds 0", "not a positive number"),
        ("--n 8 --seconds inf", "not a positive number"),
        ("--n 8 --seconds 1e9", "longer than an hour"),
        ("--n 8 --threads 0", "0 is not between 1 and 256"),
        ("--heads 8", "--heads needs a length, --n"),
        ("--n-q 8", "add --n 1024"),
        ("--n 8 --n-q 20", "the queries are the last of the 8 tokens"),
        ("--n 8 --dtype f16", "f16"),
        ("--n x", "invalid value 'x'"),
    ] {
        let outcome = attn(&format!("bench {options}")).run();
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{options}");
        assert!(outcome.err.contains(said), "{options}: {}", outcome.err);
    }
}
