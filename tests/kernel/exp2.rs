//! exp2
