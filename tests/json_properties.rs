//! What must hold of the JSON reader, the writer and the verifier for all
//! inputs, and what hostile input must not do.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::io::{Cursor, Read};

use proptest::prelude::*;
use rea::digest::Digest;
use rea::evidence::{Creation, Evidence, Provider, Report, Source, Status};
use rea::evidence::{MAX_FREE_DEPTH, verify_all, verify_both_ways};
use rea::json::{
    Budget, Event, Limits, Object, ReadError, ReadErrorKind, Reader, Text, Value, WriteJson,
    Writer, canonical,
};
use rea::operation::Context;

fn indented(value: &dyn WriteJson) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::indented(&mut out);
    value.write_json(&mut w);
    w.finish().unwrap();
    out
}

fn parse(text: &[u8]) -> Result<Value, ReadError> {
    Value::parse(text, Limits::default())
}

/// Any string that JSON can name, lone surrogates included, by way of the
/// reader: escapes are the only way to write them.
fn any_text() -> impl Strategy<Value = Text> {
    let unit = prop_oneof![
        4 => 0x20..0x7Fu16,
        1 => any::<u16>(),
        1 => 0xD7F0..0xE010u16,
        1 => prop_oneof![Just(0u16), Just(0x22), Just(0x5C), Just(0x7F), Just(0x2028)],
    ];
    prop::collection::vec(unit, 0..12).prop_map(|units| {
        let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        match parse(format!("\"{escaped}\"").as_bytes()) {
            Ok(Value::String(text)) => text,
            other => panic!("{other:?}"),
        }
    })
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has finite numbers", |n| n.is_finite()),
        any::<i32>().prop_map(f64::from),
        any::<u64>().prop_map(|n| n as f64),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any_number().prop_map(Value::Number),
        any_text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any_text(), inner, 0..6).prop_map(|members| {
                Value::Object(Object::from_members(members.into_iter().collect()).unwrap())
            }),
        ]
    })
}

/// Text of `value` with members rotated and escapes and space that no writer
/// chooses.
fn odd_text(value: &Value, turn: usize, out: &mut Vec<u8>) {
    let space = [&b" "[..], b"\n", b"\t\r", b""];
    out.extend(space[turn % 4]);
    match value {
        Value::Object(object) => {
            out.push(b'{');
            let members: Vec<_> = object.iter().collect();
            for at in 0..members.len() {
                let (name, value) = members[(at + turn) % members.len()];
                out.extend(if at > 0 { &b","[..] } else { b"" });
                out.extend(space[(turn + at) % 4]);
                out.extend(odd_string(name, turn + at));
                out.extend(space[(turn + at + 1) % 4]);
                out.push(b':');
                odd_text(value, turn + at + 1, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                out.extend(if at > 0 { &b","[..] } else { b"" });
                odd_text(item, turn + at, out);
            }
            out.push(b']');
        }
        Value::String(text) => out.extend(odd_string(text, turn)),
        Value::Number(number) if turn % 2 == 1 => out.extend(format!("{number:e}").bytes()),
        scalar => out.extend(canonical(scalar)),
    }
    out.extend(space[(turn + 2) % 4]);
}

fn odd_string(text: &Text, turn: usize) -> Vec<u8> {
    match text.as_str() {
        Some(text) if turn % 2 == 1 => {
            let units = text.encode_utf16();
            let escaped: String = units.map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{escaped}\"").into_bytes()
        }
        _ => canonical(&Value::String(text.clone())),
    }
}

