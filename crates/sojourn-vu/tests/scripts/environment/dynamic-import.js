// Row: 8.1 dynamic imports
export default async function () {
  try {
    const part = await import('../lib/part.js');
    console.log(part.answer);
  } catch (error) {
    console.log(String(error));
  }
}
