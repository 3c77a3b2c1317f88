//! The real binary: exit codes, standard streams, closed pipes, the environment.

use std::io::Read;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin_cmd;

#[test]
fn success_is_0_and_unusable_input_is_2_with_the_message_on_standard_error() {
    cargo_bin_cmd!("attn").args(["softmax", "1", "2"]).assert().code(0).stderr("");
    let refused = cargo_bin_cmd!("attn").args(["demo", "maks"]).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.starts_with("error: there is no demo `maks`\n  help: did you mean `mask`?"), "{message}");
    cargo_bin_cmd!("attn").arg("--no-such-option").assert().code(2).stdout("");
    cargo_bin_cmd!("attn").assert().code(2);
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_attn"))
        .args(["demo", "--all", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut first = [0; 16];
    let mut out = child.stdout.take().expect("piped");
    out.read_exact(&mut first).expect("some output");
    drop(out);
    let rest = child.wait_with_output().expect("it ends");
    assert_eq!(rest.status.code(), Some(0));
    assert!(rest.stderr.is_empty(), "{}", String::from_utf8_lossy(&rest.stderr));
}

#[test]
fn standard_input_is_read_where_a_file_is_called_minus() {
    let command = ["attend", "--q", "-", "--k", "1 0", "--v", "5", "--only", "O", "--format", "csv"];
    cargo_bin_cmd!("attn").args(command).write_stdin("1,2\n3,4\n").assert().code(0).stdout("5\n5\n");
}

#[test]
fn the_environment_decides_colour_width_and_charset() {
    let with = |variables: &[(&str, &str)]| {
        let mut command = cargo_bin_cmd!("attn");
        for name in
            ["NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"]
        {
            command.env_remove(name);
        }
        let output = command
            .args(["similarity", "bat", "cave"])
            .envs(variables.iter().copied())
            .output()
            .expect("it runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(!with(&[]).contains('\x1b'), "a pipe has no colours");
    assert!(with(&[("FORCE_COLOR", "1")]).contains('\x1b'));
    assert!(
        with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")]).contains('\x1b'),
        "an empty NO_COLOR says nothing"
    );
    assert!(!with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\x1b'));
    assert!(with(&[("LC_ALL", "C")]).is_ascii());
    assert!(!with(&[("LANG", "en_GB.UTF-8")]).is_ascii());
    let widest = |text: String| text.lines().map(|line| line.chars().count()).max();
    assert!(widest(with(&[("COLUMNS", "200")])) > widest(with(&[("COLUMNS", "40")])));
}
