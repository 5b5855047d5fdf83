//! Property lists in all notations: what is read, what is refused, and what
//! lists cost that are made to cost. scripts/truth_plists.py compares with
//! Python's plistlib; values here are from the notations' descriptions.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use rea::apple::plist::{Fault, Notation, parse};
use rea::json::canonical;

#[track_caller]
fn json(bytes: &[u8]) -> String {
    let plist = parse(bytes).unwrap();
    String::from_utf8(canonical(&plist.value)).unwrap()
}

#[track_caller]
fn malformed(bytes: &[u8], says: &str) {
    match parse(bytes) {
        Err(Fault::Malformed(_, text)) => assert!(text.contains(says), "{text}"),
        other => panic!("{other:?}"),
    }
}

fn xml(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">{body}</plist>\n"
    )
}

/// A binary list of objects with one-byte offsets and references.
fn binary(objects: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"bplist00".to_vec();
    let mut table = Vec::new();
    for object in objects {
        table.push(bytes.len() as u8);
        bytes.extend_from_slice(object);
    }
    let start = bytes.len() as u64;
    bytes.extend(table);
    bytes.extend([0, 0, 0, 0, 0, 0, 1, 1]);
    for number in [objects.len() as u64, 0, start] {
        bytes.extend(number.to_be_bytes());
    }
    bytes
}

