//! Operators by their letter: entities, contexts, metadata, witnesses.

mod witness;

use super::kind::{Id, Kind};
use super::reader::Reader;

/// `w` and two letters: functions of the table of a value's witnesses.
const VALUE_WITNESSES: [(&[u8; 2], &str); 24] = [
    (b"al", "allocateBuffer"),
    (b"ca", "assignWithCopy"),
    (b"ta", "assignWithTake"),
    (b"de", "deallocateBuffer"),
    (b"xx", "destroy"),
    (b"XX", "destroyBuffer"),
    (b"Xx", "destroyArray"),
    (b"CP", "initializeBufferWithCopyOfBuffer"),
    (b"Cp", "initializeBufferWithCopy"),
    (b"cp", "initializeWithCopy"),
    (b"Tk", "initializeBufferWithTake"),
    (b"tk", "initializeWithTake"),
    (b"pr", "projectBuffer"),
    (b"TK", "initializeBufferWithTakeOfBuffer"),
    (b"Cc", "initializeArrayWithCopy"),
    (b"Tt", "initializeArrayWithTakeFrontToBack"),
    (b"tT", "initializeArrayWithTakeBackToFront"),
    (b"xs", "storeExtraInhabitant"),
    (b"xg", "getExtraInhabitantIndex"),
    (b"ug", "getEnumTag"),
    (b"up", "destructiveProjectEnumData"),
    (b"ui", "destructiveInjectEnumTag"),
    (b"et", "getEnumTagSinglePayload"),
    (b"st", "storeEnumTagSinglePayload"),
];

/// `M` and a letter: metadata of a type.
const METADATA: [(u8, &str); 21] = [
    (b'a', "type metadata accessor for "),
    (
        b'b',
        "canonical specialized generic type metadata accessor for ",
    ),
    (b'B', "reflection metadata builtin descriptor "),
    (b'D', "demangling cache variable for type metadata for "),
    (b'f', "full type metadata for "),
    (b'F', "reflection metadata field descriptor "),
    (b'i', "type metadata instantiation function for "),
    (b'I', "type metadata instantiation cache for "),
    (b'l', "type metadata singleton initialization cache for "),
    (b'L', "lazy cache variable for type metadata for "),
    (b'm', "metaclass for "),
    (b'M', "specialized generic metaclass for "),
    (b'n', "nominal type descriptor for "),
    (b'N', "noncanonical specialized generic type metadata for "),
    (b'o', "class metadata base offset for "),
    (b'P', "generic type metadata pattern for "),
    (b'r', "type metadata completion function for "),
    (b's', "ObjC resilient class stub for "),
    (b't', "full ObjC resilient class stub for "),
    (b'u', "method lookup function for "),
    (b'U', "ObjC metadata update function for "),
];

