//! Native flows of mitmproxy. The recording's expected values are from
//! mitmproxy 12.2.3 itself (scripts/truth_flows.py). The tests bring a program
//! that runs the script it is given as mitmdump does, so that they need no
//! mitmproxy; where REA_MITMDUMP_COMMAND names the real one, it is used too.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking
#![cfg(target_os = "linux")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rea::Error;
use rea::json::{Text, canonical};
use rea::operation::{Cancellation, Context};
use rea::web::har::{self, CaptureRecord, Options};
use serde_json::{Value as Json, json};
use support::shown;

fn context() -> Context {
    Context::new(har::OPERATION)
}

fn error(error: &Error) -> Json {
    serde_json::from_slice(&canonical(error)).unwrap()
}

/// Python's own path: a shim would need an environment.
fn python() -> String {
    let said = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .unwrap();
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

/// A program in a folder, and a capture.
struct Given {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Given {
    /// A Python program.
    fn program(text: &str) -> Self {
        Self::script(&format!("#!{}\n{text}", python()))
    }

    fn script(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = support::file(folder.path(), "mitmdump", text.as_bytes());
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        Self { folder, program }
    }

    /// What runs the script as mitmdump does: its arguments, and the one
    /// module that the script takes from it.
    fn mitmdump(version: &str) -> Self {
        Self::program(&format!(
            r#"
import sys, types
assert sys.argv[1:4] == ["-n", "-q", "-s"] and len(sys.argv) == 5
package, version = types.ModuleType("mitmproxy"), types.ModuleType("mitmproxy.version")
version.VERSION, package.version = "{version}", version
sys.modules.update({{"mitmproxy": package, "mitmproxy.version": version}})
with open(sys.argv[4]) as file:
    script = compile(file.read(), sys.argv[4], "exec")
exec(script, {{"__name__": "__mitmproxy_script__", "__file__": sys.argv[4]}})
"#
        ))
    }

    fn options(&self) -> Options {
        Options {
            mitmdump: Some(self.program.clone()),
            ..Options::default()
        }
    }

    fn with(&self, flows: &[u8], options: &Options) -> Result<CaptureRecord, Error> {
        let path = support::file(self.folder.path(), "flows", flows);
        har::inspect_flows(&path, options, &context())
    }

    fn of(&self, flows: &[u8]) -> Json {
        shown(&self.with(flows, &self.options()).unwrap())["normalized_result"].clone()
    }

    fn refused(&self, flows: &[u8]) -> Json {
        error(&self.with(flows, &self.options()).unwrap_err())
    }
}

/// An element (tnetstrings.info, and `;` for text as mitmproxy writes it).
fn element(kind: char, content: &[u8]) -> Vec<u8> {
    let mut out = format!("{}:", content.len()).into_bytes();
    out.extend_from_slice(content);
    out.push(kind as u8);
    out
}

fn text(content: &str) -> Vec<u8> {
    element(';', content.as_bytes())
}

fn bytes(content: &[u8]) -> Vec<u8> {
    element(',', content)
}

fn list(elements: &[Vec<u8>]) -> Vec<u8> {
    element(']', &elements.concat())
}

fn object(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let parts = members
        .iter()
        .map(|(name, value)| [text(name), value.clone()].concat());
    element('}', &parts.collect::<Vec<_>>().concat())
}

fn nothing() -> Vec<u8> {
    element('~', b"")
}

fn header(name: &[u8], value: &[u8]) -> Vec<u8> {
    list(&[bytes(name), bytes(value)])
}

fn field<'a>(record: &'a Json, pointer: &str) -> &'a Json {
    let fields = record["binary_fields"].as_array().unwrap();
    let found = fields.iter().find(|field| field["pointer"] == pointer);
    found.unwrap_or_else(|| panic!("no bytes at {pointer}"))
}

