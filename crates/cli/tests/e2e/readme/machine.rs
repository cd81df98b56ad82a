//! The tools of this machine, the list of services, and the permission to run them.

use std::collections::BTreeSet;

use super::{catalogue::tare, shop::Shop};
use crate::support::{Ended, start_under};

#[test]
fn services_are_listed_with_their_licences() {
    let listed = tare(&["list", "--json"]).expect(0).json();
    let services = listed.as_array().unwrap();
    let text = |service: &serde_json::Value, key: &str| service[key].as_str().unwrap().to_owned();
    let rows: BTreeSet<String> = services.iter().map(|service| text(service, "service")).collect();
    let names: BTreeSet<&str> = rows.iter().filter_map(|row| row.split(':').next()).collect();
    let languages: BTreeSet<String> = services.iter().map(|service| text(service, "language")).collect();
    assert!(names.len() > 50, "README.md: more than fifty services: {names:?}");
    // The services in C are references, like the raw socket.
    let frameworks = languages.iter().filter(|language| *language != "c").count();
    assert_eq!(frameworks, 11, "README.md: in eleven languages: {languages:?}");
    let printed = tare(&["list", "net-http"]).expect(0);
    assert!(printed.line("net-http").contains("BSD-3-Clause"), "{printed}");
}

#[test]
fn doctor_says_what_this_machine_has() {
    let Some(shop) = Shop::new("a look at the machine") else { return };
    shop.write("tare.toml", "format = \"1.0\"\n[service.shop]\ncommand = \"node server.js\"\n");
    // Missing tools are no failure of the command.
    let looked = shop.tare(&["doctor"]);
    assert!(matches!(looked.code(), Some(0 | 1)), "{looked}");
    for part in ["\nkernel\n", "freezing", "CPU accounting", "pinning", "\nservices\n"] {
        assert!(looked.stdout.contains(part), "{part}: {looked}");
    }
}

#[test]
fn nothing_of_a_repository_runs_before_it_is_allowed() {
    let Some(shop) = Shop::new("trust") else { return };
    shop.write("tare.toml", "format = \"1.0\"\n[service.shop]\ncommand = \"node server.js\"\n");
    // Runs without `TARE_TRUST`, which the other tests set.
    let tare =
        |words: &[&str]| -> Ended { start_under(&["env", "-u", "TARE_TRUST"], shop.path(), words).end() };
    let verify = ["verify", "shop", "--get", "/items/1"];
    let refused = tare(&verify).expect(1);
    assert!(refused.stderr.contains("allows them"), "{refused}");
    let shown = tare(&["trust", "--show"]).expect(0);
    assert!(shown.stdout.contains("node server.js\n"), "{shown}");
    tare(&["trust"]).expect(0);
    tare(&verify).expect(0);
    tare(&["trust", "--remove"]).expect(0);
    tare(&verify).expect(1);
}
