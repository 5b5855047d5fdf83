//! Files of the kinds that readers of binaries are known to die on: counts that nothing backs,
//! entries that take no room, tables over the same bytes, chains that come back to where they
//! started, and small inputs that stand for much.

/// The largest of a kind that is made: 1 MiB of table.
const LARGE: usize = 1 << 20;

/// All files, with what they are.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    elf(&mut all);
    pe(&mut all);
    macho(&mut all);
    wasm(&mut all);
    plist(&mut all);
    all
}

/// How many there are.
pub fn count() -> usize {
    all().len()
}

type Files = Vec<(String, Vec<u8>)>;

fn put(bytes: &mut Vec<u8>, at: usize, value: &[u8]) {
    if bytes.len() < at + value.len() {
        bytes.resize(at + value.len(), 0);
    }
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn put16(bytes: &mut Vec<u8>, at: usize, value: u16) {
    put(bytes, at, &value.to_le_bytes());
}

fn put32(bytes: &mut Vec<u8>, at: usize, value: u32) {
    put(bytes, at, &value.to_le_bytes());
}

fn put64(bytes: &mut Vec<u8>, at: usize, value: u64) {
    put(bytes, at, &value.to_le_bytes());
}

/// A section header: type, flags, address, offset, size, link, info, entry size.
type Section = (u32, u64, u64, u64, u64, u32, u32, u64);
/// A program header: type, flags, offset, address, file size, memory size.
type Segment = (u32, u32, u64, u64, u64, u64);

/// ELF64, little-endian, x86-64: header, program headers, `content` at 0x10000, section headers
/// behind it.
fn elf64(kind: u16, segments: &[Segment], sections: &[Section], content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, 0, b"\x7FELF\x02\x01\x01");
    put16(&mut out, 16, kind);
    put16(&mut out, 18, 62);
    put32(&mut out, 20, 1);
    put64(&mut out, 32, 64);
    put16(&mut out, 52, 64);
    put16(&mut out, 54, 56);
    put16(&mut out, 56, segments.len() as u16);
    put16(&mut out, 58, 64);
    put16(&mut out, 60, sections.len() as u16);
    for (at, &(kind, flags, offset, address, file, memory)) in segments.iter().enumerate() {
        let at = 64 + at * 56;
        put32(&mut out, at, kind);
        put32(&mut out, at + 4, flags);
        for (place, value) in [
            (8, offset),
            (16, address),
            (24, address),
            (32, file),
            (40, memory),
        ] {
            put64(&mut out, at + place, value);
        }
        put64(&mut out, at + 48, 1);
    }
    put(&mut out, CONTENT, content);
    let table = out.len().next_multiple_of(8);
    if !sections.is_empty() {
        put64(&mut out, 40, table as u64);
    }
    for (at, &section) in sections.iter().enumerate() {
        let (kind, flags, address, offset, size, link, info, entry) = section;
        let at = table + at * 64;
        put32(&mut out, at + 4, kind);
        for (place, value) in [
            (8, flags),
            (16, address),
            (24, offset),
            (32, size),
            (56, entry),
        ] {
            put64(&mut out, at + place, value);
        }
        put32(&mut out, at + 40, link);
        put32(&mut out, at + 44, info);
    }
    out
}

const CONTENT: usize = 0x1_0000;

