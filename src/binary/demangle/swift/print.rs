//! Nodes as text.

use super::kind::{Id, Kind, Nodes};
use super::signature::parameter_name;
use crate::binary::demangle::out::Out;

/// How an entity's type is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    No,
    Colon,
    Function,
}

/// How an entity is called.
struct Called {
    typed: Typed,
    /// Whether its second part is its name.
    named: bool,
    /// A word in place of the name.
    word: &'static str,
    /// What is said about it, and a number behind.
    extra: &'static str,
    number: Option<i64>,
}

impl Called {
    fn name(typed: Typed) -> Self {
        Self {
            typed,
            named: true,
            word: "",
            extra: "",
            number: None,
        }
    }

    fn extra(typed: Typed, extra: &'static str) -> Self {
        Self {
            typed,
            named: false,
            word: "",
            extra,
            number: None,
        }
    }
}

pub(super) struct Printer<'a> {
    nodes: &'a Nodes,
    out: &'a mut Out,
}

impl<'a> Printer<'a> {
    pub fn new(nodes: &'a Nodes, out: &'a mut Out) -> Self {
        Self { nodes, out }
    }

    pub fn node(&mut self, id: Id) {
        let _ = self.write(id, false);
    }

    /// Writes a node; as the context of another the part that must come behind
    /// that one is returned.
    fn write(&mut self, id: Id, context: bool) -> Option<Id> {
        let behind = match self.out.enter() {
            true => self.write_here(id, context),
            false => None,
        };
        self.out.leave();
        behind
    }

    fn part(&mut self, id: Id, at: usize) {
        match self.nodes.part(id, at) {
            Some(part) => self.node(part),
            None => self.out.fail(),
        }
    }

    fn list(&mut self, ids: &[Id], between: &str) {
        for (at, &id) in ids.iter().enumerate() {
            if at > 0 {
                self.out.push(between);
            }
            self.node(id);
            if self.out.has_failed() {
                return;
            }
        }
    }

    fn all(&mut self, id: Id, between: &str) {
        let nodes = self.nodes;
        self.list(nodes.parts(id), between);
    }

    fn write_here(&mut self, id: Id, context: bool) -> Option<Id> {
        let nodes = self.nodes;
        let kind = nodes.kind(id);
        let is_class = || {
            nodes
                .part(id, 0)
                .is_some_and(|part| nodes.kind(part) == Kind::Class)
        };
        let called = match kind {
            Kind::Variable => Called::name(Typed::Colon),
            Kind::Function | Kind::BoundFunction => Called::name(Typed::Function),
            Kind::Macro => Called::name(match nodes.parts(id).len() {
                3 => Typed::Colon,
                _ => Typed::Function,
            }),
            Kind::GenericParameterDeclaration => Called::name(Typed::No),
            kind if kind.is_nominal() => Called::name(Typed::No),
            Kind::Subscript => Called {
                word: "subscript",
                ..Called::extra(Typed::Function, "")
            },
            Kind::ExplicitClosure | Kind::ImplicitClosure => {
                let words = match kind {
                    Kind::ExplicitClosure => "closure #",
                    _ => "implicit closure #",
                };
                Called {
                    number: nodes.part(id, 1).map(|at| nodes.number(at) + 1),
                    ..Called::extra(Typed::Function, words)
                }
            }
            Kind::DefaultArgument => Called {
                number: nodes.part(id, 1).map(|at| nodes.number(at)),
                ..Called::extra(Typed::No, "default argument ")
            },
            Kind::Initializer(words) | Kind::Ivar(words) => Called::extra(Typed::No, words),
            Kind::Allocator => Called::extra(
                Typed::Function,
                if is_class() {
                    "__allocating_init"
                } else {
                    "init"
                },
            ),
            Kind::Constructor => Called {
                named: nodes.parts(id).len() > 2,
                ..Called::extra(Typed::Function, "init")
            },
            Kind::Destructor => Called::extra(Typed::No, "deinit"),
            Kind::Deallocator => Called::extra(
                Typed::No,
                if is_class() {
                    "__deallocating_deinit"
                } else {
                    "deinit"
                },
            ),
            Kind::IsolatedDeallocator => Called::extra(
                Typed::No,
                if is_class() {
                    "__isolated_deallocating_deinit"
                } else {
                    "deinit"
                },
            ),
            Kind::Accessor(name) => {
                let Some(storage) = nodes.part(id, 0) else {
                    self.out.fail();
                    return None;
                };
                let called = match nodes.kind(storage) {
                    Kind::Variable => Called {
                        extra: name,
                        ..Called::name(Typed::Colon)
                    },
                    Kind::Subscript => Called {
                        word: "subscript",
                        ..Called::extra(Typed::Colon, name)
                    },
                    _ => {
                        self.out.fail();
                        return None;
                    }
                };
                return self.entity(storage, context, called);
            }
            _ => {
                self.plain(id, kind);
                return None;
            }
        };
        self.entity(id, context, called)
    }

