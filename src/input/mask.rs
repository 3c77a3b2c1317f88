//! Masks as the kernel reads them: truth values, or numbers to add.

use crate::error::Result;
use crate::graph::{Numbers, Typed};

use super::allow::Allow;
use super::array::Array;
use super::container::{Container, Item, words};

impl Container {
    /// The mask at a position of [`Container::names`]: truth values where the file has them, or where `as_truth` asks for
    /// them, else numbers in the type T. It may hold −∞ and ∞.
    ///
    /// # Errors
    /// If it cannot be read, or is no matrix.
    pub(super) fn mask<T: Typed>(&mut self, name: &str, position: usize, as_truth: bool) -> Result<Numbers> {
        let is_truth = match self {
            _ if as_truth => true,
            Container::Npz(npz) => npz.is_boolean(position)?,
            Container::Safetensors(tensors) => tensors.is_boolean(position),
            Container::Json { .. } => {
                let Item::Array(array) = self.read::<f64>(position)? else { return Err(words(name)) };
                return mask_of::<T>(name, array, as_truth);
            }
        };
        match is_truth {
            true => self.numbers::<bool>(name, position, Allow::INFINITE)?.into_matrix_numbers(),
            false => self.numbers::<T>(name, position, Allow::INFINITE)?.into_matrix_numbers(),
        }
        .map_err(|error| error.in_source(name))
    }
}

/// A mask that was read as text, as the kernel reads it.
///
/// # Errors
/// If it is no matrix, or a number may not stand there.
pub(super) fn mask_of<T: Typed>(name: &str, array: Array, as_truth: bool) -> Result<Numbers> {
    let array = array.checked(name, Allow::INFINITE)?;
    match as_truth || array.is_boolean() {
        true => array.in_type::<bool>(name)?.into_matrix_numbers(),
        false => array.in_type::<T>(name)?.into_matrix_numbers(),
    }
    .map_err(|error| error.in_source(name))
}
