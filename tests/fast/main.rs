//! The fast path from the command line: equal numbers, files read without conversion, `--fast` and `attn bench`.

#[path = "../cases/mod.rs"]
mod cases;
#[path = "../common/mod.rs"]
mod common;
#[path = "../golden/mod.rs"]
mod golden;

mod bench;
mod bench_screen;
mod exact;
mod files;
mod screen;
