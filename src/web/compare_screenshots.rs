//! `compare_web_screenshots`: two PNG images, pixel by pixel (web.md section
//! 6.2).
//!
//! Both are decoded row by row, side by side. The header is checked first: what
//! is decoded is 8-bit RGB or RGBA without interlacing, of bounded size.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::{Authority, Confidence, Creation, Evidence, EvidenceId, Provider};
use crate::json::{Limits, Object, Value};
use crate::operation::Context;

/// The operation.
pub const OPERATION: &str = "compare_web_screenshots";

/// Who compares.
pub const PROVIDER: Provider = Provider {
    id: "rea-screenshot-comparison",
    name: "rea screenshot comparison",
    version: "1",
};

/// Bytes of an image, or of the record that holds one.
pub const MAX_BYTES: u64 = 64 << 20;

/// Pixels of a row, and of an image.
const MAX_WIDTH: u32 = 1 << 17;
const MAX_PIXELS: u64 = 1 << 28;

const TWO: &str = "This is about two images, not about one artifact.";
const PIXELS: &str =
    "Colours were compared as stored; profiles, gamma and the pixels' meaning were not looked at.";

/// An image as it was given.
#[derive(Debug)]
pub struct Image {
    bytes: Vec<u8>,
    link: Option<EvidenceId>,
}

/// How images are compared.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Difference of a channel that is still no change.
    pub threshold: u8,
    /// Pixels that an image may have; at most 2^28.
    pub max_pixels: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threshold: 0,
            max_pixels: MAX_PIXELS,
        }
    }
}

/// The facts of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    width: u32,
    height: u32,
    channels: usize,
}

impl Image {
    /// Takes the bytes of a PNG file, or of a record of
    /// `capture_web_screenshot` that holds one.
    ///
    /// # Errors
    /// `unsupported_target` where it is neither; those of records.
    pub fn read(bytes: Vec<u8>, shown: &str) -> Result<Self> {
        if bytes.starts_with(SIGNATURE) {
            return Ok(Self { bytes, link: None });
        }
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(unsupported(shown, "it is no PNG image"));
        }
        let value = Value::parse(&bytes, Limits::default())
            .map_err(|error| error.into_file_error(shown))?;
        let evidence = Evidence::from_file_value(value, shown)?;
        Self::of_result(evidence.normalized_result(), Some(evidence.id()), shown)
    }

    /// Takes the image of a result of `capture_web_screenshot`; `link` is the
    /// record that holds it.
    ///
    /// # Errors
    /// `unsupported_target` where it holds no PNG image,
    /// `evidence_integrity_mismatch` where it is not the declared one.
    pub fn of_result(result: &Value, link: Option<EvidenceId>, shown: &str) -> Result<Self> {
        let data = result.get("data_base64").and_then(Value::as_str);
        let data = data.and_then(|data| STANDARD.decode(data).ok());
        let Some(bytes) = data.filter(|data| data.starts_with(SIGNATURE)) else {
            return Err(unsupported(shown, "the record holds no PNG image"));
        };
        let declared = result.get("sha256").and_then(Value::as_str);
        let length = result.get("bytes");
        if declared.is_some_and(|declared| declared != Digest::of(&bytes).to_hex())
            || length.is_some_and(|length| *length != Value::from(bytes.len() as u64))
        {
            let message = format!(
                "{shown}: the image is not the one whose digest and length the record tells"
            );
            return Err(Error::new(Code::EvidenceIntegrityMismatch, message)
                .action("Use the record as it was written.")
                .detail("reason", "screenshot digest"));
        }
        Ok(Self { bytes, link })
    }
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

fn unsupported(shown: &str, why: &str) -> Error {
    Error::new(Code::UnsupportedTarget, format!("{shown}: {why}"))
        .action("Give 8-bit RGB or RGBA images without interlacing, as browsers save them.")
        .detail("operation", OPERATION)
        .detail("reason", why)
}

