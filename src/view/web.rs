//! Views of recorded web traffic: its surface, and the environments that it
//! makes (web.md sections 2 to 4).

use super::parent::Envelope;
use super::record::{Artifact, Coverage, Payload, Projection};
use super::rows::Rows;
use super::{Collector, Memory, OPERATION, Producer, View};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::{Confidence, Contents, Observer, Parent, Source, stream_contents};
use crate::json::{Builder, Event, Issue, Limits, Object, Text, Value, replay};
use crate::operation::Context;
use crate::web::exchange::{Body, Exchange, RequestLine};
use crate::web::line::Line;
use crate::web::manifest::Manifest;
use crate::web::state::State;
use crate::web::surface::{Shaped, Surface, item};
use crate::web::template::{Rule, Rules};

const CAPTURE: &str = crate::web::har::OPERATION;
const SCENARIO: &str = "capture_browser_scenario";

pub(super) const CAPTURES: Producer = Producer {
    operations: &[CAPTURE],
    kinds: &["api-surface", "environment-manifest", "environment-state"],
    collector: |view| Box::new(Traffic::new(Want::of(view))),
};

pub(super) const SCENARIOS: Producer = Producer {
    operations: &[SCENARIO],
    kinds: &["environment-manifest", "environment-state"],
    collector: |view| Box::new(Traffic::new(Want::of(view))),
};

const TEMPLATES: &str = "Templated path segments are concluded from the form of recorded values; \
    the service may divide its paths in another way.";
const RECORDED_ONLY: &str =
    "Only what was recorded is here; the service may have operations that nobody called.";
const SCENARIO_LINES: &str = "The request lines come from the events of a browser scenario, which \
    keep no bodies; such a manifest can be read and not served.";

/// The three things that no recording tells (web.md section 3).
const UNKNOWN: [&str; 3] = [
    "The authorization model is unknown: credentials are not in the record, nor what they allow.",
    "The response semantics are unknown: shapes were seen, not what they mean or when they differ.",
    "The state transitions are unknown: what a call changes was not tried.",
];

/// How much of an exchange is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Lines,
    Shapes,
    Bodies,
}

impl Want {
    fn of(view: &View) -> Self {
        match view.kind() {
            "api-surface" => Self::Lines,
            "environment-manifest" => Self::Shapes,
            _ => Self::Bodies,
        }
    }
}

/// Where in the result the next piece stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Records,
    /// Kept as a value.
    Kept(&'static str),
    Other,
}

/// Members of the result that are kept, beside records. A scenario has `steps`
/// or `events`.
const KEPT: [&str; 4] = ["artifact", "events", "format", "steps"];

/// Members of a record that are looked at.
const OF_RECORD: [&[u8]; 3] = [b"location", b"ordinal", b"reported"];

/// Collects the exchanges of a capture or scenario.
struct Traffic {
    want: Want,
    depth: usize,
    member: Member,
    building: Option<Builder>,
    /// Whether the current member of the record is left out.
    skipping: bool,
    kept: Object,
    exchanges: Vec<Exchange>,
    shapes: Vec<Shaped>,
    /// A record is none.
    wrong: bool,
}

impl Traffic {
    fn new(want: Want) -> Self {
        Self {
            want,
            depth: 0,
            member: Member::Other,
            building: None,
            skipping: false,
            kept: Object::new(),
            exchanges: Vec::new(),
            shapes: Vec::new(),
            wrong: false,
        }
    }

    fn build(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        let building = self
            .building
            .get_or_insert_with(|| Builder::new(memory.left(), 0));
        let Some(value) = memory.build("normalized_result", building, event)? else {
            return Ok(());
        };
        let cost = usize::try_from(building.memory()).unwrap_or(usize::MAX);
        self.building = None;
        match self.member {
            Member::Kept(name) => self.kept.insert(name, value),
            Member::Records => {
                match Exchange::from_record(&value) {
                    Some(exchange) => self.add(exchange, memory)?,
                    None => self.wrong = true,
                }
                memory.release(cost);
            }
            Member::Other => {}
        }
        Ok(())
    }

