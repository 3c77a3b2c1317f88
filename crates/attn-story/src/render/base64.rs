//! Numbers as base64: their bytes, the lowest first, in text that a page can hold.

use crate::tensor::{Dtype, Tensor};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base64, padded.
pub fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(encoded_length(bytes.len()));
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The length of the text for this number of bytes.
pub fn encoded_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// The numbers of a tensor row by row: in f32 where it has f32, else in f64, which no number of a smaller type changes.
pub fn numbers(tensor: &Tensor) -> String {
    let shape = tensor.shape();
    let all = || (0..shape.rows).flat_map(|i| (0..shape.cols).map(move |j| tensor.at(i, j)));
    let bytes: Vec<u8> = if is_single(tensor) {
        all().flat_map(|x| (x as f32).to_le_bytes()).collect()
    } else {
        all().flat_map(f64::to_le_bytes).collect()
    };
    encoded(&bytes)
}

/// Returns true if the numbers of a tensor are written in f32.
pub fn is_single(tensor: &Tensor) -> bool {
    tensor.dtype() == Dtype::F32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
            assert_eq!(encoded_length(bytes.len()), text.len());
        }
    }

    #[test]
    fn numbers_stand_row_by_row_in_their_type() {
        use crate::matrix::Matrix;
        // 1.0 is 0x3ff0_0000_0000_0000.
        let exact = Tensor::from(Matrix::of([[1.0]]));
        assert_eq!((numbers(&exact).as_str(), is_single(&exact)), ("AAAAAAAA8D8=", false));
        // 1.0 is 0x3f80_0000, 2.0 is 0x4000_0000.
        let single = Tensor::rounded::<f32>(&Matrix::of([[1.0, 2.0]])).unwrap();
        assert_eq!((numbers(&single).as_str(), is_single(&single)), ("AACAPwAAAEA=", true));
    }
}
