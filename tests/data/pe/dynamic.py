#!/usr/bin/env python3
"""Makes dynamic64.dll and dynamic32.dll: images that hold nothing but a load configuration with
a table of dynamic value relocations, of version 1 with 64 bits and of version 2 with 32, as
winnt.h of the Windows SDK declares them. Each has one relocation of every symbol.
"""

import struct
from pathlib import Path

u16 = lambda *words: struct.pack(f"<{len(words)}H", *words)
u32 = lambda *words: struct.pack(f"<{len(words)}I", *words)
u64 = lambda *words: struct.pack(f"<{len(words)}Q", *words)


def block(page, fixups):
    fixups += bytes(-len(fixups) % 4)
    return u32(page, 8 + len(fixups)) + fixups


def fixups():
    # Offset in the page, whether the call is indirect, slot of the import.
    imports = u32(0x123 | 1 << 12 | 5 << 13, 0x456 | 0x7FFFF << 13)
    # Offset, indirect, REX.W, checked by CFG.
    indirect = u16(0x010 | 1 << 12, 0x020 | 1 << 13, 0x030 | 1 << 14)
    # Offset, register.
    switch = u16(0x111 | 3 << 12, 0x222 | 15 << 12, 0x333)
    # Offset, kind, argument: four zeros; values of two, four and eight bytes; differences.
    arm64x = u16(0x100 | 0 << 12 | 2 << 14, 0x108 | 1 << 12 | 1 << 14, 0xAA64, 0x10C | 1 << 12 | 2 << 14) + u32(0x11223344)
    arm64x += u16(0x110 | 1 << 12 | 3 << 14) + u64(0x0102030405060708) + u16(0x118 | 2 << 12, 3, 0x11C | 2 << 12 | 3 << 14, 5)
    # A function with two that may take its place; calls of it; what chooses.
    calls = block(0x3000, u16(0x004 | 1 << 12, 0x00C | 2 << 12, 0x010 | 3 << 12))
    function = u32(0x1010, 0, 8, len(calls)) + u32(0x1020, 0x1030) + calls
    decisions = u32(1, 16) + u16(1, 2) + u32(0) + u16(0, 0) + u32(7)
    override = u32(len(function)) + function + decisions
    # Offset in words, indirect, register, delayed, slot of the import.
    kernel = u32(0x41 | 1 << 10 | 17 << 11 | 1 << 16 | 9 << 17, 0x42 | 0x7FFF << 17)
    return [
        (3, block(0x1000, imports) + block(0x2000, imports)),
        (4, block(0x1000, indirect)),
        (5, block(0x1000, switch)),
        (6, block(0x2000, arm64x)),
        (7, override),
        (8, block(0x1000, kernel)),
    ]


def image(wide):
    base = 0x180000000 if wide else 0x10000000
    word = u64 if wide else u32
    rows = b""
    for symbol, content in fixups() + [(0xFFFFF6FB7DBED000 if wide else 0xC0600000, block(0x1000, u16(0xA008 if wide else 0x3008, 0xA018 if wide else 0x3018)))]:
        if wide:
            rows += u64(symbol) + u32(len(content)) + content
        else:
            rows += u32(20, len(content), symbol, symbol % 4, 2) + content
    table = u32(1 if wide else 2, len(rows)) + rows
    # Section 1 at 0x1000, from 0x200 of the file: load configuration, then the table.
    config_size = 0x140 if wide else 0xC4
    config = bytearray(config_size)
    config[0:4] = u32(config_size)
    # DynamicValueRelocTableOffset and Section.
    at = 0xE0 if wide else 0x88
    config[at : at + 6] = u32(0x200) + u16(1)
    content = bytes(config).ljust(0x200, b"\0") + table
    raw = content + bytes(-len(content) % 0x200)
    optional = u16(0x20B if wide else 0x10B) + bytes([14, 44]) + u32(0, len(raw), 0, 0, 0x1000)
    optional += u64(base) if wide else u32(0x1000, base)
    optional += u32(0x1000, 0x200) + u16(6, 0, 0, 0, 6, 0) + u32(0, 0x2000, 0x200, 0) + u16(3, 0x140) + word(0x100000, 0x1000, 0x100000, 0x1000) + u32(0, 16)
    directories = [(0, 0)] * 16
    directories[10] = (0x1000, config_size)
    optional += b"".join(u32(*row) for row in directories)
    stub = b"MZ" + bytes(58) + u32(0x40)
    header = b"PE\0\0" + u16(0x8664 if wide else 0x14C, 1) + u32(0, 0, 0) + u16(len(optional), 0x2022 if wide else 0x2102)
    section = b".rdata\0\0" + u32(len(content), 0x1000, len(raw), 0x200, 0, 0) + u16(0, 0) + u32(0x40000040)
    return (stub + header + optional + section).ljust(0x200, b"\0") + raw


here = Path(__file__).parent
(here / "dynamic64.dll").write_bytes(image(True))
(here / "dynamic32.dll").write_bytes(image(False))
