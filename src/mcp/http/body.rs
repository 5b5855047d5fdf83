//! Bodies: of requests, bounded; of replies, with the frames of the server in
//! the place of their tokens.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::wire::Seen;
use crate::mcp::frame::Frames;

/// Bytes of a request's body.
pub(super) const LONGEST: usize = 4 << 20;

/// Why a body was not read.
pub(super) enum Unread {
    /// It is longer than [`LONGEST`].
    TooLong,
    /// It ended early, or was no body.
    Broken,
}

/// Reads the body of a request.
pub(super) async fn read(mut body: Incoming) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > LONGEST as u64 {
        return Err(Unread::TooLong);
    }
    let mut text = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        if text.len() + data.len() > LONGEST {
            return Err(Unread::TooLong);
        }
        text.extend_from_slice(&data);
    }
    Ok(text.freeze())
}

type Pieces = Box<dyn Iterator<Item = Bytes> + Send>;

/// The body of a reply.
pub(super) struct Reply {
    inner: BoxBody<Bytes, Infallible>,
    pieces: Option<Pieces>,
    frames: Arc<Frames>,
    seen: Seen,
}

impl Reply {
    /// The body `inner`, on the connection that `seen` watches.
    pub fn new(inner: BoxBody<Bytes, Infallible>, frames: Arc<Frames>, seen: Seen) -> Self {
        Self {
            inner,
            pieces: None,
            frames,
            seen,
        }
    }

    /// What goes out in place of a part of the SDK's body.
    fn replaced(&self, part: Bytes) -> Pieces {
        let Some(frame) = self.frames.of_message(&part) else {
            return Box::new([part].into_iter());
        };
        let secret = self.frames.secret().as_bytes();
        let at = memchr::memmem::find(&part, secret).unwrap_or(0);
        let line = part.get(..at).and_then(|head| memchr::memrchr(b'\n', head));
        let start = line.map_or(0, |line| line + 1);
        let rest = part.get(at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(part.len(), |end| at + end);
        // An event is `data: ` and the message; without events there is only
        // the message.
        let lead: &'static [u8] = match part
            .get(start..)
            .is_some_and(|line| line.starts_with(b"data:"))
        {
            true => b"data: ",
            false => b"",
        };
        let before = [part.slice(..start), Bytes::from_static(lead)];
        let after = [part.slice(end..)];
        let pieces = before.into_iter().chain(frame.pieces()).chain(after);
        Box::new(pieces.filter(|piece| !piece.is_empty()))
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            if let Some(piece) = self.pieces.as_mut().and_then(Iterator::next) {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            self.pieces = None;
            match Pin::new(&mut self.inner).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.pieces = Some(self.replaced(data)),
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Poll::Ready(None) => {
                    self.seen.answered();
                    return Poll::Ready(None);
                }
                other => return other,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // Tokens are shorter than what they stand for.
        match self.inner.is_end_stream() && self.pieces.is_none() {
            true => SizeHint::with_exact(0),
            false => SizeHint::default(),
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.seen.answered();
    }
}
