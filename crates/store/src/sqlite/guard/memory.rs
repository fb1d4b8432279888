//! How much memory a statement may take.
//!
//! SQLite has no limit for one connection: its own is for the whole process, and would stop a writer beside a greedy reader.
//! So the allocator that SQLite is given counts what the threads of guarded statements take, and has no more for one that
//! took its share. SQLite is made for an allocator that can say no: the statement fails, and nothing else does. Whatever
//! takes the memory, a sorter, a table in memory, a JSON array or the parser itself, is counted alike.

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use rusqlite::ffi;

/// What the system's allocator takes beside a piece of memory, at most: small pieces, such as the rows of a sorter, would
/// otherwise take twice what is counted.
const BESIDE: i64 = 24;

thread_local! {
    /// What this thread may take in all and what is left of it, in bytes; `None`: as much as there is.
    static SHARE: Cell<Option<(i64, i64)>> = const { Cell::new(None) };
    /// Whether it was not enough.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// Says whether nobody waits any more for what this thread does.
    static LEFT: OnceCell<Box<dyn Fn() -> bool>> = const { OnceCell::new() };
}

/// SQLite's own allocator.
struct Original {
    allocate: unsafe extern "C" fn(c_int) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    reallocate: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    size: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// What is wrapped; `None` where it could not be.
static WRAPPED: OnceLock<Option<Original>> = OnceLock::new();

/// Has SQLite use the counting allocator. To be called before the first connection of the process is opened: a SQLite that is
/// in use already keeps the allocator that it has, and [`is_counted`] says so.
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
        // SAFETY: SQLite fills in what the pointer leads to, and refuses once it is initialised.
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
        // SAFETY: SQLite copies what the pointer leads to, and refuses once it is initialised.
        let set = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
        (set == ffi::SQLITE_OK).then_some(original)
    });
}

/// Whether what this thread takes is counted.
pub(super) fn is_counted() -> bool {
    WRAPPED.get().is_some_and(Option::is_some)
}

/// From now on this thread gets at most `bytes` more of SQLite's memory than it gives back, and none at all once `left` says
/// that nobody waits for it: a statement that is left behind then ends at the latest when it next needs some.
pub(super) fn limit_this_thread(bytes: usize, left: impl Fn() -> bool + 'static) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    SHARE.set(Some((bytes, bytes)));
    LEFT.with(|cell| {
        let _ = cell.set(Box::new(left));
    });
}

/// Whether nobody waits for this thread. One that is ending has forgotten that, and is to have what it needs for it.
fn is_left() -> bool {
    LEFT.try_with(|cell| cell.get().is_some_and(|left| left())).unwrap_or(false)
}

/// Whether this thread wanted more than its share.
pub(super) fn was_refused() -> bool {
    REFUSED.get()
}

/// What SQLite holds in the whole process.
pub(super) fn held_by_process() -> i64 {
    // SAFETY: has no arguments and can be called at any time.
    unsafe { ffi::sqlite3_memory_used() }
}

/// Takes `bytes` (which can be negative: given back) off what is left to this thread; false where that is not enough. What
/// another thread took and this one gives back makes its share no larger.
fn take(bytes: i64) -> bool {
    match SHARE.get() {
        None => true,
        Some((_, left)) if bytes > left || bytes > 0 && is_left() => {
            REFUSED.set(true);
            false
        }
        Some((share, left)) => {
            SHARE.set(Some((share, (left - bytes).min(share))));
            true
        }
    }
}

fn original() -> Option<&'static Original> {
    WRAPPED.get().and_then(Option::as_ref)
}

// SQLite alone calls the three below, with what they themselves gave out, and not before it is initialised: that is after
// `WRAPPED` is set.

unsafe extern "C" fn allocate(bytes: c_int) -> *mut c_void {
    let Some(original) = original().filter(|_| take(i64::from(bytes) + BESIDE)) else {
        return std::ptr::null_mut();
    };
    // SAFETY: what SQLite would have called itself.
    let given = unsafe { (original.allocate)(bytes) };
    if given.is_null() {
        take(-i64::from(bytes) - BESIDE);
    } else {
        // What is given is a little more than what was asked for, and is given back as a whole.
        // SAFETY: just given by the original allocator.
        take(i64::from(unsafe { (original.size)(given) } - bytes));
    }
    given
}

unsafe extern "C" fn free(memory: *mut c_void) {
    if let Some(original) = original().filter(|_| !memory.is_null()) {
        // SAFETY: given by `allocate` or `reallocate`, so by the original allocator.
        unsafe {
            take(-i64::from((original.size)(memory)) - BESIDE);
            (original.free)(memory);
        }
    }
}

unsafe extern "C" fn reallocate(memory: *mut c_void, bytes: c_int) -> *mut c_void {
    let Some(original) = original() else {
        return std::ptr::null_mut();
    };
    // The old piece and the new one may both be there for a moment.
    let wanted = i64::from(bytes);
    if !take(wanted) {
        return std::ptr::null_mut();
    }
    // SAFETY: given by `allocate` or `reallocate`, so by the original allocator; where it fails, SQLite keeps what it has.
    unsafe {
        let before = i64::from((original.size)(memory));
        let given = (original.reallocate)(memory, bytes);
        take(if given.is_null() { -wanted } else { i64::from((original.size)(given)) - wanted - before });
        given
    }
}
