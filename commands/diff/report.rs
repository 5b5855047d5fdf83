//! The report of a difference: sizes first, then what a person would list.

use std::path::PathBuf;

use rea::artifact::{Amount, Category, Deep, Diff, Dimensions, Line, Listing};
use rea::evidence::Record;
use rea::member_facts::TopicChanges;
use rea::publish::display_path;

use super::Show;
use super::gate::Reason;
use crate::compare_artifacts::{side, status};
use crate::output::Rows;
use crate::paint::Tone;
use crate::quantity::{counted, human_bytes, thousands};
use crate::report::Report;
use crate::table::{Cell, Column, Table};

const SIZES: &[Column] = &[
    Column::text("CATEGORY"),
    Column::number("ENTRIES"),
    Column::number("OLD"),
    Column::number("NEW"),
    Column::number("DELTA"),
];

const STORED_SIZES: &[Column] = &[
    Column::text("CATEGORY"),
    Column::number("ENTRIES"),
    Column::number("OLD"),
    Column::number("NEW"),
    Column::number("DELTA"),
    Column::number("STORED OLD"),
    Column::number("STORED NEW"),
    Column::number("DELTA"),
];

const LARGEST: &[Column] = &[
    Column::number("OLD"),
    Column::number("NEW"),
    Column::number("DELTA"),
    Column::text("PATH"),
];

const ONE_SIDED: &[Column] = &[
    Column::number("SIZE"),
    Column::text("KIND"),
    Column::text("PATH"),
];

const CHANGED: &[Column] = &[
    Column::number("OLD"),
    Column::number("NEW"),
    Column::number("DELTA"),
    Column::text("WHAT"),
    Column::text("PATH"),
];

const MOVED: &[Column] = &[
    Column::number("SIZE"),
    Column::text("WHAT"),
    Column::text("DIFFERS IN"),
    Column::text("FROM"),
    Column::text("TO"),
];

const REASONS: &[Column] = &[
    Column::text("REASON"),
    Column::text("PATH"),
    Column::text("NAMES"),
];

const INSIDE: &[Column] = &[
    Column::text("FORMAT"),
    Column::text("PATH"),
    Column::text("DIFFERS IN"),
];

const UNREAD: &[Column] = &[Column::text("PATH"), Column::text("WHY")];

const FACTS: &[Column] = &[
    Column::text("TOPIC"),
    Column::text(""),
    Column::text("NAME"),
    Column::text("WHAT"),
];

const TOLD: &[Column] = &[Column::text("KIND"), Column::text("PATH")];

pub fn describe(
    diff: &Diff,
    paths: [&PathBuf; 2],
    are_evidence: [bool; 2],
    show: &Show,
    reasons: &[Reason],
    report: &mut Report,
) {
    if let Some(Rows(rows)) = show.limit {
        report.limit_rows(rows);
    }
    let takes = |path: &str| show.path.iter().any(|glob| glob.matches(path));
    let wanted: Option<&dyn Fn(&str) -> bool> = (!show.path.is_empty()).then_some(&takes);
    let listing = diff.listing(wanted);
    if show.name_only {
        let limit = show.limit.map_or(usize::MAX, |rows| rows.0);
        report.lines(names(&listing).into_iter().take(limit));
        return;
    }
    report.title(paths.map(|path| display_path(path)).join(" → "));
    report.table("Reasons to fail", REASONS, |table| {
        for reason in reasons {
            table.row([
                Cell::toned(reason.word, Tone::Bad),
                reason.path.as_str().into(),
                reason.names().into(),
            ]);
        }
    });
    head(diff, are_evidence, &listing, wanted.is_some(), report);
    let stored = diff
        .total()
        .iter()
        .any(|total| total.compressed_entries > 0);
    sizes("Sizes", diff.by_kind(), diff.total(), stored, report);
    if show.stat {
        sizes("By format", diff.by_format(), diff.total(), stored, report);
        report.table("Largest changes", LARGEST, |table| largest(diff, table));
    } else {
        lists(&listing, report);
    }
    if let Some(deep) = diff.deep() {
        inside(deep, wanted, show.stat, report);
    }
    let limitations = diff.limitations().iter();
    report.list("Limitations", limitations.map(String::as_str));
}

/// What differs inside of members: how much of each, and then what.
fn inside(deep: &Deep, wanted: Option<&dyn Fn(&str) -> bool>, stat: bool, report: &mut Report) {
    let takes = |path: &str| wanted.is_none_or(|wanted| wanted(path));
    let members = || deep.members().iter().filter(|one| takes(&one.path));
    report.table("Inside of changed members", INSIDE, |table| {
        for member in members() {
            let topics = member.topics.iter().map(amount);
            let what = topics.collect::<Vec<_>>().join(", ");
            let what = match what.is_empty() {
                true => Cell::toned("nothing that is told differs", Tone::Dim),
                false => what.into(),
            };
            table.row([
                member.format.as_str().into(),
                member.path.as_str().into(),
                what,
            ]);
        }
    });
    report.table("Not compared inside", UNREAD, |table| {
        for one in deep.unread().iter().filter(|one| takes(&one.path)) {
            table.row([one.path.as_str().into(), one.reason.as_str().into()]);
        }
    });
    if stat {
        return;
    }
    for member in members().filter(|member| !member.topics.is_empty()) {
        report.table(member.path.as_str(), FACTS, |table| {
            for changes in &member.topics {
                facts(changes, table);
            }
        });
    }
}

