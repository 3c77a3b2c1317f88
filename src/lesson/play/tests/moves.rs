//! On, back, and to a step.

use super::*;

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
        assert_eq!(class.player.press(Key::Char(' '), class.now).action, Action::Leave);
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
fn a_question_that_is_come_back_to_stands_on_a_clean_screen() {
    played(40, |class| {
        class.typed("2G ");
        for back in [Key::Left, Key::Char('r'), Key::F5] {
            let effects = class.press(back);
            assert!(effects.clears && !effects.lines.join("").contains("Two tokens"), "{back:?}");
        }
        assert_shows(&class.typed(" "), "Two tokens");
        class.typed("2");
        assert!(class.press(Key::Char('G')).clears);
        for beside in ["?", "t", "!plain\n"] {
            class.typed(beside);
            let effects = class.press(Key::Char('q'));
            assert!(effects.clears, "{beside}");
            assert_shows(&effects.lines.join("\n"), "How many weights");
        }
        assert!(!class.press(Key::Char('a')).clears, "feedback stands below its question");
        assert!(!class.press(Key::Char(' ')).clears, "and so does the answer");
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
fn a_double_press_shows_no_answer_however_long_the_next_page_takes_to_prepare() {
    played(40, |class| {
        class.typed("2G");
        class.now += Duration::from_secs(3);
        class.player.ready(class.now);
        let effects = class.player.press(Key::PageDown, class.now);
        assert!(effects.lines.is_empty(), "{:?}", effects.lines);
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
fn commands_run_again_at_the_present_width() {
    played(40, |class| {
        assert_shows(&class.typed(" "), "attn plain A at 80");
        class.player.resize(Window { screen: Screen::plain(66), rows: 40 });
        assert_shows(&class.typed("r"), "attn plain A at 66");
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
fn keys_interrupt_suspend_and_leave_wherever_they_are_pressed() {
    played(40, |class| {
        for keys in ["", "2G", "v", "!attn"] {
            class.typed(keys);
            assert_eq!(class.player.press(Key::Control('c'), class.now).action, Action::Interrupt);
            assert_eq!(class.player.press(Key::Control('z'), class.now).action, Action::Suspend);
        }
        class.key(Key::Escape);
        assert_eq!(class.player.press(Key::Char('q'), class.now).action, Action::Leave);
    });
}

#[test]
fn who_only_looks_at_the_title_keeps_the_place() {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows: 40 };
    let last = lesson.steps[1].id.clone();
    let kept = Progress { step: Some(last.clone()), ..Progress::default() };
    let mut player = Player::new(&lesson, &sample::run, window, None);
    player.restore(&kept);
    player.begin(&[], Duration::ZERO);
    assert_eq!(player.progress().step, Some(last));
    player.press(Key::Char(' '), Duration::from_secs(2));
    assert_eq!(player.progress().step.as_ref(), Some(&lesson.steps[0].id));
}
