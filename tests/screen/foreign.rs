//! Text from elsewhere: wherever it comes in, it is shown with escapes for what cannot be seen, and drives no terminal.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use attn::foreign::hidden;

use crate::common::one_in;

/// A title, a colour, a bell, a C1 sequence, an override, and what has no width.
const HOSTILE: &str = "\u{1b}]0;pwn\u{7}\u{1b}[31mX\u{9b}2J\u{202e}y\u{200b}z\u{ad}\u{2060}\u{e0041}";
/// What of it must stand on a screen: its beginning.
const SHOWN: &str = "\\u{1B}]0;pwn\\u{7}\\u{1B}[31mX";

fn attn(args: &[&OsStr], folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attn"));
    command.args(args).current_dir(folder).env("ATTN_STATE_DIR", folder.join("state"));
    command.envs(variables.iter().copied()).output().unwrap()
}

/// Everything that a command prints, on both streams.
fn printed(args: &[&str], folder: &Path, variables: &[(&str, &str)]) -> String {
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    let Output { stdout, stderr, .. } = attn(&args, folder, variables);
    String::from_utf8([stderr, stdout].concat()).unwrap()
}

/// What stands on a screen is to be seen; the program's own colours are no part of it.
fn is_safe(text: &str) -> bool {
    hidden(text).all(|(_, c)| c == '\n')
}

fn safetensors(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat()
}

/// A folder with hostile names, labels, keys and headers.
fn place() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().to_path_buf();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    let label = serde_json::to_string(HOSTILE).unwrap();
    write(
        "labels.json",
        format!("{{\"rows\":[{label},\"b\"],\"cols\":[\"c\",{label}],\"values\":[[1,2],[3,4]]}}").as_bytes(),
    );
    write("keys.json", format!("{{\"X\":[[1,2]],{label}:[[1,2]]}}").as_bytes());
    write("unknown.json", format!("{{{label}:[[1,2]]}}").as_bytes());
    write("twice.json", format!("{{{label}:[[1,2]],{label}:[[1,2]]}}").as_bytes());
    write("text.csv", format!("1,2\n3,{HOSTILE}\n").as_bytes());
    write(
        "type.safetensors",
        &safetensors(&format!("{{\"X\":{{\"dtype\":{label},\"shape\":[1],\"data_offsets\":[0,4]}}}}")),
    );
    write(
        "key.safetensors",
        &safetensors(&format!("{{{label}:{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}}}")),
    );
    write("type.json", format!("{{\"model_type\":{label}}}").as_bytes());
    write("near.json", format!("{{\"model_type\":\"gpt2\",\"n_layer\":1,\"n_head\":1,\"vocab_size\":9,\"n_embe\\u202e\":8,{label}:1}}").as_bytes());
    write("vectors.txt", format!("bat 1 2\ncave 1 {HOSTILE}\n").as_bytes());
    let hostile = HOSTILE.replace('/', "");
    fs::create_dir(folder.join(&hostile)).unwrap();
    fs::write(folder.join(&hostile).join("x.csv"), "1,2\n").unwrap();
    write(&format!("{hostile}.csv"), b"1,2\n3,4\n");
    write(&format!("{hostile}.json"), b"{\"model_type\":\"gpt2\",\"n_layer\":1,\"n_head\":1,\"n_embd\":8,\"vocab_size\":9,\"n_positions\":4}");
    let lesson = format!(
        "---\nattn-lesson: 1\ntitle: T {HOSTILE}\n---\n\n# One {HOSTILE}\n\n## The step\n\nProse {HOSTILE} &#27;[31m &#8238;.\n\n\
         <!-- question: q -->\n\nWhat is {HOSTILE}?\n\n<!-- key: 2 -->\n\n<!-- note: note {HOSTILE} -->\n\n\
         ```console\n$ attn softmax 1 {HOSTILE}\n```\n"
    );
    write(&format!("{hostile}.md"), lesson.as_bytes());
    (place, folder)
}