/// Checks the first chunk (PNG section 11.2.1).
fn header(image: &Image, shown: &str, max_pixels: u64) -> Result<Header> {
    let chunk = image.bytes.get(8..29);
    let word = |at: usize| -> Option<u32> {
        let bytes: [u8; 4] = chunk?.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    let kind = chunk.and_then(|chunk| chunk.get(4..8));
    let (Some(13), Some(b"IHDR"), Some(width), Some(height)) = (word(0), kind, word(8), word(12))
    else {
        return Err(unsupported(shown, "it has no header"));
    };
    let byte = |at: usize| chunk.and_then(|chunk| chunk.get(at)).copied();
    let channels = match (byte(16), byte(17), byte(20)) {
        (Some(8), Some(2), Some(0)) => 3,
        (Some(8), Some(6), Some(0)) => 4,
        (_, _, Some(1)) => return Err(unsupported(shown, "it is interlaced")),
        _ => return Err(unsupported(shown, "it is neither 8-bit RGB nor RGBA")),
    };
    if width == 0 || height == 0 {
        return Err(unsupported(shown, "it has no pixels"));
    }
    if width > MAX_WIDTH || u64::from(width) * u64::from(height) > max_pixels {
        let mut limits = Object::new();
        limits.insert("boundary", "image-pixels");
        limits.insert("maximum", max_pixels);
        let message = format!("{shown} has {width} by {height} pixels, which is too many");
        return Err(Error::out_of_memory(OPERATION, message, limits));
    }
    Ok(Header {
        width,
        height,
        channels,
    })
}

/// What two images differ in.
#[derive(Debug)]
pub struct ScreenshotComparison {
    /// The record.
    pub evidence: Evidence,
    /// `identical`, `different` or `dimension_mismatch`.
    pub status: &'static str,
    /// Pixels that differ by more than the threshold.
    pub changed: u64,
    /// Pixels that were compared.
    pub compared: u64,
}

#[derive(Default)]
struct Metrics {
    pixels: u64,
    changed: u64,
    maximum: u8,
    total: u64,
}

/// Compares two images; a pixel differs where a channel does by more than the
/// threshold.
///
/// # Errors
/// `unsupported_target` for images of other kinds and damaged ones,
/// `resource_constraint` beyond the pixels of the options, `cancelled`.
pub fn compare(
    before: (&Image, &str),
    after: (&Image, &str),
    options: Options,
    context: &Context,
) -> Result<ScreenshotComparison> {
    let threshold = options.threshold;
    let max_pixels = options.max_pixels.min(MAX_PIXELS);
    let left = header(before.0, before.1, max_pixels)?;
    let right = header(after.0, after.1, max_pixels)?;
    let same = (left.width, left.height) == (right.width, right.height);
    let metrics = match same {
        true => Some(pixels((before, left), (after, right), threshold, context)?),
        false => None,
    };
    let status = match &metrics {
        None => "dimension_mismatch",
        Some(metrics) if metrics.changed == 0 => "identical",
        Some(_) => "different",
    };
    let side = |image: &Image, header: Header| {
        let mut side = Object::new();
        side.insert("bytes", image.bytes.len() as u64);
        side.insert("height", u64::from(header.height));
        side.insert("sha256", Digest::of(&image.bytes).to_hex());
        side.insert("width", u64::from(header.width));
        side
    };
    let (changed, compared) = metrics
        .as_ref()
        .map_or((0, 0), |metrics| (metrics.changed, metrics.pixels));
    let mut result = Object::new();
    result.insert("after", side(after.0, right));
    result.insert("before", side(before.0, left));
    result.insert(
        "changed_pixels",
        metrics.as_ref().map(|metrics| metrics.changed),
    );
    result.insert("channel_threshold", u64::from(threshold));
    result.insert("compared_pixels", compared);
    let maximum = metrics.as_ref().map(|metrics| u64::from(metrics.maximum));
    result.insert("maximum_channel_delta", maximum);
    let mean = metrics
        .as_ref()
        .map(|metrics| metrics.total as f64 / (4.0 * metrics.pixels as f64));
    result.insert("mean_channel_delta", mean.map(Value::Number));
    result.insert("status", status);
    let mut parameters = Object::new();
    for (name, image) in [("after_sha256", after.0), ("before_sha256", before.0)] {
        parameters.insert(name, Digest::of(&image.bytes).to_hex());
    }
    parameters.insert("channel_threshold", u64::from(threshold));
    let mut links: Vec<EvidenceId> = [before.0.link, after.0.link]
        .into_iter()
        .flatten()
        .collect();
    links.dedup();
    let evidence = Evidence::create(Creation {
        no_subject: Some(TWO.to_owned()),
        predicate_type: "rea.web-screenshot-diff/v1".to_owned(),
        parameters,
        normalized_result: result.into(),
        confidence: Confidence::Observed,
        authority: Authority::ExternalService,
        limitations: vec![PIXELS.to_owned()],
        evidence_links: links,
        ..Creation::new(OPERATION, PROVIDER)
    });
    Ok(ScreenshotComparison {
        evidence,
        status,
        changed,
        compared,
    })
}

type Decoder<'a> = png::Reader<Cursor<&'a [u8]>>;

/// A decoder whose idea of the image is that of the checked header.
fn decoder<'a>(image: &'a Image, header: Header, shown: &str) -> Result<Decoder<'a>> {
    let limits = png::Limits { bytes: 64 << 20 };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(image.bytes.as_slice()), limits);
    decoder.set_transformations(png::Transformations::IDENTITY);
    let reader = decoder
        .read_info()
        .map_err(|_| unsupported(shown, "it is damaged before its pixels"))?;
    let info = reader.info();
    let channels = match info.color_type {
        png::ColorType::Rgb => 3,
        png::ColorType::Rgba => 4,
        _ => 0,
    };
    let found = Header {
        width: info.width,
        height: info.height,
        channels,
    };
    match found == header && !info.interlaced && info.bit_depth == png::BitDepth::Eight {
        true => Ok(reader),
        false => Err(unsupported(shown, "it has more than one header")),
    }
}

