//! Turns of calls, shared fairly between callers.
//!
//! The next turn goes to the caller with the fewest calls in progress. A caller's only call has a first place; further ones have places
//! of their own, whose calls yield to those in first places. So a caller with many calls takes little from those with few.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tamis::search::SearchCaller;
use tokio::sync::oneshot;

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
}
