//! A connection as it is on the wire. What the HTTP library does not tell is
//! seen here: the target of a request as it was written, and a request that
//! comes before the last one was answered (sections 3.3 and 3.4).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

/// Bytes of a head; the HTTP library refuses longer ones itself.
const HEAD: usize = 512 * 1024;

/// A connection that is watched.
pub(super) struct Wire {
    stream: TcpStream,
    seen: Seen,
}

/// What was seen of a connection.
#[derive(Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Watch>>);

/// What is wrong with a request before it is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The target is not a path as it stands.
    Target,
    /// No client that follows the web's rules sends this method.
    Method,
}

#[derive(Debug, Default)]
struct Watch {
    state: State,
    fault: Option<Fault>,
    /// The slot of a plain route, until its reply is delivered.
    slot: Option<OwnedSemaphorePermit>,
    /// Whether the reply is complete, if not yet delivered.
    ended: bool,
}

#[derive(Debug)]
enum State {
    /// A head is coming, of which this is there.
    Head(Vec<u8>),
    /// So many bytes of a body are to come.
    Body(u64),
    /// A body in chunks is coming.
    Chunks(Chunks),
    /// The request is complete, its reply is not.
    Reply,
    /// Not to be understood: the HTTP library will say so.
    Lost,
}

impl Default for State {
    fn default() -> Self {
        Self::Head(Vec::new())
    }
}

/// Where in a body of chunks.
#[derive(Debug)]
enum Chunks {
    /// In the line with the size, of which this is there.
    Size(Vec<u8>),
    /// So many bytes are to come, with the line end behind them.
    Data(u64),
    /// In the trailer: how long the line is so far.
    Trailer(u64),
}

impl Wire {
    /// Watches a connection.
    pub fn new(stream: TcpStream) -> (Self, Seen) {
        let seen = Seen::default();
        let wire = Self {
            stream,
            seen: seen.clone(),
        };
        (wire, seen)
    }
}

impl Seen {
    fn watch<T>(&self, look: impl FnOnce(&mut Watch) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is wrong with the request that came last.
    pub fn fault(&self) -> Option<Fault> {
        self.watch(|watch| watch.fault)
    }

    /// The request holds its slot until its reply is delivered.
    pub fn hold(&self, slot: OwnedSemaphorePermit) {
        self.watch(|watch| {
            watch.slot = Some(slot);
            watch.ended = false;
        });
    }

    /// Everything that there was to send is sent.
    fn flushed(&self) {
        self.watch(|watch| {
            if watch.ended {
                watch.slot = None;
            }
        });
    }

    /// The reply is complete: the next request may come.
    pub fn answered(&self) {
        self.watch(|watch| {
            watch.ended = true;
            if matches!(watch.state, State::Reply) {
                watch.state = State::default();
            }
        });
    }
}

impl Watch {
    /// Looks at bytes that came; `false` where they belong to a request that
    /// is too early.
    fn look(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((&first, rest)) = bytes.split_first() {
            match &mut self.state {
                State::Lost => return true,
                State::Reply => return false,
                State::Head(head) => {
                    head.push(first);
                    bytes = rest;
                    if head.len() > HEAD {
                        self.state = State::Lost;
                    } else if head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n") {
                        let head = std::mem::take(head);
                        self.head(&head);
                    }
                }
                State::Body(left) => {
                    let count = usize::try_from(*left)
                        .unwrap_or(usize::MAX)
                        .min(bytes.len());
                    *left -= count as u64;
                    bytes = bytes.get(count..).unwrap_or_default();
                    if *left == 0 {
                        self.state = State::Reply;
                    }
                }
                State::Chunks(chunks) => {
                    let (used, next) = chunks.take(bytes);
                    bytes = bytes.get(used..).unwrap_or_default();
                    match next {
                        Next::Same => {}
                        Next::End => self.state = State::Reply,
                        Next::Lost => self.state = State::Lost,
                    }
                }
            }
        }
        true
    }

    fn head(&mut self, head: &[u8]) {
        let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        // Empty lines before a request are skipped.
        let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let mut words = first.split(|&byte| byte == b' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next());
        self.fault = match target {
            _ if [&b"CONNECT"[..], b"TRACE", b"TRACK"].contains(&method) => Some(Fault::Method),
            Some(target) if is_path(target) => None,
            _ => Some(Fault::Target),
        };
        let mut length = None;
        let mut chunked = false;
        for line in lines {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else {
                continue;
            };
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            if name.eq_ignore_ascii_case(b"content-length") {
                length = std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse().ok());
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                chunked = value.to_ascii_lowercase().ends_with(b"chunked");
            }
        }
        self.state = match (chunked, length) {
            (true, _) => State::Chunks(Chunks::Size(Vec::new())),
            (false, Some(length)) if length > 0 => State::Body(length),
            (false, _) => State::Reply,
        };
    }
}

enum Next {
    Same,
    End,
    Lost,
}

