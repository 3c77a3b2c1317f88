//! The program inside a page: requests and answers are texts in JSON, as [`attn_story::live`] defines them.
//!
//! A page calls three functions. [`attn_room`] makes room for a request, which the page writes there; [`attn_answer`] takes it, and says where
//! its answer is; [`attn_free`] takes the answer back. A text is a length (four bytes, the lowest first), then that many bytes of UTF-8.
//! `docs/formats.md` has the command that builds this crate.

use std::cell::RefCell;

use attn_story::live::Pages;

thread_local! {
    /// A page has one thread.
    static PAGES: RefCell<Pages> = const { RefCell::new(Pages::new()) };
}

/// The bytes of a length.
const HEAD: usize = size_of::<u32>();

/// Room for a text of this many bytes, with its length in front. It belongs to the caller until it is given to [`attn_answer`] or [`attn_free`].
// SAFETY: the name is exported once.
#[unsafe(no_mangle)]
pub extern "C" fn attn_room(bytes: u32) -> *mut u8 {
    into_pointer(vec![0; bytes as usize])
}

/// Takes a request, and returns its answer, which belongs to the caller until it is given to [`attn_free`].
///
/// # Safety
/// The request is a text that [`attn_room`] made room for, and is not used afterwards.
// SAFETY: the name is exported once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn attn_answer(request: *mut u8) -> *mut u8 {
    // SAFETY: the caller promises it.
    let request = unsafe { from_pointer(request) };
    let request = String::from_utf8_lossy(&request);
    into_pointer(PAGES.with_borrow_mut(|pages| pages.answer(&request)).into_bytes())
}

/// Takes a text back.
///
/// # Safety
/// It is a text of [`attn_room`] or [`attn_answer`], and is not used afterwards.
// SAFETY: the name is exported once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn attn_free(text: *mut u8) {
    // SAFETY: the caller promises it.
    drop(unsafe { from_pointer(text) });
}

/// Gives a text away, with its length in front.
fn into_pointer(text: Vec<u8>) -> *mut u8 {
    let length = text.len() as u32;
    let whole: Box<[u8]> = length.to_le_bytes().into_iter().chain(text).collect();
    Box::into_raw(whole).cast()
}

/// Takes a text back that [`into_pointer`] gave away.
///
/// # Safety
/// It is such a text, and was not taken back before.
unsafe fn from_pointer(text: *mut u8) -> Vec<u8> {
    // SAFETY: its first bytes are its length, which made it as long as this.
    let whole = unsafe {
        let length = u32::from_le_bytes(text.cast::<[u8; HEAD]>().read());
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(text, HEAD + length as usize))
    };
    whole[HEAD..].to_vec()
}
