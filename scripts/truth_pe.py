#!/usr/bin/env python3
"""Compares `rea inspect-binary-layout` on PE and COFF files with other readers.

    scripts/truth_pe.py                    tests/data/pe, Debian packages that hold such files (PACKAGES
                                           below; into ~/.cache/rea-debs) and the corpus (scripts/corpus.sh)
    scripts/truth_pe.py PATH...            these files, folders, archives (.a, .lib), wheels, packages
    scripts/truth_pe.py --sample N         the first package only and every file of it until N are read
    scripts/truth_pe.py --plant            falsify the peers' side; each lie must show

Peers, those that are installed: `llvm-readobj` (LLVM 14: headers, sections, symbols, relocations,
imports, exports, base relocations, unwind information of x64, ARM and ARM64, resources, TLS, load configuration),
`objdump` (binutils with pe targets: headers, directories, imports with hints, exports, base
relocations, sections, symbols, relocations), and from PyPI, outside CI, `pefile` (imphash, Rich
header, checksum, version strings, overlay, data of resources) and `LIEF` (all members of the load
configuration and its tables, dynamic relocations, data of resources, TLS callbacks, POGO, REPRO, functions of ARM64 and of hybrid
images, delay imports). Facts are compared as multisets a category. Files for ARM64 by hand: PyPI's wheels for
win_arm64 (numpy 2.4.6 has msvcp140, an ARM64X image), npm's @swc/core-win32-arm64-msvc and the like.

Not compared, because it is a rendering of bytes and no fact of its own: hex dumps, the prologs that packed functions
of ARM and ARM64 stand for, dates beside their number, demangled names, disassembly, and the numbers that a peer leaves out.
Classes of differences that are explained are counted under their names, see EXPLAINED.

Exit 1 on any unexplained difference, on a lie that went unnoticed, or when nothing was compared.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import uuid
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

from truth_artifacts import find_rea

# Small ones first: the sample of CI is taken from the first.
PACKAGES = ["systemd-boot-efi", "nsis-common", "mingw-w64-x86-64-dev", "gcc-mingw-w64-x86-64-win32-runtime", "gcc-mingw-w64-i686-win32-runtime", "libwine"]
SAMPLE_PACKAGES = ["systemd-boot-efi", "nsis-common", "mingw-w64-x86-64-dev"]

EXPLAINED = {
    "zero-address-export": "llvm-readobj lists rows of the export address table that are zero and have no name; "
    "PE Format calls them unused, and we count them as gaps",
    "forwarder-address": "llvm-readobj 14 prints the address of a forwarder's text; we tell the text, which objdump is asked about",
    "named-overlay": "pefile's overlay starts behind the last section; we leave out what headers name there: symbols, strings, "
    "certificates (libwine: acledit.dll has symbols there)",
    "static-function": "behind a static function GNU tools write the record of a function (binutils reads it so); llvm-readobj "
    "shows the same bytes as the record of a section (PE Format, Auxiliary Format 5, is for section names)",
    "file-name-offset": "GNU tools write the offset of a long file name into the auxiliary record; llvm-readobj shows those bytes, "
    "objdump and we the name",
    "lief-frame-size": "LIEF 1.0 keeps eight bits of the frame size of packed ARM64 functions; the specification has nine bits "
    "times sixteen",
    "section-symbol": "objdump shows symbols of class IMAGE_SYM_CLASS_SECTION as static ones, in sections that it invents where "
    "they have none (import libraries: sample.lib); llvm-readobj and we show what stands there",
    "object-unwind": "llvm-readobj applies relocations to .pdata of objects; we list those relocations",
    "no-optional-header": "objdump prints an optional header of zeros for objects, which have none",
    "end-of-chain": "LLVM 14 stops behind end_c, which ends a chained scope and not the codes (ARM64 exception handling, "
    "Unwind codes); newer ones go on (markupsafe's _speedups.cp311-win_arm64.pyd, 0x18000118c)",
    "import-address-stride": "LLVM 14 steps four bytes from one row of the table of imports whose address is taken to the next; "
    "each has the extra bytes of GuardFlags (LIEF agrees; @parcel/watcher-win32-arm64)",
    "fixup-padding": "LIEF takes the half word of zeros that fills a block up to four bytes for a fixup; LLVM and the loader do not",
    "second-version": "LIEF 1.0 does not read tables of dynamic relocations of version 2",
    "lief-visited": "LIEF 1.0 notes directories of resources by their offset in the file and data by its offset in the tree, in one "
    "set: where two of these are the same number it takes the tree for a loop, and leaves that directory out, or that data and what "
    "follows beside it (pefile reads all of it; light.msstyles; libwine for armhf: xcopy.exe, the strings from 0x36 on)",
    "shared-export": "llvm-readobj and objdump print one name a row of the address table; we have a row for each name",
}


# --------------------------------------------------------------------------------------------------
# Files


def fetch(package):
    cache = Path.home() / ".cache" / "rea-debs"
    cache.mkdir(parents=True, exist_ok=True)
    found = sorted(cache.glob(f"{package}_*.deb"))
    if not found:
        subprocess.run(["apt-get", "download", "-q", package], cwd=cache, check=True, capture_output=True)
        found = sorted(cache.glob(f"{package}_*.deb"))
    return found[0]


def is_ours(head):
    if head[:2] == b"MZ":
        return True
    if head[:4] == b"\0\0\xff\xff":
        return True
    return head[:2] in (b"\x64\x86", b"\x4c\x01", b"\xc4\x01", b"\x64\xaa")


def members(data):
    """Members of an ar archive."""
    at, names = 8, b""
    while at + 60 <= len(data):
        name, size = data[at : at + 16].decode("latin-1").rstrip(), int(data[at + 48 : at + 58])
        body = data[at + 60 : at + 60 + size]
        if name == "//":
            names = body
        elif name not in ("/", "/SYM64/"):
            if name.startswith("/") and name[1:].isdigit():
                name = re.split(rb"[\0\n]", names[int(name[1:]) :], maxsplit=1)[0].decode("latin-1")
            yield name.rstrip("/"), body
        at += 60 + size + size % 2


def walk(path, scratch, most_members=8):
    """(label, file) of everything below a path that the readers can be asked about."""
    if path.is_dir():
        for child in sorted(path.rglob("*")):
            if child.is_file() and not child.is_symlink():
                yield from walk(child, scratch, most_members)
        return
    if path.suffix in (".deb", ".whl", ".tgz"):
        folder = Path(tempfile.mkdtemp(dir=scratch))
        if path.suffix == ".deb":
            subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
        elif path.suffix == ".tgz":
            subprocess.run(["tar", "xzf", path, "-C", folder], check=True)
        else:
            zipfile.ZipFile(path).extractall(folder)
        for label, file in walk(folder, scratch, most_members):
            yield f"{path.name}:{label.removeprefix(str(folder))}", file
        shutil.rmtree(folder)
        return
    with open(path, "rb") as file:
        head = file.read(8)
    if head == b"!<arch>\n":
        chosen = [member for member in members(path.read_bytes()) if is_ours(member[1])]
        # Import libraries hold thousands of alike members: some of each archive, spread evenly.
        step = max(1, len(chosen) // most_members)
        for number, (name, body) in enumerate(chosen[::step]):
            member = Path(scratch) / f"member-{number}.obj"
            member.write_bytes(body)
            yield f"{path}({name})", member
            member.unlink()
    elif is_ours(head):
        yield str(path), path


# --------------------------------------------------------------------------------------------------
# Our side


def run(command, limit=600):
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=limit)


def unhex(text):
    return None if text is None else int(text, 16)


class Ours:
    """A record, as the facts of each peer's categories."""

    def __init__(self, rea, path):
        done = run([rea, "inspect-binary-layout", path])
        if done.returncode != 0:
            raise RuntimeError(f"rea exits with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:300]}")
        self.result = json.loads(done.stdout)["normalized_result"]
        self.facts = self.result["facts"]
        self.own = self.facts[self.result["format"]]
        optional = self.own.get("optional_header") or {}
        self.base = unhex(optional.get("image_base", "0x0"))

    def names(self, flags):
        return sorted(name for name in flags if not name.startswith("0x"))


def name(text):
    """A name that a peer printed as we write it: nothing lost, `%XX` for bytes that are not UTF-8."""
    return text


# --------------------------------------------------------------------------------------------------
# llvm-readobj


def tree(text):
    """Nested (label, value, children) of llvm-readobj's output."""
    root = ("", "", [])
    stack = [root]
    for line in text.split("\n"):
        line = line.strip()
        if not line:
            continue
        if line in ("}", "]", ")"):
            if len(stack) > 1:
                stack.pop()
            continue
        label, _, value = line.partition(": ")
        opens = re.match(r"^(\S[^:{\[]*?) ?[{\[](?: \((0x[0-9A-Fa-f]+)\))?$", line)
        if opens:
            node = (opens.group(1).strip(), opens.group(2) or "", [])
        elif line.endswith(("[", "(")) and re.match(r"^(Type|Name|Language|Data|RawData)\b", line):
            node = (label.rstrip(" ([") if not value else label, value.rstrip(" [("), [])
        else:
            stack[-1][2].append((label, value, []))
            continue
        stack[-1][2].append(node)
        stack.append(node)
    return root


def child(node, label):
    for one in node[2]:
        if one[0] == label:
            return one
    return None


def leaf(node, label, default=None):
    one = child(node, label)
    return default if one is None else one[1]


def number(text):
    """`0x10`, `16`, `NAME (0x10)`, `2020-01-01 (0x10)`, `(0x10)`."""
    if text is None:
        return None
    inner = re.search(r"\((-?(?:0x)?[0-9A-Fa-f]+)\)$", text)
    return int(inner.group(1) if inner else text.split()[0], 0)


