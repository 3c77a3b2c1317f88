//! The player without a terminal, key by key.

use std::time::Duration;

use super::sample;
use super::{Key, Player, Scripted, Then, Told, Window};
use crate::lesson::show::Show;
use crate::lesson::{Progress, Runner, Screen};

/// Plays the sample on a screen of so many rows.
fn played(rows: usize, test: impl FnOnce(&mut Class<'_>)) {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows };
    let mut player = Player::new(&lesson, &sample::run, window, None);
    player.begin(&[], Duration::ZERO);
    test(&mut Class { player, now: Duration::ZERO });
}

struct Class<'a> {
    player: Player<'a>,
    now: Duration,
}

impl Class<'_> {
    fn key(&mut self, key: Key) -> String {
        self.told(key).lines.join("\n")
    }

    fn told(&mut self, key: Key) -> Told {
        if matches!(key, Key::Char(' ') | Key::Right | Key::Down | Key::PageDown) {
            // Nobody presses twice within a moment.
            self.now += Duration::from_secs(1);
        }
        let told = self.player.press(key, self.now);
        assert_eq!(told.then, Then::Wait, "{key:?}");
        told
    }

    /// Presses characters, and returns what the last one has shown.
    fn typed(&mut self, text: &str) -> String {
        text.chars()
            .map(|c| self.key(if c == '\n' { Key::Enter } else { Key::Char(c) }))
            .last()
            .unwrap_or_default()
    }

    fn bottom(&self) -> String {
        self.player.bottom(self.now).text
    }
}

#[track_caller]
fn assert_shows(text: &str, words: &str) {
    assert!(text.contains(words), "no `{words}` in:\n{text}");
}

#[test]
fn space_goes_through_the_whole_lesson_and_out() {
    played(40, |class| {
        let expected = [
            "Each row says where one token looks.",
            "Look at the rows again.",
            "How many weights of “bat” are zero?",
            "Two tokens lie in the future.",
            "The rest is shared out again.",
            "What does “bat” give to itself?",
            "All of it.",
            "Which words does “bat” look at",
            "bat, racket, cave.",
            "Try the mask on your own words.",
            "End: Why the mask?",
        ];
        for words in expected {
            assert_shows(&class.key(Key::Char(' ')), words);
        }
        assert_eq!(class.player.press(Key::Char(' '), class.now).then, Then::Leave);
        assert_eq!(class.player.done().len(), 5);
    });
}

#[test]
fn back_prints_what_was_there_before() {
    played(40, |class| {
        let mut shown = vec![class.key(Key::F5)];
        (0..11).for_each(|_| shown.push(class.key(Key::PageDown)));
        shown.pop();
        while let Some(before) = shown.pop() {
            assert_eq!(class.key(Key::PageUp), before);
        }
        assert_eq!(class.key(Key::Left), "", "before the beginning is nothing");
    });
}

#[test]
fn text_taller_than_the_screen_pauses_and_loses_no_line() {
    let mut whole = Vec::new();
    played(200, |class| whole.extend((0..11).flat_map(|_| words(&class.key(Key::Down)))));
    for rows in [6, 8, 12, 17] {
        played(rows, |class| {
            let mut seen = words(&class.key(Key::Home));
            let opening = seen.len();
            let mut pages = vec![class.key(Key::F5)];
            while !class.player.is_over() {
                let page = class.key(Key::Right);
                assert!(page.lines().count() <= rows - 2, "{rows} rows:\n{page}");
                seen.extend(words(&page));
                pages.push(page);
            }
            assert!(seen.ends_with(&whole[whole.len() - 60..]), "{rows}");
            assert!(seen.len() >= whole.len() && opening > 0);
            pages.pop();
            while let Some(before) = pages.pop() {
                assert_eq!(class.key(Key::Up), before, "{rows} rows");
            }
        });
    }
}

fn words(page: &str) -> Vec<String> {
    page.split_whitespace().map(str::to_string).collect()
}

