//! Numbers and equations in LaTeX.

use std::iter::Peekable;
use std::str::Chars;

use super::style::{is_in_name, take_name};

/// The text of a cell: a power of ten where a number has an exponent.
pub(super) fn number(text: &str) -> String {
    match (text, text.split_once('e')) {
        ("NaN" | "nan", _) => "\\text{NaN}".into(),
        ("-inf", _) => "-\\infty".into(),
        ("inf", _) => "\\infty".into(),
        (_, Some((mantissa, exponent))) if mantissa.parse::<f64>().is_ok() => {
            let exponent = exponent.parse::<i32>().unwrap_or_default();
            format!("{mantissa} \\cdot 10^{{{exponent}}}")
        }
        _ => math(text),
    }
}

/// A part of an equation.
#[derive(PartialEq)]
enum EquationPart {
    Mathematics(String),
    Words(String),
}

/// An equation: names keep their subscripts, words become text.
pub(super) fn math(equation: &str) -> String {
    let mut parts: Vec<EquationPart> = Vec::new();
    let mut characters = equation.chars().peekable();
    while let Some(character) = characters.next() {
        if is_in_name(character) {
            let word = format!("{character}{}", take_name(&mut characters));
            let indices = indices_behind(&mut characters);
            parts.push(match indices {
                Some(indices) => EquationPart::Mathematics(indexed(&word, &indices)),
                None if is_name(&word) => EquationPart::Mathematics(math_word(&word)),
                None if is_multiple(&word) => EquationPart::Mathematics(word),
                None => EquationPart::Words(word),
            });
            continue;
        }
        let text = match (character, symbol(character)) {
            ('√', _) => {
                let radicand = take_name(&mut characters);
                if radicand.is_empty() {
                    "\\surd ".into()
                } else {
                    format!("\\sqrt{{{}}}", math_word(&radicand))
                }
            }
            // A Greek letter with a subscript: `λ_init`.
            (letter, Some(symbol)) if letter.is_alphabetic() && characters.peek() == Some(&'_') => {
                math_word(&format!("{symbol}{}", take_name(&mut characters)))
            }
            (_, Some(symbol)) if symbol.starts_with('\\') => format!("{symbol} "),
            (_, Some(symbol)) => symbol.to_string(),
            ('{' | '}' | '%' | '#' | '&' | '$', None) => format!("\\{character}"),
            ('\\', None) => "\\backslash ".into(),
            ('~', None) => "\\sim ".into(),
            ('^', None) => match characters.next_if_eq(&'(') {
                Some(_) => {
                    let exponent: String = std::iter::from_fn(|| characters.next_if(|c| *c != ')')).collect();
                    characters.next_if_eq(&')');
                    match exponent.parse::<usize>() {
                        Ok(number) => format!("^{{({number})}}"),
                        Err(_) => format!("^{{{}}}", math(&exponent)),
                    }
                }
                None if characters.peek().is_some_and(|next| *next == '−' || is_in_name(*next)) => {
                    let sign = characters.next_if_eq(&'−').map_or("", |_| "-");
                    format!("^{{{sign}{}}}", math_word(&take_name(&mut characters)))
                }
                None => "\\wedge ".into(),
            },
            (' ', None) if matches!(parts.last(), Some(EquationPart::Words(_))) => {
                if let Some(EquationPart::Words(words)) = parts.last_mut() {
                    words.push(' ');
                }
                continue;
            }
            (other, None) => other.to_string(),
        };
        parts.push(EquationPart::Mathematics(text));
    }
    joined(parts)
}