FILE_HEADER = {
    "SectionCount": "number_of_sections",
    "TimeDateStamp": "time_date_stamp",
    "PointerToSymbolTable": "pointer_to_symbol_table",
    "SymbolCount": "number_of_symbols",
    "OptionalHeaderSize": "size_of_optional_header",
}
OPTIONAL_HEADER = {
    "Magic": "magic",
    "SizeOfCode": "size_of_code",
    "SizeOfInitializedData": "size_of_initialized_data",
    "SizeOfUninitializedData": "size_of_uninitialized_data",
    "AddressOfEntryPoint": "address_of_entry_point",
    "BaseOfCode": "base_of_code",
    "ImageBase": "image_base",
    "SectionAlignment": "section_alignment",
    "FileAlignment": "file_alignment",
    "SizeOfImage": "size_of_image",
    "SizeOfHeaders": "size_of_headers",
    "SizeOfStackReserve": "size_of_stack_reserve",
    "SizeOfStackCommit": "size_of_stack_commit",
    "SizeOfHeapReserve": "size_of_heap_reserve",
    "SizeOfHeapCommit": "size_of_heap_commit",
    "NumberOfRvaAndSize": "number_of_rva_and_sizes",
}
VERSIONS = {
    "LinkerVersion": "linker_version",
    "OperatingSystemVersion": "operating_system_version",
    "ImageVersion": "image_version",
    "SubsystemVersion": "subsystem_version",
}
DIRECTORIES = ["Export", "Import", "Resource", "Exception", "Certificate", "BaseRelocation", "Debug", "Architecture", "GlobalPtr", "TLS", "LoadConfig", "BoundImport", "IAT", "DelayImportDescriptor", "CLRRuntimeHeader", "Reserved"]
DOS = {
    "UsedBytesInTheLastPage": "e_cblp", "FileSizeInPages": "e_cp", "NumberOfRelocationItems": "e_crlc",
    "HeaderSizeInParagraphs": "e_cparhdr", "MinimumExtraParagraphs": "e_minalloc", "MaximumExtraParagraphs": "e_maxalloc",
    "InitialRelativeSS": "e_ss", "InitialSP": "e_sp", "Checksum": "e_csum", "InitialIP": "e_ip", "InitialRelativeCS": "e_cs",
    "AddressOfRelocationTable": "e_lfarlc", "OverlayNumber": "e_ovno", "OEMid": "e_oemid", "OEMinfo": "e_oeminfo",
    "AddressOfNewExeHeader": "e_lfanew",
}
LOAD_CONFIG = {
    "Size": "size", "TimeDateStamp": "time_date_stamp", "MajorVersion": "major_version", "MinorVersion": "minor_version",
    "GlobalFlagsClear": "global_flags_clear", "GlobalFlagsSet": "global_flags_set",
    "CriticalSectionDefaultTimeout": "critical_section_default_timeout",
    "DeCommitFreeBlockThreshold": "de_commit_free_block_threshold",
    "DeCommitTotalFreeThreshold": "de_commit_total_free_threshold", "LockPrefixTable": "lock_prefix_table",
    "MaximumAllocationSize": "maximum_allocation_size", "VirtualMemoryThreshold": "virtual_memory_threshold",
    "ProcessHeapFlags": "process_heap_flags", "ProcessAffinityMask": "process_affinity_mask", "CSDVersion": "csd_version",
    "DependentLoadFlags": "dependent_load_flags", "EditList": "edit_list", "SecurityCookie": "security_cookie",
    "SEHandlerTable": "se_handler_table", "SEHandlerCount": "se_handler_count",
    "GuardCFCheckFunction": "guard_cf_check_function_pointer", "GuardCFCheckDispatch": "guard_cf_dispatch_function_pointer",
    "GuardCFFunctionTable": "guard_cf_function_table", "GuardCFFunctionCount": "guard_cf_function_count",
    "GuardAddressTakenIatEntryTable": "guard_address_taken_iat_entry_table",
    "GuardAddressTakenIatEntryCount": "guard_address_taken_iat_entry_count",
    "GuardLongJumpTargetTable": "guard_long_jump_target_table", "GuardLongJumpTargetCount": "guard_long_jump_target_count",
    "DynamicValueRelocTable": "dynamic_value_reloc_table", "CHPEMetadataPointer": "chpe_metadata_pointer",
    "GuardRFFailureRoutine": "guard_rf_failure_routine",
    "GuardRFFailureRoutineFunctionPointer": "guard_rf_failure_routine_function_pointer",
    "DynamicValueRelocTableOffset": "dynamic_value_reloc_table_offset",
    "DynamicValueRelocTableSection": "dynamic_value_reloc_table_section",
    "GuardRFVerifyStackPointerFunctionPointer": "guard_rf_verify_stack_pointer_function_pointer",
    "HotPatchTableOffset": "hot_patch_table_offset", "EnclaveConfigurationPointer": "enclave_configuration_pointer",
    "VolatileMetadataPointer": "volatile_metadata_pointer", "GuardEHContinuationTable": "guard_eh_continuation_table",
    "GuardEHContinuationCount": "guard_eh_continuation_count",
}
RESOURCE_TYPES = {1: "RT_CURSOR", 2: "RT_BITMAP"}
READOBJ = ["--file-headers", "--sections", "--symbols", "--relocations", "--coff-basereloc", "--coff-debug-directory", "--coff-exports",
           "--coff-imports", "--coff-load-config", "--coff-resources", "--coff-tls-directory", "--unwind"]


def flag_set(node):
    return tuple(sorted(one[0].split(" ")[0] for one in node[2]))


def readobj(path):
    done = run(["llvm-readobj", *READOBJ, path])
    text = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode < 0:
        # LLVM 14 dies of the unwind records of hybrid images (msvcp140 of ARM64X).
        return None, f"it dies of signal {-done.returncode}"
    facts = defaultdict(Counter)
    root = tree(text)
    if leaf(root, "Format") == "COFF-import-file":
        facts["import-object"][(leaf(root, "Type"), leaf(root, "Name type"))] += 1
        facts["import-symbols"].update(one[1] for one in root[2] if one[0] == "Symbol")
        return facts, done.stderr.decode()
    header = child(root, "ImageFileHeader")
    if header:
        for theirs, ours in FILE_HEADER.items():
            facts["file-header"][(ours, number(leaf(header, theirs)))] += 1
        facts["file-header"][("characteristics", number(child(header, "Characteristics")[1]), tuple(sorted(flag_set(child(header, "Characteristics")))))] += 1
    header = child(root, "ImageOptionalHeader")
    if header:
        for theirs, ours in OPTIONAL_HEADER.items():
            facts["optional-header"][(ours, number(leaf(header, theirs)))] += 1
        for theirs, ours in VERSIONS.items():
            facts["optional-header"][(ours, f"{leaf(header, 'Major' + theirs)}.{leaf(header, 'Minor' + theirs)}")] += 1
        flags = child(header, "Characteristics")
        names = tuple(sorted(one.replace("DLL_CHARACTERISTICS", "DLLCHARACTERISTICS") for one in flag_set(flags)))
        facts["optional-header"][("dll_characteristics", number(flags[1]), names)] += 1
        facts["optional-header"][("subsystem", leaf(header, "Subsystem").split(" ")[0])] += 1
        table = child(header, "DataDirectory")
        for index, one in enumerate(DIRECTORIES):
            rva = leaf(table, f"{one}RVA", leaf(table, f"{one}TableRVA"))
            size = leaf(table, f"{one}Size", leaf(table, f"{one}TableSize"))
            if rva is not None:
                facts["directories"][(index, number(rva), number(size))] += 1
    header = child(root, "DOSHeader")
    if header:
        for theirs, ours in DOS.items():
            facts["dos-header"][(ours, number(leaf(header, theirs)))] += 1
    for section in (child(root, "Sections") or ("", "", []))[2]:
        flags = child(section, "Characteristics")
        names = tuple(sorted(one for one in flag_set(flags) if "ALIGN" not in one and one != "IMAGE_SCN_MEM_PURGEABLE"))
        facts["sections"][
            (
                number(leaf(section, "Number")), leaf(section, "Name").rsplit(" (", 1)[0], number(leaf(section, "VirtualSize")),
                number(leaf(section, "VirtualAddress")), number(leaf(section, "RawDataSize")), number(leaf(section, "PointerToRawData")),
                number(leaf(section, "PointerToRelocations")), number(leaf(section, "PointerToLineNumbers")),
                number(leaf(section, "RelocationCount")), number(leaf(section, "LineNumberCount")), number(flags[1]), names,
            )
        ] += 1
    for symbol in (child(root, "Symbols") or ("", "", []))[2]:
        kind = number(leaf(symbol, "BaseType")) | number(leaf(symbol, "ComplexType")) << 4
        section = leaf(symbol, "Section")
        facts["symbols"][
            (leaf(symbol, "Name"), number(leaf(symbol, "Value")), number(section), kind, leaf(symbol, "StorageClass").split(" ")[0].lower(), number(leaf(symbol, "AuxSymbolCount")))
        ] += 1
        one = child(symbol, "AuxSectionDef")
        if one:
            facts["auxiliary"][("section", number(leaf(one, "Length")), number(leaf(one, "RelocationCount")), number(leaf(one, "LineNumberCount")),
                                number(leaf(one, "Checksum")), number(leaf(one, "Number")), number(leaf(one, "Selection")))] += 1
        one = child(symbol, "AuxFileRecord")
        if one:
            facts["auxiliary"][("file", leaf(one, "FileName"))] += 1
        one = child(symbol, "AuxWeakExternal")
        if one:
            facts["auxiliary"][("weak", number(leaf(one, "Linked")), number(leaf(one, "Search")))] += 1
        one = child(symbol, "AuxFunctionDef")
        if one:
            facts["auxiliary"][("function", number(leaf(one, "TagIndex")), number(leaf(one, "TotalSize")),
                                number(leaf(one, "PointerToLineNumber")), number(leaf(one, "PointerToNextFunction")))] += 1
    for section in (child(root, "Relocations") or ("", "", []))[2]:
        index = int(re.search(r"\((\d+)\)", section[0]).group(1))
        for one in section[2]:
            text = one[0] + (": " + one[1] if one[1] else "")
            found = re.match(r"(0x[0-9A-F]+) (\S+) (.*) \((\d+)\)$", text)
            if found:
                facts["relocations"][(index, int(found.group(1), 16), found.group(2), found.group(3), int(found.group(4)))] += 1
    for kind, label in (("import-table", "Import"), ("delay-import-table", "DelayImport")):
        for library in root[2]:
            if library[0] != label:
                continue
            own = leaf(library, "Name")
            if kind == "import-table":
                facts["libraries"][(own, number(leaf(library, "ImportLookupTableRVA")), number(leaf(library, "ImportAddressTableRVA")))] += 1
            else:
                facts["delay-libraries"][(own, number(leaf(library, "Attributes")), number(leaf(library, "ModuleHandle")),
                                          number(leaf(library, "ImportAddressTable")), number(leaf(library, "ImportNameTable")),
                                          number(leaf(library, "BoundDelayImportTable")), number(leaf(library, "UnloadDelayImportTable")))] += 1
            inside = []
            for one in library[2]:
                if one[0] == "Symbol":
                    inside.append(one[1])
                if one[0] == "Import":
                    inside += [more[1] for more in one[2] if more[0] == "Symbol"]
            for one in inside:
                found = re.match(r"(.*) \((\d+)\)$", one)
                facts["imports"][(kind, own, found.group(1), int(found.group(2)))] += 1
    for one in root[2]:
        if one[0] == "Export":
            forwarder = leaf(one, "ForwardedTo")
            rva = number(leaf(one, "RVA"))
            if rva == 0 and not leaf(one, "Name"):
                facts["explained"]["zero-address-export"] += 1
                continue
            facts["exports"][(number(leaf(one, "Ordinal")), leaf(one, "Name", "") or "", None if forwarder else rva, forwarder)] += 1
    for one in (child(root, "BaseReloc") or ("", "", []))[2]:
        facts["base-relocations"][(leaf(one, "Type"), number(leaf(one, "Address")))] += 1
    for one in (child(root, "DebugDirectory") or ("", "", []))[2]:
        kind = number(leaf(one, "Type"))
        facts["debug"][(kind, number(leaf(one, "Characteristics")), number(leaf(one, "TimeDateStamp")), number(leaf(one, "MajorVersion")),
                        number(leaf(one, "MinorVersion")), number(leaf(one, "SizeOfData")), number(leaf(one, "AddressOfRawData")), number(leaf(one, "PointerToRawData")))] += 1
        info = child(one, "PDBInfo")
        if info:
            facts["pdb"][(guid(leaf(info, "PDBGUID", "")), number(leaf(info, "PDBAge")), leaf(info, "PDBFileName"))] += 1
    table = child(root, "TLSDirectory")
    if table and table[2]:
        for theirs, ours in (("StartAddressOfRawData", "start_address_of_raw_data"), ("EndAddressOfRawData", "end_address_of_raw_data"),
                             ("AddressOfIndex", "address_of_index"), ("AddressOfCallBacks", "address_of_callbacks"), ("SizeOfZeroFill", "size_of_zero_fill")):
            facts["tls"][(ours, number(leaf(table, theirs)))] += 1
    table = child(root, "LoadConfig")
    if table:
        for theirs, ours in LOAD_CONFIG.items():
            if child(table, theirs):
                facts["load-config"][(ours, number(leaf(table, theirs)))] += 1
        if child(table, "GuardFlags"):
            facts["load-config"][("guard_flags", number(child(table, "GuardFlags")[1]))] += 1
    for label, ours in (("GuardFidTable", "guard_cf_functions"), ("GuardLJmpTable", "guard_long_jump_targets"), ("GuardIatTable", "guard_address_taken_iat_entries"), ("SEHTable", "se_handlers"), ("GuardEHContTable", "guard_eh_continuations")):
        for one in (child(root, label) or ("", "", []))[2]:
            address = re.match(r"0x[0-9A-Fa-f]+", one[0])
            if address:
                facts["guard-tables"][(ours, int(address.group(0), 16))] += 1
    unwind(root, facts)
    resources(child(root, "Resources"), facts)
    return facts, done.stderr.decode()


