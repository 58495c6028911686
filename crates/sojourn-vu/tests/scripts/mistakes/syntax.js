// Row: mistakes: a script that does not parse
export default function () {
  const a = ;
}