/// The numbers in brackets behind a name, `1,12` of `q[1,12]`, taken from the text; `None` if there are none.
fn indices_behind(characters: &mut Peekable<Chars<'_>>) -> Option<String> {
    if characters.peek() != Some(&'[') {
        return None;
    }
    // No further than the index goes: texts may be long, and names many.
    let behind = characters.clone().skip(1);
    let ahead: String = behind.take_while(|c| *c == ',' || c.is_ascii_digit()).collect();
    let is_closed = characters.clone().nth(ahead.len() + 1) == Some(']');
    let is_cell = ahead.split_once(',').is_some_and(|(row, col)| {
        [row, col].iter().all(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    });
    if !is_closed || !is_cell {
        return None;
    }
    characters.nth(ahead.len() + 1);
    Some(ahead)
}

/// A letter with its row and column: `q_{12}`; a head or a suffix becomes a superscript: `q^{(1)}_{2,11}`,
/// `s^{\text{scaled}}_{1,2}`.
pub(super) fn indexed(letter: &str, indices: &str) -> String {
    let named = |name: &str| match name.chars().count() {
        1 => name.to_string(),
        _ => format!("\\mathrm{{{}}}", escaped(name)),
    };
    let head = letter.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &letter[head.len()..];
    match letter.split_once('_') {
        Some((name, suffix)) if !name.is_empty() => {
            format!("{}^{{\\text{{{}}}}}_{{{indices}}}", named(name), escaped(suffix))
        }
        _ if !head.is_empty() && !number.is_empty() => {
            format!("{}^{{({number})}}_{{{indices}}}", named(head))
        }
        _ => format!("{}_{{{indices}}}", named(letter)),
    }
}

/// Neighbouring words share one `\\text`, with the blanks around them inside it.
fn joined(parts: Vec<EquationPart>) -> String {
    let mut out = String::new();
    let mut words = String::new();
    for part in parts.into_iter().chain([EquationPart::Mathematics(String::new())]) {
        match part {
            EquationPart::Words(word) => words.push_str(&word),
            EquationPart::Mathematics(text) => {
                if !words.is_empty() {
                    // Beside a sign of mathematics there is a space already.
                    let space = if out.ends_with(' ') && !out.ends_with("= ") { " " } else { "" };
                    out.push_str(&format!("\\text{{{space}{}}}", escaped(&words)));
                    words.clear();
                }
                out.push_str(&text);
            }
        }
    }
    out.trim_end().to_string()
}

/// Returns true if a word is a letter with a factor: `2p`.
fn is_multiple(word: &str) -> bool {
    let letter = word.trim_start_matches(|c: char| c.is_ascii_digit());
    letter.len() < word.len() && letter.len() == 1 && letter.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Returns true if a word is a mathematical name: a number, a letter, or one of those with a subscript.
pub(super) fn is_name(word: &str) -> bool {
    let letter = word.split_once('_').map_or(word, |(letter, _)| letter);
    letter.chars().count() == 1 || is_letter_with_digits(word) || word.parse::<f64>().is_ok()
}

// Characters and single words in LaTeX: escapes, commands for mathematical signs, names with subscripts.

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
                out.push_str(&format!("\\rule{{{}em}}{{1.5ex}}", length as f64 / 16.0));
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
fn eighths(character: char) -> usize {
    "▏▎▍▌▋▊▉█".chars().position(|bar| bar == character).map_or(0, |at| at + 1)
}

/// Characters, each before its mathematical command.
const COMMANDS: &str = "
    − -  ∞ \\infty  × \\times  · \\cdot  ∘ \\circ  ≤ \\le  ≥ \\ge  ≠ \\ne  → \\to  ← \\gets  ↦ \\mapsto
    ∈ \\in  ≈ \\approx  ℝ \\mathbf{R}  √ \\surd  Δ \\Delta  δ \\delta  Σ \\Sigma  σ \\sigma  θ \\theta
    β \\beta  λ \\lambda  φ \\varphi  ε \\varepsilon  ′ '  ᵀ ^{\\top}  ⁿ ^n  ˣ ^x  ⁰ ^0  ¹ ^1  ² ^2  ³ ^3
    ⁴ ^4  ⁵ ^5  ⁶ ^6  ⁷ ^7  ⁸ ^8  ⁹ ^9  ⁻ ^-  … \\dots
";

/// The mathematical command for a character.
pub(super) fn symbol(character: char) -> Option<&'static str> {
    let mut words = COMMANDS.split_whitespace();
    std::iter::from_fn(|| words.next().zip(words.next()))
        .find_map(|(known, command)| known.starts_with(character).then_some(command))
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