    fn entity(&mut self, id: Id, as_context: bool, mut called: Called) -> Option<Id> {
        let nodes = self.nodes;
        let (mut id, mut arguments) = (id, None);
        if nodes.kind(id) == Kind::BoundFunction {
            arguments = nodes.part(id, 1);
            id = nodes.part(id, 0)?;
        }
        let mut words = called.extra.contains(' ');
        let local = called.named
            && nodes
                .part(id, 1)
                .is_some_and(|name| nodes.kind(name) == Kind::LocalName);
        words |= local;
        if as_context && (called.typed != Typed::No || words) {
            return Some(id);
        }
        let mut behind = None;
        let Some(context) = nodes.part(id, 0) else {
            self.out.fail();
            return None;
        };
        if words {
            behind = Some(context);
        } else {
            let before = self.out.len();
            behind = self.write(context, true).or(behind);
            if self.out.len() != before {
                self.out.push(".");
            }
        }
        self.name(id, &mut called, words);
        if called.typed != Typed::No {
            self.entity_type(id, &called, words, arguments);
        }
        if !as_context && let Some(context) = behind {
            self.out.push(match nodes.kind(id) {
                Kind::DefaultArgument | Kind::Initializer(_) => " of ",
                _ => " in ",
            });
            self.node(context);
            behind = None;
        }
        behind
    }

    fn extra(&mut self, called: &Called) {
        self.out.push(called.extra);
        if let Some(number) = called.number {
            self.out.push(&number.to_string());
        }
    }

    fn name(&mut self, id: Id, called: &mut Called, words: bool) {
        let nodes = self.nodes;
        if called.named || !called.word.is_empty() {
            if !called.extra.is_empty() && words {
                self.extra(called);
                self.out.push(" of ");
                called.extra = "";
                called.number = None;
            }
            let before = self.out.len();
            if called.word.is_empty() {
                if let Some(name) = nodes.part(id, 1)
                    && nodes.kind(name) != Kind::PrivateName
                {
                    self.node(name);
                }
                if let Some(private) = nodes.find(id, Kind::PrivateName) {
                    self.node(private);
                }
            } else {
                self.out.push(called.word);
            }
            if self.out.len() != before && !called.extra.is_empty() {
                self.out.push(".");
            }
        }
        if !called.extra.is_empty() {
            self.extra(called);
        }
    }

