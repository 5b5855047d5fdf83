#!/usr/bin/env python3
"""Makes sample.dll: a small image with one of each table that `tests/pe.rs` looks at, and
sample.te, its code behind a TE header. Nothing of it runs. The other files beside it come from
LLVM: object.obj from object.s by `llvm-mc --filetype=obj --triple=x86_64-pc-windows-msvc`, sample.lib by
`llvm-dlltool -m i386:x86-64 -d sample.def -l sample.lib`, resources.obj by `llvm-rc -no-preprocess /FO r.res resources.rc`
and `llvm-cvtres /MACHINE:X64 /OUT:resources.obj r.res`.
"""

import struct
from pathlib import Path

BASE = 0x180000000
ALIGN, FILE = 0x1000, 0x200


def pad(data, to):
    return data + bytes(-len(data) % to)


class Section:
    def __init__(self, name, rva, flags):
        self.name, self.rva, self.flags, self.data = name, rva, flags, b""

    def add(self, data, align=8):
        """Appends data; the address it gets."""
        self.data = pad(self.data, align)
        at = self.rva + len(self.data)
        self.data += data
        return at

    def put(self, rva, data):
        at = rva - self.rva
        self.data = self.data[:at] + data + self.data[at + len(data) :]


u16 = lambda *words: struct.pack(f"<{len(words)}H", *words)
u32 = lambda *words: struct.pack(f"<{len(words)}I", *words)
u64 = lambda *words: struct.pack(f"<{len(words)}Q", *words)

text = Section(b".text", 0x1000, 0x60000020)
rdata = Section(b".rdata", 0x2000, 0x40000040)
data = Section(b".data", 0x3000, 0xC0000040)
pdata = Section(b".pdata", 0x4000, 0x40000040)
rsrc = Section(b".rsrc", 0x5000, 0x40000040)
reloc = Section(b".reloc", 0x6000, 0x42000040)
sections = [text, rdata, data, pdata, rsrc, reloc]

entry = text.add(bytes.fromhex("4883ec28") + b"\x33\xc0" + bytes.fromhex("4883c428c3"))  # sub, xor, add, ret
alpha = text.add(bytes.fromhex("33c0c3"), 16)
callback = text.add(b"\xc3", 16)


def hint(number, name):
    return rdata.add(u16(number) + name + b"\0", 2)


# Imports: by name, by ordinal, from a library whose ordinals have names.
kernel = rdata.add(b"KERNEL32.dll\0", 2)
sockets = rdata.add(b"WS2_32.dll\0", 2)
user = rdata.add(b"USER32.dll\0", 2)
tables = {
    "kernel": [hint(0x167, b"ExitProcess"), 1 << 63 | 17, 0],
    "sockets": [1 << 63 | 115, 0],
}
iat = {}
iat_start = rdata.add(b"", 16)
for key, rows in tables.items():
    iat[key] = rdata.add(u64(*rows))
iat_end = rdata.rva + len(rdata.data)
ilt = {key: rdata.add(u64(*rows)) for key, rows in tables.items()}
imports = rdata.add(u32(ilt["kernel"], 0, 0, kernel, iat["kernel"]) + u32(ilt["sockets"], 0, 0, sockets, iat["sockets"]) + bytes(20))

# A library that is loaded when it is needed.
box = hint(0x21F, b"MessageBoxW")
delay_names = rdata.add(u64(box, 0))
delay_slots = data.add(u64(BASE + entry, 0))
module = data.add(u64(0))
delay = rdata.add(u32(1, user, module, delay_slots, delay_names, 0, 0, 0) + bytes(32))

# Exports: a function, a gap, a forwarder, one without name; two names of one function.
export = rdata.add(bytes(40))
dll = rdata.add(b"sample.dll\0", 2)
names = [(b"alpha", 0), (b"alpha_again", 0), (b"beta", 2)]
pointers = [rdata.add(name + b"\0", 1) for name, _ in names]
forwarder = rdata.add(b"NTDLL.RtlExitUserThread\0", 1)
functions = rdata.add(u32(alpha, 0, forwarder, entry), 4)
name_table = rdata.add(u32(*pointers), 4)
ordinals = rdata.add(u16(*(index for _, index in names)), 4)
rdata.add(bytes(8), 4)  # objdump wants something behind the last table
export_size = rdata.rva + len(rdata.data) - export
rdata.put(export, u32(0, 0x5F000000) + u16(1, 2) + u32(dll, 10, 4, len(names), functions, name_table, ordinals))

