//! Which tags samples get without a script's doing.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum SystemTag {
    /// `HTTP/1.1`, `HTTP/2.0`.
    Proto,
    /// A WebSocket's subprotocol.
    Subproto,
    /// Of the answer.
    Status,
    /// Of the request.
    Method,
    /// Of the request.
    Url,
    /// What requests of one kind share; the URL unless a script says otherwise.
    Name,
    /// The path of the group that the script is in.
    Group,
    /// The check's name.
    Check,
    /// What went wrong, in words.
    Error,
    /// What went wrong, in numbers.
    ErrorCode,
    /// `tls1.3`.
    TlsVersion,
    /// The scenario's name.
    Scenario,
    /// Of a gRPC call.
    Service,
    /// Whether the answer was as the script expects.
    ExpectedResponse,
    /// The iteration's number; metadata, no tag.
    Iter,
    /// The user's number; metadata, no tag.
    Vu,
    /// Of the server's certificate.
    OcspStatus,
    /// The server's address.
    Ip,
}

impl SystemTag {
    const ALL: [Self; 18] = [
        Self::Proto,
        Self::Subproto,
        Self::Status,
        Self::Method,
        Self::Url,
        Self::Name,
        Self::Group,
        Self::Check,
        Self::Error,
        Self::ErrorCode,
        Self::TlsVersion,
        Self::Scenario,
        Self::Service,
        Self::ExpectedResponse,
        Self::Iter,
        Self::Vu,
        Self::OcspStatus,
        Self::Ip,
    ];

    /// Its key in a tag set.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proto => "proto",
            Self::Subproto => "subproto",
            Self::Status => "status",
            Self::Method => "method",
            Self::Url => "url",
            Self::Name => "name",
            Self::Group => "group",
            Self::Check => "check",
            Self::Error => "error",
            Self::ErrorCode => "error_code",
            Self::TlsVersion => "tls_version",
            Self::Scenario => "scenario",
            Self::Service => "service",
            Self::ExpectedResponse => "expected_response",
            Self::Iter => "iter",
            Self::Vu => "vu",
            Self::OcspStatus => "ocsp_status",
            Self::Ip => "ip",
        }
    }

    /// The tag of this key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.as_str() == key)
    }
}

/// Which of them are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemTags(u32);

impl Default for SystemTags {
    /// All but `iter`, `vu`, `ocsp_status` and `ip`.
    fn default() -> Self {
        let on = |tag: &SystemTag| (*tag as u32) < (SystemTag::Iter as u32);
        Self::of(SystemTag::ALL.into_iter().filter(on))
    }
}

impl SystemTags {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// These.
    pub fn of(tags: impl IntoIterator<Item = SystemTag>) -> Self {
        Self(tags.into_iter().fold(0, |bits, tag| bits | 1 << tag as u32))
    }

    /// Those of a script's list of keys, instead of the default; keys that k6 does not know are
    /// passed over, as k6 does.
    pub fn from_keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(keys.into_iter().filter_map(|key| SystemTag::from_key(key.trim())))
    }

    /// Those of `K6_SYSTEM_TAGS` and `--system-tags`: keys with commas between them.
    pub fn from_list(list: &str) -> Self {
        Self::from_keys(list.split(','))
    }

    /// Whether this one is on.
    pub const fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u32) != 0
    }

    /// The keys of those that are on, sorted.
    pub fn keys(self) -> Vec<&'static str> {
        let on = SystemTag::ALL.into_iter().filter(|tag| self.has(*tag));
        let mut keys: Vec<_> = on.map(SystemTag::as_str).collect();
        keys.sort_unstable();
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_replace_the_default() {
        let default = SystemTags::default();
        assert_eq!(default.keys().len(), 14);
        assert!(default.has(SystemTag::ExpectedResponse) && !default.has(SystemTag::Iter));
        let few = SystemTags::from_list("vu, status,unknown,ip");
        assert_eq!(few.keys(), ["ip", "status", "vu"]);
        assert_eq!(SystemTags::from_list(""), SystemTags::NONE);
    }
}
