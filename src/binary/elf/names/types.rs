//! Types of files, sections and segments, and the ABIs of systems: gABI ch. 4
//! and 5, the GNU, LLVM, Android and Solaris additions, and the processor
//! supplements.

/// Values of `e_type`.
pub(in super::super) const FILES: &[(u64, &str)] = &[
    (0x0, "ET_NONE"),
    (0x1, "ET_REL"),
    (0x2, "ET_EXEC"),
    (0x3, "ET_DYN"),
    (0x4, "ET_CORE"),
];

/// Values of `EI_OSABI` for every machine.
pub(in super::super) const SYSTEMS: &[(u64, &str)] = &[
    (0x0, "ELFOSABI_NONE"),
    (0x1, "ELFOSABI_HPUX"),
    (0x2, "ELFOSABI_NETBSD"),
    (0x3, "ELFOSABI_GNU"),
    (0x4, "ELFOSABI_HURD"),
    (0x6, "ELFOSABI_SOLARIS"),
    (0x7, "ELFOSABI_AIX"),
    (0x8, "ELFOSABI_IRIX"),
    (0x9, "ELFOSABI_FREEBSD"),
    (0xa, "ELFOSABI_TRU64"),
    (0xb, "ELFOSABI_MODESTO"),
    (0xc, "ELFOSABI_OPENBSD"),
    (0xd, "ELFOSABI_OPENVMS"),
    (0xe, "ELFOSABI_NSK"),
    (0xf, "ELFOSABI_AROS"),
    (0x10, "ELFOSABI_FENIXOS"),
    (0x11, "ELFOSABI_CLOUD"),
    (0x12, "ELFOSABI_OPENVOS"),
    (0x33, "ELFOSABI_CUDA"),
    (0x35, "ELFOSABI_SORTIX"),
    (0xff, "ELFOSABI_STANDALONE"),
];

/// Section types of every machine.
pub(in super::super) const SECTIONS: &[(u64, &str)] = &[
    (0x0, "SHT_NULL"),
    (0x1, "SHT_PROGBITS"),
    (0x2, "SHT_SYMTAB"),
    (0x3, "SHT_STRTAB"),
    (0x4, "SHT_RELA"),
    (0x5, "SHT_HASH"),
    (0x6, "SHT_DYNAMIC"),
    (0x7, "SHT_NOTE"),
    (0x8, "SHT_NOBITS"),
    (0x9, "SHT_REL"),
    (0xa, "SHT_SHLIB"),
    (0xb, "SHT_DYNSYM"),
    (0xe, "SHT_INIT_ARRAY"),
    (0xf, "SHT_FINI_ARRAY"),
    (0x10, "SHT_PREINIT_ARRAY"),
    (0x11, "SHT_GROUP"),
    (0x12, "SHT_SYMTAB_SHNDX"),
    (0x13, "SHT_RELR"),
    (0x14, "SHT_CREL"),
    (0x40000014, "SHT_CREL"),
    (0x60000001, "SHT_ANDROID_REL"),
    (0x60000002, "SHT_ANDROID_RELA"),
    (0x6fff4c00, "SHT_LLVM_ODRTAB"),
    (0x6fff4c01, "SHT_LLVM_LINKER_OPTIONS"),
    (0x6fff4c03, "SHT_LLVM_ADDRSIG"),
    (0x6fff4c04, "SHT_LLVM_DEPENDENT_LIBRARIES"),
    (0x6fff4c05, "SHT_LLVM_SYMPART"),
    (0x6fff4c06, "SHT_LLVM_PART_EHDR"),
    (0x6fff4c07, "SHT_LLVM_PART_PHDR"),
    (0x6fff4c08, "SHT_LLVM_BB_ADDR_MAP_V0"),
    (0x6fff4c09, "SHT_LLVM_CALL_GRAPH_PROFILE"),
    (0x6fff4c0a, "SHT_LLVM_BB_ADDR_MAP"),
    (0x6fff4c0b, "SHT_LLVM_OFFLOADING"),
    (0x6fff4c0c, "SHT_LLVM_LTO"),
    (0x6fffff00, "SHT_ANDROID_RELR"),
    (0x6ffffff3, "SHT_SUNW_LDYNSYM"),
    (0x6ffffff5, "SHT_GNU_ATTRIBUTES"),
    (0x6ffffff6, "SHT_GNU_HASH"),
    (0x6ffffff7, "SHT_GNU_LIBLIST"),
    (0x6ffffff8, "SHT_CHECKSUM"),
    (0x6ffffffa, "SHT_SUNW_move"),
    (0x6ffffffb, "SHT_SUNW_COMDAT"),
    (0x6ffffffc, "SHT_SUNW_syminfo"),
    (0x6ffffffd, "SHT_GNU_verdef"),
    (0x6ffffffe, "SHT_GNU_verneed"),
    (0x6fffffff, "SHT_GNU_versym"),
];