fn elf(all: &mut Files) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push((format!("ELF, {name}"), bytes));
    let at = CONTENT as u64;
    let large = LARGE as u64;
    let null: Section = (0, 0, 0, 0, 0, 0, 0, 0);
    let strings: Section = (3, 0, 0, at, large, 0, 0, 0);
    let zeros = vec![0u8; LARGE];
    let letters = vec![b'a'; LARGE];
    let mut text = letters.clone();
    text[LARGE - 1] = 0;

    // Extended numbering: the counts stand in the first section.
    let mut many = elf64(
        3,
        &[],
        &[(0, 0, 0, 0, u64::MAX >> 1, u32::MAX, u32::MAX, 0)],
        &zeros,
    );
    put16(&mut many, 60, 0);
    put16(&mut many, 62, 0xFFFF);
    put16(&mut many, 56, 0xFFFF);
    add("2^63 sections and 2^32 segments", many);
    for size in [0u16, 1, 63, 0xFFFF] {
        let mut odd = elf64(3, &[], &[null; 40], &zeros);
        put16(&mut odd, 58, size);
        put16(&mut odd, 54, size);
        put16(&mut odd, 60, 0xFEFF);
        put16(&mut odd, 56, 0xFFFE);
        add(&format!("table entries of {size} bytes"), odd);
    }
    // Tables of symbols over the same bytes, each name the same megabyte.
    let symbols: Section = (2, 0, 0, at, large, 1, 1, 24);
    let tables: Vec<Section> = [null, strings]
        .into_iter()
        .chain(std::iter::repeat_n(symbols, 800))
        .collect();
    add(
        "800 tables of symbols over the same bytes",
        elf64(1, &[], &tables, &text),
    );
    let mut same = text.clone();
    for at in (0..LARGE - 48).step_by(24) {
        put32(&mut same, at, 24);
        put(&mut same, at + 4, b"\x12\0\x01\0");
    }
    add(
        "names of a megabyte for each symbol",
        elf64(1, &[], &[null, strings, symbols], &same),
    );
    for entry in [0, 1, 23, u64::MAX] {
        let odd: Section = (2, 0, 0, at, u64::MAX, 1, 0, entry);
        add(
            &format!("2^64 bytes of symbols of {entry}"),
            elf64(1, &[], &[null, strings, odd], &text),
        );
    }
    for (name, kind, entry) in [
        ("RELA", 4u32, 24u64),
        ("REL", 9, 16),
        ("RELR", 19, 8),
        ("CREL", 20, 1),
        ("LLVM CREL", 0x4000_0020, 1),
        ("Android REL", 0x6000_0001, 1),
        ("Android RELA", 0x6000_0002, 1),
    ] {
        let ones = vec![0xFF; LARGE];
        let mut packed = b"APS2".to_vec();
        packed.extend([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 8]);
        packed.resize(4096, 0x7F);
        let mut crel = vec![0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
        crel.resize(4096, 0);
        for (what, content) in [
            ("all ones", &ones),
            ("all zeros", &zeros),
            ("a group of 2^55", &packed),
            ("a count of 2^59", &crel),
        ] {
            let one: Section = (kind, 2, 0, at, content.len() as u64, 0, 0, entry);
            let tables: Vec<Section> = [null].into_iter().chain([one; 300]).collect();
            add(
                &format!("300 tables of {name}, {what}"),
                elf64(3, &[], &tables, content),
            );
        }
    }
    // A dynamic table without end, hash tables that claim everything.
    let load: Segment = (1, 6, 0, 0, u64::MAX, u64::MAX);
    let mut dynamic = Vec::new();
    for (tag, value) in [
        (5u64, at),
        (10, u64::MAX),
        (6, at),
        (11, 24),
        (4, at + 0x1000),
        (0x6FFF_FEF5, at + 0x2000),
        (0x6FFF_FFF0, at),
        (0x6FFF_FFFE, at + 0x3000),
        (0x6FFF_FFFF, u64::MAX),
        (0x6FFF_FFFC, at + 0x3000),
        (0x6FFF_FFFD, u64::MAX),
        (7, at),
        (8, u64::MAX),
        (9, 24),
        (36, at),
        (35, u64::MAX),
        (37, 8),
        (23, at),
        (2, u64::MAX),
        (20, 7),
        (25, at),
        (27, u64::MAX),
        (1, 1),
        (1, u64::MAX),
    ] {
        dynamic.extend(tag.to_le_bytes());
        dynamic.extend(value.to_le_bytes());
    }
    for (name, terminated) in [("with an end", true), ("without end", false)] {
        let mut content = dynamic.clone();
        let filler: &[u8] = if terminated { &[0] } else { &[1] };
        content.resize(0x1000, filler[0]);
        // DT_HASH: 2^32-1 buckets and chains; DT_GNU_HASH the same.
        put32(&mut content, 0x1000, u32::MAX);
        put32(&mut content, 0x1004, u32::MAX);
        content.resize(0x2000, 1);
        for at in [0x2000, 0x2004, 0x2008] {
            put32(&mut content, at, u32::MAX);
        }
        content.resize(0x3000, 0);
        // Versions whose next one is themselves, or far away.
        put16(&mut content, 0x3000, 1);
        put16(&mut content, 0x3002, 0xFFFF);
        put32(&mut content, 0x3008, 16);
        put32(&mut content, 0x300C, 0);
        content.resize(0x4000, 0xFF);
        let table: Segment = (2, 6, at, at, content.len() as u64, content.len() as u64);
        add(
            &format!("a dynamic table {name}"),
            elf64(3, &[load, table], &[], &content),
        );
    }
    // Notes that take no room, and one that takes all.
    for (name, sizes) in [("of nothing", [0u32, 0]), ("of 2^32", [u32::MAX, u32::MAX])] {
        let mut notes = vec![0u8; LARGE];
        put32(&mut notes, 0, sizes[0]);
        put32(&mut notes, 4, sizes[1]);
        let note: Segment = (4, 4, at, at, large, large);
        let core: Vec<Segment> = vec![note; 500];
        add(
            &format!("500 tables of notes {name}"),
            elf64(4, &core, &[], &notes),
        );
    }
    // Notes with properties that claim more than there is.
    let mut property = Vec::new();
    for word in [4u32, 16, 5] {
        property.extend(word.to_le_bytes());
    }
    property.extend(b"GNU\0");
    property.extend([0xFF; 16]);
    let note: Segment = (0x6474_E553, 4, at, at, 64, 64);
    add(
        "a property of 2^32 bytes",
        elf64(3, &[note], &[], &property),
    );
    // Both tables of headers over everything.
    let everything = vec![0xFF; 1 << 16];
    let mut over = elf64(2, &[load; 200], &[strings; 200], &everything);
    put64(&mut over, 32, 0);
    put64(&mut over, 40, 0);
    add("tables of headers over the header", over);
}

