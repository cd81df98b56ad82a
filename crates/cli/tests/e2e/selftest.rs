//! `tare selftest`: its list, and the arguments that it refuses.

use crate::support::Workspace;

#[test]
fn trials_are_listed_and_unknown_ones_refused() {
    let workspace = Workspace::new(&[]);
    let listed = workspace.tare(&["selftest", "--dry-run"]).expect(0);
    assert!(listed.line("slower").starts_with("slower "));
    assert!(listed.stdout.contains(" 3% more CPU"));
    let refused = workspace.tare(&["selftest", "--only", "droper"]).expect(1);
    assert_eq!(refused.stderr, "error: unknown trial \"droper\"; did you mean \"dropper\"?\n");
    assert!(!workspace.root().join(".tare/runs").exists());
    let wrong = workspace.tare(&["raw-socket", "--port", "1", "--misbehave", "sings"]).expect(1);
    assert!(wrong.stderr.contains("unknown fault \"sings\""), "{}", wrong.stderr);
}