#[test]
fn a_recording_is_as_mitmproxy_reads_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/har/mitmproxy.flows.gz");
    let given = Given::mitmdump("12.2.3");
    let mut programs = vec![given.program.clone()];
    programs.extend(std::env::var_os(har::MITMDUMP_SETTING).map(PathBuf::from));
    for program in programs {
        let options = Options {
            mitmdump: Some(program),
            ..Options::default()
        };
        let record = shown(&har::inspect_flows(&path, &options, &context()).unwrap());
        assert_eq!(record["parameters"]["format"], "mitmproxy");
        let decoder = &record["provider"];
        assert_eq!(decoder["id"], "mitmproxy-native-tnetstring");
        assert_eq!(decoder["version"], "12.2.3");
        let result = &record["normalized_result"];
        assert_eq!(&result["decoder"], decoder);
        assert_eq!(result["format"], "mitmproxy");
        assert_eq!(result["total_records"], 11);
        let container = json!({"numeric_literals": [], "records_pointer": null,
            "redactions": [], "reported": null});
        assert_eq!(result["container"], container);
        let records = result["records"].as_array().unwrap();
        // scripts/truth_flows.py
        let mut fields = String::new();
        let mut count = 0;
        for record in records {
            for field in record["binary_fields"].as_array().unwrap() {
                let content = field["content_base64"].as_str().unwrap_or("None");
                let pointer = field["pointer"].as_str().unwrap();
                fields += &format!("{} {pointer} {content}\n", record["ordinal"]);
                count += 1;
            }
        }
        assert_eq!(count, 507);
        assert_eq!(
            support::sha256(fields.as_bytes()),
            "c16f61badaa08f255490297096de56bbd3bf8d4767547f0c73104c8a7a86d652"
        );
        // The cookie that the application sets, and that the browser sends back.
        let edited: usize = records
            .iter()
            .map(|record| record["redactions"].as_array().unwrap().len())
            .sum();
        assert_eq!(edited, 8);
        assert!(!record.to_string().contains("not-for-records"));
        let hidden = STANDARD.encode("session=not-for-records");
        assert!(!record.to_string().contains(&hidden));
        // Flow 2 stands behind two others; nothing lies between flows.
        let mut end = 0;
        for record in records {
            let place = &record["location"];
            assert_eq!(place["kind"], "byte-range");
            assert_eq!(place["offset"], end);
            end += place["bytes"].as_u64().unwrap();
        }
        let request = &records[6]["reported"]["request"];
        assert_eq!(request["method"], "POST");
        assert_eq!(
            serde_json::from_str::<Json>(request["content"].as_str().unwrap()).unwrap(),
            json!({"name": "lamp", "tags": ["blue", "é"], "price": 9.5})
        );
        // The reply is compressed, as it came: bytes, and no text.
        let report = &records[10];
        assert_eq!(report["reported"]["response"]["content"], Json::Null);
        let packed = field(report, "/response/content")["content_base64"].clone();
        let packed = STANDARD.decode(packed.as_str().unwrap()).unwrap();
        assert_eq!(packed[..2], [0x1F, 0x8B]);
    }
}

