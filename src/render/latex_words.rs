//! Sentences and the cells of tables in LaTeX.

use super::latex_escape::escaped;
use super::latex_math::{is_name, math};
use super::style::is_in_name;

/// The text escaped for LaTeX, with subscripts in the names of matrices.
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

/// The length in bytes of the name with a subscript or exponent that a text begins with: all of `W_Q`, `W^V`, `V_u^(1)`.
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

/// The text of a cell of a table of words: a cell of names and numbers alone becomes mathematics. A line may break after a
/// comma, which it may not inside mathematics.
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
        if !is_formula(inner) {
            format!("{before}{}{behind}", prose(inner))
        } else if inner.chars().all(|c| is_in_name(c) || c == ' ') {
            // Names that stand next to each other, such as W_Q W_K W_V, may go on in the next line.
            let names: Vec<String> =
                inner.split_whitespace().map(|name| format!("${}$", math(name))).collect();
            format!("{before}{}{behind}", names.join(" "))
        } else {
            format!("{before}${}${behind}", math(inner))
        }
    };
    parts.iter().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::latex_math::number;

    #[test]
    fn equations_keep_their_subscripts_and_their_signs() {
        assert_eq!(math("Q (4×5) = X · W_Q"), "Q (4\\times 5) = X \\cdot  W_{Q}");
        assert_eq!(math("Kᵀ"), "K^{\\top}");
        assert_eq!(math("λ_init = φ(K) · β"), "\\lambda_{\\text{init}} = \\varphi (K) \\cdot  \\beta");
        assert_eq!(math("S_scaled / √d_k"), "S_{\\text{scaled}} / \\sqrt{d_{k}}");
        assert_eq!(math("X = given by the file"), "X = \\text{given by the file}");
        assert_eq!(math("−2^−8 · 3"), "-2^{-8} \\cdot  3");
        assert_eq!(math("1 / 100^(2p/4): columns 2p"), "1 / 100^{2p/4}: \\text{ columns }2p");
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
