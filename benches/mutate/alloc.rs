//! An allocator that counts: how much memory is in use, and how much was at most.
#![allow(unsafe_code)] // a global allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// More is refused, so that a reader that asks for everything ends and the machine does not.
const MOST: usize = 3 << 30;

/// The system's, counted.
pub struct Counting;

fn add(bytes: usize) -> bool {
    let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(used, Ordering::Relaxed);
    used <= MOST
}

fn remove(bytes: usize) {
    USED.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !add(layout.size()) {
            remove(layout.size());
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's layout is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !add(layout.size()) {
            remove(layout.size());
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's layout is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: the caller's pointer and layout are handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Forgets the peak; what is in use now.
pub fn restart() -> usize {
    let used = USED.load(Ordering::Relaxed);
    PEAK.store(used, Ordering::Relaxed);
    used
}

/// The most that was in use since.
pub fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}
