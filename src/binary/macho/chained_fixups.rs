//! `LC_DYLD_CHAINED_FIXUPS` (`mach-o/fixup-chains.h`): a table of imports, and
//! where in each segment's pages the chains of pointers start. Firmware names
//! its chains in a section instead (`__chain_starts`).

use super::budget::Budget;
use super::commands::LC_DYLD_CHAINED_FIXUPS;
use super::dyld_info::Run;
use super::fixups::{Auth, Chain, Pointee, PointerFormat, Rebase, Site};
use super::image::Image;
use super::segments::{Segment, Segments};
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};

/// More rows of one kind are not kept.
const MOST: usize = 1 << 19;

/// `DYLD_CHAINED_PTR_START_NONE`
const START_NONE: u16 = 0xFFFF;
/// `DYLD_CHAINED_PTR_START_MULTI` and `..._LAST`
const START_MULTI: u16 = 0x8000;

/// One import.
#[derive(Clone, Copy, Debug)]
pub struct ChainedImport<'a> {
    /// The symbol.
    pub name: &'a [u8],
    /// Which library: from 1 in load order, 0 itself, -1 the main program,
    /// -2 all (flat), -3 all for weak symbols.
    pub ordinal: i64,
    /// Whether it may be missing.
    pub weak: bool,
    /// What is added to its address.
    pub addend: i64,
    /// Where the entry stands in the file.
    pub location: Range,
}

/// A pointer that is bound.
#[derive(Clone, Copy, Debug)]
pub struct BindSite {
    /// Where, an address as linked.
    pub address: u64,
    /// Which import.
    pub import: u32,
    /// What the pointer itself adds.
    pub addend: i64,
    /// How it is signed.
    pub auth: Option<Auth>,
}

/// A signed pointer that moves with the image.
#[derive(Clone, Copy, Debug)]
pub struct AuthRebase {
    /// Where, an address as linked.
    pub address: u64,
    /// What it points to.
    pub to: Pointee,
    /// How it is signed.
    pub auth: Auth,
}

/// The chains of one segment.
#[derive(Clone, Debug)]
pub struct SegmentChains {
    /// Which segment.
    pub segment: u32,
    /// `pointer_format` as it stands.
    pub format: u16,
    /// `page_size`
    pub page_size: u16,
    /// How many pages are announced.
    pub pages: u16,
    /// `max_valid_pointer`
    pub max_valid_pointer: u32,
    /// Pointers that are bound.
    pub binds: u64,
    /// Pointers that move with the image.
    pub rebases: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub struct ChainedFixups<'a> {
    /// Where the data stand in the file; `None` without any.
    pub location: Option<Range>,
    /// `imports_format`
    pub imports_format: u32,
    /// `symbols_format`
    pub symbols_format: u32,
    /// The table of imports.
    pub imports: Vec<ChainedImport<'a>>,
    /// The chains, sorted by segment.
    pub chains: Vec<SegmentChains>,
    /// Pointers that are bound, by chain.
    pub binds: Vec<BindSite>,
    /// Pointers that move with the image.
    pub rebases: Vec<Run>,
    /// Those of them that are signed.
    pub auth_rebases: Vec<AuthRebase>,
    /// Whether all was understood.
    pub complete: bool,
}

/// A value of `count` bits whose largest ones mean -1, -2, -3 (`BIND_SPECIAL_
/// DYLIB_...`).
fn ordinal(value: u64, count: u32) -> i64 {
    let all = (1u64 << count) - 1;
    match value > all - 15 {
        true => value as i64 - (all as i64 + 1),
        false => value as i64,
    }
}

impl<'a> ChainedFixups<'a> {
    /// Reads imports and follows all chains.
    pub fn read(image: &Image<'a>, segments: &Segments<'a>, notes: &mut Notes) -> Self {
        let mut fixups = Self {
            complete: true,
            ..Self::default()
        };
        let mut walker = Walker {
            image,
            segments,
            steps: Budget::new(image.data.len() / 4),
        };
        if let Some(&command) = image.only(&[LC_DYLD_CHAINED_FIXUPS], notes) {
            let Some((offset, data)) = image.linkedit(&command, notes) else {
                return fixups;
            };
            fixups.location = Some(image.range(offset, data.len()));
            let at = image.file_offset(offset);
            if let Err((within, reason)) = fixups.read_table(data, at, &mut walker) {
                fixups.complete = false;
                notes.at("chained fixups", at.saturating_add(within), reason);
            }
        } else if let Some(section) = segments.section(b"__TEXT", b"__chain_starts") {
            let offset = u64::from(section.offset);
            let part = image.data.part(offset, section.size);
            let Some(part) = part.filter(|_| section.in_file) else {
                return fixups;
            };
            let at = image.file_offset(offset);
            fixups.location = Some(image.range(offset, section.size));
            if let Err((within, reason)) = fixups.read_starts_section(part, &mut walker) {
                fixups.complete = false;
                notes.at("__chain_starts", at.saturating_add(within), reason);
            }
        }
        fixups.chains.sort_by_key(|chains| chains.segment);
        fixups
    }

