//! Shared budgets: several tables of a crafted file may point at the same
//! bytes, so that what is made of them is bounded altogether.

/// So much is left.
#[derive(Clone, Copy, Debug)]
pub struct Budget(u64);

impl Budget {
    /// Bytes of names that are told more than once: names of slots and stubs,
    /// of bind sites, of exports.
    pub const NAMES: u64 = 64 << 20;

    /// A budget.
    pub fn new(amount: u64) -> Self {
        Self(amount)
    }

    /// Takes an amount; false, and nothing taken, where less is left.
    pub fn take(&mut self, amount: u64) -> bool {
        match self.0.checked_sub(amount) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }
}
