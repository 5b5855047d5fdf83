//! Long hashes on threads of their own.
//!
//! A record is covered by several hashes at once (its own, those of the
//! records around it, that of a graph in it), and SHA-256 takes longer than
//! reading. A hash that turns out to be long therefore moves to a thread and
//! gets the text in portions; short ones stay where the text is made. What a
//! hash gives does not depend on where it runs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use crate::digest::Hasher;

/// Portions that may wait for a thread; bounds the memory.
const WAITING: usize = 16;
/// More long hashes than this are rarely open at once.
const MOST_THREADS: usize = 4;

enum Job {
    /// A hash moves here.
    Take(u64, Hasher),
    /// Ranges of a portion belong to hashes.
    Text(Arc<Vec<u8>>, Vec<(u64, Range<usize>)>),
    /// A hash is complete with this text: send it back.
    Return(u64, Vec<u8>, SyncSender<Hasher>),
    /// A hash is not needed.
    Forget(u64),
}

struct Thread {
    jobs: SyncSender<Job>,
    hashes: usize,
    /// Ranges of the portion that is being made.
    ranges: Vec<(u64, Range<usize>)>,
}

/// A hash that runs on a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Away {
    id: u64,
    thread: usize,
}

/// The threads. They start with the first long hash and end with this.
pub(super) struct Hashers {
    most: usize,
    threads: Vec<Thread>,
    next: u64,
    /// Portions that all threads are done with, to be filled again.
    done: (Sender<Vec<u8>>, Receiver<Vec<u8>>),
}

impl Hashers {
    /// At most `threads` in all, the caller's included.
    pub fn new(threads: usize) -> Self {
        Self {
            most: threads.saturating_sub(1).min(MOST_THREADS),
            threads: Vec::new(),
            next: 0,
            done: channel(),
        }
    }

    /// Moves a hash to a thread; gives it back where there is none.
    pub fn take(&mut self, hasher: Hasher) -> Result<Away, Hasher> {
        let busy = |threads: &[Thread]| threads.iter().all(|thread| thread.hashes > 0);
        if self.threads.len() < self.most && busy(&self.threads) {
            match start(self.done.0.clone()) {
                Some(thread) => self.threads.push(thread),
                None => self.most = self.threads.len(),
            }
        }
        let least = self
            .threads
            .iter_mut()
            .enumerate()
            .min_by_key(|(_, thread)| thread.hashes);
        let Some((at, thread)) = least else {
            return Err(hasher);
        };
        let id = self.next;
        self.next += 1;
        thread.hashes += 1;
        // A thread ends only after its sender, so sending cannot fail.
        let _ = thread.jobs.send(Job::Take(id, hasher));
        Ok(Away { id, thread: at })
    }

    /// A range of the portion that is being made belongs to a hash.
    pub fn add(&mut self, away: Away, range: Range<usize>) {
        if let (Some(thread), false) = (self.threads.get_mut(away.thread), range.is_empty()) {
            thread.ranges.push((away.id, range));
        }
    }

    /// Whether threads wait for the portion that is being made.
    pub fn need_portion(&self) -> bool {
        self.threads.iter().any(|thread| !thread.ranges.is_empty())
    }

    /// The portion is complete. An empty one to go on with.
    pub fn portion(&mut self, text: Vec<u8>) -> Vec<u8> {
        let size = text.capacity();
        let text = Arc::new(text);
        for thread in &mut self.threads {
            if !thread.ranges.is_empty() {
                let ranges = std::mem::take(&mut thread.ranges);
                let _ = thread.jobs.send(Job::Text(text.clone(), ranges));
            }
        }
        let mut next = match self.done.1.try_recv() {
            Ok(used) => used,
            Err(_) => Vec::with_capacity(size),
        };
        next.clear();
        next
    }

    /// Takes a hash back once it has all its text. `portion` is the text that
    /// is being made.
    pub fn finish(&mut self, away: Away, portion: &[u8]) -> Hasher {
        let (sender, receiver) = sync_channel(1);
        if let Some(thread) = self.threads.get_mut(away.thread) {
            let rest = own_ranges(thread, away, portion);
            thread.hashes -= 1;
            let _ = thread.jobs.send(Job::Return(away.id, rest, sender));
        }
        receiver.recv().unwrap_or_default()
    }

    /// A hash is not needed any more.
    pub fn forget(&mut self, away: Away) {
        if let Some(thread) = self.threads.get_mut(away.thread) {
            own_ranges(thread, away, &[]);
            thread.hashes -= 1;
            let _ = thread.jobs.send(Job::Forget(away.id));
        }
    }
}

/// What of the portion that is being made belongs to a hash; it is then no
/// longer noted.
fn own_ranges(thread: &mut Thread, away: Away, portion: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    thread.ranges.retain(|(id, range)| {
        if *id == away.id {
            text.extend_from_slice(portion.get(range.clone()).unwrap_or_default());
        }
        *id != away.id
    });
    text
}

fn start(done: Sender<Vec<u8>>) -> Option<Thread> {
    let (jobs, received) = sync_channel(WAITING);
    std::thread::Builder::new()
        .name("hash".to_owned())
        .spawn(move || work(&received, &done))
        .ok()?;
    Some(Thread {
        jobs,
        hashes: 0,
        ranges: Vec::new(),
    })
}

fn work(jobs: &Receiver<Job>, done: &Sender<Vec<u8>>) {
    let mut hashes = BTreeMap::new();
    for job in jobs {
        match job {
            Job::Take(id, hasher) => {
                hashes.insert(id, hasher);
            }
            Job::Text(text, ranges) => {
                for (id, range) in ranges {
                    if let Some(hasher) = hashes.get_mut(&id) {
                        Hasher::update(hasher, text.get(range).unwrap_or_default());
                    }
                }
                if let Some(text) = Arc::into_inner(text) {
                    let _ = done.send(text);
                }
            }
            Job::Return(id, rest, sender) => {
                if let Some(mut hasher) = hashes.remove(&id) {
                    hasher.update(&rest);
                    let _ = sender.send(hasher);
                }
            }
            Job::Forget(id) => {
                hashes.remove(&id);
            }
        }
    }
}
