import {
  AppError,
  DEFAULT_WORKFLOW,
  type HostEvent,
  projectionDelayMs,
  type RepoRef,
  type VcsHost,
} from '@pipeline/domain';
import {
  announceRepo,
  closeDelivery,
  type Delivery,
  ensureTenant,
  findReposBySlug,
  insertDelivery,
  inTransaction,
  isLeadershipLost,
  openDeliveries,
  postponeDelivery,
  type RepoInput,
  type RepoRow,
  seedWorkflow,
  upsertRepo,
} from '@pipeline/store';
import { type Engine, inFencedTransaction } from './context.ts';
import { takeHostEvent } from './intake.ts';

const BATCH = 100;
const MAX_ATTEMPTS = 8;

/** The host that serves a repo; null when this process has no credentials for it. */
export type HostOf = (repo: RepoRow) => VcsHost | null;

/**
 * Keeps a webhook's delivery until the intake loop takes it up, so that the sender gets its answer at once and a crash
 * loses nothing. @returns false for a delivery that came before.
 */
export async function receive(
  engine: Engine,
  deliveryId: string,
  event: string,
  events: HostEvent[],
): Promise<boolean> {
  const isNew = await insertDelivery(engine.store.fleet, deliveryId, event, events);
  if (isNew && events.length > 0) engine.ring('svc_cache', 0);
  return isNew;
}

/**
 * Takes up deliveries in the order in which they came. One that fails is tried again after a backoff and given up,
 * with its error kept, after eight attempts; it never holds the others.
 * @returns how many were taken up.
 */
export async function drainInbox(engine: Engine, hostOf: HostOf): Promise<number> {
  let taken = 0;
  for (const delivery of await openDeliveries(engine.store.fleet, BATCH)) {
    if (await takeDelivery(engine, hostOf, delivery)) taken += 1;
  }
  return taken;
}

async function takeDelivery(engine: Engine, hostOf: HostOf, delivery: Delivery): Promise<boolean> {
  const { fleet } = engine.store;
  try {
    for (const event of delivery.events) await takeEvent(engine, hostOf, event);
  } catch (error) {
    // The successor handles the delivery: this is no failed attempt.
    if (isLeadershipLost(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (delivery.attempts + 1 >= MAX_ATTEMPTS) await closeDelivery(fleet, delivery.delivery_id, message);
    else {
      const delayMs = projectionDelayMs(delivery.attempts, engine.random());
      await postponeDelivery(fleet, delivery.delivery_id, message, delayMs);
    }
    return false;
  }
  await closeDelivery(fleet, delivery.delivery_id);
  return true;
}

async function takeEvent(engine: Engine, hostOf: HostOf, event: HostEvent): Promise<void> {
  if (event.kind === 'repositories') return addRepos(engine, event.added, event.installationId);
  for (const repo of await findReposBySlug(engine.store.fleet, event.repo)) {
    const host = hostOf(repo);
    if (host) await takeHostEvent({ engine, repo, host }, event);
  }
}

/** Repos that the host's app was given appear disabled; an operator enables those that the pipeline shall work. */
async function addRepos(engine: Engine, added: readonly RepoRef[], installationId: number): Promise<void> {
  const tenantId = await ensureTenant(engine.store.tenant, 'default');
  for (const { owner, name } of added) {
    await inFencedTransaction(engine, async (tx) => {
      const repoId = await announceRepo(tx, tenantId, { slug: { owner, name }, installationId });
      await seedWorkflow(tx, tenantId, repoId, DEFAULT_WORKFLOW);
    });
  }
}

/**
 * Makes a repo known, with the default workflow, or updates it. Enabling one rings the intake, which reads its open
 * `svc:enqueue` issues at once.
 * @throws AppError INVALID_INPUT when the slug is not one.
 */
export async function putRepo(engine: Engine, tenantId: number, input: RepoInput): Promise<RepoRow> {
  if (!input.slug.owner || !input.slug.name) throw new AppError('INVALID_INPUT', 'repo must be owner/name');
  const repo = await inTransaction(engine.store.tenant, async (tx) => {
    const row = await upsertRepo(tx, tenantId, input);
    await seedWorkflow(tx, tenantId, row.id, DEFAULT_WORKFLOW);
    return row;
  });
  if (repo.enabled) engine.ring('svc_cache', tenantId);
  return repo;
}
