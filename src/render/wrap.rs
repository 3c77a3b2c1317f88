//! Breaking sentences and formulas into lines.

use crate::text::ScreenWidth;
use textwrap::core::Word;

use super::Style;

/// Words in lines of this width, with something before the first line and before the others.
pub(super) fn wrapped(style: &Style, width: usize, (first, rest): (&str, &str), text: &str) -> Vec<String> {
    let first = style.charset.spelled(first).into_owned();
    let rest = format!("{rest}{}", " ".repeat(first.width().saturating_sub(rest.width())));
    let options = textwrap::Options::new(width)
        .initial_indent(&first)
        .subsequent_indent(&rest)
        .break_words(false)
        // Names such as `no-scale` and `--only` stay whole.
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&style.charset.spelled(text), options).into_iter().map(|line| line.into_owned()).collect()
}

/// The words of a line; a product that is longer than most screens may be broken behind its sign.
pub(super) fn factors(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    Box::new(textwrap::WordSeparator::new().find_words(line).flat_map(pieces))
}

fn pieces(word: Word<'_>) -> Vec<Word<'_>> {
    const LONG: usize = 60;
    if word.word.width() <= LONG || !word.word.contains('·') {
        return vec![word];
    }
    let mut pieces: Vec<Word<'_>> = word.word.split_inclusive('·').map(Word::from).collect();
    if let Some(last) = pieces.last_mut() {
        last.whitespace = word.whitespace;
    }
    pieces
}

/// The words of a line in which the name of a weight may be broken behind its points and before its place:
/// `transformer.h.4.attn.c_attn.weight[2, 5]`.
pub(super) fn names(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    Box::new(textwrap::WordSeparator::new().find_words(line).flat_map(parts_of_name))
}

fn parts_of_name(word: Word<'_>) -> Vec<Word<'_>> {
    let behind_points = word.word.split_inclusive('.');
    let mut parts: Vec<Word<'_>> = behind_points
        .flat_map(|part| match part.find('[') {
            Some(place) if place > 0 => vec![&part[..place], &part[place..]],
            _ => vec![part],
        })
        .map(Word::from)
        .collect();
    if let Some(last) = parts.last_mut() {
        last.whitespace = word.whitespace;
    }
    parts
}

/// A formula whose spaces may be broken at before its signs and behind its commas, but not inside exp(…) and the like, nor
/// before the minus or the slash of an inner difference or quotient.
pub(super) fn breakable(formula: &str) -> String {
    let mut out = String::with_capacity(formula.len());
    let mut characters = formula.chars().peekable();
    // For every open parenthesis: true if it holds the argument of a function.
    let mut open: Vec<bool> = Vec::new();
    let mut behind_sign = false;
    while let Some(character) = characters.next() {
        match character {
            '(' => open.push(["exp", "sin", "cos", "^"].iter().any(|name| out.ends_with(name))),
            ')' => drop(open.pop()),
            _ => {}
        }
        let in_function = open.contains(&true);
        let may_break = match characters.peek() {
            _ if behind_sign || in_function => false,
            Some('−' | '/') => open.is_empty(),
            _ => true,
        };
        match character {
            ' ' if !may_break => out.push('\u{a0}'),
            other => out.push(other),
        }
        behind_sign = matches!(character, '+' | '−' | '/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_weight_is_broken_behind_points_and_before_its_place() {
        let lines = |text: &str, width| -> Vec<String> {
            let options =
                textwrap::Options::new(width).word_separator(textwrap::WordSeparator::Custom(names));
            textwrap::wrap(text, options).into_iter().map(String::from).collect()
        };
        let name = "transformer.h.4.attn.c_attn.weight[2,\u{a0}5]";
        assert_eq!(lines(name, 60), [name]);
        assert_eq!(lines(name, 24), ["transformer.h.4.attn.", "c_attn.weight[2,\u{a0}5]"]);
        assert_eq!(lines(name, 16), ["transformer.h.4.", "attn.c_attn.", "weight[2,\u{a0}5]"]);
        assert_eq!(lines(name, 13), ["transformer.", "h.4.attn.", "c_attn.weight", "[2,\u{a0}5]"]);
    }

    #[test]
    fn formulas_are_broken_before_outer_signs_and_behind_commas() {
        let visible = |text: &str| breakable(text).replace('\u{a0}', "_");
        assert_eq!(visible("a11·v11 + a12·v21"), "a11·v11 +_a12·v21");
        assert_eq!(
            visible("exp(a − m) / (exp(a − m) + exp(b − m))"),
            "exp(a_−_m) /_(exp(a_−_m) +_exp(b_−_m))"
        );
        assert_eq!(visible("max(a, b)"), "max(a, b)");
        assert_eq!(visible("√((a − b)·(a − b) + c)"), "√((a_−_b)·(a_−_b) +_c)");
        assert_eq!(visible("(6 more: −1) + b"), "(6 more:_−1) +_b");
    }
}
