import { createHmac, randomUUID } from 'node:crypto';
import { sleep } from '@pipeline/runtime';
import {
  type DeliveryRecord,
  GLOBAL,
  type HookRecord,
  type SandboxLog,
  type Store,
  type Webhooks,
} from '../state/model.ts';

export interface DeliveryOptions {
  state: Store;
  fetch: typeof fetch;
  now: () => Date;
  log: SandboxLog;
  /** false: deliveries wait for `flush()`. */
  autoDeliver: boolean;
  /** Pauses before the second, third … attempt. */
  retryDelaysMs: number[];
}

const KEPT_DONE = 500;
const ATTEMPT_MS = 10_000;

/**
 * Sends webhooks in the order of what happened. A delivery is stored in the transaction of its cause, so a crash loses
 * none; one in flight at a crash is sent again under the same id.
 */
export class Deliveries implements Webhooks {
  readonly #options: DeliveryOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Stores one delivery per hook that gets the event; to be called inside the transaction of the change. */
  emit(event: string, payload: object, only?: number): void {
    const { state, now } = this.#options;
    for (const hook of state.list('hook', GLOBAL)) {
      if (only !== undefined && hook.id !== only) continue;
      const sent = only === undefined ? payloadFor(state, hook, event, payload) : payload;
      if (sent === null) continue;
      state.put('delivery', GLOBAL, {
        id: state.nextId(),
        hookId: hook.id,
        guid: randomUUID(),
        event,
        body: JSON.stringify(sent),
        status: 'pending',
        attempts: 0,
        outcome: null,
        createdAt: now().toISOString(),
      });
    }
  }

  /** Starts sending what is pending, unless delivery is manual. */
  kick(): void {
    if (this.#options.autoDeliver) void this.flush();
  }

  /** Sends everything that is pending; settles when nothing is. */
  flush(): Promise<void> {
    this.#running ??= this.#drain().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Puts a delivery back under its old id, as a person can at the real host. False when there is none. */
  redeliver(id: number): boolean {
    const { state } = this.#options;
    const delivery = state.get('delivery', GLOBAL, id);
    if (delivery) state.put('delivery', GLOBAL, { ...delivery, status: 'pending', attempts: 0 });
    return delivery !== undefined;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { state, log } = this.#options;
    for (;;) {
      const all = state.list('delivery', GLOBAL);
      const next = all.find((delivery) => delivery.status === 'pending');
      if (!next || this.#stop.signal.aborted) return;
      const outcome = await this.#attempts(next);
      if (this.#stop.signal.aborted && outcome.status === 'failed') return;
      state.put('delivery', GLOBAL, { ...next, ...outcome });
      if (outcome.status === 'failed') log.warn(`webhook ${next.event} ${next.guid} failed: ${outcome.outcome}`);
      const finished = all.filter((delivery) => delivery.status !== 'pending');
      for (const old of finished.slice(0, -KEPT_DONE)) state.remove('delivery', GLOBAL, old.id);
    }
  }

  async #attempts(delivery: DeliveryRecord): Promise<Pick<DeliveryRecord, 'status' | 'attempts' | 'outcome'>> {
    const pauses = this.#options.retryDelaysMs;
    let outcome = 'not tried';
    for (let attempt = 0; attempt <= pauses.length; attempt += 1) {
      const pause = pauses[attempt - 1];
      const { signal } = this.#stop;
      if (pause !== undefined) await sleep(pause, signal);
      if (signal.aborted) break;
      try {
        const status = await this.#send(delivery);
        outcome = String(status);
        // A refusal (a wrong signature, say) stays one; only a failing receiver gets it again.
        if (status < 500) return { status: status < 300 ? 'delivered' : 'failed', attempts: attempt + 1, outcome };
      } catch (error) {
        outcome = error instanceof Error ? error.message : String(error);
      }
    }
    return { status: 'failed', attempts: pauses.length + 1, outcome };
  }

  async #send({ hookId, event, guid, body }: DeliveryRecord): Promise<number> {
    const hook = this.#options.state.get('hook', GLOBAL, hookId);
    if (!hook) throw new Error('the hook was removed');
    const response = await this.#options.fetch(hook.url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/sandbox',
        'x-github-event': event,
        'x-github-delivery': guid,
        'x-github-hook-id': String(hookId),
        'x-hub-signature-256': `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`,
      },
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ATTEMPT_MS)]),
    });
    await response.body?.cancel();
    return response.status;
  }
}

/**
 * Returns what a hook gets of an event: the payload, for the hook of an app with the installation; null when the app
 * does not subscribe to the event or is not installed on the repository.
 */
function payloadFor(state: Store, hook: HookRecord, event: string, payload: object): object | null {
  if (hook.appId === undefined) return payload;
  const app = state.get('app', GLOBAL, hook.appId);
  if (!app || hook.secret === '' || !app.events?.includes(event)) return null;
  const repoId = 'repository' in payload ? (payload.repository as { id: number }).id : 0;
  const repo = state.get('repo', GLOBAL, repoId);
  const installation = state
    .list('installation', GLOBAL)
    .filter(({ appId }) => appId === app.id)
    .find(({ repoIds, owner }) => repoIds?.includes(repoId) ?? owner.toLowerCase() === repo?.owner.toLowerCase());
  return installation ? { ...payload, installation: { id: installation.id, node_id: '' } } : null;
}
