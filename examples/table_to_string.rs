//! A demo and a graph of one's own, rendered into strings: `cargo run --example table_to_string`.

use std::io::Write;

use attn::demo::{Settings, find};
use attn::graph::{Graph, Op, Origin};
use attn::matrix::Matrix;
use attn::render::{Format, Page, Screen, Style, stories};
use attn::story::{Digits, Story};

fn main() -> attn::error::Result<()> {
    let mut graph = Graph::new();
    let x = graph.given("X", Matrix::of([[1.0, 2.0], [3.0, 4.0]]), Origin::Stated)?;
    graph.add("Y", Op::Product, &[x, x])?;
    let own = Page::whole(Story::of_graph("A square", graph, Digits::Places(2)));
    let mask = Page::whole(find("mask")?.story(&Settings::default())?);

    let style = Style { places: Some(2), ..Style::on(Screen::plain(100), Format::Table) };
    let mut text = Vec::new();
    stories(&[own, mask], "example", &style, &mut text)?;
    assert!(String::from_utf8_lossy(&text).contains("Y (2×2) = X (2×2) · X (2×2)"));
    std::io::stdout().lock().write_all(&text)?;
    Ok(())
}