/// Complete events, string parts joined, and how the text ended.
fn events(input: impl Read, window: usize) -> (Vec<String>, String) {
    let mut reader = Reader::with_buffer(input, Limits::default(), window);
    let mut all = Vec::new();
    let mut text = Vec::new();
    loop {
        if reader.is_between() {
            match reader.more() {
                Ok(true) => {}
                Ok(false) => return (all, format!("{:?}", reader.place())),
                Err(error) => return (all, error.to_string()),
            }
        }
        match reader.next_event() {
            Err(error) => return (all, error.to_string()),
            Ok(Event::Text { part, last, .. }) => {
                text.extend_from_slice(part);
                if last {
                    all.push(format!("{:?}", std::mem::take(&mut text)));
                }
            }
            Ok(Event::Key { name, .. }) => all.push(format!("{name:?}:")),
            Ok(event) => all.push(format!("{event:?}")),
        }
    }
}

/// Hands out one byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = out.len().min(1);
        self.0.read(&mut out[..count])
    }
}

fn report_lines(report: Option<Report>) -> Option<Vec<Vec<u8>>> {
    let report = report?;
    let nested = report.nested.iter().map(|inner| canonical(inner));
    Some(std::iter::once(canonical(&report)).chain(nested).collect())
}

proptest! {
    #[test]
    fn what_is_written_is_read(value in any_value()) {
        let text = canonical(&value);
        let again = parse(&text).unwrap();
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(canonical(&again), text);
        prop_assert_eq!(parse(&indented(&value)).unwrap(), value);
    }

    #[test]
    fn how_it_is_written_does_not_matter(value in any_value(), turn in 0usize..16) {
        let mut odd = Vec::new();
        odd_text(&value, turn, &mut odd);
        let read = parse(&odd).unwrap();
        prop_assert_eq!(canonical(&read), canonical(&value));
    }

    #[test]
    fn cuts_do_not_matter(value in any_value(), turn in 0usize..16, window in 1usize..40) {
        let mut text = Vec::new();
        odd_text(&value, turn, &mut text);
        let whole = events(&text[..], 1 << 16);
        prop_assert_eq!(&events(&text[..], window), &whole);
        prop_assert_eq!(&events(Trickle(&text), 64), &whole);
    }

    #[test]
    fn cut_off_text_is_an_error(value in any_value(), cut in any::<prop::sample::Index>()) {
        let text = canonical(&Value::Array(vec![value]));
        let cut = cut.index(text.len());
        let error = parse(&text[..cut]).unwrap_err();
        prop_assert!(matches!(error.kind(), ReadErrorKind::Syntax));
        prop_assert!(error.place().offset <= cut as u64);
    }

    #[test]
    fn records_verify_however_they_are_written(value in any_value(), turn in 0usize..16) {
        let evidence = record(value);
        let text = canonical(&evidence);
        let (streamed, replayed) = verify_both_ways(&text);
        prop_assert_eq!(streamed.as_ref().map(|r| r.status), Some(Status::Verified));
        prop_assert_eq!(report_lines(streamed), report_lines(replayed));
        let mut odd = Vec::new();
        odd_text(&evidence.record().clone().into(), turn, &mut odd);
        let (_, replayed) = verify_both_ways(&odd);
        prop_assert_eq!(replayed.map(|r| r.status), Some(Status::Verified));
        let read = Evidence::from_argument(&odd, "x").unwrap();
        prop_assert_eq!(read.id(), evidence.id());
    }

    #[test]
    fn any_changed_byte_is_found(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut text = nested_record();
        let at = at.index(text.len());
        prop_assume!(text[at] != to);
        text[at] = to;
        // A number written otherwise is the same number; so are space and
        // nothing. Everything else must be noticed.
        let Ok(value) = parse(&text) else { return Ok(()) };
        prop_assume!(canonical(&value) != nested_record());
        let (streamed, replayed) = verify_both_ways(&text);
        if streamed.is_some() {
            prop_assert_eq!(report_lines(streamed), report_lines(replayed.clone()));
        }
        let display_only = parse(&nested_record()).is_ok_and(|original| {
            hashed(&original) == hashed(&value)
        });
        prop_assert_eq!(replayed.unwrap().is_verified(), display_only);
    }
}

