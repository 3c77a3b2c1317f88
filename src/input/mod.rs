//! Everything that a user can give, read into matrices: files, standard input, and matrices typed in place.
//!
//! The way through: what was typed becomes a [`Source`]; its content becomes an [`crate::read::Array`] (or, for a file of several
//! matrices, a [`Bundle`] of them), and that a [`crate::matrix::Matrix`]. Nothing outside this module opens a file that
//! a user named. No number in a header reserves memory, a file is only read where reading it will end, and every
//! refusal says where.

mod bundle;
mod cell_type;
mod container;
mod draft;
mod files;
mod layers;
mod matlab;
mod model_folder;
mod npy;
mod open;
mod pickle;
mod remedy;
mod safetensors;
mod save;
mod save_model;
mod source;
mod words;
mod workbook;

pub mod system;

pub use bundle::{Bundle, Entry};
pub use container::ReadOptions;
pub use draft::target;
pub use files::{Files, FolderEntry, folder};
pub use layers::{LayerOptions, Layout};
pub use model_folder::{
    ConfigFile, MaskToken, ModelFile, ModelFolder, StoredEntry, StoredTensors, WORDS, check_not_quantised,
};
pub use safetensors::stored;
pub use save::{
    GrowingText, PutOutcome, Rows, Table, WritePermission, check_bundle_ending, check_ending, check_folder,
    check_place, delimited_text, files_ending, is_folder, make_folder, put_files, put_new_files, read_text,
    save, save_bundle, save_text, table, write_text,
};
pub use save_model::{ModelDraft, ModelFiles, NamedTensors, check_model_folder, holds_small_model};
pub use source::{BUNDLED, Bounds, BundledFile, ReadPermission, Source, exists};
pub use words::{WordVectors, invented, label_list, sentence};
