//! Everything is written in UTF-8; where a terminal has only ASCII, the characters beyond it are spelled out.

use std::borrow::Cow;

use super::names::{is_in_name, take_name};

/// The characters that a terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Charset {
    /// All of them.
    #[default]
    Utf8,
    /// ASCII alone.
    Ascii,
}

impl Charset {
    /// The text in this charset. Characters that make up tables keep their width, others may grow.
    pub fn spelled(self, text: &str) -> Cow<'_, str> {
        match self {
            Charset::Utf8 => Cow::Borrowed(text),
            Charset::Ascii => Cow::Owned(ascii(text)),
        }
    }
}

/// The text in ASCII alone.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '√' if characters.peek().is_some_and(|next| is_in_name(*next)) => {
                let radicand = take_name(&mut characters);
                out.push_str(&format!("sqrt({radicand})"));
            }
            other if raised(other).is_some() => {
                // One mark for a number of several digits: 10⁻⁹ is 10^-9.
                out.push('^');
                out.extend(raised(other));
                while let Some(digit) = characters.peek().and_then(|next| raised(*next)) {
                    out.push(digit);
                    characters.next();
                }
            }
            // The space that no line is broken at becomes a plain one when all is laid out.
            '\0'..='\x7f' | '\u{a0}' => out.push(character),
            other => out.push_str(spelled(other)),
        }
    }
    out
}

/// The character that stands raised, as an exponent.
fn raised(character: char) -> Option<char> {
    Some(match character {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴' => '4',
        '⁵' => '5',
        '⁶' => '6',
        '⁷' => '7',
        '⁸' => '8',
        '⁹' => '9',
        '⁻' => '-',
        'ⁿ' => 'n',
        'ˣ' => 'x',
        'ᵃ' => 'a',
        _ => return None,
    })
}

fn spelled(character: char) -> &'static str {
    match character {
        '×' => "x",
        '·' | '∘' => "*",
        'ᵀ' => "^T",
        '√' => "sqrt",
        '−' | '–' | '—' => "-",
        '∞' => "inf",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '≈' => "~",
        '±' => "+-",
        '→' | '▶' => "->",
        '←' => "<-",
        '↦' => "|->",
        '∈' => "in",
        'ℝ' => "R",
        '↑' => "^",
        '↓' => "v",
        '↗' | '↙' => "/",
        '↖' | '↘' => "\\",
        '…' => "..",
        'µ' => "u",
        '␣' => "_",
        '«' | '»' | '“' | '”' => "\"",
        '‘' | '’' | '′' => "'",
        '░' => ":",
        '▿' => "v",
        '▁' => ".",
        '▂' => "-",
        '▃' => "~",
        '▄' => "=",
        '▅' => "+",
        '▆' => "*",
        '▇' => "#",
        '█' => "@",
        // The end of a bar, in eighths.
        '▏' | '▎' | '▍' => ".",
        '▌' | '▋' | '▊' | '▉' => "o",
        // A space and a line break in the pieces of byte-level tokenizers.
        'Ġ' => "_",
        'Ċ' => "\\n",
        '●' => "o",
        '╭' | '╮' | '╰' | '╯' | '└' | '├' | '┤' | '┼' | '┬' | '┴' => "+",
        '─' => "-",
        '│' => "|",
        'Σ' => "sum",
        'Δ' => "Delta ",
        'δ' => "delta",
        'σ' => "sigma",
        'θ' => "theta",
        'ε' => "eps",
        'π' => "pi",
        'α' => "alpha",
        'β' => "beta",
        'λ' => "lambda",
        'φ' => "phi",
        '₁' => "_1",
        '₂' => "_2",
        '₃' => "_3",
        'ₖ' => "_k",
        '⌈' => "ceil(",
        '⌉' => ")",
        '⇒' => "=>",
        '€' => "EUR",
        'é' | 'è' => "e",
        'ö' => "oe",
        'ü' => "ue",
        'ä' => "ae",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_becomes_ascii_and_tables_keep_their_width() {
        let text = "╭──╮\n│░0│\n╰──╯ A (2×2) = softmax(S / √3)ᵀ, −∞";
        let plain = ascii(text);
        assert!(plain.is_ascii());
        assert_eq!(plain.lines().nth(1), Some("|:0|"));
        assert!(plain.ends_with("A (2x2) = softmax(S / sqrt(3))^T, -inf"));
    }

    #[test]
    fn exponents_bars_and_spaces_of_pieces_are_spelled() {
        assert_eq!(ascii("10⁹ 10⁻¹² x² eˣ"), "10^9 10^-12 x^2 e^x");
        assert_eq!(ascii("██▋ █▏ █"), "@@o @. @");
        assert_eq!(ascii("␣cave Ġcave Ċ"), "_cave _cave \\n");
    }
}
