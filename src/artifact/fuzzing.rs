//! For the fuzz targets: one container reader on bytes in memory.

use super::containers::{self, Fault, Limit, MemberKind, Scratch};
use super::names::{self, RawName};
use super::options::Options;
use super::source::Source;

/// Decoded bytes of one member, and of all members.
const MEMBER: usize = 1 << 18;
const ALL: usize = 1 << 22;

/// Opens `bytes` as a container of that format, settles its names, reads every
/// member as far as the limits allow, and closes it.
///
/// # Panics
/// Where a reader breaks what the engine relies on: that is what fuzzing is
/// to find.
pub fn read_container(format: &str, bytes: &[u8]) {
    let Some(format) = containers::named(format) else {
        panic!("no reader for {format}");
    };
    let options = Options {
        max_depth: 64,
        max_entries: 4096,
        max_entry_bytes: MEMBER as u64,
        max_total_bytes: ALL as u64,
        max_decoder_window: 1 << 20,
        max_header_bytes: 1 << 16,
        ..Options::default()
    };
    let source = Source::memory(bytes.to_vec());
    let Ok(mut container) = containers::open(format, &source, &options) else {
        return;
    };
    let listing = container.listing();
    let count = listing.members.len();
    assert!(count as u64 <= options.max_entries);
    let names = listing.members.iter().map(|member| RawName {
        bytes: listing.name(member),
        directory: member.kind == MemberKind::Directory,
    });
    if let Ok(paths) = names::resolve(names, container.style()) {
        assert_eq!(paths.len(), count);
    }
    let mut scratch = Scratch::new();
    let mut left = ALL;
    for index in 0..count {
        let kind = container.listing().members[index].kind;
        if !kind.is_file() && kind != MemberKind::Symlink {
            continue;
        }
        let most = left.min(MEMBER);
        let mut content = Vec::new();
        // Both ways to meet a contradiction are taken by some member.
        let keep_going = index % 2 == 1;
        let mut out = |part: &[u8]| {
            if content.len() + part.len() > most {
                return Err(Fault::Limit(Limit {
                    name: "max_entry_bytes",
                    value: most as u64,
                }));
            }
            content.extend_from_slice(part);
            Ok(())
        };
        let read = container.read(index, keep_going, &mut scratch, &mut out);
        left -= content.len();
        let region = container.region(index);
        if let (Ok(_), Some(region), true) = (read, region, container.is_contiguous(index)) {
            let stored = region.read_vec(0, content.len());
            assert!(stored.is_ok_and(|stored| stored == content));
        }
        container.declared(index);
        container.is_unpacked(index);
    }
    container.close();
    assert_eq!(container.take_listing().members.len(), count);
}
