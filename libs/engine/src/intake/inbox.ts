import {
  DEFAULT_TENANT,
  DEFAULT_WORKFLOW,
  formatSlug,
  type HostEvent,
  projectionDelayMs,
  type RepoRef,
  slugKey,
} from '@pipeline/domain';
import {
  announceRepo,
  closeDelivery,
  type Delivery,
  ensureTenant,
  findReposOnHost,
  insertDelivery,
  isLeadershipLost,
  openDeliveries,
  postponeDelivery,
  type RepoRow,
  refOf,
  reposOfAll,
  seedWorkflow,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { HostOf } from '../repos/repo-address.ts';
import { confirmRepo, repoOfEvent, takeSlug } from '../repos/repo-identity.ts';
import { applyHostEvent } from './host-event.ts';

/** Maximum number of deliveries per read. */
const BATCH = 500;
/**
 * Maximum number of concurrent lanes: each waits for the host most of the time, and uses a store connection in between.
 */
const PARALLEL = 8;
const MAX_ATTEMPTS = 8;

/**
 * Stores a webhook delivery for the intake loop, so that the sender gets its response immediately and a crash loses
 * nothing. @returns false for a redelivery.
 */
export async function receiveDelivery(
  engine: Engine,
  deliveryId: string,
  event: string,
  events: HostEvent[],
): Promise<boolean> {
  const delivery = { id: deliveryId, event, lane: laneOf(events), events };
  const isNew = await insertDelivery(engine.store.db, delivery);
  if (isNew && events.length > 0) engine.notify('svc_inbox', 0);
  return isNew;
}

interface InboxDeps {
  engine: Engine;
  hostOf: HostOf;
}

/**
 * Handles stored deliveries: those of one lane (an issue or a pull request) in order of arrival, up to PARALLEL lanes
 * concurrently. A failed delivery is retried after a backoff and given up, with its error stored, after eight attempts;
 * it blocks neither its lane nor another one, because every fact has the host's time and an older one changes nothing.
 * One process at a time should run it: a second one does no harm, but handles deliveries twice.
 */
export class Inbox {
  readonly #deps: InboxDeps;
  readonly #lanes = new Map<string, Promise<void>>();
  /** True = deliveries may wait that no read has shown: of a running lane, beyond PARALLEL lanes or beyond a BATCH. */
  #mayWait = false;
  #isStopped = false;
  #handled = 0;
  #failure: { error: unknown } | null = null;
  /** Called when a lane has ended and more deliveries may wait. */
  onLaneEnd: () => void = () => undefined;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** Deliveries that were handled successfully since the start. */
  get handled(): number {
    return this.#handled;
  }

  /**
   * Starts lanes that have deliveries and does not wait for them: one indexed read. Writes of a lane go through the
   * given engine, so that the deliveries of a former leader are fenced.
   * @returns how many were started. @throws the error of a lane since the last call: the store could not be written.
   */
  async step(engine: Engine = this.#deps.engine): Promise<number> {
    this.#throwFailure();
    if (this.#isStopped) return 0;
    this.#mayWait = this.#lanes.size > 0;
    if (this.#lanes.size >= PARALLEL) return 0;
    const waiting = await openDeliveries(engine.store.db, BATCH, [...this.#lanes.keys()]);
    this.#mayWait ||= waiting.length === BATCH;
    const before = this.#lanes.size;
    for (const [lane, deliveries] of Map.groupBy(waiting, (delivery) => delivery.lane)) {
      this.#mayWait ||= this.#lanes.size >= PARALLEL;
      if (this.#lanes.size >= PARALLEL) break;
      this.#lanes.set(lane, this.#run(engine, lane, deliveries));
    }
    return this.#lanes.size - before;
  }

  /** Waits for running lanes. @returns whether there was any. @throws the error of one of them. */
  async settled(): Promise<boolean> {
    const lanes = [...this.#lanes.values()];
    await Promise.all(lanes);
    this.#throwFailure();
    return lanes.length > 0;
  }

  /** Starts no more lanes, and waits for the deliveries in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#lanes.values());
  }

  async #run(engine: Engine, lane: string, deliveries: readonly Delivery[]): Promise<void> {
    try {
      for (const delivery of deliveries) {
        if (this.#isStopped) break;
        if (await handleDelivery({ ...this.#deps, engine }, delivery)) this.#handled += 1;
      }
    } catch (error) {
      // The new leader handles the remaining deliveries of the lane.
      if (!isLeadershipLost(error)) this.#failure = { error };
    } finally {
      this.#lanes.delete(lane);
    }
    if (this.#mayWait) this.onLaneEnd();
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) throw failure.error;
  }
}

/** Handles every delivery that may be handled now. @returns how many succeeded. */
export async function drainInbox(engine: Engine, hostOf: HostOf): Promise<number> {
  const inbox = new Inbox({ engine, hostOf });
  while ((await inbox.step()) > 0) await inbox.settled();
  return inbox.handled;
}

async function handleDelivery({ engine, hostOf }: InboxDeps, delivery: Delivery): Promise<boolean> {
  const { db } = engine.store;
  try {
    for (const event of delivery.events) await applyEvent(engine, hostOf, event);
  } catch (error) {
    // The successor handles the delivery: this is no failed attempt.
    if (isLeadershipLost(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (delivery.attempts + 1 >= MAX_ATTEMPTS) await closeDelivery(db, delivery.delivery_id, message);
    else {
      const delayMs = projectionDelayMs(delivery.attempts, engine.random());
      await postponeDelivery(db, delivery.delivery_id, message, delayMs);
    }
    return false;
  }
  await closeDelivery(db, delivery.delivery_id);
  return true;
}

/** The issue or pull request of a delivery; both share one numbering on the host. */
function laneOf(events: readonly HostEvent[]): string {
  const [event] = events;
  if (!event || event.kind === 'repositories') return '';
  if (event.kind === 'repository') return slugKey(event.repo);
  return `${slugKey(event.repo)}#${numberOf(event)}`;
}

function numberOf(event: Exclude<HostEvent, { kind: 'repositories' | 'repository' }>): number | undefined {
  switch (event.kind) {
    case 'issue':
      return event.issue.number;
    case 'comment':
      return event.issueNumber;
    case 'pull-request':
      return event.pullRequest.number;
    case 'review':
      return event.prNumber;
    case 'checks':
      return event.prNumbers[0];
  }
}

async function applyEvent(engine: Engine, hostOf: HostOf, event: HostEvent): Promise<void> {
  if (event.kind === 'repositories') return addRepos({ engine, hostOf }, event);
  for (const repo of await findReposOnHost(engine.store.db, event.repo)) {
    const host = hostOf(repo);
    if (!host) continue;
    if (event.kind === 'repository') {
      await confirmRepo({ engine, repo, host });
      continue;
    }
    const current = await repoOfEvent({ engine, repo, host }, event.repo);
    const itsHost = current && hostOf(current);
    if (itsHost) await applyHostEvent({ engine, repo: current, host: itsHost }, { ...event, repo: refOf(current) });
  }
}

type RepositoriesEvent = Extract<HostEvent, { kind: 'repositories' }>;

/**
 * Repos that were added to the host's app are created disabled; an operator enables them. One that an organisation has
 * already stays there, under its current name. Repos that were removed stay, and need no access while they are disabled.
 */
async function addRepos(deps: InboxDeps, { added, installationId, account, webUrl }: RepositoriesEvent): Promise<void> {
  const { engine } = deps;
  for (const ref of added) {
    const cloneUrl = `${webUrl}/${formatSlug(ref)}.git`;
    const known = await confirmedRepos(deps, ref);
    const tenants = known.length > 0 ? known.map(({ tenant_id }) => tenant_id) : [await tenantOf(engine, account)];
    for (const tenantId of new Set(tenants))
      await inTenant(engine, tenantId, async (unit) => {
        const { owner, name, hostId = null } = ref;
        const found = hostId === null ? null : { id: hostId, owner, name, cloneUrl, archived: false };
        if (found && (await takeSlug(unit, found, 'github'))) return;
        const repoId = await announceRepo(unit.tx, tenantId, {
          slug: { owner, name },
          hostId,
          installationId,
          cloneUrl,
        });
        await seedWorkflow(unit.tx, tenantId, repoId, DEFAULT_WORKFLOW);
      });
  }
}

/** The repos with that id or that name, after the enabled ones were read from their host. */
async function confirmedRepos({ engine, hostOf }: InboxDeps, ref: RepoRef): Promise<RepoRow[]> {
  for (const repo of await findReposOnHost(engine.store.db, ref)) {
    const host = hostOf(repo);
    if (host) await confirmRepo({ engine, repo, host });
  }
  return reposOfAll(engine.store.db, ref);
}

/** Returns the tenant by the id of the account: a login may be given up and taken by another account. */
function tenantOf(engine: Engine, { id, login }: RepositoriesEvent['account']): Promise<number> {
  const { installations } = engine.settings();
  if (installations === 'default') return ensureTenant(engine.store.db, DEFAULT_TENANT);
  return ensureTenant(engine.store.db, `github-${id}`, login);
}
