use interlocking::prelude::*;
use interlocking_bench::many::five;
use std::time::Duration;
#[test]
fn sizes() {
    let g = five(Duration::from_secs(1));
    let run = Run::shared(g.clone()).without_journal();
    eprintln!("Run {}", std::mem::size_of_val(&run));
    let f = run.start(0);
    eprintln!("start {}", std::mem::size_of_val(&f));
}
