//! What was read must be an inventory that its ids vouch for (artifacts 8).
//!
//! The record's id, `graph_sha256`, `manifest_id`, and the ids of nodes and
//! occurrences are checked by the verifier of Evidence while the record
//! streams by. Here is what needs several rows: that references lead
//! somewhere, and the ids of edges and contradictions.

use rayon::prelude::*;

use super::rows::{Envelope, Got, Parts, RawContradiction, RawEdge, evidence_id};
use super::zones::envelope;
use super::{Edge, Manifest, NONE, Retained, find_node, search};
use crate::artifact::ids;
use crate::digest::Digest;
use crate::error::{Category, Code, Error, Result};
use crate::evidence::{Report, Segment, Stage};
use crate::operation::Context;

/// What is wrong, in words.
type Checked<T = ()> = Result<T, String>;

/// The inventory of a record, if it is one and says the truth about itself.
pub(super) fn finish(
    mut parts: Parts,
    report: &Report,
    name: &str,
    context: &Context,
) -> Result<Retained> {
    let bad = |report: &Report| {
        report
            .problems
            .iter()
            .any(|p| p.stage != Stage::ArtifactGraph)
    };
    if bad(report) || (parts.inner.is_some() && !report.problems.is_empty()) {
        return Err(refused(report, name));
    }
    let nested = report.nested.first();
    if let Some(nested) = nested.filter(|nested| bad(nested)) {
        return Err(refused(nested, name));
    }
    operations(&parts, name)?;
    let graph = if parts.inner.is_some() {
        nested
    } else {
        Some(report)
    };
    let raw = Raw {
        edges: parts.rows.edges.take(),
        contradictions: parts.rows.contradictions.take(),
    };
    let artifacts = std::mem::take(&mut parts.rows.artifacts.values);
    let parents = std::mem::take(&mut parts.rows.parents.values);
    let inspected = parts.inner.is_some();
    let outer = parts.outer;
    let invalid = |message: String| invalid(name, &outer, message);
    let mut kept = build(parts, &raw).map_err(invalid)?;
    let at_nodes = |report: &&Report| {
        let node = Segment::Name("nodes".into());
        let mut all = report.problems.iter();
        all.any(|problem| problem.pointer.segments().contains(&node))
    };
    let all_problems = |report: &&Report| !report.problems.is_empty();
    // An incomplete graph cannot have the ids and counts of the whole.
    let wrong = if kept.complete {
        graph.filter(all_problems)
    } else {
        graph.filter(at_nodes)
    };
    if let Some(report) = wrong {
        return Err(refused(report, name));
    }
    context.check()?;
    let by_id = kept.by_id().map_err(invalid)?;
    kept.resolve_parents(&parents, &by_id).map_err(invalid)?;
    kept.check_root(inspected, &outer).map_err(invalid)?;
    let Raw {
        edges,
        contradictions,
    } = raw;
    kept.resolve_edges(edges.unwrap_or_default(), &artifacts, &by_id)
        .map_err(invalid)?;
    context.check()?;
    kept.check_contradictions(&contradictions.unwrap_or_default(), &by_id)
        .map_err(invalid)?;
    kept.words.close();
    Ok(kept)
}

struct Raw {
    edges: Option<Vec<RawEdge>>,
    contradictions: Option<Vec<RawContradiction>>,
}

fn refused(report: &Report, name: &str) -> Error {
    report.file_error(name).unwrap_or_else(|| {
        let message = format!("{name} is not valid Evidence");
        Error::file("read", "invalid-json", name, message)
    })
}

fn invalid(name: &str, record: &Envelope, message: String) -> Error {
    let text = format!("{name} is not valid Evidence: {message}");
    let error = Error::new(Code::EvidenceIntegrityMismatch, text)
        .in_category(Category::IntegrityMismatch)
        .action("Use the record as it was written, or make it again.")
        .detail("path", name)
        .detail("reason", message)
        .detail("stage", Stage::ArtifactGraph.as_str());
    match evidence_id(record) {
        Some(id) => error.detail("evidence_id", id.to_string()),
        None => error,
    }
}

