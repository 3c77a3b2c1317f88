//! Words, numbers and equations in LaTeX.

use std::iter::Peekable;
use std::str::Chars;

/// A text in which nothing is taken for a command.
pub(super) fn prose(text: &str) -> String {
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
            '√' => {
                let mut radicand = String::new();
                while let Some(next) = characters.next_if(|next| is_in_name(*next)) {
                    radicand.push(next);
                }
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

/// The mathematical command for a character.
fn symbol(character: char) -> Option<&'static str> {
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
        'ε' => "\\varepsilon",
        '′' => "'",
        'ᵀ' => "^{\\top}",
        'ⁿ' => "^n",
        'ˣ' => "^x",
        '⁰' => "^0",
        '¹' => "^1",
        '²' => "^2",
        '³' => "^3",
        '…' => "\\dots",
        _ => return None,
    })
}

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

/// Whether a character belongs to a name or a number.
fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}

/// A part of an equation.
#[derive(PartialEq)]
enum Part {
    Mathematics(String),
    Words(String),
}

/// An equation: names keep their subscripts, words become text.
pub(super) fn math(equation: &str) -> String {
    let mut parts: Vec<Part> = Vec::new();
    let mut characters = equation.chars().peekable();
    while let Some(character) = characters.next() {
        if is_in_name(character) {
            let mut word = String::from(character);
            while let Some(next) = characters.next_if(|next| is_in_name(*next)) {
                word.push(next);
            }
            let indices = indices_behind(&mut characters);
            parts.push(match indices {
                Some(indices) => Part::Mathematics(indexed(&word, &indices)),
                None if is_name(&word) => Part::Mathematics(math_word(&word)),
                None => Part::Words(word),
            });
            continue;
        }
        let text = match (character, symbol(character)) {
            ('√', _) => {
                let mut radicand = String::new();
                while let Some(next) = characters.next_if(|next| is_in_name(*next)) {
                    radicand.push(next);
                }
                if radicand.is_empty() {
                    "\\surd ".into()
                } else {
                    format!("\\sqrt{{{}}}", math_word(&radicand))
                }
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
                    format!("^{{{}}}", math(&exponent))
                }
                None => "\\wedge ".into(),
            },
            (' ', None) if matches!(parts.last(), Some(Part::Words(_))) => {
                if let Some(Part::Words(words)) = parts.last_mut() {
                    words.push(' ');
                }
                continue;
            }
            (other, None) => other.to_string(),
        };
        parts.push(Part::Mathematics(text));
    }
    joined(parts)
}

/// The numbers in brackets behind a name, `1,12` of `q[1,12]`, taken from the text; `None` if there are none.
fn indices_behind(characters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let ahead: String = characters.clone().skip_while(|c| *c == '[').take_while(|c| *c != ']').collect();
    let is_index = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_cell = ahead.split_once(',').is_some_and(|(row, col)| is_index(row) && is_index(col));
    if characters.peek() != Some(&'[') || !is_cell {
        return None;
    }
    characters.nth(ahead.chars().count() + 1);
    Some(ahead)
}

/// A letter with its row and column: `q_{12}`; a head or a suffix stands above: `q^{(1)}_{2,11}`, `s^{\text{scaled}}_{1,2}`.
pub(super) fn indexed(letter: &str, indices: &str) -> String {
    let named = |name: &str| match name.chars().count() {
        1 => name.to_string(),
        _ => format!("\\mathrm{{{}}}", prose(name)),
    };
    let head = letter.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &letter[head.len()..];
    match letter.split_once('_') {
        Some((name, suffix)) if !name.is_empty() => {
            format!("{}^{{\\text{{{}}}}}_{{{indices}}}", named(name), prose(suffix))
        }
        _ if !head.is_empty() && !number.is_empty() => {
            format!("{}^{{({number})}}_{{{indices}}}", named(head))
        }
        _ => format!("{}_{{{indices}}}", named(letter)),
    }
}

/// Neighbouring words share one `\\text`, with the blanks around them inside it.
fn joined(parts: Vec<Part>) -> String {
    let mut out = String::new();
    let mut words = String::new();
    for part in parts.into_iter().chain([Part::Mathematics(String::new())]) {
        match part {
            Part::Words(word) => words.push_str(&word),
            Part::Mathematics(text) => {
                if !words.is_empty() {
                    let space = if out.ends_with(' ') { " " } else { "" };
                    out.push_str(&format!("\\text{{{space}{}}}", prose(&words)));
                    words.clear();
                }
                out.push_str(&text);
            }
        }
    }
    out.trim_end().to_string()
}

/// Whether a word is a mathematical name: a number, a letter, or one of those with a subscript.
fn is_name(word: &str) -> bool {
    let letter = word.split_once('_').map_or(word, |(letter, _)| letter);
    letter.chars().count() == 1 || is_letter_with_digits(word) || word.parse::<f64>().is_ok()
}

/// `x12`: a letter, and its row and column.
fn is_letter_with_digits(word: &str) -> bool {
    let mut characters = word.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic());
    starts && word.len() > 1 && characters.all(|c| c.is_ascii_digit())
}

fn math_word(word: &str) -> String {
    match word.split_once('_') {
        Some((letter, index)) => {
            let plain = index.chars().count() == 1 || index.parse::<f64>().is_ok();
            let subscript = if plain { index.to_string() } else { format!("\\text{{{}}}", prose(index)) };
            format!("{letter}_{{{subscript}}}")
        }
        None if is_letter_with_digits(word) => format!("{}_{{{}}}", &word[..1], &word[1..]),
        None => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_keep_their_subscripts_and_their_signs() {
        assert_eq!(math("Q (4×5) = X · W_Q"), "Q (4\\times 5) = X \\cdot  W_{Q}");
        assert_eq!(math("Kᵀ"), "K^{\\top}");
        assert_eq!(math("S_scaled / √d_k"), "S_{\\text{scaled}} / \\sqrt{d_{k}}");
        assert_eq!(math("X = given by the file"), "X = \\text{ given by the file}");
        assert_eq!(number("-∞"), "-\\infty");
        assert_eq!(number("-inf"), "-\\infty");
        assert_eq!(number("8.7e-05"), "8.7 \\cdot 10^{-5}");
        assert_eq!(math("l11·x11 + l12·x21"), "l_{11}\\cdot x_{11} + l_{12}\\cdot x_{21}");
        assert_eq!(math("s_scaled[2,1] − q2[1,12]"), "s^{\\text{scaled}}_{2,1} - q^{(2)}_{1,12}");
        assert_eq!(math("X[1] and [2,3]"), "X[1] \\text{ and }[2,3]");
        assert_eq!(prose("“the token’s ‘own’ value”"), "``the token's `own' value''");
        assert_eq!(prose("1/√d_k"), "1/$\\sqrt{d_{k}}$");
    }

    #[test]
    fn a_label_cannot_run_a_command() {
        assert_eq!(prose("\\input{x} 5% _"), "\\textbackslash{}input\\{x\\} 5\\% \\_");
    }
}