/// What the id of a record is the hash of.
fn hashed(record: &Value) -> Option<Object> {
    let mut record = record.as_object()?.clone();
    if let Some(Value::Object(mut subject)) = record.remove("subject") {
        subject.remove("name")?;
        subject.remove("local_path")?;
        record.insert("subject", subject);
    }
    Some(record)
}

fn provider() -> Provider {
    Provider {
        id: "p",
        name: "P",
        version: "1",
    }
}

fn record(value: Value) -> Evidence {
    let mut creation = Creation::new("an_operation", provider());
    creation.normalized_result = value.clone();
    creation.parameters.insert("value", value.clone());
    creation.raw_result = value;
    Evidence::create(creation)
}

/// A record that holds a record, as canonical text.
fn nested_record() -> Vec<u8> {
    let inner = record(Value::from("inner"));
    let mut substep = Object::new();
    substep.insert("evidence_id", inner.id().to_string());
    substep.insert("evidence", inner.into_record());
    let mut result = Object::new();
    result.insert("substeps", vec![Value::from(substep)]);
    let mut creation = Creation::new("outer", provider());
    creation.normalized_result = result.into();
    creation.subject = Some(rea::evidence::NewSubject {
        path: "a/b".to_owned(),
        sha256: Digest::of(b"x"),
        format: "file".to_owned(),
        architecture: None,
    });
    canonical(&Evidence::create(creation))
}

#[test]
fn records_inside_records_are_verified() {
    let report = verify_both_ways(&nested_record()).0.unwrap();
    assert!(report.is_verified());
    assert_eq!(report.nested.len(), 1);
    let pointer = report.nested[0].pointer.as_ref().unwrap().to_string();
    assert_eq!(pointer, "/normalized_result/substeps/0/evidence");

    let text = String::from_utf8(nested_record()).unwrap();
    let tampered = text.replacen(":\"inner\"", ":\"other\"", 1);
    let report = verify_both_ways(tampered.as_bytes()).0.unwrap();
    assert_eq!(report.status, Status::Invalid);
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].stage.as_str(), "evidence-id");
    assert_eq!(report.nested[0].status, Status::Invalid);
}

/// Records inside each other, `levels` of them beside the outermost.
fn matryoshka(levels: usize) -> Evidence {
    let mut evidence = record(Value::Null);
    for _ in 0..levels {
        let mut substep = Object::new();
        substep.insert("evidence_id", evidence.id().to_string());
        substep.insert("evidence", evidence.into_record());
        let mut result = Object::new();
        result.insert("substeps", vec![Value::from(substep)]);
        let mut creation = Creation::new("outer", provider());
        creation.normalized_result = result.into();
        evidence = Evidence::create(creation);
    }
    evidence
}

#[test]
fn eight_levels_of_records_are_verified() {
    let report = verify_both_ways(&canonical(&matryoshka(8))).0.unwrap();
    assert!(report.is_verified());
    assert_eq!(report.nested.len(), 8);

    let report = verify_both_ways(&canonical(&matryoshka(9))).0.unwrap();
    assert_eq!(report.status, Status::Verified);
    assert_eq!(report.nested.len(), 8);
    assert_eq!(report.nested[0].status, Status::Invalid);
    let problem = &report.nested[0].problems[0];
    assert_eq!(problem.stage.as_str(), "nested-evidence");
}

