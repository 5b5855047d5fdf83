//! Functions with a checked form (`_FORTIFY_SOURCE`), by the names of glibc
//! and musl's fortify-headers: `NAME` and `__NAME_chk`.

/// Names that have a checked form, sorted.
pub(super) const FORTIFIABLE: &[&str] = &[
    "asprintf",
    "confstr",
    "dprintf",
    "explicit_bzero",
    "fdelt",
    "fgets",
    "fgets_unlocked",
    "fgetws",
    "fgetws_unlocked",
    "fprintf",
    "fread",
    "fread_unlocked",
    "fwprintf",
    "getcwd",
    "getdomainname",
    "getgroups",
    "gethostname",
    "getlogin_r",
    "gets",
    "getwd",
    "longjmp",
    "mbsnrtowcs",
    "mbsrtowcs",
    "mbstowcs",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "obstack_printf",
    "obstack_vprintf",
    "poll",
    "ppoll",
    "pread",
    "pread64",
    "printf",
    "ptsname_r",
    "read",
    "readlink",
    "readlinkat",
    "realpath",
    "recv",
    "recvfrom",
    "snprintf",
    "sprintf",
    "stpcpy",
    "stpncpy",
    "strcat",
    "strcpy",
    "strlcat",
    "strlcpy",
    "strncat",
    "strncpy",
    "swprintf",
    "syslog",
    "ttyname_r",
    "vasprintf",
    "vdprintf",
    "vfprintf",
    "vfwprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
    "vswprintf",
    "vsyslog",
    "vwprintf",
    "wcpcpy",
    "wcpncpy",
    "wcrtomb",
    "wcscat",
    "wcscpy",
    "wcslcat",
    "wcslcpy",
    "wcsncat",
    "wcsncpy",
    "wcsnrtombs",
    "wcsrtombs",
    "wcstombs",
    "wctomb",
    "wmemcpy",
    "wmemmove",
    "wmempcpy",
    "wmemset",
    "wprintf",
];

/// The longest name that counts: `__obstack_vprintf_chk`.
const LONGEST: usize = 21;

/// What of a list of names is checked, and what could be.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fortify {
    pub checked: std::collections::BTreeSet<&'static str>,
    pub unchecked: std::collections::BTreeSet<&'static str>,
}

impl Fortify {
    /// Sorts one name in.
    pub(super) fn add(&mut self, name: &[u8]) {
        if name.len() > LONGEST {
            return;
        }
        let Ok(name) = std::str::from_utf8(name) else {
            return;
        };
        let known = |name: &str| {
            let at = FORTIFIABLE.binary_search(&name).ok()?;
            FORTIFIABLE.get(at).copied()
        };
        let inner = name
            .strip_prefix("__")
            .and_then(|rest| rest.strip_suffix("_chk"));
        if let Some(known) = inner.and_then(known) {
            self.checked.insert(known);
        } else if let Some(known) = known(name) {
            self.unchecked.insert(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_told_apart() {
        assert!(FORTIFIABLE.is_sorted());
        let mut found = Fortify::default();
        for name in [
            "__memcpy_chk",
            "memcpy",
            "strcpy",
            "__stack_chk_fail",
            "__chk",
        ] {
            found.add(name.as_bytes());
        }
        assert_eq!(
            found.checked.iter().copied().collect::<Vec<_>>(),
            ["memcpy"]
        );
        assert_eq!(
            found.unchecked.iter().copied().collect::<Vec<_>>(),
            ["memcpy", "strcpy"]
        );
    }
}
