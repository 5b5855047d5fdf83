//! What dyld does at load time as programs of opcodes (`LC_DYLD_INFO`):
//! pointers that move with the image (rebase) and pointers to other
//! libraries' symbols (bind, weak bind, lazy bind).
//!
//! One opcode may stand for 2^63 places: places are kept as runs, which the
//! bytes of the program bound, and checked against their segment.

use super::budget::Budget;
use super::commands::{LC_DYLD_INFO, LC_DYLD_INFO_ONLY};
use super::fixups::{Chain, PointerFormat, Site};
use super::image::Image;
use super::segments::Segments;
use crate::binary::{Bytes, Notes};

/// More runs of one kind are not kept.
const MOST: usize = 1 << 18;

/// Places at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first, an address as linked.
    pub address: u64,
    /// How many.
    pub count: u64,
    /// The distance between two.
    pub step: u64,
}

/// Places that are rebased in one way.
#[derive(Clone, Copy, Debug)]
pub struct RebaseRun {
    /// `REBASE_TYPE_...`
    pub kind: u8,
    /// Where.
    pub run: Run,
}

/// Places that are bound to one symbol.
#[derive(Clone, Copy, Debug)]
pub struct BindRun<'a> {
    /// The symbol.
    pub name: &'a [u8],
    /// Which library: from 1 in load order, 0 itself, -1 the main program,
    /// -2 all (flat), -3 all for weak symbols.
    pub ordinal: i64,
    /// `BIND_TYPE_...`
    pub kind: u8,
    /// `BIND_SYMBOL_FLAGS_...`
    pub flags: u8,
    /// What is added to the symbol's address.
    pub addend: i64,
    /// Where; `None` for a definition that overrides weak ones, which binds
    /// no place.
    pub run: Option<Run>,
    /// Where the opcode stands in the file.
    pub opcode: u64,
}

impl BindRun<'_> {
    /// `BIND_SYMBOL_FLAGS_WEAK_IMPORT`: it may be missing.
    pub fn is_weak_import(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// `LC_DYLD_INFO` as it was run.
#[derive(Debug, Default)]
pub struct DyldInfo<'a> {
    /// Whether there is one.
    pub announced: bool,
    /// Rebases.
    pub rebases: Vec<RebaseRun>,
    /// Binds at load time.
    pub binds: Vec<BindRun<'a>>,
    /// Binds that all definitions compete for.
    pub weak_binds: Vec<BindRun<'a>>,
    /// Binds at the first call.
    pub lazy_binds: Vec<BindRun<'a>>,
    /// All places that chains run through which bind opcodes start.
    pub threaded: Vec<Run>,
    /// Whether all programs were understood to their ends.
    pub complete: bool,
}

/// Which program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Bind,
    Weak,
    Lazy,
}

impl<'a> DyldInfo<'a> {
    /// Runs the programs of the command.
    pub fn read(image: &Image<'a>, segments: &Segments<'a>, notes: &mut Notes) -> Self {
        let mut info = Self {
            complete: true,
            ..Self::default()
        };
        // The trie's reader has told of a second command.
        let known = &[LC_DYLD_INFO, LC_DYLD_INFO_ONLY];
        let Some(&command) = image.of_kind(known).next() else {
            return info;
        };
        info.announced = true;
        let body = image.body(&command);
        let mut program = |name: &str, at: u64| {
            let pair = body.u32(at).zip(body.u32(at + 4));
            let (offset, size) = pair.unwrap_or((0, 0));
            image.table(name, u64::from(offset), u64::from(size), notes)
        };
        let rebase = program("rebase opcodes", 8);
        let binds = [
            ("bind opcodes", Program::Bind, program("bind opcodes", 16)),
            (
                "weak bind opcodes",
                Program::Weak,
                program("weak bind opcodes", 24),
            ),
            (
                "lazy bind opcodes",
                Program::Lazy,
                program("lazy bind opcodes", 32),
            ),
        ];
        let mut fault = |name: &str, at: u64, reason: String| {
            notes.at(name, image.file_offset(at), reason);
        };
        if let Some((offset, code)) = rebase {
            let mut machine = Machine::new(image, segments, code);
            if let Err((at, reason)) = machine.rebase(&mut info.rebases) {
                info.complete = false;
                fault("rebase opcodes", offset + at, reason);
            }
        }
        for (name, kind, program) in binds {
            let Some((offset, code)) = program else {
                continue;
            };
            let mut machine = Machine::new(image, segments, code);
            machine.start = image.file_offset(offset);
            machine.threaded = std::mem::take(&mut info.threaded);
            let (out, rebases) = match kind {
                Program::Bind => (&mut info.binds, &mut info.rebases),
                Program::Weak => (&mut info.weak_binds, &mut info.rebases),
                Program::Lazy => (&mut info.lazy_binds, &mut info.rebases),
            };
            let run = machine.bind(kind, out, rebases);
            info.threaded = machine.threaded;
            if let Err((at, reason)) = run {
                info.complete = false;
                fault(name, offset + at, reason);
            }
        }
        info
    }
}

