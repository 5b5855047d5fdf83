//! Compressed streams: the first byte chooses the codec; decoding in large and
//! in small steps, by one and by several threads, must come to the same bytes
//! and the same fault. Where damage is recorded, at least as much comes out.

#![no_main]

const MOST: usize = 1 << 20;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, stream)) = bytes.split_first() else {
        return;
    };
    let codecs = ["gzip", "xz", "lzma", "bzip2", "zstd"];
    let codec = codecs[usize::from(choice) % codecs.len()];
    let whole = rea::artifact::fuzzing::decode(codec, stream, MOST, 1 << 16, 1);
    let pieces = rea::artifact::fuzzing::decode(codec, stream, MOST, 97, 2);
    assert_eq!(whole, pieces);
    let recorded = rea::artifact::fuzzing::decode_recording(codec, stream, MOST, 1 << 16, 1);
    let pieces = rea::artifact::fuzzing::decode_recording(codec, stream, MOST, 97, 2);
    assert_eq!(recorded, pieces);
    assert!(recorded.0.starts_with(&whole.0));
    if whole.1.is_none() {
        assert_eq!(recorded, whole);
    }
});
