//! A [`Diagnosis`](crate::diagnose::Diagnosis) in sentences and tables: the report on one submission, the rows and totals of a
//! batch, the catalogue of mistakes, and a suggested input.

mod catalogue;
mod evidence;
mod file_result;
mod mistakes;
mod report;

pub use catalogue::{mistake, mistakes, mistakes_in_full, suggested_input};
pub use file_result::{FileResult, FileRow, Tally};
pub use report::{PageReport, detailed_report, page_report, report};
