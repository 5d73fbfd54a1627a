import { afterEach, beforeEach, expect } from '@jest/globals';
import type { ProjectionType } from '@pipeline/domain';
import { beginSending, type Engine, findIssueKey, passMergeGate, settle } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import {
  applyHostIssue,
  type Bench,
  finish,
  goodOutcome,
  hostIssue,
  listsAgreeAfterEach,
  makeBench,
  take,
} from './harness.ts';

export const OLGA = { type: 'operator' as const, id: 'olga', agent: null };

const MIDNIGHT = new Date('2026-03-01T00:00:00Z');

interface Opening {
  /** The time, which stands still until a test moves it; null = real time. Default midnight of 1 March 2026. */
  at?: Date | null;
  /** Number of admitted issues. */
  issues?: number;
}

/**
 * A new bench for each test, with its own tenant, so that no claim reaches another test's tasks. Created once, at the
 * top of a test file, with the database of that file. After each test lists must agree with the rows, and
 * every dead letter must have been reported.
 */
export class Stage implements Bench {
  readonly database: TestDatabase = testDatabase();
  #bench: Bench | undefined;
  #round = 0;

  constructor({ at = MIDNIGHT, issues = 1 }: Opening = {}) {
    listsAgreeAfterEach(this.database);
    beforeEach(async () => {
      this.#round += 1;
      this.database.clock.now = at;
      this.#bench = await makeBench(this.database.store, { slug: `stage-${this.#round}/shop` });
      for (let number = 1; number <= issues; number += 1) await applyHostIssue(this, hostIssue(number));
    });
    afterEach(() => this.#everyLetterHasItsEvent());
  }

  async #everyLetterHasItsEvent(): Promise<void> {
    const { db } = this.database;
    const deadLetters = await db
      .selectFrom('dead_letters')
      .select('id')
      .where('tenant_id', '=', this.tenantId)
      .execute();
    const events = await db
      .selectFrom('pipeline_events')
      .select('payload')
      .where('tenant_id', '=', this.tenantId)
      .where('event_type', '=', 'dead_letter_created')
      .execute();
    const reported = events.map(({ payload }) => (payload as { deadLetterId: string }).deadLetterId);
    expect(reported.sort()).toEqual(deadLetters.map(({ id }) => id).sort());
  }

  get #now(): Bench {
    if (!this.#bench) throw new Error('no test has begun');
    return this.#bench;
  }

  get engine(): Engine {
    return this.#now.engine;
  }

  get tenantId(): number {
    return this.#now.tenantId;
  }

  get repo(): Bench['repo'] {
    return this.#now.repo;
  }

  get workerId(): string {
    return this.#now.workerId;
  }

  get host(): Bench['host'] {
    return this.#now.host;
  }

  get bells(): string[] {
    return this.#now.bells;
  }

  async issue(number = 1) {
    const row = await findIssue(this.database.db, this.tenantId, this.repo.id, number);
    if (!row) throw new Error(`no issue ${number}`);
    return row;
  }

  key(number = 1) {
    const { owner, name } = this.repo;
    return findIssueKey(this.engine, { owner, repo: name, number });
  }

  /** The states of an issue, oldest first. */
  async transitions(number = 1): Promise<string[]> {
    const rows = this.database.db.selectFrom('transitions').select(['from_state', 'to_state', 'trigger']);
    const made = await rows
      .where('issue_id', '=', (await this.issue(number)).id)
      .orderBy('id')
      .execute();
    return made.map((row) => `${row.from_state} -> ${row.to_state} (${row.trigger})`);
  }

  tasks() {
    return this.database.db.selectFrom('tasks').selectAll().where('tenant_id', '=', this.tenantId).execute();
  }

  /** The unresolved dead letters. */
  openDeadLetters() {
    return this.database.db
      .selectFrom('dead_letters')
      .selectAll()
      .where('tenant_id', '=', this.tenantId)
      .where('resolved_at', 'is', null)
      .execute();
  }

  /** The outbox, oldest first. */
  entries() {
    const all = this.database.db.selectFrom('projections').selectAll();
    return all.where('tenant_id', '=', this.tenantId).orderBy('id').execute();
  }

  /** The newest entry of the outbox of a type. */
  async entry(type: ProjectionType) {
    const found = (await this.entries()).findLast(({ action }) => action.type === type);
    if (!found) throw new Error(`no ${type}`);
    return found;
  }

  pass(seconds: number): void {
    const { clock } = this.database;
    clock.now = new Date((clock.now?.getTime() ?? 0) + seconds * 1_000);
  }

  /** Completes one task successfully. */
  async work(): Promise<void> {
    const task = await take(this);
    await finish(this, task, goodOutcome(task.taskType, task.issueNumber ?? 0));
  }

  /** The host refuses the next write. */
  refuse(message: string): void {
    this.host.nextResults.push({ status: 'refused', httpStatus: 422, message, kind: 'other' });
  }

  /** Sends one entry of the outbox and no other: the newest of a type, or the one with that id. */
  async send(which: ProjectionType | number): Promise<void> {
    const { engine, tenantId, host } = this;
    const id = typeof which === 'number' ? which : (await this.entry(which)).id;
    const sending = await beginSending(engine, tenantId, id);
    if (!sending) throw new Error(`${which} is not pending`);
    const action = await passMergeGate(engine, sending, host);
    if (action === null) return;
    const { projection, repo, mayHaveHappened } = sending;
    const result = await host.execute(repo, projection.issue_number, action, { mayHaveHappened });
    await settle(engine, sending, result);
  }
}