#[test]
fn a_step_is_jumped_to_by_its_number() {
    played(40, |class| {
        assert_eq!(class.typed("4"), "");
        assert_shows(&class.bottom(), "to step 4: G");
        assert_shows(&class.typed("G"), "In which order?");
        assert_shows(&class.bottom(), "4/5");
        // At this question letters and digits are an answer; Escape gives the keys back to the player.
        class.typed("2");
        assert_shows(&class.bottom(), "answer: 2");
        assert_shows(&class.typed("G"), "How many zeros?");
        assert_shows(&class.typed("9G"), "no step 9 here: the steps are 1 to 5");
        assert_shows(&class.typed("G"), "Your own");
        assert_shows(&class.typed("0G"), "A decoder may not read the future.");
        class.typed("12");
        class.key(Key::Backspace);
        assert_shows(&class.bottom(), "to step 1: G");
        class.key(Key::Escape);
        assert_shows(&class.bottom(), "0/5");
    });
}

#[test]
fn steps_are_gone_through_forwards_and_backwards() {
    played(40, |class| {
        assert_shows(&class.typed("n"), "Before the mask");
        assert_shows(&class.typed("n"), "How many zeros?");
        assert_shows(&class.typed("p"), "Before the mask");
        assert_shows(&class.typed("p"), "A decoder may not read the future.");
        assert_eq!(class.typed("p"), "");
        class.typed("5G");
        assert_shows(&class.typed("n"), "End:");
        assert_eq!(class.typed("n"), "");
        assert_shows(&class.typed("p"), "Your own");
    });
}

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
        assert_shows(&class.typed("/plain --only\n"), "Each row says");
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
        let back = class.told(Key::Char('q'));
        assert!(back.pushes);
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
fn a_letter_answers_a_choice_and_a_wrong_one_may_be_followed_by_another() {
    played(40, |class| {
        class.typed("2G");
        let wrong = class.typed("a");
        assert_shows(&wrong, "Not quite: A");
        assert_shows(&wrong, "True for finite scores.");
        assert!(!wrong.contains("Two tokens lie"), "a wrong answer reveals nothing:\n{wrong}");
        let right = class.typed("C");
        assert_shows(&right, "Right: C");
        assert_shows(&right, "Two tokens lie in the future.");
        assert_shows(&class.typed(" "), "The rest is shared out again.");
    });
}

#[test]
fn other_answers_are_typed_and_ended_by_enter() {
    played(40, |class| {
        class.typed("3G");
        class.typed("0.5");
        assert_shows(&class.bottom(), "answer: 0.5");
        assert_shows(&class.typed("\n"), "So it was without the mask.");
        assert_shows(&class.typed(".3.3\n"), "not a number");
        assert_shows(&class.typed("1\n"), "Right: 1");
        class.typed(" ");
        assert_shows(&class.typed("b a\n"), "A to C");
        assert_shows(&class.typed("racket, bat, cave\n"), "Not quite: C A B: racket, bat, cave");
        assert_shows(&class.typed("bat racket cave\n"), "bat, racket, cave.");
    });
}

#[test]
fn at_a_typed_question_keys_are_keys_unless_an_answer_begins_so() {
    played(40, |class| {
        // An answer here begins with A to C, or as bat, cave and racket do.
        assert_shows(&class.typed("4Gh"), "There is no hint.");
        assert_shows(&class.typed("v"), "only vote on multiple-choice");
        assert_shows(&class.typed("t"), "Your own");
        assert_shows(&class.typed("x"), "In which order?");
        assert_shows(&class.typed("p"), "How much is left?");
        assert_shows(&class.typed("t"), "Your own");
        assert_shows(&class.typed("nn"), "In which order?");
        class.typed("ba");
        assert_shows(&class.bottom(), "answer: ba   (Enter answers, Esc drops it");
        class.key(Key::Escape);
        assert_shows(&class.bottom(), "type the letters");
        class.typed("r");
        assert_shows(&class.bottom(), "Enter: the key r");
        assert_shows(&class.typed("\n"), "In which order?");
        for leaving in [Key::PageUp, Key::Char('G')] {
            class.typed("4G2");
            class.key(leaving);
            assert!(!class.bottom().contains("answer:"), "{leaving:?}: {}", class.bottom());
        }
        class.typed("4G");
        assert_eq!(class.player.press(Key::Char('q'), class.now).then, Then::Leave);
    });
}

