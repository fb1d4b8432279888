//! Bodies of requests, read whole within a time and a size, and bodies of responses, which report their end.

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

/// The body of a response.
pub(super) type Outgoing = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// A short text as a body.
pub(super) fn text(text: impl Into<Bytes>) -> Outgoing {
    Full::new(text.into()).boxed()
}

/// Most bytes of all bodies being read. A slow sender takes up only the bytes that it has sent.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// Reads the bodies of requests.
pub(super) struct BodyReader {
    /// Most bytes of one body.
    pub max_bytes: usize,
    timeout: Duration,
    reserved: AtomicUsize,
}

/// A part of [`MAX_TOTAL_BYTES`], released when this is dropped.
struct Reservation<'a> {
    reader: &'a BodyReader,
    bytes: usize,
}

impl BodyReader {
    pub fn new(max_bytes: usize, timeout: Duration) -> BodyReader {
        BodyReader { max_bytes, timeout, reserved: AtomicUsize::new(0) }
    }

    /// Reads a whole body.
    ///
    /// # Errors
    /// The status that refuses the body.
    pub async fn read(&self, body: Incoming) -> Result<Bytes, StatusCode> {
        if body.size_hint().lower() > self.max_bytes as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        tokio::time::timeout(self.timeout, self.collect(body)).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }

    async fn collect(&self, mut body: Incoming) -> Result<Bytes, StatusCode> {
        let mut reservation = Reservation { reader: self, bytes: 0 };
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| StatusCode::BAD_REQUEST)?.into_data() else { continue };
            if whole.len() + data.len() > self.max_bytes {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            reservation.bytes += data.len();
            if self.reserved.fetch_add(data.len(), SeqCst) + data.len() > MAX_TOTAL_BYTES {
                return Err(StatusCode::SERVICE_UNAVAILABLE);
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.reader.reserved.fetch_sub(self.bytes, SeqCst);
    }
}

/// The body of a response. It drops `until_sent` when it ends or the client has left, and ends at the deadline at the latest.
pub(super) struct ResponseBody<T> {
    pub body: Outgoing,
    pub until_sent: Option<T>,
    pub deadline: Option<Pin<Box<Sleep>>>,
}

impl<T: Unpin> Body for ResponseBody<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending()
            && self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready())
        {
            polled = Poll::Ready(None);
        }
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.until_sent = None;
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

    /// A body without data that never ends.
    struct Silent;

    impl Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn the_guard_is_dropped_at_the_end_of_the_body_or_at_the_deadline() {
        let held = Arc::new(());
        let hold = |body, deadline| ResponseBody { body, until_sent: Some(held.clone()), deadline };
        let mut short = hold(text("abc"), None);
        assert_eq!(Arc::strong_count(&held), 2);
        assert!(short.frame().await.is_some());
        assert_eq!(Arc::strong_count(&held), 1, "after the last frame");

        let deadline = Box::pin(tokio::time::sleep(Duration::from_millis(20)));
        let mut silent = hold(Silent.boxed(), Some(deadline));
        assert_eq!(Arc::strong_count(&held), 2);
        let frame = tokio::time::timeout(Duration::from_secs(10), silent.frame()).await.expect("in time");
        assert!(frame.is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
