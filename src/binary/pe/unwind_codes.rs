//! `.xdata` records of ARM and ARM64 (learn.microsoft.com: "ARM exception
//! handling" and "ARM64 exception handling", section ".xdata records").

use std::fmt::Write as _;

use super::{unwind_arm, unwind_arm64};
use crate::binary::Bytes;
use crate::binary::layout::rows::Hex;
use crate::json::Writer;

/// A record.
pub(super) struct Record<'a> {
    arm64: bool,
    /// The first word.
    pub header: u32,
    /// `Epilog Count`, or where the only epilog starts among the codes.
    epilogs: u64,
    /// Where and how epilogs are unwound, a word each.
    scopes: Bytes<'a>,
    codes: &'a [u8],
    /// Whether codes or scopes are cut.
    pub is_cut: bool,
    /// The address of the handler, and the first word of its data.
    handler: Option<(u32, Option<u32>)>,
}

impl<'a> Record<'a> {
    /// The record that starts `info`.
    pub(super) fn read(info: Bytes<'a>, arm64: bool) -> Option<Self> {
        let header = info.u32(0)?;
        let short = match arm64 {
            true => (u64::from(header >> 22 & 31), u64::from(header >> 27)),
            false => (u64::from(header >> 23 & 31), u64::from(header >> 28)),
        };
        // Both zero: a second word has them.
        let (start, (epilogs, words)) = match short {
            (0, 0) => {
                let more = info.u32(4)?;
                (8, (u64::from(more & 0xFFFF), u64::from(more >> 16 & 0xFF)))
            }
            _ => (4, short),
        };
        let packed = header >> 21 & 1 != 0;
        let scopes = if packed { 0 } else { epilogs * 4 };
        let at = start + scopes;
        let codes = info.up_to(at, words * 4);
        let end = at + words * 4;
        let handler = (header >> 20 & 1 != 0).then(|| info.u32(end));
        Some(Self {
            arm64,
            header,
            epilogs,
            scopes: Bytes::little(info.up_to(start, scopes)),
            codes,
            is_cut: info.len() < end || handler == Some(None),
            handler: handler
                .flatten()
                .map(|address| (address, info.u32(end + 4))),
        })
    }

    /// Bytes of the function.
    pub(super) fn function_length(&self) -> u64 {
        u64::from(self.header & 0x3_FFFF) * self.unit()
    }

    /// Bytes that a row of the record is written from.
    pub(super) fn weight(&self) -> u64 {
        self.scopes.len() + self.codes.len() as u64
    }

    fn unit(&self) -> u64 {
        if self.arm64 { 4 } else { 2 }
    }

    fn bit(&self, at: u32) -> bool {
        self.header >> at & 1 != 0
    }

    fn scope_words(&self) -> impl Iterator<Item = u32> {
        (0..self.scopes.len() / 4).filter_map(|index| self.scopes.u32(index * 4))
    }

    /// Where the epilog of a scope starts among the codes.
    fn start_index(&self, scope: u32) -> u32 {
        if self.arm64 { scope >> 22 } else { scope >> 24 }
    }

    pub(super) fn write(&self, with_codes: bool, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("code_bytes", self.codes.len() as u64);
        w.key("codes");
        match with_codes {
            true => self.write_codes(w),
            false => w.null(),
        }
        if self.bit(21) {
            w.member("epilog_start_index", self.epilogs);
        } else {
            w.key("epilogs");
            match with_codes {
                true => self.write_scopes(w),
                false => w.null(),
            }
        }
        if !self.arm64 {
            w.member("fragment", self.bit(22));
        }
        if let Some((address, data)) = self.handler {
            w.member("handler_address", Hex(address.into()));
            w.member("handler_data", data.map(u64::from));
        }
        w.member("version", self.header >> 18 & 3);
        w.end_object();
    }

    fn write_scopes(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for scope in self.scope_words() {
            w.begin_object();
            if !self.arm64 {
                w.member("condition", scope >> 20 & 15);
            }
            w.member("start_index", self.start_index(scope));
            w.member(
                "start_offset",
                Hex(u64::from(scope & 0x3_FFFF) * self.unit()),
            );
            w.end_object();
        }
        w.end_array();
    }

    /// Each code once, those of the prolog and of all epilogs: where it
    /// stands among the codes, its bytes, its name and operands.
    fn write_codes(&self, w: &mut Writer<'_>) {
        // Codes have at most 255 words.
        let mut lengths = [0u8; 1024];
        let decode = match self.arm64 {
            true => unwind_arm64::code,
            false => unwind_arm::code,
        };
        let mut text = String::new();
        let mut follow = |start: usize| {
            let mut at = start;
            while let Some(rest) = self.codes.get(at..).filter(|rest| !rest.is_empty()) {
                let Some(seen) = lengths.get_mut(at).filter(|seen| **seen == 0) else {
                    break;
                };
                text.clear();
                let (length, ends) = decode(rest, &mut text);
                *seen = length as u8;
                if ends {
                    break;
                }
                at += length;
            }
        };
        follow(0);
        if self.bit(21) {
            follow(usize::try_from(self.epilogs).unwrap_or(usize::MAX));
        }
        for scope in self.scope_words() {
            follow(self.start_index(scope) as usize);
        }
        w.begin_array();
        for (at, &length) in lengths.iter().enumerate() {
            let Some(rest) = self.codes.get(at..).filter(|_| length > 0) else {
                continue;
            };
            text.clear();
            let _ = write!(text, "{at:#x} "); // writing to a string cannot fail
            let own = rest.get(..usize::from(length));
            for byte in own.unwrap_or(rest) {
                let _ = write!(text, "{byte:02x}"); // cannot fail
            }
            text.push(' ');
            match own {
                Some(own) => _ = decode(own, &mut text),
                None => text.push_str("cut"),
            }
            w.string(&text);
        }
        w.end_array();
    }
}