fn pixels(
    ((left, left_name), left_header): ((&Image, &str), Header),
    ((right, right_name), right_header): ((&Image, &str), Header),
    threshold: u8,
    context: &Context,
) -> Result<Metrics> {
    let mut before = decoder(left, left_header, left_name)?;
    let mut after = decoder(right, right_header, right_name)?;
    let mut metrics = Metrics::default();
    for _ in 0..left_header.height {
        context.check()?;
        let left = row(&mut before, left_header, left_name)?;
        let right = row(&mut after, right_header, right_name)?;
        let left = left.chunks_exact(left_header.channels);
        let right = right.chunks_exact(right_header.channels);
        for (left, right) in left.zip(right) {
            metrics.pixel(rgba(left), rgba(right), threshold);
        }
    }
    Ok(metrics)
}

fn row(decoder: &mut Decoder<'_>, header: Header, shown: &str) -> Result<Vec<u8>> {
    let damaged = || unsupported(shown, "its pixels are damaged or cut");
    let row = decoder.next_row().map_err(|_| damaged())?;
    let row = row.ok_or_else(damaged)?;
    let bytes = row.data();
    match bytes.len() == header.width as usize * header.channels {
        true => Ok(bytes.to_vec()),
        false => Err(damaged()),
    }
}

/// RGB is opaque.
fn rgba(pixel: &[u8]) -> [u8; 4] {
    let channel = |at: usize| pixel.get(at).copied().unwrap_or(255);
    [channel(0), channel(1), channel(2), channel(3)]
}

impl Metrics {
    fn pixel(&mut self, left: [u8; 4], right: [u8; 4], threshold: u8) {
        self.pixels += 1;
        let mut most = 0;
        for (left, right) in left.into_iter().zip(right) {
            let delta = left.abs_diff(right);
            self.total += u64::from(delta);
            most = most.max(delta);
        }
        self.maximum = self.maximum.max(most);
        self.changed += u64::from(most > threshold);
    }
}