/// `3 exports added, 1 removed`
fn amount(changes: &TopicChanges) -> String {
    let counts = [
        (changes.added.len(), "added"),
        (changes.removed.len(), "removed"),
        (changes.changed.len(), "changed"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{} {what}", thousands(count as u64)))
        .collect();
    format!("{} ({})", changes.topic.as_str(), counts.join(", "))
}

fn facts(changes: &TopicChanges, table: &mut Table) {
    let topic = changes.topic.as_str();
    for (name, detail) in &changes.removed {
        let gone = Cell::toned("-", Tone::Bad);
        table.row([
            topic.into(),
            gone,
            name.as_str().into(),
            detail.as_str().into(),
        ]);
    }
    for (name, detail) in &changes.added {
        let new = Cell::toned("+", Tone::Good);
        table.row([
            topic.into(),
            new,
            name.as_str().into(),
            detail.as_str().into(),
        ]);
    }
    for one in &changes.changed {
        let detail = format!("{} → {}", one.before, one.after);
        let changed = Cell::toned("~", Tone::Warn);
        table.row([
            topic.into(),
            changed,
            one.name.as_str().into(),
            detail.into(),
        ]);
    }
}

/// Every path of a listing once, in order.
fn names<'a>(listing: &Listing<'a>) -> Vec<&'a str> {
    let all = [
        &listing.added,
        &listing.removed,
        &listing.changed,
        &listing.moved,
        &listing.repacked,
        &listing.unknown,
        &listing.contradicted,
    ];
    let lines = all.into_iter().flatten();
    let mut names: Vec<&str> = lines
        .flat_map(|line| std::iter::once(line.path).chain(line.from))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn head(
    diff: &Diff,
    are_evidence: [bool; 2],
    listing: &Listing<'_>,
    filtered: bool,
    report: &mut Report,
) {
    let comparison = diff.comparison();
    let [old, new] = are_evidence.map(|evidence| if evidence { "Evidence of " } else { "" });
    let (text, tone) = status(diff.status());
    report.toned_fact("status", text, tone);
    report.fact("old", format!("{old}{}", side(comparison.left())));
    report.fact("new", format!("{new}{}", side(comparison.right())));
    report.fact("evidence", diff.id().to_string());
    let always = [
        (listing.added.len(), "added"),
        (listing.removed.len(), "removed"),
        (listing.changed.len(), "changed"),
        (listing.moved.len(), "moved"),
    ];
    let seldom = [
        (listing.repacked.len(), "repacked"),
        (listing.unknown.len(), "unknown"),
        (listing.contradicted.len(), "contradicted"),
    ];
    let seldom = seldom.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = always
        .into_iter()
        .chain(seldom)
        .map(|(count, name)| format!("{} {name}", thousands(count as u64)))
        .collect();
    let name = if filtered { "matching" } else { "entries" };
    report.fact(name, counts.join(", "));
    let unchanged = comparison.summary().unchanged;
    report.fact("unchanged", counted(unchanged, "path", "paths"));
}

fn sizes<'a>(
    heading: &str,
    categories: impl Iterator<Item = Category<'a>>,
    [left, right]: [Amount; 2],
    stored: bool,
    report: &mut Report,
) {
    let total = Category {
        name: "total",
        left,
        right,
    };
    let columns = if stored { STORED_SIZES } else { SIZES };
    report.table(heading, columns, |table| {
        for category in categories.chain([total]) {
            if stored {
                table.row(stored_size(&category));
            } else {
                table.row(size(&category));
            }
        }
    });
}

fn size(category: &Category<'_>) -> [Cell; 5] {
    let (old, new) = (&category.left, &category.right);
    let entries = if old.entries == new.entries {
        thousands(new.entries)
    } else {
        format!("{} → {}", thousands(old.entries), thousands(new.entries))
    };
    [
        category.name.into(),
        entries.into(),
        human_bytes(old.bytes).into(),
        human_bytes(new.bytes).into(),
        delta(old.bytes, new.bytes),
    ]
}

