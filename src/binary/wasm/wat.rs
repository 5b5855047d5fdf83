//! The module as text: printed once, kept in memory up to a point and then in
//! a file without a name, read again for each time the record is written.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::SpooledTempFile;
use wasmprinter::{Config, Print};

use super::limits::{MAX_CUSTOM, MAX_PRINTED_NAMES, count_names};
use super::walk::Unit;
use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::json::{WriteJson, Writer};
use crate::operation::Context;

/// Modules up to this size are printed unasked (decision 33).
pub const UNASKED: u64 = 1 << 20;
/// The most text, unless the caller says otherwise.
pub const USUAL_MAX: u64 = 32 << 20;

/// Text that is kept in memory.
const IN_MEMORY: usize = 8 << 20;

/// Custom sections that the printer keeps as a whole.
const PRINTED_WHOLE: [&str; 3] = ["dylink.0", "metadata.code.branch_hint", "producers"];

/// The text, or why there is none.
pub enum Wat {
    /// The text.
    Text(Spool),
    /// Why it was not printed.
    Unavailable(String),
}

/// A text that was printed.
pub struct Spool {
    file: Mutex<SpooledTempFile>,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: Digest,
    failed: AtomicBool,
}

impl std::fmt::Debug for Wat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.bytes),
            Self::Unavailable(reason) => write!(f, "Unavailable({reason:?})"),
        }
    }
}

/// Prints a valid binary, where it is small or `asked` for, in at most
/// `max_bytes`.
///
/// # Errors
/// `execution_failure` where a temporary file cannot be written; `cancelled`.
pub fn print(root: &Unit<'_>, asked: bool, max_bytes: u64, context: &Context) -> Result<Wat> {
    let unavailable = |reason: String| Ok(Wat::Unavailable(reason));
    let size = root.file.len() as u64;
    if size > UNASKED && !asked {
        return unavailable(format!(
            "the file has {size} bytes; beyond {UNASKED} it is printed when asked for"
        ));
    }
    if count_names(root) > MAX_PRINTED_NAMES {
        return unavailable(format!(
            "the file gives more than {MAX_PRINTED_NAMES} names, which the printer would keep"
        ));
    }
    for unit in root.all() {
        for (_, name, reader) in unit.customs() {
            if PRINTED_WHOLE.contains(&name) && reader.bytes_remaining() > MAX_CUSTOM {
                return unavailable(format!(
                    "its section {name} has more than {MAX_CUSTOM} bytes, which the printer would keep"
                ));
            }
        }
    }
    let mut sink = Sink {
        file: SpooledTempFile::new(IN_MEMORY),
        buffer: Vec::with_capacity(BUFFER),
        hasher: Hasher::default(),
        bytes: 0,
        max_bytes,
        stop: None,
        context,
    };
    let printed = Config::new().print(root.file, &mut sink);
    let flushed = sink.flush();
    match sink.stop {
        Some(Stop::Full) => {
            return unavailable(format!("the text comes to more than {max_bytes} bytes"));
        }
        Some(Stop::Error(error)) => return Err(error),
        None => {}
    }
    if printed.is_err() || flushed.is_err() {
        return unavailable("the printer has no text for this file".to_owned());
    }
    Ok(Wat::Text(Spool {
        bytes: sink.bytes,
        sha256: sink.hasher.finish(),
        file: Mutex::new(sink.file),
        failed: AtomicBool::new(false),
    }))
}

const BUFFER: usize = 64 << 10;

enum Stop {
    Full,
    Error(Error),
}

struct Sink<'a> {
    file: SpooledTempFile,
    buffer: Vec<u8>,
    hasher: Hasher,
    bytes: u64,
    max_bytes: u64,
    stop: Option<Stop>,
    context: &'a Context,
}

impl Sink<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.hasher.update(&self.buffer);
        if let Err(error) = self.context.check() {
            self.stop = Some(Stop::Error(error));
        } else if let Err(error) = self.file.write_all(&self.buffer) {
            let error = Error::file_io("write", "a temporary file", &error);
            self.stop = Some(Stop::Error(error));
        }
        self.buffer.clear();
        match self.stop {
            Some(_) => Err(io::ErrorKind::Other.into()),
            None => Ok(()),
        }
    }
}

impl Print for Sink<'_> {
    fn write_str(&mut self, text: &str) -> io::Result<()> {
        let bytes = self.bytes.saturating_add(text.len() as u64);
        if bytes > self.max_bytes {
            self.stop = Some(Stop::Full);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes = bytes;
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }
}

impl Spool {
    /// Hands over the text in pieces, cut between characters.
    fn read(&self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut file = match self.file.lock() {
            Ok(file) => file,
            // A panic elsewhere leaves the file as it was.
            Err(poisoned) => poisoned.into_inner(),
        };
        file.seek(SeekFrom::Start(0))?;
        let mut buffer = vec![0; BUFFER];
        let (mut kept, mut left) = (0, self.bytes);
        while left > 0 {
            let room = buffer.get_mut(kept..).unwrap_or_default();
            let read = file.read(room)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left = left.saturating_sub(read as u64);
            let filled = buffer.get(..kept + read).unwrap_or_default();
            // Only the last character may be cut.
            let whole = match std::str::from_utf8(filled) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            take(filled.get(..whole).unwrap_or_default());
            let end = kept + read;
            kept = end - whole;
            buffer.copy_within(whole..end, 0);
        }
        Ok(())
    }
}

impl WriteJson for Wat {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("available", matches!(self, Self::Text(_)));
        match self {
            Self::Unavailable(reason) => {
                w.member("reason", reason);
            }
            Self::Text(text) => {
                w.member("bytes", text.bytes);
                w.member("representation", "decoded-wat");
                w.member("sha256", text.sha256);
                w.key("text");
                w.begin_text();
                let read = text.read(|piece| w.text_part(piece));
                w.end_text();
                if let Err(error) = read {
                    text.failed.store(true, Ordering::Relaxed);
                    w.fail(error);
                }
            }
        }
        w.end_object();
    }
}

impl Wat {
    /// That the text could be read each time it was written.
    ///
    /// # Errors
    /// `execution_failure` where a temporary file could not be read.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Text(text) if text.failed.load(Ordering::Relaxed) => {
                let error = io::ErrorKind::UnexpectedEof.into();
                Err(Error::file_io("read", "a temporary file", &error))
            }
            _ => Ok(()),
        }
    }

    /// The text's digest, where there is one.
    pub fn sha256(&self) -> Option<Digest> {
        match self {
            Self::Text(text) => Some(text.sha256),
            Self::Unavailable(_) => None,
        }
    }
}