    fn entity_type(&mut self, id: Id, called: &Called, words: bool, arguments: Option<Id>) {
        let nodes = self.nodes;
        let inner = nodes
            .find(id, Kind::Type)
            .and_then(|of_type| nodes.part(of_type, 0));
        let Some(of_type) = inner else {
            self.out.fail();
            return;
        };
        let mut typed = called.typed;
        if typed == Typed::Function {
            let mut function = of_type;
            while nodes.kind(function) == Kind::GenericType && self.out.step() {
                let next = nodes
                    .part(function, 1)
                    .and_then(|inner| nodes.part(inner, 0));
                match next {
                    Some(next) => function = next,
                    None => break,
                }
            }
            if !matches!(
                nodes.kind(function),
                Kind::FunctionType | Kind::NoEscapeFunction | Kind::CFunction | Kind::ThinFunction
            ) {
                typed = Typed::Colon;
            }
        }
        match typed {
            Typed::Colon => self.out.push(" : "),
            _ if words || self.needs_blank(of_type) => self.out.push(" "),
            _ => {}
        }
        let labels = nodes.find(id, Kind::Labels);
        if labels.is_none() && arguments.is_none() {
            self.node(of_type);
            return;
        }
        if let Some(arguments) = arguments {
            self.out.push("<");
            self.all(arguments, ", ");
            self.out.push(">");
        }
        let mut function = of_type;
        if nodes.kind(of_type) == Kind::GenericType {
            if arguments.is_none() {
                self.part(of_type, 0);
            }
            let Some(inner) = nodes.part(of_type, 1) else {
                return self.out.fail();
            };
            if self.needs_blank(inner) {
                self.out.push(" ");
            }
            match nodes.part(inner, 0) {
                Some(inner) => function = inner,
                None => return self.out.fail(),
            }
        }
        self.function_type(labels, function);
    }

    fn needs_blank(&mut self, id: Id) -> bool {
        let mut id = id;
        while self.nodes.kind(id) == Kind::Type && self.out.step() {
            match self.nodes.part(id, 0) {
                Some(inner) => id = inner,
                None => break,
            }
        }
        !matches!(
            self.nodes.kind(id),
            Kind::FunctionType | Kind::NoEscapeFunction | Kind::GenericType
        )
    }

    fn function_type(&mut self, labels: Option<Id>, id: Id) {
        let nodes = self.nodes;
        let convention = match nodes.kind(id) {
            Kind::FunctionType | Kind::NoEscapeFunction => "",
            Kind::AutoClosure => "@autoclosure ",
            Kind::ThinFunction => "@convention(thin) ",
            Kind::CFunction => "@convention(c) ",
            Kind::EscapingBlock => "@escaping @convention(block) ",
            Kind::Block => "@convention(block) ",
            _ => return self.node(id),
        };
        self.out.push(convention);
        let find = |kind| nodes.find(id, kind);
        if find(Kind::IsolatedAny).is_some() {
            self.out.push("@isolated(any) ");
        }
        if let Some(actor) = find(Kind::GlobalActor) {
            self.out.push("@");
            self.part(actor, 0);
            self.out.push(" ");
        }
        if find(Kind::CallerIsolated).is_some() {
            self.out.push("nonisolated(nonsending) ");
        }
        if find(Kind::Sendable).is_some() {
            self.out.push("@Sendable ");
        }
        match find(Kind::Arguments) {
            Some(arguments) => self.parameters(labels, arguments),
            None => return self.out.fail(),
        }
        if find(Kind::Async).is_some() {
            self.out.push(" async");
        }
        if find(Kind::Throws).is_some() {
            self.out.push(" throws");
        }
        if let Some(typed) = find(Kind::TypedThrows) {
            self.out.push(" throws(");
            self.part(typed, 0);
            self.out.push(")");
        }
        self.out.push(" -> ");
        if find(Kind::SendingResult).is_some() {
            self.out.push("sending ");
        }
        match find(Kind::Returns) {
            Some(returns) => self.all(returns, ""),
            None => self.out.fail(),
        }
    }

    fn parameters(&mut self, labels: Option<Id>, arguments: Id) {
        let nodes = self.nodes;
        let inner = nodes.part(arguments, 0);
        let Some(parameters) = inner.and_then(|inner| nodes.part(inner, 0)) else {
            return self.out.fail();
        };
        if nodes.kind(parameters) != Kind::Tuple {
            self.out.push("(");
            self.node(parameters);
            self.out.push(")");
            return;
        }
        let labels = labels.map_or(&[][..], |labels| nodes.parts(labels));
        self.out.push("(");
        for (at, &parameter) in nodes.parts(parameters).iter().enumerate() {
            if at > 0 {
                self.out.push(", ");
            }
            if !labels.is_empty() {
                let label = labels.get(at).copied();
                let named = label.filter(|&label| nodes.kind(label) == Kind::Identifier);
                self.out.push(named.map_or("_", |label| nodes.text(label)));
                self.out.push(": ");
            }
            self.node(parameter);
        }
        self.out.push(")");
    }

