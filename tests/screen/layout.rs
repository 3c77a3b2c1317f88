//! Snapshots of screens: they hold the layout, not the numbers. `INSTA_UPDATE=always cargo test --test all screen::layout::` draws them again.

use crate::common::{attn, one_in};

macro_rules! screens {
    ($($name:ident: $command:literal)*) => {
        $(#[test]
        fn $name() {
            // Digits become 0: snapshots say how it looks, other tests what it says.
            let out: String = attn($command).ok().out.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            insta::assert_snapshot!(stringify!($name), out);
        })*
    };
}

screens! {
    mask_at_80_columns: "demo mask --precision 2 --width 80"
    mask_at_200_columns: "demo mask --precision 2 --width 200"
    context_with_its_planes: "demo context --until S_racket --width 100"
    two_heads_in_ascii_with_bars: "attend --random 3,4 --heads 2 --causal --charset ascii --heat always --width 100"
    columns_as_tokens: "attend --words 'bat cave racket' --causal --convention columns --width 100"
    versus_at_80_columns: "attend --words 'bat cave racket' --causal --versus '--scale none' --width 80"
    versus_at_200_columns: "demo mask --versus '--seed 3' --precision 2 --width 200"
    versus_in_ascii_with_bars: "attend --random 3,4 --versus '--causal' --only A --charset ascii --heat always --width 120"
    versus_as_latex: "attend --random 2,2 --versus --causal --only A --format latex"
    markdown: "attend --words 'bat cave racket' --causal --format markdown"
    latex: "attend --words 'bat cave racket' --causal --format latex"
    a_softmax: "softmax 1 -2 -inf 0.5 --temperature 2"
    parameters_at_80_columns: "params llama3-8b --width 80"
    the_list_of_demos: "demo"
    a_weight_explained_at_80_columns: "attend --words 'bat cave racket' --causal --explain A[cave,bat] --depth 2 --width 80"
    a_cell_explained_at_60_columns_in_ascii: "demo mask --explain A[2,1] --depth 2 --width 60 --charset ascii"
    an_explanation_in_latex: "attend --random 3,12 --heads 2 --explain C[1,7] --explain A_1[1,2] --depth 2 --format latex"
    an_explanation_in_markdown: "similarity bat cave --explain cosine[bat,cave] --format markdown"
    notation_at_120_columns: "notation --width 120"
}

fn lines(demo: &str, width: usize) -> usize {
    attn(&format!("demo {demo} --width {width}")).ok().out.lines().count()
}

/// A demo fits a class: the longest ones have been shortened, and stay short.
#[test]
fn no_demo_is_longer_than_a_class_reads() {
    const MOST: usize = 150;
    // Those of several heads are short for what they show; the others have many steps, or large matrices.
    let longer = [
        ("multihead", 131),
        ("gqa", 130),
        ("qkv", 140),
        ("output", 158),
        ("linear", 160),
        ("backward", 162),
        ("similarity", 166),
        ("order", 171),
        ("vectorize", 175),
        ("stretch", 176),
        ("mlp", 177),
        ("online", 186),
        ("pooling", 194),
        ("update", 199),
        ("context", 211),
    ];
    for demo in attn::demo::demos() {
        let most = longer.iter().find(|(name, _)| *name == demo.name).map_or(MOST, |(_, most)| *most);
        let lines = lines(demo.name, 80);
        assert!(lines <= most, "{} has {lines} lines", demo.name);
    }
}

#[test]
fn a_wider_screen_never_needs_more_lines() {
    for demo in attn::demo::demos().step_by(one_in(4)) {
        let heights = [80, 100, 120, 160, 200].map(|width| lines(demo.name, width));
        assert!(heights.is_sorted_by(|narrow, wide| narrow >= wide), "{}: {heights:?}", demo.name);
    }
}

#[test]
fn the_headline_points_to_the_remarks_and_the_main_point_is_last() {
    let remarks = "2 remarks on the source text";
    for (format, line) in [
        ("table", "2 remarks on the source text: attn find --errata --demo mask".to_string()),
        ("markdown", format!("*{remarks}:* `attn find --errata --demo mask`")),
        ("latex", format!("\\emph{{{remarks}:}} \\texttt{{attn find --errata --demo mask}}")),
    ] {
        let out = attn(&format!("demo mask --format {format}")).ok().out;
        let head: Vec<&str> = out.lines().take(9).collect();
        assert!(head.contains(&line.as_str()), "{format}: {head:#?}");
        assert_eq!(out.matches(remarks).count(), 1, "{format}");
    }
    // Unfolded, the remarks themselves stand at the end.
    let full = attn("demo mask --full").ok().out;
    assert!(!full.contains(remarks) && full.matches("Note: ").count() == 2, "{full}");
}

#[test]
fn latex_names_its_packages_has_real_subscripts_and_scales_what_is_wide() {
    let interact = attn("demo interact --format latex").ok().out;
    assert!(interact.starts_with("% Needs, before \\begin{document}: \\usepackage{amsmath}"), "{interact}");
    assert!(interact.contains("l_{11}\\cdot x_{11} + l_{12}\\cdot x_{21}"), "{interact}");
    assert!(!interact.contains("\\text{l11"), "{interact}");
    let narrow = attn("attend --random 2,2 --only X --format latex").ok().out;
    assert!(narrow.starts_with("% Needs, before \\begin{document}: \\usepackage{amsmath}\n"), "{narrow}");
    assert_eq!(narrow.matches("\\attnfit").count(), 0, "{narrow}");
    let wide = attn("attend --random 2,12 --only X --format latex").ok().out;
    assert!(wide.matches("\\attnfit").count() > 1 && wide.contains("\\usepackage{graphicx}"), "{wide}");
    // KaTeX takes a thousand macros, and these would be one for each product.
    let long = attn("attend --random 2,300 --symbolic S[1,2] --format latex").ok().out;
    assert!(long.len() > 5000 && !long.contains("\\,") && !long.contains("\\quad"));
}

#[test]
fn the_weights_of_every_built_in_model_stand_in_one_table_at_80_columns() {
    for model in attn::params::built_in() {
        let out = attn(&format!("params {} --width 80", model.name)).ok().out;
        let tables = out.lines().filter(|line| line.starts_with("│ weights")).count();
        // GPT-3 is counted in two ways.
        let expected = if model.name == "gpt3" { 2 } else { 1 };
        assert_eq!(tables, expected, "{out}");
    }
}
