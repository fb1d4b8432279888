//! Two lanes of calls: for those that are over soon, such as searches, and for those that can take seconds.
//!
//! Each has places and threads of its own, so that no search waits for a slow call.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tamis::search::SearchCaller;
use tokio::sync::oneshot;

/// The lane of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// It is over soon.
    Quick,
    /// It can take seconds.
    Slow,
}

/// The caller that a request's turns are counted for: the holder of its token, however many sessions and connections that has.
#[derive(Clone, Copy)]
pub(crate) struct Share(pub SearchCaller);

/// Both lanes.
pub(crate) struct Lanes {
    quick: Turns,
    slow: Turns,
    /// Threads of each call that has a pool of its own. It would fill the pool that searches share.
    threads: usize,
    /// Pools that no call uses now.
    idle: Mutex<Vec<ThreadPool>>,
    /// True if there are callers to yield to.
    yields: AtomicBool,
}

impl Lanes {
    /// Lanes in which a caller has up to `parallel` quick calls in progress, and as many slow ones.
    pub fn new(parallel: usize) -> Lanes {
        let (quick, slow) = (Turns::new(parallel), Turns::new(parallel));
        Lanes { quick, slow, threads: parallel.max(1), idle: Mutex::default(), yields: AtomicBool::default() }
    }

    /// Has calls that take long, and those of callers with several in progress, yield the processors to the rest from now on. For one
    /// person, they would yield to everything else on the machine alone.
    pub fn yield_to_others(&self) {
        self.yields.store(true, Ordering::Relaxed);
    }

    /// Waits for the turn of a call. Dropping the future gives up the wait.
    pub async fn wait(&self, lane: Lane, Share(caller): Share) -> Option<Turn> {
        match lane {
            Lane::Quick => self.quick.wait(caller).await,
            Lane::Slow => self.slow.wait(caller).await,
        }
    }

    /// Number of a caller's calls, in progress or waiting.
    pub fn calls_of(&self, Share(caller): Share) -> usize {
        self.quick.calls_of(caller) + self.slow.calls_of(caller)
    }

    /// Runs a call whose turn has come.
    pub fn run<T: Send>(&self, lane: Lane, place: Place, work: impl FnOnce() -> T + Send) -> T {
        let yields = self.yields.load(Ordering::Relaxed);
        if lane == Lane::Quick && (place == Place::First || !yields) {
            return work();
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = idle().pop();
        let made = || {
            let threads = ThreadPoolBuilder::new().num_threads(self.threads);
            threads
                .start_handler(move |_| {
                    if yields {
                        lower_thread_priority()
                    }
                })
                .build()
                .ok()
        };
        let Some(pool) = pool.or_else(made) else {
            return work();
        };
        let done = pool.install(work);
        idle().push(pool);
        done
    }
}

// Turns of calls, shared fairly between callers.
//
// The next turn goes to the caller with the fewest calls in progress. A caller's only call has a first place; further ones have places
// of their own, whose calls yield to those in first places. So a caller with many calls takes little from those with few.

/// Places for calls in progress, and the queue for them.
pub(crate) struct Turns {
    places: Arc<Mutex<Places>>,
}

/// A place; it is free again when this is dropped.
pub(crate) struct Turn {
    places: Arc<Mutex<Places>>,
    caller: SearchCaller,
    place: Place,
}

/// A kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// For the only call of a caller.
    First,
    /// For calls of a caller with another one in progress.
    Other,
}

struct Places {
    /// Free places of each kind.
    free: [usize; 2],
    /// Most places of one caller.
    most: usize,
    /// Calls in progress, in places of each kind.
    active: HashMap<SearchCaller, [usize; 2]>,
    /// Callers with waiting calls, those that had no turn for longest first.
    waiting: VecDeque<(SearchCaller, VecDeque<oneshot::Sender<Turn>>)>,
}

fn locked(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Places enough for `most` calls of a caller, and one more of each kind.
    pub fn new(most: usize) -> Turns {
        let most = most.max(1);
        let places = Places { free: [most + 1, most], most, active: HashMap::new(), waiting: VecDeque::new() };
        Turns { places: Arc::new(Mutex::new(places)) }
    }

    /// Number of a caller's calls, in progress or waiting.
    pub fn calls_of(&self, caller: SearchCaller) -> usize {
        let places = locked(&self.places);
        let waiting = places.waiting.iter().find(|(other, _)| *other == caller);
        let waiting = waiting.map_or(0, |(_, calls)| calls.iter().filter(|call| !call.is_closed()).count());
        places.active_of(&caller).iter().sum::<usize>() + waiting
    }

    /// Waits for a place. Dropping the future gives up the wait.
    pub async fn wait(&self, caller: SearchCaller) -> Option<Turn> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut places = locked(&self.places);
            match places.waiting.iter_mut().find(|(other, _)| *other == caller) {
                Some((_, calls)) => calls.push_back(sender),
                None => places.waiting.push_back((caller, VecDeque::from([sender]))),
            }
        }
        hand_out(&self.places);
        receiver.await.ok()
    }
}

