//! Searches, contents, typed commands, the status line, the end.

use super::*;

#[test]
fn a_search_goes_round_and_gives_no_answer_away() {
    played(40, |class| {
        class.typed("/OWN WORDS");
        assert_shows(&class.bottom(), "search: OWN WORDS");
        assert_shows(&class.key(Key::Enter), "Your own");
        assert_shows(&class.typed("/mask\n"), "A decoder may not read");
        assert_shows(&class.typed("/\n"), "Before the mask");
        assert_shows(&class.typed("/\n"), "Your own");
        assert_shows(&class.typed("/\n"), "A decoder may not read");
        assert_shows(&class.typed("/two tokens lie\n"), "was not found");
        assert_shows(&class.typed("/plain A\n"), "Each row says");
    });
}

#[test]
fn contents_mark_where_the_class_is_and_what_it_has_seen() {
    played(40, |class| {
        class.typed("   ");
        let contents = class.typed("t");
        let lines: Vec<&str> = contents.lines().filter(|line| line.contains(" min")).collect();
        assert_eq!(
            lines,
            [
                " *   1  Before the mask  3 min",
                " ▶   2  How many zeros?  2 min",
                "     3  How much is left?  2 min",
                "     4  In which order?  2 min",
                "     5  Your own  1 min",
            ]
        );
        let back = class.press(Key::Char('q'));
        assert!(back.clears);
        assert_shows(&back.lines.join("\n"), "How many zeros?");
        assert_shows(&class.bottom(), "2/5");
        class.typed("t12");
        class.key(Key::Backspace);
        assert_shows(&class.bottom(), "to step 1");
        assert_shows(&class.key(Key::Enter), "Before the mask");
        assert_shows(&class.typed("t4G"), "In which order?");
        assert_shows(&class.typed("t4 "), "In which order?");
    });
}

#[test]
fn leaving_tells_how_to_go_on() {
    played(40, |class| {
        assert_eq!(
            class.player.farewell("mask.md").unwrap(),
            "Stopped before step 1. Resume: attn lesson play mask.md"
        );
        class.typed("2G");
        assert_eq!(
            class.player.farewell("my masks.md").unwrap(),
            "Stopped at step 2 of 5. Resume: attn lesson play 'my masks.md#zeros-step'"
        );
        class.typed("5G ");
        assert_eq!(class.player.farewell("mask.md"), None);
    });
}

#[test]
fn the_end_names_what_comes_next_and_a_lesson_is_not_played_within_itself() {
    played(40, |class| {
        assert_shows(&class.typed("5G "), "Next: attn lesson quiz ");
    });
    played(40, |class| {
        let said = class.typed("!lesson play 1\n");
        assert_shows(&said, "$ attn lesson play 1");
        assert_shows(&said, "A lesson cannot be played inside a lesson. Press q first.");
    });
}

#[test]
fn a_command_of_ones_own_is_run_and_the_place_is_kept() {
    played(40, |class| {
        class.typed(" !");
        class.key(Key::Up);
        assert_shows(&class.bottom(), "$ attn plain A");
        class.key(Key::Backspace);
        assert_shows(&class.typed("S\n"), "attn plain S at 80");
        assert_shows(
            &class.typed("!softmax '1 2' --save A=x.npy\n"),
            "attn softmax 1 2 --save A=x.npy at 80",
        );
        assert_shows(&class.typed("!fails\n"), "error: no such thing");
        assert_shows(
            &class.typed("!attn lesson play x\n"),
            "A lesson cannot be played inside a lesson. Press q first.",
        );
        assert_shows(&class.typed("!lesson\n"), "A lesson cannot be played inside a lesson. Press q first.");
        assert_shows(&class.typed("!demo | head\n"), "no shell");
        assert_eq!(class.typed("!\n"), "");
        class.typed("!");
        class.key(Key::Up);
        class.key(Key::Up);
        assert_shows(&class.bottom(), "$ attn lesson");
        assert_shows(&class.key(Key::Escape), "Before the mask");
        assert_shows(&class.bottom(), "1/5");
        assert_shows(&class.typed(" "), "Look at the rows again.");
    });
}

#[test]
fn a_long_output_aside_pauses_too() {
    played(8, |class| {
        let first = class.typed("?");
        assert!(first.lines().count() <= 6, "{first}");
        assert_shows(&class.bottom(), "space shows more");
        let mut pages = String::new();
        while class.bottom().contains("space shows more") {
            pages += &class.typed(" ");
        }
        assert_shows(&pages, "end");
        assert_shows(&class.typed(" "), "A decoder may not read");
        for drop in [Key::Char('q'), Key::Escape, Key::Control('c')] {
            class.typed("?");
            assert_shows(&class.bottom(), "q leaves the rest out");
            let back = class.press(drop);
            assert!(back.clears, "{drop:?}");
            assert_shows(&back.lines.join("\n"), "A decoder may not read");
        }
        class.typed("?");
        while class.bottom().contains("space shows more") {
            class.typed(" ");
        }
        assert_eq!(class.player.press(Key::Control('c'), class.now).action, Action::Interrupt);
    });
}

#[test]
fn the_status_line_fits_every_screen() {
    played(40, |class| {
        for width in 1..120 {
            class.player.resize(Window { screen: Screen::plain(width), rows: 40 });
            for keys in ["2G", "!", "abc漢字漢字漢字漢字漢字"] {
                class.typed(keys);
                let bottom = class.player.bottom(class.now);
                let columns = crate::text::ScreenWidth::width(bottom.text.as_str());
                assert!(columns < width.max(2), "{width}: {bottom:?}");
                assert!(bottom.cursor.unwrap_or(0) < width.max(2), "{width}: {bottom:?}");
            }
            class.key(Key::Escape);
        }
        class.player.resize(Window { screen: Screen::plain(100), rows: 40 });
        assert_eq!(
            class.bottom(),
            " 2/5 · think 0:30 · A B C answers · space shows it · 0:00 of 7:00 · ?: keys"
        );
        class.player.resize(Window { screen: Screen::plain(58), rows: 40 });
        assert_eq!(class.bottom(), " 2/5 · think 0:30 · A B C answers · space shows it");
        class.player.resize(Window { screen: Screen::plain(100), rows: 40 });
        class.typed("1G");
        assert_eq!(class.bottom(), " 1/5 · Before the mask · space goes on · 0:00 of 10:00 · ?: keys");
    });
}

#[test]
fn notices_stand_before_the_first_text() {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows: 20 };
    let mut player = Player::new(&lesson, &sample::run, window, Some(2));
    let lines = player.begin(&["Left at step 3: 3G goes there.".to_string()], Duration::ZERO).lines;
    assert_eq!(lines[0], "Left at step 3: 3G goes there.");
    assert_shows(&lines.join("\n"), "How much is left?");
}