    /// Nodes that are no entities.
    fn plain(&mut self, id: Id, kind: Kind) {
        let nodes = self.nodes;
        let count = nodes.parts(id).len();
        match kind {
            Kind::Global | Kind::TypeList | Kind::Returns | Kind::Type => self.all(id, ""),
            Kind::Before(words) => {
                self.out.push(words);
                self.all(id, "");
            }
            Kind::Attribute(words) => {
                self.out.push(words);
                self.all(id, "");
            }
            Kind::PartialApply(words) => {
                self.out.push(words);
                if count > 0 {
                    self.out.push(" for ");
                    self.all(id, "");
                }
            }
            Kind::Between(words) => {
                for (at, words) in words.iter().enumerate().take(count) {
                    self.out.push(words);
                    self.part(id, at);
                }
            }
            Kind::Swapped([before, between]) => {
                self.out.push(before);
                self.part(id, 1);
                self.out.push(between);
                self.part(id, 0);
            }
            Kind::Text
            | Kind::Identifier
            | Kind::Module
            | Kind::Builtin
            | Kind::GenericParameter
            | Kind::ConstrainedSelf
            | Kind::Representation
            | Kind::ImplConvention
            | Kind::Serialized => self.out.push(nodes.text(id)),
            Kind::Number => self.out.push(&nodes.number(id).to_string()),
            Kind::Suffix => {
                self.out.push(" with unmangled suffix \"");
                let text: String = nodes.text(id).escape_debug().collect();
                self.out.push(&text);
                self.out.push("\"");
            }
            Kind::Operator(fix) => {
                self.out.push(nodes.text(id));
                self.out.push(fix);
            }
            Kind::LocalName => {
                self.part(id, 1);
                let number = nodes.part(id, 0).map_or(0, |at| nodes.number(at));
                self.out.push(&format!(" #{}", number + 1));
            }
            Kind::PrivateName => {
                self.out.push("(");
                if count > 1 {
                    self.part(id, 1);
                    self.out.push(" ");
                }
                self.out.push("in ");
                self.part(id, 0);
                self.out.push(")");
            }
            Kind::RelatedName => {
                self.out.push("related decl '");
                self.part(id, 0);
                self.out.push("' for ");
                self.part(id, 1);
            }
            Kind::Static => {
                self.out.push("static ");
                self.part(id, 0);
            }
            Kind::Extension => {
                self.out.push("(extension in ");
                if let Some(module) = nodes.part(id, 0) {
                    self.write(module, true);
                }
                self.out.push("):");
                self.part(id, 1);
                if count == 3 {
                    self.part(id, 2);
                }
            }
            Kind::AnonymousContext => {
                self.part(id, 1);
                self.out.push(".(unknown context at ");
                self.part(id, 0);
                self.out.push(")");
                if let Some(types) = nodes.part(id, 2)
                    && !nodes.parts(types).is_empty()
                {
                    self.out.push("<");
                    self.node(types);
                    self.out.push(">");
                }
            }
            Kind::TypeMangling => {
                let labels = nodes.find(id, Kind::Labels);
                match (labels, nodes.parts(id).last()) {
                    (Some(labels), Some(&of_type)) => match nodes.part(of_type, 0) {
                        Some(function) => self.function_type(Some(labels), function),
                        None => self.out.fail(),
                    },
                    (None, Some(&of_type)) => self.node(of_type),
                    _ => self.out.fail(),
                }
            }
            Kind::Labels => {}
            Kind::FunctionType
            | Kind::NoEscapeFunction
            | Kind::AutoClosure
            | Kind::ThinFunction
            | Kind::CFunction
            | Kind::Block
            | Kind::EscapingBlock => self.function_type(None, id),
            Kind::Arguments => self.parameters(None, id),
            Kind::Tuple => self.bracketed("(", id, ", ", ")"),
            Kind::TupleElement => {
                if let Some(name) = nodes.find(id, Kind::ElementName) {
                    self.out.push(nodes.text(name));
                    self.out.push(": ");
                }
                match nodes.find(id, Kind::Type) {
                    Some(of_type) => self.node(of_type),
                    None => self.out.fail(),
                }
                if nodes.find(id, Kind::Variadic).is_some() {
                    self.out.push("...");
                }
            }
            Kind::Pack => self.bracketed("Pack{", id, ", ", "}"),
            Kind::PackExpansion => {
                self.out.push("repeat ");
                self.part(id, 0);
            }
            Kind::BoundClass
            | Kind::BoundStructure
            | Kind::BoundEnum
            | Kind::BoundProtocol
            | Kind::BoundOther
            | Kind::BoundAlias => self.bound(id, kind),
            Kind::Optional => {
                self.with_parens(id, 0);
                self.out.push("?");
            }
            Kind::Array => self.bracketed("[", id, "", "]"),
            Kind::Dictionary => self.bracketed("[", id, " : ", "]"),
            Kind::Parens => self.bracketed("(", id, "", ")"),
            Kind::Metatype => {
                if count == 2 {
                    self.part(id, 0);
                    self.out.push(" ");
                }
                let inner = nodes.part(id, count.saturating_sub(1));
                let Some(inner) = inner.and_then(|of_type| nodes.part(of_type, 0)) else {
                    return self.out.fail();
                };
                self.simple(inner);
                let existential = matches!(
                    nodes.kind(inner),
                    Kind::ExistentialMetatype
                        | Kind::ProtocolList
                        | Kind::ProtocolsWithClass
                        | Kind::ProtocolsWithAnyObject
                );
                self.out
                    .push(if existential { ".Protocol" } else { ".Type" });
            }
            Kind::ExistentialMetatype => {
                self.all(id, " ");
                self.out.push(".Type");
            }
            Kind::Constrained => {
                self.out.push("any ");
                self.part(id, 0);
                self.out.push("<");
                self.part(id, 1);
                self.out.push(">");
            }
            Kind::Requirements => self.all(id, ", "),
            Kind::ProtocolList => match nodes.part(id, 0) {
                Some(list) if !nodes.parts(list).is_empty() => self.all(list, " & "),
                _ => self.out.push("Any"),
            },
            Kind::ProtocolsWithClass => {
                self.part(id, 1);
                self.out.push(" & ");
                self.protocols_of(id);
            }
            Kind::ProtocolsWithAnyObject => {
                let before = self.out.len();
                self.protocols_of(id);
                if self.out.len() != before {
                    self.out.push(" & ");
                }
                self.out.push("Swift.AnyObject");
            }
            _ => self.rest(id, kind),
        }
    }

