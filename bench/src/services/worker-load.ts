import { createHash, randomBytes } from 'node:crypto';
import type { Outcome, TaskType } from '@pipeline/domain';
import { insertWorkerToken } from '@pipeline/store';
import { Pool } from 'undici';
import type { OurStore } from '../ours/store.ts';

export const LANES = 16;

export interface Held {
  id: string;
  claimToken: string;
}

/** 16 workers that speak the worker protocol, with a connection for each of their slots. */
export interface WorkerLoad {
  /** Ids by lane. */
  workerIds: readonly string[];
  /** Claims for a slot: lane 17 is the second slot of the first worker. @returns null when there is nothing to claim. */
  claim(lane: number, taskTypes: readonly TaskType[]): Promise<Held | null>;
  /** Reports an outcome. @returns the state that the issue is in afterwards. */
  complete(claim: Held, outcome: Outcome): Promise<string | null>;
  close(): Promise<void>;
}

/** Makes a worker token in the store and registers the workers. @throws Error for any answer that is not 200 or 204. */
export async function connectWorkers({ store, tenantId }: OurStore, url: string, slots: number): Promise<WorkerLoad> {
  const token = `wrk_at_${randomBytes(32).toString('base64url')}`;
  const tokenHash = createHash('sha256').update(token).digest('hex');
  await insertWorkerToken(store.db, { tenantId, name: 'bench', tokenHash, repoIds: null });
  const pool = new Pool(url, { connections: LANES * slots, pipelining: 1 });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode === 204) return null;
    if (answer.statusCode !== 200) throw new Error(`POST ${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  };
  const register = async (_: unknown, lane: number) => {
    const body = { name: `bench-${lane}`, taskTypes: ['analyze'] };
    return (await post('/api/worker/register', body)) as { workerId: string };
  };
  const workers = await Promise.all(Array.from({ length: LANES }, register));
  const workerIds = workers.map(({ workerId }) => workerId);
  return {
    workerIds,
    async claim(lane, taskTypes) {
      const answer = await post('/api/worker/claim', { workerId: workerIds[lane % LANES], taskTypes, waitMs: 0 });
      return answer === null ? null : (answer as { task: Held }).task;
    },
    async complete({ id, claimToken }, outcome) {
      const answer = await post(`/api/worker/tasks/${id}/complete`, { claimToken, ...outcome });
      return (answer as { state: string | null }).state;
    },
    close: () => pool.close(),
  };
}
