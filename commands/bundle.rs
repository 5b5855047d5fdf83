//! `rea bundle`: records and bundles merged into one bundle.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::evidence::{Bundle, Collector, ItemKind, Merged, Source};
use rea::operation::{Context, Effect, Family, Operation};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bundle_options::{describe_counts, limits, usual_max_input_bytes};
use crate::quantity::{ByteSize, counted};
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Merge records and bundles into one bundle
///
/// Every record is verified before it goes in. What stands in several inputs
/// is there once, and where nothing conflicts, neither their order nor their
/// grouping changes a byte of the result. Revisions of an unknown that
/// contradict each other are an error.
///
/// The result is canonical JSON without a line feed at its end, so that
/// sha256sum of the file says the bundle's digest. To add to a bundle, name it
/// as an operand and as --output, with --overwrite. A file that is replaced is
/// locked meanwhile.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Files of records and bundles, `-` for standard input
    #[arg(required_unless_present = "empty")]
    #[serde(default)]
    pub evidence: Vec<PathBuf>,

    /// Make a bundle of nothing
    #[arg(long, conflicts_with = "evidence")]
    #[serde(default)]
    pub empty: bool,

    /// Bytes to read of one file at most
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_input_bytes())]
    #[serde(default = "usual_max_input_bytes")]
    pub max_input_bytes: ByteSize,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "bundle",
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea bundle app.json records.jsonl old.json -o bundle.json";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        self.check()?;
        let operands: Vec<&Path> = self.evidence.iter().map(PathBuf::as_path).collect();
        let (delivery, bundle, found) = ui.operate(&context, |context| {
            let mut delivery = ui.deliver_from(context, &operands, true)?;
            let (bundle, found) = self.merge(context)?;
            delivery.write_bundle(&bundle)?;
            Ok((delivery, bundle, found))
        })?;
        delivery.finish(|report| {
            report.title("A bundle");
            describe_counts(&bundle, report);
            report.fact(
                "from",
                format!(
                    "{} and {}",
                    counted(found.records, "record", "records"),
                    counted(found.bundles, "bundle", "bundles")
                ),
            );
            report.fact(
                "merged away",
                counted(found.repeated(&bundle), "copy", "copies"),
            );
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What the operands held.
#[derive(Default)]
struct Found {
    records: u64,
    bundles: u64,
    records_of_bundles: u64,
}

impl Found {
    fn repeated(&self, bundle: &Bundle) -> u64 {
        (self.records + self.records_of_bundles).saturating_sub(bundle.len() as u64)
    }
}

impl Input {
    /// Nothing by mistake, an empty list of files say, makes no empty bundle.
    fn check(&self) -> Result<()> {
        if self.evidence.is_empty() != self.empty {
            let message = "a bundle is made of operands, or `empty`";
            let (name, at) = (Self::OPERATION.name, ["evidence"]);
            return Err(Error::invalid_request(
                name,
                &at,
                "missing_argument",
                message,
            ));
        }
        Ok(())
    }

    fn merge(&self, context: &Context) -> Result<(Bundle, Found)> {
        let mut found = Found::default();
        let mut parts = Vec::new();
        let mut collector = Collector::new();
        for path in &self.evidence {
            let source = Source::open(path)?;
            collector.read(source, limits(self.max_input_bytes), context, &mut |item| {
                match item.kind {
                    ItemKind::Record => found.records += 1,
                    ItemKind::Bundle => {
                        found.bundles += 1;
                        found.records_of_bundles += item.bundle.len() as u64;
                    }
                }
                parts.push(item.bundle);
                Ok(())
            })?;
        }
        context.check()?;
        let mut bundle = Bundle::new();
        let Merged { .. } = bundle.merge_all(parts)?;
        Ok((bundle, found))
    }
}
