//! Containers that are read from front to back: one worker decodes (a second
//! thread, where the stream is long) and hashes each member as it passes.

use std::sync::Arc;

use super::collector::Collector;
use super::open::{Open, StreamSource};
use super::pipe::{Guarded, Piped};
use super::{Run, is_environment};
use crate::artifact::containers::{Closing, Fault, MemberKind, UNKNOWN};
use crate::artifact::format::{self, Format};
use crate::artifact::options::Options;
use crate::artifact::streams::{self, Decoder, Entry, Input, Sink};

/// Shorter streams are decoded where they are hashed.
const PIPE_FROM: u64 = 256 << 10;
/// The account of all nested containers, as a limit.
pub(super) const NESTED_BUDGET: &str = "nested budget";
/// No member: the fault is the container's own.
pub(super) const NO_MEMBER: u32 = u32::MAX;

impl Run<'_> {
    /// Reads a stream to its end.
    pub(super) fn read_stream(&self, open: &Arc<Open>) -> Result<(), Fault> {
        let stream = open.stream.lock().ok().and_then(|stream| stream.clone());
        let Some(stream) = stream else { return Ok(()) };
        let mut collector = Collector::new(self, open);
        let read = self.drive(&stream, &mut collector);
        let broken = match read {
            Ok(closing) => {
                collector.closing = closing;
                None
            }
            Err(fault) if is_environment(&fault) => return Err(fault),
            Err(Fault::Damage(damage)) if open.keep_going => {
                collector.break_off(&damage);
                None
            }
            Err(fault) => Some(fault),
        };
        let current = collector.current_index();
        let settled = collector.settle();
        if let Some(fault) = broken.or(settled.err()) {
            open.lock().fault = Some((current, fault));
        }
        if self.eager
            && open.place.level > 0
            && let Ok(mut slot) = open.stream.lock()
        {
            *slot = None;
        }
        Ok(())
    }

    fn drive(
        &self,
        stream: &StreamSource,
        collector: &mut Collector<'_>,
    ) -> Result<Closing, Fault> {
        let threads = self.context.threads;
        let decoder = streams::decoder(stream.format, &stream.source, self.options, threads)?;
        let mut decoder = Guarded::new(decoder, self, stream);
        if threads < 2 || !streams::is_compressed(stream.format) || stream.source.len() < PIPE_FROM
        {
            return read_members(&mut decoder, stream, collector);
        }
        std::thread::scope(|scope| {
            let mut piped = Piped::start(scope, decoder);
            read_members(&mut piped, stream, collector)
        })
    }
}

/// Cuts plain bytes into members.
fn read_members(
    decoder: &mut dyn Decoder,
    stream: &StreamSource,
    collector: &mut Collector<'_>,
) -> Result<Closing, Fault> {
    let options = collector.run.options;
    cut(decoder, stream, options, collector, |collector| {
        collector.content = true;
    })
}

/// Cuts the plain bytes of a stream into members for `sink`. `alone` is called
/// first where the stream holds no archive and so has only one member.
pub(crate) fn cut<S: Sink>(
    decoder: &mut dyn Decoder,
    stream: &StreamSource,
    options: &Options,
    sink: &mut S,
    alone: impl FnOnce(&mut S),
) -> Result<Closing, Fault> {
    let mut input = Input::new(decoder);
    let inner = match stream.format {
        Format::Tar | Format::Cpio => stream.format,
        _ => format::of_bytes(input.look(format::HEAD), u64::MAX),
    };
    let mut closing = match inner {
        Format::Tar => streams::tar::read(&mut input, sink, options)?,
        Format::Cpio => streams::cpio::read(&mut input, sink, options)?,
        _ => {
            alone(sink);
            sink.begin(Entry {
                name: &stream.content,
                kind: MemberKind::File,
                size: UNKNOWN,
                mode: crate::artifact::containers::NO_MODE,
            })?;
            input.pass_all(&mut |bytes| sink.data(bytes))?;
            if let Some(damage) = input.contradiction() {
                sink.contradicts(damage)?;
            }
            sink.end()?;
            Closing::default()
        }
    };
    // What the archive left over must decode as well.
    input.pass_all(&mut |_| Ok(()))?;
    // Which member of an archive it is about cannot be told.
    if let Some(damage) = input.contradiction() {
        return Err(damage.into());
    }
    closing.limitations.extend(decoder.close().limitations);
    Ok(closing)
}

/// Whether an entry of an archive is the archive's own (decision 2), which
/// makes it no member.
pub(crate) fn is_container_itself(entry: &Entry<'_>) -> bool {
    entry.kind == MemberKind::Directory && matches!(strip_dot(entry.name), b"" | b"." | b"/")
}

/// A leading `./` says nothing (decision 2).
pub(super) fn strip_dot(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
        while let Some(rest) = name.strip_prefix(b"/") {
            name = rest;
        }
    }
    name
}
