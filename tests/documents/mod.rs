//! The figures of the five texts and the papers, and the claims of their demos: independent figures, errata, identities.

mod attend;
mod demo_numbers;
mod demos;
mod document_000;
mod errata;
mod functions;
mod gradient_demos;
mod gradients;
mod imagined;
mod induction;
mod legacy_stream;
mod mechanism_demos_1;
mod mechanism_demos_2;
mod mechanism_properties;
mod mechanisms;
mod multiplication;
mod numpy_printing;
mod one_third;
mod papers;
mod printed_figures;
mod properties;
mod side_by_side;
mod similarity;
mod terms;
mod trained;
mod understanding;
