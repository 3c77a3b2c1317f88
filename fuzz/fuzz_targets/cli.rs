#![no_main]

// In an empty folder of its own: what a command names on the disk is not there.
libfuzzer_sys::fuzz_target!(
    init: {
        let folder = tempfile::tempdir().expect("a temporary folder").keep();
        std::env::set_current_dir(folder).expect("a folder can be entered");
    },
    |bytes: &[u8]| targets::cli(bytes)
);
