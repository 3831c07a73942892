//! The rules of runs as the frontier implements them, one module each.

mod play;

mod rule_01_double_token;
mod rule_02_one_alternative;
mod rule_03_branch_choice;
mod rule_04_join;
mod rule_05_latched_slot;
mod rule_06_cancel;
mod rule_07_exit;
mod rule_08_failure;
mod rule_09_visits;
mod rule_10_attempts;
mod rule_11_times;
mod rule_12_quorum;
mod not_in_table;
mod live;
mod stuck;
mod relay;
mod entered;
