//! What the script that trained the model has measured on texts kept from the training: `models/words/figures.json`.

use crate::story::Table;

/// The share of right answers to one kind of question.
struct Measured {
    /// The question in words.
    question: &'static str,
    /// The number of texts.
    texts: u32,
    /// With all heads.
    whole: f64,
    /// The head that looks at the deciding word.
    head: &'static str,
    /// Without this head.
    without: f64,
}

/// A row of the table.
const fn measured(
    question: &'static str,
    texts: u32,
    whole: f64,
    head: &'static str,
    without: f64,
) -> Measured {
    Measured { question, texts, whole, head, without }
}

/// The kinds of the file, in its order.
const MEASURED: [Measured; 9] = [
    measured("what a bat is, word after", 120, 1.0, "L1.A_3", 0.5),
    measured("what a bat is, word before", 120, 1.0, "L1.A_3", 0.5),
    measured("what an owl or a ball is", 40, 1.0, "L1.A_3", 0.475),
    measured("what a squash is", 40, 1.0, "L1.A_3", 0.5),
    measured("tired or heavy", 40, 1.0, "L1.A_3", 0.5),
    measured("how the creature feels", 80, 1.0, "L1.A_3", 0.225),
    measured("how the creature looks", 80, 1.0, "L2.A_2", 0.5375),
    measured("how the forest is", 80, 1.0, "L1.A_2", 0.2375),
    measured("who won", 20, 1.0, "L2.A_2", 0.5),
];

/// The figures as a table.
pub(super) fn table() -> Table {
    let row = |measured: &Measured| {
        let Measured { question, texts, whole, head, without } = measured;
        let (whole, without) = (format!("{whole:.3}"), format!("{without:.3}"));
        vec![question.to_string(), texts.to_string(), whole, head.to_string(), without]
    };
    let header = ["question", "texts", "right", "head", "right without it"];
    Table::new(&header, MEASURED.iter().map(row)).with_numbers(&["texts", "right", "right without it"])
}
