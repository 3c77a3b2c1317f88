//! Inputs and outputs directly before, or directly behind, protected memory.
//!
//! A step beside them ends the test program with a signal; the last test has that happen, in a process of its own.

use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use super::ragged::{Memory, attend_to_all};

/// Pages are as large as this, or a divisor of it.
pub(super) const PAGE: usize = 1 << 16;

/// Numbers that end where forbidden memory begins, or with `AT_START` begin where it ends.
pub(super) struct GuardedNumbers<C, const AT_START: bool> {
    mapping: *mut u8,
    bytes: usize,
    first: *mut C,
    count: usize,
}

impl<C: Copy, const AT_START: bool> Memory<C> for GuardedNumbers<C, AT_START> {
    fn new(numbers: &[C]) -> Self {
        let inside = size_of_val(numbers).next_multiple_of(PAGE);
        let bytes = inside + 2 * PAGE;
        // SAFETY: the mapping is new, and everything below stays inside it; the numbers are aligned, since a page is and
        // they fill it from its start, or up to its end, which their size divides.
        unsafe {
            let all = ProtFlags::READ | ProtFlags::WRITE;
            let mapping =
                mmap_anonymous(null_mut(), bytes, all, MapFlags::PRIVATE).expect("memory").cast::<u8>();
            for guard in [mapping, mapping.add(bytes - PAGE)] {
                mprotect(guard.cast(), PAGE, MprotectFlags::empty()).expect("whole pages");
            }
            let offset = if AT_START { PAGE } else { bytes - PAGE - size_of_val(numbers) };
            let first = mapping.add(offset).cast::<C>();
            first.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len());
            GuardedNumbers { mapping, bytes, first, count: numbers.len() }
        }
    }

    fn numbers(&mut self) -> &mut [C] {
        // SAFETY: `new` has written them, and they are borrowed with the memory.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.count) }
    }
}

impl<C: Copy> GuardedNumbers<C, true> {
    /// Protects these numbers too, which begin and end with a page.
    pub fn forbid(&mut self, numbers: Range<usize>) {
        let bytes = numbers.start * size_of::<C>()..numbers.end * size_of::<C>();
        assert!(
            bytes.start.is_multiple_of(PAGE) && bytes.end.is_multiple_of(PAGE) && numbers.end <= self.count
        );
        // SAFETY: the pages are the mapping's. A slice over them is made of an address and a length, and reads nothing.
        unsafe {
            let first = self.first.cast::<u8>().add(bytes.start);
            mprotect(first.cast(), bytes.len(), MprotectFlags::empty()).expect("whole pages");
        }
    }
}

impl<C, const AT_START: bool> Drop for GuardedNumbers<C, AT_START> {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and nothing borrows it any more.
        unsafe { munmap(self.mapping.cast(), self.bytes).expect("it is mapped") };
    }
}

#[test]
fn nothing_behind_inputs_and_outputs_is_touched() {
    for level in super::levels("guarded behind") {
        attend_to_all::<f32, GuardedNumbers<f32, false>, GuardedNumbers<bool, false>>(level);
        attend_to_all::<f64, GuardedNumbers<f64, false>, GuardedNumbers<bool, false>>(level);
    }
}

#[test]
fn nothing_before_inputs_and_outputs_is_touched() {
    for level in super::levels("guarded before") {
        attend_to_all::<f32, GuardedNumbers<f32, true>, GuardedNumbers<bool, true>>(level);
        attend_to_all::<f64, GuardedNumbers<f64, true>, GuardedNumbers<bool, true>>(level);
    }
}

/// Reads one number beside 5 others.
fn step_beside<const AT_START: bool>() -> f32 {
    let mut memory = GuardedNumbers::<f32, AT_START>::new(&[1.0; 5]);
    let first = memory.numbers().as_ptr();
    let beside = if AT_START { first.wrapping_sub(1) } else { first.wrapping_add(5) };
    // SAFETY: it is not safe: the program ends here.
    unsafe { beside.read_volatile() }
}

/// Reads a number that was there before it was forbidden.
fn step_on_what_is_forbidden() -> f32 {
    let count = 2 * PAGE / size_of::<f32>();
    let mut memory = GuardedNumbers::<f32, true>::new(&vec![1.0; count]);
    memory.forbid(count / 2..count);
    let first = memory.numbers().as_ptr();
    // SAFETY: it is not safe: the program ends here.
    unsafe { first.wrapping_add(count / 2).read_volatile() }
}

/// The environment variable that tells the process which step to take.
const STEP: &str = "ATTN_TEST_STEP_BESIDE";

#[test]
fn one_step_beside_guarded_memory_ends_the_program() {
    match std::env::var(STEP).as_deref() {
        Ok("behind") => assert!(step_beside::<false>().is_nan(), "it was read"),
        Ok("forbidden") => assert!(step_on_what_is_forbidden().is_nan(), "it was read"),
        Ok(_) => assert!(step_beside::<true>().is_nan(), "it was read"),
        Err(_) => {
            for step in ["behind", "before", "forbidden"] {
                let own = std::env::current_exe().expect("a test program has a path");
                let name = "tests::internals::guarded::one_step_beside_guarded_memory_ends_the_program";
                let mut program = Command::new(own);
                let output = program.args([name, "--exact"]).env(STEP, step).output().expect("it starts");
                let (out, err) = (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned());
                assert!(String::from_utf8_lossy(&out).contains("running 1 test"), "{step}: {err}");
                // By a signal of the system; AddressSanitizer catches that, reports, and ends the program itself.
                let caught = err.contains("AddressSanitizer: SEGV");
                assert!(output.status.signal().is_some() || caught, "{step}: {:?}: {err}", output.status);
            }
        }
    }
}
