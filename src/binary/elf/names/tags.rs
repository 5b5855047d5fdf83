//! Tags of the dynamic table: gABI ch. 5, the GNU, Solaris and Android
//! additions, and those of the processor supplements.

/// Tags of every machine.
pub(in super::super) const TAGS: &[(u64, &str)] = &[
    (0x0, "DT_NULL"),
    (0x1, "DT_NEEDED"),
    (0x2, "DT_PLTRELSZ"),
    (0x3, "DT_PLTGOT"),
    (0x4, "DT_HASH"),
    (0x5, "DT_STRTAB"),
    (0x6, "DT_SYMTAB"),
    (0x7, "DT_RELA"),
    (0x8, "DT_RELASZ"),
    (0x9, "DT_RELAENT"),
    (0xa, "DT_STRSZ"),
    (0xb, "DT_SYMENT"),
    (0xc, "DT_INIT"),
    (0xd, "DT_FINI"),
    (0xe, "DT_SONAME"),
    (0xf, "DT_RPATH"),
    (0x10, "DT_SYMBOLIC"),
    (0x11, "DT_REL"),
    (0x12, "DT_RELSZ"),
    (0x13, "DT_RELENT"),
    (0x14, "DT_PLTREL"),
    (0x15, "DT_DEBUG"),
    (0x16, "DT_TEXTREL"),
    (0x17, "DT_JMPREL"),
    (0x18, "DT_BIND_NOW"),
    (0x19, "DT_INIT_ARRAY"),
    (0x1a, "DT_FINI_ARRAY"),
    (0x1b, "DT_INIT_ARRAYSZ"),
    (0x1c, "DT_FINI_ARRAYSZ"),
    (0x1d, "DT_RUNPATH"),
    (0x1e, "DT_FLAGS"),
    (0x20, "DT_PREINIT_ARRAY"),
    (0x21, "DT_PREINIT_ARRAYSZ"),
    (0x22, "DT_SYMTAB_SHNDX"),
    (0x23, "DT_RELRSZ"),
    (0x24, "DT_RELR"),
    (0x25, "DT_RELRENT"),
    (0x26, "DT_CREL"),
    (0x6000000f, "DT_ANDROID_REL"),
    (0x60000010, "DT_ANDROID_RELSZ"),
    (0x60000011, "DT_ANDROID_RELA"),
    (0x60000012, "DT_ANDROID_RELASZ"),
    (0x6fffe000, "DT_ANDROID_RELR"),
    (0x6fffe001, "DT_ANDROID_RELRSZ"),
    (0x6fffe003, "DT_ANDROID_RELRENT"),
    (0x6fffe005, "DT_ANDROID_RELRCOUNT"),
    (0x6ffffdf4, "DT_GNU_FLAGS_1"),
    (0x6ffffdf5, "DT_GNU_PRELINKED"),
    (0x6ffffdf6, "DT_GNU_CONFLICTSZ"),
    (0x6ffffdf7, "DT_GNU_LIBLISTSZ"),
    (0x6ffffdf8, "DT_CHECKSUM"),
    (0x6ffffdf9, "DT_PLTPADSZ"),
    (0x6ffffdfa, "DT_MOVEENT"),
    (0x6ffffdfb, "DT_MOVESZ"),
    (0x6ffffdfc, "DT_FEATURE_1"),
    (0x6ffffdfd, "DT_POSFLAG_1"),
    (0x6ffffdfe, "DT_SYMINSZ"),
    (0x6ffffdff, "DT_SYMINENT"),
    (0x6ffffef5, "DT_GNU_HASH"),
    (0x6ffffef6, "DT_TLSDESC_PLT"),
    (0x6ffffef7, "DT_TLSDESC_GOT"),
    (0x6ffffef8, "DT_GNU_CONFLICT"),
    (0x6ffffef9, "DT_GNU_LIBLIST"),
    (0x6ffffefa, "DT_CONFIG"),
    (0x6ffffefb, "DT_DEPAUDIT"),
    (0x6ffffefc, "DT_AUDIT"),
    (0x6ffffefd, "DT_PLTPAD"),
    (0x6ffffefe, "DT_MOVETAB"),
    (0x6ffffeff, "DT_SYMINFO"),
    (0x6ffffff0, "DT_VERSYM"),
    (0x6ffffff9, "DT_RELACOUNT"),
    (0x6ffffffa, "DT_RELCOUNT"),
    (0x6ffffffb, "DT_FLAGS_1"),
    (0x6ffffffc, "DT_VERDEF"),
    (0x6ffffffd, "DT_VERDEFNUM"),
    (0x6ffffffe, "DT_VERNEED"),
    (0x6fffffff, "DT_VERNEEDNUM"),
    (0x7ffffffd, "DT_AUXILIARY"),
    (0x7ffffffe, "DT_USED"),
    (0x7fffffff, "DT_FILTER"),
];

