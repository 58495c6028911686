// Row: 8.11 archive: what is in it
// Command: archive
// Args: -O @OUT@/made.tar --exclude-env-vars
// Keep: files.txt metadata.json
// After: tar -tf @OUT@/made.tar | grep "$HERE" | sed "s,$HERE,@SCRIPTS@," | sort > @OUT@/files.txt; tar -xOf @OUT@/made.tar metadata.json > @OUT@/metadata.json
import { answer } from '../lib/part.js';

const text = open('../lib/users.json');

export const options = { vus: 2, iterations: 4 };

export default function () {
  console.log(text.length + answer);
}
