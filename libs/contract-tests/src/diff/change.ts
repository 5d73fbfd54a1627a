import { isDeepStrictEqual } from 'node:util';
import { isText, type Json, type OpenApiDocument } from './openapi-document.ts';
import { type Level, RULES, type Rule } from './rules.ts';

/** One difference between two documents, at a place such as `GET /issues > response 200 > items`. */
export interface Change {
  readonly level: Level;
  readonly rule: Rule;
  readonly place: string;
  readonly text: string;
}

type Direction = 'request' | 'response';

/** Where two schemas are compared, and whether clients send or receive the values. */
export interface Site {
  readonly comparison: Comparison;
  readonly direction: Direction;
  readonly place: string;
}

/** Compares nested schemas. It is handed down, since schemas and their keywords refer to each other. */
export type Nested = (site: Site, before: unknown, after: unknown) => void;

/** The two documents and the changes found so far. */
export class Comparison {
  readonly changes: Change[] = [];
  readonly #compared = new Set<string>();

  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;

  constructor(before: OpenApiDocument, after: OpenApiDocument) {
    this.before = before;
    this.after = after;
  }

  add(rule: Rule, place: string, text: string): void {
    this.changes.push({ level: RULES[rule], rule, place, text });
  }

  /** Returns true on the first call with a key: shared and recursive schemas are compared once. */
  first(key: string): boolean {
    if (this.#compared.has(key)) return false;
    this.#compared.add(key);
    return true;
  }

  /** Adds a change of the rule if the values differ. */
  same(rule: Rule, place: string, [before, after]: readonly [unknown, unknown]): void {
    if (!isDeepStrictEqual(before, after)) this.add(rule, place, `${shown(before)} became ${shown(after)}`);
  }

  /** Compares the texts of two nodes that only people read. */
  texts(place: string, before: Json, after: Json): void {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (isText(key)) this.same('text-changed', within(place, key), [before[key], after[key]]);
    }
  }
}

export const within = (place: string, name: string): string => (place === '' ? name : `${place} > ${name}`);

const LONGEST = 100;

/** A value in a report, shortened. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
