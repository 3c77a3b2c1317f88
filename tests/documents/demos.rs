//! What holds for every demo: its terms give the recorded bits, its sentences find their numbers, its steps show nodes.

mod judge;

use std::collections::BTreeSet;

use crate::common::one_in;
use attn::demo::{Demo, Settings, demos};
use attn::graph::{CellId, Factor, Node, Op, Origin};
use attn::matrix::Matrix;
use attn::story::Story;

#[test]
fn every_cell_of_every_demo_is_what_its_terms_say() {
    for demo in demos() {
        let story = demo.story(&Settings::default()).unwrap();
        for (node, content) in story.graph.nodes() {
            let matrix = content.matrix().unwrap();
            for row in 0..matrix.rows() {
                for col in 0..matrix.cols() {
                    let cell = CellId { node, row, col };
                    let (terms, recorded) =
                        (story.graph.terms(cell).evaluate(&story.graph), matrix[(row, col)]);
                    let same = terms.to_bits() == recorded.to_bits() || (terms.is_nan() && recorded.is_nan());
                    assert!(
                        same,
                        "{} {}[{},{}]: {terms:e} {recorded:e}",
                        demo.name,
                        content.name,
                        row + 1,
                        col + 1
                    );
                }
            }
        }
    }
}

#[test]
fn every_demo_shows_something_in_every_story_and_ends_its_sentences() {
    for demo in demos() {
        let story = demo.story(&Settings::default()).unwrap();
        assert!(story.steps.iter().any(|step| !step.shown.is_empty()), "{} shows nothing", demo.name);
        for text in story.steps.iter().flat_map(|step| [Some(&step.text), step.notice.as_ref()]).flatten() {
            assert!(text.ends_with(['.', ':', '?', ')']), "{}: {text}", demo.name);
        }
    }
}

/// A sentence is said exactly where it is true, and the heading of a step is the specific one exactly where that is true.
fn assert_says_what_is_true(demo: &Demo, story: &Story, what: &str) {
    for claim in &story.claims {
        let is_true = judge::is_true(&story.graph, claim);
        assert_eq!(claim.shown, is_true, "{} {what}: {}", demo.name, claim.text);
        let said = if claim.text.contains('{') { claim.text.split('{').next().unwrap() } else { &claim.text };
        let step = &story.steps[claim.step];
        let place = if claim.is_heading { Some(&step.text) } else { step.notice.as_ref() };
        assert!(
            !is_true || place.is_some_and(|text| text.contains(said)),
            "{}: {} is not said",
            demo.name,
            said
        );
    }
    for (at, step) in story.steps.iter().enumerate() {
        let said = story.claims.iter().any(|claim| claim.step == at && claim.shown && !claim.is_heading);
        assert_eq!(step.notice.is_some(), said, "{} {what}: {:?}", demo.name, step.notice);
    }
}

/// A fixed sequence of random numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    /// Zeros, a few whole numbers, thirds, a permutation of what was there, or the old numbers twice as large.
    fn instead_of(&mut self, old: &Matrix) -> Matrix {
        let cells: Vec<f64> = old.cells().collect();
        let (kind, turn) = (self.below(6), self.below(cells.len() as u64) as usize);
        Matrix::from_fn(old.rows(), old.cols(), |i, j| {
            let at = i * old.cols() + j;
            match kind {
                0 => 0.0,
                1 => self.below(7) as f64 - 3.0,
                2 => self.below(13) as f64 / 3.0 - 2.0,
                3 => cells[(at + turn) % cells.len()],
                4 => 2.0 * cells[at],
                _ => 100.0 * (self.below(9) as f64 - 4.0),
            }
        })
    }
}