fn word<'a>(parts: &'a Parts, envelope: &Envelope, field: usize) -> &'a str {
    match envelope.0.get(field) {
        Some(Got::Word(word)) => parts.words.get(*word),
        _ => "",
    }
}

/// An inventory, or an inspection whose first substep is one.
fn operations(parts: &Parts, name: &str) -> Result<()> {
    let outer = word(parts, &parts.outer, envelope::OPERATION);
    let found = match &parts.inner {
        None if outer == "inventory_artifact" => return Ok(()),
        Some(inner) if outer == "inspect_artifact" => {
            match word(parts, inner, envelope::OPERATION) {
                "inventory_artifact" => return Ok(()),
                other => format!("{outer}, whose first substep is {other}"),
            }
        }
        None if outer == "inspect_artifact" => format!("{outer} without an inventory in it"),
        _ => outer.to_owned(),
    };
    let message = format!(
        "{name} is Evidence of {found}; that of inspect_artifact or inventory_artifact is needed"
    );
    Err(Error::new(Code::UnsupportedTarget, message)
        .action("Make it with `rea inspect-artifact` or `rea inventory-artifact`.")
        .detail("path", name)
        .detail("found", found))
}

fn build(parts: Parts, raw: &Raw) -> Checked<Retained> {
    let record = parts.inner.as_ref().unwrap_or(&parts.outer);
    let reader = format!(
        "{}{}",
        word(&parts, record, envelope::PROVIDER),
        word(&parts, record, envelope::PARAMETERS)
    );
    let unidentified = || "the record has no id".to_owned();
    let inventory = evidence_id(record).ok_or_else(unidentified)?;
    let supplied = evidence_id(&parts.outer).ok_or_else(unidentified)?;
    let Parts {
        words,
        rows,
        problem,
        ..
    } = parts;
    if let Some(problem) = problem {
        return Err(problem);
    }
    let lacks = |member: &str| format!("normalized_result lacks {member}");
    let text = |got: Got| match got {
        Got::Word(number) => words.get(number).to_owned(),
        _ => String::new(),
    };
    let [
        edge_count,
        _,
        manifest_id,
        node_count,
        occurrence_count,
        root_id,
        root_format,
        root_sha256,
    ] = rows.manifest.ok_or_else(|| lacks("manifest"))?;
    let incomplete = || "the manifest is not whole".to_owned();
    let manifest = Manifest {
        manifest_id: manifest_id.id().ok_or_else(incomplete)?,
        root_artifact_id: root_id.id().ok_or_else(incomplete)?,
        root_sha256: root_sha256.id().ok_or_else(incomplete)?,
        root_format: text(root_format),
        node_count: node_count.count().ok_or_else(incomplete)?,
        occurrence_count: occurrence_count.count().ok_or_else(incomplete)?,
        edge_count: edge_count.count().ok_or_else(incomplete)?,
    };
    let [scope, status] = rows.coverage.ok_or_else(|| lacks("coverage"))?;
    let covered = match text(status).as_str() {
        "complete" => true,
        "unknown" => false,
        _ => return Err("coverage.status must be complete or unknown".to_owned()),
    };
    let nodes = rows.nodes.ok_or_else(|| lacks("nodes"))?;
    let occurrences = rows.occurrences.ok_or_else(|| lacks("occurrences"))?;
    let edges = raw.edges.as_ref().ok_or_else(|| lacks("edges"))?;
    if raw.contradictions.is_none() {
        return Err(lacks("integrity_contradictions"));
    }
    let complete = nodes.len() as u64 == manifest.node_count
        && occurrences.len() as u64 == manifest.occurrence_count
        && edges.len() as u64 == manifest.edge_count;
    Ok(Retained {
        supplied,
        inventory,
        scope: text(scope),
        covered,
        complete,
        limitations: rows.limitations.ok_or_else(|| lacks("limitations"))?,
        reader,
        natures: rows.natures.values,
        roles: rows.roles.values,
        arena: rows.arena,
        nodes,
        occurrences,
        edges: Vec::new(),
        unresolved: rows.unresolved,
        root: NONE,
        manifest,
        words,
    })
}

/// Occurrences in order of their ids, each behind the start of its id, so that
/// a search seldom leaves this list.
struct ById(Vec<(u64, u32)>);

