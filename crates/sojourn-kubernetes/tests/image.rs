//! Images of this very test program: what is in them, and that it needs nothing else.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;
use sojourn_kubernetes::image::{self, Contents, PROGRAM};

fn contents(authorities: &Path) -> Contents {
    std::fs::write(authorities, "authorities\n").unwrap();
    Contents {
        program: std::env::current_exe().unwrap(),
        authorities: Some(authorities.to_owned()),
        name: "localhost/sojourn:9.9".to_owned(),
        version: "9.9".to_owned(),
    }
}

fn unpacked(tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        assert_eq!(entry.header().mtime().unwrap(), 0);
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    });
    entries.collect()
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn both_layouts_lead_to_the_same_blobs_whose_names_are_true() {
    let folder = tempfile::tempdir().unwrap();
    let image = image::make(&contents(&folder.path().join("ca.pem"))).unwrap();
    let files = unpacked(&image.bytes);
    for (name, bytes) in files.iter().filter(|(name, _)| name.starts_with("blobs/sha256/")) {
        if let Some(digest) = name.strip_prefix("blobs/sha256/").filter(|it| !it.is_empty()) {
            use sha2::{Digest, Sha256};
            let actual: String =
                Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
            assert_eq!(actual, digest);
        }
    }
    let place = |digest: &Value| digest.as_str().unwrap().replace("sha256:", "blobs/sha256/");
    let index = json(&files["index.json"]);
    let described = &index["manifests"][0];
    assert_eq!(described["digest"], image.digest.as_str());
    assert_eq!(described["annotations"]["io.containerd.image.name"], "localhost/sojourn:9.9");
    let manifest = json(&files[&place(&described["digest"])]);
    assert_eq!(json(&files["oci-layout"])["imageLayoutVersion"], "1.0.0");
    let docker = &json(&files["manifest.json"])[0];
    assert_eq!(docker["RepoTags"][0], "localhost/sojourn:9.9");
    assert_eq!(docker["Config"], place(&manifest["config"]["digest"]).as_str());
    assert_eq!(docker["Layers"][0], place(&manifest["layers"][0]["digest"]).as_str());
    let config = json(&files[docker["Config"].as_str().unwrap()]);
    assert_eq!(config["config"]["User"], "65532:65532");
    let layer = &files[docker["Layers"][0].as_str().unwrap()];
    assert_eq!(manifest["layers"][0]["size"], layer.len());
    let mut tar = Vec::new();
    GzDecoder::new(layer.as_slice()).read_to_end(&mut tar).unwrap();
    let inside = unpacked(&tar);
    assert_eq!(inside["etc/ssl/certs/ca-certificates.crt"], b"authorities\n");
    assert!(inside[&PROGRAM[1..]] == std::fs::read(std::env::current_exe().unwrap()).unwrap());
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let contents = contents(&folder.path().join("ca.pem"));
    let (one, other) = (image::make(&contents).unwrap(), image::make(&contents).unwrap());
    assert!(one.bytes == other.bytes);
    assert_eq!(one.digest, other.digest);
}

/// Unpacked elsewhere, the image's loader finds all that the program needs below that folder.
#[test]
fn the_program_runs_with_what_is_in_the_image_alone() {
    let folder = tempfile::tempdir().unwrap();
    let image = image::make(&contents(&folder.path().join("ca.pem"))).unwrap();
    let files = unpacked(&image.bytes);
    let docker = &json(&files["manifest.json"])[0];
    let layer = files[docker["Layers"][0].as_str().unwrap()].as_slice();
    let root = folder.path().join("root");
    tar::Archive::new(GzDecoder::new(layer)).unpack(&root).unwrap();
    let config = json(&files[docker["Config"].as_str().unwrap()]);
    let environment = config["config"]["Env"].as_array().unwrap();
    let folders = environment.iter().find_map(|it| it.as_str()?.strip_prefix("LD_LIBRARY_PATH="));
    let folders: Vec<String> =
        folders.unwrap().split(':').map(|it| format!("{}{it}", root.display())).collect();
    let loader = loader_in(&root);
    let program = root.join(&PROGRAM[1..]);
    let said = Command::new(&loader)
        .args(["--inhibit-cache", "--library-path", &folders.join(":"), "--list"])
        .arg(&program)
        .output()
        .unwrap();
    let listed = String::from_utf8(said.stdout).unwrap();
    let found: Vec<&str> = listed.lines().filter_map(|line| line.split(" => ").nth(1)).collect();
    assert!(!found.is_empty(), "{listed}");
    for file in found {
        assert!(file.starts_with(&root.display().to_string()), "{file} is not in the image");
    }
    // Not only listed: it runs.
    let ran = Command::new(&loader)
        .args(["--inhibit-cache", "--library-path", &folders.join(":")])
        .arg(&program)
        .arg("--list")
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success() && said.contains("the_same_program_gives_the_same_bytes"),
        "{said}"
    );
}

fn loader_in(root: &Path) -> PathBuf {
    let is_loader = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("ld-")
    };
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if is_loader(&path) {
                return path;
            }
        }
    }
    panic!("the image has no loader")
}

#[test]
fn a_script_is_no_program_for_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("run.sh");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    let contents = Contents { program: script, ..contents(&folder.path().join("ca.pem")) };
    let error = image::make(&contents).unwrap_err().to_string();
    assert!(error.contains("run.sh") && error.contains("no program of Linux"), "{error}");
}
