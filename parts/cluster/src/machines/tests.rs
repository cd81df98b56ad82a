use super::*;

const FINE: &str = "format = \"1.0\"\n\n[[class]]\nname = \"x86\"\ncpus = 8\ntime-limit = \"2h\"\n\
    slurm = { partition = \"bench\", constraint = \"epyc&nvme\" }\n\n[[class]]\nname = \"arm\"\ncpus = 4\n\
    kubernetes = { node-labels = { \"kubernetes.io/arch\" = \"arm64\" }, tolerate = [\"dedicated\"], namespace = \"bench\", \
    image = \"registry/tare:1\", claim = \"tare\", memory = \"8Gi\", parallel = 3 }\n";

fn error(right: &str, wrong: &str) -> String {
    assert!(FINE.contains(right), "{right:?}");
    Machines::parse(Path::new("machines.toml"), &FINE.replacen(right, wrong, 1)).unwrap_err().to_string()
}

#[test]
fn a_class_says_what_each_engine_selects() {
    let machines = Machines::parse(Path::new("machines.toml"), FINE).unwrap();
    let [x86, arm] = &machines.classes[..] else { panic!("{machines:?}") };
    assert_eq!((x86.name.as_str(), x86.cpus, x86.time_limit), ("x86", 8, Some(Duration::from_secs(7200))));
    let options: Vec<_> = x86.slurm.options().collect();
    assert_eq!(options, [("partition", "bench"), ("constraint", "epyc&nvme")]);
    assert_eq!((arm.time_limit, arm.slurm.options().count()), (None, 0));
    assert_eq!(arm.kubernetes.node_labels["kubernetes.io/arch"], "arm64");
    assert_eq!((arm.kubernetes.claim.as_deref(), arm.kubernetes.parallel), (Some("tare"), Some(3)));
}

#[test]
fn mistakes_are_one_line_with_the_line_of_their_class() {
    insta::assert_snapshot!(error("cpus = 8", "cpu = 8"), @r#"machines.toml:5: unknown key "cpu"; did you mean "cpus"?"#);
    insta::assert_snapshot!(error("cpus = 4", "cpus = 0"), @r#"machines.toml:9: class "arm": "cpus" is 0; it must be 1 to 1024"#);
    insta::assert_snapshot!(error("\"arm\"", "\"x86\""), @r#"machines.toml:9: class "x86" stands twice"#);
    insta::assert_snapshot!(error("\"x86\"", "\"../x86\""), @r#"machines.toml:3: class name "../x86": use 1 to 40 lowercase letters, digits and hyphens, and no hyphen in front"#);
    insta::assert_snapshot!(error("\"2h\"", "\"2s\""), @r#"machines.toml:3: class "x86": "time-limit" must be 1m or more: engines count in minutes"#);
    insta::assert_snapshot!(error("\"2h\"", "2"), @r#"machines.toml:6: invalid type: integer "2", expected a duration in quotes, such as "30s""#);
    insta::assert_snapshot!(error("\"1.0\"", "\"2.0\""), @r#"machines.toml:1: format "2.0" is not one this tare reads: it reads "1.0""#);
    let kubernetes =
        |right: &str, wrong: &str| error(right, wrong).replace("machines.toml:9: class \"arm\": ", "");
    insta::assert_snapshot!(kubernetes("namespace = \"bench\"", "namespace = \"Bench\""), @r#"kubernetes: "namespace" is "Bench": use at most 63 lowercase letters, digits and hyphens"#);
    insta::assert_snapshot!(kubernetes("claim = \"tare\"", "claim = \"-\""), @r#"kubernetes: "claim" is "-": use at most 253 lowercase letters, digits and hyphens"#);
    insta::assert_snapshot!(kubernetes("claim = \"tare\"", "claim = \"tare\", host-path = \"/srv\""), @r#"kubernetes: "claim" and "host-path" are both given: the store is one of them"#);
    insta::assert_snapshot!(kubernetes("claim = \"tare\"", "host-path = \"../srv\""), @r#"kubernetes: "host-path" is "../srv": use an absolute path without "..""#);
    insta::assert_snapshot!(kubernetes("\"registry/tare:1\"", "\"a b\""), @r#"kubernetes: "image" is "a b": use a reference such as "registry.example/tare:1""#);
    insta::assert_snapshot!(kubernetes("\"8Gi\"", "\"8 GB\""), @r#"kubernetes: "memory" is "8 GB": use a whole number with a unit, such as "4Gi""#);
    insta::assert_snapshot!(kubernetes("\"arm64\"", "\"arm 64\""), @r#"kubernetes: "kubernetes.io/arch=arm 64" is no label or taint of a node"#);
    insta::assert_snapshot!(kubernetes("[\"dedicated\"]", "[\"a/b/c\"]"), @r#"kubernetes: "a/b/c" is no label or taint of a node"#);
    insta::assert_snapshot!(kubernetes("parallel = 3", "parallel = 0"), @r#"kubernetes: "parallel" is 0; it must be at least 1"#);
    insta::assert_snapshot!(error("memory = ", "memry = "), @r#"machines.toml:12: unknown key "memry"; did you mean "memory"?"#);
    insta::assert_snapshot!(error("\"bench\"", "\"\""), @r#"machines.toml:3: class "x86": a value of "slurm" is empty or has a control character"#);
    let empty =
        Machines::parse(Path::new("m.toml"), "format = \"1.0\"\nclass = []\n").unwrap_err().to_string();
    insta::assert_snapshot!(empty, @r#"m.toml:2: "class" is empty: give at least one [[class]]"#);
}

#[test]
fn a_class_is_read_as_it_was_written() {
    for class in Machines::parse(Path::new("machines.toml"), FINE).unwrap().classes {
        let json = serde_json::to_string(&class).unwrap();
        assert_eq!(serde_json::from_str::<MachineClass>(&json).unwrap(), class, "{json}");
    }
}