def guid(text):
    """`(00 01 ...)`, bytes in the order of the file, as Windows writes it."""
    found = bytes.fromhex(text.strip("()"))
    return str(uuid.UUID(bytes_le=found)).upper() if len(found) == 16 else text


def unwind(root, facts):
    for one in (child(root, "UnwindInformation") or ("", "", []))[2]:
        if one[0] != "RuntimeFunction":
            continue
        if child(one, "ExceptionData"):
            facts["unwind-arm"][unpacked(one)] += 1
            continue
        if leaf(one, "FunctionLength") is not None:
            facts["unwind-arm"][tuple((key, leaf(one, key)) for key in PACKED if leaf(one, key) is not None)] += 1
            continue
        begin, end, where = (number(leaf(one, key)) for key in ("StartAddress", "EndAddress", "UnwindInfoAddress"))
        if end is None or where is None:
            continue
        info = child(one, "UnwindInfo")
        row = (begin, end, where)
        if info:
            frame = leaf(info, "FrameRegister")
            offset = leaf(info, "FrameOffset")
            codes = tuple((one[0], one[1]) for one in (child(info, "UnwindCodes") or ("", "", []))[2])
            handler = leaf(info, "Handler")
            row += (number(leaf(info, "Version")), number(child(info, "Flags")[1]), number(leaf(info, "PrologSize")),
                    0 if frame == "-" else number(frame), 0 if offset == "-" else number(offset), number(leaf(info, "UnwindCodeCount")),
                    codes, number(handler) if handler else None)
        facts["unwind"][row] += 1


# Members of packed functions; llvm-readobj also writes the prolog that they stand for, which is no fact of
# its own (and has INVALID! in LLVM 14 where one register and the link register are saved together).
PACKED = ["Function", "Fragment", "FunctionLength", "RegF", "RegI", "HomedParameters", "CR", "FrameSize", "ReturnType", "Reg", "R", "LinkRegister",
          "Chaining", "StackAdjustment"]


def opcodes(node):
    """Bytes and text of the codes below a node; what LLVM 14 does not know it calls bad."""
    return tuple(tuple(part.strip() for part in (one[0] + (f": {one[1]}" if one[1] else "")).split(";", 1)) for one in (node or ("", "", []))[2])


def unpacked(one):
    data = child(one, "ExceptionData")
    scopes = tuple(
        (leaf(scope, "StartOffset"), leaf(scope, "Condition"), leaf(scope, "EpilogueStartIndex"), opcodes(child(scope, "Opcodes")))
        for part in data[2] if part[0] == "EpilogueScopes" for scope in part[2] if scope[0] == "EpilogueScope"
    )
    handler = child(data, "ExceptionHandler")
    return (
        leaf(one, "Function"), leaf(one, "ExceptionRecord"), leaf(data, "FunctionLength"), leaf(data, "Version"), leaf(data, "ExceptionData"),
        leaf(data, "EpiloguePacked"), leaf(data, "Fragment"), leaf(data, "EpilogueOffset"), leaf(data, "ByteCodeLength"),
        opcodes(child(data, "Prologue")), opcodes(child(data, "Epilogue")), scopes,
        (leaf(handler, "Routine"), number(leaf(handler, "Parameter"))) if handler else None,
    )


