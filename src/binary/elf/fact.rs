//! Small values of `facts.elf` and the rows made of them.

use crate::binary::name_text;
use crate::json::{WriteJson, Writer};

/// Text of the file, nothing lost (decision 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text<'a>(pub &'a [u8]);

impl WriteJson for Text<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(&name_text(self.0));
    }
}

/// Bytes in lower-case hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HexBytes<'a>(pub &'a [u8]);

impl HexBytes<'_> {
    /// The digits.
    pub(super) fn text(self) -> String {
        let mut text = String::with_capacity(self.0.len() * 2);
        for &byte in self.0 {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
            }
        }
        text
    }
}

impl WriteJson for HexBytes<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(&self.text());
    }
}

/// Rows that write themselves: a member a field, named like it or by the
/// `as` beside it, fields in canonical order (debug builds check).
macro_rules! rows {
    ($($(#[$doc:meta])* struct $name:ident $(<$life:lifetime>)? {
        $($(#[$field_doc:meta])* $field:ident $(as $key:literal)?: $type:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(super) struct $name $(<$life>)? {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $(<$life>)? crate::json::WriteJson for $name $(<$life>)? {
            fn write_json(&self, w: &mut crate::json::Writer<'_>) {
                w.begin_object();
                $(
                    w.key(rows!(@key $field $($key)?));
                    crate::json::WriteJson::write_json(&self.$field, w);
                )*
                w.end_object();
            }
        }
    )*};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}
pub(super) use rows;