type Fault = (u64, String);

/// The registers of a program.
struct Machine<'i, 'a> {
    image: &'i Image<'a>,
    segments: &'i Segments<'a>,
    code: Bytes<'a>,
    /// Where the program starts in the file.
    start: u64,
    /// Where the next opcode stands.
    at: u64,
    segment: Option<usize>,
    offset: u64,
    /// Steps along chains in the data.
    steps: Budget,
    /// Bytes of names, which many runs may share.
    names: Budget,
    /// Places that chains run through.
    threaded: Vec<Run>,
}

impl<'i, 'a> Machine<'i, 'a> {
    fn new(image: &'i Image<'a>, segments: &'i Segments<'a>, code: Bytes<'a>) -> Self {
        Self {
            image,
            segments,
            code,
            start: 0,
            at: 0,
            segment: None,
            offset: 0,
            steps: Budget::new(image.data.len() / 4),
            names: Budget::new(Budget::NAMES),
            threaded: Vec::new(),
        }
    }

    fn pointer(&self) -> u64 {
        if self.image.wide { 8 } else { 4 }
    }

    fn uleb(&mut self) -> Result<u64, Fault> {
        let (value, size) = self.code.uleb(self.at).ok_or_else(|| self.number())?;
        self.at += size;
        Ok(value)
    }

    fn sleb(&mut self) -> Result<i64, Fault> {
        let (value, size) = self.code.sleb(self.at).ok_or_else(|| self.number())?;
        self.at += size;
        Ok(value)
    }

    fn number(&self) -> Fault {
        (self.at, "a number cannot be read".to_owned())
    }

    /// Offsets may be written as negative numbers modulo 2^64.
    fn add(&mut self, bytes: u64) {
        self.offset = self.offset.wrapping_add(bytes);
        if !self.image.wide {
            self.offset &= 0xFFFF_FFFF;
        }
    }

    fn set_segment(&mut self, index: u8) -> Result<(), Fault> {
        if usize::from(index) >= self.segments.segments.len() {
            return Err((self.at - 1, format!("there is no segment {index}")));
        }
        self.segment = Some(index.into());
        self.offset = self.uleb()?;
        Ok(())
    }

    /// `count` places from here on, `step` apart; moves behind them.
    fn places(&mut self, at: u64, count: u64, step: u64) -> Result<Option<Run>, Fault> {
        if count == 0 {
            return Ok(None);
        }
        let segment = self
            .segment
            .and_then(|index| self.segments.segments.get(index))
            .ok_or_else(|| (at, "no segment is set".to_owned()))?;
        let last = step
            .checked_mul(count - 1)
            .and_then(|bytes| self.offset.checked_add(bytes));
        let end = last.and_then(|last| last.checked_add(self.pointer()));
        // A step of zero or a wrapped one names no places of their own.
        let sane = count == 1 || (step >= 1 && end.is_some());
        if !sane || end.is_none_or(|end| end > segment.memory_size) {
            return Err((
                at,
                format!(
                    "places are outside of segment {}",
                    self.segment.unwrap_or(0)
                ),
            ));
        }
        let run = Run {
            address: segment.address.wrapping_add(self.offset),
            count,
            step: if count == 1 { self.pointer() } else { step },
        };
        // Checked above, except for the step behind the last place.
        self.offset = last.unwrap_or(self.offset);
        self.add(step);
        Ok(Some(run))
    }

