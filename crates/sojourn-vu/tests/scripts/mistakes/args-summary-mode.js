// Row: mistakes: command line: a summary mode that is none
// Args: --summary-mode=pretty
export default function () {}
