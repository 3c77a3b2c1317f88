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
    cargo_bin_cmd!("attn").assert().code(0).stderr("");
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

/// What a command prints on standard output with these variables, and the exit code and standard error.
fn with_defaults(args: &[&str], variables: &[(&str, &str)]) -> (String, i32, String) {
    let output = cargo_bin_cmd!("attn").args(args).envs(variables.iter().copied()).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), output.status.code().expect("a code"), text(output.stderr))
}

#[test]
fn variables_set_defaults_and_options_win_over_them() {
    let softmax = ["softmax", "1", "2", "3"];
    for (variable, value, option) in [
        ("ATTN_PRECISION", "2", "--precision=2"),
        ("ATTN_HEAT", "always", "--heat=always"),
        ("ATTN_CHARSET", "ascii", "--charset=ascii"),
        ("ATTN_COLOR", "always", "--color=always"),
        ("ATTN_WIDTH", "40", "--width=40"),
    ] {
        let plain = with_defaults(&softmax, &[]).0;
        let by_variable = with_defaults(&softmax, &[(variable, value)]).0;
        let by_option = with_defaults(&[&softmax[..], &[option]].concat(), &[]).0;
        assert_eq!(by_variable, by_option, "{variable}={value}");
        assert_ne!(by_variable, plain, "{variable}={value} changes nothing");
        assert_eq!(with_defaults(&softmax, &[(variable, "")]).0, plain, "an empty {variable} says nothing");
    }
    let both = with_defaults(&["softmax", "1", "2", "--precision", "3"], &[("ATTN_PRECISION", "1")]).0;
    assert!(both.contains("0.269") && !both.contains("0.2689"), "{both}");
}

#[test]
fn a_variable_that_cannot_be_used_is_named() {
    for (variable, value, words) in [
        ("ATTN_PRECISION", "99", "between 0 and 17"),
        ("ATTN_HEAT", "hot", "auto, always, never"),
        ("ATTN_CHARSET", "latin1", "utf8"),
        ("ATTN_WIDTH", "wide", "unset ATTN_WIDTH"),
        ("ATTN_MEMORY", "much", "500M or 2G"),
    ] {
        let (out, code, err) = with_defaults(&["softmax", "1", "2"], &[(variable, value)]);
        assert_eq!((code, out.as_str()), (2, ""), "{variable}={value}");
        assert!(err.starts_with(&format!("error: {variable}: ")) && err.contains(words), "{err}");
    }
}

#[test]
fn a_lesson_is_checked_and_printed_the_same_whatever_the_variables_say() {
    let variables = [("ATTN_PRECISION", "1"), ("ATTN_HEAT", "always"), ("ATTN_WIDTH", "60")];
    for args in [["lesson", "check", "0-tour"], ["lesson", "export", "0-tour"]] {
        let args: Vec<&str> = match args[1] {
            "export" => args.into_iter().chain(["--to", "md"]).collect(),
            _ => args.to_vec(),
        };
        assert_eq!(with_defaults(&args, &variables), with_defaults(&args, &[]), "{args:?}");
    }
}
