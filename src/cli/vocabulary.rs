//! The options and commands for the hints of the library's sentences.

use crate::hint::Hint;

/// The option or command for a hint.
pub(super) fn typed(hint: Hint) -> String {
    let fixed = match hint {
        // W_Q is given by --wq.
        Hint::Given(name) => return format!("--{}", name.replace('_', "").to_ascii_lowercase()),
        Hint::AbsoluteTolerance => "--atol",
        Hint::Attend => "attn attend",
        Hint::Causal => "--causal",
        Hint::Diagnose => "attn diagnose",
        Hint::Answer => "--answer",
        Hint::Colour => "--color",
        Hint::Demo => "--demo",
        Hint::Depth => "--depth",
        Hint::Dtype => "--dtype",
        Hint::Details => "--details",
        Hint::Explain => "--explain",
        Hint::Fast => "--fast",
        Hint::Format => "--format",
        Hint::Gate => "--gate",
        Hint::Full => "--full",
        Hint::Heads => "--heads",
        Hint::Heat => "--heat",
        Hint::Ids => "--ids",
        Hint::Ignore => "--ignore",
        Hint::KeepFirst => "--keep-first",
        Hint::KeyValueHeads => "--kv-heads",
        Hint::Layer => "--layer",
        Hint::Layout => "--layout",
        Hint::Live => "--live",
        Hint::List => "--list",
        Hint::Memory => "--memory",
        Hint::NoInput => "--no-input",
        Hint::Only => "--only",
        Hint::Plain => "--plain",
        Hint::Overwrite => "--overwrite",
        Hint::Position => "--position",
        Hint::PositionTable => "--position-table",
        Hint::Precision => "--precision",
        Hint::QkNorm => "--qk-norm",
        Hint::Queries => "--n-q",
        Hint::RelativeTolerance => "--rtol",
        Hint::Residual => "--residual",
        Hint::Restart => "--restart",
        Hint::RopeScaling => "--rope-scaling",
        Hint::RopeWidth => "--rope-width",
        Hint::Save => "--save",
        Hint::Score => "--score",
        Hint::Set => "--set",
        Hint::Sink => "--sink",
        Hint::SoftCap => "--softcap",
        Hint::Steps => "--steps",
        Hint::SuggestInput => "--suggest-input",
        Hint::Temperature => "--temperature",
        Hint::Tokens => "--n",
        Hint::Trust => "--trust",
        Hint::Width => "--dim",
        Hint::Window => "--window",
        Hint::Words => "--words",
        Hint::Yours => "--yours",
        other => other.name(),
    };
    fixed.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_an_option_of_a_command_or_a_command() {
        fn options(command: &clap::Command, all: &mut Vec<String>) {
            all.extend(command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_string)));
            command.get_subcommands().for_each(|inner| options(inner, all));
        }
        let mut known = Vec::new();
        options(crate::cli::definitions::definitions(), &mut known);
        for hint in Hint::ALL {
            let typed = typed(hint);
            match typed.strip_prefix("--") {
                Some(option) => assert!(known.iter().any(|known| known == option), "there is no {typed}"),
                None => assert!(typed.starts_with("attn "), "{hint:?} has no option and no command"),
            }
        }
    }
}
