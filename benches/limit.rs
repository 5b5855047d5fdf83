//! The physical limit of an inventory: the same bytes listed, read, inflated and hashed by a bare
//! loop that builds no record. `scripts/bench.sh` divides the time of `rea` by the time of this.
//!
//! ```text
//! limit folder DIR [--threads N]   hash every file below DIR
//! limit zip FILE [--threads N]     inflate and hash every member of FILE, and hash FILE itself
//! ```
//!
//! Jobs are sorted by expected cost, largest first, and each thread takes the next one from an
//! atomic counter. Buffers, inflate state and hash state belong to a thread and are used again.
//! One line on stdout: seconds, jobs, bytes hashed, bytes read, threads and one digest over all
//! digests, which must not depend on the number of threads.

use flate2::{Decompress, FlushDecompress, Status};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes a read asks for; small enough to stay in the second-level cache until they are hashed.
const CHUNK: usize = 256 * 1024;
/// Members up to this size are inflated by one call into a buffer of the declared size. Larger
/// ones go chunk by chunk, which is faster for them: no fresh pages, and hashing hits the cache.
const ONE_SHOT: u64 = 4 * 1024 * 1024;
/// Inflating a byte costs about this many times hashing it; only the order of jobs depends on it.
const INFLATE_COST: u64 = 3;

const USAGE: &str = "usage: limit folder DIR [--threads N]\n       limit zip FILE [--threads N]";

fn main() -> ExitCode {
    let mut words: VecDeque<OsString> = std::env::args_os().skip(1).collect();
    // `cargo bench` and `cargo test` run the target without a command: nothing to measure then.
    let Some(command) = words
        .pop_front()
        .filter(|word| !word.as_bytes().starts_with(b"-"))
    else {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    };
    match measure(&command, words) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("limit: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Parses the rest of the command line, runs the command and describes the run in one line.
fn measure(command: &OsString, mut words: VecDeque<OsString>) -> Result<String> {
    let mut threads = thread::available_parallelism().map_or(1, usize::from);
    let mut path = None;
    while let Some(word) = words.pop_front() {
        match word.to_str() {
            Some("--threads") => {
                let value = words.pop_front().ok_or("--threads needs a number")?;
                threads = value.to_str().ok_or("--threads needs a number")?.parse()?;
            }
            Some("--bench") => {} // cargo bench appends it
            _ if path.is_none() => path = Some(PathBuf::from(word)),
            _ => return Err(USAGE.into()),
        }
    }
    let path = path.ok_or(USAGE)?;
    let threads = threads.max(1);

    let start = Instant::now();
    let totals = match command.to_str() {
        Some("folder") => folder(&path, threads)?,
        Some("zip") => zip(&path, threads)?,
        _ => return Err(USAGE.into()),
    };
    Ok(format!(
        "seconds={:.6} jobs={} bytes={} read={} threads={threads} digest={}",
        start.elapsed().as_secs_f64(),
        totals.jobs,
        totals.bytes,
        totals.read,
        totals.digest
    ))
}

/// What a run amounts to.
struct Totals {
    jobs: usize,
    /// Bytes that went through SHA-256.
    bytes: u64,
    /// Bytes that came from the file system.
    read: u64,
    /// Lower-case hex SHA-256 over every job's name and digest, in order of the names.
    digest: String,
}

/// What one job found.
struct Done {
    job: usize,
    bytes: u64,
    read: u64,
    digest: [u8; 32],
}

/// The state that a thread keeps from job to job.
struct Worker {
    chunk: Vec<u8>,
    compressed: Vec<u8>,
    plain: Vec<u8>,
    inflater: Decompress,
}

impl Worker {
    fn new() -> Self {
        Self {
            chunk: vec![0; CHUNK],
            compressed: Vec::new(),
            plain: Vec::new(),
            inflater: Decompress::new(false),
        }
    }

    /// Hashes `length` bytes from `offset` of `file`, or up to its end when that comes first.
    fn hash_range(&mut self, file: &File, offset: u64, length: u64) -> Result<(u64, [u8; 32])> {
        let mut hasher = Sha256::new();
        let mut done = 0;
        while done < length {
            let want = usize::try_from(length - done).map_or(CHUNK, |left| left.min(CHUNK));
            let got = file.read_at(&mut self.chunk[..want], offset + done)?;
            if got == 0 {
                break;
            }
            hasher.update(&self.chunk[..got]);
            done += got as u64;
        }
        Ok((done, hasher.finalize().into()))
    }

    /// Inflates and hashes one member by a single call.
    fn inflate_at_once(&mut self, file: &File, member: &Member) -> Result<(u64, [u8; 32])> {
        let (compressed, size) = (
            usize::try_from(member.compressed)?,
            usize::try_from(member.size)?,
        );
        let input = at_least(&mut self.compressed, compressed);
        file.read_exact_at(input, member.data_offset(file)?)?;
        let output = at_least(&mut self.plain, size);
        self.inflater.reset(false);
        let status = self
            .inflater
            .decompress(input, output, FlushDecompress::Finish)?;
        if status != Status::StreamEnd || self.inflater.total_out() != member.size {
            return Err(format!("{}: deflate stream and size disagree", member.shown()).into());
        }
        Ok((member.size, Sha256::digest(output).into()))
    }

    /// Inflates and hashes one member chunk by chunk.
    fn inflate_in_chunks(&mut self, file: &File, member: &Member) -> Result<(u64, [u8; 32])> {
        let output = at_least(&mut self.plain, CHUNK);
        let start = member.data_offset(file)?;
        let mut hasher = Sha256::new();
        self.inflater.reset(false);
        loop {
            let taken = self.inflater.total_in();
            let want =
                usize::try_from(member.compressed - taken).map_or(CHUNK, |left| left.min(CHUNK));
            let got = file.read_at(&mut self.chunk[..want], start + taken)?;
            let mut input = &self.chunk[..got];
            loop {
                let (total_in, total_out) = (self.inflater.total_in(), self.inflater.total_out());
                let status = self
                    .inflater
                    .decompress(input, output, FlushDecompress::None)?;
                let used = usize::try_from(self.inflater.total_in() - total_in)?;
                let made = usize::try_from(self.inflater.total_out() - total_out)?;
                hasher.update(&output[..made]);
                input = &input[used..];
                if status == Status::StreamEnd {
                    return Ok((self.inflater.total_out(), hasher.finalize().into()));
                }
                if made == 0 && used == 0 {
                    break;
                }
            }
            if self.inflater.total_in() == taken {
                return Err(format!("{}: deflate stream ends early", member.shown()).into());
            }
        }
    }
}

/// The first `size` bytes of a buffer that grows when needed; what it held is not cleared.
fn at_least(buffer: &mut Vec<u8>, size: usize) -> &mut [u8] {
    if buffer.len() < size {
        *buffer = vec![0; size]; // fresh zero pages, where `resize` would copy and clear
    }
    &mut buffer[..size]
}

/// Runs jobs `0..count` on `threads` threads, each taking the next by an atomic counter.
fn run<F>(count: usize, threads: usize, job: F) -> Result<Vec<Done>>
where
    F: Fn(&mut Worker, usize) -> Result<Done> + Sync,
{
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<Done>> {
        let mut worker = Worker::new();
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(done);
            }
            done.push(job(&mut worker, index)?);
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(work)).collect();
        let mut all = work()?;
        for other in others {
            all.extend(other.join().map_err(|_| "a thread panicked")??);
        }
        Ok(all)
    })
}

