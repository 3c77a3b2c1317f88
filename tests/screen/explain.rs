//! Where a number comes from. Figures are worked out by hand or stand in the documents; what holds for every explanation
//! is asserted for every op and every demo.

use std::collections::{BTreeSet, HashMap};

use crate::common::{attn, one_in};
use attn::demo::{Settings, demos};
use attn::explain::{Branch, Depth, Explanation, LongSums, explain, shortened};
use attn::graph::{CellId, Convention, Graph, Op, Origin, Symbols, resolve};
use attn::matrix::Matrix;
use attn::render::{Charset, Format, Heat, Page, Style, Theme, stories};
use attn::story::{Digits, ExplainedCell, Step, StepItem, Story};
use serde_json::Value;

const STYLE: Style = Style {
    format: Format::Table,
    places: None,
    width: 80,
    colour: false,
    theme: Theme::Unknown,
    charset: Charset::Utf8,
    heat: Heat::Auto,
    convention: Convention::Rows,
};

fn shown(graph: &Graph, of: Vec<Explanation>, side_by_side: bool, style: &Style) -> String {
    let captions = if side_by_side { ["the right way", "your way"] } else { [""; 2] };
    let captions = captions.into_iter().chain(std::iter::repeat(""));
    let captioned =
        |(explanation, caption): (_, &str)| ExplainedCell { caption: caption.into(), explanation };
    let of = of.into_iter().zip(captions).map(captioned).collect();
    let step = Step { shown: vec![StepItem::Explained { of, side_by_side }], ..Step::default() };
    let story = Story::of_steps("", graph.clone(), vec![step]);
    let page = Page {
        story: Story { digits: Digits::Places(4), ..story },
        nodes: Vec::new(),
        headed: false,
        skipped: 0,
        left: 0,
        computing: None,
    };
    let mut out = Vec::new();
    stories(&[page], "test", style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Every explanation of a tree, the root first.
fn all(explanation: &Explanation) -> Vec<&Explanation> {
    let inner = explanation.operands.iter().filter_map(|branch| match branch {
        Branch::Explained(inner) => Some(inner),
        _ => None,
    });
    std::iter::once(explanation).chain(inner.flat_map(all)).collect()
}

fn cells(graph: &Graph) -> Vec<CellId> {
    let of_node = |(node, content): (_, &attn::graph::Node)| {
        let shape = content.shape();
        (0..shape.rows).flat_map(move |row| (0..shape.cols).map(move |col| CellId { node, row, col }))
    };
    graph.nodes().flat_map(of_node).collect()
}

fn every_op(zero_row: bool) -> Graph {
    let a = Matrix::from_fn(3, 4, |i, j| {
        if zero_row && i == 1 { 0.0 } else { attn::elementary::sin((i * 4 + j) as f64) * 3.0 }
    });
    crate::cases::every_op(
        a,
        Matrix::from_fn(3, 4, |i, j| attn::elementary::cos((i * 7 + j * 3) as f64) * 2.0),
    )
}

#[test]
fn a_product_is_worked_out_term_by_term() {
    // bat · cave = 3·4 + 3·0, the document's vectors.
    let out = attn("similarity bat cave racket --explain 'dot[bat,cave]'").ok().out;
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    assert_eq!(lines[0], "dot[bat,cave]   dot = X · Xᵀ");
    assert_eq!(lines[2..6], ["dot[1,2] = x11·x21 + x12·x22", "= 3·4 + 3·0", "= 12 + 0", "= 12"]);
    assert_eq!(lines[7], "├─ x11  X[bat,animals]   3  given");
}

#[test]
fn a_softmax_names_its_maximum_and_every_power() {
    // e⁻² = 0.1353, e⁻¹ = 0.3679; 1 / 1.5032 = 0.6652.
    let out = attn("softmax 1 2 3 --explain A[1,3]").ok().out;
    for line in [
        "a13 = exp(x13 − m) / (exp(x11 − m) + exp(x12 − m) + exp(x13 − m))",
        "= exp(3 − 3) / (exp(1 − 3) + exp(2 − 3) + exp(3 − 3))",
        "= 1 / (0.1353 + 0.3679 + 1)",
        "= 1 / 1.5032",
        "= 0.6652",
        "with m = max(x11, x12, x13) = 3",
    ] {
        assert!(out.lines().any(|found| found.trim() == line), "no `{line}` in\n{out}");
    }
}

#[test]
fn the_masked_weights_of_the_document_are_explained_in_its_digits() {
    let golden = crate::golden::json("document_000.json");
    let is_a = |array: &&Value| array["demo"] == "mask" && array["name"] == "A";
    let weights = crate::golden::list(&golden, "matrices").iter().find(is_a).expect("mask A");
    let weights = crate::golden::matrix(&weights["values"]);
    for (i, j) in [(1, 0), (3, 0), (3, 3)] {
        let out = attn(&format!("demo mask --precision 8 --explain A[{},{}]", i + 1, j + 1)).ok().out;
        // Eight digits may not give the next line's eight, which ≈ says.
        let value = format!("{:.8}", weights[(i, j)]);
        let is_value = |line: &str| line.trim().trim_start_matches(['=', '≈']).trim() == value;
        assert!(out.lines().any(is_value), "no `{value}` in\n{out}");
    }
    let hidden = attn("demo mask --explain A[1,3] --depth 2").ok().out;
    assert!(hidden.contains("because the mask matrix hides it"), "{hidden}");
    assert!(hidden.contains("M[the,of] = 0"), "{hidden}");
}

#[test]
fn each_rule_of_a_mask_says_why() {
    let why = |options: &str, cell: &str| {
        attn(&format!("attend --q '1;1;1' --k '1;1;1' --v '1;1;1' {options} --explain S_masked[{cell}]"))
            .ok()
            .out
    };
    assert!(why("--causal", "1,2").contains("because the key comes after the query"));
    assert!(why("--causal", "2,1").contains("because no rule hides the key"));
    assert!(why("--window 2", "3,1").contains("because the key lies outside the window"));
    assert!(why("--causal", "1,2").contains("it looks at S_scaled[1,2] = 1"));
}

#[test]
fn a_concatenation_says_which_head_and_which_column() {
    // Heads of width 2: column 3 of C is the first of the second head.
    let out = attn("attend --random 3,4 --heads 2 --explain C[2,3]").ok().out;
    assert!(out.contains("c23 = o2[2,1]"), "{out}");
    assert!(out.contains("copied from row 2, column 1 of part 2 of 2, O_2"), "{out}");
}

#[test]
fn a_long_sum_keeps_its_largest_terms_and_adds_up_the_rest() {
    // 1 + 2 + … + 12 = 78; without 7 … 12 there are six terms, and they make 21.
    let long = "attend --q '1 1 1 1 1 1 1 1 1 1 1 1' --k '1 2 3 4 5 6 7 8 9 10 11 12' --v 1 --explain S[1,1]";
    let out = attn(long).ok().out;
    assert!(out.contains("s11 = q17·k17 + q18·k18 + q19·k19 + q[1,10]·k[1,10]"), "{out}");
    assert!(out.contains("= 7 + 8 + 9 + 10 + 11 + 12 + (6 more: 21)"), "{out}");
    assert!(out.contains("the sum has 12 terms; the 6 largest are written"), "{out}");
    assert!(out.lines().any(|line| line.trim() == "= 78"), "{out}");
    assert!(!out.contains("K[1,6]"), "what is not written needs no explanation:\n{out}");
    let whole = attn(long).arg("--format=json").ok().out;
    assert!(whole.contains("K[1,6]"), "JSON has every term");
}

#[test]
fn every_cell_of_every_op_is_what_its_explanation_evaluates_to() {
    let mut ops = HashMap::new();
    for graph in [every_op(false), every_op(true)] {
        for cell in cells(&graph) {
            let tree = explain(&graph, &[cell], Depth::All, LongSums::Whole).unwrap();
            for explanation in all(&tree[0]) {
                let recorded = graph.matrix(explanation.cell.node).unwrap()
                    [(explanation.cell.row, explanation.cell.col)];
                assert_eq!(
                    explanation.term.evaluate(&graph).to_bits(),
                    recorded.to_bits(),
                    "{}",
                    explanation.address
                );
                assert_eq!(explanation.value.to_bits(), recorded.to_bits());
            }
            *ops.entry(graph[cell.node].op.name()).or_insert(0) += 1;
        }
    }
    assert!(ops.len() >= 30, "only {} ops", ops.len());
}

#[test]
fn every_op_can_be_told_in_every_format_width_and_charset() {
    let graph = every_op(true);
    let firsts = graph.nodes().map(|(node, _)| CellId { node, row: 0, col: 0 });
    let tree = explain(&graph, &firsts.collect::<Vec<_>>(), Depth::Levels(2), LongSums::Shortened).unwrap();
    for width in [60, 80, 120, 200] {
        for (charset, format) in [(Charset::Utf8, Format::Table), (Charset::Ascii, Format::Table)] {
            let out = shown(&graph, tree.clone(), false, &Style { width, charset, format, ..STYLE });
            assert!(!out.contains("NaN"), "{out}");
            assert!(charset == Charset::Utf8 || out.is_ascii());
            for line in out.lines() {
                assert!(line.chars().count() <= width, "wider than {width}: {line}");
                assert_eq!(line, line.trim_end());
            }
        }
    }
    for format in [Format::Markdown, Format::Latex, Format::Json] {
        let out = shown(&graph, tree.clone(), false, &Style { format, ..STYLE });
        assert!(!out.contains("NaN") && out.len() > 10_000);
        assert_eq!(out.matches("\\left").count(), out.matches("\\right").count());
        assert_eq!(out.matches("\\begin{align*}").count(), out.matches("\\end{align*}").count());
    }
}

/// The commands that explanations are written with: those of LaTeX, amsmath and graphicx, and `\attnfit`, which a page defines.
const LATEX_COMMANDS: [&str; 43] = [
    "Sigma",
    "approx",
    "attnfit",
    "begin",
    "cdot",
    "cdots",
    "circ",
    "cos",
    "dots",
    "else",
    "emph",
    "end",
    "exp",
    "fi",
    "frac",
    "ifdim",
    "infty",
    "le",
    "left",
    "linewidth",
    "ln",
    "mathrm",
    "max",
    "ne",
    "noindent",
    "operatorname",
    "phantom",
    "providecommand",
    "resizebox",
    "right",
    "sin",
    "sqrt",
    "surd",
    "tanh",
    "text",
    "textbf",
    "times",
    "top",
    "underbrace",
    "usepackage",
    "varepsilon",
    "wedge",
    "width",
];

/// The commands in a text in LaTeX that consist of letters: `frac` of `\\frac{1}{2}`.
fn latex_commands(text: &str) -> BTreeSet<&str> {
    let letters = |text: &'_ str| text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    // A backslash behind another one is the end of a row.
    text.split("\\\\")
        .flat_map(|row| row.split('\\').skip(1))
        .map(|rest| &rest[..letters(rest)])
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn every_op_is_explained_with_commands_that_latex_knows() {
    let graph = every_op(true);
    let firsts = graph.nodes().map(|(node, _)| CellId { node, row: 0, col: 0 });
    let tree = explain(&graph, &firsts.collect::<Vec<_>>(), Depth::Levels(2), LongSums::Shortened).unwrap();
    let out = shown(&graph, tree, false, &Style { format: Format::Latex, ..STYLE });
    let unknown: Vec<&str> =
        latex_commands(&out).into_iter().filter(|command| !LATEX_COMMANDS.contains(command)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(out.contains("\\tanh\\left("), "{out}");
}

#[test]
fn the_last_cell_of_every_node_of_every_demo_is_told_down_to_what_is_given() {
    for demo in demos().step_by(one_in(20)) {
        let graph = demo.story(&Settings::default()).unwrap().graph;
        let has_nan = graph.nodes().any(|(_, node)| node.matrix().unwrap().cells().any(f64::is_nan));
        let last = |(node, content): (_, &attn::graph::Node)| {
            let shape = content.shape();
            CellId { node, row: shape.rows - 1, col: shape.cols - 1 }
        };
        let cells: Vec<CellId> = graph.nodes().map(last).collect();
        for depth in [Depth::Levels(1), Depth::All] {
            let tree = explain(&graph, &cells, depth, LongSums::Shortened).unwrap();
            for width in [60, 80] {
                let out =
                    shown(&graph, tree.clone(), false, &Style { width, charset: Charset::Ascii, ..STYLE });
                assert!(out.is_ascii() && !out.contains('?'), "{}: {out}", demo.name);
                let widest = out.lines().map(str::len).max().unwrap_or(0);
                assert!(
                    widest <= width,
                    "{}: {widest} columns on a screen of {width}\n{}",
                    demo.name,
                    out.lines().filter(|l| l.len() > width).take(5).collect::<Vec<_>>().join("\n")
                );
                assert!(has_nan || !out.contains("NaN"), "{}", demo.name);
            }
        }
    }
}

#[test]
fn a_sub_tree_is_written_once() {
    let out = attn("attend --words 'bat cave racket' --explain O[bat,1] --depth 3").ok().out;
    // Every weight of the row needs every score of the row; each score is worked out under the first of them.
    for cell in ["[bat,bat]", "[bat,cave]", "[bat,racket]"] {
        let mentions: Vec<&str> =
            out.lines().filter(|line| line.contains(&format!("S_scaled{cell}"))).collect();
        assert_eq!(mentions.len(), 3, "{out}");
        assert_eq!(mentions.iter().filter(|line| line.ends_with("above")).count(), 2, "{mentions:?}");
    }
}

#[test]
fn all_ends_at_the_given_numbers_and_says_where_they_are_from() {
    let out = attn("attend --q examples/data/q.csv --k examples/data/k.csv --v examples/data/v.csv --explain O[the,x] --depth all").ok().out;
    assert!(
        out.contains("given by examples/data/q.csv") && out.contains("given by examples/data/v.csv"),
        "{out}"
    );
    let drawn = attn("demo mask --explain Q[1,1]").ok().out;
    assert!(drawn.contains("randn, seed 0"), "{drawn}");
}

#[test]
fn two_explanations_stand_side_by_side_where_there_is_room() {
    let mut graph = Graph::new();
    let q = graph.given("Q", Matrix::of([[3.0, 3.0]]), Origin::Stated).unwrap();
    let k = graph.given("K", Matrix::of([[4.0, 0.0]]), Origin::Stated).unwrap();
    let s = graph.add("S", Op::ProductTransposed, &[q, k]).unwrap();
    let t = graph.add("T", Op::ProductTransposed, &[k, q]).unwrap();
    let both = [s, t].map(|node| CellId { node, row: 0, col: 0 });
    let tree = explain(&graph, &both, Depth::Levels(1), LongSums::Shortened).unwrap();
    let line = |width, words: &str| {
        let out = shown(&graph, tree.clone(), true, &Style { width, ..STYLE });
        out.lines().find(|line| line.contains(words)).expect("S in numbers").to_string()
    };
    assert!(line(120, "= 3·4 + 3·0").contains("= 4·3 + 0·3"));
    assert!(line(120, "the right way").contains("your way"));
    assert!(!line(80, "= 3·4 + 3·0").contains("= 4·3 + 0·3"));
    assert_eq!(line(80, "your way"), "your way");
}

#[test]
fn what_is_left_out_and_what_is_kept_make_the_whole() {
    let mut graph = Graph::new();
    let x = graph
        .given("x", Matrix::from_fn(1, 20, |_, j| if j % 3 == 0 { -1.0 } else { j as f64 }), Origin::Stated)
        .unwrap();
    let node = graph.add("sum", Op::Sums(attn::attention::Axis::Rows), &[x]).unwrap();
    let term = graph.terms(CellId { node, row: 0, col: 0 });
    assert_eq!(shortened(&graph, &term).evaluate(&graph), term.evaluate(&graph));
    assert_eq!(shortened(&graph, &term).parts().len(), 7);
}

#[test]
fn no_two_cells_of_a_demo_share_a_symbol() {
    for demo in demos() {
        let graph = demo.story(&Settings::default()).unwrap().graph;
        let symbols = Symbols::of(&graph, Convention::Rows);
        let mut seen = HashMap::new();
        for cell in cells(&graph) {
            let other = seen.insert(symbols.cell(cell), cell);
            assert_eq!(other, None, "{}: {} stands for two cells", demo.name, symbols.cell(cell));
        }
    }
}

#[test]
fn every_address_in_a_tree_can_be_asked_for() {
    for demo in demos() {
        let graph = demo.story(&Settings::default()).unwrap().graph;
        for cell in cells(&graph) {
            let address = attn::graph::address_of(&graph, cell);
            assert_eq!(resolve(&graph, &address).unwrap(), attn::graph::Cells::Cell(cell), "{address}");
        }
    }
}

#[test]
fn a_small_constant_of_a_formula_is_written_out_in_symbols() {
    for format in ["table", "latex"] {
        let out = attn("demo block --explain X_normed_block1[1,1]").arg("--format").arg(format).ok().out;
        assert!(out.contains("+ 0.00001)") || out.contains("+ 0.00001}"), "{out}");
    }
}
