//! `rea compare-web-screenshots`: what differs between two images of a page.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use rea::web::compare_screenshots::{self, Image, MAX_BYTES, Options};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::paint::Tone;
use crate::quantity::thousands;
use crate::registry::{Command, OutputKind};
use crate::session;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Compare two screenshots, pixel by pixel
///
/// Takes PNG images, or Evidence of screenshots: 8-bit RGB or RGBA without
/// interlacing, as browsers save them. A pixel differs where a channel does by
/// more than the threshold; the greatest and the mean difference count all.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The old image
    pub before: PathBuf,

    /// The new image
    pub after: PathBuf,

    /// Difference of a channel that is still no change, 0 to 255
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[serde(default)]
    pub channel_threshold: u8,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: compare_screenshots::OPERATION,
        family: Family::Web,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea compare-web-screenshots before.png after.png --channel-threshold 8";
    const TOOL: Form = Form::Own(Facts::DERIVED, session::COMPARE_SCREENSHOTS);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let (before_name, after_name) = (display_path(&self.before), display_path(&self.after));
        let comparison = ui.operate(&context, |context| {
            let before = read(&self.before)?;
            let after = read(&self.after)?;
            let options = Options {
                threshold: self.channel_threshold,
                ..Options::default()
            };
            let sides = ((&before, &*before_name), (&after, &*after_name));
            compare_screenshots::compare(sides.0, sides.1, options, context)
        })?;
        ui.evidence(&context, &comparison.evidence, |report| {
            report.title(format!("{before_name} → {after_name}"));
            let tone = match comparison.status {
                "identical" => Tone::Good,
                _ => Tone::Warn,
            };
            report.toned_fact("status", comparison.status, tone);
            let changed = format!(
                "{} of {} pixels",
                thousands(comparison.changed),
                thousands(comparison.compared)
            );
            report.fact("changed", changed);
            report.fact("evidence", comparison.evidence.id().to_string());
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads an image, or the record of one.
pub fn read(path: &Path) -> Result<Image> {
    let shown = display_path(path);
    let unreadable = |error: std::io::Error| Error::file_io("read", &shown, &error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("{shown} has more than {MAX_BYTES} bytes");
        return Err(Error::invalid_request(
            compare_screenshots::OPERATION,
            &["before"],
            "out_of_range",
            message,
        ));
    }
    Image::read(bytes, &shown)
}
