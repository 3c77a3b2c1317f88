//! The look of a story that every format shares, and pages in HTML.

pub mod base64;
pub mod cell_lines;
pub mod charset;
pub mod digits;
pub mod document;
pub mod explained;
pub mod heat;
pub mod html;
mod html_explained;
pub mod html_heads;
mod html_heads_data;
mod html_operands;
pub mod html_page;
mod html_plane;
mod html_sources;
mod html_table;
pub mod names;
pub mod numpy;
pub mod page;
pub mod palette;
pub mod plane;
pub mod rounding;
pub mod screen;
pub mod style;
pub mod theme;
pub mod view;
pub mod viewer;

pub use base64::encoded as base64;
pub use cell_lines::{CellLines, cell_lines};
pub use charset::Charset;
pub use heat::Heat;
pub use html_heads::{ModelPage, PageToken, model_page};
pub use page::Page;
pub use screen::Screen;
pub use style::{Format, Style};
pub use theme::Theme;