impl Places {
    fn active_of(&self, caller: &SearchCaller) -> [usize; 2] {
        self.active.get(caller).copied().unwrap_or_default()
    }

    /// The place that a caller may have now, and the number of its calls in progress.
    fn place_for(&self, caller: &SearchCaller) -> Option<(Place, usize)> {
        let [first, others] = self.active_of(caller);
        let is_free = |place: Place| self.free[place as usize] > 0;
        let active = first + others;
        let place = match active {
            0 if is_free(Place::First) => Place::First,
            _ if is_free(Place::Other) && active.max(1) < self.most => Place::Other,
            _ => return None,
        };
        Some((place, active))
    }

    /// The call whose turn it is, if a place is free for it.
    fn next(&mut self) -> Option<(SearchCaller, Place, oneshot::Sender<Turn>)> {
        // Those who have given up wait no longer.
        self.waiting.retain_mut(|(_, calls)| {
            calls.retain(|call| !call.is_closed());
            !calls.is_empty()
        });
        let waiting = self.waiting.iter().enumerate();
        let places = waiting.filter_map(|(at, (caller, _))| Some((at, self.place_for(caller)?)));
        let (at, (place, _)) = places.min_by_key(|(_, (_, active))| *active)?;
        let (caller, mut calls) = self.waiting.remove(at)?;
        let call = calls.pop_front()?;
        if !calls.is_empty() {
            self.waiting.push_back((caller, calls));
        }
        self.free[place as usize] -= 1;
        self.active.entry(caller).or_default()[place as usize] += 1;
        Some((caller, place, call))
    }
}

impl Turn {
    /// The place of the call.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// Gives free places to those whose turn it is.
fn hand_out(places: &Arc<Mutex<Places>>) {
    loop {
        let next = locked(places).next();
        let Some((caller, place, call)) = next else { return };
        // A call that has just been given up returns its turn, which is dropped here.
        drop(call.send(Turn { places: places.clone(), caller, place }));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        {
            let mut places = locked(&self.places);
            places.free[self.place as usize] += 1;
            if let Some(active) = places.active.get_mut(&self.caller) {
                active[self.place as usize] -= 1;
                if *active == [0, 0] {
                    places.active.remove(&self.caller);
                }
            }
        }
        hand_out(&self.places);
    }
}

// Counts the calls in progress, so that background work can wait until there are none.

/// The number of calls in progress or waiting for their turn.
#[derive(Debug, Default)]
pub(crate) struct ActiveCalls {
    count: AtomicUsize,
    /// Milliseconds from the first use of the clock to the end of the last call; 0 before any call has ended.
    last_end: AtomicU64,
}

/// A call in progress; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ActiveCall(Arc<ActiveCalls>);

/// Milliseconds since the first use of this clock.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl ActiveCalls {
    /// Begins a call.
    pub fn begin(self: &Arc<Self>) -> ActiveCall {
        self.count.fetch_add(1, SeqCst);
        ActiveCall(self.clone())
    }

    /// The number of calls.
    pub fn count(&self) -> usize {
        self.count.load(SeqCst)
    }

    /// True if no call has been in progress for at least `pause`.
    pub fn is_quiet(&self, pause: Duration) -> bool {
        let last_end = self.last_end.load(SeqCst);
        self.count() == 0 && (last_end == 0 || u128::from(now().saturating_sub(last_end)) >= pause.as_millis())
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.0.last_end.store(now().max(1), SeqCst);
        self.0.count.fetch_sub(1, SeqCst);
    }
}

// Low priority for threads of background work and of calls that yield, and for a whole process.
//
// The priority is low, but not the lowest. On a busy machine, a thread that runs only when nobody else wants to would hold
// up everyone who waits for its locks, and the end of its own process.

/// At this niceness a thread gets less than a fiftieth of the time of a normal one on the same processor.
#[cfg(unix)]
const NICENESS: i32 = 19;