/// Tags of files for Solaris (Linker and Libraries Guide), where they are not those of Android.
pub(in super::super) const SOLARIS: &[(u64, &str)] = &[
    (0x6000000d, "DT_SUNW_AUXILIARY"),
    (0x6000000e, "DT_SUNW_RTLDINF"),
    (0x6000000f, "DT_SUNW_FILTER"),
    (0x60000010, "DT_SUNW_CAP"),
    (0x60000011, "DT_SUNW_SYMTAB"),
    (0x60000012, "DT_SUNW_SYMSZ"),
    (0x60000013, "DT_SUNW_SORTENT"),
    (0x60000014, "DT_SUNW_SYMSORT"),
    (0x60000015, "DT_SUNW_SYMSORTSZ"),
    (0x60000016, "DT_SUNW_TLSSORT"),
    (0x60000017, "DT_SUNW_TLSSORTSZ"),
    (0x60000018, "DT_SUNW_CAPINFO"),
    (0x60000019, "DT_SUNW_STRPAD"),
    (0x6000001a, "DT_SUNW_CAPCHAIN"),
    (0x6000001b, "DT_SUNW_LDMACH"),
    (0x6000001d, "DT_SUNW_CAPCHAINENT"),
    (0x6000001f, "DT_SUNW_CAPCHAINSZ"),
];

/// MIPS.
pub(in super::super) const MIPS: &[(u64, &str)] = &[
    (0x70000001, "DT_MIPS_RLD_VERSION"),
    (0x70000002, "DT_MIPS_TIME_STAMP"),
    (0x70000003, "DT_MIPS_ICHECKSUM"),
    (0x70000004, "DT_MIPS_IVERSION"),
    (0x70000005, "DT_MIPS_FLAGS"),
    (0x70000006, "DT_MIPS_BASE_ADDRESS"),
    (0x70000007, "DT_MIPS_MSYM"),
    (0x70000008, "DT_MIPS_CONFLICT"),
    (0x70000009, "DT_MIPS_LIBLIST"),
    (0x7000000a, "DT_MIPS_LOCAL_GOTNO"),
    (0x7000000b, "DT_MIPS_CONFLICTNO"),
    (0x70000010, "DT_MIPS_LIBLISTNO"),
    (0x70000011, "DT_MIPS_SYMTABNO"),
    (0x70000012, "DT_MIPS_UNREFEXTNO"),
    (0x70000013, "DT_MIPS_GOTSYM"),
    (0x70000014, "DT_MIPS_HIPAGENO"),
    (0x70000016, "DT_MIPS_RLD_MAP"),
    (0x70000017, "DT_MIPS_DELTA_CLASS"),
    (0x70000018, "DT_MIPS_DELTA_CLASS_NO"),
    (0x70000019, "DT_MIPS_DELTA_INSTANCE"),
    (0x7000001a, "DT_MIPS_DELTA_INSTANCE_NO"),
    (0x7000001b, "DT_MIPS_DELTA_RELOC"),
    (0x7000001c, "DT_MIPS_DELTA_RELOC_NO"),
    (0x7000001d, "DT_MIPS_DELTA_SYM"),
    (0x7000001e, "DT_MIPS_DELTA_SYM_NO"),
    (0x70000020, "DT_MIPS_DELTA_CLASSSYM"),
    (0x70000021, "DT_MIPS_DELTA_CLASSSYM_NO"),
    (0x70000022, "DT_MIPS_CXX_FLAGS"),
    (0x70000023, "DT_MIPS_PIXIE_INIT"),
    (0x70000024, "DT_MIPS_SYMBOL_LIB"),
    (0x70000025, "DT_MIPS_LOCALPAGE_GOTIDX"),
    (0x70000026, "DT_MIPS_LOCAL_GOTIDX"),
    (0x70000027, "DT_MIPS_HIDDEN_GOTIDX"),
    (0x70000028, "DT_MIPS_PROTECTED_GOTIDX"),
    (0x70000029, "DT_MIPS_OPTIONS"),
    (0x7000002a, "DT_MIPS_INTERFACE"),
    (0x7000002b, "DT_MIPS_DYNSTR_ALIGN"),
    (0x7000002c, "DT_MIPS_INTERFACE_SIZE"),
    (0x7000002d, "DT_MIPS_RLD_TEXT_RESOLVE_ADDR"),
    (0x7000002e, "DT_MIPS_PERF_SUFFIX"),
    (0x7000002f, "DT_MIPS_COMPACT_SIZE"),
    (0x70000030, "DT_MIPS_GP_VALUE"),
    (0x70000031, "DT_MIPS_AUX_DYNAMIC"),
    (0x70000032, "DT_MIPS_PLTGOT"),
    (0x70000034, "DT_MIPS_RWPLT"),
    (0x70000035, "DT_MIPS_RLD_MAP_REL"),
    (0x70000036, "DT_MIPS_XHASH"),
];

