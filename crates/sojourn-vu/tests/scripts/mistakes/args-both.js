// Row: mistakes: command line: iterations and stages
// Args: --iterations 1 --stage 1s:1
export default function () {}
