//! Words, numbers and equations in LaTeX.

use std::iter::Peekable;
use std::str::Chars;

/// A text in which nothing is taken for a command, and the names of matrices have their subscripts.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    let mut plain = 0;
    while let Some(character) = rest.chars().next() {
        let at = text.len() - rest.len();
        let stands_alone = !is_in_name(before) && !matches!(before, '/' | '\\' | '-' | '√');
        let length = if stands_alone { length_of_name(rest) } else { None };
        if let Some(length) = length {
            out.push_str(&escaped(&text[plain..at]));
            out.push_str(&format!("${}$", math(&rest[..length])));
            plain = at + length;
        }
        let length = length.unwrap_or(character.len_utf8());
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    out.push_str(&escaped(&text[plain..]));
    out
}

/// How many bytes of a text that begins with a name with a subscript or exponent belong to it: all of `W_Q`, `W^V`, `V_u^(1)`.
fn length_of_name(text: &str) -> Option<usize> {
    let mut characters =
        text.char_indices().skip_while(|(at, c)| *at == 0 && c.is_ascii_alphabetic()).peekable();
    let (1, sign @ ('_' | '^')) = characters.next()? else { return None };
    let of_index = |c: char| c.is_ascii_alphanumeric() || (c == '_' && sign == '_');
    let mut end = 2 + text[2..].find(|c| !of_index(c)).unwrap_or(text.len() - 2);
    if end == 2 || text[..end].ends_with('_') {
        return None;
    }
    if let Some(exponent) = text[end..].strip_prefix("^(") {
        end += exponent.find(')').map_or(0, |length| length + 3);
    }
    // `a_b.json` is the name of a file.
    let mut behind = text[end..].chars();
    let goes_on = behind.next() == Some('.') && behind.next().is_some_and(|c| c.is_ascii_alphanumeric());
    (!goes_on).then_some(end)
}

/// The text of a cell of a table of words: what consists of names and numbers alone is mathematics. A line may break behind
/// a comma, as it does not inside mathematics.
pub(super) fn cell(text: &str) -> String {
    let is_formula = |part: &str| {
        let mut words = part.split(|c: char| !is_in_name(c)).filter(|word| !word.is_empty());
        let has_a_name = words.clone().any(|word| word.parse::<f64>().is_err());
        has_a_name && words.all(is_name) && !matches!(part, "a" | "I") && !part.contains(['"', '“', '’'])
    };
    let parts: Vec<&str> = text.split_inclusive([',', ';']).collect();
    let is_balanced = |part: &&str| part.matches(['(', '[']).count() == part.matches([')', ']']).count();
    if !parts.iter().all(is_balanced) {
        return if is_formula(text) { format!("${}$", math(text)) } else { prose(text) };
    }
    let written = |part: &&str| {
        let (before, inner) = part.split_at(part.len() - part.trim_start().len());
        let inner = inner.trim_end_matches([',', ';']);
        let behind = &part[before.len() + inner.len()..];
        match is_formula(inner) {
            // Names that stand next to each other, such as W_Q W_K W_V, may go on in the next line.
            true if inner.chars().all(|c| is_in_name(c) || c == ' ') => {
                let names: Vec<String> =
                    inner.split_whitespace().map(|name| format!("${}$", math(name))).collect();
                format!("{before}{}{behind}", names.join(" "))
            }
            true => format!("{before}${}${behind}", math(inner)),
            false => format!("{before}{}{behind}", prose(inner)),
        }
    };
    parts.iter().map(written).collect()
}

/// A text in which nothing is taken for a command.
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
                    match exponent.parse::<usize>() {
                        Ok(number) => format!("^{{({number})}}"),
                        Err(_) => format!("^{{{}}}", math(&exponent)),
                    }
                }
                None if characters.peek().is_some_and(|next| is_in_name(*next)) => {
                    let exponent: String =
                        std::iter::from_fn(|| characters.next_if(|c| is_in_name(*c))).collect();
                    format!("^{{{}}}", math_word(&exponent))
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

/// A letter with its row and column: `q_{12}`; a head or a suffix stands above: `q^{(1)}_{2,11}`, `s^{\text{scaled}}_{1,2}`.
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
fn joined(parts: Vec<Part>) -> String {
    let mut out = String::new();
    let mut words = String::new();
    for part in parts.into_iter().chain([Part::Mathematics(String::new())]) {
        match part {
            Part::Words(word) => words.push_str(&word),
            Part::Mathematics(text) => {
                if !words.is_empty() {
                    let space = if out.ends_with(' ') { " " } else { "" };
                    out.push_str(&format!("\\text{{{space}{}}}", escaped(&words)));
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
            let subscript = if plain { index.to_string() } else { format!("\\text{{{}}}", escaped(index)) };
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
        assert_eq!(prose("W_Q, W_K_gqa: K^T."), "$W_{Q}$, $W_{\\text{K\\_gqa}}$: $K^{T}$.");
        assert_eq!(prose("V_u^(1) and num_heads"), "$V_{u}^{(1)}$ and num\\_heads");
        assert_eq!(prose("a_b.json of d/a_b, x_"), "a\\_b.json of d/a\\_b, x\\_");
        assert_eq!(cell("L · G · (d × d_k)"), "$L \\cdot  G \\cdot  (d \\times  d_{k})$");
        assert_eq!(cell("value (V_d)"), "value ($V_{d}$)");
        assert_eq!(cell("X W_Q"), "$X$ $W_{Q}$");
        assert_eq!(cell("M_g, M_u; q_proj"), "$M_{g}$, $M_{u}$; $q_{\\text{proj}}$");
        assert_eq!((cell("a"), cell("96 %"), cell("H")), ("a".into(), "96 \\%".into(), "$H$".into()));
    }

    #[test]
    fn a_label_cannot_run_a_command() {
        assert_eq!(prose("\\input{x} 5% _"), "\\textbackslash{}input\\{x\\} 5\\% \\_");
    }
}
