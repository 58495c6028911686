// Row: mistakes: command line: a text for a number
// Args: --vus many
export default function () {}
