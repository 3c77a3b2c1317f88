//! Cells that a spreadsheet exports in place of numbers: formulas and its own errors.

/// The help of an error about such a cell.
pub(super) const HELP: &str =
    "export the values of the cells, not their formulas; put a label in quotation marks";

/// The errors of spreadsheets. They begin like a comment, but a row that begins with one is a row.
const ERRORS: [&str; 7] = ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"];

/// The kind of a cell that begins as a formula or an error does, for an error; `None` for any other text.
pub(super) fn kind(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '$' | '(');
    let is_begun = text.len() > 1 && text.starts_with('=')
        || text.strip_prefix(['+', '@']).is_some_and(|rest| rest.starts_with(begins));
    if starts_with_error(text) {
        Some("an error of a spreadsheet")
    } else {
        (is_begun || is_formula(text)).then_some("a formula")
    }
}

/// True if a text is a formula for certain: `=A1*2`, `=SUM(A1:A3)`, `+B2/2`, `@SUM(A1:A3)`. The tokens `=`, `=>`, `+x` and
/// `@bat` are none.
pub(super) fn is_formula(text: &str) -> bool {
    let Some(body) = text.strip_prefix(['=', '+', '-', '@']) else { return false };
    let name = body.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '.'));
    let has_name = name.len() < body.len() && body.starts_with(|c: char| c.is_ascii_alphabetic() || c == '$');
    let is_call = has_name && name.starts_with('(');
    let is_computed = has_name
        && body[..body.len() - name.len()].contains(|c: char| c.is_ascii_digit())
        && name.starts_with(['+', '-', '*', '/', '^', '&', ':']);
    is_call || is_computed || (text.starts_with('=') && body.contains(|c: char| c.is_ascii_digit()))
}

/// True if a text is an error of a spreadsheet, alone or as the first cell of a row.
pub(super) fn starts_with_error(text: &str) -> bool {
    let rest = ERRORS.iter().find_map(|error| text.strip_prefix(error));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ';', '\t', '\r', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_told_from_tokens_that_begin_like_them() {
        for text in ["=A1*2", "=SUM(A1:A3)", "=2+3", "=$B$2", "+B2/2", "-A1*2", "@SUM(A1:A3)", "+A1:A3"] {
            assert!(is_formula(text), "{text}");
            assert_eq!(kind(text), Some("a formula"), "{text}");
        }
        for text in ["=", "==", "=>", "+", "+x", "+x1", "-x1", "@", "@bat", "@bat1", "+=", "=)", "x=1", ""] {
            assert!(!is_formula(text), "{text}");
        }
        assert_eq!(
            (kind("@bat"), kind("+total"), kind("=x")),
            (Some("a formula"), Some("a formula"), Some("a formula"))
        );
        for text in ["=", "-x", "+-1", "+1,5", "+1_0", "@", "+"] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_begins_a_row_and_no_comment() {
        for text in ["#REF!", "#N/A,2", "#DIV/0!;1", "#NUM!\n1"] {
            assert!(starts_with_error(text), "{text}");
            assert_eq!(kind(text), Some("an error of a spreadsheet"), "{text}");
        }
        for text in ["# REF!", "#REF! is an error", "#N/Axis", "#", "#tag"] {
            assert!(!starts_with_error(text), "{text}");
        }
    }
}
