// Row: 8.2 handleSummary that returns what can't be written
export default function () {}

export function handleSummary() {
  return { stdout: 5, stderr: 'fine\n' };
}
