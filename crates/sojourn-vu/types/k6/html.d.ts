// The module `k6/html`: documents as jQuery sees them.

/** Elements of a document. */
export interface Selection {
  add(selector: string | Selection): Selection;
  attr(name: string, otherwise?: string): string | undefined;
  children(selector?: string): Selection;
  closest(selector: string): Selection;
  contents(): Selection;
  data(): Record<string, any>;
  data(name: string): any;
  each(run: (index: number, element: Element) => void): Selection;
  end(): Selection;
  eq(index: number): Selection;
  filter(selector: string | Selection | ((index: number, element: Element) => boolean)): Selection;
  find(selector: string): Selection;
  first(): Selection;
  get(): Element[];
  get(index: number): Element;
  has(selector: string): Selection;
  html(): string;
  index(selector?: string | Selection): number;
  is(selector: string | Selection | ((index: number, element: Element) => boolean)): boolean;
  last(): Selection;
  map<T>(make: (index: number, element: Element) => T): T[];
  next(selector?: string): Selection;
  nextAll(selector?: string): Selection;
  nextUntil(selector?: string, filter?: string): Selection;
  not(selector: string | Selection | ((index: number, element: Element) => boolean)): Selection;
  parent(selector?: string): Selection;
  parents(selector?: string): Selection;
  parentsUntil(selector?: string, filter?: string): Selection;
  prev(selector?: string): Selection;
  prevAll(selector?: string): Selection;
  prevUntil(selector?: string, filter?: string): Selection;
  serialize(): string;
  serializeArray(): { name: string; value: string }[];
  serializeObject(): Record<string, string>;
  siblings(selector?: string): Selection;
  size(): number;
  slice(start: number, end?: number): Selection;
  text(): string;
  toArray(): Selection[];
  val(): string | string[] | undefined;
}

/** One element; tags have more members of their own (`href`, `value` …). */
export interface Element {
  attributes(): Record<string, { name: string; value: string }>;
  children(): Element[];
  contains(element: Element): boolean;
  firstChild(): Element | undefined;
  getAttribute(name: string): string | undefined;
  hasAttribute(name: string): boolean;
  id(): string;
  innerHTML(): string;
  innerText(): string;
  lastChild(): Element | undefined;
  matches(selector: string): boolean;
  nextSibling(): Element | undefined;
  nodeName(): string;
  nodeType(): number;
  nodeValue(): string | undefined;
  parentElement(): Element | undefined;
  previousSibling(): Element | undefined;
  querySelector(selector: string): Element | undefined;
  querySelectorAll(selector: string): Element[];
  selection(): Selection;
  textContent(): string;
  [member: string]: any;
}

export function parseHTML(source: string): Selection;

declare const html: typeof import('./html');
export default html;