    fn bracketed(&mut self, open: &str, id: Id, between: &str, close: &str) {
        self.out.push(open);
        self.all(id, between);
        self.out.push(close);
    }

    fn protocols_of(&mut self, id: Id) {
        let list = self.nodes.part(id, 0);
        if let Some(list) = list.and_then(|list| self.nodes.part(list, 0)) {
            self.all(list, " & ");
        }
    }

    fn rest(&mut self, id: Id, kind: Kind) {
        let nodes = self.nodes;
        let count = nodes.parts(id).len();
        match kind {
            Kind::GenericSignature | Kind::PseudoSignature => self.signature(id),
            Kind::Conformance => self.between(id, ": "),
            Kind::Inverse => self.between(id, ": ~"),
            Kind::SameType => self.between(id, " == "),
            Kind::SameShape => {
                self.between(id, ".shape == ");
                self.out.push(".shape");
            }
            Kind::Layout => {
                self.between(id, ": ");
                if count > 2 {
                    self.out.push("(");
                    let numbers = nodes.parts(id).get(2..).unwrap_or_default();
                    self.list(numbers, ", ");
                    self.out.push(")");
                }
            }
            Kind::GenericType => {
                self.part(id, 0);
                if let Some(inner) = nodes.part(id, 1) {
                    if self.needs_blank(inner) {
                        self.out.push(" ");
                    }
                    self.node(inner);
                }
            }
            Kind::MemberType => self.between(id, "."),
            Kind::AssociatedReference => {
                if count > 1 {
                    self.part(id, 1);
                    self.out.push(".");
                }
                self.part(id, 0);
            }
            Kind::AssociatedPath => self.all(id, "."),
            Kind::OpaqueReturn => self.out.push("some"),
            Kind::OpaqueReturnOf => {
                self.out.push("<<opaque return type of ");
                self.all(id, "");
                self.out.push(">>");
            }
            Kind::Opaque => self.between(id, "."),
            Kind::ProtocolConformance => {
                self.part(id, 0);
                self.out.push(" : ");
                self.part(id, 1);
                self.out.push(" in ");
                self.part(id, 2);
            }
            Kind::Retroactive => {
                self.out.push("retroactive @ ");
                self.all(id, "");
            }
            Kind::ConformanceRef(words) => {
                self.out.push(words);
                self.all(id, "");
            }
            Kind::ConformanceList => {
                if count > 0 {
                    self.bracketed("(", id, ", ", ")");
                }
            }
            Kind::ConcreteConformance => {
                self.out.push("concrete protocol conformance ");
                self.between(id, " to ");
                if let Some(list) = nodes.part(id, 2)
                    && !nodes.parts(list).is_empty()
                {
                    self.out.push(" with conditional requirements: ");
                    self.node(list);
                }
            }
            Kind::DependentConformance(words) => {
                self.out.push(words);
                let index = nodes.part(id, 2).map_or(-1, |at| nodes.number(at));
                if index >= 0 {
                    self.out.push(&format!("#{index} "));
                }
                self.between(id, " to ");
            }
            Kind::ImplFunction => self.impl_function(id),
            Kind::ImplFunctionConvention => {
                self.out.push("@convention(");
                self.out.push(nodes.text(id));
                self.out.push(")");
            }
            Kind::ImplParameter | Kind::ImplResult => {
                self.out.push(nodes.text(id));
                self.out.push(" ");
                self.all(id, "");
            }
            Kind::ImplYield | Kind::ImplError => {
                self.out.push(match kind {
                    Kind::ImplYield => "@yields ",
                    _ => "@error ",
                });
                self.out.push(nodes.text(id));
                self.out.push(" ");
                self.all(id, "");
            }
            Kind::Reabstraction(words) => {
                self.out.push(words);
                let mut at = 0;
                if count == 3 {
                    self.part(id, 0);
                    self.out.push(" ");
                    at = 1;
                }
                self.out.push("from ");
                self.part(id, at + 1);
                self.out.push(" to ");
                self.part(id, at);
            }
            Kind::ReabstractionSelf => {
                self.out.push("reabstraction thunk ");
                let mut at = 0;
                if count == 4 {
                    self.part(id, 0);
                    self.out.push(" ");
                    at = 1;
                }
                self.out.push("from ");
                self.part(id, at + 2);
                self.out.push(" to ");
                self.part(id, at + 1);
                self.out.push(" self ");
                self.part(id, at);
            }
            Kind::Specialization(words, before) => self.specialization(id, words, before),
            Kind::SpecializationParameter => self.part(id, 0),
            Kind::KeyPath(words) => {
                self.out.push(words);
                self.part(id, 0);
                self.out.push(" : ");
                for &part in nodes.parts(id).iter().skip(1) {
                    if nodes.kind(part) == Kind::Serialized {
                        self.out.push(", ");
                    }
                    self.node(part);
                }
            }
            Kind::KeyPathIndex(words) => {
                self.out.push(words);
                if let Some(signature) = nodes.find(id, Kind::GenericSignature) {
                    self.node(signature);
                }
                let types: Vec<Id> = nodes
                    .parts(id)
                    .iter()
                    .copied()
                    .filter(|&part| nodes.kind(part) == Kind::Type)
                    .collect();
                self.out.push("(");
                self.list(&types, ", ");
                self.out.push(")");
            }
            Kind::FieldOffset => {
                self.part(id, 0);
                self.out.push("field offset for ");
                self.part(id, 1);
            }
            Kind::ValueWitness => self.between(id, " value witness for "),
            Kind::OnceToken(words) => {
                self.out.push(words);
                self.part(id, 1);
            }
            Kind::OnceList if count == 1 => self.part(id, 0),
            Kind::OnceList => self.bracketed("(", id, ", ", ")"),
            // What is left on the stack is no symbol.
            _ => self.out.fail(),
        }
    }