    fn add(&mut self, mut exchange: Exchange, memory: &mut Memory) -> Result<()> {
        if self.want != Want::Lines {
            let shaped = Shaped::of(&exchange);
            // Shapes hold names of members at most, which the body holds too.
            let body = |body: &Body| body.text().map_or(0, |text| text.len());
            memory.charge(size_of::<Shaped>() + body(&exchange.response_body).min(4096))?;
            self.shapes.push(shaped);
        }
        if self.want != Want::Bodies {
            exchange.request_body.content = Default::default();
            exchange.response_body.content = Default::default();
        }
        memory.charge(exchange.memory())?;
        self.exchanges.push(exchange);
        Ok(())
    }

    /// The exchanges in the order of the capture.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.exchanges.len()).collect();
        order.sort_by_key(|&at| self.exchanges.get(at).map(|exchange| exchange.ordinal));
        if order.is_sorted() {
            return;
        }
        let pick = |at: &usize| self.exchanges.get(*at).cloned();
        let exchanges = order.iter().filter_map(pick).collect();
        let shapes = order
            .iter()
            .filter_map(|at| self.shapes.get(*at).cloned())
            .collect();
        (self.exchanges, self.shapes) = (exchanges, shapes);
    }

    /// Checks the shape of the result, once its operation is known.
    fn check(&mut self, parent: &Parent) -> Result<()> {
        let malformed = |message: &str| {
            let path = ["source", "normalized_result"];
            Issue::new(&path, "invalid_type", message.to_owned()).into_error(OPERATION)
        };
        if parent.operation == *SCENARIO {
            self.read_scenario();
            return Ok(());
        }
        let format = self.kept.get("format").and_then(Value::as_str);
        if format != Some("har") {
            let message = "only HAR captures have such views".to_owned();
            return Err(Issue::new(&["view"], "invalid_value", message).into_error(OPERATION));
        }
        if self.wrong {
            return Err(malformed("a record of the capture is not of its shape"));
        }
        self.sort();
        Ok(())
    }

    /// The request lines of a scenario: events of the kind `request`.
    fn read_scenario(&mut self) {
        self.exchanges.clear();
        self.shapes.clear();
        let kept = std::mem::take(&mut self.kept);
        for name in ["steps", "events"] {
            if let Some(value) = kept.get(name) {
                requests_in(value, &format!("/{name}"), 0, &mut self.exchanges);
            }
        }
        for (at, exchange) in self.exchanges.iter_mut().enumerate() {
            exchange.ordinal = at as u64;
        }
        self.shapes = vec![Shaped::default(); self.exchanges.len()];
        self.kept = kept;
    }

    fn artifact(&self) -> Option<Artifact> {
        let artifact = self.kept.get("artifact")?;
        let Some(Value::String(path)) = artifact.get("path") else {
            return None;
        };
        let sha256 = artifact.get("sha256").and_then(Value::as_str);
        Some(Artifact {
            path: path.clone(),
            sha256: sha256.and_then(|hex| Digest::from_hex(hex.as_bytes())),
        })
    }
}

/// Adds the requests in a part of a scenario, at the pointer `at`.
fn requests_in(value: &Value, at: &str, depth: usize, exchanges: &mut Vec<Exchange>) {
    if depth > 8 {
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                requests_in(item, &format!("{at}/{index}"), depth + 1, exchanges);
            }
        }
        Value::Object(object) => {
            let word = |name| object.get(name).and_then(Value::as_str);
            if word("kind").or(word("type")) == Some("request") {
                exchanges.extend(request_event(value, at));
                return;
            }
            for (name, inner) in object.iter() {
                if let (Some(name), Value::Array(_) | Value::Object(_)) = (name.as_str(), inner) {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    requests_in(inner, &format!("{at}/{name}"), depth + 1, exchanges);
                }
            }
        }
        _ => {}
    }
}