/// The demo with some of its given matrices replaced; what it refuses, such as a row without a maximum, stays its own.
fn with_random_numbers(demo: &Demo, own: &Story, numbers: &mut Numbers) -> Story {
    let given: Vec<&Node> =
        own.graph.nodes().map(|(_, node)| node).filter(|node| node.op.is_given()).collect();
    let mut set = std::collections::BTreeMap::new();
    for _ in 0..=numbers.below(3) {
        let node = given[numbers.below(given.len() as u64) as usize];
        let matrix = numbers.instead_of(node.matrix().unwrap());
        let before = set.insert(node.name.clone(), (matrix, "--set".to_string()));
        if demo.story(&Settings { set: set.clone(), ..Settings::default() }).is_err() {
            set.remove(&node.name);
            set.extend(before.map(|before| (node.name.clone(), before)));
        }
    }
    demo.story(&Settings { set, ..Settings::default() }).unwrap()
}

#[test]
fn a_demo_says_of_any_numbers_exactly_what_is_true_of_them() {
    let (mut said, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    for demo in demos() {
        let own = demo.story(&Settings::default()).unwrap();
        assert_says_what_is_true(demo, &own, "as it comes");
        let mut numbers = Numbers(13);
        let sets = (0..20 / one_in(4)).map(|_| with_random_numbers(demo, &own, &mut numbers));
        let seeds =
            [1, 7, 42].map(|seed| demo.story(&Settings { seed: Some(seed), ..Settings::default() }).unwrap());
        for story in sets.chain(seeds) {
            assert_says_what_is_true(demo, &story, "with other numbers");
            for claim in &story.claims {
                let of = if claim.shown { &mut said } else { &mut left_out };
                of.insert((demo.name, claim.text.clone()));
            }
        }
    }
    // The numbers are random enough for most sentences to be true of some and untrue of others.
    assert!(said.intersection(&left_out).count() * 2 > left_out.len(), "{} {}", said.len(), left_out.len());
}

/// The numbers that stand alone in a text, so not those of names such as “8B”.
fn numbers_in(text: &str) -> impl Iterator<Item = f64> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '.');
    words.filter_map(|word| word.trim_matches('.').parse().ok())
}

/// Each given node of a demo in turn, with other numbers in it: the demo, the node's own numbers, and the story that comes of it.
fn with_each_node_replaced() -> impl Iterator<Item = (&'static Demo, Node, Story)> {
    demos().flat_map(|demo| {
        let own = demo.story(&Settings::default()).unwrap();
        let is_free = |node: &&Node| matches!(&node.op, Op::Given(origin) if !origin.is_of_model());
        let given: Vec<Node> = own.graph.nodes().map(|(_, node)| node).filter(is_free).cloned().collect();
        given.into_iter().filter_map(move |node| {
            let matrix = node.matrix().unwrap();
            let other = |factor: f64, more: f64| {
                Matrix::from_fn(matrix.rows(), matrix.cols(), |i, j| factor * matrix[(i, j)] + more)
            };
            // Not every number fits: a count is whole, and a row of one-hot numbers is no row of others.
            [other(2.0, 1.0), other(2.0, 0.0), other(0.5, 0.0), other(1.0, 1.0)]
                .into_iter()
                .find_map(|matrix| {
                    let set = [(node.name.clone(), (matrix, "--set".to_string()))].into();
                    demo.story(&Settings { set, ..Settings::default() }).ok()
                })
                .map(|story| (demo, node.clone(), story))
        })
    })
}