#[test]
fn missing_and_empty_are_two_things_and_numbers_have_their_types() {
    let given = Given::mitmdump("12.2.3");
    let flow = object(&[
        ("type", text("http")),
        ("missing", nothing()),
        ("empty", bytes(b"")),
        ("binary", bytes(b"\xFF\x00")),
        ("text", text("")),
        ("yes", element('!', b"true")),
        ("count", element('#', b"-9007199254740993")),
        ("time", element('^', b"1796061571.239893")),
        ("huge", element('^', b"1e+16")),
        ("a/b~c", list(&[bytes(b"x"), list(&[])])),
    ]);
    let result = given.of(&[flow.clone(), flow.clone()].concat());
    let record = &result["records"][1];
    assert_eq!(
        record["location"],
        json!({"kind": "byte-range", "offset": flow.len(), "bytes": flow.len()})
    );
    assert_eq!(
        record["reported"],
        json!({"type": "http", "missing": null, "empty": "", "binary": null, "text": "",
            "yes": true, "count": null, "time": 1796061571.239893, "huge": 10_000_000_000_000_000_u64,
            "a/b~c": ["x", []]})
    );
    assert_eq!(
        record["numeric_literals"],
        json!([
            {"pointer": "/count", "producer_type": "integer", "literal": "-9007199254740993"},
            {"pointer": "/time", "producer_type": "float", "literal": "1796061571.239893"},
            {"pointer": "/huge", "producer_type": "float", "literal": "1e+16"},
        ])
    );
    // SHA-256 by sha256sum.
    let retained = |pointer, content, bytes, sha256| {
        json!({"pointer": pointer, "representation": "producer-bytes", "state": "retained",
            "content_base64": content, "bytes": bytes, "sha256": sha256})
    };
    assert_eq!(
        record["binary_fields"],
        json!([
            retained(
                "/empty",
                "",
                0,
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            ),
            retained(
                "/binary",
                "/wA=",
                2,
                "ea5dbf9596d187e9500f23e9a680109475341cf4e81f7e043f7d97152c10772f"
            ),
            retained(
                "/a~1b~0c/0",
                "eA==",
                1,
                "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
            ),
        ])
    );
    // A file of no flows is one.
    assert_eq!(given.of(b"")["total_records"], 0);
}

#[test]
fn credentials_are_left_out_wherever_flows_keep_them() {
    let given = Given::mitmdump("12.2.3");
    let request = |secret: &[u8]| {
        object(&[
            ("authority", bytes(b"user:pass-1@h:80")),
            ("path", bytes(b"/a@b")),
            (
                "headers",
                list(&[
                    header(b"AUTHORIZATION", secret),
                    header(b"Proxy-Authorization", b"\xFFsecret-2"),
                    header(b"Referer", b"http://u:secret-3@h/x"),
                    header(b"Origin", b"http://h"),
                    header(b"Location", b"\xFF//u:secret-4@h"),
                    header(b"X", b"kept"),
                ]),
            ),
            ("trailers", list(&[header(b"cookie", b"secret-5=1")])),
        ])
    };
    let pair = list(&[text("name-6"), text("secret-6")]);
    let flow = object(&[
        ("request", request(b"secret-7")),
        ("metadata", object(&[("proxyauth", pair)])),
        ("backup", object(&[("request", request(b"secret-8"))])),
    ]);
    let result = given.of(&flow);
    let record = &result["records"][0];
    let said = record.to_string();
    for hidden in ["secret-", "pass-1", "name-6"] {
        assert!(!said.contains(hidden), "{said}");
    }
    for number in 2..=8 {
        let secret = format!("secret-{number}");
        for shift in 0..3 {
            // Base64 of the same text at each of its three alignments.
            let padded = [&vec![b' '; shift][..], secret.as_bytes()].concat();
            let spelled = STANDARD.encode(padded);
            assert!(!said.contains(&spelled[4..spelled.len() - 4]), "{secret}");
        }
    }
    let request = &record["reported"]["request"];
    assert_eq!(request["headers"][2], json!(["Referer", "http://h/x"]));
    assert_eq!(request["headers"][3], json!(["Origin", "http://h"]));
    assert_eq!(request["path"], "/a@b");
    assert_eq!(request["authority"], Json::Null);
    let cut = field(record, "/request/headers/2/1");
    assert_eq!(cut["state"], "redacted");
    assert_eq!(cut["sha256"], Json::Null);
    assert_eq!(field(record, "/request/headers/5/1")["state"], "retained");
    let pointers: Vec<&str> = record["redactions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|redaction| redaction["pointer"].as_str().unwrap())
        .collect();
    let of = |root: &str| {
        let names = [
            "authority",
            "headers/0/1",
            "headers/1/1",
            "headers/2/1",
            "headers/4/1",
        ];
        let mut all: Vec<String> = names.iter().map(|name| format!("{root}/{name}")).collect();
        all.push(format!("{root}/trailers/0/1"));
        all
    };
    let mut expected = of("/request");
    expected.extend(["/metadata/proxyauth/0", "/metadata/proxyauth/1"].map(str::to_owned));
    expected.extend(of("/backup/request"));
    assert_eq!(pointers, expected);
}

#[test]
fn declared_values_are_left_out_of_bytes_names_and_places() {
    let given = Given::mitmdump("12.2.3");
    let flow = object(&[
        ("content", bytes(b"a token-x b")),
        ("raw", bytes(b"\xFFtoken-x")),
        (
            "token-x-name",
            object(&[("n", element('#', b"1")), ("b", bytes(b"z"))]),
        ),
        ("other", bytes(b"kept")),
    ]);
    let options = Options {
        sensitive_values: vec![Text::from("token-x")],
        ..given.options()
    };
    let record = shown(&given.with(&flow, &options).unwrap());
    let record = &record["normalized_result"]["records"][0];
    assert!(!record.to_string().contains("token-x"));
    assert_eq!(
        record["reported"],
        json!({"content": null, "raw": null, "other": "kept"})
    );
    let states: Vec<(&str, &str)> = record["binary_fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| {
            let pointer = field["pointer"].as_str().unwrap();
            (pointer, field["state"].as_str().unwrap())
        })
        .collect();
    let expected = [
        ("/content", "redacted"),
        ("/raw", "redacted"),
        ("/other", "retained"),
    ];
    assert_eq!(states, expected);
    assert_eq!(record["numeric_literals"], json!([]));
    // The length of the flow is part of its place.
    let options = Options {
        sensitive_values: vec![Text::from(flow.len().to_string().as_str())],
        ..given.options()
    };
    let record = shown(&given.with(&flow, &options).unwrap());
    let place = &record["normalized_result"]["records"][0]["location"];
    assert_eq!(place["kind"], "unknown");
}

