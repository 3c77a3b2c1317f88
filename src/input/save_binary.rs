//! Writing matrices in binary: `.npy`, `.npz` and `.safetensors`.

use std::io::{BufWriter, Seek, Write};

use ::safetensors::SafeTensorError;
use ::safetensors::tensor::TensorView;
use npyz::WriterBuilder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::tensor::Dtype;

use super::draft::WriteResult;
use super::names::TOKENS;
use super::table::{Table, cells};

pub(super) fn npy(out: &mut dyn Write, table: &dyn Table) -> WriteResult {
    match table.dtype() {
        // An f32 is converted to f64 and back without loss.
        // Of a half type every number is one of f32.
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => npy_of(out, table, |x| x as f32),
        Dtype::F64 => npy_of(out, table, |x| x),
        Dtype::Bool => npy_of(out, table, |x| x != 0.0),
    }
}

fn npy_of<T: npyz::AutoSerialize>(out: &mut dyn Write, table: &dyn Table, cell: fn(f64) -> T) -> WriteResult {
    let shape = table.shape();
    let mut buffered = BufWriter::with_capacity(1 << 16, out);
    let options = npyz::WriteOptions::new().default_dtype().shape(&[shape.rows as u64, shape.cols as u64]);
    let mut writer = options.writer(&mut buffered).begin_nd()?;
    for i in 0..shape.rows {
        writer.extend((0..shape.cols).map(|j| cell(table.at(i, j))))?;
    }
    writer.finish()?;
    buffered.flush()?;
    Ok(())
}

/// Text of fixed width, padded with zeros, as NumPy stores an array of `str`: `<U6`.
fn npy_words(out: &mut dyn Write, words: &[String]) -> WriteResult {
    /// Bytes of the magic, version 1.0 and the length of the header; the data begin at a multiple of 64.
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
    tables: &[(&str, &dyn Table)],
) -> WriteResult {
    // A fixed date: the same matrix gives the same bytes.
    let bytes = |table: &dyn Table| table.shape().rows as u64 * table.shape().cols as u64 * 8;
    let options = SimpleFileOptions::default()
        .large_file(tables.iter().any(|(_, table)| bytes(*table) >= 1 << 32))
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(out);
    for (name, table) in tables {
        archive.start_file(format!("{name}.npy"), options)?;
        npy(&mut archive, *table)?;
    }
    if let Some(tokens) = tokens {
        archive.start_file(format!("{TOKENS}.npy"), options)?;
        npy_words(&mut archive, tokens)?;
    }
    archive.finish()?;
    Ok(())
}

pub(super) fn safetensors(out: &mut dyn Write, tables: &[(&str, &dyn Table)]) -> WriteResult {
    let stored: Vec<(::safetensors::Dtype, Vec<u8>)> =
        tables.iter().map(|(_, table)| typed_bytes(*table)).collect();
    let views = tables.iter().zip(&stored).map(|((name, table), (dtype, bytes))| {
        let shape = table.shape();
        Ok((*name, TensorView::new(*dtype, vec![shape.rows, shape.cols], bytes)?))
    });
    let views: Vec<(&str, TensorView<'_>)> = views.collect::<std::result::Result<_, SafeTensorError>>()?;
    out.write_all(&::safetensors::serialize(views, None)?)?;
    Ok(())
}

/// The numbers of a table in their type.
fn typed_bytes(table: &dyn Table) -> (::safetensors::Dtype, Vec<u8>) {
    let cells = cells(table);
    match table.dtype() {
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => {
            (::safetensors::Dtype::F32, cells.flat_map(|x| (x as f32).to_le_bytes()).collect())
        }
        Dtype::F64 => (::safetensors::Dtype::F64, cells.flat_map(f64::to_le_bytes).collect()),
        Dtype::Bool => (::safetensors::Dtype::BOOL, cells.map(|x| u8::from(x != 0.0)).collect()),
    }
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