/// AArch64 (AAELF64).
pub(in super::super) const AARCH64: &[(u64, &str)] = &[
    (0x70000001, "DT_AARCH64_BTI_PLT"),
    (0x70000003, "DT_AARCH64_PAC_PLT"),
    (0x70000005, "DT_AARCH64_VARIANT_PCS"),
    (0x70000009, "DT_AARCH64_MEMTAG_MODE"),
    (0x7000000b, "DT_AARCH64_MEMTAG_HEAP"),
    (0x7000000c, "DT_AARCH64_MEMTAG_STACK"),
    (0x7000000d, "DT_AARCH64_MEMTAG_GLOBALS"),
    (0x7000000f, "DT_AARCH64_MEMTAG_GLOBALSSZ"),
];

/// PowerPC.
pub(in super::super) const PPC: &[(u64, &str)] =
    &[(0x70000000, "DT_PPC_GOT"), (0x70000001, "DT_PPC_OPT")];

/// PowerPC64 (ELFv2).
pub(in super::super) const PPC64: &[(u64, &str)] = &[
    (0x70000000, "DT_PPC64_GLINK"),
    (0x70000001, "DT_PPC64_OPD"),
    (0x70000002, "DT_PPC64_OPDSZ"),
    (0x70000003, "DT_PPC64_OPT"),
];

/// SPARC.
pub(in super::super) const SPARC: &[(u64, &str)] = &[(0x70000001, "DT_SPARC_REGISTER")];

/// Alpha.
pub(in super::super) const ALPHA: &[(u64, &str)] = &[(0x70000000, "DT_ALPHA_PLTRO")];

/// IA-64.
pub(in super::super) const IA64: &[(u64, &str)] = &[(0x70000000, "DT_IA_64_PLT_RESERVE")];

/// RISC-V.
pub(in super::super) const RISCV: &[(u64, &str)] = &[(0x70000001, "DT_RISCV_VARIANT_CC")];

/// x86-64.
pub(in super::super) const X86_64: &[(u64, &str)] = &[
    (0x70000000, "DT_X86_64_PLT"),
    (0x70000001, "DT_X86_64_PLTSZ"),
    (0x70000003, "DT_X86_64_PLTENT"),
];

/// Nios II.
pub(in super::super) const NIOS2: &[(u64, &str)] = &[(0x70000002, "DT_NIOS2_GP")];

/// Bits of `DT_FLAGS`.
pub(in super::super) const FLAGS: &[(u64, &str)] = &[
    (0x1, "DF_ORIGIN"),
    (0x2, "DF_SYMBOLIC"),
    (0x4, "DF_TEXTREL"),
    (0x8, "DF_BIND_NOW"),
    (0x10, "DF_STATIC_TLS"),
];

/// Bits of `DT_FLAGS_1`.
pub(in super::super) const FLAGS_1: &[(u64, &str)] = &[
    (0x1, "DF_1_NOW"),
    (0x2, "DF_1_GLOBAL"),
    (0x4, "DF_1_GROUP"),
    (0x8, "DF_1_NODELETE"),
    (0x10, "DF_1_LOADFLTR"),
    (0x20, "DF_1_INITFIRST"),
    (0x40, "DF_1_NOOPEN"),
    (0x80, "DF_1_ORIGIN"),
    (0x100, "DF_1_DIRECT"),
    (0x200, "DF_1_TRANS"),
    (0x400, "DF_1_INTERPOSE"),
    (0x800, "DF_1_NODEFLIB"),
    (0x1000, "DF_1_NODUMP"),
    (0x2000, "DF_1_CONFALT"),
    (0x4000, "DF_1_ENDFILTEE"),
    (0x8000, "DF_1_DISPRELDNE"),
    (0x10000, "DF_1_DISPRELPND"),
    (0x20000, "DF_1_NODIRECT"),
    (0x40000, "DF_1_IGNMULDEF"),
    (0x80000, "DF_1_NOKSYMS"),
    (0x100000, "DF_1_NOHDR"),
    (0x200000, "DF_1_EDITED"),
    (0x400000, "DF_1_NORELOC"),
    (0x800000, "DF_1_SYMINTPOSE"),
    (0x1000000, "DF_1_GLOBAUDIT"),
    (0x2000000, "DF_1_SINGLETON"),
    (0x4000000, "DF_1_STUB"),
    (0x8000000, "DF_1_PIE"),
    (0x10000000, "DF_1_KMOD"),
    (0x20000000, "DF_1_WEAKFILTER"),
    (0x40000000, "DF_1_NOCOMMON"),
];

/// Bits of `DT_GNU_FLAGS_1`.
pub(in super::super) const GNU_FLAGS_1: &[(u64, &str)] = &[(0x1, "DF_GNU_1_UNIQUE")];