# Thread-local storage.
callbacks = rdata.add(u64(BASE + callback, 0))
index = data.add(u32(0))
tls = rdata.add(u64(BASE + data.rva, BASE + data.rva, BASE + index, BASE + callbacks) + u32(0, 0x300000))

# Load configuration with the table of guarded functions, each with a byte of flags.
cookie = data.add(u64(0x2B992DDFA232))
guarded = rdata.add(u32(entry) + b"\0" + u32(alpha) + b"\2", 4)
config = u32(0x140, 0) + u16(0, 0) + u32(0, 0, 0) + u64(0, 0, 0, 0, 0, 0) + u32(0) + u16(0, 0x800) + u64(0)
config += u64(BASE + cookie, 0, 0, BASE + iat_start, BASE + iat_start, BASE + guarded, 2) + u32(0x10014500)
config = pad(config, 8).ljust(0x140, b"\0")
load_config = rdata.add(config)

# Debug directory: the PDB, a reproducible build, compatibility with shadow stacks.
pdb = b"RSDS" + bytes(range(16)) + u32(3) + b"C:\\build\\sample.pdb\0"
repro = u32(8) + b"\xaa" * 8
extended = u32(0x41)
entries = [(2, pdb), (16, repro), (20, extended)]
placed = [(kind, blob, rdata.add(blob, 4)) for kind, blob in entries]
debug = rdata.add(b"".join(u32(0, 0x5F000000) + u16(0, 0) + u32(kind, len(blob), rva, 0) for kind, blob, rva in placed), 4)

# Unwind information of two functions, the second with a frame and a handler.
plain = rdata.add(bytes([1, 4, 1, 0, 4, 0x42, 0, 0]), 4)
framed = rdata.add(bytes([1 | 1 << 3, 8, 2, 5 | 2 << 4, 8, 0x03, 4, 0x50]) + u32(entry), 4)
pdata.add(u32(entry, entry + 11, plain, alpha, alpha + 3, framed))


# Resources: an icon, the version, the manifest.
def key(text, value, value_length, kind, children=b""):
    head = u16(0, value_length, kind) + text.encode("utf-16-le") + b"\0\0"
    body = pad(pad(head, 4) + value, 4) + children if children else pad(head, 4) + value
    return u16(len(body)) + body[2:]


strings = b"".join(
    pad(key(name, (value + "\0").encode("utf-16-le"), len(value) + 1, 1), 4)
    for name, value in (("CompanyName", "Exámple"), ("FileVersion", "1.2.3.4"), ("OriginalFilename", "sample.dll"))
)
fixed = u32(0xFEEF04BD, 0x10000, 1 << 16 | 2, 3 << 16 | 4, 1 << 16 | 2, 5 << 16 | 6, 0x3F, 2, 0x40004, 2, 0, 0, 0)
version = key("VS_VERSION_INFO", fixed, len(fixed), 0,
              pad(key("StringFileInfo", b"", 0, 1, key("040904b0", b"", 0, 1, strings)), 4)
              + key("VarFileInfo", b"", 0, 1, key("Translation", u16(0x409, 1200), 4, 0)))
manifest = b"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
  <trustInfo xmlns="urn:schemas-microsoft-com:asm.v3"><security><requestedPrivileges>
    <requestedExecutionLevel level="asInvoker" uiAccess="false"/>
  </requestedPrivileges></security></trustInfo>
