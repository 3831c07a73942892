//! The tables of the measured graphs are in the evidence for the check for soundness.

#[macro_use]
#[path = "../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

held!(
    interlocking_bench::growing::Growing,
    interlocking_bench::many::Five,
    interlocking_bench::ping_pong::PingPong,
    interlocking_bench::ring100::Ring
);
