#!/usr/bin/env python3
"""Compares `rea inventory-artifact` with what independent tools say of archives that are streams.

tar archives, compressed or not: GNU tar (its listing, and what `tar -xO` writes), bsdtar (its mtree
output) and Python's tarfile. Debian packages: `ar`, `dpkg-deb -c`, and the same three on what
`dpkg-deb --fsys-tarfile` and `--ctrl-tarfile` write. cpio: bsdtar. Universal files: their table, read
here. What is nested in them (gzip, xz, bzip2, zstd, lzma, tar, cpio, ZIP, ar, universal files) is
opened by Python's modules and the command line tools. Compared, as far as a peer knows it: path,
entry kind, size, executable, special mode bits, link target, offset of slices, SHA-256.

    scripts/truth_streams.py                     the corpus (scripts/corpus.sh) and archives made here
    scripts/truth_streams.py --sample 20         and 20 packages of scripts/debian-packages.txt
    scripts/truth_streams.py --all               and all of them (300 MB, fetched by apt-get once)
    scripts/truth_streams.py FILE...             these files
    scripts/truth_streams.py --plant             falsify the peers' side; each lie must show

Where the record says something else than a peer on purpose, the peer's statement is translated
first; how often, and by which decision, stands at the end. Exit 1 on any difference, on a lie that
went unnoticed or could not be told, or when nothing was compared.
"""

import argparse
import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from pathlib import Path

from truth_artifacts import View, compare, find_rea, lies, root_row, sha256, zipfile_view

PACKAGES = Path(__file__).resolve().parent / "debian-packages.txt"
FIELDS = ("path", "kind", "size", "executable", "mode", "link", "offset", "sha256", "compressed", "odd name")
MUST_PLANT = ("wrong size", "wrong digest", "wrong mode", "wrong link target", "missing row")
PLAIN = dict(os.environ, LC_ALL="C", TZ="UTC")
WIDE = dict(PLAIN, LC_ALL="C.UTF-8")
UNREADABLE = (
    OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError, zlib.error, lzma.LZMAError,
    tarfile.TarError, zipfile.BadZipFile, struct.error, subprocess.SubprocessError,
)  # fmt: skip

explained = Counter()


def explain(decision, text, count=1):
    explained[decision, text] += count


def output(*command, text=None, environment=PLAIN):
    """What a command writes to stdout; it must end with 0."""
    run = subprocess.run(command, capture_output=True, env=environment, input=text)
    if run.returncode != 0:
        message = run.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"{' '.join(command[:3])} exits with {run.returncode}: {message[-300:]}")
    return run.stdout


def digest(data):
    return hashlib.sha256(data).hexdigest()


# --------------------------------------------------------------------------------------------------
# Our side


def inventory(rea, path, nested):
    """The rows of a record, as path -> fields; the root is `.`."""
    run = subprocess.run([rea, "inventory-artifact", "--nested", nested, path], capture_output=True)
    if run.returncode != 0:
        message = run.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"rea exits with {run.returncode}: {message[:500]}")
    result = json.loads(run.stdout)["normalized_result"]
    digests = {node["artifact_id"]: node["sha256"] for node in result["nodes"]}
    rows = {}
    for occurrence in result["occurrences"]:
        directory = occurrence["entry_kind"] == "directory"
        location = occurrence["source_location"]
        rows[occurrence["logical_path"]] = {
            "kind": occurrence["entry_kind"],
            "size": occurrence["declared_size"],
            "compressed": occurrence["compressed_size"],
            "executable": occurrence["executable"],
            "sha256": None if directory else digests.get(occurrence["artifact_id"]),
            "link": occurrence.get("link_target"),
            "mode": int(occurrence["mode"], 8) & 0o7777 if "mode" in occurrence else None,
            "offset": (location["offset"], location["length"]) if location else None,
            "given up": any("budget for nested containers" in text for text in occurrence["limitations"]),
        }
    return rows


def below(rows, prefix):
    """What stands below a path, under paths relative to it."""
    start = prefix + "/"
    return {path[len(start) :]: row for path, row in rows.items() if path.startswith(start)}