</assembly>
"""
items = [(3, 1, 1033, bytes(40)), (16, 1, 1033, version), (24, 2, 1033, manifest)]
tree = u32(0, 0) + u16(0, 0, 0, len(items))
levels = 16 + 8 * len(items)
blobs = levels + len(items) * 48  # two directories with one entry each, a level
leaves = blobs
for at, (kind, _, _, _) in enumerate(items):
    tree += u32(kind, 1 << 31 | levels + at * 48)
for at, (_, name, language, _) in enumerate(items):
    start = levels + at * 48
    tree += u32(0, 0) + u16(0, 0, 0, 1) + u32(name, 1 << 31 | start + 24)
    tree += u32(0, 0) + u16(0, 0, 0, 1) + u32(language, leaves + at * 16)
place = leaves + 16 * len(items)
body = b""
for _, _, _, blob in items:
    tree += u32(rsrc.rva + place + len(body), len(blob), 1252, 0)
    body = pad(body + blob, 8)
rsrc.add(tree + body)

# Where addresses stand.
reloc.add(u32(0x2000, 16) + u16(0xA000 | callbacks & 0xFFF, 0xA000 | tls & 0xFFF, 0xA000 | (tls + 8) & 0xFFF, 0)
          + u32(0x3000, 12) + u16(0xA000 | delay_slots & 0xFFF, 0), 4)

# Headers.
rich_key_start = 0x80
tools = [(0x0105 << 16 | 0x7B0D, 12), (0x0102 << 16 | 0x7B0D, 1)]
stub = b"MZ" + u16(0x90, 3, 0, 4, 0, 0xFFFF, 0, 0xB8, 0, 0, 0, 0x40) + bytes(34)
stub = (stub[:0x3C] + u32(0xB0) + bytes.fromhex("0e1fba0e00b409cd21b8014ccd21") + b"This program cannot be run in DOS mode.\r\r\n$").ljust(0x80, b"\0")
rol = lambda value, by: (value << by % 32 | value >> (32 - by % 32)) & 0xFFFFFFFF if by % 32 else value
sum_ = rich_key_start + sum(rol(byte, at) for at, byte in enumerate(stub) if not 0x3C <= at < 0x40) + sum(rol(one, count) for one, count in tools)
sum_ &= 0xFFFFFFFF
words = [0x536E6144, 0, 0, 0] + [word for row in tools for word in row]
stub += u32(*(word ^ sum_ for word in words)) + b"Rich" + u32(sum_)
stub = stub.ljust(0xB0, b"\0")

offset = 0x400
placed_sections = []
for one in sections:
    raw = pad(one.data, FILE)
    placed_sections.append((one, offset, raw))
    offset += len(raw)
end = offset
certificate = u32(16) + u16(0x200, 2) + b"\x30\x06nobody"
directories = [
    (export, export_size), (imports, 60), (rsrc.rva, len(rsrc.data)), (pdata.rva, len(pdata.data)), (end, len(certificate)),
    (reloc.rva, len(reloc.data)), (debug, 28 * len(entries)), (0, 0), (0, 0), (tls, 40), (load_config, 0x140), (0, 0),
    (iat_start, iat_end - iat_start), (delay, 64), (0, 0), (0, 0),
]
# Debug data stands where its section does.
rdata_at = next(at for one, at, _ in placed_sections if one is rdata)
for number, (_, _, rva) in enumerate(placed):
    at = debug - rdata.rva + number * 28 + 24
    rdata.data = rdata.data[:at] + u32(rva - rdata.rva + rdata_at) + rdata.data[at + 4 :]
optional = u16(0x20B) + bytes([14, 44]) + u32(FILE, FILE * 5, 0, entry, 0x1000) + u64(BASE) + u32(ALIGN, FILE)
optional += u16(6, 0, 1, 2, 6, 0) + u32(0, 0x7000, 0x400, 0) + u16(3, 0x4160) + u64(0x100000, 0x1000, 0x100000, 0x1000) + u32(0, 16)
optional += b"".join(u32(*row) for row in directories)
header = b"PE\0\0" + u16(0x8664, len(sections)) + u32(0x5F000000, 0, 0) + u16(len(optional), 0x2022)
table = b"".join(
    one.name.ljust(8, b"\0") + u32(len(one.data), one.rva, len(raw), at, 0, 0) + u16(0, 0) + u32(one.flags)
    for one, at, raw in placed_sections
)
image = (stub + header + optional + table).ljust(0x400, b"\0")
for one, _, _ in placed_sections:
    image += pad(one.data, FILE)
image += certificate + b"overlay!"
field = 0xB0 + 24 + 64
total = sum(struct.unpack(f"<{len(image) // 2}H", image))
while total >> 16:
    total = (total & 0xFFFF) + (total >> 16)
image = image[:field] + u32(total + len(image)) + image[field + 4 :]
here = Path(__file__).parent
(here / "sample.dll").write_bytes(image)

# The same code as a TE image: the headers up to the section table are gone.
stripped = 0xB0 + 24 + len(optional)
te = b"VZ" + u16(0x8664) + bytes([2, 11]) + u16(stripped) + u32(entry, 0x1000) + u64(BASE) + u32(reloc.rva, len(reloc.data), debug, 28 * len(entries))
keep = [row for row in placed_sections if row[0] in (text, rdata, reloc)]
te = te[:4] + bytes([len(keep)]) + te[5:]
te += b"".join(one.name.ljust(8, b"\0") + u32(len(one.data), one.rva, len(raw), at, 0, 0) + u16(0, 0) + u32(one.flags) for one, at, raw in keep)
whole = bytearray(image[stripped:])
whole[: len(te) - 40] = te[40:]
(here / "sample.te").write_bytes(te[:40] + bytes(whole))
