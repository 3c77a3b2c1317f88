//! The text after the brackets of an array that `repr` has printed: `, dtype=float32)`, `, grad_fn=<MmBackward0>)`.

use crate::error::{Error, Result};

use crate::text::clip;

/// Arguments between the brackets and the closing parenthesis, as `name=value`. None of them changes a number.
const NAMES: [&str; 9] =
    ["dtype", "shape", "size", "device", "grad_fn", "requires_grad", "layout", "names", "copy"];

/// The modules in which Python's packages have their types.
const MODULES: [&str; 7] = ["torch.", "np.", "numpy.", "jnp.", "jax.numpy.", "ml_dtypes.", ""];

/// Types of real numbers and truth values as NumPy, PyTorch and JAX name them, and the sizes, in bits, that each is written
/// with; 0 stands for none.
const TYPES: [(&str, &[u32]); 21] = [
    ("float", &[0, 16, 32, 64, 96, 128]),
    ("bfloat", &[16]),
    ("int", &[0, 8, 16, 32, 64]),
    ("uint", &[0, 8, 16, 32, 64]),
    ("bool", &[0]),
    ("bool_", &[0]),
    ("half", &[0]),
    ("single", &[0]),
    ("double", &[0]),
    ("longdouble", &[0]),
    ("float_", &[0]),
    ("int_", &[0]),
    ("long", &[0]),
    ("short", &[0]),
    ("byte", &[0]),
    ("ubyte", &[0]),
    ("ushort", &[0]),
    ("intc", &[0]),
    ("uintc", &[0]),
    ("longlong", &[0]),
    ("ulonglong", &[0]),
];

/// Types of eight bits, of which the size is not the end: how many bits the exponent and the fraction have follows.
const SMALL_FLOATS: [&str; 5] =
    ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz"];

/// NumPy's letters for types with another order of bytes, and their sizes in bytes: `'>f8'`.
const LETTERS: [(&str, &[u32]); 4] =
    [("f", &[2, 4, 8, 12, 16]), ("i", &[1, 2, 4, 8]), ("u", &[1, 2, 4, 8]), ("b", &[1])];

/// The text after the parenthesis that closes the array; `None` if there is no such parenthesis.
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

/// The length of the value at the start of a text: `float32`, `torch.float32`, `'<f4'`, `(2, 3)`, `<AddBackward0>`.
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

/// True if a type is one of real numbers or truth values, as a package names it.
fn is_real(dtype: &str) -> bool {
    let bare =
        ['\'', '"'].iter().find_map(|&mark| dtype.strip_prefix(mark)?.strip_suffix(mark)).unwrap_or(dtype);
    let is_one_of = |types: &[(&str, &[u32])], name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        let size = if digits.is_empty() {
            Some(0)
        } else {
            digits.parse().ok().filter(|_| !digits.starts_with('0'))
        };
        types.iter().any(|(of, sizes)| *of == stem && size.is_some_and(|size| sizes.contains(&size)))
    };
    let name = MODULES.iter().find_map(|module| bare.strip_prefix(module)).unwrap_or(bare);
    let in_bytes = bare.strip_prefix(['<', '>', '=', '|']).unwrap_or(bare);
    SMALL_FLOATS.contains(&name) || is_one_of(&TYPES, name) || is_one_of(&LETTERS, in_bytes)
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
            ", dtype=np.float16)",
            ", dtype='>f8')",
            ", dtype=torch.float8_e4m3fn)",
            ", dtype=longdouble)",
            ", dtype=torch.long)",
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
        for dtype in ["complex64", "torch.complex128", "'<c16'", "object", "'<U5'", "datetime64"]
            .into_iter()
            // No package has these.
            .chain(["torch1:a.float64", "a.float64", "torch.float65", "float064", "f3", "torch.float8_x"])
        {
            let said = close(&format!(", dtype={dtype})")).unwrap_err().to_string();
            assert!(said.contains("have the type"), "{said}");
        }
    }
}