def levels(rows):
    """Rows of a container itself, and rows of what is nested in it."""
    own, nested = {}, {}
    files = {path for path, row in rows.items() if row["kind"] in ("file", "slice")} - {"."}
    for path, row in rows.items():
        segments = path.split("/")
        above = ("/".join(segments[:count]) for count in range(1, len(segments)))
        (nested if any(folder in files for folder in above) else own)[path] = row
    return own, nested


# --------------------------------------------------------------------------------------------------
# The peers' side


def row(kind, mode, size=None, sha=None, link=None):
    """An entry as a record tells it."""
    if kind == "symlink":
        explain(14, "symbolic links: no size, and their target as content")
        sha = digest(link.encode("utf-8", "surrogateescape"))
    if mode & 0o7000:
        explain(15, "entries with a mode of their own, because it has special bits")
    return {
        "kind": kind,
        "size": size if kind == "file" else None,
        "compressed": None,
        "executable": bool(mode & 0o111),
        "sha256": sha,
        "link": link if kind == "symlink" else None,
        "mode": mode & 0o7777 if mode & 0o7000 else None,
    }


def special(mode):
    explain(7, "devices, FIFOs and sockets: occurrences without content")
    return row("file", mode)


class Members:
    """Entries in archive order, for hard links and names."""

    def __init__(self, peer):
        self.view = View(peer)
        self.by_name = {}
        self.links = []  # hard links and what they link to

    def add(self, name, fields):
        stripped = re.sub(r"\A(\./+)+", "", name)
        if stripped in ("", ".", "/") and fields["kind"] == "directory":
            explain(2, "entries that are the archive itself (./)")
            return
        if stripped != name:
            explain(2, "names that begin with ./")
        if unicodedata.normalize("NFC", stripped) != stripped:
            explain(6, "names composed to NFC")
        self.by_name[stripped.rstrip("/")] = fields
        self.view.add(stripped, fields)

    def hard_link(self, name, target, mode):
        explain(14, "hard links: files with what they link to")
        fields = row("file", mode)
        found = self.by_name.get(re.sub(r"\A(\./+)+", "", target))
        if found:
            if "sha256" not in found:
                del fields["sha256"]
            fields |= {field: found[field] for field in ("kind", "size", "sha256", "link") if field in found}
            self.links.append((fields, found))
        self.add(name, fields)

    def finish(self, archive=False):
        self.view.set_odd_names_aside(archive)
        if self.view.pool:
            explain(1, "odd or repeated names, matched by content", len(self.view.pool))
        return self.view


def tarfile_view(path, content=None):
    """Python's tarfile. `content` is shown each file with a container's magic."""
    members, sparse = Members("tarfile"), set()
    with tarfile.open(path, "r:", encoding="utf-8", errors="surrogateescape") as archive:
        for info in archive:
            if info.islnk():
                members.hard_link(info.name, info.linkname, info.mode)
            elif info.issym():
                members.add(info.name, row("symlink", info.mode, link=info.linkname))
            elif info.isdir():
                members.add(info.name + "/", row("directory", info.mode))
            elif info.isdev():
                members.add(info.name, special(info.mode))
            else:
                if info.issparse():
                    sparse.add(info.name)
                with archive.extractfile(info) as file:
                    if content is not None and is_container(info.name, file.read(262)):
                        file.seek(0)
                        data = file.read()
                        content[re.sub(r"\A(\./+)+", "", info.name)] = data
                    file.seek(0)
                    members.add(info.name, row("file", info.mode, info.size, sha256(file)))
    view = members.finish()
    view.sparse = sparse
    return view


_C_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv\\" ])')
_C_NAMED = dict(zip(b'abfnrtv\\" ', b'\a\b\f\n\r\t\v\\" '))


def unescape(text):
    """GNU tar's and mtree's backslash escapes."""
    one = lambda match: bytes([int(match[1], 8) if len(match[1]) == 3 else _C_NAMED[match[1][0]]])
    return _C_ESCAPE.sub(one, text).decode("utf-8", "surrogateescape")


