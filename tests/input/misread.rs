//! What must not be read as other numbers: it is refused, or told.

use std::fs;

use crate::common::attn;
use crate::exercise::place;

/// The outcome of an exercise whose tokens are this text, in a file.
fn of_file(text: &str) -> crate::common::Outcome {
    let folder = place();
    let path = folder.path().join("x.txt");
    fs::write(&path, text).unwrap();
    attn("attend --only X --x").arg(path.display().to_string()).run()
}

#[test]
fn what_computes_with_an_array_in_brackets_is_refused() {
    for text in [
        "-[[1.5, 2], [3, 4]]",
        "-np.array([[1.5, 2], [3, 4]])",
        "−[[1.5, 2], [3, 4]]",
        "0.5 [[1.5, 2], [3, 4]]",
        "½[[1.5, 2], [3, 4]]",
        "√[[1.5, 2], [3, 4]]",
        "1e-3 × [[1.5, 2], [3, 4]]",
        "Transpose[{{1.5, 2}, {3, 4}}]",
    ] {
        let said = of_file(text);
        assert!(
            said.code == 2 && said.err.contains("nothing is computed here"),
            "{text}: {}{}",
            said.out,
            said.err
        );
    }
    for text in [
        "Q = [[1.5, 2], [3, 4]]",
        "vec![[1.5, 2.0], [3.0, 4.0]]",
        "Float64[1.5 2; 3 4]",
        "- [1.5, 2]\n- [3, 4]",
    ] {
        let said = of_file(text);
        assert!(said.code == 0 && said.out.contains("X (2×2)"), "{text}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_number_that_is_mistyped_is_no_name_of_a_row_or_a_column() {
    for text in [
        "1'500.0 2'250.0\n3 4\n5 6\n",
        "1.5f 2.5f\n3 4\n",
        "$1.5 $2.5\n3 4\n",
        "1.5±0.1 2\n3 4\n",
        "1'000 2 3\n4 5 6\n",
    ] {
        let said = of_file(text);
        assert!(said.code == 2 && said.err.contains("is not a number"), "{text}: {}{}", said.out, said.err);
    }
    let named = of_file("day,2nd,3D\n1.5.2024,0.5,1\n2.5.2024,2,3\n");
    assert!(named.code == 0 && named.out.contains("1.5.2024"), "{}{}", named.out, named.err);
}

#[test]
fn commands_of_latex_that_change_a_number_are_refused_and_short_fractions_are_read() {
    let table = |cell: &str| format!("\\begin{{bmatrix}} {cell} & 2 \\\\ 3 & 4 \\end{{bmatrix}}\n");
    for cell in ["\\sqrt{4}", "0.\\overline{3}", "\\hat{2}"] {
        let said = of_file(&table(cell));
        assert!(said.code == 2 && said.err.contains("is not a number"), "{cell}: {}{}", said.out, said.err);
    }
    for (cell, shown) in [("\\frac12", "0.5"), ("-\\dfrac34", "-0.75"), ("\\mathbf{0.25}", "0.25")] {
        let said = of_file(&table(cell));
        assert!(said.code == 0 && said.out.contains(shown), "{cell}: {}{}", said.out, said.err);
    }
}

#[test]
fn lines_with_semicolons_are_the_same_numbers_in_an_argument_and_in_a_file() {
    for (text, first) in
        [("1,5;2,25\n3,5;4,5", "1.50   2.25"), ("1.5;2.5\n3;4", "1.5   2.5"), ("1 2;\n3 4", "1   2")]
    {
        for said in [of_file(text), attn("attend --only X --x").arg(text).run()] {
            assert!(
                said.code == 0 && said.out.contains("X (2×2)") && said.out.contains(first),
                "{text}: {}{}",
                said.out,
                said.err
            );
        }
    }
}
