// Row: 8.1 --console-output: the console goes to a file instead
// Args: --console-output=@OUT@/console.txt
// Keep: console.txt
export default function () {
  console.log('to the file');
  console.error('this too');
}