impl Chunks {
    /// How many of `bytes` were taken, and what follows.
    fn take(&mut self, bytes: &[u8]) -> (usize, Next) {
        match self {
            Self::Size(line) => {
                let end = bytes.iter().position(|&byte| byte == b'\n');
                let used = end.map_or(bytes.len(), |end| end + 1);
                line.extend_from_slice(bytes.get(..used).unwrap_or_default());
                if line.len() > HEAD {
                    return (used, Next::Lost);
                }
                if end.is_none() {
                    return (used, Next::Same);
                }
                let digits = line
                    .iter()
                    .take_while(|byte| byte.is_ascii_hexdigit())
                    .count();
                let digits = line.get(..digits).unwrap_or_default();
                let size = std::str::from_utf8(digits)
                    .ok()
                    .and_then(|digits| u64::from_str_radix(digits, 16).ok());
                *self = match size {
                    Some(0) => Self::Trailer(0),
                    Some(size) => Self::Data(size.saturating_add(2)),
                    None => return (used, Next::Lost),
                };
                (used, Next::Same)
            }
            Self::Data(left) => {
                let used = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                *left -= used as u64;
                if *left == 0 {
                    *self = Self::Size(Vec::new());
                }
                (used, Next::Same)
            }
            Self::Trailer(length) => {
                let end = bytes.iter().position(|&byte| byte == b'\n');
                let line = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                let text = line.iter().filter(|&&byte| byte != b'\r').count();
                *length = length.saturating_add(text as u64);
                match end {
                    None => (bytes.len(), Next::Same),
                    Some(end) if *length == 0 => (end + 1, Next::End),
                    Some(end) => {
                        *length = 0;
                        (end + 1, Next::Same)
                    }
                }
            }
        }
    }
}

/// Whether a target is a path that reading it as a URL would leave as it is.
fn is_path(target: &[u8]) -> bool {
    let path = target
        .split(|&byte| byte == b'?')
        .next()
        .unwrap_or_default();
    let plain = |&byte: &u8| {
        byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'"' | b'#' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'}' | b'|'
            )
    };
    let dots = |segment: &[u8]| {
        let text = segment.to_ascii_lowercase();
        let text = String::from_utf8_lossy(&text).replace("%2e", ".");
        text == "." || text == ".."
    };
    path.first() == Some(&b'/')
        && path.iter().all(plain)
        && !target.contains(&b'#')
        && !path.split(|&byte| byte == b'/').any(dots)
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = polled {
            let new = buffer.filled().get(before..).unwrap_or_default();
            if !self.seen.watch(|watch| watch.look(new)) {
                let message = "a request came before the last one was answered";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
            }
        }
        polled
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        if polled.is_ready() {
            // The HTTP library flushes what it has written, all of it.
            self.seen.flushed();
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_paths_as_they_stand() {
        for good in [
            "/mcp",
            "/mcp?x=%23&y=..",
            "//host/path",
            "/a%2Fb",
            "/mcp/...",
            "/",
        ] {
            assert!(is_path(good.as_bytes()), "{good}");
        }
        for bad in [
            "http://localhost/mcp",
            "*",
            "/mcp#x",
            "/public/../mcp",
            "/./mcp",
            "/%2E%2e/mcp",
            "/mcp?x#y",
            "/a\\b",
            "/\u{e9}",
            "mcp",
            "",
            "/.%2e",
        ] {
            assert!(!is_path(bad.as_bytes()), "{bad}");
        }
    }

    /// However the bytes are cut.
    fn fed(parts: &[&[u8]]) -> (bool, Watch) {
        let mut watch = Watch::default();
        let early = parts.iter().all(|part| watch.look(part));
        (early, watch)
    }

    #[test]
    fn a_request_behind_an_open_one_is_too_early() {
        let one = b"POST /mcp HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        let chunks =
            b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        let trailer =
            b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0;x=y\r\nA: b\r\n\r\n";
        for request in [&one[..], chunks, trailer, b"GET /mcp HTTP/1.1\r\n\r\n"] {
            for cut in 0..=request.len() {
                let (head, tail) = request.split_at(cut);
                let (fine, mut watch) = fed(&[head, tail]);
                assert!(
                    fine && matches!(watch.state, State::Reply),
                    "{request:?} {cut}"
                );
                assert!(!watch.look(b"G"));
            }
            let seen = Seen::default();
            assert!(seen.watch(|watch| watch.look(request)));
            seen.answered();
            assert!(seen.watch(|watch| watch.look(b"GET")));
        }
    }

    #[test]
    fn a_slot_is_held_until_the_reply_is_sent() {
        let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
        let seen = Seen::default();
        for _ in 0..2 {
            let slot = Arc::clone(&slots).try_acquire_owned().unwrap();
            seen.hold(slot);
            // What is flushed is the end of another reply.
            seen.flushed();
            assert_eq!(slots.available_permits(), 0);
            seen.answered();
            assert_eq!(slots.available_permits(), 0);
            seen.flushed();
            assert_eq!(slots.available_permits(), 1);
        }
        // A client that leaves gives it back too.
        seen.hold(Arc::clone(&slots).try_acquire_owned().unwrap());
        drop(seen);
        assert_eq!(slots.available_permits(), 1);
    }

    #[test]
    fn faults_are_of_the_last_request() {
        let fault = |head: &str| fed(&[head.as_bytes()]).1.fault;
        assert_eq!(fault("GET /mcp HTTP/1.1\r\n\r\n"), None);
        assert_eq!(fault("GET /a/../mcp HTTP/1.1\r\n\r\n"), Some(Fault::Target));
        assert_eq!(fault("TRACE /mcp HTTP/1.1\r\n\r\n"), Some(Fault::Method));
        assert_eq!(fault("CONNECT x:1 HTTP/1.1\r\n\r\n"), Some(Fault::Method));
    }
}
