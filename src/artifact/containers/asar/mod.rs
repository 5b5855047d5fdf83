//! ASAR, Electron's archive: a JSON header, then the bytes of the files.
//!
//! Members may share bytes: packers store equal files once, and nothing
//! forbids ranges that overlap. So the header alone bounds nothing; what keeps
//! a header of a million entries over the same bytes in bounds is that the
//! engine charges every declared size to the budgets before it reads.
//!
//! Members marked `unpacked` have their bytes in a folder beside the archive.
//! The reader of a root archive looks there ([`Companion`]); for archives
//! inside others the engine joins what it listed anyway.

mod companion;
mod header;

use super::{Closing, Container, Fault, Listing, MemberKind, Out, Reading, Scratch};
use crate::artifact::names::Style;
use crate::artifact::options::Options;
use crate::artifact::source::Source;
use crate::digest::Digest;

pub(crate) use companion::Companion;
use header::Header;
pub(super) use header::detect;

/// An open ASAR archive.
struct Asar {
    source: Source,
    header: Header,
    companion: Option<Companion>,
}

/// Opens an archive that is no root: its companion is joined by the engine.
pub(super) fn open(source: &Source, options: &Options) -> Result<Box<dyn Container>, Fault> {
    open_with(source, options, None)
}

/// Opens an archive; `companion` has the bytes of its unpacked members.
pub(super) fn open_with(
    source: &Source,
    options: &Options,
    companion: Option<Companion>,
) -> Result<Box<dyn Container>, Fault> {
    Ok(Box::new(Asar {
        source: source.clone(),
        header: header::read(source, options)?,
        companion,
    }))
}

impl Asar {
    /// Start and length of a file's bytes in the archive.
    fn range(&self, index: usize) -> Option<(u64, u64)> {
        let member = self.header.listing.members.get(index)?;
        let packed = member.kind == MemberKind::File && !header::is_unpacked(member);
        packed.then_some((member.at, member.size))
    }
}

impl Container for Asar {
    fn listing(&self) -> &Listing {
        &self.header.listing
    }

    fn take_listing(&mut self) -> Listing {
        std::mem::take(&mut self.header.listing)
    }

    fn style(&self) -> Style {
        Style::Asar
    }

    fn read(
        &self,
        index: usize,
        _keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        let member = &self.header.listing.members[index];
        if member.kind == MemberKind::Symlink {
            out(self.header.link(member))?;
            return Ok(Reading::default());
        }
        let Some((start, len)) = self.range(index) else {
            let name = self.header.listing.name(member);
            match &self.companion {
                Some(companion) => companion.read(name, scratch, out)?,
                None => return Err(Companion::missing()),
            }
            return Ok(Reading::default());
        };
        super::copy(&self.source, start, len, scratch, out)?;
        Ok(Reading::default())
    }

    fn region(&self, index: usize) -> Option<Source> {
        let (start, len) = self.range(index)?;
        self.source.region(start, len)
    }

    fn is_contiguous(&self, index: usize) -> bool {
        self.range(index).is_some()
    }

    fn declared(&self, index: usize) -> Option<Digest> {
        let file = self.header.listing.members.get(index)?.kind == MemberKind::File;
        file.then(|| self.header.declared(index)).flatten()
    }

    fn is_unpacked(&self, index: usize) -> bool {
        self.header
            .listing
            .members
            .get(index)
            .is_some_and(|member| member.kind == MemberKind::File && header::is_unpacked(member))
    }

    fn close(&self) -> Closing {
        let count = self.header.listing.members.len();
        let mut ranges: Vec<(u64, u64)> = (0..count)
            .filter_map(|index| self.range(index))
            .filter(|&(_, len)| len > 0)
            .map(|(start, len)| (start, start + len))
            .collect();
        ranges.push((0, self.header.end));
        ranges.push((self.source.len(), self.source.len()));
        ranges.sort_unstable();
        let mut gaps = Vec::new();
        let mut covered = 0;
        for (start, end) in ranges {
            if start > covered {
                gaps.push((covered, start));
            }
            covered = covered.max(end);
        }
        Closing {
            limitations: super::unaccounted(&gaps).into_iter().collect(),
            ..Closing::default()
        }
    }
}