    fn read_table(
        &mut self,
        data: Bytes<'a>,
        base: u64,
        walker: &mut Walker<'_, 'a>,
    ) -> Result<(), Fault> {
        let field = |at: u64| data.u32(at).ok_or((at, "the header is cut".to_owned()));
        let version = field(0)?;
        if version != 0 {
            return Err((0, format!("version {version} is not known")));
        }
        let (starts, imports) = (field(4)?, field(8)?);
        let (symbols, count) = (field(12)?, field(16)?);
        self.imports_format = field(20)?;
        self.symbols_format = field(24)?;
        // One part that is wrong does not cost the other.
        let imported = self.read_imports(data, base, imports, symbols, count);
        let chained = self.read_starts(data, u64::from(starts), walker);
        imported.and(chained)
    }

    fn read_imports(
        &mut self,
        data: Bytes<'a>,
        base: u64,
        imports: u32,
        symbols: u32,
        count: u32,
    ) -> Result<(), Fault> {
        if self.symbols_format != 0 && count > 0 {
            let reason = format!("names in the format {} are not known", self.symbols_format);
            return Err((24, reason));
        }
        let step = match self.imports_format {
            1 => 4,
            2 => 8,
            3 => 16,
            _ if count == 0 => return Ok(()),
            format => return Err((20, format!("imports in the format {format} are not known"))),
        };
        let names = data.tail(symbols.into());
        // Up to the last NUL, so that each name ends.
        let end = memchr::memrchr(0, names).map_or(0, |last| last + 1);
        let names = names.get(..end).unwrap_or_default();
        let mut budget = Budget::new(Budget::NAMES);
        for index in 0..u64::from(count) {
            let at = u64::from(imports) + index * step;
            let entry = read_import(data, at, self.imports_format);
            let Some((library, weak, name, addend)) = entry else {
                return Err((
                    at,
                    format!("{count} imports are announced, {index} are there"),
                ));
            };
            let name = usize::try_from(name)
                .ok()
                .and_then(|start| names.get(start..));
            let name = name.and_then(|tail| tail.get(..memchr::memchr(0, tail)?));
            let Some(name) = name else {
                return Err((at, "the name of an import is not in the table".to_owned()));
            };
            if !budget.take(name.len() as u64) || self.imports.len() >= MOST {
                return Err((at, "there are more imports than are told".to_owned()));
            }
            self.imports.push(ChainedImport {
                name,
                ordinal: library,
                weak,
                addend,
                location: Range {
                    offset: base.saturating_add(at),
                    bytes: step,
                },
            });
        }
        Ok(())
    }

    /// `struct dyld_chained_starts_in_image`
    fn read_starts(
        &mut self,
        data: Bytes<'a>,
        starts: u64,
        walker: &mut Walker<'_, 'a>,
    ) -> Result<(), Fault> {
        let cut = |at: u64| (at, "the starts of chains are cut".to_owned());
        let count = data.u32(starts).ok_or_else(|| cut(starts))?;
        let mut pages = Budget::new(data.len() / 2);
        let mut first = Ok(());
        for index in 0..count {
            let at = starts + 4 + 4 * u64::from(index);
            let offset = data.u32(at).ok_or_else(|| cut(at))?;
            if offset == 0 {
                continue;
            }
            let place = starts + u64::from(offset);
            let done = self.read_segment(data, place, index, &mut pages, walker);
            if first.is_ok() {
                first = done;
            }
        }
        first
    }