#[test]
fn files_that_are_no_flows_are_refused_with_the_place() {
    let given = Given::mitmdump("12.2.3");
    let flow = object(&[("a", list(&[bytes(b"x")]))]);
    let refused = |flows: &[u8], pointer: &str, said: &str| {
        let error = given.refused(flows);
        assert_eq!(error["code"], "invalid_request", "{error}");
        let issue = &error["details"]["issues"][0];
        assert_eq!(issue["path"], json!(["capture_path", pointer]), "{error}");
        let message = issue["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
    };
    refused(br#"{"log": {}}"#, "", "byte 0 has no length");
    refused(
        &[&flow[..], b"rest"].concat(),
        "",
        &format!("byte {} has", flow.len()),
    );
    for length in [1, 2, 3, 9, flow.len() - 1] {
        refused(&flow[..length], "", "byte 0");
    }
    refused(&text("no object"), "", "is no flow");
    refused(b"999999999999999999:x}", "", "has no length");
    refused(b"01:x,", "", "has no length");
    let member = |value: &[u8]| element('}', &[&text("a/b")[..], value].concat());
    refused(&member(b"9:x,"), "/a~1b", "byte 9 is cut");
    refused(&member(b""), "", "has no value");
    refused(&member(b"1:x?"), "/a~1b", "unknown type");
    refused(&member(b"3:nan^"), "/a~1b", "JSON does not have");
    refused(&member(b"1:5^"), "/a~1b", "JSON does not have");
    refused(&member(b"3:1_0#"), "/a~1b", "JSON does not have");
    refused(&member(b"1:\xFF;"), "/a~1b", "no valid UTF-8");
    refused(
        &object(&[("a", nothing()), ("a", nothing())]),
        "",
        "same name twice",
    );
    let number_as_name = element('}', b"1:1#0:~");
    refused(&number_as_name, "", "a name that is no text");
    // 64 levels in the state's own are taken.
    let nested = |levels: usize| {
        let deep = (0..levels).fold(nothing(), |inner, _| list(&[inner]));
        object(&[("deep", deep)])
    };
    given.of(&nested(64));
    for levels in [65, 5000] {
        let error = given.refused(&nested(levels));
        let issue = &error["details"]["issues"][0];
        assert_eq!(issue["reason"], "out_of_range", "{error}");
        assert_eq!(issue["expected"], json!({"maximum_capture_nesting": 64}));
    }
    let small = Options {
        max_bytes: 10,
        ..given.options()
    };
    let error = error(&given.with(&flow, &small).unwrap_err());
    assert_eq!(error["details"]["issues"][0]["reason"], "out_of_range");
    let third = Options {
        record_ordinals: Some(vec![1]),
        ..given.options()
    };
    assert!(given.with(&flow, &third).is_err());
}

#[test]
fn another_program_or_none_is_told() {
    let flow = object(&[]);
    let refused = |options: &Options, given: &Given, said: &str| {
        let error = error(&given.with(&flow, options).unwrap_err());
        assert_eq!(error["code"], "capability_unavailable", "{error}");
        assert_eq!(error["details"]["profile"], "mitmdump 12.2.3");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        let action = error["remediation"]["action"].as_str().unwrap();
        assert!(action.contains("REA_MITMDUMP_COMMAND") && action.contains("hardump"));
    };
    let old = Given::mitmdump("12.2.2");
    refused(&old.options(), &old, "it is mitmdump 12.2.2");
    refused(&Options::default(), &old, "names none");
    for program in ["mitmdump", "/no/such/mitmdump", "/"] {
        let options = Options {
            mitmdump: Some(program.into()),
            ..Options::default()
        };
        refused(&options, &old, "not the absolute path of a file");
    }
    let silent = Given::script("#!/bin/sh\n");
    refused(&silent.options(), &silent, "it read no flows");
    let failing = Given::script("#!/bin/sh\necho one; echo 'why not' >&2; exit 3\n");
    refused(&failing.options(), &failing, "exit status: 3: why not");
    let unreadable = Given::script("#!/bin/sh\n");
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&unreadable.program, mode).unwrap();
    refused(&unreadable.options(), &unreadable, "exit status: 126");
    // What answers with something else.
    for (reply, code) in [
        ("{", "unreadable_output"),
        (r#"{"version":"12.2.3"}"#, "unreadable_output"),
        (r#"{"version":"12.2.3","flows":[{}]}"#, "unreadable_output"),
        (
            r#"{"version":"12.2.3","flows":[{"offset":0,"bytes":1,"state":{},"binary":[[0,"AA=="]]}]}"#,
            "unreadable_output",
        ),
        ("{}", "capability_unavailable"),
    ] {
        let given = Given::script(&format!("#!/bin/sh\ncat > reply <<'END'\n{reply}\nEND\n"));
        assert_eq!(given.refused(&flow)["code"], code, "{reply}");
    }
}

#[test]
fn the_program_has_limits_and_no_environment() {
    let given = Given::program(
        r#"
import os, resource, sys
names = "RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE"
limits = [resource.getrlimit(getattr(resource, name)) for name in names]
print(limits, os.getcwd() == os.environ["HOME"] == os.environ["TMPDIR"],
    oct(os.stat(".").st_mode), os.getpgid(0) == os.getpid(), sys.stdin.read() == "",
    sorted(set(os.environ) - {"PWD", "_", "SHLVL", "OLDPWD", "LC_CTYPE"}), os.getcwd())
sys.exit(1)
"#,
    );
    let error = given.refused(&object(&[]));
    let message = error["message"].as_str().unwrap();
    let expected = "[(805306368, 805306368), (30, 31), (100663296, 100663296), (0, 0)] True \
        0o40700 True True ['HOME', 'LANG', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'TMPDIR'] ";
    let (_, found) = message.split_once("exit status: 1: ").unwrap();
    let folder = found.strip_prefix(expected).expect(found);
    assert!(folder.contains("rea-flows-"), "{folder}");
    assert!(!Path::new(folder).exists(), "the folder is left");
}

#[test]
fn limits_that_are_reached_are_told() {
    let flow = object(&[("a", nothing())]);
    let constrained = |text: &str, resource: &str| {
        let error = Given::program(text).refused(&flow);
        assert_eq!(error["code"], "resource_constraint", "{error}");
        let reason = error["details"]["reason"].as_str().unwrap();
        assert!(reason.contains(resource), "{reason}");
    };
    constrained("import os; os._exit(76)", "768 MiB");
    constrained("import os; os._exit(75)", "96 MiB");
    constrained(
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n\
         with open('reply', 'wb') as file:\n    file.seek(96 << 20); file.write(b'x')",
        "96 MiB",
    );
    constrained(
        "import sys, time; sys.stderr.write('x' * (2 << 20)); sys.stderr.flush(); time.sleep(60)",
        "1 MiB of diagnostics",
    );
    constrained("import os; os.kill(0, 24)", "processor time");
    // The script's own way to say so: a reply without room, and no memory.
    let given = Given::mitmdump("12.2.3");
    let control = vec![1; 20 << 20];
    let error = given.refused(&object(&[("a", bytes(&control))]));
    assert_eq!(error["code"], "resource_constraint", "{error}");
}

#[test]
fn a_stop_ends_all_that_was_started() {
    let given = Given::script("#!/bin/sh\nsleep 600 &\necho $! > \"${0%/*}/child\"\nwait\n");
    let child = given.folder.path().join("child");
    let stopped = Context {
        cancellation: Arc::new(Cancellation::default()),
        ..context()
    };
    let path = support::file(given.folder.path(), "flows", &object(&[]));
    let options = given.options();
    let cancellation = Arc::clone(&stopped.cancellation);
    let work = std::thread::spawn(move || har::inspect_flows(&path, &options, &stopped));
    let number = loop {
        match std::fs::read_to_string(&child) {
            Ok(number) if number.ends_with('\n') => break number,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let asked = Instant::now();
    cancellation.request(None);
    let error = work.join().unwrap().unwrap_err();
    assert_eq!(error.code().as_str(), "cancelled");
    assert!(asked.elapsed() < Duration::from_secs(5));
    // Its own process is gone, or about to be reaped by whoever inherited it.
    let status = Path::new("/proc").join(number.trim()).join("stat");
    let ended = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        match std::fs::read_to_string(&status) {
            Err(_) => true,
            Ok(text) => text.contains(") Z "),
        }
    });
    assert!(ended, "a process of the program goes on");
}

#[test]
fn the_setting_names_the_program() {
    let given = Given::mitmdump("12.2.3");
    let path = support::file(
        given.folder.path(),
        "a.flows",
        &object(&[("a", bytes(b"x"))]),
    );
    let run = |program: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
        command.env_remove(har::MITMDUMP_SETTING);
        if let Some(program) = program {
            command.env(har::MITMDUMP_SETTING, program);
        }
        let format = ["inspect-web-network-capture", "--format", "canonical"];
        let said = command.args(format).arg(&path).arg("mitmproxy").output();
        said.unwrap()
    };
    let said = run(Some(&given.program));
    let record: Json = serde_json::from_slice(&said.stdout).unwrap();
    let first = &record["normalized_result"]["records"][0];
    assert_eq!(first["reported"], json!({"a": "x"}));
    let said = run(None);
    assert_eq!(said.status.code(), Some(1));
    let text = String::from_utf8(said.stderr).unwrap();
    assert!(text.contains("REA_MITMDUMP_COMMAND names none"), "{text}");
}
