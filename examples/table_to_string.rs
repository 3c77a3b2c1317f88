//! A demo and a graph of one's own, rendered into strings: `cargo run --example table_to_string`.

use std::io::Write;

use attn::demo::{Settings, find};
use attn::graph::{Convention, Graph, Op, Origin};
use attn::matrix::Matrix;
use attn::render::{Charset, Format, Heat, Page, Style, Theme, stories};
use attn::story::{Digits, Story};

fn main() -> attn::error::Result<()> {
    let mut graph = Graph::new();
    let x = graph.given("X", Matrix::of([[1.0, 2.0], [3.0, 4.0]]), Origin::Stated)?;
    graph.add("Y", Op::Product, &[x, x])?;
    let own = Page::whole(Story::of_graph("A square", graph, Digits::Places(2)));
    let mask = Page::whole(find("mask")?.story(&Settings::default())?);

    let style = Style {
        format: Format::Table,
        places: Some(2),
        width: 100,
        colour: false,
        theme: Theme::Unknown,
        charset: Charset::Utf8,
        heat: Heat::Auto,
        convention: Convention::Rows,
    };
    let mut text = Vec::new();
    stories(&[own, mask], "example", &style, &mut text)?;
    assert!(String::from_utf8_lossy(&text).contains("Y (2×2) = X (2×2) · X (2×2)"));
    std::io::stdout().lock().write_all(&text)?;
    Ok(())
}
