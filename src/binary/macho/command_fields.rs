//! Load commands as they are shown: their fields by the table of
//! [`super::commands`], and the tables of the file that they name.

use std::borrow::Cow;

use super::commands::Form::{
    self, Hex32, Hex64, Name16, Skip, SourceVersion, Str, U32, U64, Version,
};
use super::commands::{
    COMMANDS, LC_DYLD_INFO, LC_DYLD_INFO_ONLY, LC_DYSYMTAB, LC_NOTE, LC_SYMTAB, PLATFORMS,
    dylib_version, name16, named, source_version, uuid, version,
};
use super::image::{Command, Image};
use crate::binary::layout::rows::Hex;
use crate::binary::name_text;
use crate::json::{MAX_SAFE_INTEGER, WriteJson, Writer};

/// The value of a field.
enum Shown<'a> {
    Number(u64),
    Hex(u64),
    Text(Cow<'a, str>),
    Nothing,
}

impl WriteJson for Shown<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        match self {
            Self::Number(value) if *value <= MAX_SAFE_INTEGER => w.u64(*value),
            Self::Number(_) | Self::Nothing => w.null(),
            Self::Hex(value) => Hex(*value).write_json(w),
            Self::Text(text) => w.string(text),
        }
    }
}

impl<'a> Image<'a> {
    /// Writes the fields of a command as an object: numbers, or strings for
    /// addresses, flags, versions and names. Null where a field is not all
    /// there, or a number has more than 53 bits.
    pub fn write_fields(&self, command: &Command, w: &mut Writer<'_>) {
        let mut fields = vec![
            ("cmd", Shown::Hex(u64::from(command.cmd))),
            ("cmdsize", Shown::Number(u64::from(command.size))),
        ];
        self.each_field(command, &mut |name, value| fields.push((name, value)));
        fields.sort_unstable_by_key(|(name, _)| *name);
        w.begin_object();
        for (name, value) in &fields {
            w.member(name, value);
        }
        w.end_object();
    }

    /// Numbers of a command that have more than 53 bits, by field.
    pub fn large_numbers(&self, command: &Command) -> Vec<(&'static str, u64)> {
        let mut large = Vec::new();
        self.each_field(command, &mut |name, value| match value {
            Shown::Number(value) if value > MAX_SAFE_INTEGER => large.push((name, value)),
            _ => {}
        });
        large
    }

    /// The tables in the slice that a command names: offset and size of each.
    pub fn tables_of(&self, command: &Command) -> Vec<(u64, u64)> {
        let body = self.body(command);
        let pair = |at: u64, each: u64| {
            let (offset, count) = body.u32(at).zip(body.u32(at + 4)).unwrap_or((0, 0));
            (u64::from(offset), u64::from(count) * each)
        };
        let symbol = if self.wide { 16 } else { 12 };
        match command.cmd {
            LC_SYMTAB => vec![pair(8, symbol), pair(16, 1)],
            LC_DYSYMTAB => vec![pair(56, 4), pair(64, 8), pair(72, 8)],
            LC_DYLD_INFO | LC_DYLD_INFO_ONLY => (0..5).map(|at| pair(8 + 8 * at, 1)).collect(),
            LC_NOTE => {
                let range = body.u64(24).zip(body.u64(32));
                range.into_iter().collect()
            }
            cmd => {
                let row = COMMANDS.iter().find(|row| row.0 == cmd);
                let named = row.is_some_and(|row| matches!(row.2.first(), Some(("dataoff", _))));
                if named { vec![pair(8, 1)] } else { Vec::new() }
            }
        }
    }

    fn each_field(&self, command: &Command, take: &mut dyn FnMut(&'static str, Shown<'a>)) {
        let Some((_, _, fields)) = COMMANDS.iter().find(|row| row.0 == command.cmd) else {
            return;
        };
        let body = self.body(command);
        let mut at = 8;
        for &(name, form) in *fields {
            let word = body.u32(at);
            let number = |value: Option<u32>, shown: fn(u64) -> Shown<'static>| {
                value.map_or(Shown::Nothing, |value| shown(u64::from(value)))
            };
            let text = |text: String| Shown::Text(Cow::Owned(text));
            let (value, size) = match form {
                U32 => (number(word, Shown::Number), 4),
                Hex32 => (number(word, Shown::Hex), 4),
                U64 => (body.u64(at).map_or(Shown::Nothing, Shown::Number), 8),
                Hex64 => (body.u64(at).map_or(Shown::Nothing, Shown::Hex), 8),
                Version => (word.map_or(Shown::Nothing, |v| text(version(v))), 4),
                Form::DylibVersion => {
                    let value = word.map(|value| text(dylib_version(value)));
                    (value.unwrap_or(Shown::Nothing), 4)
                }
                SourceVersion => {
                    let value = body.u64(at).map(|v| text(source_version(v)));
                    (value.unwrap_or(Shown::Nothing), 8)
                }
                Str => {
                    let value = self.lc_str(command, at);
                    let value = value.map(|(_, name)| Shown::Text(name_text(name)));
                    (value.unwrap_or(Shown::Nothing), 4)
                }
                Name16 => {
                    let value = body.get(at, 16).map(|name| name_text(name16(name)));
                    (value.map_or(Shown::Nothing, Shown::Text), 16)
                }
                Form::Uuid => {
                    let value = body.array::<16>(at).map(|value| text(uuid(&value)));
                    (value.unwrap_or(Shown::Nothing), 16)
                }
                Form::Platform => {
                    let value = word.map(|value| Shown::Text(named(value, PLATFORMS)));
                    (value.unwrap_or(Shown::Nothing), 4)
                }
                Skip => {
                    at += 4;
                    continue;
                }
            };
            take(name, value);
            at += size;
        }
    }
}
