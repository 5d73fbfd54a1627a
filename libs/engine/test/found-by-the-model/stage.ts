import { afterEach, beforeEach, expect } from '@jest/globals';
import type { ProjectionType } from '@pipeline/domain';
import { beginSending, findIssueKey, settle } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import { type Bench, finish, goodOutcome, hostIssue, listsAgreeAfterEach, makeBench, take, tell } from '../harness.ts';

export const OLGA = { type: 'operator' as const, id: 'olga', agent: null };

/** For each test anew: a repo with one issue that was let in, at midnight. */
export class Stage {
  readonly database: TestDatabase = testDatabase();
  #bench: Bench | undefined;
  #round = 0;

  constructor() {
    listsAgreeAfterEach(this.database);
    beforeEach(async () => {
      this.#round += 1;
      this.database.clock.now = new Date('2026-03-01T00:00:00Z');
      this.#bench = await makeBench(this.database.store, { slug: `found-${this.#round}/shop` });
      await tell(this.bench, hostIssue(1));
    });
    afterEach(() => this.#everyLetterHasItsEvent());
  }

  /** Whatever a test did: no dead letter was written in silence. */
  async #everyLetterHasItsEvent(): Promise<void> {
    const { db } = this.database;
    const { tenantId } = this.bench;
    const letters = await db.selectFrom('dead_letters').select('id').where('tenant_id', '=', tenantId).execute();
    const events = await db
      .selectFrom('pipeline_events')
      .select('payload')
      .where('tenant_id', '=', tenantId)
      .where('event_type', '=', 'dead_letter_created')
      .execute();
    const told = events.map(({ payload }) => (payload as { deadLetterId: string }).deadLetterId);
    expect(told.sort()).toEqual(letters.map(({ id }) => id).sort());
  }

  get bench(): Bench {
    if (!this.#bench) throw new Error('no test has begun');
    return this.#bench;
  }

  async issue(number = 1) {
    const { tenantId, repo } = this.bench;
    const row = await findIssue(this.database.db, tenantId, repo.id, number);
    if (!row) throw new Error(`no issue ${number}`);
    return row;
  }

  key(number = 1) {
    const { engine, repo } = this.bench;
    return findIssueKey(engine, { owner: repo.owner, repo: repo.name, number });
  }

  /** The dead letters that are open. */
  letters() {
    return this.database.db
      .selectFrom('dead_letters')
      .select(['id', 'error', 'target_state'])
      .where('tenant_id', '=', this.bench.tenantId)
      .where('resolved_at', 'is', null)
      .execute();
  }

  /** The newest entry of the outbox of a type. */
  async entry(type: ProjectionType) {
    const rows = await this.database.db
      .selectFrom('projections')
      .selectAll()
      .where('tenant_id', '=', this.bench.tenantId)
      .orderBy('id')
      .execute();
    const found = rows.findLast(({ action }) => action.type === type);
    if (!found) throw new Error(`no ${type}`);
    return found;
  }

  pass(seconds: number): void {
    const { clock } = this.database;
    clock.now = new Date((clock.now?.getTime() ?? 0) + seconds * 1_000);
  }

  /** One task to its good end. */
  async work(): Promise<void> {
    const task = await take(this.bench);
    await finish(this.bench, task, goodOutcome(task.taskType, task.issueNumber ?? 0));
  }

  /** The host refuses the next write. */
  refuse(message: string): void {
    this.bench.host.nextResults.push({ status: 'refused', httpStatus: 422, message, kind: 'other' });
  }

  /** Sends one entry of the outbox and no other. */
  async send(type: ProjectionType): Promise<void> {
    const { engine, tenantId, host } = this.bench;
    const sending = await beginSending(engine, tenantId, (await this.entry(type)).id);
    if (!sending) throw new Error(`${type} is not pending`);
    const { projection, repo, mayHaveHappened } = sending;
    await settle(
      engine,
      sending,
      await host.execute(repo, projection.issue_number, projection.action, { mayHaveHappened }),
    );
  }
}