fn request_event(event: &Value, at: &str) -> Option<Exchange> {
    let text = |name| match event.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let request = text("method").zip(text("url")).and_then(|(method, url)| {
        let line = Line::parse(url.as_bytes())?;
        Some(RequestLine { method, line })
    });
    Some(Exchange {
        ordinal: 0,
        pointer: Some(Text::from(at)),
        request,
        request_body: Body::default(),
        status: match event.get("status") {
            Some(Value::Number(status)) if *status >= 0.0 => Some(*status as u64),
            _ => None,
        },
        response_body: Body::default(),
    })
}

impl Collector for Traffic {
    fn restart(&mut self) {
        *self = Self::new(self.want);
    }

    fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        let opens = matches!(event, Event::BeginObject | Event::BeginArray);
        let closes = matches!(event, Event::EndObject | Event::EndArray);
        let depth = self.depth;
        self.depth += usize::from(opens);
        self.depth = self.depth.saturating_sub(usize::from(closes));
        match (depth, self.member, event) {
            (0, ..) => return Ok(()),
            (1, _, Event::Key { name, .. }) => {
                let kept = KEPT.into_iter().find(|kept| kept.as_bytes() == name);
                self.member = match kept {
                    Some(kept) => Member::Kept(kept),
                    None if name == b"records" => Member::Records,
                    None => Member::Other,
                };
            }
            (_, Member::Other, _) => {}
            (1, Member::Kept(_), _) if closes => {}
            (_, Member::Kept(_), _) => self.build(event, memory)?,
            // The list itself.
            (1 | 2, Member::Records, _) if depth == 1 || closes => {
                self.wrong |= depth == 1 && !closes && event != Event::BeginArray;
            }
            (2, Member::Records, _) => {
                self.wrong |= event != Event::BeginObject;
                if event == Event::BeginObject {
                    self.build(event, memory)?;
                }
            }
            (3, Member::Records, _) => {
                if let Event::Key { name, .. } = event {
                    self.skipping = !OF_RECORD.contains(&name);
                }
                if closes || !self.skipping {
                    self.build(event, memory)?;
                }
            }
            (_, Member::Records, _) => {
                if !self.skipping {
                    self.build(event, memory)?;
                }
            }
        }
        Ok(())
    }

    fn project(
        mut self: Box<Self>,
        parent: &Parent,
        _contents: Contents,
        view: &View,
    ) -> Result<Projection> {
        self.check(parent)?;
        let surface = Surface::new(&self.exchanges, view.rules());
        let inferred = surface.is_inferred() || view.kind() == "environment-state";
        let records = self.exchanges.len() as u64;
        let mut limitations: Vec<Text> = vec![TEMPLATES.into(), RECORDED_ONLY.into()];
        if parent.operation == *SCENARIO {
            limitations.push(SCENARIO_LINES.into());
        }
        let mut unknowns = Vec::new();
        let mut coverage = Coverage::whole(records, records);
        let mut payload = Vec::new();
        match view.kind() {
            "api-surface" => {
                let mut rows = Rows::default();
                let total = surface.groups.len() as u64;
                let from = usize::try_from(view.offset()).unwrap_or(usize::MAX);
                let most = usize::try_from(view.limit()).unwrap_or(usize::MAX);
                for group in surface.groups.iter().skip(from).take(most) {
                    write_row(&item(group, &self.exchanges), &mut rows);
                }
                coverage = Coverage::page(view.offset(), rows.len(), total);
                let excluded = surface.excluded_records();
                payload.push(("excluded_records", Payload::Value(excluded)));
                payload.push(("items", Payload::Rows(rows)));
            }
            "environment-manifest" => {
                unknowns.extend(UNKNOWN.map(Text::from));
                let manifest = Manifest::new(&surface, &self.exchanges);
                let rules = view.texts("template_rules").unwrap_or_default();
                let value = manifest.to_value(&self.exchanges, &self.shapes, &rules);
                payload.push(("manifest", Payload::Value(value)));
            }
            _ => {
                unknowns.extend(UNKNOWN.map(Text::from));
                let manifest = Manifest::new(&surface, &self.exchanges);
                let state =
                    State::new(&manifest, &self.exchanges, STATE).map_err(|_| state_too_large())?;
                let mut value = Object::new();
                value.insert("conflicts", state.conflicts);
                value.insert("documents", state.documents);
                value.insert("entities", state.entities);
                value.insert("entity_types", state.entity_types);
                value.insert("render_plans", state.render_plans);
                payload.push(("state", Payload::Value(value.into())));
            }
        }
        Ok(Projection {
            artifact: self.artifact(),
            coverage,
            payload,
            limitations,
            unknowns,
            confidence: match inferred {
                true => Confidence::Inferred,
                false => Confidence::Derived,
            },
        })
    }
}

