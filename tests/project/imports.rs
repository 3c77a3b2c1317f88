//! What a source file imports, read from its text as rustfmt writes it.

/// A path to something outside the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// `["crate", "graph", "Op"]`.
    pub path: Vec<String>,
    /// The name that it has in this file.
    pub name: String,
    /// Whether the file needs it, and does not only export it again.
    pub is_used: bool,
}

/// The text without comments and without the module of tests at its end.
pub fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines()
        .filter(is_code)
        .map(|line| line.split(" // ").next().unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// All imports: those of `use`, and paths from `crate` or `super` in the code.
pub fn imports(text: &str) -> Vec<Import> {
    let (mut found, mut code) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some((before, is_export, after)) = next_use(rest) {
        code.push_str(before);
        let (tree, left) = after.split_once(';').unwrap_or((after, ""));
        found.extend(paths(tree).into_iter().map(|(path, name)| Import { path, name, is_used: !is_export }));
        rest = left;
    }
    code.push_str(rest);
    let declares = |line: &str| line.ends_with(';') && line.split(' ').any(|word| word == "mod");
    code = code.lines().filter(|line| !declares(line)).collect::<Vec<_>>().join("\n");
    for import in &mut found {
        import.is_used |= has_word(&code, &import.name);
    }
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_whole = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            let path = code[at..].split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next();
            let path: Vec<String> = path.unwrap_or("").split("::").map(str::to_string).collect();
            if is_whole {
                found.push(Import { path, name: String::new(), is_used: true });
            }
        }
    }
    found
}

/// The text before the next `use`, whether that exports, and the text after it.
fn next_use(text: &str) -> Option<(&str, bool, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        let visibility =
            code.starts_with("pub").then(|| code.split_once("use ").map_or("", |(before, _)| before));
        let is_visibility = |words: &str| {
            let words = words.trim();
            words == "pub" || (words.starts_with("pub(") && words.ends_with(')'))
        };
        if code.starts_with("use ") || visibility.is_some_and(is_visibility) {
            let after = start + line.len() - code.len() + code.find("use ").unwrap_or(0) + "use ".len();
            return Some((&text[..start], visibility.is_some(), &text[after..]));
        }
        start += line.len();
    }
    None
}

/// The paths of a tree, `a::{b, c::{self, D as E}}`, with their names.
fn paths(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
        let mut path: Vec<String> = path.split("::").map(|part| part.trim().to_string()).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self" || last == "*") {
            path.pop();
        }
        let name = alias.map(str::to_string).or_else(|| path.last().cloned()).unwrap_or_default();
        return vec![(path, name)];
    };
    let prefix: Vec<String> =
        prefix.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_string).collect();
    let group = &group[..group.rfind('}').unwrap_or(group.len())];
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members.push(&group[start..]);
    let members = members.into_iter().filter(|member| !member.trim().is_empty());
    let join = |(path, name): (Vec<String>, String)| {
        if path == ["self"] {
            return (prefix.clone(), prefix.last().cloned().unwrap_or_default());
        }
        (prefix.iter().cloned().chain(path).collect(), name)
    };
    members.flat_map(paths).map(join).collect()
}

/// Whether a word stands in the code.
fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part))
}
