// Row: mistakes: handleSummary whose promise is rejected
export default function () {}

export async function handleSummary() {
  throw new Error('no summary');
}