#[test]
fn hostile_text_is_visible_wherever_it_comes_in() {
    let (_place, folder) = place();
    let h = HOSTILE;
    let (csv, json, md) = (format!("{h}.csv"), format!("{h}.json"), format!("{h}.md"));
    let named = format!("{h}=1");
    let cell = format!("A[{h},1]");
    let (missing, ending) = (format!("no{h}.csv"), format!("x.{h}"));
    let save = format!("O={ending}");
    let define = format!("{h}=1,2");
    let commands: Vec<Vec<&str>> = vec![
        // Arguments.
        vec![h],
        vec!["attend", h],
        vec!["attend", "--x", &missing],
        vec!["attend", "--random", h],
        vec!["attend", "--random", "2,2", "--only", h],
        vec!["attend", "--random", "2,2", "--explain", h],
        vec!["attend", "--random", "2,2", "--explain", &cell],
        vec!["attend", "--random", "2,2", "--explain", "A", "--symbolic", h],
        vec!["attend", "--random", "2,2", "--scale", h],
        vec!["attend", "--random", "2,2", "--save", h],
        vec!["attend", "--random", "2,2", "--save", &save],
        vec!["attend", "--random", "2,2", "--fast", "--simd", h],
        vec!["attend", "--random", "2,2", "--until", h],
        vec!["attend", "--random", "2,2", "--heat", h],
        vec!["attend", "--random", "2,2", "--precision", h],
        vec!["attend", "--random", "2,2", "--versus", h],
        vec!["attend", "--words", h],
        vec!["attend", "--words", h, "--explain", "S[1,1]"],
        vec!["attend", "--words", h, "--format", "markdown"],
        vec!["attend", "--words", h, "--format", "latex"],
        vec!["attend", "--words", h, "--format", "html"],
        vec!["attend", "--words", h, "--format", "numpy"],
        vec!["similarity", "bat", h],
        vec!["similarity", "bat", h, "--define", &define, "--define", "bat=1,2"],
        vec!["similarity", "bat", "cave", "--define", h],
        vec!["softmax", h],
        vec!["softmax", "1", "--temperature", h],
        vec!["demo", h],
        vec!["demo", "--document", h],
        vec!["demo", "mask", "--set", &named],
        vec!["demo", "mask", "--set", h],
        vec!["glossary", h],
        vec!["find", h],
        vec!["errata", h],
        vec!["help", h],
        vec!["man", h],
        vec!["examples", h],
        vec!["params", h],
        vec!["bench", "--n", h],
        vec!["completions", h],
        vec!["diagnose", "--list", h],
        vec!["diagnose", "--x", "1 2", "--yours", h],
        vec!["diagnose", "--x", "1 2", "--yours", &named],
        vec!["diagnose", "--x", "1 2", "--yours", "1 2", "--rtol", h],
        vec!["diagnose", "--x", "1 2", "--suggest-input", &ending],
        vec!["lesson", h],
        vec!["lesson", "play", h],
        vec!["lesson", "quiz", h],
        vec!["lesson", "play", "0-tour", "--answer", h],
        vec!["lesson", "export", h],
        vec!["lesson", "export", "0-tour", "-o", &ending],
        vec!["lesson", "list", h],
        // Files: their names, labels, keys and contents.
        vec!["attend", "--x", &csv],
        vec!["attend", "--x", &csv, "--format", "html"],
        vec!["attend", "--x", "labels.json"],
        vec!["attend", "--x", "labels.json", "--explain", "S[1,2]"],
        vec!["attend", "--x", "labels.json", "--explain", "S[none,2]"],
        vec!["attend", "--x", "labels.json", "--versus=--scale none"],
        vec!["attend", "--x", "labels.json", "--format", "markdown"],
        vec!["attend", "--x", "labels.json", "--format", "latex"],
        vec!["attend", "--x", "labels.json", "--format", "html"],
        vec!["attend", "--x", "labels.json", "--convention", "columns", "--heat", "always"],
        vec!["attend", "--x", "labels.json", "--fast"],
        vec!["diagnose", "--x", "labels.json", "--yours", "1 2; 3 4"],
        vec!["diagnose", "--x", "labels.json", "--yours", "1 2; 3 4", "--details"],
        vec!["diagnose", "--x", "1 2; 3 4", "--yours", "labels.json"],
        vec!["diagnose", "--x", "1 2; 3 4", "--batch", "."],
        vec!["diagnose", "--x", "1 2; 3 4", "--batch", ".", "--format", "markdown"],
        vec!["diagnose", "--x", "1 2; 3 4", "--batch", ".", "--by-mistake"],
        vec!["attend", "keys.json"],
        vec!["attend", "unknown.json"],
        vec!["attend", "twice.json"],
        vec!["attend", "--x", "text.csv"],
        vec!["attend", "type.safetensors"],
        vec!["attend", "key.safetensors"],
        vec!["attend", "--words", "bat cave", "--embeddings", "vectors.txt"],
        vec!["params", "type.json"],
        vec!["params", "near.json"],
        vec!["params", &json],
        vec!["params", &json, "--format", "markdown"],
        vec!["params", &json, "--format", "latex"],
        vec!["params", &json, "--format", "html"],
        vec!["params", &json, "--format", "csv"],
        // A lesson: its name and its prose.
        vec!["lesson", "list", "."],
        vec!["lesson", "check", &md],
        vec!["lesson", "check", "."],
        vec!["lesson", "update", &md],
        vec!["lesson", "play", &md, "--notes"],
        vec!["lesson", "quiz", &md],
        vec!["lesson", "export", &md, "--notes", "--to", "html"],
        vec!["lesson", "export", &md, "--notes", "--to", "md"],
        vec!["lesson", "export", &md, "--notes", "--to", "txt"],
    ];
    let mut shown = 0;
    for command in commands.iter().step_by(one_in(2)) {
        let text = printed(command, &folder, &[]);
        assert!(is_safe(&text), "{command:?}\n{text:?}");
        shown += usize::from(text.contains("\\u{1B}]0;pwn") || text.contains("\\\\u{1B}"));
    }
    // Where nothing of it is repeated, nothing can be wrong: that must be the exception.
    assert!(shown * one_in(2) * 4 > commands.len() * 3, "{shown} of {}", commands.len());
    for variable in [
        "ATTN_WIDTH",
        "ATTN_COLOR",
        "ATTN_HEAT",
        "ATTN_PRECISION",
        "ATTN_CHARSET",
        "ATTN_THEME",
        "ATTN_SIMD",
        "ATTN_MEMORY",
    ] {
        let text = printed(&["attend", "--random", "2,2", "--fast"], &folder, &[(variable, h)]);
        assert!(
            is_safe(&text) && text.to_lowercase().contains(&SHOWN.to_lowercase()),
            "{variable}: {text:?}"
        );
    }
}

