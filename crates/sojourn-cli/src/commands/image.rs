//! `sojourn image`: this program as a container image.

use std::path::PathBuf;

use sojourn_kubernetes::image::{Contents, make};

use crate::{errors::UsageError, kubernetes_flags::usual_image};

/// This program as a container image, without Docker
#[derive(Debug, clap::Args)]
pub(crate) struct Image {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Save(Save),
}

/// Write this program as an image: with the libraries that it needs, certificate authorities and
/// nothing else
///
/// The file is an OCI layout and what `docker save` writes at once. The same program gives the same
/// bytes. The image has no shell; deploy/Dockerfile makes one that has.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn image save -o sojourn.tar
  kind load image-archive sojourn.tar
  sudo k3s ctr images import sojourn.tar
  docker load -i sojourn.tar
  skopeo copy oci-archive:sojourn.tar docker://registry.example/load/sojourn:0.1.0")]
struct Save {
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Name of the image
    #[arg(long, value_name = "NAME:TAG", default_value_t = usual_image())]
    name: String,
    /// Certificate authorities (PEM) [default: this system's]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// Does what is asked.
pub(crate) fn run(command: &Image) -> Result<u8, UsageError> {
    let What::Save(save) = &command.what;
    let program = std::env::current_exe().map_err(|error| {
        UsageError::new(format!("this program's own file is unknown: {error}"), "is /proc there?")
    })?;
    let contents = Contents {
        program,
        authorities: save.ca.clone(),
        name: save.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let image = make(&contents)?;
    std::fs::write(&save.output, &image.bytes).map_err(|error| {
        UsageError::new(
            format!("cannot write {}: {error}", save.output.display()),
            "choose another place with --output",
        )
    })?;
    let megabytes = image.bytes.len() as f64 / 1e6;
    eprintln!("image     {} ({megabytes:.1} MB), {}", save.name, image.digest);
    eprintln!("file      {}", save.output.display());
    Ok(0)
}
