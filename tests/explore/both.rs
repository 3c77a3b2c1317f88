//! The full screen and `--plain` give the same state for the same keys.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use crate::common::one_in;
use crate::explore::written::{COMPUTATIONS, key, script, words, written};
use crate::terminal::Terminal;

/// Plays the keys on a real terminal.
fn on_screen(command: &str, keys: &[String], folder: &Path) {
    let play = script(keys, folder);
    let args = [words(command), vec!["--play".to_string(), play]].concat();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut terminal = Terminal::start(folder, env!("CARGO_BIN_EXE_attn"), &args, 100, 30);
    assert_eq!(terminal.ended(), 0, "{}", terminal.all());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24 / one_in(6) as u32, ..ProptestConfig::default() })]

    #[test]
    fn the_same_keys_give_the_same_state_on_the_screen_and_line_by_line(
        at in 0..COMPUTATIONS.len(), keys in prop::collection::vec(key(), 0..20)
    ) {
        let [screen, plain] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        on_screen(COMPUTATIONS[at], &keys.concat(), screen.path());
        written(COMPUTATIONS[at], &keys.concat(), plain.path());
        // The lesson has the cell under the cursor.
        for file in ["command.txt", "all/graph.json", "step.md"] {
            let [screen, plain] = [&screen, &plain].map(|folder| fs::read_to_string(folder.path().join(file)).expect(file));
            prop_assert_eq!(screen, plain);
        }
    }
}
