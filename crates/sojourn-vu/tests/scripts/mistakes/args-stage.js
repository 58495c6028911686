// Row: mistakes: command line: a stage without a target
// Args: --stage 1s
export default function () {}
