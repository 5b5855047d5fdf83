//! Bundles and what operands hold.
//!
//! What must hold for every input: no panic; a bundle that is accepted is
//! written as canonical text, which is read as the same bundle and written as
//! the same text; what is verified as one bundle is read as one; merging it with itself
//! changes nothing; the summary and the comparison with itself can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::evidence::{
    Bundle, Collector, Comparison, ComparisonOptions, Source, SummaryFilter, UnknownFilter,
    read_bundle_bytes, verify_all,
};
use rea::json::{Limits, canonical};
use rea::operation::Context;

fuzz_target!(|input: &[u8]| {
    let mut context = Context::new("bundle");
    context.threads = 1;
    let (mut verified, mut bundles, mut outer) = (true, 0, 0);
    let source = Source::stream("-", Box::new(std::io::Cursor::new(input.to_vec())));
    verify_all(source, Limits::default(), &context, &mut |report| {
        verified &= report.is_verified();
        bundles += u32::from(report.bundle.is_some());
        outer += u32::from(report.pointer.is_none());
        Ok(())
    })
    .expect("nothing cancels it");
    let one_bundle = bundles == 1 && outer == 1;
    let bundle = match read_bundle_bytes("x", input, &context) {
        Ok(bundle) => bundle,
        Err(_) => {
            // A stream of verified records and bundles is no single bundle.
            assert!(!(verified && one_bundle));
            return;
        }
    };
    let text = written(&bundle, &context);
    let again = read_bundle_bytes("x", &text, &context).expect("what is written is a bundle");
    assert_eq!(written(&again, &context), text);
    let mut merged = bundle.clone();
    let counts = merged.merge(again.clone()).expect("nothing conflicts");
    assert_eq!((counts.imported, counts.unknowns_added), (0, 0));
    assert_eq!(written(&merged, &context), text);
    let options = ComparisonOptions::default();
    let comparison = Comparison::of(&bundle, &again, &options, &context).expect("it is small");
    assert_eq!(comparison.status(), "unchanged");
    canonical(&comparison);
    canonical(&bundle.summary(SummaryFilter::default()));
    canonical(&bundle.unknowns().list(&UnknownFilter::default()));
    // As an operand it is one bundle too.
    let source = Source::stream("-", Box::new(std::io::Cursor::new(input.to_vec())));
    let mut parts = 0;
    Collector::new()
        .read(source, Limits::default(), &context, &mut |_| {
            parts += 1;
            Ok(())
        })
        .expect("a bundle is an operand");
    assert_eq!(parts, 1);
});

fn written(bundle: &Bundle, context: &Context) -> Vec<u8> {
    let mut out = Vec::new();
    let done = bundle.write_to(context, &mut out);
    done.expect("memory does not change")
        .expect("a buffer takes everything");
    out
}
