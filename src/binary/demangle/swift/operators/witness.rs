//! Operators of witnesses, metadata, outlined copies and conformances.

use super::*;

impl Reader<'_> {
    pub(super) fn value_witness(&mut self) -> Option<Id> {
        let code = [self.next(), self.next()];
        let (_, name) = VALUE_WITNESSES.iter().find(|(known, _)| **known == code)?;
        let of_type = self.pop_kind(Kind::Type)?;
        let name = self.text_node(Kind::Text, *name)?;
        self.node(Kind::ValueWitness, vec![name, of_type])
    }

    pub(super) fn metadata(&mut self) -> Option<Id> {
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

    pub(super) fn witness(&mut self) -> Option<Id> {
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

    pub(super) fn outlined(&mut self) -> Option<Id> {
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

    pub(super) fn conformance_operator(&mut self) -> Option<Id> {
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

    pub(super) fn conformance_index(&mut self) -> Option<Id> {
        let index = self.index()?;
        match index {
            ..=0 => None,
            index => self.number_node(Kind::Number, index - 2),
        }
    }

    pub(super) fn dependent_conformance(
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

    pub(in crate::binary::demangle::swift) fn conformance_list(&mut self) -> Option<Id> {
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
