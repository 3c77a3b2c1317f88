//! Writing matrices in binary: `.npy`, `.npz` and `.safetensors`.

use std::io::{BufWriter, Seek, Write};

use ::safetensors::Dtype;
use ::safetensors::tensor::TensorView;
use npyz::WriterBuilder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::matrix::Matrix;

use super::names::TOKENS;
use super::save::Written;

pub(super) fn npy(out: &mut dyn Write, matrix: &Matrix) -> Written {
    let shape = [matrix.rows() as u64, matrix.cols() as u64];
    let mut buffered = BufWriter::new(out);
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut buffered).begin_nd()?;
    writer.extend(matrix.cells())?;
    writer.finish()?;
    buffered.flush()?;
    Ok(())
}

/// Text of fixed width, padded with zeros, as NumPy stores an array of `str`: `<U6`.
fn npy_words(out: &mut dyn Write, words: &[String]) -> Written {
    /// Magic, version 1.0 and the length of what follows take so many bytes; the data begin at a multiple of 64.
    const BEFORE: usize = 10;
    let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    let mut header =
        format!("{{'descr': '<U{width}', 'fortran_order': False, 'shape': ({},), }}", words.len());
    while !(BEFORE + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for word in words {
        let padded = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        out.write_all(&padded.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    Ok(())
}

pub(super) fn npz(
    out: impl Write + Seek,
    tokens: Option<&[String]>,
    matrices: &[(&str, &Matrix)],
) -> Written {
    // A fixed date: the same matrix gives the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(out);
    for (name, matrix) in matrices {
        archive.start_file(format!("{name}.npy"), options)?;
        npy(&mut archive, matrix)?;
    }
    if let Some(tokens) = tokens {
        archive.start_file(format!("{TOKENS}.npy"), options)?;
        npy_words(&mut archive, tokens)?;
    }
    archive.finish()?;
    Ok(())
}

pub(super) fn safetensors(out: &mut dyn Write, name: &str, matrix: &Matrix) -> Written {
    let bytes: Vec<u8> = matrix.cells().flat_map(f64::to_le_bytes).collect();
    let tensor = TensorView::new(Dtype::F64, vec![matrix.rows(), matrix.cols()], &bytes)?;
    out.write_all(&::safetensors::serialize([(name, &tensor)], None)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stored_as_numpy_stores_them() {
        // np.save(file, np.array(["bat", "höh"])), NumPy 2.4.6
        let header = b"\x93NUMPY\x01\x00v\x00{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }";
        let mut expected = header.to_vec();
        expected.resize(127, b' ');
        expected.push(b'\n');
        expected.extend("bathöh".chars().flat_map(|c| u32::from(c).to_le_bytes()));
        let mut written = Vec::new();
        npy_words(&mut written, &["bat".to_string(), "höh".to_string()]).unwrap();
        assert_eq!(written, expected);
    }
}
