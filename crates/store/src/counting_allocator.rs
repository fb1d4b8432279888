//! An allocator for SQLite that limits the memory of single threads.
//!
//! SQLite's own limit is for the whole process and would stop a writer beside a greedy reader. So this allocator counts the
//! memory of threads that run untrusted statements, and refuses a thread that exceeds its share. SQLite handles a refusal:
//! the statement fails and nothing else does. Sorters, tables in memory, JSON arrays and the parser are all counted.

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use rusqlite::ffi;

/// Most bytes that the system's allocator adds to an allocation. Without it, small allocations, such as the rows of a sorter,
/// would take twice as much as is counted.
const OVERHEAD: i64 = 24;

thread_local! {
    /// The share of this thread and the rest of it, in bytes; `None`: unlimited.
    static SHARE: Cell<Option<(i64, i64)>> = const { Cell::new(None) };
    /// The most that this thread has held of its share.
    static MOST_HELD: Cell<i64> = const { Cell::new(0) };
    /// True if the share was exceeded.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// Tests whether the caller of this thread has stopped waiting.
    static ABANDONED: OnceCell<Box<dyn Fn() -> bool>> = const { OnceCell::new() };
}

/// SQLite's own allocator.
struct Original {
    allocate: unsafe extern "C" fn(c_int) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    reallocate: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    size: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// The wrapped allocator; `None` if SQLite refused the wrapper.
static WRAPPED: OnceLock<Option<Original>> = OnceLock::new();

/// Makes SQLite use the counting allocator. Must be called before the first connection of the process: once in use, SQLite
/// keeps its allocator, and [`is_counted`] returns false.
pub(crate) fn install() {
    WRAPPED.get_or_init(|| {
        let mut methods = ffi::sqlite3_mem_methods {
            xMalloc: None,
            xFree: None,
            xRealloc: None,
            xSize: None,
            xRoundup: None,
            xInit: None,
            xShutdown: None,
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: SQLite writes through the pointer, or refuses once it is initialised.
        let known = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_GETMALLOC, &raw mut methods) };
        if known != ffi::SQLITE_OK {
            return None;
        }
        let original = Original {
            allocate: methods.xMalloc?,
            free: methods.xFree?,
            reallocate: methods.xRealloc?,
            size: methods.xSize?,
        };
        methods.xMalloc = Some(allocate);
        methods.xFree = Some(free);
        methods.xRealloc = Some(reallocate);
        // SAFETY: SQLite copies through the pointer, or refuses once it is initialised.
        let set = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
        (set == ffi::SQLITE_OK).then_some(original)
    });
}

/// Returns `true` if allocations are counted.
pub(crate) fn is_counted() -> bool {
    WRAPPED.get().is_some_and(Option::is_some)
}

/// Limits this thread to `bytes` of SQLite's memory, and to none once `abandoned` returns true, so that an abandoned
/// statement ends at its next allocation.
pub(crate) fn limit_this_thread(bytes: usize, abandoned: impl Fn() -> bool + 'static) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    SHARE.set(Some((bytes, bytes)));
    ABANDONED.with(|cell| {
        let _ = cell.set(Box::new(abandoned));
    });
}

/// Returns what this thread has freed to the system, if that was much. glibc would keep it for threads to come, each of which may get
/// another part of its heap, so that several times as much stayed resident as was ever in use.
pub(crate) fn return_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if MOST_HELD.get() > 4 << 20 {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> c_int;
        }
        // SAFETY: the function can be called at any time.
        unsafe { malloc_trim(0) };
    }
}

/// Returns `true` if this thread is abandoned. A thread that is ending has dropped the test and gets the memory it
/// needs to end.
fn is_abandoned() -> bool {
    ABANDONED.try_with(|cell| cell.get().is_some_and(|abandoned| abandoned())).unwrap_or(false)
}

/// Returns `true` if this thread exceeded its share.
pub(crate) fn was_refused() -> bool {
    REFUSED.get()
}

/// SQLite's memory in the whole process.
pub(crate) fn held_by_process() -> i64 {
    // SAFETY: the function has no arguments and can be called at any time.
    unsafe { ffi::sqlite3_memory_used() }
}

/// Subtracts `bytes` (negative when memory is freed) from the rest of this thread's share; returns `false` if the rest
/// is too small. Freeing another thread's memory never makes the rest larger than the share.
fn take(bytes: i64) -> bool {
    match SHARE.get() {
        None => true,
        Some((_, left)) if bytes > left || bytes > 0 && is_abandoned() => {
            REFUSED.set(true);
            false
        }
        Some((share, left)) => {
            let left = (left - bytes).min(share);
            SHARE.set(Some((share, left)));
            MOST_HELD.set(MOST_HELD.get().max(share - left));
            true
        }
    }
}

fn original() -> Option<&'static Original> {
    WRAPPED.get().and_then(Option::as_ref)
}

// Only SQLite calls the three functions below, with memory they returned, and only after it is initialised, when `WRAPPED` is
// set.

unsafe extern "C" fn allocate(bytes: c_int) -> *mut c_void {
    let Some(original) = original().filter(|_| take(i64::from(bytes) + OVERHEAD)) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the call that SQLite would have made itself.
    let given = unsafe { (original.allocate)(bytes) };
    if given.is_null() {
        take(-i64::from(bytes) - OVERHEAD);
    } else {
        // The allocation is a little larger than requested, and is freed as a whole.
        // SAFETY: `given` comes from the original allocator.
        take(i64::from(unsafe { (original.size)(given) } - bytes));
    }
    given
}

unsafe extern "C" fn free(memory: *mut c_void) {
    if let Some(original) = original().filter(|_| !memory.is_null()) {
        // SAFETY: `memory` comes from `allocate` or `reallocate`, so from the original allocator.
        unsafe {
            take(-i64::from((original.size)(memory)) - OVERHEAD);
            (original.free)(memory);
        }
    }
}

unsafe extern "C" fn reallocate(memory: *mut c_void, bytes: c_int) -> *mut c_void {
    let Some(original) = original() else {
        return std::ptr::null_mut();
    };
    // The old and the new allocation may exist together for a moment.
    let wanted = i64::from(bytes);
    if !take(wanted) {
        return std::ptr::null_mut();
    }
    // SAFETY: `memory` comes from `allocate` or `reallocate`, so from the original allocator. On failure SQLite keeps it.
    unsafe {
        let before = i64::from((original.size)(memory));
        let given = (original.reallocate)(memory, bytes);
        take(if given.is_null() { -wanted } else { i64::from((original.size)(given)) - wanted - before });
        given
    }
}
