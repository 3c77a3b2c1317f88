//! What holds for every demo: its terms give the recorded bits, its sentences find their numbers, its steps show nodes.

use attn::demo::{Settings, demos};
use attn::graph::CellId;

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

#[test]
fn every_demo_runs_again_on_the_users_numbers_without_remarks_about_its_own() {
    for demo in demos() {
        let story = demo.story(&Settings::default()).unwrap();
        for (_, node) in story.graph.nodes().filter(|(_, node)| node.op.is_given()) {
            let doubled = node.matrix().unwrap().map(|x| 2.0 * x);
            let set = [(node.name.clone(), (doubled, "--set".to_string()))].into();
            let again = demo.story(&Settings { set, seed: None }).unwrap();
            assert!(again.steps.iter().all(|step| step.notice.is_none()), "{} keeps a remark", demo.name);
        }
    }
}

#[test]
fn names_of_demos_are_unique() {
    let mut names: Vec<&str> = demos().map(|demo| demo.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), demos().count());
}
