// Row: mistakes: command line: a duration that is none
// Args: --duration soon
export default function () {}
