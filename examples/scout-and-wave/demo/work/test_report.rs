use textstats::{count, frequency};

#[path = "../src/report.rs"]
mod report;

#[test]
fn a_report_has_counts_and_words() {
    let text = "The tide, the moon";
    let report = report::report(&count::count(text), &frequency::frequency(text));
    assert_eq!(report, "1 lines, 4 words, 18 characters\n   2 the\n   1 moon\n   1 tide\n");
}