/// RFC 8785 appendix B, and both sides of the switches of notation.
#[test]
fn numbers_as_ecmascript_prints_them() {
    for (bits, text) in [
        (0x0000000000000000u64, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7fefffffffffffff, "1.7976931348623157e+308"),
        (0xffefffffffffffff, "-1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0xc340000000000000, "-9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44b52d02c7e14af5, "9.999999999999997e+22"),
        (0x44b52d02c7e14af6, "1e+23"),
        (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
        (0x444b1ae4d6e2ef4e, "999999999999999700000"),
        (0x444b1ae4d6e2ef4f, "999999999999999900000"),
        (0x444b1ae4d6e2ef50, "1e+21"),
        (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
        (0x3eb0c6f7a0b5ed8d, "0.000001"),
        (0x41b3de4355555553, "333333333.3333332"),
        (0x41b3de4355555554, "333333333.33333325"),
        (0x41b3de4355555555, "333333333.3333333"),
        (0x41b3de4355555556, "333333333.3333334"),
        (0x41b3de4355555557, "333333333.33333343"),
        (0xbecbf647612f3696, "-0.0000033333333333333333"),
        (0x43143ff3c1cb0959, "1424953923781206.2"),
    ] {
        let value = Value::Number(f64::from_bits(bits));
        assert_eq!(canonical(&value), text.as_bytes(), "{bits:016x}");
        assert_eq!(parse(text.as_bytes()).unwrap(), value);
    }
    for (number, text) in [
        (9007199254740991.0, "9007199254740991"),
        (9007199254740994.0, "9007199254740994"),
        (4.5, "4.5"),
        (100.0, "100"),
        (-1.0, "-1"),
        (0.1 + 0.2, "0.30000000000000004"),
    ] {
        assert_eq!(canonical(&Value::Number(number)), text.as_bytes());
    }
}

#[track_caller]
fn refused(text: &[u8], check: impl Fn(&ReadErrorKind) -> bool) {
    let error = parse(text).unwrap_err();
    assert!(check(error.kind()), "{error}");
    let (_, whole) = events(text, 1 << 16);
    let (_, pieces) = events(text, 3);
    assert_eq!(whole, pieces);
    // The verifier ends in a report, whatever the text is.
    let source = Source::stream("-", Box::new(Cursor::new(text.to_vec())));
    let mut statuses = Vec::new();
    verify_all(source, Limits::default(), &Context::new("x"), &mut |r| {
        statuses.push(r.status);
        Ok(())
    })
    .unwrap();
    assert!(!statuses.contains(&Status::Verified));
}

fn syntax(kind: &ReadErrorKind) -> bool {
    matches!(kind, ReadErrorKind::Syntax)
}

#[test]
fn hostile_text_is_refused() {
    for text in [
        &b""[..],
        b" ",
        b"\xEF\xBB\xBF{}",
        b"\xFE\xFF",
        b"{",
        b"[",
        b"\"",
        b"\"abc",
        b"{\"a\"",
        b"{\"a\":",
        b"{\"a\":1",
        b"{\"a\":1,",
        b"{\"a\":1,}",
        b"{,}",
        b"{a:1}",
        b"{'a':1}",
        b"{\"a\" 1}",
        b"{\"a\":1 \"b\":2}",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"[1}",
        b"{\"a\":1]",
        b"]",
        b"}",
        b"nul",
        b"nulL",
        b"tru",
        b"True",
        b"NaN",
        b"Infinity",
        b"-",
        b"+1",
        b"01",
        b"1.",
        b".5",
        b"1e",
        b"0x10",
        b"1_000",
        b"\x00",
        b"\"\x00\"",
        b"\"\x1F\"",
        b"\"\n\"",
        b"{\"\x00\":1}",
        b"[1\x00]",
        b"[1\x0B]",
        b"\"\\",
        b"\"\\u",
        b"\"\\u12",
        b"\"\\u12\"",
        b"\"\\uD83D\\u12\"",
        b"\"\\u00g0\"",
        b"\"\\x41\"",
        b"\"\\'\"",
        b"\"\\U0041\"",
        b"\"\xC0\xAF\"",
        b"\"\xED\xA0\x80\"",
        b"\"\xED\xB0\x80\"",
        b"\"\xF4\x90\x80\x80\"",
        b"\"\xFF\"",
        b"\"\xE2\x82\"",
        b"\"\xE2\x82",
        b"{\"\xE2\x82\":1}",
        b"// a comment\n1",
        b"/**/1",
        b"1 2",
        b"{}{}",
        b"truefalse",
        b"\xC2\xA01",
        b"\xE2\x80\xA81",
        b"\x1E{}",
    ] {
        refused(text, syntax);
    }
}

#[test]
fn lone_surrogates_are_kept_wherever_the_cut_is() {
    let text = br#"["\ud83d\ude00","\ud83d","\ude00","\ude00\ud83d","\ud83dx","\ud83d\n","\ud83d\ud83d\ude00","\ud83d\u0041"]"#;
    let whole = events(&text[..], 1 << 16);
    for window in 1..text.len() {
        assert_eq!(events(&text[..], window), whole);
    }
    let value = parse(text).unwrap();
    let expected = "[\"\u{1F600}\",\"\\ud83d\",\"\\ude00\",\"\\ude00\\ud83d\",\"\\ud83dx\",\"\\ud83d\\n\",\"\\ud83d\u{1F600}\",\"\\ud83dA\"]";
    assert_eq!(canonical(&value), expected.as_bytes());
}

#[test]
fn depth_is_bounded() {
    let depth = |kind: &ReadErrorKind| matches!(kind, ReadErrorKind::Depth);
    for levels in [1025, 10_000, 1_000_000] {
        refused(&b"[".repeat(levels), depth);
        refused(&b"{\"a\":".repeat(levels), depth);
        refused(&b"[{\"a\":".repeat(levels), depth);
    }
    let fits = [b"[".repeat(1024), b"]".repeat(1024)].concat();
    parse(&fits).unwrap();
    let limits = Limits {
        max_depth: 0,
        ..Limits::default()
    };
    Value::parse(b"1", limits).unwrap();
    Value::parse(b"[]", limits).unwrap_err();
}

#[test]
fn too_deep_records_are_invalid_not_unreadable() {
    for (levels, status) in [
        (MAX_FREE_DEPTH, Status::Verified),
        (MAX_FREE_DEPTH + 1, Status::Invalid),
        (5_000, Status::Invalid),
    ] {
        let mut value = Value::Null;
        for _ in 0..levels {
            value = Value::Array(vec![value]);
        }
        let text = if levels < 2_000 {
            let mut creation = Creation::new("an_operation", provider());
            creation.normalized_result = value;
            canonical(&Evidence::create(creation))
        } else {
            std::mem::forget(value);
            let open = "[".repeat(levels);
            let close = "]".repeat(levels);
            let text = String::from_utf8(canonical(&record(Value::Null))).unwrap();
            text.replace(
                "\"normalized_result\":null",
                &format!("\"normalized_result\":{open}{close}"),
            )
            .into_bytes()
        };
        let source = Source::stream("-", Box::new(Cursor::new(text)));
        let mut reports = Vec::new();
        verify_all(source, Limits::default(), &Context::new("x"), &mut |r| {
            reports.push(r);
            Ok(())
        })
        .unwrap();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].status, status, "{levels}");
        if status == Status::Invalid {
            let problem = &reports[0].problems[0];
            assert_eq!(problem.stage.as_str(), "shape");
            assert_eq!(problem.pointer.to_string(), "/normalized_result");
        }
    }
}

