// Row: 8.9 k6/secrets
// Args: --secret-source=mock=cool=hidden,other=value
import secrets from 'k6/secrets';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default async function () {
  const value = await secrets.get('cool');
  same('its value', value.length, 6);
  console.log(`never shown: ${value}`);
}
