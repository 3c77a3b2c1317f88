//! A command as a lesson writes it: an `attn` command, and nothing else.

use crate::text::{clip, nearest};

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

    /// A command of a lesson, at its line.
    ///
    /// # Errors
    /// As [`Command::by_hand`]; and if it would write files, before anything runs. What runs a lesson's commands writes none
    /// anyway.
    pub fn new(typed: &str, line: usize, options: &OptionNames) -> Result<Command, Fault> {
        let command = Command::by_hand(typed, line)?;
        let writes = |arg: &&String| options.writing.contains(&name_of(arg));
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
            let help = match nearest(program, ["attn"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "a lesson runs only attn; label a block that is only shown ```console,ignore".to_string()
                }
            };
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
    pub fn seed(&self, options: &OptionNames) -> Option<&str> {
        OptionNames::value(&self.args, options.seed)
    }

    /// The same command with another seed; unchanged if it draws no random numbers.
    pub fn with_seed(&self, seed: u32, options: &OptionNames) -> Command {
        let option = options.seed;
        let at = self.args.iter().position(|arg| name_of(arg) == option);
        let (Some(at), Some(old)) = (at, self.seed(options)) else { return self.clone() };
        let mut args = self.args.clone();
        let joined = args[at].contains('=');
        let typed = if joined {
            args[at] = format!("{option}={seed}");
            self.typed.replacen(&format!("{option}={old}"), &format!("{option}={seed}"), 1)
        } else {
            args[at + 1] = seed.to_string();
            self.typed.replacen(&format!("{option} {old}"), &format!("{option} {seed}"), 1)
        };
        let words: Vec<&str> = std::iter::once("attn").chain(args.iter().map(String::as_str)).collect();
        // If blanks or quotes surround the seed, the line is composed again.
        let is_it = shlex::split(&typed).is_some_and(|split| split == words);
        let quoted = || shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "));
        Command { typed: if is_it { typed } else { quoted() }, args }
    }
}

/// A sign, outside of quotes, that only a shell would understand.
fn shell_sign(typed: &str) -> Option<&'static str> {
    const SIGNS: [&str; 7] = ["|", ">", "<", "&", "`", "$(", ";"];
    let mut quote = None;
    for (at, c) in typed.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, _) => {
                if let Some(sign) = SIGNS.into_iter().find(|sign| typed[at..].starts_with(sign)) {
                    return Some(sign);
                }
            }
            _ => {}
        }
    }
    None
}

// The options of the program that lessons have to know. How they are spelled is data of the command line.

/// The spelling of the options that lessons read or set in their commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionNames {
    /// Those that write files, which a lesson must not use.
    pub writing: &'static [&'static str],
    /// The seed of random numbers.
    pub seed: &'static str,
    /// The nodes that are shown, separated by commas.
    pub only: &'static str,
    /// The decimals that are shown.
    pub precision: &'static str,
    /// The format of the output.
    pub format: &'static str,
    /// The value of `format` for a page of a browser.
    pub page: &'static str,
    /// What makes such a page compute for itself.
    pub live: &'static str,
    /// The further options of a computation that is compared with.
    pub versus: &'static str,
}

impl OptionNames {
    /// The value of an option, as the next argument or after `=`.
    pub(super) fn value<'a>(args: &'a [String], option: &str) -> Option<&'a str> {
        let at = args.iter().position(|arg| name_of(arg) == option)?;
        match args[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => args.get(at + 1).map(String::as_str),
        }
    }
}

/// The name of an option as it is typed, without a value behind `=`.
pub(super) fn name_of(arg: &str) -> &str {
    arg.split_once('=').map_or(arg, |(name, _)| name)
}

/// Names for tests, of a program that spells its options in another way.
#[cfg(test)]
pub(super) const SAMPLE: &OptionNames = &OptionNames {
    writing: &["+save", "+suggest-input"],
    seed: "+seed",
    only: "+only",
    precision: "+precision",
    format: "+format",
    page: "html",
    live: "+live",
    versus: "+versus",
};

#[cfg(test)]
mod tests {
    use super::{SAMPLE, *};

    #[test]
    fn a_line_is_split_as_a_shell_does() {
        let command = Command::new("attn softmax '1 2' +seed 3", 1, SAMPLE).unwrap();
        assert_eq!(command.args, ["softmax", "1 2", "+seed", "3"]);
        assert_eq!(command.seed(SAMPLE), Some("3"));
        assert_eq!(command.with_seed(8, SAMPLE).typed, "attn softmax '1 2' +seed 8");
        assert_eq!(
            Command::new("attn a +seed=3", 1, SAMPLE).unwrap().with_seed(8, SAMPLE).args,
            ["a", "+seed=8"]
        );
        let odd = Command::new("attn softmax '1 2' +seed  '3'", 1, SAMPLE).unwrap().with_seed(8, SAMPLE);
        assert_eq!(odd.typed, "attn softmax '1 2' +seed 8");
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
            ("attn attend x.json +save O=o.npy", "cannot write files"),
            ("attn diagnose +x x.npy +suggest-input=made.npz", "cannot write files"),
            ("attn 'demo", "quotation mark that is not closed"),
            ("", "this command is empty"),
        ] {
            let fault = Command::new(typed, 7, SAMPLE).unwrap_err();
            assert!(
                fault.what.contains(words) && fault.line == 7 && fault.help.is_some(),
                "{typed}: {fault:?}"
            );
        }
        assert!(Command::new("attn attend +x '1 2; 3 4'", 1, SAMPLE).is_ok());
    }
}
