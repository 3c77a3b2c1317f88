//! What heads attend to: the figures that NumPy takes from the patterns of `transformers` (tests/golden/head_measures.py).

use serde_json::Value;

use crate::common::attn;

#[test]
fn the_scores_of_heads_are_the_mean_weights_and_the_shares_without_key_1_stand_beside_them() {
    let golden: Value = serde_json::from_str(include_str!("../golden/head_measures.json")).unwrap();
    let mut compared = 0;
    for case in golden.as_array().unwrap() {
        let folder = case["model"].as_str().unwrap();
        // Rotary positions are single precision in transformers.
        let (folder, near) = match folder {
            "models/words" => ("words", 1e-9),
            "tests/models/qwen3-a" => (folder, 1e-6),
            other => (other, 1e-9),
        };
        let ids: Vec<String> = case["ids"].as_array().unwrap().iter().map(Value::to_string).collect();
        let command = format!("model {folder} --ids {} --dtype f64 --format json", ids.join(","));
        let shown: Value = serde_json::from_str(&attn(&command).ok().out).unwrap();
        let tables = shown["tables"].as_array().unwrap();
        let rows = &tables.iter().find(|table| table["title"] == "Heads").unwrap()["rows"];
        let heads = case["heads"].as_array().unwrap().iter().flat_map(|layer| layer.as_array().unwrap());
        let mut count = 0;
        for (row, head) in rows.as_array().unwrap().iter().zip(heads) {
            let mut named = None;
            for (place, figures) in head.as_object().unwrap() {
                let share = format!("{place}, share without key 1");
                for (column, expected) in [(place, &figures[0]), (&share, &figures[1])] {
                    let (found, expected) = (row[column].as_f64(), expected.as_f64());
                    let is_near = match (found, expected) {
                        (Some(found), Some(expected)) => (found - expected).abs() < near,
                        (found, expected) => found == expected,
                    };
                    assert!(is_near, "{command}: {} {column}: {found:?}, {expected:?}", row["usual name"]);
                    compared += 1;
                }
                let mean = figures[0].as_f64().unwrap_or(0.0);
                if named.is_none_or(|(_, most)| mean > most) {
                    named = Some((place, mean));
                }
            }
            // A head has the name of its largest mean, where that is large enough and rests on two queries.
            if let Some((place, mean)) = named.filter(|(_, mean)| *mean >= 0.4)
                && row["queries of induction"].as_u64().is_some_and(|queries| queries != 1)
            {
                assert_eq!(row["attends to"], **place, "{command}: {}", row["usual name"]);
                assert!((row["mean weight"].as_f64().unwrap() - mean).abs() < near);
            }
            count += 1;
        }
        assert_eq!(count, rows.as_array().unwrap().len());
    }
    assert!(compared > 400, "{compared}");
}