/// PE32+: header at 0x80, one section over the rest, `content` at 0x400 as RVA 0x1000.
fn pe64(directories: &[(usize, u32, u32)], content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, 0, b"MZ");
    put16(&mut out, 24, 64);
    put32(&mut out, 60, 0x80);
    put(&mut out, 0x80, b"PE\0\0");
    put16(&mut out, 0x84, 0x8664);
    put16(&mut out, 0x86, 1);
    put16(&mut out, 0x94, 240);
    put16(&mut out, 0x96, 0x2022);
    let optional = 0x98;
    put16(&mut out, optional, 0x20B);
    put32(&mut out, optional + 32, 0x1000);
    put32(&mut out, optional + 36, 0x200);
    put32(&mut out, optional + 56, 0x1000_0000);
    put32(&mut out, optional + 60, 0x400);
    put32(&mut out, optional + 108, 16);
    for &(directory, rva, size) in directories {
        put32(&mut out, optional + 112 + directory * 8, rva);
        put32(&mut out, optional + 116 + directory * 8, size);
    }
    let section = optional + 240;
    put(&mut out, section, b".all\0\0\0\0");
    put32(&mut out, section + 8, content.len() as u32);
    put32(&mut out, section + 12, 0x1000);
    put32(&mut out, section + 16, content.len() as u32);
    put32(&mut out, section + 20, 0x400);
    put32(&mut out, section + 36, 0xE000_0020);
    put(&mut out, 0x400, content);
    out
}

