import { AppError, type IntelligenceMove, moveIntelligence } from '@pipeline/domain';
import { type DetailedItem, itemById, locateItem, lockItem, setItemStatus } from '@pipeline/store';
import { type Engine, inTenant, type Unit } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordOperation } from '../records/records.ts';

export interface ItemMoveRequest {
  id: string;
  move: IntelligenceMove;
  /** Id of the item of the same repo that stands for it from now on. */
  supersededBy?: string | undefined;
}

type Locked = NonNullable<Awaited<ReturnType<typeof lockItem>>>;

/**
 * An operator decides about an item of intelligence.
 * @returns the item as it is now.
 * @throws AppError NOT_FOUND, INVALID_TRANSITION for a move that its status does not allow, and INVALID_INPUT for a
 * successor that cannot be one.
 */
export async function decideOnItem(engine: Engine, request: ItemMoveRequest, actor: Actor): Promise<DetailedItem> {
  const { id, move, supersededBy } = request;
  const place = await locateItem(engine.store.fleet, id);
  if (!place) throw notFound(id);
  return inTenant(engine, place.tenant_id, async (unit) => {
    const item = await lockItem(unit.tx, unit.tenantId, id);
    if (!item) throw notFound(id);
    const status = moveIntelligence(item.status, move);
    if (supersededBy !== undefined) await requireSuccessor(unit, item, supersededBy);
    await setItemStatus(unit.tx, unit.tenantId, id, {
      status,
      by: actor.id ?? actor.type,
      dismissedReason: actor.reason ?? null,
      supersededBy: supersededBy ?? null,
    });
    const more = { itemId: id, ...(supersededBy !== undefined && { supersededBy }) };
    const subject = { issue: { repo_id: item.repo_id, issue_number: null, id: null } };
    recordOperation(unit, subject, actor, { action: `intelligence-${move}`, ...more });
    return (await itemById(unit.tx, unit.tenantId, id)) as DetailedItem;
  });
}

/** It is read, not locked: nothing is said of a successor that is itself superseded later. */
async function requireSuccessor(unit: Unit, item: Locked, id: string): Promise<void> {
  const successor = id === item.id ? undefined : await itemById(unit.tx, unit.tenantId, id);
  if (!successor || successor.repoId !== item.repo_id) {
    throw new AppError('INVALID_INPUT', 'supersededBy must be the id of another item of the same repo');
  }
  if (successor.status === 'dismissed' || successor.status === 'superseded') {
    throw new AppError('INVALID_INPUT', `supersededBy names an item that is ${successor.status} itself`);
  }
}

const notFound = (id: string): AppError => new AppError('NOT_FOUND', `Intelligence item not found: ${id}`);
