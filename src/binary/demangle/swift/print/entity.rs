//! How declarations are written: name, context and type.

use super::*;

impl Printer<'_> {
    pub(super) fn entity(&mut self, id: Id, as_context: bool, mut called: Called) -> Option<Id> {
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

    pub(super) fn extra(&mut self, called: &Called) {
        self.out.push(called.extra);
        if let Some(number) = called.number {
            self.out.push(&number.to_string());
        }
    }

    pub(super) fn name(&mut self, id: Id, called: &mut Called, words: bool) {
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

    pub(super) fn entity_type(
        &mut self,
        id: Id,
        called: &Called,
        words: bool,
        arguments: Option<Id>,
    ) {
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

    pub(super) fn needs_blank(&mut self, id: Id) -> bool {
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

    pub(super) fn function_type(&mut self, labels: Option<Id>, id: Id) {
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

    pub(super) fn parameters(&mut self, labels: Option<Id>, arguments: Id) {
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
}
