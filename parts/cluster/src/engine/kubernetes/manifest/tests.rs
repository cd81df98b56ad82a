use proptest::prelude::*;

use super::*;
use crate::fixture::kubernetes_batch;

fn start(words: &[&str]) -> Start {
    Start { command: words.iter().map(|word| (*word).to_owned()).collect() }
}

fn of(batch: &Batch, positions: &[usize]) -> Vec<Planned> {
    manifests(batch, positions, &start(&["tare", "job"]), |_| 0).unwrap()
}

#[test]
fn a_job_asks_for_whole_cpus_of_its_own_and_is_started_again_only_if_its_node_is_lost() {
    let store = tempfile::tempdir().unwrap();
    let batch = kubernetes_batch(store.path(), 3);
    let start = start(&["tare", "--root", "/repository", "job", "/a $(HOME) b"]);
    let planned = manifests(&batch, &[0, 2, 4, 3], &start, |_| 6).unwrap();
    let objects: Vec<&Job> = planned.iter().map(|planned| &planned.object).collect();
    let text = serde_json::to_string_pretty(&objects).unwrap();
    let folder = batch.folder.parent().unwrap().display().to_string();
    insta::assert_snapshot!(text.replace(&folder, "STORE"));
}

#[test]
fn a_class_that_says_too_little_is_refused_before_anything_is_submitted() {
    let store = tempfile::tempdir().unwrap();
    let batch = kubernetes_batch(store.path(), 1);
    let error = |change: &dyn Fn(&mut Batch)| {
        let mut batch = batch.clone();
        change(&mut batch);
        manifests(&batch, &[0, 1], &start(&["tare"]), |_| 0).unwrap_err().to_string()
    };
    let imageless = |batch: &mut Batch| batch.list.head.classes[0].kubernetes.image = None;
    insta::assert_snapshot!(error(&imageless), @r#"Kubernetes: class "arm": "kubernetes" needs an "image""#);
    let storeless = |batch: &mut Batch| batch.list.head.classes[1].kubernetes.host_path = None;
    insta::assert_snapshot!(error(&storeless), @r#"Kubernetes: class "x86": "kubernetes" needs "claim" or "host-path", where the store is"#);
    insta::assert_snapshot!(error(&|batch| batch.folder = "/srv/-".into()), @r#"Kubernetes: the folder "-" has a name that no label can have: rename it"#);
    insta::assert_snapshot!(error(&|batch| batch.folder = "/a:b/quick-1".into()), @r#"Kubernetes: the store "/a:b" has a colon in its path: no volume can be mounted there"#);
    let nul = manifests(&batch, &[0], &start(&["a\0b"]), |_| 0).unwrap_err().to_string();
    insta::assert_snapshot!(nul, @r#"Kubernetes: the word "a\0b" of the command has a NUL byte"#);
}

#[test]
fn long_names_are_cut_and_stay_different() {
    let long = |end: &str| {
        stem("a-very-long-name-of-an-experiment-0a1b2c3d4e5f", &format!("a-class-of-machines-{end}"))
    };
    assert_ne!(long("1"), long("2"));
    // The host name: with the number of a Job, a hyphen and an index.
    assert!(long("1").len() + "-999-999".len() <= 63, "{}", long("1"));
    insta::assert_snapshot!(long("1"), @"tare-a-very-long-name-a-class-of-machi-26b36bac17");
    assert_eq!(
        (number("tare-a", "tare-a-12"), number("tare-a", "tare-a-b-1"), number("tare-a", "tare-a")),
        (Some(12), None, None)
    );
}

#[test]
fn places_are_read_as_they_are_written_and_nothing_else() {
    assert_eq!(positions("7"), Some(vec![7]));
    assert_eq!(
        (positions(""), positions("1,,2"), positions("-1"), positions("1-3")),
        (None, None, None, None)
    );
    assert_eq!(positions(&vec!["1"; INDEXES_MAX + 1].join(",")), None);
}

/// Expands a word of a command like the kubelet: `k8s.io/kubernetes/third_party/forked/golang/expansion`.
fn expanded(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        out += &rest[..at];
        let after = &rest[at + 1..];
        rest = match after.chars().next() {
            Some('$') => {
                out.push('$');
                &after[1..]
            }
            Some('(') if after.contains(')') => {
                out += "VALUE";
                &after[after.find(')').unwrap() + 1..]
            }
            _ => {
                out.push('$');
                after
            }
        };
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_job_has_exactly_one_index_of_one_job(
        seeds in 1..2100_usize, step in 1..4_usize, parallel in proptest::option::of(1..3000_usize),
    ) {
        let store = tempfile::tempdir().unwrap();
        let mut batch = kubernetes_batch(store.path(), seeds);
        batch.list.head.classes[0].kubernetes.parallel = parallel;
        let asked: Vec<usize> = (0..batch.list.jobs.len()).step_by(step).collect();
        let mut found = Vec::new();
        let mut names = Vec::new();
        for planned in of(&batch, &asked) {
            let spec = planned.object.spec.unwrap();
            let places = positions_of(spec.template.spec.as_ref().unwrap()).unwrap();
            prop_assert_eq!(spec.completions, Some(i32::try_from(places.len()).unwrap()));
            prop_assert!((1..=spec.completions.unwrap()).contains(&spec.parallelism.unwrap()));
            prop_assert!(places.iter().all(|place| batch.list.jobs[*place].class == planned.class));
            found.extend(places);
            names.push(planned.name);
        }
        found.sort_unstable();
        prop_assert_eq!(found, asked);
        let all = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), all);
    }

    #[test]
    fn the_kubelet_hands_on_every_word_as_it_is(word in "[a$() ]{0,12}") {
        prop_assert_eq!(expanded(&pod::verbatim(&word)), word);
    }

    #[test]
    fn a_name_is_one_that_the_api_takes(batch in "[a-zA-Z0-9][a-zA-Z0-9._-]{0,60}", class in "[a-z0-9][a-z0-9-]{0,39}") {
        let stem = stem(&batch, &class);
        prop_assert!(stem.len() <= 54 && stem.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
    }
}

#[test]
fn a_job_that_pushes_its_bundle_mounts_nothing_and_has_the_token_by_a_secret() {
    let store = tempfile::tempdir().unwrap();
    let mut batch = kubernetes_batch(store.path(), 1);
    batch.head.push = Some("http://10.0.0.1:7070".to_owned());
    batch.list.head.classes[0].kubernetes.claim = None;
    let token = batch.make_token().unwrap();
    let planned = of(&batch, &[0, 1]);
    for planned in &planned {
        let pod = planned.object.spec.as_ref().unwrap().template.spec.as_ref().unwrap();
        let container = &pod.containers[0];
        assert_eq!((&pod.volumes, &container.volume_mounts), (&None, &None));
        let variable =
            container.env.iter().flatten().find(|variable| variable.name == TOKEN_VARIABLE).unwrap();
        let secret = variable.value_from.as_ref().unwrap().secret_key_ref.as_ref().unwrap();
        assert_eq!(
            (secret.name.as_str(), secret.key.as_str()),
            (&*format!("tare-{}", batch.name()), "token")
        );
        assert!(!serde_json::to_string(&planned.object).unwrap().contains(token.reveal()));
    }
    batch.folder = "/srv/Quick".into();
    let refused = manifests(&batch, &[0], &start(&["tare"]), |_| 0).unwrap_err().to_string();
    insta::assert_snapshot!(refused, @r#"Kubernetes: the folder "Quick" has a name that no Secret can have: rename it"#);
}
