// The module `k6/secrets`.

export interface Source {
  get(key: string): Promise<string>;
}
export function get(key: string): Promise<string>;
export function source(name: string): Promise<Source>;

declare const secrets: typeof import('./secrets');
export default secrets;
