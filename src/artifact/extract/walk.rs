//! The second walk: hands the bytes of selected members to a [`Place`].
//!
//! Containers are opened again as the first walk opened them; members are
//! known by their place in their container. What lists its entries is read
//! from many threads; a stream is read from front to back, and a container in
//! it is walked as it passes by. Members without bytes of their own (hard
//! links) get those of a member of the same content.

mod passing;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use passing::Passing;

use super::super::containers::{self, Container, Damage, Fault, MemberKind, Scratch};
use super::super::engine::{Candidate, RootContainer, StreamSource, cut, is_container_itself};
use super::super::fault::fault_error;
use super::super::format::EntryKind;
use super::super::graph::{Graph, Row};
use super::super::options::{OnDamage, Options};
use super::super::plan::{Plan, PlannedContainer, ROOT};
use super::super::root;
use super::super::source::{Source, Spool};
use super::super::streams::{self, Entry, Sink};
use super::place::{Output, Place};
use crate::digest::Digest;
use crate::error::{ArtifactReason, Error, Result};
use crate::operation::Context;

/// What a walk needs to know.
pub(super) struct Work<'a> {
    pub path: &'a Path,
    pub options: &'a Options,
    pub context: &'a Context,
    pub graph: &'a Graph,
    /// Where their bytes go.
    pub place: &'a dyn Place,
}

/// A row of the graph at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    container: u32,
    index: u32,
    row: u32,
}

/// What is to be done in one container, by place in it.
#[derive(Default)]
struct Job {
    /// Rows to write; several where they have their bytes from one place.
    wanted: BTreeMap<u32, Vec<u32>>,
    /// Containers to go into.
    children: BTreeMap<u32, u32>,
}

/// All that is to be done.
struct Jobs<'a> {
    containers: &'a [PlannedContainer],
    /// By the number of the container.
    jobs: Vec<Job>,
    /// All rows, by place.
    members: Vec<Placed>,
    spooled: Arc<AtomicU64>,
}

impl Jobs<'_> {
    fn job(&self, container: u32) -> &Job {
        static NOTHING: Job = Job {
            wanted: BTreeMap::new(),
            children: BTreeMap::new(),
        };
        self.jobs.get(container as usize).unwrap_or(&NOTHING)
    }

    /// The rows of one container, by place.
    fn members(&self, container: u32) -> &[Placed] {
        let from = self.members.partition_point(|at| at.container < container);
        let to = self.members.partition_point(|at| at.container <= container);
        self.members.get(from..to).unwrap_or_default()
    }
}

