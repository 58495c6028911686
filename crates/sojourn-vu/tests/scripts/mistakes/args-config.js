// Row: mistakes: command line: a configuration that is not there
// Args: -c not-there.json
export default function () {}
