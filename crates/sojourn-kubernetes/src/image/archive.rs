//! An image in one file, in both layouts at once: OCI's (`index.json`) and Docker's
//! (`manifest.json`), over the same blobs.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::EntryType;

use super::layer::{Layer, tar_of};
use super::{Contents, PROGRAM, USER};
use crate::ClusterError;

/// The time of everything.
const CREATED: &str = "1970-01-01T00:00:00Z";
/// What a gzip header has where no system is named.
const NO_SYSTEM: u8 = 255;

/// An image's file.
#[derive(Debug)]
pub struct Archive {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The manifest's digest, by which registries know the image: `sha256:…`.
    pub digest: String,
}

/// Bytes that are known by their digest.
struct Blob {
    digest: String,
    bytes: Vec<u8>,
}

impl Blob {
    fn new(bytes: Vec<u8>) -> Self {
        Self { digest: sha256(&bytes), bytes }
    }

    fn of_json(value: &Value) -> Self {
        Self::new(value.to_string().into_bytes())
    }

    fn place(&self) -> String {
        format!("blobs/sha256/{}", self.digest)
    }

    fn descriptor(&self, media_type: &str) -> Value {
        json!({
            "mediaType": media_type,
            "digest": format!("sha256:{}", self.digest),
            "size": self.bytes.len(),
        })
    }
}

impl Archive {
    pub(super) fn new(
        contents: &Contents,
        architecture: &str,
        layer: &Layer,
        environment: &[String],
    ) -> Result<Self, ClusterError> {
        let failed = |error: io::Error| ClusterError::Image(format!("the image's tar: {error}"));
        let tar = layer.to_tar().map_err(failed)?;
        let unpacked = sha256(&tar);
        let layer = Blob::new(compressed(&tar).map_err(failed)?);
        drop(tar);
        let config = Blob::of_json(&json!({
            "created": CREATED,
            "architecture": architecture,
            "os": "linux",
            "config": {
                "User": format!("{USER}:{USER}"),
                "Env": environment,
                "Entrypoint": [PROGRAM],
                "WorkingDir": "/tmp",
                "Labels": labels(contents),
            },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{unpacked}")] },
            "history": [{ "created": CREATED, "created_by": "sojourn image save" }],
        }));
        let manifest = Blob::of_json(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config.descriptor("application/vnd.oci.image.config.v1+json"),
            "layers": [layer.descriptor("application/vnd.oci.image.layer.v1.tar+gzip")],
        }));
        let digest = format!("sha256:{}", manifest.digest);
        let bytes = whole(contents, &layer, &config, &manifest).map_err(failed)?;
        Ok(Self { bytes, digest })
    }
}

/// The outer tar.
fn whole(contents: &Contents, layer: &Blob, config: &Blob, manifest: &Blob) -> io::Result<Vec<u8>> {
    let mut described = manifest.descriptor("application/vnd.oci.image.manifest.v1+json");
    described["annotations"] = json!({
        "io.containerd.image.name": contents.name,
        "org.opencontainers.image.ref.name": tag_of(&contents.name),
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [described],
    });
    let docker = json!([{
        "Config": config.place(),
        "RepoTags": [contents.name],
        "Layers": [layer.place()],
    }]);
    let (index, docker) = (index.to_string(), docker.to_string());
    let mut entries: Vec<(String, &[u8])> = vec![
        ("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.as_slice()),
        ("index.json".to_owned(), index.as_bytes()),
        ("manifest.json".to_owned(), docker.as_bytes()),
    ];
    entries.extend([config, manifest, layer].map(|blob| (blob.place(), blob.bytes.as_slice())));
    let folders = ["blobs/", "blobs/sha256/"].map(|it| (it, EntryType::Directory, 0o755, &[][..]));
    let files =
        entries.iter().map(|(place, bytes)| (place.as_str(), EntryType::Regular, 0o644, *bytes));
    tar_of(folders.into_iter().chain(files))
}

/// Compressed so that the same bytes come of the same bytes.
fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let header = GzBuilder::new().mtime(0).operating_system(NO_SYSTEM);
    let mut encoder = header.write(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn labels(contents: &Contents) -> Value {
    json!({
        "org.opencontainers.image.title": "sojourn",
        "org.opencontainers.image.version": contents.version,
    })
}

/// What stands behind an image's name: `0.1.0` of `localhost:5000/sojourn:0.1.0`.
fn tag_of(name: &str) -> &str {
    let last = name.rsplit_once('/').map_or(name, |(_, last)| last);
    last.rsplit_once(':').map_or("latest", |(_, tag)| tag)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_digests() {
        assert_eq!(tag_of("localhost:5000/sojourn:0.1.0"), "0.1.0");
        assert_eq!(tag_of("localhost:5000/sojourn"), "latest");
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }
}