/// Lowers the priority of the calling thread and of those that it starts. Does nothing if the system does not allow it.
#[cfg(target_os = "linux")]
pub(crate) fn lower_thread_priority() {
    // SAFETY: the call takes no pointers; 0 names the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}

/// Does nothing on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_thread_priority() {}

/// Takes this process out of the session of its terminal, whose end does not reach it any more, and gives it low priority. To be
/// called before other threads start, which inherit it. What the system does not allow is left out.
#[cfg(unix)]
pub fn detach_process() {
    // SAFETY: the calls take no pointers; 0 names this process, on Linux its calling thread.
    unsafe {
        libc::setsid();
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}

/// Does nothing on other systems, where whoever starts a process decides that.
#[cfg(not(unix))]
pub fn detach_process() {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Waiting<'a> = Pin<Box<dyn Future<Output = Option<Turn>> + 'a>>;

    fn caller(name: char) -> SearchCaller {
        SearchCaller::session(&[name.to_string().as_str()])
    }

    /// The turn of a call, if it has come.
    fn turn(waiting: &mut Waiting<'_>) -> Option<Turn> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => turn,
            Poll::Pending => None,
        }
    }

    /// Starts to wait.
    fn ask(turns: &Turns, name: char) -> Waiting<'_> {
        let mut waiting: Waiting<'_> = Box::pin(turns.wait(caller(name)));
        assert!(turn(&mut waiting).is_none(), "its turn has come");
        waiting
    }

    #[test]
    fn no_caller_has_the_last_place() {
        let turns = Turns::new(2);
        let mut first = [Box::pin(turns.wait(caller('a'))) as Waiting<'_>, Box::pin(turns.wait(caller('a')))];
        let held: Vec<_> = first.iter_mut().filter_map(turn).collect();
        assert_eq!(held.len(), 2);
        let _more = [ask(&turns, 'a'), ask(&turns, 'a')];
        let mut other: Waiting<'_> = Box::pin(turns.wait(caller('b')));
        assert!(turn(&mut other).is_some());
    }

    #[test]
    fn the_only_call_of_a_caller_has_a_first_place() {
        let turns = Turns::new(2);
        let begin = |name| turn(&mut (Box::pin(turns.wait(caller(name))) as Waiting<'_>)).expect("a free place");
        let (first, other) = (begin('a'), begin('a'));
        assert_eq!((first.place(), other.place(), begin('b').place()), (Place::First, Place::Other, Place::First));
        drop(first);
        assert_eq!(begin('a').place(), Place::Other);
        drop(other);
        assert_eq!(begin('a').place(), Place::First);
    }

    #[test]
    fn callers_take_turns_however_many_calls_each_has_waiting() {
        let turns = Turns::new(1);
        let begin = |name| turn(&mut (Box::pin(turns.wait(caller(name))) as Waiting<'_>)).expect("a free place");
        let mut running = vec![begin('x'), begin('y')];
        let mut waiting: Vec<_> = "aaaabbc".chars().map(|name| (name, ask(&turns, name))).collect();
        let mut order = String::new();
        while !waiting.is_empty() {
            drop(running.remove(0));
            let at = waiting.iter_mut().position(|(_, waiting)| match turn(waiting) {
                Some(turn) => {
                    running.push(turn);
                    true
                }
                None => false,
            });
            order.extend(at.map(|at| waiting.remove(at).0));
        }
        assert_eq!(order, "abcabaa");
    }

    #[test]
    fn a_call_that_is_given_up_takes_no_turn() {
        let turns = Turns::new(1);
        let mut first: Waiting<'_> = Box::pin(turns.wait(caller('a')));
        let held = turn(&mut first).expect("a free place");
        drop(ask(&turns, 'a'));
        let mut last = ask(&turns, 'a');
        drop(held);
        drop(turn(&mut last).expect("its turn"));
        // A turn that came but was never taken is free again.
        let mut first: Waiting<'_> = Box::pin(turns.wait(caller('a')));
        let held = turn(&mut first).expect("a free place");
        let unseen = ask(&turns, 'a');
        drop(held);
        drop(unseen);
        assert!(turn(&mut (Box::pin(turns.wait(caller('a'))) as Waiting<'_>)).is_some());
    }

    #[test]
    fn it_is_quiet_before_the_first_call_and_a_while_after_the_last() {
        let calls = Arc::new(ActiveCalls::default());
        assert!(calls.is_quiet(Duration::from_secs(60)));
        let call = calls.begin();
        assert!(!calls.is_quiet(Duration::ZERO));
        drop(call);
        assert!(calls.is_quiet(Duration::ZERO) && !calls.is_quiet(Duration::from_secs(60)));
    }
}
