// Row: mistakes: command line: an output that is none
// Args: --out nobody=x
export default function () {}