#[test]
fn xml_values() {
    let list = xml(
        "<dict><key>a</key><integer>0x1F</integer><key>b</key><integer>-170141183460469231731687303715884105727</integer>\
         <key>c</key><real>1.5</real><key>d</key><real>-infinity</real><key>e</key><date>2020-02-29T23:59:59Z</date>\
         <key>f</key><data>\n AAEC\n AwQ=\n</data><key>g</key><true/><key>h</key><false></false>\
         <key>i</key><array><string> x &amp; &#x79; <![CDATA[<z>]]></string><string/></array></dict>",
    );
    assert_eq!(
        json(list.as_bytes()),
        r#"{"a":31,"b":{"$integer":"-170141183460469231731687303715884105727"},"c":1.5,"d":{"$real":"-infinity"},"e":{"$date":"2020-02-29T23:59:59Z"},"f":{"$data":"AAECAwQ="},"g":true,"h":false,"i":[" x & y <z>",""]}"#
    );
    // Without a declaration or a root, and in UTF-16.
    assert_eq!(json(b"<array><true/></array>"), "[true]");
    let wide: Vec<u8> = [0xFEFF]
        .into_iter()
        .chain(xml("<string>\u{e9}\u{1f600}</string>").encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(json(&wide), "\"\u{e9}\u{1f600}\"");
    // The last of repeated keys counts.
    let plist = parse(xml("<dict><key>a</key><true/><key>a</key><false/></dict>").as_bytes());
    let plist = plist.unwrap();
    assert_eq!(plist.repeated_keys, 1);
    assert_eq!(plist.notation, Notation::Xml);
}

#[test]
fn xml_that_is_wrong() {
    for (body, says) in [
        ("", "no value"),
        ("<true/><true/>", "more than one value"),
        ("<dict><true/></dict>", "has no key"),
        ("<dict><key>a</key></dict>", "has no value"),
        (
            "<dict><key>a</key><key>b</key></dict>",
            "a key stands where a value should",
        ),
        ("<key>a</key>", "a key stands where a value should"),
        ("<integer>1x</integer>", "an integer is malformed"),
        ("<integer/>", "an integer is malformed"),
        ("<date>yesterday</date>", "a date is malformed"),
        ("<data>A</data>", "data is malformed"),
        ("<data>@@@@</data>", "data is malformed"),
        ("<string>&xxe;</string>", "entity"),
        ("<string><b>x</b></string>", "inside text"),
        ("<set/>", "not one of a property list"),
        ("text", "text stands between elements"),
        ("<array>", "malformed"),
    ] {
        malformed(xml(body).as_bytes(), says);
    }
    let list = xml("<dict><key>a</key><array><true/></array></dict>");
    for at in 1..list.len() - 12 {
        assert!(parse(&list.as_bytes()[..at]).is_err(), "cut at {at}");
    }
    // Entities that are declared are not expanded.
    malformed(
        b"<!DOCTYPE plist [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><plist><string>&b;</string></plist>",
        "entity",
    );
}

#[test]
fn binary_values() {
    let list = binary(&[
        &[0xA9, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        &[0x10, 255],
        &[0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
        &[
            0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        ],
        &[0x23, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0],
        &[0x33, 0xBF, 0xD0, 0, 0, 0, 0, 0, 0],
        &[0x44, 0, 1, 2, 3],
        &[0x62, 0xD8, 0x3D, 0xDE, 0x00],
        &[0x81, 1, 0],
        &[0x09],
    ]);
    assert_eq!(
        json(&list),
        "[255,-2,{\"$integer\":\"18446744073709551615\"},1.5,{\"$date\":\"2000-12-31T23:59:59.75Z\"},\
         {\"$data\":\"AAECAw==\"},\"\u{1f600}\",{\"UID\":256},true]"
    );
    // Null, a set, a lone surrogate, a dictionary that looks like a mark.
    let list = binary(&[
        &[0xA4, 1, 2, 4, 5],
        &[0x00],
        &[0xC1, 3],
        &[0x08],
        &[0x61, 0xD8, 0x00],
        &[0xD1, 6, 3],
        &[0x53, b'U', b'I', b'D'],
    ]);
    assert_eq!(
        json(&list),
        r#"[null,{"$set":[false]},"\ud800",{"$dict":{"UID":false}}]"#
    );
    // Bytes that are neither ASCII nor UTF-8 are not lost.
    let plist = parse(&binary(&[&[0x51, 0xE9]])).unwrap();
    assert_eq!(
        (plist.odd_strings, plist.value.as_str()),
        (1, Some("\u{e9}"))
    );
}

#[test]
fn binary_lists_that_lie() {
    malformed(&binary(&[&[0xA1, 0]]), "holds itself");
    malformed(&binary(&[&[0xA1, 1], &[0xA1, 0]]), "holds itself");
    malformed(&binary(&[&[0xA1, 9]]), "a reference to object 9 of 1");
    malformed(
        &binary(&[&[0xD1, 1, 1], &[0x09]]),
        "a key of a dictionary is no string",
    );
    malformed(
        &binary(&[&[0x4F, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255]]),
        "does not end",
    );
    malformed(
        &binary(&[&[0xAF, 0x13, 255, 255, 255, 255, 255, 255, 255, 255]]),
        "does not end",
    );
    malformed(&binary(&[&[0x5F, 0x33]]), "a count is no integer");
    malformed(&binary(&[&[0xF0]]), "unknown kind 0xf0");
    malformed(&binary(&[&[0x1F]]), "does not end");
    malformed(b"bplist00", "trailer is cut");
    let good = binary(&[&[0xA1, 1], &[0x53, b'a', b'b', b'c']]);
    for at in 0..good.len() {
        assert!(parse(&good[..at]).is_err() || at < 6, "cut at {at}");
    }
    // Every number of the trailer, at its extremes.
    for at in good.len() - 26..good.len() {
        for value in [0, 1, 0x7F, 0xFF] {
            let mut bad = good.clone();
            bad[at] = value;
            let _ = parse(&bad);
        }
    }
}

/// Arrays of two references to the next array: 2^60 values.
#[test]
fn a_bomb_is_a_limit() {
    let mut objects: Vec<Vec<u8>> = (1..=60).map(|next| vec![0xA2, next, next]).collect();
    objects.push(vec![0x09]);
    let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    assert!(matches!(
        parse(&binary(&objects)),
        Err(Fault::Limit("values", _))
    ));
    let deep = format!(
        "<plist>{}{}</plist>",
        "<array>".repeat(100_000),
        "</array>".repeat(100_000)
    );
    assert!(matches!(
        parse(deep.as_bytes()),
        Err(Fault::Limit("levels", 512))
    ));
    for open in ["(", "{a="] {
        let deep = open.repeat(100_000);
        assert!(matches!(
            parse(deep.as_bytes()),
            Err(Fault::Limit("levels", 512))
        ));
    }
    assert!(parse("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn openstep_values() {
    let list = b"// !$*UTF8*$!\n{ isa = PBXProject; /* a comment */ \"quoted key\" = 'it''s'; }";
    malformed(list, "no semicolon");
    assert_eq!(
        json(
            b"// !$*UTF8*$!\n{ path = a/b-c.m; \"k\\n\" = 'x\\\"\\101\\U00e9\\351'; list = (1, two, ); \
              data = <0fbd 77>; nest = {a = b;}; flag; }"
        ),
        "{\"data\":{\"$data\":\"D713\"},\"flag\":\"flag\",\"k\\n\":\"x\\\"A\u{e9}\u{d8}\",\"list\":[\"1\",\"two\"],\
         \"nest\":{\"a\":\"b\"},\"path\":\"a/b-c.m\"}"
    );
}

#[test]
fn strings_files_and_gnustep() {
    assert_eq!(
        json("/* File */\n\"Save\" = \"Sichern\";\nOpen = \"\u{d6}ffnen\";\n".as_bytes()),
        "{\"Open\":\"\u{d6}ffnen\",\"Save\":\"Sichern\"}"
    );
    assert_eq!(
        json(b"{ i = <*I-5>; r = <*R0.5>; y = <*BY>; d = <*D2001-01-01 01:00:00 +0100>; b = <[AAEC]>; }"),
        r#"{"b":{"$data":"AAEC"},"d":{"$date":"2001-01-01T00:00:00Z"},"i":-5,"r":0.5,"y":true}"#
    );
    for (list, says) in [
        ("{ a = b; ", "no end"),
        ("(a b)", "no comma"),
        ("{ a = <0>; }", "malformed"),
        ("\"open", "no end"),
        ("/* open", "no end"),
        ("(a) b", "other text follows"),
        ("", "no value"),
    ] {
        malformed(list.as_bytes(), says);
    }
}

#[test]
fn json_lists() {
    let plist = parse(br#"{"a": [1, null, "x"]}"#).unwrap();
    assert_eq!(plist.notation, Notation::Json);
    assert_eq!(json(br#"{"a": [1, null, "x"]}"#), r#"{"a":[1,null,"x"]}"#);
    // Braces open an OpenStep dictionary as well.
    assert_eq!(parse(b"{a = 1;}").unwrap().notation, Notation::OpenStep);
}
