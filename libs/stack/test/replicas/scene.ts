import { TASK_TYPES } from '@pipeline/domain';
import type { Held, World } from '@pipeline/engine/model';
import type { TestDatabase } from '@pipeline/testing';
import type { Fleet, Kind } from './fleet.ts';
import { type Host, SLUG } from './host.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
  body: any;
}

/** Answers that are a rule's no, and not a defect. */
const REFUSALS = [400, 404, 409, 410, 422];

/** The processes, the host, and what the workers of a run remember. */
export class Scene {
  readonly database: TestDatabase;
  readonly host: Host;
  readonly fleet: Fleet;
  readonly #token: string;
  /** What was told of cost for each claim, in all runs. */
  readonly costs: World['costs'] = new Map();
  held: Held[] = [];
  workers: string[] = [];
  /** Issues of earlier runs have numbers up to this one. */
  base = 0;
  kills = 0;

  constructor(parts: { database: TestDatabase; host: Host; fleet: Fleet; token: string }) {
    this.database = parts.database;
    this.host = parts.host;
    this.fleet = parts.fleet;
    this.#token = parts.token;
  }

  /** The issues of this run as the store has them. */
  issues() {
    return this.database.db
      .selectFrom('issues')
      .select(['issue_number as number', 'state', 'is_paused as paused', 'is_blocked as blocked'])
      .where('issue_number', '>', this.base)
      .orderBy('issue_number')
      .execute();
  }

  async pick(index: number): Promise<number> {
    const issues = await this.issues();
    return issues[index % Math.max(1, issues.length)]?.number ?? 0;
  }

  /** @throws Error for an answer that is neither well nor a refusal. */
  async call(kind: Kind, method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(this.fleet.next(kind) + path, {
      method,
      headers: {
        ...(kind === 'hosted-api' && { authorization: `Bearer ${this.#token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && !REFUSALS.includes(response.status))
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  operate = (method: string, path: string, body?: unknown): Promise<Answer> => this.call('monitor', method, path, body);
  work = (path: string, body: unknown): Promise<Answer> => this.call('hosted-api', 'POST', `/api/worker${path}`, body);

  /** What a person does on the host. The host may refuse it, as it would anywhere. */
  async person(...call: Parameters<Host['api']>): Promise<void> {
    await this.host.api(...call).catch((error: Error) => {
      if (!/: 4\d\d /.test(error.message)) throw error;
    });
  }

  async register(name: string): Promise<string> {
    return (await this.work('/register', { name, taskTypes: TASK_TYPES })).body.workerId;
  }

  /** kill -9 of a process, at most so often in a run: its successor takes a while. */
  async kill(kind: Kind): Promise<void> {
    if (this.kills >= 2) return;
    this.kills += 1;
    await this.fleet.kill(kind);
  }
}

export const REPO = `/repos/${SLUG}`;
export const issuePath = (number: number): string => `/api/issues/${SLUG}/${number}`;
