//! Types: functions, tuples, generics, existentials, built-in ones.

use super::kind::{Id, Kind};
use super::reader::Reader;

impl Reader<'_> {
    /// A function's type: its marks, arguments and result, from the top down.
    pub(super) fn pop_function_type(&mut self, kind: Kind) -> Option<Id> {
        let mut parts = Vec::new();
        parts.extend(self.pop_kind(Kind::SendingResult));
        parts.extend(self.pop_if(|kind| {
            matches!(
                kind,
                Kind::GlobalActor | Kind::IsolatedAny | Kind::CallerIsolated
            )
        }));
        parts.extend(self.pop_if(|kind| matches!(kind, Kind::Throws | Kind::TypedThrows)));
        parts.extend(self.pop_kind(Kind::Sendable));
        parts.extend(self.pop_kind(Kind::Async));
        parts.push(self.pop_parameters(Kind::Arguments)?);
        parts.push(self.pop_parameters(Kind::Returns)?);
        let function = self.node(kind, parts)?;
        self.in_type(function)
    }

    fn pop_parameters(&mut self, kind: Kind) -> Option<Id> {
        let inner = match self.pop_kind(Kind::EmptyList) {
            Some(_) => {
                let tuple = self.node(Kind::Tuple, vec![])?;
                self.in_type(tuple)?
            }
            None => self.pop_kind(Kind::Type)?,
        };
        self.node(kind, vec![inner])
    }

    /// The labels of the parameters of a function of this type.
    pub(super) fn labels(&mut self, of_type: Option<Id>) -> Option<Id> {
        if !self.old && self.pop_kind(Kind::EmptyList).is_some() {
            return self.node(Kind::Labels, vec![]);
        }
        let mut function = self.nodes.part(of_type?, 0)?;
        if self.nodes.kind(function) == Kind::GenericType {
            let inner = self.nodes.part(function, 1)?;
            function = self.nodes.part(inner, 0)?;
        }
        if !matches!(
            self.nodes.kind(function),
            Kind::FunctionType | Kind::NoEscapeFunction
        ) {
            return None;
        }
        let arguments = self.nodes.find(function, Kind::Arguments)?;
        let inner = self.nodes.part(arguments, 0)?;
        let parameters = self.nodes.part(inner, 0)?;
        let is_tuple = self.nodes.kind(parameters) == Kind::Tuple;
        let count = match is_tuple {
            true => self.nodes.parts(parameters).len(),
            false => 1,
        };
        if count == 0 {
            return None;
        }
        if self.old {
            return self.old_labels(parameters, is_tuple);
        }
        let mut labels = Vec::new();
        for _ in 0..count {
            let label =
                self.pop_if(|kind| matches!(kind, Kind::Identifier | Kind::FirstElement))?;
            labels.push(label);
        }
        labels.reverse();
        let named = |id: &Id| self.nodes.kind(*id) == Kind::Identifier;
        if !labels.iter().any(named) {
            labels.clear();
        }
        self.node(Kind::Labels, labels)
    }

    /// Swift 4.0 keeps them in the tuple.
    fn old_labels(&mut self, parameters: Id, is_tuple: bool) -> Option<Id> {
        let mut labels = Vec::new();
        let elements = match is_tuple {
            true => self.nodes.parts(parameters).to_vec(),
            false => Vec::new(),
        };
        let mut any = false;
        for element in elements {
            let name = self.nodes.find(element, Kind::ElementName);
            let label = match name {
                Some(name) => {
                    any = true;
                    let text = self.nodes.text(name).to_owned();
                    if let Some(node) = self.nodes.0.get_mut(element as usize) {
                        node.parts.retain(|&part| part != name);
                    }
                    self.text_node(Kind::Identifier, text)?
                }
                None => self.node(Kind::FirstElement, vec![])?,
            };
            labels.push(label);
        }
        if !any {
            labels.clear();
        }
        self.node(Kind::Labels, labels)
    }

    pub(super) fn tuple(&mut self) -> Option<Id> {
        let elements = self.pop_list(|reader| {
            let mut parts = Vec::new();
            parts.extend(reader.pop_kind(Kind::Variadic));
            if let Some(name) = reader.pop_kind(Kind::Identifier) {
                let text = reader.nodes.text(name).to_owned();
                parts.push(reader.text_node(Kind::ElementName, text)?);
            }
            parts.push(reader.pop_kind(Kind::Type)?);
            reader.node(Kind::TupleElement, parts)
        })?;
        let tuple = self.node(Kind::Tuple, elements)?;
        self.in_type(tuple)
    }

    pub(super) fn pop_type_list(&mut self) -> Option<Vec<Id>> {
        self.pop_list(|reader| reader.pop_kind(Kind::Type))
    }

    pub(super) fn pop_protocol(&mut self) -> Option<Id> {
        if let Some(id) = self.pop_kind(Kind::Type) {
            let inner = self.nodes.part(id, 0)?;
            return (self.nodes.kind(inner) == Kind::Protocol).then_some(id);
        }
        let name = self.pop_if(Kind::is_name)?;
        let context = self.pop_context()?;
        let protocol = self.node(Kind::Protocol, vec![context, name])?;
        self.in_type(protocol)
    }

    pub(super) fn protocol_list(&mut self) -> Option<Id> {
        let protocols = self.pop_list(Self::pop_protocol)?;
        let list = self.node(Kind::TypeList, protocols)?;
        self.node(Kind::ProtocolList, vec![list])
    }

    /// Lists of arguments, the innermost type's first, and conformances.
    fn bound_lists(&mut self) -> Option<(Vec<Vec<Id>>, Option<Id>)> {
        let mut conformances = Vec::new();
        while let Some(conformance) = self.pop_kind(Kind::Retroactive) {
            conformances.push(conformance);
        }
        conformances.reverse();
        let conformances = match conformances.is_empty() {
            true => None,
            false => Some(self.node(Kind::TypeList, conformances)?),
        };
        let mut lists = Vec::new();
        loop {
            let mut list = Vec::new();
            while let Some(argument) = self.pop_kind(Kind::Type) {
                list.push(argument);
            }
            list.reverse();
            lists.push(list);
            if self.pop_kind(Kind::EmptyList).is_some() {
                return Some((lists, conformances));
            }
            self.pop_kind(Kind::FirstElement)?;
        }
    }

    pub(super) fn bound_generic(&mut self) -> Option<Id> {
        let (lists, conformances) = self.bound_lists()?;
        let nominal = self.pop_inner_type()?;
        if !self.nodes.kind(nominal).is_nominal() {
            return None;
        }
        let bound = self.bind(nominal, &lists)?;
        if let Some(conformances) = conformances {
            self.add_part(bound, conformances);
        }
        let id = self.in_type(bound)?;
        self.substitutions.push(id);
        Some(id)
    }

    /// Gives `nominal` the first list and its contexts the others.
    fn bind(&mut self, nominal: Id, lists: &[Vec<Id>]) -> Option<Id> {
        // The way up, then back down with the contexts replaced.
        let mut levels: Vec<(Id, Option<usize>)> = Vec::new();
        let (mut id, mut at) = (nominal, 0);
        while at < lists.len() {
            let kind = self.nodes.kind(id);
            let consumes = !matches!(
                kind,
                Kind::Variable
                    | Kind::Subscript
                    | Kind::ImplicitClosure
                    | Kind::ExplicitClosure
                    | Kind::DefaultArgument
                    | Kind::Initializer(_)
                    | Kind::Static
                    | Kind::Extension
            );
            if levels.len() > 128 || kind == Kind::Module {
                return None;
            }
            levels.push((id, consumes.then_some(at)));
            at += usize::from(consumes);
            let up = match kind {
                Kind::Extension => 1,
                _ => 0,
            };
            if at < lists.len() {
                id = self.nodes.part(id, up)?;
            }
        }
        let mut inner: Option<Id> = None;
        for (id, list) in levels.into_iter().rev() {
            let kind = self.nodes.kind(id);
            let mut parts = self.nodes.parts(id).to_vec();
            let up = usize::from(kind == Kind::Extension);
            let mut made = id;
            if let Some(inner) = inner {
                *parts.get_mut(up)? = inner;
                made = self.node(kind, parts)?;
            }
            if let Some(list) = list.and_then(|at| lists.get(at))
                && !list.is_empty()
            {
                made = self.bound(made, kind, list.clone())?;
            }
            inner = Some(made);
        }
        inner
    }

    fn bound(&mut self, nominal: Id, kind: Kind, arguments: Vec<Id>) -> Option<Id> {
        let list = self.node(Kind::TypeList, arguments)?;
        let bound = match kind {
            Kind::Class => Kind::BoundClass,
            Kind::Structure => Kind::BoundStructure,
            Kind::Enum => Kind::BoundEnum,
            Kind::Protocol => Kind::BoundProtocol,
            Kind::OtherNominal => Kind::BoundOther,
            Kind::Alias => Kind::BoundAlias,
            Kind::Function | Kind::Constructor => {
                return self.node(Kind::BoundFunction, vec![nominal, list]);
            }
            _ => return None,
        };
        let of_type = self.in_type(nominal)?;
        self.node(bound, vec![of_type, list])
    }

    pub(super) fn builtin(&mut self) -> Option<Id> {
        let name = match self.next() {
            b'A' => "Builtin.ImplicitActor".to_owned(),
            b'b' => "Builtin.BridgeObject".to_owned(),
            b'B' => "Builtin.UnsafeValueBuffer".to_owned(),
            b'e' => "Builtin.Executor".to_owned(),
            letter @ (b'f' | b'i') => {
                let size = self.index()?.checked_sub(1)?;
                if !(1..=4096).contains(&size) {
                    return None;
                }
                match letter {
                    b'f' => format!("Builtin.FPIEEE{size}"),
                    _ => format!("Builtin.Int{size}"),
                }
            }
            b'I' => "Builtin.IntLiteral".to_owned(),
            b'v' => {
                let count = self.index()?.checked_sub(1)?;
                let element = self.pop_inner_type()?;
                if !(1..=4096).contains(&count) || self.nodes.kind(element) != Kind::Builtin {
                    return None;
                }
                let element = self.nodes.text(element).strip_prefix("Builtin.")?;
                format!("Builtin.Vec{count}x{element}")
            }
            b'O' => "Builtin.UnknownObject".to_owned(),
            b'o' => "Builtin.NativeObject".to_owned(),
            b'p' => "Builtin.RawPointer".to_owned(),
            b'j' => "Builtin.Job".to_owned(),
            b'D' => "Builtin.DefaultActorStorage".to_owned(),
            b'd' => "Builtin.NonDefaultDistributedActorStorage".to_owned(),
            b'c' => "Builtin.RawUnsafeContinuation".to_owned(),
            b't' => "Builtin.SILToken".to_owned(),
            b'w' => "Builtin.Word".to_owned(),
            b'P' => "Builtin.PackIndex".to_owned(),
            b'T' => "Builtin.TheTupleType".to_owned(),
            _ => return None,
        };
        let id = self.text_node(Kind::Builtin, name)?;
        self.in_type(id)
    }

    /// `Y`: marks of functions and types.
    pub(super) fn annotation(&mut self) -> Option<Id> {
        match self.next() {
            b'a' => self.node(Kind::Async, vec![]),
            b'A' => self.node(Kind::IsolatedAny, vec![]),
            b'b' => self.node(Kind::Sendable, vec![]),
            b'c' => {
                let actor = self.pop_inner_type()?;
                self.node(Kind::GlobalActor, vec![actor])
            }
            b'C' => self.node(Kind::CallerIsolated, vec![]),
            b'i' => self.wrapped("isolated "),
            b'k' => self.wrapped("@noDerivative "),
            b'K' => {
                let error = self.pop_inner_type()?;
                self.node(Kind::TypedThrows, vec![error])
            }
            b't' => self.wrapped("_const "),
            b'g' => self.wrapped("@const "),
            b'T' => self.node(Kind::SendingResult, vec![]),
            b'u' => self.wrapped("sending "),
            _ => None,
        }
    }

    /// `X`: types of other kinds.
    pub(super) fn special_type(&mut self) -> Option<Id> {
        let wrap = |reader: &mut Self, word| {
            let inner = reader.pop_kind(Kind::Type)?;
            let node = reader.node(Kind::Before(word), vec![inner])?;
            reader.in_type(node)
        };
        match self.next() {
            b'E' => self.pop_function_type(Kind::NoEscapeFunction),
            b'A' | b'K' => self.pop_function_type(Kind::AutoClosure),
            b'f' => self.pop_function_type(Kind::ThinFunction),
            b'U' => self.pop_function_type(Kind::FunctionType),
            b'L' => self.pop_function_type(Kind::EscapingBlock),
            b'B' => self.pop_function_type(Kind::Block),
            b'C' => self.pop_function_type(Kind::CFunction),
            b'o' => wrap(self, "unowned "),
            b'u' => wrap(self, "unowned(unsafe) "),
            b'w' => wrap(self, "weak "),
            b'b' => wrap(self, "@box "),
            b'D' => {
                self.pop_kind(Kind::Type)?;
                let text = self.text_node(Kind::Text, "Self")?;
                self.in_type(text)
            }
            letter @ (b'M' | b'm') => {
                let representation = match self.next() {
                    b't' => "@thin",
                    b'T' => "@thick",
                    b'o' => "@objc_metatype",
                    _ => return None,
                };
                let representation = self.text_node(Kind::Representation, representation)?;
                let inner = self.pop_kind(Kind::Type)?;
                let kind = match letter {
                    b'M' => Kind::Metatype,
                    _ => Kind::ExistentialMetatype,
                };
                let metatype = self.node(kind, vec![representation, inner])?;
                self.in_type(metatype)
            }
            b'p' => {
                let inner = self.pop_kind(Kind::Type)?;
                let metatype = self.node(Kind::ExistentialMetatype, vec![inner])?;
                self.in_type(metatype)
            }
            b'P' => {
                let requirements = self.pop_list(|reader| reader.pop_if(Kind::is_requirement))?;
                let requirements = self.node(Kind::Requirements, requirements)?;
                let base = self.pop_kind(Kind::Type)?;
                let constrained = self.node(Kind::Constrained, vec![base, requirements])?;
                self.in_type(constrained)
            }
            b'c' => {
                let class = self.pop_kind(Kind::Type)?;
                let protocols = self.protocol_list()?;
                let list = self.node(Kind::ProtocolsWithClass, vec![protocols, class])?;
                self.in_type(list)
            }
            b'l' => {
                let protocols = self.protocol_list()?;
                let list = self.node(Kind::ProtocolsWithAnyObject, vec![protocols])?;
                self.in_type(list)
            }
            b'Y' => self.nominal(Kind::OtherNominal),
            b'Z' => {
                let types = self.pop_type_list()?;
                let name = self.pop_kind(Kind::Identifier)?;
                let parent = self.pop_context()?;
                let types = self.node(Kind::TypeList, types)?;
                self.node(Kind::AnonymousContext, vec![name, parent, types])
            }
            b'e' => {
                let error = self.text_node(Kind::Text, "<ERROR TYPE>")?;
                self.in_type(error)
            }
            b'S' => {
                let kind = match self.next() {
                    b'q' => Kind::Optional,
                    b'a' => Kind::Array,
                    b'D' => Kind::Dictionary,
                    b'p' => Kind::Parens,
                    _ => return None,
                };
                let mut parts = vec![self.pop_kind(Kind::Type)?];
                if kind == Kind::Dictionary {
                    parts.insert(0, self.pop_kind(Kind::Type)?);
                }
                let sugar = self.node(kind, parts)?;
                self.in_type(sugar)
            }
            _ => None,
        }
    }

    /// `I`: a function's type as the intermediate language has it.
    pub(super) fn impl_function(&mut self) -> Option<Id> {
        let mut parts = Vec::new();
        if self.take(b's') {
            let (lists, conformances) = self.bound_lists()?;
            let signature = self.pop_kind(Kind::GenericSignature)?;
            let [list] = lists.as_slice() else {
                return None;
            };
            let list = self.node(Kind::TypeList, list.clone())?;
            let mut inner = vec![signature, list];
            inner.extend(conformances);
            parts.push(self.node(Kind::ImplPattern, inner)?);
        }
        if self.take(b'I') {
            let (lists, conformances) = self.bound_lists()?;
            let [list] = lists.as_slice() else {
                return None;
            };
            let list = self.node(Kind::TypeList, list.clone())?;
            let mut inner = vec![list];
            inner.extend(conformances);
            parts.push(self.node(Kind::ImplInvocation, inner)?);
        }
        let mut signature = self.pop_kind(Kind::GenericSignature);
        if signature.is_some() && self.take(b'P') {
            let inner = self.nodes.parts(signature?).to_vec();
            signature = Some(self.node(Kind::PseudoSignature, inner)?);
        }
        if self.take(b'e') {
            parts.push(self.text_node(Kind::ImplConvention, "@escaping")?);
        }
        if self.take(b'A') {
            parts.push(self.text_node(Kind::ImplConvention, "@isolated(any)")?);
        }
        let differentiable = match self.peek() {
            b'd' => "@differentiable",
            b'l' => "@differentiable(_linear)",
            b'f' => "@differentiable(_forward)",
            b'r' => "@differentiable(reverse)",
            _ => "",
        };
        if !differentiable.is_empty() {
            self.at += 1;
            parts.push(self.text_node(Kind::ImplConvention, differentiable)?);
        }
        let callee = match self.next() {
            b'y' => "@callee_unowned",
            b'g' => "@callee_guaranteed",
            b'x' => "@callee_owned",
            b't' => "@convention(thin)",
            _ => return None,
        };
        parts.push(self.text_node(Kind::ImplConvention, callee)?);
        let convention = match self.peek() {
            b'B' => "block",
            b'C' => "c",
            b'M' => "method",
            b'O' => "objc_method",
            b'K' => "closure",
            b'W' => "witness_method",
            _ => "",
        };
        if !convention.is_empty() {
            self.at += 1;
            parts.push(self.text_node(Kind::ImplFunctionConvention, convention)?);
        }
        for (letter, text) in [
            (b'A', "@yield_once"),
            (b'I', "@yield_once_2"),
            (b'G', "@yield_many"),
            (b'h', "@Sendable"),
            (b'H', "@async"),
        ] {
            if self.take(letter) {
                parts.push(self.text_node(Kind::ImplConvention, text)?);
            }
        }
        if self.take(b'T') {
            parts.push(self.node(Kind::ImplSending, vec![])?);
        }
        parts.extend(signature);
        let first = parts.len();
        while let Some(convention) = self.parameter_convention() {
            let mut text = convention.to_owned();
            for (letter, word) in [
                (b'w', " @noDerivative"),
                (b'T', " sending"),
                (b'I', " isolated"),
                (b'L', " sil_implicit_leading_param"),
            ] {
                if self.take(letter) {
                    text.push_str(word);
                }
            }
            parts.push(self.text_node(Kind::ImplParameter, text)?);
        }
        while let Some(convention) = self.result_convention() {
            let mut text = convention.to_owned();
            if self.take(b'w') {
                text.push_str(" @noDerivative");
            }
            parts.push(self.text_node(Kind::ImplResult, text)?);
        }
        while self.take(b'Y') {
            let convention = self.parameter_convention()?;
            parts.push(self.text_node(Kind::ImplYield, convention)?);
        }
        if self.take(b'z') {
            let convention = self.result_convention()?;
            parts.push(self.text_node(Kind::ImplError, convention)?);
        }
        if !self.take(b'_') {
            return None;
        }
        for at in (first..parts.len()).rev() {
            let of_type = self.pop_kind(Kind::Type)?;
            self.add_part(*parts.get(at)?, of_type);
        }
        let function = self.node(Kind::ImplFunction, parts)?;
        self.in_type(function)
    }

    fn parameter_convention(&mut self) -> Option<&'static str> {
        let text = match self.peek() {
            b'i' => "@in",
            b'c' => "@in_constant",
            b'l' => "@inout",
            b'b' => "@inout_aliasable",
            b'n' => "@in_guaranteed",
            b'X' => "@in_cxx",
            b'x' => "@owned",
            b'g' => "@guaranteed",
            b'e' => "@deallocating",
            b'y' => "@unowned",
            b'v' => "@pack_owned",
            b'p' => "@pack_guaranteed",
            b'm' => "@pack_inout",
            _ => return None,
        };
        self.at += 1;
        Some(text)
    }

    fn result_convention(&mut self) -> Option<&'static str> {
        let text = match self.peek() {
            b'r' => "@out",
            b'o' => "@owned",
            b'd' => "@unowned",
            b'u' => "@unowned_inner_pointer",
            b'a' => "@autoreleased",
            b'k' => "@pack_out",
            b'l' => "@guaranteed_address",
            b'g' => "@guaranteed",
            b'm' => "@inout",
            _ => return None,
        };
        self.at += 1;
        Some(text)
    }

    /// Lists for opaque types: all of them one after the other.
    pub(super) fn opaque_arguments(&mut self) -> Option<(Vec<Id>, Option<Id>)> {
        let (lists, conformances) = self.bound_lists()?;
        let mut made = Vec::new();
        for list in lists.into_iter().rev() {
            made.push(self.node(Kind::TypeList, list)?);
        }
        Some((made, conformances))
    }
}