#[track_caller]
fn boundary(error: &ReadError, expected: &str) {
    match error.kind() {
        ReadErrorKind::Resource { boundary, .. } => assert_eq!(*boundary, expected),
        _ => panic!("{error}"),
    }
}

#[test]
fn budgets() {
    let error = parse(&b"1".repeat(10 << 20)).unwrap_err();
    boundary(&error, "number");
    let contract = error.into_file_error("f.json");
    assert_eq!(contract.code().as_str(), "resource_constraint");
    let limits = contract.details().get("reported_limits").unwrap();
    for member in ["boundary", "input_path", "input_bytes", "maximum"] {
        assert!(limits.get(member).is_some(), "{member}");
    }

    let name = [&b"{\""[..], &b"n".repeat(17 << 20), b"\":1}"].concat();
    boundary(&parse(&name).unwrap_err(), "member-name");

    let limits = Limits {
        max_input_bytes: 9,
        ..Limits::default()
    };
    boundary(
        &Value::parse(b"[1,2,3,4,5]", limits).unwrap_err(),
        "input-bytes",
    );
    Value::parse(b"[1,2,3,4]", limits).unwrap();

    let budget = Budget {
        max_text_bytes: 1000,
        max_memory_bytes: 50_000,
    };
    let read = |text: &[u8]| Reader::new(text, Limits::default()).read_value(budget);
    let long = [&b"\""[..], &b"x".repeat(1001), b"\""].concat();
    boundary(&read(&long).unwrap_err(), "document-text");
    let amplified = [&b"["[..], &b"[],".repeat(20_000), b"1]"].concat();
    let budget = Budget {
        max_text_bytes: 1 << 20,
        ..budget
    };
    let read = |text: &[u8]| Reader::new(text, Limits::default()).read_value(budget);
    boundary(&read(&amplified).unwrap_err(), "document-memory");
    let names: String = (0..20_000).map(|n| format!("\"{n}\":1,")).collect();
    let names = format!("{{{names}\"x\":1}}");
    boundary(&read(names.as_bytes()).unwrap_err(), "document-memory");
}

