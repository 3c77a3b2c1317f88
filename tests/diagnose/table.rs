//! The list of mistakes, and the table of which can be told apart on which shapes: docs/mistakes.md. Update it with
//! `UPDATE_MISTAKES=1 cargo test --test all diagnose::table::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::golden;
use crate::mistakes::{Case, answer, cases, coincidence_cases, named};
use attn::diagnose::{GROUPS, catalogue};

/// What a mistake looks like in an exercise, from the result alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Identification {
    /// It changes nothing.
    Hidden,
    /// Other mistakes give the same result.
    WithOthers,
    /// It comes back under its name alone.
    Alone,
}

impl Identification {
    fn mark(self) -> char {
        match self {
            Identification::Hidden => '·',
            Identification::WithOthers => '=',
            Identification::Alone => '●',
        }
    }
}

/// How an exercise's mistakes are told, which of them are alike, and how many pairs are told of how many.
struct Row {
    told: BTreeMap<String, Identification>,
    alike: BTreeSet<Vec<String>>,
    pairs: usize,
    pairs_alone: usize,
}

fn row(case: &Case) -> Row {
    let mut row = Row { told: BTreeMap::new(), alike: BTreeSet::new(), pairs: 0, pairs_alone: 0 };
    for wrong in &case.wrong {
        let diagnosis = case.examiner.examine(&[answer("O", &wrong.result)]).unwrap();
        let names = named(&diagnosis);
        let told = match (diagnosis.is_right(), names.len()) {
            (true, _) => Identification::Hidden,
            (false, 1) if names[0] == wrong.ids => Identification::Alone,
            (false, _) => Identification::WithOthers,
        };
        let Some(id) = wrong.ids.iter().next().filter(|_| wrong.ids.len() == 1) else {
            row.pairs += 1;
            row.pairs_alone += usize::from(told == Identification::Alone);
            continue;
        };
        // Of several ways to make a mistake, the one that tells best.
        let known = row.told.entry(id.clone()).or_insert(told);
        *known = (*known).max(told);
        let singles: BTreeSet<String> = names.into_iter().filter(|ids| ids.len() == 1).flatten().collect();
        if singles.len() > 1 {
            row.alike.insert(singles.into_iter().collect());
        }
    }
    row
}

/// The rows of all exercises, computed once.
fn rows() -> &'static [Row] {
    static ALL: std::sync::OnceLock<Vec<Row>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| cases().iter().map(row).collect())
}

/// What a teacher adds to the list: the tests of own_mistakes.rs read its example.
pub const OWN: &str = include_str!("own_mistakes.md");

/// The list of the mistakes in the data file, and how others are added.
fn list() -> String {
    let mut text = String::from(
        "# The mistakes that `attn diagnose` knows\n\n\
         Made by `tests/diagnose/table.rs`. Each id is one slip; many can be made in several ways, and the report says in which.\n\
         `attn diagnose --list ID` says why it is wrong, how to fix it, and what to look for.\n",
    );
    for group in GROUPS.iter() {
        write!(text, "\n## {}\n\n", group.title).unwrap();
        for mistake in &group.mistakes {
            writeln!(text, "- `{}`: {}", mistake.id, mistake.slip).unwrap();
        }
    }
    text + OWN
}

fn table() -> String {
    let (cases, rows) = (cases(), rows());
    let mut text = list();
    text.push_str(
        "\n## Which classic mistakes can be told apart on which shapes\n\n\
         From wrong results that NumPy computed (`tests/golden/mistakes.py`), each judged by its final matrix `O` alone.\n\n\
         `●`: only this mistake is found. `=`: it is found together with others that give the same numbers. `·`: it changes\n\
         nothing in the result. Blank: it cannot be made there. If a mistake can be made in several ways, the best result counts.\n\n| mistake |",
    );
    (1..=cases.len()).for_each(|number| write!(text, " {number} |").unwrap());
    text.push_str("\n|---|");
    cases.iter().for_each(|_| text.push_str(":-:|"));
    for mistake in catalogue().filter(|mistake| rows.iter().any(|row| row.told.contains_key(&mistake.id))) {
        write!(text, "\n| `{}` |", mistake.id).unwrap();
        for row in rows {
            write!(text, " {} |", row.told.get(&mistake.id).map_or(' ', |told| told.mark())).unwrap();
        }
    }
    text.push_str(
        "\n\n| | exercise | mistakes with the same result | pairs identified uniquely |\n|--:|---|---|--:|\n",
    );
    for (number, (case, row)) in cases.iter().zip(rows).enumerate() {
        let alike: Vec<String> = row.alike.iter().map(|ids| format!("`{}`", ids.join("` = `"))).collect();
        let Row { pairs, pairs_alone, .. } = row;
        writeln!(
            text,
            "| {} | {} | {} | {pairs_alone} of {pairs} |",
            number + 1,
            case.name,
            alike.join("; ")
        )
        .unwrap();
    }
    text + &unchanged() + &same_by_algebra()
}