fn pe(all: &mut Files) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push((format!("PE, {name}"), bytes));
    let all_of_it = |directory: usize| [(directory, 0x1000, u32::MAX)];
    let names = [
        "exports",
        "imports",
        "resources",
        "exceptions",
        "certificates",
        "relocations",
        "debug",
        "architecture",
        "global pointer",
        "TLS",
        "load configuration",
        "bound imports",
        "IAT",
        "delayed imports",
        "CLR header",
    ];
    let mut counting = Vec::new();
    while counting.len() < LARGE {
        // Words that are valid addresses into the content itself.
        counting.extend((0x1000 + (counting.len() as u32 * 37) % 0x10_0000).to_le_bytes());
    }
    for (directory, name) in names.iter().enumerate() {
        for (what, fill) in [("zeros", 0u8), ("ones", 0xFF), ("0x10", 0x10)] {
            let content = vec![fill; LARGE];
            add(
                &format!("{name} of {what}"),
                pe64(&all_of_it(directory), &content),
            );
        }
        add(
            &format!("{name} of addresses"),
            pe64(&all_of_it(directory), &counting),
        );
        let mut home = Vec::new();
        while home.len() < LARGE {
            home.extend(0x1000u32.to_le_bytes());
        }
        add(
            &format!("{name} that lead home"),
            pe64(&all_of_it(directory), &home),
        );
    }
    // Exports that claim 2^32 names, all of them one.
    let mut exports = vec![b'a'; LARGE];
    for (at, value) in [
        (16, 0u32),
        (20, u32::MAX),
        (24, u32::MAX),
        (28, 0x1100),
        (32, 0x1100),
    ] {
        put32(&mut exports, at, value);
    }
    put32(&mut exports, 36, 0x1100);
    add("2^32 exports", pe64(&all_of_it(0), &exports));
    // A tree of resources in which every entry is the root.
    let mut tree = vec![0u8; 16 + 8 * 0xFFFF];
    put16(&mut tree, 12, 0xFFFF);
    for at in 0..0xFFFF {
        put32(&mut tree, 16 + at * 8, 0x8000_0000);
        put32(&mut tree, 20 + at * 8, 0x8000_0000);
    }
    add("a tree of resources of roots", pe64(&all_of_it(2), &tree));
    // A deep tree without a cycle.
    let mut deep = vec![0u8; 24 * 20_000];
    for at in 0..20_000 {
        put16(&mut deep, at * 24 + 14, 1);
        put32(
            &mut deep,
            at * 24 + 20,
            0x8000_0000 | ((at as u32 + 1) * 24),
        );
    }
    add("20,000 levels of resources", pe64(&all_of_it(2), &deep));
    for count in [0u16, 96, 0xFFFF] {
        let mut many = pe64(&[], &vec![0; 1 << 16]);
        put16(&mut many, 0x86, count);
        add(&format!("{count} sections"), many.clone());
        put16(&mut many, 0x94, 0xFFFF);
        put32(&mut many, 0x98 + 108, u32::MAX);
        add(&format!("{count} sections and 2^32 directories"), many);
    }
    // An object whose symbols and relocations are everything.
    let mut object = Vec::new();
    put16(&mut object, 0, 0x8664);
    put16(&mut object, 2, 0x200);
    put32(&mut object, 8, 20);
    put32(&mut object, 12, u32::MAX);
    object.resize(LARGE, 0xFF);
    for section in 0..0x200 {
        let at = 20 + section * 40;
        put32(&mut object, at + 16, u32::MAX);
        put32(&mut object, at + 24, 20);
        put16(&mut object, at + 32, 0xFFFF);
        put32(&mut object, at + 36, 0x0100_0000);
    }
    add("an object of relocations", object);
}

/// Mach-O, 64 bits, little-endian, with these load commands and content behind.
fn macho64(commands: &[(u32, Vec<u8>)], content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, word) in [
        0xFEED_FACFu32,
        0x0100_0007,
        3,
        2,
        commands.len() as u32,
        0,
        0x85,
        0,
    ]
    .into_iter()
    .enumerate()
    {
        put32(&mut out, at * 4, word);
    }
    for (command, body) in commands {
        out.extend(command.to_le_bytes());
        out.extend((body.len() as u32 + 8).to_le_bytes());
        out.extend(body);
    }
    let size = out.len() as u32 - 32;
    put32(&mut out, 20, size);
    put(&mut out, 0x4000, content);
    out
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn segment(address: u64, size: u64, offset: u64, in_file: u64) -> (u32, Vec<u8>) {
    let mut body = b"__TEXT\0\0\0\0\0\0\0\0\0\0".to_vec();
    for value in [address, size, offset, in_file] {
        body.extend(value.to_le_bytes());
    }
    body.extend(words(&[7, 5, 0, 0]));
    (0x19, body)
}

