//! Bodies of requests, read whole within a time and a size, and bodies of responses, which report their end.

use crate::api::problem::{Kind, Problem};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONNECTION, HeaderValue};
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Sleep;

/// Most bytes of all bodies being read. A slow sender takes up only the bytes that it has sent.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// Reads the bodies of requests.
pub(super) struct BodyReader {
    /// Most bytes of one body.
    max_bytes: usize,
    timeout: Duration,
    /// Has a permit for each byte that may still be read.
    free_bytes: Semaphore,
}

impl BodyReader {
    pub fn new(max_bytes: usize, timeout: Duration) -> BodyReader {
        BodyReader { max_bytes, timeout, free_bytes: Semaphore::new(MAX_TOTAL_BYTES) }
    }

    /// Reads a whole body.
    ///
    /// # Errors
    /// The body is too long or too slow, it breaks off, or too many others are being read.
    pub async fn read(&self, body: Body) -> Result<Bytes, Problem> {
        let read = match body.size_hint().lower() > self.max_bytes as u64 {
            true => Err(self.too_large()),
            false => tokio::time::timeout(self.timeout, self.collect(body))
                .await
                .unwrap_or_else(|_| Err(Problem::new(Kind::Slow, "the message took too long to arrive"))),
        };
        // The rest of the body stays unread, so the connection cannot be used again.
        read.map_err(|problem| problem.with(CONNECTION, HeaderValue::from_static("close")))
    }

    async fn collect(&self, body: Body) -> Result<Bytes, Problem> {
        let busy = |_| Problem::new(Kind::Unavailable, "too many long messages at once; try again");
        let (mut chunks, mut whole) = (body.into_data_stream(), Vec::new());
        let mut reserved = self.free_bytes.try_acquire_many(0).map_err(busy)?;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| Problem::new(Kind::Request, "the message could not be read"))?;
            if whole.len() + chunk.len() > self.max_bytes {
                return Err(self.too_large());
            }
            let bytes = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
            reserved.merge(self.free_bytes.try_acquire_many(bytes).map_err(busy)?);
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }

    fn too_large(&self) -> Problem {
        Problem::new(Kind::TooLarge, format!("a message may have at most {} bytes", self.max_bytes))
    }
}

/// The body of a response. It drops `until_sent` when it ends or the client has left, and ends at the deadline at the latest.
pub(super) struct ResponseBody<T> {
    pub body: Body,
    pub until_sent: Option<T>,
    pub deadline: Option<Pin<Box<Sleep>>>,
}

impl<T: Unpin> HttpBody for ResponseBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
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
    use futures_util::stream;
    use std::convert::Infallible;
    use std::sync::Arc;

    #[tokio::test]
    async fn the_guard_is_dropped_at_the_end_of_the_body_or_at_the_deadline() {
        let held = Arc::new(());
        let hold = |body, deadline| {
            Body::new(ResponseBody { body, until_sent: Some(held.clone()), deadline }).into_data_stream()
        };
        let mut short = hold(Body::from("abc"), None);
        assert_eq!(Arc::strong_count(&held), 2);
        assert!(short.next().await.is_some());
        assert_eq!(Arc::strong_count(&held), 1, "after the last frame");

        let deadline = Box::pin(tokio::time::sleep(Duration::from_millis(20)));
        let silent = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let mut silent = hold(silent, Some(deadline));
        assert_eq!(Arc::strong_count(&held), 2);
        let frame = tokio::time::timeout(Duration::from_secs(10), silent.next()).await.expect("in time");
        assert!(frame.is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
