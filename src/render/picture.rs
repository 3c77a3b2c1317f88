//! A computation as a picture: its operands, the signs between them, and the result in one row.

use super::Style;
use super::block::{Block, Level};
use super::document::ComputedNode;
use super::table;

/// Operands, signs and result in one row, if it fits.
pub(super) fn picture(node: &ComputedNode, room: usize, style: &Style) -> Option<Block> {
    let value = node.value.as_ref()?;
    if node.operands.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    for (sign, operand) in &node.operands {
        if !sign.is_empty() {
            blocks.push(self::sign(sign, style));
        }
        blocks.push(table::only_box(operand, room, style)?);
    }
    let equals = if node.operands.len() == 1 { "→" } else { "=" };
    blocks.push(self::sign(equals, style));
    blocks.push(table::only_box(value, room, style)?);
    let picture = Block::beside(&blocks, 1, Level::Middles);
    (picture.width <= room).then_some(picture)
}

fn sign(sign: &str, style: &Style) -> Block {
    Block::plain(vec![style.charset.spelled(sign).into_owned()])
}
