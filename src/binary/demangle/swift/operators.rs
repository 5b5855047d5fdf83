//! Operators by their letter: entities, contexts, metadata, witnesses.

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

    fn value_witness(&mut self) -> Option<Id> {
        let code = [self.next(), self.next()];
        let (_, name) = VALUE_WITNESSES.iter().find(|(known, _)| **known == code)?;
        let of_type = self.pop_kind(Kind::Type)?;
        let name = self.text_node(Kind::Text, *name)?;
        self.node(Kind::ValueWitness, vec![name, of_type])
    }

    fn metadata(&mut self) -> Option<Id> {
        let letter = self.next();
        if let Some(&(_, words)) = METADATA.iter().find(|&&(known, _)| known == letter) {
            return self.before_type(words);
        }
        match letter {
            b'A' => self.before_conformance("reflection metadata associated type descriptor "),
            b'c' => self.before_conformance("protocol conformance descriptor for "),
            b'C' => {
                let inner = self.pop_inner_type()?;
                let words = "reflection metadata superclass descriptor ";
                self.node(Kind::Before(words), vec![inner])
            }
            b'g' => self.before_any("opaque type descriptor accessor for "),
            b'h' => self.before_any("opaque type descriptor accessor impl for "),
            b'j' => self.before_any("opaque type descriptor accessor key for "),
            b'J' => self.before_any(
                "cache variable for noncanonical specialized generic type metadata for ",
            ),
            b'k' => self.before_any("opaque type descriptor accessor var for "),
            b'K' => self.before_any("metadata instantiation cache for "),
            b'p' => self.before_protocol("protocol descriptor for "),
            b'q' => self.before_any("uniquable "),
            b'Q' => self.before_any("opaque type descriptor for "),
            b'S' => self.before_protocol("protocol self-conformance descriptor for "),
            b'V' => self.before_entity("property descriptor for "),
            b'X' => match self.next() {
                b'E' => {
                    let context = self.pop_context()?;
                    self.node(Kind::Before("extension descriptor "), vec![context])
                }
                b'M' => {
                    let module = self.pop_module()?;
                    self.node(Kind::Before("module descriptor "), vec![module])
                }
                b'Y' => {
                    let _discriminator = self.pop()?;
                    let context = self.pop_context()?;
                    self.node(Kind::Before("anonymous descriptor "), vec![context])
                }
                b'X' => {
                    let context = self.pop_context()?;
                    self.node(Kind::Before("anonymous descriptor "), vec![context])
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn witness(&mut self) -> Option<Id> {
        match self.next() {
            b'C' => self.before_entity("enum case for "),
            b'V' => self.before_type("value witness table for "),
            b'v' => {
                let direct = match self.next() {
                    b'd' => "direct ",
                    b'i' => "indirect ",
                    _ => return None,
                };
                let direct = self.text_node(Kind::Text, direct)?;
                let entity = self.pop_if(Kind::is_entity)?;
                self.node(Kind::FieldOffset, vec![direct, entity])
            }
            b'S' => self.before_protocol("protocol self-conformance witness table for "),
            b'P' => self.before_conformance("protocol witness table for "),
            b'p' => self.before_conformance("protocol witness table pattern for "),
            b'G' => self.before_conformance("generic protocol witness table for "),
            b'I' => self.before_conformance(
                "instantiation function for generic protocol witness table for ",
            ),
            b'r' => self.before_conformance("resilient protocol witness table for "),
            b'a' => self.before_conformance("protocol witness table accessor for "),
            letter @ (b'l' | b'L') => {
                let conformance = self.pop_conformance()?;
                let of_type = self.pop_kind(Kind::Type)?;
                let words = match letter {
                    b'l' => "lazy protocol witness table accessor for type ",
                    _ => "lazy protocol witness table cache variable for type ",
                };
                let kind = Kind::Between([words, " and conformance ", ""]);
                self.node(kind, vec![of_type, conformance])
            }
            b't' => {
                let name = self.pop_if(Kind::is_name)?;
                let conformance = self.pop_conformance()?;
                let kind = Kind::Swapped(["associated type metadata accessor for ", " in "]);
                self.node(kind, vec![conformance, name])
            }
            b'T' => {
                let protocol = self.pop_kind(Kind::Type)?;
                let path = self.associated_path()?;
                let conformance = self.pop_conformance()?;
                let kind =
                    Kind::Between(["associated type witness table accessor for ", " : ", " in "]);
                self.node(kind, vec![path, protocol, conformance])
            }
            b'b' => {
                let protocol = self.pop_kind(Kind::Type)?;
                let conformance = self.pop_conformance()?;
                let kind = Kind::Swapped(["base witness table accessor for ", " in "]);
                self.node(kind, vec![conformance, protocol])
            }
            b'O' => self.outlined(),
            letter @ (b'Z' | b'z') => {
                let words = match letter {
                    b'Z' => "one-time initialization function for ",
                    _ => "one-time initialization token for ",
                };
                let mut names = vec![];
                while self.pop_kind(Kind::FirstElement).is_some() {
                    names.push(self.pop_if(Kind::is_name)?);
                }
                names.reverse();
                let list = self.node(Kind::OnceList, names)?;
                let context = self.pop_context()?;
                self.node(Kind::OnceToken(words), vec![context, list])
            }
            _ => None,
        }
    }

    fn outlined(&mut self) -> Option<Id> {
        let (words, twice) = match self.next() {
            b'y' => ("outlined copy of ", true),
            b'e' => ("outlined consume of ", true),
            b'r' => ("outlined retain of ", false),
            b's' => ("outlined release of ", false),
            b'b' | b'B' => ("outlined init with take of ", false),
            b'c' | b'C' => ("outlined init with copy of ", false),
            b'd' | b'D' => ("outlined assign with take of ", false),
            b'f' | b'F' => ("outlined assign with copy of ", false),
            b'h' | b'H' => ("outlined destroy of ", false),
            b'g' => ("outlined enum get tag of ", false),
            b'i' => ("outlined enum tag store of ", false),
            b'j' => ("outlined enum project data for load of ", false),
            _ => return None,
        };
        let signature = self.pop_kind(Kind::GenericSignature);
        let of_type = self.pop_kind(Kind::Type)?;
        let mut parts = vec![of_type];
        if twice {
            parts.extend(signature);
        }
        self.node(Kind::Before(words), parts)
    }

    fn conformance_operator(&mut self) -> Option<Id> {
        match self.next() {
            b'C' => {
                let list = self.conformance_list()?;
                let reference = self.pop_if(|kind| matches!(kind, Kind::ConformanceRef(_)));
                let reference = match reference {
                    Some(reference) => reference,
                    None => {
                        let module = self.pop_module()?;
                        let protocol = self.pop_protocol()?;
                        let words = "protocol conformance ref (retroactive) ";
                        self.node(Kind::ConformanceRef(words), vec![protocol, module])?
                    }
                };
                let of_type = self.pop_kind(Kind::Type)?;
                self.node(Kind::ConcreteConformance, vec![of_type, reference, list])
            }
            b'P' => {
                let protocol = self.pop_protocol()?;
                let words = "protocol conformance ref (type's module) ";
                self.node(Kind::ConformanceRef(words), vec![protocol])
            }
            b'p' => {
                let protocol = self.pop_protocol()?;
                let words = "protocol conformance ref (protocol's module) ";
                self.node(Kind::ConformanceRef(words), vec![protocol])
            }
            b'D' => self.dependent_conformance("dependent root protocol conformance ", |reader| {
                reader.pop_kind(Kind::Type)
            }),
            b'I' => self
                .dependent_conformance("dependent inherited protocol conformance ", |reader| {
                    reader.pop_if(|kind| matches!(kind, Kind::DependentConformance(_)))
                }),
            b'A' => {
                let index = self.conformance_index()?;
                let protocol = self.pop_protocol()?;
                let of_type = self.pop_kind(Kind::Type)?;
                let words = "dependent associated conformance ";
                let associated = self.node(Kind::Before(words), vec![of_type, protocol])?;
                let nested = self.pop_if(|kind| matches!(kind, Kind::DependentConformance(_)))?;
                let words = "dependent associated protocol conformance ";
                self.node(
                    Kind::DependentConformance(words),
                    vec![nested, associated, index],
                )
            }
            b'c' => self.before_conformance("protocol conformance descriptor runtime record for "),
            b'n' => self.before_type("nominal type descriptor runtime record for "),
            b'o' => self.before_any("opaque type descriptor runtime record for "),
            b'r' => self.before_protocol("protocol descriptor runtime record for "),
            b'F' => self.node(
                Kind::Attribute("accessible function runtime record for "),
                vec![],
            ),
            _ => None,
        }
    }

    fn conformance_index(&mut self) -> Option<Id> {
        let index = self.index()?;
        match index {
            ..=0 => None,
            index => self.number_node(Kind::Number, index - 2),
        }
    }

    fn dependent_conformance(
        &mut self,
        words: &'static str,
        base: impl FnOnce(&mut Self) -> Option<Id>,
    ) -> Option<Id> {
        let index = self.conformance_index()?;
        let protocol = self.pop_protocol()?;
        let base = base(self)?;
        self.node(
            Kind::DependentConformance(words),
            vec![base, protocol, index],
        )
    }

    pub(super) fn conformance_list(&mut self) -> Option<Id> {
        let list = self.pop_list(|reader| {
            reader.pop_if(|kind| {
                matches!(
                    kind,
                    Kind::ConcreteConformance | Kind::DependentConformance(_)
                )
            })
        })?;
        self.node(Kind::ConformanceList, list)
    }
}
