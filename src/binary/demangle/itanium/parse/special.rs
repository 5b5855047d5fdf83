//! Special names: virtual tables, thunks, guards (`<special-name>`).

use super::*;

impl<'a> Reader<'a> {
    pub(super) fn special(&mut self) -> Option<Id> {
        let code = [self.look(), self.look_at(1)];
        let of_type = |code: &[u8; 2]| {
            Some(match code {
                b"TV" => "vtable for ",
                b"TT" => "VTT for ",
                b"TI" => "typeinfo for ",
                b"TS" => "typeinfo name for ",
                _ => return None,
            })
        };
        if let Some(text) = of_type(&code) {
            self.at += 2;
            let kind = self.kind()?;
            return Some(self.add(Node::Special(text, kind)));
        }
        match &code {
            b"TC" => {
                self.at += 2;
                let inner = self.kind()?;
                self.number()?;
                self.expect(b"_")?;
                let outer = self.kind()?;
                return Some(self.add(Node::VtableIn(outer, inner)));
            }
            b"TW" | b"TH" | b"GV" => {
                self.at += 2;
                let name = self.name(None)?;
                let text = match &code {
                    b"TW" => "TLS wrapper function for ",
                    b"TH" => "TLS init function for ",
                    _ => "guard variable for ",
                };
                return Some(self.add(Node::Special(text, name)));
            }
            b"TA" => {
                self.at += 2;
                let argument = self.argument()?;
                return Some(self.add(Node::Special("template parameter object for ", argument)));
            }
            b"Th" | b"Tv" => {
                self.at += 1;
                self.offset()?;
                let base = self.encoding(false)?;
                let text = match &code {
                    b"Th" => "non-virtual thunk to ",
                    _ => "virtual thunk to ",
                };
                return Some(self.add(Node::Special(text, base)));
            }
            b"Tc" => {
                self.at += 2;
                self.offset()?;
                self.offset()?;
                let base = self.encoding(false)?;
                return Some(self.add(Node::Special("covariant return thunk to ", base)));
            }
            b"GR" => {
                self.at += 2;
                let name = self.name(None)?;
                let number = self.base36()?;
                return Some(self.add(Node::Temporary(number, name)));
            }
            b"GA" => {
                self.at += 2;
                let base = self.encoding(false)?;
                return Some(self.add(Node::Special("hidden alias for ", base)));
            }
            b"GT" => {
                self.at += 2;
                let text = match self.look() {
                    b'n' => "non-transaction clone for ",
                    _ => "transaction clone for ",
                };
                self.at += 1;
                let base = self.encoding(false)?;
                return Some(self.add(Node::Special(text, base)));
            }
            _ => {}
        }
        None
    }

    /// `_` is 0; else digits and capital letters, one more, and `_`.
    pub(super) fn base36(&mut self) -> Option<u32> {
        let mut value = 0u32;
        let start = self.at;
        loop {
            let digit = match self.look() {
                b'_' => break,
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'A'..=b'Z' => digit - b'A' + 10,
                _ => return None,
            };
            value = value.checked_mul(36)?.checked_add(u32::from(digit))?;
            self.at += 1;
        }
        let empty = self.at == start;
        self.at += 1;
        match empty {
            true => Some(0),
            false => value.checked_add(1),
        }
    }

    pub(super) fn offset(&mut self) -> Option<()> {
        let twice = match self.look() {
            b'h' => false,
            b'v' => true,
            _ => return None,
        };
        self.at += 1;
        for _ in 0..=u8::from(twice) {
            let _ = self.take(b"n");
            self.number()?;
            self.expect(b"_")?;
        }
        Some(())
    }
}