def ours_unpacked(row, base, arm64, explained):
    info = row["unwind_info"]
    cut = [0]
    codes = {}
    for text in info["codes"]:
        at, digits, name, *operands = text.split(" ")
        codes[int(at, 16)] = (digits, name, operands)

    def sequence(at, prolog):
        found = []
        while at in codes:
            digits, name, operands = codes[at]
            size = len(digits) // 2
            if arm64:
                if name == "pac_sign_lr":  # LLVM 14 does not know it
                    found.append((f"0x{digits}", "Bad opcode!"))
                elif name != "reserved":
                    found.append((f"0x{digits}", instruction64(name, operands, prolog)))
            elif name != "end":
                shown = " ".join(f"0x{digits[place : place + 2]}" for place in range(0, len(digits), 2))
                found.append((shown, instruction32(name, operands, prolog, size)))
            at += size
            if name in ("end", "end_nop", "end_nop.w", "end_c"):
                cut[0] += name == "end_c"
                break
        return tuple(found)

    packed = "epilog_start_index" in info
    unit = 4 if arm64 else 2
    yes = {True: "Yes", False: "No", None: None}
    scopes = tuple(
        (str(unhex(scope["start_offset"]) // unit), None if arm64 else str(scope["condition"]), str(scope["start_index"]), sequence(scope["start_index"], False))
        for scope in info.get("epilogs", [])
    )
    start = info.get("epilog_start_index")
    handler = (f"0x{unhex(info['handler_address']) + base:X}", info["handler_data"]) if "handler_address" in info else None
    found = (
        f"0x{unhex(row['begin_address']) + base:X}", f"0x{unhex(row['unwind_address']) + base:X}", str(row["function_length"]), str(info["version"]),
        yes[handler is not None], yes[packed], yes[info.get("fragment")], None if start is None else str(start), str(info["code_bytes"]),
        sequence(0, True), sequence(start, False) if start else (), scopes, handler,
    )
    explained["end-of-chain"] += bool(cut[0])
    return found


def instruction64(name, operands, prolog):
    """One of our codes of ARM64 as the instruction that llvm-readobj writes."""
    number = lambda text: int(text, 16)
    after = lambda register: f"{register[0]}{int(register[1:]) + 1}"
    store, pair = ("str", "stp") if prolog else ("ldr", "ldp")
    move = lambda size: f"[sp, #-{size}]!" if prolog else f"[sp], #{size}"
    match name:
        case "alloc_s" | "alloc_m" | "alloc_l":
            return f"{'sub' if prolog else 'add'} sp, #{number(operands[0])}"
        case "save_r19r20_x":
            return f"{pair} x19, x20, {move(number(operands[0]))}"
        case "save_fplr":
            return f"{pair} x29, x30, [sp, #{number(operands[0])}]"
        case "save_fplr_x":
            return f"{pair} x29, x30, {move(number(operands[0]))}"
        case "save_regp" | "save_fregp":
            return f"{pair} {operands[0]}, {after(operands[0])}, [sp, #{number(operands[1])}]"
        case "save_regp_x" | "save_fregp_x":
            return f"{pair} {operands[0]}, {after(operands[0])}, {move(number(operands[1]))}"
        case "save_reg" | "save_freg":
            return f"{store} {operands[0]}, [sp, #{number(operands[1])}]"
        case "save_reg_x" | "save_freg_x":
            return f"{store} {operands[0]}, {move(number(operands[1]))}"
        case "save_lrpair":
            return f"{pair} {operands[0]}, lr, [sp, #{number(operands[1])}]"
        case "set_fp":
            return "mov fp, sp" if prolog else "mov sp, fp"
        case "add_fp":
            return f"add fp, sp, #{number(operands[0])}" if prolog else f"sub sp, fp, #{number(operands[0])}"
        case "save_next":
            return "save next" if prolog else "restore next"
    return name.replace("_", " ") if name != "end_c" else name


def registers(text):
    """`r4-r7,lr` as LLVM 14 writes it: r4, r5, r6, r7, lr."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += [f"{first[0]}{number}" for number in range(int(first[1:]), int(last[1:]) + 1)] if last else [part]
    return ", ".join(found)


def instruction32(name, operands, prolog, size):
    """One of our codes of ARM as the instruction that llvm-readobj writes."""
    wide = ".w" if name.endswith(".w") else ""
    kind = name.removesuffix(".w")
    listed = registers(operands[0]) if kind in ("push", "vpush") and operands else ""
    listed = listed if prolog else listed.replace("lr", "pc")
    match kind:
        case "alloc":
            words = int(operands[0], 16) // 4
            return f"{'sub' if prolog else 'add'}{wide} sp, {'sp, ' if size > 2 else ''}#({words} * 4)"
        case "push":
            return f"{'push' if prolog else 'pop'}{wide} {{{listed}}}"
        case "set_frame":
            return f"mov {operands[0]}, sp" if prolog else f"mov sp, {operands[0]}"
        case "vpush":
            return f"{'vpush' if prolog else 'vpop'} {{{listed}}}"
        case "push_lr":
            size = int(operands[0], 16)
            return f"str.w lr, [sp, #-{size}]!" if prolog else f"ldr.w lr, [sp], #{size}"
        case "microsoft_specific":
            return f"microsoft-specific (type: {operands[0]})"
        case "end_nop":
            return "b.w" if wide else "b"  # LLVM 14; newer ones name targets
    return name


def resources(node, facts):
    if not node:
        return

    def step(node, path):
        for one in node[2]:
            if one[0] in ("Type", "Name", "Language"):
                found = re.search(r"(?:^|\()ID (\d+)\)?$", one[1])
                here = int(found.group(1)) if found else one[1]
                data = child(one, "Data")
                if data:
                    facts["resources"][(*path, here, number(leaf(data, "DataRVA")), number(leaf(data, "DataSize")), number(leaf(data, "Codepage")))] += 1
                else:
                    step(one, (*path, here))

    step(node, ())
    if child(node, "Total Number of Resources"):
        facts["resource-count"][number(leaf(node, "Total Number of Resources"))] += 1


STORAGE = {}


def ours_for_readobj(ours):
    result, own = ours.result, ours.own
    facts = defaultdict(Counter)
    if result["format"] == "coff-import":
        row = own["import_object"]
        kinds = {"IMPORT_CODE": "code", "IMPORT_DATA": "data", "IMPORT_CONST": "const"}
        types = {"IMPORT_ORDINAL": "ordinal", "IMPORT_NAME": "name", "IMPORT_NAME_NOPREFIX": "noprefix", "IMPORT_NAME_UNDECORATE": "undecorate", "IMPORT_NAME_EXPORTAS": "export as"}
        facts["import-object"][(kinds[row["type"]], types[row["name_type"]])] += 1
        facts["import-symbols"]["__imp_" + row["symbol"]] += 1
        if row["type"] == "IMPORT_CODE":
            facts["import-symbols"][row["symbol"]] += 1
        return facts
    if "optional_header" not in own:
        facts["is-object"][1] += 1
    header = own.get("file_header")
    if header:
        for one in FILE_HEADER.values():
            value = header[one]
            facts["file-header"][(one, unhex(value) if isinstance(value, str) else value)] += 1
        flags = header["characteristics"]
        facts["file-header"][("characteristics", unhex(flags["value"]), tuple(ours.names(flags["names"])))] += 1
    header = own.get("optional_header")
    if header:
        for one in OPTIONAL_HEADER.values():
            value = header[one]
            facts["optional-header"][(one, unhex(value) if isinstance(value, str) else value)] += 1
        for one in VERSIONS.values():
            facts["optional-header"][(one, header[one])] += 1
        flags = header["dll_characteristics"]
        facts["optional-header"][("dll_characteristics", unhex(flags["value"]), tuple(ours.names(flags["names"])))] += 1
        facts["optional-header"][("subsystem", header["subsystem"])] += 1
        for row in own["data_directories"]:
            facts["directories"][(row["index"], unhex(row["address"]), unhex(row["size"]))] += 1
        for one in DOS.values():
            facts["dos-header"][(one, unhex(own["dos_header"][one]))] += 1
    contract = {row["index"]: row for row in result["sections"]}
    for row in own.get("sections", []):
        flags = unhex(contract[row["index"]]["flags"])
        facts["sections"][
            (row["index"], row["name"], *(unhex(row[key]) for key in ("virtual_size", "virtual_address", "size_of_raw_data", "pointer_to_raw_data", "pointer_to_relocations", "pointer_to_line_numbers")),
             row["number_of_relocations"], row["number_of_line_numbers"], flags, tuple(ours.names(row["characteristics"])))
        ] += 1
    names = {}
    size = 20 if "anonymous_object_header" in own else 18
    auxiliary = Counter({row["symbol_index"]: unhex(row["location"]["bytes"]) // size for row in own.get("symbol_auxiliary", [])})
    specials = {"IMAGE_SYM_UNDEFINED": 0, "IMAGE_SYM_ABSOLUTE": -1, "IMAGE_SYM_DEBUG": -2}
    types = {"IMAGE_SYM_DTYPE_POINTER": 0x10, "IMAGE_SYM_DTYPE_FUNCTION": 0x20, "IMAGE_SYM_DTYPE_ARRAY": 0x30}
    types |= {f"IMAGE_SYM_TYPE_{one}": at for at, one in enumerate("NULL VOID CHAR SHORT INT LONG FLOAT DOUBLE STRUCT UNION ENUM MOE BYTE WORD UINT DWORD".split())}
    for row in result["symbols"]:
        text = row["name"]["display"]
        names[row["entry_index"]] = text
        section = row["section_index"]
        binding = row["binding"]
        binding = f"{binding:#x}" if isinstance(binding, int) else binding.removeprefix("IMAGE_SYM_CLASS_").replace("_", "").lower()
        kind = row["type"]
        facts["symbols"][
            (text, unhex(row["value"]), specials.get(section, section), types.get(kind, kind), binding, auxiliary[row["entry_index"]])
        ] += 1
    static = {row["entry_index"]: row["binding"] == "IMAGE_SYM_CLASS_STATIC" for row in result["symbols"]}
    selections = {0: 0} | {f"IMAGE_COMDAT_SELECT_{one}": at for at, one in enumerate("NODUPLICATES ANY SAME_SIZE EXACT_MATCH ASSOCIATIVE LARGEST NEWEST".split(), 1)}
    search = {f"IMAGE_WEAK_EXTERN_{one}": at for at, one in enumerate("SEARCH_NOLIBRARY SEARCH_LIBRARY SEARCH_ALIAS ANTI_DEPENDENCY".split(), 1)}
    for row in own.get("symbol_auxiliary", []):
        if row["kind"] == "section-definition":
            facts["auxiliary"][("section", unhex(row["length"]), row["number_of_relocations"], row["number_of_line_numbers"], unhex(row["checksum"]), row["number"], selections.get(row["selection"], row["selection"]))] += 1
        elif row["kind"] == "file":
            facts["auxiliary"][("file", row["name"])] += 1
        elif row["kind"] == "weak-external":
            facts["auxiliary"][("weak", row["tag_index"], search.get(row["characteristics"], row["characteristics"]))] += 1
        elif row["kind"] == "function-definition":
            if static[row["symbol_index"]]:
                size, pointer, next_ = unhex(row["total_size"]), unhex(row["pointer_to_line_number"]), row["pointer_to_next_function"]
                facts["static-functions"][("section", row["tag_index"], size & 0xFFFF, size >> 16, pointer, next_ & 0xFFFF, next_ >> 16 & 0xFF)] += 1
                continue
            facts["auxiliary"][("function", row["tag_index"], unhex(row["total_size"]), unhex(row["pointer_to_line_number"]), row["pointer_to_next_function"])] += 1
    kinds = {row["type"]: row["name"] for row in ours.facts["relocation_types"]}
    for row in result["relocations"]:
        facts["relocations"][(row["section_index"], unhex(row["reported_offset"]), kinds[row["type"]], names.get(row["symbol_index"], "-"), row["symbol_index"])] += 1
    for kind, member in (("import-table", "imports"), ("delay-import-table", "delay_imports")):
        hints = []
        for row in own.get(member, []):
            words = row["descriptor"]
            hints += row["hints"]
            if kind == "import-table":
                facts["libraries"][(row["name"], unhex(words["import_lookup_table"]), unhex(words["import_address_table"]))] += 1
            else:
                facts["delay-libraries"][(row["name"], unhex(words["attributes"]), unhex(words["module_handle"]), unhex(words["import_address_table"]), unhex(words["import_name_table"]),
                                          unhex(words["bound_import_address_table"]), unhex(words["unload_information_table"]))] += 1
        rows = [row for row in ours.facts["imports"]["items"] if row["source"] == kind]
        for row, hint in zip(rows, hints, strict=True):
            facts["imports"][(kind, row["library"], row["name"] or "", row["ordinal"] if hint is None else hint)] += 1
    for row in ours.facts["exports"]["items"]:
        if row["source"] == "export-directory":
            address = None if row["address"] is None else unhex(row["address"]) - ours.base
            if row["forwarder"] is None and address is None:
                address = 0
            facts["exports"][(row["ordinal"], row["name"] or "", address, row["forwarder"])] += 1
    for block in own.get("base_relocations", []):
        page = unhex(block["page_address"])
        for group in block["entries"]:
            kind = group["type"]
            kind = str(kind) if isinstance(kind, int) else kind.removeprefix("IMAGE_REL_BASED_")
            kind = {"ARM_MOV32": "ARM_MOV32(A)", "THUMB_MOV32": "ARM_MOV32(T)"}.get(kind, kind)
            for offset in group["offsets"]:
                facts["base-relocations"][(kind, page + offset)] += 1
    types = {}
    for row in own.get("debug_directory", []):
        major, minor = row["version"].split(".")
        kind = DEBUG_TYPES.index(row["type"]) if row["type"] in DEBUG_TYPES else row["type"]
        facts["debug"][(kind, unhex(row["characteristics"]), unhex(row["time_date_stamp"]), int(major), int(minor), unhex(row["size_of_data"]), unhex(row["address_of_raw_data"]), unhex(row["pointer_to_raw_data"]))] += 1
        content = row["content"] or {}
        if content.get("signature") == "RSDS":
            facts["pdb"][(content["guid"], content["age"], content["path"])] += 1
    table = own.get("tls_directory")
    if table:
        for one in ("start_address_of_raw_data", "end_address_of_raw_data", "address_of_index", "address_of_callbacks", "size_of_zero_fill"):
            facts["tls"][(one, unhex(table[one]))] += 1
    table = own.get("load_config")
    if table:
        for one in LOAD_CONFIG.values():
            if one in table:
                facts["load-config"][(one, unhex(table[one]))] += 1
        if "guard_flags" in table:
            flags = unhex(table["guard_flags"]["value"]) | table["guard_table_extra_bytes"] << 28
            facts["has-stride"][1] += table["guard_table_extra_bytes"] > 0
            facts["load-config"][("guard_flags", flags)] += 1
    for label, table in own.get("guard_tables", {}).items():
        for row in table["entries"]:
            facts["guard-tables"][(label, unhex(row["address"]) + ours.base)] += 1
    machine = result["architecture"]["machine"]
    if machine == "IMAGE_FILE_MACHINE_AMD64":
        for row in own.get("functions", []):
            fact = tuple(unhex(row[key]) + ours.base for key in ("begin_address", "end_address", "unwind_address"))
            info = row["unwind_info"]
            if info:
                handler = info.get("handler_address")
                fact += (info["version"], info["flags"], info["size_of_prolog"], info["frame_register"], info["frame_offset"], info["count_of_codes"],
                         tuple(code(one, info) for one in info["codes"]), handler and unhex(handler) + ours.base)
            facts["unwind"][fact] += 1
    if machine in ("IMAGE_FILE_MACHINE_ARM64", "IMAGE_FILE_MACHINE_ARMNT"):
        arm64 = machine.endswith("64")
        yes = {0: "No", 1: "Yes"}
        for row in own.get("functions", []):
            if row["flag"] == 0 and row["unwind_info"]:
                facts["unwind-arm"][ours_unpacked(row, ours.base, arm64, facts["explained"])] += 1
                continue
            if row["flag"] == 0:
                continue
            head = (("Function", f"0x{unhex(row['begin_address']) + ours.base:X}"), ("Fragment", yes[row["flag"] == 2]), ("FunctionLength", str(row["function_length"])))
            if arm64:
                rest = (("RegF", str(row["reg_f"])), ("RegI", str(row["reg_i"])), ("HomedParameters", yes[row["h"]]), ("CR", str(row["cr"])), ("FrameSize", str(row["frame_size"])))
            else:
                # LLVM 14 writes the link register as the flag and the adjustment in bytes.
                returns = ["pop {pc}", "bx <reg>", "b.w <target>", "(no epilogue)"][row["ret"]]
                adjust = row["stack_adjust"] if row["stack_adjust"] < 0x3F4 else (row["stack_adjust"] & 3) + 1
                rest = (("HomedParameters", yes[row["h"]]), ("ReturnType", returns), ("Reg", str(row["reg"])), ("R", str(row["r"])), ("LinkRegister", yes[row["l"]]), ("Chaining", yes[row["c"]]), ("StackAdjustment", str(adjust * 4)))
            order = dict(head + rest)
            facts["unwind-arm"][tuple((key, order[key]) for key in PACKED if key in order)] += 1
    for row in own.get("resources", []):
        facts["resources"][(*row["path"], unhex(row["address"]), unhex(row["size"]), row["code_page"])] += 1
    if "resource_summary" in own:
        facts["resource-count"][len(own["resources"])] += 1
    return facts


DEBUG_TYPES = [f"IMAGE_DEBUG_TYPE_{one}" for one in "UNKNOWN COFF CODEVIEW FPO MISC EXCEPTION FIXUP OMAP_TO_SRC OMAP_FROM_SRC BORLAND RESERVED10 CLSID VC_FEATURE POGO ILTCG MPX REPRO EMBEDDED_PORTABLE_PDB SPGO PDBCHECKSUM EX_DLLCHARACTERISTICS PERFMAP".split()]


def code(text, info):
    """One of our unwind codes as llvm-readobj writes it: (offset, text)."""
    offset, operation, *operands = text.split(" ")
    operation = operation.removeprefix("UWOP_")
    offset = f"0x{int(offset, 16):02X}"
    value = {
        "PUSH_NONVOL": lambda: f"PUSH_NONVOL reg={operands[0]}",
        "ALLOC_LARGE": lambda: f"ALLOC_LARGE size={int(operands[0], 16)}",
        "ALLOC_SMALL": lambda: f"ALLOC_SMALL size={int(operands[0], 16)}",
        "SET_FPREG": lambda: f"SET_FPREG reg={REGISTERS[info['frame_register']]}, offset=0x{info['frame_offset'] * 16:X}",
        "SAVE_NONVOL": lambda: f"SAVE_NONVOL reg={operands[0]}, offset=0x{int(operands[1], 16):X}",
        "SAVE_NONVOL_FAR": lambda: f"SAVE_NONVOL_FAR reg={operands[0]}, offset=0x{int(operands[1], 16):X}",
        "SAVE_XMM128": lambda: f"SAVE_XMM128 reg={operands[0]}, offset=0x{int(operands[1], 16):X}",
        "SAVE_XMM128_FAR": lambda: f"SAVE_XMM128_FAR reg={operands[0]}, offset=0x{int(operands[1], 16):X}",
        "PUSH_MACHFRAME": lambda: f"PUSH_MACHFRAME errcode={'yes' if operands[0] == '1' else 'no'}",
    }.get(operation)
    return (offset, value() if value else operation)


REGISTERS = "RAX RCX RDX RBX RSP RBP RSI RDI R8 R9 R10 R11 R12 R13 R14 R15".split()


# --------------------------------------------------------------------------------------------------
# objdump


OBJDUMP = {
    "SizeOfCode": "size_of_code", "SizeOfInitializedData": "size_of_initialized_data", "SizeOfUninitializedData": "size_of_uninitialized_data",
    "AddressOfEntryPoint": "address_of_entry_point", "BaseOfCode": "base_of_code", "ImageBase": "image_base",
    "SectionAlignment": "section_alignment", "FileAlignment": "file_alignment", "Win32Version": "win32_version_value",
    "SizeOfImage": "size_of_image", "SizeOfHeaders": "size_of_headers", "CheckSum": "checksum",
    "SizeOfStackReserve": "size_of_stack_reserve", "SizeOfStackCommit": "size_of_stack_commit", "SizeOfHeapReserve": "size_of_heap_reserve",
    "SizeOfHeapCommit": "size_of_heap_commit", "LoaderFlags": "loader_flags", "NumberOfRvaAndSizes": "number_of_rva_and_sizes",
}


def objdump(path):
    done = run(["objdump", "-p", "-h", "-t", "-r", "-w", path])
    if done.returncode != 0:
        return None, ""
    text = done.stdout.decode("utf-8", "surrogateescape")
    facts = defaultdict(Counter)
    library = None
    section = None
    for line in text.split("\n"):
        if found := re.match(r"^(\w+)\t+([0-9a-f]{8,16})$", line):
            if found.group(1) in OBJDUMP:
                facts["headers"][(OBJDUMP[found.group(1)], int(found.group(2), 16))] += 1
        elif found := re.match(r"^Entry ([0-9a-f]) ([0-9a-f]+) ([0-9a-f]+) ", line):
            facts["directories"][tuple(int(one, 16) for one in found.groups())] += 1
        elif found := re.match(r"^\tDLL Name: (.*)$", line):
            library = found.group(1)
        elif found := re.match(r"^\t([0-9a-f]+)\t *([0-9a-f]+)  (.*)$", line):
            if library is not None:
                function = found.group(3)
                if bound := re.match(r"(.*)\t[0-9a-f]{8}$", function):
                    function = bound.group(1)
                # Hints are decimal there, ordinals hexadecimal.
                by_ordinal = function == "<none>"
                facts["imports"][(library, "" if by_ordinal else function, int(found.group(2), 16 if by_ordinal else 10))] += 1
        elif found := re.match(r"^\t\[ *(\d+)\] \+base\[ *(\d+)\] ([0-9a-f]+) (Export|Forwarder) RVA(?: -- (.*))?$", line):
            if int(found.group(3), 16):
                facts["export-addresses"][(int(found.group(2)), found.group(4) == "Forwarder", found.group(5) or int(found.group(3), 16))] += 1
        elif found := re.match(r"^\t\[ *(\d+)\] (?:\+base\[ *\d+\] *)?(?:[0-9a-f]{4} )?(.*)$", line):
            if "base[" not in line:
                facts["export-names"][(int(found.group(1)), found.group(2))] += 1
        elif found := re.match(r"^\treloc +\d+ offset +([0-9a-f]+) \[([0-9a-f]+)\] (\w+)", line):
            facts["base-relocations"][(found.group(3), int(found.group(2), 16))] += 1
        elif found := re.match(r"^ *(\d+) (\S+) +([0-9a-f]+)  ([0-9a-f]+)  ([0-9a-f]+)  ([0-9a-f]+)  2\*\*(\d+)  (.*)$", line):
            facts["sections"][(int(found.group(1)) + 1, found.group(2), int(found.group(4), 16), int(found.group(6), 16))] += 1
        elif found := re.match(r"^\[ *(\d+)\]\(sec *(-?\d+)\)\(fl 0x00\)\(ty *([0-9a-f]+)\)\(scl *(\d+)\) \(nx (\d+)\) 0x([0-9a-f]+) (.*)$", line):
            index, number, kind, scl, more, value, label = found.groups()
            facts["symbols"][(int(index), int(number), int(kind, 16), int(scl), int(more), int(value, 16) & 0xFFFFFFFF, label)] += 1
        elif found := re.match(r"^RELOCATION RECORDS FOR \[(.*)\]:$", line):
            section = found.group(1)
        elif section is not None and (found := re.match(r"^([0-9a-f]{8,16}) (\S+) +(\S.*)$", line)):
            facts["relocations"][(section, int(found.group(1), 16))] += 1
    return facts, done.stderr.decode("utf-8", "replace")


def ours_for_objdump(ours):
    result, own = ours.result, ours.own
    facts = defaultdict(Counter)
    header = own.get("optional_header")
    if not header:
        facts["is-object"][1] += 1
    if header:
        for one in OBJDUMP.values():
            value = header[one]
            value = unhex(value) if isinstance(value, str) else value
            facts["headers"][(one, value)] += 1
        for row in own["data_directories"]:
            facts["directories"][(row["index"], unhex(row["address"]), unhex(row["size"]))] += 1
    hints = [hint for row in own.get("imports", []) for hint in row["hints"]]
    rows = [row for row in ours.facts["imports"]["items"] if row["source"] == "import-table"]
    for row, hint in zip(rows, hints, strict=True):
        facts["imports"][(row["library"], row["name"] or "", row["ordinal"] if hint is None else hint)] += 1
    seen = set()
    for row in ours.facts["exports"]["items"]:
        if row["source"] != "export-directory":
            continue
        if row["ordinal"] not in seen:
            seen.add(row["ordinal"])
            if row["forwarder"] or row["address"]:
                facts["export-addresses"][(row["ordinal"], bool(row["forwarder"]), row["forwarder"] or unhex(row["address"]) - ours.base)] += 1
        if row["name"] is not None:
            facts["export-names"][(row["ordinal"] - own["export_directory"]["ordinal_base"], row["name"])] += 1
    for block in own.get("base_relocations", []):
        page = unhex(block["page_address"])
        for group in block["entries"]:
            kind = group["type"]
            kind = str(kind) if isinstance(kind, int) else kind.removeprefix("IMAGE_REL_BASED_")
            for offset in group["offsets"]:
                facts["base-relocations"][(kind, page + offset)] += 1
    for row in result["sections"]:
        facts["section-count"][1] += 1
        facts["sections"][(row["index"], row["name"]["display"], unhex(row["address"]), unhex(row["offset"]))] += 1
    size = 20 if "anonymous_object_header" in own else 18
    auxiliary = {row["symbol_index"]: unhex(row["location"]["bytes"]) // size for row in own.get("symbol_auxiliary", [])}
    specials = {"IMAGE_SYM_UNDEFINED": 0, "IMAGE_SYM_ABSOLUTE": -1, "IMAGE_SYM_DEBUG": -2}
    types = {"IMAGE_SYM_DTYPE_POINTER": 0x10, "IMAGE_SYM_DTYPE_FUNCTION": 0x20, "IMAGE_SYM_DTYPE_ARRAY": 0x30}
    types |= {f"IMAGE_SYM_TYPE_{one}": at for at, one in enumerate("NULL VOID CHAR SHORT INT LONG FLOAT DOUBLE STRUCT UNION ENUM MOE BYTE WORD UINT DWORD".split())}
    classes = {"NULL": 0, "EXTERNAL": 2, "STATIC": 3, "LABEL": 6, "FUNCTION": 101, "FILE": 103, "SECTION": 104, "WEAK_EXTERNAL": 105}
    files = {row["symbol_index"]: row["name"] for row in own.get("symbol_auxiliary", []) if row["kind"] == "file"}
    for row in result["symbols"]:
        binding = row["binding"]
        scl = binding if isinstance(binding, int) else classes.get(binding.removeprefix("IMAGE_SYM_CLASS_"), binding)
        section, kind, index = row["section_index"], row["type"], row["entry_index"]
        label = files.get(index, row["name"]["display"])
        facts["symbols"][(index, specials.get(section, section), types.get(kind, kind), scl, auxiliary.get(index, 0), unhex(row["value"]), label)] += 1
    sections = {row["index"]: row["name"]["display"] for row in result["sections"]}
    for row in result["relocations"]:
        facts["relocations"][(sections[row["section_index"]], unhex(row["reported_offset"]))] += 1
    return facts


# --------------------------------------------------------------------------------------------------
# pefile


def pefile_facts(path):
    import pefile

    try:
        pe = pefile.PE(str(path))
    except pefile.PEFormatError:
        return None
    facts = defaultdict(Counter)
    facts["imphash"][pe.get_imphash() or None] += 1
    facts["overlay"][pe.get_overlay_data_start_offset()] += 1
    if os.path.getsize(path) < 3_000_000:
        facts["checksum"][pe.generate_checksum()] += 1
    rich = pe.parse_rich_header()
    if rich:
        facts["rich"][(rich["checksum"], tuple(rich["values"]))] += 1
    for info in getattr(pe, "VS_FIXEDFILEINFO", []):
        facts["version"][("fixed", tuple((word >> shift & 0xFFFF) for word in (info.FileVersionMS, info.FileVersionLS, info.ProductVersionMS, info.ProductVersionLS) for shift in (16, 0)))] += 1
    for info in getattr(pe, "FileInfo", []):
        for entry in info:
            for table in getattr(entry, "StringTable", []):
                for key, value in table.entries.items():
                    facts["version"][(table.LangID.decode().lower(), key.decode("utf-8", "replace"), value.decode("utf-8", "replace"))] += 1
    root = getattr(pe, "DIRECTORY_ENTRY_RESOURCE", None)
    if root and os.path.getsize(path) < 30_000_000:
        facts["resource-data"].update(pefile_leaves(pe, root))
    for one in getattr(pe, "DIRECTORY_ENTRY_BOUND_IMPORT", []):
        facts["bound"][(one.name.decode("latin-1"), one.struct.TimeDateStamp)] += 1
    return facts


def pefile_leaves(pe, directory, path=()):
    """Path and digest of the data of each leaf of pefile's tree."""
    for entry in directory.entries:
        here = (*path, str(entry.name.string, "utf-8") if entry.name else entry.id)
        if hasattr(entry, "directory"):
            yield from pefile_leaves(pe, entry.directory, here)
        else:
            data = pe.get_data(entry.data.struct.OffsetToData, entry.data.struct.Size)
            yield (here, hashlib.sha256(data).hexdigest())


def ours_for_pefile(ours, path):
    own = ours.own
    facts = defaultdict(Counter)
    if os.path.getsize(path) < 30_000_000:
        for row in own.get("resources", []):
            if row["sha256"]:
                facts["resource-data"][(tuple(row["path"]), row["sha256"])] += 1
    facts["imphash"][own.get("imphash")] += 1
    overlay = ours.facts["overlay"]
    facts["overlay"][unhex(overlay["offset"]) if overlay else None] += 1
    if os.path.getsize(path) < 3_000_000:
        facts["checksum"][unhex(own["checksum"]["computed"])] += 1
    ends = [unhex(row["pointer_to_raw_data"]) + unhex(row["size_of_raw_data"]) for row in own["sections"]]
    facts["end-of-sections"][max(ends, default=0)] += 1
    rich = own.get("rich_header")
    if rich:
        facts["rich"][(unhex(rich["checksum"]), tuple(word for row in rich["records"] for word in (row["product_id"] << 16 | row["build"], row["count"])))] += 1
    for info in own.get("version_info", []):
        if info["fixed"]:
            words = [int(one) for key in ("file_version", "product_version") for one in info["fixed"][key].split(".")]
            facts["version"][("fixed", tuple(words))] += 1
        for table in info["string_tables"]:
            last = {row["name"]: row["value"] for row in table["strings"]}
            for key, value in last.items():
                facts["version"][(table["key"].lower(), key, value)] += 1
    for row in own.get("bound_imports", []):
        if not row["forwarder"]:
            facts["bound"][(row["name"], unhex(row["time_date_stamp"]))] += 1
    return facts


# --------------------------------------------------------------------------------------------------
# LIEF

# Members of load configurations that LIEF has by another name than we have.
LIEF_LOAD_CONFIG = {
    "timedatestamp": "time_date_stamp", "decommit_free_block_threshold": "de_commit_free_block_threshold",
    "decommit_total_free_threshold": "de_commit_total_free_threshold", "editlist": "edit_list",
    "dynamic_value_reloctable_offset": "dynamic_value_reloc_table_offset",
    "dynamic_value_reloctable_section": "dynamic_value_reloc_table_section", "hotpatch_table_offset": "hot_patch_table_offset",
    "enclave_configuration_ptr": "enclave_configuration_pointer",
    "guard_rf_verify_stackpointer_function_pointer": "guard_rf_verify_stack_pointer_function_pointer",
}
LIEF_SAME = ["size", "major_version", "minor_version", "global_flags_clear", "global_flags_set", "critical_section_default_timeout",
             "lock_prefix_table", "maximum_allocation_size", "virtual_memory_threshold", "process_affinity_mask", "process_heap_flags",
             "csd_version", "dependent_load_flags", "security_cookie", "se_handler_table", "se_handler_count",
             "guard_cf_check_function_pointer", "guard_cf_dispatch_function_pointer", "guard_cf_function_table", "guard_cf_function_count",
             "guard_address_taken_iat_entry_table", "guard_address_taken_iat_entry_count", "guard_long_jump_target_table",
             "guard_long_jump_target_count", "dynamic_value_reloc_table", "chpe_metadata_pointer", "guard_rf_failure_routine",
             "guard_rf_failure_routine_function_pointer", "volatile_metadata_pointer", "guard_eh_continuation_table",
             "guard_eh_continuation_count", "guard_xfg_check_function_pointer", "guard_xfg_dispatch_function_pointer",
             "guard_xfg_table_dispatch_function_pointer", "cast_guard_os_determined_failure_mode", "guard_memcpy_function_pointer",
             "uma_function_pointers"]


def lief_facts(path):
    import lief

    lief.logging.disable()
    config = lief.PE.ParserConfig()
    config.parse_exceptions = True
    pe = lief.PE.parse(str(path), config)
    if pe is None:
        return None
    facts = defaultdict(Counter)
    facts["checksum"][pe.compute_checksum()] += 1
    if pe.has_tls:
        facts["tls-callbacks"].update(pe.tls.callbacks)
    if pe.has_rich_header:
        facts["rich"].update((one.id, one.build_id, one.count) for one in pe.rich_header.entries)
    for one in pe.debug:
        if isinstance(one, lief.PE.Pogo):
            facts["pogo"].update((row.start_rva, row.size, row.name) for row in one.entries)
        elif isinstance(one, lief.PE.Repro):
            facts["repro"][bytes(one.hash).hex()] += 1
        elif isinstance(one, lief.PE.ExDllCharacteristics):
            facts["extended"][int(one.ex_characteristics)] += 1
        elif isinstance(one, lief.PE.CodeViewPDB):
            facts["pdb"][(one.guid.upper(), one.age, one.filename)] += 1
        elif isinstance(one, lief.PE.VCFeature):
            facts["vc-feature"][(one.pre_vcpp, one.c_cpp, one.gs, one.sdl, one.guards)] += 1
    if pe.has_configuration:
        table = pe.load_configuration
        for theirs, ours in (LIEF_LOAD_CONFIG | {one: one for one in LIEF_SAME}).items():
            value = getattr(table, theirs)
            if value is not None:
                facts["load-config"][(ours, value)] += 1
        for theirs, ours in (("guard_cf_functions", "guard_cf_functions"), ("guard_eh_continuation_functions", "guard_eh_continuations"),
                             ("guard_long_jump_targets", "guard_long_jump_targets"), ("guard_address_taken_iat_entries", "guard_address_taken_iat_entries")):
            facts["guard-tables"].update((ours, row.rva, row.extra) for row in getattr(table, theirs))
        facts["guard-tables"].update(("se_handlers", row, 0) for row in table.seh_functions)
        chpe = table.chpe_metadata
        if chpe is not None and hasattr(chpe, "code_ranges"):
            facts["chpe"].update((row.start, row.length, str(row.type).split(".")[-1].lower()) for row in chpe.code_ranges)
    for one in pe.exceptions:
        kind = type(one).__name__
        module = type(one).__module__
        if module.endswith("unwind_aarch64"):
            if kind == "PackedFunction":
                facts["functions"][(one.rva_start, one.flag.value if hasattr(one.flag, "value") else int(one.flag), one.length, one.frame_size, one.reg_I, one.reg_F, one.H, one.CR)] += 1
            else:
                facts["functions"][(one.rva_start, one.xdata_rva, one.length)] += 1
        elif module.endswith("unwind_x64") or kind == "RuntimeFunctionX64":
            facts["functions"][(one.rva_start, one.rva_end, one.unwind_rva)] += 1
    if pe.has_resources:
        facts["resource-data"].update(leaves(pe.resources))
        left_out = lief_leaves_out(path.read_bytes(), pe.rva_to_offset(pe.data_directory(lief.PE.DataDirectory.TYPES.RESOURCE_TABLE).rva))
        facts["left-out"].update(left_out)
    if pe.has_configuration:
        for one in pe.load_configuration.dynamic_relocations:
            dynamic(one, facts)
    for library in pe.delay_imports:
        facts["delay-imports"].update((library.name, "" if row.is_ordinal else row.name, row.ordinal if row.is_ordinal else row.hint) for row in library.entries)
    return facts


def lief_leaves_out(data, root):
    """Offsets in the file of the data entries that LIEF takes for visited, see lief-visited."""
    visited, lost = set(), []

    def rows(at):
        for row in range(sum(struct.unpack_from("<2H", data, at + 12))):
            yield struct.unpack_from("<I", data, at + 16 + 8 * row + 4)[0]

    def drop(place):
        if place >> 31:
            for below in rows(root + (place & 0x7FFFFFFF)):
                drop(below)
        else:
            lost.append(root + place)

    def directory(at):
        visited.add(at)
        stopped = False
        for place in rows(at):
            below = root + (place & 0x7FFFFFFF)
            if stopped or place >> 31 and below in visited:
                drop(place)
            elif place >> 31:
                directory(below)
            elif place in visited:
                stopped = True
                drop(place)
            else:
                visited.add(place)

    directory(root)
    return lost


def leaves(node, path=()):
    """Path and digest of the data of each leaf of LIEF's tree."""
    for child in node.childs:
        here = (*path, child.name if child.has_name else child.id)
        if child.is_data:
            yield (here, hashlib.sha256(bytes(child.content)).hexdigest())
        else:
            yield from leaves(child, here)


def dynamic(one, facts):
    """A dynamic relocation as LIEF tells it."""
    import lief

    symbol = int(one.symbol)
    padding = lambda row: int(row.type) == 0 and row.address % 0x1000 == 0
    facts["dynamic-relocations"][(one.version, symbol)] += 1
    fixups = one.fixups
    if isinstance(fixups, lief.PE.DynamicFixupARM64X):
        for row in fixups.relocations:
            kind = row.type.name.lower()
            value = None
            if kind == "zerofill" and row.size == 1 and row.rva % 0x1000 == 0:
                facts["explained"]["fixup-padding"] += 1
                continue
            if kind == "delta":
                value = row.value
            elif kind == "value":
                value = int.from_bytes(bytes(row.raw_bytes), "little")
            facts["arm64x"][(row.rva, kind, 4 if kind == "delta" else row.size, value)] += 1
    elif isinstance(fixups, lief.PE.DynamicFixupControlTransfer):
        for row in fixups.relocations:
            index = None if row.iat_index in (fixups.NO_IAT_INDEX, 0xFFFF, 0x7FFFF) else row.iat_index
            facts["control-transfer"][(row.rva, bool(row.is_call), index)] += 1
    elif isinstance(fixups, lief.PE.DynamicFixupARM64Kernel):
        for row in fixups.relocations:
            index = None if row.iat_index in (fixups.NO_IAT_INDEX, 0x7FFF) else row.iat_index
            facts["arm64-kernel"][(row.rva, bool(row.indirect_call), row.register_index, row.import_type.name.lower(), index)] += 1
    elif isinstance(fixups, lief.PE.FunctionOverride):
        for row in fixups.func_overriding_info:
            facts["overrides"][(row.original_rva, row.bdd_offset, tuple(row.functions_rva), tuple(sorted((one.address, int(one.type)) for one in entries(row.relocations) if not padding(one))))] += 1
        for row in fixups.bdd_info:
            facts["decisions"][(row.version, tuple((one.left, one.right, one.value) for one in row.relocations))] += 1
    elif isinstance(fixups, lief.PE.DynamicFixupGeneric):
        rows = list(entries(fixups.relocations))
        kept = [row for row in rows if symbol not in (4, 5) or not padding(row)]
        facts["explained"]["fixup-padding"] += len(rows) - len(kept)
        facts["dynamic-base"].update((symbol, row.address) for row in kept)


def entries(blocks):
    for block in blocks:
        yield from getattr(block, "entries", [block])


OVERRIDES = ["INVALID", "X64_REL32", "ARM64_BRANCH26", "ARM64_THUNK"]


def ours_dynamic(own, facts):
    version = ((own.get("load_config") or {}).get("dynamic_value_relocations") or {}).get("version")
    if version == 2:
        facts["explained"]["second-version"] += len(own["dynamic_relocations"])
        return
    for one in own.get("dynamic_relocations", []):
        text = one["symbol"]
        symbol = DYNAMIC.index(text.removeprefix("IMAGE_DYNAMIC_RELOCATION_")) + 1 if text.startswith("IMAGE") else unhex(text)
        facts["dynamic-relocations"][(version, symbol)] += 1
        for block in one.get("blocks", []):
            page = unhex(block["page_address"])
            for row in block["fixups"]:
                address = page + row["offset"]
                if symbol == 6:
                    kind = {"zero-fill": "zerofill"}.get(row["kind"], row["kind"])
                    value = unhex(row["value"]) if kind == "value" else row["value"]
                    facts["arm64x"][(address, kind, row["size"], value)] += 1
                elif symbol == 3:
                    facts["control-transfer"][(address, row["indirect_call"], row["iat_index"])] += 1
                elif symbol == 8:
                    facts["arm64-kernel"][(address, row["indirect_call"], row["register"], row["import"], row["iat_index"])] += 1
                else:
                    facts["dynamic-base"][(symbol, address)] += 1
        for row in one.get("functions", []):
            calls = sorted((unhex(block["page_address"]) + fixup["offset"], OVERRIDES.index(fixup["kind"].removeprefix("IMAGE_FUNCTION_OVERRIDE_"))) for block in row["blocks"] for fixup in block["fixups"])
            facts["overrides"][(unhex(row["original_function"]), unhex(row["decision_offset"]), tuple(map(unhex, row["functions"])), tuple(calls))] += 1
        for row in one.get("decisions", []):
            facts["decisions"][(row["version"], tuple((node["left"], node["right"], node["value"]) for node in row["nodes"]))] += 1


DYNAMIC = "GUARD_RF_PROLOGUE GUARD_RF_EPILOGUE GUARD_IMPORT_CONTROL_TRANSFER GUARD_INDIR_CONTROL_TRANSFER GUARD_SWITCHTABLE_BRANCH ARM64X FUNCTION_OVERRIDE ARM64_KERNEL_IMPORT_CALL_TRANSFER".split()


def ours_for_lief(ours):
    own = ours.own
    facts = defaultdict(Counter)
    ours_dynamic(own, facts)
    for row in own.get("resources", []):
        if row["sha256"]:
            facts["resource-data"][(tuple(row["path"]), row["sha256"])] += 1
            facts["resource-entries"][(unhex(row["entry_location"]["offset"]), tuple(row["path"]), row["sha256"])] += 1
    facts["checksum"][unhex(own["checksum"]["computed"])] += 1
    facts["tls-callbacks"].update(unhex(row["address"]) for row in ours.facts["entry_points"] if row["kind"] == "tls-callback")
    for row in own.get("rich_header", {}).get("records", []):
        facts["rich"][(row["product_id"], row["build"], row["count"])] += 1
    for row in own.get("debug_directory", []):
        content = row["content"] or {}
        kind = str(row["type"]).removeprefix("IMAGE_DEBUG_TYPE_")
        if kind == "POGO":
            facts["pogo"].update((unhex(one["address"]), unhex(one["size"]), one["name"]) for one in content["regions"])
        elif kind == "REPRO":
            facts["repro"][content.get("hash") or ""] += 1
        elif kind == "EX_DLLCHARACTERISTICS":
            facts["extended"][unhex(content["extended_dll_characteristics"]["value"])] += 1
        elif content.get("signature") == "RSDS":
            facts["pdb"][(content["guid"], content["age"], content["path"])] += 1
        elif kind == "VC_FEATURE":
            facts["vc-feature"][tuple(content[one] for one in ("pre_vc_11", "c_and_cpp", "gs", "sdl", "guard_n"))] += 1
    table = own.get("load_config", {})
    for one in [*LIEF_LOAD_CONFIG.values(), *LIEF_SAME]:
        if one in table:
            facts["load-config"][(one, unhex(table[one]))] += 1
    for label, rows in own.get("guard_tables", {}).items():
        facts["guard-tables"].update((label, unhex(row["address"]), row.get("flags", 0)) for row in rows["entries"])
    chpe = table.get("chpe_metadata") or {}
    for row in chpe.get("code_ranges", []):
        facts["chpe"][(unhex(row["address"]), unhex(row["size"]), row["code"])] += 1
    machine = ours.result["architecture"]["machine"]
    for row in own.get("functions", []):
        if machine == "IMAGE_FILE_MACHINE_ARM64":
            if row["flag"]:
                # LIEF 1.0 keeps eight bits of the size; nine bits times sixteen stand there ("ARM64
                # exception handling", Packed unwind data; _cffi_backend.cp311-win_arm64.pyd, 0xbee0).
                facts["explained"]["lief-frame-size"] += row["frame_size"] >= 256
                facts["functions"][(unhex(row["begin_address"]), row["flag"], row["function_length"], row["frame_size"] % 256, row["reg_i"], row["reg_f"], row["h"], row["cr"])] += 1
            else:
                facts["functions"][(unhex(row["begin_address"]), unhex(row["unwind_address"]), row["function_length"])] += 1
        elif machine == "IMAGE_FILE_MACHINE_AMD64":
            facts["functions"][tuple(unhex(row[key]) for key in ("begin_address", "end_address", "unwind_address"))] += 1
    for row in own.get("extra_functions", []):
        if machine == "IMAGE_FILE_MACHINE_ARM64":
            facts["functions"][tuple(unhex(row[key]) for key in ("begin_address", "end_address", "unwind_address"))] += 1
    hints = [hint for row in own.get("delay_imports", []) for hint in row["hints"]]
    rows = [row for row in ours.facts["imports"]["items"] if row["source"] == "delay-import-table"]
    for row, hint in zip(rows, hints, strict=True):
        facts["delay-imports"][(row["library"], row["name"] or "", row["ordinal"] if hint is None else hint)] += 1
    return facts


# --------------------------------------------------------------------------------------------------


def normalise(peer, kind, theirs, ours, tally):
    """Takes away what is explained, and counts it."""
    tally["explained"].update(theirs.pop("explained", Counter()) + ours.pop("explained", Counter()))
    if peer == "llvm-readobj":
        forwarders = {row[:2]: row for row in ours["exports"] if row[3]}
        for row in list(theirs["exports"]):
            if row[:2] in forwarders and not row[3]:
                tally["explained"]["forwarder-address"] += theirs["exports"].pop(row)
                theirs["exports"][forwarders[row[:2]]] += 1
        for row in list((theirs["auxiliary"] - ours["auxiliary"])):
            if row[0] == "file" and row[1].startswith("\0\0\0\0"):
                spare = next((one for one in ours["auxiliary"] - theirs["auxiliary"] if one[0] == "file"), None)
                if spare:
                    ours["auxiliary"][spare] -= 1
                    theirs["auxiliary"][row] -= 1
                    tally["explained"]["file-name-offset"] += 1
        for row in ours.pop("static-functions", Counter()).elements():
            ours["auxiliary"][row] += 1
            tally["explained"]["static-function"] += 1
        if ours.pop("is-object", None):
            for kind in ("unwind", "unwind-arm"):
                tally["explained"]["object-unwind"] += sum(theirs.pop(kind, Counter()).values())
        stride = [row for row in ours["guard-tables"] if row[0] == "guard_address_taken_iat_entries"]
        if ours.pop("has-stride", None) and len(stride) > 1:
            for side in (ours, theirs):
                for row in [row for row in side["guard-tables"] if row[0] == "guard_address_taken_iat_entries"]:
                    del side["guard-tables"][row]
            tally["explained"]["import-address-stride"] += len(stride)
    if peer == "objdump":
        # Class 104 (IMAGE_SYM_CLASS_SECTION): rows of those symbols, and the sections invented for them.
        rewritten = {row[0] for row in ours["symbols"] if row[3] == 104}
        if rewritten:
            for side in (ours, theirs):
                for row in list(side["symbols"]):
                    if row[0] in rewritten:
                        del side["symbols"][row]
            for row in list((theirs["sections"] - ours["sections"])):
                if row[0] > ours["section-count"].total():
                    del theirs["sections"][row]
            tally["explained"]["section-symbol"] += len(rewritten)
        ours.pop("section-count", None)
    if peer == "objdump" and ours.pop("is-object", None):
        tally["explained"]["no-optional-header"] += bool(theirs.pop("headers", None))
        theirs.pop("directories", None)
    if peer == "lief":
        left_out = theirs.pop("left-out", Counter())
        for offset, *row in list(ours.pop("resource-entries", Counter())):
            if offset in left_out:
                ours["resource-data"][tuple(row)] -= 1
                tally["explained"]["lief-visited"] += 1
    if peer == "pefile":
        (end,) = ours.pop("end-of-sections")
        if theirs["overlay"] != ours["overlay"] and list(theirs["overlay"]) == [end]:
            theirs["overlay"] = Counter(ours["overlay"])
            tally["explained"]["named-overlay"] += 1
    # One name a row of the address table: the peer's rows are a part of ours.
    if peer == "llvm-readobj":
        spare = ours["exports"] - theirs["exports"]
        addresses = {(row[0], row[2], row[3]) for row in theirs["exports"]}
        for row, count in list(spare.items()):
            if (row[0], row[2], row[3]) in addresses:
                ours["exports"][row] -= count
                tally["explained"]["shared-export"] += count
        # LLVM 14 does not know the newest names of load configurations and flags; it prints fewer.
        known = {row[0] for row in theirs["load-config"]}
        for row in list(ours["load-config"]):
            if row[0] not in known:
                del ours["load-config"][row]


def size(value):
    return sum(map(size, value)) if isinstance(value, tuple) else 1


def differences(theirs, ours):
    found = []
    for key in sorted(theirs.keys() | ours.keys()):
        left, right = +ours[key], +theirs[key]
        for row in list((left - right).items())[:4]:
            found.append((key, f"{key}: only we have {row[0]!r:.300}"))
        for row in list((right - left).items())[:4]:
            found.append((key, f"{key}: only the peer has {row[0]!r:.300}"))
    return found


def lie(value, rng):
    """Another value of the same kind."""
    if isinstance(value, tuple) and value:
        at = rng.randrange(len(value))
        return value[:at] + (lie(value[at], rng),) + value[at + 1 :]
    if isinstance(value, int):
        return value + rng.choice([1, 2, 256])
    return "a lie" if value != "a lie" else "another lie"


def compare(label, peer, theirs, ours, tally, rng, plant):
    normalise(peer, label, theirs, ours, tally)
    for key in theirs:
        count = sum(size(row) * times for row, times in (+theirs[key]).items())
        tally["fields"][(peer, key)] += count
    found = differences(theirs, ours)
    tally["failures"] += len(found)
    for _, line in found[:12]:
        print(f"{label}: {peer} {line}")
    full = [key for key in sorted(theirs) if +theirs[key]]
    if plant and full and not found:
        key = rng.choice(full)
        row = sorted(+theirs[key], key=repr)[rng.randrange(len(+theirs[key]))]
        theirs[key][row] -= 1
        theirs[key][lie(row, rng)] += 1
        tally["planted"] += 1
        if not any(where == key for where, _ in differences(theirs, ours)):
            print(f"{label}: a lie in {key} went unnoticed")
            tally["failures"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rea", default=find_rea(), help="the program (default: target/release/rea, else rea)")
    parser.add_argument("--plant", action="store_true", help="falsify the peers' side and demand that it shows")
    parser.add_argument("--sample", type=int, metavar="N", help="N files of the smaller packages")
    parser.add_argument("--peers", default="llvm-readobj,objdump,pefile,lief", help="which to ask, if they are installed")
    parser.add_argument("targets", nargs="*", type=Path, metavar="PATH")
    arguments = parser.parse_args()
    peers = []
    for peer in arguments.peers.split(","):
        is_module = peer in ("pefile", "lief")
        if importlib.util.find_spec(peer) if is_module else shutil.which(peer):
            peers.append(peer)
    rng = random.Random(1)
    targets = arguments.targets
    if not targets:
        targets = [Path(__file__).resolve().parent.parent / "tests" / "data" / "pe"]
        targets += [fetch(package) for package in (SAMPLE_PACKAGES if arguments.sample else PACKAGES)]
        corpus = Path(os.environ.get("REA_CORPUS") or Path.home() / ".cache" / "rea-corpus")
        if not arguments.sample and corpus.is_dir():
            targets.append(corpus)
    tally = {"failures": 0, "planted": 0, "fields": Counter(), "explained": Counter(), "files": 0, "unread": Counter()}
    each = arguments.sample and -(-arguments.sample // len(targets))
    with tempfile.TemporaryDirectory() as scratch:
        for target in targets:
            for number, (label, path) in enumerate(walk(target, scratch)):
                if each and number >= each:
                    break
                one(arguments, peers, label, path, tally, rng)
    for (peer, key), count in sorted(tally["fields"].items()):
        print(f"{peer:14} {key:20} {count:12,} fields")
    for kind, count in sorted(tally["explained"].items()):
        print(f"explained: {count} of {kind}: {EXPLAINED[kind]}")
    for kind, count in sorted(tally["unread"].items()):
        print(f"not read by {kind}: {count}")
    total = sum(tally["fields"].values())
    if arguments.plant:
        print(f"{tally['planted']} lies planted")
    print(f"{tally['files']} files, {total:,} fields compared, {tally['failures']} differences or failures; peers: {', '.join(peers)}")
    return 0 if total and not tally["failures"] else 1


def one(arguments, peers, label, path, tally, rng):
    try:
        ours = Ours(arguments.rea, path)
    except RuntimeError as error:
        if b"PE\0\0" in Path(path).read_bytes()[:4096] or path.suffix == ".obj":
            print(f"{label}: {error}")
            tally["failures"] += 1
        else:
            tally["unread"]["us (no PE header)"] += 1
        return
    tally["files"] += 1
    for peer in peers:
        if peer == "llvm-readobj":
            theirs, errors = readobj(path)
            if not theirs or "error:" in errors:
                tally["unread"][f"{peer}: {re.sub('.*: ', '', errors.strip())[:80]}"] += 1
                continue
            compare(label, peer, theirs, ours_for_readobj(ours), tally, rng, arguments.plant)
        elif peer == "objdump" and ours.result["format"] == "coff-import":
            tally["unread"]["objdump (it makes up an object from an import object)"] += 1
        elif peer == "objdump":
            theirs, _ = objdump(path)
            if theirs is None:
                tally["unread"]["objdump (not of its targets)"] += 1
                continue
            compare(label, peer, theirs, ours_for_objdump(ours), tally, rng, arguments.plant)
        elif ours.result["format"] == "pe":
            theirs = pefile_facts(path) if peer == "pefile" else lief_facts(path)
            if theirs is None:
                tally["unread"][peer] += 1
                continue
            mine = ours_for_pefile(ours, path) if peer == "pefile" else ours_for_lief(ours)
            compare(label, peer, theirs, mine, tally, rng, arguments.plant)


if __name__ == "__main__":
    sys.exit(main())