/// Sums up, with one digest over all digests in order of the jobs' names.
fn sum_up(mut done: Vec<Done>, name: impl Fn(usize) -> Vec<u8>) -> Totals {
    done.sort_by_cached_key(|one| name(one.job));
    let mut hasher = Sha256::new();
    for one in &done {
        hasher.update(name(one.job));
        hasher.update([0]);
        hasher.update(one.digest);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    Totals {
        jobs: done.len(),
        bytes: done.iter().map(|one| one.bytes).sum(),
        read: done.iter().map(|one| one.read).sum(),
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A regular file or a symbolic link below the folder.
struct Entry {
    path: PathBuf,
    size: u64,
    link: bool,
}

/// Hashes every file below `root`, and the target text of every symbolic link.
fn folder(root: &Path, threads: usize) -> Result<Totals> {
    let mut entries = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_file() || kind.is_symlink() {
                let size = entry.metadata()?.size();
                entries.push(Entry {
                    path: entry.path(),
                    size,
                    link: kind.is_symlink(),
                });
            }
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.size));

    let done = run(entries.len(), threads, |worker, job| {
        let entry = &entries[job];
        let (bytes, digest) = if entry.link {
            let target = fs::read_link(&entry.path)?.into_os_string().into_vec();
            (target.len() as u64, Sha256::digest(&target).into())
        } else {
            worker.hash_range(&File::open(&entry.path)?, 0, u64::MAX)?
        };
        Ok(Done {
            job,
            bytes,
            read: bytes,
            digest,
        })
    })?;
    Ok(sum_up(done, |job| {
        let path = &entries[job].path;
        path.strip_prefix(root)
            .unwrap_or(path)
            .as_os_str()
            .as_bytes()
            .to_vec()
    }))
}

/// A central-directory entry (APPNOTE 4.3.12), as far as reading its data takes.
struct Member {
    name: Vec<u8>,
    method: u16,
    compressed: u64,
    size: u64,
    header: u64,
}

impl Member {
    fn cost(&self) -> u64 {
        if self.method == 0 {
            self.size
        } else {
            self.size.saturating_mul(1 + INFLATE_COST)
        }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Where the data begins: behind the local header (APPNOTE 4.3.7), whose name and extra field
    /// have lengths of their own.
    fn data_offset(&self, file: &File) -> Result<u64> {
        let mut header = [0; 30];
        file.read_exact_at(&mut header, self.header)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(format!("{}: no local header", self.shown()).into());
        }
        Ok(self.header + 30 + number(&header, 26, 2)? + number(&header, 28, 2)?)
    }
}

/// The little-endian number of `width` bytes at `offset`.
fn number(bytes: &[u8], offset: usize, width: usize) -> Result<u64> {
    let field = bytes
        .get(offset..offset + width)
        .ok_or("the ZIP structure is cut off")?;
    Ok(field
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Reads the central directory that the last end record (APPNOTE 4.3.16) announces.
fn central_directory(file: &File, length: u64) -> Result<Vec<Member>> {
    let tail_length = length.min(22 + 0xFFFF);
    let mut tail = vec![0; usize::try_from(tail_length)?];
    file.read_exact_at(&mut tail, length - tail_length)?;
    let end = tail
        .windows(4)
        .rposition(|four| four == b"PK\x05\x06")
        .ok_or("not a ZIP file")?;
    let (count, size, offset) = (
        number(&tail, end + 10, 2)?,
        number(&tail, end + 12, 4)?,
        number(&tail, end + 16, 4)?,
    );
    if count == 0xFFFF || size == 0xFFFF_FFFF || offset == 0xFFFF_FFFF {
        return Err("ZIP64 is not measured".into());
    }
    if offset + size > length {
        return Err("the central directory lies outside the file".into());
    }
    let mut directory = vec![0; usize::try_from(size)?];
    file.read_exact_at(&mut directory, offset)?;

    let mut members = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let entry = directory
            .get(at..)
            .ok_or("the central directory is cut off")?;
        let name_length = usize::try_from(number(entry, 28, 2)?)?;
        let variable = number(entry, 30, 2)? + number(entry, 32, 2)?;
        members.push(Member {
            name: entry
                .get(46..46 + name_length)
                .ok_or("a name is cut off")?
                .to_vec(),
            method: u16::try_from(number(entry, 10, 2)?)?,
            compressed: number(entry, 20, 4)?,
            size: number(entry, 24, 4)?,
            header: number(entry, 42, 4)?,
        });
        at += 46 + name_length + usize::try_from(variable)?;
    }
    Ok(members)
}

/// Inflates and hashes every member of a ZIP file, and hashes the file itself.
fn zip(path: &Path, threads: usize) -> Result<Totals> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let members = central_directory(&file, length)?;

    // Job `members.len()` is the file itself.
    let mut order: Vec<(u64, usize)> = members
        .iter()
        .enumerate()
        .map(|(job, member)| (member.cost(), job))
        .collect();
    order.push((length, members.len()));
    order.sort_by(|a, b| b.cmp(a));

    let done = run(order.len(), threads, |worker, index| {
        let job = order[index].1;
        let Some(member) = members.get(job) else {
            let (bytes, digest) = worker.hash_range(&file, 0, length)?;
            return Ok(Done {
                job,
                bytes,
                read: bytes,
                digest,
            });
        };
        let (bytes, digest) = match member.method {
            0 => worker.hash_range(&file, member.data_offset(&file)?, member.size)?,
            8 if member.size <= ONE_SHOT && member.compressed <= ONE_SHOT => {
                worker.inflate_at_once(&file, member)?
            }
            8 => worker.inflate_in_chunks(&file, member)?,
            other => return Err(format!("{}: method {other}", member.shown()).into()),
        };
        Ok(Done {
            job,
            bytes,
            read: member.compressed,
            digest,
        })
    })?;
    Ok(sum_up(done, |job| {
        members
            .get(job)
            .map_or_else(Vec::new, |member| member.name.clone())
    }))
}
