// Row: mistakes: command line: an unknown flag
// Args: --no-such-flag
export default function () {}
