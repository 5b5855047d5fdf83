//! `<nested-name>`, `<local-name>`, `<unqualified-name>` and what they are made
//! of.

use super::*;

impl<'a> Reader<'a> {
    pub(super) fn nested(&mut self, mut state: Option<&mut NameState>) -> Option<Id> {
        self.expect(b"N")?;
        let _explicit_object = self.take(b"H");
        let cv = self.cv();
        let reference = match self.look() {
            b'R' => "&",
            b'O' => "&&",
            _ => "",
        };
        self.at += usize::from(!reference.is_empty());
        if let Some(state) = state.as_deref_mut() {
            state.cv = cv;
            state.reference = reference;
        }
        let mut so_far: Option<Id> = None;
        while !self.take(b"E") {
            if let Some(state) = state.as_deref_mut() {
                state.ends_with_arguments = false;
            }
            // A member's initializer: the closure that follows says it all.
            if so_far.is_some() && self.take(b"M") {
                continue;
            }
            let next = match (self.look(), self.look_at(1), so_far) {
                (b'T', _, None) => {
                    let start = self.at;
                    let parameter = self.parameter()?;
                    self.parameter_candidate(parameter, start);
                    so_far = Some(parameter);
                    continue;
                }
                (b'I', _, Some(base)) => {
                    let arguments = self.arguments(state.is_some())?;
                    if let Some(state) = state.as_deref_mut() {
                        state.ends_with_arguments = true;
                    }
                    self.add(Node::Templated(base, arguments))
                }
                (b'D', b't' | b'T', None) => self.decltype()?,
                (b'S', b't', None) => {
                    self.at += 2;
                    let std = self.add(Node::Text("std"));
                    so_far = Some(std);
                    continue;
                }
                (b'S', _, None) => {
                    so_far = Some(self.substitution()?);
                    continue;
                }
                (_, _, scope) => {
                    let _ = self.take(b"L");
                    let inner = self.unqualified(scope, state.as_deref_mut())?;
                    match scope {
                        Some(scope) => self.add(Node::Nested(scope, inner)),
                        None => inner,
                    }
                }
            };
            self.candidate(next);
            so_far = Some(next);
        }
        // The whole name is no candidate here; as a type it is added again.
        self.substitutions.pop()?;
        so_far
    }

    pub(super) fn local(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        self.expect(b"Z")?;
        let function = self.encoding(false)?;
        self.expect(b"E")?;
        if self.take(b"s") {
            self.discriminator()?;
            let text = self.add(Node::Text("string literal"));
            return Some(self.add(Node::Local(function, text)));
        }
        if self.take(b"d") {
            let number = self.sequence()?.checked_add(1)?;
            let entity = self.name(state)?;
            return Some(self.add(Node::DefaultArgument(function, number, entity)));
        }
        let entity = self.name(state)?;
        self.discriminator()?;
        Some(self.add(Node::Local(function, entity)))
    }

    pub(super) fn discriminator(&mut self) -> Option<()> {
        if self.look() != b'_' {
            return Some(());
        }
        if self.look_at(1) == b'_' {
            self.at += 2;
            self.number()?;
            return self.expect(b"_");
        }
        if self.look_at(1).is_ascii_digit() {
            self.at += 2;
        }
        Some(())
    }

    /// A name without its scope, and the tags behind it.
    pub(in crate::binary::demangle::itanium) fn unqualified(
        &mut self,
        scope: Option<Id>,
        state: Option<&mut NameState>,
    ) -> Option<Id> {
        let _ = self.take(b"F");
        let _ = self.take(b"L");
        let mut name = match (self.look(), self.look_at(1)) {
            (b'1'..=b'9', _) => self.source_name()?,
            (b'U', _) => self.unnamed()?,
            (b'D', b'C') => {
                self.at += 2;
                let mut names = Vec::new();
                while !self.take(b"E") {
                    names.push(self.source_name()?);
                }
                let names = self.list(&names);
                self.add(Node::Binding(names))
            }
            (b'C', _) | (b'D', b'0'..=b'5') => {
                let scope = scope?;
                if let Some(state) = state {
                    state.no_return = true;
                }
                self.structor(scope)?
            }
            _ => self.operator(state)?,
        };
        while self.take(b"B") {
            let tag = self.source_span()?;
            name = self.add(Node::AbiTag(name, tag));
        }
        Some(name)
    }

