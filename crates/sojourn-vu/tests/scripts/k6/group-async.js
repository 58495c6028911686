// Row: 8.4 group with an async function
import { group } from 'k6';

export default async function () {
  await group('later', async () => {
    await null;
    console.log('inside');
  });
}
