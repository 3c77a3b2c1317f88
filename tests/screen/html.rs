//! `--format html`: a page that needs nothing else, in which every number of a result knows what made it.

use crate::common::{attn, one_in};
use attn::cli::Env;
use attn::demo::{Settings, demos};
use attn::explain::{Note, notes};
use attn::graph::{CellId, Graph, NodeId, Term};
use attn::render::html_page::fragment;

/// The page that a command writes.
#[track_caller]
fn page(command: &str) -> String {
    attn(command).arg("--format=html").ok().out
}

/// Tags that have no end.
const VOID: [&str; 5] = ["br", "meta", "link", "circle", "path"];

/// The elements of a page that are open where it ends or closes another; empty when it is well formed.
fn ill_formed(page: &str) -> Option<String> {
    let body = &page[page.find("<html")?..];
    let (mut open, mut rest) = (Vec::new(), body);
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>')?;
        let tag = &rest[start + 1..end];
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        rest = &rest[end + 1..];
        match tag.strip_prefix('/') {
            Some(closed) if open.last().map(String::as_str) != Some(closed) => {
                return Some(format!("</{closed}> where {open:?} are open"));
            }
            Some(_) => drop(open.pop()),
            None if VOID.contains(&&name[..]) => {}
            None if matches!(&name[..], "style" | "script") => {
                rest = &rest[rest.find(&format!("</{name}>"))? + name.len() + 3..]
            }
            None => open.push(name),
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} stay open"))
}

const COMMANDS: [&str; 18] = [
    "demo mask",
    "demo context",
    "demo context --until S_racket",
    "demo mask --versus '--seed 3'",
    "attend --random 3,4 --heads 2 --causal --heat always",
    "attend --words 'bat cave racket' --convention columns",
    "attend --words 'bat cave racket' --causal --explain A[cave,bat] --depth all",
    "attend --words 'bat cave racket' --symbolic O[cave]",
    "attend --random 2,2 --only O",
    "similarity bat cave racket",
    "softmax 1 -2 -inf 0.5 --temperature 2",
    "params llama3-8b",
    "params",
    "errata",
    "notation",
    "demo",
    "model words 'the bat sleeps'",
    "model words 'the bat sleeps' --without L1.A_3",
];

#[test]
fn every_page_is_whole_and_loads_nothing() {
    for command in COMMANDS {
        let page = page(command);
        assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"), "attn {command}");
        assert_eq!(ill_formed(&page), None, "attn {command}");
        assert!(page.contains("<title>"), "attn {command}");
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "attn {command}: {outside}");
        }
        let inside = fragment(&page).unwrap_or_else(|| panic!("attn {command}: no <main>"));
        assert!(!inside.contains("<h1") && !inside.contains("<script"), "attn {command}");
    }
}

#[test]
fn in_another_page_a_text_of_a_model_has_its_tables_and_no_pictures() {
    let page = page("model words 'the bat sleeps'");
    let inside = fragment(&page).unwrap();
    assert_eq!(ill_formed(&format!("<html>{inside}</html>")), None);
    assert!(page.contains("class=\"sentence\"") && page.contains("id=\"heads\""));
    assert!(!inside.contains("class=\"sentence\"") && !inside.contains("id=\"heads\""), "{inside}");
    for title in ["Tokens", "The next token", "What each head attends to, in letters", "Letters"] {
        assert!(inside.contains(&format!(">{title}</h5>")), "{title}: {inside}");
    }
}

#[test]
fn a_page_does_not_depend_on_the_terminal() {
    let command = "attend --words 'bat cave racket' --causal";
    let plain = page(command);
    for screen in ["--charset=utf8", "--color=always", "--width=40"] {
        assert_eq!(attn(command).arg("--format=html").arg(screen).ok().out, plain, "{screen}");
    }
}

#[test]
fn a_document_does_not_depend_on_the_screen_either() {
    let variables = |name: &str| {
        let found = [
            ("COLUMNS", "33"),
            ("LC_ALL", "C"),
            ("TERM", "dumb"),
            ("FORCE_COLOR", "1"),
            ("COLORFGBG", "0;15"),
        ];
        found.into_iter().find(|(other, _)| *other == name).map(|(_, value)| value.to_string())
    };
    let narrow = Env::from_variables(variables, None, [false; 2]);
    for command in [
        "attend --words 'bat cave racket' --causal --heat always",
        "demo stretch",
        "softmax 1 2 --explain A[1,1]",
        "params gpt2",
    ] {
        for format in ["latex", "markdown", "csv", "json", "html", "numpy"] {
            let document =
                |env: &Env| attn(command).arg(format!("--format={format}")).env(env.clone()).run().out;
            assert_eq!(document(&narrow), document(&Env::default()), "{command} as {format}");
        }
    }
}

