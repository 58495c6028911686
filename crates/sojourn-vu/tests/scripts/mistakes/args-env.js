// Row: mistakes: command line: a variable without a value
// Args: -e novalue
export default function () {}
