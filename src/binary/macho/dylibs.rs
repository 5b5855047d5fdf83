//! Libraries (`struct dylib_command`, `struct dylib_use_command`).

use super::commands::{LC_ID_DYLIB, LOADS_DYLIB, command_name, dylib_version};
use super::image::Image;
use crate::binary::Notes;
use crate::binary::layout::rows::{Range, Symbolic};

/// A library that is asked for, or the name of this one.
#[derive(Clone, Copy, Debug)]
pub struct Dylib<'a> {
    /// The command's name.
    pub kind: &'static str,
    /// Its install name.
    pub name: &'a [u8],
    /// Where the name stands in the file, a NUL included.
    pub location: Range,
    /// `dylib_command`, or `dylib_use_command` for one with flags.
    pub encoding: &'static str,
    /// `DYLIB_USE_...` flags.
    pub flags: Option<u32>,
    /// The current version.
    pub current: u32,
    /// The compatibility version.
    pub compatibility: u32,
}

/// Marks a `dylib_use_command`, in place of a time.
const DYLIB_USE_MARKER: u32 = 0x1A74_1800;

impl Dylib<'_> {
    /// `X.Y.Z`
    pub fn current_version(&self) -> String {
        dylib_version(self.current)
    }

    /// `X.Y.Z`
    pub fn compatibility_version(&self) -> String {
        dylib_version(self.compatibility)
    }
}

/// Libraries that are loaded, in command order.
pub fn dylibs<'a>(image: &Image<'a>, notes: &mut Notes) -> Vec<Dylib<'a>> {
    read(image, LOADS_DYLIB, notes)
}

/// The name of this library (`LC_ID_DYLIB`).
pub fn own<'a>(image: &Image<'a>) -> Option<Dylib<'a>> {
    read(image, &[LC_ID_DYLIB], &mut Notes::default())
        .into_iter()
        .next()
}

fn read<'a>(image: &Image<'a>, kinds: &'static [u32], notes: &mut Notes) -> Vec<Dylib<'a>> {
    let mut all = Vec::new();
    for command in image.of_kind(kinds) {
        let body = image.body(command);
        let Symbolic::Named(kind) = command_name(command.cmd) else {
            continue;
        };
        let read = (|| {
            let (at, name) = image.lc_str(command, 8)?;
            let marker = body.u32(12)?;
            let uses = marker == DYLIB_USE_MARKER && body.u32(8)? == 28;
            Some(Dylib {
                kind,
                name,
                location: image.range(at, name.len() as u64 + 1),
                encoding: match uses {
                    true => "dylib_use_command",
                    false => "dylib_command",
                },
                flags: if uses { Some(body.u32(24)?) } else { None },
                current: body.u32(16)?,
                compatibility: body.u32(20)?,
            })
        })();
        match read {
            Some(dylib) => all.push(dylib),
            None => {
                let at = image.file_offset(command.offset);
                notes.at(kind, at, "the command has no name inside it");
                // Ordinals count all commands.
                all.push(Dylib {
                    kind,
                    name: b"",
                    location: image.range(command.offset, u64::from(command.size)),
                    encoding: "dylib_command",
                    flags: None,
                    current: 0,
                    compatibility: 0,
                });
            }
        }
    }
    all
}