#[test]
fn duplicates_are_refused_at_every_level() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{"b":1,"a":1,"b":1}"#,
        r#"[{"x":[{"":0,"":0}]}]"#,
        r#"{"x":{"a":1,"b":2,"a":3}}"#,
        r#"{"\ud83d\ude00":1,"😀":2}"#,
        r#"{"\ud800":1,"\uD800":2}"#,
    ] {
        refused(text.as_bytes(), |kind| {
            matches!(kind, ReadErrorKind::Duplicate)
        });
    }
    // Composed and decomposed forms are different names.
    parse("{\"\u{e9}\":1,\"e\u{301}\":2,\"A\":3,\"a\":4}".as_bytes()).unwrap();
}

#[test]
fn a_record_cut_off_anywhere_is_unreadable() {
    let text = nested_record();
    for cut in 0..text.len() {
        refused(&text[..cut], syntax);
    }
}

#[test]
fn many_names_take_bounded_time() {
    // A million names in the worst order: a tree or a table would do, a list
    // would not.
    let mut text = b"{".to_vec();
    for number in (0..1_000_000u32).rev() {
        text.extend(format!("\"{:08x}\":0,", number.reverse_bits()).bytes());
    }
    text.extend(b"\"\":0}");
    let started = std::time::Instant::now();
    let value = parse(&text).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 1_000_001);
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn concatenated_documents() {
    let read = |text: &str| {
        let mut reader = Reader::new(text.as_bytes(), Limits::default());
        let mut all = Vec::new();
        loop {
            match reader.more() {
                Ok(true) => match reader.read_value(Budget::default()) {
                    Ok(value) => all.push(String::from_utf8(canonical(&value)).unwrap()),
                    Err(_) => return Err(all),
                },
                Ok(false) => return Ok(all),
                Err(_) => return Err(all),
            }
        }
    };
    let values = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    assert_eq!(read(""), Ok(vec![]));
    assert_eq!(read(" \n"), Ok(vec![]));
    assert_eq!(
        read("{}{}\n[]\r\n\t1 2"),
        Ok(values(&["{}", "{}", "[]", "1", "2"]))
    );
    assert_eq!(read("1\"a\"{}"), Ok(values(&["1", "\"a\"", "{}"])));
    assert_eq!(read("truefalse"), Err(values(&["true"])));
    assert_eq!(read("1-2"), Err(vec![]));
    assert_eq!(read("{},{}"), Err(values(&["{}"])));
    assert_eq!(read("{}\n{"), Err(values(&["{}"])));
}

