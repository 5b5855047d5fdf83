//! The names of relocation types: `relocations.txt`, which cites the
//! specification of each machine.

use super::em;
use crate::binary::layout::rows::Symbolic;

const TEXT: &str = include_str!("relocations.txt");

/// The types of one machine.
pub(in super::super) struct RelocationNames {
    machine: u16,
    wide: bool,
    /// By number.
    names: Vec<(u64, &'static str)>,
}

impl RelocationNames {
    /// Those of `machine`.
    pub(in super::super) fn of(machine: u16, wide: bool) -> Self {
        let mut names = Vec::new();
        let mut ours = false;
        for line in TEXT.lines() {
            if let Some(machines) = line.strip_prefix("= ") {
                ours = machines
                    .split(' ')
                    .any(|number| number.parse() == Ok(machine));
            } else if ours
                && let Some((number, name)) = line.split_once(' ')
                && let Ok(number) = number.parse()
            {
                names.push((number, name));
            }
        }
        names.sort_unstable_by_key(|&(number, _)| number);
        Self {
            machine,
            wide,
            names,
        }
    }

    fn plain(&self, kind: u64) -> Option<&'static str> {
        let at = self
            .names
            .binary_search_by_key(&kind, |&(number, _)| number)
            .ok()?;
        self.names.get(at).map(|&(_, name)| name)
    }

    /// The name of a type.
    pub(in super::super) fn name(&self, kind: u64) -> Symbolic {
        let found = match self.parts(kind) {
            Some([first, 0, 0]) => self.plain(first),
            Some(_) => None,
            None => self.plain(self.low(kind)),
        };
        found.map_or(Symbolic::Number(kind), Symbolic::Named)
    }

    /// SPARC keeps data in the upper bits of the type.
    fn low(&self, kind: u64) -> u64 {
        match self.machine {
            em::SPARC | em::SPARC32PLUS | em::SPARCV9 => kind & 0xFF,
            _ => kind,
        }
    }

    /// 64-bit MIPS applies up to three types, one after the other, and may
    /// name a special symbol in the uppermost byte.
    pub(in super::super) fn parts(&self, kind: u64) -> Option<[u64; 3]> {
        (self.wide && matches!(self.machine, em::MIPS | em::MIPS_RS3_LE)).then_some([
            kind & 0xFF,
            (kind >> 8) & 0xFF,
            (kind >> 16) & 0xFF,
        ])
    }

    /// The name of one of the three, or its number.
    pub(in super::super) fn part(&self, kind: u64) -> Symbolic {
        self.plain(kind)
            .map_or(Symbolic::Number(kind), Symbolic::Named)
    }

    /// Types whose name ends so.
    pub(in super::super) fn ending(&self, ends: &[&str]) -> Vec<u64> {
        let fits = |name: &str| ends.iter().any(|end| name.ends_with(end));
        let found = self.names.iter().filter(|&&(_, name)| fits(name));
        found.map(|&(number, _)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_machine_stands_once() {
        let mut seen = std::collections::BTreeSet::new();
        let mut last: Option<u64> = None;
        for line in TEXT.lines().filter(|line| !line.is_empty()) {
            if line.starts_with('#') {
                continue;
            }
            if let Some(machines) = line.strip_prefix("= ") {
                for machine in machines.split(' ') {
                    assert!(seen.insert(machine.parse::<u16>().ok()), "{machine}");
                }
                last = None;
                continue;
            }
            let number = line.split_once(' ').and_then(|(n, _)| n.parse().ok());
            assert!(number.is_some() && number > last, "{line}");
            last = number;
        }
    }

    /// x86-64 psABI, AAELF64, MIPS n64 ABI.
    #[test]
    fn names() {
        let name = |machine, wide, kind| RelocationNames::of(machine, wide).name(kind);
        let named = Symbolic::Named;
        assert_eq!(name(em::X86_64, true, 8), named("R_X86_64_RELATIVE"));
        assert_eq!(name(em::AARCH64, true, 1026), named("R_AARCH64_JUMP_SLOT"));
        assert_eq!(name(em::MIPS, true, 3), named("R_MIPS_REL32"));
        assert_eq!(name(em::MIPS, true, 0x1203), Symbolic::Number(0x1203));
        assert_eq!(name(em::SPARCV9, true, 0x1_2321), named("R_SPARC_OLO10"));
        assert_eq!(name(em::X86_64, true, 200), Symbolic::Number(200));
    }
}
