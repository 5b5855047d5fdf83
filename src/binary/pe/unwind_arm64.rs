//! Unwind codes of ARM64 (learn.microsoft.com: "ARM64 exception handling",
//! section "Unwind codes"). Names are those of that table, in lower case and
//! with underscores.

use std::fmt::Write as _;

/// Writes the code that starts `data`: its name and operands; sizes and
/// offsets in bytes. How many bytes it has, and whether it ends a sequence.
pub(super) fn code(data: &[u8], out: &mut String) -> (usize, bool) {
    let byte = |at: usize| u32::from(data.get(at).copied().unwrap_or(0));
    let (first, second) = (byte(0), byte(1));
    // A register number across both bytes, an offset in units of eight bytes.
    let pair = |bits: u32| ((first & bits) << 2 | second >> 6, (second & 63) * 8);
    // Writing to a string cannot fail.
    let length = match first {
        0x00..=0x1F => put(out, 1, format_args!("alloc_s {:#x}", (first & 31) * 16)),
        0x20..=0x3F => put(
            out,
            1,
            format_args!("save_r19r20_x {:#x}", (first & 31) * 8),
        ),
        0x40..=0x7F => put(out, 1, format_args!("save_fplr {:#x}", (first & 63) * 8)),
        0x80..=0xBF => put(
            out,
            1,
            format_args!("save_fplr_x {:#x}", (first & 63) * 8 + 8),
        ),
        0xC0..=0xC7 => {
            let size = ((first & 7) << 8 | second) * 16;
            put(out, 2, format_args!("alloc_m {size:#x}"))
        }
        0xC8..=0xCB => {
            let (register, offset) = pair(3);
            let register = register + 19;
            put(out, 2, format_args!("save_regp x{register} {offset:#x}"))
        }
        0xCC..=0xCF => {
            let (register, offset) = pair(3);
            let (register, offset) = (register + 19, offset + 8);
            put(out, 2, format_args!("save_regp_x x{register} {offset:#x}"))
        }
        0xD0..=0xD3 => {
            let (register, offset) = pair(3);
            let register = register + 19;
            put(out, 2, format_args!("save_reg x{register} {offset:#x}"))
        }
        0xD4 | 0xD5 => {
            let register = ((first & 1) << 3 | second >> 5) + 19;
            let offset = (second & 31) * 8 + 8;
            put(out, 2, format_args!("save_reg_x x{register} {offset:#x}"))
        }
        0xD6 | 0xD7 => {
            let (register, offset) = pair(1);
            let register = register * 2 + 19;
            put(out, 2, format_args!("save_lrpair x{register} {offset:#x}"))
        }
        0xD8 | 0xD9 => {
            let (register, offset) = pair(1);
            let register = register + 8;
            put(out, 2, format_args!("save_fregp d{register} {offset:#x}"))
        }
        0xDA | 0xDB => {
            let (register, offset) = pair(1);
            let (register, offset) = (register + 8, offset + 8);
            put(out, 2, format_args!("save_fregp_x d{register} {offset:#x}"))
        }
        0xDC | 0xDD => {
            let (register, offset) = pair(1);
            let register = register + 8;
            put(out, 2, format_args!("save_freg d{register} {offset:#x}"))
        }
        0xDE => {
            let (register, offset) = ((second >> 5) + 8, (second & 31) * 8 + 8);
            put(out, 2, format_args!("save_freg_x d{register} {offset:#x}"))
        }
        // In lengths of a vector.
        0xDF => put(out, 2, format_args!("alloc_z {second}")),
        0xE0 => {
            let size = (second << 16 | byte(2) << 8 | byte(3)) * 16;
            put(out, 4, format_args!("alloc_l {size:#x}"))
        }
        0xE1 => put(out, 1, format_args!("set_fp")),
        0xE2 => put(out, 2, format_args!("add_fp {:#x}", second * 8)),
        0xE3 => put(out, 1, format_args!("nop")),
        0xE4 => put(out, 1, format_args!("end")),
        0xE5 => put(out, 1, format_args!("end_c")),
        0xE6 => put(out, 1, format_args!("save_next")),
        0xE7 => {
            any_register(second, byte(2), out);
            3
        }
        0xE8 => put(out, 1, format_args!("trap_frame")),
        0xE9 => put(out, 1, format_args!("machine_frame")),
        0xEA => put(out, 1, format_args!("context")),
        0xEB => put(out, 1, format_args!("ec_context")),
        0xEC => put(out, 1, format_args!("clear_unwound_to_call")),
        0xFC => put(out, 1, format_args!("pac_sign_lr")),
        // Reserved ones whose length is given.
        0xF8..=0xFB => put(out, first as usize - 0xF6, format_args!("reserved")),
        _ => put(out, 1, format_args!("reserved")),
    };
    (length, first == 0xE4)
}

fn put(out: &mut String, length: usize, text: std::fmt::Arguments<'_>) -> usize {
    let _ = out.write_fmt(text); // writing to a string cannot fail
    length
}

/// `save_any_reg`, and the registers of SVE that share its number.
fn any_register(second: u32, third: u32, out: &mut String) {
    let kind = third >> 6;
    if second & 0x80 != 0 {
        out.push_str("reserved");
        return;
    }
    if kind == 3 {
        let offset = (second & 0x60) << 1 | third & 63;
        let (name, register, letter) = match second & 0x10 {
            0 => ("save_zreg", (second & 15) + 8, 'z'),
            _ => ("save_preg", second & 15, 'p'),
        };
        put(out, 3, format_args!("{name} {letter}{register} {offset}"));
        return;
    }
    let (paired, moves) = (second & 0x40 != 0, second & 0x20 != 0);
    let unit = if paired || moves || kind == 2 { 16 } else { 8 };
    let offset = ((third & 63) + u32::from(moves)) * unit;
    let letter = ['x', 'd', 'q'].get(kind as usize).copied().unwrap_or('?');
    let name = match (paired, moves) {
        (false, false) => "save_any_reg",
        (false, true) => "save_any_reg_x",
        (true, false) => "save_any_regp",
        (true, true) => "save_any_regp_x",
    };
    let register = second & 31;
    put(
        out,
        3,
        format_args!("{name} {letter}{register} {offset:#x}"),
    );
}