    fn between(&mut self, id: Id, between: &str) {
        self.part(id, 0);
        self.out.push(between);
        self.part(id, 1);
    }

    fn specialization(&mut self, id: Id, words: &str, before: &str) {
        let nodes = self.nodes;
        self.out.push(words);
        self.out.push(" <");
        let (mut separator, mut argument) = ("", 0);
        for &part in nodes.parts(id) {
            match nodes.kind(part) {
                Kind::SpecializationPass | Kind::Dropped => continue,
                Kind::Serialized => {
                    self.out.push(separator);
                    separator = ", ";
                    self.node(part);
                    continue;
                }
                Kind::SignatureParameter | Kind::SignatureResult => {
                    if !nodes.text(part).is_empty() {
                        self.out.push(separator);
                        separator = ", ";
                        match nodes.kind(part) {
                            Kind::SignatureParameter => {
                                self.out.push(&format!("Arg[{argument}] = "));
                            }
                            _ => self.out.push("Return = "),
                        }
                        self.out.push(nodes.text(part));
                    }
                }
                _ => {
                    self.out.push(separator);
                    self.out.push(before);
                    separator = ", ";
                    self.node(part);
                }
            }
            argument += 1;
        }
        self.out.push("> of ");
    }

    fn impl_function(&mut self, id: Id) {
        let nodes = self.nodes;
        let pattern = nodes.find(id, Kind::ImplPattern);
        let invocation = nodes.find(id, Kind::ImplInvocation);
        let sending = nodes.find(id, Kind::ImplSending);
        let is_result = |kind| matches!(kind, Kind::ImplResult | Kind::ImplYield | Kind::ImplError);
        let (mut inputs, mut results) = (Vec::new(), Vec::new());
        for &part in nodes.parts(id) {
            match nodes.kind(part) {
                Kind::ImplParameter => inputs.push(part),
                kind if is_result(kind) => results.push(part),
                Kind::ImplPattern | Kind::ImplInvocation | Kind::ImplSending => {}
                _ => {
                    self.node(part);
                    self.out.push(" ");
                }
            }
        }
        if let Some(pattern) = pattern {
            self.out.push("@substituted ");
            self.part(pattern, 0);
            self.out.push(" ");
        }
        self.out.push("(");
        self.list(&inputs, ", ");
        self.out.push(") -> ");
        if sending.is_some() {
            self.out.push("sending ");
        }
        self.out.push("(");
        self.list(&results, ", ");
        self.out.push(")");
        for substitutions in [
            pattern.and_then(|pattern| nodes.part(pattern, 1)),
            invocation.and_then(|invocation| nodes.part(invocation, 0)),
        ]
        .into_iter()
        .flatten()
        {
            self.out.push(" for <");
            self.all(substitutions, "");
            self.out.push(">");
        }
    }