    fn rebase(&mut self, out: &mut Vec<RebaseRun>) -> Result<(), Fault> {
        let pointer = self.pointer();
        let mut kind = 0;
        while let Some(byte) = self.code.u8(self.at) {
            let at = self.at;
            self.at += 1;
            let low = byte & 15;
            let (count, step) = match byte & 0xF0 {
                // REBASE_OPCODE_DONE
                0x00 => return Ok(()),
                0x10 => {
                    kind = low;
                    continue;
                }
                0x20 => {
                    self.set_segment(low)?;
                    continue;
                }
                0x30 => {
                    let bytes = self.uleb()?;
                    self.add(bytes);
                    continue;
                }
                0x40 => {
                    self.add(u64::from(low) * pointer);
                    continue;
                }
                0x50 => (low.into(), pointer),
                0x60 => (self.uleb()?, pointer),
                0x70 => (1, self.uleb()?.wrapping_add(pointer)),
                0x80 => {
                    let count = self.uleb()?;
                    (count, self.uleb()?.wrapping_add(pointer))
                }
                _ => return Err((at, format!("there is no rebase opcode {byte:#x}"))),
            };
            if let Some(run) = self.places(at, count, step)? {
                push_rebase(out, RebaseRun { kind, run }).map_err(|reason| (at, reason))?;
            }
        }
        Ok(())
    }

    fn bind(
        &mut self,
        program: Program,
        out: &mut Vec<BindRun<'a>>,
        rebases: &mut Vec<RebaseRun>,
    ) -> Result<(), Fault> {
        let pointer = self.pointer();
        let mut bind = BindRun {
            name: b"",
            ordinal: if program == Program::Weak { -3 } else { 0 },
            kind: 1,
            flags: 0,
            addend: 0,
            run: None,
            opcode: 0,
        };
        // Old arm64e: binds fill a table, chains in the data refer to it.
        let mut table: Option<Vec<BindRun<'a>>> = None;
        while let Some(byte) = self.code.u8(self.at) {
            let at = self.at;
            self.at += 1;
            let low = byte & 15;
            let (count, step) = match byte & 0xF0 {
                // BIND_OPCODE_DONE ends a lazy symbol, not the program.
                0x00 if program == Program::Lazy => continue,
                0x00 => return Ok(()),
                0x10 => {
                    bind.ordinal = low.into();
                    continue;
                }
                0x20 => {
                    let ordinal = self.uleb()?;
                    bind.ordinal = i64::try_from(ordinal)
                        .map_err(|_| (at, "the ordinal of a library is too large".to_owned()))?;
                    continue;
                }
                0x30 => {
                    bind.ordinal = match low {
                        0 => 0,
                        _ => i64::from((0xF0 | low) as i8),
                    };
                    continue;
                }
                0x40 => {
                    bind.flags = low;
                    bind.name = self
                        .code
                        .string(self.at)
                        .ok_or_else(|| (at, "the name of a symbol does not end".to_owned()))?;
                    self.at += bind.name.len() as u64 + 1;
                    // BIND_SYMBOL_FLAGS_NON_WEAK_DEFINITION
                    if program == Program::Weak && low & 8 != 0 {
                        let opcode = self.start + at;
                        let strong = BindRun {
                            run: None,
                            opcode,
                            ..bind
                        };
                        push_bind(out, &mut self.names, strong).map_err(|reason| (at, reason))?;
                    }
                    continue;
                }
                0x50 => {
                    bind.kind = low;
                    continue;
                }
                0x60 => {
                    bind.addend = self.sleb()?;
                    continue;
                }
                0x70 => {
                    self.set_segment(low)?;
                    continue;
                }
                0x80 => {
                    let bytes = self.uleb()?;
                    self.add(bytes);
                    continue;
                }
                0x90 => {
                    if let Some(table) = &mut table {
                        push_bind(table, &mut self.names, bind).map_err(|reason| (at, reason))?;
                        continue;
                    }
                    (1, pointer)
                }
                0xA0 => (1, self.uleb()?.wrapping_add(pointer)),
                0xB0 => (1, u64::from(low) * pointer + pointer),
                0xC0 => {
                    let count = self.uleb()?;
                    (count, self.uleb()?.wrapping_add(pointer))
                }
                0xD0 if low == 0 => {
                    // BIND_SUBOPCODE_THREADED_SET_BIND_ORDINAL_TABLE_SIZE_ULEB
                    self.uleb()?;
                    table = Some(Vec::new());
                    continue;
                }
                0xD0 if low == 1 => {
                    let table = table.as_deref().unwrap_or_default();
                    self.thread(at, table, out, rebases)?;
                    continue;
                }
                _ => return Err((at, format!("there is no bind opcode {byte:#x}"))),
            };
            bind.opcode = self.start + at;
            if let Some(run) = self.places(at, count, step)? {
                let run = Some(run);
                push_bind(out, &mut self.names, BindRun { run, ..bind })
                    .map_err(|reason| (at, reason))?;
            }
        }
        Ok(())
    }

