// Row: mistakes: command line: a tag without a value
// Args: --tag novalue
export default function () {}
