//! The examples print what they say.

#[path = "../../examples/diagnose_a_result.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod diagnose_a_result;

#[path = "../../examples/soft_capped.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod soft_capped;

#[test]
fn a_variant_of_ones_own_is_built_told_and_explained() {
    let mut out = Vec::new();
    soft_capped::write(&mut out).expect("shapes that fit");
    let out = String::from_utf8(out).expect("UTF-8");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[3], "S_capped (3×3) = 5 · tanh(S_scaled (3×3) / 5)");
    assert_eq!(lines[6], "S_capped[cave,bat] = 5·tanh(s_scaled[2,1] / 5)");
    assert_eq!(lines[7], "  = 5·tanh(8.48528137423857 / 5)");
    // 5 * numpy.tanh(12 / numpy.sqrt(2) / 5)
    let last: f64 = lines[lines.len() - 1].trim_start_matches("  = ").parse().expect("a number");
    assert!((last - 4.675_200_304_340_155).abs() < 1e-12, "{last}");
}

#[test]
fn a_wrong_result_is_diagnosed_and_told_through_the_library() {
    let mut out = Vec::new();
    diagnose_a_result::write(&mut out).expect("shapes that fit");
    let out = String::from_utf8(out).expect("UTF-8");
    let headline =
        "O is wrong, from O[1,1] on. The scores were not divided by √d_k before the\nsoftmax. [no-scale]\n";
    assert!(out.starts_with(headline), "{out}");
    assert!(out.contains("To fix it: "), "{out}");
}