impl ById {
    fn find(&self, kept: &Retained, id: &Digest) -> Option<u32> {
        let prefix = id.prefix();
        let order = |at: usize| {
            let entry = self.0.get(at).copied().unwrap_or_default();
            let first = entry.0.cmp(&prefix);
            first.then_with(|| kept.row(entry.1).map(|row| row.id).cmp(&Some(*id)))
        };
        let found = search(self.0.len(), prefix, order)?;
        self.0.get(found).map(|entry| entry.1)
    }
}

impl Retained {
    /// Occurrences in order of their ids, which must differ.
    fn by_id(&self) -> Checked<ById> {
        let rows = self.occurrences.iter().enumerate();
        let mut order: Vec<(u64, u32)> =
            rows.map(|(at, row)| (row.id.prefix(), at as u32)).collect();
        let id = |at: u32| self.row(at).map(|row| row.id);
        order.par_sort_unstable_by(|one, other| {
            let first = one.0.cmp(&other.0);
            first.then_with(|| id(one.1).cmp(&id(other.1)))
        });
        for (&(start, one), &(next, other)) in order.iter().zip(order.iter().skip(1)) {
            if start == next && id(one) == id(other) {
                return Err(format!("occurrences[{other}].occurrence_id is there twice"));
            }
        }
        Ok(ById(order))
    }

    /// Turns numbers of parents into occurrences.
    fn resolve_parents(&mut self, parents: &[Digest], by_id: &ById) -> Checked {
        let found: Vec<u32> = parents
            .iter()
            .map(|parent| by_id.find(self, parent).unwrap_or(NONE))
            .collect();
        let complete = self.complete;
        for (at, row) in self.occurrences.iter_mut().enumerate() {
            if row.parent == NONE {
                continue;
            }
            row.parent = found.get(row.parent as usize).copied().unwrap_or(NONE);
            if row.parent == NONE && complete {
                return Err(format!(
                    "occurrences[{at}].parent_occurrence_id is of no occurrence"
                ));
            }
        }
        Ok(())
    }

    /// The subject, the manifest and the root's rows tell the same.
    fn check_root(&mut self, inspected: bool, outer: &Envelope) -> Checked {
        let subject = outer
            .0
            .get(envelope::SUBJECT_SHA256)
            .and_then(|got| got.id());
        let format = match outer.0.get(envelope::SUBJECT_FORMAT) {
            Some(Got::Word(word)) => self.words.get(*word),
            _ => "",
        };
        if subject != Some(self.manifest.root_sha256) || format != self.manifest.root_format {
            let of = if inspected { "inspection" } else { "inventory" };
            return Err(format!(
                "the subject of the {of} is not the root of the manifest"
            ));
        }
        self.root = self.find(".").unwrap_or(NONE);
        if !self.complete {
            return Ok(());
        }
        let root = self.root;
        if root == NONE {
            return Err("occurrences lacks the root".to_owned());
        }
        let same = self.node(root).map(|node| node.id) == Some(self.manifest.root_artifact_id)
            && self.format(root) == self.manifest.root_format
            && self.row(root).is_some_and(|row| row.parent == NONE);
        if !same {
            return Err("the root's occurrence is not what the manifest says".to_owned());
        }
        if let Some((at, _)) = self.unresolved.first() {
            return Err(format!("occurrences[{at}].artifact_id is of no node"));
        }
        let orphan = (0..self.len())
            .find(|&at| at != root && self.row(at).is_some_and(|row| row.parent == NONE));
        match orphan {
            Some(at) => Err(format!("occurrences[{at}] has no parent")),
            None => Ok(()),
        }
    }

