// FormData: multipart bodies (RFC 7578) whose fields keep their order.
import { bytesOf } from './shared/bytes.js';

const quoted = (text) =>
  String(text)
    .replace(/\r?\n|\r/g, '%0D%0A')
    .replace(/"/g, '%22');

const isFile = (it) => it !== null && typeof it === 'object' && 'data' in it && 'filename' in it;

export class FormData {
  constructor() {
    this.parts = [];
    const letters = () => Math.random().toString(36).slice(2, 14).padEnd(12, '0');
    this.boundary = `------SojournFormBoundary${letters()}${letters()}`;
  }

  /** Adds a field: a text, or what `http.file` makes; `filename` overrides the file's name. */
  append(name, value, filename) {
    this.parts.push({ name: String(name), value, filename });
  }

  /** The value to send as `Content-Type`. */
  contentType() {
    return `multipart/form-data; boundary=${this.boundary}`;
  }

  /** The body as an ArrayBuffer. */
  body() {
    const pieces = [];
    for (const { name, value, filename } of this.parts) {
      let head = `--${this.boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
      let content = value;
      if (isFile(value)) {
        head += `; filename="${quoted(filename || value.filename)}"\r\n`;
        head += `Content-Type: ${value.content_type || 'application/octet-stream'}`;
        content = value.data;
      } else if (filename !== undefined) {
        head += `; filename="${quoted(filename)}"\r\nContent-Type: application/octet-stream`;
      }
      pieces.push(bytesOf(`${head}\r\n\r\n`), bytesOf(content), bytesOf('\r\n'));
    }
    pieces.push(bytesOf(`--${this.boundary}--\r\n`));
    const whole = new Uint8Array(pieces.reduce((sum, it) => sum + it.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole.buffer;
  }
}

export default FormData;
