//! The time and the memory that one file may take.
//!
//! Some grammars and formats need far more for a small file than for a large one, and no list of patterns names all such
//! files. So the work on a file runs within [`bounded`], and whatever may take long asks [`is_exceeded`] now and then. Time is
//! the processor's, since a busy machine must not change what is found. Memory is that of the syntax trees: tree-sitter
//! allocates through counters of the thread.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Once;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The time that the work on a file may take. What remains of two seconds is for the last step of a parser, for dropping its trees,
/// and for dividing its text by lines.
const TIME: Duration = Duration::from_millis(1_200);

/// The further time of a document for each MiB, since most of one is packed, and people have books of many.
const TIME_A_MIB: Duration = Duration::from_secs(1);

/// The memory of the syntax trees of a file, in bytes. Dense code takes a hundred times its length. The last step of a parser can
/// take as much again, and its stack some more; all fits into 256 MiB.
const MEMORY: isize = 112 << 20;

/// The stack of a parser by the length of the text, and at most. It frees what it keeps for each token by a recursion of some
/// hundred bytes, and has no room for more of it than fits into the memory.
const STACK_A_BYTE: usize = 256;
const MOST_STACK: usize = 128 << 20;

/// Length of a text that a usual stack is enough for, since a parser cannot recurse more often than it has bytes.
const SHORT: usize = 12 << 10;

/// The memory that the parsers of a thread may keep from file to file, in bytes.
const KEPT: isize = 64 << 20;

thread_local! {
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    static START: Cell<Option<Start>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Start {
    elapsed: Instant,
    worked: Option<Duration>,
    /// The time that other threads worked on the file.
    others: Duration,
    allocated: isize,
    time: Duration,
    memory: isize,
}

impl Start {
    fn worked(&self) -> Duration {
        worked().zip(self.worked).map_or(self.elapsed.elapsed(), |(now, then)| now.saturating_sub(then) + self.others)
    }

    fn allocated(&self) -> isize {
        ALLOCATED.get() - self.allocated
    }

    /// Looks at the clock of the system first, which is faster: no thread works longer than time passes.
    fn is_late(&self) -> bool {
        self.elapsed.elapsed() > self.time && self.worked() > self.time
    }
}

/// Does the work on one file; inside of other such work, as a part of it.
pub fn bounded<Result>(work: impl FnOnce() -> Result) -> Result {
    within(TIME, MEMORY, work)
}

/// [`bounded`] for a document of this length in bytes.
#[cfg(feature = "documents")]
pub fn bounded_document<Result>(length: usize, work: impl FnOnce() -> Result) -> Result {
    within(TIME + TIME_A_MIB * u32::try_from(length >> 20).unwrap_or(u32::MAX), MEMORY, work)
}

fn within<Result>(time: Duration, memory: isize, work: impl FnOnce() -> Result) -> Result {
    /// Ends the work, even one that panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            START.set(None);
        }
    }
    if START.get().is_some() {
        return work();
    }
    let allocated = ALLOCATED.get();
    let (elapsed, worked, others) = (Instant::now(), worked(), Duration::ZERO);
    START.set(Some(Start { elapsed, worked, others, allocated, time, memory }));
    let _end = End;
    work()
}

/// Returns `true` if the file has taken more than it may.
pub fn is_exceeded() -> bool {
    START.get().is_some_and(|start| start.allocated() > start.memory || start.is_late())
}

