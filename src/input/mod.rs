//! Everything that a user can give, read into matrices: files, standard input, and matrices typed in place.
//!
//! The way through: what was typed becomes a [`Source`]; its content becomes an [`Array`] (or, for a file of several
//! matrices, a [`Bundle`] of them), and that a [`crate::matrix::Matrix`]. Nothing outside this module opens a file that
//! a user named. No number in a header reserves memory, a file is only read where reading it will end, and every
//! refusal says where.

mod allowed_numbers;
mod array;
mod bundle;
mod bundled;
mod cell_type;
mod cells;
mod comments;
mod container;
mod delimited;
mod delimited_labels;
mod dims;
mod draft;
mod embeddings;
mod files;
mod folder;
mod folder_draft;
mod inline;
mod item;
mod json;
mod json_document;
mod json_list;
mod json_value;
mod json_words;
mod layers;
mod letters;
mod limit;
mod lines;
mod model_folder;
mod names;
mod npy;
mod npy_header;
mod npy_literal;
mod npy_type;
mod npz;
mod npz_directory;
mod number;
mod open;
mod printed;
mod printed_end;
mod put;
mod read_options;
mod read_permission;
mod records;
mod safetensors;
mod safetensors_places;
mod save;
mod save_binary;
mod save_json;
mod save_model;
mod sentence;
mod source;
mod spreadsheet;
mod stored;
mod table;
mod text;
mod vocabulary;
mod word_file;

pub mod system;
pub mod tokenizer;

pub use allowed_numbers::AllowedNumbers;
pub use array::Array;
pub use bundle::{Bundle, Entry};
pub use bundled::{BundledFile, bundled};
pub use draft::target;
pub use embeddings::WordVectors;
pub use files::Files;
pub use folder::{FolderEntry, folder};
pub use inline::inline;
pub use json_document::{GIVEN, GRAPH_SCHEMA, GRAPH_VERSION};
pub use layers::LayerOptions;
pub use letters::invented;
pub use limit::Limit;
pub use model_folder::{
    ConfigFile, FolderCheckpoint, MaskToken, ModelFile, ModelFolder, StoredEntry, StoredTensors, WORDS,
    check_not_quantised,
};
pub use names::Layout;
pub use number::{MOST_DECIMALS, Number, check_commas, number, truth};

pub use put::{PutOutcome, put_files, put_new_files};
pub use read_options::ReadOptions;
pub use read_permission::{Bounds, ReadPermission};
pub use save::{
    WritePermission, check_bundle_ending, check_ending, check_place, delimited_text, save, save_bundle,
    save_text,
};
pub use save_json::Rows;
pub use save_model::{ModelDraft, ModelFiles, NamedTensors, check_model_folder, holds_small_model};
pub use sentence::{label_list, sentence};
pub use source::{Source, exists};
pub use stored::stored;
pub use table::{Table, table};
pub use text::{GrowingText, is_folder, make_folder, markdown_files, read_text, write_text};
