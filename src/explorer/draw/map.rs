//! The map of all steps: where the cursor is, what it reads, what reads it, and what has changed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Board, Marks, put};
use crate::graph::{Graph, Node, NodeId};
use crate::text::ScreenWidth;

/// The columns for marks and gaps.
const BESIDES: usize = 5;
/// The columns for a shape.
const SHAPE: usize = 7;
/// From this width of the screen on there is room for shapes.
const WIDTH_WITH_SHAPES: u16 = 100;

/// The width of the map.
pub(super) fn width(board: &Board<'_>, screen: u16) -> u16 {
    let longest = nodes(board).map(|(_, node)| node.name.width()).max().unwrap_or(0);
    let shape = if screen >= WIDTH_WITH_SHAPES { SHAPE } else { 0 };
    ((longest + BESIDES + shape) as u16).clamp(10, (screen / 4).max(18))
}

/// The steps that the map shows: those of all heads, and of the cursor's.
fn nodes<'b>(board: &'b Board<'_>) -> impl Iterator<Item = (NodeId, &'b Node)> {
    let graph: &Graph = board.state.graph();
    let here = graph[board.state.cursor().node].step.and_then(|step| step.head).unwrap_or(1);
    let is_shown = move |node: &Node| node.step.and_then(|step| step.head).is_none_or(|head| head == here);
    graph.nodes().filter(move |(_, node)| is_shown(node))
}

/// Draws the map.
pub(super) fn draw(board: &Board<'_>, marks: &Marks, buffer: &mut Buffer, area: Rect) {
    let all: Vec<(NodeId, &Node)> = nodes(board).collect();
    let here = all.iter().position(|(id, _)| *id == board.state.cursor().node).unwrap_or(0);
    let height = usize::from(area.height);
    let start = here.saturating_sub(height / 2).min(all.len().saturating_sub(height));
    for (line, (id, node)) in all[start..].iter().take(height).enumerate() {
        let y = area.y + line as u16;
        let is_here = *id == board.state.cursor().node;
        let mark = match marks.read.iter().position(|read| read == id) {
            _ if is_here => ">",
            Some(0) => "[",
            Some(_) => "(",
            None if marks.readers.contains(id) => "'",
            None => " ",
        };
        let moved = if marks.moved.contains(id) { "*" } else { "" };
        let style = if is_here {
            Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD)
        } else {
            Style::new()
        };
        let name = format!("{mark} {}{moved}", node.name);
        let shape = board.look.spelled(&node.shape().to_string());
        let room = area.width.saturating_sub(2);
        let mut end = room;
        if buffer.area.width >= WIDTH_WITH_SHAPES {
            end = room.saturating_sub(shape.width() as u16);
            put(board.look, buffer, area.x + end, y, room, &shape, board.look.quiet());
            end = end.saturating_sub(1);
        }
        put(board.look, buffer, area.x, y, end, &name, style);
    }
}
