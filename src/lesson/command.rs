//! A command as a lesson writes it: an `attn` command, and nothing else.

use crate::text::{clip, did_you_mean};

use super::source::Fault;

/// An `attn` command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// The line as it is shown, continued lines joined by a space.
    pub typed: String,
    /// The arguments, the first after `attn`.
    pub args: Vec<String>,
}

impl Command {
    /// Whether a line is `attn lesson`, as a teacher may type it while a lesson is played.
    pub fn is_lesson(typed: &str) -> bool {
        let mut words = typed.split_whitespace();
        words.next() == Some("attn") && words.next() == Some("lesson")
    }

    /// Whether it fills the screen and reads keys, as the explorer does.
    pub(super) fn fills_screen(&self) -> bool {
        let prints = |arg: &String| ["--plain", "--help", "-h"].contains(&arg.as_str());
        let explores = |arg: &String| ["-x", "--explore"].contains(&arg.as_str());
        let [command, more @ ..] = &self.args[..] else { return false };
        let fills = command == "explore" && !more.is_empty() || more.iter().any(explores);
        fills && !more.iter().any(prints)
    }

    /// A command of a lesson, at its line.
    ///
    /// # Errors
    /// As [`Command::by_hand`]; and if it would write files, before anything runs. What runs a lesson's commands writes none
    /// anyway.
    pub fn new(typed: &str, line: usize) -> Result<Command, Fault> {
        let command = Command::by_hand(typed, line)?;
        let writes = |arg: &&String| ["--save", "--suggest-input"].contains(&name_of(arg));
        match command.args.iter().find(writes) {
            Some(option) => Err(Fault::new(line, format!("`{}`: a lesson cannot write files", clip(option)))
                .help("leave the option out, or show the command in a ```console,ignore block")),
            None => Ok(command),
        }
    }

    /// Splits a line as a shell does, without being one.
    ///
    /// # Errors
    /// If it does not begin with `attn`, is another program's work (a pipe, a redirection), or is `attn lesson`, which would
    /// begin again within itself.
    pub fn by_hand(typed: &str, line: usize) -> Result<Command, Fault> {
        let typed = typed.trim().to_string();
        let fault = |what: String| Fault::new(line, what);
        if let Some(sign) = shell_sign(&typed) {
            return Err(fault(format!("`{sign}` in a command: there is no shell in a lesson"))
                .help("write one attn command per line; quote the sign if it is text"));
        }
        let words = shlex::split(&typed).ok_or_else(|| {
            fault(format!("`{}` has a quotation mark that is not closed", clip(&typed))).help("close it")
        })?;
        let Some((program, args)) = words.split_first() else {
            return Err(
                fault("this command is empty".into()).help("write a command, for example $ attn demo mask")
            );
        };
        if program != "attn" {
            let help = did_you_mean(program, ["attn"]).unwrap_or_else(|| {
                "a lesson runs only attn; label a block that is only shown ```console,ignore".to_string()
            });
            return Err(fault(format!("`{}` is not attn", clip(program))).help(help));
        }
        if args.first().is_some_and(|first| first == "lesson") {
            return Err(fault("a lesson inside a lesson".into()).help(
                "name the other lesson in the text, or show the command in a ```console,ignore block",
            ));
        }
        Ok(Command { args: args.to_vec(), typed })
    }

    /// The seed of its random numbers, where it has one.
    pub fn seed(&self) -> Option<&str> {
        self.value("--seed")
    }

    /// The value of an option, as the next argument or after `=`.
    pub(super) fn value(&self, option: &str) -> Option<&str> {
        let at = self.args.iter().position(|arg| name_of(arg) == option)?;
        match self.args[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => self.args.get(at + 1).map(String::as_str),
        }
    }

    /// The same command with another seed; unchanged if it draws no random numbers.
    pub fn with_seed(&self, seed: u32) -> Command {
        let at = self.args.iter().position(|arg| name_of(arg) == "--seed");
        let (Some(at), Some(old)) = (at, self.seed()) else { return self.clone() };
        let mut args = self.args.clone();
        let between = if args[at].contains('=') { "=" } else { " " };
        let typed =
            self.typed.replacen(&format!("--seed{between}{old}"), &format!("--seed{between}{seed}"), 1);
        match between {
            "=" => args[at] = format!("--seed={seed}"),
            _ => args[at + 1] = seed.to_string(),
        }
        let words: Vec<&str> = std::iter::once("attn").chain(args.iter().map(String::as_str)).collect();
        // If blanks or quotes surround the seed, the line is composed again.
        let is_it = shlex::split(&typed).is_some_and(|split| split == words);
        let quoted = || shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "));
        Command { typed: if is_it { typed } else { quoted() }, args }
    }
}

/// The arguments of a command for its page that computes.
pub(crate) fn as_live_page(args: &[String]) -> Vec<String> {
    [args, &["--format=html", "--live"].map(str::to_string)].concat()
}

/// A sign, outside of quotes, that only a shell would understand.
fn shell_sign(typed: &str) -> Option<&'static str> {
    const SIGNS: [&str; 7] = ["|", ">", "<", "&", "`", "$(", ";"];
    outside_of_quotes(typed).find_map(|(at, _)| SIGNS.into_iter().find(|sign| typed[at..].starts_with(sign)))
}

/// The characters of a command, and their places, but for those within quotes.
pub(super) fn outside_of_quotes(typed: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    typed.char_indices().filter(move |&(_, c)| match quote {
        None if matches!(c, '\'' | '"') => quote.replace(c).is_some(),
        None => true,
        Some(open) if open == c => quote.take().is_none(),
        Some(_) => false,
    })
}

/// The name of an option as it is typed, without a value behind `=`.
pub(super) fn name_of(arg: &str) -> &str {
    arg.split_once('=').map_or(arg, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_does() {
        let command = Command::new("attn softmax '1 2' --seed 3", 1).unwrap();
        assert_eq!(command.args, ["softmax", "1 2", "--seed", "3"]);
        assert_eq!(command.seed(), Some("3"));
        assert_eq!(command.with_seed(8).typed, "attn softmax '1 2' --seed 8");
        assert_eq!(Command::new("attn a --seed=3", 1).unwrap().with_seed(8).args, ["a", "--seed=8"]);
        let odd = Command::new("attn softmax '1 2' --seed  '3'", 1).unwrap().with_seed(8);
        assert_eq!(odd.typed, "attn softmax '1 2' --seed 8");
    }

    #[test]
    fn whatever_is_not_one_attn_command_is_refused() {
        for (typed, words) in [
            ("python x.py", "`python` is not attn"),
            ("atn demo", "`atn` is not attn"),
            ("attn demo | head", "`|`"),
            ("attn demo > x", "`>`"),
            ("attn demo $(ls)", "`$(`"),
            ("attn demo `ls`", "no shell"),
            ("attn lesson play tour", "a lesson inside a lesson"),
            ("attn attend x.json --save O=o.npy", "cannot write files"),
            ("attn diagnose --x x.npy --suggest-input=made.npz", "cannot write files"),
            ("attn 'demo", "quotation mark that is not closed"),
            ("", "this command is empty"),
        ] {
            let fault = Command::new(typed, 7).unwrap_err();
            assert!(
                fault.what.contains(words) && fault.line == 7 && fault.help.is_some(),
                "{typed}: {fault:?}"
            );
        }
        assert!(Command::new("attn attend --x '1 2; 3 4'", 1).is_ok());
    }
}
