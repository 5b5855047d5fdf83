//! Compressed streams: the first byte chooses the codec; decoding in large and
//! in small steps must come to the same bytes and the same fault.

#![no_main]

const MOST: usize = 1 << 20;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, stream)) = bytes.split_first() else {
        return;
    };
    let codecs = ["gzip", "xz", "lzma", "bzip2", "zstd"];
    let codec = codecs[usize::from(choice) % codecs.len()];
    let whole = rea::artifact::fuzzing::decode(codec, stream, MOST, 1 << 16);
    if whole.0.len() < MOST {
        let pieces = rea::artifact::fuzzing::decode(codec, stream, MOST, 97);
        assert_eq!(whole.0, pieces.0);
        assert_eq!(whole.1.is_some(), pieces.1.is_some());
    }
});