#[test]
fn data_keep_a_labels_characters_and_json_writes_escapes_of_its_own() {
    let (_place, folder) = place();
    let csv = printed(&["attend", "--x", "labels.json", "--only", "X", "--format", "csv"], &folder, &[]);
    assert!(csv.contains(HOSTILE), "{csv:?}");
    let json = printed(&["attend", "--x", "labels.json", "--only", "X", "--format", "json"], &folder, &[]);
    assert!(is_safe(&json) && json.contains("\\u202e") && json.contains("\\udb40\\udc41"), "{json:?}");
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["graphs"][0]["nodes"][0]["rows"][0], HOSTILE);
    for name in ["x.csv", "x.tsv", "x.json"] {
        printed(
            &["attend", "--x", "labels.json", "--only", "X", "--save", &format!("X={name}")],
            &folder,
            &[],
        );
        let again = printed(&["attend", "--x", name, "--only", "X", "--format", "csv"], &folder, &[]);
        assert_eq!(again, csv, "{name}");
    }
}

#[test]
fn joiners_between_letters_and_in_emoji_stay() {
    let text = printed(
        &["attend", "--words", "می\u{200c}خواهم 👩\u{200d}🔬 bat\u{200d}", "--only", "X"],
        Path::new("."),
        &[],
    );
    assert!(
        text.contains("می\u{200c}خواهم") && text.contains("👩\u{200d}🔬") && text.contains("bat\\u{200D}"),
        "{text}"
    );
}

#[test]
fn a_label_can_be_typed_as_it_is_shown() {
    let (_place, folder) = place();
    let explained = printed(&["attend", "--x", "labels.json", "--explain", "X[b,1]"], &folder, &[]);
    assert!(explained.contains("X[b,c]") || explained.contains("X["), "{explained}");
    fs::write(folder.join("z.csv"), "a\u{200b},1\nb,2\n").unwrap();
    let explained = printed(&["attend", "--x", "z.csv", "--explain", "X[a\\u{200B},1]"], &folder, &[]);
    assert!(explained.contains("x11 = 1"), "{explained}");
}

