//! Unwind codes of 32-bit ARM (learn.microsoft.com: "ARM exception handling",
//! section "Unwind codes"). The table gives no names: a code is called after
//! the instruction of the prolog that it stands for, with `.w` where that has
//! 32 bits.

use std::fmt::Write as _;

/// Writes the code that starts `data`: its name and operands; sizes in bytes.
/// How many bytes it has, and whether it ends a sequence.
pub(super) fn code(data: &[u8], out: &mut String) -> (usize, bool) {
    let byte = |at: usize| u32::from(data.get(at).copied().unwrap_or(0));
    let (first, second) = (byte(0), byte(1));
    let length = match first {
        0x00..=0x7F => size(out, "alloc", first, 1),
        0x80..=0xBF => {
            let mask = (first & 31) << 8 | second;
            push(out, "push.w", mask, first & 0x20 != 0);
            2
        }
        0xC0..=0xCF => {
            let _ = write!(out, "set_frame r{}", first & 15); // cannot fail
            1
        }
        0xD0..=0xD7 => {
            push(out, "push", run(4, 4 + (first & 3)), first & 4 != 0);
            1
        }
        0xD8..=0xDF => {
            push(out, "push.w", run(4, 8 + (first & 3)), first & 4 != 0);
            1
        }
        0xE0..=0xE7 => {
            floats(out, 8, 8 + (first & 7));
            1
        }
        0xE8..=0xEB => size(out, "alloc.w", (first & 3) << 8 | second, 2),
        0xEC | 0xED => {
            push(out, "push", second, first & 1 != 0);
            2
        }
        0xEE if second < 16 => {
            let _ = write!(out, "microsoft_specific {second}"); // cannot fail
            2
        }
        0xEF if second < 16 => size(out, "push_lr.w", second, 2),
        0xEE | 0xEF => {
            out.push_str("reserved");
            2
        }
        0xF5 => {
            floats(out, second >> 4, second & 15);
            2
        }
        0xF6 => {
            floats(out, 16 + (second >> 4), 16 + (second & 15));
            2
        }
        0xF7 => size(out, "alloc", second << 8 | byte(2), 3),
        0xF8 => size(out, "alloc", second << 16 | byte(2) << 8 | byte(3), 4),
        0xF9 => size(out, "alloc.w", second << 8 | byte(2), 3),
        0xFA => size(out, "alloc.w", second << 16 | byte(2) << 8 | byte(3), 4),
        0xFB..=0xFF => {
            out.push_str(match first {
                0xFB => "nop",
                0xFC => "nop.w",
                0xFD => "end_nop",
                0xFE => "end_nop.w",
                _ => "end",
            });
            1
        }
        _ => {
            out.push_str("reserved");
            1
        }
    };
    (length, first >= 0xFD)
}

/// A size in words, written in bytes.
fn size(out: &mut String, name: &str, words: u32, length: usize) -> usize {
    let _ = write!(out, "{name} {:#x}", words * 4); // cannot fail
    length
}

/// Bits `first` to `last`.
fn run(first: u32, last: u32) -> u32 {
    (1 << (last + 1)) - (1 << first)
}

/// General registers by bit, and the link register.
fn push(out: &mut String, name: &str, mask: u32, link: bool) {
    out.push_str(name);
    let mut separator = " ";
    let mut at = 0;
    while at < 13 {
        let first = at;
        while at < 13 && mask >> at & 1 != 0 {
            at += 1;
        }
        if at > first {
            out.push_str(separator);
            separator = ",";
            range(out, 'r', first, at - 1);
        }
        at += 1;
    }
    if link {
        out.push_str(separator);
        out.push_str("lr");
    }
}

fn floats(out: &mut String, first: u32, last: u32) {
    out.push_str("vpush ");
    if first <= last {
        range(out, 'd', first, last);
    } else {
        out.push_str("none");
    }
}

fn range(out: &mut String, letter: char, first: u32, last: u32) {
    let _ = match first == last {
        true => write!(out, "{letter}{first}"),
        false => write!(out, "{letter}{first}-{letter}{last}"),
    }; // writing to a string cannot fail
}