fn macho(all: &mut Files) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push((format!("Mach-O, {name}"), bytes));
    let text = || segment(0x1_0000_0000, 0x1000_0000, 0, 0x1000_0000);
    // The table of what dyld does, each stream everything.
    let dyld = |stream: usize, offset: u32, size: u32| {
        let mut body = vec![0u32; 10];
        body[stream * 2] = offset;
        body[stream * 2 + 1] = size;
        (0x8000_0022u32, words(&body))
    };
    let streams: [(&str, Vec<u8>); 7] = [
        ("zeros", vec![0; 1 << 16]),
        ("ones", vec![0xFF; 1 << 16]),
        // Segment 0, then bind 2^63 times with a stride of nothing.
        ("2^63 binds", {
            let mut ops = vec![0x11, 0x40, b'a', 0, 0x51, 0x70, 0];
            ops.extend([
                0xC0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0,
            ]);
            ops
        }),
        ("binds back and forth", {
            let mut ops = vec![0x11, 0x40, b'a', 0, 0x51, 0x70, 0];
            for _ in 0..20_000 {
                ops.extend([
                    0xA0, 0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01,
                ]);
            }
            ops
        }),
        ("2^63 rebases", {
            let mut ops = vec![0x11, 0x20, 0];
            ops.extend([0x60, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
            ops.extend([0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0]);
            ops
        }),
        // Every edge of the root leads to the root; names grow without end.
        ("a trie of its root", {
            let mut trie = vec![0, 255];
            for _ in 0..255 {
                trie.extend(b"ab\0\0");
            }
            trie
        }),
        // A node with two children that are one, 60 times: 2^60 names.
        ("a trie of 2^60 names", {
            let mut trie = Vec::new();
            for level in 0..60u8 {
                let next = (usize::from(level) + 1) * 10;
                let low = (next & 0x7F) as u8 | 0x80;
                let high = (next >> 7) as u8;
                trie.extend([0, 2, b'a', 0, low, high, b'b', 0, low, high]);
            }
            trie.extend([2, 0, 0, 0]);
            trie
        }),
    ];
    for (name, stream) in &streams {
        for (number, of) in ["rebase", "bind", "weak bind", "lazy bind", "export"]
            .iter()
            .enumerate()
        {
            let commands = [text(), dyld(number, 0x4000, stream.len() as u32)];
            add(&format!("{of}: {name}"), macho64(&commands, stream));
        }
        for (command, of) in [
            (0x8000_0033u32, "exports trie"),
            (0x8000_0034, "chained fixups"),
            (0x26, "function starts"),
            (0x29, "data in code"),
            (0x1D, "code signature"),
        ] {
            let link = (command, words(&[0x4000, stream.len() as u32]));
            add(&format!("{of}: {name}"), macho64(&[text(), link], stream));
        }
    }
    // Chained fixups: every page starts a chain that stays where it is.
    let mut fixups = words(&[0, 32, 0x100, 0x200, u32::MAX, 1, 0]);
    fixups.resize(32, 0);
    fixups.extend(words(&[1, 8]));
    fixups.extend(words(&[22 + 2 * 0xFFFF]));
    fixups.extend([0x00, 0x10]);
    fixups.extend(2u16.to_le_bytes());
    fixups.extend(0u64.to_le_bytes());
    fixups.extend(0u32.to_le_bytes());
    fixups.extend(0xFFFFu16.to_le_bytes());
    fixups.resize(LARGE, 0);
    let link = (0x8000_0034u32, words(&[0x4000, fixups.len() as u32]));
    add("65,535 pages of fixups", macho64(&[text(), link], &fixups));
    // Commands that take no room, or claim everything.
    for (name, count, size) in [("none", u32::MAX, 0u32), ("all", u32::MAX, u32::MAX)] {
        let mut odd = macho64(&[], &vec![0; LARGE]);
        put32(&mut odd, 16, count);
        put32(&mut odd, 20, u32::MAX);
        put32(&mut odd, 32, 0x19);
        put32(&mut odd, 36, size);
        add(&format!("2^32 commands of {name}"), odd);
    }
    let mut small = macho64(&[], &[]);
    put32(&mut small, 16, 60_000);
    put32(&mut small, 20, 480_000);
    small.truncate(32);
    for _ in 0..60_000 {
        small.extend(words(&[0xC, 8]));
    }
    add("60,000 commands that are cut", small);
    let symbols = (2u32, words(&[0x4000, u32::MAX, 0x4000, u32::MAX]));
    let sorted = (0xBu32, words(&[u32::MAX; 18]));
    add(
        "2^32 symbols of one name",
        macho64(&[text(), symbols, sorted], &vec![b'a'; LARGE]),
    );
    let mut sections = segment(0, u64::MAX, 0, u64::MAX);
    put32(&mut sections.1, 56, u32::MAX);
    add("2^32 sections", macho64(&[sections], &vec![0; LARGE]));
    // Slices over each other, and of the file itself.
    let mut fat = Vec::new();
    for word in [0xCAFE_BABEu32, 40] {
        fat.extend(word.to_be_bytes());
    }
    for at in 0..40u32 {
        for word in [0x0100_0007 + at, 3, 0, u32::MAX, 0] {
            fat.extend(word.to_be_bytes());
        }
    }
    fat.resize(1 << 16, 0xCA);
    add("40 slices that are the file", fat);
}

fn wasm(all: &mut Files) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push((format!("wasm, {name}"), bytes));
    const HUGE: [u8; 5] = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
    let module = |id: u8, content: &[u8]| {
        let mut out = b"\0asm\x01\0\0\0".to_vec();
        out.push(id);
        let mut length = content.len();
        loop {
            let byte = (length & 0x7F) as u8;
            length >>= 7;
            if length == 0 {
                out.push(byte);
                break;
            }
            out.push(byte | 0x80);
        }
        out.extend(content);
        out
    };
    for id in 0..14u8 {
        add(
            &format!("section {id} with 2^32 entries"),
            module(id, &HUGE),
        );
        let mut zeros = HUGE.to_vec();
        zeros.resize(LARGE, 0);
        add(&format!("section {id} of zeros"), module(id, &zeros));
        let mut claims = b"\0asm\x01\0\0\0".to_vec();
        claims.push(id);
        claims.extend(HUGE);
        add(&format!("section {id} of 2^32 bytes"), claims);
    }
    // One function: 2^32 locals; blocks in blocks.
    let mut types = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0".to_vec();
    let code = |body: &[u8]| {
        let mut inner = Vec::new();
        let length = |mut length: usize, out: &mut Vec<u8>| {
            while length >= 0x80 {
                out.push((length & 0x7F) as u8 | 0x80);
                length >>= 7;
            }
            out.push(length as u8);
        };
        inner.push(1);
        length(body.len(), &mut inner);
        inner.extend(body);
        let mut out = vec![10];
        length(inner.len(), &mut out);
        out.extend(inner);
        out
    };
    let mut locals = vec![1];
    locals.extend(HUGE);
    locals.extend([0x7F, 0x0B]);
    let mut many = types.clone();
    many.extend(code(&locals));
    add("2^32 locals", many);
    let mut blocks = vec![0];
    blocks.extend([0x02, 0x40].repeat(100_000));
    blocks.extend([0x0B].repeat(100_001));
    types.extend(code(&blocks));
    add("100,000 blocks in each other", types);
    add("a component of itself", b"\0asm\x0D\0\x01\0".repeat(10_000));
}

