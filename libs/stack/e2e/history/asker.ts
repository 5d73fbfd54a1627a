import { type AnyRoute, matchRoute, type Surface } from '@pipeline/contract';
import { differences } from '@pipeline/testing/oracle';
import type { Checks } from '../checks.ts';

interface Asked {
  questions: number;
  compared: number;
  ms: number;
  slowestMs: number;
  different: string[];
}

/** Differences that are printed of one endpoint. */
const SHOWN = 12;

export interface Expectation {
  /** Returns by which share of its value a number at a place may be off. */
  off?: (place: string) => number;
  /** Shapes an answer before it is compared, as where an order means nothing. */
  shaped?: (body: never) => unknown;
}

/** Asks a service over HTTP, holds each answer against what it should say, and remembers which endpoints were asked. */
export class Asker {
  readonly #surface: Surface;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #asked = new Map<string, Asked>();

  constructor(surface: Surface, url: string, headers: Record<string, string> = {}) {
    this.#surface = surface;
    this.#url = url;
    this.#headers = headers;
  }

  /** @returns the body, parsed where it is JSON. @throws Error for any status but 200. */
  async ask<T>(path: string): Promise<T> {
    const route = this.#routeOf(path);
    const began = performance.now();
    // Between two questions this process computes for longer than a server keeps a connection.
    const response = await fetch(this.#url + path, { headers: { ...this.#headers, connection: 'close' } });
    const text = await response.text();
    const ms = performance.now() - began;
    if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${text.slice(0, 300)}`);
    const asked = this.#of(route);
    asked.questions += 1;
    asked.ms += ms;
    asked.slowestMs = Math.max(asked.slowestMs, ms);
    return (response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T;
  }

  /** Asks, and compares the answer with what it should say. */
  async expect(path: string, wanted: unknown, { off, shaped }: Expectation = {}): Promise<void> {
    const body = await this.ask<never>(path);
    this.compare(path, shaped ? shaped(body) : body, wanted, off);
  }

  compare(path: string, said: unknown, wanted: unknown, off?: (place: string) => number): void {
    const asked = this.#of(this.#routeOf(path));
    const { compared, different } = differences(said, wanted, off);
    asked.compared += compared;
    asked.different.push(...different.map((line) => `${path}: ${line}`));
  }

  /** Prints a line for each endpoint; every GET of the surface must have been asked, but for those left out on purpose. */
  report(checks: Checks, leftOut: readonly string[]): void {
    for (const [id, asked] of this.#asked) {
      const { questions, compared, ms, slowestMs, different } = asked;
      const mean = (ms / questions).toFixed(0).padStart(6);
      const line = `${id.padEnd(30)} ${String(questions).padStart(5)} asked ${String(compared).padStart(8)} values ${mean} ms, at most ${slowestMs.toFixed(0)} ms`;
      const shown = different.slice(0, SHOWN).map((each) => `\n        ${each}`);
      checks.that(line, different.length === 0, `${different.length} differ${shown.join('')}`);
    }
    const unasked = this.#surface.routes
      .filter(({ method, id }) => method === 'get' && !leftOut.includes(id) && !this.#asked.has(id))
      .map(({ id }) => id);
    checks.none(`every endpoint of the ${this.#surface.name} that reads was asked`, unasked);
  }

  #routeOf(path: string): AnyRoute {
    const route = matchRoute(this.#surface.routes, 'get', path.split('?')[0] ?? '');
    if (!route) throw new Error(`${path} is no endpoint`);
    return route;
  }

  #of({ id }: AnyRoute): Asked {
    const known = this.#asked.get(id) ?? { questions: 0, compared: 0, ms: 0, slowestMs: 0, different: [] };
    this.#asked.set(id, known);
    return known;
  }
}
