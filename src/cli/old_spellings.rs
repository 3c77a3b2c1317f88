//! Command lines as they were spelled in earlier versions: `data/old_spellings.toml` says how they are spelled now.

use std::ffi::OsString;
use std::sync::LazyLock;

use attn_core::data_file::entries;
use serde::Deserialize;

use crate::text::nearest;

use super::registry::takes_value;

/// An old spelling; the file explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldSpelling {
    old: &'static str,
    new: &'static str,
    #[serde(default)]
    options: Vec<[&'static str; 2]>,
}

static SPELLINGS: LazyLock<Vec<OldSpelling>> =
    LazyLock::new(|| entries(include_str!("../../data/old_spellings.toml")));

/// The command line as it is spelled now, with a sentence that says so if it was spelled otherwise.
pub(super) fn respelled(args: Vec<OsString>) -> (Vec<OsString>, Option<String>) {
    // Options of the whole program may stand in front.
    let first = args.first().and_then(|arg| arg.to_str());
    if let Some(option) = first.filter(|first| first.starts_with("--")) {
        let count = if !option.contains('=') && takes_value(option) { 2 } else { 1 };
        let rest = args.get(count..).unwrap_or_default().to_vec();
        let (rest, said) = if rest.is_empty() { (rest, None) } else { respelled(rest) };
        return (args.iter().take(count).cloned().chain(rest).collect(), said);
    }
    let word = |at: usize| args.get(at).and_then(|arg| arg.to_str());
    let fits = |spelling: &&OldSpelling| {
        spelling.old.split(' ').enumerate().all(|(at, part)| match part {
            "*" => word(at).is_some_and(|word| !word.starts_with('-')),
            "$" => at == args.len(),
            part => word(at) == Some(part),
        })
    };
    let Some(OldSpelling { old, new, options }) = SPELLINGS.iter().find(fits) else { return (args, None) };
    let place = old.split(' ').position(|part| part == "*");
    let replaced = new.split(' ').map(|part| match place.filter(|_| part == "*") {
        Some(place) => args[place].clone(),
        None => part.into(),
    });
    let count = old.split(' ').filter(|part| *part != "$").count();
    let rest = args.iter().skip(count).map(|arg| renamed(arg, options));
    let now: Vec<OsString> = replaced.chain(rest).collect();
    let bare = |spelling: &str| spelling.trim_end_matches([' ', '*', '$']).to_string();
    let is_typed =
        |option: &str| args.iter().any(|arg| arg.to_string_lossy().split('=').next() == Some(option));
    let command =
        (bare(old) != bare(new)).then(|| format!("`attn {}` is `attn {}` now", bare(old), bare(new)));
    let options = options.iter().filter(|[old, _]| is_typed(old));
    let options = options.map(|[old, new]| format!("{old} is {new} now"));
    let said: Vec<String> = command.into_iter().chain(options).collect();
    (now, (!said.is_empty()).then(|| said.join("; ")))
}

/// The new name of an option that an old command had.
pub(super) fn new_name(option: &str) -> Option<&'static str> {
    let renamed = SPELLINGS.iter().flat_map(|spelling| &spelling.options).find(|[old, _]| *old == option)?;
    Some(renamed[1])
}

/// The new spelling of a command whose old name is nearly this word.
pub(super) fn near_old_name(word: &str) -> Option<&'static str> {
    let old = SPELLINGS.iter().filter(|spelling| !spelling.old.contains(' '));
    let near = nearest(word, old.clone().map(|spelling| spelling.old))?;
    old.clone().find(|spelling| spelling.old == near).map(|spelling| spelling.new)
}

/// An option under its new name, with its value if one is attached.
fn renamed(arg: &OsString, options: &[[&str; 2]]) -> OsString {
    let text = arg.to_string_lossy();
    let (name, value) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
    match (options.iter().find(|[old, _]| *old == name), value) {
        (None, _) => arg.clone(),
        (Some([_, new]), None) => (*new).into(),
        (Some([_, new]), Some(value)) => format!("{new}={value}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(typed: &str) -> String {
        let args = typed.split(' ').map(OsString::from).collect();
        let words: Vec<String> = respelled(args).0.iter().map(|arg| arg.to_string_lossy().into()).collect();
        words.join(" ")
    }

    #[test]
    fn an_old_spelling_means_what_it_meant() {
        for (old, new) in [
            ("explore attend --words bat --at S", "attend --explore --words bat --cell S"),
            ("explore model words x --checkpoint=30", "model --explore words x --at=30"),
            ("explore graph.json --at A[1,2]", "explore graph.json --cell A[1,2]"),
            ("glossary causal mask", "find --terms causal mask"),
            ("lesson list mine", "lesson --folder mine"),
            ("lesson list --format json", "lesson --format json"),
            ("lesson play", "lesson"),
            ("completions fish", "help --completions fish"),
            ("--memory 1G glossary mask", "--memory 1G find --terms mask"),
        ] {
            assert_eq!(now(old), new);
        }
        for new in ["lesson play 0-tour", "model words x --at 30", "explore --help", "demo mask"] {
            assert_eq!(now(new), new);
        }
    }
}
