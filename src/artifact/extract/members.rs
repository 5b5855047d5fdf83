//! Software that was inventoried and can be read once more: the bytes of
//! chosen entries, checked against the inventory.

use std::collections::HashMap;
use std::path::Path;

use super::super::inventory::{Inventory, Needs, Walked, walk as inventory_walk};
use super::super::options::Options;
use super::super::root;
use super::super::source::Source;
use super::place::Spools;
use super::walk::Work;
use crate::digest::Hasher;
use crate::error::{ArtifactReason, Error, Result};
use crate::operation::Context;

/// See the module.
pub(in crate::artifact) struct Readable<'a> {
    path: &'a Path,
    options: &'a Options,
    walked: Walked,
}

impl<'a> Readable<'a> {
    /// Inventories what `path` names.
    ///
    /// # Errors
    /// Those of [`super::super::inventory`].
    pub fn open(path: &'a Path, options: &'a Options, context: &Context) -> Result<Self> {
        let walked = inventory_walk(path, options, context, Needs::PlanIfMembers)?;
        Ok(Self {
            path,
            options,
            walked,
        })
    }

    /// What is inside.
    pub fn inventory(&self) -> &Inventory {
        &self.walked.inventory
    }

    /// The bytes of the entries at these logical paths.
    ///
    /// # Errors
    /// `artifact_operation_failed` with the reason `integrity` where they are
    /// not what the inventory says, or there is none; `io`; `artifact_changed`;
    /// `cancelled`.
    pub fn read(&self, paths: &[&str], context: &Context) -> Result<HashMap<String, Source>> {
        let graph = &self.walked.inventory.graph;
        let mut rows = Vec::with_capacity(paths.len());
        let mut root = None;
        for &path in paths {
            if path == "." {
                root = Some(self.read_root(context)?);
                continue;
            }
            let row = graph.find(path).ok_or_else(|| changed(path, context))?;
            rows.push(row as u32);
        }
        rows.sort_unstable();
        rows.dedup();
        let spools = Spools::new(context.operation);
        if !rows.is_empty() {
            let Some(plan) = &self.walked.plan else {
                return Err(changed(".", context));
            };
            Work {
                path: self.path,
                options: self.options,
                context,
                graph,
                place: &spools,
            }
            .run(plan, &rows, &self.walked.stamp)?;
        }
        let mut members = spools.into_members();
        members.extend(root.map(|root| (".".to_owned(), root)));
        Ok(members)
    }

    /// The root file itself.
    fn read_root(&self, context: &Context) -> Result<Source> {
        let shown = root::show(self.path);
        let opened = root::open_root(self.path, &shown, self.options, context)?;
        let Some(file) = opened.file else {
            return Err(changed(".", context));
        };
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 256 << 10];
        let mut done = 0;
        loop {
            context.check()?;
            let count = file
                .source
                .read_at(done, &mut buffer)
                .map_err(|error| Error::file_io("read", &shown, &error))?;
            if count == 0 {
                break;
            }
            hasher.update(buffer.get(..count).unwrap_or_default());
            done += count as u64;
        }
        if hasher.finish() != self.walked.inventory.root_sha256() {
            return Err(changed(".", context));
        }
        Ok(file.source)
    }
}

fn changed(path: &str, context: &Context) -> Error {
    let message = format!("{path} is not what the inventory says");
    Error::artifact(context.operation, ArtifactReason::Integrity, message)
        .action("Wait until nothing writes to the artifact, or compare a copy.")
        .detail("logical_path", path)
}
