//! Everything that comes from outside: files, text, and NumPy's random stream.

pub mod random;
