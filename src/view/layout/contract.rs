//! The members of a layout (binaries section 2.1), as far as views rest on
//! them, and as producers of other formats than REA's may fill them: what has
//! no meaning in a format is null.

use super::super::schema::Shape::{
    Any, Count, Flag, Hex, List, Maybe, Null, Object, Symbolic, Text, Word,
};
use super::super::schema::{Shape, field, optional};

static RANGE: Shape = Object(&[field("bytes", Hex), field("offset", Hex)]);

const NAME: Shape = Object(&[
    field("bytes_base64", Maybe(&Text)),
    field("display", Text),
    field("location", Maybe(&RANGE)),
    field("unknown_reason", Maybe(&Text)),
]);

static BACKING: Shape = Word(&["file", "none"]);

static SECTION: Shape = Object(&[
    field("address", Hex),
    field("alignment", Hex),
    field("entry_size", Hex),
    field("file_backing", Maybe(&BACKING)),
    field("flags", Hex),
    field("header_location", Maybe(&RANGE)),
    field("index", Count),
    field("info", Count),
    field("link", Count),
    field("name", NAME),
    field("name_offset", Maybe(&Hex)),
    field("offset", Hex),
    field("size", Hex),
    field("type", Maybe(&Symbolic)),
]);

static SEGMENT: Shape = Object(&[
    field("alignment", Hex),
    field("file_backing", Maybe(&BACKING)),
    field("file_size", Hex),
    field("flags", Hex),
    field("header_location", Maybe(&RANGE)),
    field("index", Count),
    field("memory_size", Hex),
    field("offset", Hex),
    field("permissions", Maybe(&PERMISSIONS)),
    field("physical_address", Maybe(&Hex)),
    field("type", Maybe(&Symbolic)),
    field("virtual_address", Hex),
]);

static PERMISSIONS: Shape = Object(&[
    field("execute", Flag),
    field("read", Flag),
    field("write", Flag),
]);

static SYMBOL: Shape = Object(&[
    field("binding", Maybe(&Symbolic)),
    field("entry_index", Count),
    field("location", Maybe(&RANGE)),
    field("name", NAME),
    field("name_offset", Maybe(&Hex)),
    field("section_index", Maybe(&Symbolic)),
    field("size", Hex),
    field("table_index", Count),
    field("type", Maybe(&Symbolic)),
    field("value", Hex),
    field("value_meaning", Text),
    field("visibility", Maybe(&Symbolic)),
]);

static RELOCATION: Shape = Object(&[
    field("addend", Maybe(&Text)),
    field("entry_index", Count),
    field("location", Maybe(&RANGE)),
    field("reported_offset", Hex),
    field("section_index", Count),
    field("symbol_index", Count),
    field("symbol_reference_meaning", Text),
    field("symbol_table_index", Maybe(&Count)),
    field("target", Object(&[field("kind", Text)])),
    field("type", Count),
]);

static PACKED: Shape = Object(&[
    field("encoded_bytes_base64", Text),
    field("entries", List(&Any)),
    field("location", Maybe(&RANGE)),
    field("section_index", Count),
]);

static NAMED_ADDRESS: Shape = Object(&[field("address", Hex), field("display_name", Text)]);

/// `normalized_result`. `facts` is ours; records of others go without.
pub(super) static LAYOUT: Shape = Object(&[
    field(
        "architecture",
        Object(&[
            field("bits", Count),
            field("byte_order", Text),
            field("machine", Symbolic),
        ]),
    ),
    field(
        "artifact",
        Object(&[
            field("bytes", Count),
            field("path", Text),
            field("sha256", Text),
        ]),
    ),
    field("diagnostics", Object(&[])),
    field(
        "entry_point",
        Object(&[
            field("execution_status", Text),
            field("meaning", Text),
            field("reported_value", Hex),
        ]),
    ),
    optional(
        "facts",
        Object(&[
            optional("exports", Object(&[field("items", List(&NAMED))])),
            optional("imports", Object(&[field("items", List(&NAMED))])),
        ]),
    ),
    field("format", Text),
    field("image_type", Maybe(&Symbolic)),
    field("limitations", List(&Text)),
    field(
        "linkage",
        Object(&[
            field("convenience_maps_completeness", Text),
            field("got", List(&NAMED_ADDRESS)),
            field("interpreters", List(&NAME)),
            field("needed_libraries", List(&NAME)),
            field("plt", List(&NAMED_ADDRESS)),
            field("runtime_library_paths", Any),
        ]),
    ),
    field(
        "mitigations",
        Object(&[
            field("evidence_kind", Text),
            field("executable_stack_indicator", Maybe(&Flag)),
            field("nx_indicator", Maybe(&Flag)),
            field("position_independent", Maybe(&Flag)),
            field("relro", Maybe(&Word(&["Full", "Partial"]))),
            field("stack_canary_indicator", Maybe(&Flag)),
        ]),
    ),
    field("packed_relative_relocations", List(&PACKED)),
    field("relocation_inventory_completeness", Text),
    field("relocations", List(&RELOCATION)),
    field("runtime_load_base", Maybe(&Null)),
    field("sections", List(&SECTION)),
    field("segments", List(&SEGMENT)),
    field("symbols", List(&SYMBOL)),
]);

static NAMED: Shape = Object(&[field("name", Maybe(&Text))]);
