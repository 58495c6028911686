// Row: 8.2 handleSummary whose files can't be written
export default function () {}

export function handleSummary() {
  return { '/nowhere/at/all': 'lost', stdout: 'seen\n' };
}
