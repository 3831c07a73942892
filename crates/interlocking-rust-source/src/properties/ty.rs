//! The types of values, as far as the text shows them.

use syn::{GenericArgument, Path, PathArguments, Type, TypeParamBound};

/// The type of a value. References are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ty {
    /// A type of the crate under test.
    Own(String),
    /// A type that the test file defines.
    Local(String),
    /// A type of the standard library or of another crate, by the last name of its path, with its arguments. `Vec` also stands
    /// for arrays and slices, `Iter` for every iterator, `Strategy` for every strategy.
    Foreign(String, Vec<Self>),
    /// A tuple.
    Tuple(Vec<Self>),
    /// A function of the crate under test, as a value.
    Function(String),
    /// The text does not show the type.
    Unknown,
}

/// Names that mean types of the standard library, unless the file defines them.
const STANDARD: [&str; 41] = [
    "Arc",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Box",
    "Duration",
    "Err",
    "HashMap",
    "HashSet",
    "Instant",
    "Just",
    "None",
    "Ok",
    "Option",
    "Ordering",
    "PathBuf",
    "Rc",
    "Result",
    "Some",
    "String",
    "TestCaseError",
    "Vec",
    "VecDeque",
    "bool",
    "char",
    "f32",
    "f64",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "isize",
    "str",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
    "Wrapping",
];

/// Types that hold values of their arguments' types and do not forward method calls to them.
const CONTAINERS: [&str; 13] = [
    "Vec",
    "Option",
    "Result",
    "VecDeque",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "Iter",
    "Strategy",
    "String",
    "Range",
];

impl Ty {
    pub(super) fn foreign(name: &str) -> Self {
        Self::Foreign(name.to_owned(), Vec::new())
    }

    pub(super) fn of(name: &str, argument: Self) -> Self {
        Self::Foreign(name.to_owned(), vec![argument])
    }

    /// The type of a name without a known definition.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "BoxedStrategy" | "SBoxedStrategy" => Self::foreign("Strategy"),
            name if STANDARD.contains(&name) => Self::foreign(name),
            _ => Self::Unknown,
        }
    }

    /// The type as written; `named` returns the meaning of a path without its arguments.
    pub(super) fn read(ty: &Type, named: &dyn Fn(&Path) -> Self) -> Self {
        match ty {
            Type::Group(ty) => Self::read(&ty.elem, named),
            Type::Paren(ty) => Self::read(&ty.elem, named),
            Type::Reference(ty) => Self::read(&ty.elem, named),
            Type::Slice(ty) => Self::of("Vec", Self::read(&ty.elem, named)),
            Type::Array(ty) => Self::of("Vec", Self::read(&ty.elem, named)),
            Type::Tuple(ty) => Self::Tuple(ty.elems.iter().map(|ty| Self::read(ty, named)).collect()),
            Type::ImplTrait(ty) => {
                ty.bounds.iter().find_map(|bound| Self::bound(bound, named)).unwrap_or(Self::Unknown)
            }
            Type::Path(ty) if ty.qself.is_none() => match named(&ty.path) {
                Self::Foreign(name, _) => Self::Foreign(name, arguments(&ty.path, named)),
                known => known,
            },
            _ => Self::Unknown,
        }
    }

    /// The type of a bound like `impl Strategy<Value = T>` or `impl Iterator<Item = T>`.
    fn bound(bound: &TypeParamBound, named: &dyn Fn(&Path) -> Self) -> Option<Self> {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let (kind, held) = match last.ident.to_string().as_str() {
            "Strategy" => ("Strategy", "Value"),
            "Iterator" | "IntoIterator" | "DoubleEndedIterator" | "ExactSizeIterator" => ("Iter", "Item"),
            _ => return None,
        };
        let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assigned) if assigned.ident == held => {
                Some(Self::of(kind, Self::read(&assigned.ty, named)))
            }
            _ => None,
        })
    }

    /// The type of what an `Option`, a `Vec`, a strategy or an iterator holds.
    pub(super) fn held(&self) -> Self {
        match self {
            Self::Foreign(name, arguments) if name == "Range" && arguments.is_empty() => Self::foreign("number"),
            Self::Foreign(name, arguments) if matches!(name.as_str(), "BTreeMap" | "HashMap") => {
                Self::Tuple(arguments.clone())
            }
            Self::Foreign(_, arguments) => arguments.first().cloned().unwrap_or(Self::Unknown),
            _ => Self::Unknown,
        }
    }

    /// The type of what a strategy draws. Ranges, string literals and tuples of strategies are strategies too.
    pub(super) fn drawn(&self) -> Self {
        match self {
            Self::Foreign(name, _) if name == "Strategy" || name == "Range" => self.held(),
            Self::Foreign(name, _) if name == "literal" => Self::foreign("String"),
            Self::Tuple(parts) => Self::Tuple(parts.iter().map(Self::drawn).collect()),
            _ => Self::Unknown,
        }
    }

    /// Whether a method that is called on the type may be a method of the value inside.
    pub(super) fn passes_methods_on(&self) -> bool {
        matches!(self, Self::Foreign(name, _) if !CONTAINERS.contains(&name.as_str())) && !self.is_plain()
    }

    /// Whether the type can hold no value of the crate under test.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Foreign(_, arguments) | Self::Tuple(arguments) => arguments.iter().all(Self::is_plain),
            Self::Own(_) | Self::Local(_) | Self::Function(_) | Self::Unknown => false,
        }
    }
}

/// The type arguments of a path's last name.
pub(super) fn arguments(path: &Path, named: &dyn Fn(&Path) -> Ty) -> Vec<Ty> {
    let Some(PathArguments::AngleBracketed(arguments)) = path.segments.last().map(|last| &last.arguments) else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(Ty::read(ty, named)),
        _ => None,
    });
    types.collect()
}