fn plist(all: &mut Files) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push((format!("plist, {name}"), bytes));
    for (open, close) in [("<array>", "</array>"), ("<dict><key>a</key>", "</dict>")] {
        let text = format!(
            "<plist>{}{}</plist>",
            open.repeat(100_000),
            close.repeat(100_000)
        );
        add(&format!("100,000 of {open}"), text.into_bytes());
    }
    for (open, close) in [("(", ")"), ("{a=", ";}"), ("[", "]")] {
        let text = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        add(&format!("100,000 of {open}"), text.into_bytes());
    }
    // A binary list of 60 arrays, each with the next one twice.
    let mut bomb = b"bplist00".to_vec();
    let mut offsets = Vec::new();
    for at in 0..60u8 {
        offsets.push(bomb.len() as u8);
        bomb.extend([0xA2, at + 1, at + 1]);
    }
    offsets.push(bomb.len() as u8);
    bomb.push(0x08);
    for (name, first) in [("2^60 values", None), ("a cycle", Some(0u8))] {
        let mut bomb = bomb.clone();
        if let Some(first) = first {
            bomb[8 + 59 * 3 + 1] = first;
        }
        let table = bomb.len() as u64;
        bomb.extend(&offsets);
        bomb.extend([0, 0, 0, 0, 0, 0, 1, 1]);
        bomb.extend(61u64.to_be_bytes());
        bomb.extend(0u64.to_be_bytes());
        bomb.extend(table.to_be_bytes());
        add(name, bomb);
    }
    let mut claims = b"bplist00\xDF\x13\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF".to_vec();
    let table = claims.len() as u64;
    claims.push(8);
    claims.extend([0, 0, 0, 0, 0, 0, 1, 1]);
    claims.extend(u64::MAX.to_be_bytes());
    claims.extend(0u64.to_be_bytes());
    claims.extend(table.to_be_bytes());
    add("2^63 members", claims);
}
