//! The fast path from the command line: equal numbers, files read without conversion, `--fast` and `attn bench`.

mod bench;
mod bench_screen;
mod exact;
mod files;
mod screen;