#[test]
fn a_question_that_is_come_back_to_stands_on_a_clean_screen() {
    played(40, |class| {
        class.typed("2G ");
        for back in [Key::Left, Key::Char('r'), Key::F5] {
            let told = class.told(back);
            assert!(told.pushes && !told.lines.join("").contains("Two tokens"), "{back:?}");
        }
        assert_shows(&class.typed(" "), "Two tokens");
        class.typed("2");
        assert!(class.told(Key::Char('G')).pushes);
        for beside in ["?", "t", "!plain\n"] {
            class.typed(beside);
            let told = class.told(Key::Char('q'));
            assert!(told.pushes, "{beside}");
            assert_shows(&told.lines.join("\n"), "How many weights");
        }
        assert!(!class.told(Key::Char('a')).pushes, "feedback stands below its question");
        assert!(!class.told(Key::Char(' ')).pushes, "and so does the answer");
    });
}

#[test]
fn the_second_press_of_a_double_press_shows_no_answer() {
    played(40, |class| {
        class.typed("1G ");
        assert_shows(&class.typed(" "), "How many weights");
        let asked = class.now;
        for (after, key) in [(100, Key::PageDown), (300, Key::Enter)] {
            let now = asked + Duration::from_millis(after);
            let shows = class.player.press(key, now).lines.join("\n").contains("Two tokens");
            assert_eq!(shows, after == 300, "only the first press is passed over");
        }
        class.typed("3G");
        assert_shows(&class.typed(" "), "All of it.");
    });
}

#[test]
fn only_who_voted_so_is_told_at_the_answer_and_only_once() {
    let feedback = "True for finite scores.";
    let answer = |keys: &str, notes: bool| {
        let mut shown = String::new();
        let lesson = sample::lesson();
        let window = Window { screen: Screen::plain(80), rows: 40 };
        let player = Player::new(&lesson, &sample::run, window, Some(1)).with_notes(notes);
        let mut class = Class { player, now: Duration::ZERO };
        class.player.begin(&[], Duration::ZERO);
        class.typed(keys);
        shown.push_str(&class.typed(" "));
        // The notes have the computed answer, and the text below it.
        assert_shows(&shown, if notes { "Answer: C  two" } else { "Answer: C. Two tokens" });
        assert_shows(&shown, "Two tokens lie in the future.");
        shown.contains(feedback)
    };
    assert!(!answer("", false));
    assert!(!answer("v0 2 3\n", false), "nobody voted for A");
    assert!(answer("v2 2 3\n", false));
    assert!(!answer("v2 2 3\na", false), "it stands above");
    assert!(answer("v2 2 3\nar", false), "on a clean screen it does not");
    assert!(answer("", true), "among the notes all is told");
}

