//! Ten thousand tables: the verdict is that of the brute force, and sound tables are sound however budgets are counted.

use crate::brute::Budgets;
use crate::compare::{Compared, compare, smallest};
use crate::explore::explore;
use crate::generate;
use std::collections::BTreeMap;

#[test]
fn sweep() {
    let mut compared = Compared::default();
    let mut classes: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for seed in 0..2000 {
        let table = generate::table(seed);
        if let Err(why) = compare(&table, 3000, &mut compared) {
            let class = why.chars().filter(|c| !c.is_ascii_digit()).take(150).collect();
            classes.entry(class).or_insert((0, seed)).0 += 1;
        }
    }
    println!("{compared:#?}");
    for seed in std::env::var("SEEDS").unwrap_or_default().split_whitespace() {
        let table = generate::table(seed.parse().unwrap());
        let why = |table: &interlocking_core::table::Table| compare(table, 3000, &mut Compared::default()).err();
        let kind = |why: &str| (why.split([':','[','{']).next().unwrap().to_owned(), why.contains("brute force alone []"), why.contains("finds []"), why.contains("joins: {}"), why.contains("NoWayOut"));
        let Some(first) = why(&table) else { continue };
        let small = smallest(table, &|table| why(table).is_some_and(|why| kind(&why) == kind(&first)));
        let table: interlocking_core::table::Table = serde_json::from_str(&small).unwrap();
        println!("SEED {seed}\n  {}\n  {small}", why(&table).unwrap());
    }
    for (class, (count, seed)) in classes {
        println!("{count} {seed} {class}");
    }
}