    fn signature(&mut self, id: Id) {
        let nodes = self.nodes;
        let parts = nodes.parts(id);
        let of = |wanted: Kind| {
            parts
                .iter()
                .copied()
                .filter(move |&part| nodes.kind(part) == wanted)
        };
        // Marks name their parameter by its text.
        let marked = |part: Id| {
            nodes
                .part(part, 0)
                .and_then(|of_type| nodes.part(of_type, 0))
                .map(|parameter| nodes.text(parameter))
        };
        self.out.push("<");
        for (depth, count) in of(Kind::ParameterCount).enumerate() {
            if depth > 0 {
                self.out.push("><");
            }
            for index in 0..nodes.number(count) {
                if index > 0 {
                    self.out.push(", ");
                }
                if index >= 128 {
                    self.out.push("...");
                    break;
                }
                let name = parameter_name(depth as i64, index);
                if of(Kind::PackMarker).any(|mark| marked(mark) == Some(&name)) {
                    self.out.push("each ");
                }
                let value = of(Kind::ValueMarker).find(|&mark| marked(mark) == Some(&name));
                if value.is_some() {
                    self.out.push("let ");
                }
                self.out.push(&name);
                if let Some(value) = value {
                    self.out.push(": ");
                    self.part(value, 1);
                }
            }
        }
        let requirements: Vec<Id> = parts
            .iter()
            .copied()
            .filter(|&part| {
                !matches!(
                    nodes.kind(part),
                    Kind::ParameterCount | Kind::PackMarker | Kind::ValueMarker
                )
            })
            .collect();
        if !requirements.is_empty() {
            self.out.push(" where ");
            self.list(&requirements, ", ");
        }
        self.out.push(">");
    }