#[test]
fn markdown_holds_no_link_no_picture_and_no_tag_of_a_label_or_a_lesson() {
    let (_place, folder) = place();
    let labels = "[\"[x](javascript:alert(1))\",\"![](http://evil.example/p.png)\"]";
    fs::write(folder.join("m.json"), format!("{{\"rows\":{labels},\"values\":[[1],[2]]}}")).unwrap();
    fs::write(
        folder.join("<b>[x](javascript:1).json"),
        fs::read(folder.join(format!("{HOSTILE}.json"))).unwrap(),
    )
    .unwrap();
    let head = "---\nattn-lesson: 1\n---\n\n# T\n\n## The step\n\n";
    let lesson = format!(
        "{head}See [x](javascript:alert(1)) and ![p](http://evil.example/p.png).\n\n<!-- note: <script>alert(1)</script> -->\n"
    );
    fs::write(folder.join("m.md"), lesson).unwrap();
    for command in [
        &["attend", "--x", "m.json", "--format", "markdown"][..],
        &["params", "<b>[x](javascript:1).json", "--format", "markdown"],
        &["lesson", "export", "m.md", "--to", "md", "--notes"],
    ] {
        let text = printed(command, &folder, &[]);
        assert!(text.contains("x\\](javascript") || text.contains("\\[x](javascript"), "{text}");
        let lines = text.lines().filter(|line| !line.starts_with("remark"));
        let markup = lines.collect::<Vec<_>>().join("\n");
        for event in pulldown_cmark::Parser::new_ext(&markup, pulldown_cmark::Options::all()) {
            use pulldown_cmark::{Event, Tag};
            let is_bad = match &event {
                Event::Html(html) | Event::InlineHtml(html) => !html.starts_with("<br>"),
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) => true,
                _ => false,
            };
            assert!(!is_bad, "{command:?}: {event:?}\n{text}");
        }
    }
}

#[test]
fn names_that_are_no_utf8_are_names_of_files() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    fs::write(folder.join(name(b"caf\xe9.csv")), "1,2\n3,4\n").unwrap();
    fs::copy("examples/data/gpt2-config.json", folder.join(name(b"caf\xe9.json"))).unwrap();
    fs::create_dir(folder.join(name(b"d\xff"))).unwrap();
    let lesson =
        "---\nattn-lesson: 1\n---\n\n# T\n\n## The step\n\nText.\n\n```console\n$ attn softmax 1\n...\n```\n";
    fs::write(folder.join(name(b"d\xff/\xfe.md")), lesson).unwrap();
    let words =
        |words: &[&'static [u8]]| words.iter().map(|word| OsString::from(name(word))).collect::<Vec<_>>();
    for (args, code, said) in [
        (words(&[b"attend", b"--x", b"caf\xe9.csv"]), 0, "given by caf\\xE9.csv"),
        (words(&[b"attend", b"--x", b"caf\xe8.csv"]), 2, "did you mean `caf\\xE9."),
        (words(&[b"params", b"caf\xe9.json"]), 0, "caf\\xE9.json"),
        (words(&[b"attend", b"--random", b"2,2", b"--only", b"O", b"--save", b"O=o\xe9.npy"]), 0, "O"),
        (words(&[b"diagnose", b"--x", b"caf\xe9.csv", b"--yours", b"O=o\xe9.npy"]), 1, "O is wrong"),
        (words(&[b"lesson", b"list", b"d\xff"]), 0, "\\xFE.md"),
        (words(&[b"lesson", b"check", b"d\xff"]), 0, "d\\xFF/\\xFE.md"),
        (words(&[b"lesson", b"play", b"d\xff/\xfe.md"]), 0, "Text."),
        (words(&[b"lesson", b"export", b"d\xff/\xfe.md", b"-o", b"\xfe.html"]), 0, ""),
        (words(&[b"attend", b"--random", b"2,2", b"--scale", b"\xe9"]), 2, "\\xE9"),
    ] {
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        let Output { stdout, stderr, status } = attn(&args, folder, &[]);
        let text = String::from_utf8([stderr, stdout].concat()).unwrap();
        assert_eq!(status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(said), "{args:?}: {text}");
    }
    assert!(folder.join(name(b"o\xe9.npy")).exists() && folder.join(name(b"\xfe.html")).exists());
}