/// MIPS.
pub(in super::super) const SECTIONS_MIPS: &[(u64, &str)] = &[
    (0x70000000, "SHT_MIPS_LIBLIST"),
    (0x70000001, "SHT_MIPS_MSYM"),
    (0x70000002, "SHT_MIPS_CONFLICT"),
    (0x70000003, "SHT_MIPS_GPTAB"),
    (0x70000004, "SHT_MIPS_UCODE"),
    (0x70000005, "SHT_MIPS_DEBUG"),
    (0x70000006, "SHT_MIPS_REGINFO"),
    (0x70000007, "SHT_MIPS_PACKAGE"),
    (0x70000008, "SHT_MIPS_PACKSYM"),
    (0x70000009, "SHT_MIPS_RELD"),
    (0x7000000b, "SHT_MIPS_IFACE"),
    (0x7000000c, "SHT_MIPS_CONTENT"),
    (0x7000000d, "SHT_MIPS_OPTIONS"),
    (0x70000010, "SHT_MIPS_SHDR"),
    (0x70000011, "SHT_MIPS_FDESC"),
    (0x70000012, "SHT_MIPS_EXTSYM"),
    (0x70000013, "SHT_MIPS_DENSE"),
    (0x70000014, "SHT_MIPS_PDESC"),
    (0x70000015, "SHT_MIPS_LOCSYM"),
    (0x70000016, "SHT_MIPS_AUXSYM"),
    (0x70000017, "SHT_MIPS_OPTSYM"),
    (0x70000018, "SHT_MIPS_LOCSTR"),
    (0x70000019, "SHT_MIPS_LINE"),
    (0x7000001a, "SHT_MIPS_RFDESC"),
    (0x7000001b, "SHT_MIPS_DELTASYM"),
    (0x7000001c, "SHT_MIPS_DELTAINST"),
    (0x7000001d, "SHT_MIPS_DELTACLASS"),
    (0x7000001e, "SHT_MIPS_DWARF"),
    (0x7000001f, "SHT_MIPS_DELTADECL"),
    (0x70000020, "SHT_MIPS_SYMBOL_LIB"),
    (0x70000021, "SHT_MIPS_EVENTS"),
    (0x70000022, "SHT_MIPS_TRANSLATE"),
    (0x70000023, "SHT_MIPS_PIXIE"),
    (0x70000024, "SHT_MIPS_XLATE"),
    (0x70000025, "SHT_MIPS_XLATE_DEBUG"),
    (0x70000026, "SHT_MIPS_WHIRL"),
    (0x70000027, "SHT_MIPS_EH_REGION"),
    (0x70000028, "SHT_MIPS_XLATE_OLD"),
    (0x70000029, "SHT_MIPS_PDR_EXCEPTION"),
    (0x7000002a, "SHT_MIPS_ABIFLAGS"),
    (0x7000002b, "SHT_MIPS_XHASH"),
];

/// ARM.
pub(in super::super) const SECTIONS_ARM: &[(u64, &str)] = &[
    (0x70000001, "SHT_ARM_EXIDX"),
    (0x70000002, "SHT_ARM_PREEMPTMAP"),
    (0x70000003, "SHT_ARM_ATTRIBUTES"),
    (0x70000004, "SHT_ARM_DEBUGOVERLAY"),
    (0x70000005, "SHT_ARM_OVERLAYSECTION"),
];

/// AArch64.
pub(in super::super) const SECTIONS_AARCH64: &[(u64, &str)] = &[
    (0x70000003, "SHT_AARCH64_ATTRIBUTES"),
    (0x70000004, "SHT_AARCH64_AUTH_RELR"),
    (0x70000007, "SHT_AARCH64_MEMTAG_GLOBALS_STATIC"),
    (0x70000008, "SHT_AARCH64_MEMTAG_GLOBALS_DYNAMIC"),
];

/// x86-64.
pub(in super::super) const SECTIONS_X86_64: &[(u64, &str)] = &[(0x70000001, "SHT_AMD64_UNWIND")];

/// RISC-V.
pub(in super::super) const SECTIONS_RISCV: &[(u64, &str)] = &[(0x70000003, "SHT_RISCV_ATTRIBUTES")];

/// IA-64.
pub(in super::super) const SECTIONS_IA64: &[(u64, &str)] = &[
    (0x60000000, "SHT_IA_64_HP_OPT_ANOT"),
    (0x70000000, "SHT_IA_64_EXT"),
    (0x70000001, "SHT_IA_64_UNWIND"),
    (0x78000000, "SHT_IA_64_LOPSREG"),
    (0x79000000, "SHT_IA_64_PRIORITY_INIT"),
];

