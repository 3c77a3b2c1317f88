//! The header of a `.npy` file as Python reads it: a literal of a dictionary.

/// A bracket within a bracket within …: headers of numbers have two.
const DEEPEST: usize = 8;

/// A value. What no header of numbers has (fractions, bytes, escapes in strings) is not read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Truth(bool),
    Integer(u64),
    Nothing,
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    Dictionary(Vec<(Literal, Literal)>),
}

/// The one literal that a text is, with blanks and comments around it; `long` lets integers end in `L`, as Python 2 wrote them.
pub(super) fn literal(text: &str, long: bool) -> Option<Literal> {
    let mut reader = Reader { rest: text, long, depth: 0 };
    let value = reader.value()?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

/// The text that has not been read yet.
struct Reader<'t> {
    rest: &'t str,
    long: bool,
    depth: usize,
}

impl Reader<'_> {
    /// Passes blanks, line ends and comments.
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.trim_start_matches(|c| !matches!(c, '\n' | '\r')),
                None => return,
            }
        }
    }

    /// Passes a mark, if it comes next.
    fn has(&mut self, mark: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Option<Literal> {
        self.skip();
        self.depth += 1;
        let value = match self.rest.chars().next()? {
            _ if self.depth > DEEPEST => None,
            '(' => self.tuple(),
            '[' => self.items(']').map(|(items, _)| Literal::List(items)),
            '{' => self.dictionary(),
            '\'' | '"' => self.text(),
            '0'..='9' | '+' => self.integer(),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    /// The values up to a closing bracket, and whether a comma stands behind one of them.
    fn items(&mut self, close: char) -> Option<(Vec<Literal>, bool)> {
        self.rest = &self.rest[1..];
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.has(close) {
            if !items.is_empty() && !std::mem::take(&mut comma) {
                return None;
            }
            items.push(self.value()?);
            comma = self.has(',');
        }
        let comma = comma || items.len() > 1;
        Some((items, comma))
    }

    /// A tuple; brackets around one value without a comma are no tuple.
    fn tuple(&mut self) -> Option<Literal> {
        match self.items(')')? {
            (mut items, false) if items.len() == 1 => items.pop(),
            (items, _) => Some(Literal::Tuple(items)),
        }
    }

    fn dictionary(&mut self) -> Option<Literal> {
        self.rest = &self.rest[1..];
        let mut entries = Vec::new();
        let mut comma = true;
        while !self.has('}') {
            if !std::mem::take(&mut comma) {
                return None;
            }
            let key = self.value()?;
            if !self.has(':') {
                return None;
            }
            entries.push((key, self.value()?));
            comma = self.has(',');
        }
        Some(Literal::Dictionary(entries))
    }

    /// A string, or several that stand one behind the other.
    fn text(&mut self) -> Option<Literal> {
        let mut text = String::new();
        loop {
            self.skip();
            let mark = ["'''", "\"\"\"", "'", "\""].into_iter().find(|mark| self.rest.starts_with(mark));
            let Some(mark) = mark else { return Some(Literal::Text(text)) };
            let (inside, behind) = self.rest[mark.len()..].split_once(mark)?;
            if inside.contains('\\') || mark.len() == 1 && inside.contains(['\n', '\r']) {
                return None;
            }
            text.push_str(inside);
            self.rest = behind;
        }
    }

    fn integer(&mut self) -> Option<Literal> {
        while self.has('+') {}
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[word.len()..];
        let digits = if self.long { word.strip_suffix('L').unwrap_or(word) } else { word };
        let value = integer(digits)?;
        self.skip();
        if self.long && self.rest.starts_with('L') && digits == word {
            self.rest = &self.rest[1..];
        }
        Some(Literal::Integer(value))
    }

    fn word(&mut self) -> Option<Literal> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        let rest = &self.rest[word.len()..];
        if matches!(word, "u" | "U" | "r" | "R") && rest.starts_with(['\'', '"']) {
            self.rest = rest;
            return self.text();
        }
        self.rest = rest;
        Some(match word {
            "True" => Literal::Truth(true),
            "False" => Literal::Truth(false),
            "None" => Literal::Nothing,
            _ => return None,
        })
    }
}

/// An integer as Python writes it: `10`, `1_000`, `0x1F`, `00`, but not `01`.
fn integer(text: &str) -> Option<u64> {
    let (base, digits) = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0b") => (2, &text[2..]),
        _ => (10, text),
    };
    // An underscore stands between two digits, or behind the base.
    let between = if base == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    if between.starts_with('_') || between.ends_with('_') || between.contains("__") {
        return None;
    }
    let plain = between.replace('_', "");
    let padded = base == 10 && plain.len() > 1 && plain.starts_with('0') && plain.bytes().any(|b| b != b'0');
    let is_plain = plain.bytes().all(|b| b.is_ascii_alphanumeric());
    (is_plain && !padded).then(|| u64::from_str_radix(&plain, base).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_python_reads_it() {
        let text = |text: &str| Literal::Text(text.into());
        let sides =
            |sides: &[u64]| Literal::Tuple(sides.iter().map(|&side| Literal::Integer(side)).collect());
        let expected = Literal::Dictionary(vec![
            (text("descr"), text("<f8")),
            (text("fortran_order"), Literal::Truth(false)),
            (text("shape"), sides(&[1, 2])),
        ]);
        for header in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }    \n",
            "{\"descr\":'<''f8',u'fortran_order':False,'shape':(0x1,+2,)}",
            "\t{'descr': '<f8', # a comment }\n 'fortran_order': False, 'shape': ((1), 2)} # and another",
        ] {
            assert_eq!(literal(header, false).as_ref(), Some(&expected), "{header}");
        }
        let old = "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 2 L)}";
        assert_eq!((literal(old, true), literal(old, false)), (Some(expected), None));
    }

    #[test]
    fn what_python_does_not_read_is_not_read() {
        for text in [
            "",
            "{",
            "(01, 2)",
            "(1,, 2)",
            "(,)",
            "{1: 2 3: 4}",
            "{1: 2,, }",
            "1_",
            "1__0",
            "0x",
            "_1",
            "(1 2)",
            "f(1)",
            "{} {}",
            "'a",
            "'a\n'",
            "[1",
            "-1",
            "1.5",
            "b'a'",
            "(1L,)",
        ] {
            assert_eq!(literal(text, false), None, "{text}");
        }
        assert_eq!(literal(&"[".repeat(10_000), false), None);
    }
}
