//! Numbers for the clipboard, through the terminal (OSC 52).

use crate::explore::State;
use crate::render::{base64, numpy};

/// The most bytes that a terminal takes: xterm's limit.
const MOST: usize = 74_000;

/// The escape that puts a text into the clipboard.
pub(super) fn escape(text: &str) -> String {
    format!("\x1b]52;c;{}\x07", base64(text.as_bytes()))
}

/// The number under the cursor, with every digit.
pub(super) fn cell(state: &State) -> Option<String> {
    state.value().map(|value| value.to_string())
}

/// The matrix under the cursor as NumPy prints it; `None` if it has no numbers, or too many for a clipboard.
pub(super) fn matrix(state: &State) -> Option<String> {
    let matrix = state.graph()[state.cursor().node].matrix()?;
    let text = numpy::array_lines(matrix);
    (text.len() <= MOST).then_some(text)
}
