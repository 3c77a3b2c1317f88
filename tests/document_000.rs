//! The output of document 000's demos contains every array that the document prints, byte for byte.

mod common;
mod golden;

use common::attn;

#[test]
fn every_printed_array_of_the_document_comes_out_byte_for_byte() {
    let out = attn("demo --document 000 --format numpy").ok().out;
    let printed = golden::text("document_000_printed.txt");
    let arrays: Vec<&str> =
        printed.split("---\n").map(str::trim_end).filter(|array| !array.is_empty()).collect();
    assert!(arrays.len() >= 20, "only {} arrays", arrays.len());
    for array in arrays {
        assert!(out.contains(array), "this array does not come out:\n{array}");
    }
}

#[test]
fn each_demo_prints_the_documents_arrays_also_when_it_runs_alone() {
    let golden = golden::json("document_000.json");
    let mut checked = 0;
    for array in golden::list(&golden, "matrices") {
        if array["printed"] != true {
            continue;
        }
        let name = golden::string(array, "demo");
        let out = attn("demo").arg(name).arg("--format=numpy").ok().out;
        assert!(out.contains(golden::string(array, "text")), "demo {name} lacks {}", array["name"]);
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} arrays");
}
