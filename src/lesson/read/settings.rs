//! The settings of a directive: `ask: id=zeros kind=choice think=30s`.

use crate::lesson::faults::Faults;
use crate::text::nearest;

/// The `name=value` pairs of a directive.
pub(super) fn settings<'a>(
    text: &'a str,
    line: usize,
    names: &[&'static str],
    faults: &mut Faults,
) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let pair = word.split_once('=');
        let known = pair.and_then(|(name, _)| names.iter().find(|known| **known == name));
        match (pair, known) {
            (Some(_), Some(name)) if found.iter().any(|(other, _)| other == name) => {
                faults.add(line, format!("a second `{name}=`"), "remove one of them")
            }
            (Some((_, value)), Some(name)) if !value.is_empty() => found.push((*name, value)),
            _ => {
                let near = nearest(pair.map_or(word, |(name, _)| name), names.iter().copied());
                faults.add(
                    line,
                    format!("`{word}` is not understood"),
                    match near {
                        Some(near) => format!("did you mean `{near}=…`?"),
                        None => format!("you can set {}=…", names.join("=… ")),
                    },
                );
            }
        }
    }
    found
}