/// PA-RISC.
pub(in super::super) const SECTIONS_PARISC: &[(u64, &str)] = &[
    (0x70000000, "SHT_PARISC_EXT"),
    (0x70000001, "SHT_PARISC_UNWIND"),
    (0x70000002, "SHT_PARISC_DOC"),
    (0x70000003, "SHT_PARISC_ANNOT"),
];

/// Alpha.
pub(in super::super) const SECTIONS_ALPHA: &[(u64, &str)] = &[
    (0x70000001, "SHT_ALPHA_DEBUG"),
    (0x70000002, "SHT_ALPHA_REGINFO"),
];

/// Hexagon.
pub(in super::super) const SECTIONS_HEXAGON: &[(u64, &str)] = &[
    (0x70000000, "SHT_HEX_ORDERED"),
    (0x70000003, "SHT_HEXAGON_ATTRIBUTES"),
];

/// MSP430.
pub(in super::super) const SECTIONS_MSP430: &[(u64, &str)] = &[
    (0x70000003, "SHT_MSP430_ATTRIBUTES"),
    (0x7f000005, "SHT_MSP430_SEC_FLAGS"),
];

/// C-SKY.
pub(in super::super) const SECTIONS_CSKY: &[(u64, &str)] = &[(0x70000001, "SHT_CSKY_ATTRIBUTES")];

/// ARC.
pub(in super::super) const SECTIONS_ARC: &[(u64, &str)] = &[(0x70000001, "SHT_ARC_ATTRIBUTES")];

/// Segment types of every machine.
pub(in super::super) const SEGMENTS: &[(u64, &str)] = &[
    (0x0, "PT_NULL"),
    (0x1, "PT_LOAD"),
    (0x2, "PT_DYNAMIC"),
    (0x3, "PT_INTERP"),
    (0x4, "PT_NOTE"),
    (0x5, "PT_SHLIB"),
    (0x6, "PT_PHDR"),
    (0x7, "PT_TLS"),
    (0x6464e550, "PT_SUNW_UNWIND"),
    (0x6474e550, "PT_GNU_EH_FRAME"),
    (0x6474e551, "PT_GNU_STACK"),
    (0x6474e552, "PT_GNU_RELRO"),
    (0x6474e553, "PT_GNU_PROPERTY"),
    (0x6474e554, "PT_GNU_SFRAME"),
    (0x6474e555, "PT_GNU_MBIND_LO"),
    (0x65041580, "PT_PAX_FLAGS"),
    (0x65a3dbe5, "PT_OPENBSD_MUTABLE"),
    (0x65a3dbe6, "PT_OPENBSD_RANDOMIZE"),
    (0x65a3dbe7, "PT_OPENBSD_WXNEEDED"),
    (0x65a3dbe8, "PT_OPENBSD_NOBTCFI"),
    (0x65a3dbe9, "PT_OPENBSD_SYSCALLS"),
    (0x65a41be6, "PT_OPENBSD_BOOTDATA"),
    (0x6ffffffa, "PT_SUNWBSS"),
    (0x6ffffffb, "PT_SUNWSTACK"),
];

/// ARM.
pub(in super::super) const SEGMENTS_ARM: &[(u64, &str)] =
    &[(0x70000000, "PT_ARM_ARCHEXT"), (0x70000001, "PT_ARM_EXIDX")];

/// AArch64.
pub(in super::super) const SEGMENTS_AARCH64: &[(u64, &str)] = &[
    (0x70000000, "PT_AARCH64_ARCHEXT"),
    (0x70000001, "PT_AARCH64_UNWIND"),
    (0x70000002, "PT_AARCH64_MEMTAG_MTE"),
];

/// MIPS.
pub(in super::super) const SEGMENTS_MIPS: &[(u64, &str)] = &[
    (0x70000000, "PT_MIPS_REGINFO"),
    (0x70000001, "PT_MIPS_RTPROC"),
    (0x70000002, "PT_MIPS_OPTIONS"),
    (0x70000003, "PT_MIPS_ABIFLAGS"),
];

/// RISC-V.
pub(in super::super) const SEGMENTS_RISCV: &[(u64, &str)] = &[(0x70000003, "PT_RISCV_ATTRIBUTES")];

/// IA-64.
pub(in super::super) const SEGMENTS_IA64: &[(u64, &str)] = &[
    (0x70000000, "PT_IA_64_ARCHEXT"),
    (0x70000001, "PT_IA_64_UNWIND"),
];

/// PA-RISC.
pub(in super::super) const SEGMENTS_PARISC: &[(u64, &str)] = &[
    (0x70000000, "PT_PARISC_ARCHEXT"),
    (0x70000001, "PT_PARISC_UNWIND"),
];

/// S/390.
pub(in super::super) const SEGMENTS_S390: &[(u64, &str)] = &[(0x70000000, "PT_S390_PGSTE")];