    /// `struct dyld_chained_starts_in_segment`
    fn read_segment(
        &mut self,
        data: Bytes<'a>,
        at: u64,
        index: u32,
        pages: &mut Budget,
        walker: &mut Walker<'_, 'a>,
    ) -> Result<(), Fault> {
        let wrong = |reason: &str| (at, reason.to_owned());
        let header = (|| {
            let size = data.u32(at)?;
            let (page_size, format) = (data.u16(at + 4)?, data.u16(at + 6)?);
            let max_valid_pointer = data.u32(at + 16)?;
            let count = data.u16(at + 20)?;
            Some((size, page_size, format, max_valid_pointer, count))
        })();
        let (size, page_size, format, max_valid_pointer, count) =
            header.ok_or_else(|| wrong("the chains of a segment are cut"))?;
        let segment = walker.segments.segments.get(index as usize);
        let segment = *segment.ok_or_else(|| wrong("there is no such segment"))?;
        let mut chains = SegmentChains {
            segment: index,
            format,
            page_size,
            pages: count,
            max_valid_pointer,
            binds: 0,
            rebases: 0,
        };
        let result = match PointerFormat::of(format) {
            None => Err(wrong(&format!(
                "pointers in the format {format} are not known"
            ))),
            Some(format) => {
                let starts = Starts {
                    data,
                    at,
                    size: u64::from(size),
                    page_size: u64::from(page_size),
                    count: u64::from(count),
                };
                let mut result = Ok(());
                starts
                    .each(pages, &mut |offset| {
                        let done = self.follow(&segment, format, offset, &mut chains, walker);
                        if let Err(reason) = done
                            && result.is_ok()
                        {
                            result = Err(wrong(&format!("{reason} (segment {index})")));
                        }
                    })
                    .map_err(wrong)
                    .and(result)
            }
        };
        self.chains.push(chains);
        result
    }

    fn follow(
        &mut self,
        segment: &Segment<'a>,
        format: PointerFormat,
        offset: u64,
        chains: &mut SegmentChains,
        walker: &mut Walker<'_, 'a>,
    ) -> Result<(), &'static str> {
        let chain = Chain {
            data: walker.image.data,
            segment,
            format,
        };
        let mut full = None;
        let size = format.size();
        let ended = chain.walk(offset, &mut walker.steps, &mut |address, site| {
            let kept = match site {
                Site::Bind(bind) => {
                    chains.binds += 1;
                    keep(
                        &mut self.binds,
                        BindSite {
                            address,
                            import: bind.ordinal,
                            addend: bind.addend,
                            auth: bind.auth,
                        },
                    )
                }
                Site::Rebase(rebase) => {
                    chains.rebases += 1;
                    self.rebase(address, rebase, size)
                }
            };
            full = full.or(kept.err());
            full.is_none()
        });
        ended.and(full.map_or(Ok(()), Err))
    }

    fn rebase(&mut self, address: u64, rebase: Rebase, size: u64) -> Result<(), &'static str> {
        if let Some(auth) = rebase.auth {
            let to = rebase.to;
            keep(&mut self.auth_rebases, AuthRebase { address, to, auth })?;
        }
        let run = Run {
            address,
            count: 1,
            step: size,
        };
        if let Some(last) = self.rebases.last_mut()
            && last.append(run)
        {
            return Ok(());
        }
        keep(&mut self.rebases, run)
    }

    /// `struct dyld_chained_starts_offsets`, in firmware.
    fn read_starts_section(
        &mut self,
        data: Bytes<'a>,
        walker: &mut Walker<'_, 'a>,
    ) -> Result<(), Fault> {
        let header = data.u32(0).zip(data.u32(4));
        let (format, count) = header.ok_or((0, "the section is cut".to_owned()))?;
        let known = u16::try_from(format).ok().and_then(PointerFormat::of);
        let Some(pointers) = known else {
            return Err((0, format!("pointers in the format {format} are not known")));
        };
        let base = walker.segments.image_base().unwrap_or(0);
        for index in 0..u64::from(count) {
            let at = 8 + 4 * index;
            let start = data.u32(at);
            let start = start.ok_or((at, "the starts of chains are cut".to_owned()))?;
            let address = base.wrapping_add(u64::from(start));
            let segments = &walker.segments.segments;
            let found = walker.segments.segment_at(address);
            let Some((place, segment)) = found.zip(found.and_then(|at| segments.get(at)).copied())
            else {
                return Err((at, "a chain starts outside of all segments".to_owned()));
            };
            let mut chains = SegmentChains {
                segment: place as u32,
                format: format as u16,
                page_size: 0,
                pages: 0,
                max_valid_pointer: 0,
                binds: 0,
                rebases: 0,
            };
            let offset = address - segment.address;
            let done = self.follow(&segment, pointers, offset, &mut chains, walker);
            match self.chains.last_mut() {
                Some(last) if last.segment == chains.segment => {
                    last.binds += chains.binds;
                    last.rebases += chains.rebases;
                }
                _ => self.chains.push(chains),
            }
            done.map_err(|reason| (at, reason.to_owned()))?;
        }
        Ok(())
    }

    /// What a pointer in the data says that chains run through: its target,
    /// where it moves with the image.
    pub fn target(&self, segments: &Segments<'_>, address: u64, raw: u64) -> Option<u64> {
        let index = u32::try_from(segments.segment_at(address)?).ok()?;
        let chains = self.chains_of(index)?;
        match PointerFormat::of(chains.format)?.decode(raw).0 {
            Site::Rebase(rebase) => pointee(rebase.to, segments),
            Site::Bind(_) => None,
        }
    }

    /// The chains of a segment.
    pub fn chains_of(&self, segment: u32) -> Option<&SegmentChains> {
        let key = |chains: &SegmentChains| chains.segment;
        let place = self.chains.binary_search_by_key(&segment, key).ok()?;
        self.chains.get(place)
    }
}