fn stored_size(category: &Category<'_>) -> [Cell; 8] {
    let [name, entries, old, new, change] = size(category);
    let bytes = |amount: &Amount| match amount.compressed_entries {
        0 => Cell::from(""),
        _ => human_bytes(amount.compressed_bytes).into(),
    };
    let (left, right) = (&category.left, &category.right);
    let stored = match (left.compressed_entries, right.compressed_entries) {
        (0, 0) => Cell::from(""),
        _ => delta(left.compressed_bytes, right.compressed_bytes),
    };
    [
        name,
        entries,
        old,
        new,
        change,
        bytes(left),
        bytes(right),
        stored,
    ]
}

/// `+1.25 KiB`, `-3 B`, or nothing.
fn delta(old: u64, new: u64) -> Cell {
    let bytes = human_bytes(old.abs_diff(new));
    match old.cmp(&new) {
        std::cmp::Ordering::Less => Cell::toned(format!("+{bytes}"), Tone::Warn),
        std::cmp::Ordering::Greater => Cell::toned(format!("-{bytes}"), Tone::Good),
        std::cmp::Ordering::Equal => Cell::toned("0", Tone::Dim),
    }
}

/// The same where a side may have no size.
fn optional_delta(old: Option<u64>, new: Option<u64>) -> [Cell; 3] {
    let bytes = |size: Option<u64>| Cell::from(size.map(human_bytes).unwrap_or_default());
    let change = match (old, new) {
        (None, None) => Cell::from(""),
        (old, new) => delta(old.unwrap_or(0), new.unwrap_or(0)),
    };
    [bytes(old), bytes(new), change]
}

fn largest(diff: &Diff, table: &mut Table) {
    for (path, old, new) in diff.largest() {
        let [old, new, change] = optional_delta(old, new);
        table.row([old, new, change, path.into()]);
    }
}

fn lists(listing: &Listing<'_>, report: &mut Report) {
    let heading =
        |name: &str, lines: &[Line<'_>]| format!("{name} ({})", thousands(lines.len() as u64));
    report.table(heading("Added", &listing.added), ONE_SIDED, |table| {
        one_sided(&listing.added, table);
    });
    report.table(heading("Removed", &listing.removed), ONE_SIDED, |table| {
        one_sided(&listing.removed, table);
    });
    report.table(heading("Changed", &listing.changed), CHANGED, |table| {
        changed(&listing.changed, table);
    });
    report.table(heading("Moved", &listing.moved), MOVED, |table| {
        moved(&listing.moved, table);
    });
    let repacked = heading("Same entries in other bytes", &listing.repacked);
    report.table(repacked, LARGEST, |table| {
        for line in &listing.repacked {
            let [old, new, change] = optional_delta(line.left_size, line.right_size);
            table.row([old, new, change, line.path.into()]);
        }
    });
    let unknown = heading("Cannot be told", &listing.unknown);
    report.table(unknown, TOLD, |table| told(&listing.unknown, table));
    let contradicted = heading("Not what is declared", &listing.contradicted);
    report.table(contradicted, TOLD, |table| {
        told(&listing.contradicted, table)
    });
}

/// The kind, and how many entries the line stands for.
fn kind(line: &Line<'_>) -> String {
    match line.members {
        0 => line.kind.to_owned(),
        members => format!("{} of {}", line.kind, counted(members, "entry", "entries")),
    }
}

fn one_sided(lines: &[Line<'_>], table: &mut Table) {
    for line in lines {
        let size = line.right_size.or(line.left_size);
        table.row([
            size.map(human_bytes).unwrap_or_default().into(),
            kind(line).into(),
            line.path.into(),
        ]);
    }
}

fn changed(lines: &[Line<'_>], table: &mut Table) {
    for line in lines {
        let [old, new, change] = optional_delta(line.left_size, line.right_size);
        // Both follow from the content and stand in other columns.
        let follows = Dimensions::SIZE.with(Dimensions::RELATIONS);
        let mut what = line.dimensions;
        if what.has(Dimensions::CONTENT) {
            what = what.without(follows);
        }
        let what: Vec<_> = what.names().collect();
        table.row([old, new, change, what.join(" ").into(), line.path.into()]);
    }
}

fn moved(lines: &[Line<'_>], table: &mut Table) {
    for line in lines {
        let members = || counted(line.members, "entry", "entries");
        // Of a container with other content only entries moved, not itself.
        let (size, what) = match line.members {
            0 => (line.right_size, "itself".to_owned()),
            _ if line.dimensions.has(Dimensions::CONTENT) => (None, members()),
            _ => (line.right_size, format!("itself, with {}", members())),
        };
        let differs: Vec<_> = line
            .dimensions
            .without(Dimensions::CONTENT)
            .names()
            .collect();
        table.row([
            size.map(human_bytes).unwrap_or_default().into(),
            what.into(),
            differs.join(" ").into(),
            line.from.unwrap_or_default().into(),
            line.path.into(),
        ]);
    }
}

fn told(lines: &[Line<'_>], table: &mut Table) {
    for line in lines {
        table.row([Cell::from(kind(line)), line.path.into()]);
    }
}
