use std::path::Path;

use insta::assert_snapshot;

use crate::{Contract, Statements};

const TABLES: &str = r#"
[data.world]
rows = 10
key = "id"
json = '{"id": {{world.id}}}'
columns = { id = "{{row}}" }
[data.plain]
rows = 10
columns = { id = "{{row}}" }
[data.keyed]
rows = 10
key = "id"
columns = { id = "{{row}}" }
"#;

fn contract(backing: &str) -> Result<Contract, String> {
    let request = "[[request]]\nname = \"r\"\nmethod = \"GET\"\npath = \"/\"\nstatements = { reads = 2, rows-written = 3 }\n\
                   [request.response]\nstatus = 200\n";
    let text = format!("format = \"1.2\"\nname = \"sample\"\ntitle = \"\"\n{TABLES}{backing}\n{request}");
    Contract::parse(&text, Path::new("contracts/sample.toml")).map_err(|error| error.to_string())
}

#[test]
fn what_is_in_a_database_or_behind_a_service_is_not_given_to_it_as_a_file() {
    let given = |backing: &str| {
        let contract = contract(backing).unwrap();
        contract.given_tables().map(|table| table.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(given(""), "keyed plain world");
    assert_eq!(given("[backing.postgres.tables]\nplain = \"id integer\""), "keyed world");
    assert_eq!(given("[backing.upstream]\ntable = \"world\"\ndelay-ms = 5"), "keyed plain");
}

#[test]
fn a_contract_says_what_a_service_works_with() {
    assert!(contract("").unwrap().backing.is_none());
    let backing =
        "[backing.postgres]\nafter = [\"ANALYZE\"]\ntables = { world = \"id integer\", plain = \"id text\" }";
    let backing = contract(backing).unwrap().backing.postgres.unwrap();
    assert_eq!(
        backing.columns.into_iter().map(|(name, sql)| name + ": " + &sql).collect::<Vec<_>>(),
        ["plain: id text", "world: id integer"]
    );
    assert_eq!(backing.after, ["ANALYZE"]);
    let statements = contract("").unwrap().requests[0].statements;
    assert_eq!(statements, Some(Statements { reads: Some(2), rows_read: None, rows_written: Some(3) }));
}

#[test]
fn a_server_behind_a_service_has_the_rows_of_the_run() {
    let contract = contract("[backing.upstream]\ntable = \"world\"\ndelay-ms = 5").unwrap();
    let upstream = contract.with_rows_of(7).backing.upstream.unwrap();
    assert_eq!((upstream.delay_ms, upstream.key()), (5, 0));
    assert_eq!(upstream.table.row_as_json(3).unwrap(), "{\"id\": 4}");
}

#[test]
fn a_table_that_cannot_be_there_is_named() {
    let error = |backing: &str| contract(backing).unwrap_err();
    assert_snapshot!(error("[backing.postgres.tables]\nwordl = \"id integer\""), @r#"contracts/sample.toml:18: unknown table "wordl"; did you mean "world"?"#);
    assert_snapshot!(error("[backing.upstream]\ntable = \"wordl\"\ndelay-ms = 5"), @r#"contracts/sample.toml:18: unknown table "wordl"; did you mean "world"?"#);
    assert_snapshot!(error("[backing.upstream]\ntable = \"plain\"\ndelay-ms = 5"), @r#"contracts/sample.toml:18: the table "plain" needs "key": the column that tells its rows apart"#);
    assert_snapshot!(error("[backing.upstream]\ntable = \"keyed\"\ndelay-ms = 5"), @r#"contracts/sample.toml:18: the table "keyed" needs "json": an object whose members are its columns, such as '{"id": {{keyed.id}}}'"#);
}
