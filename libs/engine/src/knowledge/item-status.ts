import { AppError, type IntelligenceMove, moveIntelligence } from '@pipeline/domain';
import { type DetailedItem, itemById, locateItem, lockItem, setItemStatus } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordOperation } from '../records/records.ts';

interface ItemMoveRequest {
  id: string;
  move: IntelligenceMove;
  /** Id of the item of the same repo that replaces it. */
  supersededBy?: string | undefined;
}

type Locked = NonNullable<Awaited<ReturnType<typeof lockItem>>>;

/**
 * Applies an operator's decision about an item of intelligence.
 * @returns the item after the change.
 * @throws AppError NOT_FOUND, INVALID_TRANSITION for a status that does not allow the action, and INVALID_INPUT for an
 * invalid successor.
 */
export async function decideOnItem(engine: Engine, request: ItemMoveRequest, actor: Actor): Promise<DetailedItem> {
  const { id, move, supersededBy } = request;
  const place = await locateItem(engine.store.db, id);
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

/** Read without a lock: a successor may itself be superseded later. */
async function requireSuccessor(unit: TransactionContext, item: Locked, id: string): Promise<void> {
  const successor = id === item.id ? undefined : await itemById(unit.tx, unit.tenantId, id);
  if (!successor || successor.repoId !== item.repo_id) {
    throw new AppError('INVALID_INPUT', 'supersededBy must be the id of another item of the same repo');
  }
  if (successor.status === 'dismissed' || successor.status === 'superseded') {
    throw new AppError('INVALID_INPUT', `supersededBy refers to an item with status ${successor.status}`);
  }
}

const notFound = (id: string): AppError => new AppError('NOT_FOUND', `Intelligence item not found: ${id}`);
