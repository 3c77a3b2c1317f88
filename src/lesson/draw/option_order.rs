//! The order of options and their letters. In a question drawn again the options stand in the order of their numbers: if they
//! kept their places the right letter would be the same on every sheet.

use std::ops::Range;

use crate::lesson::key::WrittenNumber;
use crate::lesson::model::{Block, Choice, Question};

/// The same question with its options, all of them numbers, from the smallest to the largest, with new letters, also where the
/// answer begins with its letter, `**C.**`. As it was where a text may mean an option by any other letter.
pub(super) fn in_order_of_numbers(question: Question) -> Question {
    let Some(right) = question.key.as_ref().and_then(|key| key.letter) else { return question };
    let mut numbered: Vec<(f64, Choice)> = Vec::new();
    for choice in &question.choices {
        let Some(number) = number(choice) else { return question };
        numbered.push((number, choice.clone()));
    }
    let letters: Vec<char> = question.choices.iter().map(|choice| choice.letter).collect();
    if texts(&question).any(|text| !letters_in(text, &letters).is_empty()) {
        return question;
    }
    numbered.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let letter_now = |old: char| {
        let at = numbered.iter().position(|(_, choice)| choice.letter == old);
        at.and_then(|at| letters.get(at)).copied().unwrap_or(old)
    };
    let mut lettered = question;
    lettered.choices = numbered
        .iter()
        .map(|(_, choice)| Choice { letter: letter_now(choice.letter), ..choice.clone() })
        .collect();
    if let Some(key) = &mut lettered.key {
        key.letter = Some(letter_now(right));
    }
    for block in &mut lettered.reveal {
        if let Block::Prose(prose) = block
            && let Some((at, letter)) = named_at_start(&prose.markdown)
        {
            prose.markdown.replace_range(at, &letter_now(letter).to_string());
        }
    }
    lettered
}

/// The number that an option shows.
fn number(choice: &Choice) -> Option<f64> {
    let text = choice.text.as_ref()?;
    let claim = text.claims.first()?;
    Some(WrittenNumber::parse(&text.markdown[claim.at.clone()])?.value())
}

/// All texts of a question; those of its answer without the letter that they begin with.
fn texts(question: &Question) -> impl Iterator<Item = &str> {
    let feedback = question.choices.iter().filter_map(|choice| choice.feedback.as_deref());
    let options = question.offered().map(|(_, text)| text);
    let options = options.map(|text| text.markdown.as_str());
    let blocks = question.blocks().filter_map(|block| match block {
        Block::Prose(prose) => {
            let named = named_at_start(&prose.markdown).map_or(0, |(at, _)| at.end);
            Some(&prose.markdown[named..])
        }
        _ => None,
    });
    feedback.chain(options).chain(question.hints.iter().map(String::as_str)).chain(blocks)
}

/// The letter of `**C.** …`, and where it is.
fn named_at_start(markdown: &str) -> Option<(Range<usize>, char)> {
    let rest = markdown.strip_prefix("**")?;
    let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
    let closes = rest[1..].strip_prefix('.').unwrap_or(&rest[1..]).starts_with("**");
    closes.then_some((2..3, letter))
}

/// The letters among these that stand alone in a text, outside of code: `A` in “not A”, and “A token”, which may mean no option.
fn letters_in(markdown: &str, letters: &[char]) -> Vec<char> {
    let outside_of_code = markdown.split('`').step_by(2);
    let words = outside_of_code.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let single = words.filter_map(|word| {
        let mut characters = word.chars();
        characters.next().filter(|_| characters.next().is_none())
    });
    single.filter(|letter| letters.contains(letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::option_names::SAMPLE;
    use crate::lesson::{Lesson, read};

    fn lesson(asked: &str, reveal: &str) -> Lesson {
        let text = format!(
            "---\nattn-lesson: 1\n---\n\n# T\n\n<!-- run: x = attn softmax 1 2 -->\n\n## S\n\n<!-- ask: id=q kind=choice -->\n\n\
             {asked}\n\n- A. 0.9\n- B. 0.1, no\n- C. about 0.5\n\n<!-- key: C iff x:A[1,1] < 1 -->\n<!-- opt A: x:A[1,1] -->\n\
             <!-- opt B: x:A[1,1] -->\n<!-- opt C: x:A[1,1] -->\n<!-- if A: too much -->\n\n<details>\n<summary>Answer</summary>\n\n\
             {reveal}\n\n</details>\n"
        );
        read("x.md", &text, SAMPLE).unwrap()
    }

    fn ordered(asked: &str, reveal: &str) -> Question {
        in_order_of_numbers(lesson(asked, reveal).questions().next().unwrap().clone())
    }

    #[test]
    fn options_stand_in_the_order_of_their_numbers_and_the_key_follows() {
        let question = ordered("How much?", "**C.** Neither `A` nor W_A.");
        let options: Vec<(char, &str)> = question
            .choices
            .iter()
            .map(|choice| (choice.letter, choice.text.as_ref().unwrap().markdown.as_str()))
            .collect();
        assert_eq!(options, [('A', "0.1, no"), ('B', "about 0.5"), ('C', "0.9")]);
        assert_eq!(question.choices[2].feedback.as_deref(), Some("too much"));
        assert_eq!(question.key.as_ref().unwrap().letter, Some('B'));
        let Block::Prose(prose) = &question.reveal[0] else { panic!("prose") };
        assert_eq!(prose.markdown, "**B.** Neither `A` nor W_A.");
    }

    #[test]
    fn they_stay_where_a_text_may_mean_one_by_its_letter() {
        for (asked, reveal) in [
            ("A token looks. How much?", "**C.** So."),
            ("How much?", "**C.** And not B."),
            ("How much?", "It is C."),
            ("How much?", "The answer is **C.**"),
        ] {
            let question = ordered(asked, reveal);
            assert_eq!(question.key.as_ref().unwrap().letter, Some('C'), "{asked} {reveal}");
            assert_eq!(question.choices[0].text.as_ref().unwrap().markdown, "0.9");
        }
    }
}
