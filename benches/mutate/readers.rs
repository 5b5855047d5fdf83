//! The readers that take every mutant.

use std::io;
use std::path::Path;

use rea::apple::plist;
use rea::artifact::format::HEAD;
use rea::binary::BinaryFile;
use rea::binary::deep;
use rea::binary::layout::{LayoutOptions, inspect_binary_layout, may_have_layout};
use rea::binary::macho::{inspect_macho, list_architectures};
use rea::binary::wasm::{WasmInput, WasmOptions, inspect_wasm};
use rea::evidence::Record;
use rea::json::{Sink, Writer};
use rea::native::{
    StringsOptions, Target, address_to_file_offset, list_names, list_segments, list_strings,
    read_bytes, search_bytes,
};
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
        name: "diff --deep, modules",
        run: |bytes| (deep::MODULES.read)(bytes).is_ok(),
    },
    Reader {
        name: "inspect-macho",
        run: macho,
    },
    Reader {
        name: "list-architectures",
        run: |bytes| {
            let file = file(bytes);
            let context = Context::new("list_architectures");
            list_architectures(&file, &context).is_ok_and(|record| written(&record))
        },
    },
    Reader {
        name: "inspect-wasm-artifact",
        run: wasm,
    },
    Reader {
        name: "list-segments, list-names, list-strings, read-bytes, search-bytes",
        run: native,
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
    let file = file(bytes);
    inspect_binary_layout(&file, options, &context).is_ok_and(|record| written(&record))
}

fn file(bytes: &[u8]) -> BinaryFile {
    BinaryFile {
        path: "mutant".to_owned(),
        bytes: bytes.to_vec(),
    }
}

fn macho(bytes: &[u8]) -> bool {
    let (file, context) = (file(bytes), Context::new("inspect_macho"));
    inspect_macho(&file, None, &context).is_ok_and(|record| written(&record))
}

fn written(record: &dyn Record) -> bool {
    write(record);
    true
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

fn wasm(bytes: &[u8]) -> bool {
    let (file, context) = (file(bytes), Context::new("inspect_wasm_artifact"));
    let input = WasmInput::alone(file);
    inspect_wasm(&input, &WasmOptions::default(), &context).is_ok_and(|record| written(&record))
}

/// The operations by address, on one layout.
fn native(bytes: &[u8]) -> bool {
    let context = Context::new("list_segments");
    let target = Target::of_bytes("mutant", bytes.to_vec(), None);
    let Ok(mapped) = target.map_any(&context) else {
        return false;
    };
    let segments = list_segments(&mapped, &context).is_ok_and(|record| written(&record));
    let names = list_names(&mapped, None, &context).is_ok_and(|record| written(&record));
    let options = StringsOptions::default();
    let strings = list_strings(&mapped, &options, &context).is_ok_and(|record| written(&record));
    for address in [0, 0x1000, 0x40_0000, u64::MAX - 1] {
        let read = read_bytes(&mapped, address, 64, &context);
        let _ = read.is_ok_and(|record| written(&record));
        let offset = address_to_file_offset(&mapped, address, &context);
        let _ = offset.is_ok_and(|record| written(&record));
    }
    let found = search_bytes(&mapped, "00 ?0 00", None, &context);
    let _ = found.is_ok_and(|record| written(&record));
    segments && names && strings
}
