use crate::brute::Budgets;
use crate::explore::explore;
use crate::generate;
use interlocking_core::net::Net;
use std::collections::BTreeMap;

#[test]
fn distribution() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut states = Vec::new();
    let started = std::time::Instant::now();
    let mut explored_time = std::time::Duration::ZERO;
    for seed in 0..2000 {
        let table = generate::table(seed);
        let size = table.nodes.len();
        *counts.entry(format!("size {size:2}")).or_default() += 1;
        Net::new(table.clone()).unwrap_or_else(|e| panic!("{e} {}", serde_json::to_string(&table).unwrap()));
        let before = std::time::Instant::now();
        let found = explore(&table, Budgets::OneBit, 5000);
        explored_time += before.elapsed();
        let Some(found) = found else {
            *counts.entry("skipped".into()).or_default() += 1;
            continue;
        };
        states.push(found.states);
        if found.broken.is_empty() {
            *counts.entry(format!("sound {}", table.graph)).or_default() += 1;
            *counts.entry(format!("sound size {size:2}")).or_default() += 1;
        }
        for rule in found.broken.keys() {
            let text = format!("{rule:?}");
            let text = text.split(' ').next().unwrap().to_owned();
            *counts.entry(text).or_default() += 1;
        }
    }
    states.sort();
    println!("{counts:#?} median {} 90% {} 99% {} total {}", states[states.len()/2], states[states.len()*9/10], states[states.len()*99/100], states.iter().sum::<usize>());
    println!("{:?} exploring {explored_time:?}", started.elapsed());
}
