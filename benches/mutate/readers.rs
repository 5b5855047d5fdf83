//! The readers that take every mutant.

use std::io;
use std::path::Path;

use rea::apple::plist;
use rea::artifact::format::HEAD;
use rea::binary::BinaryFile;
use rea::binary::deep;
use rea::binary::layout::{LayoutOptions, inspect_binary_layout, may_have_layout};
use rea::evidence::Record;
use rea::json::{Sink, Writer};
use rea::operation::Context;

/// A reader of bytes.
pub struct Reader {
    /// The operation that it is of.
    pub name: &'static str,
    /// Takes a file; whether it was accepted.
    pub run: fn(&[u8]) -> bool,
}

/// All of them.
pub static ALL: &[Reader] = &[
    Reader {
        name: "inspect-binary-layout",
        run: |bytes| layout(bytes, &LayoutOptions::default()),
    },
    Reader {
        name: "inspect-binary-layout --strings --digests",
        run: |bytes| {
            let options = LayoutOptions {
                strings: true,
                digests: true,
                ..LayoutOptions::default()
            };
            layout(bytes, &options)
        },
    },
    Reader {
        name: "diff --deep",
        run: |bytes| (deep::BINARIES.read)(bytes).is_ok(),
    },
    Reader {
        name: "inspect-plist",
        run: |bytes| plist::parse(bytes).is_ok(),
    },
];

/// Whether a reader takes files of this kind.
pub fn any_takes(path: &Path, bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    may_have_layout(head, bytes.len() as u64)
        || plist::may_be(path, head.get(..plist::HEAD).unwrap_or(head))
        || bytes.starts_with(b"\0asm")
}

fn layout(bytes: &[u8], options: &LayoutOptions) -> bool {
    let context = Context::new("inspect_binary_layout");
    let file = BinaryFile {
        path: "mutant".to_owned(),
        bytes: bytes.to_vec(),
    };
    match inspect_binary_layout(&file, options, &context) {
        Ok(record) => {
            write(&record);
            true
        }
        Err(_) => false,
    }
}

/// Writes a record to nowhere.
pub fn write(record: &dyn Record) {
    let mut nowhere = Nowhere;
    let mut writer = Writer::canonical(&mut nowhere);
    record.write_record(&mut writer);
    // Nowhere takes everything.
    let _ = writer.finish();
}

struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
