//! Answers, votes and hints.

use crate::lesson::hand_in::handed_in;
use crate::lesson::quiz::Grade;

use super::*;

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
        assert_eq!(class.player.press(Key::Char('q'), class.now).action, Action::Leave);
    });
}

#[test]
fn only_who_voted_so_is_told_at_the_answer_and_only_once() {
    let feedback = "True for finite scores.";
    let answer = |keys: &str, notes: bool| {
        let mut shown = String::new();
        let lesson = sample::lesson();
        let window = Window { screen: Screen::plain(80), rows: 40 };
        let mut player = Player::new(&lesson, &sample::run, window, Some(1));
        player.notes = notes;
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
        assert!(
            class.player.class.records.get("zeros").is_none_or(|record| record.given.is_empty()),
            "no answer"
        );
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
            let given = class.player.class.score();
            assert_shows(&class.typed("v"), "only vote on multiple-choice");
            assert_eq!(class.typed("A3 B14 C8\n"), "", "{keys}");
            assert_shows(&class.bottom(), place);
            assert_eq!(class.player.class.score(), given, "{keys}");
        });
    }
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
fn scripted_answers_are_given_when_the_question_comes() {
    let lesson = sample::lesson();
    let window = Window { screen: Screen::plain(80), rows: 40 };
    let runner = Runner::new(&sample::run);
    let show = LessonView::new(&lesson, &runner, window.screen);
    let asked = ["zeros=A3 B4 C5", "zeros=A", "zeros=C", "left=1"].map(String::from);
    let scripted = ScriptedAnswers::read(&asked, &show).unwrap();
    let mut player = Player::new(&lesson, &sample::run, window, None);
    player.scripted = scripted;
    let mut class = Class { player, now: Duration::ZERO };
    class.player.begin(&[], Duration::ZERO);
    class.typed("2G");
    assert_shows(&class.typed(" "), "12 hands");
    assert_shows(&class.typed(" "), "Not quite: A");
    assert_shows(&class.typed(" "), "Right: C");
    class.typed("  ");
    assert_shows(&class.typed(" "), "Right: 1");
    class.typed("    ");
    assert_eq!(class.player.class.score(), (2, 2));
}

#[test]
fn at_the_end_the_answers_are_a_line_to_hand_in() {
    played(40, |class| {
        class.typed("5G");
        class.typed("n");
        assert_shows(&class.typed("h"), "there is nothing to hand in");
        class.typed("2GaC3G1\n4Gracket bat cave\ncave bat racket\nbat racket cave\n5G");
        class.typed("n");
        assert_shows(&class.bottom(), "h hands in the answers");
        assert_shows(&class.typed(" "), "The answers are gone when the lesson is left.");
        class.typed("hAna");
        assert_shows(&class.bottom(), "your name or number: Ana");
        let line = class.typed("\n");
        assert_shows(&line, "Hand in this line:\nattn1:");
        assert!(line.lines().all(|line| line.len() < 80), "{line}");
        let handed = handed_in(&line).unwrap().remove(0).unwrap();
        assert_eq!(handed.name, "Ana");
        // The third try at the order counts nothing.
        let outcomes: Vec<Grade> = handed.questions.iter().map(|question| question.outcome).collect();
        assert_eq!(outcomes, [Grade::SecondTry, Grade::Right, Grade::Wrong]);
    });
}