/// The cells of a table of a page: the attributes and the text of each, row by row.
fn cells<'a>(page: &'a str, name: &str) -> Vec<Vec<(&'a str, &'a str)>> {
    let head = format!("class=\"name\">{name}</th>");
    // The first table of that name is the result, those behind it are operands.
    let table = &page[page.find(&head).unwrap_or_else(|| panic!("no table {name}"))..];
    let body = &table[..table.find("</table>").expect("an end")];
    let cell = |text: &'a str| {
        text.split_once('>').map(|(attributes, text)| (attributes, text.split("</td>").next().unwrap()))
    };
    body.split("<tr>").skip(1).map(|row| row.split("<td").skip(1).filter_map(cell).collect()).collect()
}

#[test]
fn each_cell_of_the_result_is_made_of_a_row_of_weights_and_a_column_of_values() {
    let page = page("attend --random 3,4 --causal");
    let node = |name: &str| {
        let at = page.find(&format!("class=\"name\">{name}</th>")).unwrap();
        let tag = &page[page[..at].rfind("<table").unwrap()..at];
        tag.split("data-node=\"").nth(1).unwrap().split('"').next().unwrap().to_string()
    };
    let (a, v) = (node("A"), node("V"));
    let o = cells(&page, "O");
    assert_eq!((o.len(), o[0].len()), (3, 4));
    for (i, row) in o.iter().enumerate() {
        for (j, (attributes, _)) in row.iter().enumerate() {
            let expected = format!("data-from=\"{a}:r{} {v}:c{}\"", i + 1, j + 1);
            assert!(attributes.contains(&expected), "O[{},{}]: {attributes}", i + 1, j + 1);
        }
    }
}

/// The value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

/// The cells of the tables of a page that have `data-from` anywhere, each as a node, a row and a column from 0, with the text of
/// that attribute; empty where a cell has none.
fn sources(page: &str) -> Vec<((usize, usize, usize), &str)> {
    let number = |text: &str| text.parse::<usize>().unwrap();
    let mut found = Vec::new();
    let tables =
        page.split("<table class=\"matrix\"").skip(1).map(|rest| rest.split("</table>").next().unwrap());
    for table in tables.filter(|table| table.contains(" data-from=")) {
        let (tag, rest) = table.split_once('>').unwrap();
        let (node, is_turned) = (attribute(tag, "data-node").map(number), tag.contains(" data-turned"));
        // The first row has the names of the columns.
        for (i, row) in rest.split("<tr>").skip(2).enumerate() {
            for (j, cell) in row.split("<td").skip(1).enumerate() {
                let tag = cell.split('>').next().unwrap();
                let at = match node {
                    Some(node) if is_turned => (node, j, i),
                    Some(node) => (node, i, j),
                    None => {
                        let Some(at) = attribute(tag, "data-at") else { continue };
                        let (node, place) = at.split_once(':').unwrap();
                        let (row, col) = place.split_once(',').unwrap();
                        (number(node), number(row) - 1, number(col) - 1)
                    }
                };
                found.push((at, attribute(tag, "data-from").unwrap_or("")));
            }
        }
    }
    found
}

/// The cells that a text such as `3:r2 5:c1` names.
fn named(graph: &Graph, from: &str) -> Vec<(usize, usize, usize)> {
    let mut all = Vec::new();
    for part in from.split_whitespace() {
        let (node, places) = part.split_once(':').unwrap();
        let node: usize = node.parse().unwrap();
        let shape = graph.nodes().nth(node).unwrap().1.shape();
        for place in places.split(';') {
            let number = |text: &str| text.parse::<usize>().unwrap() - 1;
            let is_in = |row: usize, col: usize| match place.split_at(1) {
                ("*", _) => true,
                ("r", wanted) => row == number(wanted),
                ("c", wanted) => col == number(wanted),
                _ => place.split_once(',').map(|(i, j)| (number(i), number(j))) == Some((row, col)),
            };
            let cells = (0..shape.rows).flat_map(|row| (0..shape.cols).map(move |col| (row, col)));
            all.extend(cells.filter(|&(row, col)| is_in(row, col)).map(|(row, col)| (node, row, col)));
        }
    }
    all.sort_unstable();
    all
}

