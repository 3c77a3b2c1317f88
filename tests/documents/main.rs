//! What the five texts and the papers print, and what must hold for their demos: figures from elsewhere, errata, identities.

#[path = "../cases/mod.rs"]
mod cases;
#[path = "../common/mod.rs"]
mod common;
#[path = "../golden/mod.rs"]
mod golden;

mod attend;
mod demos;
mod document_000;
mod errata;
mod functions;
mod imagined;
mod legacy_stream;
mod multiplication;
mod numpy_printing;
mod one_third;
mod papers;
mod printed_figures;
mod properties;
mod side_by_side;
mod similarity;
mod terms;
mod understanding;