def mode_of(permissions):
    """`rwsr-x--t` as a number."""
    mode = 0
    for place, character in enumerate(permissions):
        if character not in "-ST":
            mode |= 0o400 >> place
        if character in "sStT":
            mode |= (0o4000, 0o2000, 0o1000)[place // 3]
    return mode


_QUOTED = rb'"((?:[^"\\]|\\.)*)"'
_TAR_LINE = re.compile(
    rb"(.)([-rwxsStT]{9})\S? +\S+ +(\S+) +\S+ +\S+ +" + _QUOTED + rb"(?: (->|link to) " + _QUOTED + rb")?"
)
_DPKG_LINE = re.compile(
    rb"([^lh])([-rwxsStT]{9})\S? +\S+ +(\S+) +\S+ +\S+ (.*)()()"
    rb"|(l)([-rwxsStT]{9})\S? +\S+ +(\S+) +\S+ +\S+ (.*?) (->) (.*)"
    rb"|(h)([-rwxsStT]{9})\S? +\S+ +(\S+) +\S+ +\S+ (.*) (link to) (.*)"
)


def listed_view(peer, lines, form):
    """The lines of `tar -tv` or `dpkg-deb -c`, and files in order, for what `tar -xO` writes."""
    members, stored = Members(peer), []
    for line in lines:
        match = form.fullmatch(line)
        if match is None:
            raise ValueError(f"{peer} lists a line that is not understood: {line!r}")
        first = match.lastindex - 5 if form is _DPKG_LINE else 1
        groups = [match[group] for group in range(first, first + 6)]
        kind, mode = groups[0].decode(), mode_of(groups[1].decode())
        size, name, target = groups[2], unescape(groups[3]), unescape(groups[5] or b"")
        if kind == "h":
            members.hard_link(name, target, mode)
        elif kind == "l":
            members.add(name, row("symlink", mode, link=target))
        elif kind == "d":
            members.add(name if name.endswith("/") else name + "/", row("directory", mode))
        elif kind in "cbps":
            members.add(name, special(mode))
        else:
            fields = row("file", mode, int(size))
            del fields["sha256"]
            stored.append(fields)
            members.add(name, fields)
    return members, stored


def gnu_view(path):
    command = ("tar", "-tv", "--full-time", "--numeric-owner", "--quoting-style=c", "-P", "-f", path)
    members, stored = listed_view("GNU tar", output(*command).splitlines(), _TAR_LINE)
    with subprocess.Popen(["tar", "-xOPf", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=PLAIN) as run:
        for fields in stored:
            hasher, left = hashlib.sha256(), fields["size"]
            while left:
                part = run.stdout.read(min(left, 1 << 20))
                if not part:
                    raise ValueError("tar -xO writes less than tar -t lists")
                hasher.update(part)
                left -= len(part)
            fields["sha256"] = hasher.hexdigest()
        if run.stdout.read(1):
            raise ValueError("tar -xO writes more than tar -t lists")
    if run.returncode != 0:
        raise ValueError(f"tar -xO exits with {run.returncode}")
    for fields, found in members.links:
        fields["sha256"] = found["sha256"]
    return members.finish()


def dpkg_view(path):
    members, _ = listed_view("dpkg-deb -c", output("dpkg-deb", "-c", path).splitlines(), _DPKG_LINE)
    return members.finish()


def bsdtar_view(path, sparse=()):
    """bsdtar's reading of a tar or cpio archive, as mtree.

    In mtree it leaves the holes of sparse files out of the digest; those it has to extract.
    """
    keywords = ",".join(f"mtree:{keyword}" for keyword in ("!all", "type", "mode", "size", "sha256", "link", "nlink"))
    members, links = Members("bsdtar"), []
    listing = output("bsdtar", "-cf", "-", "--format=mtree", f"--options={keywords}", f"@{path}", environment=WIDE)
    for line in listing.splitlines()[1:]:
        words = line.split()
        name, facts = unescape(words[0]), dict(word.split(b"=", 1) for word in words[1:])
        name = "./" if name == "/." else name
        kind, mode = facts[b"type"], int(facts[b"mode"], 8)
        if kind == b"dir":
            members.add(name + "/", row("directory", mode))
        elif kind == b"link":
            members.add(name, row("symlink", mode, link=unescape(facts[b"link"])))
        elif kind != b"file":
            members.add(name, special(mode))
        else:
            size = int(facts[b"size"])
            fields = row("file", mode, size, facts.get(b"sha256digest", b"").decode() or None)
            if fields["sha256"] is None or size == 0 and int(facts.get(b"nlink", 0)) > 1:
                # A hard link; mtree does not tell to what.
                links.append(fields)
            elif name in sparse:
                fields["sha256"] = digest(output("bsdtar", "-xOf", path, name, environment=WIDE))
            members.add(name, fields)
    view = members.finish()
    for fields in links:
        for field in "kind", "size", "sha256", "link":
            del fields[field]
    return view


def tar_views(path, content):
    first = tarfile_view(path, content)
    views = [first, gnu_view(path)]
    try:
        views.append(bsdtar_view(path, first.sparse))
    except RuntimeError as error:
        if "can't be converted" not in str(error):
            raise
        explain(1, "archives with names in another encoding than they declare: not read by bsdtar")
    return views


def ar_names(path):
    return output("ar", "t", path).decode("utf-8", "surrogateescape").splitlines()


_AR_LINE = re.compile(r"([-rwxsStT]{9}) \S+ +(\d+) \w+ +\d+ [\d:]+ \d+ (.*)")


def ar_view(path, content=None):
    """binutils' ar: its listing, and what it writes of all members, one after the other."""
    members, data, at = Members("ar"), output("ar", "p", path), 0
    for line in output("ar", "tv", path).decode("utf-8", "surrogateescape").splitlines():
        permissions, size, name = _AR_LINE.fullmatch(line).groups()
        part = data[at : at + int(size)]
        at += int(size)
        if content is not None and is_container(name, part):
            content[name] = part
        members.add(name, row("file", mode_of(permissions), int(size), digest(part)))
    if at != len(data):
        raise ValueError(f"ar lists {at} bytes and writes {len(data)}")
    return members.finish()


# Apple's names of CPU types and subtypes, as lipo prints them.
ARCHITECTURES = {
    (7, 3): "i386", (0x1000007, 3): "x86_64", (0x1000007, 8): "x86_64h", (12, 6): "armv6", (12, 9): "armv7",
    (12, 11): "armv7s", (12, 12): "armv7k", (0x100000C, 0): "arm64", (0x100000C, 2): "arm64e",
    (0x200000C, 1): "arm64_32", (18, 0): "ppc", (0x1000012, 0): "ppc64",
}  # fmt: skip


def universal_view(data, content=None):
    """A universal file's table."""
    view = View("fat table")
    magic, count = struct.unpack(">II", data[:8])
    form = struct.Struct({0xCAFEBABE: ">IIIII", 0xCAFEBABF: ">IIQQII"}[magic])
    for place in range(count):
        cpu, subtype, offset, size, *_ = form.unpack_from(data, 8 + place * form.size)
        name = ARCHITECTURES.get((cpu, subtype & 0xFFFFFF), f"cputype{cpu}-subtype{subtype & 0xFFFFFF}")
        part = data[offset : offset + size]
        if len(part) != size:
            raise ValueError("a slice is not inside the file")
        fields = row("file", 0o755, size, digest(part)) | {"kind": "slice", "offset": (offset, size)}
        view.add(f"slices/{name}", fields)
        if content is not None and is_container(name, part):
            content[f"slices/{name}"] = part
    return view


# --------------------------------------------------------------------------------------------------
# What is nested in a container


STREAMS = {
    b"\x1f\x8b\x08": gzip.decompress,
    b"\xfd7zXZ\0": lambda data: output("xz", "-dc", text=data),
    b"BZh": bz2.decompress,
    b"\x28\xb5\x2f\xfd": lambda data: output("zstd", "-dc", text=data),
}
LISTED = (b"PK\x03\x04", b"PK\x05\x06", b"!<arch>\n", b"070701", b"070702", b"070707")
SUFFIXES = (".gz", ".tgz", ".xz", ".txz", ".lzma", ".bz2", ".tbz", ".tbz2", ".zst", ".tzst")


def is_universal(data):
    return data[:4] in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf") and 0 < int.from_bytes(data[4:8], "big") < 45


def is_tar(data):
    return data[257:262] == b"ustar"


def is_container(name, data):
    magic = any(data.startswith(magic) for magic in (*STREAMS, *LISTED))
    return magic or is_universal(data) or is_tar(data) or name.lower().endswith(".lzma")


def stored(data, read, *arguments):
    """What a reader that wants a file says of bytes."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return read(file.name, *arguments)


def zip_view(path, content):
    view = zipfile_view(path)
    del view.rows["."]
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename in view.rows and not info.is_dir() and not info.flag_bits & 1:
                data = archive.read(info)
                content.pop(info.filename, None)
                if view.rows[info.filename]["kind"] == "file" and is_container(info.filename, data):
                    content[info.filename] = data
    return view


def content_name(name):
    last = name.rsplit("/", 1)[-1]
    suffix = next((suffix for suffix in SUFFIXES if last.lower().endswith(suffix)), "")
    return last[: len(last) - len(suffix)] or "content"


def nested_tar_view(path, content):
    """Python's tarfile; where GNU tar reads odd headers differently, GNU tar."""
    view = tarfile_view(path, content)
    try:
        other = gnu_view(path)
    except UNREADABLE:
        return view
    if view.rows == other.rows:
        return view
    explain(0, "nested tar archives that GNU tar and tarfile read differently: GNU tar is followed")
    for name in set(content) - set(other.rows):
        del content[name]
    return other


def opened(name, data):
    """The members of a nested container, and which of them are containers; None where it is none."""
    content = {}
    decode = next((decode for magic, decode in STREAMS.items() if data.startswith(magic)), None)
    if decode is None and name.lower().endswith(".lzma") and not is_container("", data):
        decode = lambda data: output("xz", "--format=lzma", "-dc", text=data)
    if decode is not None:
        data = decode(data)
        if not (is_tar(data) or data[:6] in LISTED[3:]):
            explain(15, "what a compressed stream holds: no size")
            view = View("stream")
            view.rows[content_name(name)] = row("file", 0, None, digest(data))
            if is_container(content_name(name), data):
                content[content_name(name)] = data
            return view, content
    if data[:6] in LISTED[3:]:
        return stored(data, bsdtar_view), content
    if is_tar(data):
        return stored(data, nested_tar_view, content), content
    if data.startswith(b"PK"):
        return stored(data, zip_view, content), content
    if data.startswith(b"!<arch>\n"):
        return stored(data, ar_view, content), content
    if is_universal(data):
        return universal_view(data, content), content
    return None


def nested_view(content, ours):
    """All that is below containers; nothing is below those that nobody can read or that were given up."""
    view = View("nested readers")
    waiting = sorted(content.items())
    while waiting:
        path, data = waiting.pop()
        if ours.get(path, {}).get("given up"):
            explain(20, "nested containers beyond the budget: files")
            continue
        try:
            found = opened(path, data)
        except UNREADABLE:
            explain(10, "nested containers that no reader can read: files")
            continue
        if found is None:
            continue
        inner, containers = found
        view.rows |= {f"{path}/{name}": fields for name, fields in inner.rows.items()}
        view.pool += inner.pool
        waiting += ((f"{path}/{name}", data) for name, data in containers.items())
    return view


# --------------------------------------------------------------------------------------------------
# Files to compare


def with_root(view, path):
    view.rows["."] = root_row(path)
    return view


def plain_tar(path, scratch):
    """The decompressed file, by the tools of the command line."""
    with open(path, "rb") as file:
        head = file.read(8)
    tools = {b"\x1f\x8b": "gzip", b"\xfd7": "xz", b"BZ": "bzip2", b"\x28\xb5": "zstd", b"\x5d\x00": "xz"}
    tool = tools.get(head[:2])
    if tool is None:
        return path
    plain = os.path.join(scratch, "plain")
    with open(path, "rb") as source, open(plain, "wb") as target:
        subprocess.run([tool, "-dc"], stdin=source, stdout=target, check=True)
    return plain


def checks(rea, path, scratch):
    """What kind of file it is, and pairs of our rows and a peer's view."""
    with open(path, "rb") as file:
        head = file.read(512)
    if head.startswith(b"!<arch>\ndebian-binary"):
        return "deb", deb_checks(rea, path, scratch)
    if head.startswith(b"!<arch>\n"):
        return "ar", [(inventory(rea, path, "none"), with_root(ar_view(path), path))]
    if is_universal(head):
        ours = inventory(rea, path, "none")
        return "universal", [(ours, with_root(universal_view(Path(path).read_bytes()), path))]
    plain = plain_tar(path, scratch)
    with open(plain, "rb") as file:
        start = file.read(512)
    ours = inventory(rea, path, "none")
    if start[:6] in LISTED[3:] or start[:2] == b"\xc7\x71":
        return "cpio", [(ours, with_root(bsdtar_view(plain), path))]
    if not tarfile.is_tarfile(plain):
        view = View("stream")
        view.rows["content"] = row("file", 0, None, sha256(open(plain, "rb")))
        return "stream", [(ours, with_root(view, path))]
    content = {}
    views = tar_views(plain, content)
    own, nested = levels(inventory(rea, path, "all"))
    pairs = [(rows, with_root(view, path)) for view in views for rows in (ours, own)]
    return "tar", [*pairs, (nested, nested_view(content, own | nested))]


def deb_checks(rea, path, scratch):
    ours = inventory(rea, path, "all")
    own, _ = levels(ours)
    pairs = [(own, with_root(ar_view(path), path))]
    for part, option in ("data.tar", "--fsys-tarfile"), ("control.tar", "--ctrl-tarfile"):
        name = next(name for name in ar_names(path) if name.startswith(part))
        plain = os.path.join(scratch, part)
        with open(plain, "wb") as file:
            subprocess.run(["dpkg-deb", option, path], stdout=file, check=True)
        content = {}
        own, nested = levels(below(ours, name))
        pairs += [(own, view) for view in tar_views(plain, content)]
        pairs.append((nested, nested_view(content, own | nested)))
        if part == "data.tar":
            pairs.append((own, dpkg_view(path)))
    return pairs


def tell_more_lies(view):
    """Those of truth_artifacts, and what only streams have."""
    if not view.rows:
        return
    yield from lies(view)
    for field, label, change in (
        ("mode", "wrong mode", lambda value: (value or 0o755) ^ 0o4000 or None),
        ("offset", "wrong offset", lambda value: (value[0] + 1, value[1])),
    ):
        # A mode is null mostly; one that is not tells more.
        rows = [path for path, fields in view.rows.items() if fields.get(field) is not None]
        if field == "mode" and not rows:
            rows = [path for path, fields in view.rows.items() if "mode" in fields]
        if rows:
            path = rows[len(rows) // 2]
            lie = View(view.peer, view.partial)
            changed = dict(view.rows[path], **{field: change(view.rows[path][field])})
            lie.rows, lie.pool = {**view.rows, path: changed}, view.pool
            yield f"{label} of {path!r}", lie


def make_archives(folder):
    """Archives of every form that the tools here write, of a folder with every kind of entry."""
    tree, made = os.path.join(folder, "tree"), os.path.join(folder, "made")
    os.makedirs(os.path.join(tree, "sub", "empty"))
    os.makedirs(made)
    here = lambda *names: os.path.join(tree, *names)
    Path(here("plain")).write_bytes(b"content\n" * 5000)
    Path(here("empty file")).touch()
    Path(here("sub", 'quo"te\\ and -> arrow')).write_text("x")
    os.link(here("plain"), here("sub", "hard"))
    os.symlink("../plain", here("sub", "soft"))
    os.link(here("sub", "soft"), here("zz hard link to a link"), follow_symlinks=False)
    os.symlink("nowhere/\N{LATIN SMALL LETTER E WITH ACUTE}", here("dangling"))
    os.mkfifo(here("fifo"))
    for name, mode in ("set-uid", 0o4755), ("set-gid", 0o2750), ("no execute", 0o4644):
        Path(here(name)).write_text(name)
        os.chmod(here(name), mode)
    os.chmod(here("sub", "empty"), 0o1777)
    with open(here("sparse"), "wb") as file:
        for place in range(0, 60 << 20, 1 << 20):  # more parts than one header holds
            file.seek(place)
            file.write(b"part")
        file.truncate(61 << 20)
    with gzip.open(here("sub", "page.1.gz"), "wb") as file:
        file.write(b"a page\n")
    long = {"long": "n" * 120, "deep": "d" * 90 + "/" + "e" * 90}
    names = sorted(os.listdir(tree))
    pack = ("tar", "-C", tree, "--numeric-owner")
    output(*pack, "--format=v7", "-cf", f"{made}/v7.tar", *(name for name in names if name != "fifo"))
    output(*pack, "--format=ustar", "-cf", f"{made}/ustar.tar", ".")
    Path(here(long["long"])).write_text("long")
    os.makedirs(here(os.path.dirname(long["deep"])))
    Path(here(long["deep"])).write_text("deep")
    os.symlink("t" * 150, here("long target"))
    Path(here("sub", "\N{GREEK SMALL LETTER ALPHA}")).write_text("alpha")
    Path(here("sub", "cafe\N{COMBINING ACUTE ACCENT}")).write_text("decomposed")
    Path(os.fsencode(here("sub")).decode() + "/not utf-8 \udce9").write_text("byte")
    for label, options in (
        ("gnu", ["--format=gnu"]),
        ("oldgnu-sparse", ["--format=oldgnu", "--sparse"]),
        ("gnu-sparse", ["--format=gnu", "--sparse"]),
        ("pax", ["--format=pax"]),
        *((f"pax-sparse-{version}", ["--format=pax", "--sparse", f"--sparse-version={version}"])
          for version in ("0.0", "0.1", "1.0")),
    ):  # fmt: skip
        output(*pack, *options, "-cf", f"{made}/{label}.tar", ".")
    for form in "pax", "gnutar", "newc", "odc", "bin":
        members = [name for name in names if name not in ("sparse", "fifo")] if form == "bin" else ["."]
        output("bsdtar", "-C", tree, f"--format={form}", "-cf", f"{made}/bsdtar-{form}", *members)
    listing = "".join(f"{name}\n" for name in names).encode()
    for form in "newc", "odc", "crc":
        run = subprocess.run(["cpio", "-o", "-H", form], cwd=tree, input=listing, capture_output=True, check=True)
        Path(f"{made}/{form}.cpio").write_bytes(run.stdout)
    for tool, suffix, options in (
        ("gzip", "gz", []), ("xz", "xz", []), ("xz", "blocks.xz", ["--block-size=65536"]),
        ("xz", "lzma", ["--format=lzma"]), ("bzip2", "bz2", []), ("zstd", "zst", ["-q"]),
    ):  # fmt: skip
        packed = output(tool, *options, "-c", f"{made}/gnu-sparse.tar")
        Path(f"{made}/gnu-sparse.tar.{suffix}").write_bytes(packed)
        if suffix not in ("lzma", "blocks.xz"):
            single = output(tool, "-c", here("plain"))
            Path(f"{made}/twice.{suffix}").write_bytes(single + single)
    thin, wide = io.BytesIO(), io.BytesIO()
    parts = [(7, 3, b"\xce\xfa\xed\xfe" + b"i" * 60), (0x100000C, 2 | 0x80 << 24, b"\xcf\xfa\xed\xfe" + b"a" * 90)]
    for file, magic, form, place in (thin, 0xCAFEBABE, ">IIIII", 4096), (wide, 0xCAFEBABF, ">IIQQII", 4096):
        file.write(struct.pack(">II", magic, len(parts)))
        for count, (cpu, subtype, data) in enumerate(parts):
            file.write(struct.pack(form, cpu, subtype, place * (count + 1), len(data), 12, *[0] * (len(form) - 6)))
        for count, (_, _, data) in enumerate(parts):
            file.seek(place * (count + 1))
            file.write(data)
    Path(f"{made}/universal-32").write_bytes(thin.getvalue())
    Path(f"{made}/universal-64").write_bytes(wide.getvalue())
    shutil.copy(here("plain"), f"{folder}/a member with a long name.o")
    output("ar", "rcD", f"{made}/names.a", here("plain"), f"{folder}/a member with a long name.o", here("set-uid"))
    os.makedirs(here("DEBIAN"))
    Path(here("DEBIAN", "control")).write_text(
        "Package: made\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: made\n"
    )
    for kind in "none", "gzip", "xz", "zstd":
        output("dpkg-deb", f"-Z{kind}", "--build", tree, f"{made}/made-{kind}.deb")
    return sorted(Path(made).iterdir())


def corpus_targets(corpus):
    archives = sorted(path for path in corpus.rglob("*") if path.suffix in (".tgz", ".deb") and path.is_file())
    universal = [
        path
        for path in sorted((corpus / "mach-o-universal").rglob("*"))
        if path.is_file() and is_universal(path.read_bytes()[:8])
    ]
    return archives + universal


def packages(names, cache):
    """The packages' files, fetched by apt-get where the cache has none."""
    cache.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not list(cache.glob(f"{name}_*.deb")):
            run = subprocess.run(["apt-get", "download", "-q", name], cwd=cache, capture_output=True, text=True)
            if run.returncode != 0:
                raise RuntimeError(f"apt-get download {name}: {run.stderr.strip().splitlines()[-1:]}")
        yield sorted(cache.glob(f"{name}_*.deb"))[-1]


def listed_packages(sample):
    """All names of the list, or those whose SHA-256 comes first: the same ones everywhere."""
    lines = (line.strip() for line in PACKAGES.read_text().splitlines())
    names = [line for line in lines if line and not line.startswith("#")]
    return names if sample is None else sorted(names, key=lambda name: digest(name.encode()))[:sample]


def main():
    cached = Path.home() / ".cache"
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("REA_CORPUS") or cached / "rea-corpus",
                        help="folder of archives (default: $REA_CORPUS, else ~/.cache/rea-corpus)")  # fmt: skip
    parser.add_argument("--cache", type=Path, default=os.environ.get("REA_DEBS") or cached / "rea-debs",
                        help="folder for Debian packages (default: $REA_DEBS, else ~/.cache/rea-debs)")  # fmt: skip
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sample", type=int, metavar="N", help="N Debian packages of the list too, always the same")
    which.add_argument("--all", action="store_true", help="all Debian packages of the list too")
    parser.add_argument("--plant", action="store_true", help="falsify the peers' side and demand that it shows")
    parser.add_argument("targets", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    corpus = Path(arguments.corpus)
    listed = arguments.all or arguments.sample is not None
    if not arguments.targets and not corpus.is_dir():
        print(f"{corpus}: no corpus there; scripts/corpus.sh fetches one")
        if not listed:
            return 1

    with tempfile.TemporaryDirectory(prefix="truth-streams-") as folder:
        targets = arguments.targets
        if not targets:
            targets = corpus_targets(corpus) + make_archives(folder)
            if listed:
                targets += packages(listed_packages(arguments.sample), Path(arguments.cache))
        compared, files, failures, planted = Counter(), Counter(), 0, Counter()
        for target in targets:
            path = str(target)
            scratch = tempfile.mkdtemp(dir=folder)
            try:
                kind, pairs = checks(arguments.rea, path, scratch)
            except UNREADABLE as error:
                print(f"{path}: {error}")
                failures += 1
                continue
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            for peer in {view.peer for _, view in pairs}:
                files[peer] += 1
            differences = [line for ours, view in pairs for line in compare(ours, view, compared)]
            if arguments.plant:
                for ours, view in pairs:
                    truth = Counter(compare(ours, view, Counter()))
                    for label, lie in tell_more_lies(view):
                        planted[label.split(" of ")[0].split(" '")[0].split(' "')[0]] += 1
                        if not Counter(compare(ours, lie, Counter())) - truth:
                            differences.append(f"{view.peer}: {label} went unnoticed")
            rows = sum(len(view.rows) + len(view.pool) for _, view in pairs)
            print(f"{target.name}: {kind}, {rows} rows, {len(differences)} differences", flush=True)
            for line in differences[:20]:
                print(f"  {line}")
            if len(differences) > 20:
                print(f"  and {len(differences) - 20} more")
            failures += len(differences)

    print()
    for peer in sorted(files):
        counts = {field: compared[peer, field] for field in FIELDS}
        told = " ".join(f"{field}={count}" for field, count in counts.items() if count)
        print(f"{peer}: files={files[peer]} {told}")
    for (decision, text), count in sorted(explained.items()):
        print(f"{f'translated, decision {decision}' if decision else 'between peers'}: {count} {text}")
    if arguments.plant:
        print("lies planted: " + ", ".join(f"{count} {label}" for label, count in sorted(planted.items())))
        for label in MUST_PLANT:
            if not planted[label]:
                print(f"no place for this lie: {label}")
                failures += 1
    total = compared.total()
    print(f"{files.total()} readings of {len(targets)} files, {total} comparisons, {failures} differences or failures")
    return 0 if total and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
