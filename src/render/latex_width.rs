//! The width of formulas in LaTeX, and displays that are scaled down to the width of the line.

/// The approximate number of characters of a display that fill the line of an article.
const LINE: usize = 56;

/// A text that may be wider than the line, scaled down to it.
pub(super) fn fitted(text: &str) -> String {
    format!("\\noindent\\attnfit{{%\n{text}%\n}}")
}

/// A display; one that may be wider than the line is scaled down to it.
pub(super) fn display(formula: &str, width: usize) -> String {
    if width > LINE {
        format!("\\[\n\\attnfit{{$\\displaystyle\n{formula}\n$}}\n\\]")
    } else if formula.contains('\n') {
        format!("\\[\n{formula}\n\\]")
    } else {
        format!("\\[ {formula} \\]")
    }
}

/// The approximate width of a formula, in characters: a command counts as one, and of a fraction only the wider part.
pub(super) fn shown_width(formula: &str) -> usize {
    if let Some(at) = formula.find("\\frac{") {
        let (above, rest) = group(&formula[at + 5..]);
        let (below, rest) = group(rest);
        return shown_width(&formula[..at]) + shown_width(above).max(shown_width(below)) + shown_width(rest);
    }
    let (mut width, mut in_command) = (0, false);
    for character in formula.chars() {
        in_command = match character {
            '\\' => {
                width += 1;
                true
            }
            letter if in_command && letter.is_ascii_alphabetic() => true,
            '{' | '}' | '_' | '^' | ' ' | '&' | '\n' => false,
            _ => {
                width += 1;
                false
            }
        };
    }
    width
}

/// The content of the braces that a text begins with, and the rest of the text.
fn group(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (text.get(1..at).unwrap_or(""), text.get(at + 1..).unwrap_or(""));
        }
    }
    (text, "")
}