/// Tells a parser or a cursor whether to go on.
pub fn progress() -> ControlFlow<()> {
    if is_exceeded() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Does a part of the work on a stack that is large enough to parse a text of this length; `None` if there is no such stack.
pub fn on_large_stack<Result: Send>(length: usize, work: impl FnOnce() -> Result + Send) -> Option<Result> {
    if length <= SHORT {
        return Some(work());
    }
    let start = START.get();
    let before = start.map(|start| (start.worked(), start.allocated()));
    let there = move || {
        let moved = start.zip(before);
        START.set(moved.map(|(start, (others, here))| Start { worked: worked(), others, allocated: -here, ..start }));
        let result = work();
        (result, START.get().map(|start| start.worked()), ALLOCATED.get())
    };
    let thread = Builder::new().name("parser".to_owned()).stack_size((length * STACK_A_BYTE).min(MOST_STACK));
    let (result, after, allocated) = std::thread::scope(|scope| {
        let thread = thread.spawn_scoped(scope, there).ok()?;
        Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    ALLOCATED.set(ALLOCATED.get() + allocated);
    if let (Some(start), Some((before, _)), Some(after)) = (start, before, after) {
        START.set(Some(Start { others: start.others + after.saturating_sub(before), ..start }));
    }
    Some(result)
}

/// The processor time of the thread, where the system knows it.
#[cfg(unix)]
fn worked() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(unix))]
fn worked() -> Option<Duration> {
    None
}

/// Returns `true` if parsers of this thread hold more memory than is worth keeping.
pub fn keeps_much() -> bool {
    ALLOCATED.get() > KEPT
}

/// Has tree-sitter count its memory. It must not have been used before.
pub fn count_memory() {
    static ONCE: Once = Once::new();
    // SAFETY: The functions are those of the C library with a counter, which tree-sitter uses by itself, so that either can free
    // what the other allocated. Every parser, cursor and query of this crate is made after this call.
    ONCE.call_once(|| unsafe {
        tree_sitter::set_allocator(Some(tree_sitter::Allocator { malloc, calloc, realloc, free }));
    });
}

fn count(block: *mut c_void, sign: isize) {
    // SAFETY: The block is one of the C library's, or null.
    let size = if block.is_null() { 0 } else { unsafe { size(block) } };
    ALLOCATED.set(ALLOCATED.get() + sign * size.cast_signed());
    #[cfg(all(test, feature = "grammars"))]
    if let Some(start) = START.get() {
        tests::BEYOND.fetch_max(start.allocated() - start.memory, std::sync::atomic::Ordering::Relaxed);
    }
}

fn counted(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() && size > 0 {
        handle_alloc_error(Layout::from_size_align(size, 1).unwrap_or(Layout::new::<usize>()));
    }
    count(block, 1);
    block
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    counted(unsafe { libc::malloc(size) }, size)
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    counted(unsafe { libc::calloc(count, size) }, count.saturating_mul(size))
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    count(block, -1);
    counted(unsafe { libc::realloc(block, size) }, size)
}

unsafe extern "C" fn free(block: *mut c_void) {
    count(block, -1);
    unsafe { libc::free(block) }
}

/// The size of a block, as the C library knows it.
#[cfg(not(any(windows, target_vendor = "apple")))]
unsafe fn size(block: *mut c_void) -> usize {
    unsafe { libc::malloc_usable_size(block) }
}

#[cfg(target_vendor = "apple")]
unsafe fn size(block: *mut c_void) -> usize {
    unsafe extern "C" {
        fn malloc_size(block: *const c_void) -> usize;
    }
    unsafe { malloc_size(block) }
}

#[cfg(windows)]
unsafe fn size(block: *mut c_void) -> usize {
    unsafe extern "C" {
        fn _msize(block: *mut c_void) -> usize;
    }
    unsafe { _msize(block) }
}

#[cfg(all(test, feature = "grammars"))]
mod tests {
    use super::*;
    use crate::languages::LANGUAGES;
    use crate::lines::Lines;
    use crate::{Kind, Note, Options, ParseFailure, Role, code, read};
    use std::sync::atomic::{AtomicIsize, Ordering};

    /// The most memory beyond its bound that a file took, over all tests, and what is acceptable.
    pub static BEYOND: AtomicIsize = AtomicIsize::new(0);
    const ACCEPTABLE: isize = 16 << 20;

    fn repeated(part: &str, length: usize) -> String {
        part.repeat(length / part.len())
    }

    /// With a small bound, since each file takes all of it. What is exceeded is the distance between two looks at the bound.
    #[test]
    fn no_grammar_exceeds_the_bound_by_much() {
        const PARTS: &[&str] = &[
            "(", "a(", "[", "{", "<", "a<", "<a>", "(a)(b)", "|a|a|a", "[[a]]", "a?", "a<b>::", "`", "\"", "\"{$", "'",
            "#{", "/*", "if a ", "a = ", "a: ", "@a", "a.", "CREATE FUNCTION a(", "fn a() {", "class A {", "->",
        ];
        let (time, memory) = (Duration::from_millis(40), 4 << 20);
        let mut grammars = Vec::new();
        for (name, grammar) in LANGUAGES.iter().filter_map(|language| Some((language.name, language.grammar()?))) {
            if !grammars.iter().any(|(_, known)| *known == grammar) {
                // Its query is compiled, which is no work on a file.
                assert!(code::read(grammar, &Lines::new(""), 400, Role::Main).is_ok());
                grammars.push((name, grammar));
            }
        }
        for part in PARTS {
            let text = repeated(&format!("{part}\n"), 1 << 18);
            let lines = Lines::new(&text);
            for (name, grammar) in &grammars {
                let before = ALLOCATED.get();
                let spent = within(time, memory, || {
                    let _ = code::read(grammar, &lines, 400, Role::Main);
                    START.get().map(|start| start.worked())
                });
                assert!(spent < Some(Duration::from_secs(1)), "{name} takes {spent:?} for `{part}`");
                let beyond = BEYOND.load(Ordering::Relaxed);
                assert!(beyond < ACCEPTABLE, "{name} takes {beyond} bytes more than it may for `{part}`");
                let kept = ALLOCATED.get() - before;
                assert!(kept < memory, "{name} keeps {kept} bytes of `{part}`");
            }
        }
    }

    #[test]
    fn files_that_would_take_gigabytes_are_divided_by_lines() {
        for (path, before, part, length) in [
            ("a.sh", "", "a|a|a|a|a\n", 250_000),
            ("a.cpp", "", "[[a]]", 60_000),
            ("a.c", "", "a(\n", 1_000_000),
            ("a.java", "", "a<\n", 1_000_000),
            // The parser recurses deeply.
            ("a.php", "<?php ", "\"{$", 70_000),
            ("a.php", "<?php ", "\"{$\n", 1_000_000),
        ] {
            let text = format!("{before}{}", repeated(part, length));
            let document = read(path, text.as_bytes(), &Options::default());
            let late = |note: &Note| matches!(note, Note::NotParsed { reason: ParseFailure::TooMuchWork, .. });
            assert!(document.notes.iter().any(late) || path == "a.php", "{path} {part}: {:?}", document.notes);
            assert!(document.passages.iter().all(|passage| passage.kind == Kind::Lines), "{path} {part}");
        }
        let beyond = BEYOND.load(Ordering::Relaxed);
        assert!(beyond < ACCEPTABLE, "{beyond} bytes");
        assert_eq!(read("a.rs", b"fn open() {}\n", &Options::default()).passages[0].symbol.as_deref(), Some("open"));
    }

    #[test]
    fn work_on_another_thread_counts() {
        bounded(|| {
            let long = SHORT + 1;
            let worked = on_large_stack(long, || {
                while START.get().is_some_and(|start| start.worked() < Duration::from_millis(20)) {}
                // SAFETY: Any size can be allocated.
                unsafe { malloc(1_000) as usize }
            });
            let start = START.get().expect("a start");
            assert!(start.worked() >= Duration::from_millis(20) && start.allocated() >= 1_000);
            // SAFETY: The block is the one above.
            unsafe { free(worked.expect("a thread") as *mut c_void) };
            assert!(start.allocated() < 1_000);
        });
        assert!(!is_exceeded());
    }
}
