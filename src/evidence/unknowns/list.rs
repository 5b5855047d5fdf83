//! The heads of unknowns, filtered and then paged.

use super::model::{Revision, Severity, UnknownStatus, Unknowns};
use crate::json::{Text, WriteJson, Writer};

/// Which heads are wanted; `None` is any.
#[derive(Clone, Debug, Default)]
pub struct UnknownFilter {
    /// How far they have come.
    pub status: Option<UnknownStatus>,
    /// How much depends on them.
    pub severity: Option<Severity>,
    /// The field they belong to, exactly.
    pub domain: Option<Text>,
    /// Heads to pass over, after filtering.
    pub offset: u64,
    /// Heads on the page; `None` is all.
    pub limit: Option<u64>,
}

/// A page of heads, as `list_unknowns` answers.
#[derive(Debug)]
pub struct Listing<'a> {
    /// The heads on the page, by id.
    pub page: Vec<&'a Revision>,
    /// How many match.
    pub total: u64,
    /// Where the next page starts; `None` on the last.
    pub next_offset: Option<u64>,
}

impl Unknowns {
    /// The heads that `filter` lets through.
    pub fn list(&self, filter: &UnknownFilter) -> Listing<'_> {
        let wanted = |head: &&Revision| {
            filter.status.is_none_or(|status| head.status == status)
                && filter
                    .severity
                    .is_none_or(|severity| head.severity == severity)
                && filter
                    .domain
                    .as_ref()
                    .is_none_or(|domain| head.domain == *domain)
        };
        let mut listing = Listing {
            page: Vec::new(),
            total: 0,
            next_offset: None,
        };
        let limit = filter.limit.unwrap_or(u64::MAX);
        let end = filter.offset.saturating_add(limit);
        for head in self.heads().filter(wanted) {
            if (filter.offset..end).contains(&listing.total) {
                listing.page.push(head);
            }
            listing.total += 1;
        }
        listing.next_offset = (end < listing.total).then_some(end);
        listing
    }
}

impl WriteJson for Listing<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("items");
        w.begin_array();
        for head in &self.page {
            w.begin_object();
            w.member("unknown", head);
            w.member("uri", format!("rea://unknown/{}", head.unknown_id));
            w.end_object();
        }
        w.end_array();
        w.member("next_offset", self.next_offset);
        w.member("total", self.total);
        w.end_object();
    }
}
