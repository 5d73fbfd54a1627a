import { afterEach } from '@jest/globals';
import type { Outcome } from '@pipeline/domain';
import { heartbeat, registerWorker } from '@pipeline/engine';
import { clearHistory } from '@pipeline/testing/history';
import { WORKER } from '../harness.ts';
import { Stage } from '../stage.ts';

const START = Date.parse('2026-03-01T00:00:00Z');

export const ANALYZED: Outcome = { outcome: 'analyzed', result: {} };

/** So many seconds after the start of a test. */
export const iso = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

interface Holding {
  id: string;
  claimToken: string;
}

/** A stage for tests of its worker. Loops see all tenants, so everything is deleted after a test. */
export class WorkerStage extends Stage {
  constructor() {
    super();
    afterEach(() => clearHistory(this.database.db));
  }

  at(seconds: number): void {
    this.database.clock.now = new Date(START + seconds * 1_000);
  }

  beat(status: 'idle' | 'busy' | 'draining' | 'leaving' = 'idle', ...tasks: Holding[]) {
    return heartbeat(this.engine, {
      tenantId: this.tenantId,
      workerId: this.workerId,
      status,
      tasks: tasks.map(({ id, claimToken }) => ({ taskId: id, claimToken })),
    });
  }

  /** Only heartbeats continue. */
  async carryOn(claimed: Holding, from: number, to: number): Promise<void> {
    for (let second = from; second <= to; second += 20) {
      this.at(second);
      await this.beat('busy', claimed);
    }
  }

  /** The worker is restarted, or another one started. */
  again(name = 'w1'): Promise<string> {
    return registerWorker(this.engine, this.tenantId, { ...WORKER, name });
  }

  /** Stream events about workers, without the registration. */
  async publishedStatuses(): Promise<Record<string, unknown>[]> {
    const rows = await this.database.db
      .selectFrom('stream_outbox')
      .select('data')
      .where('tenant_id', '=', this.tenantId)
      .where('event_type', '=', 'worker-status')
      .orderBy('id')
      .execute();
    return rows.slice(1).map((row) => row.data as Record<string, unknown>);
  }

  async statuses(): Promise<unknown[]> {
    return (await this.publishedStatuses()).map(({ status }) => status);
  }

  periods() {
    return this.database.db
      .selectFrom('worker_periods')
      .select(['kind', 'started_at', 'ended_at'])
      .where('tenant_id', '=', this.tenantId)
      .orderBy('started_at')
      .orderBy('kind')
      .execute();
  }

  worker() {
    return this.database.db.selectFrom('workers').selectAll().where('id', '=', this.workerId).executeTakeFirstOrThrow();
  }

  /** The one task there is. */
  async task() {
    return (await this.tasks())[0];
  }
}