impl Reader<'_> {
    /// The node that the next operator makes.
    pub(super) fn operator(&mut self) -> Option<Id> {
        match self.next() {
            b'A' => self.substitution_list(),
            b'B' => self.builtin(),
            b'C' => self.nominal(Kind::Class),
            b'D' => {
                let inner = self.pop_kind(Kind::Type)?;
                let mut parts = Vec::new();
                parts.extend(self.labels(Some(inner)));
                parts.push(inner);
                self.node(Kind::TypeMangling, parts)
            }
            b'E' => self.extension(),
            b'F' => self.function(),
            b'G' => self.bound_generic(),
            b'H' => self.conformance_operator(),
            b'I' => self.impl_function(),
            b'K' => self.node(Kind::Throws, vec![]),
            b'L' => self.local_name(),
            b'M' => self.metadata(),
            b'N' => self.before_type("type metadata for "),
            b'O' => self.nominal(Kind::Enum),
            b'P' => self.nominal(Kind::Protocol),
            b'Q' => self.archetype(),
            b'R' => self.requirement(),
            b'S' => self.standard_substitution(),
            b'T' => self.thunk(),
            b'V' => self.nominal(Kind::Structure),
            b'W' => self.witness(),
            b'X' => self.special_type(),
            b'Y' => self.annotation(),
            b'Z' => {
                let entity = self.pop_if(Kind::is_entity)?;
                self.node(Kind::Static, vec![entity])
            }
            b'a' => self.nominal(Kind::Alias),
            b'c' => self.pop_function_type(Kind::FunctionType),
            b'd' => self.node(Kind::Variadic, vec![]),
            b'f' => self.function_entity(),
            b'g' => {
                let index = self.index_node()?;
                let conformance = self.pop_kind(Kind::ConcreteConformance)?;
                self.node(Kind::Retroactive, vec![index, conformance])
            }
            b'h' => self.wrapped("__shared "),
            b'i' => self.subscript(),
            b'l' => self.signature(false),
            b'm' => {
                let inner = self.pop_kind(Kind::Type)?;
                let metatype = self.node(Kind::Metatype, vec![inner])?;
                self.in_type(metatype)
            }
            b'n' => self.wrapped("__owned "),
            b'o' => self.operator_name(),
            b'p' => {
                let list = self.protocol_list()?;
                self.in_type(list)
            }
            b'q' => {
                let parameter = self.parameter_index()?;
                self.in_type(parameter)
            }
            b'r' => self.signature(true),
            b's' => self.text_node(Kind::Module, "Swift"),
            b't' => self.tuple(),
            b'u' => self.generic_type(),
            b'v' => {
                let variable = self.entity(Kind::Variable)?;
                self.accessor(variable)
            }
            b'w' => self.value_witness(),
            b'x' => {
                let parameter = self.parameter(0, 0)?;
                self.in_type(parameter)
            }
            b'y' => self.node(Kind::EmptyList, vec![]),
            b'z' => self.wrapped("inout "),
            b'_' => self.node(Kind::FirstElement, vec![]),
            b'.' => {
                let rest = self.input.get(self.at - 1..).unwrap_or_default();
                let text = std::str::from_utf8(rest).ok()?.to_owned();
                self.at = self.input.len();
                self.text_node(Kind::Suffix, text)
            }
            b'$' => {
                let negative = self.take(b'n');
                let value = self.index()?;
                let number = if negative { -value } else { value };
                let number = self.number_node(Kind::Number, number)?;
                self.in_type(number)
            }
            b'0'..=b'9' => {
                self.at -= 1;
                self.identifier()
            }
            _ => None,
        }
    }

    /// A type with a word before it.
    pub(super) fn wrapped(&mut self, word: &'static str) -> Option<Id> {
        let inner = self.pop_inner_type()?;
        let node = self.node(Kind::Before(word), vec![inner])?;
        self.in_type(node)
    }

    pub(super) fn before_type(&mut self, words: &'static str) -> Option<Id> {
        let inner = self.pop_kind(Kind::Type)?;
        self.node(Kind::Before(words), vec![inner])
    }

    fn before_entity(&mut self, words: &'static str) -> Option<Id> {
        let inner = self.pop_if(Kind::is_entity)?;
        self.node(Kind::Before(words), vec![inner])
    }

    fn before_any(&mut self, words: &'static str) -> Option<Id> {
        let inner = self.pop()?;
        self.node(Kind::Before(words), vec![inner])
    }

    fn before_protocol(&mut self, words: &'static str) -> Option<Id> {
        let inner = self.pop_protocol()?;
        self.node(Kind::Before(words), vec![inner])
    }

    fn before_conformance(&mut self, words: &'static str) -> Option<Id> {
        let inner = self.pop_conformance()?;
        self.node(Kind::Before(words), vec![inner])
    }

    pub(super) fn pop_module(&mut self) -> Option<Id> {
        if let Some(name) = self.pop_kind(Kind::Identifier) {
            let text = self.nodes.text(name).to_owned();
            return self.text_node(Kind::Module, text);
        }
        self.pop_kind(Kind::Module)
    }

    pub(super) fn pop_context(&mut self) -> Option<Id> {
        if let Some(module) = self.pop_module() {
            return Some(module);
        }
        if let Some(id) = self.pop_kind(Kind::Type) {
            let inner = self.nodes.part(id, 0)?;
            return self.nodes.kind(inner).is_context().then_some(inner);
        }
        self.pop_if(Kind::is_context)
    }

    pub(super) fn nominal(&mut self, kind: Kind) -> Option<Id> {
        let name = self.pop_if(Kind::is_name)?;
        let context = self.pop_context()?;
        let nominal = self.node(kind, vec![context, name])?;
        let id = self.in_type(nominal)?;
        self.substitutions.push(id);
        Some(id)
    }

    fn extension(&mut self) -> Option<Id> {
        let signature = self.pop_kind(Kind::GenericSignature);
        let module = self.pop_module()?;
        let extended = self.pop_inner_type()?;
        if !self.nodes.kind(extended).is_nominal() {
            return None;
        }
        let mut parts = vec![module, extended];
        parts.extend(signature);
        self.node(Kind::Extension, parts)
    }

    fn function(&mut self) -> Option<Id> {
        let signature = self.pop_kind(Kind::GenericSignature);
        let mut kind = self.pop_function_type(Kind::FunctionType)?;
        let labels = self.labels(Some(kind));
        if let Some(signature) = signature {
            let generic = self.node(Kind::GenericType, vec![signature, kind])?;
            kind = self.in_type(generic)?;
        }
        let name = self.pop_if(Kind::is_name)?;
        let context = self.pop_context()?;
        let mut parts = vec![context, name];
        parts.extend(labels);
        parts.push(kind);
        self.node(Kind::Function, parts)
    }

    fn entity(&mut self, kind: Kind) -> Option<Id> {
        let of_type = self.pop_kind(Kind::Type)?;
        let labels = self.labels(Some(of_type));
        let name = self.pop_if(Kind::is_name)?;
        let context = self.pop_context()?;
        let mut parts = vec![context, name];
        parts.extend(labels);
        parts.push(of_type);
        self.node(kind, parts)
    }

    fn subscript(&mut self) -> Option<Id> {
        let private = self.pop_kind(Kind::PrivateName);
        let of_type = self.pop_kind(Kind::Type)?;
        let labels = self.labels(Some(of_type));
        let context = self.pop_context()?;
        let mut parts = vec![context];
        parts.extend(labels);
        parts.push(of_type);
        parts.extend(private);
        let subscript = self.node(Kind::Subscript, parts)?;
        self.accessor(subscript)
    }

    fn accessor(&mut self, storage: Id) -> Option<Id> {
        let name = match self.next() {
            b'm' => "materializeForSet",
            b's' => "setter",
            b'g' | b'G' => "getter",
            b'w' => "willset",
            b'W' => "didset",
            b'r' => "read",
            b'y' => "read2",
            b'M' => "modify",
            b'x' => "modify2",
            b'i' => "init",
            b'b' => "borrow",
            b'z' => "mutate",
            b'a' => match self.next() {
                b'O' => "owningMutableAddressor",
                b'o' => "nativeOwningMutableAddressor",
                b'P' => "nativePinningMutableAddressor",
                b'u' => "unsafeMutableAddressor",
                _ => return None,
            },
            b'l' => match self.next() {
                b'O' => "owningAddressor",
                b'o' => "nativeOwningAddressor",
                b'p' => "nativePinningAddressor",
                b'u' => "unsafeAddressor",
                _ => return None,
            },
            b'p' => return Some(storage),
            _ => return None,
        };
        self.node(Kind::Accessor(name), vec![storage])
    }

    fn function_entity(&mut self) -> Option<Id> {
        let letter = self.next();
        let kind = match letter {
            b'D' => Kind::Deallocator,
            b'd' => Kind::Destructor,
            b'Z' => Kind::IsolatedDeallocator,
            b'E' => Kind::Ivar("__ivar_destroyer"),
            b'e' => Kind::Ivar("__ivar_initializer"),
            b'i' => Kind::Initializer("variable initialization expression"),
            b'P' => Kind::Initializer("property wrapper backing initializer"),
            b'F' => Kind::Initializer("property wrapped field init accessor"),
            b'W' => Kind::Initializer("property wrapper init from projected value"),
            b'C' | b'c' => return self.constructor(letter == b'C'),
            b'U' | b'u' => {
                let kind = match letter {
                    b'U' => Kind::ExplicitClosure,
                    _ => Kind::ImplicitClosure,
                };
                let index = self.index_node()?;
                let of_type = self.pop_kind(Kind::Type)?;
                let context = self.pop_context()?;
                return self.node(kind, vec![context, index, of_type]);
            }
            b'A' => {
                let index = self.index_node()?;
                let context = self.pop_context()?;
                return self.node(Kind::DefaultArgument, vec![context, index]);
            }
            b'm' => return self.entity(Kind::Macro),
            b'p' => return self.entity(Kind::GenericParameterDeclaration),
            _ => return None,
        };
        let context = self.pop_context()?;
        self.node(kind, vec![context])
    }

    fn constructor(&mut self, allocates: bool) -> Option<Id> {
        let private = self.pop_kind(Kind::PrivateName);
        let of_type = self.pop_kind(Kind::Type)?;
        let labels = self.labels(Some(of_type));
        let context = self.pop_context()?;
        let mut parts = vec![context];
        parts.extend(labels);
        parts.push(of_type);
        parts.extend(private);
        let kind = match allocates {
            true => Kind::Allocator,
            false => Kind::Constructor,
        };
        self.node(kind, parts)
    }
}
