//! Bodies: those of requests are read whole, within a time and a size; those of answers tell when they end.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::StatusCode;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// The body of an answer.
pub(super) type Outgoing = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// A short text as a body.
pub(super) fn text(text: impl Into<Bytes>) -> Outgoing {
    Full::new(text.into()).boxed()
}

/// Most bytes that all bodies being read hold together. One that sends slowly holds only what it has sent.
const TOGETHER: usize = 64 << 20;

/// Reads bodies.
pub(super) struct Intake {
    /// Most bytes of one.
    pub most: usize,
    /// How long one may take.
    pub timeout: Duration,
    held: AtomicUsize,
}

/// A share of [`TOGETHER`], given back when this is dropped.
struct Share<'a> {
    intake: &'a Intake,
    bytes: usize,
}

impl Intake {
    pub fn new(most: usize, timeout: Duration) -> Intake {
        Intake { most, timeout, held: AtomicUsize::new(0) }
    }

    /// The whole body, or the status that says why not.
    pub async fn read(&self, body: Incoming) -> Result<Bytes, StatusCode> {
        if body.size_hint().lower() > self.most as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        tokio::time::timeout(self.timeout, self.collect(body)).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }

    async fn collect(&self, mut body: Incoming) -> Result<Bytes, StatusCode> {
        let mut share = Share { intake: self, bytes: 0 };
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| StatusCode::BAD_REQUEST)?.into_data() else { continue };
            if whole.len() + data.len() > self.most {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            share.bytes += data.len();
            if self.held.fetch_add(data.len(), SeqCst) + data.len() > TOGETHER {
                return Err(StatusCode::SERVICE_UNAVAILABLE);
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.intake.held.fetch_sub(self.bytes, SeqCst);
    }
}

/// A body that holds something until it ends or nobody wants the rest, and that ends at a time at the latest.
pub(super) struct Held<T> {
    pub body: Outgoing,
    pub until_the_end: Option<T>,
    pub ends: Option<Pin<Box<Sleep>>>,
}

impl<T: Unpin> Body for Held<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending() && self.ends.as_mut().is_some_and(|ends| ends.as_mut().poll(context).is_ready()) {
            polled = Poll::Ready(None);
        }
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.until_the_end = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Never says anything and never ends.
    struct Silent;

    impl Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn what_is_held_is_let_go_when_the_body_ends_or_its_time_is_over() {
        let held = Arc::new(());
        let hold = |body, ends| Held { body, until_the_end: Some(held.clone()), ends };
        let mut short = hold(text("abc"), None);
        assert_eq!(Arc::strong_count(&held), 2);
        assert!(short.frame().await.is_some());
        assert_eq!(Arc::strong_count(&held), 1, "the last frame was given");

        let ends = Box::pin(tokio::time::sleep(Duration::from_millis(20)));
        let mut silent = hold(Silent.boxed(), Some(ends));
        assert_eq!(Arc::strong_count(&held), 2);
        let frame = tokio::time::timeout(Duration::from_secs(10), silent.frame()).await.expect("in time");
        assert!(frame.is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