#[test]
fn an_answer_is_shown_without_its_tolerance() {
    played(40, |class| {
        let answer = class.typed("3G ");
        assert!(answer.contains("Answer: 1") && !answer.contains('±'), "{answer}");
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
fn hands_are_drawn_kept_and_shown_next_to_the_answer() {
    played(40, |class| {
        assert_shows(&class.typed("v"), "only vote on multiple-choice");
        class.typed("2Gv");
        assert_shows(&class.bottom(), "hands: ");
        assert_shows(&class.typed("A3 B14 D8\n"), "A to C");
        let bars = class.typed("vA3 B14 C8\n");
        assert_shows(&bars, "25 hands");
        assert!(!bars.contains("right"), "the vote gives nothing away:\n{bars}");
        let answer = class.typed(" ");
        let row = answer.lines().find(|line| line.contains("← right")).unwrap_or_default();
        assert_eq!(row.trim_start(), "C  8 of 25 hands  ← right");
        assert!(!answer.contains('█'), "the bars stand above:\n{answer}");
        assert_shows(&answer, "Two tokens lie in the future.");
    });
}

#[test]
fn votes_on_a_question_that_is_half_shown_are_counted_once_and_give_nothing_away() {
    played(9, |class| {
        class.typed("2G");
        assert_shows(&class.bottom(), "space shows more");
        let bars = class.typed("vA3 B14 C8\n");
        assert_shows(&bars, "25 hands");
        assert!(!bars.contains("right"), "the vote gives nothing away:\n{bars}");
        assert_shows(&class.typed(" "), "C  two");
        assert!(class.player.records.get("zeros").is_none_or(|record| record.given.is_empty()), "no answer");
        let answer = class.typed(" ");
        assert_shows(&answer, "C  8 of 25 hands  ← right");
        assert!(!answer.contains('█'), "the bars stand above:\n{answer}");
    });
}

#[test]
fn votes_where_none_can_be_cast_go_nowhere_and_answer_nothing() {
    // At a text, at a number that is asked, and at its answer.
    for (keys, place) in [("1G", "1/5"), ("3G", "3/5"), ("3G1\n", "3/5")] {
        played(40, |class| {
            class.typed(keys);
            let given = class.player.score();
            assert_shows(&class.typed("v"), "only vote on multiple-choice");
            assert_eq!(class.typed("A3 B14 C8\n"), "", "{keys}");
            assert_shows(&class.bottom(), place);
            assert_eq!(class.player.score(), given, "{keys}");
        });
    }
}

#[test]
fn a_double_press_shows_no_answer_however_long_the_next_page_takes_to_prepare() {
    played(40, |class| {
        class.typed("2G");
        class.now += Duration::from_secs(3);
        class.player.ready(class.now);
        let told = class.player.press(Key::PageDown, class.now);
        assert!(told.lines.is_empty(), "{:?}", told.lines);
        class.now += Duration::from_secs(2);
        assert_shows(&class.key(Key::PageDown), "Two tokens lie");
    });
}

#[test]
fn a_number_that_comes_too_late_goes_to_no_step() {
    played(40, |class| {
        class.typed("2G ");
        let place = class.bottom();
        assert_eq!(class.typed("0.41\n"), "");
        assert_eq!(class.bottom(), place);
        assert_eq!(class.typed("3\n"), "");
        assert_eq!(class.bottom(), place);
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
fn hints_come_one_after_the_other() {
    played(40, |class| {
        assert_shows(&class.typed("h"), "Only questions have hints");
        class.typed("2G");
        assert_shows(&class.typed("h"), "Who stands behind bat?");
        assert_shows(&class.typed("h"), "Count the tokens");
        assert_shows(&class.typed("h"), "no more hints");
    });
}

#[test]
fn the_time_to_think_is_counted_down_and_hints_do_not_stop_it() {
    played(40, |class| {
        class.now = Duration::from_secs(100);
        class.typed("2G");
        assert_shows(&class.bottom(), "think 0:30");
        class.now = Duration::from_secs(118);
        class.typed("h");
        assert_shows(&class.bottom(), "think 0:12");
        class.now = Duration::from_secs(131);
        assert_shows(&class.bottom(), "time is up");
        class.typed("n");
        assert_shows(&class.bottom(), "think 0:20");
    });
}

#[test]
fn a_command_of_ones_own_is_run_and_the_place_is_kept() {
    played(40, |class| {
        class.typed(" !");
        class.key(Key::Up);
        assert_shows(&class.bottom(), "$ attn plain --only A");
        class.key(Key::Backspace);
        assert_shows(&class.typed("S\n"), "attn plain --only S at 80");
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
            let back = class.told(drop);
            assert!(back.pushes, "{drop:?}");
            assert_shows(&back.lines.join("\n"), "A decoder may not read");
        }
        class.typed("?");
        while class.bottom().contains("space shows more") {
            class.typed(" ");
        }
        assert_eq!(class.player.press(Key::Control('c'), class.now).then, Then::Interrupt);
    });
}

#[test]
fn commands_run_again_at_the_present_width() {
    played(40, |class| {
        assert_shows(&class.typed(" "), "attn plain --only A at 80");
        class.player.resize(Window { screen: Screen::plain(66), rows: 40 });
        assert_shows(&class.typed("r"), "attn plain --only A at 66");
    });
}

#[test]
fn after_a_resize_nothing_is_left_out() {
    played(7, |class| {
        class.typed("2G");
        assert_shows(&class.bottom(), "space shows more");
        class.player.resize(Window { screen: Screen::plain(60), rows: 7 });
        let rest: String = (0..4).map(|_| class.key(Key::PageDown) + "\n").collect();
        for words in ["Question", "How many weights", "A  none", "C  two"] {
            assert_shows(&rest, words);
        }
    });
}

#[test]
fn a_clicker_is_enough() {
    played(12, |class| {
        assert_shows(&class.key(Key::PageDown), "Before the mask");
        assert_shows(&class.key(Key::PageDown), "A pause");
        assert_shows(&class.key(Key::PageUp), "Before the mask");
        for blank in ['.', 'b'] {
            assert_eq!(class.typed(&blank.to_string()).trim(), "");
            assert_shows(&class.bottom(), "any key");
            assert_shows(&class.typed(&blank.to_string()), "Before the mask");
        }
        assert_shows(&class.key(Key::F5), "Before the mask");
        assert_eq!(class.key(Key::Escape), "");
        class.typed("3G");
        class.typed("1");
        assert_shows(&class.key(Key::PageDown), "Right: 1");
    });
}

#[test]
fn scripted_answers_are_given_when_the_question_comes() {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows: 40 };
    let runner = Runner::new(&sample::run);
    let show = Show::new(&lesson, &runner, window.screen);
    let asked = ["zeros=A3 B4 C5", "zeros=A", "zeros=C", "left=1"].map(String::from);
    let scripted = Scripted::read(&asked, &show).unwrap();
    let player = Player::new(&lesson, &sample::run, window, None).with_answers(scripted);
    let mut class = Class { player, now: Duration::ZERO };
    class.player.begin(&[], Duration::ZERO);
    class.typed("2G");
    assert_shows(&class.typed(" "), "12 hands");
    assert_shows(&class.typed(" "), "Not quite: A");
    assert_shows(&class.typed(" "), "Right: C");
    class.typed("  ");
    assert_shows(&class.typed(" "), "Right: 1");
    class.typed("    ");
    assert_eq!(class.player.score(), (2, 2));
}

#[test]
fn the_status_line_fits_every_screen() {
    played(40, |class| {
        for width in 1..120 {
            class.player.resize(Window { screen: Screen::plain(width), rows: 40 });
            for keys in ["2G", "!", "abc漢字漢字漢字漢字漢字"] {
                class.typed(keys);
                let bottom = class.player.bottom(class.now);
                let columns = unicode_width::UnicodeWidthStr::width(bottom.text.as_str());
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

#[test]
fn keys_interrupt_suspend_and_leave_wherever_they_are_pressed() {
    played(40, |class| {
        for keys in ["", "2G", "v", "!attn"] {
            class.typed(keys);
            assert_eq!(class.player.press(Key::Control('c'), class.now).then, Then::Interrupt);
            assert_eq!(class.player.press(Key::Control('z'), class.now).then, Then::Suspend);
        }
        class.key(Key::Escape);
        assert_eq!(class.player.press(Key::Char('q'), class.now).then, Then::Leave);
    });
}

#[test]
fn who_only_looks_at_the_title_keeps_the_place() {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows: 40 };
    let last = lesson.steps[1].id.clone();
    let kept = Progress { step: Some(last.clone()), ..Progress::default() };
    let mut player = Player::new(&lesson, &sample::run, window, None).with_progress(&kept);
    player.begin(&[], Duration::ZERO);
    assert_eq!(player.progress().step, Some(last));
    player.press(Key::Char(' '), Duration::from_secs(2));
    assert_eq!(player.progress().step.as_ref(), Some(&lesson.steps[0].id));
}
