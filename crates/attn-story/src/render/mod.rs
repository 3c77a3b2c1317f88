//! The look of a story that every format shares, and pages in HTML.

pub mod digits;
pub mod document;
pub mod explanation;
pub mod heat;
pub mod html;
pub mod html_heads;
pub mod html_page;
mod html_plane;
pub mod numpy;
pub mod plane;
pub mod style;
pub mod view;

pub use digits::number_alone;
pub use explanation::{CellLines, Derivation, cell_lines_to};
pub use heat::{Heat, Theme};
pub use html_heads::{ModelPage, PageToken, model_page};
pub use html_page::base64;
pub use style::{Charset, Format, Page, Screen, Style};
