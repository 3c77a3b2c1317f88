//! Questions: answers, votes and hints.

use std::time::Duration;

use crate::lesson::key::{self, Answer, Kind};
use crate::lesson::show::Show;
use crate::lesson::{Choice, Question};

use super::answers::{judged, next_try, options, right_answer};
use super::entry::{Entry, Purpose};
use super::player::Player;
use super::stops::Kind as StopKind;
use super::votes;

impl Player<'_> {
    /// Gives an answer to the question that is asked. If it is right the solution follows.
    pub(super) fn give(&mut self, typed: &str) -> Vec<String> {
        let Some(question) = self.asking() else { return Vec::new() };
        if typed.is_empty() {
            return self.go_on();
        }
        if question.kind == Kind::Choice && key::is_show_of_hands(typed) {
            return self.count_hands(typed);
        }
        let judged = match judged(question, typed, &self.show()) {
            Ok(judged) => judged,
            Err(error) => return self.refused(&error),
        };
        let record = self.record(question);
        record.given.push(typed.to_string());
        record.right = judged.right.unwrap_or(false);
        record.told.extend(judged.told);
        if judged.right != Some(false) {
            return self.go_on_behind(Vec::new());
        }
        let hints = self.records.get(&question.id).map_or(0, |record| record.hints);
        judged.wrong(next_try(question, hints), self.window.screen)
    }

    /// Whether an answer to the question that is asked may begin with this character.
    pub(super) fn may_begin(&self, typed: char) -> bool {
        let Some(question) = self.asking() else { return false };
        let answer = right_answer(question, &self.show()).ok().flatten();
        answer.is_some_and(|answer| answer.may_begin(typed, options(question)))
    }

    /// Whether a text can be an answer to the question that is asked.
    pub(super) fn is_answer(&self, typed: &str) -> bool {
        let asked = self.asking().filter(|question| question.kind != Kind::Open);
        asked.is_some_and(|question| judged(question, typed, &self.show()).is_ok())
    }

    /// The letter of the right option.
    pub(super) fn right_letter(&self, question: &Question) -> Option<char> {
        match right_answer(question, &self.show()) {
            Ok(Some(Answer::Choice { letter, .. })) => Some(letter),
            _ => None,
        }
    }

    /// Begins to count hands, also while a part of the question is still to be shown. Where there are no options, what is
    /// typed on is neither an answer nor a jump.
    pub(super) fn begin_hands(&mut self, now: Duration) -> Vec<String> {
        match self.question() {
            Some(question) if question.kind == Kind::Choice => {
                self.entry = Some(Entry::new(Purpose::Hands, "", Vec::new()));
                Vec::new()
            }
            _ => {
                self.dropping = Some((now, String::new()));
                self.remark("You can only vote on multiple-choice questions.")
            }
        }
    }

    /// The answer, with the votes that were cast. Only who has voted so is told why it is wrong, unless it stands above; where
    /// there are notes, all of it is told.
    pub(super) fn answer(&self, show: &Show<'_>, question: &Question) -> Vec<String> {
        let record = self.records.get(&question.id);
        let hands = record.and_then(|record| record.hands.as_ref());
        let mut groups = Vec::new();
        if let Some(hands) = hands {
            let right = self.right_letter(question);
            // The bars stand above the answer; on a clean screen they are drawn again.
            groups.push(
                match right.filter(|_| record.is_some_and(|record| record.drawn) && !self.is_clean) {
                    Some(letter) => votes::right_bar(hands, letter, self.window.screen),
                    None => votes::bars(hands, right, self.window.screen),
                },
            );
        }
        let is_told = |choice: &Choice| {
            let option = question.choices.iter().position(|other| other.letter == choice.letter);
            let voted = hands
                .zip(option)
                .and_then(|(hands, option)| hands.get(option))
                .is_some_and(|&count| count > 0);
            let has_been = record.is_some_and(|record| record.told.contains(&choice.letter));
            show.notes || voted && !has_been
        };
        let right = record.filter(|record| record.right);
        let given = right.and_then(|record| record.given.last()).map(String::as_str);
        let (answer, rest) = show.answer(question, given, is_told);
        groups.extend([answer, show.blocks(rest)]);
        groups.retain(|group| !group.is_empty());
        groups.join(&String::new())
    }

    /// Keeps a show of hands, and draws it.
    pub(super) fn count_hands(&mut self, typed: &str) -> Vec<String> {
        let Some(question) = self.question().filter(|_| !typed.is_empty()) else { return Vec::new() };
        let hands = match key::votes(typed, options(question)) {
            Ok(hands) => hands,
            Err(error) => return self.refused(&error),
        };
        // While the class still reads or thinks, nobody is told.
        let is_open = self.stops.get(self.at).is_some_and(|stop| stop.kind == StopKind::Asked);
        let right = if is_open { None } else { self.right_letter(question) };
        let lines = votes::bars(&hands, right, self.window.screen);
        let record = self.record(question);
        record.hands_before = record.hands.replace(hands);
        record.drawn = true;
        lines
    }

    /// The next hint.
    pub(super) fn hint(&mut self) -> Vec<String> {
        let Some(question) = self.asking() else {
            return self.remark("Only questions have hints.");
        };
        let shown = self.records.get(&question.id).map_or(0, |record| record.hints);
        let Some(hint) = question.hints.get(shown) else {
            let all = if shown == 0 { "There is no hint." } else { "There are no more hints." };
            return self.remark(all);
        };
        self.record(question).hints += 1;
        self.show().marked("Hint: ", hint)
    }

    /// So many questions were answered, and so many of them right at last.
    pub(super) fn score(&self) -> (usize, usize) {
        let answered = self.records.values().filter(|record| !record.given.is_empty());
        answered.fold((0, 0), |(all, right), record| (all + 1, right + usize::from(record.right)))
    }
}
