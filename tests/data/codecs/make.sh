#!/usr/bin/env bash
# Makes the compressed files of this folder anew with gzip, xz, bzip2, zstd
# and Python. `plain` is what each holds; of `big` each holds 100 times that.
set -euo pipefail
cd "$(dirname "$0")"
{
    seq -f 'line %g of a file' 1 80
    for i in 1 2 3 4 5 6 7 8; do echo "$i" | sha256sum; done
} >plain
for _ in {1..100}; do cat plain; done >big

gzip -9nc plain >plain.gz
cat plain.gz plain.gz >two.gz
gzip -nc </dev/null >empty.gz
gzip -9nc big >big.gz
# Every optional field of a header.
python3 - <<'PYTHON'
import struct, zlib
plain = open("plain", "rb").read()
head = b"\x1f\x8b\x08\x1f" + bytes(6) + b"\x04\x00XX\x00\x00" + b"../name\0" + b"comment\0"
head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
body = deflate.compress(plain) + deflate.flush()
open("fields.gz", "wb").write(head + body + struct.pack("<II", zlib.crc32(plain), len(plain)))
PYTHON

for check in none crc32 crc64 sha256; do xz -0c -C $check plain >$check.xz; done
xz -c --x86 --lzma2=dict=64KiB plain >x86.xz
xz -0c -T2 --block-size=500 plain >blocks.xz
xz -0c -T1 --block-size=500 plain >unsized.xz
xz -0c -T2 --block-size=150000 big >big.xz
xz -0c </dev/null >empty.xz
{ cat blocks.xz; head -c 8 /dev/zero; cat crc32.xz; } >two.xz
xz -0c --format=lzma plain >plain.lzma
xz -0c --format=lzma </dev/null >empty.lzma

bzip2 -9c plain >plain.bz2
bzip2 -1c big >big.bz2
bzip2 -c </dev/null >empty.bz2
cat plain.bz2 empty.bz2 plain.bz2 >two.bz2

zstd -q -c --check plain >plain.zst
zstd -q -c --no-check plain >unchecked.zst
zstd -q -c --check big >big.zst
zstd -q -c </dev/null >empty.zst
{
    printf '\x50\x2a\x4d\x18\x03\0\0\0abc'
    cat plain.zst
    printf '\x5f\x2a\x4d\x18\0\0\0\0'
    cat unchecked.zst empty.zst
    printf '\x51\x2a\x4d\x18\x05\0\0\0abcde'
} >two.zst
rm big