impl Work<'_> {
    /// Writes the selected rows.
    pub fn run(
        &self,
        plan: &Plan,
        selected: &[u32],
        stamp: &Option<(Arc<File>, [i64; 4])>,
    ) -> Result<()> {
        let shown = root::show(self.path);
        let jobs = self.jobs(plan, selected)?;
        let rows = selected.iter().filter_map(|&row| self.row(row));
        let bytes = rows.fold(0u64, |sum, row| sum.saturating_add(row.size));
        self.context.progress.expect(selected.len() as u64, bytes);
        let opened = root::open_root(self.path, &shown, self.options, self.context)?;
        if let (Some((_, before)), Some((_, now))) = (stamp, &opened.stamp)
            && before != now
        {
            let reason = "it changed between the two times it was read";
            let operation = self.context.operation;
            return Err(super::super::folder::artifact_changed(
                operation, &shown, reason,
            ));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.context.threads)
            .build()
            .map_err(|error| {
                let message = format!("threads cannot be started: {error}");
                Error::artifact(self.context.operation, ArtifactReason::Io, message)
            })?;
        let done = pool.install(|| match opened.container {
            Some(container) => self.root(container, &jobs),
            None => Err(self.changed(".").into()),
        });
        // A root that changed explains everything else.
        root::unchanged(stamp, &shown, self.context)?;
        done.map_err(|fault| fault_error(fault, &shown, None, self.context.operation))
    }

    fn row(&self, row: u32) -> Option<&Row> {
        self.graph.rows.get(row as usize)
    }

    fn path(&self, row: u32) -> &str {
        self.graph.path(row as usize)
    }

    /// Sorts what is selected by the container it is in.
    fn jobs<'p>(&self, plan: &'p Plan, selected: &[u32]) -> Result<Jobs<'p>> {
        let rows: HashMap<u32, u32> = self
            .graph
            .rows
            .iter()
            .zip(0u32..)
            .map(|(row, at)| (row.path.0, at))
            .collect();
        let mut places = vec![None; self.graph.rows.len()];
        let mut members = Vec::with_capacity(plan.members.len());
        for member in &plan.members {
            let Some(&row) = rows.get(&member.path) else {
                continue;
            };
            members.push(Placed {
                container: member.container,
                index: member.index,
                row,
            });
            if let Some(place) = places.get_mut(row as usize) {
                *place = Some((member.container, member.index));
            }
        }
        members.sort_unstable();
        let mut jobs: Vec<Job> = Vec::new();
        jobs.resize_with(plan.containers.len(), Job::default);
        for &row in selected {
            let path = self.path(row);
            let from = match plan.elsewhere.get(path) {
                Some(companion) => self.graph.find(companion),
                None => Some(row as usize),
            };
            let place = from.and_then(|from| *places.get(from)?);
            let job = place.and_then(|(container, index)| {
                let job = jobs.get_mut(container as usize)?;
                Some(job.wanted.entry(index).or_default())
            });
            job.ok_or_else(|| self.changed(path))?.push(row);
        }
        // Inner containers have higher numbers than those around them.
        for number in (0..jobs.len()).rev() {
            let needed = jobs
                .get(number)
                .is_some_and(|job| !job.wanted.is_empty() || !job.children.is_empty());
            let parent = plan.containers.get(number).and_then(|known| known.parent);
            if let (true, Some((parent, index))) = (needed, parent)
                && let Some(job) = jobs.get_mut(parent as usize)
            {
                job.children.insert(index, number as u32);
            }
        }
        Ok(Jobs {
            containers: &plan.containers,
            jobs,
            members,
            spooled: Arc::default(),
        })
    }

    fn changed(&self, path: &str) -> Error {
        let message = format!("{path} is not what the inventory says");
        Error::artifact(self.context.operation, ArtifactReason::Integrity, message)
            .action("Wait until nothing writes to the artifact, or extract from a copy.")
            .detail("logical_path", path)
    }

    fn root(&self, root: RootContainer, jobs: &Jobs<'_>) -> Result<(), Fault> {
        let keep_going = self.options.on_damage == OnDamage::Record;
        match root {
            RootContainer::Folder(container) | RootContainer::Listed(container) => {
                self.listed(ROOT, &*container, (keep_going, true), jobs)
            }
            RootContainer::Stream(stream) => self.stream(ROOT, &stream, (keep_going, true), jobs),
        }
    }

    /// `alone` where nothing else runs beside it.
    fn nested(
        &self,
        number: u32,
        source: Source,
        alone: bool,
        jobs: &Jobs<'_>,
    ) -> Result<(), Fault> {
        let planned = jobs.containers.get(number as usize);
        match planned.and_then(|planned| planned.candidate) {
            Some(Candidate::Stream(format)) => {
                let stream = StreamSource {
                    source,
                    format,
                    content: Vec::new(),
                };
                self.stream(number, &stream, (false, alone), jobs)
            }
            Some(Candidate::Format(format)) => {
                let container = containers::open(format, &source, self.options)?;
                self.listed(number, &*container, (false, alone), jobs)
            }
            Some(Candidate::ZipBehind) => {
                match containers::find_zip_behind(&source, self.options) {
                    Some(container) => self.listed(number, &*container, (false, alone), jobs),
                    None => Err(gone()),
                }
            }
            None => Err(gone()),
        }
    }

    fn listed(
        &self,
        number: u32,
        container: &dyn Container,
        (keep_going, alone): (bool, bool),
        jobs: &Jobs<'_>,
    ) -> Result<(), Fault> {
        let job = jobs.job(number);
        let count = container.listing().members.len();
        let places: BTreeSet<u32> = job
            .wanted
            .keys()
            .chain(job.children.keys())
            .copied()
            .collect();
        if places.last().is_some_and(|&last| last as usize >= count) {
            return Err(gone());
        }
        let places: Vec<u32> = places.into_iter().collect();
        // Work that waits for work of its own may take up more and more work
        // meanwhile, so only one container at a time is read from many threads.
        let spread = alone && places.len() > 1;
        let one = |scratch: &mut Scratch, &index: &u32| {
            if let Some(rows) = job.wanted.get(&index) {
                self.member(container, index, keep_going, rows, scratch)?;
            }
            match job.children.get(&index) {
                Some(&child) => {
                    let source = self.source(container, index, scratch, jobs)?;
                    self.nested(child, source, alone && !spread, jobs)
                }
                None => Ok(()),
            }
        };
        if !spread {
            let mut scratch = Scratch::new();
            return places.iter().try_for_each(|place| one(&mut scratch, place));
        }
        places.par_iter().try_for_each_init(Scratch::new, one)
    }

    /// Writes one member, and copies for the other rows that have its bytes.
    fn member(
        &self,
        container: &dyn Container,
        index: u32,
        keep_going: bool,
        rows: &[u32],
        scratch: &mut Scratch,
    ) -> Result<(), Fault> {
        let Some((&first, others)) = rows.split_first() else {
            return Ok(());
        };
        let mut file = self.create(first)?;
        let read = container.read(index as usize, keep_going, scratch, &mut |bytes| {
            file.write(bytes)
        });
        if let Err(fault) = read {
            let shown = root::show(self.path);
            let operation = self.context.operation;
            return Err(fault_error(fault, &shown, Some(self.path(first)), operation).into());
        }
        if !file.finish() {
            return Err(self.changed(self.path(first)).into());
        }
        self.copies(first, others)
    }

    fn copies(&self, first: u32, others: &[u32]) -> Result<(), Fault> {
        for &other in others {
            let mut file = self.create(other)?;
            self.place.read(self.path(first), &mut |bytes| {
                file.write(bytes).map_err(|fault| match fault {
                    Fault::Stop(error) => error,
                    _ => self.changed(self.path(other)),
                })
            })?;
            if !file.finish() {
                return Err(self.changed(self.path(other)).into());
            }
        }
        Ok(())
    }

    fn create(&self, row: u32) -> Result<Checked<'_>, Fault> {
        let path = self.path(row);
        let Some(expected) = self.row(row) else {
            return Err(self.changed(path).into());
        };
        self.context.check()?;
        Ok(Checked {
            work: self,
            path,
            output: self.place.file(path)?,
            size: expected.size,
            digest: expected.digest,
        })
    }

    /// A container's bytes for random access, decoded where need be.
    fn source(
        &self,
        container: &dyn Container,
        index: u32,
        scratch: &mut Scratch,
        jobs: &Jobs<'_>,
    ) -> Result<Source, Fault> {
        if let Some(source) = container.region(index as usize) {
            return Ok(source);
        }
        let mut spool = Spool::new(&jobs.spooled);
        container.read(index as usize, false, scratch, &mut |bytes| {
            self.context.check()?;
            Ok(spool.write(bytes)?)
        })?;
        Ok(spool.into_source())
    }

    fn stream(
        &self,
        number: u32,
        stream: &StreamSource,
        (keep_going, alone): (bool, bool),
        jobs: &Jobs<'_>,
    ) -> Result<(), Fault> {
        let threads = self.context.threads;
        let mut decoder = streams::decoder(stream.format, &stream.source, self.options, threads)?;
        let mut passing = Passing::new(self, number, (keep_going, alone), jobs);
        let read = cut(
            &mut *decoder,
            stream,
            self.options,
            &mut passing,
            |passing| passing.alone = true,
        );
        match read {
            // What came before the damage is what the inventory has.
            Err(Fault::Damage(_)) if keep_going => passing.give_up()?,
            Err(fault) => return Err(fault),
            Ok(_) => {}
        }
        passing.finish()
    }
}

/// The container is not what it was when it was first read.
fn gone() -> Fault {
    let text = "a container in it is not what the inventory says";
    Damage::integrity(0, text).into()
}

/// A file whose content is known beforehand.
struct Checked<'a> {
    work: &'a Work<'a>,
    path: &'a str,
    output: Box<dyn Output + 'a>,
    size: u64,
    digest: Digest,
}

impl Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.work.context.check()?;
        if self.output.written() + bytes.len() as u64 > self.size {
            return Err(self.work.changed(self.path).into());
        }
        self.work.context.progress.add_bytes(bytes.len() as u64);
        let written = self.output.write(bytes);
        written.map_err(|error| self.work.place.write_failed(self.path, &error).into())
    }

    /// Whether the file is what it should be.
    fn finish(self) -> bool {
        self.work.context.progress.add_entries(1);
        self.output.finish() == self.digest
    }
}
