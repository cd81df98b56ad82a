//! The features in README.md: each one that it names or shows as a command, with a real service. The sibling
//! modules test services that misbehave.
//!
//! | README.md | test |
//! |---|---|
//! | `tare compare ... --revisions main...HEAD` | `measures::own::a_branch_that_is_slower_fails` |
//! | each revision has its own packages | `dependencies` |
//! | a gate for CI | `measures::own::the_gate_of_a_pull_request_compares_with_where_it_parted` |
//! | `tare init` | `measures::own::a_repository_has_a_file_a_contract_and_a_first_comparison` |
//! | `tare bisect` | `measures::own::the_commit_that_made_it_dearer_is_found` |
//! | its page of the guide: `tare history` | `measures::own::a_history_has_an_interval_for_each_version_and_marks_the_change` |
//! | two servers that run already | `measures::own::two_servers_are_compared_by_the_cpu_time_of_the_processes_behind_their_ports` |
//! | `tare slo` | `measures::capacity` |
//! | `tare run quick --services ...`, the page | `measures::frameworks::a_table_of_services_and_a_page_to_share` |
//! | `experiments/connections.toml`, `equal-rate.toml`, `cores.toml` | `measures::frameworks` |
//! | `tare run database`, `pages`, `bodies` | `measures::real_work` |
//! | reads back what was stored | `verify::what_a_service_stores_is_read_back` |
//! | `tare run restinio-2017` | `measures::published` |
//! | `tare audit` | `audit` |
//! | `tare site` | `site` |
//! | `tare run tls`, `tare run h2` | `measures::protocols` |
//! | many machines, by Slurm | `measures::machines::two_nodes_give_one_answer` |
//! | load from several generators | `measures::machines::two_agents_send_one_load_and_a_third_watches_the_service` |
//! | `tare load`: options of other tools, open loops, HTTP/2, TLS 1.3 | `measures::running` |
//! | every response is checked | `measures::running::every_response_is_checked`, `verify` |
//! | `tare trust`, `tare doctor`, `tare list` | `machine` |
//! | without a checkout: `tare catalogue`, services and experiments by name | `alone` |
//! | `tare selftest` | `measures::instrument` |
//!
//! Tests that measure are in `measures`, so that their names show that they need the machine to themselves.

mod alone;
mod audit;
mod catalogue;
mod dependencies;
mod machine;
mod measures;
mod shop;
mod site;
mod verify;
