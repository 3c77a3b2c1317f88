//! What stands behind the brackets of an array that `repr` has printed: `, dtype=float32)`, `, grad_fn=<MmBackward0>)`.

use crate::error::{Error, Result};

use crate::text::clip;

/// What may stand between the brackets and the closing parenthesis, as `name=value`. None of them changes a number.
const NAMES: [&str; 9] =
    ["dtype", "shape", "size", "device", "grad_fn", "requires_grad", "layout", "names", "copy"];

/// Real numbers and truth values, as NumPy, PyTorch and JAX name their types; a size may follow.
const TYPES: [&str; 14] = [
    "float",
    "double",
    "single",
    "half",
    "bfloat",
    "longdouble",
    "int",
    "uint",
    "long",
    "short",
    "bool",
    "f",
    "i",
    "u",
];

/// What stands behind the parenthesis that closes the array; `None` where none does.
///
/// # Errors
/// If the numbers are of a type that is not read, such as complex ones.
pub(super) fn close(text: &str) -> Result<Option<&str>> {
    let mut rest = text.trim_start();
    loop {
        if let Some(behind) = rest.strip_prefix(')') {
            return Ok(Some(behind.trim()));
        }
        let Some(part) = rest.strip_prefix(',') else { return Ok(None) };
        rest = part.trim_start();
        if rest.starts_with(')') {
            continue;
        }
        let Some((name, value)) = rest.split_once('=').filter(|(name, _)| NAMES.contains(&name.trim()))
        else {
            return Ok(None);
        };
        let value = value.trim_start();
        let Some(length) = length_of(value) else { return Ok(None) };
        if name.trim() == "dtype" && !is_real(&value[..length]) {
            return Err(Error::new(format!("the numbers have the type {}", clip(&value[..length])))
                .help("print real numbers, for example array.real or array.astype(float)"));
        }
        rest = value[length..].trim_start();
    }
}

/// How long the value is with which a text begins: `float32`, `torch.float32`, `'<f4'`, `(2, 3)`, `<AddBackward0>`.
fn length_of(text: &str) -> Option<usize> {
    let until = |end: char| text[1..].find(end).map(|at| at + 1 + end.len_utf8());
    match text.chars().next()? {
        mark @ ('\'' | '"') => until(mark),
        '<' => until('>'),
        '(' => until(')'),
        '[' => until(']'),
        _ => Some(
            text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))).unwrap_or(text.len()),
        )
        .filter(|&length| length > 0),
    }
}

/// Whether a type is one of real numbers or truth values.
fn is_real(dtype: &str) -> bool {
    let name = dtype.trim_matches(['\'', '"']).trim_start_matches(['<', '>', '=', '|']);
    let name = name.rsplit('.').next().unwrap_or(name);
    let stem = name.split(|c: char| c.is_ascii_digit() || c == '_').next().unwrap_or(name);
    TYPES.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_prints_behind_an_array_closes_it() {
        for text in [
            ")",
            " )\n",
            ",)",
            ", dtype=float32)",
            ", dtype='<f4')",
            ", dtype=torch.float64, grad_fn=<MmBackward0>)",
            ", device='cuda:0', dtype=torch.bfloat16,\n       requires_grad=True)",
            ", shape=(1000, 1000), dtype=int64)",
            ", size=(0, 3))",
            ", dtype=bool)",
        ] {
            assert_eq!(close(text).unwrap(), Some(""), "{text}");
        }
    }

    #[test]
    fn what_stands_behind_that_is_given_back() {
        assert_eq!(close("), tensor([[3, 4]])").unwrap(), Some(", tensor([[3, 4]])"));
        assert_eq!(close(")\narray([[9, 9]])").unwrap(), Some("array([[9, 9]])"));
        for text in
            [" garbage)", "", ",", ", 3)", ", other=3)", ", [1, 2])", ", dtype=)", ", dtype='f8)", "]"]
        {
            assert_eq!(close(text).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn complex_numbers_and_objects_are_refused() {
        for dtype in ["complex64", "torch.complex128", "'<c16'", "object", "'<U5'", "datetime64"] {
            let said = close(&format!(", dtype={dtype})")).unwrap_err().to_string();
            assert!(said.contains("have the type"), "{said}");
        }
    }
}
