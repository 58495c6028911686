//! Bodies compressed and decompressed by their names in `Content-Encoding`.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;

/// Brotli's window, as large as its default.
const BROTLI_WINDOW_BITS: u32 = 22;
/// Levels that the codings' own tools have by default.
const BROTLI_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
const BUFFER_BYTES: usize = 4_096;

/// What can be asked for, as k6 names it in its message.
const NAMES: &str = "[gzip deflate zstd br]";

/// The body compressed by each coding of a list in turn. The error is the one that k6 throws.
pub(super) fn compress(codings: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = body.to_vec();
    for coding in codings.split(',').map(str::trim) {
        let compressed =
            compress_once(coding, &body).map_err(|_| "the body can't be compressed")?;
        body = compressed.ok_or_else(|| {
            format!("unknown compression algorithm {coding}, supported algorithms are {NAMES}")
        })?;
    }
    Ok(body)
}

fn compress_once(coding: &str, body: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let level = Compression::default();
    Ok(Some(match coding {
        "gzip" => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), level);
            writer.write_all(body).and_then(|()| writer.finish())?
        }
        "deflate" => {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), level);
            writer.write_all(body).and_then(|()| writer.finish())?
        }
        "br" => {
            let mut out = Vec::new();
            let mut reader =
                brotli::CompressorReader::new(body, BUFFER_BYTES, BROTLI_LEVEL, BROTLI_WINDOW_BITS);
            reader.read_to_end(&mut out)?;
            out
        }
        "zstd" => zstd::bulk::compress(body, ZSTD_LEVEL)?,
        _ => return Ok(None),
    }))
}

/// The body without its codings, the last of which was applied last. `None` where one of them is
/// not known: the body then stays as it came. The error says what is wrong with it.
pub(super) fn decompress(
    codings: &str,
    body: &[u8],
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, String> {
    let codings: Vec<String> =
        codings.split(',').map(|coding| coding.trim().to_ascii_lowercase()).collect();
    let known = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity", ""];
    if !codings.iter().all(|coding| known.contains(&coding.as_str())) {
        return Ok(None);
    }
    let mut body = body.to_vec();
    for coding in codings.iter().rev() {
        let plain = decompress_once(coding, &body, bytes_max);
        body = plain.map_err(|error| format!("{coding}: {error}"))?;
    }
    Ok(Some(body))
}

fn decompress_once(coding: &str, body: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let bound = bytes_max as u64 + 1;
    match coding {
        "gzip" | "x-gzip" => {
            flate2::read::MultiGzDecoder::new(body).take(bound).read_to_end(&mut out)?
        }
        "deflate" => flate2::read::ZlibDecoder::new(body).take(bound).read_to_end(&mut out)?,
        "br" => {
            let reader = brotli::Decompressor::new(body, BUFFER_BYTES);
            reader.take(bound).read_to_end(&mut out)?
        }
        "zstd" => zstd::stream::read::Decoder::new(body)?.take(bound).read_to_end(&mut out)?,
        _ => return Ok(body.to_vec()),
    };
    if out.len() > bytes_max {
        return Err(io::Error::other("longer than what may be kept"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        let text = "again and again ".repeat(100);
        for codings in ["gzip", "deflate", "br", "zstd", "gzip, deflate", "br,zstd, gzip"] {
            let small = compress(codings, text.as_bytes()).expect(codings);
            assert!(small.len() < 200, "{codings}: {}", small.len());
            let plain = decompress(codings, &small, 10_000).expect(codings);
            assert_eq!(plain.as_deref(), Some(text.as_bytes()), "{codings}");
            // A bomb stops at the bound, a cut one is an error.
            assert!(decompress(codings, &small, 1_000).is_err(), "{codings}");
            assert!(decompress(codings, &small[..small.len() / 2], 10_000).is_err(), "{codings}");
        }
        assert!(compress("rot13", b"").is_err_and(|told| told.contains("[gzip deflate zstd br]")));
        assert_eq!(decompress("gzip, rot13", b"x", 9), Ok(None));
        assert_eq!(decompress("identity", b"x", 9), Ok(Some(b"x".to_vec())));
        assert!(decompress("br", b"this is not compressed", 9).is_err());
    }
}