/// The cells that a cell's terms read, and those that decide which case of its formula holds.
fn read_by(graph: &Graph, cell: CellId) -> Vec<(usize, usize, usize)> {
    fn read(term: &Term, cells: &mut Vec<CellId>) {
        if let Term::Cell(cell) = term {
            cells.push(*cell);
        }
        term.parts().into_iter().for_each(|part| read(part, cells));
    }
    let term = graph.terms(cell);
    let mut cells = Vec::new();
    read(&term, &mut cells);
    for note in notes(graph, cell, &term) {
        if let Note::Decided(deciding) = note {
            cells.extend(deciding);
        }
    }
    let mut places: Vec<_> =
        cells.into_iter().map(|cell| (cell.node.position(), cell.row, cell.col)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[test]
fn in_every_demo_what_made_a_cell_is_what_stands_in_its_terms() {
    let mut compared = 0;
    for demo in demos().step_by(one_in(4)) {
        let graph = demo.story(&Settings::default()).unwrap().graph;
        let nodes: Vec<NodeId> = graph.nodes().map(|(node, _)| node).collect();
        for ((node, row, col), from) in sources(&page(&format!("demo {}", demo.name))) {
            let expected = read_by(&graph, CellId { node: nodes[node], row, col });
            let name = &graph[nodes[node]].name;
            assert_eq!(named(&graph, from), expected, "{}: {name}[{row},{col}]: {from}", demo.name);
            compared += 1;
        }
    }
    assert!(compared > 3000 / one_in(10), "{compared}");
}

#[test]
fn a_weight_is_made_of_its_row_of_scores_and_shows_its_sum() {
    let page = page("attend --x '1 0; 0 1' --precision 3 --scale none");
    let a = cells(&page, "A");
    assert!(a[1][0].0.contains(":r2\""), "{:?}", a[1][0]);
    // e⁰ / (e⁰ + e¹) = 0.2689
    let sum = "data-sum=\"a21 = exp(s21 − m) / (exp(s21 − m) + exp(s22 − m)) = exp(0 − 1) / (exp(0 − 1) + exp(1 − 1)) = 0.269, with m = max(s21, s22) = 1\"";
    assert!(a[1][0].0.contains(sum), "{:?}", a[1][0]);
}

#[test]
fn a_question_keeps_its_answer() {
    let (whole, page) = (page("demo mask --precision 6"), page("demo mask --precision 6 --until A"));
    let a = cells(&page, "A");
    assert!(a.iter().flatten().all(|(_, text)| *text == "?"), "{a:?}");
    assert!(a[1][0].0.contains("data-from") && !a[1][0].0.contains("data-sum"), "{:?}", a[1][0]);
    let answer = cells(&whole, "A")[1][0].1;
    assert!(answer.len() == 8 && !page.contains(answer), "{answer}");
}

#[test]
fn hidden_cells_are_marked_in_characters_and_shades_can_be_switched_off() {
    let command = "attend --random 3,2 --causal";
    let shaded = page(command);
    let (attributes, text) = cells(&shaded, "A")[0][2];
    assert!(attributes.contains("class=\"masked\""), "{attributes}");
    assert!(text.contains("░</span>0"), "{text}");
    assert!(cells(&shaded, "A")[0][0].0.contains("class=\"more-7\""));
    let plain = page(&format!("{command} --heat never"));
    let inside = fragment(&plain).unwrap();
    assert!(!inside.contains("class=\"more-") && !inside.contains("masked\""), "{inside}");
}

#[test]
fn labels_bring_no_tags_and_no_escapes() {
    let page =
        attn("attend --random 2,2 --format html --tokens").arg("<script>alert(1)</script>,\"x' & y").ok().out;
    let inside = fragment(&page).unwrap();
    assert!(
        !inside.contains("<script") && inside.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{inside}"
    );
    assert!(inside.contains("&quot;x&#39; &amp; y"), "{inside}");
    assert_eq!(ill_formed(&page), None);
}

#[test]
fn a_small_page_looks_as_it_did() {
    let inside = fragment(&page("attend --x '1 0; 0 1' --causal --only S_masked,A --precision 2")).unwrap();
    insta::assert_snapshot!("a_small_page", inside);
}
