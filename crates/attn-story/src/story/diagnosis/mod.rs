//! A [`Diagnosis`](crate::diagnose::Diagnosis) in sentences and tables: the report on one submission, the rows and totals of a
//! batch, the catalogue of mistakes, and a suggested input.

mod catalogue;
mod cells;
mod evidence;
mod file_result;
mod first_wrong_cell;
mod headline;
mod mistakes;
mod notes;
mod precision;
mod report;
mod suggested_input;
mod table;
mod tally;

pub use catalogue::{mistake, mistakes, mistakes_in_full};
pub use file_result::{FileResult, FileRow};
pub use report::{detailed_report, report};
pub use suggested_input::suggested_input;
pub use tally::Tally;