    pub(super) fn structor(&mut self, scope: Id) -> Option<Id> {
        if self.take(b"C") {
            let inherited = self.take(b"I");
            let digit = self.look();
            if !(b'1'..=b'5').contains(&digit) {
                return None;
            }
            self.at += 1;
            if inherited {
                self.kind()?;
            }
            return Some(self.add(Node::Constructor(scope)));
        }
        self.at += 2;
        Some(self.add(Node::Destructor(scope)))
    }

    pub(in crate::binary::demangle::itanium) fn source_span(&mut self) -> Option<Span> {
        let length = self.number()? as usize;
        let start = self.at;
        let end = start.checked_add(length)?;
        if length == 0 || end > self.input.len() {
            return None;
        }
        self.at = end;
        Some(self.span(start, end))
    }

    pub(in crate::binary::demangle::itanium) fn source_name(&mut self) -> Option<Id> {
        let span = self.source_span()?;
        let text = self.input.get(span.start as usize..span.end as usize)?;
        let anonymous = matches!(
            text,
            [
                b'_',
                b'G',
                b'L',
                b'O',
                b'B',
                b'A',
                b'L',
                b'_',
                b'_' | b'.' | b'$',
                b'N',
                ..
            ]
        );
        Some(match anonymous {
            true => self.add(Node::Anonymous),
            false => self.add(Node::Source(span)),
        })
    }

    pub(super) fn unnamed(&mut self) -> Option<Id> {
        if self.take(b"Ut") {
            let number = self.sequence()?.checked_add(1)?;
            return Some(self.add(Node::Unnamed(number)));
        }
        self.expect(b"Ul")?;
        let outer = std::mem::replace(&mut self.in_lambda, true);
        while self.look() == b'T' && matches!(self.look_at(1), b'y' | b'n' | b't' | b'p') {
            self.parameter_declaration()?;
        }
        let parameters = self.parameters_until(|reader| reader.look() == b'E');
        self.in_lambda = outer;
        let parameters = parameters?;
        self.expect(b"E")?;
        let number = self.sequence()?.checked_add(1)?;
        Some(self.add(Node::Lambda(parameters, number)))
    }

    /// A template parameter of a generic lambda; it is not shown.
    pub(super) fn parameter_declaration(&mut self) -> Option<()> {
        self.deeper(|reader| {
            match (reader.look_at(1), reader.at += 2) {
                (b'y', ()) => {}
                (b'n', ()) => {
                    reader.kind()?;
                }
                (b't', ()) => {
                    while !reader.take(b"E") {
                        if reader.look() != b'T' {
                            return None;
                        }
                        reader.parameter_declaration()?;
                    }
                }
                _ => reader.parameter_declaration()?,
            }
            Some(())
        })
    }

    pub(super) fn operator(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        if self.take(b"cv") {
            let outer = (self.allow_forward, self.no_arguments);
            // Arguments of a conversion template stand behind the type that
            // names them.
            self.allow_forward = self.allow_forward || state.is_some();
            self.no_arguments = true;
            let kind = self.kind();
            (self.allow_forward, self.no_arguments) = outer;
            if let Some(state) = state {
                state.no_return = true;
            }
            return Some(self.add(Node::Conversion(kind?)));
        }
        if self.take(b"li") {
            let name = self.source_name()?;
            return Some(self.add(Node::Literal(name)));
        }
        if self.look() == b'v' && self.look_at(1).is_ascii_digit() {
            self.at += 2;
            let name = self.source_name()?;
            return Some(self.add(Node::VendorOperator(name)));
        }
        let name = tables::operator_name([self.look(), self.look_at(1)])?;
        self.at += 2;
        Some(self.add(Node::Operator(name)))
    }
}
