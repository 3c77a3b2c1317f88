//! The rows or the columns of a node, and the one that an address names.

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::matrix::Labels;
use crate::text::{choices, clip, nearest};

use super::label::{LabelMatch, find_label};

/// The most labels that an error lists.
const LISTED: usize = 8;

/// The name of a token of the vocabulary, by its id.
pub(super) fn of_id(id: usize) -> String {
    format!("token {id}")
}

/// The rows or the columns of a node.
pub(super) struct NamedLines {
    /// “row” or “column”.
    pub what: &'static str,
    /// Their number.
    pub count: usize,
    /// Their names, where they have any.
    pub labels: Option<Labels>,
    /// True if they are the tokens of the vocabulary, by their ids.
    pub are_ids: bool,
}

impl NamedLines {
    /// The place of the line that is typed, counted from 0; the whole address and the node are for errors.
    pub fn position(&self, text: &str, address: &str, node: &str) -> Result<usize> {
        let (what, count) = (self.what, self.count);
        let (asked, typed) = (clip(address), clip(text));
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return match text.parse::<usize>() {
                Ok(position) if (1..=count).contains(&position) => Ok(position - 1),
                _ => Err(Error::new(format!("`{asked}`: {node} has no {what} {typed}"))
                    .help(format!("its {what}s are numbered 1 to {count}"))),
            };
        }
        let Some(labels) = &self.labels else {
            return Err(Error::new(format!("`{asked}`: the {what}s of {node} have no names"))
                .help(format!("its {what}s are numbered 1 to {count}")));
        };
        match find_label(labels, text) {
            LabelMatch::One(at) => Ok(at),
            LabelMatch::None => self.by_id(text).unwrap_or_else(|| {
                let error = Error::new(format!("`{asked}`: {node} has no {what} `{typed}`"));
                let all = choices(labels.iter().map(String::as_str));
                let word = text.rsplit_once('#').map_or(text, |(word, _)| word);
                Err(match nearest(word, labels.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean `{near}`? Its {what}s are {all}")),
                    None => error.help(format!("its {what}s are {all}")),
                })
            }),
            LabelMatch::Repeated(places) => {
                let (names, first) = (places.len(), places[0]);
                let error = Error::new(format!("`{asked}`: `{typed}` names {names} {what}s of {node}"));
                Err(match self.are_ids {
                    true => error.help(format!("give the id of one: {}", of_id(first))),
                    false => {
                        error.help(format!("write `{typed}#1` to `{typed}#{names}`, or give the number"))
                    }
                })
            }
            LabelMatch::Different(places) => {
                let shown = |&place: &usize| format!("`{}` ({what} {})", visible(&labels[place]), place + 1);
                let all: Vec<String> = places.iter().take(LISTED).map(shown).collect();
                let names = places.len();
                Err(Error::new(format!("`{asked}`: `{typed}` names {names} {what}s of {node}"))
                    .help(format!("write one of them as it is, or give the number: {}", all.join(", "))))
            }
        }
    }

    /// The place of `token 464` among the tokens of the vocabulary.
    fn by_id(&self, text: &str) -> Option<Result<usize>> {
        let id = text.strip_prefix("token").filter(|_| self.are_ids)?.trim();
        let id = Some(id).filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()))?;
        Some(id.parse().ok().filter(|id| *id < self.count).ok_or_else(|| {
            let last = self.count.saturating_sub(1);
            Error::new(format!("there is no token {}", clip(id)))
                .help(format!("the vocabulary has the ids 0 to {last}"))
        }))
    }
}