#[test]
fn errors_say_where() {
    let error = parse(b"{\n  \"a\": 1,\n  \"b\": tru\n}").unwrap_err();
    let place = error.place();
    assert_eq!((place.line, place.column, place.offset), (3, 11, 22));
    assert!(error.to_string().contains("line 3"), "{error}");
    for window in 1..30 {
        let (_, end) = events(&b"{\n  \"a\": 1,\n  \"b\": tru\n}"[..], window);
        assert_eq!(end, error.to_string());
    }
}

#[test]
fn verification_does_not_depend_on_threads() {
    // Records inside each other, each long enough for hashes to move to
    // threads; one of them is tampered with, and one is no record.
    let mut evidence = record(Value::Array(vec!["x".repeat(1000).into(); 300]));
    for _ in 0..3 {
        let mut substep = Object::new();
        substep.insert("evidence_id", evidence.id().to_string());
        substep.insert("evidence", evidence.into_record());
        let mut result = Object::new();
        result.insert("padding", vec!["y".repeat(1000); 100]);
        result.insert("substeps", vec![Value::from(substep)]);
        let mut creation = Creation::new("outer", provider());
        creation.normalized_result = result.into();
        evidence = Evidence::create(creation);
    }
    let good = canonical(&evidence);
    let text = String::from_utf8(good.clone()).unwrap();
    let bad = text.replacen("xxx", "xxy", 1).into_bytes();
    let unsorted = text.replacen('{', "{\"zzz\":0,", 1).into_bytes();
    let all = [&good[..], b"\n", &bad, b"\n", &unsorted, b"\n", &good].concat();
    let mut first = None;
    for threads in [1, 2, 3, 8] {
        let context = Context {
            threads,
            ..Context::new("x")
        };
        let source = Source::stream("-", Box::new(Cursor::new(all.clone())));
        let mut lines = Vec::new();
        verify_all(source, Limits::default(), &context, &mut |report| {
            lines.push(report_lines(Some(report)));
            Ok(())
        })
        .unwrap();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], lines[3]);
        assert_ne!(lines[0], lines[1]);
        assert_eq!(first.get_or_insert(lines.clone()), &lines, "{threads}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Elements one by one, each read twice from its mark, are the array; and
    /// events of a canonical text, written again, are that text.
    #[test]
    fn elements_are_read_one_by_one_and_again(
        values in prop::collection::vec(any_value(), 0..6), turn in 0usize..16, window in 1usize..40
    ) {
        let array = Value::Array(values.clone());
        let mut text = Vec::new();
        odd_text(&array, turn, &mut text);
        let source = Source::stream("-", Box::new(Cursor::new(text)));
        let mut reader = Reader::with_buffer(source, Limits::default(), window);
        prop_assert_eq!(reader.next_event().unwrap(), Event::BeginArray);
        for value in &values {
            prop_assert!(reader.next_element().unwrap() && reader.next_element().unwrap());
            let mark = reader.mark();
            let whole = reader.read_value(Budget::default()).unwrap();
            prop_assert_eq!(&whole, value);
            reader.rewind(mark).unwrap();
            // Given up half way, and read again.
            reader.next_event().unwrap();
            reader.rewind(mark).unwrap();
            prop_assert_eq!(&reader.read_value(Budget::default()).unwrap(), value);
        }
        prop_assert!(!reader.next_element().unwrap());
        prop_assert_eq!(reader.next_event().unwrap(), Event::EndArray);
        reader.expect_end().unwrap();

        let text = canonical(&array);
        let mut reader = Reader::with_buffer(text.as_slice(), Limits::default(), window);
        let mut out = Vec::new();
        let mut writer = Writer::canonical(&mut out);
        let mut echo = rea::json::Echo::default();
        while reader.more().unwrap() {
            echo.event(reader.next_event().unwrap(), &mut writer);
            while !reader.is_between() {
                echo.event(reader.next_event().unwrap(), &mut writer);
            }
        }
        writer.finish().unwrap();
        prop_assert_eq!(out, text);
    }
}
