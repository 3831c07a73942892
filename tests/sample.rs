//! How many of its cases a test takes that draws them at random. Tests have this file as a module.

/// By hand one case in `many`; with `INTERLOCKING_TESTS=thorough`, as `.ci/run` has it, each of them.
///
/// # Panics
///
/// Where the variable says anything else.
pub(crate) fn one_in<N: From<u8>>(many: u8) -> N {
    match std::env::var("INTERLOCKING_TESTS") {
        Err(_) => many.into(),
        Ok(said) if said == "thorough" => 1.into(),
        Ok(said) => panic!("INTERLOCKING_TESTS is {said:?}: set it to `thorough`, or leave it out"),
    }
}
