//! Files that are not read: what each is, and the one line that converts it.

use crate::error::{Error, Result};

use super::open::Input;

/// How a file of HDF5 begins, and so one of MATLAB 7.3.
pub(super) const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The line that converts a file in Python: what is imported, and the array that the file becomes.
pub(super) fn python(name: &str, imports: &str, array: impl Fn(&str) -> String) -> String {
    // A name that would end the quotation is not repeated.
    let is_plain = !name.contains(['\'', '"', '`', '$', '\\']) && !name.contains(char::is_control);
    let file = if is_plain { format!("\'{name}\'") } else { "\'FILE\'".to_string() };
    format!("python3 -c \"{imports}; numpy.save('converted.npy', {})\"", array(&file))
}

/// The error for a zip archive without arrays.
pub(super) fn of_zip(name: &str) -> Error {
    Error::new("this is a zip archive, and no .npz, .xlsx or .pt file").in_source(name).help(
        "unpack it, and give the file with the numbers; save a sheet of another program as .xlsx or .csv",
    )
}

/// Checks how a file begins that is of no kind that is read in binary.
///
/// # Errors
/// If it is no text: what it is, and the line that converts it.
pub(super) fn check(start: &[u8], input: &Input) -> Result<()> {
    let name = &input.name;
    let ending = input.ending.as_deref().unwrap_or_default();
    let is = |magic: &[u8]| start.starts_with(magic);
    let pandas = |reader: &str| {
        python(name, "import numpy, pandas", |file| format!("pandas.{reader}({file}).to_numpy()"))
    };
    let (what, help) = if is(HDF5) && ending == "mat" || start.get(124..126) == Some(&[0, 2]) && is(b"MATLAB")
    {
        (
            "a MATLAB file of version 7.3",
            "in MATLAB, save it in the older form: save(\"q.mat\", \"Q\", \"-v7\")".to_string(),
        )
    } else if is(HDF5) {
        let help = python(name, "import h5py, numpy", |file| format!("h5py.File({file})['Q'][()]"));
        ("an HDF5 file", format!("{help} (in place of Q the name of the data set)"))
    } else if is(b"PAR1") {
        ("a Parquet file", pandas("read_parquet"))
    } else if is(b"ARROW1") || is(b"FEA1") {
        ("a Feather file", pandas("read_feather"))
    } else if is(b"\xd0\xcf\x11\xe0") {
        ("an old Excel workbook (.xls)", pandas("read_excel"))
    } else if is(b"RDX") || is(b"X\n\0\0") || is(b"A\n") && ending == "rds" {
        ("a file of R", "in R: write.csv(q, \"q.csv\", row.names = FALSE)".to_string())
    } else if is(b"BZh") || is(b"\xfd7zXZ") || is(b"\x28\xb5\x2f\xfd") {
        let [bzip, xz] = [is(b"BZh"), is(b"\xfd")];
        let program = if bzip {
            "bunzip2"
        } else if xz {
            "unxz"
        } else {
            "unzstd"
        };
        ("packed by another program than gzip", format!("unpack it first: {program} --keep FILE"))
    } else if is(b"GGUF") {
        ("a model in GGUF", "attn reads models as .safetensors: download them in that form".to_string())
    } else if is(b"%PDF") || is(b"\x89PNG") || is(b"\xff\xd8\xff") || is(b"GIF8") {
        ("a picture or a PDF", "copy its numbers into a text: 1 2; 3 4".to_string())
    } else if !is_binary(start)
        && [
            "xlsx", "mat", "pt", "pth", "ckpt", "pkl", "pickle", "h5", "hdf5", "parquet", "feather", "xls",
            "rds",
        ]
        .contains(&ending)
    {
        let what = format!("this is text, and no .{ending} file");
        return Err(Error::new(what)
            .in_source(name)
            .help("if it is a text of numbers, give it the ending .txt"));
    } else if is_binary(start) {
        let help =
            python(name, "import numpy", |file| format!("numpy.fromfile({file}, 'float64').reshape(3, 4)"));
        (
            "binary, and of no known kind",
            format!("if it holds numbers alone, with their type and shape: {help}"),
        )
    } else {
        return Ok(());
    };
    Err(Error::new(format!("this file is {what}, which is not read")).in_source(name).help(help))
}

/// Whether bytes are no text: they have control characters, and are no UTF-16.
fn is_binary(start: &[u8]) -> bool {
    let odd = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    let is_utf_16 = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    let zeros = start.iter().filter(|&&byte| byte == 0).count();
    !is_utf_16 && start.iter().any(odd) && zeros * 2 != start.len() / 2 * 2
}