    /// Finds what edges lead from and to, and checks their ids.
    fn resolve_edges(&mut self, raw: Vec<RawEdge>, artifacts: &[Digest], by_id: &ById) -> Checked {
        let first_seen = self.first_seen();
        let parents: Vec<(Digest, u32)> = artifacts
            .iter()
            .map(|id| (*id, find_node(&self.nodes, id).unwrap_or(NONE)))
            .collect();
        let resolved: Vec<Checked<Option<Edge>>> = raw
            .par_iter()
            .with_min_len(1024)
            .enumerate()
            .map(|(at, edge)| self.resolve_edge((at, edge), &parents, by_id, &first_seen))
            .collect();
        drop(raw);
        let mut edges = Vec::with_capacity(resolved.len());
        for edge in resolved {
            edges.extend(edge?);
        }
        let key = |edge: &Edge| (edge.occurrence, edge.parent, edge.relation, edge.producer);
        edges.sort_unstable_by_key(key);
        self.edges = edges;
        Ok(())
    }

    /// For each node the first occurrence with it, by path.
    fn first_seen(&self) -> Vec<u32> {
        let mut first = vec![NONE; self.nodes.len()];
        for (at, row) in self.occurrences.iter().enumerate() {
            if let Some(slot) = first.get_mut(row.node as usize)
                && *slot == NONE
            {
                *slot = at as u32;
            }
        }
        first
    }

    fn resolve_edge(
        &self,
        (at, edge): (usize, &RawEdge),
        parents: &[(Digest, u32)],
        by_id: &ById,
        first_seen: &[u32],
    ) -> Checked<Option<Edge>> {
        let parent = parents.get(edge.parent as usize);
        let child = by_id.find(self, &edge.occurrence);
        let (Some(child), Some(&(parent, node))) = (child, parent) else {
            if self.complete {
                return Err(format!("edges[{at}].occurrence_id is of no occurrence"));
            }
            return Ok(None);
        };
        if self.complete {
            if node == NONE {
                return Err(format!("edges[{at}].parent_artifact_id is of no node"));
            }
            let Some(artifact) = self.artifact(child) else {
                return Err(format!(
                    "edges[{at}] leads to an occurrence without content"
                ));
            };
            if self.edge_id(edge, child, &parent, &artifact) != edge.id {
                return Err(format!(
                    "edges[{at}].edge_id is not the hash of what it stands for"
                ));
            }
        }
        let seen = self.seen_as(node, child);
        let seen = seen.or_else(|| first_seen.get(node as usize).copied());
        Ok(Some(Edge {
            occurrence: child,
            parent: seen.unwrap_or(NONE),
            relation: edge.relation,
            producer: edge.producer,
        }))
    }

    /// The occurrence that gives a child its parent artifact: the source of a
    /// map, else what it is in, else the root (artifacts 3.4).
    fn seen_as(&self, node: u32, child: u32) -> Option<u32> {
        let has_it = |at: &u32| self.row(*at).is_some_and(|row| row.node == node);
        if node == NONE {
            return None;
        }
        let source = self.path(child).strip_suffix(".map");
        source
            .and_then(|source| self.find(source))
            .filter(has_it)
            .or_else(|| self.row(child).map(|row| row.parent).filter(has_it))
            .or_else(|| Some(self.root).filter(has_it))
    }

    fn edge_id(&self, edge: &RawEdge, child: u32, parent: &Digest, artifact: &Digest) -> Digest {
        let (path, relation) = (self.path(child).as_bytes(), self.word(edge.relation));
        ids::edge(artifact, path, &edge.occurrence, parent, relation)
    }

    fn check_contradictions(&self, all: &[RawContradiction], by_id: &ById) -> Checked {
        if !self.complete {
            return Ok(());
        }
        let wrong = |at: usize, what: &str| Err(format!("integrity_contradictions[{at}]{what}"));
        for (at, one) in all.iter().enumerate() {
            let Some(occurrence) = by_id.find(self, &one.occurrence) else {
                return wrong(at, ".occurrence_id is of no occurrence");
            };
            if self.path(occurrence) != one.path {
                return wrong(at, ".logical_path is not that of its occurrence");
            }
            if find_node(&self.nodes, &one.parent).is_none() {
                return wrong(at, ".parent_artifact_id is of no node");
            }
            let (path, root) = (one.path.as_bytes(), &self.manifest.root_artifact_id);
            let id = ids::contradiction(&one.declared, path, &one.observed, root);
            if id != one.id {
                return wrong(
                    at,
                    ".contradiction_id is not the hash of what it stands for",
                );
            }
        }
        Ok(())
    }
}