    /// A generic type with arguments, sugared where the language has sugar.
    fn bound(&mut self, id: Id, kind: Kind) {
        let nodes = self.nodes;
        let (Some(of_type), Some(arguments)) = (nodes.part(id, 0), nodes.part(id, 1)) else {
            return self.out.fail();
        };
        let unbound = nodes.part(of_type, 0);
        let standard = |name: &str, count: usize| {
            let Some(unbound) = unbound else {
                return false;
            };
            let text = |at| nodes.part(unbound, at).map(|part| nodes.text(part));
            nodes.parts(id).len() == 2
                && text(0) == Some("Swift")
                && text(1) == Some(name)
                && nodes.parts(arguments).len() == count
        };
        match kind {
            Kind::BoundEnum if standard("Optional", 1) => {
                self.with_parens(arguments, 0);
                self.out.push("?");
            }
            Kind::BoundStructure if standard("Array", 1) => {
                self.bracketed("[", arguments, "", "]");
            }
            Kind::BoundStructure if standard("Dictionary", 2) => {
                self.bracketed("[", arguments, " : ", "]");
            }
            Kind::BoundProtocol if nodes.parts(id).len() == 2 => {
                self.all(arguments, "");
                self.out.push(" as ");
                self.node(of_type);
            }
            _ => {
                self.node(of_type);
                self.bracketed("<", arguments, ", ", ">");
            }
        }
    }

    fn with_parens(&mut self, id: Id, at: usize) {
        match self.nodes.part(id, at) {
            Some(part) => self.simple(part),
            None => self.out.fail(),
        }
    }

    /// A type, in parentheses where what follows would bind to its last part.
    fn simple(&mut self, id: Id) {
        let nodes = self.nodes;
        let mut inner = id;
        while nodes.kind(inner) == Kind::Type && self.out.step() {
            match nodes.part(inner, 0) {
                Some(part) => inner = part,
                None => break,
            }
        }
        let first_len = |id: Id| nodes.part(id, 0).map_or(0, |part| nodes.parts(part).len());
        let simple = match nodes.kind(inner) {
            Kind::ProtocolList => first_len(inner) <= 1,
            Kind::ProtocolsWithAnyObject => {
                nodes.part(inner, 0).is_none_or(|list| first_len(list) == 0)
            }
            Kind::FunctionType
            | Kind::NoEscapeFunction
            | Kind::AutoClosure
            | Kind::ThinFunction
            | Kind::CFunction
            | Kind::Block
            | Kind::EscapingBlock
            | Kind::ImplFunction
            | Kind::GenericType
            | Kind::Constrained
            | Kind::PackExpansion
            | Kind::ProtocolsWithClass
            | Kind::Before(_)
            | Kind::OpaqueReturn => false,
            _ => true,
        };
        if simple {
            self.node(id);
        } else {
            self.out.push("(");
            self.node(id);
            self.out.push(")");
        }
    }
}
