//! What an inspection of a module costs beside what must be done: reading it, validating it as
//! `wasm-tools validate` does (wasmparser, functions on all cores), and hashing it.
//!
//! ```text
//! wasm FILE [--wat] [--rounds N]   the median of each and the ratio, one line
//! ```

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use rea::binary::BinaryFile;
use rea::binary::wasm::{MAX_FILE, WasmInput, WasmOptions, inspect_wasm};
use rea::digest::Digest;
use rea::evidence::Record;
use rea::operation::Context;
use wasmparser::{FuncValidatorAllocations, Parser, ValidPayload, Validator, WasmFeatures};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let mut path = None;
    let (mut wat, mut rounds) = (false, 5usize);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--wat" => wat = true,
            "--rounds" => rounds = words.next().and_then(|n| n.parse().ok()).unwrap_or(5),
            "--bench" => {} // cargo bench appends it
            _ => path = Some(PathBuf::from(word)),
        }
    }
    // `cargo bench` and `cargo test` run the target without a file: nothing to measure then.
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
        println!("usage: wasm FILE [--wat] [--rounds N]");
        return ExitCode::SUCCESS;
    };
    match measure(&path, wat, rounds.max(1)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("wasm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(path: &Path, wat: bool, rounds: usize) -> Result<String> {
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    // In turns, so that a busy machine bears on both alike.
    for _ in 0..rounds {
        let start = Instant::now();
        validate(&fs::read(path)?)?;
        floor.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        inspect(path, wat)?;
        ours.push(start.elapsed().as_secs_f64());
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (floor, ours) = (median(&mut floor), median(&mut ours));
    Ok(format!(
        "validate {floor:.3} s, inspect {ours:.3} s, ratio {:.2}",
        ours / floor
    ))
}

fn validate(bytes: &[u8]) -> Result<()> {
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut functions = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let ValidPayload::Func(function, body) = validator.payload(&payload?)? {
            functions.push((function, body));
        }
    }
    functions.into_par_iter().try_for_each_init(
        FuncValidatorAllocations::default,
        |kept, (function, body)| {
            let mut validator = function.into_validator(std::mem::take(kept));
            validator.validate(&body)?;
            *kept = validator.into_allocations();
            Ok(())
        },
    )
}

fn inspect(path: &Path, wat: bool) -> Result<Digest> {
    let context = Context::new("inspect_wasm_artifact");
    let file = BinaryFile::read(path, MAX_FILE, &context)?;
    let input = WasmInput::alone(file);
    let options = WasmOptions {
        wat,
        max_wat_bytes: if wat { 1 << 32 } else { 0 },
    };
    let record = inspect_wasm(&input, &options, &context)?;
    Ok(Digest::of_json(|w| record.write_record(w)))
}
