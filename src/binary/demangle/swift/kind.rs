//! The nodes of a name.

/// A node's place in [`Nodes`].
pub(super) type Id = u32;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The whole.
    Global,
    /// Words, then the parts.
    Before(&'static str),
    /// Words about the entity that follows.
    Attribute(&'static str),
    /// `partial apply forwarder for` and what follows.
    PartialApply(&'static str),
    /// Words, the first part, words, the second, ...
    Between([&'static str; 3]),
    /// Words, the second part, words, the first.
    Swapped([&'static str; 2]),
    Text,
    Number,
    Suffix,
    Specialization(&'static str, &'static str),
    SpecializationPass,
    Serialized,
    Dropped,
    SpecializationParameter,
    SignatureParameter,
    SignatureResult,
    /// A node that entities and their names consist of.
    Identifier,
    Operator(&'static str),
    LocalName,
    PrivateName,
    RelatedName,
    Module,
    Type,
    Class,
    Structure,
    Enum,
    Protocol,
    Alias,
    OtherNominal,
    BoundClass,
    BoundStructure,
    BoundEnum,
    BoundProtocol,
    BoundOther,
    BoundAlias,
    BoundFunction,
    Extension,
    AnonymousContext,
    Function,
    Variable,
    Subscript,
    Macro,
    GenericParameterDeclaration,
    ExplicitClosure,
    ImplicitClosure,
    Initializer(&'static str),
    DefaultArgument,
    Allocator,
    Constructor,
    Destructor,
    Deallocator,
    IsolatedDeallocator,
    Ivar(&'static str),
    Accessor(&'static str),
    Static,
    TypeMangling,
    FunctionType,
    NoEscapeFunction,
    AutoClosure,
    ThinFunction,
    CFunction,
    Block,
    EscapingBlock,
    Arguments,
    Returns,
    Labels,
    Tuple,
    TupleElement,
    ElementName,
    Variadic,
    EmptyList,
    FirstElement,
    TypeList,
    Throws,
    TypedThrows,
    Async,
    Sendable,
    GlobalActor,
    IsolatedAny,
    CallerIsolated,
    SendingResult,
    Metatype,
    ExistentialMetatype,
    Representation,
    ProtocolList,
    ProtocolsWithClass,
    ProtocolsWithAnyObject,
    Constrained,
    Requirements,
    ConstrainedSelf,
    Builtin,
    Pack,
    PackExpansion,
    GenericParameter,
    GenericSignature,
    PseudoSignature,
    ParameterCount,
    PackMarker,
    ValueMarker,
    Conformance,
    Inverse,
    SameType,
    SameShape,
    Layout,
    GenericType,
    MemberType,
    AssociatedReference,
    AssociatedPath,
    OpaqueReturn,
    OpaqueReturnOf,
    Opaque,
    ProtocolConformance,
    Retroactive,
    ConformanceRef(&'static str),
    ConcreteConformance,
    ConformanceList,
    Optional,
    Array,
    Dictionary,
    Parens,
    ImplFunction,
    ImplConvention,
    ImplFunctionConvention,
    ImplParameter,
    ImplResult,
    ImplYield,
    ImplError,
    ImplPattern,
    ImplInvocation,
    ImplSending,
    Error,
    Reabstraction(&'static str),
    ReabstractionSelf,
    KeyPath(&'static str),
    KeyPathIndex(&'static str),
    FieldOffset,
    ValueWitness,
    OnceToken(&'static str),
    OnceList,
    DependentConformance(&'static str),
}

/// A part of a name that means something.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    pub text: String,
    pub number: i64,
    pub parts: Vec<Id>,
}

/// All nodes of a name.
#[derive(Debug, Default)]
pub(super) struct Nodes(pub Vec<Node>);

impl Nodes {
    pub fn kind(&self, id: Id) -> Kind {
        self.0
            .get(id as usize)
            .map_or(Kind::Error, |node| node.kind)
    }

    pub fn parts(&self, id: Id) -> &[Id] {
        self.0.get(id as usize).map_or(&[], |node| &node.parts)
    }

    pub fn part(&self, id: Id, at: usize) -> Option<Id> {
        self.parts(id).get(at).copied()
    }

    pub fn text(&self, id: Id) -> &str {
        self.0.get(id as usize).map_or("", |node| &node.text)
    }

    pub fn number(&self, id: Id) -> i64 {
        self.0.get(id as usize).map_or(0, |node| node.number)
    }

    /// The first part of this kind.
    pub fn find(&self, id: Id, kind: Kind) -> Option<Id> {
        self.parts(id)
            .iter()
            .copied()
            .find(|&part| self.kind(part) == kind)
    }
}

impl Kind {
    /// What declarations are called.
    pub fn is_name(self) -> bool {
        matches!(
            self,
            Self::Identifier
                | Self::LocalName
                | Self::PrivateName
                | Self::RelatedName
                | Self::Operator(_)
        )
    }

    /// A type that may have generic arguments.
    pub fn is_nominal(self) -> bool {
        matches!(
            self,
            Self::Structure
                | Self::Class
                | Self::Enum
                | Self::Protocol
                | Self::OtherNominal
                | Self::Alias
        )
    }

    /// What declarations stand in.
    pub fn is_context(self) -> bool {
        self.is_nominal()
            || matches!(
                self,
                Self::Module
                    | Self::Extension
                    | Self::AnonymousContext
                    | Self::Function
                    | Self::Variable
                    | Self::Subscript
                    | Self::Macro
                    | Self::ExplicitClosure
                    | Self::ImplicitClosure
                    | Self::Initializer(_)
                    | Self::DefaultArgument
                    | Self::Allocator
                    | Self::Constructor
                    | Self::Destructor
                    | Self::Deallocator
                    | Self::IsolatedDeallocator
                    | Self::Ivar(_)
                    | Self::Accessor(_)
                    | Self::Static
                    | Self::OpaqueReturnOf
                    | Self::GenericParameterDeclaration
            )
    }

    pub fn is_entity(self) -> bool {
        self == Self::Type || self.is_context()
    }

    pub fn is_requirement(self) -> bool {
        matches!(
            self,
            Self::PackMarker
                | Self::ValueMarker
                | Self::SameType
                | Self::SameShape
                | Self::Layout
                | Self::Conformance
                | Self::Inverse
        )
    }

    /// What is said before the entity.
    pub fn is_attribute(self) -> bool {
        matches!(
            self,
            Self::Attribute(_) | Self::PartialApply(_) | Self::Specialization(..)
        )
    }
}
