//! `attn diagnose`: independently made mistakes are named, and correct answers are not called wrong.

mod batch;
mod coincidences;
mod command;
mod field;
mod gradient_command;
mod gradient_slips;
mod handed_in;
mod innocent;
mod mechanism_command;
mod mechanism_slips;
mod mechanism_words;
mod more_names;
mod names;
mod operators;
mod own_mistakes;
mod reviewed_slips;
mod robust;
mod sentences;
mod steps;
mod suggest;
mod table;
mod walk;
