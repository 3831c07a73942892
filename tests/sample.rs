//! The share of its cases that a test with random cases runs. Tests include this file as a module.

/// By hand one case in `many`; with `INTERLOCKING_TESTS=thorough`, as `.ci/run` sets it, every case.
///
/// # Panics
///
/// If the variable has any other value.
pub(crate) fn one_in<N: From<u8>>(many: u8) -> N {
    match std::env::var("INTERLOCKING_TESTS") {
        Err(_) => many.into(),
        Ok(said) if said == "thorough" => 1.into(),
        Ok(said) => panic!("INTERLOCKING_TESTS is {said:?}: set it to `thorough`, or leave it out"),
    }
}