#[test]
fn no_labels_tell_numbers_that_the_user_has_replaced() {
    let (mut replaced, mut untrue) = (0, Vec::new());
    for (demo, own, story) in with_each_node_replaced() {
        replaced += 1;
        let before = own.matrix().unwrap();
        let after = story.graph.matrix(story.graph.require(&own.name).unwrap()).unwrap();
        let cells: Vec<f64> = before.cells().collect();
        // `2 words`, `3 words`, `5 words` above 2, 3, 5; not `key 1`, `key 2` above other numbers.
        for (labels, now) in
            [(before.row_labels(), after.row_labels()), (before.col_labels(), after.col_labels())]
        {
            let tells = |labels: &attn::matrix::Labels| {
                labels.len() == cells.len()
                    && labels
                        .iter()
                        .zip(&cells)
                        .all(|(label, cell)| numbers_in(label).any(|told| told == *cell))
            };
            if labels.is_some_and(tells) && now.is_some_and(tells) {
                untrue.push(format!("{}: {}", demo.name, own.name));
            }
        }
    }
    assert!(replaced > 200, "only {replaced}");
    assert!(untrue.is_empty(), "{untrue:?}");
}

#[test]
fn no_sentence_keeps_a_number_that_the_user_has_replaced() {
    // The largest distance in training happens to be the factor, and the number of other keys the strength.
    let chance = [("rope", "factor"), ("induction", "beta_2")];
    let mut untrue = Vec::new();
    for (demo, own, story) in with_each_node_replaced() {
        let cells: Vec<f64> = own.matrix().unwrap().cells().collect();
        // 0 and 1 are part of many formulas.
        let [number] = cells[..] else { continue };
        if [0.0, 1.0].contains(&number) {
            continue;
        }
        for claim in
            story.claims.iter().filter(|claim| claim.shown && !chance.contains(&(demo.name, &*own.name)))
        {
            // What stands between braces is filled in.
            let parts = claim.text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
            if numbers_in(&parts.collect::<String>()).any(|told| told == number) {
                untrue.push(format!("{} {}: {}", demo.name, own.name, claim.text));
            }
        }
    }
    assert!(untrue.is_empty(), "{untrue:#?}");
}

#[test]
fn no_op_of_a_demo_repeats_a_number_that_the_user_can_replace() {
    for demo in demos() {
        let story = demo.story(&Settings::default()).unwrap();
        let given = |node: &Node| match (&node.op, node.matrix()) {
            (Op::Given(Origin::Stated), Some(matrix)) => matrix.cells().collect(),
            _ => Vec::new(),
        };
        let given: Vec<f64> = story.graph.nodes().flat_map(|(_, node)| given(node)).collect();
        for (_, node) in story.graph.nodes() {
            if let Op::Scale(Factor::Number(number)) = node.op {
                // Small whole numbers are part of many formulas, and stand in many tables.
                let is_common = number.abs() <= 10.0 && number.fract() == 0.0;
                let repeats = |x: &f64| [*x, x.recip()].contains(&number);
                assert!(is_common || !given.iter().any(repeats), "{}: {number} in {}", demo.name, node.name);
            }
        }
    }
}

#[test]
fn every_step_that_may_say_something_of_its_numbers_says_it_of_the_demos_own() {
    let mut silent = Vec::new();
    for demo in demos() {
        let story = demo.story(&Settings::default()).unwrap();
        for claim in &story.claims {
            if !story.claims.iter().any(|other| other.step == claim.step && other.shown) {
                silent.push(format!("{}: {}", demo.name, claim.text));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn names_of_demos_are_unique() {
    let mut names: Vec<&str> = demos().map(|demo| demo.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), demos().count());
}

/// What the first screens used to say whatever the numbers were.
#[test]
fn what_is_said_of_saturation_and_of_positions_follows_the_numbers() {
    let notices = |settings: &Settings| -> String {
        let story = attn::demo::find("init").unwrap().story(settings).unwrap();
        story.steps.iter().filter_map(|step| step.notice.clone()).collect::<Vec<_>>().join(" ")
    };
    assert!(notices(&Settings::default()).contains("saturates"));
    let zeros = Matrix::filled(3, 4, 0.0);
    let set = [("W_Q".to_string(), (zeros, "--set".to_string()))].into();
    let zeroed = notices(&Settings { set, ..Settings::default() });
    assert!(!zeroed.contains("saturates") && zeroed.contains("close to 1/4"), "{zeroed}");
}
