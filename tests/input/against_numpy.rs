//! Files in NumPy's formats, ordinary and odd: attn reads what NumPy reads, to the same numbers, and refuses what NumPy refuses.
//! `numpy_reads.py` has made them, and has asked NumPy.

use std::fs;

use attn::input::Files;
use attn::read::AllowedNumbers;
use serde_json::Value;

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

#[test]
fn what_numpy_reads_is_read_to_the_same_numbers_and_what_it_refuses_is_refused() {
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/input/numpy_reads.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut read, mut refused, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let what = case["what"].as_str().unwrap();
        let path = folder.path().join(case["name"].as_str().unwrap());
        fs::write(&path, bytes(case["bytes"].as_str().unwrap())).unwrap();
        let array = Files::new(&mut std::io::empty()).array(path.to_str().unwrap(), AllowedNumbers::ANYTHING);
        let expected = match &case["numpy"] {
            Value::Object(found) if case.get("stricter").is_none() => found,
            _ => {
                refused += 1;
                wrong.extend(array.is_ok().then(|| format!("{what}: read")));
                continue;
            }
        };
        read += 1;
        let array = match array {
            Ok(array) => array,
            Err(error) => {
                wrong.push(format!("{what}: {error}"));
                continue;
            }
        };
        let dims: Vec<u64> = array.dims().iter().map(|&side| side as u64).collect();
        let numbers = expected["numbers"].as_array().unwrap().iter();
        let numbers = numbers.map(|x| f64::from_bits(u64::from_str_radix(x.as_str().unwrap(), 16).unwrap()));
        let same = numbers.eq_by_bits(array.values());
        if Value::from(dims) != expected["dims"] || !same {
            wrong.push(format!("{what}: {:?}", array.values()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read > 200 && refused > 200, "{read} read, {refused} refused");
}

/// Numbers that are the same, NaN and signs of zeros included.
trait SameNumbers {
    fn eq_by_bits(self, numbers: &[f64]) -> bool;
}

impl<I: ExactSizeIterator<Item = f64>> SameNumbers for I {
    fn eq_by_bits(self, numbers: &[f64]) -> bool {
        let same = |(a, b): (f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        self.len() == numbers.len() && self.zip(numbers).all(same)
    }
}
