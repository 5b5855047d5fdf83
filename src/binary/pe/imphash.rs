//! The hash over imports that others publish as `imphash`
//! ("Tracking Malware with Import Hashing", Mandiant 2014), exactly as pefile
//! computes it.

use md5::{Digest as _, Md5};

use super::fields::digits;
use super::imports::{IMPORT, Imports};
use super::ordinals;

impl Imports<'_> {
    /// `imphash`: MD5 over `library.name` of the import table in its order, in
    /// lower case, joined by commas; exactly as pefile computes it. `None`
    /// where nothing is imported.
    pub(super) fn hash(&self) -> Option<String> {
        let mut hash = Md5::new();
        let mut first = true;
        let mut any = false;
        for library in self.libraries.iter().filter(|one| one.source == IMPORT) {
            any = true;
            let full = match library.name {
                Some((name, _)) if name.iter().all(|&byte| is_file_character(byte)) => {
                    cut_name(name).to_ascii_lowercase()
                }
                _ => b"*invalid*".to_vec(),
            };
            let stem = [&b".ocx"[..], b".sys", b".dll"]
                .iter()
                .find_map(|suffix| full.strip_suffix(*suffix))
                .unwrap_or(&full);
            let imports = self.imports.get(library.imports.0..library.imports.1);
            for import in imports.unwrap_or_default() {
                let by_ordinal;
                let function = match (&import.name, import.ordinal) {
                    (Some(name), _) if name.iter().all(|&byte| is_name_character(byte)) => {
                        cut_name(name)
                    }
                    (None, Some(ordinal)) if ordinal != 0 => match ordinals::name(&full, ordinal) {
                        Some(name) => name.as_bytes(),
                        None => {
                            by_ordinal = format!("ord{ordinal}");
                            by_ordinal.as_bytes()
                        }
                    },
                    _ => continue,
                };
                if function.is_empty() {
                    continue;
                }
                if !first {
                    hash.update(b",");
                }
                first = false;
                hash.update(stem);
                hash.update(b".");
                hash.update(function.to_ascii_lowercase());
            }
        }
        any.then(|| digits(&hash.finalize()))
    }
}

/// pefile reads no more of a name.
fn cut_name(name: &[u8]) -> &[u8] {
    name.get(..512).unwrap_or(name)
}

fn is_name_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._?@$()<>".contains(&byte)
}

fn is_file_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'()-@^_`{}~+,.;=[]:\\/".contains(&byte)
}
