//! Malformed binaries by the thousand: every reader takes each of them, and none may panic, take
//! more than a second of processor time or 256 MiB of memory. `scripts/mutate.sh` runs it.
//!
//! ```text
//! mutate PATH... [--seconds N] [--seed N] [--keep DIR]
//! ```
//!
//! Files below PATH that a reader takes are cut at 200 places, their header fields are set to 0, 1,
//! the largest value and one less, one at a time, and their bytes are flipped at random (from a
//! fixed seed, so that every run is the same as far as it comes); and there are files made here of
//! the kinds that such readers are known to die on. Files take turns, so that a short run sees all
//! of them. Prints counts; ends with 1 where a limit was broken, with the file in DIR.

mod alloc;
mod crafted;
mod mutants;
mod readers;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mutants::{Mutants, Seed};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

const USAGE: &str = "usage: mutate PATH... [--seconds N] [--seed N] [--keep DIR]";
/// Processor time that one reader may take for one file.
const MAX_TIME: Duration = Duration::from_secs(1);
/// Memory that one reader may take beside the file.
const MAX_MEMORY: usize = 256 << 20;
/// Larger files are not mutated: a run would see few of them.
const MAX_SEED: u64 = 2 << 20;
/// Wall time after which a reader hangs, however busy the machine is.
const HANGS: u64 = 60;
/// Broken limits after which there is no need to go on.
const ENOUGH: usize = 20;

/// Seconds since the start at which the current reader began; 0 between them.
static BEGAN: AtomicU64 = AtomicU64::new(0);

struct Options {
    paths: Vec<PathBuf>,
    seconds: Option<u64>,
    seed: u64,
    keep: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut words: VecDeque<OsString> = std::env::args_os().skip(1).collect();
    let mut options = Options {
        paths: Vec::new(),
        seconds: None,
        seed: 1,
        keep: std::env::temp_dir(),
    };
    while let Some(word) = words.pop_front() {
        let mut value = || {
            let value = words.pop_front().ok_or(USAGE);
            value.map(|value| value.to_string_lossy().into_owned())
        };
        match word.to_string_lossy().as_ref() {
            "--seconds" => options.seconds = Some(value()?.parse().map_err(|_| USAGE)?),
            "--seed" => options.seed = value()?.parse().map_err(|_| USAGE)?,
            "--keep" => options.keep = value()?.into(),
            // `cargo bench` adds it.
            "--bench" => {}
            option if option.starts_with("--") => return Err(USAGE.to_owned()),
            _ => options.paths.push(word.into()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) if !options.paths.is_empty() => options,
        // `cargo bench` and `cargo test` run the target without arguments.
        Ok(_) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    let seeds = seeds(&options.paths);
    println!(
        "{} files to mutate, {} made here",
        seeds.len(),
        crafted::count()
    );
    let mut run = Run::new(&options);
    run.crafted();
    run.mutated(seeds, options.seed);
    run.finish()
}

/// Files that a reader takes, in the order of their paths.
fn seeds(paths: &[PathBuf]) -> Vec<Seed> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_file() {
            found.push(path.clone());
            continue;
        }
        match rea::recursive::Files::below(path, "mutate") {
            Ok(files) => found.extend(files.flatten().map(|file| file.path)),
            Err(error) => eprintln!("mutate: {}", error.message()),
        }
    }
    let mut seeds = Vec::new();
    for path in found {
        let small = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_SEED);
        if small
            && let Ok(bytes) = fs::read(&path)
            && readers::any_takes(&path, &bytes)
        {
            seeds.push(Seed::new(path, bytes));
        }
    }
    seeds
}

struct Run {
    deadline: Option<Instant>,
    started: Instant,
    /// Where the current mutant is told, for whoever finds a dead process.
    current: Option<fs::File>,
    keep: PathBuf,
    mutants: u64,
    calls: u64,
    accepted: u64,
    slowest: (Duration, String),
    largest: (usize, String),
    broken: Vec<String>,
}

impl Run {
    fn new(options: &Options) -> Self {
        let started = Instant::now();
        std::thread::spawn(move || watch(started));
        // What a panic says is told below, once.
        std::panic::set_hook(Box::new(|_| ()));
        let current = options.keep.join("mutate-current.txt");
        Self {
            deadline: options
                .seconds
                .map(|seconds| started + Duration::from_secs(seconds)),
            started,
            current: fs::File::create(current).ok(),
            keep: options.keep.clone(),
            mutants: 0,
            calls: 0,
            accepted: 0,
            slowest: Default::default(),
            largest: Default::default(),
            broken: Vec::new(),
        }
    }