/// Memory for the values of bodies.
const STATE: u64 = 512 << 20;

fn state_too_large() -> Error {
    let message = "the recorded bodies take more memory than a state may use";
    let mut limits = Object::new();
    limits.insert("boundary", "environment-state");
    limits.insert("maximum", STATE);
    Error::out_of_memory(OPERATION, message, limits)
        .action("Select fewer records when the capture is inspected (--record).")
}

fn write_row(value: &Value, rows: &mut Rows) {
    let done = replay(value, &mut |event| {
        rows.event(event);
        Ok::<(), Error>(())
    });
    rows.end(done.is_ok());
}

impl View {
    /// The optional template rules that are asked for.
    fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for name in self.texts("template_rules").unwrap_or_default() {
            if let Some(rule) = name.as_str().and_then(Rule::from_name) {
                rules.add(rule);
            }
        }
        rules
    }
}

/// The exchanges of a HAR capture's Evidence, with what their bodies look
/// like.
pub struct Recorded {
    /// The capture.
    pub parent: Parent,
    /// In the order of the capture.
    pub exchanges: Vec<Exchange>,
    /// For each exchange, its bodies without values.
    pub shapes: Vec<Shaped>,
}

/// Reads the Evidence of a HAR capture, with the bodies where they are wanted.
///
/// # Errors
/// Those of views; `unsupported_target` where it is a record of something
/// else.
pub fn recorded(
    record: Source,
    bodies: bool,
    limits: Limits,
    context: &Context,
) -> Result<Recorded> {
    let mut gather = Gather {
        traffic: Traffic::new(if bodies { Want::Bodies } else { Want::Shapes }),
        envelope: Envelope::new(Vec::new()),
        memory: Memory::default(),
        depth: 0,
        in_result: false,
    };
    let contents = stream_contents(record, limits, context, &mut gather)?;
    let (parent, _) = gather.envelope.finish(contents.id)?;
    if parent.operation != *CAPTURE {
        let name = String::from_utf8_lossy(parent.operation.as_bytes());
        let message = format!("a record of {CAPTURE} is needed, not of {name}");
        return Err(Error::new(Code::UnsupportedTarget, message)
            .action("Give the Evidence of `rea inspect-web-network-capture`.")
            .detail("operation", context.operation)
            .detail("parent_operation", parent.operation));
    }
    let mut traffic = gather.traffic;
    traffic.check(&parent)?;
    Ok(Recorded {
        parent,
        exchanges: traffic.exchanges,
        shapes: traffic.shapes,
    })
}

/// Reads a capture for its exchanges alone.
struct Gather {
    traffic: Traffic,
    envelope: Envelope,
    memory: Memory,
    depth: usize,
    in_result: bool,
}

impl Observer for Gather {
    fn restart(&mut self) {
        self.envelope.restart();
        self.traffic.restart();
        self.memory = Memory::default();
        (self.depth, self.in_result) = (0, false);
    }

    fn event(&mut self, event: Event<'_>) -> Result<()> {
        self.envelope.event(event)?;
        if let (1, Event::Key { name, .. }) = (self.depth, event) {
            self.in_result = name == b"normalized_result";
            return Ok(());
        }
        match event {
            Event::BeginObject | Event::BeginArray => self.depth += 1,
            Event::EndObject | Event::EndArray => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Ok(());
                }
            }
            _ => {}
        }
        if self.in_result {
            self.traffic.event(event, &mut self.memory)?;
        }
        Ok(())
    }
}