/// The address that is pointed to, where the file tells it.
pub fn pointee(to: Pointee, segments: &Segments<'_>) -> Option<u64> {
    match to {
        Pointee::Address(address) => Some(address),
        Pointee::Offset(offset) => segments.image_base()?.checked_add(offset),
        Pointee::Cache { level: 0, offset } => segments.image_base()?.checked_add(offset),
        Pointee::Cache { .. } | Pointee::SharedCache(_) => None,
        Pointee::Segment { index, offset } => {
            let segment = segments.segments.get(usize::from(index))?;
            segment.address.checked_add(offset)
        }
    }
}

type Fault = (u64, String);

/// What chains are followed in.
struct Walker<'i, 'a> {
    image: &'i Image<'a>,
    segments: &'i Segments<'a>,
    /// Pointers don't overlap: all chains together have no more than fit.
    steps: Budget,
}

fn keep<T>(rows: &mut Vec<T>, row: T) -> Result<(), &'static str> {
    if rows.len() >= MOST {
        return Err("there are more fixups than are told");
    }
    rows.push(row);
    Ok(())
}

/// Library, weakness, offset of the name, addend.
fn read_import(data: Bytes<'_>, at: u64, format: u32) -> Option<(i64, bool, u64, i64)> {
    if format == 3 {
        let (word, addend) = (data.u64(at)?, data.u64(at + 8)?);
        let library = ordinal(word & 0xFFFF, 16);
        return Some((library, word >> 16 & 1 != 0, word >> 32, addend as i64));
    }
    let word = u64::from(data.u32(at)?);
    let addend = match format {
        2 => i64::from(data.i32(at + 4)?),
        _ => 0,
    };
    let library = ordinal(word & 0xFF, 8);
    Some((library, word >> 8 & 1 != 0, word >> 9, addend))
}

/// The starts of the chains in a segment's pages.
struct Starts<'a> {
    data: Bytes<'a>,
    /// Where the structure stands.
    at: u64,
    /// Its `size`.
    size: u64,
    page_size: u64,
    count: u64,
}

impl Starts<'_> {
    fn entry(&self, index: u64) -> Option<u16> {
        self.data.u16(self.at + 22 + 2 * index)
    }

    /// Tells the offset in the segment of each start.
    fn each(&self, budget: &mut Budget, take: &mut dyn FnMut(u64)) -> Result<(), &'static str> {
        let mut entry = |index: u64| {
            if !budget.take(1) {
                return Err("starts of chains overlap");
            }
            self.entry(index).ok_or("starts of chains are cut")
        };
        for page in 0..self.count {
            let start = entry(page)?;
            let base = page * self.page_size;
            if start == START_NONE {
                continue;
            }
            if start & START_MULTI == 0 {
                take(base + u64::from(start));
                continue;
            }
            // Several chains in one page: a list behind the pages.
            let mut index = u64::from(start & !START_MULTI);
            loop {
                if 22 + 2 * index + 2 > self.size {
                    return Err("starts of chains are cut");
                }
                let start = entry(index)?;
                take(base + u64::from(start & !START_MULTI));
                if start & START_MULTI != 0 {
                    break;
                }
                index += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_beyond_the_largest_are_special() {
        assert_eq!(ordinal(0xFE, 8), -2);
        assert_eq!(ordinal(0xFD, 8), -3);
        assert_eq!(ordinal(0xF0, 8), 0xF0);
        assert_eq!(ordinal(0xFFFE, 16), -2);
        assert_eq!(ordinal(3, 16), 3);
    }
}