    fn is_over(&self) -> bool {
        self.broken.len() >= ENOUGH
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn crafted(&mut self) {
        for (name, bytes) in crafted::all() {
            self.take(&bytes, &format!("made here: {name}"));
        }
    }

    /// A mutant of each file in turn, until none is left or time is over.
    fn mutated(&mut self, seeds: Vec<Seed>, seed: u64) {
        let endless = self.deadline.is_some();
        let mut turns: VecDeque<Mutants> = seeds
            .into_iter()
            .map(|file| Mutants::new(file, seed, endless))
            .collect();
        while let Some(mut mutants) = turns.pop_front() {
            if self.is_over() {
                return;
            }
            // Some at a time: the file stays in the cache.
            for _ in 0..16 {
                let Some((bytes, what)) = mutants.next_mutant() else {
                    break;
                };
                self.take(&bytes, &what);
            }
            if !mutants.is_over() {
                turns.push_back(mutants);
            }
        }
    }

    /// Hands one file to every reader.
    fn take(&mut self, bytes: &[u8], what: &str) {
        self.mutants += 1;
        if let Some(current) = &self.current {
            let mut line = format!("{what}\n").into_bytes();
            line.resize(line.len().max(400), b' ');
            let _ = current.write_at(&line, 0);
        }
        for reader in readers::ALL {
            self.calls += 1;
            BEGAN.store(self.started.elapsed().as_secs() + 1, Ordering::Relaxed);
            let before = alloc::restart();
            let clock = processor_time();
            let result = catch_unwind(AssertUnwindSafe(|| (reader.run)(bytes)));
            let time = processor_time().saturating_sub(clock);
            let memory = alloc::peak().saturating_sub(before);
            BEGAN.store(0, Ordering::Relaxed);
            let told = || format!("{} of {what}", reader.name);
            match &result {
                Ok(accepted) => self.accepted += u64::from(*accepted),
                Err(panic) => {
                    let text = panic
                        .downcast_ref::<String>()
                        .map(String::as_str)
                        .or_else(|| panic.downcast_ref::<&str>().copied());
                    let text = format!("panic: {}", text.unwrap_or("unknown"));
                    self.break_limit(bytes, text, told());
                }
            }
            if time > MAX_TIME {
                self.break_limit(bytes, format!("{time:?} of processor time"), told());
            }
            if memory > MAX_MEMORY {
                self.break_limit(bytes, format!("{} MiB of memory", memory >> 20), told());
            }
            if time > self.slowest.0 {
                self.slowest = (time, told());
            }
            if memory > self.largest.0 {
                self.largest = (memory, told());
            }
        }
    }

    fn break_limit(&mut self, bytes: &[u8], how: String, what: String) {
        let path = self.keep.join(format!("mutant-{}", self.broken.len()));
        let kept = match fs::write(&path, bytes) {
            Ok(()) => path.display().to_string(),
            Err(error) => format!("not kept: {error}"),
        };
        println!("BROKEN {how}\n  {what}\n  {kept}");
        self.broken.push(how);
    }

    fn finish(self) -> ExitCode {
        let seconds = self.started.elapsed().as_secs().max(1);
        println!(
            "{} mutants, {} calls of readers ({} accepted) in {seconds} s",
            self.mutants, self.calls, self.accepted
        );
        println!("slowest: {:?}, {}", self.slowest.0, self.slowest.1);
        println!("largest: {} KiB, {}", self.largest.0 >> 10, self.largest.1);
        println!("{} limits broken", self.broken.len());
        if self.mutants == 0 || self.accepted == 0 {
            println!("nothing was tried");
            return ExitCode::FAILURE;
        }
        ExitCode::from(u8::from(!self.broken.is_empty()))
    }
}

/// Of the whole process: readers may use threads of their own.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds)
}

/// Ends the process where a reader does not come back.
fn watch(started: Instant) {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let began = BEGAN.load(Ordering::Relaxed);
        if began > 0 && started.elapsed().as_secs() > began + HANGS {
            eprintln!("mutate: a reader hangs; mutate-current.txt says where");
            std::process::exit(1);
        }
    }
}

/// What a path is called in messages.
fn shown(path: &Path) -> String {
    rea::publish::display_path(path).into_owned()
}