    /// `BIND_SUBOPCODE_THREADED_APPLY`: a chain of pointers from here on.
    fn thread(
        &mut self,
        at: u64,
        table: &[BindRun<'a>],
        out: &mut Vec<BindRun<'a>>,
        rebases: &mut Vec<RebaseRun>,
    ) -> Result<(), Fault> {
        let segment = self
            .segment
            .and_then(|index| self.segments.segments.get(index))
            .ok_or_else(|| (at, "no segment is set".to_owned()))?;
        let chain = Chain {
            data: self.image.data,
            segment,
            format: PointerFormat::Arm64e,
        };
        let opcode = self.start + at;
        let (names, threaded) = (&mut self.names, &mut self.threaded);
        let mut reason = None;
        let ended = chain.walk(self.offset, &mut self.steps, &mut |address, site| {
            let done = match site {
                Site::Bind(found) => match table.get(found.ordinal as usize) {
                    Some(&bind) => push_bind(
                        out,
                        names,
                        BindRun {
                            run: Some(Run::one(address)),
                            opcode,
                            ..bind
                        },
                    ),
                    None => Err(format!("there is no bind {}", found.ordinal)),
                },
                Site::Rebase(_) => push_rebase(
                    rebases,
                    RebaseRun {
                        kind: 1,
                        run: Run::one(address),
                    },
                ),
            };
            let done = done.and_then(|()| push_link(threaded, address));
            match done {
                Ok(()) => true,
                Err(what) => {
                    reason = Some(what);
                    false
                }
            }
        });
        match reason.or(ended.err().map(str::to_owned)) {
            Some(reason) => Err((at, reason)),
            None => Ok(()),
        }
    }
}

fn push_bind<'a>(
    out: &mut Vec<BindRun<'a>>,
    names: &mut Budget,
    bind: BindRun<'a>,
) -> Result<(), String> {
    if out.len() >= MOST || !names.take(bind.name.len() as u64) {
        return Err("there are more binds than are told".to_owned());
    }
    out.push(bind);
    Ok(())
}

/// Adds a place that a chain runs through.
fn push_link(out: &mut Vec<Run>, address: u64) -> Result<(), String> {
    let link = Run::one(address);
    if let Some(last) = out.last_mut()
        && last.append(link)
    {
        return Ok(());
    }
    if out.len() >= MOST {
        return Err("there are more links of chains than are told".to_owned());
    }
    out.push(link);
    Ok(())
}

/// Adds a run, to the one before it where they are one.
fn push_rebase(out: &mut Vec<RebaseRun>, rebase: RebaseRun) -> Result<(), String> {
    let RebaseRun { kind, run } = rebase;
    if let Some(last) = out.last_mut()
        && last.kind == kind
        && last.run.append(run)
    {
        return Ok(());
    }
    if out.len() >= MOST {
        return Err("there are more runs of rebases than are told".to_owned());
    }
    out.push(rebase);
    Ok(())
}

impl Run {
    /// A single place.
    pub fn one(address: u64) -> Self {
        Self {
            address,
            count: 1,
            step: 8,
        }
    }

    /// Makes `next` a part of it; false where it does not go on with it.
    pub fn append(&mut self, next: Self) -> bool {
        let Some(distance) = next.address.checked_sub(self.address) else {
            return false;
        };
        let step = match self.count {
            1 if next.count == 1 => distance,
            1 => next.step,
            _ => self.step,
        };
        let follows = step.checked_mul(self.count) == Some(distance);
        if step == 0 || !follows || (next.count > 1 && next.step != step) {
            return false;
        }
        // A lone place joins only its neighbour, or every pair would be a run.
        if self.count == 1 && next.count == 1 && step > 8 {
            return false;
        }
        self.step = step;
        self.count = self.count.saturating_add(next.count);
        true
    }
}
