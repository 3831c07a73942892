use crate::compare::{Compared, compare, smallest};
use crate::generate;
use interlocking_core::table::Table;

#[test]
fn probe() {
    let exits = |table: &Table| table.nodes.iter().any(|row| row.fork.as_ref().is_some_and(|f| f.branches.iter().filter(|b| b.iter().any(|t| t.is_exit())).count() > 1));
    for seed in std::env::var("SEEDS").unwrap_or_default().split_whitespace() {
        let table = generate::table(seed.parse().unwrap());
        let why = |table: &Table| if exits(table) { None } else { compare(table, 3000, &mut Compared::default()).err() };
        let kind = |why: &str| (why.split([':','[','{']).next().unwrap().to_owned(), why.contains("brute force alone []"), why.contains("finds []"));
        let Some(first) = why(&table) else { continue };
        let small = smallest(table, &|table| why(table).is_some_and(|why| kind(&why) == kind(&first)));
        let table: Table = serde_json::from_str(&small).unwrap();
        println!("SEED {seed}\n  {}\n  {small}", why(&table).unwrap());
    }
}

#[test]
fn verdicts() {
    for text in std::fs::read_to_string("/tmp/e-tables.txt").unwrap().lines() {
        let table: Table = serde_json::from_str(text).unwrap();
        let net = interlocking_core::net::Net::new(table.clone()).unwrap();
        println!("VERDICT {text}\n  {}", serde_json::to_string(&interlocking_soundness::check(&net)).unwrap());
        let explored = crate::explore::explore(&table, crate::brute::Budgets::OneBit, 100000).unwrap();
        println!("  {:?}", explored.broken);
    }
}
