//! Members of a stream as they pass.

use super::*;

/// Rows of one stream that have the same content.
struct Group {
    rows: Vec<u32>,
    written: bool,
}

/// The member that passes.
struct Current<'a> {
    file: Option<(Digest, Checked<'a>)>,
    /// Its bytes are not those that are looked for.
    differs: bool,
    child: Option<(u32, Spool)>,
}

/// Takes the members of a stream as they pass.
pub(super) struct Passing<'a> {
    work: &'a Work<'a>,
    number: u32,
    keep_going: bool,
    /// Nothing else runs beside it.
    unshared: bool,
    jobs: &'a Jobs<'a>,
    /// The stream holds no archive.
    pub(super) alone: bool,
    next: u32,
    groups: BTreeMap<Digest, Group>,
    current: Option<Current<'a>>,
}

impl<'a> Passing<'a> {
    pub(super) fn new(
        work: &'a Work<'a>,
        number: u32,
        (keep_going, unshared): (bool, bool),
        jobs: &'a Jobs<'a>,
    ) -> Self {
        let mut groups: BTreeMap<Digest, Group> = BTreeMap::new();
        for &row in jobs.job(number).wanted.values().flatten() {
            if let Some(known) = work.row(row) {
                let group = groups.entry(known.digest).or_insert(Group {
                    rows: Vec::new(),
                    written: false,
                });
                group.rows.push(row);
            }
        }
        Self {
            work,
            number,
            keep_going,
            unshared,
            jobs,
            alone: false,
            next: 0,
            groups,
            current: None,
        }
    }

    /// Counts an entry as the first walk did; its place.
    fn place(&mut self, entry: &Entry<'_>) -> Option<u32> {
        if !self.alone && is_container_itself(entry) {
            return None;
        }
        let place = self.next;
        self.next += 1;
        Some(place)
    }

    /// The file that the member at `place` is to become, where its content is
    /// looked for and was not found yet.
    fn file(&self, place: u32) -> Result<Option<(Digest, Checked<'a>)>, Fault> {
        let members = self.jobs.members(self.number);
        let at = members.binary_search_by_key(&place, |placed| placed.index);
        let placed = at.ok().and_then(|at| members.get(at));
        let row = placed.and_then(|placed| self.work.row(placed.row));
        let Some(row) = row.filter(|row| {
            row.has_artifact && matches!(row.entry_kind, EntryKind::File | EntryKind::Slice)
        }) else {
            return Ok(None);
        };
        match self.groups.get(&row.digest) {
            Some(group) if !group.written => match group.rows.first() {
                Some(&first) => Ok(Some((row.digest, self.work.create(first)?))),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The stream ended in the middle of a member.
    pub(super) fn give_up(&mut self) -> Result<(), Fault> {
        if let Some(current) = self.current.take()
            && let Some((_, file)) = current.file
        {
            self.work.place.remove(file.path)?;
        }
        Ok(())
    }

    /// All members have passed: copies are made, and nothing may be missing.
    pub(super) fn finish(self) -> Result<(), Fault> {
        for group in self.groups.values() {
            let Some((&first, others)) = group.rows.split_first() else {
                continue;
            };
            if !group.written {
                return Err(self.work.changed(self.work.path(first)).into());
            }
            self.work.copies(first, others)?;
        }
        Ok(())
    }
}

impl Sink for Passing<'_> {
    fn begin(&mut self, entry: Entry<'_>) -> Result<(), Fault> {
        let Some(place) = self.place(&entry) else {
            return Ok(());
        };
        if !matches!(entry.kind, MemberKind::File | MemberKind::Slice) {
            return Ok(());
        }
        let child = self.jobs.job(self.number).children.get(&place);
        self.current = Some(Current {
            file: self.file(place)?,
            differs: false,
            child: child.map(|&child| (child, Spool::new(&self.jobs.spooled))),
        });
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.work.context.check()?;
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if let Some((_, spool)) = &mut current.child {
            spool.write(bytes)?;
        }
        if let Some((_, file)) = &mut current.file {
            if file.output.written() + bytes.len() as u64 > file.size {
                current.differs = true;
            } else if !current.differs {
                file.write(bytes)?;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        if let Some((digest, file)) = current.file {
            let path = file.path;
            let good = file.finish() && !current.differs;
            match self.groups.get_mut(&digest) {
                Some(group) if good => group.written = true,
                // An empty entry that an archive explains later; another
                // member has the bytes.
                _ => self.work.place.remove(path)?,
            }
        }
        match current.child {
            Some((child, spool)) => {
                let source = spool.into_source();
                self.work.nested(child, source, self.unshared, self.jobs)
            }
            None => Ok(()),
        }
    }

    fn hard_link(&mut self, entry: Entry<'_>, _: &[u8]) -> Result<(), Fault> {
        self.place(&entry);
        Ok(())
    }

    fn same_as(&mut self, entry: Entry<'_>, _: u32) -> Result<(), Fault> {
        self.place(&entry);
        Ok(())
    }

    fn refer(&mut self, _: u32, _: u32) {}

    fn contradicts(&mut self, damage: Damage) -> Result<(), Fault> {
        if self.keep_going {
            return Ok(());
        }
        Err(damage.into())
    }
}
