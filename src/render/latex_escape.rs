//! Characters and single words in LaTeX: escapes, commands for mathematical signs, names with subscripts.

use super::style::take_name;

/// The text with LaTeX's special characters escaped and mathematical characters as commands.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.push_str("\\textbackslash{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '“' => out.push_str("``"),
            '”' => out.push_str("''"),
            '‘' => out.push('`'),
            '’' => out.push('\''),
            '–' => out.push_str("--"),
            '␣' => out.push_str("\\textvisiblespace{}"),
            bar if eighths(bar) > 0 => {
                let mut length = eighths(bar);
                while let Some(next) = characters.next_if(|next| eighths(*next) > 0) {
                    length += eighths(next);
                }
                out.push_str(&format!("\\rule{{{}em}}{{1.5ex}}", f64::from(length) / 16.0));
            }
            '√' => {
                let radicand = take_name(&mut characters);
                out.push_str(&format!("$\\sqrt{{{}}}$", math_word(&radicand)));
            }
            other => match symbol(other) {
                Some(symbol) => out.push_str(&format!("${symbol}$")),
                None => out.push(other),
            },
        }
    }
    out
}

/// The length of a piece of a bar, in eighths of a character; 0 for other characters. LaTeX draws a bar as a rule.
fn eighths(character: char) -> u32 {
    match character {
        '▏' => 1,
        '▎' => 2,
        '▍' => 3,
        '▌' => 4,
        '▋' => 5,
        '▊' => 6,
        '▉' => 7,
        '█' => 8,
        _ => 0,
    }
}

/// The mathematical command for a character.
pub(super) fn symbol(character: char) -> Option<&'static str> {
    Some(match character {
        '−' => "-",
        '∞' => "\\infty",
        '×' => "\\times",
        '·' => "\\cdot",
        '∘' => "\\circ",
        '≤' => "\\le",
        '≥' => "\\ge",
        '≠' => "\\ne",
        '→' => "\\to",
        '←' => "\\gets",
        '↦' => "\\mapsto",
        '∈' => "\\in",
        '≈' => "\\approx",
        'ℝ' => "\\mathbf{R}",
        '√' => "\\surd",
        'Δ' => "\\Delta",
        'δ' => "\\delta",
        'Σ' => "\\Sigma",
        'σ' => "\\sigma",
        'θ' => "\\theta",
        'β' => "\\beta",
        'λ' => "\\lambda",
        'φ' => "\\varphi",
        'ε' => "\\varepsilon",
        '′' => "'",
        'ᵀ' => "^{\\top}",
        'ⁿ' => "^n",
        'ˣ' => "^x",
        '⁰' => "^0",
        '¹' => "^1",
        '²' => "^2",
        '³' => "^3",
        '⁴' => "^4",
        '⁵' => "^5",
        '⁶' => "^6",
        '⁷' => "^7",
        '⁸' => "^8",
        '⁹' => "^9",
        '⁻' => "^-",
        '…' => "\\dots",
        _ => return None,
    })
}

/// A name as mathematics, with its subscript: `W_{Q}`, `x_{12}`.
pub(super) fn math_word(word: &str) -> String {
    match word.split_once('_') {
        Some((letter, index)) => {
            let plain = index.chars().count() == 1 || index.parse::<f64>().is_ok();
            let subscript = if plain { index.to_string() } else { format!("\\text{{{}}}", escaped(index)) };
            format!("{letter}_{{{subscript}}}")
        }
        None if is_letter_with_digits(word) => format!("{}_{{{}}}", &word[..1], &word[1..]),
        None => word.to_string(),
    }
}

/// Returns true if a word is a letter with its row and column, such as `x12`.
pub(super) fn is_letter_with_digits(word: &str) -> bool {
    let mut characters = word.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic());
    starts && word.len() > 1 && characters.all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_rules_and_exponents_are_raised() {
        assert_eq!(escaped("██▌ 10⁹"), "\\rule{1.25em}{1.5ex} 10$^9$");
    }
}
