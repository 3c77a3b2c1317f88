//! In which type the matrices of attention are read.

use crate::error::Result;
use crate::graph::Role;
use crate::tensor::{Dtype, Element, Tensor};

use super::allowed_numbers::AllowedNumbers;
use super::array::Array;
use super::container::Container;
use super::item::{Item, words};
use super::limit::Limit;

/// Options for reading the matrices of attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The type of queries, keys, values, a bias and a mask for the fast path, which may be as many numbers as memory holds. Without
    /// one they are matrices of `f64`, as all other matrices are.
    pub dtype: Option<Dtype>,
    /// On the fast path, whether the numbers of a mask say true and false: not 0 is true. Else only those of a boolean file do.
    pub mask_as_truth: bool,
}

impl ReadOptions {
    /// The type in which a role is read, if it is not as a matrix of `f64`.
    pub(super) fn dtype_of(self, role: Role) -> Option<Dtype> {
        self.dtype.filter(|_| role.has_heads() || role.is_beside_scores())
    }

    /// True if all numbers of a role say true and false.
    fn is_truth(self, role: Role) -> bool {
        role == Role::Mask && self.mask_as_truth
    }

    /// An array of `f64` as a tensor for the kernel.
    ///
    /// # Errors
    /// If it has another shape than the role, or a number may not stand there.
    pub(super) fn of_array<T: Element>(self, name: &str, array: Array, role: Role) -> Result<Tensor> {
        let array = array.checked(name, allowed(role))?;
        let is_truth = self.is_truth(role) || (role == Role::Mask && array.is_boolean());
        let tensor = if is_truth {
            array.in_type::<bool>(name)?.into_typed(role)
        } else {
            array.in_type::<T>(name)?.into_typed(role)
        };
        tensor.map_err(|error| error.in_source(name))
    }

    /// An array in binary as a tensor for the kernel: of truth values where they are wanted, or where the file has them.
    ///
    /// # Errors
    /// As [`ReadOptions::of_array`].
    pub(super) fn of_reader<T: Element, R: ArrayReader>(
        self,
        name: &str,
        reader: &mut R,
        role: Role,
    ) -> Result<Tensor> {
        let is_truth = self.is_truth(role) || (role == Role::Mask && reader.is_boolean()?);
        let tensor = if is_truth {
            reader.read::<bool>()?.checked(name, allowed(role))?.into_typed(role)
        } else {
            reader.read::<T>()?.checked(name, allowed(role))?.into_typed(role)
        };
        tensor.map_err(|error| error.in_source(name))
    }
}

/// Which numbers may stand in a role.
pub(super) fn allowed(role: Role) -> AllowedNumbers {
    if role.is_beside_scores() || role == Role::Sink {
        AllowedNumbers::INFINITE
    } else {
        AllowedNumbers::FINITE
    }
}

/// An array in binary that has not been read yet.
pub(super) trait ArrayReader {
    /// True if it holds truth values, as far as its header says.
    fn is_boolean(&mut self) -> Result<bool>;

    /// Reads it, once.
    fn read<T: Element>(&mut self) -> Result<Array<T>>;
}

impl Container {
    /// The entry at a position of [`Container::names`] as the kernel reads it, in type T.
    ///
    /// # Errors
    /// If it cannot be read, or has another shape than the role.
    pub(super) fn typed<T: Element>(
        &mut self,
        name: &str,
        position: usize,
        role: Role,
        want: ReadOptions,
    ) -> Result<Tensor> {
        self.keep_within(Limit::LARGE);
        if let Container::Json { .. } = self {
            let Item::Array(array) = self.read::<f64>(position)? else { return Err(words(name)) };
            return want.of_array::<T>(name, array, role);
        }
        want.of_reader::<T, _>(name, &mut Entry { container: self, position, name }, role)
    }
}

/// An entry of a container.
struct Entry<'a> {
    container: &'a mut Container,
    position: usize,
    name: &'a str,
}

impl ArrayReader for Entry<'_> {
    fn is_boolean(&mut self) -> Result<bool> {
        match self.container {
            Container::Npz(npz) => npz.is_boolean(self.position),
            Container::Safetensors(tensors) => Ok(tensors.is_boolean(self.position)),
            Container::Json { .. } => Ok(false),
        }
    }

    fn read<T: Element>(&mut self) -> Result<Array<T>> {
        match self.container.read(self.position)? {
            Item::Array(array) => Ok(array),
            Item::Words(_) => Err(words(self.name)),
        }
    }
}
