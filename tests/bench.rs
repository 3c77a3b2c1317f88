//! `attn bench`: what it says hangs together, whatever the machine; nothing here depends on how fast it is.

mod common;

use attn::kernel::{Attention, Band, Heads, Layout, Machine, SimdLevel, Used, attend};
use common::attn;
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
            assert!(number(&line, "peak_gflops") > 0.0 && number(&line, "extra_bytes") >= 0.0);
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
fn the_instructions_asked_for_are_those_that_are_measured() {
    for level in SimdLevel::available() {
        let line = line(&format!("--n 20 --heads 1 --dim 8 --threads 1 --simd {}", level.name()));
        assert_eq!(line["simd"], level.name());
    }
}

/// One head of keys and values for all heads, f32.
fn used(heads: usize, n: usize, band: Band) -> Used {
    const WIDTH: usize = 64;
    let numbers: Vec<f32> = (0..n * WIDTH).map(|i| (i % 17) as f32 * 0.1).collect();
    let repeated = Layout { head_stride: 0, ..Layout::stacked(heads, n, WIDTH) };
    let [q, k, v] = ["q", "k", "v"].map(|name| Heads::new(name, &numbers, repeated).expect("they fit"));
    let attention = Attention { band, ..Attention::new(q, k, v) };
    let mut output = vec![0.0; heads * n * WIDTH];
    let machine = Machine { simd: SimdLevel::detect(), threads: 2 };
    attend(&attention, machine, (&mut output, Layout::stacked(heads, n, WIDTH)), None).expect("it fits")
}

#[test]
fn the_fused_path_needs_at_most_2_mb_for_8_heads_of_32768_tokens() {
    // Each query sees 16 keys, which makes it quick: what is needed does not depend on who sees whom, as the next test says.
    let band = Band { from: Some(-15), until: Some(1) };
    let used = used(8, 32_768, band);
    assert!(used.extra_bytes > 0 && used.extra_bytes <= 2 << 20, "{used:?}");
}

#[test]
fn what_the_fused_path_needs_depends_neither_on_the_band_nor_on_the_length() {
    // Lengths from which on keys and values leave a core's own cache, where tiles are widest.
    let narrow = Band { from: Some(-15), until: Some(1) };
    let needed = used(1, 3000, Band::default()).extra_bytes;
    assert_eq!(used(1, 3000, narrow).extra_bytes, needed);
    assert_eq!(used(1, 3000, Band::causal(3000, 3000)).extra_bytes, needed);
    assert_eq!(used(8, 32_768, narrow).extra_bytes, needed);
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
                    assert!((flop / f64::from(4 * 8 * n * n) - 1.0).abs() < 1e-9, "{line}");
                }
                None => {
                    left_out += 1;
                    assert!(reason["seconds"].as_f64().or(reason["bytes"].as_f64()) > Some(0.0), "{line}");
                }
            }
        }
    }
    assert!(left_out > 0, "0.3 s are not enough for all");
    // S, S_scaled and A, f64; of the loop a row of each.
    let bytes = |way: &str| of(way)[0]["extra_bytes"].as_u64().expect("the smallest is always measured");
    assert_eq!((bytes("attn.steps"), bytes("attn.loop")), (3 * 64 * 64 * 8, 3 * 64 * 8));
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
        assert!(words.contains("not measured, but worked out: it would take longer than"), "{out}");
        for (name, ascii) in [("● loop", "o loop"), ("■ steps", "# steps"), ("▲ fused", "^ fused")] {
            let mark = if options.contains("ascii") { ascii } else { name };
            assert_eq!(out.matches(mark).count(), 2, "{options}: {mark} in\n{out}");
        }
    }
}

#[test]
fn a_shape_for_people_is_a_table_that_fits_the_screen() {
    for options in
        ["--n 64 --heads 2", "--n 300 --n-q 1 --heads 4 --kv-heads 1", "--n 16 --threads 2 --charset ascii"]
    {
        let out = attn(&format!("bench {options} --seconds 0.01 --width 80")).ok().out;
        assert!(out.contains("GFLOP/s") && out.contains("beside inputs and output"), "{out}");
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
        ("--n 4000000000 --n-q 1 --heads 1", "GiB may be taken"),
        ("--n 4000000 --heads 1000", "GiB may be taken"),
        ("--n 8 --simd sse2", "`sse2` is no set of SIMD instructions"),
        ("--n 8 --seconds 0", "not a positive number"),
        ("--n 8 --seconds inf", "not a positive number"),
        ("--n 8 --seconds 1e9", "longer than an hour"),
        ("--n 8 --threads 0", "0 is not in 1..=256"),
        ("--heads 8", "--heads without a length, --n"),
        ("--n-q 8", "add --n 1024"),
        ("--n 8 --n-q 20", "queries are the last of the N tokens"),
        ("--n 8 --dtype f16", "f16"),
        ("--n x", "invalid value 'x'"),
    ] {
        let outcome = attn(&format!("bench {options}")).run();
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{options}");
        assert!(outcome.err.contains(said), "{options}: {}", outcome.err);
    }
}
