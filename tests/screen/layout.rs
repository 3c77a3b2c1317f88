//! Snapshots of screens: they hold the layout, not the numbers. `INSTA_UPDATE=always cargo test --test screen layout::` draws them again.

use crate::common::attn;

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

/// A demo fits a class: the longest ones have been shortened, and stay short.
#[test]
fn the_demos_of_several_heads_are_not_longer_than_a_class_reads() {
    for (demo, most) in [("multihead", 220), ("gqa", 200)] {
        let lines = attn(&format!("demo {demo} --width 80")).ok().out.lines().count();
        assert!(lines <= most, "{demo} has {lines} lines");
    }
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
    for model in attn::params::BUILT_IN {
        let out = attn(&format!("params {} --width 80", model.name)).ok().out;
        let tables = out.lines().filter(|line| line.starts_with("│ weights")).count();
        // GPT-3 is counted in two ways.
        let expected = if model.name == "gpt3" { 2 } else { 1 };
        assert_eq!(tables, expected, "{out}");
    }
}
