//! Room for numbers: charged, then reserved, so that neither can abort the program.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;

use super::{exhausted, hold};
use crate::error::Result;

/// Room for `count` numbers, which are not charged.
///
/// # Errors
/// If it exceeds the memory that is left, or the system refuses it.
pub fn room_for<T>(count: usize) -> Result<Vec<T>> {
    let _held = hold(bytes_of::<T>(count))?;
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| exhausted())?;
    Ok(room)
}

/// `count` zeros, which are not charged. Large ones take no memory before they are written to.
///
/// # Errors
/// If they exceed the memory that is left, or the system refuses them.
pub fn uncharged_zeros<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    let _held = hold(bytes_of::<T>(count))?;
    try_zeroed_vec(count).map_err(|()| exhausted())
}

/// Room for `count` numbers, charged until the command is over.
///
/// # Errors
/// If it exceeds the memory that is left, or the system refuses it.
pub fn reserved<T>(count: usize) -> Result<Vec<T>> {
    let room = room_for(count)?;
    hold(bytes_of::<T>(count))?.keep();
    Ok(room)
}

/// `count` zeros, charged until the command is over. Large ones take no memory before they are written to.
///
/// # Errors
/// If they exceed the memory that is left, or the system refuses it.
pub fn zeros<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    let held = hold(bytes_of::<T>(count))?;
    let zeros = try_zeroed_vec(count).map_err(|()| exhausted())?;
    held.keep();
    Ok(zeros)
}

/// Room for more numbers, `count` of them in all: memory grows with the numbers that arrive, and never beyond that count. The
/// caller has charged them.
///
/// # Errors
/// If the system refuses it.
pub fn grow<T>(numbers: &mut Vec<T>, more: usize, count: usize) -> Result<()> {
    let needed = numbers.len().saturating_add(more);
    if needed > numbers.capacity() {
        let capacity = needed.max(numbers.capacity().saturating_mul(2)).min(count.max(needed));
        let reserved = numbers.try_reserve_exact(capacity - numbers.len());
        reserved.map_err(|_| exhausted())?;
    }
    Ok(())
}

/// The bytes of `count` numbers.
pub fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Remaining, enter, remaining};

    #[test]
    fn zeros_are_charged_and_refused_beyond_the_limit() {
        let _open = enter(Some(100), || None);
        assert_eq!(zeros::<f32>(20).unwrap(), [0.0; 20]);
        assert_eq!(remaining(), Remaining::Asked(20));
        assert!(zeros::<f32>(6).is_err() && zeros::<f64>(usize::MAX).is_err());
        assert_eq!(zeros::<u8>(0).unwrap(), [0; 0]);
        assert_eq!(remaining(), Remaining::Asked(20), "what is refused is not charged");
    }

    #[test]
    fn a_vector_grows_with_what_is_there_and_never_beyond_its_count() {
        let mut numbers: Vec<u8> = Vec::new();
        grow(&mut numbers, 10, 1 << 40).unwrap();
        assert!(numbers.capacity() < 1000);
        numbers.resize(10, 0);
        grow(&mut numbers, 5, 15).unwrap();
        assert_eq!(numbers.capacity(), 15);
        assert!(grow(&mut numbers, usize::MAX - 100, usize::MAX).is_err());
    }
}