/// What gives the same numbers whatever the inputs are: no diagnosis can tell these apart.
fn same_by_algebra() -> String {
    let mut text = String::from(
        "\n## Which mistakes give the same result on every input\n\n\
         From `tests/golden/coincidences.py`, which makes each in NumPy; the test `what_is_the_same_by_algebra_is_named_together`\n\
         holds that both are named, the more common first.\n\n| mistake | as it was made | the same as |\n|---|---|---|\n",
    );
    let mut known = BTreeSet::new();
    for slip in
        coincidence_cases().iter().flat_map(|case| &case.slips).filter(|slip| !slip.same_as.is_empty())
    {
        let same: Vec<String> = slip.same_as.iter().map(|id| format!("`{id}`")).collect();
        let row = format!("| `{}` | {} | {} |\n", slip.id, slip.variant, same.join(", "));
        if known.insert(row.clone()) {
            text += &row;
        }
    }
    text + NOT_TOLD_APART
}

/// What the solver cannot tell apart; the tests of field.rs hold it.
const NOT_TOLD_APART: &str = "\
\n## What the solver cannot tell apart\n\n\
The last two tests of `tests/diagnose/field.rs` hold each line but the last.\n\n\
- RoPE from any first position: scores depend on distances alone, so a wrong start of queries and keys together changes nothing.\n\
- Queries, keys and values reshaped column by column to (T, H, d), and heads of every H-th column.\n\
- A window to both sides, and a causal mask as many diagonals too high, where the window is as wide as the mask is late.\n\
- A result of nothing but NaN: the two likely causes are told, and the steps before it show where it begins.\n";

/// What leaves the result as it is in the exercises with positions, norms, soft-caps, windows, sinks and gates.
fn unchanged() -> String {
    let golden = golden::json("mechanism_slips.json");
    let mut exercises: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for case in golden::list(&golden, "cases") {
        for slip in golden::list(case, "unchanged") {
            let [id, variant] = [0, 1].map(|at| slip[at].as_str().unwrap_or_default());
            let slip = if variant.is_empty() { format!("`{id}`") } else { format!("`{id}`, {variant}") };
            exercises.entry(slip).or_default().push(golden::string(case, "name"));
        }
    }
    let mut text = String::from(
        "\n## Which mistakes with positions, norms, soft-caps and sinks change nothing in the result\n\n\
         From `tests/golden/mechanism_slips.py`. Where no way of making a mistake changes the result, the report says that the\n\
         mistake is neither found nor ruled out.\n\n| mistake | exercises |\n|---|---|\n",
    );
    for (slip, exercises) in exercises {
        writeln!(text, "| {slip} | {} |", exercises.join("; ")).unwrap();
    }
    text
}

#[test]
fn the_list_in_the_documentation_is_that_of_the_data_file() {
    let written = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mistakes.md"));
    assert!(
        written.starts_with(&list()),
        "docs/mistakes.md is not what comes out; see the head of this file"
    );
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_table_in_the_documentation_is_the_one_that_comes_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mistakes.md");
    let made = table();
    if std::env::var_os("UPDATE_MISTAKES").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == made, "docs/mistakes.md is not what comes out; see the head of this file");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn every_mistake_is_told_alone_somewhere() {
    let rows = rows();
    // Under a causal mask, hiding the diagonal as well and leaving the token itself out are one and the same.
    let same_as_another = ["mask-strict"];
    for mistake in catalogue().filter(|mistake| !same_as_another.contains(&&*mistake.id)) {
        // The others are in the file of another hand.
        let Some(best) = rows.iter().filter_map(|row| row.told.get(&mistake.id)).max() else { continue };
        assert!(*best == Identification::Alone, "{} is never told alone", mistake.id);
    }
}
